// The gate alone: hand-built bytecode, natives that would act, and a policy (threats: gate bypass,
// T043 to T060).

#include "tests/unit/vm/natives.h"

using namespace gos;
using namespace gos::vm;
using namespace gos::vm::test;

namespace {

/// Two packages besides the library: `main` (module id 1, policy 0) and `dep` (module id 2, policy
/// 1).
ComptimePolicy policyAt(ComptimeIo level) {
  ComptimePolicy policy;
  policy.commandLine = level;
  policy.fromCommandLine = true;
  for (const char* name : {"main", "dep"}) {
    PackagePolicy package;
    package.name = name;
    package.level = ComptimeIo::Full;
    package.hasRoot = true;
    package.root = std::string("/w/") + name;
    policy.packages.push_back(package);
  }
  return policy;
}

VmOptions foldOptions(const ComptimePolicy& policy) {
  VmOptions options;
  options.policy = &policy;
  options.regionPackage = 1;
  return options;
}

/// A function that calls a native with one string and answers ().
struct CallingModule : ModuleBuilder {
  CallingModule() { module.packages = {"std", "main", "dep"}; }
  FunctionId calling(const std::string& native, uint32_t package = 1, bool transparent = false) {
    const bool answers = native == "read" || native == "env";
    const uint32_t import = addNative(native, {kString}, answers ? kString : kUnit);
    const uint32_t text = addString("x");
    const FunctionId id =
        addFunction("calls_" + native, {kInt, kString}, 0, kUnit,
                    {abx(Op::LoadString, 1, text), abc(Op::ArgRef, 0, 1),
                     abx(Op::CallNative, answers ? 1 : 0, import), abc(Op::ReturnUnit)});
    Function& function = module.functions.back();
    function.package = package;
    function.transparent = transparent;
    function.spellings = {{2, "fs::" + native + "_it"}};
    function.lines = {{0, {10, 20}}, {2, {30, 40}}};
    return id;
  }
  /// A function of a package that calls another one.
  FunctionId calls(FunctionId callee, uint32_t package, bool transparent = false) {
    const FunctionId id = addFunction("outer", {kInt}, 0, kUnit,
                                      {abx(Op::Call, 0, int(index(callee))), abc(Op::ReturnUnit)});
    module.functions.back().package = package;
    module.functions.back().transparent = transparent;
    return id;
  }
};

TrapKind outcome(ModuleBuilder& builder, FunctionId id, VmOptions options) {
  Machine machine(builder, std::move(options), testNatives());
  Value result = 0;
  Trap trap = machine.vm().run(id, result);
  return trap ? trap->kind : TrapKind::None;
}

} // namespace

TEST_CASE("each class meets each level") {
  struct Row {
    const char* native;
    bool none, confined, full;
  };
  for (const Row& row : {Row{"write", false, false, true}, Row{"read", false, true, true},
                         Row{"print", false, true, true}, Row{"env", false, true, true}}) {
    CAPTURE(row.native);
    for (ComptimeIo level : {ComptimeIo::None, ComptimeIo::Confined, ComptimeIo::Full}) {
      CallingModule b;
      const FunctionId id = b.calling(row.native);
      const ComptimePolicy policy = policyAt(level);
      const bool allowed = level == ComptimeIo::None       ? row.none
                           : level == ComptimeIo::Confined ? row.confined
                                                           : row.full;
      CHECK((outcome(b, id, foldOptions(policy)) == TrapKind::None) == allowed);
    }
  }
}

TEST_CASE("a denied body is never entered") {
  CallingModule b;
  const FunctionId id = b.calling("write");
  const ComptimePolicy policy = policyAt(ComptimeIo::Confined);
  writesDone = 0;
  CHECK(outcome(b, id, foldOptions(policy)) == TrapKind::Denied);
  CHECK(writesDone == 0);
}

TEST_CASE("a fold without a policy computes and nothing else") {
  for (const char* native : {"write", "read", "print", "env"}) {
    CallingModule b;
    const FunctionId id = b.calling(native);
    CHECK(outcome(b, id, VmOptions()) == TrapKind::Denied);
  }
  ModuleBuilder b;
  const uint32_t import = b.addNative("length", {kString}, kInt);
  const uint32_t text = b.addString("four");
  const FunctionId id = b.addFunction("f", {kInt, kString}, 0, kInt,
                                      {abx(Op::LoadString, 1, text), abc(Op::ArgRef, 0, 1),
                                       abx(Op::CallNative, 0, import), abc(Op::ReturnScalar, 0)});
  Machine machine(b, VmOptions(), testNatives());
  CHECK(machine.integer(id) == 4);
}

TEST_CASE("a running program is never asked") {
  CallingModule b;
  const FunctionId id = b.calling("write");
  writesDone = 0;
  CHECK(outcome(b, id, Machine::programOptions()) == TrapKind::None);
  CHECK(writesDone == 1);
}

