#include "stdlib/blocking.h"

#include "sandbox/sys_error.h"

#include <algorithm>
#include <array>
#include <climits>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace gos::stdlib {

namespace {
constexpr size_t kBlock = size_t(64) << 10;

// For `endWaiting`, which a signal handler calls.
constinit std::atomic<bool> isWaitingOver{false};
constinit std::atomic<int> overFd{-1}; // readable when it is
} // namespace

// ---- the end of all waiting ---------------------------------------------------------------------

void prepareToEndWaiting() {
  if (overFd < 0)
    overFd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void endWaiting() {
  isWaitingOver = true;
  const uint64_t one = 1;
  if (const int fd = overFd; fd >= 0)
    (void)!::write(fd, &one, sizeof one);
}

void resumeWaiting() {
  isWaitingOver = false;
  uint64_t count = 0;
  if (const int fd = overFd; fd >= 0)
    (void)!::read(fd, &count, sizeof count);
}

bool waitingIsOver() {
  return isWaitingOver;
}

void sleepInPlace(std::chrono::milliseconds length) {
  const auto until = std::chrono::steady_clock::now() + length;
  pollfd over{overFd, POLLIN, 0};
  while (!isWaitingOver) {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(
                          until - std::chrono::steady_clock::now())
                          .count();
    if (left <= 0)
      return;
    const timespec time{time_t(left / 1'000'000'000), long(left % 1'000'000'000)};
    (void)::ppoll(&over, 1, &time, nullptr);
  }
}

vm::Trap trapOfEnding() {
  return vm::Trap::exit(128 + SIGTERM); // whoever was asked to end knows by which signal
}

// ---- interrupts
// -----------------------------------------------------------------------------------------

Interrupt::~Interrupt() = default;

bool Interrupt::triggered() const {
  return triggered_ || isWaitingOver;
}

bool Interrupt::makeDescriptors() {
  const std::lock_guard lock(ends_);
  if (writeEnd_.valid())
    return true;
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == -1)
    return false;
  readEnd_.reset(ends[0]);
  writeEnd_.reset(ends[1]);
  return true;
}

// Whoever waits tells where it waits and then looks whether it was triggered; whoever triggers says
// so and then looks where to call. One of the two sees the other.
void Interrupt::trigger() {
  triggered_ = true;
  {
    const std::lock_guard lock(ends_);
    if (writeEnd_.valid())
      retryInterrupted([&] { return ::write(writeEnd_.get(), "", 1); });
  }
  if (Turns* queue = queue_) {
    {
      std::lock_guard lock(queue->mutex_);
    }
    queue->free_.notify_all();
  }
}

void Interrupt::close() {
  const std::lock_guard lock(ends_);
  readEnd_.reset();
  writeEnd_.reset();
}

Interrupt::Ended Interrupt::wait(int fd, short events, Deadline deadline) {
  // Without descriptors to spare it waits all the same, and looks now and then.
  const bool called = makeDescriptors();
  std::array<pollfd, 3> ends{pollfd{fd, events, 0}, pollfd{readEnd_.get(), POLLIN, 0},
                             pollfd{overFd, POLLIN, 0}};
  for (;;) {
    if (triggered())
      return Ended::Interrupted;
    int timeout = called ? -1 : 50;
    if (deadline) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(
          *deadline - std::chrono::steady_clock::now());
      if (left.count() <= 0)
        timeout = 0;
      else
        timeout = int(std::min<int64_t>(left.count(), called ? INT_MAX : 50));
    }
    const int count = ::poll(ends.data(), ends.size(), timeout);
    if (count < 0 && errno != EINTR)
      return Ended::Ready; // the call that follows will tell
    if (triggered())
      return Ended::Interrupted;
    if (count > 0 && ends[0].revents != 0)
      return Ended::Ready;
    if (deadline && std::chrono::steady_clock::now() >= *deadline)
      return Ended::TimedOut;
  }
}

bool Turns::take(Interrupt& interrupt) {
  interrupt.queue_ = this;
  std::unique_lock lock(mutex_);
  free_.wait(lock, [&] { return !taken_ || interrupt.triggered(); });
  interrupt.queue_ = nullptr;
  if (interrupt.triggered()) {
    free_.notify_one(); // it may have been meant for this one
    return false;
  }
  taken_ = true;
  return true;
}

