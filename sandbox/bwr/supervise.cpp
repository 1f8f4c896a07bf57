#include "sandbox/bwr/supervise.h"

#include "sandbox/sys_error.h"
#include "sandbox/unique_fd.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

namespace gos::bwr {

namespace {
/// What is handed on, and what would stop us before the command has stopped.
constexpr int kSignals[] = {SIGINT,  SIGTERM,  SIGHUP,  SIGQUIT, SIGUSR1, SIGUSR2,
                            SIGCONT, SIGWINCH, SIGTSTP, SIGTTIN, SIGTTOU};

/// What the handler says of a signal, small enough to be written whole.
struct Caught {
  int number;
  bool fromTerminal; // the kernel sent it, to the whole foreground group
};

/// Of the handler; the process has one relay.
volatile int relayDescriptor = -1;

void onSignal(int number, siginfo_t* info, void*) {
  const int kept = errno;
  const Caught caught{number, info != nullptr && info->si_code == SI_KERNEL};
  // A full pipe holds thousands of signals already: one more says nothing.
  [[maybe_unused]] const ssize_t wrote = ::write(relayDescriptor, &caught, sizeof caught);
  errno = kept;
}

/// The terminal as it was found, for a command that leaves it in a state and dies.
class Terminal {
public:
  Terminal() : flags_(::fcntl(STDIN_FILENO, F_GETFL)) {
    for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      if (::isatty(fd) == 1 && ::tcgetpgrp(fd) == ::getpgrp() && ::tcgetattr(fd, &modes_) == 0) {
        fd_ = fd;
        return;
      }
  }

  /// Takes the foreground back from a group that has died with it, and restores the modes unless
  /// the command ended well: then they are what it was started for (`stty`).
  void restore(bool endedWell) const {
    // A command that does not wait for its input says so to the file that the caller has too.
    if (const int now = ::fcntl(STDIN_FILENO, F_GETFL);
        flags_ >= 0 && now >= 0 && (now & ~flags_ & O_NONBLOCK) != 0)
      ::fcntl(STDIN_FILENO, F_SETFL, now & ~O_NONBLOCK);
    if (fd_ < 0)
      return;
    const pid_t group = ::tcgetpgrp(fd_);
    const bool isOurs = group == ::getpgrp();
    const bool isDead = group > 0 && !isOurs && ::kill(-group, 0) != 0 && errno == ESRCH;
    if (!isOurs && !isDead)
      return;
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTTOU);
    ::sigprocmask(SIG_BLOCK, &blocked, &before);
    if (isDead)
      ::tcsetpgrp(fd_, ::getpgrp());
    if (!endedWell)
      ::tcsetattr(fd_, TCSADRAIN, &modes_);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
  }

private:
  int fd_ = -1;
  int flags_; // of standard input
  termios modes_{};
};
} // namespace

struct SignalRelay::State {
  UniqueFd reading, writing;
  Terminal terminal;

  bool stoppedWithIt = false; // what wakes us next goes on with the command as well

  void handle(const Caught& caught, sandbox::Run& run);
};

SignalRelay::~SignalRelay() {
  for (int number : kSignals) {
    if (relayed_.test(size_t(number)))
      ::signal(number, SIG_DFL);
  }
  relayDescriptor = -1;
}

llvm::Expected<std::unique_ptr<SignalRelay>> SignalRelay::create() {
  std::unique_ptr<SignalRelay> relay(new SignalRelay);
  relay->state_ = std::make_unique<State>();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    const int error = errno;
    if (llvm::Error limit = sandbox::limitError(error))
      return limit;
    return sysError("make", "a pipe", error);
  }
  relay->state_->reading = UniqueFd(ends[0]);
  relay->state_->writing = UniqueFd(ends[1]);
  relayDescriptor = ends[1];
  struct sigaction action{};
  action.sa_sigaction = onSignal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigfillset(&action.sa_mask);
  for (int number : kSignals) {
    struct sigaction before{};
    ::sigaction(number, &action, &before);
    // `nohup bwr ..`: what the caller ignores, the command ignores.
    if ((before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == SIG_IGN)
      ::sigaction(number, &before, nullptr);
    else
      relay->relayed_.set(size_t(number));
  }
  return relay;
}

void SignalRelay::State::handle(const Caught& caught, sandbox::Run& run) {
  // The terminal sent it to the command as well. A hang-up that came to us alone, as the leader of
  // the session, did not reach it.
  if (caught.fromTerminal && !(caught.number == SIGHUP && ::getsid(0) == ::getpid()))
    return;
  if (caught.number == SIGCONT && stoppedWithIt) {
    stoppedWithIt = false;
    run.resume();
    return;
  }
  run.signal(caught.number);
}

llvm::Expected<sandbox::RunResult> SignalRelay::supervise(sandbox::Run& run,
                                                          sandbox::Observer* observer) {
  State& state = *state_;
  // What came while the run was started has no descriptor that says so.
  for (bool first = true;; first = false) {
    pollfd entries[3] = {{state.reading.get(), POLLIN, 0},
                         {run.descriptor(), POLLIN, 0},
                         {observer != nullptr ? observer->descriptor() : -1, POLLIN, 0}};
    if (retryInterrupted([&] { return ::poll(entries, 3, first ? 0 : -1); }) < 0)
      return sysError("wait for", "the run", errno);
    if (entries[2].revents != 0)
      observer->serve(entries[2].revents);
    if (!first && entries[0].revents == 0 && entries[1].revents == 0)
      continue;
    Caught caught;
    while (::read(state.reading.get(), &caught, sizeof caught) == ssize_t(sizeof caught))
      state.handle(caught, run);
    bool stoppedNow = false;
    while (true) {
      llvm::Expected<sandbox::Run::Event> event = run.take();
      if (!event)
        return event.takeError();
      if (*event == sandbox::Run::Event::Nothing)
        break;
      if (*event == sandbox::Run::Event::Ended) {
        state.terminal.restore(run.result().signal == 0);
        return run.result();
      }
      stoppedNow = *event == sandbox::Run::Event::Stopped;
    }
    // The shell sees the job stopped when all of it is: the command first, then we.
    if (stoppedNow) {
      state.stoppedWithIt = true;
      ::kill(::getpid(), SIGSTOP);
    }
  }
}

int exitLike(const sandbox::RunResult& result) {
  if (result.signal != SIGINT)
    return result.code;
  ::signal(SIGINT, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
  ::kill(::getpid(), SIGINT);
  return result.code;
}

} // namespace gos::bwr