TEST_CASE("a denial says what was called, by whom, and at which level") {
  CallingModule b;
  const FunctionId id = b.calling("write");
  const ComptimePolicy policy = policyAt(ComptimeIo::Confined);
  Machine machine(b, foldOptions(policy), testNatives());
  Trap trap = machine.trap(id);
  CHECK(trap->denial.capability == Capability::Write);
  CHECK(trap->denial.builtin == "write");
  CHECK(trap->denial.spelling == "fs::write_it");
  CHECK(trap->denial.package == 1);
  CHECK(trap->denial.levelText == "confined");
  CHECK(trap->denial.levelOrigin == "the command line");
  REQUIRE(trap->trace.size() == 1);
  CHECK(trap->trace[0].span.begin == 30);
}

TEST_CASE("a call is judged for the package that spells it") {
  ComptimePolicy policy = policyAt(ComptimeIo::Full);
  policy.packages[1].level = ComptimeIo::None; // the dependency tightens itself
  CallingModule b;
  const FunctionId inDependency = b.calling("read", 2);
  const FunctionId throughDependency = b.calls(inDependency, 1);
  const FunctionId own = b.calling("read", 1);
  const FunctionId calledByDependency = b.calls(own, 2);
  CHECK(outcome(b, throughDependency, foldOptions(policy)) == TrapKind::Denied);
  CHECK(outcome(b, calledByDependency, foldOptions(policy)) == TrapKind::None);
}

TEST_CASE("library code is transparent: who entered it counts") {
  ComptimePolicy policy = policyAt(ComptimeIo::Full);
  policy.packages[1].level = ComptimeIo::None;
  CallingModule b;
  const FunctionId library = b.calling("read", 0, true);
  const FunctionId fromMain = b.calls(library, 1);
  const FunctionId fromDependency = b.calls(library, 2);
  CHECK(outcome(b, fromMain, foldOptions(policy)) == TrapKind::None);
  CHECK(outcome(b, fromDependency, foldOptions(policy)) == TrapKind::Denied);
  // With nobody behind it there is nobody to grant it.
  CHECK(outcome(b, library, foldOptions(policy)) == TrapKind::Denied);
  // The library itself, were it not transparent, and packages that no policy knows.
  const FunctionId opaque = b.calling("read", 0, false);
  const FunctionId stranger = b.calling("read", 77);
  CHECK(outcome(b, opaque, foldOptions(policy)) == TrapKind::Denied);
  CHECK(outcome(b, stranger, foldOptions(policy)) == TrapKind::Denied);
}

TEST_CASE("a region of nobody has no capability") {
  CallingModule b;
  const FunctionId id = b.calling("read");
  const ComptimePolicy policy = policyAt(ComptimeIo::Full);
  VmOptions options = foldOptions(policy);
  options.regionPackage = kNoPackage;
  CHECK(outcome(b, id, std::move(options)) == TrapKind::Denied);
}

