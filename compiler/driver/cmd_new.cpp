// gos new.

#include "compiler/driver/command.h"

namespace gos::driver {

int runNew(const Options&) {
  llvm::errs() << "gos: error: `gos new` is not built yet\n";
  return kExitUsage;
}

} // namespace gos::driver
