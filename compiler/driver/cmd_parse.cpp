// gos parse, gos disassemble: what the tool makes of a program, for people who work on the tool.

#include "compiler/ast/printer.h"
#include "compiler/driver/command.h"
#include "compiler/driver/pipeline.h"
#include "compiler/parse/parse.h"
#include "vm/disassembler.h"

#include "llvm/ADT/STLExtras.h"

namespace gos::driver {

int runParse(const Options& options) {
  SourceMap sources;
  Engine engine(sources);
  ast::Context context;
  auto buffer = llvm::MemoryBuffer::getFile(options.operands.front());
  if (!buffer) {
    engine.report(diag::FileUnreadable, options.operands.front(),
                  systemWords(buffer.getError().value()));
    printDiagnostics(engine, options);
    return kExitDiagnostics;
  }
  auto file = sources.add(options.operands.front(), std::move(*buffer));
  if (!file) {
    engine.report(diag::FileUnreadable, options.operands.front(), llvm::toString(file.takeError()));
    printDiagnostics(engine, options);
    return kExitDiagnostics;
  }
  parse::ParseOptions parseOptions;
  parseOptions.isEntry = true;
  const ast::File parsed = parse::parseFile(*file, sources, context, engine, parseOptions);
  printDiagnostics(engine, options);
  // The tree of a source that is nested too deep is as deep as the source: printing it would use up
  // the stack (T074).
  const bool tooDeep =
      engine.suppressed() != 0 || llvm::any_of(engine.diagnostics(), [](const Diagnostic& each) {
        return each.code == Code::GP0017;
      });
  if (!tooDeep)
    ast::print(llvm::outs(), parsed);
  return engine.hasErrors() ? kExitDiagnostics : kExitClean;
}

int runDisassemble(const Options& options) {
  Compilation compilation(options);
  std::optional<vm::Module> module;
  if (compilation.compile(options.operands.front(), /*needsMain=*/true))
    module = compilation.lowerProgram();
  printDiagnostics(compilation.engine(), options);
  if (!module)
    return kExitDiagnostics;
  llvm::outs() << vm::disassemble(*module);
  return kExitClean;
}

} // namespace gos::driver
