// Compile-time code under `gos test`: tests, doc-tests and files of tests/ are folded under the
// same policy as the program; and what a command writes is no input of its folds.

#include "tests/threats/support.h"

#include <doctest/doctest.h>

#include <cstdio>

namespace gos::threats {
namespace {

using llvm::StringRef;

constexpr const char* kManifest = "[project]\nid = \"example.com/app\"\nversion = \"1.0.0\"\n";
constexpr const char* kWrite = "fs::write(\"x\", \"b\").is_ok()";

Outcome test(const Tree& tree, Level level, std::vector<std::string> options = {},
             const std::string& operand = ".") {
  Where where;
  where.operand = operand;
  where.options = std::move(options);
  return launch(command(tree, "test", level, where));
}

/// Nothing ran, the refusal is one failing test, and the message has the code.
void expectRefused(const Tree& tree, Level level, const std::string& operand = ".") {
  const Outcome outcome = test(tree, level, {}, operand);
  checkOutcome(outcome, tree);
  CHECK(outcome.exitCode == 1);
  CHECK_MESSAGE(StringRef(outcome.err).contains("GX0010"), outcome.err);
  CHECK_MESSAGE(StringRef(outcome.out).contains("  FAIL comptime (0ms): GX0010: `fs::write`"),
                outcome.out);
  CHECK(!StringRef(outcome.out).contains("PASS"));
  CHECK(!tree.exists("x"));
  CHECK(!tree.exists("src/x"));
  CHECK(!tree.exists("tests/x"));
}

} // namespace

// Part of T058.
TEST_CASE("gos test folds gated, and a refused fold is one failing test") {
  Tree tree;
  tree.write("main.gos", std::string("use std::fs\n\nconst A: bool = comptime { ") + kWrite +
                             " }\n\n#[test]\nfn passes() { assert(true) }\n");
  for (Level level : kBelowFull)
    expectRefused(tree, level, "main.gos");
  const Outcome full = test(tree, Level::Full, {}, "main.gos");
  CHECK_MESSAGE(full.exitCode == 0, (full.out + full.err));
  CHECK_MESSAGE(tree.exists("x"), "the control did not write");
}

// Part of T054.
TEST_CASE("a region in a test and one in a file of tests/ are gated") {
  struct Way {
    const char* name;
    const char* file;
    std::string text;
  };
  const std::string region = std::string("comptime { ") + kWrite + " }";
  const Way ways[] = {
      {"a test", "src/lib.gos", "use std::fs\n\n#[test]\nfn t() { assert(" + region + ") }\n"},
      {"a module of tests", "src/lib.gos",
       "#[cfg(test)]\nmod tests {\n    use std::fs\n    const A: bool = " + region +
           "\n    #[test]\n    fn t() { assert(A) }\n}\n"},
      {"a test with cases", "src/lib.gos",
       "use std::fs\n\n#[test_case(1)]\nfn t(n: i64) { assert(" + region + " && n > 0) }\n"},
      {"a file of tests/", "tests/a.gos",
       "use std::fs\n\n#[test]\nfn t() { assert(" + region + ") }\n"},
  };
  for (const Way& way : ways) {
    INFO("way: " << std::string(way.name));
    Tree tree;
    tree.write("project.toml", kManifest);
    tree.write("src/lib.gos", "pub fn f() {}\n");
    tree.write(way.file, way.text);
    for (Level level : kBelowFull)
      expectRefused(tree, level);
    const Outcome full = test(tree, Level::Full);
    CHECK_MESSAGE(full.exitCode == 0, (full.out + full.err));
    CHECK_MESSAGE((tree.exists("x") || tree.exists("src/x") || tree.exists("tests/x")),
                  "the control did not write");
  }
}

// Part of T054.
TEST_CASE("a region in a doc-test is gated, and fails that doc-test alone") {
  Tree tree;
  tree.write("main.gos", std::string("// ```\n// use std::fs\n// assert(comptime { ") + kWrite +
                             " })\n// ```\nfn f() {}\n\n#[test]\nfn passes() { assert(true) }\n");
  for (Level level : kBelowFull) {
    const Outcome outcome = test(tree, level, {}, "main.gos");
    checkOutcome(outcome, tree);
    CHECK(outcome.exitCode == 1);
    CHECK_MESSAGE(StringRef(outcome.out).contains("error[GX0010]: `fs::write`"), outcome.out);
    CHECK(StringRef(outcome.out).contains("PASS passes"));
    CHECK(!tree.exists("x"));
  }
  const Outcome full = test(tree, Level::Full, {}, "main.gos");
  CHECK_MESSAGE(full.exitCode == 0, (full.out + full.err));
  CHECK_MESSAGE(tree.exists("x"), "the control did not write");
}

// Part of T053.
TEST_CASE("what a test does when it runs is its own affair") {
  Tree tree;
  tree.write("main.gos",
             "use std::fs\n\n#[test]\nfn writes() { assert(fs::write(\"ran\", \"b\").is_ok()) }\n");
  CHECK(test(tree, Level::None, {}, "main.gos").exitCode == 0);
  CHECK(tree.exists("ran"));
}

TEST_CASE("T026 a region that looks at the report of gos test is an error that names it") {
  struct Act {
    const char* name;
    std::string body;
    bool there;
  };
  const Act acts[] = {
      {"reads it", "fs::read_to_string(\"report.xml\").unwrap().len()", true},
      {"asks whether it is there", "if fs::exists(\"report.xml\") { 1 } else { 0 }", true},
      {"asks, and it is not there yet", "if fs::exists(\"report.xml\") { 1 } else { 0 }", false},
  };
  for (const Act& act : acts) {
    INFO("act: " << std::string(act.name));
    for (StringRef spelling : {"report.xml", "./report.xml"}) {
      Tree tree;
      tree.write("main.gos", "use std::fs\n\nconst N: i64 = comptime { " + act.body +
                                 " }\n\n#[test]\nfn t() { assert(N >= 0) }\n");
      if (act.there)
        tree.write("report.xml", "old");
      const Outcome outcome =
          test(tree, Level::Confined, {"--junit-out", spelling.str()}, "main.gos");
      CHECK(outcome.exitCode == 1);
      CHECK_MESSAGE(StringRef(outcome.err).contains("error[GC0014]"), outcome.err);
      CHECK(StringRef(outcome.err).contains(spelling));
      CHECK(!StringRef(outcome.out).contains("PASS"));
      // The control: elsewhere it is written, and the region may look.
      const Outcome control = test(tree, Level::Confined, {"--junit-out", "other.xml"}, "main.gos");
      CHECK_MESSAGE(control.exitCode == 0, (control.out + control.err));
      CHECK(tree.exists("other.xml"));
    }
  }
}

TEST_CASE("T045 work that is put off is refused where it is done, and nothing stays registered") {
  const std::string write = "fs::write(\"x\", \"b\").unwrap()";
  auto source = [](const std::string& body) {
    return "use std::fs\nuse std::runtime\n\nconst A: i64 = comptime {\n    " + body +
           "\n    1\n}\n\nfn main() { println!(\"{}\", A) }\n\n#[test]\nfn t() { assert_eq(A, 1) }\n";
  };
  // What `defer` does is done at the end of the region.
  Tree deferred;
  deferred.write("main.gos", source("defer " + write));
  for (Level level : kBelowFull) {
    expectProgramDenied(deferred, level, {.call = "fs::write", .klass = "filesystem write"});
    expectRefused(deferred, level, "main.gos");
  }
  CHECK(launch(command(deferred, "check", Level::Full, {})).exitCode == 0);
  CHECK_MESSAGE(deferred.exists("x"), "the control did not write");
  // A hook would be called where no gate stands: a region leaves none, at any level.
  for (const char* hook : {"runtime::at_exit(|| { ", "runtime::set_panic_hook(|_| { "})
    for (Level level : kAllLevels)
      for (StringRef verb : {"check", "run", "test"}) {
        Tree tree;
        tree.write("main.gos", source(hook + write + " })"));
        const Outcome outcome = launch(command(tree, verb, level, {}));
        checkOutcome(outcome, tree);
        CHECK_MESSAGE(outcome.exitCode == 0, outcome.err);
        CHECK(!tree.exists("x"));
      }
  // Arenas are not built; the attack comes with them.
  Tree arena;
  arena.write("main.gos", source("arena { " + write + " }"));
  const Outcome outcome = launch(command(arena, "check", Level::Full, {}));
  CHECK_MESSAGE(StringRef(outcome.err).contains("error[GN0001]"), outcome.err);
  CHECK(!arena.exists("x"));
}

} // namespace gos::threats
