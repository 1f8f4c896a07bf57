// T033, T043, T056, T076 where the region has goroutines: one order on every host, the gate on each
// of them, nothing after a denial, and a quota.

#include "tests/threats/support.h"

#include <doctest/doctest.h>

#include <sched.h>
#include <set>
#include <unistd.h>

using namespace gos::threats;
using llvm::StringRef;

namespace {

/// One of those that this host gives us.
std::string aProcessor() {
  cpu_set_t given;
  REQUIRE(::sched_getaffinity(0, sizeof given, &given) == 0);
  int number = 0;
  while (number != CPU_SETSIZE - 1 && !CPU_ISSET(number, &given))
    ++number;
  return std::to_string(number);
}

const std::string kWrite = "fs::write(\"x\", \"b\").unwrap()";

/// The act is denied below `full`, and done at `full` by the end of the region.
void expectGated(const Act& act) {
  CAPTURE(act.body);
  Tree tree;
  expectDeniedBelowFull(tree, act);
  CHECK(!tree.exists("x"));
  expectAllowed(tree, Level::Full, act, "over");
  CHECK(tree.exists("x"));
}

Act writing(std::string body, std::string items = {}) {
  return {.uses = {"fs", "sync", "thread"},
          .items = std::move(items),
          .body = std::move(body),
          .call = "fs::write",
          .klass = "filesystem write"};
}

} // namespace

TEST_CASE("T033 goroutines take turns and select chooses alike on every host") {
  const std::string items = R"(
fn region() -> String {
    let tx, rx = sync::channel::<i64>(cap: 3)
    let ux, ru = sync::channel::<i64>()
    let mut out = ""
    let outcome = cohort {
        spawn(|| { for i in 0..40 { tx.send(i) } tx.close() })
        spawn(|| { for i in 0..40 { ux.send(i) } ux.close() })
        let mut n = 0
        while n < 80 {
            select {
                Some(v) = rx.recv() => { out += f"a{v} "; n += 1 }
                Some(v) = ru.recv() => { out += f"b{v} "; n += 1 }
            }
        }
    }
    // The slices of those that only compute are counted in steps.
    let order = sync::Shared::new("")
    let race = cohort {
        for name in #["p", "q", "r"] {
            spawn(|| {
                for part in 0..5 {
                    let mut sum = 0
                    for i in 0..200000 { sum += i ^ part }
                    order.update(|s| s + name)
                    if sum < 0 { println!("{}", sum) }
                }
            })
        }
    }
    f"{out}{order.get()}{outcome.is_ok()}{race.is_ok()}"
})";
  std::set<std::string> answers;
  const int rounds = fullRun() ? 100 : 10;
  Tree tree;
  tree.write("main.gos", program({.uses = {"sync"}, .items = items, .body = "region()"}));
  for (Level level : kBelowFull)
    for (int round = 0; round < rounds; ++round) {
      Where where;
      where.environment = {{"LC_ALL", round % 2 ? "tr_TR.UTF-8" : "C"},
                           {"MALLOC_PERTURB_", std::to_string(round % 255)},
                           {"PADDING", std::string(size_t(round) * 37, 'x')}};
      Launch run = command(tree, "run", level, where);
      if (round % 2 && ::access("/usr/bin/taskset", X_OK) == 0) {
        run.program = "/usr/bin/taskset";
        run.arguments.insert(run.arguments.begin(), {"-c", aProcessor(), GOS_PROGRAM});
      }
      const Outcome outcome = launch(run);
      checkOutcome(outcome, tree);
      CHECK_MESSAGE(outcome.exitCode == 0, outcome.err);
      answers.insert(outcome.out);
    }
  CHECK(answers.size() == 1);
}

TEST_CASE(
    "T043 what a goroutine of a region does is judged, and the region is not over before it is") {
  expectGated(writing("let outcome = cohort { spawn(|| { " + kWrite +
                      " }) }\n    let _ = outcome\n    \"over\""));
  // Joined by nobody.
  expectGated(writing("spawn(|| { " + kWrite + " })\n    \"over\""));
  expectGated(writing("spawn(|| { for _ in 0..1000 { thread::yield_now() }\n " + kWrite +
                      " })\n    \"over\""));
  // Started by another one, and by a function that is called in the region.
  expectGated(writing("spawn(|| { start() })\n    \"over\"",
                      "fn start() {\n    let outcome = cohort { spawn(|| { " + kWrite +
                          " }) }\n    let _ = outcome\n}"));
  // A closure that comes through a channel.
  expectGated(writing("let tx, rx = sync::channel::<Fn() -> ()>(cap: 1)\n    tx.send(|| { " +
                      kWrite +
                      " })\n    spawn(|| { let act = rx.recv().unwrap()\n act() })\n    \"over\""));
  expectGated(writing("let once = sync::Once::new()\n    spawn(|| { let _ = once.call(|| { " +
                      kWrite + " }) })\n    \"over\""));
}

