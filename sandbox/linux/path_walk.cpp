#include "sandbox/linux/path_walk.h"

#include <algorithm>
#include <deque>

namespace gos::sandbox {

std::string childPath(llvm::StringRef directory, llvm::StringRef name) {
  return directory == "/" ? "/" + name.str() : directory.str() + "/" + name.str();
}

llvm::StringRef parentPath(llvm::StringRef path) {
  const size_t slash = path.rfind('/');
  return slash == 0 || slash == llvm::StringRef::npos ? llvm::StringRef("/")
                                                      : path.take_front(slash);
}

bool pathLess(llvm::StringRef left, llvm::StringRef right) {
  const auto key = [](char c) { return c == '/' ? 0u : unsigned((unsigned char)c); };
  return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end(),
                                      [&](char a, char b) { return key(a) < key(b); });
}

const HostTree::Entry& PathWalk::look(llvm::StringRef path) {
  auto [place, isNew] = seen_.try_emplace(path);
  if (isNew)
    place->second = tree_.look(path);
  return place->second;
}

namespace {
void pushComponents(std::deque<std::string>& rest, llvm::StringRef path) {
  llvm::SmallVector<llvm::StringRef, 16> names;
  path.split(names, '/', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (auto name = names.rbegin(); name != names.rend(); ++name)
    rest.push_front(name->str());
}
} // namespace

WalkedPath PathWalk::follow(llvm::StringRef path) {
  constexpr unsigned kMostLinks = 40; // as the kernel
  WalkedPath walked;
  walked.path = "/";
  std::deque<std::string> rest;
  pushComponents(rest, path);
  bool missing = false;
  while (!rest.empty()) {
    const std::string name = std::move(rest.front());
    rest.pop_front();
    if (name == ".")
      continue;
    if (name == "..") {
      walked.path = parentPath(walked.path).str();
      continue;
    }
    std::string next = childPath(walked.path, name);
    if (missing) {
      walked.path = std::move(next);
      continue;
    }
    const HostTree::Entry& entry = look(next);
    if (entry.kind != NodeKind::Link) {
      missing = entry.kind == NodeKind::Missing;
      walked.path = std::move(next);
      continue;
    }
    if (walked.hops.size() == kMostLinks) {
      missing = true;
      walked.path = std::move(next);
      continue;
    }
    const std::string text = entry.linkText;
    walked.hops.push_back({std::move(next), text});
    if (llvm::StringRef(text).starts_with("/"))
      walked.path = "/";
    pushComponents(rest, text);
  }
  walked.entry = missing ? HostTree::Entry{} : look(walked.path);
  return walked;
}

} // namespace gos::sandbox
