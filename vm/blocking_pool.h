#pragma once
// Threads for work that would hold up the one that runs bytecode. They are started as they are
// needed, take jobs in order, and know nothing of the Vm. What a thread still does when the Vm goes
// is finished and thrown away: the pool is shared by its threads and the scheduler.

#include "vm/scheduler.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace gos::vm {

class BlockingPool : public std::enable_shared_from_this<BlockingPool> {
public:
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
  /// Waits until something is done or the time has come.
  void wait(std::optional<std::chrono::steady_clock::time_point> until);
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
  unsigned mostThreads() const { return kMostThreads + std::min(forsaken_, kMostForsaken); }

  std::mutex mutex_;
  std::condition_variable work_, done_;
  std::deque<Request> requests_;
  std::vector<Done> finished_;
  unsigned threads_ = 0, idle_ = 0, forsaken_ = 0;
  bool closed_ = false;
};

} // namespace gos::vm
