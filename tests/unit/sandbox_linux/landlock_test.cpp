#include "sandbox/linux/landlock_plan.h"

#include "tests/unit/sandbox_linux/fake_tree.h"

#include <doctest/doctest.h>

namespace gos::sandbox {
namespace {

ChildPlan compiled(const Policy& policy, int abi = 7, bool pidNamespace = true) {
  HostLimits limits = smallLimits();
  limits.landlockAbi = abi;
  limits.pidNamespace = pidNamespace;
  llvm::Expected<ChildPlan> plan = compilePlan(policy.withLevel(SandboxLevel::Standard),
                                               smallHost(), limits, {}, "/var/lib/t/run");
  if (!plan) {
    FAIL(llvm::toString(plan.takeError()));
    return {};
  }
  return std::move(*plan);
}

TEST_CASE("the ruleset handles every right of its ABI, and both scopes where there are any") {
  for (int abi = 3; abi <= 9; ++abi) {
    const LandlockPlan landlock = compiled(Policy(), abi).landlock;
    CHECK(landlock.abi == abi);
    CHECK(landlock.handledFileSystem == landlockFileSystemRights(abi));
    CHECK(landlock.scopes == (abi >= 6 ? kLandlockScopeAbstract | kLandlockScopeSignal : 0));
    for (const LandlockRule& rule : landlock.rules)
      CHECK((rule.rights & ~landlock.handledFileSystem) == 0);
  }
  CHECK(landlockFileSystemRights(8) == 0xffff);
  CHECK(landlockFileSystemRights(9) == 0x1ffff);
}

TEST_CASE("a rule gives what its grant says, directories and files each what they can have") {
  const ChildPlan plan = compiled(Policy()
                                      .readOnly("/usr", Origin::Shipped)
                                      .readWrite("/home/ann/p", Origin::User)
                                      .readOnly("/etc/hosts", Origin::User)
                                      .readWrite("/home/ann/.gitconfig", Origin::User),
                                  9);
  CHECK(ruleAt(plan, "/usr")->rights ==
        (kLandlockExecute | kLandlockReadFile | kLandlockReadDirectory));
  CHECK(ruleAt(plan, "/usr")->optional);
  const uint64_t all = landlockFileSystemRights(9);
  CHECK(
      ruleAt(plan, "/home/ann/p")->rights ==
      (all & ~(kLandlockMakeCharacterDevice | kLandlockMakeBlockDevice | kLandlockDeviceControl)));
  CHECK((ruleAt(plan, "/home/ann/p")->rights & kLandlockRefer) != 0);
  CHECK(ruleAt(plan, "/etc/hosts")->rights == (kLandlockExecute | kLandlockReadFile));
  CHECK(ruleAt(plan, "/home/ann/.gitconfig")->rights ==
        (kLandlockExecute | kLandlockReadFile | kLandlockWriteFile | kLandlockTruncate |
         kLandlockResolveUnix));
}

TEST_CASE("devices can be read, written and spoken to where they are granted read-write") {
  const ChildPlan plan = compiled(Policy().readOnly("/dev/sda", Origin::User));
  const uint64_t device = kLandlockReadFile | kLandlockWriteFile | kLandlockDeviceControl;
  CHECK(ruleAt(plan, "/dev/null")->rights == device);
  CHECK(ruleAt(plan, "/dev/tty")->rights == device);
  CHECK(ruleAt(plan, "/dev/pts")->rights == (device | kLandlockReadDirectory));
  CHECK(ruleAt(plan, "/dev/sda")->rights == kLandlockReadFile);
  CHECK(ruleAt(compiled(Policy(), 4), "/dev/null")->rights ==
        (kLandlockReadFile | kLandlockWriteFile));
  CHECK(ruleAt(compiled(Policy().readWrite("/home/ann/p", Origin::User)), "/home/ann/p")->rights %
            (kLandlockDeviceControl * 2) <
        kLandlockDeviceControl);
}

TEST_CASE("no rule on the root has a right on a file") {
  const ChildPlan plan = compiled(Policy().readWrite("/", Origin::User));
  CHECK(ruleAt(plan, "/")->rights == kLandlockReadDirectory);
  CHECK(ruleAt(plan, "/dev") == nullptr);
}

TEST_CASE(
    "what is ours can be used as it is meant: processes read, temp and shared memory written") {
  for (bool own : {true, false}) {
    const ChildPlan plan = compiled(Policy(), 7, own);
    CHECK(ruleAt(plan, "/proc")->rights == (kLandlockReadFile | kLandlockReadDirectory));
  }
  const ChildPlan plan = compiled(Policy());
  CHECK(ruleAt(plan, "/tmp")->rights == (kWriteRights & plan.landlock.handledFileSystem));
  CHECK(ruleAt(plan, "/var/tmp") == nullptr); // the same directory, which has its rule
  CHECK(ruleAt(plan, "/dev/shm")->rights == (kWriteRights & plan.landlock.handledFileSystem));
  CHECK(ruleAt(plan, "/etc/passwd")->rights == kLandlockReadFile);
}

TEST_CASE("what has its rights from a rule above it, or has fewer, has no rule") {
  const ChildPlan plan = compiled(Policy()
                                      .readWrite("/home/ann", Origin::User)
                                      .readOnly("/home/ann/p/.git/hooks", Origin::User)
                                      .deny("/home/ann/.ssh", Origin::Shipped));
  for (const LandlockRule& rule : plan.landlock.rules)
    CHECK((rule.path == "/home/ann" || !isAtOrBeneath(rule.path, "/home/ann")));
  const ChildPlan wider =
      compiled(Policy().readOnly("/home/ann", Origin::User).readWrite("/home/ann/p", Origin::User));
  CHECK((ruleAt(wider, "/home/ann/p")->rights & kLandlockWriteFile) != 0);
  CHECK((ruleAt(wider, "/home/ann")->rights & kLandlockWriteFile) == 0);
}

TEST_CASE("B020 a terminal that is a stream can be opened again, by its device alone") {
  ChildPlan plan = compiled(Policy());
  addTerminal(plan, "/dev/pts/3", {5, 6});
  const ViewStep* step = stepAt(plan, ViewStep::Kind::Bind, "/dev/console");
  REQUIRE(step != nullptr);
  CHECK(step->source == "/dev/pts/3");
  CHECK(step->object == ObjectId{5, 6});
  CHECK(step->devices);
  CHECK(ruleAt(plan, "/dev/console")->rights == kDeviceRights);
  ChildPlan basic;
  basic.keepRoot = true;
  addTerminal(basic, "/dev/pts/3", {5, 6});
  CHECK(basic.view.empty());
}

} // namespace
} // namespace gos::sandbox
