#include "stdlib/process_children.h"

#include "sandbox/sys_error.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gos::stdlib {

namespace {

// The numbers stand in blocks that are never given back, for a handler may be reading. 0: free.
struct Block {
  std::array<std::atomic<int>, 62> pids{};
  std::atomic<Block*> next{nullptr};
};
constinit Block theFirst{};
constinit std::mutex theMutex; // of whoever changes them, reaps or signals by number
// Who holds the mutex says so, and looks whether a handler ends the process; the handler says that
// it does, and waits for those who came before. None of them waits for anything meanwhile.
constinit std::atomic<int> theBusy{0};
constinit std::atomic<bool> isOver{false};

class Hold {
public:
  Hold() : lock_(theMutex) {
    ++theBusy;
    if (isOver) {
      --theBusy;
      for (;;)
        ::pause();
    }
  }
  ~Hold() { --theBusy; }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

private:
  NoSignals quiet_; // the handler must not wait for its own thread
  std::lock_guard<std::mutex> lock_;
};

template <class Visit> void eachKept(Visit visit) {
  for (Block* block = &theFirst; block != nullptr; block = block->next)
    for (std::atomic<int>& pid : block->pids)
      visit(pid);
}

void keep(int pid) {
  for (Block* block = &theFirst;; block = block->next) {
    for (std::atomic<int>& place : block->pids)
      if (place == 0) {
        place = pid;
        return;
      }
    if (block->next == nullptr)
      block->next = new Block;
  }
}

void forget(int pid) {
  eachKept([&](std::atomic<int>& place) {
    if (place == pid)
      place = 0;
  });
}

} // namespace

NoSignals::NoSignals() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before_);
}
NoSignals::~NoSignals() {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::string startKept(llvm::function_ref<std::string(int&)> start, int& pid) {
  // Between the two no handler of this thread runs, which would miss it. A start may take its time:
  // others go on meanwhile.
  const NoSignals quiet;
  std::string fault = start(pid);
  if (fault.empty()) {
    const Hold hold;
    keep(pid);
  }
  return fault;
}

std::optional<int> reapChild(int pid) {
  const Hold hold;
  // Nobody else reaps it meanwhile; the number goes before the child does.
  siginfo_t facts{};
  const bool isOurs = ::waitid(P_PID, id_t(pid), &facts, WEXITED | WNOHANG | WNOWAIT) == 0;
  if (isOurs && facts.si_pid != pid)
    return std::nullopt; // it runs
  forget(pid);
  if (!isOurs)
    return std::nullopt;
  int status = 0;
  if (retryInterrupted([&] { return ::waitpid(pid, &status, WNOHANG); }) != pid)
    return std::nullopt;
  return status;
}

void signalKept(int pid, int number) {
  const Hold hold;
  eachKept([&](const std::atomic<int>& place) {
    if (place == pid)
      ::kill(pid, number);
  });
}

std::vector<int> keptChildren() {
  const Hold hold;
  std::vector<int> all;
  eachKept([&](const std::atomic<int>& place) {
    if (const int pid = place; pid != 0)
      all.push_back(pid);
  });
  return all;
}

void killKeptForGood() {
  isOver = true;
  while (theBusy != 0)
    ::sched_yield();
  eachKept([](const std::atomic<int>& place) {
    if (const int pid = place; pid != 0)
      ::kill(pid, SIGKILL);
  });
}

// ---- children of one call -----------------------------------------------------------------------

Children::~Children() {
  stop();
  if (waitingIsOver())
    return;
  for (const One& child : children_)
    if (!child.status) {
      siginfo_t facts{};
      retryInterrupted([&] { return ::waitid(P_PID, id_t(child.pid), &facts, WEXITED | WNOWAIT); });
      (void)reapChild(child.pid);
    }
}

std::string Children::add(llvm::function_ref<std::string(int&)> start) {
  const std::lock_guard lock(mutex_);
  if (stopped_ || waitingIsOver())
    return kCancelled.str();
  int pid = -1;
  std::string fault = startKept(start, pid);
  if (fault.empty())
    children_.push_back({pid, std::nullopt});
  return fault;
}

void Children::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  if (waitingIsOver())
    return;
  for (const One& child : children_)
    if (!child.status)
      signalKept(child.pid, SIGKILL);
}

void Children::signalAll(int number) {
  const std::lock_guard lock(mutex_);
  for (const One& child : children_)
    if (!child.status)
      signalKept(child.pid, number);
}

std::optional<std::vector<int>> Children::wait(Interrupt& interrupt) {
  std::vector<int> all;
  for (size_t at = 0;; ++at) {
    int pid = -1;
    {
      const std::lock_guard lock(mutex_);
      if (at == children_.size())
        return all;
      pid = children_[at].status ? -1 : children_[at].pid;
    }
    if (pid > 0 && awaitChild(pid, interrupt) == Interrupt::Ended::Interrupted)
      return std::nullopt;
    const std::lock_guard lock(mutex_);
    One& child = children_[at];
    if (!child.status)
      child.status = reapChild(child.pid).value_or(SIGKILL); // reaped by who ended the program
    all.push_back(*child.status);
  }
}

Interrupt::Ended awaitChild(int pid, Interrupt& interrupt, Deadline deadline) {
#ifdef SYS_pidfd_open
  if (const UniqueFd child(int(::syscall(SYS_pidfd_open, pid, 0))); child.valid())
    return interrupt.wait(child.get(), POLLIN, deadline);
#endif
  for (unsigned round = 0;; ++round) {
    siginfo_t facts{};
    if (retryInterrupted([&] {
          return ::waitid(P_PID, id_t(pid), &facts, WEXITED | WNOHANG | WNOWAIT);
        }) == -1 ||
        facts.si_pid == pid)
      return Interrupt::Ended::Ready;
    const auto pause =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(round < 20 ? 1 : 10);
    const bool last = deadline && *deadline <= pause;
    const Interrupt::Ended ended = interrupt.wait(-1, 0, last ? *deadline : pause);
    if (ended == Interrupt::Ended::Interrupted || last)
      return ended;
  }
}

} // namespace gos::stdlib
