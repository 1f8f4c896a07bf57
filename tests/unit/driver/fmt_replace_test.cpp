// What gos fmt keeps of a file when it writes it, which files it does not write, and what is left
// when it cannot.

#include "tests/support/room.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <string>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace fs = std::filesystem;
using gos::test::ChildResult;
using gos::test::holds;
using gos::test::Room;

namespace {

constexpr const char* kUgly = "fn  main( ) {println!( \"a\" )}\n";
constexpr const char* kTidy = "fn main() { println!(\"a\") }\n";

struct stat statusOf(const Room& room, const std::string& name) {
  struct stat status{};
  REQUIRE(::stat(room.path(name).c_str(), &status) == 0);
  return status;
}

/// About 4,000 bytes that are laid out as six times as many.
std::string growing() {
  std::string text;
  for (unsigned i = 0; i < 5; ++i)
    text += "fn f" + std::to_string(i) + "() {\n";
  for (unsigned i = 0; i < 950; ++i)
    text += "g()\n";
  return text + "}\n}\n}\n}\n}\n";
}

/// Lays `big.gos` out where a file may have 4,096 or, as some shells count, 8,192 bytes.
ChildResult fmtWithSmallFiles(const Room& room) {
  return room.shell("trap '' XFSZ; ulimit -f 8; gos fmt big.gos");
}

} // namespace

TEST_CASE("a file that may not be written is named and left as it is, whoever asks") {
  const Room room;
  room.write("a.gos", kUgly).write("b.gos", kUgly).write("tidy.gos", kTidy);
  for (const char* name : {"a.gos", "tidy.gos"})
    ::chmod(room.path(name).c_str(), 0444);
  const struct stat before = statusOf(room, "a.gos");
  const ChildResult result = room.gos({"fmt"});
  CHECK(result.exitedWith(1));
  CHECK(result.err == "gos: error: `a.gos` may not be written; it is left as it is\n");
  CHECK(result.out == "laid out b.gos\n");
  CHECK(room.read("a.gos") == kUgly);
  const struct stat after = statusOf(room, "a.gos");
  CHECK(after.st_ino == before.st_ino);
  CHECK((after.st_mode & 07777) == 0444);
  CHECK(room.entries() == 3);
  // There is nothing to write to a file that is laid out, and --check writes nothing.
  CHECK(room.gos({"fmt", "tidy.gos"}).exitedWith(0));
  const ChildResult check = room.gos({"fmt", "--check", "a.gos"});
  CHECK(check.exitedWith(1));
  CHECK(holds(check.out, "+fn main()"));
  CHECK(!holds(check.err, "may not be written"));
}

TEST_CASE("behind a link that is named the file is laid out, and the link stays") {
  const Room room;
  room.write("far/target.gos", kUgly);
  fs::create_symlink("far/target.gos", room.path("link.gos"));
  fs::create_symlink("link.gos", room.path("link2.gos"));
  const ChildResult result = room.gos({"fmt", "link2.gos", "link.gos"});
  CHECK(result.exitedWith(0));
  CHECK(result.out == "laid out link2.gos\n");
  CHECK(room.read("far/target.gos") == kTidy);
  CHECK(fs::read_symlink(room.path("link.gos")) == "far/target.gos");
  CHECK(fs::read_symlink(room.path("link2.gos")) == "link.gos");
  CHECK(room.entries("far") == 1);

  fs::create_symlink("nothing.gos", room.path("dangling.gos"));
  fs::create_symlink("round.gos", room.path("round.gos"));
  for (const char* name : {"dangling.gos", "round.gos"}) {
    const ChildResult broken = room.gos({"fmt", name});
    CHECK(broken.exitedWith(1));
    CHECK(holds(broken.err, std::string("cannot read `") + name + "`"));
    CHECK(fs::is_symlink(room.path(name)));
  }
  CHECK(!room.exists("nothing.gos"));
}

TEST_CASE("a file that has two names has both afterwards, with the new text") {
  const Room room;
  room.write("a.gos", kUgly);
  fs::create_hard_link(room.path("a.gos"), room.path("b.gos"));
  const struct stat before = statusOf(room, "a.gos");
  CHECK(room.gos({"fmt", "a.gos"}).exitedWith(0));
  CHECK(room.read("a.gos") == kTidy);
  CHECK(room.read("b.gos") == kTidy);
  CHECK(statusOf(room, "b.gos").st_ino == before.st_ino);
  CHECK(room.entries() == 2);
}

TEST_CASE("the owner of a file stays") {
  if (::geteuid() != 0) {
    MESSAGE("skipped: only root gives a file away");
    return;
  }
  const Room room;
  room.write("a.gos", kUgly);
  const std::string path = room.path("a.gos");
  REQUIRE(::chown(path.c_str(), 4711, 4712) == 0);
  REQUIRE(::chmod(path.c_str(), 0640) == 0);
  CHECK(room.gos({"fmt", "a.gos"}).exitedWith(0));
  CHECK(room.read("a.gos") == kTidy);
  const struct stat after = statusOf(room, "a.gos");
  CHECK(after.st_uid == 4711);
  CHECK(after.st_gid == 4712);
  CHECK((after.st_mode & 07777) == 0640);
}

TEST_CASE("the extended attributes of a file stay") {
  const Room room;
  room.write("a.gos", kUgly);
  const std::string path = room.path("a.gos");
  if (::setxattr(path.c_str(), "user.note", "kept", 4, 0) != 0) {
    MESSAGE("skipped: the file system of /tmp has no attributes for users");
    return;
  }
  CHECK(room.gos({"fmt", "a.gos"}).exitedWith(0));
  CHECK(room.read("a.gos") == kTidy);
  char value[8] = {};
  CHECK(::getxattr(path.c_str(), "user.note", value, sizeof value) == 4);
  CHECK(std::string(value) == "kept");
}

TEST_CASE("where the new text cannot be written the old one is whole") {
  const Room room;
  room.write("big.gos", growing());
  const ChildResult result = fmtWithSmallFiles(room);
  CHECK(result.exitedWith(1));
  CHECK(holds(result.err, "cannot write `big.gos`"));
  CHECK(room.read("big.gos") == growing());
  CHECK(room.entries() == 1);
}

TEST_CASE("a file that is written in place gets its old text back when the new one does not fit") {
  const Room room;
  room.write("big.gos", growing());
  fs::create_hard_link(room.path("big.gos"), room.path("other.gos"));
  const ChildResult result = fmtWithSmallFiles(room);
  CHECK(result.exitedWith(1));
  CHECK(holds(result.err, "cannot write `big.gos`"));
  CHECK(room.read("big.gos") == growing());
  CHECK(room.read("other.gos") == growing());
  CHECK(room.entries() == 2);
  // Without the limit it fits.
  CHECK(room.gos({"fmt", "big.gos"}).exitedWith(0));
  CHECK(room.read("other.gos").size() > 16384);
}
