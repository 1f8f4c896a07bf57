#pragma once
// The names that a reader of other languages, or of an older library, would write.

#include "llvm/ADT/StringRef.h"

namespace gos::resolve {

/// What the library calls a type that has this name no more; "" for every other name.
llvm::StringRef nameNow(llvm::StringRef removed);

} // namespace gos::resolve
