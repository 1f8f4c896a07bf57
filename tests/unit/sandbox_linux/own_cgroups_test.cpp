#include "sandbox/linux/own_cgroups.h"

#include "tests/unit/sandbox_linux/fake_tree.h"

#include <doctest/doctest.h>

namespace gos::sandbox {
namespace {

std::vector<ViewStep> viewOf(const FakeTree& tree) {
  ViewStep above, whole, below;
  above.path = "/sys/fs";
  whole.kind = below.kind = ViewStep::Kind::Bind;
  whole.path = whole.source = "/sys/fs/cgroup";
  whole.optional = true;
  below.path = below.source = "/usr";
  std::vector<ViewStep> view = {above, whole, below};
  showOwnCgroups(view, tree);
  return view;
}
/// `path <- source`, one step a line.
std::string shown(const std::vector<ViewStep>& view) {
  std::string text;
  for (const ViewStep& step : view)
    text += step.path +
            (step.kind == ViewStep::Kind::Bind       ? " <- " + step.source
             : step.kind == ViewStep::Kind::MakeLink ? " -> " + step.text
                                                     : "") +
            "\n";
  return text;
}

} // namespace

TEST_CASE("of version 2 the command sees its own group as the root") {
  FakeTree tree;
  tree.file("/sys/fs/cgroup/cgroup.controllers")
      .directory("/sys/fs/cgroup/user.slice/run-1.scope")
      .file("/proc/self/cgroup", "0::/user.slice/run-1.scope\n");
  const std::vector<ViewStep> view = viewOf(tree);
  CHECK(shown(view) ==
        "/sys/fs\n/sys/fs/cgroup <- /sys/fs/cgroup/user.slice/run-1.scope\n/usr <- /usr\n");
  CHECK(view[1].object == tree.look("/sys/fs/cgroup/user.slice/run-1.scope").object);
  CHECK(view[1].readOnly);
  CHECK(view[1].optional);
}

TEST_CASE(
    "of version 1 it sees its own group of each controller that runtimes read, and no other") {
  FakeTree tree;
  tree.directory("/sys/fs/cgroup/memory/a/b")
      .directory("/sys/fs/cgroup/cpu,cpuacct")
      .directory("/sys/fs/cgroup/devices/a")
      .link("/sys/fs/cgroup/cpu", "cpu,cpuacct")
      .file("/proc/self/cgroup",
            "4:memory:/a/b\n3:devices:/a\n2:cpu,cpuacct:/\n1:name=systemd:/x\n0::/\n");
  CHECK(shown(viewOf(tree)) ==
        "/sys/fs\n/sys/fs/cgroup\n/sys/fs/cgroup/cpu -> cpu,cpuacct\n"
        "/sys/fs/cgroup/cpu,cpuacct <- /sys/fs/cgroup/cpu,cpuacct\n"
        "/sys/fs/cgroup/memory <- /sys/fs/cgroup/memory/a/b\n/usr <- /usr\n");
}

TEST_CASE("in the root of everything, and where nothing is known, the view stays") {
  const std::string whole = "/sys/fs\n/sys/fs/cgroup <- /sys/fs/cgroup\n/usr <- /usr\n";
  FakeTree root;
  root.directory("/sys/fs/cgroup/memory").file("/proc/self/cgroup", "4:memory:/\n0::/\n");
  CHECK(shown(viewOf(root)) == whole);
  CHECK(shown(viewOf(FakeTree())) == whole);
}

TEST_CASE("a group that is gone, is a link, or lies outside is not bound") {
  FakeTree tree;
  tree.directory("/sys/fs/cgroup/memory")
      .directory("/sys/fs/cgroup/cpu")
      .directory("/sys/fs/cgroup/pids/real")
      .link("/sys/fs/cgroup/cpu/l", "/etc")
      .file("/proc/self/cgroup",
            "4:memory:/gone\n3:cpu:/l\n2:pids:/../real\n1:cpuset:/x\nbroken\n:\n");
  CHECK(shown(viewOf(tree)) == "/sys/fs\n/sys/fs/cgroup\n/usr <- /usr\n");
}

} // namespace gos::sandbox
