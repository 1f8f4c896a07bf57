// gos build from outside: what the executable does, where it goes, and what a failed build leaves.

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
using Scene = gos::test::Room;

namespace {

constexpr const char* kPanics =
    "fn deep(x: i64) -> i64 {\n"
    "    let s = \"\u00e4\u00f6\"; if x == 3 { panic!(\"three {}\", s) }\n"
    "    x\n"
    "}\n"
    "fn main() {\n"
    "    println!(\"before\")\n"
    "    println!(\"{}\", deep(3))\n"
    "}\n";

} // namespace

// ---- what the executable does -------------------------------------------------------------------

TEST_CASE("an executable runs without gos, its sources and its name") {
  const Scene scene;
  scene.write("hello.gos", "println!(\"hello\")\n");
  const ChildResult built = scene.shell("gos build hello.gos");
  CHECK(built.exitedWith(0));
  CHECK(built.err.rfind("built `hello` (", 0) == 0);
  CHECK(built.out.empty());
  const ChildResult run =
      scene.shell("rm hello.gos; mkdir away; mv hello 'away/a b'; cd away; env -i './a b'");
  CHECK(run.exitedWith(0));
  CHECK(run.out == "hello\n");
  CHECK(run.err.empty());
}

TEST_CASE("arguments, standard input and exit codes are the program's own") {
  const Scene scene;
  scene.write("echo.gos", "use std::env\nuse std::io\nuse std::process\n"
                          "fn main() {\n"
                          "    for word in env::args() { println!(\"<{}>\", word) }\n"
                          "    for line in io::stdin().lines() { println!(\"[{}]\", line) }\n"
                          "    process::exit(7)\n"
                          "}\n");
  const ChildResult ran = scene.shell("gos run echo.gos -- a 'b c' '' --help -o", "one\ntwo");
  CHECK(scene.shell("gos build echo.gos").exitedWith(0));
  const ChildResult built = scene.shell("./echo a 'b c' '' --help -o", "one\ntwo");
  CHECK(ran.exitedWith(7));
  CHECK(built.exitedWith(7));
  CHECK(built.err.empty());
  CHECK(built.out == ran.out);
  CHECK(holds(built.out, "<b c>\n<>\n<--help>\n<-o>\n"));
  CHECK(holds(built.out, "[one]\n[two]\n"));
}

TEST_CASE("a panic has the places of the sources, columns counted in characters") {
  const Scene scene;
  scene.project("p", kPanics);
  CHECK(scene.shell("cd p && gos build").exitedWith(0));
  const ChildResult ran = scene.shell("cd p && gos run .");
  const ChildResult built = scene.shell("mv p/tool . && rm -r p && ./tool");
  CHECK(ran.exitedWith(101));
  CHECK(built.exitedWith(101));
  CHECK(built.out == "before\n");
  CHECK(built.err == ran.err);
  CHECK(holds(built.err, "in deep at src/main.gos:2:"));
}

TEST_CASE("an Err that main answers is printed and is 1") {
  const Scene scene;
  scene.write("fails.gos", "fn main() -> Result<(), String> { Err(\"no luck\") }\n");
  CHECK(scene.shell("gos build fails.gos").exitedWith(0));
  const ChildResult built = scene.shell("./fails");
  CHECK(built.exitedWith(1));
  CHECK(built.err == "error: no luck\n");
}

TEST_CASE("a signal ends an executable as it ends any program") {
  const Scene scene;
  scene.write("waits.gos",
              "use std::io\nprintln!(\"waiting\")\nlet line = io::stdin().lines().next()\n");
  CHECK(scene.shell("gos build waits.gos").exitedWith(0));
  const ChildResult ended =
      scene.shell("mkfifo in out; ./waits <in >out & exec 3>in; read line <out; echo $line; "
                  "kill -TERM $!; wait $!; echo $?");
  CHECK(ended.out == "waiting\n143\n");
}

