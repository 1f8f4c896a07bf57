#pragma once
// gos-runtime, embedded.

#include "llvm/ADT/StringRef.h"

namespace gos::executable {

/// The bytes of the runtime that every built program begins with.
llvm::StringRef runtimeImage();

} // namespace gos::executable
