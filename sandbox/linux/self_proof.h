#pragma once
// Proving a level on this host: a fixed policy is compiled, started, and in the place of the
// command a script tries what the level promises to refuse, and what it promises to allow. Where
// two locks stand behind one promise each is tried alone as well, so that one cannot hide the loss
// of the other.

#include "sandbox/linux/plan.h"

#include "llvm/Support/Error.h"

#include <functional>
#include <string>
#include <vector>

namespace gos::sandbox {

enum class Promise : uint8_t {
#define GOS_PROMISE(name, level, words) name,
#include "sandbox/linux/promises.def"
};
llvm::StringRef promiseWords(Promise promise);

/// Which locks stand while the acts are tried.
enum class ProofRun : uint8_t {
  Whole,      // all of the level, without a network
  Client,     // all of the level, with network `client`
  Mounts,     // the view alone
  Landlock,   // the ruleset alone, on the host's tree
  Filter,     // the system call filter alone
  Namespaces, // the other namespaces alone
  None,       // no lock: for the tests of the acts themselves
};
llvm::StringRef spelling(ProofRun run);

struct ProofAct {
  Promise promise = Promise::View;
  std::string words; // "write to a file that is granted read-only"
  ProofRun run = ProofRun::Whole;
  bool held = false;
  bool tried = false;
  int error = 0; // errno that was seen
};

struct Proof {
  SandboxLevel level = SandboxLevel::Strict;
  bool pidNamespace = true;
  std::vector<ProofAct> acts;
  /// The first act that did not hold, or null.
  const ProofAct* broken() const;
};

struct ProofOptions {
  bool pidNamespace = true;
  /// For tests: takes something out of a compiled plan before it is started.
  std::function<void(ChildPlan&)> change;
};

/// Tries everything now. A start that fails is an Unavailable with its primitive; acts that did not
/// hold are in the proof.
llvm::Expected<Proof> proveNow(SandboxLevel level, const ProofOptions& options = {});
/// One run of it.
llvm::Expected<std::vector<ProofAct>> proveRun(SandboxLevel level, ProofRun run,
                                               const ProofOptions& options = {});

/// A proof with a broken act as the reason why the level is not offered (primitive "self-proof").
llvm::Error proofError(const Proof& proof);

/// What a proven level found out about the host.
struct ProvenLevel {
  bool pidNamespace = true; // false: `standard` without a pid namespace
};
/// Proves a level once for the host, the kernel, the boot, the program and the user; remembers it
/// in the process and in the user's cache. Unavailable, with the primitive, where the level is not
/// given. Thread-safe.
llvm::Expected<ProvenLevel> proveOnce(SandboxLevel level);
/// The same where the answer is there already; nothing is tried.
std::optional<ProvenLevel> provenBefore(SandboxLevel level);

/// The error of a step that failed, as the runner says it.
llvm::Error unavailableStage(SandboxLevel level, llvm::Error launchFailure);

} // namespace gos::sandbox
