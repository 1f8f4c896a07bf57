// The parser meets any bytes, as an entry file, as a module, as one expression and as a signature.
// What it makes can be printed and copied; a copy prints as its original does.

#include "compiler/ast/clone.h"
#include "compiler/ast/printer.h"
#include "compiler/parse/parse.h"

#include <cstdlib>
#include <string>

using namespace gos;

static std::string printed(const ast::Expr* expr) {
  std::string out;
  llvm::raw_string_ostream stream(out);
  ast::print(stream, expr);
  return out;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  SourceMap sources;
  const llvm::StringRef text(reinterpret_cast<const char*>(data), size);
  const FileId id = llvm::cantFail(sources.addCopy("fuzz.gos", text));
  for (const bool isEntry : {true, false}) {
    Engine engine(sources);
    ast::Context context;
    const ast::File file = parse::parseFile(id, sources, context, engine, {isEntry});
    std::string out;
    llvm::raw_string_ostream stream(out);
    ast::print(stream, file);
    if (const ast::FunctionItem* main = parse::makeImplicitMain(file, context)) {
      ast::Cloner cloner(context);
      if (printed(cloner.clone(main->body)) != printed(main->body))
        abort();
    }
  }
  Engine engine(sources);
  ast::Context context;
  printed(parse::parseExpressionText(id, sources, context, engine));
  const bool hadErrors = engine.hasErrors();
  if (!parse::parseSignature(id, 0, sources.file(id).size(), sources, context, engine) &&
      !engine.hasErrors() && !hadErrors)
    abort(); // refused without a word
  return 0;
}