TEST_CASE("output that is lost is a panic, and a reader that went away ends it quietly") {
  const Scene scene;
  scene.write("hello.gos", "println!(\"hello\")\n");
  CHECK(scene.shell("gos build hello.gos").exitedWith(0));
  const ChildResult ran = scene.shell("gos run hello.gos >/dev/full");
  const ChildResult built = scene.shell("./hello >/dev/full");
  CHECK(built.exitedWith(101));
  CHECK(built.code == ran.code);
  CHECK(built.err == ran.err);
  CHECK(scene.shell("./hello >/dev/full 2>&1").exitedWith(101));
  CHECK(scene.shell("./hello >&- 2>&- <&-").exitedWith(0));
}

TEST_CASE("an executable that nobody may read is found by the kernel's own link") {
  const Scene scene;
  scene.write("hello.gos", "println!(\"hello\")\n");
  CHECK(scene.shell("gos build hello.gos && mkdir bin && mv hello bin/").exitedWith(0));
  CHECK(scene.shell("PATH=$PWD/bin:$PATH; hello").out == "hello\n");
  CHECK(scene.shell("ln -s bin/hello link && ./link").out == "hello\n");
  CHECK(
      scene.shell("cp bin/hello copy && chmod 111 copy && ./copy >/dev/null; echo $?").out.size() ==
      2);
}

TEST_CASE("an executable runs where there is no /proc") {
#ifdef GOS_SANITIZED
  MESSAGE("skipped: the run-time part of a sanitizer reads /proc");
  return;
#endif
  const Scene scene;
  scene.write("hello.gos", "println!(\"hello\")\n");
  CHECK(scene.shell("gos build hello.gos").exitedWith(0));
  const std::string hide =
      "unshare --user --map-root-user --mount sh -c 'mount -t tmpfs none /proc && ";
  if (!scene.shell(hide + "true'").exitedWith(0)) {
    MESSAGE("skipped: this host gives no mount namespace");
    return;
  }
  const ChildResult bare = scene.shell(hide + "test ! -e /proc/self && ./hello'");
  CHECK(bare.exitedWith(0));
  CHECK(bare.out == "hello\n");
}

// ---- damage -------------------------------------------------------------------------------------

TEST_CASE("an executable that was changed or cut off says so and runs nothing") {
  const Scene scene;
  scene.write("hello.gos", "println!(\"hello\")\n");
  CHECK(scene.shell("gos build hello.gos").exitedWith(0));
  const std::string whole = scene.read("hello");
  REQUIRE(whole.size() > 4096);
  const auto becomes = [&](const std::string& bytes, const char* why) {
    scene.write("bad", bytes);
    const ChildResult result = scene.shell("chmod 755 bad && ./bad");
    CAPTURE(why);
    CHECK(result.exitedWith(1));
    CHECK(result.out.empty());
    CHECK(result.err ==
          "./bad: error: this program is damaged: " + std::string(why) + "; build it again\n");
  };
  const auto flipped = [&](size_t fromEnd) {
    std::string bytes = whole;
    bytes[bytes.size() - fromEnd] = char(bytes[bytes.size() - fromEnd] ^ 1);
    return bytes;
  };
  becomes(flipped(1), "its end is missing");
  becomes(flipped(17), "its contents were changed");
  becomes(flipped(40), "its format is not the one of this runtime");
  becomes(flipped(73), "its contents were changed");  // the name
  becomes(flipped(100), "its contents were changed"); // the places
  for (size_t at : {whole.size() - 1, whole.size() - 100, whole.size() - 1000})
    becomes(whole.substr(0, at), "its end is missing");
  becomes(whole + "x", "its end is missing");
  // What is not a whole program is no program either: the bare runtime.
  const ChildResult bare = scene.shell("\"$GOS\"-runtime");
  CHECK(bare.exitedWith(1));
  CHECK(holds(bare.err, "this program is damaged: its end is missing"));
}

// ---- where it goes ------------------------------------------------------------------------------

TEST_CASE("a project's executable has the last part of its id and lies in the project") {
  const Scene scene;
  scene.project("p", "println!(\"hi\")\n");
  const ChildResult built = scene.shell("gos build p");
  CHECK(built.exitedWith(0));
  CHECK(built.err.rfind("built `p/tool` (", 0) == 0);
  CHECK(scene.shell("p/tool").out == "hi\n");
}

