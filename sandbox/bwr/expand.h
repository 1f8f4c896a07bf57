#pragma once
// Variables in the paths and settings of a profile.

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace gos::bwr {

/// What the names in a pattern stand for; an empty value is none.
struct Names {
  std::vector<std::string> environment; // NAME=VALUE
  std::string home, project, workdir, privateDirectory, temp;
};

/// Is every `${` closed and every name well formed?
bool isPattern(llvm::StringRef pattern);
/// A pattern that can become an absolute path.
bool isPathPattern(llvm::StringRef pattern);

/// The pattern with its variables replaced; none if one of them has no value.
std::optional<std::string> expand(llvm::StringRef pattern, const Names& names);
/// The same for a path: none as well if it is not absolute or holds `..`, which a variable such as
/// `CARGO_HOME=./c` brings (T098). Canonical in its spelling; links are not looked up.
std::optional<std::string> expandPath(llvm::StringRef pattern, const Names& names);
/// Does the pattern name a place in the project or the working directory, which a stranger may have
/// filled?
bool isInsideProject(llvm::StringRef pattern, const Names& names);

} // namespace gos::bwr
