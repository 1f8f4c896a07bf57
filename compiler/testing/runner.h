#pragma once
// Runs tests, each in a process of its own, several at once, of one module after the other: those
// of the next one start while the last ones of this one still run, and are told in order all the
// same.
//
//   Runner runner(options, ended, failed);
//   while (there are modules || !runner.isDone()) {
//     while (there are modules && runner.wantsMore())
//       if (runner.compile(the next one)) runner.add(it);
//     runner.step();
//   }
//
// A thread of its own looks after what runs, whatever the caller is doing.
//
// Threats: a test (and whatever it starts) is somebody else's code. It is kept from the compiler's
// memory and descriptors, its output and its record are bounded, and when it ends its process group
// is killed; what left the group becomes a child of the runner and is killed at the end.

#include "compiler/testing/test.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gos::testing {

/// Of each stream of a test.
inline constexpr size_t kMaxOutputBytes = 64 << 10;

struct Job {
  uint32_t entry = 0; // index in Module::regions
  uint64_t limitMilliseconds = 60'000;
  uint64_t scheduleSeed = 0; // vm::VmOptions::scheduleSeed
};

/// Tests of one module.
struct Batch {
  llvm::StringRef module; // serialised
  std::vector<Job> jobs;
  std::string directory;  // where they start; empty: here
  int foreignImage = -1;  // the library of Rust bindings
  size_t coverPlaces = 0; // of the module (vm/coverage.h), if what was reached is asked for
};

struct RunnerOptions {
  unsigned parallel = 0; // 0: one a processor
  bool failFast = false; // nothing behind the first failure is run, or told
  std::string program = "/proc/self/exe";
};

class Runner {
public:
  /// `ended` hears of each job in their order, as soon as all before it have ended. Jobs are
  /// counted over all batches.
  using Ended = std::function<void(size_t job, const Run& run)>;
  using Failed = std::function<bool(size_t job, const Run& run)>;
  Runner(RunnerOptions options, Ended ended, Failed failed);
  /// Ends all that still runs.
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  /// Does work during which an interrupt ends everything at once. False, and nothing is done, if
  /// one has come before: see `signal`.
  bool compile(llvm::function_ref<void()> work);
  /// Starts as many of them as there is room for.
  llvm::Error add(Batch batch);
  /// Would one that is added now be started at once?
  bool wantsMore() const;
  /// Has `ended` heard of all that were added?
  bool isDone() const;
  /// Sleeps until something happens, and tells of it. What interrupts has its number in `signal`:
  /// all that runs has ended then, and what had ended by itself has been told.
  void step();
  int signal() const;

private:
  class Machinery;
  std::unique_ptr<Machinery> machinery_;
};

} // namespace gos::testing
