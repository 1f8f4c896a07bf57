#pragma once
// Parses a text and shows the tree, and the codes that were reported, as strings.

#include "compiler/ast/printer.h"
#include "compiler/parse/parse.h"

#include <doctest/doctest.h>

#include <string>

namespace gos::test {

struct Parsed {
  SourceMap sources;
  Engine engine{sources};
  ast::Context context;
  FileId id;
  ast::File file;

  explicit Parsed(llvm::StringRef text, bool isEntry = true)
      : id(llvm::cantFail(sources.addCopy("test.gos", text))) {
    file = parse::parseFile(id, sources, context, engine, {isEntry});
  }
  std::string codes() const {
    std::string out;
    for (const Diagnostic& diagnostic : engine.diagnostics())
      out += (out.empty() ? "" : " ") + spelling(diagnostic.code).str();
    return out;
  }
  /// Items, then statements, each followed by `;`.
  std::string tree() const {
    std::string out;
    llvm::raw_string_ostream stream(out);
    for (const ast::Item* item : file.module->items) {
      ast::print(stream, item);
      stream << "; ";
    }
    for (const ast::Stmt* statement : file.statements) {
      ast::print(stream, statement);
      stream << "; ";
    }
    if (!out.empty())
      out.resize(out.size() - 2);
    return out;
  }
};

/// The tree of an entry file that must have no mistakes.
inline std::string tree(llvm::StringRef text) {
  Parsed parsed(text);
  CHECK_MESSAGE(parsed.codes() == "", text.str());
  return parsed.tree();
}
/// The codes that an entry file gets.
inline std::string codes(llvm::StringRef text) {
  return Parsed(text).codes();
}
/// The codes that a file of another module gets.
inline std::string moduleCodes(llvm::StringRef text) {
  return Parsed(text, false).codes();
}

} // namespace gos::test
