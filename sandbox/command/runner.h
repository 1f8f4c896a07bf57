#pragma once
// Running one command under a policy: what `bwr`, the C interface, builds and programs use.
//
// Thread-safe: any number of runs at once, from any threads, of a process of any size. A run never
// forks the calling process; its first process is executed from a small program that stands inside
// this library. When a run ends, however it ends, nothing of it is left: no process, mount,
// directory, socket or descriptor.

#include "sandbox/linux/plan.h"
#include "sandbox/policy/policy.h"
#include "sandbox/unique_fd.h"

#include "llvm/Support/Error.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace gos::sandbox {

/// Why nothing was run. The exit codes of `bwr` are one to one: 126, 127, 64, 126.
enum class RunProblem : uint8_t {
  Policy,       // the policy contradicts itself or cannot be kept here: 126
  NotFound,     // the command does not exist, or not inside the view: 127
  Unavailable,  // this host cannot give the level: 64, and only that
  NotExecutable // found, and cannot be executed: 126
};

class RunError : public llvm::ErrorInfo<RunError> {
public:
  static char ID;
  RunError(RunProblem problem, std::string text, std::string remedy = {},
           std::string primitive = {})
      : problem_(problem), text_(std::move(text)), remedy_(std::move(remedy)),
        primitive_(std::move(primitive)) {}
  RunProblem problem() const { return problem_; }
  /// What is wrong, one sentence, paths as raw bytes.
  llvm::StringRef text() const { return text_; }
  /// What to do about it; may be empty.
  llvm::StringRef remedy() const { return remedy_; }
  /// Of Unavailable: the primitive that is missing, as the capability report names it.
  llvm::StringRef primitive() const { return primitive_; }
  int exitCode() const;
  void log(llvm::raw_ostream& out) const override;
  std::error_code convertToErrorCode() const override;

private:
  RunProblem problem_;
  std::string text_, remedy_, primitive_;
};

/// How a run ended.
struct RunResult {
  int code = 0;   // of the command, 128 + signal if it died of one
  int signal = 0; // 0 if it exited
  double wallSeconds = 0;
  double cpuSeconds = 0;  // user and system, of the command and all that it started
  uint64_t peakBytes = 0; // largest resident size of one process
  uint32_t killed = 0;    // processes that were still there when the command ended
  bool temporaryRemoved = false;
  std::vector<std::string> createdGuards; // shipped guards of missing names that the run made
  /// The command failed, and something in its network namespace had asked for a network that is not
  /// there. A hint: the command can count at will.
  bool networkRefused = false;
  /// The view holds what was put up before its plan was there, and was not begun anew. Costs only.
  bool stoodAhead = false;
  bool coverLost =
      false; // something outside replaced an entry with a hole on it; the run was ended
  std::string output, errorOutput; // of captured runs
};

/// A first process that waits for its plan. Destroying it ends it.
class FirstProcess;

class Run;

/// What ends a `run` from another thread, before it starts or while it lasts.
class Cancellation {
public:
  /// Kills the run, which then answers an error. Never waits.
  void cancel();
  bool cancelled() const { return cancelled_.load(); }

private:
  friend class WatchedRun;
  std::atomic<bool> cancelled_ = false;
  std::mutex mutex_; // of run_, held while the run is asked what happened
  Run* run_ = nullptr;
};

struct RunOptions {
  std::string program; // as the user wrote it; looked up in PATH unless it has a slash
  std::vector<std::string> arguments; // arguments[0] included; empty: {program}
  /// The caller's environment, NAME=VALUE; what the policy does not pass is dropped.
  std::vector<std::string> environment;
  enum class Streams : uint8_t { Inherit, Capture } streams = Streams::Inherit;
  /// With Inherit: the descriptors that become 0, 1 and 2. A closed one becomes /dev/null, a
  /// directory is a policy error.
  int standardInput = 0, standardOutput = 1, standardError = 2;
  /// With Capture: the most bytes of each stream; more is an error that names the cap, never a
  /// short result.
  uint64_t captureLimit = uint64_t(64) << 20;
  /// With Capture: the descriptor that becomes 0; -1: there is nothing to read.
  int capturedInput = -1;
  /// Of `run` alone.
  Cancellation* cancellation = nullptr;
  bool newSession = false;    // no controlling terminal; captured runs always
  bool notify = false;        // the filter reports to Run::notifications() (--report, --learn)
  bool skipSelfProof = false; // only the self-proof itself
  /// This process is where orphans go and has no child but the run: orphans.h.
  bool adoptsOrphans = false;
  /// A first process that waits for this run, from `startAhead`; null: `start` makes one.
  std::shared_ptr<FirstProcess> ahead;
};

/// A command that runs. Destroying it kills all of it and waits.
class Run {
public:
  virtual ~Run();
  /// Readable when `take` has something to say. One descriptor for the whole run.
  virtual int descriptor() const = 0;
  enum class Event : uint8_t { Nothing, Stopped, Continued, Ended };
  /// What happened since; never waits.
  virtual llvm::Expected<Event> take() = 0;
  /// Sends a signal to the command, not to the first process.
  virtual void signal(int number) = 0;
  /// SIGCONT, if the command is still in the stop that `take` told of last.
  virtual void resume() = 0;
  /// SIGKILL to everything of the run.
  virtual void kill() = 0;
  /// After Ended.
  virtual const RunResult& result() const = 0;
  /// The listener of the filter's notifications, or -1.
  virtual int notifications() const = 0;
  /// The compiled plan, for reports.
  virtual const ChildPlan& plan() const = 0;
};

/// Starts the first process of a run of which level, network and streams are known and nothing
/// else, so that the kernel makes its namespaces while the caller makes the policy. Null where that
/// gains nothing, or where `start` has to find out first whether the level can be had.
std::shared_ptr<FirstProcess> startAhead(SandboxLevel level, NetworkMode network,
                                         const RunOptions& options);
/// Compiles, looks the command up, starts it. The policy is checked first. Errors are RunError.
llvm::Expected<std::unique_ptr<Run>> start(const Policy& policy, const RunOptions& options);
/// Starts, waits, collects.
llvm::Expected<RunResult> run(const Policy& policy, const RunOptions& options);
/// Can this host give the level? Tried at the first time of asking. The error says what is missing.
llvm::Error checkLevel(SandboxLevel level);
/// A limit of the caller that every step of a start runs into and that has nothing to do with the
/// step: of open files, of processes, of the size of files. Success for any other errno.
llvm::Error limitError(int error);
/// Only compiles: what --explain prints. Without a program no command is looked up.
llvm::Expected<ChildPlan> compileForHost(const Policy& policy, const RunOptions& options);

} // namespace gos::sandbox
