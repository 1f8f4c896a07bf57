#include "sandbox/policy/decide.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace gos {

llvm::StringRef spelling(Operation operation) {
  switch (operation) {
  case Operation::Query:
    return "query";
  case Operation::Read:
    return "read";
  case Operation::List:
    return "list";
  case Operation::Execute:
    return "execute";
  case Operation::Write:
    return "write";
  }
  return {};
}

Verdict decide(const Policy& policy, llvm::StringRef path, Operation operation) {
  Verdict verdict;
  if (!policy.problems().empty()) {
    verdict.reason = Reason::PolicyHasProblems;
    return verdict;
  }
  if (!isCanonicalPath(path)) {
    verdict.reason = Reason::PathNotCanonical;
    return verdict;
  }
  if (!hasFileSystemPolicy(policy.level())) {
    verdict.allowed = true;
    verdict.reason = Reason::NotBounded;
    return verdict;
  }

  const llvm::ArrayRef<PathRule> rules = policy.rules();
  std::optional<size_t> denial, best;
  for (size_t index = 0; index != rules.size(); ++index) {
    const PathRule& rule = rules[index];
    if (!isAtOrBeneath(path, rule.path))
      continue;
    if (rule.access == Access::Deny) {
      // The most specific denial is the one to name.
      if (!denial || rules[*denial].path.size() < rule.path.size())
        denial = index;
      continue;
    }
    if (!best) {
      best = index;
      continue;
    }
    const PathRule& current = rules[*best];
    const bool longer = rule.path.size() > current.path.size();
    const bool samePath = rule.path.size() == current.path.size();
    const bool stronger = rule.origin > current.origin;
    const bool sameOrigin = rule.origin == current.origin;
    const bool stricterAccess = rule.access < current.access;
    if (longer || (samePath && (stronger || (sameOrigin && stricterAccess))))
      best = index;
  }

  if (denial) {
    verdict.reason = Reason::DeniedByRule;
    verdict.rule = denial;
    verdict.remedy = rules[*denial].origin == Origin::User ? Remedy::RemoveUserRule : Remedy::None;
    return verdict;
  }
  const bool writes = operation == Operation::Write;
  if (!best) {
    verdict.reason = Reason::NoRule;
    verdict.remedy = writes ? Remedy::GrantReadWrite : Remedy::GrantReadOnly;
    return verdict;
  }
  verdict.rule = best;
  if (writes && rules[*best].access == Access::ReadOnly) {
    verdict.reason = Reason::ReadOnlyByRule;
    verdict.remedy = Remedy::GrantReadWrite;
    return verdict;
  }
  verdict.allowed = true;
  verdict.reason = Reason::Granted;
  return verdict;
}

Verdict decideEnv(const Policy& policy, llvm::StringRef name) {
  Verdict verdict;
  if (!policy.problems().empty()) {
    verdict.reason = Reason::PolicyHasProblems;
    return verdict;
  }
  const auto named = [&](const auto& passed) { return llvm::StringRef(passed) == name; };
  const auto isSet = [&](const EnvSetting& setting) { return setting.name == name; };
  verdict.allowed = policy.passesAllEnv() || llvm::any_of(policy.passedEnv(), named) ||
                    llvm::any_of(policy.setEnv(), isSet);
  verdict.reason = verdict.allowed ? Reason::Granted : Reason::NoRule;
  if (!verdict.allowed && environmentNameProblem(name).empty())
    verdict.remedy = Remedy::AllowEnv;
  return verdict;
}

Verdict decideNetwork(const Policy& policy, NetworkAct act) {
  Verdict verdict;
  if (!policy.problems().empty()) {
    verdict.reason = Reason::PolicyHasProblems;
    return verdict;
  }
  if (!hasFileSystemPolicy(policy.level())) {
    verdict.allowed = true;
    verdict.reason = Reason::NotBounded;
    return verdict;
  }
  const NetworkMode needed = act == NetworkAct::Connect ? NetworkMode::Client : NetworkMode::Open;
  verdict.allowed = policy.network() >= needed;
  verdict.reason = verdict.allowed ? Reason::Granted : Reason::NoRule;
  if (!verdict.allowed)
    verdict.remedy =
        act == NetworkAct::Connect ? Remedy::AllowNetworkClient : Remedy::AllowNetworkOpen;
  return verdict;
}

ClassVerdict decideClass(const Policy& policy, Capability capability) {
  if (!policy.problems().empty() || !policy.capabilities().contains(capability))
    return ClassVerdict::Deny;
  switch (capability) {
  case Capability::Read:
  case Capability::Write:
    return hasFileSystemPolicy(policy.level()) ? ClassVerdict::CheckPath : ClassVerdict::Allow;
  case Capability::EnvRead:
    return policy.passesAllEnv() ? ClassVerdict::Allow : ClassVerdict::CheckName;
  case Capability::Output:
    return ClassVerdict::Capture;
  case Capability::Pure:
  case Capability::Exec:
  case Capability::Network:
  case Capability::EnvWrite:
  case Capability::Identity:
  case Capability::Clock:
  case Capability::Random:
  case Capability::Stdin:
  case Capability::Foreign:
    return ClassVerdict::Allow;
  }
  return ClassVerdict::Deny;
}

std::string describe(const Policy& policy, const Verdict& verdict, llvm::StringRef path) {
  const PathRule* rule = verdict.rule ? &policy.rules()[*verdict.rule] : nullptr;
  switch (verdict.reason) {
  case Reason::Granted:
    if (rule)
      return llvm::formatv("`{0}` is granted by the {1} {2} rule for `{3}`", path,
                           spelling(rule->origin), spelling(rule->access), rule->path);
    return llvm::formatv("`{0}` is granted", path);
  case Reason::NotBounded:
    return llvm::formatv("level `{0}` does not bound `{1}`", spelling(policy.level()), path);
  case Reason::NoRule:
    return llvm::formatv("no rule grants `{0}`", path);
  case Reason::DeniedByRule:
    return llvm::formatv("`{0}` is denied by the {1} rule for `{2}`", path, spelling(rule->origin),
                         rule->path);
  case Reason::ReadOnlyByRule:
    return llvm::formatv("`{0}` is read-only by the {1} rule for `{2}`", path,
                         spelling(rule->origin), rule->path);
  case Reason::PathNotCanonical:
    return llvm::formatv("`{0}` is not a canonical path", path);
  case Reason::PolicyHasProblems:
    return llvm::formatv("the policy is not valid: {0}", policy.problems().front());
  }
  return {};
}

} // namespace gos
