#include "tests/unit/vm/natives.h"

using namespace gos;
using namespace gos::vm;
using namespace gos::vm::test;

namespace {

VmOptions bounded(uint64_t steps, uint64_t heapBytes = 0, uint64_t depth = 100'000) {
  VmOptions options = Machine::programOptions();
  options.steps = steps;
  options.heapBytes = heapBytes;
  options.depth = depth;
  return options;
}

} // namespace

TEST_CASE("an endless loop ends with its steps (T072)") {
  ModuleBuilder b;
  const FunctionId loop =
      b.addFunction("f", {kInt}, 0, kInt, {abx(Op::LoopJump, 0, -1), abc(Op::Return, 0)});
  // Two functions that call each other for ever.
  const FunctionId ping =
      b.addFunction("ping", {kInt}, 0, kInt, {abx(Op::Call, 0, 2), abc(Op::Return, 0)});
  b.addFunction("pong", {kInt}, 0, kInt, {abx(Op::Call, 0, int(index(ping))), abc(Op::Return, 0)});
  Trap trap = Machine(b, bounded(10'000)).trap(loop);
  CHECK(trap->kind == TrapKind::Budget);
  CHECK(trap->counter == "steps");
  CHECK(trap->limit == 10'000);
  CHECK(trap->message == "budget `steps` of 10000 is used up");
  CHECK(Machine(b, bounded(5'000)).trap(ping)->kind == TrapKind::Budget);
}

TEST_CASE("the same program spends the same steps") {
  ModuleBuilder b;
  const FunctionId id = b.addFunction("f", {kInt, kInt}, 0, kInt,
                                      {abx(Op::LoadInt, 0, 0), abx(Op::LoadInt, 1, 1000),
                                       abc(Op::ForLoopI64, 0, 1, -1), abc(Op::Return, 0)});
  uint64_t spent = 0;
  for (int i = 0; i < 3; ++i) {
    Machine machine(b);
    machine.run(id);
    if (i == 0)
      spent = machine.vm().stepsUsed();
    CHECK(machine.vm().stepsUsed() == spent);
  }
  // 999 jumps back, and what a run costs to enter.
  CHECK(spent >= 999);
  CHECK(spent < 1100);
}

TEST_CASE("nested calls end at the depth limit and leave nothing behind (T074)") {
  ModuleBuilder b;
  const uint32_t text = b.addString("x");
  const FunctionId id = b.addFunction("f", {kInt, kString, kString}, 2, kInt,
                                      {abx(Op::LoadString, 2, text), abc(Op::StringAppend, 2, 2),
                                       abc(Op::ArgScalar, 0, 0), abc(Op::ArgTake, 1, 2),
                                       abx(Op::Call, 0, 0), abc(Op::ReturnScalar, 0)});
  const FunctionId start =
      b.addFunction("start", {kInt, kString}, 0, kInt,
                    {abx(Op::LoadString, 1, text), abx(Op::ArgInt, 0, 0), abc(Op::ArgRef, 1, 1),
                     abx(Op::Call, 0, int(index(id))), abc(Op::ReturnScalar, 0)});
  Machine machine(b, bounded(kUnlimited, 0, 10'000));
  Trap trap = machine.trap(start);
  CHECK(trap->kind == TrapKind::Depth);
  CHECK(trap->limit == 10'000);
  CHECK(trap->trace.size() == kTraceFrames);
  CHECK(trap->traceOmitted > 9'000);
  CHECK(machine.vm().heap().used() == 0);
}

TEST_CASE("frames as large as they get end at the stack, not beyond it") {
  ModuleBuilder b;
  std::vector<LayoutId> registers(60'000, kInt);
  const FunctionId id =
      b.addFunction("f", registers, 0, kInt, {abx(Op::Call, 0, 0), abc(Op::Return, 0)});
  CHECK(Machine(b).trap(id)->kind == TrapKind::Depth);
}

TEST_CASE("memory is refused, not run out of (T073)") {
  ModuleBuilder b;
  // A vector that takes itself in, again and again, by doubling.
  const FunctionId grow =
      b.addFunction("grow", {kInt, kString}, 0, kInt,
                    {abx(Op::LoadString, 1, b.addString("x")), abc(Op::StringAppend, 1, 1),
                     abx(Op::LoopJump, 0, -2), abc(Op::ReturnScalar, 0)});
  const FunctionId push =
      b.addFunction("push", {kInt, kVecInt}, 0, kInt,
                    {abc(Op::NewVec, 1, int(index(kVecInt)), 0), abc(Op::VecPush, 1, 0),
                     abx(Op::LoopJump, 0, -2), abc(Op::ReturnScalar, 0)});
  const uint32_t huge = b.addConstant(uint64_t(1) << 40);
  const FunctionId repeat =
      b.addFunction("repeat", {kInt, kVecInt}, 0, kInt,
                    {abx(Op::LoadConstant, 0, huge), abx(Op::ArgInt, 0, 0),
                     abc(Op::NewVecRepeat, 1, 0, int(index(kVecInt))), abc(Op::ReturnScalar, 0)});
  const uint32_t wide =
      b.addFormat({' ', FormatSpec::Align::Right, false, INT32_MAX, -1, FormatSpec::Kind::Display});
  const FunctionId pad =
      b.addFunction("pad", {kInt, kString}, 0, kInt,
                    {abx(Op::LoadString, 1, 0), abx(Op::LoadInt, 0, 1),
                     abc(Op::FormatScalar, 1, 0, int(wide)), abc(Op::ReturnScalar, 0)});
  for (FunctionId id : {grow, push, repeat, pad}) {
    Machine machine(b, bounded(kUnlimited, 1 << 20));
    Trap trap = machine.trap(id);
    CHECK(trap->kind == TrapKind::Budget);
    CHECK(trap->counter == "heap");
    CHECK(machine.vm().heap().used() == 0);
  }
}

TEST_CASE("a negative count is a panic") {
  ModuleBuilder b;
  const FunctionId id =
      b.addFunction("f", {kInt, kVecInt}, 0, kInt,
                    {abx(Op::LoadInt, 0, -1), abx(Op::ArgInt, 0, 0),
                     abc(Op::NewVecRepeat, 1, 0, int(index(kVecInt))), abc(Op::ReturnScalar, 0)});
  CHECK(Machine(b).message(id) == "attempt to repeat an element -1 times");
}

TEST_CASE("a trace names functions and places, innermost first") {
  ModuleBuilder b;
  const FunctionId inner =
      b.addFunction("inner", {kInt}, 0, kInt,
                    {abx(Op::LoadInt, 0, 0), abc(Op::DivI64, 0, 0, 0), abc(Op::Return, 0)});
  b.module.functions.back().lines = {{0, {100, 101}}, {1, {110, 115}}, {2, {120, 121}}};
  const FunctionId outer = b.addFunction("outer", {kInt}, 0, kInt,
                                         {abx(Op::Call, 0, int(index(inner))), abc(Op::Return, 0)});
  b.module.functions.back().lines = {{0, {200, 205}}, {1, {210, 211}}};
  Trap trap = Machine(b).trap(outer);
  REQUIRE(trap->trace.size() == 2);
  CHECK(trap->trace[0].function == "inner");
  CHECK(trap->trace[0].span.begin == 110);
  CHECK(trap->trace[1].function == "outer");
  CHECK(trap->trace[1].span.begin == 200);
  CHECK(trap->traceOmitted == 0);
}

TEST_CASE("a panic inside a hook unwinds both runs") {
  ModuleBuilder b;
  const uint32_t text = b.addString("no text for you");
  const FunctionId hook = b.addFunction("fmt", {kPair, kString}, 1, kString,
                                        {abx(Op::LoadString, 1, text), abc(Op::Panic, 1)});
  b.module.layouts[index(kPair)].display = hook;
  const uint32_t format = b.addFormat({});
  const FunctionId id = b.addFunction(
      "f", {kPair, kString, kString}, 0, kString,
      {abx(Op::LoadString, 1, text), abc(Op::StringAppend, 1, 1), abx(Op::ArgInt, 0, 1),
       abc(Op::ArgRef, 1, 1), abx(Op::NewStruct, 0, int(index(kPair))),
       abc(Op::FormatValue, 1, 0, int(format)), abc(Op::ReturnRef, 1)});
  Machine machine(b);
  Trap trap = machine.trap(id);
  CHECK(trap->kind == TrapKind::Panic);
  CHECK(trap->message == "no text for you");
  REQUIRE(trap->trace.size() == 2);
  CHECK(trap->trace[0].function == "fmt");
  CHECK(machine.vm().heap().used() == 0);
}

TEST_CASE("runs nested in runs end before the C stack does") {
  ModuleBuilder b;
  // fmt formats itself.
  const uint32_t text = b.addString("");
  const uint32_t format = b.addFormat({});
  const FunctionId hook =
      b.addFunction("fmt", {kPair, kString}, 1, kString,
                    {abx(Op::LoadString, 1, text), abc(Op::FormatValue, 1, 0, int(format)),
                     abc(Op::ReturnRef, 1)});
  b.module.layouts[index(kPair)].display = hook;
  const FunctionId id =
      b.addFunction("f", {kPair, kString}, 0, kString,
                    {abx(Op::LoadString, 1, text), abx(Op::ArgInt, 0, 1), abc(Op::ArgRef, 1, 1),
                     abx(Op::NewStruct, 0, int(index(kPair))),
                     abc(Op::FormatValue, 1, 0, int(format)), abc(Op::ReturnRef, 1)});
  CHECK(Machine(b).trap(id)->kind == TrapKind::Depth);
}

TEST_CASE("exit unwinds like a failure and carries its code") {
  ModuleBuilder b;
  const uint32_t import = b.addNative("exit", {kInt}, kUnit);
  const FunctionId id =
      b.addFunction("f", {kInt}, 0, kInt,
                    {abx(Op::ArgInt, 0, 7), abx(Op::CallNative, 0, import), abc(Op::Return, 0)});
  Machine machine(b, Machine::programOptions(), testNatives());
  Trap trap = machine.trap(id);
  CHECK(trap->kind == TrapKind::Exit);
  CHECK(trap->exitCode == 7);
}

TEST_CASE("copying in bulk costs steps") {
  ModuleBuilder b;
  // Copies a large vector on every turn.
  const FunctionId id =
      b.addFunction("f", {kInt, kInt, kInt, kVecInt, kVecInt}, 0, kInt,
                    {abx(Op::LoadInt, 0, 100'000), abx(Op::ArgInt, 0, 0),
                     abc(Op::NewVecRepeat, 3, 0, int(index(kVecInt))), abx(Op::LoadInt, 1, 0),
                     abc(Op::MoveRef, 4, 3), abc(Op::VecSet, 3, 1, 0), abx(Op::LoopJump, 0, -3),
                     abc(Op::ReturnScalar, 0)});
  CHECK(Machine(b, bounded(1'000'000)).trap(id)->kind == TrapKind::Budget);
}

TEST_CASE("constants that begin with others are made without a stack, whatever their number") {
  constexpr uint32_t kCount = 20'000;
  ModuleBuilder b;
  const LayoutId cell = b.addLayout([] {
    Layout layout;
    layout.name = "Cell<i64>";
    layout.kind = LayoutKind::Cell;
    layout.element = kInt;
    return layout;
  }());
  for (uint32_t i = 0; i < kCount; ++i) {
    std::vector<Instruction> code;
    if (i == 0)
      code = {abx(Op::LoadInt, 0, 1), abc(Op::ReturnScalar, 0)};
    else
      code = {abx(Op::LoadGlobal, 1, i - 1), abc(Op::CellGet, 0, 1), abc(Op::AddImmI64, 0, 0, 1),
              abc(Op::ReturnScalar, 0)};
    const FunctionId id = b.addFunction("c", {kInt, cell}, 0, kInt, std::move(code));
    b.module.globals.push_back({"C" + std::to_string(i), cell, id});
  }
  const FunctionId last = b.addFunction(
      "f", {kInt, cell}, 0, kInt,
      {abx(Op::LoadGlobal, 1, kCount - 1), abc(Op::CellGet, 0, 1), abc(Op::ReturnScalar, 0)});
  CHECK(Machine(b).integer(last) == kCount);
}

TEST_CASE("constants that go through functions end at a limit of their own, which is named") {
  ModuleBuilder b;
  constexpr uint32_t kCount = 5'000;
  const LayoutId cell = b.addLayout([] {
    Layout layout;
    layout.name = "Cell<i64>";
    layout.kind = LayoutKind::Cell;
    layout.element = kInt;
    return layout;
  }());
  FunctionId before =
      b.addFunction("zero", {kInt}, 0, kInt, {abx(Op::LoadInt, 0, 0), abc(Op::ReturnScalar, 0)});
  for (uint32_t i = 0; i < kCount; ++i) {
    const FunctionId id = b.addFunction(
        "c", {kInt}, 0, kInt, {abx(Op::Call, 0, index(before)), abc(Op::ReturnScalar, 0)});
    b.module.globals.push_back({"C" + std::to_string(i), cell, id});
    before = b.addFunction(
        "f", {kInt, cell}, 0, kInt,
        {abx(Op::LoadGlobal, 1, i), abc(Op::CellGet, 0, 1), abc(Op::ReturnScalar, 0)});
  }
  const Trap trap = Machine(b).trap(before);
  CHECK(trap->kind == TrapKind::Depth);
  CHECK(trap->counter == "nesting");
  CHECK(trap->limit == Vm::kNestingLimit);
}

TEST_CASE("a call and a jump back pay for the code they may go through") {
  ModuleBuilder b;
  std::vector<Instruction> code(8'000, abc(Op::AddImmI64, 0, 0, 1));
  code.insert(code.begin(), abx(Op::LoadInt, 0, 0));
  code.push_back(abc(Op::ReturnScalar, 0));
  const FunctionId id = b.addFunction("long", {kInt}, 0, kInt, std::move(code));
  Machine machine(b);
  CHECK(machine.integer(id) == 8'000);
  CHECK(machine.vm().stepsUsed() >= 1'000);
}

TEST_CASE("comparing long texts costs steps by their length") {
  ModuleBuilder b;
  const uint32_t text = b.addString(std::string(100'000, 'a'));
  const FunctionId id = b.addFunction(
      "f", {kInt, kString, kString, kString}, 0, kInt,
      {abx(Op::LoadString, 1, text), abx(Op::LoadString, 3, b.addString("")),
       abc(Op::StringConcat, 2, 1, 3), abc(Op::EqString, 0, 1, 2), abc(Op::ReturnScalar, 0)});
  Machine machine(b);
  CHECK(machine.integer(id) == 1);
  CHECK(machine.vm().stepsUsed() >= 12'000); // the copy, and the comparison
}
