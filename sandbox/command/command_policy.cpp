#include "sandbox/command/command_policy.h"

#include "sandbox/command/git_settings.h"
#include "sandbox/command/host_denials.h"
#include "sandbox/linux/plan.h"
#include "sandbox/policy/host/host_paths.h"
#include "sandbox/policy/presets.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

#include <sys/stat.h>

namespace gos::sandbox {

char PolicyError::ID = 0;

void PolicyError::log(llvm::raw_ostream& out) const {
  out << text_;
  if (!remedy_.empty())
    out << "; " << remedy_;
}

std::error_code PolicyError::convertToErrorCode() const {
  return std::make_error_code(std::errc::invalid_argument);
}

// ---- the working directory ----------------------------------------------------------------------

DirectoryVerdict judgeDirectory(const HostFacts& facts, llvm::StringRef directory) {
  if (directory.empty())
    return {DirectoryProblem::Removed, {}};
  // The longest denial is the one to name.
  DirectoryVerdict denied;
  for (const std::string& denial : facts.denials)
    if (isAtOrBeneath(directory, denial) && denial.size() > denied.denial.size())
      denied = {DirectoryProblem::Denied, denial};
  if (denied.problem != DirectoryProblem::None)
    return denied;
  if (directory == "/")
    return {DirectoryProblem::Root, {}};
  if (llvm::is_contained(facts.homes, directory) || llvm::is_contained(facts.everyHome, directory))
    return {DirectoryProblem::Home, {}};
  for (const std::vector<std::string>* homes : {&facts.homes, &facts.everyHome})
    for (const std::string& home : *homes)
      if (isAtOrBeneath(home, directory))
        return {DirectoryProblem::AboveHome, {}};
  if (directory == "/tmp" || directory == "/var/tmp" || directory == "/dev/shm")
    return {DirectoryProblem::SharedTemp, {}};
  return {};
}

llvm::Error directoryError(const DirectoryVerdict& verdict, llvm::StringRef directory) {
  const std::string named = "working directory `" + directory.str() + "` ";
  const std::string elsewhere = "--workdir DIR, with a directory of its own";
  switch (verdict.problem) {
  case DirectoryProblem::None:
    return llvm::Error::success();
  case DirectoryProblem::Removed:
    return llvm::make_error<PolicyError>("working directory was removed",
                                         "cd to a directory that exists, or " + elsewhere);
  case DirectoryProblem::Root:
    return llvm::make_error<PolicyError>(named + "is the root of the file system, which is not "
                                                 "granted unasked",
                                         elsewhere);
  case DirectoryProblem::Home:
    return llvm::make_error<PolicyError>(named +
                                             "is a home directory, which is not granted unasked",
                                         elsewhere + "; or --ro . or --rw . if all of it is meant");
  case DirectoryProblem::AboveHome:
    return llvm::make_error<PolicyError>(
        named + "holds home directories, which are not granted unasked",
        elsewhere + "; or --ro . or --rw . if all of it is meant");
  case DirectoryProblem::Denied:
    return llvm::make_error<PolicyError>(
        named + "is denied by the shipped rule for `" + verdict.denial + "`", elsewhere);
  case DirectoryProblem::SharedTemp:
    return llvm::make_error<PolicyError>(
        named + "is open to everyone, and the command has a private one in its place", elsewhere);
  }
  return llvm::Error::success();
}

namespace {
/// Hardly a repository that somebody works in is larger, deeper or more. One that is has all of its
/// data closed: what was not looked at could hold what runs.
constexpr size_t kMostConfiguration = size_t(1) << 20, kMostModules = 256,
                 kMostConfigurations = 512;
constexpr unsigned kDeepestModule = 8;

class GuardFinder {
public:
  explicit GuardFinder(llvm::StringRef directory) : directory_(directory.str()) {}

