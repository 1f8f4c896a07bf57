#pragma once
// The process of one test: this executable, started by the runner with a first argument that nobody
// types, the module in one descriptor and the record's pipe in another.

#include "llvm/ADT/StringRef.h"

namespace gos::testing {

/// The first argument of a worker; behind it the number of the entry in Module::regions and the
/// seed of vm::VmOptions::scheduleSeed.
inline constexpr llvm::StringRef kWorkerArgument = "\x1fgos-test-worker";

// Descriptors of a worker.
inline constexpr int kModuleFd = 3;
inline constexpr int kRecordFd = 4;
inline constexpr int kForeignFd = 5; // the library of Rust bindings; not open without any
inline constexpr int kReachedFd = 6; // a byte a place of the module; not open if nobody asks

/// The exit code of a worker that could not come to a record.
inline constexpr int kWorkerFailed = 70;

/// Runs the entry, writes the record, and answers the exit code.
int runWorker(int argc, char** argv);

} // namespace gos::testing
