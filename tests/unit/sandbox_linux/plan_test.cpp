#include "sandbox/linux/plan.h"

#include "sandbox/linux/environment.h"
#include "sandbox/linux/unavailable.h"
#include "tests/unit/sandbox_linux/fake_tree.h"

#include <doctest/doctest.h>

namespace gos::sandbox {
namespace {

constexpr const char* kTemp = "/var/lib/t/run";

Policy project(SandboxLevel level = SandboxLevel::Standard) {
  return Policy()
      .withLevel(level)
      .readOnly("/usr", Origin::Shipped)
      .readWrite("/home/ann/p", Origin::Shipped)
      .allowEnv("HOME")
      .allowEnv("PATH")
      .withWorkingDirectory("/home/ann/p");
}

ChildPlan compiled(const Policy& policy, HostLimits limits = smallLimits(),
                   std::vector<std::string> environment = {"HOME=/home/ann"},
                   const FakeTree& tree = smallHost()) {
  llvm::Expected<ChildPlan> plan = compilePlan(policy, tree, limits, environment, kTemp);
  if (!plan) {
    FAIL(llvm::toString(plan.takeError()));
    return {};
  }
  return std::move(*plan);
}

std::string errorOf(const Policy& policy, HostLimits limits = smallLimits(),
                    const FakeTree& tree = smallHost()) {
  llvm::Expected<ChildPlan> plan = compilePlan(policy, tree, limits, {}, kTemp);
  return plan ? std::string() : llvm::toString(plan.takeError());
}

std::string valueIn(const ChildPlan& plan, llvm::StringRef name) {
  return valueOf(plan.command.environment, name).value_or("(none)").str();
}

TEST_CASE("each level has the locks of its row, and no others") {
  const uint32_t standard =
      kUserNamespace | kMountNamespace | kIpcNamespace | kNetworkNamespace | kPidNamespace;
  struct Row {
    SandboxLevel level;
    uint32_t namespaces;
    bool keepRoot, locks, noNewPrivileges;
  };
  for (const Row& row : {Row{SandboxLevel::None, 0, true, false, false},
                         Row{SandboxLevel::Basic, 0, true, false, true},
                         Row{SandboxLevel::Standard, standard, false, true, true},
                         Row{SandboxLevel::Strict, standard | kUtsNamespace | kCgroupNamespace,
                             false, true, true}}) {
    CAPTURE(spelling(row.level).str());
    const ChildPlan plan = compiled(project(row.level));
    CHECK(plan.level == row.level);
    CHECK(plan.namespaces == row.namespaces);
    CHECK(plan.keepRoot == row.keepRoot);
    CHECK(plan.view.empty() == !row.locks);
    CHECK(plan.landlock.enabled == row.locks);
    CHECK(plan.filter.empty() == !row.locks);
    CHECK(plan.dropCapabilities == row.locks);
    CHECK(plan.raiseLoopback == row.locks);
    CHECK(plan.noNewPrivileges == row.noNewPrivileges);
    CHECK(plan.coreDumps == (row.level == SandboxLevel::None));
    CHECK(plan.temporaryDirectory == (row.level == SandboxLevel::None ? "" : kTemp));
  }
  CHECK(compiled(project(SandboxLevel::Standard)).filter !=
        compiled(project(SandboxLevel::Strict)).filter);
}

TEST_CASE("a shared network has no namespace, and client gives no right to bind") {
  for (NetworkMode mode : {NetworkMode::Client, NetworkMode::Open}) {
    const ChildPlan plan = compiled(project().withNetwork(mode));
    CHECK((plan.namespaces & kNetworkNamespace) == 0);
    CHECK_FALSE(plan.raiseLoopback);
    CHECK(plan.landlock.handledNetwork == (mode == NetworkMode::Client ? kLandlockBindTcp : 0));
  }
  CHECK(compiled(project()).landlock.handledNetwork == 0);
  CHECK(compiled(project()).filter != compiled(project().withNetwork(NetworkMode::Client)).filter);
}

TEST_CASE("B002 a kernel that lacks what a level needs is named, with what it lacks and the fix") {
  struct Row {
    int abi;
    const char* says;
  };
  for (const Row& row :
       {Row{0, "does not offer"},
        Row{1, "rename between directories is impossible before Linux 5.19"},
        Row{2, "truncation is not controlled before Linux 6.2"}, Row{-1, "is not known"}}) {
    HostLimits limits = smallLimits();
    limits.landlockAbi = row.abi;
    for (SandboxLevel level : {SandboxLevel::Standard, SandboxLevel::Strict}) {
      llvm::Expected<ChildPlan> plan = compilePlan(project(level), smallHost(), limits, {}, kTemp);
      REQUIRE_FALSE(plan);
      bool isUnavailable = false;
      llvm::handleAllErrors(
          plan.takeError(),
          [&](const Unavailable& error) {
            isUnavailable = true;
            CHECK(error.primitive() == "Landlock");
            CHECK(error.text().contains(row.says));
            CHECK(error.fix().contains("6.2"));
          },
          [](const llvm::ErrorInfoBase&) {});
      CHECK(isUnavailable);
    }
    CHECK(errorOf(project(SandboxLevel::Basic), limits).empty());
  }
  HostLimits limits = smallLimits();
  limits.landlockAbi = 3;
  CHECK(errorOf(project(), limits).empty());
  CHECK(errorOf(project().withNetwork(NetworkMode::Open), limits).empty());
  CHECK(llvm::StringRef(errorOf(project().withNetwork(NetworkMode::Client), limits))
            .contains("needs Landlock ABI 4"));
  limits.landlockAbi = 4;
  CHECK(errorOf(project().withNetwork(NetworkMode::Client), limits).empty());
}

TEST_CASE("without a pid namespace standard keeps the host's processes read-only, and strict is "
          "refused") {
  HostLimits limits = smallLimits();
  limits.pidNamespace = false;
  const ChildPlan plan = compiled(project(), limits);
  CHECK((plan.namespaces & kPidNamespace) == 0);
  CHECK(stepAt(plan, ViewStep::Kind::Proc, "/proc") == nullptr);
  const ViewStep* processes = stepAt(plan, ViewStep::Kind::Bind, "/proc");
  REQUIRE(processes != nullptr);
  CHECK(processes->readOnly);
  CHECK(stepAt(plan, ViewStep::Kind::Mask, "/proc/kcore") != nullptr);
  CHECK(llvm::StringRef(errorOf(project(SandboxLevel::Strict), limits)).contains("pid namespace"));
}

TEST_CASE("a policy with a problem is refused before anything is looked up") {
  CHECK(llvm::StringRef(errorOf(project().withLevelNamed("Strict"))).contains("is not a level"));
  CHECK(llvm::StringRef(errorOf(project()
                                    .deny("/home/ann/.ssh", Origin::Shipped)
                                    .readOnly("/home/ann/.ssh", Origin::User)))
            .contains("can't lift"));
  CHECK_FALSE(errorOf(project(SandboxLevel::Basic).deny("/home/ann/p/x", Origin::User)).empty());
}

TEST_CASE("B003 a grant of what is not there is an error that names path and rule; a shipped one "
          "is left out") {
  const std::string text = errorOf(project().readOnly("/no/such", Origin::User, "--ro /no/such"));
  CHECK(llvm::StringRef(text).contains("`/no/such`"));
  CHECK(llvm::StringRef(text).contains("--ro /no/such"));
  CHECK(errorOf(project().readOnly("/nix/store", Origin::Shipped)).empty());
  CHECK_FALSE(errorOf(project().readOnly("/nix/store", Origin::Profile)).empty());
}

TEST_CASE("B022 a working directory that is not in the view is an error that says why") {
  CHECK(
      llvm::StringRef(errorOf(project().withWorkingDirectory("/srv"))).contains("no rule grants"));
  CHECK(llvm::StringRef(errorOf(project()
                                    .deny("/home/ann/p/src", Origin::User)
                                    .withWorkingDirectory("/home/ann/p/src")))
            .contains("is denied"));
  CHECK(errorOf(project().withWorkingDirectory("/home/ann/p/src")).empty());
  CHECK_FALSE(errorOf(project().withWorkingDirectory("/home/ann/p/none")).empty());
  CHECK(
      errorOf(project().withWorkingDirectory("/home")).empty()); // leads to a grant, so it is there
  CHECK(errorOf(project().withWorkingDirectory("/tmp")).empty());
  CHECK_FALSE(errorOf(project().withWorkingDirectory("/tmp/none")).empty());
}

// ---- the environment
// ------------------------------------------------------------------------------

TEST_CASE("B028 the command sees what the policy passes and sets, each name once") {
  const ChildPlan plan = compiled(
      project().setEnv("A", "1").setEnv("A", "2").setEnv("PATH", "/usr/bin"), smallLimits(),
      {"HOME=/home/ann", "PATH=/x", "SECRET=k9", "HOME=/other", "broken", "=empty",
       "TMPDIR=/else"});
  CHECK(plan.command.environment ==
        std::vector<std::string>{"HOME=/home/ann", "TMPDIR=/tmp", "TMP=/tmp", "TEMP=/tmp",
                                 "PWD=/home/ann/p", "GIT_CONFIG_GLOBAL=/dev/null", "A=2",
                                 "PATH=/usr/bin"});
}

TEST_CASE(
    "B029 no variable that loads code passes, even where all pass; without a sandbox it does") {
  const std::vector<std::string> host = {"LD_PRELOAD=/e.so", "BASH_FUNC_x%%=() { :; }",
                                         "NODE_OPTIONS=-r ./x", "FOO=a=b\n\xff"};
  const ChildPlan plan = compiled(project(SandboxLevel::Basic).allowAllEnv(), smallLimits(), host);
  CHECK(valueIn(plan, "LD_PRELOAD") == "(none)");
  CHECK(valueIn(plan, "BASH_FUNC_x%%") == "(none)");
  CHECK(valueIn(plan, "FOO") == "a=b\n\xff");
  CHECK(valueIn(compiled(project(SandboxLevel::None).allowAllEnv(), smallLimits(), host),
                "LD_PRELOAD") == "/e.so");
}

TEST_CASE("the temp's names follow the temp") {
  CHECK(valueIn(compiled(project(SandboxLevel::Basic)), "TMPDIR") == kTemp);
  CHECK(valueIn(compiled(project()), "TEMP") == "/tmp");
  CHECK(valueIn(compiled(project().withTemp(TempMode::Inherit), smallLimits(), {"TMPDIR=/mine"}),
                "TMPDIR") == "/mine");
  CHECK(valueIn(compiled(project().setEnv("TMPDIR", "/home/ann/p")), "TMPDIR") == "/home/ann/p");
  CHECK(valueIn(compiled(project().deny("/tmp", Origin::User)), "TMPDIR") == "/var/tmp");
  CHECK(valueIn(compiled(project(SandboxLevel::None), smallLimits(), {"TMP=/mine"}), "TMP") ==
        "/mine");
}

TEST_CASE("B027 git's user configuration is switched off where it is there and not to be seen") {
  CHECK(valueIn(compiled(project()), "GIT_CONFIG_GLOBAL") == "/dev/null");
  CHECK(valueIn(compiled(project().readOnly("/home/ann/.gitconfig", Origin::User)),
                "GIT_CONFIG_GLOBAL") == "(none)");
  CHECK(valueIn(compiled(project().setEnv("GIT_CONFIG_GLOBAL", "/c")), "GIT_CONFIG_GLOBAL") ==
        "/c");
  CHECK(valueIn(compiled(project(), smallLimits(), {"HOME=/root"}), "GIT_CONFIG_GLOBAL") ==
        "(none)");
  CHECK(valueIn(compiled(project(SandboxLevel::Basic)), "GIT_CONFIG_GLOBAL") == "(none)");
}

TEST_CASE("B076 the jobserver of a make outside is gone, and with it the count that was its") {
  for (auto [before, after] : std::vector<std::pair<const char*, const char*>>{
           {" -j4 --jobserver-auth=3,4", ""},
           {"-j --jobserver-fds=8,9 --jobserver-auth=8,9", ""},
           {"ks -j2 --jobserver-auth=fifo:/tmp/x -- CC=a\\ -j9 X=--jobserver-auth=1",
            "ks -- CC=a\\ -j9 X=--jobserver-auth=1"},
           {"-j4", "-j4"},
           {"k --no-print-directory", "k --no-print-directory"},
           {"", ""},
           {"-l2 --jobs=3 --jobserver-auth=3,4 -w", "-l2 -w"}})
    CHECK(withoutJobserver(before) == after);
  const Policy policy = project().allowEnv("MAKEFLAGS").allowEnv("MFLAGS");
  const ChildPlan plan =
      compiled(policy, smallLimits(), {"MAKEFLAGS= -j4 --jobserver-auth=3,4", "MFLAGS=-j4"});
  CHECK(valueIn(plan, "MAKEFLAGS") == "(none)");
  CHECK(valueIn(plan, "MFLAGS") == "-j4");
}

TEST_CASE(
    "the caller's own name of the working directory stays in PWD, and its links are in the view") {
  FakeTree tree = smallHost();
  tree.link("/home/ann/now", "p").link("/work", "/home/ann/now");
  const ChildPlan plan = compiled(project(), smallLimits(), {"PWD=/work"}, tree);
  CHECK(valueIn(plan, "PWD") == "/work");
  CHECK(plan.command.workingDirectory == "/home/ann/p");
  CHECK(stepAt(plan, ViewStep::Kind::MakeLink, "/work") != nullptr);
  CHECK(stepAt(plan, ViewStep::Kind::MakeLink, "/home/ann/now") != nullptr);
  CHECK(valueIn(compiled(project(), smallLimits(), {"PWD=/etc"}, tree), "PWD") == "/home/ann/p");
}

TEST_CASE("a plan is the same each time, and its text has a line for each fact") {
  const Policy policy = project().deny("/home/ann/p/src", Origin::User);
  CHECK(compiled(policy) == compiled(policy));
  const std::string text = toText(compiled(policy));
  for (const char* line :
       {"level standard\n", "namespace user\n", "root of its own\n",
        "view bind /usr read-only object 1:", "view cover /home/ann/p/src rule 2\n",
        "landlock abi 7\n", "landlock rule /: ReadDirectory\n", "environment TMPDIR=/tmp\n",
        "directory /home/ann/p\n", "core files none\n"}) {
    CAPTURE(line);
    CHECK(llvm::StringRef(text).contains(line));
  }
  ChildPlan odd;
  odd.command.arguments = {"a\nview bind /etc"};
  CHECK_FALSE(llvm::StringRef(toText(odd)).contains("\nview"));
}

} // namespace
} // namespace gos::sandbox
