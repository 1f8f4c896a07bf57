#pragma once
// What happens between clone and execve: raw system calls on values that were made before, on a
// stack of its own, in the memory of the parent while its other threads go on. Nothing here may
// allocate, lock, or write to anything but `PostFork::failedStage` and `failedError`.

#include <cstdint>

namespace gos::sandbox {

struct PostFork {
  int sources[8];               // the descriptors that become 0 to 7; -1: that number stays closed
  int program;                  // the first process's file, executed by descriptor
  const char* const* arguments; // its name, then paths for kRaiseAhead; null at the end
  bool keepCapabilities;        // a user namespace was made: the first process needs what it gives
  volatile int32_t failedStage;
  volatile int32_t failedError;
};

/// What `vforkCall` runs.
void postFork(void* argument) noexcept;

} // namespace gos::sandbox
