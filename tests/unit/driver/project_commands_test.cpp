// gos new and gos clean from outside.

#include "compiler/driver/project_files.h"
#include "tests/support/room.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;
using gos::test::ChildResult;
using gos::test::holds;
using gos::test::Room;

TEST_CASE("what gos new makes is laid out, has no diagnostics, and passes its tests") {
  const Room room;
  for (const std::string kind : {"bin", "lib"}) {
    const std::string name = "my-" + kind;
    CHECK(room.shell("gos new --template=" + kind + " " + name).exitedWith(0));
    const ChildResult fmt = room.shell("gos fmt --check " + name);
    CHECK_MESSAGE(fmt.exitedWith(0), fmt.out);
    const ChildResult check = room.shell("gos check --quiet " + name);
    CHECK(check.exitedWith(0));
    CHECK_MESSAGE(check.err.empty(), check.err);
    const ChildResult tests = room.shell("gos test " + name);
    CHECK_MESSAGE(tests.exitedWith(0), tests.out << tests.err);
    CHECK(holds(tests.out, " 0 failed"));
    CHECK(!holds(tests.out, "test: 0 passed"));
  }
  const ChildResult run = room.shell("gos run my-bin Ada");
  CHECK(run.out == "Hello, Ada!\n");
  CHECK(room.shell("gos new --template=binding rusty").exitedWith(0));
  CHECK(
      holds(room.read("rusty/project.toml"), "[rust-bindings]\nrusty_rust = { path = \"rust\" }"));
  CHECK(holds(room.read("rusty/rust/Cargo.toml"), "gossamer-binding = \"0.1\""));
  CHECK(holds(room.read("rusty/rust/src/lib.rs"), "#[gos_module(\"rusty_rust\")]"));
  CHECK(room.shell("gos fmt --check rusty").exitedWith(0));
}

TEST_CASE("gos new refuses a place that is taken and a name that is none, and leaves nothing") {
  const Room room;
  room.write("full/file", "x");
  room.write("plain", "x");
  fs::create_directory(room.path("empty"));
  fs::create_directory_symlink("empty", room.path("link"));
  const size_t before = room.entries();
  for (const char* name : {"full", "plain", "link", "9lives", "fn", "a.b", "'a b'", ".", "..",
                           "missing/project", "-- -x", "std", "--name=9lives new"}) {
    const ChildResult result = room.shell(std::string("gos new ") + name);
    CHECK_MESSAGE(result.exitedWith(1), name);
    CHECK_MESSAGE(holds(result.err, "gos: error: "), name);
  }
  CHECK(room.shell("gos new").exitedWith(2));
  CHECK(room.shell("gos new --name= new").exitedWith(2));
  CHECK(room.shell("gos new --template=web x").exitedWith(2));
  CHECK(room.entries() == before);
  CHECK(room.entries("empty") == 0);
  CHECK(room.read("full/file") == "x");
  CHECK(room.shell("gos new empty/").exitedWith(0));
  CHECK(room.exists("empty/src/main.gos"));
}

TEST_CASE("gos new starts a project in an empty directory, which may be a repository") {
  const Room room;
  for (const char* name : {"plain", "kept", "9lives", "full", "other"})
    fs::create_directory(room.path(name));
  room.write("kept/.git/HEAD", "ref: refs/heads/main\n");
  room.write("full/notes", "x");
  const ChildResult plain = room.shell("cd plain && gos new .");
  CHECK_MESSAGE(plain.exitedWith(0), plain.err);
  CHECK(holds(plain.out, "made `plain`:\n  project.toml\n"));
  CHECK(holds(plain.out, "try `gos run .`\n"));
  CHECK(holds(room.read("plain/project.toml"), "id = \"plain\""));
  CHECK(room.shell("cd plain && gos run . Ada").out == "Hello, Ada!\n");
  CHECK(room.shell("cd kept && gos new --template=lib .").exitedWith(0));
  CHECK(room.read("kept/.git/HEAD") == "ref: refs/heads/main\n");
  CHECK(room.shell("cd kept && gos test").exitedWith(0));
  CHECK(room.entries("kept") == 4); // .git, .gitignore, project.toml, src
  // A name that cannot be one is refused with what to do, and nothing is left behind.
  const ChildResult lives = room.shell("cd 9lives && gos new .");
  CHECK(lives.exitedWith(1));
  CHECK(holds(lives.err, "`9lives` cannot name a project"));
  CHECK(holds(lives.err, "`--name=NAME` gives another one"));
  CHECK(room.entries("9lives") == 0);
  CHECK(room.shell("cd 9lives && gos new --name=lives .").exitedWith(0));
  CHECK(holds(room.read("9lives/project.toml"), "id = \"lives\""));
  const ChildResult full = room.shell("cd full && gos new .");
  CHECK(full.exitedWith(1));
  CHECK(holds(full.err, "`.` is not empty"));
  CHECK(room.entries("full") == 1);
  CHECK(room.shell("gos new other/.").exitedWith(0));
  CHECK(holds(room.read("other/project.toml"), "id = \"other\""));
}

