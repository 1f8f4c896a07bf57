// Programs with goroutines whose code was changed by chance, as bytecode from elsewhere may be:
// queues with the tickets of others, selections half made, cohorts that end twice. What the
// verifier accepts may do anything but break the machine; the sanitizers are the judge, and without
// them the heap's own count.

#include "stdlib/builtins.h"
#include "tests/unit/lower/lower_support.h"
#include "vm/verifier.h"
#include "vm/vm.h"

#include <doctest/doctest.h>

#include <random>

using namespace gos;
using namespace gos::lower::test;

namespace {

constexpr const char* kPrograms[] = {
    R"(
use std::sync
use std::sync::channel
use std::thread

fn mix(a: Vec<i64>, b: Vec<i64>) -> i64 { a.sum() + b.len() }

fn main() {
    let tx, rx = channel::<i64>(cap: 1)
    let ux, ru = channel::<String>()
    let numbers = #[0, 1, 4294967296, 4294967297, 8589934592, -1]
    let other: Vec<i64> = #[]
    let h = spawn(|| { tx.send(1); tx.send(2); ux.send("a"); mix(numbers, other) })
    let g = spawn(|| { let v = rx.recv(); ux.send("b"); v })
    let mut n = 0
    while n < 3 {
        select {
            Some(v) = rx.recv() => { n += v }
            Some(s) = ru.recv() => { n += s.len() }
            tx.send(7) => { n += 1 }
        }
    }
    thread::yield_now()
    tx.close()
    println!("{:?} {:?} {:?}", h.join(), g.join(), ru.try_recv())
}
)",
    R"(
use std::runtime
use std::sync
use std::thread

fn main() {
    let m = sync::Mutex::new()
    let group = sync::WaitGroup::new()
    let barrier = sync::Barrier::new(2)
    let shared = sync::Shared::new("")
    group.add(2)
    let outcome = cohort {
        spawn(|| { m.lock(); thread::yield_now(); m.unlock(); group.done(); barrier.wait() })
        spawn(|| { m.with(|| shared.set("x")); group.done(); barrier.wait() })
        group.wait()
        let inner = cohort(policy: Policy::CollectAll) {
            spawn(|| -> Result<i64, String> { Err("no") })
            if runtime::cohort_cancelled() { runtime::cohort_cancel() }
        }
        println!("{:?}", inner.is_ok())
    }
    println!("{} {:?}", shared.get(), outcome.is_ok())
}
)",
};

/// One to three changes of the program's own code, or of the library's for goroutines.
void change(vm::Module& module, std::mt19937& random) {
  const auto number = [&](size_t below) { return size_t(random() % below); };
  for (size_t changes = 1 + number(3); changes != 0; --changes) {
    vm::Function& function = module.functions[number(module.functions.size())];
    if (function.code.empty())
      continue;
    vm::Instruction& at = function.code[number(function.code.size())];
    const unsigned field = 16 * unsigned(1 + number(3)); // operand A, B or C
    const uint64_t value = number(4) == 0 ? number(65536) : number(function.registers.size() + 1);
    switch (number(4)) {
    case 0: // another instruction of the same function in its place
      at = function.code[number(function.code.size())];
      break;
    case 1: // another native
      if (at.op() == vm::Opcode::CallNative && !module.natives.empty())
        at = vm::Instruction::abx(at.op(), at.a(), uint32_t(number(module.natives.size())), at.d());
      break;
    default:
      at.word = (at.word & ~(uint64_t(0xffff) << field)) | value << field;
    }
  }
}

} // namespace

TEST_CASE("changed code of goroutines is refused, or does no harm") {
  std::mt19937 random(20261130);
  unsigned ran = 0;
  for (const char* source : kPrograms) {
    const vm::Module original = compiled(source);
    for (int round = 0; round < 4000; ++round) {
      vm::Module module = original;
      change(module, random);
      if (llvm::Error error = vm::verify(module, stdlib::nativeTable())) {
        llvm::consumeError(std::move(error));
        continue;
      }
      ComptimePolicy policy;
      policy.packages.resize(2);
      vm::VmOptions options;
      options.policy = &policy;
      options.regionPackage = 1;
      options.steps = 200'000;
      options.heapBytes = uint64_t(8) << 20;
      options.depth = 200;
      auto machine = vm::Vm::create(module, stdlib::nativeTable(), std::move(options));
      REQUIRE(machine);
      ++ran;
      vm::Value result = 0;
      if (!(*machine)->run(module.entry, result))
        (*machine)->releaseValue(result, module.functions[vm::index(module.entry)].result);
    }
  }
  CHECK(ran > 500); // else the changes are too wild
  MESSAGE("ran " << ran);
}
