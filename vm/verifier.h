#pragma once
// Refuses a module that could break the VM: after `verify` no instruction can touch memory it should not, whatever the
// bytes were. Total and linear over any Module; the first fault found is the answer.

#include "vm/module.h"
#include "vm/native.h"

#include "llvm/Support/Error.h"

namespace gos::vm {

/// Rules, each with a unit test: layouts in range and sane; registers of a function in order (parameters and
/// captures, scalars, references); operands of the class and layout that opcodes.def asks for; every Arg block
/// complete, directly before its consumer, and never jumped into; jumps forward and inside the function, except the
/// two that count a step; a terminator at the end; imports in the table and at layouts their signature allows.
llvm::Error verify(const Module& module, const NativeTable& natives);

} // namespace gos::vm
