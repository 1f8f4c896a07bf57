#pragma once
// `bindings.lock` beside project.toml: Cargo's lock of the generated workspace. Only the fetch
// writes it; what it says is checked before anything is built (T099).

#include "compiler/bindings/cache.h"
#include "compiler/bindings/workspace.h"

#include <optional>
#include <string>
#include <vector>

namespace gos::bindings {

struct LockedPackage {
  std::string name, version;
  std::string source; // empty: a path
};
/// The packages of a lock; total over any bytes. An error says what is wrong.
llvm::Expected<std::vector<LockedPackage>> parseLock(llvm::StringRef text);

/// Why a lock cannot be built from, or empty: a `gossamer-binding` that is not ours, a repository
/// of this machine that no binding names.
std::string lockProblem(llvm::StringRef text, llvm::ArrayRef<Binding> bindings);

/// "adds serde 1.0.228, removes ..": what a new lock changes.
std::string lockChanges(llvm::StringRef before, llvm::StringRef after);

/// Reads the project's lock without following links: none if there is none, an error if it is not a
/// regular file.
llvm::Expected<std::optional<std::string>> readProjectLock(llvm::StringRef directory);
llvm::Error writeProjectLock(llvm::StringRef directory, llvm::StringRef text);

} // namespace gos::bindings
