// `gos test` as a user meets it: projects on disk, the program from outside.

#include "tests/support/eventually.h"
#include "tests/support/room.h"

#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <unistd.h>

using gos::test::ChildResult;
using gos::test::holds;
using Project = gos::test::Room;

namespace {

constexpr const char* kManifest = "[project]\nid = \"example.com/mathx\"\nversion = \"0.1.0\"\n";

/// Times of a machine are not compared.
std::string timeless(const std::string& text) {
  return std::regex_replace(text, std::regex("[0-9]+ms\\)"), "_ms)");
}

} // namespace

TEST_CASE("a package, its modules and the files of tests/ are units with headers and a summary") {
  Project project;
  project.write("project.toml", kManifest)
      .write("src/lib.gos", "pub fn twice(n: i64) -> i64 { n * 2 }\n\n#[cfg(test)]\nmod tests {\n"
                            "    #[test]\n    fn doubles() { assert_eq(super::twice(2), 4) }\n}\n")
      .write("src/util.gos", "pub fn one() -> i64 { 1 }\n\n#[test]\nfn is_one() {\n"
                             "    assert_eq(one(), 1)\n    assert(one() > 0)\n}\n")
      .write("src/plain.gos", "pub fn two() -> i64 { 2 }\n")
      .write("tests/outside.gos", "use mathx::twice\nuse mathx::util\n\n#[test]\nfn from_outside() "
                                  "{ assert_eq(twice(util::one()), 2) }\n");
  const ChildResult result = project.shell("gos test");
  CHECK_MESSAGE(result.exitedWith(0), (result.err + result.out));
  CHECK(timeless(result.out) ==
        "=== src/lib.gos ===\n  PASS tests::doubles (1 assertions, _ms)\n"
        "=== src/util.gos ===\n  PASS util::is_one (2 assertions, _ms)\n"
        "=== tests/outside.gos ===\n  PASS from_outside (1 assertions, _ms)\n"
        "test: 3 passed, 0 failed, 4 assertion(s), 0 ignored, 0 skipped, 0 doc-test(s), across "
        "4 file(s), 1 with no tests\n");
}

TEST_CASE("a file of a package brings its modules and not their tests") {
  Project project;
  project.write("project.toml", kManifest)
      .write("src/lib.gos",
             "#[test]\nfn elsewhere() { assert(true) }\n// ```\n// assert(false)\n// "
             "```\npub fn one() -> i64 { 1 }\n")
      .write("src/util.gos", "#[test]\nfn here() { assert_eq(crate::lib::one(), 1) }\n");
  const ChildResult result = project.shell("gos test src/util.gos");
  CHECK_MESSAGE(result.exitedWith(0), (result.err + result.out));
  CHECK(timeless(result.out) ==
        "=== src/util.gos ===\n  PASS here (1 assertions, _ms)\n"
        "test: 1 passed, 0 failed, 1 assertion(s), 0 ignored, 0 skipped, 0 doc-test(s), across "
        "1 file(s), 0 with no tests\n");
}

TEST_CASE("each verdict is told with its reason, in the order of the source") {
  Project project;
  project.write(
      "all.gos",
      "use std::errors\nuse std::process\nuse std::testing\n\n"
      "#[test]\nfn good() { assert(true) }\n"
      "#[test]\nfn panics() { assert_eq(1, 2) }\n"
      "#[test]\nfn answers_err() -> Result<(), errors::Error> { Err(errors::new(\"bad\")) }\n"
      "#[test]\nfn answers_ok() -> Result<(), errors::Error> { Ok(()) }\n"
      "#[test]\nfn checks() {\n    let _ = testing::check(false, \"first\")\n"
      "    let _ = testing::check_eq(1, 2, \"second\")\n    let _ = testing::check(true, "
      "\"ok\")\n}\n"
      "#[test]\nfn nothing() {}\n"
      "#[test]\nfn leaves() { process::exit(0) }\n"
      "#[test]\n#[ignore(\"slow\")]\nfn ignored() { assert(false) }\n"
      "#[test]\n#[skip]\nfn skipped() { assert(false) }\n"
      "#[test_case(1, \"a, b\")]\n#[test_case(-2, \"c\")]\nfn cases(n: i64, text: String) { "
      "assert(n > 0, text) }\n"
      "#[test]\n#[timeout(\"50ms\")]\nfn endless() { loop {} }\n");
  const ChildResult result = project.shell("gos test all.gos");
  CHECK(result.exitedWith(1));
  const std::string out = timeless(result.out);
  CHECK_MESSAGE(holds(out, "  PASS good (1 assertions, _ms)\n"
                           "  FAIL panics (_ms): panic: assertion failed: left == right; left: 1; "
                           "right: 2\n    at all.gos:8:"),
                out);
  CHECK(holds(out, "  FAIL answers_err (_ms): returned Err: bad\n"
                   "  PASS answers_ok (0 assertions, _ms)\n"
                   "  FAIL checks (_ms): 2 assertion(s) failed - first\n"
                   "  FAIL nothing (_ms): made no assertions\n"
                   "  FAIL leaves (_ms): called `process::exit(0)`\n"));
  CHECK(holds(out, "  IGNORED ignored: slow\n  SKIPPED skipped\n"
                   "  PASS cases[1, \"a, b\"] (1 assertions, _ms)\n"
                   "  FAIL cases[-2, \"c\"] (_ms): panic: c\n"));
  CHECK(holds(out, "  FAIL endless (_ms): no end after 50ms\n"));
  CHECK(holds(out, "test: 3 passed, 7 failed, "));
  CHECK(holds(out, " 1 ignored, 1 skipped, 0 doc-test(s), across 1 file(s), 0 with no tests\n"));
  // The same whatever ends first.
  CHECK(timeless(project.shell("gos test --parallel=1 all.gos").out) == out);
  CHECK(timeless(project.shell("gos test --parallel=16 all.gos").out) == out);
}

