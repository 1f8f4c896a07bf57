#pragma once
// Does an import of a native fit the native's signature? Part of verification: it trusts neither
// the layouts nor the module they come from. A body may then rely on the kinds of its arguments.

#include "vm/native.h"

namespace gos::stdlib {

llvm::Error checkImport(const vm::Native& native, const vm::NativeImport& import,
                        const vm::Module& module);

} // namespace gos::stdlib
