// gos run: check and fold, then the program itself, which nothing confines.

#include "compiler/driver/command.h"
#include "compiler/driver/pipeline.h"
#include "stdlib/program/program.h"

namespace gos::driver {

int runRun(const Options& options) {
  Compilation compilation(options);
  std::optional<vm::Module> module;
  if (compilation.compile(options.operands.front(), /*needsMain=*/true))
    module = compilation.lowerProgram();
  printDiagnostics(compilation.engine(), options);
  if (!module)
    return kExitDiagnostics;
  program::ProgramOptions run;
  run.name = options.operands.front();
  run.arguments = options.arguments;
  run.foreign = compilation.foreign();
  run.placeOf = [&sources = compilation.sources()](Span span) -> std::optional<program::Place> {
    const FileId file = sources.fileOf(span);
    if (file == FileId::None)
      return std::nullopt;
    const LineColumn at = sources.locate(span);
    return program::Place{sources.file(file).name, at.line, at.column};
  };
  return program::runProgram(*module, std::move(run));
}

} // namespace gos::driver
