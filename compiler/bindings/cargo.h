#pragma once
// The one function that starts Cargo, and with it rustc, build scripts, macros and linkers
// (architecture.md section 4). Everything that it starts it starts through the sandbox, level
// `none` included, in the directory `/`, where no configuration of a project is an ancestor's.

#include "compiler/bindings/toolchain.h"
#include "sandbox/command/recorder.h"
#include "sandbox/command/runner.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace gos::bindings {

struct CargoCall {
  std::vector<std::string> arguments;   // behind `cargo`
  std::vector<std::string> environment; // NAME=VALUE; the policy says what of it passes
  Policy policy;
  bool watch = false; // what is refused is collected; slower
  /// Lines of standard output and standard error, without their end, raw bytes. A line that is too
  /// long is cut.
  llvm::function_ref<void(llvm::StringRef)> onOutput, onError;
};

struct CargoResult {
  int code = 0;
  int signal = 0;
  int interruptedBy = 0;  // the signal that ended us, and with us the run
  uint32_t survivors = 0; // processes that were still there at the end, and were ended
  std::optional<sandbox::Report> report;
};

/// Starts Cargo, hands its output on and waits until nothing of it lives. Errors are
/// sandbox::RunError. An interrupt of ours ends the run.
llvm::Expected<CargoResult> runCargo(const Toolchain& toolchain, const CargoCall& call);

/// What `runCargo` would do, for --sandbox-explain.
llvm::Expected<sandbox::ChildPlan> planOfCargo(const Toolchain& toolchain, const CargoCall& call);

} // namespace gos::bindings