TEST_CASE("`project.output` names the file, and its directory is made") {
  const Scene scene;
  scene.project("p", "println!(\"hi\")\n", "output = \"bin/deep/app\"\n");
  CHECK(scene.shell("gos build p").exitedWith(0));
  CHECK(scene.shell("p/bin/deep/app").out == "hi\n");
}

TEST_CASE("a directory as output means the usual name in it, whoever names it") {
  const Scene scene;
  scene.project("p", "println!(\"hi\")\n", "output = \"bin/\"\n");
  const ChildResult made = scene.shell("gos build p && gos build p");
  CHECK(made.exitedWith(0));
  CHECK(holds(made.err, "built `p/bin/tool` ("));
  CHECK(holds(made.err, "`p/bin/tool` is up to date"));
  CHECK(scene.shell("p/bin/tool").out == "hi\n");
  CHECK(scene.shell("gos clean p && test ! -e p/bin/tool && test -d p/bin").exitedWith(0));
  scene.project("p", "println!(\"hi\")\n", "output = \"bin\"\n");
  CHECK(holds(scene.shell("gos build p").err, "built `p/bin/tool` (")); // it is there by now
  scene.write("hello.gos", "println!(\"hello\")\n");
  fs::create_directory(scene.path("out"));
  CHECK(scene.shell("gos build hello.gos -o out && out/hello").out == "hello\n");
  CHECK(scene.shell("gos build p -o out/ && out/tool").out == "hi\n");
  // Without `output` a directory of the project's name is in the way, as ever.
  scene.project("q", "println!(\"hi\")\n");
  fs::create_directory(scene.path("q/tool"));
  CHECK(holds(scene.shell("gos build q").err, "it is a directory"));
  CHECK(scene.entries("q/tool") == 0);
}

TEST_CASE("`-o -` is standard output, and no file of that name is made") {
  const Scene scene;
  scene.write("hello.gos", "println!(\"hello\")\n");
  const ChildResult result = scene.shell("gos build hello.gos -o - > app && chmod +x app && ./app");
  CHECK(result.out == "hello\n");
  CHECK(holds(result.err, "built `standard output` ("));
  CHECK_FALSE(scene.exists("-"));
  CHECK(scene.shell("gos build hello.gos -o ./- && ./-").out == "hello\n");
  const ChildResult full = scene.shell("gos build hello.gos -o - > /dev/full");
  CHECK(full.exitedWith(1));
  CHECK(holds(full.err, "cannot write `standard output`: no space left on device"));
}

TEST_CASE("an output of the project reaches through no link and replaces nothing of others") {
  const Scene scene;
  scene.write("outside/keep", "precious");
  scene.project("p", "println!(\"hi\")\n", "output = \"bin/keep\"\n");
  CHECK(scene.shell("ln -s ../outside p/bin").exitedWith(0));
  const ChildResult linked = scene.shell("gos build p");
  CHECK(linked.exitedWith(1));
  CHECK(holds(linked.err, "error[GJ0032]: cannot write `p/bin/keep`: `bin` is a link"));
  CHECK(scene.read("outside/keep") == "precious");
  CHECK(scene.entries("outside") == 1);

  scene.project("q", "println!(\"hi\")\n", "output = \"notes\"\n");
  scene.write("q/notes", "mine");
  const ChildResult there = scene.shell("gos build q");
  CHECK(there.exitedWith(1));
  CHECK(holds(there.err, "`gos build` did not write the file that is there"));
  CHECK(holds(there.err, "gos build -o q/notes"));
  CHECK(scene.read("q/notes") == "mine");
  CHECK(scene.shell("gos build q -o q/notes && q/notes").out == "hi\n");
  CHECK(scene.shell("rm q/notes; ln -s ../outside/keep q/notes; gos build q").exitedWith(1));
  CHECK(scene.read("outside/keep") == "precious");
}

