#include "compiler/repl/link.h"

#include "stdlib/builtins.h"
#include "vm/verifier.h"
#include "vm/vm.h"

#include <doctest/doctest.h>

using namespace gos;
using vm::FunctionId;
using vm::Instruction;
using vm::LayoutId;
using vm::LayoutKind;
using vm::Module;
using vm::Opcode;

namespace {

vm::Layout integer() {
  vm::Layout layout;
  layout.name = "i64";
  return layout;
}
vm::Layout cellOf(LayoutId element) {
  vm::Layout layout;
  layout.kind = LayoutKind::Cell;
  layout.name = "cell";
  layout.element = element;
  return layout;
}
/// A list: a struct that holds an optional one of its kind.
vm::Layout list(const char* name, LayoutId next, LayoutId value) {
  vm::Layout layout;
  layout.kind = LayoutKind::Struct;
  layout.name = name;
  layout.variants.resize(1);
  layout.variants[0].fields = {value, next};
  return layout;
}

/// Counts global 0 up by `step` and answers it. The layouts stand in a different order each time.
Module counter(int64_t step, bool cellFirst) {
  Module module;
  const LayoutId number{cellFirst ? 1u : 0u}, cell{cellFirst ? 0u : 1u};
  module.layouts.resize(2);
  module.layouts[vm::index(number)] = integer();
  module.layouts[vm::index(cell)] = cellOf(number);
  module.constants = {uint64_t(step)};
  module.globals.push_back({"n", cell, FunctionId::None});
  vm::Function function;
  function.name = "input";
  function.registers = {number, number, cell};
  function.result = number;
  function.code = {
      Instruction::abx(Opcode::LoadGlobal, 2, 0),   Instruction::abc(Opcode::CellGet, 0, 2),
      Instruction::abx(Opcode::LoadConstant, 1, 0), Instruction::abc(Opcode::AddI64, 0, 0, 1),
      Instruction::abc(Opcode::CellSet, 2, 0),      Instruction::abc(Opcode::ReturnScalar, 0)};
  module.functions.push_back(std::move(function));
  module.entry = FunctionId(0);
  module.packages = {"std", "test"};
  return module;
}

} // namespace

TEST_CASE("a global keeps its cell and its value over lines whose modules number everything "
          "differently") {
  Module session;
  repl::Linker linker(session);
  const int key = 0;
  const repl::GlobalKey keys[] = {&key};
  std::unique_ptr<vm::Vm> machine;
  vm::Value result = 0;
  int64_t wanted = 0;
  for (int64_t step : {5, 7, 5, 100}) {
    auto linked = linker.add(counter(step, step != 7), keys);
    REQUIRE(bool(linked));
    REQUIRE(linked->changedGlobals.empty());
    if (!machine) {
      vm::VmOptions options;
      options.mode = vm::Mode::Program;
      auto made = vm::Vm::create(session, stdlib::nativeTable(), std::move(options));
      REQUIRE(bool(made));
      machine = std::move(*made);
    } else {
      REQUIRE(!machine->extend(stdlib::nativeTable()));
    }
    REQUIRE(!machine->run(linked->entry, result));
    wanted += step;
    CHECK(int64_t(result) == wanted);
    CHECK(int64_t(machine->globalContent(linked->globals[0])) == wanted);
  }
  CHECK(session.layouts.size() == 2);
  CHECK(session.globals.size() == 1);
  CHECK(session.constants.size() == 3);
}

TEST_CASE("a global without a key is one of its own each time") {
  Module session;
  repl::Linker linker(session);
  REQUIRE(bool(linker.add(counter(1, true), {})));
  REQUIRE(bool(linker.add(counter(1, true), {})));
  CHECK(session.globals.size() == 2);
}

TEST_CASE("a global whose layout changed is said, and nothing is added") {
  Module session;
  repl::Linker linker(session);
  const int key = 0;
  const repl::GlobalKey keys[] = {&key};
  REQUIRE(bool(linker.add(counter(1, true), keys)));
  const size_t functions = session.functions.size();
  Module other = counter(1, true);
  other.layouts[1].width = vm::IntWidth::U8;
  auto linked = linker.add(other, keys);
  REQUIRE(bool(linked));
  CHECK(linked->changedGlobals == std::vector<uint32_t>{0});
  CHECK(session.functions.size() == functions);
  linker.forget(&key);
  linked = linker.add(other, keys);
  REQUIRE(bool(linked));
  CHECK(linked->changedGlobals.empty());
}

TEST_CASE(
    "recursive layouts are one when they are equal all the way down, and two when they are not") {
  Module session;
  repl::Linker linker(session);
  Module first;
  first.layouts = {integer(), list("List", LayoutId(1), LayoutId(0))};
  REQUIRE(bool(linker.add(first, {})));
  Module again;
  again.layouts = {list("List", LayoutId(0), LayoutId(1)), integer()};
  REQUIRE(bool(linker.add(again, {})));
  CHECK(session.layouts.size() == 2);
  Module other; // the value is a list as well
  other.layouts = {list("List", LayoutId(0), LayoutId(0))};
  REQUIRE(bool(linker.add(other, {})));
  CHECK(session.layouts.size() == 3);
  CHECK(session.layouts[2].variants[0].fields == std::vector<LayoutId>{LayoutId(2), LayoutId(2)});
}

TEST_CASE("an interrupted run ends at its next jump, and the code is as before") {
  Module module = counter(1, true);
  vm::Function loop;
  loop.name = "loop";
  loop.result = LayoutId(1);
  loop.registers = {LayoutId(1)};
  loop.code = {Instruction::abx(Opcode::LoadInt, 0, 3), Instruction::abc(Opcode::ReturnScalar, 0)};
  module.functions.push_back(loop);
  vm::VmOptions options;
  options.mode = vm::Mode::Program;
  auto machine = vm::Vm::create(module, stdlib::nativeTable(), std::move(options));
  REQUIRE(bool(machine));
  vm::Value result = 0;
  (*machine)->prepareInterrupts();
  (*machine)->interrupt();
  CHECK(bool((*machine)->run(FunctionId(1), result)));
  (*machine)->endInterrupts();
  CHECK(!(*machine)->run(FunctionId(1), result));
  CHECK(result == 3);
}
