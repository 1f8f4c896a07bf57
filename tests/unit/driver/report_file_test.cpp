// Where `gos test --coverage` and `--junit-out` are written, and over what they are not.

#include "tests/support/room.h"

#include <doctest/doctest.h>

#include <string>
#include <sys/stat.h>
#include <unistd.h>

using gos::test::ChildResult;
using gos::test::holds;

namespace {

const std::string kOptions[] = {"--coverage", "--junit-out"};

struct Room : gos::test::Room {
  Room() {
    write("project.toml", "[project]\nid = \"example.com/mathx\"\nversion = \"0.1.0\"\n");
    write("src/lib.gos",
          "pub fn one() -> i64 { 1 }\n\n#[test]\nfn is_one() { assert_eq(one(), 1) }\n");
  }
  mode_t mode(const std::string& name) const {
    struct stat status{};
    return ::lstat(path(name).c_str(), &status) == 0 ? status.st_mode : 0;
  }
};

bool isReport(const std::string& text) {
  return text.rfind("TN:\n", 0) == 0 || text.rfind("<?xml ", 0) == 0;
}

} // namespace

TEST_CASE("a report is written over no source, manifest or directory, and nothing runs then") {
  const Room room;
  room.write("src/lib.gos", "use std::fs\npub fn one() -> i64 { 1 }\n\n#[test]\nfn runs() {\n"
                            "    fs::write(\"ran\", \"x\").unwrap()\n    assert(true)\n}\n");
  room.write("linked", "").write("rust/src/lib.rs", "// rust\n");
  CHECK(room.shell("rm linked; ln -s src/lib.gos linked; ln -s nowhere dangling").exitedWith(0));
  const size_t before = room.entries();
  const std::string source = room.read("src/lib.gos"), manifest = room.read("project.toml");
  for (const std::string& option : kOptions)
    for (const char* name : {"src/lib.gos", "./src/../src/lib.gos", "linked", "project.toml",
                             "src/new.gos", "rust/src/lib.rs", "Cargo.toml", "project.lock", "src",
                             "src/", "dangling", "no/such/file"}) {
      CAPTURE(option);
      CAPTURE(name);
      const ChildResult result = room.shell("gos test " + option + "=" + name);
      CHECK(result.exitedWith(1));
      CHECK_MESSAGE(holds(result.err, "gos: error: cannot write `" + std::string(name) + "`: "),
                    result.err);
    }
  CHECK(room.read("src/lib.gos") == source);
  CHECK(room.read("project.toml") == manifest);
  CHECK(room.read("rust/src/lib.rs") == "// rust\n");
  CHECK_FALSE(room.exists("ran"));
  CHECK_FALSE(room.exists("nowhere"));
  CHECK(room.entries() == before);
}

TEST_CASE("a report is written over nothing that its unit was made of, whatever its name") {
  const Room room;
  // An entry without an ending, a file that a region read, and those of units that do not load.
  room.write("script", "#[test]\nfn t() { assert(true) }\n")
      .write("data", "input")
      .write("reads.gos", "use std::fs\nconst A: bool = comptime { fs::exists(\"data\") }\n"
                          "#[test]\nfn t() { assert(A) }\n")
      .write("broken", "let x: i64 = \"text\"\n")
      .write("fails.gos", "use std::fs\nconst A: i64 = comptime { if fs::exists(\"data\") { "
                          "panic!(\"no\") }\n 1 }\n#[test]\nfn t() { assert(A == 1) }\n");
  for (const std::string& option : kOptions) {
    CAPTURE(option);
    for (const char* name : {"script", "broken"}) {
      const std::string before = room.read(name);
      const ChildResult result = room.shell("gos test " + option + "=" + name + " --quiet " + name);
      CHECK(result.exitedWith(1));
      CHECK_MESSAGE(holds(result.err, "it is a source of this program"), result.err);
      CHECK(room.read(name) == before);
    }
    for (const char* name : {"reads.gos", "fails.gos"}) {
      const ChildResult result = room.shell("gos test " + option + "=data " + name);
      CHECK(result.exitedWith(1));
      CHECK_MESSAGE(holds(result.err, "error[GC0014]"), result.err);
      CHECK(room.read("data") == "input");
    }
  }
}

