#pragma once
// Tokens to trees. The parser recovers from every mistake, so the answer is always a whole tree;
// what could not be understood is an Error node, and the engine holds the reports.

#include "compiler/ast/ast.h"
#include "compiler/lex/lexer.h"
#include "diagnostics/engine.h"
#include "diagnostics/source_map.h"

#include <memory>
#include <optional>

namespace gos::parse {

/// Levels of brackets, blocks, types and patterns inside each other (GP0017).
inline constexpr unsigned kMaxNesting = 256;
/// The height of an expression tree, chains such as `a + b + c` and `else if` included (GP0017).
/// Phases that walk the tree by recursion may rely on it.
inline constexpr unsigned kMaxTreeHeight = 1000;

struct ParseOptions {
  bool isEntry = false;  // bare statements are allowed
  bool isTest = false;   // `#[cfg(test)]` holds
  bool keepsAll = false; // items whose `cfg` does not hold are kept too, for who looks at the text
};

/// Parses a file. An item whose `#[cfg(..)]` does not hold is left out. Statements of an entry file
/// are in File::statements; see makeImplicitMain.
ast::File parseFile(FileId file, const SourceMap& sources, ast::Context& context, Engine& engine,
                    ParseOptions options);

class Parser;

/// Parses a file piece by piece, for who needs no tree of the whole: each item or statement of the
/// outermost level is gone when the next one is asked for. It reports as parseFile does.
class PieceParser {
public:
  struct Piece {
    const ast::Item* item = nullptr; // at most one of the two
    const ast::Stmt* statement = nullptr;
  };

  /// The tokens are those of lexFile. The context is the parser's alone.
  PieceParser(FileId file, const SourceMap& sources, lex::TokenBuffer tokens, ast::Context& context,
              Engine& engine, ParseOptions options);
  ~PieceParser();

  /// The next piece, an empty one for what was left out; nothing at the end.
  std::optional<Piece> next();

private:
  ast::Context& context_;
  std::unique_ptr<Parser> parser_;
};

/// The `fn main` that the bare statements of an entry file form; null when there are none.
/// It is not in File::module's items: the caller adds it.
ast::FunctionItem* makeImplicitMain(const ast::File& file, ast::Context& context);

/// Parses a file whose whole text is one expression, such as what `codegen!` splices.
ast::Expr* parseExpressionText(FileId file, const SourceMap& sources, ast::Context& context,
                               Engine& engine);

/// Parses a signature of the library's table in the bytes [begin, end) of a file (offsets in the
/// file): `fn<T>(self: &mut Vec<T>, value: T) -> Option<T>`, without name and body. Receivers may
/// also be written `&self`. Null when the text is malformed; then the engine has a report.
ast::FunctionItem* parseSignature(FileId file, uint32_t begin, uint32_t end,
                                  const SourceMap& sources, ast::Context& context, Engine& engine);

} // namespace gos::parse
