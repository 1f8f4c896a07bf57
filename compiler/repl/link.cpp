#include "compiler/repl/link.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace gos::repl {

using vm::FunctionId;
using vm::index;
using vm::Instruction;
using vm::Layout;
using vm::LayoutId;
using vm::Opcode;

/// Finds the session's layout for each of a line: equal in name and shape all the way down,
/// whatever the numbers. Recursive types are equal as long as nothing says otherwise.
class Linker::Layouts {
public:
  Layouts(const vm::Module& line, const vm::Module& session,
          const std::map<std::string, std::vector<uint32_t>>& byName)
      : line_(line), session_(session), byName_(byName) {
    mapped_.assign(line.layouts.size(), kUnknown);
  }

  /// The numbers of the session's layouts; those from `session.layouts.size()` on are to be added,
  /// in order of the line.
  std::vector<uint32_t> run(std::vector<uint32_t>& added) {
    for (uint32_t i = 0; i < line_.layouts.size(); ++i) {
      if (mapped_[i] != kUnknown)
        continue;
      auto named = byName_.find(line_.layouts[i].name);
      if (named == byName_.end())
        continue;
      for (uint32_t candidate : named->second) {
        assumed_.clear();
        if (!fits(i, candidate, 0))
          continue;
        for (auto [from, to] : assumed_)
          mapped_[from] = to;
        break;
      }
    }
    for (uint32_t i = 0; i < line_.layouts.size(); ++i)
      if (mapped_[i] == kUnknown) {
        mapped_[i] = uint32_t(session_.layouts.size() + added.size());
        added.push_back(i);
      }
    return mapped_;
  }

private:
  static constexpr uint32_t kUnknown = ~0u;
  static constexpr unsigned kDeepest = 400;

  bool fits(uint32_t from, uint32_t to, unsigned depth) {
    if (from >= line_.layouts.size() || to >= session_.layouts.size() || depth > kDeepest)
      return false;
    if (mapped_[from] != kUnknown)
      return mapped_[from] == to;
    if (auto found = assumed_.find(from); found != assumed_.end())
      return found->second == to;
    const Layout& a = line_.layouts[from];
    const Layout& b = session_.layouts[to];
    if (a.kind != b.kind || a.scalar != b.scalar || a.width != b.width ||
        a.sequence != b.sequence || a.byteStorage != b.byteStorage || a.name != b.name ||
        a.variants.size() != b.variants.size() || a.parameters.size() != b.parameters.size())
      return false;
    assumed_[from] = to;
    const auto same = [&](LayoutId x, LayoutId y) { return fits(index(x), index(y), depth + 1); };
    const bool hasElement = a.kind == vm::LayoutKind::Vec || a.kind == vm::LayoutKind::Set ||
                            a.kind == vm::LayoutKind::Cell || a.kind == vm::LayoutKind::Map;
    if (hasElement && !same(a.element, b.element))
      return false;
    if (a.kind == vm::LayoutKind::Map && !same(a.value, b.value))
      return false;
    if (a.kind == vm::LayoutKind::Closure) {
      for (size_t i = 0; i < a.parameters.size(); ++i)
        if (!same(a.parameters[i], b.parameters[i]))
          return false;
      if (!same(a.result, b.result))
        return false;
    }
    for (size_t i = 0; i < a.variants.size(); ++i) {
      const vm::VariantLayout& x = a.variants[i];
      const vm::VariantLayout& y = b.variants[i];
      if (x.name != y.name || x.shape != y.shape || x.fieldNames != y.fieldNames ||
          x.codecs != y.codecs || x.fields.size() != y.fields.size())
        return false;
      for (size_t field = 0; field < x.fields.size(); ++field)
        if (!same(x.fields[field], y.fields[field]))
          return false;
    }
    return true;
  }

  const vm::Module& line_;
  const vm::Module& session_;
  const std::map<std::string, std::vector<uint32_t>>& byName_;
  std::vector<uint32_t> mapped_;
  std::map<uint32_t, uint32_t> assumed_;
};

uint32_t Linker::string(const std::string& text) {
  auto [found, isNew] = strings_.try_emplace(text, uint32_t(session_.strings.size()));
  if (isNew)
    session_.strings.push_back(text);
  return found->second;
}

uint32_t Linker::native(vm::NativeImport import) {
  std::string key = import.name + '\0' + import.symbol + '\0' + import.signature + '\0';
  for (size_t i = 0; i < import.parameters.size(); ++i)
    key += std::to_string(index(import.parameters[i])) + (import.inOut[i] ? "&" : ",");
  key += std::to_string(index(import.result));
  auto [found, isNew] = natives_.try_emplace(std::move(key), uint32_t(session_.natives.size()));
  if (isNew)
    session_.natives.push_back(std::move(import));
  return found->second;
}

uint32_t Linker::constant(uint64_t bits) {
  auto [found, isNew] = constants_.try_emplace(bits, uint32_t(session_.constants.size()));
  if (isNew)
    session_.constants.push_back(bits);
  return found->second;
}

uint32_t Linker::format(const vm::FormatSpec& spec) {
  auto found = llvm::find(session_.formats, spec);
  if (found != session_.formats.end())
    return uint32_t(found - session_.formats.begin());
  session_.formats.push_back(spec);
  return uint32_t(session_.formats.size() - 1);
}

