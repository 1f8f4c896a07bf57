#include "compiler/repl/interrupt.h"

#include "stdlib/blocking.h"
#include "vm/blocking_pool.h"

#include <cerrno>

namespace gos::repl {
namespace {

// The handler runs on the thread that runs the Vm; the program has one.
constinit vm::Vm* volatile gRunning = nullptr;
constinit volatile sig_atomic_t gInterrupted = 0;

void onInterrupt(int) {
  const int kept = errno;
  const bool isTaken = stdlib::takeSignal(SIGINT);
  errno = kept;
  if (isTaken)
    return;
  gInterrupted = 1;
  if (vm::Vm* machine = gRunning)
    machine->interrupt();
  vm::BlockingPool::endWaits();
  stdlib::endWaiting();
}

} // namespace

Interruptible::Interruptible(vm::Vm& machine) : machine_(machine) {
  gInterrupted = 0;
  stdlib::prepareToEndWaiting();
  machine_.prepareInterrupts();
  gRunning = &machine_;
  struct sigaction action = {};
  action.sa_handler = onInterrupt; // no SA_RESTART: what waits is woken
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &before_);
}

Interruptible::~Interruptible() {
  sigaction(SIGINT, &before_, nullptr);
  gRunning = nullptr;
  machine_.endInterrupts();
  vm::BlockingPool::allowWaits();
  stdlib::resumeWaiting();
}

bool wasInterrupted() {
  return gInterrupted != 0;
}

} // namespace gos::repl
