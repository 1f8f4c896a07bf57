#pragma once
// What a path of `gos test` stands for: a package with the files of its `tests/`, one file, or all
// files of a directory that belongs to no package.

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace gos::driver {

/// Paths to compile, each a unit of its own, in order: the package itself comes before the files of
/// its `tests/`. Links are not followed, hidden entries are left out. An error says what cannot be
/// looked at.
llvm::Expected<std::vector<std::string>> findTestUnits(llvm::StringRef path);

} // namespace gos::driver
