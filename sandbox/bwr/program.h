#pragma once
// From the words of the command line to the exit code.

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace gos::bwr {

/// Wrong usage.
constexpr int kExitUsage = 2;
/// The level is not available here; and only that.
constexpr int kExitUnavailable = 64;
/// The policy cannot be kept, or the command is not executable.
constexpr int kExitPolicy = 126;

int runProgram(llvm::ArrayRef<llvm::StringRef> arguments);

} // namespace gos::bwr
