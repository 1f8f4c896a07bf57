// What runs of one machine leave behind, and what values of a size that a type gives cost.

#include "stdlib/builtins.h"
#include "tests/unit/lower/lower_support.h"
#include "vm/vm.h"

#include <doctest/doctest.h>

using namespace gos;
using namespace gos::lower::test;

namespace {

std::unique_ptr<vm::Vm> machineOf(const vm::Module& module, uint64_t heapBytes = 0,
                                  uint64_t steps = vm::kUnlimited) {
  vm::VmOptions options;
  options.mode = vm::Mode::Program;
  options.heapBytes = heapBytes;
  options.steps = steps;
  return llvm::cantFail(vm::Vm::create(module, stdlib::nativeTable(), std::move(options)));
}

/// Bytes that stay after the second of three runs and after the third; each must fail with these
/// words.
void expectNothingLeft(llvm::StringRef source, llvm::StringRef words) {
  CAPTURE(source.str());
  const vm::Module module = compiled(source);
  const auto machine = machineOf(module);
  uint64_t used[3] = {};
  for (uint64_t& each : used) {
    vm::Value result = 0;
    const vm::Trap trap = machine->runPart(module.entry, result);
    REQUIRE(bool(trap));
    CHECK_MESSAGE(llvm::StringRef(trap->message).contains(words), trap->message);
    CHECK_FALSE(machine->settle());
    if (vm::Scheduler* scheduler = machine->schedulerIfAny())
      scheduler->takeUnobserved();
    each = machine->heap().used();
  }
  CHECK(used[1] == used[2]);
  CHECK(used[0] == used[2]);
}

} // namespace

TEST_CASE("a run that fails while it waits holds nothing afterwards") {
  const std::string channel = "use std::sync\nuse std::sync::channel\nuse std::thread\n"
                              "fn text() -> String { \"0123456789\".repeat(1000) }\n";
  // The value that nobody takes.
  expectNothingLeft(channel + "fn main() { let t, r = channel::<String>(); t.send(text()) }",
                    "deadlock");
  expectNothingLeft(channel + "fn main() { let t, r = channel::<String>()\n"
                              "  select { t.send(text()) => {} } }",
                    "deadlock");
  // The one whose channel is closed meanwhile.
  expectNothingLeft(channel + "fn main() { let t, r = channel::<String>()\n"
                              "  spawn(|| { r.close() }); t.send(text()) }",
                    "closed channel");
  // That of a goroutine that waits when the run has ended, and of one that fails then.
  expectNothingLeft(channel + "fn main() { let t, r = channel::<String>()\n"
                              "  spawn(|| { t.send(text()) }); thread::yield_now(); t.close()\n"
                              "  panic!(\"no\") }",
                    "no");
  expectNothingLeft(
      channel + "fn main() { let c = cohort { let t, r = channel::<String>(); t.send(text()) } }",
      "deadlock");
}

TEST_CASE("a skipped field of a large type costs as much as its type is long, not as it is large") {
  const vm::Module module = compiled(R"(
#[derive(Debug)]
struct Record {
    n: i64,
    #[skip] deep: [[[[[[[[[[i64; 10]; 10]; 10]; 10]; 10]; 10]; 10]; 10]; 10]; 10],
    #[skip] text: [[String; 100]; 100],
    #[skip] bytes: [u8; 1000],
}
fn main() {
    let mut record = from_json::<Record>("{\"n\":1}").unwrap()
    record.deep[1][2][3][4][5][6][7][8][9][0] = 5
    record.text[1][2] = "a"
    assert(record.deep[1][2][3][4][5][6][7][8][9][0] == 5)
    assert(record.deep[1][2][3][4][5][6][7][8][8][0] == 0)
    assert(record.deep[0][2][3][4][5][6][7][8][9][0] == 0)
    assert(record.text[1][2] + record.text[1][1] + record.text[0][2] == "a")
    assert(record.bytes.len() == 1000)
    assert(record.deep.len() == 10)
}
)");
  const auto machine = machineOf(module, uint64_t(1) << 20, 1'000'000);
  vm::Value result = 0;
  const vm::Trap trap = machine->run(module.entry, result);
  CHECK_MESSAGE(!trap, trap->message);
}

TEST_CASE("a skipped field that no memory could hold is refused before anything is made") {
  const vm::Module module = compiled(R"(
struct Record { n: i64, #[skip] large: [i64; 4000000000] }
fn main() { println!("{}", from_json::<Record>("{\"n\":1}").is_ok()) }
)");
  const auto machine = machineOf(module, uint64_t(1) << 30, 1'000'000);
  vm::Value result = 0;
  const vm::Trap trap = machine->run(module.entry, result);
  REQUIRE(bool(trap));
  CHECK(trap->counter == "heap");
  CHECK(machine->stepsUsed() < 100'000);
}
