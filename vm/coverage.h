#pragma once
// Places that coverage counts: the entries of the line tables of all functions that are not library
// code, numbered in order of the functions. Two processes that read the same module number alike.

#include "vm/module.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace gos::vm {

size_t coverPlaceCount(const Module& module);
/// `visit` gets the number, the function and the entry of every place, in order.
void forEachCoverPlace(const Module& module,
                       llvm::function_ref<void(uint32_t, const Function&, const LineEntry&)> visit);

} // namespace gos::vm
