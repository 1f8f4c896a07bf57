#include "manifest/project.h"

#include "manifest/package_root.h"
#include "manifest/source_file.h"
#include "sandbox/policy/host/host_paths.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <cerrno>
#include <sys/stat.h>

namespace gos {

namespace {
std::string parentPath(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

llvm::StringRef nameOfFile(llvm::StringRef path) {
  return path.substr(path.rfind('/') + 1);
}

std::string directoryOf(llvm::StringRef path) {
  return path.contains('/') ? path.rsplit('/').first.str() : std::string();
}

/// "src/./main.gos" to "src/main.gos".
std::string tidyRelative(llvm::StringRef path) {
  llvm::SmallVector<llvm::StringRef, 8> components;
  for (llvm::StringRef component : llvm::split(path, '/'))
    if (!component.empty() && component != ".")
      components.push_back(component);
  return llvm::join(components, "/");
}

class Loader {
public:
  Loader(SourceMap& sources, Engine& engine, bool relative)
      : engine_(engine), relative_(relative), display_(relative),
        store_(sources, engine, display_) {}

  /// `isText`: there is no such file, and none is needed.
  std::optional<Project> load(const std::string& path, bool isText = false) {
    if (llvm::StringRef(path).contains('\0'))
      return refuse(path, ENOENT);
    // Everything about a relative path hangs on a directory that has a name.
    if (relative_ && absoluteSpelling(".").empty()) {
      const int number = errno;
      SourceText problem = problemOf(number);
      problem.problem = SourceProblem::Other;
      problem.words = number == ENOENT ? "the working directory no longer exists"
                                       : "the working directory cannot be looked up";
      reportProblem(problem, path, 0, engine_, {});
      return std::nullopt;
    }
    struct stat status{};
    if (!isText && ::stat(path.c_str(), &status) != 0)
      return refuse(path, errno);
    const bool loaded = isText                              ? loadFile(path)
                        : S_ISDIR(status.st_mode)           ? loadDirectory(path)
                        : nameOfFile(path) == kManifestName ? loadManifest(path)
                                                            : loadFile(path);
    if (!loaded || !loadDependencies() || !checkCycles())
      return std::nullopt;
    const std::vector<std::string> homes = ownHomes();
    project_.denials = hostDenials(homes);
    return std::move(project_);
  }

private:
  // ---- the package that was asked for -------------------------------------------------------

  /// Reports why a path of the command line cannot be looked up.
  std::nullopt_t refuse(const std::string& path, int errorNumber) {
    reportProblem(problemOf(errorNumber), path, 0, engine_, {});
    return std::nullopt;
  }

  /// The real path of a directory and the nearest one with a manifest, empty for none. False after
  /// a report: what cannot be looked into may hold a manifest that tightens.
  bool findRoot(const std::string& path, std::string& real, std::string& directory) {
    errno = 0;
    real = realPathOf(path);
    int errorNumber = real.empty() ? errno : 0;
    if (!real.empty())
      directory = nearestManifestDirectory(real, errorNumber);
    if (errorNumber == 0 && !real.empty())
      return true;
    refuse(path, errorNumber);
    return false;
  }

  /// `DIR/project.toml` means the project of which it is the manifest.
  bool loadManifest(const std::string& path) {
    const std::string parent = parentPath(path);
    std::string real, directory;
    if (!findRoot(parent, real, directory))
      return false;
    if (real == directory)
      return loadDirectory(parent);
    SourceText problem;
    problem.problem = SourceProblem::Other;
    problem.words = "everybody may write into its directory, so it counts for nothing";
    reportProblem(problem, path, 0, engine_, {});
    return false;
  }

  bool loadDirectory(const std::string& path) {
    std::string real, directory;
    if (!findRoot(path, real, directory))
      return false;
    if (directory.empty()) {
      engine_.report(diag::FileMissing, display_.prefixOf(real) + kManifestName.str())
          .help("name a file, or a directory that holds a `project.toml`");
      return false;
    }
    Package package;
    if (!fillPackage(package, directory, spellingOf(path, real, directory)))
      return false;
    if (!package.manifest->hasProject) {
      engine_.report(diag::NotYet, "checking a whole workspace").help("name one of its members");
      return false;
    }
    if (!findEntry(package, {"src/main.gos", "src/lib.gos"}))
      return false;
    project_.packages.push_back(std::move(package));
    return true;
  }

  bool loadFile(const std::string& path) {
    const std::string spelledParent = parentPath(path);
    const std::string name = nameOfFile(path).str();
    std::string parent, directory;
    if (!findRoot(spelledParent, parent, directory))
      return false;
    Package package;
    if (directory.empty()) {
      fillLoneFile(package, parent, absoluteSpelling(spelledParent));
      package.entry = name;
    } else {
      if (!fillPackage(package, directory, spellingOf(spelledParent, parent, directory)))
        return false;
      const std::string file = parent == "/" ? "/" + name : parent + "/" + name;
      package.entry = file.substr(directory == "/" ? 1 : directory.size() + 1);
      if (!package.manifest->hasProject) {
        package.loneFile = true;
        package.sourceDirectory = directoryOf(package.entry);
      }
    }
    placeBase(package);
    if (package.moduleName.empty())
      package.moduleName = moduleNameOf(llvm::StringRef(name).rsplit('.').first);
    project_.packages.push_back(std::move(package));
    return true;
  }

  /// A file without a manifest: ruling 2 says when its directory is a root.
  void fillLoneFile(Package& package, const std::string& directory, const std::string& spelling) {
    package.loneFile = true;
    package.directory = directory;
    package.spelling = spelling.empty() ? directory : spelling;
    package.displayPrefix = display_.prefixOf(directory);
    package.level = ComptimeIo::Full; // nobody asks for less
    const llvm::StringRef tooWide = tooWideForRoot(directory, allHomes(), isSharedTemp(directory));
    package.hasRoot = tooWide.empty();
    if (!package.hasRoot)
      package.whyNoRoot = "`" + directory + "` is " + tooWide.str();
  }

  /// Everything that a directory with a manifest says, but for its entry.
  bool fillPackage(Package& package, const std::string& directory, const std::string& spelling) {
    package.directory = directory;
    package.spelling = spelling;
    package.displayPrefix = display_.prefixOf(directory);
    package.sourceDirectory = "src";
    package.manifest = store_.manifest(directory);
    if (!package.manifest)
      return false;
    const Manifest& manifest = *package.manifest;
    package.id = manifest.id;
    package.moduleName = moduleNameOf(manifest.id);
    package.hasRoot = directory != "/" && !isSharedTemp(directory);
    if (!package.hasRoot)
      package.whyNoRoot =
          "`" + directory + "` is " + tooWideForRoot(directory, {}, isSharedTemp(directory)).str();
    package.level = ComptimeIo::Full;
    if (manifest.comptimeIo) {
      package.level = manifest.comptimeIo->value;
      package.levelOrigin = LevelOrigin::Manifest;
      package.levelSpan = manifest.comptimeIo->span;
    }
    if (manifest.sandbox)
      package.sandboxFloor = manifest.sandbox->value;
    if (manifest.gossamerVersion) {
      const std::optional<Version> own = Version::parse(GOS_VERSION);
      if (!own || !manifest.gossamerVersion->value.admits(*own)) {
        engine_.report(manifest.gossamerVersion->span, diag::ToolVersion,
                       manifest.gossamerVersion->value.text(), GOS_VERSION);
        return false;
      }
    }
    // Its own members are looked at too: one that leads out would escape the workspace's level.
    std::optional<Manifest> workspace;
    if (manifest.workspaceMembers && !store_.workspace(directory, workspace))
      return false;
    return applyWorkspaces(package, store_, engine_);
  }

  bool findEntry(Package& package, std::initializer_list<const char*> defaults) {
    const Manifest& manifest = *package.manifest;
    if (manifest.entry) {
      package.entry = tidyRelative(manifest.entry->value);
      if (!fileExists(package, package.entry)) {
        engine_.report(manifest.entry->span, diag::EntryMissing,
                       displayPath(package, package.entry));
        return false;
      }
    } else {
      for (const char* candidate : defaults)
        if (package.entry.empty() && fileExists(package, candidate))
          package.entry = candidate;
      if (package.entry.empty()) {
        engine_.report(manifest.idSpan, diag::EntryMissing, displayPath(package, *defaults.begin()))
            .help("write it, or name another one: `entry = \"src/start.gos\"`");
        return false;
      }
    }
    placeBase(package);
    return true;
  }

  static bool fileExists(const Package& package, llvm::StringRef path) {
    struct stat status{};
    return ::lstat((package.directory + "/" + path.str()).c_str(), &status) == 0;
  }

  /// Where relative paths of folds are behind: `src` of a project, whichever of its files is given.
  static void placeBase(Package& package) {
    const std::string own = directoryOf(package.entry);
    const bool inSources =
        !package.sourceDirectory.empty() && isAtOrBeneath("/" + own, "/" + package.sourceDirectory);
    package.baseDirectory = inSources && !package.loneFile ? package.sourceDirectory : own;
  }

  /// The spelling of the package directory, of which `path` spells something at or beneath.
  static std::string spellingOf(const std::string& path, const std::string& real,
                                const std::string& directory) {
    std::string spelling = absoluteSpelling(path);
    const size_t below = real.size() - (directory == "/" ? 0 : directory.size());
    llvm::StringRef tail = llvm::StringRef(real).take_back(below);
    // The same steps down must lead there; else a link is in between and the real path is all.
    if (!llvm::StringRef(spelling).ends_with(tail))
      return spellingByLink(spelling, directory);
    spelling.resize(spelling.size() < below ? 0 : spelling.size() - below);
    return realPathOf(spelling) == directory ? spelling : directory;
  }

  /// The shortest spelled ancestor that is the directory.
  static std::string spellingByLink(const std::string& spelling, const std::string& directory) {
    std::string best = directory;
    for (std::string at = spelling; at.size() > 1; at = parentPath(at))
      if (realPathOf(at) == directory)
        best = at;
    return best;
  }

  // ---- dependencies -------------------------------------------------------------------------

  bool loadDependencies() {
    bool good = true;
    llvm::StringMap<uint32_t> known;
    known[project_.packages.front().directory] = 0;
    // Packages are appended while the loop runs: a queue without recursion.
    for (uint32_t index = 0; index != project_.packages.size(); ++index) {
      project_.packages[index].index = index;
      if (!project_.packages[index].manifest)
        continue;
      const std::vector<Dependency> dependencies = project_.packages[index].manifest->dependencies;
      for (const Dependency& dependency : dependencies)
        good &= loadDependency(index, dependency, known);
    }
    return good;
  }

  bool loadDependency(uint32_t index, const Dependency& dependency,
                      llvm::StringMap<uint32_t>& known) {
    const bool replaced =
        llvm::any_of(project_.root().manifest->replacements,
                     [&](const Dependency& row) { return row.key == dependency.key; });
    if (replaced) {
      engine_.report(dependency.keySpan, diag::NotYet, "`[replace]`");
      return false;
    }
    if (dependency.source != Dependency::Source::Path) {
      llvm::StringRef what = dependency.source == Dependency::Source::Git ? "a dependency from git"
                             : dependency.source == Dependency::Source::Url
                                 ? "a dependency from a URL"
                                 : "a dependency from a registry";
      engine_.report(dependency.keySpan, diag::NotYet, what)
          .help("use a package of this file system: `{ path = \"../" + dependency.moduleName +
                "\" }`");
      return false;
    }
    const std::string base = project_.packages[index].directory;
    const std::string joined =
        dependency.path.front() == '/' ? dependency.path : base + "/" + dependency.path;
    const std::string directory = realPathOf(joined);
    struct stat status{};
    if (directory.empty() || ::stat(directory.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
      engine_.report(dependency.pathSpan, diag::DependencyPathMissing, dependency.key,
                     dependency.path);
      return false;
    }
    auto [place, isNew] = known.try_emplace(directory, uint32_t(project_.packages.size()));
    const uint32_t target = place->second;
    if (isNew && !loadPackage(dependency, directory, absoluteSpelling(joined))) {
      known.erase(directory);
      return false;
    }
    const Package& package = project_.packages[target];
    if (!package.manifest || !checkIdentity(dependency, package))
      return package.manifest.has_value() ? false : reportWithoutManifest(dependency);
    project_.packages[index].dependencies.push_back(
        {dependency.moduleName, dependency.key, target, dependency.keySpan});
    return true;
  }

  bool reportWithoutManifest(const Dependency& dependency) {
    engine_.report(dependency.pathSpan, diag::DependencyWithoutManifest, dependency.key,
                   dependency.path);
    return false;
  }

  bool loadPackage(const Dependency& dependency, const std::string& directory,
                   const std::string& spelling) {
    if (!ManifestStore::exists(directory))
      return reportWithoutManifest(dependency);
    Package package;
    if (!fillPackage(package, directory, spelling.empty() ? directory : spelling))
      return false;
    if (!package.manifest->hasProject)
      return reportWithoutManifest(dependency);
    if (!findEntry(package, {"src/lib.gos", "src/main.gos"}))
      return false;
    project_.packages.push_back(std::move(package));
    return true;
  }

  /// A key that is a whole id must be the id of what lies there, in a version that is asked for.
  bool checkIdentity(const Dependency& dependency, const Package& package) {
    if (llvm::StringRef(dependency.key).contains('/') && dependency.key != package.id) {
      engine_.report(dependency.keySpan, diag::BadPackageId, dependency.key,
                     "the package in `" + dependency.path + "` is `" + package.id + "`");
      return false;
    }
    if (dependency.requirement && !dependency.requirement->admits(package.manifest->version)) {
      engine_.report(dependency.keySpan, diag::BadVersion, package.manifest->version.text(),
                     "a version that `" + dependency.requirement->text() + "` of dependency `" +
                         dependency.key + "` admits");
      return false;
    }
    return true;
  }

  /// A circle of packages has no order to be checked in.
  bool checkCycles() {
    enum class Mark : uint8_t { New, Open, Done };
    std::vector<Mark> marks(project_.packages.size(), Mark::New);
    struct Frame {
      uint32_t package;
      size_t next = 0;
    };
    std::vector<Frame> stack = {{0}};
    marks[0] = Mark::Open;
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const Package& package = project_.packages[frame.package];
      if (frame.next == package.dependencies.size()) {
        marks[frame.package] = Mark::Done;
        stack.pop_back();
        continue;
      }
      const PackageDependency& edge = package.dependencies[frame.next++];
      if (marks[edge.package] == Mark::Open) {
        std::string circle;
        bool inside = false;
        for (const Frame& open : stack) {
          inside |= open.package == edge.package;
          if (inside)
            circle += "`" + nameOf(open.package) + "` -> ";
        }
        circle += "`" + nameOf(edge.package) + "`";
        engine_.report(edge.span, diag::DependencyCycle, circle);
        return false;
      }
      if (marks[edge.package] == Mark::New) {
        marks[edge.package] = Mark::Open;
        stack.push_back({edge.package});
      }
    }
    return true;
  }

  std::string nameOf(uint32_t index) const {
    const Package& package = project_.packages[index];
    return package.id.empty() ? package.entry : package.id;
  }

  Engine& engine_;
  const bool relative_;
  Display display_;
  ManifestStore store_;
  Project project_;
};
} // namespace

std::optional<Project> loadProject(llvm::StringRef path, SourceMap& sources, Engine& engine) {
  return Loader(sources, engine, !path.starts_with("/")).load(path.str());
}

std::optional<Project> loadProjectOfText(llvm::StringRef name, SourceMap& sources, Engine& engine) {
  return Loader(sources, engine, /*relative=*/true).load(("./" + name).str(), /*isText=*/true);
}

std::string displayPath(const Package& package, llvm::StringRef path) {
  return package.displayPrefix + path.str();
}

} // namespace gos
