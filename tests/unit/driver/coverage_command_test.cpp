// `gos test --coverage`, `--race` and `--fuzz`, and `enforce-format`, from outside.

#include "tests/support/room.h"

#include <doctest/doctest.h>

#include <string>

using gos::test::ChildResult;

namespace {

struct Room : gos::test::Room {
  const gos::test::Room& manifest(const std::string& more = "") const {
    return write("project.toml",
                 "[project]\nid = \"example.com/mathx\"\nversion = \"0.1.0\"\n" + more);
  }
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("coverage counts the tests that came to a line, in functions called or not") {
  const Room room;
  room.manifest().write("src/lib.gos", "pub fn sign(n: i64) -> String {\n" // 1
                                       "    if n < 0 {\n"                  // 2
                                       "        return \"minus\"\n"        // 3
                                       "    }\n"                           // 4
                                       "    let text = match n {\n"        // 5
                                       "        0 => \"zero\",\n"          // 6
                                       "        1 => \"one\",\n"           // 7
                                       "        _ => \"plus\",\n"          // 8
                                       "    }\n"                           // 9
                                       "    text\n"                        // 10
                                       "}\n"                               // 11
                                       "\n"                                // 12
                                       "pub fn unused<T>(n: T) -> T {\n"   // 13
                                       "    let m = n\n"                   // 14
                                       "    m\n"                           // 15
                                       "}\n"                               // 16
                                       "\n"                                // 17
                                       "#[cfg(test)]\n"                    // 18
                                       "mod tests {\n"                     // 19
                                       "    use super::sign\n"             // 20
                                       "    fn helper() -> i64 { 1 }\n"    // 21
                                       "    #[test]\n"                     // 22
                                       "    fn one() { assert_eq(sign(helper()), \"one\") }\n"
                                       "    #[test]\n"
                                       "    fn zero() { assert_eq(sign(0), \"zero\") }\n"
                                       "}\n");
  const ChildResult result = room.shell("gos test --coverage=lines.info");
  CHECK_MESSAGE(result.exitedWith(0), (result.out + result.err));
  CHECK(has(result.out, "coverage: 5 of 9 lines\n"));
  CHECK(room.read("lines.info") ==
        "TN:\nSF:src/lib.gos\nFN:1,sign\nFN:13,unused\nFNDA:2,sign\nFNDA:0,unused\nFNF:2\nFNH:1\n"
        "DA:2,2\nDA:3,0\nDA:5,2\nDA:6,1\nDA:7,1\nDA:8,0\nDA:10,2\nDA:14,0\nDA:15,0\n"
        "LF:9\nLH:5\nend_of_record\n");
}

TEST_CASE(
    "coverage goes over units, methods, closures, panics and time limits, and is repeatable") {
  const Room room;
  room.manifest()
      .write("src/lib.gos", "pub struct Counter { n: i64 }\n"         // 1
                            "impl Counter {\n"                        // 2
                            "    pub fn new() -> Counter {\n"         // 3
                            "        Counter { n: 0 }\n"              // 4
                            "    }\n"                                 // 5
                            "    pub fn twice(&self) -> Vec<i64> {\n" // 6
                            "        #[1, 2].map(|x| {\n"             // 7
                            "            let y = x * 2\n"             // 8
                            "            y\n"                         // 9
                            "        })\n"                            // 10
                            "    }\n"                                 // 11
                            "    pub fn fail(&self) {\n"              // 12
                            "        let why = \"gone\"\n"            // 13
                            "        panic!(\"{}\", why)\n"           // 14
                            "    }\n"                                 // 15
                            "    pub fn spin(&self) {\n"              // 16
                            "        let mut n = 0\n"                 // 17
                            "        loop {\n"                        // 18
                            "            n = 1 - n\n"                 // 19
                            "        }\n"                             // 20
                            "    }\n"                                 // 21
                            "}\n")
      .write("tests/outside.gos", "use mathx::Counter\n\n#[test]\nfn twice() { "
                                  "assert_eq(Counter::new().twice().len(), 2) }\n"
                                  "#[test]\nfn fails() { Counter::new().fail() }\n"
                                  "#[test]\n#[timeout(\"4s\")]\nfn spins() { "
                                  "Counter::new().spin() }\n");
  const ChildResult result = room.shell("gos test --coverage lines.info");
  CHECK(result.exitedWith(1)); // two tests fail; what they came to counts
  const std::string lines = room.read("lines.info");
  CHECK(has(lines, "SF:src/lib.gos\n"));
  CHECK(!has(lines, "outside.gos"));
  CHECK(has(lines, "FNDA:3,Counter::new\n"));
  CHECK_MESSAGE(has(lines, "DA:4,3\nDA:7,1\nDA:8,1\nDA:9,1\nDA:13,1\nDA:14,1\n"), lines);
  CHECK(has(lines, "LF:9\nLH:9\n"));
  CHECK(room.shell("gos test --coverage again.info --parallel=1").exitedWith(1));
  CHECK(room.read("again.info") == lines);
}

TEST_CASE("coverage that cannot be written, or that a region reads, is an error") {
  const Room room;
  room.write("a.gos", "use std::fs\nconst A: bool = comptime { fs::exists(\"lines.info\") }\n"
                      "#[test]\nfn t() { assert(!A) }\n");
  const ChildResult nowhere = room.shell("gos test --coverage=no/such/lines.info a.gos");
  CHECK(nowhere.exitedWith(1));
  CHECK(has(nowhere.err, "cannot write `no/such/lines.info`"));
  CHECK(has(room.shell("gos test --coverage=lines.info a.gos").err, "error[GC0014]"));
}

TEST_CASE("--race finds what depends on the order of goroutines, and its seed finds it again") {
  const Room room;
  // The first of the channel is the first of the spawns only while turns are dealt in order.
  room.write("race.gos", "use std::sync::channel\n\n"
                         "#[test]\nfn depends() {\n"
                         "    let tx, rx = channel::<i64>(cap: 8)\n"
                         "    let ended = cohort {\n"
                         "        spawn(|| tx.send(1))\n"
                         "        spawn(|| tx.send(2))\n"
                         "        spawn(|| tx.send(3))\n"
                         "    }\n"
                         "    assert(ended.is_ok())\n"
                         "    assert_eq(rx.recv(), Some(1))\n"
                         "}\n"
                         "#[test]\nfn does_not() {\n"
                         "    let tx, rx = channel::<i64>(cap: 8)\n"
                         "    let ended = cohort {\n"
                         "        spawn(|| tx.send(1))\n"
                         "        spawn(|| tx.send(2))\n"
                         "    }\n"
                         "    assert(ended.is_ok())\n"
                         "    assert_eq(rx.recv().unwrap_or(0) + rx.recv().unwrap_or(0), 3)\n"
                         "}\n");
  const ChildResult plain = room.shell("gos test race.gos");
  REQUIRE_MESSAGE(plain.exitedWith(0), (plain.out + plain.err));
  const ChildResult race = room.shell("gos test --race --seed=1 race.gos");
  CHECK_MESSAGE(race.exitedWith(1), race.out);
  CHECK(has(race.out, "each test under 8 orders, from --race --seed=1\n"));
  CHECK(has(race.out, "FAIL depends"));
  CHECK(has(race.out, "PASS does_not"));
  CHECK(has(race.out, "test: 1 passed, 1 failed"));
  const std::string mark = "    under the order of --race --seed=";
  const size_t at = race.out.find(mark);
  REQUIRE(at != std::string::npos);
  const std::string seed =
      race.out.substr(at + mark.size(), race.out.find('\n', at) - at - mark.size());
  const ChildResult again = room.shell("gos test --race --seed=" + seed + " race.gos");
  CHECK(has(again.out, mark + seed + "\n"));
  CHECK(has(room.shell("gos test --race race.gos").out, "each test under 8 orders, from --race"));
}

TEST_CASE("--fuzz is refused as long as it is not built, with what to do instead") {
  const Room room;
  room.write("a.gos", "#[test]\nfn t() { assert(true) }\n");
  const ChildResult result = room.shell("gos test --fuzz a.gos");
  CHECK(result.exitedWith(2));
  CHECK(has(result.err, "`--fuzz` is not built yet"));
  CHECK(has(result.err, "#[test_case(..)]"));
  CHECK(result.out.empty());
}

TEST_CASE("enforce-format refuses sources that are not laid out, those of tests/ too") {
  const Room room;
  room.manifest("enforce-format = true\n")
      .write("src/main.gos", "fn main() {\n    println!(\"ran\")\n}\n")
      .write("tests/outside.gos", "#[test]\nfn t() {\n    assert(true)\n}\n");
  for (const char* command : {"gos check", "gos run .", "gos build", "gos test"})
    CHECK_MESSAGE(room.shell(command).exitedWith(0), command);
  room.write("tests/outside.gos", "#[test]\nfn t() {\n  assert(true)\n}\n");
  for (const char* command : {"gos check", "gos run .", "gos build -o app", "gos test",
                              "gos test tests/outside.gos", "gos check tests/outside.gos"}) {
    CAPTURE(command);
    const ChildResult result = room.shell(command);
    CHECK(result.exitedWith(1));
    CHECK(has(result.err, "error[GJ0033]: `tests/outside.gos` is not laid out"));
    CHECK(has(result.err, "--> tests/outside.gos:3:3"));
    CHECK(!has(result.out, "ran"));
  }
  room.write("src/main.gos", "fn main() {\n  println!(\"ran\")\n}\n");
  for (const char* command : {"gos check", "gos run .", "gos build -o app", "gos test"}) {
    CAPTURE(command);
    const ChildResult result = room.shell(command);
    CHECK(result.exitedWith(1));
    CHECK(has(result.err, "error[GJ0033]: `src/main.gos` is not laid out"));
    CHECK(has(result.err, "--> src/main.gos:2:3"));
    CHECK(has(result.err, "run `gos fmt`"));
    CHECK(!has(result.out, "ran"));
  }
  CHECK(room.shell("gos fmt && gos check && gos test").exitedWith(0));
  room.manifest("enforce-format = false\n").write("src/main.gos", "fn main() {}\n\n\n\n");
  CHECK(room.shell("gos check").exitedWith(0));
}

TEST_CASE("enforce-format looks at what gos fmt looks at, byte order marks among it") {
  const Room room;
  room.manifest("enforce-format = true\n")
      .write("src/main.gos", "\xEF\xBB\xBF"
                             "fn main() {}\n")
      .write("src/marked.gos", "\xEF\xBB\xBF")
      // No business of this project: another one, what is hidden, links, what is no program.
      .write("tests/inner/project.toml", "[project]\nid = \"example.com/q\"\nversion = \"0.1.0\"\n")
      .write("tests/inner/src/main.gos", "fn main()   {}\n")
      .write("tests/.hidden/a.gos", "fn a()   {}\n")
      .write("tests/data/broken.gos", "fn (   {\n")
      .write("far", "fn a()   {}\n");
  CHECK(room.shell("ln -s ../far tests/link.gos").exitedWith(0));
  const ChildResult marked = room.shell("gos check");
  CHECK(marked.exitedWith(1));
  for (const char* name : {"main", "marked"})
    CHECK_MESSAGE(
        has(marked.err, std::string("error[GJ0033]: `src/") + name + ".gos` is not laid out"),
        marked.err);
  CHECK(has(marked.err, "it begins with a byte order mark"));
  CHECK(has(marked.err, "2 errors"));
  CHECK(room.shell("gos fmt src").exitedWith(0));
  const ChildResult fine = room.shell("gos check");
  CHECK_MESSAGE(fine.exitedWith(0), fine.err);
}