TEST_CASE("tests of different files run side by side, and are told in the order of the files") {
  Project project;
  // The first waits for what the second does: one after the other they would not end.
  project
      .write("a.gos", "use std::fs\n\n#[test]\nfn waits() {\n    while !fs::exists(\"met\") {}\n"
                      "    assert(true)\n}\n")
      .write("b.gos", "#[test]\nfn wrong() { let x: i64 = \"text\" }\n")
      .write("c.gos", "use std::fs\n\n#[test]\nfn meets() {\n"
                      "    fs::write(\"met\", \"x\").unwrap()\n    assert(true)\n}\n");
  const ChildResult result = project.shell("gos test --parallel=2 .");
  CHECK_MESSAGE(holds(timeless(result.out), "=== a.gos ===\n  PASS waits (1 assertions, _ms)\n"
                                            "=== b.gos ===\n  FAIL the file did not load\n"
                                            "=== c.gos ===\n  PASS meets (1 assertions, _ms)\n"),
                result.out);
}

TEST_CASE("options choose, list, order and stop") {
  Project project;
  project.write("a.gos", "#[test]\nfn one() { assert(true) }\n#[test]\nfn two() { assert(false) }\n"
                         "#[test]\n#[ignore]\nfn three() { assert(true) }\n#[test]\nfn four() { "
                         "assert(true) }\n");
  CHECK(project.shell("gos test --list a.gos").out ==
        "=== a.gos ===\n  one\n  two\n  three (ignored)\n  four\n");
  CHECK(
      holds(project.shell("gos test --run='^(one|four)$' a.gos").out, "test: 2 passed, 0 failed"));
  CHECK(holds(project.shell("gos test --exact one a.gos").out, "test: 1 passed, 0 failed"));
  const ChildResult missing = project.shell("gos test --exact on a.gos");
  CHECK(missing.exitedWith(1));
  CHECK(holds(missing.err, "no test is named `on`"));
  const ChildResult none = project.shell("gos test --run=zzz a.gos");
  CHECK(none.exitedWith(0));
  CHECK(holds(none.err, "no test matches `zzz`"));
  const ChildResult pattern = project.shell("gos test --run='(' a.gos");
  CHECK(pattern.exitedWith(2));
  CHECK(pattern.out.empty());
  CHECK(holds(project.shell("gos test --ignored a.gos").out,
              "test: 1 passed, 0 failed, 1 assertion(s), 0 ignored"));
  CHECK(holds(project.shell("gos test --include-ignored a.gos").out, "test: 3 passed, 1 failed"));
  for (const char* parallel : {"1", "8"}) {
    const std::string out =
        project.shell(std::string("gos test --fail-fast --parallel ") + parallel + " a.gos").out;
    CHECK(holds(out, "PASS one"));
    CHECK(holds(out, "FAIL two"));
    CHECK_MESSAGE(!holds(out, "four"), out);
  }
  const std::string once = timeless(project.shell("gos test --shuffle --seed=3 a.gos").out);
  CHECK(holds(once, "shuffled with --seed=3\n"));
  CHECK(once == timeless(project.shell("gos test --shuffle --seed=3 a.gos").out));
  CHECK(holds(project.shell("gos test --shuffle a.gos").out, "shuffled with --seed="));
  CHECK(
      timeless(project.shell("gos test --quiet a.gos").out).rfind("=== a.gos ===\n  FAIL two", 0) ==
      0);
}