TEST_CASE("devices and pipes are written into and stay what they are") {
  const Room room;
  for (const std::string& option : kOptions) {
    CAPTURE(option);
    CHECK(room.shell("gos test " + option + "=/dev/null").exitedWith(0));
    CHECK(S_ISCHR(room.mode("../../dev/null")));
    const ChildResult full = room.shell("gos test " + option + "=/dev/full");
    CHECK(full.exitedWith(1));
    CHECK(holds(full.err, "cannot write `/dev/full`: no space left on device"));
    const ChildResult pipe =
        room.shell("mkfifo p; cat p > got & gos test " + option + "=p; code=$?; wait; exit $code");
    CHECK(pipe.exitedWith(0));
    CHECK(S_ISFIFO(room.mode("p")));
    CHECK(isReport(room.read("got")));
    const ChildResult output =
        room.shell("rm p got; gos test --quiet " + option + "=- 2>/dev/null");
    CHECK(output.exitedWith(0));
    CHECK_MESSAGE((holds(output.out, "TN:\n") || holds(output.out, "<?xml ")), output.out);
    CHECK_FALSE(room.exists("-"));
  }
  CHECK(room.shell("gos test --coverage=/dev/null --junit-out=/dev/null").exitedWith(0));
  // A device of a name of its own, for who may make one.
  if (::geteuid() == 0 && room.shell("mknod null c 1 3 && echo > null").exitedWith(0)) {
    CHECK(room.shell("gos test --coverage=null").exitedWith(0));
    CHECK(S_ISCHR(room.mode("null")));
  }
}

TEST_CASE("of a file that is there everything but the text stays") {
  const Room room;
  for (const std::string& option : kOptions) {
    CAPTURE(option);
    room.write("real", "old");
    CHECK(room.shell("chmod 640 real; rm -f link other; ln -s real link; ln real other; gos test " +
                     option + "=link")
              .exitedWith(0));
    CHECK(S_ISLNK(room.mode("link")));
    CHECK((room.mode("real") & 07777) == 0640);
    CHECK(isReport(room.read("real")));
    CHECK(room.read("other") == room.read("real"));
    // Again, over a file of one name.
    CHECK(room.shell("rm other; gos test " + option + "=real").exitedWith(0));
    CHECK((room.mode("real") & 07777) == 0640);
    CHECK(isReport(room.read("real")));
    // One that may not be written is not, for root either.
    room.write("kept", "mine");
    const ChildResult kept = room.shell("chmod 400 kept; gos test " + option + "=kept");
    CHECK(kept.exitedWith(1));
    CHECK(holds(kept.err, "cannot write `kept`: it may not be written"));
    CHECK(room.read("kept") == "mine");
    CHECK((room.mode("kept") & 07777) == 0400);
    CHECK(room.shell("rm kept real link; umask 027; gos test " + option + "=fresh").exitedWith(0));
    CHECK((room.mode("fresh") & 07777) == 0640);
    CHECK(room.shell("rm fresh").exitedWith(0));
  }
  CHECK(room.entries() == 2);
}

TEST_CASE("two reports are two files, however they are spelled") {
  const Room room;
  room.write("there", "old");
  CHECK(room.shell("ln there again; ln -s there link; mkfifo p").exitedWith(0));
  const char* rows[][2] = {{"new", "new"},     {"new", "./src/../new"}, {"there", "there"},
                           {"there", "again"}, {"link", "there"},       {"-", "-"},
                           {"p", "./p"}};
  for (const auto& row : rows) {
    CAPTURE(row[0]);
    CAPTURE(row[1]);
    const ChildResult result =
        room.shell(std::string("gos test --junit-out=") + row[0] + " --coverage=" + row[1]);
    CHECK(result.exitedWith(2));
    CHECK(holds(result.err, "`--junit-out` and `--coverage` are the same file"));
    CHECK(result.out.empty());
  }
  CHECK(room.read("there") == "old");
  CHECK_FALSE(room.exists("new"));
  CHECK(room.shell("gos test --junit-out=one --coverage=two").exitedWith(0));
  CHECK(room.read("one").rfind("<?xml ", 0) == 0);
  CHECK(room.read("two").rfind("TN:\n", 0) == 0);
}
