// T076 where the limit is the system's and not ours (`ulimit -v`): memory that cannot be had ends a
// program with GX0009, a place and 101, whoever asked for it, and never with an abort.

#include "tests/threats/support.h"

#include <doctest/doctest.h>

#include <unistd.h>

using namespace gos::threats;
using llvm::StringRef;

namespace {

constexpr StringRef kPrlimit = "/usr/bin/prlimit";

bool canLimit() {
#ifdef GOS_SANITIZED // whose run-time part needs all of the address space
  return false;
#else
  return ::access(kPrlimit.data(), X_OK) == 0;
#endif
}

/// The program with so little address space.
Outcome limited(const Tree& tree, const std::string& program, std::vector<std::string> arguments,
                unsigned megabytes) {
  Launch run;
  run.directory = tree.root();
  run.program = kPrlimit.str();
  run.arguments = {"--as=" + std::to_string(uint64_t(megabytes) << 20), "--core=0", program};
  run.arguments.insert(run.arguments.end(), arguments.begin(), arguments.end());
  return launch(run);
}

void expectOutOfMemory(const Outcome& outcome, StringRef words = "out of memory") {
  const StringRef err = outcome.err;
  CHECK_MESSAGE(outcome.signal == 0, outcome.err);
  CHECK_MESSAGE(outcome.exitCode == 101, outcome.err);
  CHECK_MESSAGE(err.contains("error: runtime error: error[GX0009]"), outcome.err);
  CHECK_MESSAGE(err.contains(words), outcome.err);
  CHECK_MESSAGE(err.contains("main.gos:"), outcome.err);
  CHECK(StringRef(outcome.out).starts_with("begun\n"));
}

std::string runaway(const std::string& body, const std::string& uses = {}) {
  return uses + "\nfn main() {\n    println!(\"begun\")\n" + body + "\n}\n";
}

} // namespace

TEST_CASE("memory: whatever a program grows, it ends with a report when there is no more memory") {
  if (!canLimit()) {
    MESSAGE("no prlimit, or a sanitizer");
    return;
  }
  const std::string channel = "use std::sync::channel\nuse std::time\n";
  const std::string programs[] = {
      // Goroutines: their records, their stacks, the queues that they stand in.
      runaway("    let tx, rx = channel::<i64>()\n    loop { spawn(|| rx.recv()) }", channel),
      runaway("    loop { spawn(|| time::sleep(600000)) }", channel),
      // Values: many small ones, one large one, texts, maps, a queue between goroutines.
      runaway("    let mut all: Vec<Vec<i64>> = #[]\n    loop { all.push(#[1, 2, 3]) }"),
      runaway("    let mut one = #[0]\n    loop { one.push(1) }"),
      runaway("    let mut text = \"\"\n    loop { text += \"0123456789\" }"),
      runaway("    let mut map: Map<i64, String> = {}\n    let mut i = 0\n    loop { map.insert(i, "
              "f\"{i}\"); i += 1 }"),
      runaway("    let tx, rx = sync::channel_unbounded::<i64>()\n    loop { tx.send(1) }",
              "use std::sync\n"),
      // Stacks that have grown, each of which stands in a mapping of its own or a copy.
      runaway("    let tx, rx = channel::<i64>()\n    loop { spawn(|| deep(3000, rx)); "
              "thread::yield_now() }",
              channel +
                  "use std::sync\nuse std::thread\n\nfn deep(n: i64, rx: sync::Receiver<i64>) -> "
                  "i64 {\n"
                  "    if n == 0 { rx.recv().unwrap_or(0) } else { deep(n - 1, rx) + 1 }\n}\n"),
      // What the library needs beside the heap.
      runaway("    println!(\"{}\", fs::read_to_string(\"/dev/zero\").is_ok())", "use std::fs\n"),
  };
  for (const std::string& text : programs) {
    CAPTURE(text);
    Tree tree;
    tree.write("main.gos", text);
    expectOutOfMemory(limited(tree, GOS_PROGRAM, {"run", "main.gos"}, 500));
  }
}

TEST_CASE("memory: a built program has the same end") {
  if (!canLimit()) {
    MESSAGE("no prlimit, or a sanitizer");
    return;
  }
  Tree tree;
  tree.write("main.gos",
             runaway("    let tx, rx = channel::<i64>()\n    loop { spawn(|| rx.recv()) }",
                     "use std::sync::channel\n"));
  Launch build;
  build.directory = tree.root();
  build.arguments = {"build", "main.gos", "-o", "main"};
  REQUIRE(launch(build).exitCode == 0);
  expectOutOfMemory(limited(tree, tree.root() + "/main", {}, 400));
}

TEST_CASE(
    "memory: a region that grows ends in an error of the check when there is no more memory") {
  if (!canLimit()) {
    MESSAGE("no prlimit, or a sanitizer");
    return;
  }
  Tree tree;
  tree.write("main.gos",
             "fn grow() -> i64 {\n    let mut one = #[0]\n    loop { one.push(1) }\n}\n\n"
             "const N: i64 = comptime { grow() }\n\nfn main() { println!(\"{}\", N) }\n");
  const Outcome outcome = limited(
      tree, GOS_PROGRAM,
      {"check", "--comptime-memory=100000000000", "--comptime-steps=1000000000000", "main.gos"},
      300);
  CHECK_MESSAGE(outcome.exitCode == 1, outcome.err);
  CHECK_MESSAGE(StringRef(outcome.err).contains("error[GX0009]: out of memory"), outcome.err);
}

TEST_CASE("memory: the compiler itself ends with a message when the system has no more memory") {
  if (!canLimit()) {
    MESSAGE("no prlimit, or a sanitizer");
    return;
  }
  Tree tree;
  std::string text;
  for (int i = 0; i < 200'000; ++i)
    text += "fn f" + std::to_string(i) + "(a: i64) -> i64 { a + " + std::to_string(i) + " }\n";
  tree.write("main.gos", text + "fn main() {}\n");
  const Outcome outcome = limited(tree, GOS_PROGRAM, {"check", "main.gos"}, 110);
  CHECK(outcome.signal == 0);
  CHECK_MESSAGE(outcome.exitCode == 1, outcome.err);
  CHECK_MESSAGE(StringRef(outcome.err).contains("gos: error: out of memory"), outcome.err);
}
