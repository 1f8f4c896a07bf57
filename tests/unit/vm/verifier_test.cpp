// Hand-made bad modules, one rule each (T060). Each is made from a good one, so that a pass is
// never empty.

#include "tests/unit/vm/natives.h"

#include "vm/disassembler.h"
#include "vm/verifier.h"

using namespace gos::vm;
using namespace gos::vm::test;

namespace {

std::string verdict(const Module& module) {
  const NativeTable table = testNatives();
  if (llvm::Error error = verify(module, table))
    return llvm::toString(std::move(error));
  return "good";
}

const std::vector<LayoutId> kRegisters = {kInt,     kFloat,      kInt,   kString,  kVecInt,
                                          kPair,    kOption,     kBytes, kCellInt, kFnIntInt,
                                          kVecPair, kCellVecInt, kTuple};
// r0 int, r1 float, r2 int, r3 string, r4 vec, r5 pair, r6 option, r7 bytes, r8 cell, r9 closure,
// r10 pairs, r11 cell of vec, r12 tuple

/// The verdict on a function of this code, behind which everything returns.
std::string code(std::vector<Instruction> instructions, unsigned outgoing = 4) {
  ModuleBuilder b;
  b.addString("text");
  b.addString("\xff");
  b.addConstant(1);
  b.addFormat({});
  b.addGlobal("G", kCellInt);
  b.addNative("length", {kString}, kInt);
  b.addNative("shout", {kString}, kUnit, {true});
  b.addFunction("plain", {kInt}, 1, kInt, {abc(Op::Return, 0)});
  b.addFunction("closure", {kInt, kInt}, 2, kInt, {abc(Op::Return, 0)}, 4, 1);
  instructions.push_back(abc(Op::ReturnScalar, 0));
  b.addFunction("f", kRegisters, 0, kInt, std::move(instructions), outgoing);
  std::string text = verdict(b.module);
  const size_t colon = text.rfind("`): ");
  return colon == std::string::npos ? text : text.substr(colon + 4);
}

int id(LayoutId layout) {
  return int(index(layout));
}

} // namespace

TEST_CASE("good code passes") {
  CHECK(code({abc(Op::Move, 0, 2), abx(Op::LoadString, 3, 0), abx(Op::LoadString, 7, 1),
              abx(Op::LoadConstant, 1, 0)}) == "good");
  CHECK(code({abx(Op::ArgInt, 0, 1), abx(Op::Call, 0, 0), abc(Op::ArgRef, 0, 3),
              abx(Op::CallNative, 0, 0)}) == "good");
  CHECK(code({abc(Op::ArgTake, 0, 3), abx(Op::CallNative, 0, 1), abc(Op::FetchArg, 3, 0)}) ==
        "good");
  CHECK(code({abc(Op::ArgScalar, 0, 0), abx(Op::NewClosure, 9, 1), abc(Op::ArgScalar, 0, 2),
              abc(Op::CallClosure, 0, 9, 1)}) == "good");
  CHECK(code({abc(Op::Retype, 12, 5)}) == "good");
}

TEST_CASE("registers are in range and of the class that the operand asks for") {
  CHECK(code({abc(Op::Move, 99, 0)}) == "register is out of range");
  CHECK(code({abc(Op::AddI64, 0, 1, 0)}) == "register holds no integer");
  CHECK(code({abc(Op::AddF64, 1, 0, 1)}) == "register holds no float");
  CHECK(code({abc(Op::Move, 3, 0)}) == "register holds no scalar");
  CHECK(code({abc(Op::MoveRef, 0, 3)}) == "register holds no reference");
  CHECK(code({abc(Op::VecSlice, 4, 4, 0, 200)}) == "register is out of range");
  CHECK(code({abc(Op::VecSlice, 4, 4, 0, 3)}) == "register holds no integer");
}

TEST_CASE("references go only where their layout is declared") {
  CHECK(code({abc(Op::MoveRef, 3, 4)}) == "registers have different layouts");
  CHECK(code({abc(Op::TakeRef, 5, 12)}) == "registers have different layouts");
  CHECK(code({abc(Op::Retype, 5, 6)}) == "layouts are not one newtype apart");
  CHECK(code({abc(Op::EqValue, 0, 3, 4)}) == "registers have different layouts");
  CHECK(code({abc(Op::EqString, 0, 3, 4)}) == "no string");
}

