// Random code that the verifier accepts, run under a small budget: nothing it does may touch memory
// it should not. The sanitizers are the judge; without them the heap's own count is.

#include "tests/unit/vm/natives.h"

#include "vm/disassembler.h"
#include "vm/verifier.h"

#include <cstdlib>
#include <random>

using namespace gos;
using namespace gos::vm;
using namespace gos::vm::test;

namespace {

class Generator {
public:
  explicit Generator(unsigned seed) : random_(seed) {
    for (const char* text :
         {"", "x", "größer", "a longer text that is not kept inside an object of its own"})
      builder.addString(text);
    for (int64_t value : {int64_t(0), int64_t(1), int64_t(-1), INT64_MAX, INT64_MIN, int64_t(100)})
      builder.addConstant(uint64_t(value));
    builder.addFormat({});
    builder.addFormat({'*', FormatSpec::Align::Right, false, 12, 2, FormatSpec::Kind::Debug});
    builder.addGlobal("G", kCellInt);
    builder.addGlobal("H", kCellVecInt);
    builder.addGlobal(
        "P", builder.addLayout(containerLayout(LayoutKind::Cell, kVecPair, "cell Vec<Pair>")));
    builder.addNative("length", {kString}, kInt);
    builder.addNative("shout", {kString}, kUnit, {true});
    builder.addNative("call", {kFnIntInt, kInt}, kInt);
    builder.addNative("write", {kString}, kUnit);
    listCell_ = builder.addLayout(containerLayout(LayoutKind::Cell, kList, "cell List"));
    nested_ = builder.addLayout(containerLayout(LayoutKind::Vec, kVecInt, "Vec<Vec<i64>>"));
  }

  FunctionId addFunction(unsigned parameters, unsigned captures, LayoutId result) {
    std::vector<LayoutId> registers;
    for (unsigned i = 0; i < parameters; ++i)
      registers.push_back(
          i == 0 || captures != 0 ? kInt : pick(std::vector<LayoutId>{kInt, kString, kVecInt}));
    return addFunction(std::move(registers), captures, result);
  }
  FunctionId addFunction(std::vector<LayoutId> registers, unsigned captures, LayoutId result) {
    const auto parameters = unsigned(registers.size());
    for (LayoutId id : {kInt, kInt, kInt, kFloat, kBool})
      registers.push_back(id);
    for (LayoutId id :
         {kString, kString, kVecInt, kVecInt, kBytes, kPair, kPair, kVecPair, kOption, kList, kList,
          kCellInt, kCellVecInt, kFnIntInt, kTuple, listCell_, nested_, kVecString, LayoutId(22)})
      if (number(4) != 0)
        registers.push_back(id);
    const FunctionId id = builder.addFunction("f" + std::to_string(builder.module.functions.size()),
                                              registers, parameters, result, {}, 6, captures);
    ends_ = ending(result);
    std::vector<Instruction> code = prologue(parameters);
    const unsigned wanted = 20 + number(60);
    for (unsigned tries = 0; code.size() < wanted && tries < 4000; ++tries) {
      std::vector<Instruction> longer = code;
      appendRandom(longer);
      if (accepts(longer))
        code = std::move(longer);
    }
    // A jump needs somewhere to go: those that reach beyond the end are mended by the tail.
    for (unsigned i = 0; i < kTail; ++i)
      code.push_back(ends_);
    builder.module.functions.back().code = code;
    return id;
  }

  ModuleBuilder builder;

private:
  static constexpr unsigned kTail = 24;

  /// Gives most registers a value, so that not every other instruction meets a null.
  std::vector<Instruction> prologue(unsigned parameters) {
    const std::vector<LayoutId>& registers = builder.module.functions.back().registers;
    std::vector<Instruction> code;
    const auto find = [&](LayoutId id) {
      for (size_t i = parameters; i < registers.size(); ++i)
        if (registers[i] == id)
          return int(i);
      return -1;
    };
    const int text = find(kString);
    const int pair = find(kPair);
    for (size_t i = parameters; i < registers.size(); ++i) {
      const LayoutId id = registers[i];
      const auto at = int(i);
      if (id == kInt || id == kBool)
        code.push_back(abx(Op::LoadInt, at, number(5)));
      else if (id == kFloat)
        code.push_back(abx(Op::LoadConstant, at, 1));
      else if (id == kString)
        code.push_back(abx(Op::LoadString, at, number(4)));
      else if (id == kVecInt || id == kBytes) {
        code.push_back(abx(Op::ArgInt, 0, 7));
        code.push_back(abx(Op::ArgInt, 1, 8));
        code.push_back(abc(Op::NewVec, at, int(index(id)), 2));
      } else if ((id == kPair || id == kTuple) && text >= 0) {
        code.push_back(abx(Op::ArgInt, 0, 3));
        code.push_back(abc(Op::ArgRef, 1, text));
        code.push_back(abx(Op::NewStruct, at, index(id)));
      } else if (id == kVecPair && pair >= 0) {
        code.push_back(abc(Op::ArgRef, 0, pair));
        code.push_back(abc(Op::NewVec, at, int(index(id)), 1));
      } else if (id == kOption || id == kList)
        code.push_back(abc(Op::NewUnitVariant, at, int(index(id)), 0));
      else if (id == kCellInt || id == kCellVecInt)
        code.push_back(abx(Op::LoadGlobal, at, id == kCellInt ? 0 : 1));
      else if (id == LayoutId(22)) // the cell of P
        code.push_back(abx(Op::LoadGlobal, at, 2));
      else if (id == kFnIntInt) {
        code.push_back(abx(Op::ArgInt, 0, 1));
        code.push_back(abx(Op::NewClosure, at, 0));
      }
    }
    return accepts(code) ? code : std::vector<Instruction>();
  }

