#include "sandbox/linux/view.h"

#include "tests/unit/sandbox_linux/fake_tree.h"

#include <doctest/doctest.h>

namespace gos::sandbox {
namespace {

using Kind = ViewStep::Kind;

Policy base() {
  return Policy()
      .withLevel(SandboxLevel::Standard)
      .readOnly("/usr", Origin::Shipped)
      .allowEnv("HOME");
}

ChildPlan compiled(const Policy& policy, const FakeTree& tree = smallHost(),
                   llvm::StringRef home = "/home/ann") {
  llvm::Expected<ChildPlan> plan = compilePlan(
      policy, tree, smallLimits(), {"HOME=" + home.str(), "USER=ann"}, "/var/lib/t/run");
  if (!plan) {
    FAIL(llvm::toString(plan.takeError()));
    return {};
  }
  return std::move(*plan);
}

std::string errorOf(const Policy& policy, const FakeTree& tree = smallHost()) {
  llvm::Expected<ChildPlan> plan = compilePlan(policy, tree, smallLimits(), {}, "/var/lib/t/run");
  return plan ? std::string() : llvm::toString(plan.takeError());
}

/// The steps at or beneath a path, as the plan's text has them, without objects.
std::string stepsBeneath(const ChildPlan& plan, llvm::StringRef path) {
  std::string text;
  for (const ViewStep& step : plan.view)
    if (isAtOrBeneath(step.path, path)) {
      text += spelling(step.kind).str() + " " + step.path;
      if (step.kind == Kind::Bind)
        text += step.readOnly ? " ro" : " rw";
      text += "\n";
    }
  return text;
}

std::string rest(const ChildPlan& plan, llvm::StringRef path) {
  return stepsBeneath(plan, path);
}

// ---- what is always there
// -------------------------------------------------------------------------

TEST_CASE("a view that grants nothing but programs has exactly what every view has") {
  const ChildPlan plan = compiled(base());
  std::string text;
  for (const ViewStep& step : plan.view)
    text += spelling(step.kind).str() + " " + step.path + "\n";
  CHECK(text == "link /bin\ndirectory /dev\nlink /dev/fd\nbind /dev/full\nbind /dev/null\nlink "
                "/dev/ptmx\ndevpts /dev/pts\n"
                "bind /dev/random\nshared-memory /dev/shm\nlink /dev/stderr\nlink /dev/stdin\nlink "
                "/dev/stdout\nbind /dev/tty\n"
                "bind /dev/urandom\nbind /dev/zero\ndirectory /etc\nfile /etc/group\nfile "
                "/etc/passwd\ndirectory /home\n"
                "directory /home/ann\nlink /lib\nproc /proc\nmask /proc/kcore\nmask "
                "/proc/keys\nbind /tmp\nbind /usr\n"
                "directory /var\nbind /var/tmp\n");
  const ViewStep* null = stepAt(plan, Kind::Bind, "/dev/null");
  REQUIRE(null != nullptr);
  CHECK(null->devices);
  CHECK_FALSE(null->readOnly);
  CHECK(null->object == smallHost().look("/dev/null").object);
  CHECK(stepAt(plan, Kind::Proc, "/proc")->readOnly);
  CHECK(stepAt(plan, Kind::MakeLink, "/bin")->text == "usr/bin");
  CHECK(stepAt(plan, Kind::Bind, "/tmp")->source == "/var/lib/t/run");
  CHECK(stepAt(plan, Kind::Bind, "/var/tmp")->source == "/var/lib/t/run");
  CHECK_FALSE(stepAt(plan, Kind::Bind, "/tmp")->readOnly);
}

TEST_CASE("B026 the password database has the caller's line, root's and nobody's, and no secret") {
  const ChildPlan plan = compiled(base());
  CHECK(stepAt(plan, Kind::MakeFile, "/etc/passwd")->text ==
        "ann:x:1000:1000:Ann:/home/ann:/bin/bash\n"
        "root:x:0:0:root:/root:/bin/bash\n"
        "nobody:x:65534:65534::/:/bin/false\n");
  CHECK(stepAt(plan, Kind::MakeFile, "/etc/group")->text ==
        "staff:x:1000:\nroot:x:0:\nnogroup:x:65534:\n");
  // Somebody whom only a directory service knows.
  HostLimits limits = smallLimits();
  limits.userId = limits.groupId = 5000;
  llvm::Expected<ChildPlan> other =
      compilePlan(base(), smallHost(), limits, {"USER=eve", "HOME=/home/eve"}, "/t");
  REQUIRE(other);
  CHECK(llvm::StringRef(stepAt(*other, Kind::MakeFile, "/etc/passwd")->text)
            .starts_with("eve:x:5000:5000::/home/eve:/bin/sh\n"));
  llvm::Expected<ChildPlan> odd =
      compilePlan(base(), smallHost(), limits, {"USER=a:b\n", "HOME=/x\ny::"}, "/t");
  REQUIRE(odd);
  CHECK(llvm::StringRef(stepAt(*odd, Kind::MakeFile, "/etc/passwd")->text)
            .starts_with("user:x:5000:5000::/:/bin/sh\n"));
}

TEST_CASE("the host's own file stands where a rule grants it") {
  const ChildPlan plan = compiled(base().readOnly("/etc/passwd", Origin::Shipped));
  CHECK(stepAt(plan, Kind::MakeFile, "/etc/passwd") == nullptr);
  CHECK(stepAt(plan, Kind::Bind, "/etc/passwd") != nullptr);
  CHECK(stepAt(compiled(base().readOnly("/etc", Origin::User)), Kind::MakeFile, "/etc/group") ==
        nullptr);
}

TEST_CASE("the home is an empty name, unless it is granted, denied, temporary or not there") {
  CHECK(rest(compiled(base()), "/home") == "directory /home\ndirectory /home/ann\n");
  CHECK(rest(compiled(base().readOnly("/home/ann", Origin::User)), "/home") ==
        "directory /home\nbind /home/ann ro\n");
  CHECK(rest(compiled(base().deny("/home/ann", Origin::User)), "/home").empty());
  CHECK(rest(compiled(base(), smallHost(), "/home/none"), "/home").empty());
  FakeTree tree = smallHost();
  tree.directory("/tmp/h").link("/me", "home/ann");
  CHECK(rest(compiled(base(), tree, "/tmp/h"), "/tmp") == "bind /tmp rw\n");
  const ChildPlan linked = compiled(base(), tree, "/me");
  CHECK(stepAt(linked, Kind::MakeLink, "/me")->text == "home/ann");
  CHECK(stepAt(linked, Kind::MakeDirectory, "/home/ann") != nullptr);
}

// ---- grants
// ---------------------------------------------------------------------------------------

TEST_CASE("a grant is a bind of the object that the policy was compiled for, at its own path") {
  const ChildPlan plan =
      compiled(base().readWrite("/home/ann/p", Origin::User).readOnly("/etc/hosts", Origin::User));
  const ViewStep* project = stepAt(plan, Kind::Bind, "/home/ann/p");
  REQUIRE(project != nullptr);
  CHECK(project->source == "/home/ann/p");
  CHECK(project->object == smallHost().look("/home/ann/p").object);
  CHECK_FALSE(project->readOnly);
  CHECK_FALSE(project->devices);
  CHECK_FALSE(project->optional);
  CHECK(project->rule == size_t(1));
  CHECK(stepAt(plan, Kind::Bind, "/etc/hosts")->node == NodeKind::File);
  CHECK(stepAt(plan, Kind::Bind, "/usr")->optional);
}

TEST_CASE("B009 a grant through links is bound at its canonical path, and each link stays a link") {
  FakeTree tree = smallHost();
  tree.directory("/data/real").link("/w/one", "two").link("/w/two", "/data/real");
  const ChildPlan plan = compiled(base().readWrite("/w/one", Origin::User), tree);
  CHECK(stepAt(plan, Kind::Bind, "/data/real")->rule == size_t(1));
  CHECK(stepAt(plan, Kind::MakeLink, "/w/one")->text == "two");
  CHECK(stepAt(plan, Kind::MakeLink, "/w/two")->text == "/data/real");
  // The same where the policy has the canonical path already, and the flag says what was written.
  for (const char* written : {"--rw /w/one", "--rw=/w/one", "/w/one", "--rw ../one"}) {
    CAPTURE(written);
    const ChildPlan named = compiled(base()
                                         .readWrite("/data/real", Origin::User, written)
                                         .readOnly("/w/d", Origin::User)
                                         .withWorkingDirectory("/w/d"),
                                     FakeTree(tree).directory("/w/d"));
    REQUIRE(stepAt(named, Kind::MakeLink, "/w/one") != nullptr);
    CHECK(stepAt(named, Kind::MakeLink, "/w/two") != nullptr);
  }
  // A name that leads elsewhere is not repeated.
  CHECK(stepAt(compiled(base().readWrite("/data/real", Origin::User, "--rw /bin"), tree),
               Kind::MakeLink, "/bin")
            ->text == "usr/bin");
  CHECK(stepAt(compiled(base().readWrite("/data", Origin::User, "--rw /w/one"), tree),
               Kind::MakeLink, "/w/one") == nullptr);
}

TEST_CASE("B023 a shipped link stays a link, and what it names is there") {
  FakeTree tree = smallHost();
  tree.file("/usr/share/zoneinfo/UTC").link("/etc/localtime", "/usr/share/zoneinfo/UTC");
  tree.file("/run/resolve/stub.conf")
      .link("/etc/resolv.conf", "../run/resolve/stub.conf")
      .link("/etc/gone", "/no");
  const Policy policy = base()
                            .readOnly("/etc/localtime", Origin::Shipped)
                            .readOnly("/etc/resolv.conf", Origin::Shipped);
  const ChildPlan plan = compiled(policy.readOnly("/etc/gone", Origin::Shipped), tree);
  CHECK(stepAt(plan, Kind::MakeLink, "/etc/localtime")->text == "/usr/share/zoneinfo/UTC");
  CHECK(rest(plan, "/usr") == "bind /usr ro\n"); // it is inside a grant already
  CHECK(stepAt(plan, Kind::Bind, "/run/resolve/stub.conf") != nullptr);
  CHECK(stepAt(plan, Kind::MakeDirectory, "/run/resolve") != nullptr);
  CHECK(stepAt(plan, Kind::MakeLink, "/etc/gone") == nullptr);
}

TEST_CASE("links without end are not there") {
  FakeTree tree = smallHost();
  tree.link("/loop/a", "b").link("/loop/b", "a");
  CHECK(llvm::StringRef(errorOf(base().readOnly("/loop/a", Origin::User), tree))
            .contains("does not exist"));
}

TEST_CASE(
    "T124 a grant through a link that leads into a denial is an error that names both rules") {
  FakeTree tree = smallHost();
  tree.link("/w/k", "/home/ann/.ssh");
  const Policy policy = base().deny("/home/ann/.ssh", Origin::Shipped);
  const std::string text = errorOf(policy.readOnly("/w/k", Origin::User, "--ro k"), tree);
  CHECK(llvm::StringRef(text).contains("--ro k"));
  CHECK(llvm::StringRef(text).contains("the shipped deny rule for `/home/ann/.ssh`"));
  CHECK(
      stepAt(compiled(base().deny("/home/ann/.ssh", Origin::User).readOnly("/w/k", Origin::Shipped),
                      tree),
             Kind::Bind, "/home/ann/.ssh") == nullptr);
}

TEST_CASE("B004 files and devices are granted as what they are") {
  const ChildPlan plan =
      compiled(base().readWrite("/dev/null", Origin::User).readWrite("/dev/sda", Origin::User));
  CHECK(stepAt(plan, Kind::Bind, "/dev/null")->rule == size_t(1));
  CHECK(llvm::StringRef(rest(plan, "/dev/null")) == "bind /dev/null rw\n");
  const ViewStep* disk = stepAt(plan, Kind::Bind, "/dev/sda");
  REQUIRE(disk != nullptr);
  CHECK(disk->devices);
  CHECK(disk->node == NodeKind::Device);
}

TEST_CASE("a grant of all of /dev keeps what every view has on top") {
  const ChildPlan plan = compiled(base().readWrite("/dev", Origin::User));
  CHECK(stepAt(plan, Kind::Bind, "/dev")->devices);
  CHECK(stepAt(plan, Kind::MakeLink, "/dev/fd") == nullptr); // the host's
  CHECK(stepCovering(plan.view, "/dev/pts/3")->kind == Kind::DevicePts);
  CHECK(stepCovering(plan.view, "/dev/shm/x")->kind == Kind::SharedMemory);
  CHECK(stepCovering(plan.view, "/dev/null")->path == "/dev/null");
}

TEST_CASE("a grant of the root is one of each entry, with what every view has on top") {
  FakeTree tree = smallHost();
  tree.directory("/srv/a").file("/vmlinuz").link("/opt", "/srv");
  const ChildPlan plan =
      compiled(base().readOnly("/", Origin::User).deny("/home/ann/.ssh", Origin::Shipped), tree);
  for (const char* path : {"/srv", "/vmlinuz", "/home", "/var", "/root", "/etc", "/sys"}) {
    CAPTURE(path);
    REQUIRE(stepAt(plan, Kind::Bind, path) != nullptr);
    CHECK(stepAt(plan, Kind::Bind, path)->readOnly);
  }
  CHECK(stepAt(plan, Kind::MakeLink, "/opt") != nullptr);
  CHECK(stepAt(plan, Kind::Bind, "/") == nullptr);
  CHECK(stepAt(plan, Kind::Bind, "/dev") == nullptr);
  CHECK(stepAt(plan, Kind::Bind, "/dev/sda") == nullptr);
  CHECK(stepCovering(plan.view, "/proc/1")->kind == Kind::Proc);
  CHECK(stepCovering(plan.view, "/tmp/x")->source == "/var/lib/t/run");
  CHECK(stepCovering(plan.view, "/var/tmp/x")->source == "/var/lib/t/run");
  CHECK(stepAt(plan, Kind::Cover, "/home/ann/.ssh") != nullptr);
  // A rule of its own is longer than the root's, wherever it comes from.
  CHECK_FALSE(
      stepAt(
          compiled(Policy().readOnly("/", Origin::User).readWrite("/var", Origin::Shipped), tree),
          Kind::Bind, "/var")
          ->readOnly);
}

TEST_CASE("the view has its own processes, whatever is granted") {
  CHECK(rest(compiled(base().readOnly("/proc", Origin::Shipped)), "/proc") ==
        "proc /proc\nmask /proc/kcore\nmask /proc/keys\n");
  CHECK(rest(compiled(base().readOnly("/proc", Origin::User)), "/proc") ==
        "proc /proc\nmask /proc/kcore\nmask /proc/keys\n");
  CHECK(llvm::StringRef(errorOf(base().readWrite("/proc", Origin::User)))
            .contains("a `/proc` of its own"));
  CHECK(llvm::StringRef(errorOf(base().readOnly("/proc/sys", Origin::User)))
            .contains("a `/proc` of its own"));
  CHECK(llvm::StringRef(rest(compiled(base().deny("/proc/sys", Origin::User)), "/proc"))
            .contains("cover /proc/sys\n"));
}

TEST_CASE("B019 a project beneath /tmp or /var/tmp is visible through the private temp") {
  FakeTree tree = smallHost();
  tree.file("/tmp/a/p/f").file("/var/tmp/q").file("/tmp/other");
  const ChildPlan plan = compiled(
      base().readWrite("/tmp/a/p", Origin::User).readOnly("/var/tmp/q", Origin::User), tree);
  CHECK(rest(plan, "/tmp") == "bind /tmp rw\ndirectory /tmp/a\nbind /tmp/a/p rw\n");
  CHECK(rest(plan, "/var") == "directory /var\nbind /var/tmp rw\nbind /var/tmp/q ro\n");
  CHECK(stepCovering(plan.view, "/tmp/other")->source == "/var/lib/t/run");
}

TEST_CASE("who grants a temp by name gets it; the other name stays private") {
  const ChildPlan plan = compiled(base().readWrite("/tmp", Origin::User));
  CHECK(stepCovering(plan.view, "/tmp/x")->source == "/tmp");
  CHECK(stepCovering(plan.view, "/var/tmp/x")->source == "/var/lib/t/run");
  CHECK(stepCovering(compiled(base().readWrite("/tmp", Origin::Shipped)).view, "/tmp/x")->source ==
        "/var/lib/t/run");
  const ChildPlan both =
      compiled(base().readWrite("/var", Origin::User).readWrite("/var/tmp", Origin::User));
  CHECK(stepCovering(both.view, "/var/tmp/x")->path == "/var");
  CHECK(stepCovering(compiled(base().readWrite("/var", Origin::User)).view, "/var/tmp/x")->source ==
        "/var/lib/t/run");
}

// ---- narrowing and holes
// --------------------------------------------------------------------------

TEST_CASE("T125 read-only beneath read-write is a bind on top, and its parents cannot be renamed") {
  const ChildPlan plan = compiled(base()
                                      .readWrite("/home/ann/p", Origin::User)
                                      .readOnly("/home/ann/p/.git/hooks", Origin::Shipped)
                                      .readOnly("/home/ann/p/.git/config", Origin::Shipped)
                                      .readOnly("/home/ann/p/.vscode", Origin::Shipped));
  CHECK(rest(plan, "/home/ann/p") ==
        "bind /home/ann/p rw\nbind /home/ann/p/.git rw\nbind /home/ann/p/.git/config ro\n"
        "bind /home/ann/p/.git/hooks ro\n");
  CHECK(plan.placeholders.empty()); // a shipped guard of a missing name plants nothing
  CHECK(stepAt(plan, Kind::Bind, "/home/ann/p/.git")->object ==
        smallHost().look("/home/ann/p/.git").object);
}

TEST_CASE("read-write beneath read-only is a bind on top and needs no pins") {
  const ChildPlan plan = compiled(base()
                                      .readOnly("/home/ann", Origin::User)
                                      .readWrite("/home/ann/p/src", Origin::User)
                                      .deny("/home/ann/.ssh", Origin::Shipped));
  CHECK(rest(plan, "/home/ann") ==
        "bind /home/ann ro\ncover /home/ann/.ssh\nbind /home/ann/p/src rw\n");
}

TEST_CASE("a grant that says what the one above it says is no step") {
  const ChildPlan plan = compiled(base()
                                      .readOnly("/usr/bin", Origin::User)
                                      .readWrite("/home/ann", Origin::User)
                                      .readWrite("/home/ann/p", Origin::User));
  CHECK(rest(plan, "/usr") == "bind /usr ro\n");
  CHECK(rest(plan, "/home/ann") == "bind /home/ann rw\n");
}

TEST_CASE("B006 T126 a hole beneath a grant is a cover, and the way to it is pinned") {
  const ChildPlan plan = compiled(base()
                                      .readWrite("/home/ann/p", Origin::User)
                                      .deny("/home/ann/p/.git/hooks", Origin::User)
                                      .deny("/home/ann/p/src/main.c", Origin::User));
  CHECK(rest(plan, "/home/ann/p") ==
        "bind /home/ann/p rw\nbind /home/ann/p/.git rw\ncover /home/ann/p/.git/hooks\n"
        "bind /home/ann/p/src rw\ncover /home/ann/p/src/main.c\n");
  CHECK(stepAt(plan, Kind::Cover, "/home/ann/p/.git/hooks")->node == NodeKind::Directory);
  CHECK(stepAt(plan, Kind::Cover, "/home/ann/p/src/main.c")->node == NodeKind::File);
  CHECK(stepAt(plan, Kind::Cover, "/home/ann/p/src/main.c")->rule == size_t(3));
  CHECK_FALSE(stepAt(plan, Kind::Cover, "/home/ann/p/src/main.c")->optional);
}

TEST_CASE("a denial with nothing granted above it is no step, nor is one beneath a denial") {
  const ChildPlan plan = compiled(base()
                                      .readOnly("/home/ann", Origin::User)
                                      .deny("/srv", Origin::User)
                                      .deny("/home/ann/p", Origin::User)
                                      .deny("/home/ann/p/src", Origin::User));
  CHECK(rest(plan, "/srv").empty());
  CHECK(rest(plan, "/home/ann/p") == "cover /home/ann/p\n");
}

TEST_CASE("a denial that is stronger than a grant at its path wins") {
  const ChildPlan plan =
      compiled(base().readOnly("/home/ann/p", Origin::Profile).deny("/home/ann/p", Origin::User));
  CHECK(rest(plan, "/home/ann/p").empty());
}

TEST_CASE("a denial behind a link covers the link and what it leads to") {
  FakeTree tree = smallHost();
  tree.file("/home/ann/keys/id").link("/home/ann/k", "keys/id").link("/home/ann/d", "keys");
  const ChildPlan plan =
      compiled(base().readOnly("/home/ann", Origin::User).deny("/home/ann/k", Origin::User), tree);
  CHECK(rest(plan, "/home/ann") ==
        "bind /home/ann ro\ncover /home/ann/k\ncover /home/ann/keys/id\n");
  CHECK(stepAt(plan, Kind::Cover, "/home/ann/k")->node == NodeKind::Link);
  const ChildPlan through = compiled(
      base().readOnly("/home/ann", Origin::User).deny("/home/ann/d/id", Origin::User), tree);
  CHECK(stepAt(through, Kind::Cover, "/home/ann/keys/id") != nullptr);
}

TEST_CASE("B007 T127 a name that is not there and that a user denies cannot be made") {
  const Policy policy = base().readWrite("/home/ann/p", Origin::User);
  const ChildPlan plan = compiled(
      policy.deny("/home/ann/p/.env", Origin::User).deny("/home/ann/p/a/b/c", Origin::User));
  CHECK(plan.placeholders == std::vector<Placeholder>{{"/home/ann/p/.env", false},
                                                      {"/home/ann/p/a", true},
                                                      {"/home/ann/p/a/b", true},
                                                      {"/home/ann/p/a/b/c", false}});
  CHECK(rest(plan, "/home/ann/p") == "bind /home/ann/p rw\ncover /home/ann/p/.env\nbind "
                                     "/home/ann/p/a rw\nbind /home/ann/p/a/b rw\n"
                                     "cover /home/ann/p/a/b/c\n");
  CHECK(stepAt(plan, Kind::Bind, "/home/ann/p/a")->object == ObjectId{}); // made by the run
  const ChildPlan shared =
      compiled(policy.deny("/home/ann/p/a/b", Origin::User).deny("/home/ann/p/a/c", Origin::User));
  CHECK(shared.placeholders.size() == 3);
  CHECK(rest(shared, "/home/ann/p/a") ==
        "bind /home/ann/p/a rw\ncover /home/ann/p/a/b\ncover /home/ann/p/a/c\n");
}

TEST_CASE("a missing name plants nothing where it was shipped, or where nothing can be made") {
  for (Origin origin : {Origin::Shipped, Origin::Profile}) {
    const ChildPlan plan =
        compiled(base().readWrite("/home/ann/p", Origin::User).deny("/home/ann/p/.env", origin));
    CHECK(plan.placeholders.empty());
    CHECK(rest(plan, "/home/ann/p") == "bind /home/ann/p rw\n");
  }
  const ChildPlan plan = compiled(base()
                                      .readOnly("/home/ann/p", Origin::User)
                                      .deny("/home/ann/p/.env", Origin::User)
                                      .deny("/none", Origin::User));
  CHECK(plan.placeholders.empty());
  CHECK(rest(plan, "/home/ann/p") == "bind /home/ann/p ro\n");
}

TEST_CASE("a file above a denied name stays a file") {
  const ChildPlan plan = compiled(
      base().readWrite("/home/ann/p", Origin::User).deny("/home/ann/p/src/main.c/x", Origin::User));
  CHECK(plan.placeholders.empty());
  CHECK(rest(plan, "/home/ann/p") ==
        "bind /home/ann/p rw\nbind /home/ann/p/src rw\nbind /home/ann/p/src/main.c rw\n");
  CHECK(stepAt(plan, Kind::Bind, "/home/ann/p/src/main.c")->node == NodeKind::File);
}

TEST_CASE(
    "a denial beneath the private temp hides nothing of the host's, since nothing of it is there") {
  FakeTree tree = smallHost();
  tree.file("/tmp/x");
  const ChildPlan plan =
      compiled(base().readOnly("/", Origin::User).deny("/tmp/x", Origin::User), tree);
  CHECK(rest(plan, "/tmp") == "bind /tmp rw\n");
}

TEST_CASE("what every view has is left out where a user denies it") {
  const ChildPlan plan = compiled(base()
                                      .deny("/dev/tty", Origin::User)
                                      .deny("/etc/passwd", Origin::User)
                                      .deny("/var/tmp", Origin::User));
  CHECK(rest(plan, "/dev/tty").empty());
  CHECK(rest(plan, "/etc/passwd").empty());
  CHECK(rest(plan, "/var/tmp").empty());
  CHECK(stepAt(plan, Kind::Bind, "/tmp") != nullptr);
}

TEST_CASE("paths are compared by component, and their bytes are their own") {
  FakeTree tree = smallHost();
  const std::string odd = "/w/a\n\xff b";
  tree.directory(odd + "/x").directory("/w/a").directory("/w/a.b/x").directory("/w/ab");
  const ChildPlan plan = compiled(base()
                                      .readOnly(odd, Origin::User)
                                      .readWrite("/w/a", Origin::User)
                                      .readOnly("/w/ab", Origin::User)
                                      .readOnly("/w/a.b/x", Origin::User),
                                  tree);
  CHECK(rest(plan, "/w") == "directory /w\nbind /w/a rw\nbind " + odd +
                                " ro\ndirectory /w/a.b\nbind /w/a.b/x ro\nbind /w/ab ro\n");
}

} // namespace
} // namespace gos::sandbox
