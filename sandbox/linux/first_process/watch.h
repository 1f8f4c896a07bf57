#pragma once
// A mount hides the entry it stands on, and moves with it. What an outsider does to such an entry,
// or to a directory above it, is learnt in two ways: the kernel says that a mount is gone when the
// entry was removed or replaced (/proc/self/mountinfo), and that an entry was renamed (dnotify, on
// each directory from the grant down). Neither says which; `lostCover` looks,
// at the mounts themselves: what was put in an entry's place may be the same object.
//
// inotify would say the same and takes 3 to 18 ms to be closed, which every run would wait for.

#include "sandbox/linux/first_process/first_process.h"

namespace gos::sandbox {

/// Sent where an entry of a watched directory was renamed. All signals are blocked here, so it
/// waits, once, until it is read.
constexpr int kSignalRenamed = 29; // SIGIO, the one that dnotify sends

/// What a run may hold open to be told; with more directories it looks from time to time.
constexpr uint32_t kMostWatchedDirectories = 64;
/// How often, where the kernel does not tell (no dnotify, no descriptors left).
constexpr long kLookEveryNanoseconds = 50'000'000;

/// Opened while the old /proc is there: it shows the mounts of this namespace.
Failure openMounts(const Plan& plan, View& view);
/// In the finished view: asks to be told, then looks once at everything, so that what was lost
/// before is seen as well.
Failure beginWatch(const Plan& plan, View& view);
/// The step that is no longer what it was, or -1.
long lostCover(const Plan& plan, const View& view);

} // namespace gos::sandbox