TEST_CASE("a project does not choose a hidden place for its executable, a user may (T104)") {
  const Scene scene;
  scene.write("p/.git/hooks/kept", "");
  for (const char* place : {".git/hooks/post-commit", ".app", "bin/.x/app", "./.envrc"}) {
    CAPTURE(place);
    scene.project("p", "println!(\"hi\")\n", std::string("output = \"") + place + "\"\n");
    const ChildResult result = scene.shell("gos build p");
    CHECK(result.exitedWith(1));
    CHECK(holds(result.err, "a project does not choose a hidden place"));
    CHECK(holds(result.err, std::string("gos build -o p/") + place));
    CHECK_FALSE(scene.exists(std::string("p/") + place));
  }
  CHECK_FALSE(scene.exists("p/bin"));
  CHECK(scene.shell("gos build p -o p/.app && p/.app").out == "hi\n");
}

TEST_CASE("in a directory of the command line the name is still the project's choice") {
  const Scene scene;
  scene.write("home/Makefile", "mine");
  scene.write("home/target", "precious");
  CHECK(scene.shell("mkdir d && ln -s ../home/target d/linked && mkfifo d/pipe").exitedWith(0));
  scene.project("hidden", "println!(\"hi\")\n", "", ".bashrc");
  scene.project("make", "println!(\"hi\")\n", "", "Makefile");
  scene.project("link", "println!(\"hi\")\n", "", "linked");
  scene.project("pipe", "println!(\"hi\")\n", "", "pipe");
  scene.project("sub", "println!(\"hi\")\n", "output = \"sub/\"\n", ".envrc");
  scene.project("there", "println!(\"hi\")\n", "output = \"sub\"\n", ".envrc");
  scene.write("there/sub/keep", "");
  scene.write(".profile.gos", "println!(\"hi\")\n");
  const struct {
    const char* command;
    const char* why;
    const char* help;
  } rows[] = {
      {"gos build hidden -o home", "hidden place, and `.bashrc` is one", "-o home/.bashrc`"},
      {"gos build hidden -o home/", "hidden place, and `.bashrc` is one", "-o home/.bashrc`"},
      {"gos build hidden", "hidden place, and `.bashrc` is one", "-o hidden/.bashrc`"},
      {"gos build sub", "hidden place, and `.envrc` is one", "-o sub/sub/.envrc`"},
      {"gos build there", "hidden place, and `.envrc` is one", "-o there/sub/.envrc`"},
      {"gos build .profile.gos", "hidden place, and `.profile` is one", "-o .profile`"},
      {"gos build .profile.gos -o home", "hidden place", "-o home/.profile`"},
      {"gos build make -o home/", "did not write the file that is there", "-o home/Makefile`"},
      {"gos build link -o d", "it is a link", ""},
      {"gos build pipe -o d", "it is not a regular file", ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.command);
    const ChildResult result = scene.shell(row.command);
    CHECK(result.exitedWith(1));
    CHECK(holds(result.err, "error[GJ0032]: cannot write `"));
    CHECK_MESSAGE(holds(result.err, row.why), result.err);
    CHECK_MESSAGE(holds(result.err, row.help), result.err);
  }
  CHECK(scene.entries("home") == 2);
  CHECK(scene.read("home/Makefile") == "mine");
  CHECK(scene.read("home/target") == "precious");
  CHECK_FALSE(scene.exists("sub/sub")); // not even its directory is made
  CHECK(scene.entries("there/sub") == 1);
  CHECK_FALSE(scene.exists(".profile"));
  // What gos built before is replaced, and a whole path is the user's own word.
  CHECK(scene
            .shell("mkdir bin && gos build make -o bin && sed -i s/hi/ho/ make/src/main.gos && "
                   "gos build make -o bin && bin/Makefile")
            .out == "ho\n");
  CHECK(scene.shell("gos build hidden -o home/.bashrc && home/.bashrc").out == "hi\n");
  CHECK(scene.shell("gos build make -o home/Makefile && home/Makefile").out == "ho\n");
}

