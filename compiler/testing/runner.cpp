#include "compiler/testing/runner.h"

#include "compiler/testing/protocol.h"
#include "compiler/testing/watch.h"
#include "compiler/testing/worker.h"
#include "sandbox/sys_error.h"
#include "sandbox/unique_fd.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <fcntl.h>
#include <mutex>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
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

constexpr unsigned kMostWorkers = 1024;
constexpr int kLookEvery = 20; // milliseconds, where a kernel does not tell of the end of a process

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
  UniqueFd ended; // readable when it has; not valid where the kernel has no such descriptors
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

/// What became of a job.
struct Slot {
  Run run;
  bool done = false;
};

} // namespace

/// Two threads: the caller's starts workers and tells of them; the other one looks after those that
/// run, whatever the caller is doing: compiling, or waiting for whoever reads what it prints. So a
/// worker's limit and its pipes depend on nothing but the worker.
class Runner::Machinery {
public:
  Machinery(RunnerOptions options, Ended ended, Failed failed)
      : options_(std::move(options)), ended_(std::move(ended)), failed_(std::move(failed)),
        most_(std::min(kMostWorkers, options_.parallel
                                         ? options_.parallel
                                         : std::max(1u, std::thread::hardware_concurrency()))) {
    wake_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    error_ = !wake_ ? errno : watch_.error();
    if (error_ != 0)
      return;
    sigset_t all, before;
    sigfillset(&all); // signals are for the caller's thread
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    error_ = ::pthread_create(
        &thread_, nullptr,
        [](void* self) -> void* {
          static_cast<Machinery*>(self)->lookAfter();
          return nullptr;
        },
        this);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~Machinery() {
    if (error_ == 0) {
      {
        const std::lock_guard lock(mutex_);
        stop_ = true;
      }
      wake();
      ::pthread_join(thread_, nullptr);
    }
    killAll();
    endChildren();
  }

  llvm::Error add(Batch batch) {
    if (error_ != 0)
      return sysError("look after", "workers", error_);
    llvm::Expected<UniqueFd> module = sealedModule(batch.module);
    if (!module)
      return module.takeError();
    OpenBatch open;
    open.jobs = std::move(batch.jobs);
    open.directory = std::move(batch.directory);
    open.coverPlaces = batch.coverPlaces;
    open.module = std::move(*module);
    if (batch.foreignImage >= 0)
      open.foreign = lifted(batch.foreignImage);
    {
      const std::lock_guard lock(mutex_);
      open.first = count_;
      count_ += open.jobs.size();
      slots_.resize(count_ - told_);
      batches_.push_back(std::move(open));
    }
    startAll();
    return llvm::Error::success();
  }

  bool wantsMore() const {
    const std::lock_guard lock(mutex_);
    return signal_ == 0 && next_ == count_ && workers_.size() < most_;
  }
  bool isDone() const { return told_ >= std::min(count_, end_); }
  int signal() const {
    const std::lock_guard lock(mutex_);
    return signal_;
  }

  bool compile(llvm::function_ref<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      look(); // an interrupt that has come already ends the tests and no more
      if (signal_ != 0)
        return false;
      isCompiling_ = true;
    }
    {
      const Watch::Open open(watch_);
      work();
    }
    {
      const std::lock_guard lock(mutex_);
      isCompiling_ = false;
    }
    wake();
    return true;
  }

  void step() {
    startAll();
    settle();
    if (isDone())
      return;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return signal_ != 0 || !finished_.empty() || workers_.empty(); });
    }
    settle();
    startAll();
  }

