// gos doc.

#include "compiler/driver/command.h"

namespace gos::driver {

int runDoc(const Options&) {
  llvm::errs() << "gos: error: `gos doc` is not built yet\n";
  return kExitUsage;
}

} // namespace gos::driver
