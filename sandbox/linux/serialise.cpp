// A plan as the block of bytes that launch_plan.h describes.

#include "sandbox/linux/spawn.h"

#include <climits>
#include <cstring>

namespace gos::sandbox {

namespace {
class Block {
public:
  Block() : bytes_(sizeof(LaunchHeader), '\0') {}

  uint32_t text(llvm::StringRef text) {
    const size_t at = bytes_.size();
    bytes_.append(text.data(), text.size());
    bytes_.push_back('\0');
    return uint32_t(at);
  }
  template <class Row> uint32_t rows(const std::vector<Row>& rows) {
    bytes_.resize((bytes_.size() + 15) / 16 * 16);
    const size_t at = bytes_.size();
    if (!rows.empty())
      bytes_.append(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(Row));
    return uint32_t(at);
  }
  uint32_t bytes(llvm::StringRef bytes) {
    return rows(std::vector<char>(bytes.begin(), bytes.end()));
  }
  /// Offsets of texts and a free entry at the end.
  uint32_t texts(const std::vector<std::string>& texts) {
    std::vector<uint64_t> offsets;
    offsets.reserve(texts.size() + 1);
    for (const std::string& each : texts)
      offsets.push_back(text(each));
    offsets.push_back(0);
    return rows(offsets);
  }
  std::string finish(LaunchHeader header) {
    header.magic = kLaunchMagic;
    header.size = uint32_t(bytes_.size());
    std::memcpy(bytes_.data(), &header, sizeof header);
    return std::move(bytes_);
  }
  size_t size() const { return bytes_.size(); }

private:
  std::string bytes_;
};

/// Does the step make something narrower inside a read-write bind, or close something, where
/// somebody outside could take its place away?
bool makesNarrower(const ChildPlan& plan, size_t index) {
  const ViewStep& step = plan.view[index];
  if (step.kind == ViewStep::Kind::Cover)
    return true;
  if (step.kind != ViewStep::Kind::Bind || !step.readOnly)
    return false;
  for (size_t other = 0; other != index; ++other) {
    const ViewStep& grant = plan.view[other];
    if (grant.kind == ViewStep::Kind::Bind && !grant.readOnly && grant.path != step.path &&
        isAtOrBeneath(step.path, grant.path) && grant.source != plan.temporaryDirectory)
      return true;
  }
  return false;
}
/// Are all directories above the step ours, and none of a mount that came before?
bool standsInOwnRoot(const ChildPlan& plan, size_t index) {
  const ViewStep& step = plan.view[index];
  for (size_t other = 0; other != index; ++other) {
    const ViewStep& before = plan.view[other];
    const bool mount = before.kind != ViewStep::Kind::MakeDirectory &&
                       before.kind != ViewStep::Kind::MakeFile &&
                       before.kind != ViewStep::Kind::MakeLink;
    if (mount && isAtOrBeneath(step.path, before.path))
      return false;
  }
  return true;
}

/// Such a step, and each mount that it stands on: they move with the directories that hold them.
bool needsWatch(const ChildPlan& plan, size_t index) {
  const ViewStep& step = plan.view[index];
  if (makesNarrower(plan, index))
    return true;
  if (step.kind != ViewStep::Kind::Bind || standsInOwnRoot(plan, index))
    return false;
  for (size_t other = index + 1; other != plan.view.size(); ++other)
    if (plan.view[other].path != step.path && isAtOrBeneath(plan.view[other].path, step.path) &&
        makesNarrower(plan, other))
      return true;
  return false;
}

/// Does the private temp stand on this name, and is anything mounted beneath it?
bool hasGrantIn(llvm::StringRef name, const ChildPlan& plan) {
  for (const ViewStep& temp : plan.view) {
    if (temp.kind != ViewStep::Kind::Bind || temp.source != plan.temporaryDirectory ||
        temp.path != name)
      continue;
    for (const ViewStep& step : plan.view)
      if (step.path != temp.path && isAtOrBeneath(step.path, temp.path))
        return true;
  }
  return false;
}
} // namespace

llvm::Expected<std::string> serialise(const ChildPlan& plan, llvm::StringRef temporaryName,
                                      uint64_t signalMask, llvm::StringRef probePlan) {
  Block block;
  LaunchHeader header{};
  const auto flag = [&](bool on, LaunchFlag which) { header.flags |= on ? uint32_t(which) : 0; };
  flag(!plan.keepRoot, kBuildView);
  flag((plan.namespaces & kPidNamespace) != 0, kOwnPidNamespace);
  flag((plan.namespaces & kNetworkNamespace) != 0, kOwnNetwork);
  flag(plan.command.newSession, kNewSession);
  flag(plan.dropCapabilities, kDropCapabilities);
  flag(plan.noNewPrivileges, kNoNewPrivileges);
  flag(!plan.coreDumps, kNoCoreDumps);
  flag(plan.landlock.enabled, kUseLandlock);
  flag(!plan.filter.empty(), kUseFilter);
  flag(!plan.filter.empty() && plan.filterNotifies, kFilterNotifies);
  flag(!temporaryName.empty(), kHasTemp);
  flag(!probePlan.empty(), kProbe);
  flag(hasGrantIn("/tmp", plan), kGrantInTmp);
  flag(hasGrantIn("/var/tmp", plan), kGrantInVarTmp);

  std::vector<LaunchStep> steps;
  size_t watched = 0;
  for (size_t index = 0; index != plan.view.size(); ++index) {
    const ViewStep& step = plan.view[index];
    LaunchStep row{};
    row.kind = StepKind(step.kind);
    row.mode = step.mode;
    row.path = block.text(step.path);
    row.source = block.text(step.source);
    row.text = block.text(step.text);
    row.textSize = uint32_t(step.text.size());
    row.device = step.object.device;
    row.inode = step.object.inode;
    const bool watch = needsWatch(plan, index);
    watched += watch;
    row.flags = uint16_t((step.readOnly ? kStepReadOnly : 0) | (step.devices ? kStepDevices : 0) |
                         (step.node != NodeKind::Directory ? kStepFile : 0) |
                         (watch ? kStepWatch : 0) | (step.optional ? kStepOptional : 0) |
                         (step.object == ObjectId{} ? 0 : kStepExact) |
                         (standsInOwnRoot(plan, index) ? kStepOwnParent : 0));
    steps.push_back(row);
  }
  if (watched > kMostWatched)
    return llvm::createStringError(
        std::make_error_code(std::errc::argument_list_too_long),
        "%zu narrower rules inside read-write grants; at most %zu can be watched", watched,
        size_t(kMostWatched));
  header.stepCount = uint32_t(steps.size());
  header.steps = block.rows(steps);

  std::vector<LaunchRule> rules;
  rules.reserve(plan.landlock.rules.size());
  for (const LandlockRule& rule : plan.landlock.rules)
    rules.push_back({rule.rights, block.text(rule.path), uint32_t(rule.optional)});
  header.ruleCount = uint32_t(rules.size());
  header.rules = block.rows(rules);
  header.landlockAbi = plan.landlock.abi;
  header.landlockFileSystem = plan.landlock.handledFileSystem;
  header.landlockNetwork = plan.landlock.handledNetwork;
  header.landlockScopes = plan.landlock.scopes;

  header.filterCount = uint32_t(plan.filter.size());
  header.filter = block.rows(plan.filter);

  const CommandPlan& command = plan.command;
  header.argumentCount = uint32_t(command.arguments.size());
  header.arguments = block.texts(command.arguments);
  header.environmentCount = uint32_t(command.environment.size());
  header.environment = block.texts(command.environment);
  std::vector<std::string> shell = {"/bin/sh", command.program};
  for (size_t index = 1; index < command.arguments.size(); ++index)
    shell.push_back(command.arguments[index]);
  header.shellArgumentCount = uint32_t(shell.size());
  header.shellArguments = block.texts(shell);
  header.program = block.text(command.program);
  header.workingDirectory =
      block.text(command.workingDirectory.empty() ? "/" : command.workingDirectory);
  header.temporaryName = block.text(temporaryName);
  if (!probePlan.empty())
    header.probe = block.bytes(probePlan);
  header.signalMask = signalMask;
  if (block.size() > size_t(INT_MAX))
    return llvm::createStringError(std::make_error_code(std::errc::argument_list_too_long),
                                   "the plan is larger than 2 GiB");
  return block.finish(header);
}

} // namespace gos::sandbox
