#pragma once
// The native bodies: one function a row of builtins.def, named by the row's id. Only the table in
// builtins.cpp takes their addresses; bytecode reaches them through Vm::callNative alone.
//
// Every body is total: any argument values are met with a result, an `Err` or a trap. Counts are
// judged before anything is allocated; a handle is looked up in the Vm's table.

#include "vm/native.h"

namespace gos::stdlib::bodies {

#define GOS_BUILTIN(id, path, signature, capability) vm::Trap id(vm::Arguments& arguments);
#include "stdlib/builtins.def"

} // namespace gos::stdlib::bodies
