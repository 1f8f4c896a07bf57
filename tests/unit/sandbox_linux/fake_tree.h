#pragma once
// A tree of files for tests: paths made by hand, walked as the kernel would.

#include "sandbox/linux/path_walk.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <string>
#include <vector>

namespace gos::sandbox {

class FakeTree final : public HostTree {
public:
  FakeTree() { entries_["/"] = {NodeKind::Directory, {1, 1}, {}}; }

  FakeTree& directory(llvm::StringRef path) { return put(path, NodeKind::Directory, {}); }
  FakeTree& file(llvm::StringRef path, llvm::StringRef text = {}) {
    put(path, NodeKind::File, {});
    texts_[path.str()] = text.str();
    return *this;
  }
  FakeTree& device(llvm::StringRef path) { return put(path, NodeKind::Device, {}); }
  FakeTree& link(llvm::StringRef path, llvm::StringRef text) {
    return put(path, NodeKind::Link, text);
  }

  Entry look(llvm::StringRef path) const override {
    const auto found = entries_.find(path.str());
    return found == entries_.end() ? Entry{} : found->second;
  }
  std::string real(llvm::StringRef path) const override {
    PathWalk walk(*this);
    const WalkedPath walked = walk.follow(path);
    return walked.entry.kind == NodeKind::Missing ? std::string() : walked.path;
  }
  std::vector<std::string> list(llvm::StringRef path) const override {
    std::vector<std::string> names;
    for (const auto& [name, entry] : entries_)
      if (name != "/" && parentPath(name) == path)
        names.push_back(name.substr(path == "/" ? 1 : path.size() + 1));
    return names;
  }
  std::string text(llvm::StringRef path, size_t limit) const override {
    const auto found = texts_.find(path.str());
    return found == texts_.end() ? std::string() : found->second.substr(0, limit);
  }

  std::vector<std::string> paths() const {
    std::vector<std::string> all;
    for (const auto& [path, entry] : entries_)
      all.push_back(path);
    return all;
  }

private:
  FakeTree& put(llvm::StringRef path, NodeKind kind, llvm::StringRef text) {
    for (llvm::StringRef parent = parentPath(path); entries_.count(parent.str()) == 0;
         parent = parentPath(parent))
      entries_[parent.str()] = {NodeKind::Directory, {1, entries_.size() + 1}, {}};
    entries_[path.str()] = {kind, {1, entries_.size() + 1}, text.str()};
    return *this;
  }

  std::map<std::string, Entry> entries_;
  std::map<std::string, std::string> texts_;
};

/// A small Debian with one user.
inline FakeTree smallHost() {
  FakeTree tree;
  for (const char* name : {"null", "zero", "full", "random", "urandom", "tty", "sda"})
    tree.device(std::string("/dev/") + name);
  tree.directory("/dev/pts").directory("/dev/shm");
  tree.link("/bin", "usr/bin").link("/lib", "usr/lib");
  tree.file("/usr/bin/true")
      .directory("/usr/lib")
      .directory("/var/tmp")
      .directory("/tmp")
      .directory("/sys");
  tree.file("/proc/kcore").file("/proc/keys").directory("/proc/sys");
  tree.file("/etc/passwd",
            "root:SECRET:0:0:root:/root:/bin/bash\nbob:x:1001:1001::/home/bob:/bin/sh\n"
            "ann:x:1000:1000:Ann:/home/ann:/bin/bash\nnobody:x:65534:65534::/:/bin/false\n");
  tree.file("/etc/group", "root:x:0:\nstaff:x:1000:ann,bob\nnogroup:x:65534:\n");
  tree.file("/etc/hosts").directory("/root");
  tree.file("/home/ann/p/src/main.c")
      .file("/home/ann/p/.git/config")
      .directory("/home/ann/p/.git/hooks");
  tree.file("/home/ann/.ssh/id").file("/home/ann/.gitconfig");
  return tree;
}

inline HostLimits smallLimits() {
  return {7, true, 1000, 1000};
}

inline const ViewStep* stepAt(const ChildPlan& plan, ViewStep::Kind kind, llvm::StringRef path) {
  for (const ViewStep& step : plan.view)
    if (step.kind == kind && step.path == path)
      return &step;
  return nullptr;
}

inline const LandlockRule* ruleAt(const ChildPlan& plan, llvm::StringRef path) {
  for (const LandlockRule& rule : plan.landlock.rules)
    if (rule.path == path)
      return &rule;
  return nullptr;
}

} // namespace gos::sandbox
