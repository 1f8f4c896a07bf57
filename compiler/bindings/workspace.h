#pragma once
// The one Cargo workspace of all bindings of a program: a library that links each binding's crate,
// our own `gossamer-binding` in place of any other, and the generated packages of `src` bindings.

#include "compiler/bindings/cache.h"
#include "diagnostics/engine.h"
#include "manifest/project.h"

#include <optional>
#include <string>
#include <vector>

namespace gos::bindings {

/// A binding with what its path leads to.
struct Binding {
  const RustBinding* written = nullptr;
  const Package* package = nullptr; // whose manifest names it
  /// Canonical: the directory of a path binding, the file of a `src` binding, a repository on this
  /// machine.
  std::string path;
};

/// All bindings of a program, those of its dependencies included; one that two packages take from
/// the same place counts once. None after reports.
std::optional<std::vector<Binding>> collectBindings(const Project& project, Engine& engine);

/// A binding as the value of a dependency; a version that is not empty counts instead of the one
/// that is written.
std::string dependencyOf(const Binding& binding, llvm::StringRef version, bool withFeatures);
/// The manifest of the workspace.
std::string workspaceManifest(llvm::ArrayRef<Binding> bindings);
/// Writes the workspace and our crates into the cache.
llvm::Error writeWorkspace(const Cache& cache, llvm::ArrayRef<Binding> bindings);

/// Of the workspace: the library's name, and beneath the target directory its file.
inline constexpr const char* kRootPackage = "gossamer-bindings";
inline constexpr const char* kLibraryFile = "release/libgossamer_bindings.so";

/// A path as the address of a repository.
std::string fileUrl(llvm::StringRef path);
/// A string of TOML.
std::string tomlText(llvm::StringRef text);

} // namespace gos::bindings
