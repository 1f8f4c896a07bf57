#pragma once
// What a git configuration says of other files that git then believes: where hooks lie, and what
// else is read. As git reads it, but more of it than less: a guard that nobody needs costs a write
// that is refused, one that is missing costs everything.

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace gos::sandbox {

struct GitPaths {
  std::vector<std::string> hooks;    // of `core.hooksPath`
  std::vector<std::string> includes; // of `include.path` and of every `includeIf`
  bool more = false;                 // than are listed
};

/// As they are written there, quotes and escapes undone.
GitPaths gitPaths(llvm::StringRef text);

} // namespace gos::sandbox
