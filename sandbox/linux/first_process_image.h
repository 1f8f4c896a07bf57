#pragma once
// The first process as bytes inside this library, and as a sealed file in memory to be executed.

#include "sandbox/unique_fd.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace gos::sandbox {

/// The program's ELF image.
llvm::StringRef firstProcessImage();
/// A sealed memfd that holds it, made once for the process: nobody can write it, also not through
/// /proc/PID/exe (compare CVE-2019-5736).
llvm::Expected<int> firstProcessFile();

} // namespace gos::sandbox
