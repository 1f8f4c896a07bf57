// What becomes of the tool's own output when it cannot be written; /dev/full answers as a full disk
// does.

#include "tests/support/room.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

using gos::test::ChildResult;

namespace {

/// A directory with a clean program, one with a mistake, and one that panics.
class Tree : public gos::test::Room {
public:
  Tree() {
    write("clean.gos", "println!(\"printed\")\n");
    write("wrong.gos", "let x: i64 = \"text\"\n");
    write("panics.gos", "panic!(\"gone\")\n");
  }
};

constexpr const char* kNoOutput =
    "gos: error: cannot write to standard output: no space left on device\n";
constexpr const char* kNoError =
    "gos: error: cannot write to standard error: no space left on device\n";

} // namespace

TEST_CASE("text that standard output does not take is an error on standard error") {
  const Tree tree;
  for (const char* command :
       {"gos --help", "gos help run", "gos --version", "gos explain", "gos explain GX0010",
        "gos parse clean.gos", "gos disassemble clean.gos"}) {
    CAPTURE(command);
    const ChildResult result = tree.shell(std::string(command) + " >/dev/full");
    CHECK(result.exitedWith(1));
    CHECK(result.err == kNoOutput);
  }
}

TEST_CASE("reports that standard error does not take are an error on standard output") {
  const Tree tree;
  for (const char* command :
       {"gos check wrong.gos", "gos check --message-format=json wrong.gos", "gos check clean.gos",
        "gos run wrong.gos", "gos check nothing.gos", "gos disassemble wrong.gos"}) {
    CAPTURE(command);
    const ChildResult result = tree.shell(std::string(command) + " 2>/dev/full");
    CHECK(result.exitedWith(1));
    CHECK(result.out == kNoError);
  }
  CHECK(tree.shell("gos frobnicate 2>/dev/full").exitedWith(2));
  CHECK(tree.shell("gos run panics.gos 2>/dev/full").exitedWith(101));
}

TEST_CASE("where neither stream takes anything the exit code alone tells") {
  const Tree tree;
  CHECK(tree.shell("gos explain GX0010 >/dev/full 2>&1").exitedWith(1));
  CHECK(tree.shell("gos check wrong.gos >/dev/full 2>&1").exitedWith(1));
}

TEST_CASE("a reader that went away is no reason to say anything") {
  const Tree tree;
  // The pipe has no reader before anything is written; the signal ends the tool, and where it is
  // ignored the error does.
  for (const char* setting : {"", "trap '' PIPE; "}) {
    CAPTURE(setting);
    const ChildResult result = tree.shell(
        std::string(setting) + "mkfifo p; exec 3<>p; exec 4>p; exec 3<&-; gos explain >&4 2>said; "
                               "echo $?; cat said");
    CHECK(result.exitedWith(0));
    CHECK((result.out == "1\n" || result.out == "141\n"));
    CHECK(result.err.empty());
    CHECK(tree.shell("rm p").exitedWith(0));
  }
}

TEST_CASE("a misspelt command is answered with the one that was meant, by help too") {
  const Tree tree;
  for (const char* command : {"gos chek", "gos help chek"}) {
    CAPTURE(command);
    const ChildResult result = tree.shell(command);
    CHECK(result.exitedWith(2));
    CHECK(result.err == "gos: error: no command `chek`\n  did you mean `check`?\n");
  }
}

TEST_CASE("a working directory that is gone is an error of every command that needs it") {
  const Tree tree;
  for (const char* command : {"gos check", "gos check .", "gos run ."}) {
    CAPTURE(command);
    const ChildResult result =
        tree.shell(std::string("mkdir gone && cd gone && rmdir ../gone && ") + command);
    CHECK(result.exitedWith(1));
    CHECK(result.err.find("cannot read `.`: the working directory no longer exists") !=
          std::string::npos);
  }
}

TEST_CASE("the manifest of a project stands for the project, relative and absolute") {
  const Tree tree;
  const char* make =
      "mkdir -p w/src; printf '[project]\\nid = \"example.com/w\"\\nversion = \"1.0.0\"\\n' "
      ">w/project.toml; cp clean.gos w/src/main.gos; ";
  for (const char* command :
       {"gos run w/project.toml", "gos run $PWD/w/project.toml", "cd w; gos run project.toml"}) {
    CAPTURE(command);
    const ChildResult result = tree.shell(std::string(make) + command);
    CHECK(result.exitedWith(0));
    CHECK(result.out == "printed\n");
  }
}
