#include "tests/unit/vm/natives.h"

namespace gos::vm::test {

int writesDone = 0;

namespace {

Trap callBody(Arguments& arguments) {
  Value result = 0;
  if (Trap trap =
          arguments.vm().callClosure(arguments.slot(0), {Value(arguments.integer(1))}, result))
    return trap;
  return arguments.returnInteger(asInteger(result));
}
Trap envBody(Arguments& arguments) {
  return arguments.returnString("value of " + arguments.string(0).str());
}
Trap exitBody(Arguments& arguments) {
  return Trap::exit(arguments.integer(0));
}
Trap lengthBody(Arguments& arguments) {
  return arguments.returnInteger(int64_t(arguments.string(0).size()));
}
Trap printBody(Arguments& arguments) {
  if (arguments.vm().inFold())
    arguments.vm().captureOutput(arguments.string(0));
  return arguments.returnUnit();
}
Trap readBody(Arguments& arguments) {
  if (arguments.vm().inFold() && arguments.string(0) == "outside")
    return arguments.vm().deny(Capability::Read, "it leads to `/etc`", "a file inside the root");
  return arguments.returnString("content");
}
Trap shoutBody(Arguments& arguments) {
  if (!arguments.vm().heap().makeUnique(arguments.slot(0)) ||
      !arguments.vm().heap().append(asString(arguments.slot(0)), "!"))
    return arguments.vm().heapTrap();
  return arguments.returnUnit();
}
Trap writeBody(Arguments& arguments) {
  ++writesDone;
  return arguments.returnUnit();
}

constexpr Native kNatives[] = {
    {"call", "fn(f: Fn(i64) -> i64, x: i64) -> i64", Capability::Pure, callBody},
    {"env", "fn(name: String) -> String", Capability::EnvRead, envBody},
    {"exit", "fn(code: i64)", Capability::Exec, exitBody},
    {"length", "fn(text: String) -> i64", Capability::Pure, lengthBody},
    {"print", "fn(text: String)", Capability::Output, printBody},
    {"read", "fn(path: String) -> String", Capability::Read, readBody},
    {"shout", "fn(text: &mut String)", Capability::Pure, shoutBody},
    {"write", "fn(text: String)", Capability::Write, writeBody},
};

/// Exactly the layouts that the bodies rely on; of a callback also its signature.
llvm::Error checkTestImport(const Native& native, const NativeImport& import,
                            const Module& module) {
  const auto kind = [&](LayoutId id) { return module.layouts[index(id)].kind; };
  std::vector<LayoutKind> wanted = {LayoutKind::String};
  LayoutKind result = LayoutKind::Int;
  if (native.name == "call")
    wanted = {LayoutKind::Closure, LayoutKind::Int};
  if (native.name == "exit")
    wanted = {LayoutKind::Int};
  if (native.name == "read" || native.name == "env")
    result = LayoutKind::String;
  bool fits = import.parameters.size() == wanted.size() && kind(import.result) == result;
  for (size_t i = 0; fits && i < wanted.size(); ++i)
    fits = kind(import.parameters[i]) == wanted[i] && import.inOut[i] == (native.name == "shout");
  if (fits && native.name == "call") {
    const Layout& closure = module.layouts[index(import.parameters[0])];
    fits = closure.parameters.size() == 1 && kind(closure.parameters[0]) == LayoutKind::Int &&
           kind(closure.result) == LayoutKind::Int;
  }
  if (fits)
    return llvm::Error::success();
  return llvm::createStringError(std::make_error_code(std::errc::invalid_argument),
                                 "import does not fit");
}

} // namespace

NativeTable testNatives() {
  return NativeTable(kNatives, checkTestImport);
}

} // namespace gos::vm::test