TEST_CASE("gos new starts a project where no rename leaves alone what is there") {
  const Room room;
  fs::create_directory(room.path("plain"));
  ChildResult made;
  // What a thread starts has its filter: renameat2 answers as such a file system does.
  std::thread([&] {
    sock_filter refuse[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    sock_fprog program = {static_cast<unsigned short>(std::size(refuse)), refuse};
    REQUIRE(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    REQUIRE(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
    made = room.shell("cd plain && gos new --template=binding .");
  }).join();
  CHECK_MESSAGE(made.exitedWith(0), made.err);
  CHECK(room.entries("plain") == 4); // .gitignore, project.toml, rust, src
  CHECK(holds(room.read("plain/rust/src/lib.rs"), "#[gos_module(\"plain_rust\")]"));
  CHECK(room.shell("gos fmt --check plain").exitedWith(0));
}

TEST_CASE("files of a new project are put over nothing, and all of them or none") {
  using gos::driver::ProjectFile;
  const std::vector<ProjectFile> files = {
      {"project.toml", "manifest"}, {"src/main.gos", "main"}, {"src/deep/a.gos", "a"}, {"z", "z"}};
  const Room room;
  for (const char* name : {"free", "directory", "file", "manifest"})
    fs::create_directory(room.path(name));
  CHECK(gos::driver::writeInto(room.path("free"), files));
  CHECK(room.read("free/src/deep/a.gos") == "a");
  CHECK(room.entries("free") == 3);
  // Each has come while the project was made.
  fs::create_directory(room.path("directory/src"));
  room.write("file/z", "theirs");
  room.write("manifest/project.toml", "theirs");
  for (const char* name : {"directory", "file", "manifest"}) {
    CAPTURE(name);
    errno = 0;
    CHECK_FALSE(gos::driver::writeInto(room.path(name), files));
    CHECK(errno == EEXIST);
    CHECK(room.entries(name) == 1);
  }
  CHECK(room.entries("directory/src") == 0);
  CHECK(room.read("file/z") == "theirs");
  CHECK(room.read("manifest/project.toml") == "theirs");
}

TEST_CASE("gos clean removes what gos build wrote, and nothing else") {
  const Room room;
  CHECK(room.shell("gos new tool && cd tool && gos build").exitedWith(0));
  REQUIRE(room.exists("tool/tool"));
  const ChildResult cleaned = room.shell("cd tool && gos clean");
  CHECK(cleaned.exitedWith(0));
  CHECK(holds(cleaned.out, "removed `tool` (1 file, "));
  CHECK(!room.exists("tool/tool"));
  CHECK(room.exists("tool/src/main.gos"));
  CHECK(room.shell("gos clean tool").out == "nothing to remove\n");
  // A file of that name that is no built program is somebody's own.
  room.write("tool/tool", "mine");
  CHECK(room.shell("gos clean tool").exitedWith(1) != room.shell("gos clean tool").exitedWith(0));
  CHECK(room.read("tool/tool") == "mine");
}

TEST_CASE("gos clean removes a tree of any depth that a build left (T108)") {
  const Room room;
  CHECK(room.shell("gos new one").exitedWith(0));
  const std::string builds = ".cache/gossamer/bindings";
  room.write(builds + "/k1/project", fs::canonical(room.path("one")).string());
  std::string deep = builds + "/k1/target";
  for (int depth = 0; depth != 900; ++depth)
    deep += "/d";
  room.write(deep + "/file", "");
  // Where the tree is taken apart a directory is closed to its owner.
  std::string closed = builds + "/k1/target";
  for (int depth = 0; depth != 199; ++depth)
    closed += "/d";
  fs::permissions(room.path(closed + "/d"), fs::perms::none);
  const ChildResult cleaned = room.shell("gos clean one");
  CHECK_MESSAGE(cleaned.exitedWith(0), cleaned.err);
  CHECK(cleaned.err.empty());
  CHECK(holds(cleaned.out, "removed the Rust bindings of `"));
  CHECK(holds(cleaned.out, "(2 files, "));
  CHECK(room.entries(builds) == 0);
}

TEST_CASE("gos clean removes the bindings of one project or of all, and follows no link") {
  const Room room;
  CHECK(room.shell("gos new one").exitedWith(0));
  room.write("outside/keep", "x");
  const std::string builds = ".cache/gossamer/bindings/";
  room.write(builds + "aaaa/project", fs::canonical(room.path("one")).string());
  room.write(builds + "aaaa/target-none/deep/er/file", "1234");
  fs::create_directory_symlink(room.path("outside"), room.path(builds + "aaaa/target-none/away"));
  room.write(builds + "bbbb/project", "/somewhere/else");
  room.write(".cache/gossamer/cargo/registry", "x");
  fs::permissions(room.path(builds + "aaaa/target-none/deep"), fs::perms::none);
  const ChildResult one = room.shell("gos clean one");
  CHECK_MESSAGE(one.exitedWith(0), one.err);
  CHECK(holds(one.out, "removed the Rust bindings of `"));
  CHECK(!room.exists(builds + "aaaa"));
  CHECK(room.exists(builds + "bbbb"));
  CHECK(room.read("outside/keep") == "x");
  const ChildResult all = room.shell("gos clean --all");
  CHECK(all.exitedWith(0));
  CHECK(holds(all.out, "`/somewhere/else` (1 file, 15 bytes)"));
  CHECK(!room.exists(builds + "bbbb"));
  CHECK(room.exists(".cache/gossamer/cargo/registry"));
  CHECK(room.shell("gos clean --all").out == "nothing to remove\n");
  CHECK(room.shell("gos clean --all one").exitedWith(2));
}
