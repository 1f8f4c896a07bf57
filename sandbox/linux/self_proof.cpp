#include "sandbox/linux/self_proof.h"

#include "sandbox/linux/features.h"
#include "sandbox/linux/proof_acts.h"
#include "sandbox/linux/proof_store.h"
#include "sandbox/linux/spawn.h"
#include "sandbox/linux/unavailable.h"
#include "sandbox/sys_error.h"

#include "llvm/Support/FormatVariadic.h"

#include <map>
#include <mutex>
#include <unistd.h>

namespace gos::sandbox {

llvm::StringRef promiseWords(Promise promise) {
  static constexpr llvm::StringRef kWords[] = {
#define GOS_PROMISE(name, level, words) words,
#include "sandbox/linux/promises.def"
  };
  return kWords[size_t(promise)];
}

llvm::StringRef spelling(ProofRun run) {
  switch (run) {
  case ProofRun::Whole:
    return "all locks";
  case ProofRun::Client:
    return "all locks, network client";
  case ProofRun::Mounts:
    return "the mount view alone";
  case ProofRun::Landlock:
    return "Landlock alone";
  case ProofRun::Filter:
    return "the filter alone";
  case ProofRun::Namespaces:
    return "the namespaces alone";
  case ProofRun::None:
    return "no lock";
  }
  return "";
}

const ProofAct* Proof::broken() const {
  for (const ProofAct& act : acts)
    if (!act.held)
      return &act;
  return nullptr;
}

namespace {

/// The rules of a view as rules of the host's tree: what is bound has its source's name there.
std::vector<LandlockRule> rulesOfHost(const ChildPlan& plan) {
  std::vector<LandlockRule> rules;
  for (const LandlockRule& rule : plan.landlock.rules) {
    if (rule.path == "/") {
      rules.push_back(rule);
      continue;
    }
    for (const ViewStep& step : plan.view)
      if (step.path == rule.path &&
          (step.kind == ViewStep::Kind::Bind || step.kind == ViewStep::Kind::Proc)) {
        rules.push_back(rule);
        if (step.kind == ViewStep::Kind::Bind)
          rules.back().path = step.source;
        break;
      }
  }
  return rules;
}

void keepHostTree(ChildPlan& plan) {
  plan.keepRoot = true;
  plan.view.clear();
}

/// Leaves of a plan what a run is about.
void reduce(ChildPlan& plan, ProofRun run) {
  switch (run) {
  case ProofRun::Whole:
  case ProofRun::Client:
    return;
  case ProofRun::Mounts:
    plan.landlock = {};
    plan.filter.clear();
    plan.namespaces &= kUserNamespace | kMountNamespace | kPidNamespace;
    plan.raiseLoopback = false;
    return;
  case ProofRun::Landlock:
    plan.landlock.rules = rulesOfHost(plan);
    keepHostTree(plan);
    plan.filter.clear();
    plan.namespaces = 0;
    plan.raiseLoopback = false;
    return;
  case ProofRun::Filter:
    keepHostTree(plan);
    plan.landlock = {};
    plan.namespaces = 0;
    plan.raiseLoopback = false;
    return;
  case ProofRun::Namespaces:
    keepHostTree(plan);
    plan.landlock = {};
    plan.filter.clear();
    return;
  case ProofRun::None:
    keepHostTree(plan);
    plan.landlock = {};
    plan.filter.clear();
    plan.namespaces = kUserNamespace | kMountNamespace; // what it mounts is mounted for nobody else
    plan.raiseLoopback = false;
    plan.dropCapabilities = plan.noNewPrivileges = false;
    return;
  }
}

std::vector<ProofRun> runsOf(SandboxLevel level) {
  if (!hasFileSystemPolicy(level))
    return {ProofRun::Whole};
  std::vector<ProofRun> runs = {ProofRun::Whole, ProofRun::Mounts, ProofRun::Landlock,
                                ProofRun::Filter, ProofRun::Namespaces};
  if (landlockAbi() >= 4) // without it network `client` is refused when a policy is compiled
    runs.push_back(ProofRun::Client);
  return runs;
}

} // namespace

llvm::Error unavailableStage(SandboxLevel level, llvm::Error launchFailure) {
  return llvm::handleErrors(std::move(launchFailure), [&](const LaunchFailure& failure) {
    // A limit of the caller says nothing about the host.
    if (failure.number() == EAGAIN)
      return llvm::make_error<LaunchFailure>(failure);
    llvm::StringRef primitive = stagePrimitive(failure.stage());
    if (primitive.empty())
      primitive = "self-proof";
    return llvm::make_error<Unavailable>(
        primitive.str(),
        llvm::formatv("level `{0}` is not available here: {1}: cannot {2}: {3}", spelling(level),
                      primitive, stageWords(failure.stage()), errnoText(failure.number()))
            .str(),
        primitiveFix(primitive, failure.number()));
  });
}

llvm::Expected<std::vector<ProofAct>> proveRun(SandboxLevel level, ProofRun run,
                                               const ProofOptions& options) {
  llvm::Expected<ProofScene> scene = ProofScene::create();
  if (!scene)
    return scene.takeError();
  const NetworkMode network = run == ProofRun::Client ? NetworkMode::Client : NetworkMode::None;
  HostLimits limits;
  limits.landlockAbi = landlockAbi();
  limits.pidNamespace = options.pidNamespace;
  limits.userId = ::geteuid();
  limits.groupId = ::getegid();
  llvm::Expected<ChildPlan> plan =
      compilePlan(scene->policy(level, network), hostTree(), limits, {}, scene->temporary().path());
  if (!plan)
    return plan.takeError();
  ProofScript acts = proofActs(*scene, *plan, network, run);
  if (options.change)
    options.change(*plan);
  reduce(*plan, run);

  ProbeLaunch launch;
  const bool whole = run == ProofRun::Whole || run == ProofRun::Client;
  if (whole || run == ProofRun::Mounts)
    launch.temporary = &scene->temporary();
  llvm::Expected<ProbeEnd> end = launchProbe(*plan, acts.script, launch);
  if (!end)
    return unavailableStage(level, end.takeError());
  for (size_t index = 0; index != acts.acts.size(); ++index) {
    const ProbeVerdict& verdict = end->verdicts[index];
    ProofAct& act = acts.acts[index];
    act.held = verdict.held() && !(act.promise == Promise::TreeEnds && end->survivors);
    act.tried = verdict.reported && verdict.status != ProbeStatus::NotTried;
    act.error = verdict.error;
  }
  return std::move(acts.acts);
}

llvm::Expected<Proof> proveNow(SandboxLevel level, const ProofOptions& options) {
  Proof proof;
  proof.level = level;
  proof.pidNamespace = options.pidNamespace;
  for (ProofRun run : runsOf(level)) {
    llvm::Expected<std::vector<ProofAct>> acts = proveRun(level, run, options);
    if (!acts)
      return acts.takeError();
    proof.acts.insert(proof.acts.end(), acts->begin(), acts->end());
  }
  return proof;
}

llvm::Error proofError(const Proof& proof) {
  const ProofAct* broken = proof.broken();
  if (broken == nullptr)
    return llvm::Error::success();
  std::string saw = !broken->tried       ? std::string("could not be tried")
                    : broken->error != 0 ? errnoText(broken->error)
                                         : std::string("was let through");
  return llvm::make_error<Unavailable>(
      "self-proof",
      llvm::formatv("level `{0}` is not available here: self-proof: {1}: `{2}`: {3} ({4})",
                    spelling(proof.level), promiseWords(broken->promise), broken->words, saw,
                    spelling(broken->run))
          .str(),
      "run `bwr --self-test` and report what it prints with the version of this kernel");
}

namespace {

llvm::Expected<ProvenLevel> proveFresh(SandboxLevel level) {
  const auto attempt = [&](bool pidNamespace) -> llvm::Error {
    ProofOptions options;
    options.pidNamespace = pidNamespace;
    llvm::Expected<Proof> proof = proveNow(level, options);
    return proof ? proofError(*proof) : proof.takeError();
  };
  llvm::Error first = attempt(true);
  if (!first)
    return ProvenLevel{true};
  // Containers often refuse the pid namespace or a /proc of its own, and nothing else: `standard`
  // does not promise them.
  bool missing = false;
  first = llvm::handleErrors(std::move(first), [&](std::unique_ptr<Unavailable> error) {
    missing = error->primitive() != "self-proof";
    return llvm::Error(std::move(error));
  });
  if (missing && level == SandboxLevel::Standard) {
    llvm::Error second = attempt(false);
    if (!second) {
      llvm::consumeError(std::move(first));
      return ProvenLevel{false};
    }
    llvm::consumeError(std::move(second));
  }
  return llvm::Expected<ProvenLevel>(std::move(first));
}

/// What this process knows of levels. Asked under its lock.
class KnownLevels {
public:
  std::optional<ProvenLevel> find(SandboxLevel level) {
    if (level == SandboxLevel::None)
      return ProvenLevel{};
    if (auto found = known_.find(level); found != known_.end())
      return found->second;
    if (key_.empty())
      key_ = proofKey();
    std::optional<ProvenLevel> stored = storedProof(key_, level);
    if (stored)
      known_.emplace(level, *stored);
    return stored;
  }
  llvm::Expected<ProvenLevel> findOrProve(SandboxLevel level) {
    if (std::optional<ProvenLevel> found = find(level))
      return *found;
    // What failed is tried again by the next start: a limit that was reached may have been left.
    llvm::Expected<ProvenLevel> proven = proveFresh(level);
    if (proven) {
      storeProof(key_, level, *proven);
      known_.emplace(level, *proven);
    }
    return proven;
  }
  static KnownLevels& get() {
    static KnownLevels* const levels = new KnownLevels;
    return *levels;
  }
  std::mutex mutex;

private:
  std::map<SandboxLevel, ProvenLevel> known_;
  std::string key_;
};

} // namespace

llvm::Expected<ProvenLevel> proveOnce(SandboxLevel level) {
  KnownLevels& levels = KnownLevels::get();
  const std::lock_guard<std::mutex> lock(levels.mutex);
  return levels.findOrProve(level);
}

std::optional<ProvenLevel> provenBefore(SandboxLevel level) {
  KnownLevels& levels = KnownLevels::get();
  const std::lock_guard<std::mutex> lock(levels.mutex);
  return levels.find(level);
}

} // namespace gos::sandbox
