#pragma once
// Finding manifests: the nearest one at or above a directory, and the workspaces above a package
// that list it. Shared by loadProject and the loading of dependencies.

#include "manifest/project.h"

#include "llvm/ADT/StringMap.h"

#include <string>

namespace gos {

inline constexpr llvm::StringLiteral kManifestName = "project.toml";

/// How paths are shown: relative to the working directory if the user spoke so, else absolute.
class Display {
public:
  explicit Display(bool relative);
  /// "" or "src/" or "../": what stands before a path beneath the canonical directory.
  std::string prefixOf(const std::string& directory) const;

private:
  std::string cwd_; // canonical; empty: absolute paths are shown
};

/// Reads manifests once each.
class ManifestStore {
public:
  ManifestStore(SourceMap& sources, Engine& engine, const Display& display)
      : sources_(sources), engine_(engine), display_(display) {}

  /// Is there an entry of that name, whatever it is? If not, errno says why.
  static bool exists(const std::string& directory);
  /// The text of `directory`/project.toml in the source map; reported if it can't be read.
  std::optional<FileId> text(const std::string& directory);
  /// The manifest, read strictly; reported if anything is wrong.
  std::optional<Manifest> manifest(const std::string& directory);
  /// The manifest if it has a [workspace], read strictly then; a manifest of somebody else above a
  /// package is no more than looked at. False if something is wrong, reported.
  bool workspace(const std::string& directory, std::optional<Manifest>& found);

private:
  SourceMap& sources_;
  Engine& engine_;
  const Display& display_;
  llvm::StringMap<FileId> texts_;
  llvm::StringMap<std::optional<Manifest>> workspaces_;
};

/// The nearest directory at or above `directory` (canonical) with a `project.toml`; empty if there
/// is none. What lies in a shared temporary directory is anybody's, and is passed over. Where it
/// cannot be seen whether there is one, nobody can tell whether it tightens: `errorNumber` says
/// why.
std::string nearestManifestDirectory(const std::string& directory, int& errorNumber);

/// Does a member pattern (`crates/*`) match a path relative to the workspace?
bool matchesMember(llvm::StringRef pattern, llvm::StringRef path);

/// Tightens the package by the workspaces above it that list it (T063). False if something is
/// wrong, reported.
bool applyWorkspaces(Package& package, ManifestStore& store, Engine& engine);

} // namespace gos
