#pragma once
// A policy and its plan as text for people and as JSON for programs: `bwr --explain`, the C
// interface, `--sandbox-explain`. Nothing is looked up here.

#include "sandbox/linux/plan.h"
#include "sandbox/policy/policy.h"

#include <string>

namespace gos::sandbox {

struct ExplainOptions {
  bool colour = false; // only for a terminal
  unsigned width = 80;
  /// The user's home, shown as `~` in text; never in JSON.
  std::string home;
};

/// The view as a tree with its holes, network, environment and mechanisms, readable at a glance.
std::string explainText(const Policy& policy, const ChildPlan& plan, const ExplainOptions& options);
/// One object:
/// {"schema":1,"level":..,"view":[..],"network":..,"environment":..,"mechanisms":[..],"limits":[..]}.
/// With the members "profile" and "phase", null where there is none, if somebody chose among them.
struct ExplainedProfile {
  std::string name, phase;
};
std::string explainJson(const Policy& policy, const ChildPlan& plan,
                        const ExplainedProfile* profile = nullptr);
/// What a level does not promise with this plan, one sentence each (SECURITY.md has the long form).
std::vector<std::string> limitsOf(const Policy& policy, const ChildPlan& plan);

} // namespace gos::sandbox
