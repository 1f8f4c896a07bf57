// std::runtime, and the small modules whose work is done elsewhere: sandbox, ffi, term.

#include "stdlib/host_state.h"
#include "stdlib/support.h"
#include "vm/scheduler.h"

#include "llvm/Support/FormatVariadic.h"

#include <unistd.h>
#include <utility>

namespace gos::stdlib {

namespace {

/// The closure in argument 0, owned.
Value hookOf(Arguments& arguments) {
  return arguments.vm().retainValue(arguments.slot(0), arguments.layoutId(0));
}

StringRef words(vm::CohortPolicy policy) {
  switch (policy) {
  case vm::CohortPolicy::FailFast:
    return "fail fast";
  case vm::CohortPolicy::CollectAll:
    return "collect all";
  case vm::CohortPolicy::Race:
    return "race";
  }
  return {};
}

/// "cohort 2 in 1: fail fast, 3 of 5 children run, cancelled".
std::string describe(const vm::Cohort& cohort) {
  std::string text = cohort.parent == nullptr ? "root" : "cohort " + std::to_string(cohort.number);
  if (cohort.parent != nullptr && cohort.parent->parent != nullptr)
    text += " in " + std::to_string(cohort.parent->number);
  text += (": " + words(cohort.policy) + ", ").str() + std::to_string(cohort.live) + " of " +
          std::to_string(cohort.spawned) + (cohort.spawned == 1 ? " child runs" : " children run");
  if (!cohort.cancellable)
    text += ", not cancellable";
  if (cohort.timedOut)
    text += ", out of time";
  else if (cohort.cancelled)
    text += ", cancelled";
  return text;
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

// ---- the scheduler
// --------------------------------------------------------------------------------------

Trap RuntimeCohorts(Arguments& arguments) {
  const std::vector<const vm::Cohort*> open = arguments.vm().scheduler().openCohorts();
  if (Trap trap = chargeEach(arguments.vm(), open.size() * 64))
    return trap;
  std::vector<std::string> lines;
  for (const vm::Cohort* cohort : open)
    lines.push_back(describe(*cohort));
  return arguments.returnStrings(lines);
}
Trap RuntimeRoot(Arguments& arguments) {
  return arguments.returnString(describe(arguments.vm().scheduler().rootCohort()));
}

/// One thread runs bytecode, whatever was asked for.
Trap RuntimeSchedulerStats(Arguments& arguments) {
  const vm::SchedulerFigures figures = arguments.vm().scheduler().figures();
  return arguments.returnString(
      llvm::formatv(
          "{{\"schema\":1,\"max_procs\":1,\"goroutines\":{0},\"ready\":{1},\"waiting\":{2},"
          "\"blocking_calls\":{3},\"timers\":{4},\"descriptors\":{5},\"cohorts\":{6},"
          "\"spawned\":{7},\"turns\":{8}}",
          figures.goroutines, figures.ready, figures.waiting, figures.jobs, figures.timers,
          figures.descriptors, figures.cohorts, figures.spawned, figures.turns)
          .str());
}
Trap RuntimeSetMaxProcs(Arguments& arguments) {
  const int64_t count = arguments.integer(0);
  if (count < 1)
    return Trap::panic("a program runs on one thread at least, not " + std::to_string(count));
  return arguments.returnUnit();
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