  unsigned number(unsigned below) { return unsigned(random_() % below); }
  template <typename T> T pick(const std::vector<T>& from) {
    return from[number(unsigned(from.size()))];
  }

  Instruction ending(LayoutId result) {
    if (result == kUnit)
      return abc(Op::ReturnUnit);
    const std::vector<LayoutId>& registers = builder.module.functions.back().registers;
    for (size_t i = 0; i < registers.size(); ++i)
      if (registers[i] == result)
        return abc(builder.module.layouts[index(result)].isReference() ? Op::ReturnRef
                                                                       : Op::ReturnScalar,
                   int(i));
    return abc(Op::PanicCode, 0, 0, 0, 0);
  }

  unsigned registerFor(char letter) {
    const std::vector<LayoutId>& registers = builder.module.functions.back().registers;
    for (int tries = 0; tries < 30; ++tries) {
      const unsigned at = number(unsigned(registers.size()));
      const LayoutKind kind = builder.module.layouts[index(registers[at])].kind;
      const bool isInt = kind == LayoutKind::Int;
      const bool isFloat = kind == LayoutKind::Float;
      if (letter == 'W' || (isInt && (letter == 'i' || letter == 'I')) ||
          (isFloat && (letter == 'f' || letter == 'F')) ||
          ((isInt || isFloat) && (letter == 's' || letter == 'S')) ||
          (!isInt && !isFloat && (letter == 'r' || letter == 'R' || letter == 'U')))
        return at;
    }
    return 0;
  }

  Instruction random(Op op) {
    unsigned operand[4] = {0, 0, 0, 0};
    const llvm::StringRef format = operandFormat(op);
    for (unsigned i = 0; i < format.size(); ++i) {
      const char letter = format[i];
      if (letter == 'n' || letter == 'x' || letter == 'j')
        operand[i] = number(op == Op::NewStruct || op == Op::NewEnum || op == Op::NewVec ||
                                    op == Op::NewVecRepeat
                                ? 26
                                : 8);
      else if (letter == 'c')
        operand[i] = op == Op::ForLoopI64 ? unsigned(-int(number(10))) : number(6);
      else if (letter != '-')
        operand[i] = registerFor(letter);
    }
    if (op == Op::LoopJump)
      return abx(op, 0, -int(number(10)));
    if (op == Op::PanicCode)
      return abc(op, 0, 0, 0, int(operand[3]));
    if (format.contains('j') || (format.size() > 1 && format[1] == 'x' && format.size() == 2))
      return abx(op, int(operand[0]), operand[1]);
    return abc(op, int(operand[0]), int(operand[1]), int(operand[2]), int(operand[3]));
  }

  /// An argument for a place of this layout.
  void appendArgument(std::vector<Instruction>& code, unsigned slot, LayoutId wanted) {
    const std::vector<LayoutId>& registers = builder.module.functions.back().registers;
    for (int tries = 0; tries < 60; ++tries) {
      const unsigned at = number(unsigned(registers.size()));
      if (registers[at] != wanted)
        continue;
      const bool isReference = builder.module.layouts[index(wanted)].isReference();
      code.push_back(abc(!isReference     ? Op::ArgScalar
                         : number(2) == 0 ? Op::ArgRef
                                          : Op::ArgTake,
                         int(slot), int(at)));
      return;
    }
    code.push_back(abx(Op::ArgInt, int(slot), int(number(100)) - 50));
  }

