#pragma once
// What bodies that may have to wait for the world are made of: a job of two functions, what ends
// its waiting, and turns at what more than one goroutine uses.

#include "sandbox/unique_fd.h"
#include "stdlib/support.h"
#include "vm/scheduler.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace gos::stdlib {

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

class Turns;

/// Ends all waiting of jobs as if each was cancelled, until `resumeWaiting`: the program is asked
/// to end. The first is called while nothing waits, the second from a signal handler, at any time.
void prepareToEndWaiting();
void endWaiting();
void resumeWaiting();
bool waitingIsOver();
/// Sleeps on this thread; less long when all waiting ends.
void sleepInPlace(std::chrono::milliseconds length);
/// In place of the result of what did not wait to its end.
vm::Trap trapOfEnding();

/// Ends the waiting of a job when its goroutine is cancelled.
class Interrupt {
public:
  Interrupt() = default;
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  /// From the Vm's thread, at any time.
  void trigger();
  bool triggered() const;

  enum class Ended : uint8_t { Ready, Interrupted, TimedOut };
  /// Waits until the descriptor can be read or written (`events` of poll), or has an error to tell.
  /// -1 waits for the time alone.
  Ended wait(int fd, short events, Deadline deadline = std::nullopt);
  /// Nobody waits by it any more: its descriptors are given back, although the job is still there.
  void close();

private:
  friend class Turns;
  bool makeDescriptors();

  std::atomic<bool> triggered_ = false;
  std::mutex ends_;                     // of the descriptors
  std::atomic<Turns*> queue_ = nullptr; // in which it stands
  UniqueFd readEnd_, writeEnd_;
};

/// One at a time, and nobody else in between. Does not hold up the Vm's thread: that one only
/// tries.
class Turns {
public:
  /// False: interrupted.
  bool take(Interrupt& interrupt);
  bool tryTake();
  void give();

private:
  friend class Interrupt;
  std::mutex mutex_;
  std::condition_variable free_;
  bool taken_ = false;
};

/// A turn that ends with its scope.
class Turn {
public:
  Turn(Turns& turns, Interrupt& interrupt) : turns_(turns), held_(turns.take(interrupt)) {}
  explicit Turn(Turns& turns) : turns_(turns), held_(turns.tryTake()) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    if (held_)
      turns_.give();
  }
  explicit operator bool() const { return held_; }

private:
  Turns& turns_;
  bool held_;
};

/// A stream of bytes that is read ahead: standard input, the output of a child.
class ByteSource {
public:
  /// Of a descriptor that is somebody else's.
  explicit ByteSource(int fd) : fd_(fd) {}
  explicit ByteSource(UniqueFd fd) : owned_(std::move(fd)), fd_(owned_.get()) {}

  enum class Ended : uint8_t { Done, TooLarge, Interrupted };
  /// Until a line, or the end, is there. More than `cap` bytes without a newline are too many.
  Ended awaitLine(uint64_t cap, Interrupt& interrupt);
  /// A line with its newline; empty at the end.
  Ended line(std::string& line, uint64_t cap, Interrupt& interrupt);
  Ended rest(std::string& rest, uint64_t cap, Interrupt& interrupt);
  /// At most `max` bytes and no further than a line; empty at the end.
  Ended some(std::string& some, uint64_t max, Interrupt& interrupt);

  /// The same for what is there already; false if one would have to wait.
  bool lineNow(std::string& line);
  bool hasNow();
  bool someNow(std::string& some, uint64_t max);

private:
  bool fill(Interrupt& interrupt);
  Ended fillLine(uint64_t cap, Interrupt& interrupt);
  void takeLine(std::string& line);
  void takeSome(std::string& some, uint64_t max);

  Turns turns_;
  UniqueFd owned_;
  int fd_;
  std::string bytes_;
  size_t at_ = 0;
  size_t searched_ = 0; // no newline before here
  bool ended_ = false;
};

/// What a body answers whose waiting was ended by a cancellation.
inline constexpr StringRef kCancelled = "cancelled";

/// The answer of a body that does not wait for its work any more.
class CancelledAnswer final : public vm::Job {
public:
  void work() override {}
  Trap finish(Arguments& arguments) override { return arguments.returnErr(kCancelled); }
};

/// Answers, when the descriptor has one of these `events` of poll, or an error, to tell: true.
/// False when the time has come first, or the goroutine is cancelled. Holds up nobody, and no
/// thread.
Trap awaitDescriptor(Arguments& arguments, int fd, short events, Deadline deadline,
                     vm::WaitKind kind = vm::WaitKind::Descriptor);

/// Work that looks at its interrupt ends soon when it is cancelled, and is waited for. What hangs
/// in one call of the system cannot: its goroutine goes on with `Err`, and the answer is dropped.
enum class WhenCancelled : uint8_t { WaitForWork, DropAnswer };

/// A job of two functions: `work(Interrupt&)` answers what `finish(Arguments&, Answer&)` makes the
/// result of. `work` owns what it uses and knows nothing of the Vm. `cancel` is called on the Vm's
/// thread beside the interrupt.
template <class Work, class Finish, class Cancel> class FunctionJob final : public vm::Job {
public:
  FunctionJob(Work work, Finish finish, Cancel cancel, WhenCancelled whenCancelled)
      : work_(std::move(work)), finish_(std::move(finish)), cancel_(std::move(cancel)),
        whenCancelled_(whenCancelled) {}
  void work() override {
    answer_.emplace(work_(interrupt_));
    interrupt_.close();
  }
  Trap finish(Arguments& arguments) override {
    return waitingIsOver() ? trapOfEnding() : finish_(arguments, *answer_);
  }
  void cancel() override {
    interrupt_.trigger();
    cancel_();
  }
  std::unique_ptr<vm::Job> answerOfCancelled() override {
    return whenCancelled_ == WhenCancelled::DropAnswer ? std::make_unique<CancelledAnswer>()
                                                       : nullptr;
  }

private:
  Interrupt interrupt_;
  Work work_;
  Finish finish_;
  Cancel cancel_;
  WhenCancelled whenCancelled_;
  std::optional<std::invoke_result_t<Work&, Interrupt&>> answer_;
};

template <class Work, class Finish, class Cancel>
Trap offload(Arguments& arguments, Work work, Finish finish, Cancel cancel,
             WhenCancelled whenCancelled = WhenCancelled::WaitForWork) {
  return arguments.vm().scheduler().offload(
      arguments, std::make_unique<FunctionJob<Work, Finish, Cancel>>(
                     std::move(work), std::move(finish), std::move(cancel), whenCancelled));
}
template <class Work, class Finish> Trap offload(Arguments& arguments, Work work, Finish finish) {
  return offload(arguments, std::move(work), std::move(finish), [] {});
}
/// For work that hangs in one call of the system, and a native that answers a `Result`.
template <class Work, class Finish>
Trap offloadDroppable(Arguments& arguments, Work work, Finish finish) {
  return offload(arguments, std::move(work), std::move(finish), [] {}, WhenCancelled::DropAnswer);
}

} // namespace gos::stdlib
