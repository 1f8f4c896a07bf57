#include "sandbox/command/explain.h"

#include "sandbox/command/explain_facts.h"
#include "tests/unit/sandbox_linux/fake_tree.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

#include <doctest/doctest.h>

namespace gos::sandbox {
namespace {

Policy project(SandboxLevel level = SandboxLevel::Standard) {
  return Policy()
      .withLevel(level)
      .readOnly("/usr", Origin::Shipped)
      .readOnly("/etc/hosts", Origin::Shipped)
      .readWrite("/home/ann/p", Origin::Shipped)
      .readOnly("/home/ann/p/.git/hooks", Origin::Shipped)
      .allowEnv("HOME")
      .allowEnv("PATH")
      .withWorkingDirectory("/home/ann/p");
}

ChildPlan compiled(const Policy& policy, const FakeTree& tree = smallHost(),
                   HostLimits limits = smallLimits()) {
  llvm::Expected<ChildPlan> plan = compilePlan(
      policy, tree, limits, {"HOME=/home/ann", "PATH=/usr/bin", "KEY=k9"}, "/var/lib/t/run");
  if (!plan) {
    FAIL(llvm::toString(plan.takeError()));
    return {};
  }
  // What a filter is made of belongs to another test.
  if (!plan->filter.empty())
    plan->filter.resize(1);
  return std::move(*plan);
}

std::string explained(const Policy& policy, const FakeTree& tree = smallHost(),
                      ExplainOptions options = {false, 80, "/home/ann"}) {
  return explainText(policy, compiled(policy, tree), options);
}

TEST_CASE("the explanation shows the view with its holes, and the rest in a few lines") {
  const std::string text = explained(project()
                                         .deny("/home/ann/p/src", Origin::User, "--deny src")
                                         .deny("/home/ann/p/.env", Origin::User, "--deny .env")
                                         .setEnv("A", "b c"));
  CHECK(text == R"(sandbox
  level             standard
  directory         ~/p
  network           none: nothing outside is reached; loopback is its own
  temp              private, at /tmp and /var/tmp; removed at the end

files
  bin -> usr/bin
  dev/
    fd ptmx stderr stdin
    stdout                  links
    full null random tty
    urandom zero            device
    pts/                    its own terminals
    shm/                    its own shared memory
  etc/
    group passwd            your lines and root's
    hosts                   read-only
  home/ann/p/               read-write
    .env                    closed: can't be made  --deny .env
    .git/                   read-write, stays in place
      hooks/                read-only
    src/                    closed  --deny src
  lib -> usr/lib
  proc/                     its own processes
    kcore keys              says nothing
  tmp/ var/tmp/             private temp
  usr/                      read-only

environment
  passed  HOME PATH
  set     TMPDIR=/tmp TMP=/tmp TEMP=/tmp PWD=~/p GIT_CONFIG_GLOBAL=/dev/null
          A=b c
  nothing else

mechanisms
  user namespace    no right over anything outside
  mount view        only what is granted is there
  network namespace a loopback of its own
  ipc namespace     shared memory and queues of its own
  pid namespace     process ids of its own; the end of the run ends all of them
  Landlock          ABI 7, 16 rules, abstract sockets and signals stay inside
  seccomp filter    1 instructions
  capabilities      every one dropped
  no new privileges set-id programs run as you

limits
  * a file that has a second name beneath a read-write grant is written by that
    name
  * if something outside replaces an entry that is closed here, the run is ended
  * into and out of a directory that holds a guarded entry files are copied, not
    renamed (EXDEV)
  * files of other owners can look like nobody's
  * sockets that have a name beneath a grant are reached: keeping them out needs
    Linux 7.1
  * that no other process is visible is a promise of level `strict`, though it
    is so here
  * nested user namespaces, 32-bit programs, `perf`, `sudo` and the desktop's
    sockets do not work inside
  * time, memory, disk and processor use are not bounded
)");
}

TEST_CASE("at levels that bound no files the explanation says so") {
  const std::string text = explained(project(SandboxLevel::Basic));
  CHECK(llvm::StringRef(text).contains("not bounded: the tree of the host, as you see it"));
  CHECK(llvm::StringRef(text).contains("grants of paths change nothing at level `basic`"));
  CHECK(llvm::StringRef(text).contains("private, named by TMPDIR, TMP and TEMP"));
}

TEST_CASE(
    "no line is wider than the terminal, as far as names allow, and colour is only where asked") {
  const Policy policy = project().deny("/home/ann/p/src/main.c", Origin::User, "--deny src/main.c");
  for (unsigned width : {50u, 60u, 80u, 120u}) {
    const std::string text = explained(policy, smallHost(), {false, width, ""});
    CHECK_FALSE(llvm::StringRef(text).contains('\x1b'));
    for (llvm::StringRef line : llvm::split(llvm::StringRef(text), '\n')) {
      CAPTURE(line.str());
      CHECK(line.size() <= width);
      CHECK(line.rtrim() == line);
    }
  }
  const std::string text = explained(policy, smallHost(), {true, 80, ""});
  CHECK(llvm::StringRef(text).contains("\x1b[31mclosed\x1b[0m"));
  CHECK(llvm::StringRef(text).contains("\x1b[33mread-write\x1b[0m"));
}

TEST_CASE("T134 no byte of a name acts on a terminal or forges a line") {
  FakeTree tree = smallHost();
  const std::string odd = "/w/a\nlimits\x1b[2J\xff b";
  tree.directory(odd);
  const Policy policy =
      project().readOnly(odd, Origin::User, "--ro " + odd).setEnv("A", "x\ny\x1b");
  const std::string text = explained(policy, tree);
  CHECK_FALSE(llvm::StringRef(text).contains('\x1b'));
  CHECK(llvm::StringRef(text).contains("`a\\nlimits\\x1b[2J\\xff b`"));
  CHECK(llvm::StringRef(text).count("\nlimits") == 1);
}

TEST_CASE("a path of thousands of components is cut, and the JSON has it whole") {
  std::string path = "/w";
  Policy policy = project();
  FakeTree tree = smallHost();
  for (int left = 0; left != 300; ++left) {
    path += "/a";
    tree.directory(path);
    policy =
        policy.withRule({path, left % 2 ? Access::ReadOnly : Access::ReadWrite, Origin::User, {}});
  }
  CHECK(llvm::StringRef(explained(policy, tree)).contains("the JSON has all of it"));
  CHECK(llvm::StringRef(explainJson(policy, compiled(policy, tree))).contains(path));
}

// ---- JSON
// -----------------------------------------------------------------------------------------

llvm::json::Object parsed(const std::string& text) {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value) {
    FAIL(llvm::toString(value.takeError()));
    return {};
  }
  return std::move(*value->getAsObject());
}

const llvm::json::Object* entryAt(const llvm::json::Object& root, llvm::StringRef path) {
  for (const llvm::json::Value& entry : *root.getArray("view"))
    if (entry.getAsObject()->getString("path") == path)
      return entry.getAsObject();
  return nullptr;
}

TEST_CASE("the JSON has every step of the view, with its rule") {
  const Policy policy =
      project().deny("/home/ann/p/.env", Origin::User, "--deny .env").setEnv("A", "b");
  const ChildPlan plan = compiled(policy);
  const std::string text = explainJson(policy, plan);
  CHECK_FALSE(llvm::StringRef(text).contains('\n'));
  const llvm::json::Object root = parsed(text);
  CHECK(root.getInteger("schema") == 1);
  CHECK(root.getString("level") == "standard");
  CHECK(root.getString("network") == "none");
  CHECK(root.getString("directory") == "/home/ann/p");
  CHECK(root.getArray("view")->size() == plan.view.size());
  const llvm::json::Object* hole = entryAt(root, "/home/ann/p/.env");
  REQUIRE(hole != nullptr);
  CHECK(hole->getString("kind") == "closed");
  CHECK(hole->getString("access") == "deny");
  CHECK(hole->getBoolean("stands_in") == true);
  CHECK(hole->getObject("rule")->getString("written_as") == "--deny .env");
  CHECK(hole->getObject("rule")->getString("origin") == "user");
  CHECK(entryAt(root, "/home/ann/p")->getString("access") == "read-write");
  CHECK(entryAt(root, "/home/ann/p/.git")->getString("kind") == "pinned");
  CHECK(entryAt(root, "/bin")->getString("target") == "usr/bin");
  CHECK(entryAt(root, "/tmp")->getString("source") == "/var/lib/t/run");
  CHECK_FALSE(root.getArray("mechanisms")->empty());
  CHECK_FALSE(root.getArray("limits")->empty());
}

TEST_CASE("the JSON names variables, and gives values only of those that are set") {
  const Policy policy = project().setEnv("A", "b");
  const std::string text = explainJson(policy, compiled(policy));
  CHECK_FALSE(llvm::StringRef(text).contains("k9"));
  const llvm::json::Object root = parsed(text);
  unsigned passed = 0, set = 0;
  for (const llvm::json::Value& entry : *root.getArray("environment")) {
    const llvm::json::Object& variable = *entry.getAsObject();
    const bool isSet = variable.getString("from") == "set";
    CHECK(variable.getString("value").has_value() == isSet);
    if (variable.getString("name") == "HOME")
      CHECK_FALSE(isSet);
    if (variable.getString("name") == "A")
      CHECK(variable.getString("value") == "b");
    ++(isSet ? set : passed);
  }
  CHECK(passed == 2);
  CHECK(set == 6);
}

TEST_CASE("B017 a path that is not UTF-8 is in the JSON byte for byte") {
  FakeTree tree = smallHost();
  const std::string odd = "/w/a\xff\n\"", text = "/w/b \\ \xf0\x9f\x98\x80";
  tree.directory(odd).directory(text);
  const Policy policy = project().readOnly(odd, Origin::User).readOnly(text, Origin::User);
  const llvm::json::Object root = parsed(explainJson(policy, compiled(policy, tree)));
  bool found = false;
  for (const llvm::json::Value& entry : *root.getArray("view"))
    if (auto bytes = entry.getAsObject()->getString("path_bytes")) {
      CHECK(llvm::fromHex(*bytes) == odd);
      found = true;
    }
  CHECK(found);
  REQUIRE(entryAt(root, text) != nullptr);
  CHECK_FALSE(entryAt(root, text)->getString("path_bytes").has_value());
}

// ---- limits
// ---------------------------------------------------------------------------------------

bool says(const std::vector<std::string>& limits, llvm::StringRef words) {
  return llvm::any_of(
      limits, [&](const std::string& limit) { return llvm::StringRef(limit).contains(words); });
}

TEST_CASE("limits name what this plan does not keep, and nothing that it keeps") {
  const auto limits = [](const Policy& policy, int abi = 9, bool pids = true) {
    HostLimits host = smallLimits();
    host.landlockAbi = abi;
    host.pidNamespace = pids;
    return limitsOf(policy, compiled(policy, smallHost(), host));
  };
  CHECK(says(limits(project(SandboxLevel::None)), "is no sandbox"));
  CHECK(says(limits(project(SandboxLevel::Basic)), "outlive the run"));
  CHECK_FALSE(says(limits(project()), "outlive the run"));
  CHECK(says(limits(project(), 7, false), "outlive the run"));
  CHECK(says(limits(project(), 5, false), "needs Linux 6.12"));
  CHECK(says(limits(project(), 7), "Linux 7.1"));
  CHECK_FALSE(says(limits(project(), 9), "Linux 7.1"));
  CHECK(says(limits(project(), 4), "6.10"));
  CHECK(says(limits(project().withNetwork(NetworkMode::Client)), "nothing is claimed for UDP"));
  CHECK(says(limits(project().withNetwork(NetworkMode::Open)), "its loopback included"));
  CHECK_FALSE(says(limits(project()), "loopback"));
  CHECK(says(limits(project()), "EXDEV"));
  CHECK_FALSE(says(limits(Policy().withLevel(SandboxLevel::Standard)), "EXDEV"));
  CHECK(says(limits(project().deny("/home/ann/p/src", Origin::User)), "the run is ended"));
  CHECK_FALSE(says(limits(project()), "the run is ended"));
  CHECK(says(limits(project(SandboxLevel::Strict)), "setarch"));
  CHECK_FALSE(says(limits(project(SandboxLevel::Strict)), "promise of level"));
  CHECK(says(limits(project().withTemp(TempMode::Inherit)), "no private temp"));
  CHECK(says(limits(project().readWrite("/", Origin::User)), "in `/` itself"));
}

} // namespace
} // namespace gos::sandbox
