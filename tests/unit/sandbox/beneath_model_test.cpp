// Random trees and random paths: both roads against each other and against a model of the tree that
// never asks the kernel.

#include "sandbox/beneath.h"

#include "temp_tree.h"

#include "llvm/ADT/StringExtras.h"

#include <map>
#include <random>

using namespace gos;
using gos::test::TempTree;

namespace {
struct Node {
  enum Kind { File, Directory, Link, Fifo } kind;
  std::string text; // of a file or link
};
using Model = std::map<std::string, Node>; // path beneath the root, "" is the root

/// What reading or querying a path ought to come to, in one word.
struct Oracle {
  const Model& model;
  const std::string& rootPath;

  std::string resolve(const std::string& path, bool followLast) const {
    if (path.empty())
      return "invalid";
    std::vector<std::string> todo; // reversed
    if (!push(todo, path))
      return "outside";
    bool slash = endsAsDirectory(path);
    std::vector<std::string> at;
    int links = 0;
    while (!todo.empty()) {
      const std::string name = todo.back();
      todo.pop_back();
      if (name == "..") {
        if (at.empty())
          return "outside";
        at.pop_back();
        continue;
      }
      at.push_back(name);
      auto found = model.find(llvm::join(at, "/"));
      const bool last = todo.empty() && !slash;
      if (found == model.end())
        return leaves(at, todo) ? "outside" : "absent";
      const Node& node = found->second;
      if (node.kind == Node::Directory)
        continue;
      if (node.kind != Node::Link) {
        if (last)
          return "at " + found->first;
        return leaves(at, todo) ? "outside" : "notdir";
      }
      if (last && !followLast)
        return "at " + found->first;
      if (++links > 40)
        return "loop";
      at.pop_back();
      const bool absolute = node.text[0] == '/';
      if (absolute)
        at.clear();
      if (todo.empty() && endsAsDirectory(node.text))
        slash = true;
      if (!push(todo, node.text))
        return "outside";
    }
    return "at " + llvm::join(at, "/");
  }

  bool push(std::vector<std::string>& todo, std::string path) const {
    if (path[0] == '/') {
      if (path != rootPath && path.compare(0, rootPath.size() + 1, rootPath + "/") != 0)
        return false;
      path = path.substr(rootPath.size());
    }
    llvm::SmallVector<llvm::StringRef, 8> names;
    llvm::StringRef(path).split(names, '/', -1, false);
    for (llvm::StringRef name : llvm::reverse(names))
      if (name != ".")
        todo.push_back(name.str());
    return true;
  }
  static bool endsAsDirectory(llvm::StringRef path) {
    return path.ends_with("/") || path == "." || path.ends_with("/.");
  }
  static bool leaves(const std::vector<std::string>& at, const std::vector<std::string>& todo) {
    int depth = int(at.size());
    for (const std::string& name : llvm::reverse(todo)) {
      depth += name == ".." ? -1 : 1;
      if (depth < 0)
        return true;
    }
    return false;
  }
};

std::string shown(const Resolution& resolution) {
  switch (resolution.outcome) {
  case Outcome::Found:
    return "at " + (resolution.path == "." ? "" : resolution.path);
  case Outcome::Absent:
    return "absent";
  case Outcome::Outside:
    return "outside";
  case Outcome::Refused:
    return "refused";
  case Outcome::Failed:
    return resolution.failure == Failure::NotADirectory  ? "notdir"
           : resolution.failure == Failure::TooManyLinks ? "loop"
           : resolution.failure == Failure::InvalidPath  ? "invalid"
                                                         : phrase(resolution.failure).str();
  }
  return {};
}

std::string randomPath(std::mt19937& random, const std::string& root) {
  static const char* const kNames[] = {"a", "b", "c", "..", ".", "a", "b", ".."};
  std::string path;
  if (random() % 12 == 0)
    path = random() % 3 ? root + "/" : "/etc/";
  const unsigned count = 1 + random() % 5;
  for (unsigned index = 0; index != count; ++index) {
    path += kNames[random() % 8];
    if (index + 1 != count || random() % 8 == 0)
      path += random() % 10 == 0 ? "//" : "/";
  }
  return path;
}

void grow(TempTree& tree, Model& model, std::mt19937& random) {
  model[""] = {Node::Directory, ""};
  std::vector<std::string> directories = {""};
  for (int index = 0; index != 14; ++index) {
    const std::string& parent = directories[random() % directories.size()];
    const std::string path =
        (parent.empty() ? "" : parent + "/") + std::string(1, char('a' + random() % 3));
    if (model.count(path))
      continue;
    switch (random() % 7) {
    case 0:
    case 1:
    case 2:
      ::mkdir(tree.at(path).c_str(), 0755);
      model[path] = {Node::Directory, ""};
      directories.push_back(path);
      break;
    case 3:
      tree.file(path, path);
      model[path] = {Node::File, path};
      break;
    case 4:
      ::mkfifo(tree.at(path).c_str(), 0644);
      model[path] = {Node::Fifo, ""};
      break;
    default: {
      const std::string text = randomPath(random, tree.root());
      tree.link(path, text);
      model[path] = {Node::Link, text};
    }
    }
  }
}
} // namespace

TEST_CASE("both roads and a model without a kernel agree on random trees") {
  const bool full = std::getenv("GOS_FULL") != nullptr;
  size_t outcomes[3] = {};
  for (unsigned seed = 0; seed != (full ? 2000u : 120u); ++seed) {
    std::mt19937 random(seed);
    TempTree tree;
    Model model;
    grow(tree, model, random);
    const Oracle oracle{model, tree.root()};
    Root fast = llvm::cantFail(Root::open(tree.root()));
    Root walk = llvm::cantFail(Root::open(tree.root()));
    walk.setRoad(Road::WalkOnly);
    for (int round = 0; round != 150; ++round) {
      const std::string path = randomPath(random, tree.root());
      INFO("seed ", seed, " path ", path);
      for (FollowLast follow : {FollowLast::No, FollowLast::Yes}) {
        const std::string expected = oracle.resolve(path, follow == FollowLast::Yes);
        const Queried a = fast.query("", path, follow), b = walk.query("", path, follow);
        REQUIRE(shown(a.resolution) == expected);
        REQUIRE(shown(b.resolution) == expected);
        REQUIRE(a.resolution.path == b.resolution.path);
        REQUIRE(a.facts.kind == b.facts.kind);
        ++outcomes[expected == "outside" ? 0 : llvm::StringRef(expected).starts_with("at") ? 1 : 2];
      }
      OpenedFile a = fast.openFile("", path), b = walk.openFile("", path);
      REQUIRE(a.resolution.outcome == b.resolution.outcome);
      REQUIRE(a.resolution.failure == b.resolution.failure);
      REQUIRE(a.resolution.path == b.resolution.path);
      REQUIRE(a.resolution.leadingOut.path == b.resolution.leadingOut.path);
      if (a.resolution.found()) {
        const Node& node = model.at(a.resolution.path);
        REQUIRE(node.kind == Node::File);
        REQUIRE(readAll(a.fd.get(), 100).bytes == node.text);
        REQUIRE(readAll(b.fd.get(), 100).bytes == node.text);
      }
      const Listing left = fast.list("", path), right = walk.list("", path);
      REQUIRE(left.resolution.outcome == right.resolution.outcome);
      REQUIRE(left.entries.size() == right.entries.size());
    }
  }
  // The trees are worth walking: each kind of answer came up, often.
  for (size_t count : outcomes)
    CHECK(count > 1000);
}
