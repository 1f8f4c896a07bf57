// std::runtime, and the small modules whose work is done elsewhere: sandbox, ffi, term.

#include "stdlib/host_state.h"
#include "stdlib/support.h"

#include <unistd.h>
#include <utility>

namespace gos::stdlib {

namespace {

/// The closure in argument 0, owned.
Value hookOf(Arguments& arguments) {
  return arguments.vm().retainValue(arguments.slot(0), arguments.layoutId(0));
}

void release(Vm& vm, Value closure) {
  vm.heap().releaseValue(closure, closure != 0);
}

} // namespace

bool runPanicHook(Vm& vm, Trap& trap) {
  const Value hook =
      std::exchange(hostOf(vm).panicHook, 0); // a hook that panics is not asked again
  if (hook == 0)
    return false;
  const Value message = Builder(vm).string(hostOf(vm).panicHookText, trap->message);
  bool taken = false;
  if (message != 0) {
    const Value arguments[] = {message};
    Value result = 0;
    Trap own = vm.callClosure(hook, arguments, result);
    taken = !own || own->kind == vm::TrapKind::Exit;
    if (own)
      trap = std::move(own);
  }
  release(vm, hook);
  return taken;
}

Trap runExitHooks(Vm& vm) {
  LibraryHost& host = hostOf(vm);
  Trap first;
  while (!host.exitHooks.empty()) {
    const Value hook = host.exitHooks.back();
    host.exitHooks.pop_back();
    Value result = 0;
    Trap trap = vm.callClosure(hook, {}, result);
    release(vm, hook);
    if (trap && !first)
      first = std::move(trap);
  }
  Trap output = finishOutput(vm);
  return first ? std::move(first) : std::move(output);
}

namespace bodies {

// In a fold a hook would be work put off to where no gate stands: it is accepted and forgotten
// (T045).

Trap RuntimeSetPanicHook(Arguments& arguments) {
  Vm& vm = arguments.vm();
  if (!vm.inFold() && arguments.slot(0) != 0) {
    LibraryHost& host = hostOf(vm);
    release(vm, std::exchange(host.panicHook, hookOf(arguments)));
    host.panicHookText = arguments.layout(0).parameters[0];
  }
  return arguments.returnUnit();
}
Trap RuntimeAtExit(Arguments& arguments) {
  Vm& vm = arguments.vm();
  if (!vm.inFold() && arguments.slot(0) != 0)
    hostOf(vm).exitHooks.push_back(hookOf(arguments));
  return arguments.returnUnit();
}

/// Memory is counted: there is nothing to collect but cycles, which this runtime does not look for.
Trap RuntimeCollectCycles(Arguments& arguments) {
  return arguments.returnUnit();
}
Trap RuntimeCycleCollection(Arguments& arguments) {
  return arguments.returnBoolean(false);
}

Trap FfiLastErrno(Arguments& arguments) {
  return arguments.returnInteger(errno);
}
Trap TermIsTerminal(Arguments& arguments) {
  const int64_t fd = arguments.integer(0);
  return arguments.returnBoolean(fd >= 0 && fd <= 2 && ::isatty(int(fd)) == 1);
}

} // namespace bodies
} // namespace gos::stdlib