TEST_CASE(
    "T044 a closure that a region left in a channel is the program's when the program calls it") {
  Tree tree;
  tree.write("main.gos",
             "use std::fs\nuse std::sync\n\nfn make() -> Fn() -> String {\n    let tx, rx = "
             "sync::channel::<Fn() -> String>(cap: 1)\n"
             "    tx.send(|| { " +
                 kWrite +
                 "\n \"wrote\" })\n    rx.recv().unwrap()\n}\n\n"
                 "const KEPT: String = comptime { let f = make()\n let _ = f\n \"kept\" }\n\n"
                 "fn main() {\n    let f = make()\n    println!(\"{} {}\", KEPT, spawn(|| "
                 "f()).join().unwrap())\n}\n");
  for (Level level : kAllLevels)
    expectProgramAllowed(tree, level, "kept wrote");
}

TEST_CASE("T056 after the denial of one goroutine no other one of the fold goes on") {
  Tree tree;
  tree.write("in.txt", "inside");
  const Act act{
      .uses = {"fs", "thread"},
      .body =
          "let outcome = cohort {\n"
          "        spawn(|| { println!(\"printed before\")\n thread::yield_now()\n let _ = "
          "fs::write(\"x\", \"b\")\n"
          " println!(\"printed after\") })\n"
          "        spawn(|| { thread::yield_now()\n thread::yield_now()\n println!(\"printed by "
          "another\")\n"
          " println!(\"{}\", fs::read_to_string(\"in.txt\").unwrap()) })\n"
          "        defer println!(\"printed by defer\")\n    }\n    let _ = outcome\n    \"over\"",
      .call = "fs::write",
      .klass = "filesystem write"};
  tree.write("main.gos", program(act));
  const Launch check = command(tree, "check", Level::Confined, {});
  Traced run;
  if (canTrace()) {
    run = traced(check);
    for (const SystemCall& call : run.calls)
      CHECK_MESSAGE((call.name == "read" || !StringRef(call.text).contains("in.txt")), call.text);
  } else {
    run.outcome = launch(check);
  }
  checkOutcome(run.outcome, tree);
  CHECK(run.outcome.exitCode == 1);
  const StringRef err = run.outcome.err;
  CHECK_MESSAGE(err.contains("GX0010"), err.str());
  CHECK_MESSAGE(err.contains("printed before"), err.str());
  CHECK_MESSAGE(!err.contains("printed after"), err.str());
  CHECK_MESSAGE(!err.contains("printed by another"), err.str());
  CHECK(!tree.exists("x"));
}

TEST_CASE("T076 goroutines and timers of a region have a quota, and leave no descriptor open") {
  Tree tree;
  for (Level level : kBelowFull)
    expectError(tree, level,
                {.uses = {"sync", "thread"},
                 .body = "let tx, rx = sync::channel::<i64>()\n    let outcome = cohort {\n"
                         "        for i in 0..1000000 { spawn(|| { let v = #[i, i, i, i]\n let _ = "
                         "rx.recv()\n v }) }\n"
                         "        thread::yield_now()\n        tx.close()\n    }\n    "
                         "outcome.is_ok().to_string()"},
                "GX0009", "heap");
  // Starting without an end.
  expectError(
      tree, Level::Confined,
      {.uses = {"sync", "thread"},
       .items = "fn more(rx: sync::Receiver<i64>) {\n    let outcome = cohort { spawn(|| "
                "more(rx))\n spawn(|| more(rx)) }\n"
                "    let _ = outcome\n}",
       .body = "let tx, rx = sync::channel::<i64>()\n    more(rx)\n    tx.close()\n    \"over\""},
      "GX0009", "");
  // Timers, and children that goroutines wait for, at full.
  tree.write("main.gos", "use std::fs\nuse std::process\nuse std::time\n\n"
                         "fn count() -> i64 { fs::read_dir(\"/proc/self/fd\").unwrap().len() }\n\n"
                         "fn run() -> i64 {\n    let outcome = cohort {\n"
                         "        for _ in 0..20000 { spawn(|| time::sleep(1)) }\n"
                         "        for _ in 0..20 { spawn(|| { let _ = process::run(\"true\", "
                         "#[]).unwrap() }) }\n    }\n"
                         "    if outcome.is_ok() { 1 } else { 0 }\n}\n\n"
                         "const BEFORE: i64 = comptime { count() }\nconst RAN: i64 = comptime { "
                         "run() }\nconst AFTER: i64 = comptime { count() }\n\n"
                         "fn main() { println!(\"{} {}\", RAN, AFTER - BEFORE) }\n");
  expectProgramAllowed(tree, Level::Full, "1 0");
}