TEST_CASE("indices of constants, strings, formats, globals and layouts are in range") {
  CHECK(code({abx(Op::LoadConstant, 0, 1)}) == "constant is out of range");
  CHECK(code({abx(Op::LoadString, 3, 2)}) == "string is out of range");
  CHECK(code({abx(Op::LoadString, 3, 1)}) == "string is not UTF-8");
  CHECK(code({abx(Op::LoadString, 4, 0)}) == "element is stored otherwise");
  CHECK(code({abc(Op::FormatScalar, 3, 0, 1)}) == "format is out of range");
  CHECK(code({abx(Op::LoadGlobal, 8, 1)}) == "global is out of range");
  CHECK(code({abx(Op::LoadGlobal, 11, 0)}) == "destination has another layout");
  CHECK(code({abc(Op::NewUnitVariant, 6, 999, 0)}) == "layout is out of range");
  CHECK(code({abx(Op::NewStruct, 5, 999)}) == "layout is out of range");
}

TEST_CASE("immediates stay within their tables") {
  CHECK(code({abc(Op::Wrap, 0, 0, 0, 8)}) == "immediate is out of range");
  CHECK(code({abc(Op::CheckRange, 0, 0, 3, 0)}) == "immediate is out of range");
  CHECK(code({abc(Op::PanicCode, 0, 0, 0, 200)}) == "immediate is out of range");
  CHECK(code({abc(Op::CompareScalar, 0, 0, 1, 0)}) == "registers do not fit the comparison");
}

TEST_CASE("jumps stay inside the function and go forward") {
  CHECK(code({abx(Op::Jump, 0, 100)}) == "jump out of the function");
  CHECK(code({abx(Op::LoopJump, 0, -100)}) == "jump out of the function");
  CHECK(code({abx(Op::Jump, 0, -1)}) == "jump back that counts no step");
  CHECK(code({abc(Op::JumpEqInt, 0, 0, -1)}) == "jump back that counts no step");
  CHECK(code({abx(Op::LoopJump, 0, -1)}) == "good");
  CHECK(code({abc(Op::ForLoopI64, 0, 2, -1)}) == "good");
}

TEST_CASE("code ends where it ends") {
  ModuleBuilder b;
  b.addFunction("f", {kInt}, 0, kInt, {abx(Op::LoadInt, 0, 1)});
  CHECK(verdict(b.module) == "function `f`, instruction 0 (`LoadInt`): code runs off its end");
  ModuleBuilder empty;
  empty.addFunction("f", {kInt}, 0, kInt, {});
  CHECK(verdict(empty.module) == "function `f`: no code");
}

TEST_CASE("a table of a switch is complete and holds jumps alone") {
  CHECK(code({abx(Op::Switch, 0, 5), abx(Op::Jump, 0, 0)}) ==
        "table of the switch is not complete");
  CHECK(code({abx(Op::Switch, 0, 1), abx(Op::Jump, 0, 0)}) == "table of the switch holds no jump");
  CHECK(code({abx(Op::Switch, 0, 0xffffffff)}) == "table of the switch is not complete");
}

TEST_CASE("unknown opcodes are refused") {
  ModuleBuilder b;
  b.addFunction("f", {kInt}, 0, kInt, {Instruction{kOpcodeCount}, abc(Op::Return, 0)});
  CHECK(verdict(b.module) == "function `f`, instruction 0 (`?`): unknown opcode");
}

TEST_CASE("blocks of arguments are whole, in order, and stand before their consumer") {
  CHECK(code({abx(Op::ArgInt, 1, 1), abx(Op::Call, 0, 0)}) == "arguments are not in order");
  CHECK(code({abx(Op::Call, 0, 0)}) == "wrong number of arguments");
  CHECK(code({abx(Op::ArgInt, 0, 1), abx(Op::ArgInt, 1, 1), abx(Op::Call, 0, 0)}) ==
        "wrong number of arguments");
  CHECK(code({abc(Op::ArgRef, 0, 3), abx(Op::Call, 0, 0)}) == "argument of another layout");
  CHECK(code({abc(Op::ArgScalar, 0, 1), abx(Op::Call, 0, 0)}) == "argument of another layout");
  CHECK(code({abx(Op::ArgInt, 0, 1), abc(Op::Move, 0, 2), abx(Op::Call, 0, 0)}) ==
        "arguments without a consumer");
  CHECK(code({abx(Op::ArgInt, 0, 1)}) == "arguments without a consumer");
  CHECK(code({abx(Op::ArgInt, 0, 1), abx(Op::Call, 0, 0)}, 0) == "outgoing slot is out of range");
}

