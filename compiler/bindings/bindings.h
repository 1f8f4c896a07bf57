#pragma once
// The Rust bindings of a project: from `[rust-bindings]` to one library that is safe to look at.
//
// This folder holds the one function that starts Cargo (cargo.h), and what surrounds it: the
// generated workspace, the lock, the policies of the two phases, the check of what came out.

#include "compiler/bindings/flags.h"
#include "compiler/bindings/signatures.h"
#include "diagnostics/engine.h"
#include "manifest/project.h"
#include "sandbox/unique_fd.h"

#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>

namespace gos::bindings {

/// What Cargo built, as a copy of our own: opened without following links, checked, hashed from the
/// descriptor that was copied (architecture.md section 4; T120).
struct Artifact {
  UniqueFd image; // a sealed memfd
  std::string sha256;
  Signatures signatures;
  /// What it needs besides what every program has, looked for where the system keeps libraries.
  std::vector<std::string> libraries;
};

struct BuildOptions {
  SandboxFlags sandbox;
  bool quiet = false;   // no progress
  bool mayBuild = true; // false: an editor; what is missing is said, nothing is started
  llvm::raw_ostream* progress = nullptr; // Cargo's own messages, escaped line by line
};

/// Does any package of the project have bindings?
bool hasBindings(const Project& project);

/// The library of all bindings of the project: the fresh one of the cache, or a new build in two
/// phases. None after reports to the engine. Never called for a project without bindings.
std::optional<Artifact> ensureBindings(const Project& project, const BuildOptions& options,
                                       Engine& engine);

/// What --sandbox-explain prints: the policies of both phases and their mechanisms.
bool explainSandbox(const Project& project, const BuildOptions& options, llvm::raw_ostream& out,
                    Engine& engine);

} // namespace gos::bindings