TEST_CASE("the gate holds inside a callback and after 10,000 permitted calls") {
  CallingModule b;
  const uint32_t write = b.addNative("write", {kString}, kUnit);
  const uint32_t length = b.addNative("length", {kString}, kInt);
  const uint32_t call = b.addNative("call", {kFnIntInt, kInt}, kInt);
  const uint32_t text = b.addString("x");
  // A closure that counts down with a pure native and writes at zero.
  const FunctionId closure = b.addFunction(
      "closure", {kInt, kInt, kString}, 1, kInt,
      {abx(Op::LoadString, 2, text), abc(Op::ArgRef, 0, 2), abx(Op::CallNative, 1, length),
       abc(Op::JumpGtImm, 0, 0, 2), abc(Op::ArgRef, 0, 2), abx(Op::CallNative, 1, write),
       abc(Op::ReturnScalar, 0)});
  const FunctionId id =
      b.addFunction("f", {kInt, kInt, kFnIntInt}, 0, kInt,
                    {abx(Op::NewClosure, 2, int(index(closure))), abx(Op::LoadInt, 0, 10'000),
                     abc(Op::ArgRef, 0, 2), abc(Op::ArgScalar, 1, 0), abx(Op::CallNative, 1, call),
                     abc(Op::AddImmI64, 0, 0, -1), abc(Op::JumpLtImm, 0, 0, 1),
                     abx(Op::LoopJump, 0, -6), abc(Op::ReturnScalar, 0)});
  const ComptimePolicy policy = policyAt(ComptimeIo::Confined);
  Machine machine(b, foldOptions(policy), testNatives());
  writesDone = 0;
  Trap trap = machine.trap(id);
  CHECK(trap->kind == TrapKind::Denied);
  CHECK(writesDone == 0);
  CHECK(trap->trace.size() == 2);
  CHECK(machine.vm().heap().used() == 0);
}

TEST_CASE("a name outside the table is refused, also past the verifier") {
  ModuleBuilder b;
  const uint32_t import = b.addNative("no::such", {}, kUnit);
  const FunctionId id =
      b.addFunction("f", {kInt}, 0, kUnit, {abx(Op::CallNative, 0, import), abc(Op::ReturnUnit)});
  const NativeTable table = testNatives();
  auto refused = Vm::create(b.module, table, VmOptions());
  REQUIRE_FALSE(bool(refused));
  CHECK(llvm::toString(refused.takeError()) == "native `no::such` is not in the library");
  for (Mode mode : {Mode::Fold, Mode::Program}) {
    VmOptions options;
    options.mode = mode;
    options.verification = Verification::Verified;
    CHECK(outcome(b, id, std::move(options)) == TrapKind::Refused);
  }
}

TEST_CASE("a denial found in a body carries its detail") {
  CallingModule b;
  const uint32_t import = b.addNative("read", {kString}, kString);
  const uint32_t text = b.addString("outside");
  const FunctionId id = b.addFunction("f", {kInt, kString}, 0, kUnit,
                                      {abx(Op::LoadString, 1, text), abc(Op::ArgRef, 0, 1),
                                       abx(Op::CallNative, 1, import), abc(Op::ReturnUnit)});
  const ComptimePolicy policy = policyAt(ComptimeIo::Confined);
  Machine machine(b, foldOptions(policy), testNatives());
  Trap trap = machine.trap(id);
  CHECK(trap->kind == TrapKind::Denied);
  CHECK(trap->denial.detail == "it leads to `/etc`");
  CHECK(trap->denial.narrowest == "a file inside the root");
}

TEST_CASE("output of a fold is kept, up to its cap") {
  CallingModule b;
  const FunctionId id = b.calling("print");
  const ComptimePolicy policy = policyAt(ComptimeIo::Confined);
  VmOptions options = foldOptions(policy);
  options.outputBytes = 3;
  Machine machine(b, std::move(options), testNatives());
  for (int i = 0; i < 5; ++i)
    machine.run(id);
  CHECK(machine.vm().capturedOutput() == "xxx");
  CHECK(machine.vm().capturedOmitted() == 2);
}

TEST_CASE("an in-out argument comes back changed") {
  ModuleBuilder b;
  const uint32_t import = b.addNative("shout", {kString}, kUnit, {true});
  const uint32_t text = b.addString("hey");
  const FunctionId id = b.addFunction("f", {kInt, kString}, 0, kString,
                                      {abx(Op::LoadString, 1, text), abc(Op::ArgTake, 0, 1),
                                       abx(Op::CallNative, 0, import), abc(Op::FetchArg, 1, 0),
                                       abc(Op::ReturnRef, 1)});
  Machine machine(b, Machine::programOptions(), testNatives());
  CHECK(machine.text(id) == "hey!");
  CHECK(machine.vm().heap().used() == 0);
}

TEST_CASE("a native is never given a value that is borrowed elsewhere") {
  ModuleBuilder b;
  const uint32_t import = b.addNative("length", {kString}, kInt);
  const FunctionId id = b.addFunction(
      "f", {kInt, kString}, 0, kInt,
      {abc(Op::ArgRef, 0, 1), abx(Op::CallNative, 0, import), abc(Op::ReturnScalar, 0)});
  Machine machine(b, Machine::programOptions(), testNatives());
  const Trap trap = machine.trap(id);
  CHECK(trap->kind == TrapKind::Incompatible);
  CHECK(!trap->lent); // nobody took it: it was never there
}

TEST_CASE("a value that is missing says where it was taken") {
  ModuleBuilder b;
  const FunctionId use = b.addFunction("use", {kCellVecInt, kInt}, 1, kInt,
                                       {abc(Op::CellVecLen, 1, 0), abc(Op::ReturnScalar, 1)});
  const FunctionId lend =
      b.addFunction("lend", {kInt, kVecInt, kCellVecInt}, 0, kInt,
                    {abc(Op::NewVec, 1, int(index(kVecInt)), 0), abc(Op::NewCellTake, 2, 1),
                     abc(Op::CellTake, 1, 2), abc(Op::ArgRef, 0, 2), abx(Op::Call, 0, index(use)),
                     abc(Op::CellSetTake, 2, 1), abc(Op::ReturnScalar, 0)});
  Machine machine(b);
  const Trap trap = machine.trap(lend);
  CHECK(trap->kind == TrapKind::Incompatible);
  REQUIRE(trap->trace.size() == 2);
  CHECK(trap->trace[0].function == "use");
  REQUIRE(trap->lent);
  CHECK(trap->lent->function == "lend");
}