TEST_CASE("nobody jumps into a block of arguments") {
  CHECK(code({abx(Op::Jump, 0, 1), abx(Op::ArgInt, 0, 1), abx(Op::Call, 0, 0)}) ==
        "jump into a block of arguments");
  CHECK(code({abx(Op::Jump, 0, 0), abx(Op::ArgInt, 0, 1), abx(Op::Call, 0, 0)}) == "good");
  CHECK(code({abx(Op::Jump, 0, 2), abc(Op::ArgRef, 0, 3), abx(Op::CallNative, 0, 1),
              abc(Op::FetchArg, 3, 0)}) == "jump into a block of arguments");
}

TEST_CASE("calls fit their callee") {
  CHECK(code({abx(Op::ArgInt, 0, 1), abx(Op::Call, 3, 0)}) == "destination has another layout");
  CHECK(code({abx(Op::Call, 0, 99)}) == "function is out of range");
  CHECK(code({abx(Op::ArgInt, 0, 1), abx(Op::ArgInt, 1, 1), abx(Op::Call, 0, 1)}) ==
        "closure is called as a function");
  CHECK(code({abc(Op::CallClosure, 0, 9, 0)}) == "wrong number of arguments");
  CHECK(code({abx(Op::ArgInt, 0, 1), abc(Op::CallClosure, 0, 5, 1)}) == "no closure");
  CHECK(code({abx(Op::CallNative, 0, 9)}) == "native is out of range");
  CHECK(code({abc(Op::ArgRef, 0, 4), abx(Op::CallNative, 0, 0)}) == "argument of another layout");
  CHECK(code({abc(Op::FetchArg, 3, 0)}) == "no in-out parameter to fetch");
  CHECK(code({abc(Op::ArgRef, 0, 3), abx(Op::CallNative, 0, 0), abc(Op::FetchArg, 3, 0)}) ==
        "no in-out parameter to fetch");
  CHECK(code({abc(Op::ArgTake, 0, 3), abx(Op::CallNative, 0, 1), abc(Op::FetchArg, 3, 0),
              abc(Op::FetchArg, 3, 0)}) == "no in-out parameter to fetch");
  CHECK(code({abc(Op::ArgTake, 0, 3), abx(Op::CallNative, 0, 1), abc(Op::FetchArg, 4, 0)}) ==
        "destination has another layout");
  CHECK(code({abx(Op::NewClosure, 9, 1)}) == "wrong number of arguments");
  CHECK(code({abx(Op::NewClosure, 9, 2)}) == "function has another signature");
}

TEST_CASE("fields, payloads and elements have the layout of the register") {
  CHECK(code({abc(Op::GetField, 0, 5, 2)}) == "field is out of range");
  CHECK(code({abc(Op::GetField, 0, 5, 1)}) == "field has another layout");
  CHECK(code({abc(Op::GetFieldRef, 4, 5, 1)}) == "field has another layout");
  CHECK(code({abc(Op::GetField, 0, 3, 0)}) == "no struct");
  CHECK(code({abc(Op::SetFieldTake, 5, 0, 3)}) == "field has another layout");
  CHECK(code({abc(Op::TakeField, 4, 5, 1)}) == "field has another layout");
  CHECK(code({abc(Op::GetPayloadRef, 3, 6, 2, 0)}) == "variant is out of range");
  CHECK(code({abc(Op::GetPayloadRef, 3, 6, 0, 0)}) == "field is out of range");
  CHECK(code({abc(Op::GetPayloadRef, 4, 6, 1, 0)}) == "field has another layout");
  CHECK(code({abc(Op::GetTag, 0, 5)}) == "no enum");
  CHECK(code({abc(Op::JumpTagNe, 6, 7, 0)}) == "variant is out of range");
  CHECK(code({abc(Op::NewUnitVariant, 6, id(kOption), 1)}) == "no variant without payload");
  CHECK(code({abc(Op::VecGet, 0, 7, 0)}) == "element is stored otherwise");
  CHECK(code({abc(Op::VecGetByte, 0, 4, 0)}) == "element is stored otherwise");
  CHECK(code({abc(Op::VecGet, 1, 4, 0)}) == "element has another layout");
  CHECK(code({abc(Op::VecGetRef, 3, 10, 0)}) == "element has another layout");
  CHECK(code({abc(Op::VecGet, 0, 3, 0)}) == "no vector");
  CHECK(code({abc(Op::VecGetField, 0, 10, 0, 1)}) == "field has another layout");
  CHECK(code({abc(Op::VecGetField, 0, 4, 0, 0)}) == "no struct");
  CHECK(code({abc(Op::VecSetField, 10, 0, 0, 9)}) == "field is out of range");
  CHECK(code({abc(Op::VecSlice, 7, 4, 0, 0)}) == "element has another layout");
  CHECK(code({abc(Op::VecPushTake, 10, 3)}) == "element has another layout");
  CHECK(code({abc(Op::CellGet, 1, 8)}) == "content has another layout");
  CHECK(code({abc(Op::CellSetTake, 8, 3)}) == "content has another layout");
  CHECK(code({abc(Op::CellVecGet, 0, 8, 0)}) == "no vector");
  CHECK(code({abc(Op::CellVecLen, 0, 8)}) == "no vector in a cell");
}

