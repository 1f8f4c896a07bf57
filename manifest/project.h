#pragma once
// From a path on the command line to the packages of a program: the root is found, the workspace
// above it is asked whether it tightens, path dependencies are loaded with theirs, and each package
// knows its directories, its entry and its level.

#include "manifest/manifest.h"
#include "sandbox/policy/comptime_policy.h"

namespace gos {

/// An edge of the graph of packages.
struct PackageDependency {
  std::string moduleName; // as code names it
  std::string key;        // as the manifest spells it, for `use "example.com/lib"`
  uint32_t package = 0;   // index into Project::packages
  Span span;
};

struct Package {
  uint32_t index = 0;
  std::string moduleName; // of its id, or of the lone file
  std::string id;         // of its manifest; empty for a lone file

  /// Is there a directory that folds of this package may read? If not, `whyNoRoot` is a sentence.
  bool hasRoot = false;
  std::string whyNoRoot;
  std::string directory;     // canonical: where the manifest lies, or the lone file
  std::string spelling;      // absolute, as it was reached; may go through links
  std::string displayPrefix; // put before a path beneath `directory` when it is shown

  std::string sourceDirectory; // beneath `directory`: "src"; empty for a lone file
  std::string baseDirectory;   // beneath `directory`: where relative paths of folds are behind
  std::string entry;           // beneath `directory`: "src/main.gos"
  bool loneFile = false;       // no manifest: no sibling modules

  std::optional<Manifest> manifest;
  /// Its own and its workspace's: the strictest. Full where nobody asks for anything.
  ComptimeIo level = ComptimeIo::None;
  LevelOrigin levelOrigin = LevelOrigin::Default;
  Span levelSpan;
  SandboxLevel sandboxFloor = SandboxLevel::None;

  std::vector<PackageDependency> dependencies;
};

struct Project {
  std::vector<Package> packages;    // 0 is the one that is compiled
  std::vector<std::string> denials; // shipped denials for the homes of this user, canonical

  const Package& root() const { return packages.front(); }
};

/// Loads what a FILE or DIR of the command line names. None if something is wrong, reported.
std::optional<Project> loadProject(llvm::StringRef path, SourceMap& sources, Engine& engine);

/// The project of a text that has no file: as if a file of this name lay in the working directory.
std::optional<Project> loadProjectOfText(llvm::StringRef name, SourceMap& sources, Engine& engine);

/// The policy of the program's folds; warns about manifests that ask for more than they get.
ComptimePolicy makeComptimePolicy(const Project& project, std::optional<ComptimeIo> commandLine,
                                  Engine& engine);

/// Reads a source of a package into the source map: beneath the package, through its own links
/// only. Each way to fail has its own diagnostic, at `usedAt` where there is a place; of a file
/// that lies outside no byte is read.
std::optional<FileId> readSource(const Package& package, llvm::StringRef path, SourceMap& sources,
                                 Engine& engine, Span usedAt = {});

/// The `.gos` files beneath the package's source directory, relative to the package and sorted by
/// bytes; directories with a manifest of their own and hidden ones are left out, links are listed
/// and not entered. A lone file has only itself.
std::vector<std::string> listSources(const Package& package, Engine& engine);

/// How a path beneath the package is shown to the user.
std::string displayPath(const Package& package, llvm::StringRef path);

} // namespace gos
