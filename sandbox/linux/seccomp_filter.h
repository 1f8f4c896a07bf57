#pragma once
// The seccomp filters, compiled with libseccomp when the project is built (filter_generator/ over
// sandbox/syscalls.def) and stored as arrays: making one takes longer than a whole start.

#include "sandbox/linux/plan.h"
#include "sandbox/policy/policy.h"

namespace gos::sandbox {

/// Which filter. There is none below standard.
struct FilterChoice {
  SandboxLevel level = SandboxLevel::Strict; // standard or strict
  NetworkMode network = NetworkMode::None;   // client refuses listen and accept for every family
  bool notifies =
      false; // what the filter refuses, and what a report has to see, goes to a listener
};

/// The program, ready for the kernel; empty if there is none for this CPU (then strict is refused).
llvm::ArrayRef<FilterInstruction> filterProgram(FilterChoice choice);

/// What a filter does with one call, from the same table, for tests, reports and --explain. The
/// verdicts of a row are those of a filter that does not notify.
enum class FilterVerdict : uint8_t {
  Allow,
  NotPermitted /* EPERM */,
  NotBuilt /* ENOSYS */,
  Notify,
  ByArgument
};
struct SystemCallRow {
  llvm::StringRef name;
  int number = -1; // on this CPU; -1: it has no such call
  llvm::StringRef group;
  FilterVerdict standard = FilterVerdict::Allow;
  FilterVerdict strict = FilterVerdict::NotPermitted;
  FilterVerdict client = FilterVerdict::Allow; // what network `client` adds, at both levels
  bool reported =
      false;           // a filter that notifies hands on also what it allows (perhaps by argument)
  llvm::StringRef why; // one sentence
};
llvm::ArrayRef<SystemCallRow> systemCallRows();
/// The name of a number on this CPU, or empty.
llvm::StringRef systemCallName(int number);

/// How a listener answers a notification: the errno with which the level refuses this call, or 0 to
/// let it go on (SECCOMP_USER_NOTIF_FLAG_CONTINUE). It depends on registers alone, which the caller
/// cannot change any more; memory behind a pointer is read for the report and decides nothing.
int filterError(FilterChoice choice, int number, llvm::ArrayRef<uint64_t> arguments);

/// The filter as text, one decision a line, for --explain.
std::string describeFilter(FilterChoice choice);
/// Runs a BPF program over one call, as the kernel would: for tests and for `describeFilter`.
uint32_t evaluateFilter(llvm::ArrayRef<FilterInstruction> program, uint32_t architecture,
                        int number, llvm::ArrayRef<uint64_t> arguments);

} // namespace gos::sandbox
