#include "sandbox/policy/decide.h"
#include "sandbox/policy/presets.h"

#include <doctest/doctest.h>

using namespace gos;

namespace {
bool allows(const Policy& policy, llvm::StringRef path, Operation operation) {
  return decide(policy, path, operation).allowed;
}
std::string problemOf(const Policy& policy) {
  return llvm::toString(policy.check());
}
} // namespace

TEST_CASE("a default policy grants nothing") {
  const Policy policy;
  for (Operation operation :
       {Operation::Query, Operation::Read, Operation::List, Operation::Execute, Operation::Write})
    CHECK_FALSE(allows(policy, "/", operation));
  CHECK_FALSE(decideEnv(policy, "PATH").allowed);
  CHECK_FALSE(decideNetwork(policy, NetworkAct::Connect).allowed);
  for (size_t index = 0; index != capabilityCount(); ++index)
    CHECK(decideClass(policy, capabilityAt(index)) == ClassVerdict::Deny);
}

TEST_CASE("every class has a spelling, a report name and a lowest level") {
  CHECK(capabilityCount() == 13);
  for (size_t index = 0; index != capabilityCount(); ++index) {
    const Capability capability = capabilityAt(index);
    CHECK(capabilityFromSpelling(spelling(capability)) == capability);
    CHECK_FALSE(reportName(capability).empty());
  }
  CHECK(reportName(Capability::EnvWrite) == "environment mutation");
  CHECK_FALSE(capabilityFromSpelling("read").has_value());
}

TEST_CASE("the levels of a fold allow exactly the classes of the table") {
  CHECK(capabilitiesAt(ComptimeIo::None) == CapabilitySet().with(Capability::Pure));
  CHECK(capabilitiesAt(ComptimeIo::Confined) == CapabilitySet()
                                                    .with(Capability::Pure)
                                                    .with(Capability::Read)
                                                    .with(Capability::EnvRead)
                                                    .with(Capability::Output));
  for (size_t index = 0; index != capabilityCount(); ++index)
    CHECK(capabilitiesAt(ComptimeIo::Full).contains(capabilityAt(index)));
}

TEST_CASE("T065 only the exact words of a closed set are words of it") {
  CHECK(comptimeIoFromSpelling("none") == ComptimeIo::None);
  CHECK(sandboxLevelFromSpelling("strict") == SandboxLevel::Strict);
  for (const char* word : {"nonee", "NONE", " none", "none ", "", "true", "0", "full,none"}) {
    CHECK_FALSE(comptimeIoFromSpelling(word).has_value());
    CHECK_FALSE(sandboxLevelFromSpelling(word).has_value());
    CHECK_FALSE(networkModeFromSpelling(word).has_value());
    CHECK_FALSE(tempModeFromSpelling(word).has_value());
  }
  CHECK(stricter(ComptimeIo::Full, ComptimeIo::None) == ComptimeIo::None);
  CHECK(stricter(SandboxLevel::Basic, SandboxLevel::Strict) == SandboxLevel::Strict);
}

TEST_CASE("the longest matching rule decides") {
  const Policy policy = Policy()
                            .readOnly("/w", Origin::User)
                            .readWrite("/w/out", Origin::User)
                            .readOnly("/w/out/keep", Origin::Shipped);
  CHECK(allows(policy, "/w/a", Operation::Read));
  CHECK_FALSE(allows(policy, "/w/a", Operation::Write));
  CHECK(allows(policy, "/w/out/a", Operation::Write));
  CHECK_FALSE(allows(policy, "/w/out/keep/a", Operation::Write));
  CHECK(allows(policy, "/w/out/keep/a", Operation::Read));
  const Verdict verdict = decide(policy, "/w/out/keep/a", Operation::Write);
  CHECK(verdict.reason == Reason::ReadOnlyByRule);
  CHECK(policy.rules()[*verdict.rule].path == "/w/out/keep");
}

TEST_CASE("a rule matches by components, not by prefix") {
  const Policy policy = Policy().readOnly("/w/proj", Origin::User);
  CHECK(allows(policy, "/w/proj", Operation::Read));
  CHECK_FALSE(allows(policy, "/w/projects", Operation::Read));
  CHECK_FALSE(allows(policy, "/w", Operation::Read));
}

