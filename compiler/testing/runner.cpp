#include "compiler/testing/runner.h"

#include "compiler/testing/protocol.h"
#include "compiler/testing/worker.h"
#include "sandbox/sys_error.h"
#include "sandbox/unique_fd.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

extern char** environ;

namespace gos::testing {
namespace {

using Clock = std::chrono::steady_clock;
using llvm::StringRef;

/// Descriptors that are handed on lie above the numbers that they get in the worker.
constexpr int kLowestFd = 20;

UniqueFd lifted(int fd) {
  UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, kLowestFd));
  return copy;
}

struct Pipe {
  UniqueFd reader, writer;
};
bool makePipe(Pipe& pipe) {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return false;
  const UniqueFd reader(ends[0]), writer(ends[1]);
  pipe.reader = lifted(reader.get());
  pipe.writer = lifted(writer.get());
  return pipe.reader.valid() && pipe.writer.valid() &&
         ::fcntl(pipe.reader.get(), F_SETFL, O_NONBLOCK) == 0;
}

/// The module for every worker; nobody can change it any more.
llvm::Expected<UniqueFd> sealedModule(StringRef bytes) {
  const UniqueFd low(::memfd_create("gos-test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  UniqueFd file = low.valid() ? lifted(low.get()) : UniqueFd();
  if (!file.valid())
    return sysError("memfd_create", "gos-test", errno);
  for (StringRef rest = bytes; !rest.empty();) {
    const ssize_t put =
        retryInterrupted([&] { return ::write(file.get(), rest.data(), rest.size()); });
    if (put <= 0)
      return sysError("write", "gos-test", errno);
    rest = rest.drop_front(size_t(put));
  }
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) !=
      0)
    return sysError("fcntl", "gos-test", errno);
  return file;
}

