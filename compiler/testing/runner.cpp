#include "compiler/testing/runner.h"

#include "compiler/testing/protocol.h"
#include "compiler/testing/worker.h"
#include "sandbox/sys_error.h"
#include "sandbox/unique_fd.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <deque>
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

/// Zeroed memory for a worker, whose size nobody can change any more.
UniqueFd fixedMemory(size_t bytes) {
  const UniqueFd low(::memfd_create("gos-test-reached", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  UniqueFd file = low.valid() ? lifted(low.get()) : UniqueFd();
  if (!file.valid() || ::ftruncate(file.get(), off_t(bytes)) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW) != 0)
    return UniqueFd();
  return file;
}

constexpr int kInterrupts[] = {SIGINT, SIGTERM, SIGHUP};
constexpr unsigned kMostWorkers = 1024;

/// The groups that run, for a signal that comes while the next module is compiled.
constinit std::atomic<pid_t> runningGroups[kMostWorkers];

void endGroups(int number) {
  for (std::atomic<pid_t>& group : runningGroups)
    if (const pid_t pid = group.load(std::memory_order_relaxed); pid > 0)
      ::kill(-pid, SIGKILL);
  ::signal(number, SIG_DFL);
  ::raise(number); // it comes when this has returned
}

/// The signals that the loop waits for, blocked while it lives; and the right to reap what the
/// tests leave. While it is `Open` an interrupt ends the tests and then the program, whatever it is
/// doing.
class Watch {
public:
  Watch() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGCHLD);
    for (int number : kInterrupts)
      sigaddset(&set_, number);
    ::pthread_sigmask(SIG_BLOCK, &set_, &mask_);
    fd_ = UniqueFd(::signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK));
    (void)::prctl(PR_SET_CHILD_SUBREAPER, 1);
    struct sigaction end = {};
    end.sa_handler = endGroups;
    sigemptyset(&end.sa_mask);
    for (size_t i = 0; i != std::size(kInterrupts); ++i) {
      ::sigaction(kInterrupts[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) // as `nohup` has it
        ::sigaction(kInterrupts[i], &end, nullptr);
    }
  }
  ~Watch() {
    for (size_t i = 0; i != std::size(kInterrupts); ++i)
      ::sigaction(kInterrupts[i], &before_[i], nullptr);
    (void)::prctl(PR_SET_CHILD_SUBREAPER, 0);
    ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  class Open {
  public:
    explicit Open(const Watch& watch) : watch_(watch) {
      ::pthread_sigmask(SIG_SETMASK, &watch_.mask_, nullptr);
    }
    ~Open() { ::pthread_sigmask(SIG_BLOCK, &watch_.set_, nullptr); }
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;

  private:
    const Watch& watch_;
  };
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
  sigset_t set_, mask_;
  struct sigaction before_[std::size(kInterrupts)] = {};
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
  unsigned place = 0; // in runningGroups
  pid_t pid = -1;
  Clock::time_point start, deadline;
  Stream output, error, record;
  UniqueFd reached; // memory that the worker marks places in
  bool timedOut = false;
};

/// A batch whose jobs have not all ended.
struct OpenBatch {
  size_t first = 0; // its first job, counted over all batches
  std::vector<Job> jobs;
  std::string directory;
  size_t coverPlaces = 0;
  UniqueFd module, foreign;
};

} // namespace

class Runner::Machinery {
public:
  Machinery(RunnerOptions options, Ended ended, Failed failed)
      : options_(std::move(options)), ended_(std::move(ended)), failed_(std::move(failed)),
        most_(std::min(kMostWorkers, options_.parallel
                                         ? options_.parallel
                                         : std::max(1u, std::thread::hardware_concurrency()))),
        places_(most_, false) {}
  ~Machinery() {
    killAll();
    sweep();
  }

  llvm::Error add(Batch batch) {
    llvm::Expected<UniqueFd> module = sealedModule(batch.module);
    if (!module)
      return module.takeError();
    OpenBatch open;
    open.first = count_;
    open.jobs = std::move(batch.jobs);
    open.directory = std::move(batch.directory);
    open.coverPlaces = batch.coverPlaces;
    open.module = std::move(*module);
    if (batch.foreignImage >= 0)
      open.foreign = lifted(batch.foreignImage);
    count_ += open.jobs.size();
    runs_.resize(count_ - told_);
    done_.resize(count_ - told_, false);
    batches_.push_back(std::move(open));
    startAll();
    return llvm::Error::success();
  }

