#include "tests/unit/vm/machine.h"

#include <cmath>
#include <limits>

using namespace gos::vm;
using namespace gos::vm::test;

namespace {

/// r0 op r1 of two 64-bit constants.
int64_t binary(Op op, int64_t left, int64_t right) {
  ModuleBuilder builder;
  const uint32_t a = builder.addConstant(uint64_t(left));
  const uint32_t b = builder.addConstant(uint64_t(right));
  const FunctionId id =
      builder.addFunction("f", {kInt, kInt}, 0, kInt,
                          {abx(Op::LoadConstant, 0, a), abx(Op::LoadConstant, 1, b),
                           abc(op, 0, 0, 1), abc(Op::Return, 0)});
  return Machine(builder).integer(id);
}
std::string binaryFailure(Op op, int64_t left, int64_t right) {
  ModuleBuilder builder;
  const uint32_t a = builder.addConstant(uint64_t(left));
  const uint32_t b = builder.addConstant(uint64_t(right));
  const FunctionId id =
      builder.addFunction("f", {kInt, kInt}, 0, kInt,
                          {abx(Op::LoadConstant, 0, a), abx(Op::LoadConstant, 1, b),
                           abc(op, 0, 0, 1), abc(Op::Return, 0)});
  return Machine(builder).message(id);
}
double realBinary(Op op, double left, double right) {
  ModuleBuilder builder;
  const uint32_t a = builder.addReal(left);
  const uint32_t b = builder.addReal(right);
  const FunctionId id =
      builder.addFunction("f", {kFloat, kFloat}, 0, kFloat,
                          {abx(Op::LoadConstant, 0, a), abx(Op::LoadConstant, 1, b),
                           abc(op, 0, 0, 1), abc(Op::Return, 0)});
  return Machine(builder).real(id);
}
int64_t realTest(Op op, double left, double right) {
  ModuleBuilder builder;
  const uint32_t a = builder.addReal(left);
  const uint32_t b = builder.addReal(right);
  const FunctionId id =
      builder.addFunction("f", {kFloat, kFloat, kInt}, 0, kInt,
                          {abx(Op::LoadConstant, 0, a), abx(Op::LoadConstant, 1, b),
                           abc(op, 2, 0, 1), abc(Op::Return, 2)});
  return Machine(builder).integer(id);
}
/// Does a fused jump on two integers go?
bool jumps(Op op, int64_t left, int64_t right) {
  ModuleBuilder builder;
  const uint32_t a = builder.addConstant(uint64_t(left));
  const uint32_t b = builder.addConstant(uint64_t(right));
  const FunctionId id = builder.addFunction(
      "f", {kInt, kInt, kInt}, 0, kInt,
      {abx(Op::LoadConstant, 0, a), abx(Op::LoadConstant, 1, b), abx(Op::LoadInt, 2, 1),
       abc(op, 0, 1, 1), abx(Op::LoadInt, 2, 0), abc(Op::Return, 2)});
  return Machine(builder).integer(id) == 1;
}

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

} // namespace

TEST_CASE("checked arithmetic answers or panics") {
  CHECK(binary(Op::AddI64, 2, 3) == 5);
  CHECK(binary(Op::SubI64, 2, 3) == -1);
  CHECK(binary(Op::MulI64, -2, 3) == -6);
  CHECK(binaryFailure(Op::AddI64, kMax, 1) == "attempt to add with overflow");
  CHECK(binaryFailure(Op::SubI64, kMin, 1) == "attempt to subtract with overflow");
  CHECK(binaryFailure(Op::MulI64, kMax, 2) == "attempt to multiply with overflow");
  CHECK(binary(Op::AddU64, kMax, 1) == kMin); // 2^63 fits
  CHECK(binaryFailure(Op::AddU64, -1, 1) == "attempt to add with overflow");
  CHECK(binaryFailure(Op::SubU64, 1, 2) == "attempt to subtract with overflow");
  CHECK(binaryFailure(Op::MulU64, -1, 2) == "attempt to multiply with overflow");
}

