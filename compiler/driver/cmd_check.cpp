// gos check: everything up to the last fold, and nothing run.

#include "compiler/driver/command.h"
#include "compiler/driver/pipeline.h"

namespace gos::driver {

int runCheck(const Options& options) {
  Compilation compilation(options);
  const bool clean = compilation.compile(options.operands.empty() ? "." : options.operands.front(),
                                         /*needsMain=*/false);
  printDiagnostics(compilation.engine(), options);
  if (!clean || compilation.engine().hasErrors())
    return kExitDiagnostics;
  if (!options.quiet && options.messageFormat == MessageFormat::Text)
    llvm::errs() << "checked " << compilation.fileCount()
                 << (compilation.fileCount() == 1 ? " file, " : " files, ")
                 << compilation.regionCount() << " compile-time region"
                 << (compilation.regionCount() == 1 ? "" : "s") << " evaluated\n";
  return kExitClean;
}

} // namespace gos::driver
