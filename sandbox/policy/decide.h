#pragma once
// The only judge. The VM's gate, the openers, the explanations and the tests of every back end ask
// these functions and nothing else. They are pure: paths are canonical already, nothing is looked
// up.
//
// Paths: a denial at or above the path decides, whatever else matches, because a grant never lifts
// a denial. Otherwise the longest matching rule decides; of several at one path the one of the
// strongest origin, and of one origin the stricter access.
// No match is denied. At a level without a file-system policy nothing is bounded.

#include "sandbox/policy/policy.h"

namespace gos {

enum class Operation : uint8_t { Query, Read, List, Execute, Write };
llvm::StringRef spelling(Operation operation);

/// Why a verdict is what it is.
enum class Reason : uint8_t {
  Granted,           // a rule grants it
  NotBounded,        // the level has no policy for this kind of thing
  NoRule,            // nothing grants it
  DeniedByRule,      // a denial covers it
  ReadOnlyByRule,    // a write beneath a read-only rule
  PathNotCanonical,  // the question is not well formed
  PolicyHasProblems, // a policy that is not valid grants nothing
};

/// What would change the verdict; whoever reports it spells the flag of its own command.
enum class Remedy : uint8_t {
  None,
  GrantReadOnly,
  GrantReadWrite,
  RemoveUserRule,
  AllowEnv,
  AllowNetworkClient,
  AllowNetworkOpen
};

struct Verdict {
  bool allowed = false;
  Reason reason = Reason::NoRule;
  Remedy remedy = Remedy::None;
  /// Index into policy.rules() of the rule that decided.
  std::optional<size_t> rule;
};

/// May the operation be done on the object at this canonical path?
Verdict decide(const Policy& policy, llvm::StringRef path, Operation operation);
/// May the variable be seen?
Verdict decideEnv(const Policy& policy, llvm::StringRef name);
enum class NetworkAct : uint8_t { Connect, Listen };
Verdict decideNetwork(const Policy& policy, NetworkAct act);

/// What an evaluator inside our own process does with a call of this class: the capability table
/// has one of these for each class. Deny is zero.
enum class ClassVerdict : uint8_t { Deny, Allow, CheckPath, CheckName, Capture };
ClassVerdict decideClass(const Policy& policy, Capability capability);

/// "`/home/u/.ssh` is denied by a shipped rule": the verdict as a phrase without a flag in it.
std::string describe(const Policy& policy, const Verdict& verdict, llvm::StringRef path);

} // namespace gos
