// gos run: check and fold, then the program itself, which nothing confines.

#include "compiler/driver/command.h"
#include "compiler/driver/pipeline.h"
#include "diagnostics/escape.h"
#include "stdlib/builtins.h"
#include "stdlib/host_state.h"
#include "vm/format.h"
#include "vm/object.h"

#include <unistd.h>

namespace gos::driver {
namespace {

llvm::StringRef runtimeCode(vm::TrapKind kind) {
  switch (kind) {
  case vm::TrapKind::Incompatible:
    return "GX0001";
  case vm::TrapKind::NoArm:
    return "GX0006";
  case vm::TrapKind::Depth:
    return "GX0008";
  case vm::TrapKind::Budget:
    return "GX0009";
  case vm::TrapKind::Denied:
    return "GX0010";
  case vm::TrapKind::None:
  case vm::TrapKind::Panic:
  case vm::TrapKind::Exit:
  case vm::TrapKind::Refused:
    break;
  }
  return "GX0005";
}

/// "error: runtime error: error[GX0005]: panic: MESSAGE" and the call stack, innermost first.
void printTrap(const vm::TrapDetails& trap, const SourceMap& sources) {
  llvm::raw_ostream& out = llvm::errs();
  out << "error: runtime error: error[" << runtimeCode(trap.kind)
      << "]: " << (trap.kind == vm::TrapKind::Panic ? "panic: " : "")
      << escapeForTextBlock(trap.message) << '\n';
  if (trap.trace.empty())
    return;
  out << "stack trace, innermost call first:\n";
  for (const vm::TraceFrame& frame : trap.trace) {
    out << "  in " << escapeForText(frame.function);
    const FileId file = sources.fileOf(frame.span);
    if (file != FileId::None) {
      const LineColumn at = sources.locate(frame.span);
      out << " at " << escapeForText(sources.file(file).name) << ':' << at.line << ':' << at.column;
    }
    out << '\n';
  }
  if (trap.traceOmitted)
    out << "  and " << trap.traceOmitted << " more calls\n";
}

/// What `main` answered: () or Ok is 0; Err is printed and is 1.
int exitCodeOf(vm::Vm& machine, const vm::Module& module, vm::Value result) {
  const vm::LayoutId id = module.functions[vm::index(module.entry)].result;
  const vm::Layout& layout = module.layouts[vm::index(id)];
  int code = kExitClean;
  if (layout.kind == vm::LayoutKind::Enum && result) {
    const vm::StructObject* object = vm::asStruct(result);
    const vm::VariantLayout& variant = layout.variants[object->tag];
    if (variant.name == "Err") {
      code = kExitDiagnostics;
      vm::TextBuffer text(uint64_t(1) << 20);
      vm::Trap trap = variant.fields.empty()
                          ? vm::Trap()
                          : vm::formatDisplay(machine, object->slots()[0], variant.fields[0], text);
      stdlib::flushOutput(machine);
      llvm::errs() << "error: "
                   << (trap ? escapeForTextBlock(trap->message) : escapeForTextBlock(text.text()))
                   << '\n';
    }
  }
  machine.releaseValue(result, id);
  return code;
}

/// The exit code of a trap that ended the program, reported unless a hook has seen it.
int endWith(const vm::TrapDetails& trap, bool seen, const SourceMap& sources) {
  if (trap.kind == vm::TrapKind::Exit)
    return int(trap.exitCode & 0xff);
  if (!seen)
    printTrap(trap, sources);
  return kExitPanic;
}

} // namespace

int runRun(const Options& options) {
  Compilation compilation(options);
  std::optional<vm::Module> module;
  if (compilation.compile(options.operands.front(), /*needsMain=*/true))
    module = compilation.lowerProgram();
  printDiagnostics(compilation.engine(), options);
  if (!module)
    return kExitDiagnostics;

  stdlib::HostOptions host;
  host.programName = options.operands.front();
  host.arguments = options.arguments;
  vm::VmOptions vmOptions;
  vmOptions.mode = vm::Mode::Program;
  vmOptions.host = stdlib::makeHost(std::move(host));
  auto machine = vm::Vm::create(*module, stdlib::nativeTable(), std::move(vmOptions));
  if (!machine) {
    llvm::errs() << "gos: error: the program does not verify: "
                 << llvm::toString(machine.takeError()) << '\n';
    return kExitDiagnostics;
  }
  vm::Value result = 0;
  vm::Trap trap = (*machine)->run(module->entry, result);
  // The hooks of `std::runtime` run before anything is reported; one that panics or exits has the
  // last word.
  auto observe = [&](vm::Trap& fatal) {
    return fatal && fatal->kind != vm::TrapKind::Exit && stdlib::runPanicHook(**machine, fatal);
  };
  const bool seen = observe(trap);
  vm::Trap late = stdlib::runExitHooks(**machine);
  const bool lateSeen = observe(late);
  int code = kExitClean;
  if (!trap)
    code = exitCodeOf(**machine, *module, result);
  if (vm::Trap lost = stdlib::finishOutput(**machine); lost && !late)
    late = std::move(lost);
  if (trap)
    code = endWith(*trap, seen, compilation.sources());
  return late ? endWith(*late, lateSeen, compilation.sources()) : code;
}

} // namespace gos::driver