bool Turns::tryTake() {
  std::lock_guard lock(mutex_);
  return !std::exchange(taken_, true);
}

void Turns::give() {
  {
    std::lock_guard lock(mutex_);
    taken_ = false;
  }
  free_.notify_one();
}

// ---- sources of bytes
// -----------------------------------------------------------------------------------

bool ByteSource::fill(Interrupt& interrupt) {
  if (ended_ || interrupt.wait(fd_, POLLIN) == Interrupt::Ended::Interrupted)
    return false;
  bytes_.erase(0, at_);
  searched_ -= std::min(searched_, at_);
  at_ = 0;
  const size_t had = bytes_.size();
  bytes_.resize(had + kBlock);
  const ssize_t count = retryInterrupted([&] { return ::read(fd_, bytes_.data() + had, kBlock); });
  bytes_.resize(had + (count > 0 ? size_t(count) : 0));
  ended_ = count == 0 || (count < 0 && errno != EAGAIN);
  return !ended_;
}

ByteSource::Ended ByteSource::fillLine(uint64_t cap, Interrupt& interrupt) {
  for (;;) {
    searched_ = std::max(searched_, at_);
    const size_t end = bytes_.find('\n', searched_);
    if (end != std::string::npos) {
      searched_ = end;
      return Ended::Done;
    }
    searched_ = bytes_.size();
    if (bytes_.size() - at_ > cap)
      return Ended::TooLarge;
    if (!fill(interrupt))
      return interrupt.triggered() ? Ended::Interrupted : Ended::Done;
  }
}

void ByteSource::takeLine(std::string& line) {
  const size_t end = bytes_.find('\n', std::max(searched_, at_));
  line.assign(bytes_, at_, end == std::string::npos ? end : end + 1 - at_);
  at_ += line.size();
}

void ByteSource::takeSome(std::string& some, uint64_t max) {
  StringRef pending = StringRef(bytes_).drop_front(at_).take_front(max);
  if (const size_t newline = pending.find('\n'); newline != StringRef::npos)
    pending = pending.take_front(newline + 1);
  some = pending.str();
  at_ += some.size();
}

ByteSource::Ended ByteSource::awaitLine(uint64_t cap, Interrupt& interrupt) {
  const Turn turn(turns_, interrupt);
  return turn ? fillLine(cap, interrupt) : Ended::Interrupted;
}

ByteSource::Ended ByteSource::line(std::string& line, uint64_t cap, Interrupt& interrupt) {
  const Turn turn(turns_, interrupt);
  const Ended ended = turn ? fillLine(cap, interrupt) : Ended::Interrupted;
  if (ended == Ended::Done)
    takeLine(line);
  return ended;
}

ByteSource::Ended ByteSource::rest(std::string& rest, uint64_t cap, Interrupt& interrupt) {
  const Turn turn(turns_, interrupt);
  if (!turn)
    return Ended::Interrupted;
  while (fill(interrupt))
    if (bytes_.size() - at_ > cap)
      return Ended::TooLarge;
  if (interrupt.triggered() && !ended_)
    return Ended::Interrupted;
  rest = bytes_.substr(at_);
  at_ = bytes_.size();
  return Ended::Done;
}

ByteSource::Ended ByteSource::some(std::string& some, uint64_t max, Interrupt& interrupt) {
  const Turn turn(turns_, interrupt);
  if (!turn)
    return Ended::Interrupted;
  while (max != 0 && at_ == bytes_.size() && fill(interrupt)) {
  }
  if (interrupt.triggered() && at_ == bytes_.size() && !ended_)
    return Ended::Interrupted;
  takeSome(some, max);
  return Ended::Done;
}

bool ByteSource::lineNow(std::string& line) {
  const Turn turn(turns_);
  if (!turn)
    return false;
  searched_ = std::max(searched_, at_);
  if (!ended_ && bytes_.find('\n', searched_) == std::string::npos)
    return false;
  takeLine(line);
  return true;
}

bool ByteSource::hasNow() {
  const Turn turn(turns_);
  return turn && (at_ != bytes_.size() || ended_);
}

bool ByteSource::someNow(std::string& some, uint64_t max) {
  const Turn turn(turns_);
  if (!turn || (max != 0 && at_ == bytes_.size() && !ended_))
    return false;
  takeSome(some, max);
  return true;
}

} // namespace gos::stdlib