TEST_CASE("no grant lifts a denial, however specific it is") {
  const Policy policy =
      Policy()
          .readWrite("/home/u", Origin::User)
          .deny("/home/u/.ssh", Origin::Shipped)
          .readOnly("/home/u/.ssh/known_hosts", Origin::User, "--ro ~/.ssh/known_hosts");
  CHECK_FALSE(allows(policy, "/home/u/.ssh/known_hosts", Operation::Read));
  CHECK(allows(policy, "/home/u/x", Operation::Write));
  const std::string problem = problemOf(policy);
  CHECK(problem.find("/home/u/.ssh/known_hosts") != std::string::npos);
  CHECK(problem.find("--ro ~/.ssh/known_hosts") != std::string::npos);
  CHECK(problem.find("shipped deny rule for `/home/u/.ssh`") != std::string::npos);
}

TEST_CASE("a grant that contains a denial is legal and keeps the hole") {
  const Policy policy =
      Policy().readOnly("/home/u", Origin::User).deny("/home/u/.aws", Origin::Shipped);
  CHECK(problemOf(policy).empty());
  CHECK_FALSE(allows(policy, "/home/u/.aws/credentials", Operation::Query));
}

TEST_CASE("at one path a stronger origin wins, and of one origin the stricter access") {
  const Policy user = Policy().readOnly("/w", Origin::Profile).readWrite("/w", Origin::User);
  CHECK(allows(user, "/w/a", Operation::Write));
  const Policy narrowed = Policy().readOnly("/w", Origin::User).readWrite("/w", Origin::Profile);
  CHECK_FALSE(allows(narrowed, "/w/a", Operation::Write));
  const Policy denied = Policy().readWrite("/w", Origin::Profile).deny("/w", Origin::User);
  CHECK_FALSE(allows(denied, "/w/a", Operation::Read));
  CHECK(problemOf(denied).empty());
  const Policy same = Policy().readWrite("/w", Origin::Profile).readOnly("/w", Origin::Profile);
  CHECK_FALSE(allows(same, "/w/a", Operation::Write));
}

TEST_CASE("two rules of the user that contradict each other are a policy error") {
  CHECK_FALSE(
      problemOf(Policy().readOnly("/w", Origin::User).readWrite("/w", Origin::User)).empty());
  CHECK_FALSE(problemOf(Policy().deny("/w", Origin::User).readWrite("/w", Origin::User)).empty());
  CHECK(problemOf(Policy().readOnly("/w", Origin::User).readOnly("/w", Origin::User)).empty());
}

TEST_CASE("a narrowing user rule at a level that enforces none is a policy error") {
  CHECK_FALSE(problemOf(Policy().withLevel(SandboxLevel::Basic).deny("/w", Origin::User)).empty());
  CHECK_FALSE(problemOf(Policy()
                            .withLevel(SandboxLevel::None)
                            .readWrite("/w", Origin::User)
                            .readOnly("/w/a", Origin::User))
                  .empty());
  CHECK(problemOf(Policy().withLevel(SandboxLevel::Basic).readWrite("/w", Origin::User)).empty());
  CHECK(problemOf(Policy().withLevel(SandboxLevel::Basic).deny("/w", Origin::Shipped)).empty());
}

TEST_CASE("an unknown word makes a policy that denies all and says why") {
  const Policy good = Policy().readOnly("/w", Origin::User);
  for (const Policy& policy :
       {good.withLevelNamed("strickt"), good.withNetworkNamed("all"), good.withTempNamed("shared"),
        good.allowEnv("LD_PRELOAD"), good.allowEnv("*"), good.setEnv("A=B", "c"),
        good.readOnly("relative", Origin::User)}) {
    CHECK_FALSE(allows(policy, "/w/a", Operation::Read));
    CHECK_FALSE(problemOf(policy).empty());
    CHECK(policy.problems().size() == 1);
  }
  CHECK(problemOf(good.withLevelNamed("strickt")).find("`strict`") != std::string::npos);
}

TEST_CASE("a question with a path that is not canonical is denied") {
  const Policy policy = Policy().readOnly("/", Origin::User);
  CHECK(allows(policy, "/a/b", Operation::Read));
  for (const char* path : {"", "a", "/a/", "//a", "/a//b", "/a/./b", "/a/../b", "/..", "/."})
    CHECK(decide(policy, path, Operation::Read).reason == Reason::PathNotCanonical);
  CHECK_FALSE(allows(policy, llvm::StringRef("/a\0b", 4), Operation::Read));
}

