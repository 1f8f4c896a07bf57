// gos doc: the documentation of a program or of the library, as text, Markdown or pages for a
// browser. Programs are parsed and no more: nothing of them is checked, folded or run.

#include "compiler/document/render.h"
#include "compiler/driver/command.h"
#include "compiler/driver/pipeline.h"
#include "diagnostics/escape.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <sys/ioctl.h>
#include <unistd.h>

namespace gos::driver {
namespace {

using document::Documentation;
using document::Found;

constexpr unsigned kPlainWidth = 80, kWidest = 110, kNarrowest = 40;

unsigned outputWidth() {
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return kPlainWidth;
  return std::clamp<unsigned>(size.ws_col, kNarrowest, kWidest);
}

int writePages(const Options& options, const Documentation& documentation) {
  const std::vector<document::Page> pages = document::renderSite(documentation);
  if (llvm::Error error = document::writeSite(options.docHtml, pages)) {
    llvm::errs() << "gos: error: " << escapeForText(llvm::toString(std::move(error))) << '\n';
    return kExitDiagnostics;
  }
  if (!options.quiet)
    llvm::errs() << "wrote " << documentation.modules.size()
                 << (documentation.modules.size() == 1 ? " module to " : " modules to ")
                 << escapeForText(options.docHtml) << "/index.html\n";
  return kExitClean;
}

int show(const Options& options, const Documentation& documentation, const Found& found,
         bool isList, bool isWhole = false) {
  if (!options.docHtml.empty())
    return writePages(options, documentation);
  if (options.docMarkdown) {
    document::renderMarkdown(llvm::outs(), documentation, found);
    return kExitClean;
  }
  document::TextOptions text;
  text.whole = isWhole;
  text.width = outputWidth();
  text.colour = colourFor(options.colour, STDOUT_FILENO);
  if (isList)
    document::renderModuleList(llvm::outs(), documentation, text);
  else
    document::renderText(llvm::outs(), documentation, found, text);
  return kExitClean;
}

int documentStandard(const Options& options, llvm::StringRef path) {
  Documentation library = document::documentLibrary();
  if (path == "std")
    return show(options, library, {}, /*isList=*/!options.docMarkdown);
  Found found = document::find(library, path);
  if (!found.module) {
    // A step of a longer path, such as `std::encoding`, stands for the modules beneath it.
    Documentation beneath;
    beneath.title = path.str();
    const std::string prefix = (path + "::").str();
    for (document::Module& module : library.modules)
      if (llvm::StringRef(module.path).starts_with(prefix))
        beneath.modules.push_back(std::move(module));
    if (!beneath.modules.empty())
      return show(options, beneath, {}, /*isList=*/!options.docMarkdown);
    llvm::errs() << "gos: error: the library has no " << quoted(path) << '\n';
    if (!found.nearest.empty())
      llvm::errs() << "  did you mean `" << found.nearest << "`?\n";
    else
      llvm::errs() << "  `gos doc std` lists its modules\n";
    return kExitDiagnostics;
  }
  if (!options.docHtml.empty()) {
    Documentation one;
    one.title = found.module->path;
    one.modules.push_back(*found.module);
    return writePages(options, one);
  }
  return show(options, library, found, false);
}

} // namespace

int runDoc(const Options& options) {
  const llvm::StringRef operand =
      options.operands.empty() ? llvm::StringRef(".") : options.operands[0];
  if (options.docMarkdown && !options.docHtml.empty()) {
    llvm::errs() << "gos: error: `--markdown` and `--html` are both given\n  give one of them\n";
    return kExitUsage;
  }
  if (operand == "std" || operand.starts_with("std::"))
    return documentStandard(options, operand);

  Compilation compilation(options);
  const bool parsed = compilation.open(operand) && compilation.addBindings();
  printDiagnostics(compilation.engine(), options);
  if (!parsed)
    return kExitDiagnostics;
  const resolve::Package& root = compilation.input().packages.front();
  std::vector<document::ParsedFile> files;
  bool isProgram = false;
  for (const resolve::SourceModule& module : root.modules) {
    files.push_back({llvm::join(module.path, "::"), &module.file});
    isProgram |= !module.file.statements.empty();
    if (module.path.empty())
      for (const ast::Item* item : module.file.module->items)
        isProgram |= llvm::isa<ast::FunctionItem>(item) && item->name.name &&
                     item->name.name.text() == "main";
  }
  Documentation documentation =
      document::documentPackage(root.name, files, compilation.sources(),
                                isProgram ? document::Take::All : document::Take::Reachable);
  // A library that is `pub` nowhere yet still has something to read.
  const bool isEmpty = llvm::all_of(
      documentation.modules, [](const document::Module& module) { return module.items.empty(); });
  if (isEmpty && !isProgram)
    documentation =
        document::documentPackage(root.name, files, compilation.sources(), document::Take::All);
  if (const bindings::Artifact* artifact = compilation.bindings()) {
    Documentation foreign = document::documentBindings(artifact->signatures);
    std::move(foreign.modules.begin(), foreign.modules.end(),
              std::back_inserter(documentation.modules));
    llvm::stable_sort(
        documentation.modules,
        [](const document::Module& a, const document::Module& b) { return a.path < b.path; });
  }
  return show(options, documentation, {}, false, /*isWhole=*/true);
}

} // namespace gos::driver
