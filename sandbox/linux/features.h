#pragma once
// What this host can do, found out by doing it in a throw-away child, never by reading a version.
// Found once for the process. Thread-safe.

#include "sandbox/linux/plan.h"

#include <string>
#include <vector>

namespace gos::sandbox {

enum class Primitive : uint8_t {
#define GOS_PRIMITIVE(name, words, basic, standard, strict, gives, fix) name,
#include "sandbox/linux/primitives.def"
};

/// A primitive that a level rests on. Names are those of stages.def.
struct PrimitiveState {
  std::string name; // "user namespace", "Landlock", ...
  bool works = false;
  int error = 0;         // errno of the step that failed
  std::string reason;    // what was tried and what happened, one sentence
  std::string fix;       // what to do about it; empty where nothing is known
  std::string blockedBy; // where it could not be tried: the primitive that is missing instead
  Primitive primitive = Primitive::MemfdExecution;
};

/// Probes each primitive, in the order of a start.
const std::vector<PrimitiveState>& primitives();
/// Does a level need it?
bool needs(SandboxLevel level, Primitive primitive);
/// The Landlock ABI of the running kernel: 0 is none. A cheap question, asked at every start.
/// `error` is ENOSYS (not built) or EOPNOTSUPP (not enabled at boot) where there is none.
int landlockAbi(int* error = nullptr);

/// What to do when a primitive is refused, from what this host shows: the sysctl, the AppArmor
/// setting, the container. One sentence; empty where nothing is known.
std::string primitiveFix(llvm::StringRef primitive, int error);

struct LevelState {
  SandboxLevel level = SandboxLevel::None;
  bool available = false;
  std::vector<std::string> mechanisms; // of an available level
  std::string blockedBy;               // primitive
  std::string reason;                  // what was tried and what happened
  std::string fix;
};
/// Every level, `none` first. One whose primitives are all there is proven too.
std::vector<LevelState> levels();

/// What primitiveFix looks at; tests have hosts of their own.
class HostHints {
public:
  virtual ~HostHints() = default;
  /// A small file's text without the newline at its end; empty if it cannot be read.
  virtual std::string file(llvm::StringRef path) const = 0;
  virtual bool exists(llvm::StringRef path) const = 0;
  virtual bool isRoot() const = 0;
};
const HostHints& hostHints();
std::string primitiveFix(llvm::StringRef primitive, int error, const HostHints& hints);
/// Settings that bear on a sandbox and block no level: one sentence each.
std::vector<std::string> hostNotes(const HostHints& hints);

} // namespace gos::sandbox