TEST_CASE("immediate arithmetic words its panic by operand D") {
  CHECK(evaluate({abx(Op::LoadInt, 0, 10), abc(Op::AddImmI64, 0, 0, -3),
                  abc(Op::MulImmI64, 0, 0, -2), abc(Op::Return, 0)}) == -14);
  const auto overflow = [](int by, int word) {
    ModuleBuilder builder;
    const uint32_t a = builder.addConstant(uint64_t(by > 0 ? kMax : kMin));
    const FunctionId id = builder.addFunction(
        "f", {kInt}, 0, kInt,
        {abx(Op::LoadConstant, 0, a), abc(Op::AddImmI64, 0, 0, by, word), abc(Op::Return, 0)});
    return Machine(builder).message(id);
  };
  CHECK(overflow(1, 0) == "attempt to add with overflow");
  CHECK(overflow(-1, 1) == "attempt to subtract with overflow");
}

TEST_CASE("division truncates, refuses zero and wraps at the minimum") {
  CHECK(binary(Op::DivI64, -7, 2) == -3);
  CHECK(binary(Op::RemI64, -7, 2) == -1);
  CHECK(binary(Op::RemI64, 7, -2) == 1);
  CHECK(binary(Op::RemI64, 17, 5) == 2);
  CHECK(binary(Op::RemI64, kMax, 10) == 7);
  CHECK(binary(Op::DivI64, kMin, -1) == kMin);
  CHECK(binary(Op::RemI64, kMin, -1) == 0);
  CHECK(binary(Op::DivU64, -1, 2) == kMax);
  CHECK(binary(Op::RemU64, -1, 10) == 5);
  CHECK(binaryFailure(Op::DivI64, 1, 0) == "attempt to divide by zero");
  CHECK(binaryFailure(Op::DivU64, 1, 0) == "attempt to divide by zero");
  CHECK(binaryFailure(Op::RemI64, 1, 0) ==
        "attempt to calculate the remainder with a divisor of zero");
  CHECK(binaryFailure(Op::RemU64, 1, 0) ==
        "attempt to calculate the remainder with a divisor of zero");
}

TEST_CASE("wrapping, bits and shifts") {
  CHECK(binary(Op::WrapAdd, kMax, 1) == kMin);
  CHECK(binary(Op::WrapSub, kMin, 1) == kMax);
  CHECK(binary(Op::WrapMul, kMax, 2) == -2);
  CHECK(binary(Op::BitAnd, 12, 10) == 8);
  CHECK(binary(Op::BitOr, 12, 10) == 14);
  CHECK(binary(Op::BitXor, 12, 10) == 6);
  CHECK(binary(Op::ShiftLeft, 1, 65) == 2);
  CHECK(binary(Op::ShiftRightSigned, -8, 1) == -4);
  CHECK(binary(Op::ShiftRightUnsigned, -8, 1) == int64_t(uint64_t(-8) >> 1));
  CHECK(evaluate({abx(Op::LoadInt, 0, 5), abc(Op::Negate, 1, 0), abc(Op::BitNot, 1, 1),
                  abc(Op::Return, 1)}) == 4);
  CHECK(evaluate({abx(Op::LoadInt, 0, -1), abc(Op::BitAndImm, 1, 0, 0xfff0), abc(Op::Return, 1)}) ==
        0xfff0);
  CHECK(evaluate({abx(Op::LoadInt, 0, 0), abc(Op::BoolNot, 1, 0), abc(Op::Return, 1)}) == 1);
}

TEST_CASE("narrow integers are checked and wrapped at their width") {
  const auto wrap = [](int64_t value, IntWidth width) {
    return evaluate(
        {abx(Op::LoadInt, 0, value), abc(Op::Wrap, 1, 0, 0, int(width)), abc(Op::Return, 1)});
  };
  CHECK(wrap(300, IntWidth::U8) == 44);
  CHECK(wrap(200, IntWidth::I8) == -56);
  CHECK(wrap(-1, IntWidth::U16) == 65535);
  CHECK(wrap(-1, IntWidth::U32) == 4294967295);
  CHECK(wrap(-1, IntWidth::U64) == -1);
  CHECK(wrap(-5, IntWidth::I64) == -5);
  const auto range = [](int64_t value, IntWidth width, ArithmeticWord word) {
    return std::vector<Instruction>{abx(Op::LoadInt, 0, value),
                                    abc(Op::CheckRange, 0, 0, int(word), int(width)),
                                    abc(Op::Return, 0)};
  };
  CHECK(evaluate(range(127, IntWidth::I8, ArithmeticWord::Add)) == 127);
  CHECK(failure(range(128, IntWidth::I8, ArithmeticWord::Add)) == "attempt to add with overflow");
  CHECK(failure(range(-1, IntWidth::U8, ArithmeticWord::Subtract)) ==
        "attempt to subtract with overflow");
  CHECK(failure(range(70000, IntWidth::U16, ArithmeticWord::Multiply)) ==
        "attempt to multiply with overflow");
  CHECK(evaluate(range(65535, IntWidth::U16, ArithmeticWord::Multiply)) == 65535);
}

