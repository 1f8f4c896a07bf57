// gos repl.

#include "compiler/driver/command.h"

namespace gos::driver {

int runRepl(const Options&) {
  llvm::errs() << "gos: error: `gos repl` is not built yet\n";
  return kExitUsage;
}

} // namespace gos::driver
