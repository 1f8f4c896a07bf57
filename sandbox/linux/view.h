#pragma once
// The view of a command at `standard` and above: an empty root on which stands what is granted,
// with its holes, and what every view has. Compiled into steps that run in order, parents before
// what lies beneath them, so that the last step that covers a path says what is there.
//
// A bind stands at its own path: host object `/a/b` is `/a/b` in the view. The start makes the
// mount points; directories above them are steps of their own. The root is read-only afterwards.

#include "sandbox/linux/plan.h"
#include "sandbox/linux/view_parts.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace gos::sandbox {

struct View {
  std::vector<ViewStep> steps;
  std::vector<Placeholder> placeholders;
  std::string temporaryName; // where the private temp stands; empty without one
};

/// Compiles the path rules of a policy whose `check` is clean.
llvm::Expected<View> compileView(const Policy& policy, const HostTree& tree, PathWalk& walk,
                                 const ViewRequest& request);

/// Is there anything at a path of the view that a command can reach? `tree` is the host's.
bool standsInView(llvm::ArrayRef<ViewStep> steps, const HostTree& tree, llvm::StringRef path);

/// The step that says what a path of the view is, or null: of steps that mount, the last one at or
/// above it.
const ViewStep* stepCovering(llvm::ArrayRef<ViewStep> steps, llvm::StringRef path);

/// Does the step put a file system, a bind or a hole at its path?
bool isMount(ViewStep::Kind kind);

} // namespace gos::sandbox
