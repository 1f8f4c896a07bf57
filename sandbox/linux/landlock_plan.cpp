#include "sandbox/linux/landlock_plan.h"

#include "sandbox/policy/policy.h"

namespace gos::sandbox {

namespace {

/// The rights that a step gives to what it puts at its path; none where something else decides.
uint64_t rightsOf(const ViewStep& step) {
  switch (step.kind) {
  case ViewStep::Kind::Bind: {
    if (step.node == NodeKind::Link) // a link is covered with itself; it has no content to grant
      return 0;
    uint64_t rights = step.readOnly ? kReadRights : kWriteRights;
    if (step.devices && !step.readOnly)
      rights |= kDeviceRights;
    if (step.node == NodeKind::Device) // no node of a device is a program
      return rights & kDeviceRights;
    // The host's processes, where there is no namespace for a proc of our own: nothing there is
    // run.
    if (step.path == "/proc")
      return kLandlockReadFile | kLandlockReadDirectory;
    return step.node == NodeKind::Directory ? rights : rights & kFileRights;
  }
  case ViewStep::Kind::MakeFile:
    return kLandlockReadFile;
  case ViewStep::Kind::Proc:
    return kLandlockReadFile | kLandlockReadDirectory;
  case ViewStep::Kind::DevicePts:
    return kDeviceRights | kLandlockReadDirectory;
  case ViewStep::Kind::SharedMemory:
    return kWriteRights;
  case ViewStep::Kind::MakeDirectory: // listed by the rule of the root
  case ViewStep::Kind::MakeLink:
  case ViewStep::Kind::Cover:
  case ViewStep::Kind::Mask: // the rule of /proc reads it
    return 0;
  }
  return 0;
}

/// What a path has already from rules above it.
uint64_t rightsAbove(llvm::ArrayRef<LandlockRule> rules, llvm::StringRef path) {
  uint64_t rights = 0;
  for (const LandlockRule& rule : rules)
    if (isAtOrBeneath(path, rule.path))
      rights |= rule.rights;
  return rights;
}

} // namespace

LandlockPlan landlockPlan(llvm::ArrayRef<ViewStep> view, NetworkMode network, int abi) {
  LandlockPlan plan;
  plan.enabled = true;
  plan.abi = abi;
  plan.handledFileSystem = landlockFileSystemRights(abi);
  if (network == NetworkMode::Client)
    plan.handledNetwork = kLandlockBindTcp; // and no rule: nothing can be bound
  if (abi >= 6)
    plan.scopes = kLandlockScopeAbstract | kLandlockScopeSignal;

  // Directories of the view can be listed, also those that only lead to a grant. The rule is the
  // root's, and has no right on any file.
  plan.rules.push_back({"/", kLandlockReadDirectory, false});
  const ViewStep* temp = nullptr;
  for (const ViewStep& step : view) {
    // The private temp has two names and one rule: the kernel keeps rules by object.
    if (step.kind == ViewStep::Kind::Bind && step.source != step.path) {
      if (temp != nullptr && temp->source == step.source)
        continue;
      temp = &step;
    }
    const uint64_t rights = rightsOf(step) & plan.handledFileSystem;
    if ((rights & ~rightsAbove(plan.rules, step.path)) != 0)
      plan.rules.push_back({step.path, rights, step.optional});
  }
  return plan;
}

void addTerminal(ChildPlan& plan, llvm::StringRef terminal, ObjectId object) {
  if (plan.keepRoot)
    return;
  ViewStep step;
  step.kind = ViewStep::Kind::Bind;
  step.path = "/dev/console";
  step.source = terminal.str();
  step.node = NodeKind::Device;
  step.readOnly = false;
  step.devices = true;
  step.optional = true;
  step.object = object;
  if (plan.landlock.enabled)
    plan.landlock.rules.push_back(
        {step.path, kDeviceRights & plan.landlock.handledFileSystem, true});
  plan.view.push_back(std::move(step));
}

} // namespace gos::sandbox
