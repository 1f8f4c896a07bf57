#pragma once
// Threads for work that would hold up the one that runs bytecode. They are started as they are
// needed, take jobs in order, and know nothing of the Vm. What a thread still does when the Vm goes
// is finished and thrown away: the pool is shared by its threads and the scheduler.

#include "vm/scheduler.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <poll.h>
#include <semaphore.h>
#include <unistd.h>

namespace gos::vm {

class BlockingPool : public std::enable_shared_from_this<BlockingPool> {
public:
  BlockingPool() { ::sem_init(&done_, 0, 0); }
  ~BlockingPool() {
    ::sem_destroy(&done_);
    if (doneFd_ >= 0)
      ::close(doneFd_);
  }
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;

  /// Jobs beyond this many wait for a thread. One that nobody waits for any more does not count, up
  /// to `kMostForsaken` of them.
  static constexpr unsigned kMostThreads = 256, kMostForsaken = 1024;

  struct Done {
    Ticket ticket;
    std::unique_ptr<Job> job;
  };

  /// Runs the job on a thread; on this one, before it returns, if no thread can be had at all.
  void submit(Ticket ticket, std::unique_ptr<Job> job);
  /// What is done by now.
  std::vector<Done> take();
  /// Waits until something is done or the time has come; may come back before.
  void wait(std::optional<std::chrono::steady_clock::time_point> until);
  /// The same, or until one of the descriptors has something to tell.
  void wait(std::optional<std::chrono::steady_clock::time_point> until,
            const std::vector<pollfd>& descriptors);
  /// From here on `wait` comes back at once, until `allowWaits`. The first may be called by a
  /// signal handler of the thread that waits.
  static void endWaits();
  static void allowWaits();
  /// Nobody waits for this job any more. One that has not been begun is not; the answer is no. The
  /// others are taken like any.
  bool forsake(Ticket ticket);
  void forsakenIsDone();
  /// Nobody will take anything any more.
  void close();

private:
  struct Request {
    Ticket ticket;
    std::unique_ptr<Job> job;
  };
  static void* threadMain(void* pool);
  void serve();
  bool startThread();
  bool prepareToPoll();
  unsigned mostThreads() const { return kMostThreads + std::min(forsaken_, kMostForsaken); }

  std::mutex mutex_;
  std::condition_variable work_;
  sem_t done_;      // raised with each that is finished; a handler may raise it
  int doneFd_ = -1; // the same for who waits for descriptors as well; made when somebody does
  std::deque<Request> requests_;
  std::vector<Done> finished_;
  unsigned threads_ = 0, idle_ = 0, forsaken_ = 0;
  bool closed_ = false;
};

} // namespace gos::vm
