#pragma once
// Turns the calls of a run, as they are seen, into a report and into what a profile would have to
// grant. Bounded in memory whatever the run does: each distinct act is kept once, with a count, and
// beyond a number of lines only counted.

#include "sandbox/command/learn.h"
#include "sandbox/command/report.h"
#include "sandbox/command/runner.h"
#include "sandbox/linux/notify.h"

#include <memory>

namespace gos::sandbox {

class Recorder {
public:
  /// `policy`, `plan` and `tree` outlive the recorder. `homes` are the directories that no advice
  /// opens for writing, nor what holds them.
  Recorder(const Policy& policy, const ChildPlan& plan, const HostTree& tree, bool learns,
           std::vector<std::string> homes);
  ~Recorder();
  void take(const SeenCall& call);
  Report report() const;
  Learned learned() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Watches a run that was started with RunOptions::notify. Whoever waits for the run polls
/// `descriptor()` as well and calls `serve` with what `poll` said of it: the command stands still
/// until then, from its own `execve` on.
class Observer {
public:
  static llvm::Expected<std::unique_ptr<Observer>> create(const Policy& policy, const Run& run,
                                                          bool learns);
  /// -1 when there is nothing to serve any more.
  int descriptor() const { return descriptor_; }
  void serve(short events);
  Report report() const { return recorder_.report(); }
  Learned learned() const { return recorder_.learned(); }

private:
  Observer(const Policy& policy, const Run& run, bool learns, std::vector<std::string> homes)
      : recorder_(policy, run.plan(), hostTree(), learns, std::move(homes)),
        descriptor_(run.notifications()) {}

  Recorder recorder_;
  int descriptor_;
  std::unique_ptr<NotificationServer> server_;
};

/// Can a run be watched here? A report inside a report cannot, nor can one on a kernel without user
/// notification. A RunError; asked before anything is made.
llvm::Error checkObservable(SandboxLevel level);

} // namespace gos::sandbox
