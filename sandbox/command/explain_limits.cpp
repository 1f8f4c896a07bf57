// What a plan does not promise. SECURITY.md has the long form.

#include "sandbox/command/explain.h"
#include "sandbox/command/explain_facts.h"

#include "llvm/ADT/STLExtras.h"

namespace gos::sandbox {

namespace {

constexpr const char* kUnbounded = "time, memory, disk and processor use are not bounded";

void limitsWithoutFileSystem(const Policy& policy, const ChildPlan& plan,
                             std::vector<std::string>& limits) {
  if (plan.level == SandboxLevel::None) {
    limits.push_back("level `none` is no sandbox: only the environment is what the policy says");
    return;
  }
  limits.push_back(
      "level `basic` bounds no file and no network: the command reaches what you reach");
  if (!policy.rules().empty())
    limits.push_back("grants of paths change nothing at level `basic`");
  limits.push_back(
      "only TMPDIR, TMP and TEMP name the private temp; `/tmp` and `/var/tmp` are the host's");
  limits.push_back("a command that kills every process of its user can outlive the run");
  limits.push_back(kUnbounded);
}

void limitsOfProcesses(const ChildPlan& plan, std::vector<std::string>& limits) {
  const bool scoped = (plan.landlock.scopes & kLandlockScopeSignal) != 0;
  if (plan.level == SandboxLevel::Strict)
    return;
  if (plan.namespaces & kPidNamespace) {
    limits.push_back(
        "that no other process is visible is a promise of level `strict`, though it is so here");
    return;
  }
  limits.push_back("other processes are visible; their memory and environment are not");
  limits.push_back(
      scoped
          ? "a command that kills every process of its own can outlive the run"
          : "processes of yours outside can be signalled: keeping signals inside needs Linux 6.12");
}

void limitsOfNetwork(const Policy& policy, const ChildPlan& plan,
                     std::vector<std::string>& limits) {
  const int abi = plan.landlock.abi;
  if (policy.network() != NetworkMode::None) {
    limits.push_back(std::string("network `") + spelling(policy.network()).str() +
                     "` is the host's, its loopback included: servers on this machine are reached");
    if (policy.network() == NetworkMode::Client)
      limits.push_back("nothing is claimed for UDP; local sockets can't listen either");
    if (abi < 6)
      limits.push_back(
          "abstract sockets of the host are reached: keeping them out needs Linux 6.12");
  }
  if (abi < 9)
    limits.push_back(
        "sockets that have a name beneath a grant are reached: keeping them out needs Linux 7.1");
  if (abi < 5)
    limits.push_back("what can be asked of a granted device is not bounded before Linux 6.10");
}

void limitsOfView(const Policy& policy, const ChildPlan& plan, std::vector<std::string>& limits) {
  bool holes = false, pinned = false, writable = false, rootWritable = false;
  for (const ExplainedStep& entry : explainedView(policy, plan)) {
    holes |= entry.role == ViewRole::Closed;
    pinned |= entry.role == ViewRole::Pinned;
    writable |= entry.rule != nullptr && entry.role == ViewRole::Granted && !entry.step->readOnly;
  }
  for (const PathRule& rule : policy.rules())
    rootWritable |= rule.path == "/" && rule.access == Access::ReadWrite;
  if (writable)
    limits.push_back(
        "a file that has a second name beneath a read-write grant is written by that name");
  if (holes)
    limits.push_back(
        "if something outside replaces an entry that is closed here, the run is ended");
  if (pinned)
    limits.push_back("into and out of a directory that holds a guarded entry files are copied, not "
                     "renamed (EXDEV)");
  if (rootWritable)
    limits.push_back("nothing new can be made in `/` itself");
  if (policy.temp() == TempMode::Inherit)
    limits.push_back(
        "there is no private temp: `/tmp`, or what `TMPDIR` names, is there where a rule grants it");
  if (plan.namespaces & kUserNamespace)
    limits.push_back("files of other owners can look like nobody's");
}

} // namespace

std::vector<std::string> limitsOf(const Policy& policy, const ChildPlan& plan) {
  std::vector<std::string> limits;
  if (!hasFileSystemPolicy(plan.level)) {
    limitsWithoutFileSystem(policy, plan, limits);
    return limits;
  }
  limitsOfView(policy, plan, limits);
  limitsOfNetwork(policy, plan, limits);
  limitsOfProcesses(plan, limits);
  limits.push_back("nested user namespaces, 32-bit programs, `perf`, `sudo` and the desktop's "
                   "sockets do not work inside");
  if (plan.level == SandboxLevel::Strict)
    limits.push_back("`setarch -R` and what needs it do not work inside");
  limits.push_back(kUnbounded);
  return limits;
}

} // namespace gos::sandbox
