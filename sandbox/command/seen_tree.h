#pragma once
// The tree as a command of a plan sees it, with the host's behind it: a walk finds what the command
// would have found, and where its view has nothing, what it asked for on the host.

#include "sandbox/linux/plan.h"

#include "llvm/ADT/StringMap.h"

namespace gos::sandbox {

class SeenTree final : public HostTree {
public:
  SeenTree(const ChildPlan& plan, const HostTree& host);

  /// Is it the run's own: its temp, its processes, terminals, shared memory, the plain devices?
  bool isOwn(llvm::StringRef path) const;
  /// What the host has at a path where the command has its private temp, and this name not in it.
  NodeKind behindTemporary(llvm::StringRef path) const;
  /// Is the entry itself made by the view: a leading directory, a link, a file of ours?
  const ViewStep* made(llvm::StringRef path) const;
  /// Did the kernel let it be, whatever a rule says? A guard or a denial whose name was missing
  /// when the run started is nothing in the view: what it would have covered is the grant's around
  /// it.
  bool permits(llvm::StringRef path, bool writes) const;
  /// The rule of the mount that stands over a path.
  std::optional<size_t> ruleOver(llvm::StringRef path) const;
  /// Does a mount stand on it?
  bool isMountPoint(llvm::StringRef path) const;

  Entry look(llvm::StringRef path) const override;
  std::string real(llvm::StringRef path) const override;
  std::vector<std::string> list(llvm::StringRef) const override { return {}; }
  std::string text(llvm::StringRef, size_t) const override { return {}; }

private:
  const ViewStep* covering(llvm::StringRef path) const;

  const HostTree& host_;
  std::string temporary_;
  llvm::StringMap<const ViewStep*> made_, mounts_;
};

} // namespace gos::sandbox