TEST_CASE("what may not be written is not replaced, and what the program was made of is not") {
  const Scene scene;
  scene.write("kept", "mine");
  scene.write("p.gos", "use std::fs\nconst A: bool = comptime { fs::exists(\"data\") }\n"
                       "println!(\"{}\", A)\n");
  scene.write("data", "input");
  scene.write("hello.gos", "println!(\"hello\")\n");
  const ChildResult kept = scene.shell("chmod a-w kept; gos build hello.gos -o kept");
  CHECK(kept.exitedWith(1));
  CHECK(holds(kept.err, "cannot write `kept`: it may not be written"));
  CHECK(scene.read("kept") == "mine");
  const ChildResult input = scene.shell("gos build p.gos -o data");
  CHECK(input.exitedWith(1));
  CHECK_MESSAGE(holds(input.err, "error[GC0014]"), input.err);
  CHECK(scene.read("data") == "input");
  for (const char* name : {"project.lock", "bindings.lock", "Cargo.toml", "Cargo.lock", "lib.rs"}) {
    CAPTURE(name);
    CHECK(scene.shell(std::string("gos build hello.gos -o ") + name).exitedWith(1));
    CHECK_FALSE(scene.exists(name));
  }
  // One that is up to date stays so.
  CHECK(holds(scene.shell("gos build hello.gos && chmod a-w hello && gos build hello.gos").err,
              "`hello` is up to date"));
}

TEST_CASE("no directory, source or manifest is replaced, whoever names it") {
  const Scene scene;
  scene.project("p", "println!(\"hi\")\n");
  scene.write("script", "println!(\"hi\")\n");
  fs::create_directory(scene.path("p/tool"));
  const struct {
    const char* command;
    const char* why;
  } rows[] = {
      {"gos build p", "it is a directory"},
      {"gos build p -o p", "it is a directory"},
      {"gos build p -o p/", "it is a directory"},
      {"gos build p -o missing/", "no such file or directory"},
      {"gos build p -o missing/file", "no such file or directory"},
      {"gos build p -o p/src/main.gos", "it has the name of a source"},
      {"gos build p -o new.gos", "it has the name of a source"},
      {"gos build p -o p/project.toml", "it has the name of a manifest"},
      {"gos build script", "it is a source of this program"},
      {"gos build script -o script", "it is a source of this program"},
      {"ln -s nowhere dangling; gos build p -o dangling", "it is a link that leads nowhere"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.command);
    const ChildResult result = scene.shell(row.command);
    CHECK(result.exitedWith(1));
    CHECK(holds(result.err, "error[GJ0032]: cannot write `"));
    CHECK(holds(result.err, row.why));
  }
  CHECK(scene.read("p/src/main.gos") == "println!(\"hi\")\n");
  CHECK(scene.read("script") == "println!(\"hi\")\n");
  CHECK_FALSE(scene.exists("new.gos"));
}

TEST_CASE("a link of the command line is followed, and a stream is written into") {
  const Scene scene;
  scene.write("hello.gos", "println!(\"hello\")\n");
  scene.write("real", "old");
  CHECK(
      scene.shell("ln -s real link && gos build hello.gos -o link && test -L link && ./real").out ==
      "hello\n");
  CHECK(scene.shell("gos build hello.gos -o /dev/null").exitedWith(0));
  CHECK(scene.shell("test -c /dev/null").exitedWith(0));
  const ChildResult full = scene.shell("gos build hello.gos -o /dev/full");
  CHECK(full.exitedWith(1));
  CHECK(holds(full.err, "cannot write `/dev/full`: no space left on device"));
}

// ---- again, and failing -------------------------------------------------------------------------