TEST_CASE("floats follow IEEE") {
  CHECK(realBinary(Op::AddF64, 0.1, 0.2) == 0.1 + 0.2);
  CHECK(realBinary(Op::SubF64, 1, 3) == -2);
  CHECK(realBinary(Op::MulF64, 1.5, 2) == 3);
  CHECK(std::isinf(realBinary(Op::DivF64, 1, 0)));
  CHECK(std::isnan(realBinary(Op::DivF64, 0, 0)));
  CHECK(realBinary(Op::RemF64, 7.5, 2) == 1.5);
  const double nan = std::nan("");
  CHECK(realTest(Op::EqF64, nan, nan) == 0);
  CHECK(realTest(Op::NeF64, nan, nan) == 1);
  CHECK(realTest(Op::LtF64, 1, 2) == 1);
  CHECK(realTest(Op::LeF64, 2, 2) == 1);
  ModuleBuilder builder;
  const uint32_t tenth = builder.addReal(0.1);
  const FunctionId id =
      builder.addFunction("f", {kFloat}, 0, kFloat,
                          {abx(Op::LoadConstant, 0, tenth), abc(Op::RoundF32, 0, 0),
                           abc(Op::NegateF64, 0, 0), abc(Op::NegateF64, 0, 0), abc(Op::Return, 0)});
  CHECK(Machine(builder).real(id) == double(0.1f));
}

TEST_CASE("a float becomes an integer by truncation and saturation") {
  const auto convert = [](double value, IntWidth width) {
    ModuleBuilder builder;
    const uint32_t a = builder.addReal(value);
    const FunctionId id =
        builder.addFunction("f", {kFloat, kInt}, 0, kInt,
                            {abx(Op::LoadConstant, 0, a), abc(Op::FloatToInt, 1, 0, 0, int(width)),
                             abc(Op::Return, 1)});
    return Machine(builder).integer(id);
  };
  CHECK(convert(-1.9, IntWidth::I64) == -1);
  CHECK(convert(1e30, IntWidth::I64) == kMax);
  CHECK(convert(-1e30, IntWidth::I64) == kMin);
  CHECK(convert(300.5, IntWidth::U8) == 255);
  CHECK(convert(-3, IntWidth::U8) == 0);
  CHECK(convert(-200, IntWidth::I8) == -128);
  CHECK(convert(1e30, IntWidth::U64) == -1);
  CHECK(convert(std::nan(""), IntWidth::I32) == 0);
  CHECK(convert(9.3e18, IntWidth::U64) == int64_t(uint64_t(9.3e18)));
}

TEST_CASE("comparisons know the sign") {
  CHECK(binary(Op::LtI64, -1, 0) == 1);
  CHECK(binary(Op::LtU64, -1, 0) == 0);
  CHECK(binary(Op::LeI64, 3, 3) == 1);
  CHECK(binary(Op::LeU64, 0, -1) == 1);
  CHECK(binary(Op::EqInt, 4, 4) == 1);
  CHECK(binary(Op::NeInt, 4, 4) == 0);
  CHECK(jumps(Op::JumpLtI64, -1, 0));
  CHECK_FALSE(jumps(Op::JumpLtU64, -1, 0));
  CHECK(jumps(Op::JumpLeI64, 0, 0));
  CHECK(jumps(Op::JumpLeU64, 0, -1));
  CHECK(jumps(Op::JumpEqInt, 5, 5));
  CHECK(jumps(Op::JumpNeInt, 5, 6));
}