TEST_CASE("a region that is refused is one failing test, and no test of its file runs") {
  Project project;
  project
      .write("bad.gos",
             "use std::fs\n\nconst A: bool = comptime { fs::write(\"made\", \"x\").is_ok() "
             "}\n\n#[test]\nfn writes() { fs::write(\"ran\", \"x\").unwrap()\n assert(A) }\n")
      .write("good.gos", "#[test]\nfn fine() { assert(true) }\n");
  const ChildResult result = project.shell("gos test .");
  CHECK(result.exitedWith(1));
  CHECK_MESSAGE(holds(result.out, "=== bad.gos ===\n  FAIL comptime (0ms): GX0010: "), result.out);
  CHECK(holds(result.err, "error[GX0010]"));
  CHECK(holds(result.out, "PASS fine"));
  CHECK(holds(result.out, "test: 1 passed, 1 failed"));
  CHECK_FALSE(project.exists("made"));
  CHECK_FALSE(project.exists("ran"));
}

TEST_CASE("a file that does not load is an error, and the others run") {
  Project project;
  project.write("bad.gos", "#[test]\nfn wrong() { let x: i64 = \"text\" }\n")
      .write("good.gos", "#[test]\nfn fine() { assert(true) }\n");
  const ChildResult result = project.shell("gos test .");
  CHECK(result.exitedWith(1));
  CHECK(holds(result.err, "error[GT"));
  CHECK(holds(result.out, "=== bad.gos ===\n  FAIL the file did not load\n"));
  CHECK(holds(result.out, "test: 1 passed, 0 failed"));
  CHECK(holds(result.out, "test: 1 file(s) did not load\n"));
  CHECK(project.shell("gos test nowhere.gos").exitedWith(1));
}

TEST_CASE("attributes that make no sense are reported at their place") {
  Project project;
  project.write("a.gos", "#[test]\nfn takes(n: i64) { assert(n > 0) }\n"
                         "#[test_case(1 + 1)]\nfn sums(n: i64) { assert(n > 0) }\n"
                         "#[test_case(1, 2)]\nfn many(n: i64) { assert(n > 0) }\n"
                         "#[test]\n#[timeout(\"soon\")]\nfn late() { assert(true) }\n");
  const ChildResult result = project.shell("gos test a.gos");
  CHECK(result.exitedWith(1));
  for (const char* part : {"--> a.gos:1:1", "--> a.gos:3:1", "--> a.gos:5:1", "--> a.gos:8:1"})
    CHECK_MESSAGE(holds(result.err, part), result.err);
  project.write("b.gos", "#[test]\nfn answers() -> i64 { 3 }\n");
  CHECK(holds(project.shell("gos test b.gos").err, "this one answers `i64`"));
}

TEST_CASE("doc-tests run in the scope of their module, and each fails alone, at its own lines") {
  Project project;
  project.write("project.toml", kManifest)
      .write(
          "src/lib.gos",
          "/// Doubles.\n///\n/// ```\n/// assert_eq(twice(2), 4)\n/// ```\n///\n/// ```gossamer\n"
          "/// fn main() { assert_eq(twice(1), 3) }\n/// ```\n///\n/// ```text\n/// not code\n/// "
          "```\n"
          "fn twice(n: i64) -> i64 { n * 2 }\n\n"
          "// ```\n// let x: i64 = \"text\"\n// ```\n//\n// ```\n// } fn evil() {\n// ```\n//\n"
          "// ```\n// twice(3)\n// ```\nfn other() {}\n");
  const ChildResult result = project.shell("gos test");
  CHECK(result.exitedWith(1));
  const std::string out = timeless(result.out);
  CHECK_MESSAGE(holds(out, "  PASS twice (doc-test, line 4) (1 assertions, _ms)\n"),
                (out + result.err));
  CHECK(holds(out, "  FAIL twice (doc-test, line 8) (_ms): panic: assertion failed"));
  CHECK(holds(out, "    at src/lib.gos:8:"));
  CHECK(holds(out, "  FAIL other (doc-test, line 17) (_ms): does not compile\n"));
  CHECK(holds(out, "--> src/lib.gos:17:17"));
  CHECK(holds(out, "  FAIL other (doc-test, line 21) (_ms): does not compile\n"));
  CHECK(holds(out, "  PASS other (doc-test, line 25) (0 assertions, _ms)\n"));
  CHECK(holds(out, "test: 2 passed, 3 failed, "));
  CHECK(holds(out, " 5 doc-test(s), across 1 file(s), 0 with no tests\n"));
}

TEST_CASE("a test has a process of its own: nothing it does reaches the next one") {
  Project project;
  project.write("a.gos",
                "use std::env\n\n"
                "#[test]\nfn first() {\n    env::set_var(\"GOS_LEFT\", \"1\")\n"
                "    assert_eq(env::var(\"GOS_LEFT\").is_some(), true)\n}\n"
                "#[test]\nfn second() { assert_eq(env::var(\"GOS_LEFT\").is_some(), false) }\n");
  const ChildResult result = project.shell("gos test --parallel=1 a.gos");
  CHECK_MESSAGE(holds(result.out, "test: 2 passed, 0 failed"), (result.out + result.err));
}

