#pragma once
// The parts of a view that are put up before the plan is there.

#include "sandbox/linux/first_process/first_process.h"

namespace gos::sandbox {

enum class AheadKind : uint8_t {
  Directory,
  Bind,
  Device,
  Link,
  DevicePts,
  SharedMemory,
  Proc,
  Mask
};

struct AheadPart {
  AheadKind kind;
  bool isFile; // of Bind, Device
  uint32_t hash;
  const char* path;
  uint32_t pathSize;      // of Directory: the path is the beginning of another one's
  uint64_t device, inode; // of Bind, Device: what stands there
};

constexpr uint32_t kMostAhead = 128;
/// A plan with more steps is built without what was put up; its own time is what counts there.
constexpr uint32_t kMostStepsAhead = 512;

struct Ahead {
  bool raised = false; // anything was tried
  bool whole = false;  // and all of it stands
  uint32_t count = 0;
  AheadPart parts[kMostAhead];
  uint32_t hashes[kMostStepsAhead]; // of the plan's paths
  bool stands[kMostStepsAhead];     // the steps that are done already
};

/// Puts up, on the empty root of `view`, read-only binds of `paths` (absent ones are left out),
/// devices, terminals, shared memory and, with `ownProcesses`, processes.
void raiseAhead(View& view, const char* const* paths, long count, bool ownProcesses, Ahead& ahead);
/// Has the plan each part exactly as it stands on `root`? Then `ahead.stands` says which steps are
/// done.
bool agrees(int root, const Plan& plan, Ahead& ahead);

} // namespace gos::sandbox
