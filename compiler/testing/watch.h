#pragma once
// What asks `gos test` to end, and the end of all that it started.

#include "sandbox/unique_fd.h"

#include <csignal>
#include <iterator>

namespace gos::testing {

inline constexpr int kInterrupts[] = {SIGINT, SIGTERM, SIGHUP};

/// While it lives the signals that ask for the end are read from descriptors, and the processes
/// that nobody is above any more become ours. One at a time, made on the main thread.
class Watch {
public:
  Watch();
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// 0, or the number of the error that it could not be made for.
  int error() const { return error_; }

  /// While it lives this thread is interrupted as others are, and what it starts as well; a signal
  /// that comes is noted in `noted`, unless whoever works has a handler of its own.
  class Open {
  public:
    explicit Open(const Watch& watch);
    ~Open();
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;

  private:
    const Watch& watch_;
  };

  /// Readable when a signal waits, or was noted.
  int waiting() const { return signals_.get(); }
  int noted() const { return notes_.get(); }
  /// The signal, or 0.
  int takeWaiting();
  int takeNoted();

private:
  sigset_t set_{}, mask_{};
  struct sigaction before_[std::size(kInterrupts)] = {};
  struct sigaction children_ = {};
  UniqueFd signals_, notes_;
  int error_ = 0;
};

/// Kills every child of this process, those too that have become ours, until there is none.
void endChildren();

/// Ends this process as the signal does.
void endBySignal(int number);

} // namespace gos::testing
