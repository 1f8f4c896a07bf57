#pragma once
// The environment of a command: what the policy passes of the caller's, what it sets, and what the
// sandbox has to set. Pure.

#include "sandbox/policy/policy.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace gos::sandbox {

struct EnvironmentFacts {
  std::string temporaryName;    // what TMPDIR, TMP and TEMP become; empty: as the caller has them
  std::string workingDirectory; // what PWD becomes; empty: none
  bool hideGitConfig = false;   // the user's git configuration exists and is not to be seen
};

/// The value of a variable in an environment (NAME=VALUE), as getenv finds it: the first one.
std::optional<llvm::StringRef> valueOf(llvm::ArrayRef<std::string> environment,
                                       llvm::StringRef name);

/// NAME=VALUE, each name once: passed ones in the caller's order, then set ones.
std::vector<std::string> commandEnvironment(const Policy& policy,
                                            llvm::ArrayRef<std::string> hostEnvironment,
                                            const EnvironmentFacts& facts);

/// A value of MAKEFLAGS and its like without the jobserver of a make outside, whose descriptors are
/// closed and whose FIFO is not in the view (B076); with it goes the `-j` that belonged to it.
std::string withoutJobserver(llvm::StringRef flags);

} // namespace gos::sandbox
