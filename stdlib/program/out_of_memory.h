#pragma once
// The end of a process that the system gives no more memory: a report and an exit code in place of
// an abort. What the heap of a Vm asks for can be refused and comes back as a trap; this is for all
// that is allocated around it.

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace gos::program {

/// From here on memory that cannot be had ends the process: `speaker: error: out of memory`. Once a
/// process, at its beginning.
void reportOutOfMemory(llvm::StringRef speaker, int exitCode);

/// Has its own report while it lives, which may use a little memory that was kept for it. It is
/// called on the thread that made this; one that fails on another thread gives the plain one. One
/// at a time.
class OutOfMemoryReport {
public:
  OutOfMemoryReport(llvm::function_ref<void()> report, int exitCode);
  ~OutOfMemoryReport();
  OutOfMemoryReport(const OutOfMemoryReport&) = delete;
  OutOfMemoryReport& operator=(const OutOfMemoryReport&) = delete;

private:
  llvm::function_ref<void()> report_;
  int outerCode_;
};

} // namespace gos::program
