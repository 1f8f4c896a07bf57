#pragma once
// The path rules of a policy, looked up on the host: one entry a path, in the order of the tree.

#include "sandbox/linux/path_walk.h"
#include "sandbox/policy/policy.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <vector>

namespace gos::sandbox {

/// What the rules say at one path. What lies beneath inherits it; a denial wins there and beneath.
struct PathState {
  std::string path;
  std::optional<size_t> denial; // index into policy.rules()
  std::optional<size_t> grant;  // the grant that decides at this path
  Access access = Access::Deny; // of that grant
  HostTree::Entry entry;        // of a grant: the object
};

struct ResolvedRules {
  std::vector<PathState> states; // sorted by pathLess
  std::vector<LinkHop> hops;     // links that granted names lead through
};

/// Follows each grant once. A grant of `/` becomes one of each entry of the root, but for
/// `skipped`, which the view has of its own. Errors: a grant of what is not there, or that leads to
/// what is denied.
llvm::Expected<ResolvedRules> resolveRules(const Policy& policy, const HostTree& tree,
                                           PathWalk& walk, const llvm::StringSet<>& skipped);

/// "the user read-only rule for `/x` (`--ro x`)".
std::string describeRule(const PathRule& rule);

} // namespace gos::sandbox