/// The signals that the loop waits for, blocked while it lives; and the right to reap what the
/// tests leave.
class Watch {
public:
  Watch() {
    sigset_t set;
    sigemptyset(&set);
    for (int number : {SIGCHLD, SIGINT, SIGTERM, SIGHUP})
      sigaddset(&set, number);
    ::pthread_sigmask(SIG_BLOCK, &set, &before_);
    fd_ = UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    (void)::prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  ~Watch() {
    (void)::prctl(PR_SET_CHILD_SUBREAPER, 0);
    fd_.reset();
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  int fd() const { return fd_.get(); }
  /// A signal that asks for the end, or 0.
  int take() {
    int asked = 0;
    signalfd_siginfo info{};
    while (retryInterrupted([&] { return ::read(fd_.get(), &info, sizeof info); }) ==
           ssize_t(sizeof info))
      if (info.ssi_signo != SIGCHLD)
        asked = int(info.ssi_signo);
    return asked;
  }

private:
  sigset_t before_;
  UniqueFd fd_;
};

/// A stream that is read up to a bound and then thrown away.
struct Stream {
  UniqueFd fd;
  std::string text;
  uint64_t omitted = 0;
  size_t limit = kMaxOutputBytes;

  void drain() {
    char block[16 << 10];
    // Bounded, so that one who writes without end does not hold the loop.
    for (unsigned round = 0; fd.valid() && round != 64; ++round) {
      const ssize_t got = retryInterrupted([&] { return ::read(fd.get(), block, sizeof block); });
      if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return;
      if (got <= 0) {
        fd.reset();
        return;
      }
      const size_t kept = std::min(size_t(got), limit - text.size());
      text.append(block, kept);
      omitted += size_t(got) - kept;
    }
  }
};

struct Worker {
  size_t job = 0;
  pid_t pid = -1;
  Clock::time_point start, deadline;
  Stream output, error, record;
  bool timedOut = false;
};

class Runner {
public:
  Runner(llvm::ArrayRef<Job> jobs, const RunnerOptions& options, UniqueFd module,
         llvm::function_ref<bool(size_t, const Run&)> ended,
         llvm::function_ref<bool(size_t, const Run&)> failed)
      : jobs_(jobs), options_(options), module_(std::move(module)), ended_(ended), failed_(failed),
        runs_(jobs.size()), done_(jobs.size(), false), end_(jobs.size()) {
    if (options.foreignImage >= 0)
      foreign_ = lifted(options.foreignImage);
  }
  ~Runner() { killAll(); }

  RunnerEnd run() {
    const unsigned most =
        options_.parallel ? options_.parallel : std::max(1u, std::thread::hardware_concurrency());
    while (told_ != end_ && signal_ == 0) {
      while (workers_.size() < most && next_ < end_)
        startNext();
      tell();
      if (told_ == end_)
        break;
      wait();
      dropBehindEnd();
    }
    tell();
    killAll();
    sweep();
    return {told_, signal_};
  }

private:
  void startNext() {
    const size_t job = next_++;
    Worker worker;
    worker.job = job;
    if (const int number = spawn(worker); number != 0) {
      runs_[job].code = number;
      finish(job);
      return;
    }
    workers_.push_back(std::move(worker));
  }

  /// 0, or the errno of what failed.
  int spawn(Worker& worker) {
    Pipe output, error, record;
    if (!makePipe(output) || !makePipe(error) || !makePipe(record))
      return errno;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, output.writer.get(), 1);
    ::posix_spawn_file_actions_adddup2(&actions, error.writer.get(), 2);
    ::posix_spawn_file_actions_adddup2(&actions, module_.get(), kModuleFd);
    ::posix_spawn_file_actions_adddup2(&actions, record.writer.get(), kRecordFd);
    if (foreign_.valid())
      ::posix_spawn_file_actions_adddup2(&actions, foreign_.get(), kForeignFd);
    else
      ::posix_spawn_file_actions_addclose(&actions, kForeignFd);
    if (!options_.directory.empty())
      ::posix_spawn_file_actions_addchdir_np(&actions, options_.directory.c_str());
    sigset_t none, ordinary;
    sigemptyset(&none);
    sigemptyset(&ordinary);
    for (int number : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGPIPE})
      sigaddset(&ordinary, number);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &ordinary);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(
        &attributes, short(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
    std::string name = "gos", mark = kWorkerArgument.str(),
                entry = llvm::utostr(jobs_[worker.job].entry);
    char* arguments[] = {name.data(), mark.data(), entry.data(), nullptr};
    worker.start = Clock::now();
    worker.deadline = worker.start + std::chrono::milliseconds(jobs_[worker.job].limitMilliseconds);
    const int number = ::posix_spawn(&worker.pid, options_.program.c_str(), &actions, &attributes,
                                     arguments, environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    if (number != 0)
      return number;
    worker.output.fd = std::move(output.reader);
    worker.error.fd = std::move(error.reader);
    worker.record.fd = std::move(record.reader);
    worker.record.limit = kMaxRecordBytes;
    return 0;
  }

  /// Sleeps until something happens: output, an end, a deadline, a signal.
  void wait() {
    std::vector<pollfd> ends = {{watch_.fd(), POLLIN, 0}};
    auto first = Clock::time_point::max();
    for (Worker& worker : workers_) {
      for (Stream* stream : {&worker.output, &worker.error, &worker.record})
        if (stream->fd.valid())
          ends.push_back({stream->fd.get(), POLLIN, 0});
      if (!worker.timedOut)
        first = std::min(first, worker.deadline);
    }
    int sleep = -1;
    if (first != Clock::time_point::max()) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(first - Clock::now()).count();
      sleep = int(std::clamp<int64_t>(left + 1, 0, 1'000'000));
    }
    (void)retryInterrupted([&] { return ::poll(ends.data(), ends.size(), sleep); });
    signal_ = watch_.take();
    const auto now = Clock::now();
    for (size_t i = 0; i < workers_.size();) {
      Worker& worker = workers_[i];
      for (Stream* stream : {&worker.output, &worker.error, &worker.record})
        stream->drain();
      if (!worker.timedOut && now >= worker.deadline) {
        worker.timedOut = true;
        ::kill(-worker.pid, SIGKILL);
      }
      if (signal_ == 0 && hasEnded(worker)) {
        reap(worker);
        workers_.erase(workers_.begin() + ptrdiff_t(i));
      } else {
        ++i;
      }
    }
  }

  static bool hasEnded(const Worker& worker) {
    siginfo_t info{};
    return retryInterrupted([&] {
             return ::waitid(P_PID, id_t(worker.pid), &info, WEXITED | WNOHANG | WNOWAIT);
           }) == 0 &&
           info.si_pid == worker.pid;
  }

  /// The group goes before its leader is reaped, so that its number is still its own.
  static int killGroup(const Worker& worker) {
    ::kill(-worker.pid, SIGKILL);
    int status = 0;
    (void)retryInterrupted([&] { return ::waitpid(worker.pid, &status, 0); });
    return status;
  }

  void reap(Worker& worker) {
    const int status = killGroup(worker);
    for (Stream* stream : {&worker.output, &worker.error, &worker.record})
      stream->drain(); // what is there; a process that got away may hold the other end for ever
    Run& run = runs_[worker.job];
    run.milliseconds = uint64_t(
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - worker.start).count());
    run.limitMilliseconds = jobs_[worker.job].limitMilliseconds;
    if (worker.timedOut) {
      run.end = ProcessEnd::TimedOut;
    } else if (WIFSIGNALED(status)) {
      run.end = ProcessEnd::Signalled;
      run.code = WTERMSIG(status);
    } else {
      run.end = ProcessEnd::Exited;
      run.code = WEXITSTATUS(status);
    }
    if (worker.record.omitted == 0)
      run.result = decode(worker.record.text);
    run.output = {std::move(worker.output.text), worker.output.omitted};
    run.error = {std::move(worker.error.text), worker.error.omitted};
    finish(worker.job);
  }

