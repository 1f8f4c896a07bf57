#pragma once
// The parent's side of a start: a plan becomes bytes in a sealed file, a process is cloned into its
// namespaces with vfork semantics, and the first process is executed in it. What the clone does
// before that is in post_fork.cpp and is async-signal-safe.
//
// Thread-safe. The calling process may have any size and any number of threads; it is never forked.

#include "sandbox/linux/launch_plan.h"
#include "sandbox/linux/plan.h"
#include "sandbox/unique_fd.h"

#include "llvm/Support/Error.h"

#include <optional>

namespace gos::sandbox {

/// A step of a start that failed; the runner finds the words.
class LaunchFailure : public llvm::ErrorInfo<LaunchFailure> {
public:
  static char ID;
  LaunchFailure(Stage stage, int number, uint32_t index = 0)
      : stage_(stage), number_(number), index_(index) {}
  Stage stage() const { return stage_; }
  int number() const { return number_; }    // errno
  uint32_t index() const { return index_; } // of a view step or a Landlock rule
  void log(llvm::raw_ostream& out) const override;
  std::error_code convertToErrorCode() const override;

private:
  Stage stage_;
  int number_;
  uint32_t index_;
};
/// The row of stages.def.
llvm::StringRef stageWords(Stage stage);
llvm::StringRef stagePrimitive(Stage stage);

/// The plan as the first process reads it. Fails on what does not fit (more than 4 GiB, more than
/// kMostWatched guarded steps).
llvm::Expected<std::string> serialise(const ChildPlan& plan, llvm::StringRef temporaryName,
                                      uint64_t signalMask, llvm::StringRef probePlan = {});

/// What of a plan a first process can be started with before the plan is there.
struct Beginning {
  uint32_t namespaces = 0;
  bool ownRoot = false, raiseLoopback = false;
  friend bool operator==(const Beginning&, const Beginning&) = default;
};
Beginning beginningOf(const ChildPlan& plan);
/// The paths for `Child::begin` of a plan that is there already.
std::vector<std::string> aheadOf(const ChildPlan& plan);

struct LaunchInput {
  int streams[3] = {0, 1, 2}; // of `begin` and `launch`
  /// The private temp, locked by the caller; -1 where there is none.
  int temporaryParent = -1, temporary = -1;
  std::string temporaryName;
  std::string probePlan; // bytes of a ProbePlan, run in the command's place; empty: the command
};

/// The first process of a run, and the socket to it.
class Child {
public:
  Child() = default;
  Child(Child&&) = default;
  Child& operator=(Child&&) = default;
  /// Ends the run and waits for the first process.
  ~Child() { finish(); }

  static llvm::Expected<Child> launch(const ChildPlan& plan, const LaunchInput& input);
  /// Starts a first process that makes its namespaces and then waits for a plan. Meanwhile the
  /// caller compiles it: a network namespace alone takes the kernel as long.
  /// `ahead`: canonical paths that the view will most likely have read-only at their own names.
  /// They are put up with what every view has; a plan that has it otherwise costs the time it took.
  static llvm::Expected<Child> begin(const Beginning& beginning, const int (&streams)[3],
                                     llvm::ArrayRef<std::string> ahead = {});
  /// Gives it the plan that it was started for; once.
  llvm::Error give(const ChildPlan& plan, const LaunchInput& input);
  const Beginning& beginning() const { return beginning_; }

  int control() const { return control_.get(); }
  int pidFd() const { return pidFd_.get(); }
  int id() const { return id_; }
  /// The next message; without one: nothing. `Gone` when the first process is.
  struct Received {
    std::optional<ControlMessage> message;
    bool gone = false;
    UniqueFd descriptor; // of Listener
  };
  Received receive(bool wait);
  void send(ControlKind kind, int status = 0, uint32_t index = 0);
  /// Lets go of the run: the first process kills and cleans.
  void letGo();
  /// The same, and waits until it is gone. Once.
  void finish();
  bool running() const { return pidFd_.valid(); }

private:
  UniqueFd pidFd_, control_, plan_;
  Beginning beginning_;
  int id_ = -1;
};

} // namespace gos::sandbox
