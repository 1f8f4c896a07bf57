#include "sandbox/command/explain_facts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace gos::sandbox {

std::vector<ExplainedVariable> explainedEnvironment(const Policy& policy, const ChildPlan& plan) {
  std::vector<ExplainedVariable> variables;
  const auto isSet = [&](llvm::StringRef name) {
    if (llvm::any_of(policy.setEnv(),
                     [&](const EnvSetting& setting) { return setting.name == name; }))
      return true;
    // The temp's names are the sandbox's where it has a temp of its own.
    if (name == "TMPDIR" || name == "TMP" || name == "TEMP")
      return !plan.temporaryDirectory.empty();
    if (name == "PWD")
      return true;
    return name == "GIT_CONFIG_GLOBAL" && !policy.passesAllEnv() &&
           !llvm::is_contained(policy.passedEnv(), name);
  };
  for (llvm::StringRef entry : plan.command.environment) {
    const auto [name, value] = entry.split('=');
    variables.push_back({name.str(), value.str(), isSet(name)});
  }
  return variables;
}

llvm::StringRef spelling(ViewRole role) {
  switch (role) {
  case ViewRole::Leads:
    return "directory";
  case ViewRole::File:
    return "file";
  case ViewRole::Link:
    return "link";
  case ViewRole::Granted:
    return "granted";
  case ViewRole::Pinned:
    return "pinned";
  case ViewRole::Device:
    return "device";
  case ViewRole::Temp:
    return "temp";
  case ViewRole::Closed:
    return "closed";
  case ViewRole::Empty:
    return "empty";
  case ViewRole::Processes:
    return "processes";
  case ViewRole::Terminals:
    return "terminals";
  case ViewRole::SharedMemory:
    return "shared-memory";
  }
  return {};
}

namespace {
ViewRole roleOfBind(const ChildPlan& plan, const ViewStep& step, const PathRule* rule) {
  if (step.source != step.path && !plan.temporaryDirectory.empty() &&
      step.source == plan.temporaryDirectory)
    return ViewRole::Temp;
  if (step.node == NodeKind::Device)
    return ViewRole::Device;
  if (step.path == "/proc")
    return ViewRole::Processes;
  // A bind that no rule names, beneath one that a rule names, is there to stay in its place.
  const bool beneathItsRule =
      rule != nullptr && rule->path != step.path && isAtOrBeneath(step.path, rule->path);
  const bool fromRoot = rule != nullptr && rule->path == "/";
  if (beneathItsRule && !step.readOnly && !(fromRoot && llvm::StringRef(step.path).count('/') == 1))
    return ViewRole::Pinned;
  return ViewRole::Granted;
}
} // namespace

std::vector<ExplainedStep> explainedView(const Policy& policy, const ChildPlan& plan) {
  std::vector<ExplainedStep> view;
  for (const ViewStep& step : plan.view) {
    ExplainedStep entry;
    entry.step = &step;
    if (step.rule && *step.rule < policy.rules().size())
      entry.rule = &policy.rules()[*step.rule];
    switch (step.kind) {
    case ViewStep::Kind::MakeDirectory:
      entry.role = ViewRole::Leads;
      break;
    case ViewStep::Kind::MakeFile:
      entry.role = ViewRole::File;
      break;
    case ViewStep::Kind::MakeLink:
      entry.role = ViewRole::Link;
      break;
    case ViewStep::Kind::Bind:
      entry.role = roleOfBind(plan, step, entry.rule);
      break;
    case ViewStep::Kind::Cover:
      entry.role = ViewRole::Closed;
      entry.standsIn = llvm::any_of(plan.placeholders, [&](const Placeholder& placeholder) {
        return placeholder.path == step.path;
      });
      break;
    case ViewStep::Kind::Mask:
      entry.role = ViewRole::Empty;
      break;
    case ViewStep::Kind::Proc:
      entry.role = ViewRole::Processes;
      break;
    case ViewStep::Kind::DevicePts:
      entry.role = ViewRole::Terminals;
      break;
    case ViewStep::Kind::SharedMemory:
      entry.role = ViewRole::SharedMemory;
      break;
    }
    view.push_back(entry);
  }
  return view;
}

std::vector<ExplainedMechanism> explainedMechanisms(const ChildPlan& plan) {
  std::vector<ExplainedMechanism> mechanisms;
  struct Row {
    Namespace bit;
    const char *name, *detail;
  };
  static constexpr Row kRows[] = {
      {kUserNamespace, "user namespace", "no right over anything outside"},
      {kMountNamespace, "mount view", "only what is granted is there"},
      {kNetworkNamespace, "network namespace", "a loopback of its own"},
      {kIpcNamespace, "ipc namespace", "shared memory and queues of its own"},
      {kPidNamespace, "pid namespace",
       "process ids of its own; the end of the run ends all of them"},
      {kUtsNamespace, "uts namespace", "a host name of its own"},
      {kCgroupNamespace, "cgroup namespace", "cgroups seen from its own"},
  };
  for (const Row& row : kRows)
    if (plan.namespaces & row.bit)
      mechanisms.push_back({row.name, row.detail});
  if (plan.landlock.enabled) {
    std::string detail =
        llvm::formatv("ABI {0}, {1} rules", plan.landlock.abi, plan.landlock.rules.size()).str();
    if (plan.landlock.handledNetwork != 0)
      detail += ", no TCP port can be bound";
    if (plan.landlock.scopes != 0)
      detail += ", abstract sockets and signals stay inside";
    mechanisms.push_back({"Landlock", detail});
  }
  if (!plan.filter.empty())
    mechanisms.push_back(
        {"seccomp filter", llvm::formatv("{0} instructions{1}", plan.filter.size(),
                                         plan.filterNotifies ? ", reports what it refuses" : "")
                               .str()});
  if (plan.dropCapabilities)
    mechanisms.push_back({"capabilities", "every one dropped"});
  if (plan.noNewPrivileges)
    mechanisms.push_back({"no new privileges", "set-id programs run as you"});
  if (plan.level == SandboxLevel::Basic)
    mechanisms.push_back({"subreaper", "what the command leaves behind ends with the run"});
  return mechanisms;
}

std::string explainedNetwork(const Policy& policy, const ChildPlan& plan) {
  if (!hasFileSystemPolicy(plan.level))
    return llvm::formatv("not bounded at level `{0}`", spelling(plan.level)).str();
  switch (policy.network()) {
  case NetworkMode::None:
    return "none: nothing outside is reached; loopback is its own";
  case NetworkMode::Client:
    return "client: the host's network, for connecting only; nothing can listen";
  case NetworkMode::Open:
    return "open: the host's network, as you have it";
  }
  return {};
}

} // namespace gos::sandbox
