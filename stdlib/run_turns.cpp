#include "stdlib/run_turns.h"

#include "stdlib/blocking.h"

#include <cstdint>
#include <sys/resource.h>

namespace gos::stdlib {

namespace {
/// Asked for each time: a program may be told another limit while it runs.
size_t most() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return SIZE_MAX;
  return size_t(limit.rlim_cur) / 4 * 3;
}
} // namespace

RunTurns& RunTurns::all() {
  static RunTurns* const turns = new RunTurns; // threads may outlive everything else
  return *turns;
}

bool RunTurns::take(size_t descriptors, llvm::function_ref<bool()> isCancelled) {
  std::unique_lock lock(mutex_);
  const auto isOver = [&] { return waitingIsOver() || isCancelled(); };
  // One alone always goes: what it lacks is said by the call that fails.
  freed_.wait(lock, [&] {
    return isOver() || taken_ == 0 || (taken_ <= most() && descriptors <= most() - taken_);
  });
  if (isOver())
    return false;
  taken_ += descriptors;
  return true;
}

void RunTurns::give(size_t descriptors) {
  {
    const std::lock_guard lock(mutex_);
    taken_ -= descriptors;
  }
  freed_.notify_all();
}

void RunTurns::wake() {
  {
    const std::lock_guard lock(mutex_);
  }
  freed_.notify_all();
}

} // namespace gos::stdlib
