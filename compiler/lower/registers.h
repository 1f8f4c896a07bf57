#pragma once
// Virtual registers of one function, by layout, with free lists. At the end they are renumbered:
// parameters and captures first, then scalars, then references, as vm/opcodes.def asks.

#include "vm/module.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace gos::lower {

/// A virtual register.
enum class Register : uint32_t { None = ~0u };
inline uint32_t index(Register r) {
  return uint32_t(r);
}

class Registers {
public:
  /// A register that is never shared: a parameter (before any other), a variable.
  Register make(vm::LayoutId layout, bool isReference);
  Register makeParameter(vm::LayoutId layout, bool isReference);
  /// A register for a value that is needed for a moment; give it back with `release`.
  Register acquire(vm::LayoutId layout, bool isReference);
  void release(Register r);

  vm::LayoutId layout(Register r) const { return info_[index(r)].layout; }
  bool isReference(Register r) const { return info_[index(r)].isReference; }
  size_t count() const { return info_.size(); }
  size_t parameterCount() const { return parameterCount_; }
  bool hasReferences() const { return hasReferences_; }
  /// The scalar gets one of the low numbers, which 8-bit operands can name.
  void wantLow(Register r) { info_[index(r)].low = true; }

  /// The final number of each register and, in that order, their layouts.
  struct Numbering {
    std::vector<uint32_t> number;
    std::vector<vm::LayoutId> layouts;
  };
  Numbering number() const;

private:
  struct Info {
    vm::LayoutId layout;
    bool isReference = false;
    bool low = false;
    bool free = false;
  };
  std::vector<Info> info_;
  llvm::DenseMap<uint32_t, llvm::SmallVector<Register, 4>> free_; // by layout
  size_t parameterCount_ = 0;
  bool hasReferences_ = false;
};

} // namespace gos::lower
