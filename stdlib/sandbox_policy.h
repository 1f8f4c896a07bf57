#pragma once
// What a program asked of `sandbox::Policy`, and the policy that it means on this host. Touches
// nothing of the Vm, so that it can be done beside the program.

#include "sandbox/command/command_policy.h"
#include "sandbox/command/runner.h"
#include "sandbox/policy/policy.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace gos::stdlib {

/// What a policy is resolved against.
struct AskedPolicy {
  std::vector<std::string> record; // of Policy::asked in prelude/sandbox.gos: three texts a request
  std::vector<std::string> environment; // NAME=VALUE, the program's own changes included
  std::string directory;                // the program's working directory; empty: the process's
};

/// A policy with what a run needs beside it.
struct ResolvedPolicy {
  Policy policy;
  std::string home; // for texts
  std::optional<std::string> input;
  uint64_t captureLimit = sandbox::RunOptions{}.captureLimit;
};

/// The record as a policy, completed as `bwr` completes its own. The policy may still have
/// problems; the error is what a policy cannot hold: a missing path, a directory that is not
/// granted unasked.
llvm::Expected<ResolvedPolicy> resolvePolicy(const AskedPolicy& asked);
/// The same, and the policy's own check, so that what it answers can be run.
llvm::Expected<ResolvedPolicy> resolveSound(const AskedPolicy& asked);
/// The canonical path of what a program wrote; empty if there is none.
std::string pathAsked(const AskedPolicy& asked, llvm::StringRef written);

/// An error of the sandbox as one text that a program can show, with what to do about it spelled as
/// a program would.
std::string sandboxErrorText(llvm::Error error);
/// `--rw /x` is `.read_write("/x")` here.
std::string remedyForPrograms(llvm::StringRef remedy);

} // namespace gos::stdlib