  bool wantsMore() const { return signal == 0 && next_ == count_ && workers_.size() < most_; }
  bool isDone() const { return told_ >= std::min(count_, end_); }

  bool compile(llvm::function_ref<void()> work) {
    signal = watch_.take();
    if (signal != 0) {
      killAll();
      sweep();
      return false;
    }
    const Watch::Open open(watch_);
    work();
    return true;
  }

  void step() {
    startAll();
    tell();
    if (isDone() || signal != 0)
      return;
    wait();
    dropBehindEnd();
    if (signal != 0) {
      tell();
      killAll();
      sweep();
      return;
    }
    startAll();
    tell();
  }

  int signal = 0;

private:
  void startAll() {
    while (workers_.size() < most_ && next_ < std::min(count_, end_))
      startNext();
  }

  OpenBatch& batchOf(size_t job) {
    return *std::prev(llvm::partition_point(
        batches_, [&](const OpenBatch& batch) { return batch.first <= job; }));
  }

  void startNext() {
    const size_t job = next_++;
    Worker worker;
    worker.job = job;
    worker.place = unsigned(llvm::find(places_, false) - places_.begin());
    const Job& what = batchOf(job).jobs[job - batchOf(job).first];
    if (const int number = spawn(worker, batchOf(job), what); number != 0) {
      runOf(job).code = number;
      finish(job);
      return;
    }
    places_[worker.place] = true;
    runningGroups[worker.place].store(worker.pid, std::memory_order_relaxed);
    workers_.push_back(std::move(worker));
  }

  Run& runOf(size_t job) { return runs_[job - told_]; }

