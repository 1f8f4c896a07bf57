// T060: what is not in the table, and what does not fit it, at the level of bytecode.

#include "tests/unit/vm/module_builder.h"

#include "vm/verifier.h"

#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

namespace gos::threats {
namespace {

using namespace vm;
using namespace vm::test;

int reached = 0;

Trap body(Arguments& arguments) {
  ++reached;
  return arguments.returnInteger(7);
}

llvm::Error checkShape(const Native& native, const NativeImport& import, const Module&) {
  if (import.parameters.size() == (native.name == "t::write" ? 1u : 0u))
    return llvm::Error::success();
  return llvm::createStringError(std::errc::invalid_argument, "wrong arity");
}

const Native kNatives[] = {
    {"t::pure", "fn() -> i64", Capability::Pure, body},
    {"t::write", "fn(path: String) -> i64", Capability::Write, body},
};

NativeTable table() {
  return NativeTable(kNatives, checkShape);
}

/// A module whose region calls one import without arguments.
Module calling(std::string name, std::vector<LayoutId> parameters = {}) {
  ModuleBuilder builder;
  const uint32_t import = builder.addNative(std::move(name), std::move(parameters), kInt);
  const FunctionId region = builder.addFunction(
      "region", {kInt}, 0, kInt,
      {Instruction::abx(Opcode::CallNative, 0, import), Instruction::abc(Opcode::Return, 0)});
  builder.module.regions = {region};
  builder.module.entry = region;
  return std::move(builder.module);
}

Trap run(const Module& module, const NativeTable& natives, const ComptimePolicy* policy,
         Verification verification) {
  VmOptions options;
  options.mode = Mode::Fold;
  options.policy = policy;
  options.regionPackage = 1;
  options.verification = verification;
  options.heapBytes = 1 << 20;
  auto machine = Vm::create(module, natives, std::move(options));
  if (!machine)
    return Trap::make(TrapKind::Refused, llvm::toString(machine.takeError()));
  Value result = 0;
  return (*machine)->run(module.entry, result);
}

ComptimePolicy at(ComptimeIo level) {
  ComptimePolicy policy;
  policy.commandLine = level;
  policy.fromCommandLine = true;
  PackagePolicy package;
  package.name = "example.com/app";
  package.level = ComptimeIo::Full;
  policy.packages = {package};
  return policy;
}

TEST_CASE("T060 what is not in the table is refused, and denied when it is forced") {
  const NativeTable natives = table();
  const ComptimePolicy full = at(ComptimeIo::Full);
  // The control: the gate lets a pure one by and a writing one only at full.
  reached = 0;
  CHECK(!run(calling("t::pure"), natives, &full, Verification::Verify));
  CHECK(reached == 1);
  // A name outside of the table: the verifier refuses the module.
  for (const std::string& name : {std::string("t::nothing"), std::string(), std::string("t::pure "),
                                  std::string("T::PURE"), std::string("t::pure\0x", 9)}) {
    reached = 0;
    const Module module = calling(name);
    CHECK(bool(llvm::errorToBool(verify(module, natives))));
    Trap trap = run(module, natives, &full, Verification::Verify);
    CHECK(bool(trap));
    // Forced past it: denied, and no crash.
    Trap forced = run(module, natives, &full, Verification::Verified);
    REQUIRE(bool(forced));
    CHECK((forced->kind == TrapKind::Denied || forced->kind == TrapKind::Refused));
    CHECK(reached == 0);
  }
  // Wrong arity.
  CHECK(bool(llvm::errorToBool(verify(calling("t::pure", {kInt}), natives))));
  CHECK(bool(llvm::errorToBool(verify(calling("t::write"), natives))));
  // An index outside of the imports, and a jump into nowhere or into an operand block.
  Module index = calling("t::pure");
  index.functions[0].code[0] = Instruction::abx(Opcode::CallNative, 0, 99);
  CHECK(bool(llvm::errorToBool(verify(index, natives))));
  CHECK(bool(run(index, natives, &full, Verification::Verify)));
  CHECK(reached == 0);
}

TEST_CASE("T060 a fold without a policy, or of an unknown package, has no capability") {
  const NativeTable natives = table();
  ModuleBuilder builder;
  const uint32_t import = builder.addNative("t::write", {kString}, kInt);
  const uint32_t text = builder.addString("x");
  // registers: scalar 0, reference 1
  const FunctionId region = builder.addFunction(
      "region", {kInt, kString}, 0, kInt,
      {Instruction::abx(Opcode::LoadString, 1, text), Instruction::abc(Opcode::ArgRef, 0, 1),
       Instruction::abx(Opcode::CallNative, 0, import), Instruction::abc(Opcode::ReturnScalar, 0)});
  builder.module.regions = {region};
  builder.module.entry = region;
  const Module& module = builder.module;
  const ComptimePolicy full = at(ComptimeIo::Full), confined = at(ComptimeIo::Confined),
                       none = at(ComptimeIo::None);
  auto expectDenied = [&](const ComptimePolicy* policy) {
    reached = 0;
    Trap trap = run(module, natives, policy, Verification::Verify);
    REQUIRE(bool(trap));
    CHECK_MESSAGE(trap->kind == TrapKind::Denied, trap->message);
    CHECK(reached == 0);
  };
  expectDenied(nullptr);
  expectDenied(&none);
  expectDenied(&confined);
  // A package that the policy does not know is none, whatever the command line says.
  Module stranger = module;
  stranger.packages.push_back("stranger");
  for (Function& function : stranger.functions)
    function.package = 2;
  reached = 0;
  Trap trap = run(stranger, natives, &full, Verification::Verify);
  REQUIRE(bool(trap));
  CHECK(trap->kind == TrapKind::Denied);
  CHECK(reached == 0);
  // The control.
  reached = 0;
  CHECK(!run(module, natives, &full, Verification::Verify));
  CHECK(reached == 1);
}

} // namespace
} // namespace gos::threats
