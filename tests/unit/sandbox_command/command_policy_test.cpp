#include "sandbox/command/command_policy.h"

#include "sandbox/command/host_denials.h"
#include "sandbox/policy/decide.h"
#include "tests/unit/sandbox/temp_tree.h"

#include "llvm/ADT/STLExtras.h"

#include <doctest/doctest.h>

namespace gos::sandbox {
namespace {

/// Facts of no host: one home, one credential, a system of two directories.
HostFacts factsIn(const test::TempTree& tree) {
  HostFacts facts;
  facts.workingDirectory = tree.at("work");
  facts.homes = {tree.at("home/me")};
  facts.everyHome = {tree.at("home/me"), tree.at("home/you")};
  facts.denials = {tree.at("home/me/.ssh"), tree.at("run/agent")};
  facts.basePaths = {"/usr", "/etc/hosts"};
  facts.environment = {"PATH=/usr/bin", "SSL_CERT_FILE=" + tree.at("ca.pem")};
  return facts;
}

struct Fixture {
  test::TempTree tree;
  HostFacts facts;
  Fixture() {
    for (const char* name : {"work", "home/me/.ssh", "home/me/src", "home/you/.ssh", "run"})
      tree.directory(name);
    facts = factsIn(tree);
  }
  Policy policy() {
    auto made = commandPolicy(facts, facts.workingDirectory);
    REQUIRE(bool(made));
    return *made;
  }
};

bool allowed(const Policy& policy, const std::string& path, Operation operation) {
  return decide(policy, path, operation).allowed;
}
std::string problemOf(const HostFacts& facts, const std::string& directory) {
  auto policy = commandPolicy(facts, directory);
  if (policy)
    return {};
  std::string text, remedy;
  llvm::handleAllErrors(policy.takeError(), [&](const PolicyError& error) {
    text = error.text().str();
    remedy = error.remedy().str();
  });
  CHECK(llvm::StringRef(remedy).contains("--workdir"));
  return text;
}

TEST_CASE("the shipped policy reads the system, writes the working directory and nothing else") {
  Fixture here;
  const Policy policy = here.policy();
  CHECK(!bool(policy.check()));
  CHECK(policy.level() == SandboxLevel::Standard);
  CHECK(policy.network() == NetworkMode::None);
  CHECK(policy.temp() == TempMode::Private);
  CHECK(policy.workingDirectory() == here.facts.workingDirectory);
  CHECK(allowed(policy, "/usr/bin/cc", Operation::Execute));
  CHECK(!allowed(policy, "/usr/bin/cc", Operation::Write));
  CHECK(allowed(policy, "/etc/hosts", Operation::Read));
  CHECK(!allowed(policy, "/etc/shadow", Operation::Read));
  CHECK(allowed(policy, here.tree.at("work/x"), Operation::Write));
  CHECK(!allowed(policy, here.tree.at("home/me/src"), Operation::Read));
  CHECK(!allowed(policy, here.tree.at("home/me/.ssh/id"), Operation::Read));
}

TEST_CASE("the environment is a list of names, and the home is among them") {
  Fixture here;
  const Policy policy = here.policy();
  for (const char* name : {"PATH", "HOME", "LC_ALL", "TERM", "CI"})
    CHECK_MESSAGE(decideEnv(policy, name).allowed, name);
  for (const char* name :
       {"SSH_AUTH_SOCK", "AWS_SECRET_ACCESS_KEY", "https_proxy", "XDG_RUNTIME_DIR"})
    CHECK_MESSAGE(!decideEnv(policy, name).allowed, name);
}

TEST_CASE("a directory that must not be assumed is an error that names the flag (B022)") {
  Fixture here;
  CHECK(problemOf(here.facts, "/").find("root of the file system") != std::string::npos);
  CHECK(problemOf(here.facts, here.tree.at("home/me")).find("is a home directory") !=
        std::string::npos);
  CHECK(problemOf(here.facts, here.tree.at("home/you")).find("is a home directory") !=
        std::string::npos);
  CHECK(problemOf(here.facts, here.tree.at("home")).find("holds home directories") !=
        std::string::npos);
  CHECK(problemOf(here.facts, "").find("was removed") != std::string::npos);
  CHECK(problemOf(here.facts, "/var/tmp").find("open to everyone") != std::string::npos);
  const std::string denied = problemOf(here.facts, here.tree.at("home/me/.ssh/keys"));
  CHECK(denied.find("denied by the shipped rule for `" + here.tree.at("home/me/.ssh") + "`") !=
        std::string::npos);
  CHECK(problemOf(here.facts, here.tree.at("home/me/src")).empty());
}

TEST_CASE("guards that exist are read-only beneath the working directory") {
  Fixture here;
  here.tree.file("work/.git/config");
  here.tree.file("work/.git/hooks/pre-commit");
  here.tree.file("work/.envrc");
  here.tree.file("work/.git/modules/sub/config");
  const Policy policy = here.policy();
  for (const char* name : {".git/config", ".git/hooks/x", ".envrc", ".git/modules/sub/config"}) {
    CHECK_MESSAGE(!allowed(policy, here.tree.at(std::string("work/") + name), Operation::Write),
                  name);
    CHECK_MESSAGE(allowed(policy, here.tree.at(std::string("work/") + name), Operation::Read),
                  name);
  }
  CHECK(allowed(policy, here.tree.at("work/.git/index"), Operation::Write));
  CHECK(llvm::is_contained(guardsOf(here.facts.workingDirectory).missing,
                           here.tree.at("work/.vscode")));
}

TEST_CASE("a `.git` that is a file is guarded, and so is what it leads to (T104)") {
  Fixture here;
  here.tree.directory("work/real.git/hooks");
  here.tree.directory("common.git/hooks");
  here.tree.file("work/real.git/config", "");
  here.tree.file("work/.git", "gitdir: real.git\n");
  const Guards guards = guardsOf(here.facts.workingDirectory);
  for (const char* name : {"work/.git", "work/real.git/hooks", "work/real.git/config"})
    CHECK_MESSAGE(llvm::is_contained(guards.existing, here.tree.at(name)), std::string(name));
  // What lies outside is not granted by being named.
  here.tree.file("work/.git", "gitdir: ../common.git\n");
  for (const std::string& path : guardsOf(here.facts.workingDirectory).existing)
    CHECK_MESSAGE(isAtOrBeneath(path, here.facts.workingDirectory), path);
}

TEST_CASE("a guard behind a link is guarded under both names (T104)") {
  Fixture here;
  here.tree.file("work/real/hooks/post-commit");
  here.tree.file("work/real/config");
  here.tree.link("work/.git", "real");
  const Guards guards = guardsOf(here.facts.workingDirectory);
  CHECK(llvm::is_contained(guards.existing, here.tree.at("work/real/hooks")));
  CHECK(llvm::is_contained(guards.existing, here.tree.at("work/.git/hooks")));
  CHECK(!allowed(here.policy(), here.tree.at("work/real/hooks/x"), Operation::Write));
}

TEST_CASE("a base path that a denial covers is left out instead of contradicting it") {
  Fixture here;
  here.facts.denials.push_back("/usr");
  CHECK(!bool(here.policy().check()));
  CHECK(!allowed(here.policy(), "/usr/bin/cc", Operation::Read));
}

// ---- completing
// -------------------------------------------------------------------------------------

TEST_CASE("name service, proxies and certificates come with a network alone") {
  Fixture here;
  here.tree.file("ca.pem");
  const Policy without = completeCommandPolicy(here.policy(), here.facts);
  CHECK(!decideEnv(without, "https_proxy").allowed);
  CHECK(!allowed(without, here.tree.at("ca.pem"), Operation::Read));
  const Policy with =
      completeCommandPolicy(here.policy().withNetwork(NetworkMode::Client), here.facts);
  CHECK(decideEnv(with, "https_proxy").allowed);
  CHECK(allowed(with, here.tree.at("ca.pem"), Operation::Read));
  CHECK(!allowed(with, here.tree.at("ca.pem"), Operation::Write));
  CHECK(completeCommandPolicy(with, here.facts).rules().size() == with.rules().size());
}

TEST_CASE("a certificate variable never makes a wide grant or lifts a denial") {
  Fixture here;
  here.tree.file("home/me/.ssh/id");
  for (const std::string& value :
       {std::string("/"), here.tree.at("home/me"), here.tree.at("home"),
        here.tree.at("home/me/.ssh/id"), std::string("work"), here.tree.at("missing")}) {
    CAPTURE(value);
    here.facts.environment = {"SSL_CERT_DIR=" + value};
    const Policy policy =
        completeCommandPolicy(here.policy().withNetwork(NetworkMode::Client), here.facts);
    CHECK(!bool(policy.check()));
    CHECK(!allowed(policy, here.tree.at("home/me/src"), Operation::Read));
    CHECK(!allowed(policy, here.tree.at("home/me/.ssh/id"), Operation::Read));
  }
}

TEST_CASE("a grant that reaches somebody else's home closes the credentials there") {
  Fixture here;
  const Policy before = here.policy().readOnly(here.tree.at("home"), Origin::User);
  CHECK(allowed(before, here.tree.at("home/you/.ssh/id"), Operation::Read));
  const Policy after = completeCommandPolicy(before, here.facts);
  CHECK(!allowed(after, here.tree.at("home/you/.ssh/id"), Operation::Read));
  CHECK(allowed(after, here.tree.at("home/you/notes"), Operation::Read));
  // And a grant of one of them contradicts the denial.
  const Policy key = completeCommandPolicy(
      here.policy().readOnly(here.tree.at("home/you/.ssh/id"), Origin::User), here.facts);
  llvm::Error error = key.check();
  CHECK(bool(error));
  llvm::consumeError(std::move(error));
}

TEST_CASE("no other home is looked at where no grant reaches one") {
  Fixture here;
  const Policy policy = here.policy();
  // What a grant of `/usr` needs is added, and nothing of anybody's home.
  const Policy complete = completeCommandPolicy(policy, here.facts);
  for (const PathRule& rule : complete.rules())
    if (!llvm::is_contained(policy.rules(), rule))
      CHECK_MESSAGE(isAtOrBeneath(rule.path, "/etc"), rule.path);
}

// ---- what is asked of the host
// ---------------------------------------------------------------------

TEST_CASE("credentials are denied under both names where one is a link") {
  test::TempTree tree;
  tree.directory("home");
  tree.file("dotfiles/ssh/id");
  tree.link("home/.ssh", tree.at("dotfiles/ssh"));
  std::vector<std::string> denials;
  addCredentials(tree.at("home"), denials);
  CHECK(llvm::is_contained(denials, tree.at("home/.ssh")));
  CHECK(llvm::is_contained(denials, tree.at("dotfiles/ssh")));
  CHECK(llvm::is_contained(denials, tree.at("home/.aws")));
  CHECK(llvm::is_contained(denials, tree.at("home/.config/bwr")));
}

TEST_CASE("of the root as a home nothing is denied") {
  std::vector<std::string> denials;
  addCredentials("/", denials);
  CHECK(denials.empty());
}

TEST_CASE("the addresses of agents are read in each of their forms") {
  const auto has = [](llvm::StringRef value, llvm::StringRef path) {
    return llvm::is_contained(socketPathsOf(value), path);
  };
  CHECK(has("/run/a.sock", "/run/a.sock"));
  CHECK(has("unix:path=/run/user/1/bus,guid=ab", "/run/user/1/bus"));
  CHECK(has("unix:abstract=/x;unix:path=/run/b", "/run/b"));
  CHECK(!has("unix:abstract=/x", "/x"));
  CHECK(has("unix:///var/run/d.sock", "/var/run/d.sock"));
  CHECK(has("/tmp/tmux-0/default,12,0", "/tmp/tmux-0/default"));
  CHECK(has("/run/gpg/S.agent:12:1", "/run/gpg/S.agent"));
  CHECK(socketPathsOf("tcp://127.0.0.1:2375").empty());
  CHECK(socketPathsOf("wayland-0").empty());
}

TEST_CASE("the host's own facts hold a shell, this directory and the usual denials") {
  const HostFacts facts = hostFacts();
  CHECK(llvm::is_contained(facts.basePaths, "/usr"));
  CHECK(isCanonicalPath(facts.workingDirectory));
  for (const char* path : {"/run/docker.sock", "/run/user", "/run/dbus"})
    CHECK(llvm::is_contained(facts.denials, path));
  for (const std::string& path : facts.denials)
    CHECK_MESSAGE(isCanonicalPath(path), path);
  CHECK(llvm::is_sorted(facts.denials));
}

// ---- paths that a user wrote
// ------------------------------------------------------------------------

std::string canonical(const std::string& directory, const std::string& written, bool& missing) {
  auto path = canonicalPathIn(directory, written, missing);
  if (!path) {
    llvm::consumeError(path.takeError());
    return "error";
  }
  return *path;
}

TEST_CASE("a path becomes absolute, with its links followed as far as it exists") {
  test::TempTree tree;
  tree.file("a/b/f");
  tree.link("l", "a/b");
  tree.link("loop", "loop");
  tree.link("dangling", "nowhere");
  bool missing = true;
  CHECK(canonical(tree.root(), "l/f", missing) == tree.at("a/b/f"));
  CHECK(!missing);
  CHECK(canonical(tree.root(), "l/../b", missing) == tree.at("a/b"));
  CHECK(canonical(tree.root(), "./a//b/.", missing) == tree.at("a/b"));
  CHECK(canonical("/", "/", missing) == "/");
  CHECK(canonical(tree.root(), "l/new/x", missing) == tree.at("a/b/new/x"));
  CHECK(missing);
  CHECK(canonical(tree.root(), "new/./x/", missing) == tree.at("new/x"));
  CHECK(canonical(tree.root(), "dangling", missing) == tree.at("dangling"));
  CHECK(missing);
  CHECK(canonical("/", "/no-such-name-here", missing) == "/no-such-name-here");
  CHECK(canonical(tree.root(), "new/../x", missing) == "error");
  CHECK(canonical(tree.root(), "loop", missing) == "error");
  CHECK(canonical(tree.root(), "loop/x", missing) == "error");
  CHECK(canonical(tree.root(), "a/b/f/x", missing) == "error");
  CHECK(canonical(tree.root(), "", missing) == "error");
  CHECK(canonical(tree.root(), std::string(5000, 'x'), missing) == "error");
}

TEST_CASE("a path of odd bytes stays what it is (B017)") {
  test::TempTree tree;
  for (const std::string name :
       {" ", "\t", "a\nb", ",", ":", "\"", "\\", "\xf0\x9f\x98\x80", "\xff\xfe", "-x"}) {
    tree.file(name + "/f");
    bool missing = true;
    CHECK(canonical(tree.root(), name + "/f", missing) == tree.at(name + "/f"));
    CHECK(!missing);
  }
}

TEST_CASE("the value of a variable is found by its whole name") {
  const std::vector<std::string> environment = {"AB=1", "A=2", "A=3", "C="};
  CHECK(std::string(environmentValue(environment, "A")) == "2");
  CHECK(std::string(environmentValue(environment, "C")) == "");
  CHECK(environmentValue(environment, "B") == nullptr);
  CHECK(environmentValue(environment, "") == nullptr);
}

} // namespace
} // namespace gos::sandbox
