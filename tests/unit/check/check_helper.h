#pragma once
// Checks a text as the entry file of a package and answers the codes of what was reported, in
// order.

#include "compiler/check/check.h"
#include "compiler/parse/parse.h"
#include "diagnostics/render.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

namespace gos::test {

struct Checked {
  ast::Context context;
  SourceMap sources;
  Engine engine{sources};
  std::unique_ptr<check::ProgramInput> input;
  check::Program program;

  std::string codes() const {
    std::string text;
    for (const Diagnostic& diagnostic : engine.diagnostics())
      text += (text.empty() ? "" : " ") + spelling(diagnostic.code).str();
    return text;
  }
  /// The reports as text, for a failing test to show.
  std::string report() const {
    std::string text;
    llvm::raw_string_ostream out(text);
    renderAll(out, engine, MessageFormat::Text, Colour::Off);
    return text;
  }
};

using Modules = std::initializer_list<std::pair<const char*, const char*>>; // "deep::nest" -> text

inline std::unique_ptr<Checked> checkProgram(llvm::StringRef entry, Modules modules = {}) {
  auto checked = std::make_unique<Checked>();
  checked->input = std::make_unique<check::ProgramInput>(checked->context, checked->sources,
                                                         &check::standardLibrary());
  resolve::Package package;
  package.name = "app";
  auto add = [&](llvm::StringRef path, llvm::StringRef text) {
    FileId file = llvm::cantFail(
        checked->sources.addCopy((path.empty() ? "main" : path.str()) + ".gos", text));
    checked->sources.file(file).package = 1;
    resolve::SourceModule module;
    llvm::SmallVector<llvm::StringRef, 4> segments;
    if (!path.empty())
      path.split(segments, "::");
    for (llvm::StringRef segment : segments)
      module.path.push_back(segment.str());
    module.file = parse::parseFile(file, checked->sources, checked->context, checked->engine,
                                   {.isEntry = path.empty()});
    package.modules.push_back(std::move(module));
  };
  add("", entry);
  for (auto& [path, text] : modules)
    add(path, text);
  checked->input->packages.push_back(std::move(package));
  checked->program = check::check(*checked->input, checked->engine);
  checked->engine.sort();
  return checked;
}

inline std::string codesOf(llvm::StringRef entry, Modules modules = {}) {
  auto checked = checkProgram(entry, modules);
  std::string codes = checked->codes();
  if (!codes.empty() && std::getenv("GOS_SHOW_REPORTS"))
    MESSAGE(checked->report());
  return codes;
}

/// The same for statements inside a function.
inline std::string codesIn(llvm::StringRef body) {
  return codesOf(("fn main() {\n" + body + "\n}\n").str());
}

} // namespace gos::test
