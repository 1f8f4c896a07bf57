// Builds the bindings of a project and says what came out: the part of `gos` that these tests are
// about, without a compiler around it.
//
//   bindings_tool [--sandbox=LEVEL] [--sandbox-network] [--sandbox-ro PATH] [--sandbox-rw PATH]
//                 [--sandbox-explain] [--editor] DIR

#include "compiler/bindings/bindings.h"
#include "diagnostics/render.h"

using namespace gos;

int main(int count, char** words) {
  bindings::BuildOptions options;
  options.progress = &llvm::errs();
  std::string directory;
  for (int at = 1; at < count; ++at) {
    llvm::StringRef word = words[at];
    if (word.consume_front("--sandbox=")) {
      options.sandbox.level = sandboxLevelFromSpelling(word);
      if (!options.sandbox.level)
        return 2;
    } else if (word == "--sandbox-network") {
      options.sandbox.network = true;
    } else if (word == "--sandbox-ro" && at + 1 < count) {
      options.sandbox.readOnly.push_back(words[++at]);
    } else if (word == "--sandbox-rw" && at + 1 < count) {
      options.sandbox.readWrite.push_back(words[++at]);
    } else if (word == "--sandbox-explain") {
      options.sandbox.explain = true;
    } else if (word == "--editor") {
      options.mayBuild = false;
    } else {
      directory = word.str();
    }
  }
  SourceMap sources;
  Engine engine(sources);
  const std::optional<Project> project = loadProject(directory, sources, engine);
  int code = 1;
  if (project && options.sandbox.explain) {
    code = bindings::explainSandbox(*project, options, llvm::outs(), engine) ? 0 : 1;
  } else if (project && bindings::hasBindings(*project)) {
    if (const auto artifact = bindings::ensureBindings(*project, options, engine)) {
      code = 0;
      llvm::outs() << "library " << artifact->sha256 << '\n';
      for (const bindings::ModuleSignature& module : artifact->signatures.modules)
        for (const bindings::FunctionSignature& function : module.functions)
          llvm::outs() << "function " << module.path << "::" << function.name << '\n';
    }
  }
  renderAll(llvm::errs(), engine, MessageFormat::Text, Colour::Off);
  return code;
}
