#include "compiler/bindings/policies.h"

#include "compiler/bindings/reproducible.h"
#include "sandbox/policy/decide.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace gos::bindings {

using sandbox::DirectoryProblem;
using sandbox::PolicyError;

llvm::StringRef spelling(Phase phase) {
  switch (phase) {
  case Phase::Query:
    return "query";
  case Phase::OfflineFetch:
    return "offline fetch";
  case Phase::Fetch:
    return "fetch";
  case Phase::Build:
    return "build";
  }
  return {};
}

SandboxLevel effectiveLevel(const Project& project, const SandboxFlags& flags) {
  SandboxLevel level = flags.level.value_or(SandboxLevel::None);
  for (const Package& package : project.packages)
    level = stricter(level, package.sandboxFloor);
  return level;
}

std::string targetName(SandboxLevel level) {
  return "target-" + gos::spelling(level).str();
}

namespace {

class Builder {
public:
  Builder(Phase phase, const BuildFacts& facts, const Cache& cache)
      : phase_(phase), facts_(facts), cache_(cache) {}

  llvm::Expected<Policy> build() {
    const bool network = phase_ == Phase::Fetch || (phase_ == Phase::Build && facts_.flags.network);
    policy_ = sandbox::baseViewPolicy(facts_.host)
                  .withLevel(facts_.level)
                  .withNetwork(network ? NetworkMode::Client : NetworkMode::None)
                  .withWorkingDirectory("/");
    if (hasFileSystemPolicy(facts_.level)) {
      if (llvm::Error error = addPaths())
        return error;
    } else {
      // Nothing is bounded, and a rule would be a promise that nobody keeps.
      policy_ = withoutRules(policy_);
    }
    addEnvironment(network);
    return sandbox::completeCommandPolicy(policy_, facts_.host);
  }

private:
  Policy withoutRules(const Policy& full) const {
    Policy policy = Policy()
                        .withLevel(full.level())
                        .withNetwork(full.network())
                        .withTemp(full.temp())
                        .withWorkingDirectory(full.workingDirectory());
    for (const std::string& name : full.passedEnv())
      policy = policy.allowEnv(name);
    return policy;
  }

  void grant(const std::string& path, Access access) {
    for (PathRule& rule : rules_)
      if (rule.path == path && rule.origin == Origin::Shipped) {
        rule.access = std::max(rule.access, access);
        return;
      }
    rules_.push_back({path, access, Origin::Shipped, {}});
  }

  llvm::Error addPaths() {
    for (const std::string& path : facts_.toolchain.readOnly)
      grant(path, Access::ReadOnly);
    if (phase_ != Phase::Query) {
      grant(cache_.project() + "/crates", Access::ReadOnly);
      grant(cache_.project() + "/home", Access::ReadOnly);
      const bool fetches = phase_ != Phase::Build;
      grant(cache_.project() + "/workspace", fetches ? Access::ReadWrite : Access::ReadOnly);
      grant(cache_.cargoHome(), fetches ? Access::ReadWrite : Access::ReadOnly);
      if (fetches)
        grant(cache_.cargoHome() + "/config.toml", Access::ReadOnly);
      else
        grant(cache_.project() + "/" + targetName(facts_.level), Access::ReadWrite);
      for (const std::string& path : facts_.user.readOnly)
        grant(path, Access::ReadOnly);
      for (const std::string& directory : facts_.programDirectories) {
        // A file of the user's that a build reads is one of the program, never of a home.
        const sandbox::DirectoryVerdict verdict = sandbox::judgeDirectory(facts_.host, directory);
        if (verdict.problem == DirectoryProblem::Denied)
          return llvm::make_error<PolicyError>("package `" + directory +
                                                   "` is denied by the shipped rule for `" +
                                                   verdict.denial + "`",
                                               "move the project");
        if (verdict.problem != DirectoryProblem::None && !isUserGranted(directory))
          return llvm::make_error<PolicyError>(
              "package `" + directory +
                  "` is a directory that holds more than a project, which is not granted unasked",
              "move the project, or give --sandbox-ro " + directory + " if all of it is meant");
        if (verdict.problem == DirectoryProblem::None)
          grant(directory, Access::ReadOnly);
      }
      if (llvm::Error error = addFlags())
        return error;
    }
    policy_ = policy_.withRules(std::move(rules_));
    return llvm::Error::success();
  }

