// --sandbox-explain, of every command that compiles bindings: the policies of both phases.

#include "compiler/bindings/bindings.h"
#include "compiler/driver/command.h"
#include "manifest/project.h"

namespace gos::driver {

int runSandboxExplain(const Options& options) {
  SourceMap sources;
  Engine engine(sources);
  const std::string path = options.operands.empty() ? "." : options.operands.front();
  const std::optional<Project> project = loadProject(path, sources, engine);
  bool good = project.has_value();
  if (project && !bindings::hasBindings(*project)) {
    llvm::outs()
        << "the program has no Rust bindings: nothing is compiled that a sandbox would confine\n";
  } else if (project) {
    bindings::BuildOptions build;
    build.sandbox = options.sandbox;
    good = bindings::explainSandbox(*project, build, llvm::outs(), engine);
  }
  printDiagnostics(engine, options);
  return good && !engine.hasErrors() ? kExitClean : kExitDiagnostics;
}

} // namespace gos::driver
