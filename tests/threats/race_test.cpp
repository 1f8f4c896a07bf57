// T018: a partner exchanges entries of the tree while a fold reads. First the rig has to beat a
// version that checks and then opens; then nothing of the outside may show: no byte, name, kind or
// size.

#include "tests/threats/support.h"

#include "sandbox/beneath.h"
#include "sandbox/policy/presets.h"

#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace gos::threats {
namespace {

using llvm::StringRef;

constexpr unsigned kExchange = 2; // RENAME_EXCHANGE

bool exchange(const std::string& a, const std::string& b) {
  return ::syscall(SYS_renameat2, AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), kExchange) == 0;
}

/// Exchanges pairs of names in a tight loop; mostly the inside is in place, so that folds get
/// somewhere.
class Partner {
public:
  Partner(std::vector<std::pair<std::string, std::string>> pairs, unsigned restMicroseconds)
      : pairs_(std::move(pairs)), rest_(restMicroseconds) {
    thread_ = std::thread([this] {
      uint32_t state = 12345;
      while (!stop_) {
        for (const auto& [a, b] : pairs_) {
          if (!exchange(a, b) || !exchange(a, b))
            failed_ = true;
          ++rounds_;
          state = state * 1664525u + 1013904223u;
          const auto until = std::chrono::steady_clock::now() +
                             std::chrono::microseconds(rest_ ? (state >> 8) % rest_ : 0);
          while (std::chrono::steady_clock::now() < until && !stop_) {
          }
        }
      }
    });
  }
  ~Partner() { finish(); }
  void finish() {
    stop_ = true;
    if (thread_.joinable())
      thread_.join();
  }
  uint64_t rounds() const { return rounds_; }
  /// Waits until it has gone on, whatever else this machine does.
  void takeTurn() const {
    for (const uint64_t now = rounds_; rounds_ == now;)
      std::this_thread::yield();
  }
  bool failed() const { return failed_; }

private:
  std::vector<std::pair<std::string, std::string>> pairs_;
  unsigned rest_;
  std::atomic<bool> stop_ = false, failed_ = false;
  std::atomic<uint64_t> rounds_ = 0;
  std::thread thread_;
};

/// R/a/b/c/leaf.txt is "inside"; for each step there is a link beside it that leads to the same
/// names outside, with other contents, sizes, kinds and entries.
struct RaceTree : Tree {
  RaceTree() {
    write("a/b/c/leaf.txt", "inside");
    write(out("b/c/leaf.txt"), token() + token());
    write(out("b/c/only-outside.txt"), token());
    write(out("c/leaf.txt"), token() + token());
    write(out("c/only-outside.txt"), token());
    directory(out("leaf.txt"));
    write(out("only-outside.txt"), token());
    link("swap-leaf", out("b/c/leaf.txt"));
    link("swap-c", out("b/c"));
    link("swap-b", out("b"));
    link("swap-a", outside());
  }
  std::vector<std::pair<std::string, std::string>> pairs() const {
    return {{in("a/b/c/leaf.txt"), in("swap-leaf")},
            {in("a/b/c"), in("swap-c")},
            {in("a/b"), in("swap-b")},
            {in("a"), in("swap-a")}};
  }
};

bool canExchange(const Tree& tree) {
  tree.write("x1", "");
  tree.write("x2", "");
  return exchange(tree.in("x1"), tree.in("x2"));
}

TEST_CASE("T018 the rig beats a version that checks and then opens") {
  RaceTree tree;
  if (!canExchange(tree)) {
    skipPart("T018", "this file system has no RENAME_EXCHANGE");
    return;
  }
  Partner partner({tree.pairs().front()}, 0);
  const std::string path = tree.in("a/b/c/leaf.txt");
  bool leaked = false;
  uint64_t tries = 0;
  // What stands between the check and the open may take any time: there the partner has its turn.
  while (!leaked && tries < 1'000'000) {
    ++tries;
    char* real = ::realpath(path.c_str(), nullptr);
    const bool inside = real && StringRef(real).starts_with(tree.root());
    std::free(real);
    if (!inside)
      continue;
    partner.takeTurn();
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
      continue;
    char buffer[256];
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    ::close(fd);
    leaked = got > 0 && StringRef(buffer, size_t(got)).contains(tree.token());
  }
  CHECK_MESSAGE(leaked, "no leak in " << tries << " tries: the rig proves nothing here");
  MESSAGE("check-then-open leaks after " << tries << " tries");
}

