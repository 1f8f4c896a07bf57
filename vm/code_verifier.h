#pragma once
// The verifier's halves share this: facts about a module, and the check of one function's code.
// Private to the VM.

#include "vm/module.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <optional>

namespace gos::vm {

inline constexpr size_t kMaxSlots = 65535;

inline llvm::Error refuse(const llvm::Twine& message) {
  return llvm::createStringError(std::make_error_code(std::errc::invalid_argument),
                                 message.str().c_str());
}

/// What the checks of layouts and of functions share.
class ModuleFacts {
public:
  explicit ModuleFacts(const Module& module) : module_(module) {}

  const Module& module() const { return module_; }
  bool inRange(LayoutId id) const { return index(id) < module_.layouts.size(); }
  bool inRange(FunctionId id) const { return index(id) < module_.functions.size(); }
  const Layout& layout(LayoutId id) const { return module_.layouts[index(id)]; }

  /// May a value of one layout stand where the other is declared? By identity, except that integers
  /// are alike, floats are alike, and text is alike: their values carry no shape.
  bool matches(LayoutId a, LayoutId b) const {
    if (a == b)
      return true;
    const LayoutKind kind = layout(a).kind;
    return kind == layout(b).kind &&
           (kind == LayoutKind::Int || kind == LayoutKind::Float || kind == LayoutKind::String);
  }
  bool matchesAll(llvm::ArrayRef<LayoutId> a, llvm::ArrayRef<LayoutId> b) const {
    if (a.size() != b.size())
      return false;
    for (size_t i = 0; i < a.size(); ++i)
      if (!matches(a[i], b[i]))
        return false;
    return true;
  }
  /// A newtype and what it is made of: the same shape one level deep.
  bool sameRepresentation(LayoutId a, LayoutId b) const {
    if (matches(a, b))
      return true;
    const Layout& x = layout(a);
    const Layout& y = layout(b);
    if (x.kind != y.kind || x.byteStorage != y.byteStorage ||
        x.variants.size() != y.variants.size())
      return false;
    switch (x.kind) {
    case LayoutKind::Int:
    case LayoutKind::Float:
    case LayoutKind::String:
    case LayoutKind::Handle:
      return true;
    case LayoutKind::Vec:
    case LayoutKind::Set:
    case LayoutKind::Cell:
      return matches(x.element, y.element);
    case LayoutKind::Map:
      return matches(x.element, y.element) && matches(x.value, y.value);
    case LayoutKind::Struct:
    case LayoutKind::Enum:
      for (size_t i = 0; i < x.variants.size(); ++i)
        if (!matchesAll(x.variants[i].fields, y.variants[i].fields))
          return false;
      return true;
    case LayoutKind::Closure:
      return matchesAll(x.parameters, y.parameters) && matches(x.result, y.result);
    }
    return false;
  }

private:
  const Module& module_;
};

/// Checks the code of a function. All tables of the module (layouts, registers, imports) have
/// passed before. `validText` says which strings are UTF-8, `integer` names a layout of an integer,
/// if there is one.
llvm::Error verifyCode(const ModuleFacts& facts, const Function& function,
                       const llvm::BitVector& validText, std::optional<LayoutId> integer);

} // namespace gos::vm
