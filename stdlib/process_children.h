#pragma once
// The children that std::process started. Each number is kept from the start until it is reaped, so
// that a number that is signalled is still that child's; whoever ends the program finds them all,
// in a signal handler too.

#include "stdlib/blocking.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <csignal>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace gos::stdlib {

/// While it lives no signal handler runs on this thread.
class NoSignals {
public:
  NoSignals();
  ~NoSignals();
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;
  /// What the thread had before.
  const sigset_t& before() const { return before_; }

private:
  sigset_t before_;
};

/// Calls `start(pid)`, which answers what went wrong, and keeps the number.
std::string startKept(llvm::function_ref<std::string(int&)> start, int& pid);
/// The status of a child that has ended, which is kept no more; none of one that runs, or is none
/// of ours.
std::optional<int> reapChild(int pid);
/// Signals a child that is kept.
void signalKept(int pid, int number);
/// Those that are kept now.
std::vector<int> keptChildren();
/// SIGKILL to all that are kept, and nobody reaps one afterwards. For a signal handler of a thread
/// that ends the process and nothing else.
void killKeptForGood();

/// Children that one call has started. A job waits for them while the Vm's thread may end them.
class Children {
public:
  Children() = default;
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  ~Children(); // killed before they are reaped, always reaped
  /// Calls `start(pid)`, which answers what went wrong, unless they have been stopped.
  std::string add(llvm::function_ref<std::string(int&)> start);
  /// Kills those that run; no other one starts. When the program is asked to end they are left to
  /// whoever ends it, who gives them time.
  void stop();
  void signalAll(int number);
  /// The status of each in the order of their starts; none if it was interrupted.
  std::optional<std::vector<int>> wait(Interrupt& interrupt);

private:
  struct One {
    int pid;
    std::optional<int> status;
  };
  std::mutex mutex_;
  bool stopped_ = false;
  std::vector<One> children_;
};

/// Waits until a child has ended, without reaping it.
Interrupt::Ended awaitChild(int pid, Interrupt& interrupt, Deadline deadline = std::nullopt);

} // namespace gos::stdlib
