#pragma once
// Ctrl-C while a line runs ends the line, and nothing else; unless the lines have asked for SIGINT.

#include "stdlib/signals.h"
#include "vm/vm.h"

#include <csignal>

namespace gos::repl {

/// For the time of a run SIGINT ends it. One at a time.
class Interruptible {
public:
  explicit Interruptible(vm::Vm& machine);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

private:
  vm::Vm& machine_;
  stdlib::SignalIsAsked asks_{SIGINT};
  struct sigaction before_ = {};
};

/// Was the last run ended so?
bool wasInterrupted();

} // namespace gos::repl