  bool isUserGranted(llvm::StringRef directory) const {
    for (const std::vector<std::string>* list : {&facts_.flags.readOnly, &facts_.flags.readWrite})
      for (const std::string& written : *list) {
        bool missing = false;
        llvm::Expected<std::string> path = sandbox::canonicalPath(written, missing);
        if (!path)
          llvm::consumeError(path.takeError());
        else if (isAtOrBeneath(directory, *path))
          return true;
      }
    return false;
  }

  llvm::Error addFlags() {
    for (const auto& [list, access, flag] :
         {std::tuple(&facts_.flags.readOnly, Access::ReadOnly, "--sandbox-ro "),
          std::tuple(&facts_.flags.readWrite, Access::ReadWrite, "--sandbox-rw ")})
      for (const std::string& written : *list) {
        bool missing = false;
        llvm::Expected<std::string> path = sandbox::canonicalPath(written, missing);
        if (!path)
          return path.takeError();
        if (missing)
          return llvm::make_error<PolicyError>(flag + ("`" + written) + "` does not exist",
                                               "make it first, or leave out the flag");
        // The fetch runs nothing that could use more than reading.
        rules_.push_back({*path, phase_ == Phase::Build ? access : Access::ReadOnly, Origin::User,
                          flag + written});
      }
    return llvm::Error::success();
  }

  void addEnvironment(bool network) {
    std::string path = facts_.toolchain.directory;
    for (const std::string& entry : trustedPath(facts_.host.environment, facts_.programDirectories))
      if (entry != facts_.toolchain.directory)
        path += ":" + entry;
    if (network) {
#define GOS_ENV_PASSED_NETWORK(name) policy_ = policy_.allowEnv(name);
#include "sandbox/policy/environment.def"
    }
    for (const std::string& name : facts_.variables.passed)
      policy_ = policy_.allowEnv(name);
    policy_ = policy_.setEnv("PATH", path)
                  .setEnv("HOME", cache_.project() + "/home")
                  .setEnv("CARGO_HOME", cache_.cargoHome())
                  .setEnv("RUSTC", phase_ == Phase::Build ? cache_.path(kCompilerScript)
                                                          : facts_.toolchain.rustc)
                  .setEnv("CARGO_TERM_COLOR", "never")
                  .setEnv("CARGO_TERM_PROGRESS_WHEN", "never")
                  .setEnv("GIT_TERMINAL_PROMPT", "0")
                  .setEnv("GIT_CONFIG_NOSYSTEM", "1")
                  .setEnv("GIT_CONFIG_GLOBAL", "/dev/null");
    if (phase_ == Phase::Fetch)
      for (const EnvSetting& token : facts_.user.tokens)
        policy_ = policy_.setEnv(token.name, token.value);
    if (phase_ != Phase::Fetch)
      policy_ = policy_.setEnv("CARGO_NET_OFFLINE", "true");
  }

  Phase phase_;
  const BuildFacts& facts_;
  const Cache& cache_;
  Policy policy_;
  std::vector<PathRule> rules_;
};

} // namespace

llvm::Expected<Policy> policyOf(Phase phase, const BuildFacts& facts, const Cache& cache) {
  return Builder(phase, facts, cache).build();
}

bool checkReadable(const BuildFacts& facts, const Policy& build, Engine& engine) {
  bool good = true;
  for (const Binding& binding : facts.bindings) {
    const bool repository = binding.written->source == RustBinding::Source::Git;
    if (binding.path.empty() || (!repository && !hasFileSystemPolicy(facts.level)))
      continue;
    // A repository of this machine is never read unasked, whatever the level bounds.
    bool allowed = false;
    if (hasFileSystemPolicy(facts.level)) {
      allowed = decide(build, binding.path, Operation::Read).allowed;
    } else {
      allowed = facts.level == SandboxLevel::None;
      for (const std::string& written : facts.flags.readOnly) {
        bool missing = false;
        llvm::Expected<std::string> path = sandbox::canonicalPath(written, missing);
        if (!path)
          llvm::consumeError(path.takeError());
        else
          allowed |= isAtOrBeneath(binding.path, *path);
      }
    }
    if (allowed)
      continue;
    good = false;
    const Verdict verdict = decide(build, binding.path, Operation::Read);
    Diagnostic& report =
        engine.report(binding.written->keySpan, diag::BindingRefused, binding.written->key,
                      "`" + binding.path +
                          "` lies outside of the program, and the sandbox does not "
                          "show it");
    if (verdict.reason == Reason::DeniedByRule)
      report.note(describe(build, verdict, binding.path));
    else
      report.help("to allow it: --sandbox-ro " + binding.path);
  }
  return good;
}

} // namespace gos::bindings
