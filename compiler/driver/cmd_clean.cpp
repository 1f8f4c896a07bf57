// gos clean.

#include "compiler/driver/command.h"

namespace gos::driver {

int runClean(const Options&) {
  llvm::errs() << "gos: error: `gos clean` is not built yet\n";
  return kExitUsage;
}

} // namespace gos::driver
