#pragma once
// What the language's library has and this tool does not: asked before a name is called unknown.

#include "llvm/ADT/StringRef.h"

namespace gos::resolve {

/// The feature that a name without a path belongs to; empty if it is none of ours.
llvm::StringRef unbuiltName(llvm::StringRef name);
/// The feature that a module of `std` belongs to; empty if it is none of ours.
llvm::StringRef unbuiltModule(llvm::StringRef path);

} // namespace gos::resolve