  Guards find() {
    static constexpr llvm::StringRef kNames[] = {
#define GOS_GUARD(name) name,
#include "sandbox/command/base_view.def"
    };
    for (llvm::StringRef name : kNames)
      add(directory_ + "/" + name.str(), true);
    const std::string git = directory_ + "/.git";
    addGitFile(git);
    addConfiguration(git + "/config", directory_);
    addConfiguration(git + "/config.worktree", directory_);
    addModules(git + "/modules", 0);
    // `commondir` of a worktree says whose hooks run in it.
    for (const std::string& name : entriesOf(git + "/worktrees"))
      for (const char* file : {"/commondir", "/config.worktree"})
        add(git + "/worktrees/" + name + file, false);
    if (tooMuch_) {
      add(git, false);
      for (const std::string& data : repositories_)
        add(data, false);
    }
    return std::move(guards_);
  }

private:
  std::vector<std::string> entriesOf(const std::string& directory) {
    if (!exists(directory))
      return {};
    std::vector<std::string> names =
        namesIn(directory, kMostModules + 1, [](llvm::StringRef) { return true; });
    tooMuch_ |= names.size() > kMostModules;
    return names;
  }

  void add(const std::string& path, bool nameWhatIsMissing) {
    if (!exists(path)) {
      if (nameWhatIsMissing)
        guards_.missing.push_back(path);
      return;
    }
    // `.git` may be a link, or hooks may be; what they lead to is what runs.
    std::string real = realPathOf(path);
    if (real.empty())
      real = path;
    if (real != path && isAtOrBeneath(real, directory_) && real != directory_)
      guards_.existing.push_back(real);
    guards_.existing.push_back(path);
  }

  /// `.git` of a worktree or a submodule is a file that names the directory, and that another
  /// shares: the file would lead to other hooks if it could be written.
  void addGitFile(const std::string& file) {
    const std::string git = named(file, "gitdir:", directory_);
    if (git.empty())
      return;
    add(file, false);
    for (const std::string& each : {git, named(git + "/commondir", "", git)})
      if (!each.empty()) {
        repositories_.push_back(each);
        for (const char* name : {"/config", "/hooks", "/config.worktree"})
          add(each + name, false);
        addConfiguration(each + "/config", directory_);
      }
  }

  std::string named(const std::string& file, llvm::StringRef key, llvm::StringRef base) const {
    const std::string content = hostTree().text(file, 4096);
    llvm::StringRef text = llvm::StringRef(content).split('\n').first;
    if (!text.consume_front(key) || text.trim().empty())
      return std::string();
    text = text.trim();
    const std::string real =
        realPathOf(text.starts_with("/") ? text.str() : (base + "/" + text).str());
    return isAtOrBeneath(real, directory_) && real != directory_ ? real : std::string();
  }

  /// Each module of a repository has a configuration and hooks of its own. Its name may have
  /// slashes, and it may have modules itself.
  void addModules(const std::string& modules, unsigned depth) {
    if (depth == kDeepestModule) {
      tooMuch_ |= exists(modules);
      return;
    }
    for (const std::string& name : entriesOf(modules)) {
      const std::string module = modules + "/" + name;
      if (++modules_ > kMostModules) {
        tooMuch_ = true;
        return;
      }
      if (realPathOf(module) != module)
        continue; // no link is followed: what it leads to is found where it is
      const bool isModule = exists(module + "/HEAD");
      if (isModule) {
        for (const char* file : {"/config", "/hooks"})
          add(module + file, false);
        addConfiguration(module + "/config", {});
        addModules(module + "/modules", depth + 1);
      } else if (exists(module + "/.")) {
        for (const char* file : {"/config", "/hooks"}) // one that is broken, too
          add(module + file, false);
        addModules(module, depth + 1);
      }
    }
  }

  /// What a configuration leads to inside of the directory. `worktree`: what `core.hooksPath` is
  /// relative to; empty where that is not known.
  void addConfiguration(const std::string& file, llvm::StringRef worktree) {
    if (!exists(file) || !configurationsSeen_.insert(file).second)
      return;
    if (++configurations_ > kMostConfigurations) {
      tooMuch_ = true;
      return;
    }
    const std::string text = hostTree().text(file, kMostConfiguration + 1);
    const GitPaths paths = gitPaths(text);
    tooMuch_ |= text.size() > kMostConfiguration || paths.more;
    for (const std::string& path : paths.hooks)
      if (!worktree.empty() || llvm::StringRef(path).starts_with("/"))
        (void)addNamed(path, worktree);
    for (const std::string& path : paths.includes)
      if (const std::string included = addNamed(path, parentOf(file)); !included.empty())
        addConfiguration(included, worktree);
  }

