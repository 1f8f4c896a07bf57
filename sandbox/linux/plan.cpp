#include "sandbox/linux/plan.h"

#include "sandbox/linux/environment.h"
#include "sandbox/linux/landlock_plan.h"
#include "sandbox/linux/own_cgroups.h"
#include "sandbox/linux/seccomp_filter.h"
#include "sandbox/linux/unavailable.h"
#include "sandbox/linux/view.h"
#include "sandbox/linux/view_rules.h"
#include "sandbox/policy/decide.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace gos::sandbox {

namespace {

llvm::Error refuse(const std::string& text) {
  return llvm::createStringError(std::make_error_code(std::errc::invalid_argument),
                                 llvm::Twine(text));
}

llvm::Error unavailable(std::string primitive, std::string text, std::string fix) {
  return llvm::make_error<Unavailable>(std::move(primitive), std::move(text), std::move(fix));
}

class PlanCompiler {
public:
  PlanCompiler(const Policy& policy, const HostTree& tree, const HostLimits& limits,
               llvm::ArrayRef<std::string> hostEnvironment, llvm::StringRef temporaryDirectory)
      : policy_(policy), tree_(tree), walk_(tree), limits_(limits),
        hostEnvironment_(hostEnvironment), temporaryDirectory_(temporaryDirectory) {}

  llvm::Expected<ChildPlan> compile() {
    if (llvm::Error error = policy_.check())
      return error;
    if (policy_.temp() == TempMode::Private && policy_.level() != SandboxLevel::None &&
        !temporaryDirectory_.empty()) {
      if (!isCanonicalPath(temporaryDirectory_))
        return refuse(
            llvm::formatv("temporary directory `{0}` is not canonical", temporaryDirectory_).str());
      plan_.temporaryDirectory = temporaryDirectory_.str();
    }
    plan_.level = policy_.level();
    switch (policy_.level()) {
    case SandboxLevel::None:
      plan_.keepRoot = true;
      plan_.dropCapabilities = plan_.noNewPrivileges = false;
      plan_.coreDumps = true; // as the caller has it
      break;
    case SandboxLevel::Basic:
      if (llvm::Error error = checkGrantsExist())
        return error;
      plan_.keepRoot = true;
      plan_.dropCapabilities = false;
      break;
    case SandboxLevel::Standard:
    case SandboxLevel::Strict:
      if (llvm::Error error = compileLocks())
        return error;
      break;
    }
    compileEnvironment();
    return std::move(plan_);
  }

private:
  bool strict() const { return policy_.level() == SandboxLevel::Strict; }

  /// Where there is no view, which would look at every grant: what a user names has to exist all
  /// the same.
  llvm::Error checkGrantsExist() const {
    for (const PathRule& rule : policy_.rules())
      if (rule.access != Access::Deny && rule.origin == Origin::User &&
          tree_.look(rule.path).kind == NodeKind::Missing)
        return refuse(llvm::formatv("{0} grants what does not exist", describeRule(rule)).str());
    return llvm::Error::success();
  }

  // ---- what the host has to have
  // ------------------------------------------------------------------

  llvm::Error checkLandlock() const {
    const std::string level = spelling(policy_.level()).str();
    const char* fix = "use Linux 6.2 or newer";
    switch (limits_.landlockAbi) {
    case 0:
      return unavailable(
          "Landlock",
          llvm::formatv("level `{0}` needs Landlock, and this kernel does not offer it", level),
          "use Linux 6.2 or newer, with `landlock` among the names of its `lsm=` parameter");
    case 1:
      return unavailable(
          "Landlock",
          llvm::formatv(
              "level `{0}` needs Landlock ABI {1}, and this kernel has ABI 1: rename between "
              "directories is impossible before Linux 5.19",
              level, kLandlockLeastAbi),
          fix);
    case 2:
      return unavailable(
          "Landlock",
          llvm::formatv(
              "level `{0}` needs Landlock ABI {1}, and this kernel has ABI 2: truncation is not "
              "controlled before Linux 6.2",
              level, kLandlockLeastAbi),
          fix);
    }
    if (limits_.landlockAbi < kLandlockLeastAbi)
      return unavailable("Landlock",
                         llvm::formatv("Landlock ABI {0} is not known", limits_.landlockAbi), fix);
    if (policy_.network() == NetworkMode::Client && limits_.landlockAbi < 4)
      return unavailable(
          "Landlock",
          llvm::formatv(
              "network `client` needs Landlock ABI 4, and this kernel has ABI {0}: TCP ports are "
              "not controlled before Linux 6.7",
              limits_.landlockAbi),
          "use Linux 6.7 or newer, or network `none` or `open`");
    return llvm::Error::success();
  }

