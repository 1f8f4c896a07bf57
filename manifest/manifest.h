#pragma once
// `project.toml` as a value. Reading is strict: a key that is unknown, of the wrong type, in the
// wrong table or a near miss (`comptime_io`) is an error, because a misspelt key must not look like
// one that works. A manifest tightens and never grants: no path and no network can be asked for.

#include "diagnostics/engine.h"
#include "manifest/version.h"
#include "sandbox/policy/policy.h"

#include <optional>
#include <string>
#include <vector>

namespace gos {

/// A value and where it was written.
template <class T> struct Spanned {
  T value;
  Span span;
};

struct Dependency {
  enum class Source : uint8_t { Registry, Path, Git, Url };
  std::string key; // as written: "example.com/lib", "x"
  Span keySpan;
  Source source = Source::Registry;
  std::optional<VersionRequirement> requirement;
  std::string path;
  Span pathSpan;
  std::string url; // of git and url
  std::string tag, branch, revision;
  std::string sha256;
  std::string moduleName; // the name that code uses
};

struct RustBinding {
  enum class Source : uint8_t { Version, Path, Git, SourceFile };
  std::string key; // the Cargo package
  Span keySpan;
  Source source = Source::Version;
  std::string value; // the version, path, URL or file
  std::string tag, branch, revision;
  std::vector<std::string> features;
  bool defaultFeatures = true;
};

struct Manifest {
  FileId file = FileId::None;
  bool hasProject = false; // false: a workspace that is no package itself

  std::string id;
  Span idSpan;
  Version version;
  std::vector<std::string> authors;
  std::string license;
  std::optional<Spanned<std::string>> output; // stays inside the package
  std::optional<Spanned<std::string>> entry;  // stays inside the package
  bool ffi = true;
  std::optional<Spanned<ComptimeIo>> comptimeIo;
  std::optional<Spanned<VersionRequirement>> gossamerVersion;
  std::optional<Spanned<SandboxLevel>> sandbox;
  bool enforceFormat = false;

  std::vector<Dependency> dependencies;
  std::vector<Dependency> replacements;
  std::vector<RustBinding> bindings;
  std::vector<std::pair<std::string, std::string>> registries; // name, URL
  std::vector<std::string> trustedPublishers;                  // package ids that are pinned
  std::optional<std::vector<Spanned<std::string>>> workspaceMembers;
};

/// Reads a manifest that is in the source map. None if anything in it is wrong: all of it is read
/// and reported first.
std::optional<Manifest> readManifest(FileId file, Engine& engine);

/// The name by which code uses a package: the last segment of an id or key, `-` as `_`. Empty if
/// that is not an identifier.
std::string moduleNameOf(llvm::StringRef idOrKey);

/// Relative and without `..`, in the separators of every system: as text it names nothing outside.
bool staysInside(llvm::StringRef path);

} // namespace gos