  /// The place in the directory that a configuration names, or empty: what lies elsewhere is
  /// nobody's to write here.
  std::string addNamed(llvm::StringRef path, llvm::StringRef base) {
    if (path.starts_with("~") || path.contains('\0'))
      return {};
    bool missing = false;
    llvm::Expected<std::string> place = canonicalPathIn(base, path, missing);
    if (!place) {
      llvm::consumeError(place.takeError());
      return {};
    }
    if (!isAtOrBeneath(*place, directory_) || *place == directory_)
      return {};
    add(*place, true);
    return *place;
  }

  static std::string parentOf(llvm::StringRef path) { return path.rsplit('/').first.str(); }

  const std::string directory_;
  Guards guards_;
  size_t modules_ = 0, configurations_ = 0;
  bool tooMuch_ = false;
  std::vector<std::string> repositories_; // the data of one whose `.git` is a file
  llvm::StringSet<> configurationsSeen_;
};
} // namespace

Guards guardsOf(llvm::StringRef directory) {
  return GuardFinder(directory).find();
}

// ---- policies
// -------------------------------------------------------------------------------------

Policy baseViewPolicy(const HostFacts& facts) {
  static constexpr llvm::StringRef kPassed[] = {
#define GOS_ENV_PASSED(name) name,
#include "sandbox/policy/environment.def"
  };
  std::vector<PathRule> rules;
  rules.reserve(facts.basePaths.size() + facts.denials.size());
  const auto isDenied = [&](llvm::StringRef path) {
    return llvm::any_of(facts.denials,
                        [&](const std::string& denial) { return isAtOrBeneath(path, denial); });
  };
  for (const std::string& path : facts.basePaths)
    if (!isDenied(path))
      rules.push_back({path, Access::ReadOnly, Origin::Shipped, {}});
  for (const std::string& path : facts.denials)
    rules.push_back({path, Access::Deny, Origin::Shipped, {}});
  // The environment first: a builder copies what is there already.
  return Policy().withLevel(SandboxLevel::Standard).allowEnv(kPassed).withRules(std::move(rules));
}

llvm::Expected<Policy> commandPolicy(const HostFacts& facts, llvm::StringRef directory) {
  const DirectoryVerdict verdict = judgeDirectory(facts, directory);
  if (verdict.problem != DirectoryProblem::None)
    return directoryError(verdict, directory);
  std::vector<PathRule> rules;
  rules.push_back({directory.str(), Access::ReadWrite, Origin::Shipped, {}});
  // A guard that is missing plants nothing; its rule lets the end of the run say that it was made.
  Guards guards = guardsOf(directory);
  // The user's own configuration of git, where that is moved into what the command may write.
  if (const char* git = environmentValue(facts.environment, "GIT_CONFIG_GLOBAL")) {
    const std::string real = realPathOf(git);
    if (real != directory && isAtOrBeneath(real, directory))
      guards.existing.push_back(real);
  }
  for (std::vector<std::string>* paths : {&guards.existing, &guards.missing})
    for (std::string& path : *paths)
      rules.push_back({std::move(path), Access::ReadOnly, Origin::Shipped, {}});
  return baseViewPolicy(facts).withRules(std::move(rules)).withWorkingDirectory(directory);
}

// ---- completing
// -------------------------------------------------------------------------------------

namespace {
class Completion {
public:
  Completion(const Policy& policy, const HostFacts& facts) : policy_(policy), facts_(facts) {}

  Policy complete() {
    if (policy_.network() != NetworkMode::None)
      addNetwork();
    if (hasFileSystemPolicy(policy_.level())) {
      addSystem();
      addOtherHomes();
      addSharedSockets();
    }
    return rules_.empty() ? policy_ : policy_.withRules(std::move(rules_));
  }

private:
  bool isDenied(llvm::StringRef path) const {
    return llvm::any_of(policy_.rules(), [&](const PathRule& rule) {
      return rule.access == Access::Deny && isAtOrBeneath(path, rule.path);
    });
  }
  /// A rule of ours that changes nothing is left out.
  void add(std::string path, Access access) {
    const auto same = [&](const PathRule& rule) {
      return rule.path == path && rule.origin == Origin::Shipped && rule.access == access;
    };
    if (!llvm::any_of(policy_.rules(), same) && !llvm::any_of(rules_, same))
      rules_.push_back({std::move(path), access, Origin::Shipped, {}});
  }
  void grant(const std::string& path) {
    if (!isDenied(path))
      add(path, Access::ReadOnly);
  }
  bool grants(llvm::function_ref<bool(llvm::StringRef)> reached) const {
    return llvm::any_of(policy_.rules(), [&](const PathRule& rule) {
      return rule.access != Access::Deny && reached(rule.path);
    });
  }

