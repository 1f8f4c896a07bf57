#pragma once
// Running a built module in a test.

#include "tests/unit/vm/module_builder.h"
#include "vm/vm.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

namespace gos::vm::test {

using Op = Opcode;

inline Instruction abc(Op op, int a = 0, int b = 0, int c = 0, int d = 0) {
  return Instruction::abc(op, uint16_t(a), uint16_t(b), uint16_t(c), uint8_t(d));
}
inline Instruction abx(Op op, int a, int64_t bx, int d = 0) {
  return Instruction::abx(op, uint16_t(a), uint32_t(bx), uint8_t(d));
}

/// A Vm over a builder's module; the program's mode unless told otherwise.
class Machine {
public:
  explicit Machine(ModuleBuilder& builder, VmOptions options = programOptions(),
                   NativeTable natives = emptyTable())
      : natives_(natives) {
    auto vm = Vm::create(builder.module, natives_, std::move(options));
    if (vm)
      vm_ = std::move(*vm);
    else
      error = llvm::toString(vm.takeError());
    INFO(error);
    REQUIRE(error.empty());
  }
  static VmOptions programOptions() {
    VmOptions options;
    options.mode = Mode::Program;
    return options;
  }

  Vm& vm() { return *vm_; }
  /// Runs and expects an end without a trap.
  Value run(FunctionId function) {
    Value result = 0;
    Trap trap = vm_->run(function, result);
    INFO((trap ? trap->message : std::string()));
    REQUIRE(!trap);
    return result;
  }
  int64_t integer(FunctionId function) { return int64_t(run(function)); }
  double real(FunctionId function) { return asReal(run(function)); }
  std::string text(FunctionId function) {
    const Value value = run(function);
    REQUIRE(value != 0);
    std::string text = asString(value)->text().str();
    vm_->heap().release(asObject(value));
    return text;
  }
  Trap trap(FunctionId function) {
    Value result = 0;
    Trap trap = vm_->run(function, result);
    REQUIRE(bool(trap));
    return trap;
  }
  std::string message(FunctionId function) { return trap(function)->message; }

  std::string error;

private:
  NativeTable natives_;
  std::unique_ptr<Vm> vm_;
};

/// The integer that a function of this code answers; its registers are r0.. integers.
inline int64_t evaluate(std::vector<Instruction> code, unsigned integers = 4) {
  ModuleBuilder builder;
  const FunctionId id =
      builder.addFunction("f", std::vector<LayoutId>(integers, kInt), 0, kInt, std::move(code));
  return Machine(builder).integer(id);
}
inline std::string failure(std::vector<Instruction> code, unsigned integers = 4) {
  ModuleBuilder builder;
  const FunctionId id =
      builder.addFunction("f", std::vector<LayoutId>(integers, kInt), 0, kInt, std::move(code));
  return Machine(builder).message(id);
}

} // namespace gos::vm::test
