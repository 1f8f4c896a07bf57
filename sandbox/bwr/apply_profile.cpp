#include "sandbox/bwr/apply_profile.h"

#include "sandbox/bwr/make_path.h"
#include "sandbox/policy/host/host_paths.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gos::bwr {

using llvm::StringRef;
using sandbox::DirectoryProblem;
using sandbox::HostFacts;

namespace {
bool exists(const std::string& path) {
  return ::faccessat(AT_FDCWD, path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}
std::string parentOf(StringRef path) {
  const StringRef parent = path.rsplit('/').first;
  return parent.empty() ? "/" : parent.str();
}

Names namesFor(const ProfileInput& input) {
  Names names;
  names.environment = input.facts->environment;
  names.home = input.home;
  names.workdir = input.workdir;
  // Without a file-system policy /tmp is everybody's; what names it is left out there.
  if (hasFileSystemPolicy(input.level))
    names.temp = "/tmp";
  return names;
}

/// `~/.cache/bwr-projects/NAME-HASH/PROFILE`: what one project builds cannot change what another
/// does.
std::string privateDirectory(const Profile& profile, const Names& names) {
  const std::optional<std::string> caches = expandPath("${XDG_CACHE_HOME:-~/.cache}", names);
  if (!caches || names.project.empty())
    return {};
  llvm::SHA256 hash;
  hash.update(names.project);
  const auto digest = hash.final();
  const StringRef name = StringRef(names.project).rsplit('/').second;
  std::string tidy;
  for (char c : name.take_front(32))
    tidy += llvm::isAlnum(c) || c == '-' || c == '_' ? c : '_';
  return *caches + "/bwr-projects/" + tidy + "-" +
         llvm::toHex(llvm::ArrayRef(digest).take_front(8), /*LowerCase=*/true) + "/" + profile.name;
}

class Application {
public:
  Application(const Profile& profile, const ProfileInput& input)
      : profile_(profile), input_(input), names_(namesFor(input)) {}

  llvm::Expected<AppliedProfile> apply() {
    applied_.phase = profile_.phaseFor(input_.arguments);
    if (applied_.phase == nullptr)
      return std::move(applied_);
    const Phase& phase = *applied_.phase;
    names_.project = applied_.project = findProject(profile_, input_);
    names_.privateDirectory = privateDirectory(profile_, names_);
    grantProject(phase);
    for (const Toolchain& toolchain : profile_.toolchains)
      if (input_.tool && isOf(toolchain, *input_.tool, names_)) {
        for (const std::string& pattern : toolchain.readOnly)
          grant(pattern, Access::ReadOnly);
        llvm::append_range(applied_.passEnv, toolchain.pass);
        settings(toolchain.set);
      }
    for (const std::string& pattern : phase.create)
      if (llvm::Error error = make(pattern, /*directory=*/true))
        return error;
    for (const std::string& pattern : phase.createFiles)
      if (llvm::Error error = make(pattern, /*directory=*/false))
        return error;
    for (const std::string& pattern : phase.readOnly)
      grant(pattern, Access::ReadOnly);
    for (const std::string& pattern : phase.readWrite)
      grant(pattern, Access::ReadWrite);
    llvm::append_range(applied_.passEnv, phase.pass);
    settings(phase.set);
    if (input_.network == NetworkMode::None)
      settings(phase.setOffline);
    for (const std::string& pattern : phase.expects)
      if (std::optional<std::string> path = expandPath(pattern, names_); path && !exists(*path))
        applied_.missing.push_back(std::move(*path));
    applied_.isProject = llvm::any_of(profile_.project, [&](const std::string& marker) {
      return exists(applied_.project + "/" + marker);
    });
    for (const std::string& pattern : phase.installed)
      if (std::optional<std::string> path = expandPath(pattern, names_))
        applied_.installed.push_back(std::move(*path));
    useLog(phase);
    return std::move(applied_);
  }

  /// Does a tool belong to a toolchain, by the name it was found under or by what that leads to?
  static bool isOf(const Toolchain& toolchain, const sandbox::FoundCommand& tool,
                   const Names& names) {
    for (const std::string& pattern : toolchain.foundIn) {
      const std::optional<std::string> place = expandPath(pattern, names);
      if (!place || *place == "/")
        continue;
      const std::string real = realPathOf(*place);
      for (const std::string& path : {tool.path, tool.real})
        if (isAtOrBeneath(path, *place) || (!real.empty() && isAtOrBeneath(path, real)))
          return true;
    }
    return false;
  }

private:
  void leaveOut(StringRef pattern, const std::string& why) {
    applied_.notes.push_back("profile `" + profile_.name + "`: `" + pattern.str() +
                             "` is left out: " + why);
  }

  void settings(llvm::ArrayRef<EnvSetting> settings) {
    for (const EnvSetting& setting : settings)
      if (std::optional<std::string> value = expand(setting.value, names_))
        applied_.setEnv.push_back({setting.name, std::move(*value)});
  }

  /// The working directory gets what the phase says; of a project above it nothing is writable, for
  /// its marker may lie in a directory that holds other people's projects as well.
  void grantProject(const Phase& phase) {
    if (applied_.project != input_.workdir)
      applied_.rules.push_back({applied_.project, Access::ReadOnly, Origin::Profile, {}});
    if (phase.project)
      applied_.rules.push_back({input_.workdir, *phase.project, Origin::Profile, {}});
  }

  /// Only what is of this project and profile alone is taken away before a run.
  void useLog(const Phase& phase) {
    if (phase.offlineLog.empty() || input_.network != NetworkMode::None)
      return;
    const std::optional<std::string> path = expandPath(phase.offlineLog.front(), names_);
    if (!path || names_.privateDirectory.empty() || !isAtOrBeneath(*path, names_.privateDirectory))
      return;
    if (input_.make)
      (void)::unlink(path->c_str());
    applied_.offlineLog = *path;
  }

  /// The canonical place of a pattern, or none with a note: what leads out of the project through a
  /// link that a stranger may have put there, what is too wide, what is denied.
  std::optional<std::string> place(StringRef pattern, bool& missing) {
    std::optional<std::string> spelled = expandPath(pattern, names_);
    if (!spelled)
      return std::nullopt; // a variable without a value: nothing is meant
    llvm::Expected<std::string> canonical = sandbox::canonicalPath(*spelled, missing);
    if (!canonical) {
      leaveOut(pattern, llvm::toString(canonical.takeError()));
      return std::nullopt;
    }
    if (isInsideProject(pattern, names_) && !isAtOrBeneath(*canonical, names_.project) &&
        !isAtOrBeneath(*canonical, names_.workdir)) {
      leaveOut(pattern, "it leads out of the project, to `" + *canonical + "`");
      return std::nullopt;
    }
    const sandbox::DirectoryVerdict verdict = sandbox::judgeDirectory(*input_.facts, *canonical);
    switch (verdict.problem) {
    case DirectoryProblem::None:
      return std::move(*canonical);
    case DirectoryProblem::Denied:
      leaveOut(pattern, "`" + verdict.denial + "` is denied");
      return std::nullopt;
    case DirectoryProblem::Root:
    case DirectoryProblem::Home:
    case DirectoryProblem::AboveHome:
    case DirectoryProblem::SharedTemp:
    case DirectoryProblem::Removed:
      leaveOut(pattern, "`" + *canonical + "` is too wide for a profile");
      return std::nullopt;
    }
    return std::nullopt;
  }

  void grant(StringRef pattern, Access access) {
    bool missing = false;
    std::optional<std::string> path = place(pattern, missing);
    if (!path || missing)
      return; // a cache that is not there yet
    // Whoever goes through a link finds it.
    const std::optional<std::string> spelled = expandPath(pattern, names_);
    if (spelled && *spelled != *path)
      applied_.rules.push_back({*spelled, access, Origin::Profile, {}});
    applied_.rules.push_back({std::move(*path), access, Origin::Profile, {}});
  }

  llvm::Error make(StringRef pattern, bool directory) {
    bool missing = false;
    const std::optional<std::string> path = place(pattern, missing);
    if (!path || !missing)
      return llvm::Error::success();
    if (!input_.make) {
      applied_.notes.push_back("`" + *path + "` would be made before the run");
      return llvm::Error::success();
    }
    const bool isPrivate =
        !names_.privateDirectory.empty() && isAtOrBeneath(*path, names_.privateDirectory);
    if (llvm::Error error = makePath(*path, directory, isPrivate ? 0700 : 0777))
      return error;
    if (!directory)
      applied_.madeFiles.push_back(*path);
    return llvm::Error::success();
  }

  const Profile& profile_;
  const ProfileInput& input_;
  Names names_;
  AppliedProfile applied_;
};

bool hasAny(const std::string& directory, StringRef marker) {
  return exists((directory == "/" ? "" : directory) + "/" + marker.str());
}

/// May a project lie here?
bool isProjectDirectory(const HostFacts& facts, StringRef directory) {
  return sandbox::judgeDirectory(facts, directory).problem == DirectoryProblem::None;
}
} // namespace

std::string findProject(const Profile& profile, const ProfileInput& input) {
  for (const std::string& marker : profile.project) {
    std::string directory = input.workdir;
    while (isProjectDirectory(*input.facts, directory)) {
      if (!hasAny(directory, marker)) {
        directory = parentOf(directory);
        continue;
      }
      while (profile.projectClimbs) {
        std::string above = parentOf(directory);
        if (!isProjectDirectory(*input.facts, above) || !hasAny(above, marker))
          break;
        directory = std::move(above);
      }
      return directory;
    }
  }
  return input.workdir;
}

bool isTrustedTool(const Profile& profile, const sandbox::FoundCommand& tool,
                   const ProfileInput& input) {
  static constexpr StringRef kSystem[] = {"/usr", "/bin",       "/sbin",
                                          "/opt", "/nix/store", "/gnu/store"};
  const auto inSystem = [](StringRef path) {
    return llvm::any_of(kSystem,
                        [&](StringRef directory) { return isAtOrBeneath(path, directory); });
  };
  // Whatever lies in the working directory may be a stranger's, wherever that is.
  if (!input.workdir.empty() &&
      (isAtOrBeneath(tool.path, input.workdir) || isAtOrBeneath(tool.real, input.workdir)))
    return false;
  if (inSystem(tool.path))
    return true;
  struct stat status{};
  if (::stat(parentOf(tool.path).c_str(), &status) != 0 || (status.st_mode & S_IWOTH) != 0 ||
      (status.st_uid != ::geteuid() && status.st_uid != 0))
    return false;
  const Names names = namesFor(input);
  return llvm::any_of(profile.toolchains, [&](const Toolchain& toolchain) {
    return Application::isOf(toolchain, tool, names);
  });
}

llvm::Expected<AppliedProfile> applyProfile(const Profile& profile, const ProfileInput& input) {
  return Application(profile, input).apply();
}

} // namespace gos::bwr
