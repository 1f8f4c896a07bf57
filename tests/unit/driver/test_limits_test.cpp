// `gos test`: limits, pipes and signals while the program is busy with something else. What has to
// come after what is waited for; nothing here is compared with a clock.

#include "tests/support/eventually.h"
#include "tests/support/room.h"

#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <string>

using gos::test::ChildResult;
using gos::test::holds;
using gos::test::Room;

namespace {

/// A file whose compilation ends when the shell command does.
std::string compilesUntil(const std::string& command) {
  return "use std::process\n\nconst SEEN: bool = comptime {\n    process::run(\"sh\", #[\"-c\", \"" +
         command + "\"]).is_ok()\n}\n\n#[test]\nfn later() { assert(SEEN) }\n";
}

constexpr const char* kTest = "gos test --comptime-io=full --parallel=2 .";

} // namespace

TEST_CASE("what a test prints is taken in while the next file is compiled") {
  const Room room;
  room.write("a.gos", "use std::fs\n\n#[test]\nfn prints() {\n"
                      "    for i in 0..40000 { println!(\"line {}\", i) }\n"
                      "    fs::write(\"printed\", \"x\").unwrap()\n    assert(true)\n}\n")
      .write("b.gos", compilesUntil("until test -e printed; do sleep 0.01; done"));
  const ChildResult result = room.shell(kTest);
  CHECK_MESSAGE(result.exitedWith(0), (result.out + result.err));
  CHECK(holds(result.out, "PASS prints"));
}

TEST_CASE("a test past its limit is ended while the next file is compiled") {
  const Room room;
  room.write("a.gos",
             "use std::process\n\n#[test]\n#[timeout(\"1s\")]\nfn endless() {\n"
             "    let _ = process::run(\"sh\", #[\"-c\", \"echo $PPID > .pid; mv .pid pid\"])\n"
             "    loop {}\n}\n")
      .write("b.gos", compilesUntil("until test -e pid; do sleep 0.01; done; "
                                    "while test -e /proc/$(cat pid); do sleep 0.01; done"));
  // One that did not come to its file was ended too: then there is nothing to wait for.
  const ChildResult result = room.shell(std::string("(sleep 5; test -e pid || echo 0 > pid) & ") +
                                        kTest + "; code=$?; kill $!; exit $code");
  CHECK(result.exitedWith(1));
  CHECK_MESSAGE(holds(result.out, "FAIL endless"), (result.out + result.err));
  CHECK(holds(result.out, ": no end after 1s\n"));
  CHECK(holds(result.out, "PASS later"));
}

TEST_CASE("a test that ended after its limit fails, whoever was kept from looking") {
  const Room room;
  // The test stops the program that looks after it; it goes on when the test has ended.
  room.write("a.gos",
             "use std::process\nuse std::time\n\n#[test]\n#[timeout(\"2s\")]\nfn late() {\n"
             "    let _ = process::run(\"sh\", #[\"-c\", \"kill -STOP $(cat gos); "
             "echo $PPID > .pid; mv .pid pid; sleep 3\"])\n"
             "    assert(true)\n}\n");
  const ChildResult result = room.shell(
      "{ sh -c 'echo $$ > gos; exec \"$GOS\" test a.gos'; code=$?; echo > done; exit $code; } & "
      "until test -e done || grep -q '^State:.Z' /proc/$(cat pid)/status; do sleep 0.01; done "
      "2>err; kill -CONT $(cat gos) 2>err; wait $!");
  CHECK_MESSAGE(result.exitedWith(1), (result.out + result.err));
  CHECK(holds(result.out, "FAIL late"));
  CHECK(holds(result.out, ": no end after 2s\n"));
}

TEST_CASE("an interrupt during a compilation ends what left its group, too") {
  const Room room;
  room.write("a.gos",
             "use std::process\n\n#[test]\nfn leaves() {\n"
             "    let _ = process::spawn(\"sh\", #[\"-c\", \"setsid sleep 1001 & echo $! > "
             "escaped; sleep 1000\"])\n    loop {}\n}\n")
      .write("b.gos", compilesUntil("echo > compiling; sleep 1002"));
  const ChildResult result = room.shell(
      "(until test -e done || test -s escaped && test -e compiling; do sleep 0.01; done; kill -INT $(cat gos)) & "
      "sh -c 'echo $$ > gos; exec \"$GOS\" test --comptime-io=full --parallel=2 .'; code=$?; "
      "echo > done; wait; exit $code");
  CHECK_MESSAGE(result.exitedWith(128 + SIGINT), (result.out + result.err));
  const int escaped = std::atoi(room.read("escaped").c_str());
  REQUIRE(escaped > 1);
  CHECK(gos::tests::ends(escaped));
}

TEST_CASE("a signal that was ignored before ends nothing") {
  const Room room;
  room.write("a.gos", "use std::process\n\n#[test]\nfn hangs_up() {\n"
                      "    let _ = process::run(\"sh\", #[\"-c\", \"kill -HUP $(cat gos)\"])\n"
                      "    assert(true)\n}\n")
      .write("b.gos", "#[test]\nfn later() { assert(true) }\n");
  const ChildResult result =
      room.shell("trap '' HUP; sh -c 'echo $$ > gos; exec \"$GOS\" test --parallel=1 .'");
  CHECK_MESSAGE(result.exitedWith(0), (result.out + result.err));
  CHECK(holds(result.out, "test: 2 passed, 0 failed"));
}

TEST_CASE("tests end for who ignores the ends of children") {
  const Room room;
  room.write("a.gos", "#[test]\nfn ends() { assert(true) }\n");
  const ChildResult result = room.shell("exec env --ignore-signal=CHLD \"$GOS\" test a.gos");
  CHECK_MESSAGE(holds(result.out, "test: 1 passed, 0 failed"), (result.out + result.err));
}