llvm::Expected<Linker::Linked> Linker::add(const vm::Module& line, llvm::ArrayRef<GlobalKey> keys) {
  Linked result;
  std::vector<uint32_t> added;
  const std::vector<uint32_t> layouts = Layouts(line, session_, layoutsByName_).run(added);
  const auto layout = [&](LayoutId id) {
    return index(id) < layouts.size() ? LayoutId(layouts[index(id)]) : id;
  };

  // Globals that are there: their cells must fit.
  for (uint32_t i = 0; i < line.globals.size(); ++i) {
    auto found = i < keys.size() && keys[i] ? known_.find(keys[i]) : known_.end();
    if (found != known_.end() &&
        session_.globals[found->second].layout != layout(line.globals[i].layout))
      result.changedGlobals.push_back(i);
  }
  if (!result.changedGlobals.empty())
    return result;
  // Operands of instructions hold layouts in 16 bits, and lowering has its own bound for a line.
  if (session_.layouts.size() + added.size() > 60'000)
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "the session has made too many types; `:reset` starts afresh");

  const auto firstFunction = uint32_t(session_.functions.size());
  const auto function = [&](FunctionId id) {
    return id == FunctionId::None ? id : FunctionId(firstFunction + index(id));
  };
  const auto hooks = [&](Layout& to, const Layout& from) {
    // An impl that a later line gives to a type is of its values too; one that is gone stays with
    // them.
    for (auto hook : {&Layout::display, &Layout::debug, &Layout::equals, &Layout::compare})
      if (from.*hook != FunctionId::None)
        to.*hook = function(from.*hook);
  };
  for (uint32_t from : added) {
    Layout made = line.layouts[from];
    made.element = layout(made.element);
    made.value = layout(made.value);
    made.result = layout(made.result);
    for (LayoutId& parameter : made.parameters)
      parameter = layout(parameter);
    for (vm::VariantLayout& variant : made.variants)
      for (LayoutId& field : variant.fields)
        field = layout(field);
    layoutsByName_[made.name].push_back(uint32_t(session_.layouts.size()));
    session_.layouts.push_back(std::move(made));
  }
  for (uint32_t i = 0; i < line.layouts.size(); ++i)
    hooks(session_.layouts[layouts[i]], line.layouts[i]);

  for (uint32_t i = 0; i < line.globals.size(); ++i) {
    const GlobalKey key = i < keys.size() ? keys[i] : nullptr;
    if (auto found = key ? known_.find(key) : known_.end(); found != known_.end()) {
      result.globals.push_back(found->second);
      continue;
    }
    const auto number = uint32_t(session_.globals.size());
    session_.globals.push_back({line.globals[i].name, layout(line.globals[i].layout),
                                function(line.globals[i].initialiser)});
    result.globals.push_back(number);
    if (key)
      known_[key] = number;
  }

  std::vector<uint32_t> natives;
  for (vm::NativeImport import : line.natives) {
    for (LayoutId& parameter : import.parameters)
      parameter = layout(parameter);
    import.result = layout(import.result);
    natives.push_back(native(std::move(import)));
  }

  for (const vm::Function& from : line.functions) {
    vm::Function made = from;
    made.result = layout(made.result);
    for (LayoutId& each : made.registers)
      each = layout(each);
    for (Instruction& each : made.code) {
      const auto withBx = [&](uint32_t bx) {
        each = Instruction::abx(each.op(), each.a(), bx, each.d());
      };
      // The operands that are numbers in a table of the module. The verifier looks at all of them
      // again.
      const Opcode op = each.op();
      if (op == Opcode::LoadConstant)
        withBx(constant(line.constants[each.bx()]));
      else if (op == Opcode::LoadString)
        withBx(string(line.strings[each.bx()]));
      else if (op == Opcode::Call || op == Opcode::NewClosure)
        withBx(firstFunction + each.bx());
      else if (op == Opcode::CallNative)
        withBx(natives[each.bx()]);
      else if (op == Opcode::NewStruct)
        withBx(index(layout(LayoutId(each.bx()))));
      else if (op == Opcode::LoadGlobal)
        withBx(result.globals[each.bx()]);
      else if (op == Opcode::NewEnum || op == Opcode::NewUnitVariant || op == Opcode::NewVec)
        each = Instruction::abc(op, each.a(), uint16_t(index(layout(LayoutId(each.b())))),
                                uint16_t(each.c()), each.d());
      else if (op == Opcode::NewVecRepeat)
        each = Instruction::abc(op, each.a(), each.b(), uint16_t(index(layout(LayoutId(each.c())))),
                                each.d());
      else if (op == Opcode::FormatScalar || op == Opcode::FormatValue)
        each = Instruction::abc(op, each.a(), each.b(), uint16_t(format(line.formats[each.c()])),
                                each.d());
    }
    session_.functions.push_back(std::move(made));
  }
  session_.packages = line.packages;
  if (session_.initialiser == FunctionId::None)
    session_.initialiser = function(line.initialiser);
  result.entry = function(line.entry);
  session_.entry = result.entry;
  return result;
}

} // namespace gos::repl
