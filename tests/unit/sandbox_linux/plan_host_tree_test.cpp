// The tree of this host, and a policy compiled over a real directory.

#include "sandbox/linux/path_walk.h"
#include "sandbox/linux/view.h"
#include "tests/unit/sandbox/temp_tree.h"

#include <doctest/doctest.h>

namespace gos::sandbox {
namespace {

using test::TempTree;

TEST_CASE("the host's tree says what stands at a path, and follows nothing") {
  const TempTree made;
  made.file("d/f", "text");
  const std::string odd = made.root() + "/a\n\xff b";
  REQUIRE(::mkdir(odd.c_str(), 0700) == 0);
  REQUIRE(::symlink("d/f", made.at("link").c_str()) == 0);
  const std::string far(300, 'x');
  REQUIRE(::symlink(far.c_str(), made.at("far").c_str()) == 0);
  REQUIRE(::mkfifo(made.at("pipe").c_str(), 0600) == 0);
  const HostTree& tree = hostTree();

  CHECK(tree.look(made.at("d")).kind == NodeKind::Directory);
  CHECK(tree.look(made.at("d/f")).kind == NodeKind::File);
  CHECK(tree.look(odd).kind == NodeKind::Directory);
  CHECK(tree.look(made.at("pipe")).kind == NodeKind::Other);
  CHECK(tree.look("/dev/null").kind == NodeKind::Device);
  CHECK(tree.look(made.at("none")).kind == NodeKind::Missing);
  CHECK(tree.look(made.at("d/f/x")).kind == NodeKind::Missing);
  CHECK(tree.look(llvm::StringRef("/dev\0x", 6)).kind == NodeKind::Missing);
  CHECK(tree.look(made.at("link")).kind == NodeKind::Link);
  CHECK(tree.look(made.at("link")).linkText == "d/f");
  CHECK(tree.look(made.at("far")).linkText == far);
  // A link above the entry is not followed either: who judged it as a directory meant another one.
  REQUIRE(::symlink("d", made.at("way").c_str()) == 0);
  CHECK(tree.look(made.at("way/f")).kind == NodeKind::Missing);
  REQUIRE(::unlink(made.at("way").c_str()) == 0);
  struct stat status{};
  REQUIRE(::stat(made.at("d/f").c_str(), &status) == 0);
  CHECK(tree.look(made.at("d/f")).object == ObjectId{status.st_dev, status.st_ino});

  CHECK(tree.real(made.at("link")) == made.at("d/f"));
  CHECK(tree.real(made.at("none")).empty());
  CHECK(tree.list(made.root()) ==
        std::vector<std::string>{"a\n\xff b", "d", "far", "link", "pipe"});
  CHECK(tree.list(made.at("none")).empty());
  CHECK(tree.text(made.at("d/f"), 2) == "te");
  CHECK(tree.text(made.at("pipe"), 9).empty()); // and does not wait for a writer
  CHECK(tree.text(made.at("d"), 9).empty());
}

TEST_CASE("a walk goes where the kernel goes, and remembers each link") {
  const TempTree made;
  made.file("d/e/f");
  REQUIRE(::symlink("d/e", made.at("one").c_str()) == 0);
  REQUIRE(::symlink((made.root() + "/one").c_str(), made.at("two").c_str()) == 0);
  REQUIRE(::symlink("loop", made.at("loop").c_str()) == 0);
  PathWalk walk(hostTree());
  for (const std::string path : {"two/f", "two/../e/f", "./d//e/./f", "one/../../two/f"}) {
    CAPTURE(path);
    CHECK(walk.follow(made.at(path)).path == hostTree().real(made.at(path)));
  }
  const WalkedPath walked = walk.follow(made.at("two/f"));
  REQUIRE(walked.hops.size() == 2);
  CHECK(walked.hops[0].path == made.at("two"));
  CHECK(walked.hops[1].text == "d/e");
  CHECK(walked.entry.kind == NodeKind::File);
  CHECK(walk.follow(made.at("loop")).entry.kind == NodeKind::Missing);
  CHECK(walk.follow(made.at("two/none/x")).path == made.at("d/e/none/x"));
  CHECK(walk.follow(made.at("two/none/x")).entry.kind == NodeKind::Missing);
}

TEST_CASE("a policy over this host compiles into binds of its objects") {
  const TempTree made;
  made.file("src/f");
  const Policy policy = Policy()
                            .withLevel(SandboxLevel::Standard)
                            .readOnly("/usr", Origin::Shipped)
                            .readWrite(made.root(), Origin::User)
                            .deny(made.at("src"), Origin::User)
                            .withWorkingDirectory(made.root());
  HostLimits limits{7, true, ::getuid(), ::getgid()};
  llvm::Expected<ChildPlan> plan = compilePlan(policy, hostTree(), limits, {}, "/var/tmp/x");
  REQUIRE(plan);
  const ViewStep* step = stepCovering(plan->view, made.at("other"));
  REQUIRE(step != nullptr);
  CHECK(step->object == hostTree().look(made.root()).object);
  CHECK(stepCovering(plan->view, made.at("src/f"))->kind == ViewStep::Kind::Cover);
  CHECK(stepCovering(plan->view, made.base() + "/X")->source == "/var/tmp/x");
}

} // namespace
} // namespace gos::sandbox