  /// With --fail-fast nothing behind the first failure of the order counts, whatever ended first.
  void finish(size_t job) {
    done_[job] = true;
    if (options_.failFast && job + 1 < end_ && failed_(job, runs_[job]))
      end_ = job + 1;
  }

  void dropBehindEnd() {
    for (size_t i = 0; i < workers_.size();)
      if (workers_[i].job >= end_) {
        killGroup(workers_[i]);
        workers_.erase(workers_.begin() + ptrdiff_t(i));
      } else {
        ++i;
      }
  }

  void tell() {
    while (told_ < end_ && done_[told_]) {
      (void)ended_(told_, runs_[told_]);
      runs_[told_] = Run();
      ++told_;
    }
  }

  void killAll() {
    for (const Worker& worker : workers_)
      killGroup(worker);
    workers_.clear();
  }

  /// Ends what left its group: with nobody above it, it has become ours.
  static void sweep() {
    for (unsigned round = 0; round != 1000; ++round) {
      siginfo_t info{};
      // Is there a child at all?
      if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
        return;
      const std::string place =
          "/proc/self/task/" + llvm::utostr(uint64_t(::getpid())) + "/children";
      const UniqueFd file(::open(place.c_str(), O_RDONLY | O_CLOEXEC));
      char block[4096];
      const ssize_t got = file.valid() ? ::read(file.get(), block, sizeof block) : 0;
      if (got <= 0)
        return;
      StringRef rest(block, size_t(got));
      if (rest.size() == sizeof block) // a number may be cut
        rest = rest.substr(0, rest.rfind(' '));
      while (!rest.empty()) {
        auto [word, tail] = rest.split(' ');
        rest = tail;
        pid_t pid = 0;
        if (word.trim().getAsInteger(10, pid) || pid <= 1)
          continue;
        ::kill(pid, SIGKILL);
        int status = 0;
        (void)retryInterrupted([&] { return ::waitpid(pid, &status, 0); });
      }
    }
  }

  llvm::ArrayRef<Job> jobs_;
  const RunnerOptions& options_;
  UniqueFd module_, foreign_;
  llvm::function_ref<bool(size_t, const Run&)> ended_, failed_;
  Watch watch_;
  std::vector<Worker> workers_;
  std::vector<Run> runs_;
  std::vector<bool> done_;
  size_t next_ = 0, told_ = 0;
  size_t end_; // jobs from here on are not run, or not told
  int signal_ = 0;
};

} // namespace

llvm::Expected<RunnerEnd> runTests(StringRef module, llvm::ArrayRef<Job> jobs,
                                   const RunnerOptions& options,
                                   llvm::function_ref<bool(size_t, const Run&)> ended,
                                   llvm::function_ref<bool(size_t, const Run&)> failed) {
  llvm::Expected<UniqueFd> file = sealedModule(module);
  if (!file)
    return file.takeError();
  Runner runner(jobs, options, std::move(*file), ended, failed);
  return runner.run();
}

} // namespace gos::testing