TEST_CASE("T018 nothing of the outside is opened beneath a root, in either road") {
  RaceTree tree;
  if (!canExchange(tree)) {
    skipPart("T018", "this file system has no RENAME_EXCHANGE");
    return;
  }
  const uint64_t wanted = fullRun() ? 250'000 : 40'000;
  for (Road road : {Road::FastThenWalk, Road::WalkOnly}) {
    auto opened = Root::open(tree.root());
    REQUIRE(bool(opened));
    opened->setRoad(road);
    opened->setPolicy(comptimePolicy(ComptimeIo::Confined, opened->realPath()));
    uint64_t reads = 0, refused = 0, found = 0, wrong = 0;
    Partner partner(tree.pairs(), 30);
    // And more until both states were met.
    const auto met = [&] { return found > wanted / 100 && refused > 0; };
    for (; reads < wanted || (!met() && reads < 100 * wanted); ++reads) {
      switch (reads % 5) {
      case 0:
      case 1: {
        const OpenedFile file = opened->openFile("", "a/b/c/leaf.txt");
        if (!file.resolution.found()) {
          ++refused;
          break;
        }
        ++found;
        const ReadBytes bytes = gos::readAll(file.fd.get(), 1024);
        wrong += bytes.bytes != "inside" || file.facts.size != 6;
        break;
      }
      case 2: {
        const Queried query = opened->query("", "a/b/c/only-outside.txt", FollowLast::Yes);
        wrong += query.resolution.found();
        break;
      }
      case 3: {
        const Queried query = opened->query("", "a/b/c/leaf.txt", FollowLast::Yes);
        if (query.resolution.found()) {
          ++found;
          wrong += query.facts.size != 6 || query.facts.kind != FileKind::File;
        }
        break;
      }
      case 4: {
        const Listing listing = opened->list("", "a/b/c");
        for (const DirectoryEntry& entry : listing.entries)
          wrong += entry.name != "leaf.txt";
        break;
      }
      }
    }
    partner.finish();
    CHECK(wrong == 0);
    CHECK_MESSAGE(found > wanted / 100, "the fold saw nothing: " << found);
    CHECK_MESSAGE(refused > 0, "the partner never got in between");
    MESSAGE(reads << " reads, " << found << " found, " << refused << " refused, "
                  << partner.rounds() << " rounds");
  }
}

TEST_CASE("T018 a root that is exchanged itself stays what it was") {
  RaceTree tree;
  if (!canExchange(tree)) {
    skipPart("T018", "this file system has no RENAME_EXCHANGE");
    return;
  }
  tree.write(tree.out("a/b/c/leaf.txt"), tree.token());
  auto opened = Root::open(tree.root());
  REQUIRE(bool(opened));
  opened->setPolicy(comptimePolicy(ComptimeIo::Confined, opened->realPath()));
  Partner partner({{tree.root(), tree.outside()}}, 5);
  uint64_t wrong = 0, found = 0;
  for (int i = 0; i < (fullRun() ? 200'000 : 20'000); ++i) {
    const OpenedFile file = opened->openFile("", "a/b/c/leaf.txt");
    if (!file.resolution.found())
      continue;
    ++found;
    wrong += gos::readAll(file.fd.get(), 1024).bytes != "inside";
  }
  partner.finish();
  CHECK(wrong == 0);
  CHECK(found > 0);
}

