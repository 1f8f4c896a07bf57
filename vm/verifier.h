#pragma once
// Refuses a module that could break the VM: after `verify` no instruction can touch memory it
// should not, whatever the bytes were. Total and linear over any Module; the first fault found is
// the answer.

#include "vm/module.h"
#include "vm/native.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/Support/Error.h"

namespace gos::vm {

/// Rules, each with a unit test: layouts in range and sane; registers of a function in order
/// (parameters and captures, scalars, references); operands of the class and layout that
/// opcodes.def asks for; every Arg block complete, directly before its consumer, and never jumped
/// into; jumps forward and inside the function, except the two that count a step; a terminator at
/// the end; imports in the table and at layouts their signature allows.
llvm::Error verify(const Module& module, const NativeTable& natives);

/// What of a module has passed, which has only grown since, at the ends of its tables (hooks of
/// layouts may change).
struct Verified {
  size_t layouts = 0, functions = 0, globals = 0, formats = 0, natives = 0;
  llvm::BitVector validText; // by string
};
/// Looks at what is new, by the same rules, and at what refers to it. `verified` grows when all of
/// it has passed.
llvm::Error verifyGrowth(const Module& module, const NativeTable& natives, Verified& verified);

} // namespace gos::vm