  void addNetwork() {
    static constexpr llvm::StringRef kPassed[] = {
#define GOS_ENV_PASSED_NETWORK(name) name,
#include "sandbox/policy/environment.def"
    };
    policy_ = policy_.allowEnv(kPassed);
    if (!hasFileSystemPolicy(policy_.level()))
      return;
    static constexpr const char* kPaths[] = {
#define GOS_BASE_NETWORK_PATH(path) path,
#include "sandbox/command/base_view.def"
    };
    for (const char* path : kPaths) {
      // A link into /run counts with its file; a dangling one is left out.
      const std::string real = realPathOf(path);
      if (real.empty() || isDenied(real))
        continue;
      grant(path);
      if (real != path)
        grant(real);
    }
    static constexpr llvm::StringRef kCertificates[] = {
#define GOS_CERTIFICATE_ENV(name) name,
#include "sandbox/command/base_view.def"
    };
    for (llvm::StringRef name : kCertificates)
      if (const char* value = environmentValue(facts_.environment, name))
        addCertificates(value);
  }

  /// A variable adds a file or a directory of certificates, never a wide grant.
  void addCertificates(const std::string& value) {
    if (!llvm::StringRef(value).starts_with("/"))
      return;
    const std::string real = realPathOf(value);
    struct stat status{};
    if (real.empty() || ::stat(real.c_str(), &status) != 0)
      return;
    const DirectoryVerdict verdict = judgeDirectory(facts_, real);
    const bool narrow = verdict.problem == DirectoryProblem::None;
    if (!S_ISREG(status.st_mode) && !(S_ISDIR(status.st_mode) && narrow))
      return;
    if (isDenied(real))
      return;
    const std::string spelled = absoluteSpelling(value);
    if (isCanonicalPath(spelled) && spelled != real)
      grant(spelled);
    grant(real);
  }

  /// A grant of /usr brings what its own entries lead to: `cc` is a link into /etc/alternatives.
  void addSystem() {
    static constexpr const char* kPaths[] = {"/etc/alternatives", "/etc/ld.so.cache"};
    if (grants([](llvm::StringRef path) { return path == "/usr"; }))
      for (const char* path : kPaths)
        if (exists(path))
          grant(path);
  }

  void addOtherHomes() {
    std::vector<std::string> homes = facts_.everyHome;
    // People that a directory service knows have their homes there as well.
    if (grants([](llvm::StringRef path) { return isAtOrBeneath("/home", path); }))
      for (const std::string& name : namesIn("/home", 1024, [](llvm::StringRef) { return true; }))
        homes.push_back("/home/" + name);
    for (const std::string& home : homes) {
      if (home == "/" || llvm::is_contained(facts_.homes, home))
        continue;
      const auto reaches = [&](llvm::StringRef path) {
        return isAtOrBeneath(home, path) || isAtOrBeneath(path, home);
      };
      if (!grants(reaches))
        continue;
      std::vector<std::string> denials;
      addCredentials(home, denials);
      for (std::string& path : denials)
        add(std::move(path), Access::Deny);
    }
  }

  void addSharedSockets() {
    static constexpr llvm::StringRef kPrefixes[] = {
#define GOS_SHARED_SOCKET(prefix) prefix,
#include "sandbox/policy/credentials.def"
    };
    for (const std::string directory : {"/tmp", "/var/tmp"}) {
      if (!grants([&](llvm::StringRef path) { return isAtOrBeneath(directory, path); }))
        continue;
      const auto wanted = [&](llvm::StringRef name) {
        return llvm::any_of(kPrefixes,
                            [&](llvm::StringRef each) { return name.starts_with(each); });
      };
      for (const std::string& name : namesIn(directory, 1024, wanted)) {
        // What a grant of its own names is meant, whatever it is called.
        const std::string path = directory + "/" + name;
        if (!grants([&](llvm::StringRef granted) { return isAtOrBeneath(granted, path); }))
          add(path, Access::Deny);
      }
    }
  }

  Policy policy_;
  const HostFacts& facts_;
  std::vector<PathRule> rules_;
};
} // namespace

Policy completeCommandPolicy(const Policy& policy, const HostFacts& facts) {
  return Completion(policy, facts).complete();
}

} // namespace gos::sandbox
