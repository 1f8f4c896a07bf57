#include "sandbox/linux/view_rules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <memory>

namespace gos::sandbox {

namespace {

llvm::Error refuse(const std::string& text) {
  return llvm::createStringError(std::make_error_code(std::errc::invalid_argument),
                                 llvm::Twine(text));
}

/// A rule at the place where it holds, which differs from its own path if that leads through a
/// link.
struct PlacedRule {
  std::string path;
  size_t rule = 0;
  bool fromRoot = false; // of a grant of `/`: any rule at the path itself is longer
  HostTree::Entry entry;
};

class RuleResolver {
public:
  RuleResolver(const Policy& policy, const HostTree& tree, PathWalk& walk,
               const llvm::StringSet<>& skipped)
      : policy_(policy), tree_(tree), walk_(walk), skipped_(skipped) {}

  llvm::Expected<ResolvedRules> resolve() {
    const llvm::ArrayRef<PathRule> rules = policy_.rules();
    for (size_t index = 0; index != rules.size(); ++index)
      if (rules[index].access == Access::Deny)
        keep({rules[index].path, index, false, {}});
      else if (llvm::Error error = placeGrant(index))
        return error;
    placeDenialsBehindLinks();
    sortPlaced();
    group();
    return std::move(resolved_);
  }

private:
  const PathRule& rule(size_t index) const { return policy_.rules()[index]; }
  bool denies(const PlacedRule& placed) const { return rule(placed.rule).access == Access::Deny; }
  void sortPlaced() {
    llvm::stable_sort(
        placed_, [](const std::unique_ptr<PlacedRule>& a, const std::unique_ptr<PlacedRule>& b) {
          return pathLess(a->path, b->path);
        });
  }
  void keep(PlacedRule placed) {
    placed_.push_back(std::make_unique<PlacedRule>(std::move(placed)));
  }

  /// The denial that covers a path, if there is one.
  const PathRule* denialOf(llvm::StringRef path) const {
    for (const PathRule& other : policy_.rules())
      if (other.access == Access::Deny && isAtOrBeneath(path, other.path))
        return &other;
    return nullptr;
  }

  llvm::Error placeGrant(size_t index) {
    const PathRule& grant = rule(index);
    WalkedPath walked = walk_.follow(grant.path);
    if (walked.entry.kind == NodeKind::Missing) {
      // What is shipped names what a system may have; everybody else meant something that is there.
      if (grant.origin == Origin::Shipped || denialOf(grant.path) != nullptr)
        return llvm::Error::success();
      return refuse(llvm::formatv("{0} grants what does not exist", describeRule(grant)).str());
    }
    if (walked.path != grant.path)
      if (const PathRule* denial = denialOf(walked.path)) {
        if (denial->origin > grant.origin && grant.origin != Origin::User)
          return llvm::Error::success();
        return refuse(llvm::formatv("{0} leads to `{1}` and can't lift {2}", describeRule(grant),
                                    walked.path, describeRule(*denial))
                          .str());
      }
    llvm::append_range(resolved_.hops, walked.hops);
    keep({walked.path, index, false, walked.entry});
    if (walked.path == "/")
      placeEntriesOfRoot(index);
    return llvm::Error::success();
  }

  /// The host's root cannot be bound over a root of ours, so each of its entries is.
  void placeEntriesOfRoot(size_t index) {
    for (const std::string& name : tree_.list("/")) {
      std::string path = childPath("/", name);
      if (skipped_.contains(path))
        continue;
      const HostTree::Entry& entry = walk_.look(path);
      if (entry.kind == NodeKind::Link)
        resolved_.hops.push_back({path, entry.linkText});
      else if (entry.kind != NodeKind::Missing)
        keep({std::move(path), index, true, entry});
    }
  }

  /// A denial whose path leads through a link denies what it leads to as well. Policies come with
  /// canonical paths, and the shipped denials with what theirs lead to; this holds for a policy
  /// that was made before the link was. Of the many shipped ones only those beneath a grant are
  /// looked up.
  void placeDenialsBehindLinks() {
    sortPlaced();
    std::vector<PlacedRule> behind;
    std::vector<llvm::StringRef> grants;
    for (const std::unique_ptr<PlacedRule>& each : placed_) {
      PlacedRule& placed = *each;
      while (!grants.empty() && !isAtOrBeneath(placed.path, grants.back()))
        grants.pop_back();
      if (!denies(placed)) {
        grants.push_back(placed.path);
      } else if (!grants.empty() || rule(placed.rule).origin != Origin::Shipped) {
        // `/var/run/x` where `/var/run` is a link: there is no such place to cover, only the one
        // that it means.
        const auto [parent, name] = llvm::StringRef(placed.path).rsplit('/');
        if (!parent.empty())
          if (const WalkedPath above = walk_.follow(parent); above.path != parent)
            placed.path = childPath(above.path, name);
        WalkedPath walked = walk_.follow(placed.path);
        if (walked.path != placed.path)
          behind.push_back({std::move(walked.path), placed.rule, false, {}});
      }
    }
    for (PlacedRule& placed : behind)
      keep(std::move(placed));
  }

  /// Does a grant decide before the one that was found at the same path? As `decide` has it.
  bool isStronger(const PlacedRule& placed, const PlacedRule& current) const {
    if (placed.fromRoot != current.fromRoot)
      return current.fromRoot;
    const PathRule &a = rule(placed.rule), &b = rule(current.rule);
    return a.origin > b.origin || (a.origin == b.origin && a.access < b.access);
  }

  void group() {
    for (size_t first = 0; first != placed_.size();) {
      PathState state;
      state.path = placed_[first]->path;
      const PlacedRule* best = nullptr;
      size_t next = first;
      for (; next != placed_.size() && placed_[next]->path == state.path; ++next) {
        const PlacedRule& placed = *placed_[next];
        if (denies(placed)) {
          if (!state.denial)
            state.denial = placed.rule;
        } else if (best == nullptr || isStronger(placed, *best)) {
          best = &placed;
        }
      }
      if (best != nullptr) {
        state.grant = best->rule;
        state.access = rule(best->rule).access;
        state.entry = best->entry;
      }
      resolved_.states.push_back(std::move(state));
      first = next;
    }
  }

  const Policy& policy_;
  const HostTree& tree_;
  PathWalk& walk_;
  const llvm::StringSet<>& skipped_;
  std::vector<std::unique_ptr<PlacedRule>> placed_; // moved about when they are sorted
  ResolvedRules resolved_;
};

} // namespace

std::string describeRule(const PathRule& rule) {
  std::string text = llvm::formatv("the {0} {1} rule for `{2}`", spelling(rule.origin),
                                   spelling(rule.access), rule.path)
                         .str();
  if (!rule.writtenAs.empty())
    text += llvm::formatv(" (`{0}`)", rule.writtenAs).str();
  return text;
}

llvm::Expected<ResolvedRules> resolveRules(const Policy& policy, const HostTree& tree,
                                           PathWalk& walk, const llvm::StringSet<>& skipped) {
  return RuleResolver(policy, tree, walk, skipped).resolve();
}

} // namespace gos::sandbox
