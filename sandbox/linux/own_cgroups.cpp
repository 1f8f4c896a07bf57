#include "sandbox/linux/own_cgroups.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

namespace gos::sandbox {

namespace {

constexpr llvm::StringLiteral kMount = "/sys/fs/cgroup";
// Of version 1: what runtimes read to size themselves. The others say nothing to a command.
constexpr llvm::StringLiteral kControllers[] = {"cpu", "cpuacct", "cpuset", "memory", "pids"};

struct Membership {
  llvm::StringRef controllers; // empty: version 2
  llvm::StringRef group;       // "/a/b"
};

/// The lines of /proc/self/cgroup: `4:cpu,cpuacct:/a/b`. A group outside of what we see ourselves
/// (`/../c`) is left out.
std::vector<Membership> membershipsIn(llvm::StringRef text) {
  std::vector<Membership> found;
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines) {
    auto [controllers, group] = line.split(':').second.split(':');
    if (group.starts_with("/") && !group.contains("/.."))
      found.push_back({controllers, group});
  }
  return found;
}

std::string groupIn(llvm::StringRef hierarchy, llvm::StringRef group) {
  return (group == "/" ? hierarchy : hierarchy + group).str();
}

class OwnCgroups {
public:
  OwnCgroups(const ViewStep& whole, const HostTree& tree) : whole_(whole), tree_(tree) {}

  /// What stands in place of the bind of everything; nothing if that is right as it is.
  std::vector<ViewStep> steps() {
    const std::string text = tree_.text("/proc/self/cgroup", 65536);
    const std::vector<Membership> all = membershipsIn(text);
    if (llvm::all_of(all, [](const Membership& each) { return each.group == "/"; }))
      return {};
    if (tree_.look(kMount.str() + "/cgroup.controllers").kind == NodeKind::File) {
      for (const Membership& each : all)
        if (each.controllers.empty())
          bind(kMount, groupIn(kMount, each.group));
      return std::move(made_);
    }
    ViewStep directory;
    directory.path = kMount.str();
    made_.push_back(directory);
    for (const std::string& name : tree_.list(kMount))
      place(name, all);
    return std::move(made_);
  }

private:
  static bool isRead(llvm::StringRef name) {
    llvm::SmallVector<llvm::StringRef> controllers;
    name.split(controllers, ',');
    return llvm::any_of(
        controllers, [](llvm::StringRef each) { return llvm::is_contained(kControllers, each); });
  }

  void place(const std::string& name, const std::vector<Membership>& all) {
    if (!isRead(name))
      return;
    const std::string path = kMount.str() + "/" + name;
    const HostTree::Entry entry = tree_.look(path);
    if (entry.kind == NodeKind::Link) { // cpu -> cpu,cpuacct
      ViewStep link;
      link.kind = ViewStep::Kind::MakeLink;
      link.path = path;
      link.text = entry.linkText;
      made_.push_back(link);
      return;
    }
    for (const Membership& each : all)
      if (each.controllers == name)
        bind(path, groupIn(path, each.group));
  }

  void bind(llvm::StringRef path, const std::string& source) {
    const HostTree::Entry entry = tree_.look(source);
    if (entry.kind != NodeKind::Directory || tree_.real(source) != source)
      return;
    ViewStep step = whole_;
    step.path = path.str();
    step.source = source;
    step.object = entry.object;
    made_.push_back(step);
  }

  const ViewStep& whole_;
  const HostTree& tree_;
  std::vector<ViewStep> made_;
};

} // namespace

void showOwnCgroups(std::vector<ViewStep>& view, const HostTree& tree) {
  const auto whole = llvm::find_if(view, [](const ViewStep& step) {
    return step.kind == ViewStep::Kind::Bind && step.path == kMount && step.source == kMount &&
           step.optional; // as shipped: whoever names it gets what he names
  });
  if (whole == view.end())
    return;
  std::vector<ViewStep> steps = OwnCgroups(*whole, tree).steps();
  if (steps.empty())
    return;
  const auto at = view.erase(whole);
  view.insert(at, steps.begin(), steps.end());
}

} // namespace gos::sandbox