TEST_CASE("the network modes allow what their names say") {
  const Policy client = Policy().withNetwork(NetworkMode::Client);
  CHECK(decideNetwork(client, NetworkAct::Connect).allowed);
  CHECK_FALSE(decideNetwork(client, NetworkAct::Listen).allowed);
  CHECK(decideNetwork(Policy().withNetwork(NetworkMode::Open), NetworkAct::Listen).allowed);
}

TEST_CASE("T029 a permitted variable is one name, exactly") {
  const Policy policy = comptimePolicy(ComptimeIo::Confined, "/w", {}, {"PATH"});
  CHECK(decideEnv(policy, "PATH").allowed);
  CHECK_FALSE(decideEnv(policy, "Path").allowed);
  CHECK_FALSE(decideEnv(policy, "PATH=").allowed);
  CHECK_FALSE(decideEnv(policy, llvm::StringRef("PATH\0", 5)).allowed);
  for (const char* name : {"", "*", "A=B", "LD_PRELOAD", "BASH_ENV"})
    CHECK_FALSE(environmentNameProblem(name).empty());
  CHECK(environmentNameProblem("HOME").empty());
}

TEST_CASE("the policy of a fold bounds reads by the root and the shipped denials") {
  const std::vector<std::string> denials = shippedDenials({"/home/u"});
  const Policy policy = comptimePolicy(ComptimeIo::Confined, "/home/u", denials);
  CHECK(allows(policy, "/home/u/in.txt", Operation::Read));
  CHECK_FALSE(allows(policy, "/home/u/in.txt", Operation::Write));
  CHECK_FALSE(allows(policy, "/home/u/.ssh/id_rsa", Operation::Read));
  CHECK_FALSE(allows(policy, "/home/u/.cargo/credentials.toml", Operation::Query));
  CHECK(allows(policy, "/home/u/.cargo/config.toml", Operation::Read));
  CHECK_FALSE(allows(policy, "/etc/hostname", Operation::Query));
  CHECK(decideClass(policy, Capability::Read) == ClassVerdict::CheckPath);
  CHECK(decideClass(policy, Capability::EnvRead) == ClassVerdict::CheckName);
  CHECK(decideClass(policy, Capability::Output) == ClassVerdict::Capture);
  CHECK(decideClass(policy, Capability::Write) == ClassVerdict::Deny);

  const Policy none = comptimePolicy(ComptimeIo::None, "/home/u", denials);
  CHECK_FALSE(allows(none, "/home/u/in.txt", Operation::Read));
  CHECK(decideClass(none, Capability::Pure) == ClassVerdict::Allow);
  CHECK(decideClass(none, Capability::Output) == ClassVerdict::Deny);

  const Policy full = comptimePolicy(ComptimeIo::Full, "/home/u", denials);
  CHECK(allows(full, "/etc/hostname", Operation::Write));
  CHECK(decideEnv(full, "ANY").allowed);
  CHECK(decideClass(full, Capability::Read) == ClassVerdict::Allow);
  CHECK(decideClass(full, Capability::Output) == ClassVerdict::Capture);
}

TEST_CASE("without a root a confined fold reads nothing") {
  const Policy policy = comptimePolicy(ComptimeIo::Confined, "");
  CHECK_FALSE(allows(policy, "/", Operation::Query));
  CHECK_FALSE(allows(policy, "/w", Operation::Read));
}

TEST_CASE("what is too wide for a root is recognised") {
  const std::vector<std::string> homes = {"/home/u", "/"};
  CHECK(tooWideForRoot("/", homes, false) == "the root of the file system");
  CHECK(tooWideForRoot("/home/u", homes, false) == "a home directory");
  CHECK(tooWideForRoot("/home", homes, false) == "a directory above a home directory");
  CHECK(tooWideForRoot("/tmp", homes, false) == "a shared temporary directory");
  CHECK(tooWideForRoot("/scratch", homes, true) == "a shared temporary directory");
  CHECK(tooWideForRoot("/home/u/x", homes, false).empty());
  CHECK(tooWideForRoot("/tmp/x", homes, false).empty());
  CHECK(tooWideForRoot("/homes", homes, false).empty());
}

TEST_CASE("a policy prints every rule with its origin") {
  const std::string text = toText(Policy()
                                      .readWrite("/w", Origin::User, "--rw .")
                                      .deny("/w/.git/hooks", Origin::Shipped)
                                      .withNetwork(NetworkMode::Client)
                                      .allowEnv("HOME"));
  CHECK(text == "level strict\nread-write /w (user: --rw .)\ndeny /w/.git/hooks (shipped)\n"
                "network client\nenv HOME\ntemp private\n");
}