  llvm::Error compileLocks() {
    if (llvm::Error error = checkLandlock())
      return error;
    if (strict() && !limits_.pidNamespace)
      return unavailable("pid namespace",
                         "level `strict` needs a pid namespace with a `/proc` of its own",
                         "allow pid namespaces and an unmasked `/proc`, or use level `standard`");
    plan_.namespaces = namespacesOf(policy_.level(), policy_.network(), limits_.pidNamespace);
    plan_.raiseLoopback = (plan_.namespaces & kNetworkNamespace) != 0;

    const llvm::ArrayRef<FilterInstruction> filter =
        filterProgram({policy_.level(), policy_.network(), false});
    if (filter.empty())
      return unavailable(
          "seccomp filter",
          llvm::formatv("level `{0}` needs a system call filter, and there is none for this CPU",
                        spelling(policy_.level())),
          "use level `basic`");
    plan_.filter.assign(filter.begin(), filter.end());

    if (llvm::Error error = compileFileSystem())
      return error;
    if (plan_.namespaces & kCgroupNamespace)
      showOwnCgroups(plan_.view, tree_);
    plan_.landlock = landlockPlan(plan_.view, policy_.network(), limits_.landlockAbi);
    return llvm::Error::success();
  }

  // ---- the view
  // -----------------------------------------------------------------------------------

  /// The path in a rule as its writer spelled it, absolute; empty if there is none. `--rw ../x` is
  /// the flag and the path.
  std::string spelledPath(const PathRule& rule) const {
    llvm::StringRef text = rule.writtenAs;
    if (text.starts_with("-")) {
      const size_t end = text.find_first_of(" =");
      if (end == llvm::StringRef::npos)
        return {};
      text = text.drop_front(end + 1);
    }
    if (text.empty() || text.contains('\0'))
      return {};
    if (text == "~" || text.starts_with("~/"))
      return homeOf() + text.drop_front().str();
    if (text.starts_with("/"))
      return text.str();
    if (policy_.workingDirectory().empty())
      return {};
    return policy_.workingDirectory().str() + "/" + text.str();
  }

  std::string homeOf() const {
    for (const EnvSetting& setting : policy_.setEnv())
      if (setting.name == "HOME")
        return setting.value;
    const auto home = valueOf(hostEnvironment_, "HOME");
    return home && decideEnv(policy_, "HOME").allowed ? home->str() : std::string();
  }

  /// The caller's own name for the working directory, links and all, if it is one.
  std::string logicalDirectory() {
    const auto name = valueOf(hostEnvironment_, "PWD");
    if (!name || !isCanonicalPath(*name) || *name == policy_.workingDirectory())
      return {};
    return walk_.follow(*name).path == policy_.workingDirectory() ? name->str() : std::string();
  }

  llvm::Error compileFileSystem() {
    ViewRequest request;
    request.home = homeOf();
    request.temporaryDirectory = plan_.temporaryDirectory;
    for (const char* name : {"LOGNAME", "USER"})
      if (auto value = valueOf(hostEnvironment_, name); value && request.userName.empty())
        request.userName = value->str();
    request.userId = limits_.userId;
    request.groupId = limits_.groupId;
    request.ownProc = limits_.pidNamespace;
    for (const PathRule& rule : policy_.rules()) {
      if (rule.access == Access::Deny)
        continue;
      // A name that no longer leads where the rule says is not repeated in the view.
      if (std::string name = spelledPath(rule);
          !name.empty() && name != rule.path && walk_.follow(name).path == rule.path)
        request.names.push_back(std::move(name));
    }
    logicalDirectory_ = logicalDirectory();
    if (!logicalDirectory_.empty())
      request.names.push_back(logicalDirectory_);

    llvm::Expected<View> view = compileView(policy_, tree_, walk_, request);
    if (!view)
      return view.takeError();
    plan_.view = std::move(view->steps);
    pinGuardedLinks();
    plan_.placeholders = std::move(view->placeholders);
    temporaryName_ = std::move(view->temporaryName);

    const llvm::StringRef directory = policy_.workingDirectory();
    if (directory.empty() || standsInView(plan_.view, tree_, directory))
      return llvm::Error::success();
    const Verdict verdict = decide(policy_, directory, Operation::List);
    if (!verdict.allowed)
      return refuse(llvm::formatv("the command can't start in `{0}`: {1}", directory,
                                  describe(policy_, verdict, directory))
                        .str());
    return refuse(
        llvm::formatv("the command can't start in `{0}`: the view has no such directory", directory)
            .str());
  }