  /// 0, or the errno of what failed.
  int spawn(Worker& worker, const OpenBatch& batch, const Job& job) {
    Pipe output, error, record;
    if (!makePipe(output) || !makePipe(error) || !makePipe(record))
      return errno;
    if (batch.coverPlaces != 0) {
      worker.reached = fixedMemory(batch.coverPlaces);
      if (!worker.reached.valid())
        return errno;
    }
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, output.writer.get(), 1);
    ::posix_spawn_file_actions_adddup2(&actions, error.writer.get(), 2);
    ::posix_spawn_file_actions_adddup2(&actions, batch.module.get(), kModuleFd);
    ::posix_spawn_file_actions_adddup2(&actions, record.writer.get(), kRecordFd);
    if (batch.foreign.valid())
      ::posix_spawn_file_actions_adddup2(&actions, batch.foreign.get(), kForeignFd);
    else
      ::posix_spawn_file_actions_addclose(&actions, kForeignFd);
    if (worker.reached.valid())
      ::posix_spawn_file_actions_adddup2(&actions, worker.reached.get(), kReachedFd);
    else
      ::posix_spawn_file_actions_addclose(&actions, kReachedFd);
    if (!batch.directory.empty())
      ::posix_spawn_file_actions_addchdir_np(&actions, batch.directory.c_str());
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
    std::string name = "gos", mark = kWorkerArgument.str(), entry = llvm::utostr(job.entry),
                seed = llvm::utostr(job.scheduleSeed);
    char* arguments[] = {name.data(), mark.data(), entry.data(), seed.data(), nullptr};
    worker.start = Clock::now();
    worker.deadline = worker.start + std::chrono::milliseconds(job.limitMilliseconds);
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
    // A child that ended while a module was compiled sends no signal any more.
    if (llvm::any_of(workers_, hasEnded))
      return look();
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
    look();
  }

  void look() {
    signal = watch_.take();
    const auto now = Clock::now();
    for (size_t i = 0; i < workers_.size();) {
      Worker& worker = workers_[i];
      for (Stream* stream : {&worker.output, &worker.error, &worker.record})
        stream->drain();
      const bool ended = hasEnded(worker);
      if (!ended && !worker.timedOut && now >= worker.deadline) {
        worker.timedOut = true;
        ::kill(-worker.pid, SIGKILL);
      }
      if (signal == 0 && ended) {
        reap(worker);
        forget(i);
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

  void forget(size_t index) {
    places_[workers_[index].place] = false;
    workers_.erase(workers_.begin() + ptrdiff_t(index));
  }

  /// The group goes before its leader is reaped, so that its number is still its own.
  static int killGroup(const Worker& worker) {
    ::kill(-worker.pid, SIGKILL);
    runningGroups[worker.place].store(0, std::memory_order_relaxed);
    int status = 0;
    (void)retryInterrupted([&] { return ::waitpid(worker.pid, &status, 0); });
    return status;
  }

  void reap(Worker& worker) {
    const int status = killGroup(worker);
    for (Stream* stream : {&worker.output, &worker.error, &worker.record})
      stream->drain(); // what is there; a process that got away may hold the other end for ever
    Run& run = runOf(worker.job);
    run.milliseconds = uint64_t(
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - worker.start).count());
    const OpenBatch& batch = batchOf(worker.job);
    run.limitMilliseconds = batch.jobs[worker.job - batch.first].limitMilliseconds;
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
    // It may have ended long before somebody looked: by its own word, where that is less.
    if (run.result && run.end == ProcessEnd::Exited)
      run.milliseconds = std::min(run.milliseconds, run.result->milliseconds);
    if (worker.reached.valid()) {
      run.reached.resize(batch.coverPlaces);
      const ssize_t got = retryInterrupted(
          [&] { return ::pread(worker.reached.get(), run.reached.data(), run.reached.size(), 0); });
      run.reached.resize(size_t(std::max<ssize_t>(got, 0)));
    }
    run.output = {std::move(worker.output.text), worker.output.omitted};
    run.error = {std::move(worker.error.text), worker.error.omitted};
    finish(worker.job);
  }

  /// With --fail-fast nothing behind the first failure of the order counts, whatever ended first.
  void finish(size_t job) {
    done_[job - told_] = true;
    if (options_.failFast && job + 1 < end_ && failed_(job, runOf(job)))
      end_ = job + 1;
  }

  void dropBehindEnd() {
    for (size_t i = 0; i < workers_.size();)
      if (workers_[i].job >= end_) {
        killGroup(workers_[i]);
        forget(i);
      } else {
        ++i;
      }
  }

  void tell() {
    while (told_ < std::min(count_, end_) && done_.front()) {
      const Run run = std::move(runs_.front());
      runs_.pop_front();
      done_.pop_front();
      const size_t job = told_++;
      while (batches_.size() > 1 && batches_[1].first <= job)
        batches_.pop_front();
      ended_(job, run);
    }
  }

  void killAll() {
    for (const Worker& worker : workers_)
      killGroup(worker);
    workers_.clear();
    places_.assign(places_.size(), false);
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

  const RunnerOptions options_;
  const Ended ended_;
  const Failed failed_;
  const unsigned most_;
  Watch watch_;
  std::deque<OpenBatch> batches_;
  std::vector<Worker> workers_;
  std::vector<bool> places_; // of runningGroups: taken
  std::deque<Run> runs_;     // from job told_ on
  std::deque<bool> done_;    // the same
  size_t next_ = 0, told_ = 0, count_ = 0;
  size_t end_ = SIZE_MAX; // jobs from here on are not run, or not told
};

Runner::Runner(RunnerOptions options, Ended ended, Failed failed)
    : machinery_(
          std::make_unique<Machinery>(std::move(options), std::move(ended), std::move(failed))) {}
Runner::~Runner() = default;

llvm::Error Runner::add(Batch batch) {
  return machinery_->add(std::move(batch));
}
bool Runner::compile(llvm::function_ref<void()> work) {
  return machinery_->compile(work);
}
bool Runner::wantsMore() const {
  return machinery_->wantsMore();
}
bool Runner::isDone() const {
  return machinery_->isDone();
}
void Runner::step() {
  machinery_->step();
}
int Runner::signal() const {
  return machinery_->signal;
}

} // namespace gos::testing
