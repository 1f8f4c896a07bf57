#pragma once
// A command that a program runs holds descriptors while it lasts. As many run at once as the limit
// of open files allows, with a quarter of it left to the program; a run beyond that waits.

#include "llvm/ADT/STLFunctionalExtras.h"

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace gos::stdlib {

class RunTurns {
public:
  /// Those of this process: the limit is one for all.
  static RunTurns& all();
  /// Waits until there is room for so many descriptors, on a thread that may be held up. False: the
  /// caller was cancelled, which it tells by `isCancelled` and `wake`, or all waiting ends.
  bool take(size_t descriptors, llvm::function_ref<bool()> isCancelled);
  void give(size_t descriptors);
  /// Somebody who waits was cancelled.
  void wake();

private:
  std::mutex mutex_;
  std::condition_variable freed_;
  size_t taken_ = 0;
};

/// A turn that ends with its scope.
class RunTurn {
public:
  RunTurn(size_t descriptors, llvm::function_ref<bool()> isCancelled)
      : descriptors_(descriptors), held_(RunTurns::all().take(descriptors, isCancelled)) {}
  RunTurn(const RunTurn&) = delete;
  RunTurn& operator=(const RunTurn&) = delete;
  ~RunTurn() {
    if (held_)
      RunTurns::all().give(descriptors_);
  }
  explicit operator bool() const { return held_; }

private:
  size_t descriptors_;
  bool held_;
};

} // namespace gos::stdlib
