#pragma once
// Values as bytes and back, by layout: the wire format of stdlib/rust/README.md. The layouts passed
// checkForeignImport.

#include "vm/native.h"
#include "vm/vm.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace gos::stdlib {

/// How many bytes the (borrowed) value takes. A trap where something inside is borrowed elsewhere.
vm::Trap wireSize(vm::Vm& vm, vm::Value value, vm::LayoutId layout, uint64_t& size);
/// Writes what wireSize counted, and answers the place behind it.
uint8_t* wireWrite(vm::Vm& vm, vm::Value value, vm::LayoutId layout, uint8_t* out);

/// Reads one value that takes all of `bytes`. Every count is judged by the bytes that are left
/// before memory is taken for it. `fault` says what was wrong where the answer is false; it is
/// empty when the heap has no room. Handles that are read join `live`.
bool wireRead(vm::Vm& vm, llvm::StringRef bytes, vm::LayoutId layout,
              llvm::DenseSet<uint64_t>& live, vm::Value& value, std::string& fault);

} // namespace gos::stdlib
