#pragma once
// What the text and the JSON of an explanation have in common.

#include "sandbox/linux/plan.h"
#include "sandbox/policy/policy.h"

#include <string>
#include <vector>

namespace gos::sandbox {

/// A variable of the command: passed from the caller, or set by the policy or the sandbox.
struct ExplainedVariable {
  std::string name, value;
  bool set = false;
};
std::vector<ExplainedVariable> explainedEnvironment(const Policy& policy, const ChildPlan& plan);

/// What a step puts at its path.
enum class ViewRole : uint8_t {
  Leads,       // a directory that only leads somewhere
  File,        // a file of ours
  Link,        //
  Granted,     // the host's, as its access says
  Pinned,      // the same, and it cannot be renamed because of what lies beneath
  Device,      //
  Temp,        // the private temp
  Closed,      // a hole
  Empty,       // there, and says nothing
  Processes,   //
  Terminals,   //
  SharedMemory //
};
struct ExplainedStep {
  const ViewStep* step = nullptr;
  ViewRole role = ViewRole::Leads;
  const PathRule* rule = nullptr; // that made it, where one did
  bool standsIn = false;          // Closed: nothing is there, and nothing can be made
};
std::vector<ExplainedStep> explainedView(const Policy& policy, const ChildPlan& plan);
llvm::StringRef spelling(ViewRole role);

/// A lock that the plan sets and a few words about it.
struct ExplainedMechanism {
  std::string name, detail;
};
std::vector<ExplainedMechanism> explainedMechanisms(const ChildPlan& plan);

/// "none: no other host, and not this one; a loopback of its own".
std::string explainedNetwork(const Policy& policy, const ChildPlan& plan);

} // namespace gos::sandbox