TEST_CASE("building again without a change does nothing and says so") {
  const Scene scene;
  scene.project("p", "println!(\"hi\")\n");
  CHECK(scene.shell("gos build p").exitedWith(0));
  struct stat before{}, after{};
  REQUIRE(::stat(scene.path("p/tool").c_str(), &before) == 0);
  const ChildResult again = scene.shell("gos build p");
  CHECK(again.exitedWith(0));
  CHECK(again.err == "`p/tool` is up to date\n");
  REQUIRE(::stat(scene.path("p/tool").c_str(), &after) == 0);
  CHECK(before.st_ino == after.st_ino);
  CHECK(before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
  // A change, and a file that lost its right to be executed, are written.
  scene.write("p/src/main.gos", "println!(\"ho\")\n");
  CHECK(scene.shell("gos build p --quiet && p/tool").out == "ho\n");
  CHECK(scene.shell("chmod a-x p/tool; gos build p --quiet && p/tool").out == "ho\n");
  CHECK(scene.shell("gos build p --quiet").err.empty());
}

TEST_CASE("a build is the same byte for byte in another directory, as another package finds it") {
  const Scene scene;
  const std::string dependency = "[dependencies]\nunits = { path = \"../units\" }\n";
  const std::string source = "use units\n" + std::string(kPanics);
  for (const std::string where : {"one", "deeply/nested/two with spaces"}) {
    scene.project(where + "/p", source, dependency);
    scene.write(where + "/units/project.toml",
                "[project]\nid = \"example.com/units\"\nversion = \"0.1.0\"\n");
    scene.write(where + "/units/src/lib.gos", "pub fn metre() -> i64 { 1 }\n");
  }
  CHECK(scene.shell("gos build one/p && cd 'deeply/nested/two with spaces/p' && gos build .")
            .exitedWith(0));
  const std::string one = scene.read("one/p/tool");
  CHECK(one.size() > 4096);
  CHECK(one == scene.read("deeply/nested/two with spaces/p/tool"));
  CHECK_FALSE(holds(one, scene.path("")));
}

TEST_CASE("a build that fails leaves the old executable and nothing else") {
  const Scene scene;
  scene.project("p", "println!(\"hi\")\n");
  CHECK(scene.shell("gos build p").exitedWith(0));
  const std::string old = scene.read("p/tool");
  scene.write("p/src/main.gos", "let x: i64 = \"text\"\n");
  CHECK(scene.shell("gos build p").exitedWith(1));
  CHECK(scene.read("p/tool") == old);
  scene.write("p/src/main.gos", "println!(\"{}\", comptime { panic!(\"no\") })\n");
  CHECK(scene.shell("gos build p").exitedWith(1));
  CHECK(scene.read("p/tool") == old);
  CHECK(scene.entries("p") == 3);
}

TEST_CASE("a full disk leaves the old executable and nothing else") {
  const Scene scene;
  scene.project("p", "println!(\"hi\")\n");
  const std::string small = "mkdir -p disk && unshare --user --map-root-user --mount sh -c 'mount "
                            "-t tmpfs -o size=256k none disk && ";
  if (!scene.shell(small + "true'").exitedWith(0)) {
    MESSAGE("skipped: this host gives no mount namespace");
    return;
  }
  const ChildResult full = scene.shell(
      small +
      "echo old > disk/tool; \"$GOS\" build p -o disk/tool; echo $?; cat disk/tool; ls -A disk'");
  CHECK(full.out == "1\nold\ntool\n");
  CHECK(holds(full.err, "cannot write `disk/tool`: no space left on device"));
}

TEST_CASE("a directory that may not be written is an error and nothing more") {
  const Scene scene;
  scene.write("hello.gos", "println!(\"hello\")\n");
  fs::create_directory(scene.path("closed"));
  fs::permissions(scene.path("closed"), fs::perms::owner_read | fs::perms::owner_exec);
  const std::string command = "\"$GOS\" build hello.gos -o closed/hello";
  // Root may write anywhere, so what is read-only is a mount.
  const bool root = ::getuid() == 0;
  const std::string closed = root ? "unshare --mount sh -c 'mount --bind closed closed && mount -o "
                                    "remount,bind,ro closed && " +
                                        command + "'"
                                  : command;
  if (root && !scene.shell("unshare --mount true").exitedWith(0)) {
    MESSAGE("skipped: this host gives no mount namespace");
    return;
  }
  const ChildResult refused = scene.shell(closed);
  CHECK(refused.exitedWith(1));
  CHECK(holds(refused.err, "cannot write `closed/hello`: "));
  CHECK(holds(refused.err, root ? "read-only file system" : "permission denied"));
  CHECK(scene.entries("closed") == 0);
}

TEST_CASE("the mode is what the umask leaves") {
  const Scene scene;
  scene.write("hello.gos", "println!(\"hello\")\n");
  struct stat status{};
  CHECK(scene.shell("umask 027; gos build hello.gos").exitedWith(0));
  REQUIRE(::stat(scene.path("hello").c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0750);
}

TEST_CASE("a program that runs can be built again") {
  const Scene scene;
  scene.write(
      "waits.gos",
      "use std::io\nprintln!(\"one\")\nlet line = io::stdin().lines().next()\nprintln!(\"end\")\n");
  CHECK(scene.shell("gos build waits.gos").exitedWith(0));
  const ChildResult both =
      scene.shell("mkfifo in out; ./waits <in >out & exec 3>in 4<out; read line <&4; echo $line; "
                  "sed -i s/one/two/ waits.gos; gos build --quiet waits.gos && ./waits </dev/null; "
                  "echo >&3; read line <&4; echo $line; wait");
  CHECK(both.out == "one\ntwo\nend\nend\n");
}

TEST_CASE("a library has nothing to build") {
  const Scene scene;
  scene.project("p", "");
  scene.write("p/src/lib.gos", "pub fn area(side: i64) -> i64 { side * side }\n");
  const ChildResult result = scene.shell("gos build p");
  CHECK(result.exitedWith(1));
  CHECK(holds(result.err, "error[GJ0031]"));
  CHECK(scene.entries("p") == 2);
}

TEST_CASE("with --message-format=json every line is an object") {
  const Scene scene;
  scene.project("p", "println!(\"hi\")\n");
  const ChildResult built = scene.shell("gos build --message-format=json p");
  CHECK(built.exitedWith(0));
  CHECK(built.err.rfind("{\"schema\":1,\"built\":\"p/tool\",\"bytes\":", 0) == 0);
  CHECK(holds(built.err, ",\"up_to_date\":false}\n"));
  CHECK(holds(scene.shell("gos build --message-format=json p").err, ",\"up_to_date\":true}\n"));
  const ChildResult refused = scene.shell("gos build --message-format=json p -o no/such");
  CHECK(refused.exitedWith(1));
  CHECK(holds(refused.err, "\"code\":\"GJ0032\""));
}

TEST_CASE("a project with Rust bindings becomes one file, which panics as gos run does") {
  const Scene scene;
  if (!scene.shell("command -v cargo && cargo --version").exitedWith(0)) {
    MESSAGE("skipped: no cargo");
    return;
  }
  scene.project("p",
                "use stats::fast\n"
                "fn main() {\n"
                "    println!(\"{:?}\", fast::mean([1.0, 2.0, 6.0].to_vec()))\n"
                "    println!(\"{}\", fast::twice(13))\n"
                "}\n",
                "[rust-bindings]\nstats = { path = \"stats\" }\n");
  scene.write("p/stats/Cargo.toml", "[package]\nname = \"stats\"\nversion = \"0.1.0\"\n"
                                    "edition = \"2021\"\n"
                                    "[dependencies]\ngossamer-binding = \"0.1\"\n");
  scene.write(
      "p/stats/src/lib.rs",
      "#[gossamer_binding::gos_module(\"stats::fast\")]\n"
      "pub mod fast {\n"
      "    pub fn mean(v: Vec<f64>) -> Option<f64> {\n"
      "        if v.is_empty() { None } else { Some(v.iter().sum::<f64>() / v.len() as f64) }\n"
      "    }\n"
      "    pub fn twice(x: i64) -> i64 { if x == 13 { panic!(\"unlucky\") } x * 2 }\n"
      "}\n");
  const std::string cache = "export XDG_CACHE_HOME=$PWD/cache; cd p; ";
  CHECK(scene.shell(cache + "gos build --quiet .").exitedWith(0));
  const ChildResult again = scene.shell(cache + "gos build .");
  CHECK(holds(again.err, "`tool` is up to date\n"));
  const ChildResult ran =
      scene.shell(cache + "gos run --quiet . 2>err; code=$?; tail -n 3 err; exit $code");
  const ChildResult built = scene.shell(
      "mv p/tool . && rm -rf p cache && ./tool 2>err; code=$?; tail -n 3 err; exit $code");
  CHECK(ran.exitedWith(101));
  CHECK(built.exitedWith(101));
  CHECK(built.out == ran.out);
  CHECK(built.out.rfind("Some(3.0)\n", 0) == 0);
  CHECK(holds(built.out, "in main at src/main.gos:4:"));
  CHECK(holds(scene.read("err"), "unlucky"));
}
