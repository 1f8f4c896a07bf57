#include "compiler/bindings/declarations.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

#include <set>

namespace gos::bindings {

using llvm::StringRef;

namespace {

bool isWordByte(char c) {
  return llvm::isAlnum(c) || c == '_' || (uint8_t(c) & 0x80) != 0;
}

/// Calls `word` for each name in a type and `other` for each byte between them.
template <class Word, class Other> void forEachPart(StringRef type, Word word, Other other) {
  while (!type.empty()) {
    const StringRef name = type.take_while(isWordByte);
    if (name.empty()) {
      other(type.front());
      type = type.drop_front();
    } else {
      word(name);
      type = type.drop_front(name.size());
    }
  }
}

bool isInterfaceWord(StringRef name) {
  return llvm::is_contained(
      {"bool", "i64", "f64", "u8", "char", "String", "Vec", "Option", "Result", "HashMap", "mut"},
      name);
}

/// Marks that turn the direction of text around, and such: what is shown would not be what is there
/// (T077).
bool isHidden(uint32_t scalar) {
  return (scalar < 0x20 && scalar != '\t') || (scalar >= 0x7f && scalar <= 0x9f) ||
         (scalar >= 0x200b && scalar <= 0x200f) || (scalar >= 0x2028 && scalar <= 0x202e) ||
         (scalar >= 0x2060 && scalar <= 0x206f) || scalar == 0xfeff || scalar == 0x61c;
}

/// A line of documentation, without what a comment may not hold.
std::string cleanLine(StringRef line) {
  std::string out;
  const auto* at = reinterpret_cast<const llvm::UTF8*>(line.begin());
  const auto* end = reinterpret_cast<const llvm::UTF8*>(line.end());
  while (at != end) {
    llvm::UTF32 scalar = 0;
    const llvm::UTF8* from = at;
    if (llvm::convertUTF8Sequence(&at, end, &scalar, llvm::strictConversion) !=
        llvm::conversionOK) {
      ++at;
      continue;
    }
    if (!isHidden(scalar))
      out.append(reinterpret_cast<const char*>(from), size_t(at - from));
  }
  return out;
}

class Writer {
public:
  Writer(const Signatures& signatures, const ModuleSignature& module)
      : signatures_(signatures), module_(module) {}

  std::string write() {
    if (!module_.documentation.empty()) {
      documentation(module_.documentation, "");
      text_ += '\n'; // it is the module's, not the first item's
    }
    imports();
    for (const StructSignature& structure : module_.structs) {
      documentation(structure.documentation, "");
      text_ += "pub struct " + structure.name;
      if (structure.fields.empty()) {
        text_ += "\n\n";
        continue;
      }
      text_ += " {\n";
      for (const TypedName& field : structure.fields)
        text_ += "    pub " + field.name + ": " + gossamerType(field.type) + ",\n";
      text_ += "}\n\n";
    }
    for (const OpaqueSignature& opaque : module_.opaques) {
      documentation(opaque.documentation, "");
      // The field is private: nobody makes one, looks into it or takes it apart.
      text_ += "pub struct " + opaque.name + " { handle: i64 }\n\n";
    }
    for (const FunctionSignature& function : module_.functions) {
      documentation(function.documentation, "");
      text_ += "pub fn " + function.name + "(";
      for (size_t i = 0; i < function.parameters.size(); ++i)
        text_ += (i == 0 ? "" : ", ") + function.parameters[i].name + ": " +
                 gossamerType(function.parameters[i].type);
      text_ += ")";
      if (function.result != "()")
        text_ += " -> " + gossamerType(function.result);
      text_ += "\n\n";
    }
    return std::move(text_);
  }

private:
  void documentation(StringRef text, StringRef indent) {
    if (text.empty())
      return;
    llvm::SmallVector<StringRef, 8> lines;
    text.rtrim().split(lines, '\n');
    for (StringRef line : lines) {
      const std::string clean = cleanLine(line.rtrim());
      text_ += (indent + "///" + (clean.empty() ? "" : " ") + clean + "\n").str();
    }
  }

  static bool declares(const ModuleSignature& module, StringRef name) {
    const auto named = [&](const auto& each) { return each.name == name; };
    return llvm::any_of(module.structs, named) || llvm::any_of(module.opaques, named);
  }

  /// Types of other modules of the same crate.
  void imports() {
    std::set<std::string> names;
    const auto gather = [&](StringRef type) {
      forEachPart(
          type,
          [&](StringRef name) {
            if (!isInterfaceWord(name) && !declares(module_, name))
              names.insert(name.str());
          },
          [](char) {});
    };
    for (const StructSignature& structure : module_.structs)
      for (const TypedName& field : structure.fields)
        gather(field.type);
    for (const FunctionSignature& function : module_.functions) {
      gather(function.result);
      for (const TypedName& parameter : function.parameters)
        gather(parameter.type);
    }
    const StringRef root = pathSegments(module_.path).front();
    for (const std::string& name : names)
      for (const ModuleSignature& other : signatures_.modules) {
        if (other.crate != module_.crate || &other == &module_ || !declares(other, name))
          continue;
        StringRef path = other.path;
        const bool isNear = pathSegments(path).front() == root;
        if (isNear)
          path = path.drop_front(root.size());
        text_ += ("use " + llvm::Twine(isNear ? "crate" : "") + path + "::" + name + "\n").str();
        break;
      }
    if (!text_.empty() && text_.back() == '\n' && !names.empty())
      text_ += '\n';
  }

  const Signatures& signatures_;
  const ModuleSignature& module_;
  std::string text_;
};

} // namespace

llvm::SmallVector<StringRef, 4> pathSegments(StringRef path) {
  llvm::SmallVector<StringRef, 4> segments;
  path.split(segments, "::");
  return segments;
}

std::string gossamerType(StringRef type) {
  std::string out;
  forEachPart(
      type,
      [&](StringRef name) {
        if (name != "mut")
          out += name == "HashMap" ? "Map" : name.str();
      },
      [&](char c) {
        if (c != '&' && (c != ' ' || (!out.empty() && out.back() == ',')))
          out += c;
      });
  return out;
}

std::string signatureText(const FunctionSignature& function) {
  std::string text = "fn(";
  for (size_t i = 0; i < function.parameters.size(); ++i)
    text += (i == 0 ? "" : ", ") + function.parameters[i].type;
  text += ")";
  if (function.result != "()")
    text += " -> " + function.result;
  return text;
}

std::vector<ModuleDeclaration> declarationsOf(const Signatures& signatures) {
  std::vector<ModuleDeclaration> declarations;
  declarations.reserve(signatures.modules.size());
  for (const ModuleSignature& module : signatures.modules)
    declarations.push_back({module.path, Writer(signatures, module).write()});
  return declarations;
}

} // namespace gos::bindings
