#pragma once
// Runs tests, each in a process of its own, several at once.
//
// Threats: a test (and whatever it starts) is somebody else's code. It is kept from the compiler's
// memory and descriptors, its output and its record are bounded, and when it ends its process group
// is killed; what left the group becomes a child of the runner and is killed at the end.

#include "compiler/testing/test.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace gos::testing {

/// Of each stream of a test.
inline constexpr size_t kMaxOutputBytes = 64 << 10;

struct Job {
  uint32_t entry = 0; // index in Module::regions
  uint64_t limitMilliseconds = 60'000;
};

struct RunnerOptions {
  unsigned parallel = 0; // 0: one a processor
  bool failFast = false; // nothing behind the first failure is run, or told
  std::string directory; // where a test starts; empty: here
  int foreignImage = -1; // the library of Rust bindings
  std::string program = "/proc/self/exe";
};

struct RunnerEnd {
  size_t told = 0; // how many jobs `ended` heard of
  int signal = 0;  // what interrupted, or 0
};

/// Runs the jobs. `ended` hears of each in their order, as soon as all before it have ended, and
/// answers whether it failed. An interrupt ends all that run; what had ended by then has been told.
llvm::Expected<RunnerEnd> runTests(llvm::StringRef module, llvm::ArrayRef<Job> jobs,
                                   const RunnerOptions& options,
                                   llvm::function_ref<bool(size_t, const Run&)> ended,
                                   llvm::function_ref<bool(size_t, const Run&)> failed);

} // namespace gos::testing
