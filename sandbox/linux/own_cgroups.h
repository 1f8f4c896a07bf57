#pragma once
// The view of control groups for a command with a cgroup namespace of its own.

#include "sandbox/linux/plan.h"

namespace gos::sandbox {

/// Binds, in place of the host's whole hierarchy, the groups that the command is in. Inside the
/// namespace its own group is the root; what lies above it has a path that leads out (`/..`), and
/// the JVM, which sizes its heap by these files, ends with a NullPointerException there, or finds
/// no limit at all.
void showOwnCgroups(std::vector<ViewStep>& view, const HostTree& tree);

} // namespace gos::sandbox
