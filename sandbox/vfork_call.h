#pragma once
// A process that begins in the memory of this one: what starts programs uses it, since copying a
// process that has grown takes long (13 ms from 1 GiB).

namespace gos {

/// What a process that `vforkCall` starts runs. It never returns: it executes a program or ends.
/// The caller's thread waits meanwhile and its other threads do not, so it may call the system, and
/// neither allocate nor lock.
using VforkFunction = void (*)(void* argument);

/// clone(2) with CLONE_VM, CLONE_VFORK and `flags` (SIGCHLD where the end is to be told), on a
/// stack of its own. Every signal is blocked in the new process and, until this returns, in this
/// thread. `pidFd` gets a descriptor where the flags have CLONE_PIDFD. Answers the id, or a
/// negative errno.
///
/// Not the C library's clone: sanitizers take that for a fork, which this is not.
int vforkCall(VforkFunction function, void* argument, unsigned long flags, int* pidFd = nullptr);

} // namespace gos