TEST_CASE("output of a test is shown when it fails, bounded and escaped") {
  Project project;
  project.write(
      "a.gos",
      "#[test]\nfn loud() {\n    println!(\"\\x1b[31mred\")\n    eprintln!(\"to "
      "error\")\n    assert(false)\n}\n#[test]\nfn quiet() { println!(\"unseen\")\n "
      "assert(true) }\n#[test]\nfn flood() {\n    for _ in 0..20000 { println!(\"0123456789\") }\n"
      "    assert(false)\n}\n");
  const ChildResult result = project.shell("gos test a.gos");
  CHECK(holds(result.out, "    stdout:\n    | \\x1b[31mred\n    stderr:\n    | to error\n"));
  CHECK_FALSE(holds(result.out, "unseen"));
  CHECK(holds(result.out, " more bytes)\n"));
  CHECK(result.out.size() < 200'000);
}

TEST_CASE("a test that dies is a failure with the signal, and what it started dies with it") {
  Project project;
  project.write("a.gos", "use std::process\n\n"
                         "#[test]\nfn dies() { let _ = process::run(\"sh\", #[\"-c\", \"kill -SEGV "
                         "$PPID\"])\n assert(true) }\n"
                         "#[test]\nfn leaves_children() {\n"
                         "    let _ = process::spawn(\"sh\", #[\"-c\", \"sleep 1000 & setsid sleep "
                         "1001 & echo $! > escaped; sleep 1000\"])\n"
                         "    let _ = process::run(\"sh\", #[\"-c\", \"while ! test -s escaped; do "
                         "sleep 0.01; done; cat escaped\"])\n"
                         "    assert(true)\n}\n");
  const ChildResult result = project.shell("gos test --parallel=1 a.gos");
#ifndef GOS_SANITIZED // which reports the signal itself, and ends with a code
  CHECK_MESSAGE(holds(result.out, "killed by SIGSEGV"), result.out);
#endif
  CHECK_MESSAGE(holds(result.out, "PASS leaves_children"), result.out);
  const int escaped = std::atoi(project.read("escaped").c_str());
  REQUIRE(escaped > 1);
  CHECK(gos::tests::ends(escaped)); // it left the group, and is gone all the same
}

TEST_CASE("an interrupt ends what runs and tells what ran") {
  Project project;
  project.write("a.gos",
                "use std::fs\n\n#[test]\nfn first() { assert(true) }\n#[test]\nfn endless() {\n"
                "    fs::write(\"started\", \"x\").unwrap()\n    loop {}\n}\n");
  const ChildResult result = project.shell(
      "(while ! test -s started; do sleep 0.01; done; kill -INT $(cat pid)) & "
      "sh -c 'echo $$ > pid; exec \"$GOS\" test --parallel=1 a.gos'; code=$?; wait; exit $code");
  CHECK_MESSAGE(result.exitedWith(128 + SIGINT), (result.out + result.err));
  CHECK(holds(result.out, "PASS first"));
  CHECK(holds(result.out, "test: 1 passed, 0 failed"));
  CHECK(holds(result.err, "interrupted"));
}

TEST_CASE("JUnit and JSON are whole, on standard output or in a file") {
  Project project;
  project.write(
      "a.gos",
      "#[test]\nfn one() { assert(true) }\n#[test]\nfn two() { assert(false, \"<&>\") }\n");
  const ChildResult junit = project.shell("gos test --format=junit a.gos");
  CHECK(junit.exitedWith(1));
  CHECK(junit.out.rfind("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites ", 0) == 0);
  CHECK(holds(junit.out, "<failure message=\"panic: &lt;&amp;&gt;\">"));
  CHECK(holds(junit.out, "</testsuites>\n"));
  const ChildResult json = project.shell("gos test --format=json a.gos");
  CHECK(holds(json.out, "\"event\":\"summary\",\"passed\":1,\"failed\":1"));
  const ChildResult both = project.shell("gos test --junit-out=report.xml a.gos");
  CHECK(holds(both.out, "PASS one"));
  CHECK(holds(project.read("report.xml"), "<testcase name=\"two\" classname=\"a.gos\""));
  const ChildResult nowhere = project.shell("gos test --junit-out=no/such/report.xml a.gos");
  CHECK(nowhere.exitedWith(1));
  CHECK(holds(nowhere.err, "cannot write `no/such/report.xml`"));
}

TEST_CASE("the argument of a worker does nothing for who types it") {
  Project project;
  const ChildResult result = project.shell("gos \"$(printf '\\037gos-test-worker')\" 0 </dev/null");
  CHECK(result.exitedWith(70));
  CHECK(result.out.empty());
  CHECK(holds(result.err, "the test could not be run"));
}
