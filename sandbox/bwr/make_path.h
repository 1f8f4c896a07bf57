#pragma once
// Making what a profile wants to be there.

#include "llvm/Support/Error.h"

#include <string>

namespace gos::bwr {

/// Makes a directory, or an empty file, and the directories above it. Nothing is followed on the
/// way that was not there when the path was made canonical: a link that appears meanwhile is an
/// error.
llvm::Error makePath(const std::string& canonical, bool directory, unsigned mode);

/// Removes a file that was made so and is still empty.
void removeIfEmpty(const std::string& path);

} // namespace gos::bwr