private:
  // ---- the caller's thread ----------------------------------------------------------------------

  void wake() {
    const uint64_t one = 1;
    (void)!::write(wake_.get(), &one, sizeof one);
  }

  void startAll() {
    bool started = false;
    {
      const std::lock_guard lock(mutex_);
      while (signal_ == 0 && workers_.size() < most_ && next_ < std::min(count_, end_)) {
        startNext();
        started = true;
      }
    }
    if (started)
      wake();
  }

  void startNext() {
    const size_t job = next_++;
    Worker worker;
    worker.job = job;
    const OpenBatch& batch = batchOf(job);
    if (const int number = spawn(worker, batch, batch.jobs[job - batch.first]); number != 0) {
      runOf(job).code = number;
      finish(job);
      return;
    }
    workers_.push_back(std::move(worker));
  }

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
    worker.ended = UniqueFd(int(::syscall(SYS_pidfd_open, worker.pid, 0)));
    worker.output.fd = std::move(output.reader);
    worker.error.fd = std::move(error.reader);
    worker.record.fd = std::move(record.reader);
    worker.record.limit = kMaxRecordBytes;
    return 0;
  }

  /// Judges and tells of what has ended. With --fail-fast nothing behind the first failure of the
  /// order counts, whatever ended first.
  void settle() {
    std::vector<size_t> fresh;
    {
      const std::lock_guard lock(mutex_);
      fresh.swap(finished_);
    }
    if (options_.failFast) {
      for (size_t job : fresh)
        if (job + 1 < end_ && failed_(job, runOf(job)))
          end_ = job + 1;
      const std::lock_guard lock(mutex_);
      dropBehindEnd();
    }
    tell();
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

  /// Whoever hears of it may take its time: nothing is locked meanwhile.
  void tell() {
    while (told_ < std::min(count_, end_)) {
      Run run;
      const size_t job = told_;
      {
        const std::lock_guard lock(mutex_);
        if (!slots_.front().done)
          return;
        run = std::move(slots_.front().run);
        slots_.pop_front();
        ++told_;
        while (batches_.size() > 1 && batches_[1].first <= job)
          batches_.pop_front();
      }
      ended_(job, run);
    }
  }

  // ---- of both, locked --------------------------------------------------------------------------

  OpenBatch& batchOf(size_t job) {
    return *std::prev(llvm::partition_point(
        batches_, [&](const OpenBatch& batch) { return batch.first <= job; }));
  }

  Run& runOf(size_t job) { return slots_[job - told_].run; }

  void finish(size_t job) {
    slots_[job - told_].done = true;
    finished_.push_back(job);
    changed_.notify_all();
  }

  void killAll() {
    for (const Worker& worker : workers_)
      killGroup(worker);
    workers_.clear();
  }

  /// The group goes before its leader is reaped, so that its number is still its own.
  static int killGroup(const Worker& worker) {
    ::kill(-worker.pid, SIGKILL);
    int status = 0;
    (void)retryInterrupted([&] { return ::waitpid(worker.pid, &status, 0); });
    return status;
  }

  void look() {
    const int noted = watch_.takeNoted();
    // While it compiles signals are the caller's, or of what it has started.
    const int number = noted != 0 || isCompiling_ ? noted : watch_.takeWaiting();
    lookAtWorkers();
    if (number == 0)
      return;
    signal_ = number;
    killAll();
    endChildren();
    if (isCompiling_)
      endBySignal(number);
    changed_.notify_all();
  }

  void lookAtWorkers() {
    for (size_t i = 0; i < workers_.size();) {
      Worker& worker = workers_[i];
      for (Stream* stream : {&worker.output, &worker.error, &worker.record})
        stream->drain();
      if (hasEnded(worker)) {
        reap(worker);
        workers_.erase(workers_.begin() + ptrdiff_t(i));
        continue;
      }
      if (!worker.timedOut && Clock::now() >= worker.deadline) {
        worker.timedOut = true;
        ::kill(-worker.pid, SIGKILL);
      }
      ++i;
    }
  }

  static bool hasEnded(const Worker& worker) {
    siginfo_t info{};
    return retryInterrupted([&] {
             return ::waitid(P_PID, id_t(worker.pid), &info, WEXITED | WNOHANG | WNOWAIT);
           }) == 0 &&
           info.si_pid == worker.pid;
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
    // And long after its limit, if this process was stopped.
    if (run.end == ProcessEnd::Exited && run.milliseconds > run.limitMilliseconds)
      run.end = ProcessEnd::TimedOut;
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

  // ---- the thread that looks after workers ------------------------------------------------------

  void lookAfter() {
    std::vector<pollfd> ends;
    std::unique_lock lock(mutex_);
    while (!stop_) {
      const int sleep = gather(ends);
      lock.unlock();
      (void)retryInterrupted([&] { return ::poll(ends.data(), ends.size(), sleep); });
      lock.lock();
      uint64_t count = 0;
      (void)!::read(wake_.get(), &count, sizeof count);
      look();
    }
  }

  /// What to wait for: output, an end, a signal, a word of the caller; and for how long at most.
  int gather(std::vector<pollfd>& ends) const {
    ends = {{wake_.get(), POLLIN, 0}, {watch_.noted(), POLLIN, 0}};
    if (!isCompiling_)
      ends.push_back({watch_.waiting(), POLLIN, 0});
    int64_t sleep = -1;
    const auto sooner = [&](int64_t milliseconds) {
      sleep = sleep < 0 ? milliseconds : std::min(sleep, milliseconds);
    };
    const auto now = Clock::now();
    for (const Worker& worker : workers_) {
      for (const Stream* stream : {&worker.output, &worker.error, &worker.record})
        if (stream->fd.valid())
          ends.push_back({stream->fd.get(), POLLIN, 0});
      if (worker.ended.valid())
        ends.push_back({worker.ended.get(), POLLIN, 0});
      else
        sooner(kLookEvery);
      if (!worker.timedOut) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(worker.deadline - now).count();
        sooner(std::clamp<int64_t>(left + 1, 0, 1'000'000));
      }
    }
    return int(sleep);
  }

  const RunnerOptions options_;
  const Ended ended_;
  const Failed failed_;
  const unsigned most_;
  Watch watch_;
  UniqueFd wake_; // an eventfd: there is something new to look after
  int error_ = 0; // why there is no second thread
  pthread_t thread_{};

  // Changed by the caller's thread alone, and where both look at it, locked.
  std::deque<OpenBatch> batches_;
  size_t next_ = 0, told_ = 0, count_ = 0;
  size_t end_ = SIZE_MAX; // jobs from here on are not run, or not told; the caller's alone

  mutable std::mutex mutex_; // for all that follows
  std::condition_variable changed_;
  std::vector<Worker> workers_;
  std::deque<Slot> slots_;       // from job told_ on; none comes or goes but by the caller's thread
  std::vector<size_t> finished_; // not judged yet
  bool isCompiling_ = false, stop_ = false;
  int signal_ = 0;
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
  return machinery_->signal();
}

} // namespace gos::testing
