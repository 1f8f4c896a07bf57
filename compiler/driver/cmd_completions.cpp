// gos completions.

#include "compiler/driver/command.h"

namespace gos::driver {

int runCompletions(const Options&) {
  llvm::errs() << "gos: error: `gos completions` is not built yet\n";
  return kExitUsage;
}

} // namespace gos::driver
