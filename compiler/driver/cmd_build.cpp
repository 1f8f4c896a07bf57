// gos build.

#include "compiler/driver/command.h"

namespace gos::driver {

int runBuild(const Options&) {
  llvm::errs() << "gos: error: `gos build` is not built yet\n";
  return kExitUsage;
}

} // namespace gos::driver