TEST_CASE("T018 folds of the tool itself read what lies inside, or are refused") {
  RaceTree tree;
  if (!canExchange(tree)) {
    skipPart("T018", "this file system has no RENAME_EXCHANGE");
    return;
  }
  // A round prints its number, so that the reads of a fold that is refused are counted too.
  tree.write(
      "main.gos",
      "use std::fs\nuse std::path\n\n"
      "fn round(i: i64) {\n"
      "    print!(\"{} \", i)\n"
      "    let text = fs::read_to_string(\"a/b/c/leaf.txt\").unwrap_or(\"inside\")\n"
      "    if text != \"inside\" { panic!(\"LEAK bytes {}\", text.len()) }\n"
      "    if fs::exists(\"a/b/c/only-outside.txt\") { panic!(\"LEAK name\") }\n"
      "    let size = fs::file_size(\"a/b/c/leaf.txt\")\n"
      "    if size != 6 && size > 0 { panic!(\"LEAK size {}\", size) }\n"
      "    match i % 4 {\n"
      "        0 => {\n"
      "            match fs::read_dir(\"a/b/c\") {\n"
      "                Ok(entries) => for entry in entries { if entry.name != \"leaf.txt\" { panic!(\"LEAK entry {}\", entry.name) } }\n"
      "                Err(_) => {}\n"
      "            }\n"
      "        }\n"
      "        1 => {\n"
      "            let _ = fs::walk_dir(\"a\", |entry| {\n"
      "                if entry.name == \"only-outside.txt\" { panic!(\"LEAK walk\") }\n"
      "                Ok(())\n"
      "            })\n"
      "        }\n"
      "        2 => {\n"
      "            match path::glob(\"a/b/*/*\") {\n"
      "                Ok(names) => for name in names { if name.contains(\"only-outside\") { panic!(\"LEAK glob\") } }\n"
      "                Err(_) => {}\n"
      "            }\n"
      "        }\n"
      "        _ => {\n"
      "            match fs::open(\"a/b/c/leaf.txt\") {\n"
      "                Ok(file) => for again in 0..4 {\n"
      "                    let bytes = file.read_at(0, 100).unwrap()\n"
      "                    if bytes.len() != 6 { panic!(\"LEAK read_at\") }\n"
      "                }\n"
      "                Err(_) => {}\n"
      "            }\n"
      "        }\n"
      "    }\n"
      "}\n\n"
      "const ANSWER: i64 = comptime {\n    for i in 0..5000 { round(i) }\n    5000\n}\n\nfn main() {}\n");
  const uint64_t wanted = fullRun() ? 200'000 : 20'000;
  uint64_t reads = 0, runs = 0, denied = 0, finished = 0;
  const auto start = std::chrono::steady_clock::now();
  const auto limit = std::chrono::seconds(fullRun() ? 1200 : 90);
  {
    Partner partner(tree.pairs(), 60);
    // The time bounds only what is beyond that.
    const auto enough = [&] { return denied > 0 && reads >= wanted / 10; };
    while (reads < wanted && (!enough() || std::chrono::steady_clock::now() - start < limit)) {
      const Outcome outcome = launch(command(tree, "check", Level::Confined, {}));
      checkOutcome(outcome, tree);
      const StringRef err = outcome.err;
      CHECK_MESSAGE(!err.contains("panicked: LEAK"), err.take_front(2000).str());
      const bool refused = err.contains("GX0010");
      // An ordinary error is fine as well: the tree changed under a walk.
      CHECK_MESSAGE((outcome.exitCode == 0 || outcome.exitCode == 1), outcome.exitCode);
      CHECK_MESSAGE((outcome.exitCode == 0 || refused || err.contains("GC0003")),
                    err.take_front(2000).str());
      ++runs;
      denied += refused;
      finished += outcome.exitCode == 0;
      // The last number that was printed; three to eight reads a round.
      const size_t printed = err.find("printed: ");
      if (printed == StringRef::npos)
        continue;
      const StringRef line = err.substr(printed + 9).split('\n').first.rtrim();
      uint64_t last = 0;
      if (!line.rsplit(' ').second.getAsInteger(10, last))
        reads += (last + 1) * 4;
    }
  }
  CHECK_MESSAGE(denied > 0, "the partner never got in between");
  CHECK_MESSAGE(reads >= wanted / 10, "only " << reads << " reads in " << runs << " runs");
  MESSAGE(reads << " reads in " << runs << " folds, " << denied << " refused, " << finished
                << " finished");
}

} // namespace
} // namespace gos::threats