  /// A guard that is reached through a link (`.git` that leads elsewhere): what it leads to has
  /// rules of its own, and the link must not be exchanged for another. It is covered with itself;
  /// then removing and renaming it are EBUSY (T104).
  void pinGuardedLinks() {
    for (size_t index = 0; index != policy_.rules().size(); ++index) {
      const PathRule& rule = policy_.rules()[index];
      if (rule.origin != Origin::Shipped || rule.access != Access::ReadOnly)
        continue;
      const llvm::StringRef path = rule.path;
      for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
        const llvm::StringRef name = path.take_front(end);
        if (isInsideWritable(name))
          if (const HostTree::Entry& entry = walk_.look(name); entry.kind == NodeKind::Link) {
            pinLink(name, entry.object, index);
            break; // what lies behind the link has rules of its own
          }
        if (end == llvm::StringRef::npos)
          break;
      }
    }
  }
  bool isInsideWritable(llvm::StringRef path) const {
    const ViewStep* step = stepCovering(plan_.view, path);
    return step != nullptr && step->kind == ViewStep::Kind::Bind && !step->readOnly &&
           step->path != path;
  }
  void pinLink(llvm::StringRef path, ObjectId object, size_t rule) {
    const auto stands = [&](const ViewStep& step) { return step.path == path; };
    if (llvm::any_of(plan_.view, stands))
      return;
    ViewStep pin;
    pin.kind = ViewStep::Kind::Bind;
    pin.path = pin.source = path.str();
    pin.node = NodeKind::Link;
    pin.readOnly = false; // what the name says is guarded by its own rule
    pin.object = object;
    pin.rule = rule;
    plan_.view.push_back(std::move(pin));
  }

  // ---- the environment
  // ----------------------------------------------------------------------------

  /// The user's git configuration exists and the command does not see it. git takes what is missing
  /// for nothing and what it cannot open for the end (B027).
  bool hidesGitConfig() const {
    const std::string home = homeOf();
    if (plan_.keepRoot || !llvm::StringRef(home).starts_with("/"))
      return false;
    for (const char* name : {"/.gitconfig", "/.config/git/config"}) {
      const std::string real = tree_.real(home + name);
      if (!real.empty() && !decide(policy_, real, Operation::Read).allowed)
        return true;
    }
    return false;
  }

  void compileEnvironment() {
    EnvironmentFacts facts;
    facts.temporaryName = plan_.keepRoot ? plan_.temporaryDirectory : temporaryName_;
    plan_.command.workingDirectory = policy_.workingDirectory().str();
    if (!plan_.keepRoot && plan_.command.workingDirectory.empty())
      plan_.command.workingDirectory = "/";
    if (policy_.level() != SandboxLevel::None)
      facts.workingDirectory = plan_.keepRoot              ? keptDirectory()
                               : logicalDirectory_.empty() ? plan_.command.workingDirectory
                                                           : logicalDirectory_;
    facts.hideGitConfig = hidesGitConfig();
    plan_.command.environment = commandEnvironment(policy_, hostEnvironment_, facts);
  }

  /// PWD where the host's tree stays: the caller's name for the directory, if it has one.
  std::string keptDirectory() {
    if (policy_.workingDirectory().empty())
      return valueOf(hostEnvironment_, "PWD").value_or("").str();
    const std::string logical = logicalDirectory();
    return logical.empty() ? policy_.workingDirectory().str() : logical;
  }

  const Policy& policy_;
  const HostTree& tree_;
  PathWalk walk_; // one look at each path in a compilation
  const HostLimits& limits_;
  llvm::ArrayRef<std::string> hostEnvironment_;
  llvm::StringRef temporaryDirectory_;
  std::string logicalDirectory_, temporaryName_;
  ChildPlan plan_;
};

} // namespace

uint32_t namespacesOf(SandboxLevel level, NetworkMode network, bool pidNamespace) {
  if (!hasFileSystemPolicy(level))
    return 0;
  uint32_t namespaces = kUserNamespace | kMountNamespace | kIpcNamespace;
  if (network == NetworkMode::None)
    namespaces |= kNetworkNamespace;
  if (pidNamespace)
    namespaces |= kPidNamespace;
  if (level == SandboxLevel::Strict)
    namespaces |= kUtsNamespace | kCgroupNamespace;
  return namespaces;
}

llvm::Expected<ChildPlan> compilePlan(const Policy& policy, const HostTree& tree,
                                      const HostLimits& limits,
                                      llvm::ArrayRef<std::string> hostEnvironment,
                                      llvm::StringRef temporaryDirectory) {
  return PlanCompiler(policy, tree, limits, hostEnvironment, temporaryDirectory).compile();
}

} // namespace gos::sandbox
