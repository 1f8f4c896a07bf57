#pragma once
// Finding the command and, when it cannot be executed, the words for it.

#include "sandbox/command/runner.h"

namespace gos::sandbox {

struct FoundCommand {
  std::string path; // absolute, as found: links in it are not resolved
  std::string real; // canonical
};

/// Looks a command up as a shell does: with a slash it is a path from `directory`, without one it
/// is searched on the PATH of `environment`. Errors are RunError (NotFound, NotExecutable).
llvm::Expected<FoundCommand> findCommand(llvm::StringRef program,
                                         llvm::ArrayRef<std::string> environment,
                                         llvm::StringRef directory);

/// Why `execve` of a command that was found failed: not in the view, a missing interpreter, a
/// directory, a foreign binary.
llvm::Error executeFailure(const Policy& policy, const ChildPlan& plan, const FoundCommand& command,
                           int error);

} // namespace gos::sandbox