TEST_CASE("constructions get exactly their parts") {
  CHECK(code({abx(Op::ArgInt, 0, 1), abx(Op::NewStruct, 5, id(kPair))}) ==
        "wrong number of arguments");
  CHECK(code({abx(Op::ArgInt, 0, 1), abx(Op::ArgInt, 1, 1), abx(Op::NewStruct, 5, id(kPair))}) ==
        "argument of another layout");
  CHECK(code({abx(Op::ArgInt, 0, 1), abc(Op::ArgRef, 1, 3), abx(Op::NewStruct, 12, id(kPair))}) ==
        "destination has another layout");
  CHECK(code({abx(Op::NewStruct, 6, id(kOption))}) == "no struct");
  CHECK(code({abc(Op::ArgRef, 0, 3), abc(Op::NewEnum, 6, id(kOption), 0)}) ==
        "wrong number of arguments");
  CHECK(code({abc(Op::NewEnum, 6, id(kOption), 2)}) == "variant is out of range");
  CHECK(code({abc(Op::ArgRef, 0, 3), abc(Op::NewVec, 4, id(kVecInt), 1)}) ==
        "argument of another layout");
  CHECK(code({abc(Op::NewVec, 4, id(kVecInt), 1)}) == "wrong number of arguments");
  CHECK(code({abc(Op::NewVecRepeat, 4, 0, id(kVecInt))}) == "wrong number of arguments");
}

TEST_CASE("returns fit the function") {
  const auto returns = [](LayoutId result, std::vector<LayoutId> registers, Instruction last) {
    ModuleBuilder b;
    b.addFunction("f", std::move(registers), 0, result, {last});
    const std::string text = verdict(b.module);
    const size_t colon = text.rfind("`): ");
    return colon == std::string::npos ? text : text.substr(colon + 4);
  };
  CHECK(returns(kInt, {kInt}, abc(Op::Return, 0)) == "good");
  CHECK(returns(kInt, {kInt, kString}, abc(Op::Return, 0)) == "frame has references to release");
  CHECK(returns(kFloat, {kInt}, abc(Op::Return, 0)) == "result has another layout");
  CHECK(returns(kVecInt, {kInt, kString}, abc(Op::ReturnRef, 1)) == "result has another layout");
  CHECK(returns(kString, {kInt}, abc(Op::ReturnUnit)) == "result has another layout");
  CHECK(returns(kUnit, {kInt}, abc(Op::ReturnUnit)) == "good");
}

TEST_CASE("the tables of a function are sane") {
  const auto with = [](auto change) {
    ModuleBuilder b;
    b.addFunction("f", {kInt, kString}, 1, kInt, {abc(Op::ReturnScalar, 0)});
    change(b.module.functions[0]);
    return verdict(b.module);
  };
  CHECK(with([](Function&) {}) == "good");
  CHECK(with([](Function& f) { f.registers = {kInt, kString, kInt}; }) ==
        "function `f`: scalar register behind a reference");
  CHECK(with([](Function& f) { f.registers = {kString, kInt}; }) != "good"); // r0 is no scalar
  CHECK(with([](Function& f) { f.parameterCount = 3; }) ==
        "function `f`: more parameters than registers");
  CHECK(with([](Function& f) { f.captureCount = 2; }) ==
        "function `f`: more parameters than registers");
  CHECK(with([](Function& f) { f.registers[1] = LayoutId(999); }) ==
        "function `f`: layout of a register is out of range");
  CHECK(with([](Function& f) { f.result = LayoutId(999); }) ==
        "function `f`: layout of the result is out of range");
  CHECK(with([](Function& f) { f.outgoingCount = 65535; }) == "function `f`: too many registers");
  CHECK(with([](Function& f) { f.lines = {{5, {}}, {5, {}}}; }) ==
        "function `f`: line table is not in order");
}

