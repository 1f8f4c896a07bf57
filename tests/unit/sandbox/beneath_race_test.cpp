// T018: a partner exchanges entries of the tree while paths are resolved. Whatever the moment, what
// comes back lies inside, or is a refusal. GOS_FULL=1 takes the long run.

#include "sandbox/beneath.h"

#include "temp_tree.h"

#include <atomic>
#include <cstring>
#include <linux/fs.h>
#include <sys/syscall.h>
#include <thread>

using namespace gos;
using gos::test::TempTree;

namespace {
/// Exchanges two names until it is destroyed.
class Partner {
public:
  Partner(std::string a, std::string b)
      : thread_([this, a = std::move(a), b = std::move(b)] {
          while (!stop_.load(std::memory_order_relaxed)) {
            ::syscall(SYS_renameat2, AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE);
            ++swaps_;
          }
        }) {}
  ~Partner() {
    stop_ = true;
    thread_.join();
  }
  /// Waits until it has gone on, whatever else this machine does.
  void takeTurn() const {
    for (const size_t now = swaps_; swaps_ == now;)
      std::this_thread::yield();
  }

private:
  std::atomic<bool> stop_{false};
  std::atomic<size_t> swaps_{0};
  std::thread thread_;
};

size_t rounds() {
  return std::getenv("GOS_FULL") ? 200000 : 20000;
}

bool isCanary(const std::string& bytes) {
  return bytes.find(TempTree::kCanary) != std::string::npos;
}

/// The way it must not be done. What stands between the two may take any time.
bool checkThenOpenLeaks(const std::string& path, const Partner& partner) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    return false;
  partner.takeTurn();
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  char buffer[64] = {};
  const ssize_t got = ::read(fd, buffer, sizeof buffer - 1);
  ::close(fd);
  return got > 0 && isCanary(buffer);
}

struct Tally {
  size_t found = 0, denied = 0;
};

void race(const TempTree& tree, Road road, const std::string& path, Tally& tally) {
  Root root = llvm::cantFail(Root::open(tree.root()));
  root.setRoad(road);
  // And more until both states were met.
  const auto met = [&] { return tally.found != 0 && tally.denied != 0; };
  for (size_t round = 0; round < rounds() || (!met() && round < 100 * rounds()); ++round) {
    OpenedFile file = root.openFile("", path);
    if (file.resolution.found()) {
      ++tally.found;
      const std::string bytes = readAll(file.fd.get(), 100).bytes;
      REQUIRE(bytes == "inside");
    }
    tally.denied += file.resolution.denied();
    const Queried queried = root.query("", path, FollowLast::Yes);
    if (queried.resolution.found() && queried.facts.kind == FileKind::File)
      REQUIRE(queried.facts.size == 6);
    if (round % 8 == 0) {
      const size_t slash = path.rfind('/');
      const Listing listing =
          root.list("", slash == std::string::npos ? "." : path.substr(0, slash));
      for (const DirectoryEntry& entry : listing.entries)
        REQUIRE(entry.name != "secret");
    }
  }
}
} // namespace

TEST_CASE("the race rig beats a check that is followed by an open") {
  TempTree tree;
  tree.file("leaf");
  tree.link("other", "../X");
  Partner partner(tree.at("leaf"), tree.at("other"));
  size_t leaks = 0;
  for (size_t round = 0; round != 2000000 && leaks == 0; ++round)
    leaks += checkThenOpenLeaks(tree.at("leaf"), partner);
  CHECK(leaks != 0);
}

TEST_CASE("T018 exchanging the leaf with a link that leads out leaks nothing") {
  for (Road road : {Road::FastThenWalk, Road::WalkOnly}) {
    TempTree tree;
    tree.file("leaf");
    tree.link("other", "../X");
    Tally tally;
    {
      Partner partner(tree.at("leaf"), tree.at("other"));
      race(tree, road, "leaf", tally);
    }
    // Both states were met, so the rig did race.
    CHECK(tally.found != 0);
    CHECK(tally.denied != 0);
  }
}

TEST_CASE("T018 exchanging a directory above with a link that leads out leaks nothing") {
  for (Road road : {Road::FastThenWalk, Road::WalkOnly}) {
    TempTree tree;
    tree.file("a/b/x");
    tree.link("other", "../outside");
    ::mkdir((tree.base() + "/outside/b").c_str(), 0755);
    std::ofstream(tree.base() + "/outside/b/x") << TempTree::kCanary;
    Tally tally;
    {
      Partner partner(tree.at("a"), tree.at("other"));
      race(tree, road, "a/b/x", tally);
      race(tree, road, "a/b/../b/x", tally);
    }
    CHECK(tally.found != 0);
    CHECK(tally.denied != 0);
  }
}

TEST_CASE("T018 exchanging the middle directory while links lead through it leaks nothing") {
  TempTree tree;
  tree.file("a/b/x");
  tree.link("a/other", "../../outside");
  tree.link("way", "a/b/x");
  std::ofstream(tree.base() + "/outside/x") << TempTree::kCanary;
  Tally tally;
  {
    Partner partner(tree.at("a/b"), tree.at("a/other"));
    race(tree, Road::FastThenWalk, "way", tally);
  }
  CHECK(tally.found != 0);
  CHECK(tally.denied != 0);
}

TEST_CASE("T018 a walk opens each child beneath its parent, whatever is exchanged") {
  TempTree tree;
  tree.file("a/in/x");
  tree.link("a/other", "../../outside");
  Root root = llvm::cantFail(Root::open(tree.root()));
  Partner partner(tree.at("a/in"), tree.at("a/other"));
  const OpenedDirectory top = root.openDirectory("", "a");
  for (size_t round = 0; round != rounds(); ++round) {
    const OpenedDirectory child = root.openChildDirectory(top, "in");
    for (const DirectoryEntry& entry : root.listOpened(child).entries)
      REQUIRE(entry.name == "x");
  }
}

TEST_CASE("a descriptor that was opened reads the same file after its name was exchanged") {
  TempTree tree;
  tree.file("leaf");
  tree.link("other", "../X");
  const Root root = llvm::cantFail(Root::open(tree.root()));
  const OpenedFile file = root.openFile("", "leaf");
  REQUIRE(file.resolution.found());
  REQUIRE(::syscall(SYS_renameat2, AT_FDCWD, tree.at("leaf").c_str(), AT_FDCWD,
                    tree.at("other").c_str(), RENAME_EXCHANGE) == 0);
  CHECK(readAll(file.fd.get(), 100).bytes == "inside");
  CHECK(root.openFile("", "leaf").resolution.outcome == Outcome::Outside);
}
