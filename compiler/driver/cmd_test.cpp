// gos test.

#include "compiler/driver/command.h"

namespace gos::driver {

int runTest(const Options&) {
  llvm::errs() << "gos: error: `gos test` is not built yet\n";
  return kExitUsage;
}

} // namespace gos::driver
