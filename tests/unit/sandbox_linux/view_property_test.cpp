// Generated trees and rules: the view agrees with `decide` about every path of the tree, no step is
// hidden by a later one, nothing that leads to a hole can be renamed, and the ruleset says what the
// mounts say.

#include "sandbox/linux/landlock_plan.h"
#include "sandbox/linux/view.h"
#include "sandbox/policy/decide.h"
#include "tests/unit/sandbox_linux/fake_tree.h"

#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

#include <random>
#include <set>

namespace gos::sandbox {
namespace {

using Random = std::mt19937;

unsigned below(Random& random, unsigned count) {
  return unsigned(random() % count);
}

std::string randomPath(Random& random, unsigned depth) {
  std::string path = "/w";
  for (unsigned left = below(random, depth); left != 0; --left)
    path += std::string("/") + "abc"[below(random, 3)] + (below(random, 4) == 0 ? "x" : "");
  return path;
}

FakeTree randomTree(Random& random) {
  FakeTree tree = smallHost();
  tree.directory("/w");
  for (unsigned left = 4 + below(random, 12); left != 0; --left) {
    const std::string path = randomPath(random, 5);
    if (tree.look(path).kind != NodeKind::Missing)
      continue;
    // Beneath files and links there is nothing.
    bool inDirectory = true;
    for (llvm::StringRef parent = parentPath(path); parent != "/"; parent = parentPath(parent)) {
      const NodeKind kind = tree.look(parent).kind;
      inDirectory &= kind == NodeKind::Directory || kind == NodeKind::Missing;
    }
    if (!inDirectory)
      continue;
    switch (below(random, 6)) {
    case 0:
      tree.link(path, randomPath(random, 4));
      break;
    case 1:
    case 2:
      tree.file(path);
      break;
    default:
      tree.directory(path);
    }
  }
  return tree;
}

/// Mostly a path that is there: rules about nothing are refused, or say nothing.
std::string randomRulePath(Random& random, const FakeTree& tree) {
  if (below(random, 4) == 0)
    return randomPath(random, 5);
  std::vector<std::string> there;
  for (const std::string& path : tree.paths())
    if (isAtOrBeneath(path, "/w"))
      there.push_back(path);
  return there[below(random, unsigned(there.size()))];
}

Policy randomPolicy(Random& random, const FakeTree& tree) {
  Policy policy = Policy().withLevel(SandboxLevel::Standard);
  if (below(random, 6) == 0)
    policy = policy.withRule(
        {"/", below(random, 2) ? Access::ReadOnly : Access::ReadWrite, Origin::User, {}});
  for (unsigned left = 1 + below(random, 6); left != 0; --left)
    policy = policy.withRule(
        {randomRulePath(random, tree), Access(below(random, 3)), Origin(below(random, 4)), {}});
  return policy;
}

enum class State { Absent, ReadOnly, ReadWrite };
const std::string kStateNames[] = {"absent", "read-only", "read-write"};

State decided(const Policy& policy, llvm::StringRef path) {
  if (!decide(policy, path, Operation::Read).allowed)
    return State::Absent;
  return decide(policy, path, Operation::Write).allowed ? State::ReadWrite : State::ReadOnly;
}

State viewed(const ChildPlan& plan, llvm::StringRef path) {
  const ViewStep* step = stepCovering(plan.view, path);
  if (step == nullptr || step->kind != ViewStep::Kind::Bind || step->source != step->path)
    return State::Absent;
  return step->readOnly ? State::ReadOnly : State::ReadWrite;
}

/// The policy with each rule at the place that it leads to, and denials at both. What `decide` is
/// asked about is canonical; so are these rules. A shipped denial that no grant reaches is not
/// looked up, since who ships it names what it leads to as well.
Policy canonicalised(const Policy& policy, const FakeTree& tree) {
  Policy made = Policy().withLevel(policy.level());
  PathWalk walk(tree);
  for (const PathRule& rule : policy.rules()) {
    const WalkedPath walked = walk.follow(rule.path);
    if (rule.access == Access::Deny) {
      made = made.withRule(rule);
      bool reached = rule.origin != Origin::Shipped;
      for (const PathRule& grant : policy.rules())
        if (grant.access != Access::Deny)
          if (const WalkedPath place = walk.follow(grant.path);
              place.entry.kind != NodeKind::Missing)
            reached |= isAtOrBeneath(rule.path, place.path);
      if (walked.path != rule.path && reached)
        made = made.withRule({walked.path, rule.access, rule.origin, {}});
    } else if (walked.entry.kind != NodeKind::Missing) {
      made = made.withRule({walked.path, rule.access, rule.origin, {}});
    }
  }
  return made;
}

uint64_t landlockRights(const ChildPlan& plan, llvm::StringRef path) {
  uint64_t rights = 0;
  for (const LandlockRule& rule : plan.landlock.rules)
    if (isAtOrBeneath(path, rule.path))
      rights |= rule.rights;
  return rights;
}

TEST_CASE("generated policies: the view and the ruleset agree with decide on every path") {
  unsigned compiledPlans = 0, refused = 0, holes = 0, narrowed = 0, pinned = 0, placeholders = 0;
  for (unsigned seed = 1; seed <= 8000; ++seed) {
    Random random(seed);
    const FakeTree tree = randomTree(random);
    const Policy policy = randomPolicy(random, tree);
    llvm::Expected<ChildPlan> plan = compilePlan(policy, tree, smallLimits(), {}, "/var/lib/t/run");
    if (!plan) {
      llvm::consumeError(plan.takeError());
      ++refused;
      continue;
    }
    ++compiledPlans;
    placeholders += unsigned(plan->placeholders.size());
    CAPTURE(seed);
    CAPTURE(toText(policy));
    const std::string steps = toText(*plan);
    CAPTURE(steps);

    const Policy judged = canonicalised(policy, tree);
    for (const std::string& path : tree.paths()) {
      if (!isAtOrBeneath(path, "/w"))
        continue;
      CAPTURE(path);
      const State expected = decided(judged, path), found = viewed(*plan, path);
      // The policy's own word, but for what is denied behind a link, which is stricter.
      if (found != expected)
        FAIL("seed " << seed << " path " << path << ": decide says " << kStateNames[int(expected)]
                     << ", the view " << kStateNames[int(found)] << "\n"
                     << toText(policy) << steps);
      const uint64_t rights = landlockRights(*plan, path);
      if (found != State::Absent)
        CHECK((rights & kLandlockReadFile) != 0);
      if (found == State::ReadWrite)
        CHECK((rights & kLandlockWriteFile) != 0);
      holes += stepAt(*plan, ViewStep::Kind::Cover, path) != nullptr;
    }

    // No step is hidden by a later one, and no name is made twice.
    std::set<std::string> mounted;
    for (size_t index = 0; index != plan->view.size(); ++index) {
      const ViewStep& step = plan->view[index];
      CHECK(mounted.insert(step.path).second);
      for (size_t later = index + 1; later != plan->view.size(); ++later)
        if (isMount(plan->view[later].kind) && isAtOrBeneath(step.path, plan->view[later].path))
          FAIL("seed " << seed << ": " << plan->view[later].path << " hides " << step.path << "\n"
                       << steps);
    }

    // What is narrower than a read-write grant above it has no directory on its way that can be
    // renamed.
    for (size_t index = 0; index != plan->view.size(); ++index) {
      const ViewStep& step = plan->view[index];
      if (!isAtOrBeneath(step.path, "/w") || !isMount(step.kind) ||
          (step.kind == ViewStep::Kind::Bind && !step.readOnly))
        continue;
      const llvm::ArrayRef<ViewStep> before(plan->view.data(), index);
      const ViewStep* above = stepCovering(before, step.path);
      if (above == nullptr || above->kind != ViewStep::Kind::Bind || above->readOnly)
        continue;
      ++narrowed;
      if (above->path != parentPath(step.path))
        FAIL("seed " << seed << ": the way to " << step.path << " can be renamed\n" << steps);
      pinned += above->rule && policy.rules()[*above->rule].path != above->path;
    }
  }
  // The generator is worth something: each kind came up often.
  MESSAGE(compiledPlans << " plans, " << refused << " refused, " << holes << " holes, " << narrowed
                        << " narrowed, " << pinned << " pinned, " << placeholders
                        << " placeholders");
  CHECK(compiledPlans > 1000);
  CHECK(holes > 100);
  CHECK(narrowed > 100);
  CHECK(pinned > 50);
  CHECK(placeholders > 50);
}

} // namespace
} // namespace gos::sandbox
