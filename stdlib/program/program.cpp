#include "stdlib/program/program.h"

#include "diagnostics/escape.h"
#include "stdlib/builtins.h"
#include "stdlib/host_state.h"
#include "stdlib/program/ending.h"
#include "stdlib/program/out_of_memory.h"
#include "vm/format.h"
#include "vm/object.h"
#include "vm/scheduler.h"
#include "vm/vm.h"

#include "llvm/Support/raw_ostream.h"

namespace gos::program {
namespace {

constexpr uint64_t kErrorText = uint64_t(1) << 20; // of what `main` answered

/// One run, from the machine that was made to the exit code.
class Run {
public:
  Run(vm::Vm& machine, const ProgramOptions& options) : machine_(machine), options_(options) {}

  int toEnd(Ending& ending) {
    const vm::Module& module = machine_.module();
    vm::Value result = 0;
    vm::Trap trap = machine_.run(module.entry, result);
    if (ending.runIsOver())
      return endAsked();
    // The hooks of `std::runtime` run before anything is reported; one that panics or exits has the
    // last word.
    const bool seen = observe(trap);
    vm::Trap late = stdlib::runExitHooks(machine_);
    const bool lateSeen = observe(late);
    int code = kExitClean;
    if (!trap)
      code = exitCodeOf(result);
    if (vm::Trap lost = stdlib::finishOutput(machine_); lost && !late)
      late = std::move(lost);
    if (trap)
      code = endWith(*trap, seen);
    else
      code = std::max(code, reportUnobserved());
    return late ? endWith(*late, lateSeen) : code;
  }

  /// In the middle of whatever asked for it, and the last thing that the process does.
  void reportOutOfMemory() {
    vm::Trap trap = vm::Trap::outOfMemory(machine_.heap().used());
    machine_.addTrace(*trap);
    stdlib::flushOutput(machine_);
    print(*trap);
  }

private:
  /// A signal ended the run, however that looks to the machine: as with `process::exit` hooks run,
  /// and nothing is reported but what goes wrong in one.
  int endAsked() {
    vm::Trap late = stdlib::runExitHooks(machine_);
    const bool lateSeen = observe(late);
    if (vm::Trap lost = stdlib::finishOutput(machine_); lost && !late)
      late = std::move(lost);
    return late ? endWith(*late, lateSeen) : kExitClean;
  }

  bool observe(vm::Trap& fatal) {
    return fatal && fatal->kind != vm::TrapKind::Exit && stdlib::runPanicHook(machine_, fatal);
  }

  /// What `main` answered: () or Ok is 0; Err is printed and is 1.
  int exitCodeOf(vm::Value result) {
    const vm::Module& module = machine_.module();
    const vm::LayoutId id = module.functions[vm::index(module.entry)].result;
    const vm::Layout& layout = module.layouts[vm::index(id)];
    int code = kExitClean;
    if (layout.kind == vm::LayoutKind::Enum && result) {
      const vm::StructObject* object = vm::asStruct(result);
      const vm::VariantLayout& variant = layout.variants[object->tag];
      if (variant.name == "Err") {
        code = kExitFailed;
        vm::TextBuffer text(kErrorText);
        vm::Trap trap = variant.fields.empty() ? vm::Trap()
                                               : vm::formatDisplay(machine_, object->slots()[0],
                                                                   variant.fields[0], text);
        stdlib::flushOutput(machine_);
        llvm::errs() << "error: "
                     << (trap ? escapeForTextBlock(trap->message) : escapeForTextBlock(text.text()))
                     << '\n';
      }
    }
    machine_.releaseValue(result, id);
    return code;
  }

  /// The exit code of a trap that ended the program, reported unless a hook has seen it.
  int endWith(const vm::TrapDetails& trap, bool seen) const {
    if (trap.kind == vm::TrapKind::Exit)
      return int(trap.exitCode & 0xff);
    if (!seen)
      print(trap);
    return kExitPanic;
  }

  /// "error: runtime error: error[GX0005]: panic: MESSAGE" and the call stack, innermost first.
  void print(const vm::TrapDetails& trap) const {
    llvm::raw_ostream& out = llvm::errs();
    out << "error: runtime error: error[" << vm::codeOf(trap.kind)
        << "]: " << (trap.kind == vm::TrapKind::Panic ? "panic: " : "")
        << escapeForTextBlock(trap.message) << '\n';
    for (const vm::WaitingGoroutine& waiter : trap.waiters) {
      out << "  " << (waiter.number == 0 ? "main" : "goroutine " + std::to_string(waiter.number));
      if (!waiter.label.empty())
        out << " (" << escapeForText(waiter.label) << ')';
      out << " waits for " << waiter.what;
      printPlace(waiter.at);
      out << '\n';
    }
    if (trap.waitersOmitted)
      out << "  and " << trap.waitersOmitted << " more goroutines\n";
    if (trap.lent) {
      out << "  borrowed in " << escapeForText(trap.lent->function);
      printPlace(*trap.lent);
      out << ", until the call there is done\n";
    }
    if (trap.trace.empty())
      return;
    out << "stack trace, innermost call first:\n";
    for (const vm::TraceFrame& frame : trap.trace) {
      out << "  in " << escapeForText(frame.function);
      printPlace(frame);
      out << '\n';
    }
    if (trap.traceOmitted)
      out << "  and " << trap.traceOmitted << " more calls\n";
  }
  void printPlace(const vm::TraceFrame& frame) const {
    if (std::optional<Place> at = options_.placeOf ? options_.placeOf(frame.span) : std::nullopt)
      llvm::errs() << " at " << escapeForText(at->file) << ':' << at->line << ':' << at->column;
  }

  /// What ended in a failure that nobody joined (language.md 21.4: the root cohort tells it at the
  /// end).
  int reportUnobserved() {
    vm::Scheduler* scheduler = machine_.schedulerIfAny();
    if (!scheduler)
      return kExitClean;
    int code = kExitClean;
    for (const vm::UnobservedFailure& failure : scheduler->takeUnobserved()) {
      llvm::errs() << "error: goroutine " << failure.number;
      if (!failure.label.empty())
        llvm::errs() << " (" << escapeForText(failure.label) << ')';
      llvm::errs() << " failed, and nobody joined it\n";
      if (failure.trap) {
        print(*failure.trap);
        code = kExitPanic;
      } else {
        llvm::errs() << "error: " << escapeForTextBlock(failure.error) << '\n';
        code = std::max(code, kExitFailed);
      }
    }
    return code;
  }

  vm::Vm& machine_;
  const ProgramOptions& options_;
};

} // namespace

int runProgram(const vm::Module& module, ProgramOptions options) {
  stdlib::HostOptions host;
  host.programName = options.name;
  host.arguments = std::move(options.arguments);
  vm::VmOptions vmOptions;
  vmOptions.mode = vm::Mode::Program;
  vmOptions.host = stdlib::makeHost(std::move(host));
  vmOptions.foreign = options.foreign;
  auto machine = vm::Vm::create(module, stdlib::nativeTable(), std::move(vmOptions));
  if (!machine) {
    llvm::errs() << escapeForText(options.speaker)
                 << ": error: the program does not verify: " << llvm::toString(machine.takeError())
                 << '\n';
    return kExitFailed;
  }
  Run run(**machine, options);
  const auto report = [&] { run.reportOutOfMemory(); };
  const OutOfMemoryReport outOfMemory(report, kExitPanic);
  Ending ending(**machine);
  const int code = run.toEnd(ending);
  if (ending.asked() != 0)
    ending.end(); // and this process with it
  return code;
}

} // namespace gos::program
