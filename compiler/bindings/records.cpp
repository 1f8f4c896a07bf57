#include "compiler/bindings/records.h"

#include "compiler/bindings/types.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>
#include <set>

namespace gos::bindings {

using llvm::StringRef;

namespace {

constexpr StringRef kMagic = "GSB1";
constexpr size_t kMostRecords = 2 * kMostItems;
constexpr StringRef kSymbolPrefix = "gos1_";

template <class... Arguments> llvm::Error refused(const char* format, Arguments&&... arguments) {
  return llvm::createStringError(
      llvm::inconvertibleErrorCode(),
      llvm::formatv(format, std::forward<Arguments>(arguments)...).str());
}

/// A piece of a record in a message: short, and without what a terminal would obey.
std::string shown(StringRef text) {
  std::string out;
  for (const char c : text.take_front(80))
    out += uint8_t(c) < 0x20 || uint8_t(c) == 0x7f ? '?' : c;
  return out;
}

bool isCrateName(StringRef name) {
  return !name.empty() && name.size() <= 64 &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '-'; });
}

/// An entry point has a prefix of its own, so that no record can name a function of the C library.
bool isSymbol(StringRef symbol) {
  return symbol.starts_with(kSymbolPrefix) && symbol.size() > kSymbolPrefix.size() &&
         symbol.size() <= 512 &&
         llvm::all_of(symbol, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

bool unescape(StringRef field, std::string& out) {
  out.clear();
  while (!field.empty()) {
    const size_t plain = field.find('\\');
    out += field.take_front(plain);
    if (plain == StringRef::npos)
      return true;
    if (plain + 1 == field.size())
      return false;
    switch (field[plain + 1]) {
    case 't':
      out += '\t';
      break;
    case 'n':
      out += '\n';
      break;
    case 'r':
      out += '\r';
      break;
    case '\\':
      out += '\\';
      break;
    default:
      return false;
    }
    field = field.drop_front(plain + 2);
  }
  return true;
}

class RecordReader {
public:
  llvm::Error readSection(StringRef section) {
    if (section.size() > kMostSectionBytes)
      return refused("{0} bytes of signatures; the most are {1}", section.size(),
                     kMostSectionBytes);
    const StringRef whole = section;
    size_t records = 0;
    while (true) {
      section = section.ltrim('\0');
      if (section.empty())
        return llvm::Error::success();
      const size_t offset = whole.size() - section.size();
      if (!section.consume_front(kMagic) || section.size() < 4)
        return refused("no record of signatures at byte {0}", offset);
      const uint64_t length = llvm::support::endian::read32le(section.data());
      section = section.drop_front(4);
      if (length > section.size())
        return refused("the record at byte {0} says {1} bytes; {2} are left", offset, length,
                       section.size());
      if (++records > kMostRecords)
        return refused("more than {0} records", kMostRecords);
      if (llvm::Error error = readRecord(section.take_front(size_t(length)), offset))
        return error;
      section = section.drop_front(size_t(length));
    }
  }

  std::vector<ModuleSignature> finish() {
    std::vector<ModuleSignature> modules;
    for (auto& [key, module] : modules_) {
      const auto byName = [](const auto& one, const auto& other) { return one.name < other.name; };
      llvm::stable_sort(module.functions, byName);
      llvm::stable_sort(module.structs, byName);
      llvm::stable_sort(module.opaques, byName);
      modules.push_back(std::move(module));
    }
    return modules;
  }

private:
  llvm::Error readRecord(StringRef text, size_t offset) {
    const auto* bytes = reinterpret_cast<const llvm::UTF8*>(text.begin());
    if (!llvm::isLegalUTF8String(&bytes, reinterpret_cast<const llvm::UTF8*>(text.end())))
      return refused("the record at byte {0} is not UTF-8", offset);
    for (const char c : text)
      if ((uint8_t(c) < 0x20 && c != '\t' && c != '\n') || uint8_t(c) == 0x7f)
        return refused("the record at byte {0} holds a control character", offset);
    if (!text.consume_back("\n"))
      return refused("the record at byte {0} does not end with its line", offset);
    ModuleSignature* module = nullptr;
    bool hasItems = false, isLast = false;
    do {
      isLast = !text.contains('\n');
      const auto [line, rest] = text.split('\n');
      text = rest;
      fields_.clear();
      line.split(fields_, '\t');
      const StringRef kind = fields_[0];
      if ((module == nullptr) != (kind == "module"))
        return refused("the record at byte {0} begins with its `module` line and has one", offset);
      if (kind == "module") {
        if (llvm::Error error = readModule(module))
          return error;
        continue;
      }
      hasItems = true;
      if (++items_ > kMostItems)
        return refused("more than {0} functions and types", kMostItems);
      if (llvm::Error error = kind == "fn"       ? readFunction(*module)
                              : kind == "struct" ? readStruct(*module)
                              : kind == "opaque"
                                  ? readOpaque(*module)
                                  : refused("a line `{0}`, of which nothing is known", shown(kind)))
        return error;
    } while (!isLast);
    // Each `#[gos_module]` writes one record that holds nothing else.
    if (!hasItems && !declared_.insert(module).second)
      return refused("the module `{0}` stands twice in the crate `{1}`; give one of the two "
                     "`#[gos_module]`s another path",
                     module->path, module->crate);
    return llvm::Error::success();
  }

  llvm::Error readModule(ModuleSignature*& module) {
    if (fields_.size() != 4)
      return refused("a `module` line of {0} fields; there are 4", fields_.size());
    const StringRef path = fields_[1], crate = fields_[2];
    if (!isCrateName(crate))
      return refused("`{0}` is not the name of a crate", shown(crate));
    if (!isModulePath(path))
      return refused("the crate `{0}` gives the path `{1}`, which no module may have; a path is "
                     "names with `::` "
                     "between them, and the first is not `std`",
                     crate, shown(path));
    std::string documentation;
    if (!unescape(fields_[3], documentation))
      return refused("the module `{0}` has documentation with an unknown escape", path);
    module = &modules_[{path.str(), crate.str()}];
    module->path = path.str();
    module->crate = crate.str();
    if (!documentation.empty())
      module->documentation = std::move(documentation);
    return llvm::Error::success();
  }

  llvm::Error name(const ModuleSignature& module, StringRef text, StringRef what) {
    if (isBindingName(text))
      return llvm::Error::success();
    return refused("`{0}` cannot be the name of a {1}, in the module `{2}` of the crate `{3}`",
                   shown(text), what, module.path, module.crate);
  }

  /// The fields from `first` on: a name and a type each, no name twice.
  llvm::Error typedNames(const ModuleSignature& module, size_t first, size_t most, StringRef what,
                         std::vector<TypedName>& out) {
    if (fields_.size() < first || (fields_.size() - first) % 2 != 0)
      return refused("a line of {0} fields in the module `{1}` of the crate `{2}`; one is missing",
                     fields_.size(), module.path, module.crate);
    if ((fields_.size() - first) / 2 > most)
      return refused("`{0}::{1}` has more than {2} {3}s", module.path, shown(fields_[1]), most,
                     what);
    std::set<StringRef> seen;
    for (size_t i = first; i < fields_.size(); i += 2) {
      if (llvm::Error error = name(module, fields_[i], what))
        return error;
      if (!seen.insert(fields_[i]).second)
        return refused("`{0}::{1}` has two {2}s `{3}`", module.path, shown(fields_[1]), what,
                       fields_[i]);
      out.push_back({fields_[i].str(), fields_[i + 1].str()});
    }
    return llvm::Error::success();
  }

  llvm::Error text(const ModuleSignature& module, size_t field, std::string& out) {
    if (unescape(fields_[field], out))
      return llvm::Error::success();
    return refused("`{0}::{1}` has documentation with an unknown escape", module.path,
                   shown(fields_[1]));
  }

  llvm::Error readFunction(ModuleSignature& module) {
    FunctionSignature function;
    if (llvm::Error error =
            typedNames(module, 5, kMostParameters, "parameter", function.parameters))
      return error;
    if (llvm::Error error = name(module, fields_[1], "function"))
      return error;
    function.name = fields_[1].str();
    if (!isSymbol(fields_[2]))
      return refused("`{0}::{1}` has the entry point `{2}`, which is none of a binding",
                     module.path, function.name, shown(fields_[2]));
    function.symbol = fields_[2].str();
    function.result = fields_[3].str();
    if (llvm::Error error = text(module, 4, function.documentation))
      return error;
    module.functions.push_back(std::move(function));
    return llvm::Error::success();
  }

  llvm::Error typeName(const ModuleSignature& module, std::string& out) {
    if (llvm::Error error = name(module, fields_[1], "type"))
      return error;
    if (isLanguageType(fields_[1]))
      return refused("`{0}` is a type of Gossamer itself and cannot be one of the module `{1}` of "
                     "the crate `{2}`",
                     fields_[1], module.path, module.crate);
    out = fields_[1].str();
    return llvm::Error::success();
  }

  llvm::Error readStruct(ModuleSignature& module) {
    StructSignature structure;
    if (llvm::Error error = typedNames(module, 3, kMostFields, "field", structure.fields))
      return error;
    if (llvm::Error error = typeName(module, structure.name))
      return error;
    if (llvm::Error error = text(module, 2, structure.documentation))
      return error;
    module.structs.push_back(std::move(structure));
    return llvm::Error::success();
  }

  llvm::Error readOpaque(ModuleSignature& module) {
    OpaqueSignature opaque;
    if (fields_.size() != 3)
      return refused("an `opaque` line of {0} fields; there are 3", fields_.size());
    if (llvm::Error error = typeName(module, opaque.name))
      return error;
    if (llvm::Error error = text(module, 2, opaque.documentation))
      return error;
    module.opaques.push_back(std::move(opaque));
    return llvm::Error::success();
  }

  std::map<std::pair<std::string, std::string>, ModuleSignature> modules_; // by path, crate
  std::set<const ModuleSignature*> declared_;
  llvm::SmallVector<StringRef, 16> fields_; // of the line being read
  size_t items_ = 0;
};

} // namespace

llvm::Expected<std::vector<ModuleSignature>> readRecords(StringRef section) {
  RecordReader reader;
  if (llvm::Error error = reader.readSection(section))
    return error;
  return reader.finish();
}

} // namespace gos::bindings
