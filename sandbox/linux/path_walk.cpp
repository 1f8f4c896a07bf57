#include "sandbox/linux/path_walk.h"

#include <algorithm>

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
  const size_t common = std::min(left.size(), right.size());
  const size_t at = size_t(std::mismatch(left.begin(), left.begin() + common, right.begin()).first -
                           left.begin());
  return at == common ? left.size() < right.size() : key(left[at]) < key(right[at]);
}

const HostTree::Entry& PathWalk::look(llvm::StringRef path) {
  auto [place, isNew] = seen_.try_emplace(path);
  if (isNew)
    place->second = tree_.look(path);
  return place->second;
}

WalkedPath PathWalk::follow(llvm::StringRef path) {
  constexpr unsigned kMostLinks = 40; // as the kernel
  WalkedPath walked;
  walked.path = "/";
  // What is still to be walked; a link puts its text in front of it.
  std::string text;
  llvm::StringRef rest = path;
  bool missing = false;
  while (true) {
    rest = rest.ltrim('/');
    if (rest.empty())
      break;
    const llvm::StringRef name = rest.take_until([](char c) { return c == '/'; });
    rest = rest.drop_front(name.size());
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
    std::string onwards = entry.linkText + rest.str();
    walked.hops.push_back({std::move(next), entry.linkText});
    if (llvm::StringRef(entry.linkText).starts_with("/"))
      walked.path = "/";
    text = std::move(onwards);
    rest = text;
  }
  walked.entry = missing ? HostTree::Entry{} : look(walked.path);
  return walked;
}

} // namespace gos::sandbox