TEST_CASE("a comparison with an immediate jumps") {
  const auto go = [](Op op, int value, int immediate) {
    return evaluate({abx(Op::LoadInt, 0, value), abx(Op::LoadInt, 1, 1), abc(op, 0, immediate, 1),
                     abx(Op::LoadInt, 1, 0), abc(Op::Return, 1)}) == 1;
  };
  CHECK(go(Op::JumpEqImm, -3, -3));
  CHECK(go(Op::JumpNeImm, -3, 3));
  CHECK(go(Op::JumpLtImm, -4, -3));
  CHECK(go(Op::JumpLeImm, -3, -3));
  CHECK(go(Op::JumpGtImm, -2, -3));
  CHECK(go(Op::JumpGeImm, 0, 0));
  CHECK_FALSE(go(Op::JumpGtImm, -3, -3));
}

TEST_CASE("a negated float comparison jumps on NaN") {
  const auto go = [](Op op, double left, double right) {
    ModuleBuilder builder;
    const uint32_t a = builder.addReal(left);
    const uint32_t b = builder.addReal(right);
    const FunctionId id = builder.addFunction(
        "f", {kFloat, kFloat, kInt}, 0, kInt,
        {abx(Op::LoadConstant, 0, a), abx(Op::LoadConstant, 1, b), abx(Op::LoadInt, 2, 1),
         abc(op, 0, 1, 1), abx(Op::LoadInt, 2, 0), abc(Op::Return, 2)});
    return Machine(builder).integer(id) == 1;
  };
  const double nan = std::nan("");
  CHECK(go(Op::JumpNotLtF64, nan, 1));
  CHECK(go(Op::JumpNotLeF64, nan, 1));
  CHECK_FALSE(go(Op::JumpLtF64, nan, 1));
  CHECK_FALSE(go(Op::JumpNotLeF64, 1, 1));
  CHECK(go(Op::JumpLeF64, 1, 1));
}

TEST_CASE("a counted loop runs to its bound") {
  CHECK(evaluate({abx(Op::LoadInt, 0, 0), abx(Op::LoadInt, 1, 0), abx(Op::LoadInt, 2, 10),
                  abc(Op::AddI64, 0, 0, 1), abc(Op::ForLoopI64, 1, 2, -2), abc(Op::Return, 0)}) ==
        45);
}

TEST_CASE("a switch takes the last row for everything else") {
  const auto pick = [](int value) {
    return evaluate({abx(Op::LoadInt, 0, value), abx(Op::Switch, 0, 2), abx(Op::Jump, 0, 2),
                     abx(Op::Jump, 0, 3), abx(Op::Jump, 0, 4), abx(Op::LoadInt, 1, 100),
                     abc(Op::Return, 1), abx(Op::LoadInt, 1, 200), abc(Op::Return, 1),
                     abx(Op::LoadInt, 1, 300), abc(Op::Return, 1)});
  };
  CHECK(pick(0) == 100);
  CHECK(pick(1) == 200);
  CHECK(pick(2) == 300);
  CHECK(pick(77) == 300);
  CHECK(pick(-1) == 300);
}

TEST_CASE("structs are values: a write goes to a copy while somebody else holds them") {
  ModuleBuilder b;
  const uint32_t label = b.addString("label");
  // r0, r1 scalars; r2 pair, r3 other pair, r4 string
  const FunctionId id = b.addFunction(
      "f", {kInt, kInt, kPair, kPair, kString}, 0, kInt,
      {abx(Op::LoadString, 4, label), abx(Op::ArgInt, 0, 5), abc(Op::ArgRef, 1, 4),
       abx(Op::NewStruct, 2, int(index(kPair))), abc(Op::MoveRef, 3, 2), abx(Op::LoadInt, 0, 9),
       abc(Op::SetField, 2, 0, 0), abc(Op::GetField, 0, 2, 0), abc(Op::GetField, 1, 3, 0),
       abc(Op::MulImmI64, 0, 0, 100), abc(Op::AddI64, 0, 0, 1), abc(Op::ReturnScalar, 0)});
  Machine machine(b);
  CHECK(machine.integer(id) == 905);
  CHECK(machine.vm().heap().used() == 0);
}

