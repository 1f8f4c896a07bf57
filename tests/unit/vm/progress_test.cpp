#include "tests/unit/vm/machine.h"

#include <doctest/doctest.h>

#include <vector>

using namespace gos::vm;
using namespace gos::vm::test;

namespace {
constexpr uint64_t kMillion = 1'000'000;
}

TEST_CASE("progress is told of every hundred million steps, with the steps so far") {
  ModuleBuilder builder;
  std::vector<uint64_t> told;
  VmOptions options = Machine::programOptions();
  options.progress = [&](uint64_t steps) { told.push_back(steps); };
  Machine machine(builder, std::move(options));
  CHECK(!machine.vm().charge(60 * kMillion));
  CHECK(told.empty());
  CHECK(machine.vm().stepsUsed() == 60 * kMillion);
  CHECK(!machine.vm().charge(60 * kMillion));
  CHECK(told == std::vector<uint64_t>{120 * kMillion});
  CHECK(!machine.vm().charge(900 * kMillion)); // in one piece: it is told of once
  CHECK(told.size() == 2);
  CHECK(machine.vm().stepsUsed() == 1020 * kMillion);
}

TEST_CASE("who is told of progress has the same number of steps as who is not") {
  for (bool isTold : {false, true}) {
    ModuleBuilder builder;
    VmOptions options = Machine::programOptions();
    options.steps = 350 * kMillion;
    if (isTold)
      options.progress = [](uint64_t) {};
    Machine machine(builder, std::move(options));
    for (int i = 0; i < 7; ++i)
      CHECK(!machine.vm().charge(50 * kMillion));
    CHECK(machine.vm().stepsUsed() == 350 * kMillion);
    const Trap trap = machine.vm().charge(1);
    REQUIRE(bool(trap));
    CHECK(trap->kind == TrapKind::Budget);
  }
}

TEST_CASE("a loop that goes over the mark goes on, without a scheduler too") {
  ModuleBuilder builder;
  const FunctionId id = builder.addFunction("f", {kInt, kInt}, 0, kInt,
                                            {abx(Op::LoadInt, 0, 0), abx(Op::LoadInt, 1, 2000),
                                             abc(Op::ForLoopI64, 0, 1, -1), abc(Op::Return, 0)});
  unsigned told = 0;
  VmOptions options = Machine::programOptions();
  options.progress = [&](uint64_t) { ++told; };
  Machine machine(builder, std::move(options));
  CHECK(!machine.vm().charge(100 * kMillion - 1000)); // the loop crosses it
  CHECK(machine.integer(id) == 2000);
  CHECK(told == 1);
}
