#include "compiler/testing/watch.h"

#include "sandbox/sys_error.h"

#include "llvm/ADT/StringRef.h"

#include <atomic>
#include <dirent.h>
#include <fcntl.h>
#include <string>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gos::testing {
namespace {

using llvm::StringRef;

constexpr unsigned kMostRounds = 1000; // of endChildren: each may bring up those beneath

// For the handler.
constinit std::atomic<int> notedSignal{0};
constinit std::atomic<int> notesFd{-1};

void noteSignal(int number) {
  const int kept = errno;
  notedSignal.store(number, std::memory_order_relaxed);
  const uint64_t one = 1;
  if (::write(notesFd.load(std::memory_order_relaxed), &one, sizeof one) != ssize_t(sizeof one) &&
      errno != EAGAIN) // then it is readable already
    endBySignal(number);
  errno = kept;
}

/// Kills and reaps the children of one thread. Was there any?
bool endChildrenOf(const std::string& thread) {
  const std::string place = "/proc/self/task/" + thread + "/children";
  const UniqueFd file(::open(place.c_str(), O_RDONLY | O_CLOEXEC));
  char block[4096];
  const ssize_t got = file.valid() ? ::read(file.get(), block, sizeof block) : 0;
  if (got <= 0)
    return false;
  StringRef rest(block, size_t(got));
  if (rest.size() == sizeof block) // a number may be cut
    rest = rest.substr(0, rest.rfind(' '));
  bool found = false;
  while (!rest.empty()) {
    auto [word, tail] = rest.split(' ');
    rest = tail;
    pid_t pid = 0;
    if (word.trim().getAsInteger(10, pid) || pid <= 1)
      continue;
    found = true;
    ::kill(pid, SIGKILL);
    int status = 0;
    (void)retryInterrupted([&] { return ::waitpid(pid, &status, 0); });
  }
  return found;
}

} // namespace

Watch::Watch() {
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask_);
  notes_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!notes_)
    error_ = errno;
  notesFd.store(notes_.get(), std::memory_order_relaxed);
  notedSignal.store(0, std::memory_order_relaxed);
  struct sigaction note = {}, usual = {};
  note.sa_handler = noteSignal;
  usual.sa_handler = SIG_DFL;
  sigemptyset(&note.sa_mask);
  sigemptyset(&usual.sa_mask);
  sigemptyset(&set_);
  for (size_t i = 0; i != std::size(kInterrupts); ++i) {
    ::sigaction(kInterrupts[i], nullptr, &before_[i]);
    if (before_[i].sa_handler == SIG_IGN) // as `nohup` has it
      continue;
    sigaddset(&set_, kInterrupts[i]);
    ::sigaction(kInterrupts[i], &note, nullptr);
  }
  // Where they are ignored the kernel forgets how a child ended.
  ::sigaction(SIGCHLD, &usual, &children_);
  ::pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  signals_ = UniqueFd(::signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_)
    error_ = errno;
  (void)::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

Watch::~Watch() {
  (void)::prctl(PR_SET_CHILD_SUBREAPER, 0);
  for (size_t i = 0; i != std::size(kInterrupts); ++i)
    ::sigaction(kInterrupts[i], &before_[i], nullptr);
  ::sigaction(SIGCHLD, &children_, nullptr);
  notesFd.store(-1, std::memory_order_relaxed);
  ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
}

Watch::Open::Open(const Watch& watch) : watch_(watch) {
  ::pthread_sigmask(SIG_SETMASK, &watch_.mask_, nullptr);
}
Watch::Open::~Open() {
  ::pthread_sigmask(SIG_BLOCK, &watch_.set_, nullptr);
}

int Watch::takeWaiting() {
  int asked = 0;
  signalfd_siginfo info{};
  while (retryInterrupted([&] { return ::read(signals_.get(), &info, sizeof info); }) ==
         ssize_t(sizeof info))
    asked = int(info.ssi_signo);
  return asked;
}

int Watch::takeNoted() {
  uint64_t count = 0;
  if (retryInterrupted([&] { return ::read(notes_.get(), &count, sizeof count); }) !=
      ssize_t(sizeof count))
    return 0;
  return notedSignal.exchange(0, std::memory_order_relaxed);
}

void endChildren() {
  for (unsigned round = 0; round != kMostRounds; ++round) {
    siginfo_t info{};
    // Is there a child at all?
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
      return;
    // Each thread has the children that it started.
    DIR* threads = ::opendir("/proc/self/task");
    if (!threads)
      return;
    bool found = false;
    while (const dirent* entry = ::readdir(threads))
      if (entry->d_name[0] != '.')
        found |= endChildrenOf(entry->d_name);
    ::closedir(threads);
    if (!found)
      return;
  }
}

void endBySignal(int number) {
  ::signal(number, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  ::raise(number);
}

} // namespace gos::testing
