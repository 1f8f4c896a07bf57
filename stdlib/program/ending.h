#pragma once
// The end of a program that a signal asks for: Ctrl-C, a supervisor, a terminal that goes away.

#include "stdlib/signals.h"
#include "vm/vm.h"

#include <csignal>
#include <iterator>
#include <optional>
#include <termios.h>
#include <vector>

namespace gos::program {

/// The signals that ask a program to end. What is ignored when it starts (as `nohup` has it) stays
/// ignored.
inline constexpr int kEndingSignals[] = {SIGINT, SIGTERM, SIGHUP};

/// While it lives the first of these signals ends the run of the machine, and a second one the
/// process, at once; but for those that the program has asked for, until it is being ended. One at
/// a time, on the main thread.
class Ending {
public:
  explicit Ending(vm::Vm& machine);
  ~Ending();
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;

  /// The run of the machine has come to rest. If a signal ended it: all that it started ends, and
  /// the machine can run hooks; the answer is true. A signal that comes later is kept for `end`.
  bool runIsOver();
  /// The signal that asked; 0.
  int asked() const;
  /// Kills what is left, gives the terminal the modes that it had, and ends the process as the
  /// signal does.
  void end();

private:
  vm::Vm& machine_;
  std::vector<int> others_; // children of before
  std::optional<stdlib::SignalIsAsked> asks_[std::size(kEndingSignals)];
  struct sigaction before_[std::size(kEndingSignals)] = {};
};

} // namespace gos::program
