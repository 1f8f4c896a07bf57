#include "vm/coverage.h"

#include "tests/unit/vm/machine.h"

#include <doctest/doctest.h>

#include <vector>

using namespace gos::vm;
using namespace gos::vm::test;

namespace {

/// r0 = 5; if r0 == 0 { return 1 }; while r0 > 0 { r0 -= 1 }; return r0
FunctionId addLoop(ModuleBuilder& builder) {
  const FunctionId id =
      builder.addFunction("f", {kInt, kInt, kInt}, 0, kInt,
                          {abx(Op::LoadInt, 0, 5), abx(Op::LoadInt, 1, 0), abc(Op::EqInt, 2, 0, 1),
                           abx(Op::JumpIfNot, 2, 2), abx(Op::LoadInt, 0, 1), abc(Op::Return, 0),
                           abc(Op::AddImmI64, 0, 0, -1), abc(Op::LtI64, 2, 1, 0),
                           abx(Op::JumpIfNot, 2, 1), abx(Op::LoopJump, 0, -4), abc(Op::Return, 0)});
  Function& function = builder.module.functions[index(id)];
  function.lines = {{0, {10, 11}}, {2, {20, 21}}, {4, {30, 31}},
                    {6, {40, 41}}, {7, {50, 51}}, {10, {60, 61}}};
  return id;
}

} // namespace

TEST_CASE("the places that a run comes to are marked, and the others are not") {
  ModuleBuilder builder;
  const FunctionId id = addLoop(builder);
  REQUIRE(coverPlaceCount(builder.module) == 6);
  std::vector<uint8_t> seen(6, 0);
  Machine machine(builder);
  machine.vm().watchLines(seen);
  CHECK(machine.integer(id) == 0);
  CHECK(seen == std::vector<uint8_t>{1, 1, 0, 1, 1, 1});
  // What was put back is the program: a second run is the same and marks nothing new.
  CHECK(machine.integer(id) == 0);
  CHECK(seen == std::vector<uint8_t>{1, 1, 0, 1, 1, 1});
}

TEST_CASE("a run that is watched answers what one that is not does, and pays the same steps") {
  ModuleBuilder builder;
  const FunctionId id = addLoop(builder);
  Machine plain(builder);
  Machine watched(builder);
  std::vector<uint8_t> seen(coverPlaceCount(builder.module), 0);
  watched.vm().watchLines(seen);
  CHECK(plain.integer(id) == watched.integer(id));
  CHECK(plain.vm().stepsUsed() == watched.vm().stepsUsed());
}

TEST_CASE("library code is not counted, and fewer bytes than places do no harm") {
  ModuleBuilder builder;
  const FunctionId id = addLoop(builder);
  builder.module.functions[index(id)].transparent = true;
  CHECK(coverPlaceCount(builder.module) == 0);
  builder.module.functions[index(id)].transparent = false;
  std::vector<uint8_t> seen(2, 0);
  Machine machine(builder);
  machine.vm().watchLines(seen);
  CHECK(machine.integer(id) == 0);
  CHECK(seen == std::vector<uint8_t>{1, 1});
}