TEST_CASE("the table of layouts is sane") {
  const auto with = [](auto change) {
    ModuleBuilder b;
    Layout layout;
    layout.name = "X";
    change(layout);
    b.addLayout(layout);
    const std::string text = verdict(b.module);
    return text == "good" ? text : text.substr(text.find("): ") + 3);
  };
  const LayoutId nowhere{999};
  CHECK(with([](Layout&) {}) == "good");
  CHECK(with([&](Layout& l) {
          l.kind = LayoutKind::Vec;
          l.element = nowhere;
        }) == "element is out of range");
  CHECK(with([&](Layout& l) {
          l.kind = LayoutKind::Map;
          l.value = nowhere;
        }) == "value is out of range");
  CHECK(with([&](Layout& l) {
          l.kind = LayoutKind::Vec;
          l.byteStorage = true;
          l.element = kInt;
        }) == "byte storage of elements that are no bytes");
  CHECK(with([&](Layout& l) { l.byteStorage = true; }) ==
        "byte storage of elements that are no bytes");
  CHECK(with([&](Layout& l) { l.kind = LayoutKind::Struct; }) ==
        "struct without exactly one variant");
  CHECK(with([&](Layout& l) { l.kind = LayoutKind::Enum; }) == "enum with no variant or too many");
  CHECK(with([&](Layout& l) {
          l.kind = LayoutKind::Struct;
          l.variants = {variantOf("X", {nowhere})};
        }) == "field is out of range");
  CHECK(with([&](Layout& l) {
          l.scalar = ScalarKind::UnitEnum;
          l.variants = {variantOf("X", {kInt})};
        }) == "fields in a layout that holds none");
  CHECK(with([&](Layout& l) {
          l.kind = LayoutKind::Closure;
          l.result = nowhere;
        }) == "result is out of range");
  CHECK(with([&](Layout& l) {
          l.kind = LayoutKind::Closure;
          l.parameters = {nowhere};
        }) == "parameter is out of range");
  CHECK(with([&](Layout& l) { l.kind = LayoutKind(77); }) == "unknown kind");
  CHECK(with([&](Layout& l) { l.display = gos::vm::FunctionId(55); }) ==
        "hook has another signature");
}

TEST_CASE("a hook has the signature that its callers rely on") {
  ModuleBuilder b;
  const FunctionId wrong = b.addFunction("fmt", {kPair, kInt}, 1, kInt,
                                         {abx(Op::LoadInt, 1, 0), abc(Op::ReturnScalar, 1)});
  b.module.layouts[index(kPair)].display = wrong;
  CHECK(verdict(b.module) == "layout 11 (`Pair`): hook has another signature");
  b.module.layouts[index(kPair)].display = FunctionId::None;
  CHECK(verdict(b.module) == "good");
}

TEST_CASE("globals, entries and imports are what they are used as") {
  ModuleBuilder b;
  b.addGlobal("G", kInt);
  CHECK(verdict(b.module) == "global `G` is no cell");
  ModuleBuilder c;
  c.module.entry = c.addFunction("f", {kInt}, 1, kInt, {abc(Op::Return, 0)});
  CHECK(verdict(c.module) == "entry is no function without parameters");
  ModuleBuilder d;
  d.addNative("length", {LayoutId(999)}, kInt);
  CHECK(verdict(d.module) == "native `length`: layout of a parameter is out of range");
  ModuleBuilder e;
  e.module.regions = {FunctionId(3)};
  CHECK(verdict(e.module) == "region is no function without parameters");
  ModuleBuilder g;
  g.module.initialiser = g.addFunction("f", {kString}, 0, kString, {abc(Op::ReturnRef, 0)});
  CHECK(verdict(g.module) == "initialiser answers a value");
}

TEST_CASE("a module is shown as text") {
  ModuleBuilder b;
  const uint32_t text = b.addString("hi\n");
  b.addNative("shout", {kString}, kUnit, {true});
  const FunctionId f = b.addFunction("greet", {kInt, kString}, 1, kUnit,
                                     {abx(Op::LoadString, 1, text), abc(Op::JumpGtImm, 0, -1, 1),
                                      abc(Op::AddImmI64, 0, 0, -1), abc(Op::ReturnUnit)});
  std::string out;
  llvm::raw_string_ostream stream(out);
  disassemble(b.module, f, stream);
  CHECK(out == "fn greet (r0 i64; r1 String) -> (), outgoing 4\n"
               "     0  LoadString         r1 #0  ; \"hi\\n\"\n"
               "     1  JumpGtImm          r0 #-1 ->3\n"
               "     2  AddImmI64          r0 r0 #-1\n"
               "     3  ReturnUnit        \n");
  CHECK(llvm::StringRef(disassemble(b.module)).starts_with("native 0 shout(&mut String) -> ()\n"));
}
