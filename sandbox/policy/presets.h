#pragma once
// Policies that the toolchain makes itself: the one a fold is judged by, and the shipped denials.

#include "sandbox/policy/policy.h"

namespace gos {

/// The policy of a fold. None: pure computation only. Confined: reads beneath `root` (canonical, or
/// empty when the package has no root), the variables in `permittedEnv`, captured output; the
/// `denials` hold inside the root too. Full: whatever the user can do.
Policy comptimePolicy(ComptimeIo level, llvm::StringRef root,
                      llvm::ArrayRef<std::string> denials = {},
                      llvm::ArrayRef<std::string> permittedEnv = {});

/// The shipped denials of credentials.def beneath each of these home directories (canonical paths).
std::vector<std::string> shippedDenials(llvm::ArrayRef<std::string> homes);

/// What a relocation variable (`CARGO_HOME`, `KUBECONFIG`, ...) moves.
struct Relocation {
  llvm::StringRef variable;
  llvm::StringRef suffix; // beneath the variable's value, or empty for the value itself
};
llvm::ArrayRef<Relocation> relocations();

/// Is a directory too wide to be taken for a package root without a `project.toml`? `/`, a home
/// directory or above one, or one of the shared temporary directories (`sharedTemp` from the
/// caller, who can look at its mode bits). Answers what it is ("a home directory"), or empty.
llvm::StringRef tooWideForRoot(llvm::StringRef directory, llvm::ArrayRef<std::string> homes,
                               bool sharedTemp);

} // namespace gos