TEST_CASE("a field is taken out and put back") {
  ModuleBuilder b;
  const uint32_t label = b.addString("ab");
  const FunctionId id =
      b.addFunction("f", {kPair, kString}, 0, kString,
                    {abx(Op::LoadString, 1, label), abx(Op::ArgInt, 0, 5), abc(Op::ArgTake, 1, 1),
                     abx(Op::NewStruct, 0, int(index(kPair))), abc(Op::TakeField, 1, 0, 1),
                     abc(Op::StringAppend, 1, 1), abc(Op::SetFieldTake, 0, 1, 1),
                     abc(Op::GetFieldRef, 1, 0, 1), abc(Op::ReturnRef, 1)});
  Machine machine(b);
  CHECK(machine.text(id) == "abab");
  CHECK(machine.vm().heap().used() == 0);
}

TEST_CASE("a value that was taken away is not there to be used") {
  ModuleBuilder b;
  const FunctionId id = b.addFunction("f", {kInt, kPair}, 0, kInt,
                                      {abc(Op::GetField, 0, 1, 0), abc(Op::ReturnScalar, 0)});
  CHECK(Machine(b).trap(id)->kind == TrapKind::Incompatible);
}

TEST_CASE("enums carry a variant and its payload") {
  ModuleBuilder b;
  const uint32_t text = b.addString("x");
  const int option = int(index(kOption));
  const FunctionId id = b.addFunction(
      "f", {kInt, kOption, kString}, 0, kString,
      {abx(Op::LoadString, 2, text), abc(Op::ArgRef, 0, 2), abc(Op::NewEnum, 1, option, 1),
       abc(Op::GetTag, 0, 1), abc(Op::JumpTagNe, 1, 1, 2), abc(Op::GetPayloadRef, 2, 1, 1, 0),
       abc(Op::ReturnRef, 2), abc(Op::PanicCode, 0, 0, 0, int(PanicReason::NoArm))});
  const FunctionId wrong =
      b.addFunction("g", {kInt, kOption, kString}, 0, kString,
                    {abc(Op::NewUnitVariant, 1, option, 0), abc(Op::GetPayloadRef, 2, 1, 1, 0),
                     abc(Op::ReturnRef, 2)});
  Machine machine(b);
  CHECK(machine.text(id) == "x");
  CHECK(machine.trap(wrong)->kind == TrapKind::NoArm);
}

