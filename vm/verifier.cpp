#include "vm/verifier.h"

#include "vm/code_verifier.h"
#include "vm/foreign.h"
#include "vm/text.h"

namespace gos::vm {

namespace {

bool isByteElement(const Layout& layout) {
  return layout.kind == LayoutKind::Int &&
         (layout.scalar == ScalarKind::Bool || layout.width == IntWidth::U8);
}

// ---- layouts
// ----------------------------------------------------------------------------------------

class LayoutVerifier {
public:
  explicit LayoutVerifier(const ModuleFacts& facts) : facts_(facts) {}

  /// Ranges first, for all: the later checks look through ids.
  llvm::Error verifyShapes(size_t first) const {
    const Module& module = facts_.module();
    for (size_t i = first; i < module.layouts.size(); ++i)
      if (const char* fault = shapeFault(module.layouts[i]))
        return refuse("layout " + llvm::Twine(i) + " (`" + module.layouts[i].name + "`): " + fault);
    return llvm::Error::success();
  }

  /// Hooks have the parameters and results that their callers rely on. The functions' own tables
  /// are verified.
  llvm::Error verifyHooks() const {
    const Module& module = facts_.module();
    for (size_t i = 0; i < module.layouts.size(); ++i) {
      const Layout& layout = module.layouts[i];
      const LayoutId self{uint32_t(i)};
      if (!isHook(layout.display, self, 1, LayoutKind::String) ||
          !isHook(layout.debug, self, 1, LayoutKind::String) ||
          !isHook(layout.equals, self, 2, LayoutKind::Int) ||
          !isHook(layout.compare, self, 2, LayoutKind::Int))
        return refuse("layout " + llvm::Twine(i) + " (`" + layout.name +
                      "`): hook has another signature");
    }
    return llvm::Error::success();
  }

private:
  const char* shapeFault(const Layout& layout) const {
    if (layout.kind > LayoutKind::Handle || layout.scalar > ScalarKind::F32 ||
        layout.width > IntWidth::U64 || layout.sequence > SequenceKind::MinHeap)
      return "unknown kind";
    const bool hasElement = layout.kind == LayoutKind::Vec || layout.kind == LayoutKind::Set ||
                            layout.kind == LayoutKind::Map || layout.kind == LayoutKind::Cell;
    if (hasElement && !facts_.inRange(layout.element))
      return "element is out of range";
    if (layout.kind == LayoutKind::Map && !facts_.inRange(layout.value))
      return "value is out of range";
    if (layout.byteStorage &&
        (layout.kind != LayoutKind::Vec || !isByteElement(facts_.layout(layout.element))))
      return "byte storage of elements that are no bytes";
    if (layout.kind == LayoutKind::Struct && layout.variants.size() != 1)
      return "struct without exactly one variant";
    if (layout.kind == LayoutKind::Enum &&
        (layout.variants.empty() || layout.variants.size() > kMaxSlots))
      return "enum with no variant or too many";
    for (const VariantLayout& variant : layout.variants)
      if (const char* fault = variantFault(layout, variant))
        return fault;
    if (layout.kind == LayoutKind::Closure) {
      if (!facts_.inRange(layout.result))
        return "result is out of range";
      for (LayoutId parameter : layout.parameters)
        if (!facts_.inRange(parameter))
          return "parameter is out of range";
    }
    return nullptr;
  }

  const char* variantFault(const Layout& layout, const VariantLayout& variant) const {
    if (variant.shape > VariantShape::Tuple)
      return "unknown shape of a variant";
    if (variant.fields.size() > kMaxSlots)
      return "too many fields";
    if (layout.kind != LayoutKind::Struct && layout.kind != LayoutKind::Enum &&
        !variant.fields.empty())
      return "fields in a layout that holds none";
    if (variant.shape == VariantShape::Named && variant.fieldNames.size() != variant.fields.size())
      return "names and fields differ in number";
    if (variant.shape == VariantShape::Unit && !variant.fields.empty())
      return "unit variant with fields";
    for (LayoutId field : variant.fields)
      if (!facts_.inRange(field))
        return "field is out of range";
    return nullptr;
  }

  bool isHook(FunctionId id, LayoutId self, unsigned parameters, LayoutKind result) const {
    if (id == FunctionId::None)
      return true;
    if (!facts_.inRange(id))
      return false;
    const Function& function = facts_.module().functions[index(id)];
    if (function.parameterCount != parameters || function.captureCount != 0 ||
        facts_.layout(function.result).kind != result)
      return false;
    for (unsigned i = 0; i < parameters; ++i)
      if (!facts_.matches(function.registers[i], self))
        return false;
    return true;
  }

