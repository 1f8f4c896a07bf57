// gos fmt from outside: what it writes, what it leaves alone, and what it says.

#include "tests/support/room.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;
using gos::test::ChildResult;
using gos::test::holds;

namespace {

constexpr const char* kUgly = "fn  main( ) {println!( \"a\" )}\n";
constexpr const char* kTidy = "fn main() { println!(\"a\") }\n";

class Room : public gos::test::Room {
public:
  ChildResult run(std::vector<std::string> arguments, const std::string& input = "",
                  const std::string& directory = "") const {
    arguments.insert(arguments.begin(), "fmt");
    return gos(std::move(arguments), input, directory);
  }
};

} // namespace

TEST_CASE("gos fmt lays out a file in place and keeps its mode") {
  const Room room;
  room.write("a.gos", kUgly);
  ::chmod(room.path("a.gos").c_str(), 0750);
  const ChildResult result = room.run({"a.gos"});
  CHECK(result.exitedWith(0));
  CHECK(result.out == "laid out a.gos\n");
  CHECK(room.read("a.gos") == kTidy);
  struct stat status;
  REQUIRE(::stat(room.path("a.gos").c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0750);
  CHECK(room.entries() == 1);
  // What is laid out is not written again.
  const ino_t before = status.st_ino;
  CHECK(room.run({"a.gos"}).out.empty());
  REQUIRE(::stat(room.path("a.gos").c_str(), &status) == 0);
  CHECK(status.st_ino == before);
}

TEST_CASE("gos fmt --check changes nothing, shows the difference and exits with 1") {
  const Room room;
  room.write("src/a.gos", kUgly);
  room.write("src/b.gos", kTidy);
  const ChildResult result = room.run({"--check", "src"});
  CHECK(result.exitedWith(1));
  CHECK(holds(result.out, "--- src/a.gos\n+++ src/a.gos\n@@ -1,1 +1,1 @@\n-fn  main( )"));
  CHECK(!holds(result.out, "b.gos"));
  CHECK(holds(result.err, "1 file of 2 would change"));
  CHECK(room.read("src/a.gos") == kUgly);
  CHECK(room.run({"src"}).exitedWith(0));
  CHECK(room.run({"--check", "src"}).exitedWith(0));
}

TEST_CASE("gos fmt without operands means the whole project, from anywhere in it") {
  const Room room;
  room.write("p/project.toml", "[project]\nid = \"example.com/p\"\nversion = \"1.0.0\"\n");
  room.write("p/src/main.gos", kUgly);
  room.write("p/tests/t.gos", kUgly);
  room.write("p/.hidden/h.gos", kUgly);
  room.write("p/notes.txt", kUgly);
  CHECK(room.run({}, "", "p/src").exitedWith(0));
  CHECK(room.read("p/src/main.gos") == kTidy);
  CHECK(room.read("p/tests/t.gos") == kTidy);
  CHECK(room.read("p/.hidden/h.gos") == kUgly);
  CHECK(room.read("p/notes.txt") == kUgly);
}

TEST_CASE("gos fmt - reads standard input and writes standard output") {
  const Room room;
  const ChildResult result = room.run({"-"}, kUgly);
  CHECK(result.exitedWith(0));
  CHECK(result.out == kTidy);
  CHECK(room.run({"--check", "-"}, kUgly).exitedWith(1));
  CHECK(room.run({"--check", "-"}, kTidy).exitedWith(0));
  CHECK(room.run({"-", "a.gos"}, kTidy).exitedWith(2));
}

TEST_CASE("gos fmt leaves what is no program as it is, with its diagnostics, and does the rest") {
  const Room room;
  room.write("bad.gos", "fn main( {\n");
  room.write("good.gos", kUgly);
  const ChildResult result = room.run({"bad.gos", "good.gos", "missing.gos"});
  CHECK(result.exitedWith(1));
  CHECK(holds(result.err, "bad.gos:1:"));
  CHECK(holds(result.err, "missing.gos"));
  CHECK(room.read("bad.gos") == "fn main( {\n");
  CHECK(room.read("good.gos") == kTidy);
}

TEST_CASE("gos fmt passes over links in a directory, and over what is no file") {
  const Room room;
  room.write("outside/o.gos", kUgly);
  room.write("in/real.gos", kUgly);
  fs::create_symlink("../outside/o.gos", room.path("in/file.gos"));
  fs::create_directory_symlink("../outside", room.path("in/folder"));
  CHECK(room.run({"in"}).exitedWith(0));
  CHECK(room.read("in/real.gos") == kTidy);
  CHECK(room.read("outside/o.gos") == kUgly);
  CHECK(::mkfifo(room.path("in/pipe.gos").c_str(), 0600) == 0);
  CHECK(room.run({"in/pipe.gos"}).exitedWith(1));
  CHECK(room.run({"in"}).exitedWith(0));
}

TEST_CASE("the sources of this toolchain are laid out") {
  const Room room;
  const std::string top = GOS_SOURCE_DIR;
  // Programs that are wrong on purpose, or use what is not built yet, are no programs; all others
  // stand as they should.
  const ChildResult result = room.run({"--check", top + "/stdlib/prelude", top + "/examples",
                                       top + "/bench", top + "/tests/programs"});
  CHECK_MESSAGE(result.out.empty(), result.out);
  CHECK(!holds(result.err, "mistake of `gos fmt`"));
}
