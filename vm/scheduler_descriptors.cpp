// Goroutines that wait for a descriptor: the thread looks at all of them at once, between turns and
// while nobody is ready. None of them holds a thread of the pool.

#include "vm/scheduler.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <cerrno>

namespace gos::vm {

void Scheduler::awaitDescriptor(int fd, short events,
                                std::optional<std::chrono::steady_clock::time_point> until,
                                WaitKind kind) {
  const Ticket ticket = block({kind, false, true, 0});
  descriptorWaits_.push_back({ticket, fd, events});
  if (until)
    wakeAt(*until, ticket, 0);
}

bool Scheduler::awaitsDescriptors() {
  return llvm::any_of(descriptorWaits_, [&](const DescriptorWait& wait) {
    return waiting(wait.ticket, {WaitKind::Descriptor}) ||
           (mainWait_ != MainWait::ForPart && waiting(wait.ticket, {WaitKind::Signal}));
  });
}

void Scheduler::wakeDescriptors() {
  llvm::erase_if(descriptorWaits_, [&](const DescriptorWait& wait) {
    return waiting(wait.ticket, {WaitKind::Descriptor, WaitKind::Signal}) == nullptr;
  });
  // The kernel takes no more entries than there may be descriptors.
  llvm::DenseMap<int, size_t> places;
  polled_.clear();
  for (const DescriptorWait& wait : descriptorWaits_) {
    const auto [place, isNew] = places.try_emplace(wait.fd, polled_.size());
    if (isNew)
      polled_.push_back({wait.fd, 0, 0});
    polled_[place->second].events |= wait.events;
  }
  if (polled_.empty())
    return;
  const int count = ::poll(polled_.data(), polled_.size(), 0);
  if (count == 0 || (count < 0 && errno == EINTR))
    return;
  for (const DescriptorWait& wait : descriptorWaits_) {
    const short told = polled_[places[wait.fd]].revents;
    // Where the kernel does not look, the call that follows will tell.
    if (count < 0 || (told & (wait.events | POLLERR | POLLHUP | POLLNVAL)) != 0)
      wake(wait.ticket, 1);
  }
}

} // namespace gos::vm
