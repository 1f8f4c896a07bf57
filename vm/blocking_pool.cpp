#include "vm/blocking_pool.h"

#include "llvm/ADT/SmallVector.h"

#include <atomic>
#include <climits>
#include <csignal>
#include <ctime>
#include <pthread.h>
#include <sys/eventfd.h>

namespace gos::vm {

namespace {
[[maybe_unused]] constexpr size_t kThreadStack =
    size_t(512) << 10; // a child is started, a name is looked up: nothing deep
constexpr auto kIdleTime = std::chrono::seconds(10);

// Of the one thread that waits for a pool and has handlers.
constinit std::atomic<bool> areWaitsOver{false};
constinit std::atomic<sem_t*> theWaited{nullptr};
constinit std::atomic<int> theWaitedFd{-1};

void ring(int eventFd) {
  const uint64_t one = 1;
  if (eventFd >= 0)
    (void)!::write(eventFd, &one, sizeof one);
}
} // namespace

bool BlockingPool::startThread() {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0)
    return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
#ifndef GOS_SANITIZED
  pthread_attr_setstacksize(&attributes, kThreadStack);
#endif
  // Signals are for the thread that runs the program.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  auto* self = new std::shared_ptr<BlockingPool>(shared_from_this());
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, threadMain, self) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (!started)
    delete self;
  return started;
}

void* BlockingPool::threadMain(void* pool) {
  auto* handed = static_cast<std::shared_ptr<BlockingPool>*>(pool);
  const std::shared_ptr<BlockingPool> self = std::move(*handed);
  delete handed;
  self->serve();
  return nullptr;
}

void BlockingPool::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (requests_.empty()) {
      ++idle_;
      const bool woken =
          work_.wait_for(lock, kIdleTime, [&] { return closed_ || !requests_.empty(); });
      --idle_;
      if (closed_ || !woken)
        break;
    }
    Request request = std::move(requests_.front());
    requests_.pop_front();
    lock.unlock();
    request.job->work();
    lock.lock();
    if (closed_) {
      lock.unlock();
      request.job.reset();
      lock.lock();
      break;
    }
    finished_.push_back({request.ticket, std::move(request.job)});
    ::sem_post(&done_);
    ring(doneFd_);
  }
  --threads_;
}

void BlockingPool::submit(Ticket ticket, std::unique_ptr<Job> job) {
  std::unique_lock lock(mutex_);
  requests_.push_back({ticket, std::move(job)});
  if (requests_.size() <= idle_) {
    work_.notify_one();
    return;
  }
  if (threads_ >= mostThreads())
    return;
  if (startThread()) {
    ++threads_;
  } else if (threads_ == 0) {
    Request request = std::move(requests_.back());
    requests_.pop_back();
    lock.unlock();
    request.job->work();
    lock.lock();
    finished_.push_back({request.ticket, std::move(request.job)});
  }
}

bool BlockingPool::forsake(Ticket ticket) {
  std::lock_guard lock(mutex_);
  for (auto each = requests_.begin(); each != requests_.end(); ++each)
    if (each->ticket == ticket) {
      requests_.erase(each);
      return false;
    }
  ++forsaken_;
  // Somebody may have waited for the thread that this one holds up.
  if (requests_.size() > idle_ && threads_ < mostThreads() && startThread())
    ++threads_;
  return true;
}

void BlockingPool::forsakenIsDone() {
  std::lock_guard lock(mutex_);
  --forsaken_;
}

std::vector<BlockingPool::Done> BlockingPool::take() {
  std::lock_guard lock(mutex_);
  return std::move(finished_);
}

void BlockingPool::wait(std::optional<std::chrono::steady_clock::time_point> until) {
  while (::sem_trywait(&done_) == 0) { // for what was taken since
  }
  {
    std::lock_guard lock(mutex_);
    if (!finished_.empty())
      return;
  }
  // Whoever waits tells where and then looks; the handler says so and then looks where to call.
  theWaited = &done_;
  if (areWaitsOver) {
    // nothing to wait for
  } else if (until) {
    const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::max(until->time_since_epoch(), std::chrono::steady_clock::duration::zero()));
    const timespec when{time_t(since.count() / 1'000'000'000), long(since.count() % 1'000'000'000)};
    (void)::sem_clockwait(&done_, CLOCK_MONOTONIC, &when);
  } else {
    (void)::sem_wait(&done_);
  }
  theWaited = nullptr;
}

/// Nothing that was finished before is told again; true if something is there to be taken.
bool BlockingPool::prepareToPoll() {
  while (::sem_trywait(&done_) == 0) {
  }
  std::lock_guard lock(mutex_);
  if (doneFd_ < 0)
    doneFd_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  uint64_t count = 0;
  if (doneFd_ >= 0)
    (void)!::read(doneFd_, &count, sizeof count);
  return !finished_.empty();
}

void BlockingPool::wait(std::optional<std::chrono::steady_clock::time_point> until,
                        const std::vector<pollfd>& descriptors) {
  if (descriptors.empty())
    return wait(until);
  if (prepareToPoll())
    return;
  llvm::SmallVector<pollfd, 16> all(descriptors.begin(), descriptors.end());
  all.push_back({doneFd_, POLLIN, 0});
  int64_t most = doneFd_ >= 0 ? INT_MAX : 50; // without one to spare it looks now and then
  if (until)
    most = std::clamp<int64_t>(
        std::chrono::ceil<std::chrono::milliseconds>(*until - std::chrono::steady_clock::now())
            .count(),
        0, most);
  theWaitedFd = doneFd_;
  if (!areWaitsOver)
    (void)::poll(all.data(), all.size(), !until && doneFd_ >= 0 ? -1 : int(most));
  theWaitedFd = -1;
}

void BlockingPool::endWaits() {
  areWaitsOver = true;
  ring(theWaitedFd);
  if (sem_t* const waited = theWaited)
    ::sem_post(waited);
}

void BlockingPool::allowWaits() {
  areWaitsOver = false;
}

void BlockingPool::close() {
  std::vector<Done> unwanted;
  std::deque<Request> unstarted;
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    unwanted = std::move(finished_);
    unstarted = std::move(requests_);
  }
  work_.notify_all();
}

} // namespace gos::vm