TEST_CASE("a long list is built, walked and let go") {
  ModuleBuilder b;
  const int list = int(index(kList));
  // r0 i, r1 n, r2 sum, r3 value; r4 list, r5 next
  const FunctionId id = b.addFunction(
      "f", {kInt, kInt, kInt, kInt, kList, kList}, 0, kInt,
      {abc(Op::NewUnitVariant, 4, list, 0), abx(Op::LoadInt, 0, 0), abx(Op::LoadInt, 1, 1'000'000),
       abc(Op::ArgScalar, 0, 0), abc(Op::ArgTake, 1, 4), abc(Op::NewEnum, 4, list, 1),
       abc(Op::ForLoopI64, 0, 1, -4), abx(Op::LoadInt, 2, 0),
       // 8: walk a second reference, so the first keeps all alive
       abc(Op::MoveRef, 5, 4), abc(Op::JumpTagNe, 5, 1, 4), abc(Op::GetPayload, 3, 5, 1, 0),
       abc(Op::AddI64, 2, 2, 3), abc(Op::GetPayloadRef, 5, 5, 1, 1), abx(Op::LoopJump, 0, -5),
       abc(Op::ReturnScalar, 2)});
  Machine machine(b);
  CHECK(machine.integer(id) == 499'999'500'000);
  CHECK(machine.vm().heap().used() == 0);
}

TEST_CASE("vectors are indexed, grown and sliced") {
  ModuleBuilder b;
  // r0..r3 ints; r4 vec, r5 slice
  const FunctionId id = b.addFunction(
      "f", {kInt, kInt, kInt, kInt, kVecInt, kVecInt}, 0, kInt,
      {abx(Op::ArgInt, 0, 10), abx(Op::ArgInt, 1, 20), abc(Op::NewVec, 4, int(index(kVecInt)), 2),
       abx(Op::LoadInt, 0, 30), abc(Op::VecPush, 4, 0), abc(Op::MoveRef, 5, 4),
       abx(Op::LoadInt, 1, 1), abc(Op::VecSet, 4, 1, 0),
       abc(Op::VecGet, 2, 5, 1), // 20: the copy was not changed
       abc(Op::VecGet, 3, 4, 1), // 30
       abc(Op::MulImmI64, 2, 2, 100), abc(Op::AddI64, 2, 2, 3), abx(Op::LoadInt, 0, -5),
       abx(Op::LoadInt, 1, 99), abc(Op::VecSlice, 5, 4, 0, 1), abc(Op::VecLen, 0, 5),
       abc(Op::MulImmI64, 2, 2, 10), abc(Op::AddI64, 2, 2, 0), abc(Op::ReturnScalar, 2)});
  Machine machine(b);
  CHECK(machine.integer(id) == 20303);
  CHECK(machine.vm().heap().used() == 0);
}

TEST_CASE("an index out of range panics with length and index") {
  for (int at : {3, -1}) {
    ModuleBuilder b;
    const FunctionId id =
        b.addFunction("f", {kInt, kInt, kVecInt}, 0, kInt,
                      {abx(Op::LoadInt, 0, 3), abx(Op::ArgInt, 0, 7),
                       abc(Op::NewVecRepeat, 2, 0, int(index(kVecInt))), abx(Op::LoadInt, 1, at),
                       abc(Op::VecGet, 0, 2, 1), abc(Op::ReturnScalar, 0)});
    CHECK(Machine(b).message(id) ==
          "vec index out of bounds: the len is 3 but the index is " + std::to_string(at));
  }
}

TEST_CASE("bytes take a byte each") {
  ModuleBuilder b;
  const FunctionId id =
      b.addFunction("f", {kInt, kInt, kBytes}, 0, kInt,
                    {abx(Op::LoadInt, 0, 1'000'000), abx(Op::ArgInt, 0, 1),
                     abc(Op::NewVecRepeat, 2, 0, int(index(kBytes))), abx(Op::LoadInt, 1, 255),
                     abc(Op::VecSetByte, 2, 1, 1), abc(Op::VecPushByte, 2, 1),
                     abc(Op::VecGetByte, 0, 2, 0), abc(Op::ReturnScalar, 0)});
  VmOptions options = Machine::programOptions();
  options.heapBytes = 4'000'000;
  Machine machine(b, std::move(options));
  CHECK(machine.integer(id) == 255);
}

TEST_CASE("fields of struct elements are read and written in place") {
  ModuleBuilder b;
  const uint32_t label = b.addString("l");
  const FunctionId id = b.addFunction(
      "f", {kInt, kInt, kInt, kPair, kVecPair, kVecPair, kString}, 0, kInt,
      {abx(Op::LoadString, 6, label), abx(Op::ArgInt, 0, 5), abc(Op::ArgRef, 1, 6),
       abx(Op::NewStruct, 3, int(index(kPair))), abc(Op::ArgTake, 0, 3),
       abc(Op::NewVec, 4, int(index(kVecPair)), 1), abc(Op::MoveRef, 5, 4), abx(Op::LoadInt, 0, 0),
       abx(Op::LoadInt, 1, 8), abc(Op::VecSetField, 4, 0, 1, 0), abc(Op::VecGetField, 1, 4, 0, 0),
       abc(Op::VecGetField, 2, 5, 0, 0), abc(Op::MulImmI64, 1, 1, 10), abc(Op::AddI64, 1, 1, 2),
       abc(Op::ReturnScalar, 1)});
  Machine machine(b);
  CHECK(machine.integer(id) == 85);
  CHECK(machine.vm().heap().used() == 0);
}

TEST_CASE("text is joined, appended and indexed by scalar") {
  ModuleBuilder b;
  const uint32_t left = b.addString("grün");
  const uint32_t right = b.addString("€");
  const FunctionId join = b.addFunction(
      "f", {kInt, kString, kString}, 0, kString,
      {abx(Op::LoadString, 1, left), abx(Op::LoadString, 2, right), abc(Op::StringConcat, 2, 1, 2),
       abc(Op::StringAppend, 2, 1), abx(Op::LoadInt, 0, '!'), abc(Op::StringAppendChar, 2, 0),
       abx(Op::LoadInt, 0, 0x1f600), abc(Op::StringAppendChar, 2, 0), abc(Op::ReturnRef, 2)});
  const FunctionId at = b.addFunction("g", {kInt, kString}, 0, kInt,
                                      {abx(Op::LoadString, 1, left), abx(Op::LoadInt, 0, 2),
                                       abc(Op::StringCharAt, 0, 1, 0), abc(Op::ReturnScalar, 0)});
  const FunctionId out = b.addFunction("h", {kInt, kString}, 0, kInt,
                                       {abx(Op::LoadString, 1, left), abx(Op::LoadInt, 0, 4),
                                        abc(Op::StringCharAt, 0, 1, 0), abc(Op::ReturnScalar, 0)});
  const FunctionId equal = b.addFunction("e", {kInt, kString, kString}, 0, kInt,
                                         {abx(Op::LoadString, 1, left),
                                          abx(Op::LoadString, 2, left), abc(Op::StringAppend, 2, 1),
                                          abc(Op::EqString, 0, 1, 2), abc(Op::ReturnScalar, 0)});
  Machine machine(b);
  CHECK(machine.text(join) == "grün€grün!😀");
  CHECK(machine.integer(at) == 0xfc);
  CHECK(machine.message(out) == "string index out of bounds: the len is 4 but the index is 4");
  CHECK(machine.integer(equal) == 0);
}

TEST_CASE("constants of bytes become vectors") {
  ModuleBuilder b;
  const uint32_t bytes = b.addString(std::string("\xff\x00z", 3));
  const FunctionId id = b.addFunction("f", {kInt, kBytes}, 0, kInt,
                                      {abx(Op::LoadString, 1, bytes), abx(Op::LoadInt, 0, 5),
                                       abc(Op::VecPushByte, 1, 0), abx(Op::LoadInt, 0, 0),
                                       abc(Op::VecGetByte, 0, 1, 0), abc(Op::ReturnScalar, 0)});
  Machine machine(b);
  CHECK(machine.integer(id) == 255);
  CHECK(machine.integer(id) == 255); // the constant itself was not changed
}

TEST_CASE("cells are shared, what they hold is copied on write") {
  ModuleBuilder b;
  // r0 index, r1 value; r2 cell, r3 same cell, r4 vec
  const FunctionId id = b.addFunction(
      "f", {kInt, kInt, kCellVecInt, kCellVecInt, kVecInt}, 0, kInt,
      {abx(Op::ArgInt, 0, 1), abc(Op::NewVec, 4, int(index(kVecInt)), 1),
       abc(Op::NewCellTake, 2, 4), abc(Op::MoveRef, 3, 2), abc(Op::CellGetRef, 4, 2),
       abx(Op::LoadInt, 0, 0), abx(Op::LoadInt, 1, 7), abc(Op::CellVecSet, 3, 0, 1),
       abc(Op::CellVecGet, 1, 2, 0), // 7 through the other reference
       abc(Op::VecGet, 0, 4, 0),     // 1 in the value that was read before
       abc(Op::MulImmI64, 1, 1, 10), abc(Op::AddI64, 1, 1, 0), abc(Op::CellVecLen, 0, 2),
       abc(Op::MulImmI64, 1, 1, 10), abc(Op::AddI64, 1, 1, 0), abc(Op::ReturnScalar, 1)});
  const FunctionId borrowed =
      b.addFunction("g", {kInt, kCellVecInt, kVecInt}, 0, kInt,
                    {abc(Op::NewVec, 2, int(index(kVecInt)), 0), abc(Op::NewCellTake, 1, 2),
                     abc(Op::CellTake, 2, 1), abc(Op::CellVecLen, 0, 1), abc(Op::ReturnScalar, 0)});
  const FunctionId scalar =
      b.addFunction("h", {kInt, kCellInt, kCellInt}, 0, kInt,
                    {abx(Op::LoadInt, 0, 4), abc(Op::NewCellScalar, 1, 0), abc(Op::MoveRef, 2, 1),
                     abx(Op::LoadInt, 0, 6), abc(Op::CellSet, 2, 0), abc(Op::CellGet, 0, 1),
                     abc(Op::ReturnScalar, 0)});
  Machine machine(b);
  CHECK(machine.integer(id) == 711);
  CHECK(machine.trap(borrowed)->kind == TrapKind::Incompatible);
  CHECK(machine.integer(scalar) == 6);
  CHECK(machine.vm().heap().used() == 0);
}

TEST_CASE("globals are set by the initialiser, once") {
  ModuleBuilder b;
  const uint32_t global = b.addGlobal("COUNT", kCellInt);
  b.module.initialiser = b.addFunction("init", {kInt, kCellInt}, 0, kUnit,
                                       {abx(Op::LoadGlobal, 1, global), abx(Op::LoadInt, 0, 41),
                                        abc(Op::CellSet, 1, 0), abc(Op::ReturnUnit)});
  const FunctionId id = b.addFunction("f", {kInt, kCellInt}, 0, kInt,
                                      {abx(Op::LoadGlobal, 1, global), abc(Op::CellGet, 0, 1),
                                       abc(Op::AddImmI64, 0, 0, 1), abc(Op::CellSet, 1, 0),
                                       abc(Op::ReturnScalar, 0)});
  Machine machine(b);
  CHECK(machine.integer(id) == 42);
  CHECK(machine.integer(id) == 43);
  machine.vm().restart(Machine::programOptions());
  CHECK(machine.integer(id) == 42);
}

TEST_CASE("calls pass arguments and answer results of both kinds") {
  ModuleBuilder b;
  const uint32_t text = b.addString("t");
  const FunctionId callee = b.addFunction("callee", {kInt, kString, kString}, 2, kString,
                                          {abc(Op::StringAppendChar, 1, 0), abc(Op::ReturnRef, 1)});
  const FunctionId id = b.addFunction(
      "f", {kInt, kString}, 0, kString,
      {abx(Op::LoadString, 1, text), abx(Op::LoadInt, 0, 'u'), abc(Op::ArgScalar, 0, 0),
       abc(Op::ArgRef, 1, 1), abx(Op::Call, 1, int(index(callee))), abc(Op::ArgScalar, 0, 0),
       abc(Op::ArgTake, 1, 1), abx(Op::Call, 1, int(index(callee))), abc(Op::ReturnRef, 1)});
  Machine machine(b);
  CHECK(machine.text(id) == "tuu");
  CHECK(machine.vm().heap().used() == 0);
}

TEST_CASE("closures carry their captures") {
  ModuleBuilder b;
  // parameter r0, captures r1 (scalar), r2 (string); answers r0 + r1
  const FunctionId body = b.addFunction("closure", {kInt, kInt, kString}, 3, kInt,
                                        {abc(Op::AddI64, 0, 0, 1), abc(Op::ReturnScalar, 0)}, 4, 2);
  const uint32_t text = b.addString("captured");
  const FunctionId id = b.addFunction(
      "f", {kInt, kFnIntInt, kString}, 0, kInt,
      {abx(Op::LoadString, 2, text), abc(Op::StringAppend, 2, 2), abx(Op::ArgInt, 0, 40),
       abc(Op::ArgTake, 1, 2), abx(Op::NewClosure, 1, int(index(body))), abx(Op::ArgInt, 0, 1),
       abc(Op::CallClosure, 0, 1, 1), abc(Op::ArgScalar, 0, 0), abc(Op::CallClosure, 0, 1, 1),
       abc(Op::ReturnScalar, 0)});
  Machine machine(b);
  CHECK(machine.integer(id) == 81);
  CHECK(machine.vm().heap().used() == 0);
}

TEST_CASE("fixed panics have fixed words") {
  CHECK(failure({abc(Op::PanicCode, 0, 0, 0, int(PanicReason::Todo))}) == "not yet implemented");
  CHECK(failure({abc(Op::PanicCode, 0, 0, 0, int(PanicReason::Unreachable))}) ==
        "internal error: entered unreachable code");
  ModuleBuilder b;
  const uint32_t text = b.addString("it broke");
  const FunctionId id =
      b.addFunction("f", {kString}, 0, kInt, {abx(Op::LoadString, 0, text), abc(Op::Panic, 0)});
  Trap trap = Machine(b).trap(id);
  CHECK(trap->kind == TrapKind::Panic);
  CHECK(trap->message == "it broke");
}
