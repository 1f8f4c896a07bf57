// The handler ends what waits and what runs, so that the thread of the program comes to rest where
// it always does; the rest happens there, as ordinary code. Where it does not come to rest (a call
// of the system or of a Rust crate that nothing can hurry) an alarm ends the process, and the
// handler then kills the children itself.

#include "stdlib/program/ending.h"

#include "stdlib/blocking.h"
#include "stdlib/process_children.h"
#include "stdlib/program/descendants.h"
#include "stdlib/sandbox_runs.h"
#include "vm/blocking_pool.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gos::program {
namespace {

using Clock = std::chrono::steady_clock;

/// How long children, and a call that cannot be ended, may take after the signal.
constexpr int kGraceSeconds = 2;
/// A second signal that comes so soon was sent along with the first: a terminal and a shell both
/// tell, or two of one group.
constexpr int64_t kTogetherNs = 200'000'000;

// For the handler.
constinit vm::Vm* volatile theMachine = nullptr; // null: its run is over
constinit volatile sig_atomic_t theAsked = 0;
constinit volatile int64_t theTime = 0; // of the first signal
constinit volatile pid_t theThread = 0;
constinit volatile bool isOfTerminal = false; // its kernel sent it, to everyone of the group

// The terminal among the streams, and its modes when the program began.
constinit volatile int theTerminal = -1;
termios theModes;

int64_t nowNs() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

/// A child that was killed may have left the terminal in modes of its own, or to a group that is no
/// more. Whoever else has it keeps it.
void restoreTerminal() {
  if (theTerminal < 0)
    return;
  const pid_t group = ::tcgetpgrp(theTerminal);
  if (group < 0 || (group != ::getpgrp() && (::kill(-group, 0) == 0 || errno != ESRCH)))
    return;
  sigset_t stop;
  ::sigemptyset(&stop);
  ::sigaddset(&stop, SIGTTOU);
  ::pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  ::tcsetattr(theTerminal, TCSANOW, &theModes);
}

/// Ends the process as the signal does. Nothing but what a handler may do.
void endBy(int number) {
  stdlib::killKeptForGood();
  restoreTerminal();
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  ::sigaction(number, &action, nullptr);
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, number);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  ::kill(::getpid(), number);
}

void onAlarm(int) {
  endBy(theAsked);
}

void onSignal(int number, siginfo_t* facts, void*) {
  const int kept = errno;
  if (::gettid() != theThread) { // of a Rust crate
    ::syscall(SYS_tgkill, ::getpid(), theThread, number);
    errno = kept;
    return;
  }
  if (theAsked != 0) {
    if (nowNs() - theTime > kTogetherNs)
      endBy(theAsked);
    errno = kept;
    return;
  }
  if (stdlib::takeSignal(number)) {
    errno = kept;
    return;
  }
  theTime = nowNs();
  isOfTerminal = facts->si_code == SI_KERNEL;
  theAsked = number;
  if (vm::Vm* const machine = theMachine) {
    // What children leave behind when they end comes to this process, and so to its end.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    struct sigaction action = {};
    action.sa_handler = onAlarm;
    ::sigaction(SIGALRM, &action, nullptr);
    ::alarm(kGraceSeconds);
    stdlib::endWaiting();
    vm::BlockingPool::endWaits();
    stdlib::endSandboxRunInPlace();
    machine->prepareInterrupts();
    machine->interrupt();
  }
  errno = kept;
}

} // namespace

Ending::Ending(vm::Vm& machine) : machine_(machine), others_(childrenOfBefore()) {
  stdlib::prepareToEndWaiting();
  theTerminal = -1;
  for (int stream = 0; stream != 3 && theTerminal < 0; ++stream)
    if (::tcgetattr(stream, &theModes) == 0)
      theTerminal = stream;
  theAsked = 0;
  theThread = ::gettid();
  theMachine = &machine;
  struct sigaction action = {};
  action.sa_sigaction = onSignal;
  action.sa_flags = SA_SIGINFO; // no SA_RESTART: what waits is woken
  ::sigfillset(&action.sa_mask);
  for (size_t i = 0; i != std::size(kEndingSignals); ++i) {
    asks_[i].emplace(kEndingSignals[i]);
    ::sigaction(kEndingSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN)
      ::sigaction(kEndingSignals[i], &action, nullptr);
    else
      asks_[i].reset();
  }
}

Ending::~Ending() {
  for (size_t i = 0; i != std::size(kEndingSignals); ++i)
    ::sigaction(kEndingSignals[i], &before_[i], nullptr);
  theMachine = nullptr;
}

int Ending::asked() const {
  return theAsked;
}

bool Ending::runIsOver() {
  {
    const stdlib::NoSignals quiet;
    theMachine = nullptr;
    if (theAsked == 0)
      return false;
  }
  ::alarm(0);
  const auto deadline = Clock::now() + std::chrono::seconds(kGraceSeconds);
  stdlib::endSandboxRuns(deadline);
  endDescendants(theAsked, isOfTerminal ? Told::GroupWasTold : Told::Nobody, deadline, others_);
  machine_.endInterrupts();
  vm::BlockingPool::allowWaits();
  stdlib::resumeWaiting();
  return true;
}

void Ending::end() {
  stdlib::endSandboxRuns(Clock::now() + std::chrono::seconds(kGraceSeconds));
  endDescendants(SIGKILL, Told::Nobody, Clock::now(), others_);
  endBy(theAsked);
}

} // namespace gos::program
