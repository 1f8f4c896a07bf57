#include "vm/foreign.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>

namespace gos::vm {

namespace {

/// Walks layouts once each. Ids are in range: the verifier has seen to it.
class WireCheck {
public:
  explicit WireCheck(const Module& module)
      : module_(module), depths_(module.layouts.size(), kUnknown) {}

  /// How deep values of the layout nest; none: they cannot cross.
  bool passes(LayoutId id) { return depthOf(id, 0) <= kForeignDepth; }

private:
  static constexpr unsigned kUnknown = ~0u;
  static constexpr unsigned kNever = kForeignDepth + 1;

  unsigned depthOf(LayoutId id, unsigned level) {
    if (level > kForeignDepth)
      return kNever;
    unsigned& known = depths_[index(id)];
    if (known != kUnknown)
      return known;
    known = kNever; // a layout that contains itself meets this
    const unsigned depth = std::min(compute(module_.layouts[index(id)], level), kNever);
    return depths_[index(id)] = depth;
  }

  unsigned compute(const Layout& layout, unsigned level) {
    switch (layout.kind) {
    case LayoutKind::Int:
      return isWireInteger(layout) ? 1 : kNever;
    case LayoutKind::Float:
      return layout.scalar == ScalarKind::F64 ? 1 : kNever;
    case LayoutKind::String:
    case LayoutKind::Handle:
      return 1;
    case LayoutKind::Vec:
      if (layout.sequence != SequenceKind::Vec)
        return kNever;
      return layout.byteStorage ? 2 : 1 + depthOf(layout.element, level + 1);
    case LayoutKind::Map:
      return 1 + std::max(depthOf(layout.element, level + 1), depthOf(layout.value, level + 1));
    case LayoutKind::Struct:
      return 1 + fields(layout.variants[0], level);
    case LayoutKind::Enum:
      return isOptionOrResult(layout) ? 1 + std::max(fields(layout.variants[0], level),
                                                     fields(layout.variants[1], level))
                                      : kNever;
    case LayoutKind::Set:
    case LayoutKind::Closure:
    case LayoutKind::Cell:
      break;
    }
    return kNever;
  }

  unsigned fields(const VariantLayout& variant, unsigned level) {
    unsigned deepest = 0;
    for (LayoutId field : variant.fields)
      deepest = std::max(deepest, depthOf(field, level + 1));
    return deepest;
  }

  static bool isWireInteger(const Layout& layout) {
    switch (layout.scalar) {
    case ScalarKind::Integer:
      return layout.width == IntWidth::I64;
    case ScalarKind::Bool:
    case ScalarKind::Char:
    case ScalarKind::Unit:
      return true;
    case ScalarKind::UnitEnum: // a struct without fields
      return layout.variants.size() == 1;
    case ScalarKind::F64:
    case ScalarKind::F32:
      break;
    }
    return false;
  }

  static bool isOptionOrResult(const Layout& layout) {
    if (layout.variants.size() != 2)
      return false;
    const auto is = [&](llvm::StringRef name, size_t fields) {
      return std::any_of(layout.variants.begin(), layout.variants.end(),
                         [&](const VariantLayout& variant) {
                           return variant.name == name && variant.fields.size() == fields;
                         });
    };
    return (is("Some", 1) && is("None", 0)) || (is("Ok", 1) && is("Err", 1));
  }

  const Module& module_;
  std::vector<unsigned> depths_;
};

} // namespace

llvm::Error checkForeignImport(const NativeImport& import, const Module& module) {
  const auto refuse = [&](const llvm::Twine& what) {
    return llvm::createStringError(std::make_error_code(std::errc::invalid_argument),
                                   "foreign function `" + import.name + "`: " + what);
  };
  WireCheck check(module);
  for (size_t i = 0; i < import.parameters.size(); ++i) {
    if (import.inOut[i])
      return refuse("a parameter is in-out");
    if (!check.passes(import.parameters[i]))
      return refuse("a parameter of type `" + module.layouts[index(import.parameters[i])].name +
                    "` cannot cross");
  }
  if (!check.passes(import.result))
    return refuse("a result of type `" + module.layouts[index(import.result)].name +
                  "` cannot cross");
  return llvm::Error::success();
}

} // namespace gos::vm
