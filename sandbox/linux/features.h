#pragma once
// What this host can do, found out by doing it in a throw-away child, never by reading a version.
// Found once for the process.

#include "sandbox/linux/plan.h"

#include <string>
#include <vector>

namespace gos::sandbox {

/// A primitive that a level rests on. Names are those of stages.def.
struct PrimitiveState {
  std::string name;   // "user namespace", "Landlock", ...
  bool works = false;
  int error = 0;      // errno of the step that failed
  std::string reason; // what was tried and what happened, one sentence
  std::string fix;    // what to do about it; empty where nothing is known
};

/// Probes each primitive, in the order of a start.
const std::vector<PrimitiveState>& primitives();
/// The Landlock ABI of the running kernel: 0 is none. A cheap question, asked at every start. `error`
/// is ENOSYS (not built) or EOPNOTSUPP (not enabled at boot) where there is none.
int landlockAbi(int* error = nullptr);

/// What to do when a primitive is refused, from what this host shows: the sysctl, the AppArmor
/// setting, the container. One sentence; empty where nothing is known.
std::string primitiveFix(llvm::StringRef primitive, int error);

struct LevelState {
  SandboxLevel level = SandboxLevel::None;
  bool available = false;
  std::vector<std::string> mechanisms; // of an available level
  std::string blockedBy;               // primitive
  std::string fix;
};
std::vector<LevelState> levels();

} // namespace gos::sandbox