  const ModuleFacts& facts_;
};

// ---- functions
// --------------------------------------------------------------------------------------

/// The tables of a function; its code may be looked at once this has passed for all functions.
const char* tableFault(const ModuleFacts& facts, const Function& function) {
  if (function.registers.size() + function.outgoingCount > kMaxSlots)
    return "too many registers";
  if (function.parameterCount > function.registers.size() ||
      function.captureCount > function.parameterCount)
    return "more parameters than registers";
  bool references = false;
  for (size_t i = 0; i < function.registers.size(); ++i) {
    if (!facts.inRange(function.registers[i]))
      return "layout of a register is out of range";
    if (i < function.parameterCount)
      continue;
    const bool isReference = facts.layout(function.registers[i]).isReference();
    if (references && !isReference)
      return "scalar register behind a reference";
    references = references || isReference;
  }
  if (!facts.inRange(function.result))
    return "layout of the result is out of range";
  for (size_t i = 1; i < function.lines.size(); ++i)
    if (function.lines[i].pc <= function.lines[i - 1].pc)
      return "line table is not in order";
  return nullptr;
}

llvm::Error verifyImport(const ModuleFacts& facts, const NativeImport& import,
                         const NativeTable& natives) {
  const Native* native = natives.find(import.name);
  if (native != nullptr && import.isForeign())
    return refuse("native `" + import.name + "` is of the library, and not foreign");
  if (native == nullptr && !import.isForeign())
    return refuse("native `" + import.name + "` is not in the library");
  if (import.inOut.size() != import.parameters.size() || import.parameters.size() > kMaxSlots ||
      !facts.inRange(import.result))
    return refuse("native `" + import.name + "`: import is not sane");
  for (LayoutId parameter : import.parameters)
    if (!facts.inRange(parameter))
      return refuse("native `" + import.name + "`: layout of a parameter is out of range");
  if (import.isForeign())
    return checkForeignImport(import, facts.module());
  return natives.checkImport(*native, import, facts.module());
}

/// A function that is started from outside takes nothing.
bool isStartable(const ModuleFacts& facts, FunctionId id) {
  return facts.inRange(id) && facts.module().functions[index(id)].parameterCount == 0;
}

} // namespace

llvm::Error verify(const Module& module, const NativeTable& natives) {
  Verified nothing;
  return verifyGrowth(module, natives, nothing);
}

llvm::Error verifyGrowth(const Module& module, const NativeTable& natives, Verified& verified) {
  const ModuleFacts facts(module);
  const LayoutVerifier layouts(facts);
  if (module.layouts.size() < verified.layouts || module.functions.size() < verified.functions ||
      module.globals.size() < verified.globals || module.formats.size() < verified.formats ||
      module.natives.size() < verified.natives || module.strings.size() < verified.validText.size())
    return refuse("module has shrunk");
  const auto newFunctions = llvm::ArrayRef(module.functions).drop_front(verified.functions);
  const auto newGlobals = llvm::ArrayRef(module.globals).drop_front(verified.globals);
  if (llvm::Error error = layouts.verifyShapes(verified.layouts))
    return error;
  for (const Function& function : newFunctions)
    if (const char* fault = tableFault(facts, function))
      return refuse("function `" + function.name + "`: " + fault);
  if (llvm::Error error = layouts.verifyHooks())
    return error;
  for (const Global& global : newGlobals)
    if (!facts.inRange(global.layout) || facts.layout(global.layout).kind != LayoutKind::Cell)
      return refuse("global `" + global.name + "` is no cell");
  for (const Global& global : newGlobals) {
    if (global.initialiser == FunctionId::None)
      continue;
    if (index(global.initialiser) >= module.functions.size())
      return refuse("initialiser of global `" + global.name + "` is out of range");
    const Function& function = module.functions[index(global.initialiser)];
    if (function.parameterCount != 0 ||
        !facts.matches(function.result, facts.layout(global.layout).element))
      return refuse("initialiser of global `" + global.name + "` does not fit it");
  }
  for (const FormatSpec& spec : llvm::ArrayRef(module.formats).drop_front(verified.formats))
    if (spec.align > FormatSpec::Align::Right || spec.kind > FormatSpec::Kind::Octal)
      return refuse("format is not sane");
  for (const NativeImport& import : llvm::ArrayRef(module.natives).drop_front(verified.natives))
    if (llvm::Error error = verifyImport(facts, import, natives))
      return error;
  for (FunctionId start : {module.initialiser, module.entry})
    if (start != FunctionId::None && !isStartable(facts, start))
      return refuse("entry is no function without parameters");
  for (FunctionId region : module.regions)
    if (!isStartable(facts, region))
      return refuse("region is no function without parameters");
  if (module.initialiser != FunctionId::None &&
      facts.layout(module.functions[index(module.initialiser)].result).kind != LayoutKind::Int)
    return refuse("initialiser answers a value");

  llvm::BitVector validText = verified.validText;
  validText.resize(unsigned(module.strings.size()));
  for (unsigned i = verified.validText.size(); i < module.strings.size(); ++i)
    validText[i] = isValidUtf8(module.strings[i]);
  std::optional<LayoutId> integer;
  for (size_t i = 0; i < module.layouts.size() && !integer; ++i)
    if (module.layouts[i].kind == LayoutKind::Int)
      integer = LayoutId(uint32_t(i));
  for (const Function& function : newFunctions)
    if (llvm::Error error = verifyCode(facts, function, validText, integer))
      return error;
  verified = {module.layouts.size(), module.functions.size(), module.globals.size(),
              module.formats.size(), module.natives.size(),   std::move(validText)};
  return llvm::Error::success();
}

} // namespace gos::vm