  void appendRandom(std::vector<Instruction>& code) {
    const Op op = Op(number(kOpcodeCount));
    const Module& module = builder.module;
    std::vector<LayoutId> arguments;
    Instruction instruction = random(op);
    // What the verifier wants to see before the instruction, looked up as it does.
    const auto layoutAt = [&](unsigned at) -> const Layout& {
      return module.layouts[std::min<size_t>(at, module.layouts.size() - 1)];
    };
    if (op == Op::Call || op == Op::NewClosure) {
      const Function& callee = module.functions[instruction.bx() % module.functions.size()];
      instruction = abx(op, instruction.a(), instruction.bx() % module.functions.size());
      const unsigned from =
          op == Op::Call ? 0u : unsigned(callee.parameterCount - callee.captureCount);
      arguments.assign(callee.registers.begin() + from,
                       callee.registers.begin() + callee.parameterCount);
    } else if (op == Op::CallClosure) {
      arguments = {kInt};
      instruction = abc(op, instruction.a(), instruction.b(), 1);
    } else if (op == Op::CallNative) {
      instruction = abx(op, instruction.a(), instruction.bx() % module.natives.size());
      arguments = module.natives[instruction.bx()].parameters;
    } else if (op == Op::NewStruct || op == Op::NewEnum) {
      const Layout& layout = layoutAt(op == Op::NewStruct ? instruction.bx() : instruction.b());
      if (!layout.variants.empty())
        arguments =
            layout.variants[op == Op::NewStruct ? 0 : instruction.c() % layout.variants.size()]
                .fields;
      if (op == Op::NewEnum && !layout.variants.empty())
        instruction = abc(op, instruction.a(), instruction.b(),
                          int(instruction.c() % layout.variants.size()));
    } else if (op == Op::NewVec) {
      const unsigned count = number(4);
      instruction = abc(op, instruction.a(), instruction.b(), int(count));
      arguments.assign(count, layoutAt(instruction.b()).element);
    } else if (op == Op::NewVecRepeat) {
      arguments = {layoutAt(instruction.c()).element};
    }
    for (unsigned i = 0; i < arguments.size(); ++i)
      appendArgument(code, i, arguments[i]);
    code.push_back(instruction);
    if (op == Op::CallNative && instruction.bx() == 1)
      code.push_back(abc(Op::FetchArg, int(registerFor('R')), 0));
    if (op == Op::Switch)
      for (unsigned i = 0; i <= instruction.bx() && i < 12; ++i)
        code.push_back(abx(Op::Jump, 0, number(12)));
  }

  /// Would the verifier take the function with a tail behind this code?
  bool accepts(const std::vector<Instruction>& code) {
    std::vector<Instruction> whole = code;
    for (unsigned i = 0; i < kTail; ++i)
      whole.push_back(ends_);
    ModuleBuilder trial = builder;
    trial.module.functions.back().code = whole;
    for (size_t i = 0; i + 1 < trial.module.functions.size(); ++i)
      trial.module.functions[i].code = {abc(Op::PanicCode, 0, 0, 0, 0)}; // known to be good
    const NativeTable table = testNatives();
    if (llvm::Error error = verify(trial.module, table)) {
      llvm::consumeError(std::move(error));
      return false;
    }
    return true;
  }

  std::mt19937 random_;
  Instruction ends_;
  LayoutId listCell_;
  LayoutId nested_;
};

} // namespace

TEST_CASE("random code that verifies does no harm") {
  const bool full = std::getenv("GOS_FULL") != nullptr;
  unsigned accepted = 0;
  uint64_t ended = 0;
  uint64_t trapped = 0;
  for (unsigned seed = 0; seed < (full ? 3000u : 60u); ++seed) {
    Generator generator(seed);
    // Two that can be closures, hooks of Pair, some that are started.
    const FunctionId closure = generator.addFunction(2, 1, kInt);
    const FunctionId plain = generator.addFunction(1, 0, kInt);
    (void)closure;
    (void)plain;
    if (seed % 2 == 1) { // hooks that do anything at all while C++ walks a value
      Layout& pair = generator.builder.module.layouts[index(kPair)];
      const FunctionId display = generator.addFunction({kPair}, 0, kString);
      const FunctionId equals = generator.addFunction({kPair, kPair}, 0, kBool);
      const FunctionId compare = generator.addFunction({kPair, kPair}, 0, kInt);
      pair.display = pair.debug = display;
      pair.equals = equals;
      pair.compare = compare;
    }
    std::vector<FunctionId> starts;
    for (LayoutId result : {kInt, kString, kUnit, kList})
      starts.push_back(generator.addFunction(0, 0, result));
    const NativeTable table = testNatives();
    VmOptions options;
    options.mode = Mode::Program;
    options.steps = 20'000;
    options.heapBytes = 1 << 20;
    options.depth = 300;
    auto vm = Vm::create(generator.builder.module, table, std::move(options));
    if (!vm) {
      llvm::consumeError(vm.takeError());
      continue;
    }
    ++accepted;
    for (FunctionId start : starts)
      for (int round = 0; round < 3; ++round) {
        Value result = 0;
        Trap trap = (*vm)->run(start, result);
        CHECK((!trap || trap->kind != TrapKind::Refused));
        ++(trap ? trapped : ended);
        if (!trap)
          (*vm)->releaseValue(result, generator.builder.module.functions[index(start)].result);
      }
  }
  CHECK(accepted > 10);
  CHECK(ended > 20);
  CHECK(trapped > 20);
  MESSAGE(accepted << " modules, " << ended << " runs ended, " << trapped << " trapped");
}
