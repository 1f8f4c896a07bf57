#pragma once
// Walking a path over a HostTree as the kernel would, and remembering each link on the way: a grant
// is followed once, when the policy is compiled, and the names that led to it exist in the view
// too.

#include "sandbox/linux/plan.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace gos::sandbox {

/// A symbolic link met on the way: where it stands (canonical) and what it says.
struct LinkHop {
  std::string path;
  std::string text;
};

struct WalkedPath {
  /// Canonical. Where a component is missing: the canonical directory that was reached, and the
  /// rest.
  std::string path;
  HostTree::Entry entry; // kind Missing where nothing is there; never a link
  std::vector<LinkHop> hops;
};

class PathWalk {
public:
  explicit PathWalk(const HostTree& tree) : tree_(tree) {}

  /// Follows an absolute path, `.` and `..` and links included. Links without end are Missing.
  WalkedPath follow(llvm::StringRef path);
  /// The entry itself; asked once for each path.
  const HostTree::Entry& look(llvm::StringRef path);

private:
  const HostTree& tree_;
  llvm::StringMap<HostTree::Entry> seen_;
};

/// `/a` and `b` are `/a/b`; `/` and `b` are `/b`.
std::string childPath(llvm::StringRef directory, llvm::StringRef name);
/// The directory that holds a canonical path; of `/` it is `/`.
llvm::StringRef parentPath(llvm::StringRef path);
/// Orders canonical paths so that what lies beneath a path follows it at once.
bool pathLess(llvm::StringRef left, llvm::StringRef right);

} // namespace gos::sandbox
