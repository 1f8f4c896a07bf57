// gos fmt.

#include "compiler/driver/command.h"

namespace gos::driver {

int runFmt(const Options&) {
  llvm::errs() << "gos: error: `gos fmt` is not built yet\n";
  return kExitUsage;
}

} // namespace gos::driver
