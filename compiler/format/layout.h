#pragma once
// The layout of a file: reads the tokens as the parser does, and answers where each of them stands.
//
// The file is known to be well formed: the parser has read it. What this class meets and does not
// understand makes `failed()` true, and the caller leaves the file as it is.

#include "compiler/format/doc.h"
#include "compiler/format/trivia.h"
#include "compiler/parse/grammar.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace gos::format {

/// A part of an expression. `front` and `body` are set when the part may end a list of arguments
/// whose parentheses hug it: `doc` is `front` followed by `body`, a group or a choice.
struct Piece {
  Doc doc = nullptr;
  Doc front = nullptr;
  Doc body = nullptr;
  bool isCall = false;   // hugs only when it is alone
  bool isSimple = false; // short enough to stand several to a line
};

using parse::Mode;

class Layout {
public:
  Layout(const SourceFile& file, lex::TokenBuffer tokens);

  /// Prints the file piece by piece; what was made for one is gone when the next is read.
  void file(Printer& printer);
  bool failed() const { return failed_; }
  /// The most that the documents of a piece took, in bytes.
  size_t largestPiece() const { return largestPiece_; }

private:
  using Token = lex::Token;
  using TokenKind = lex::TokenKind;
  using Word = lex::Word;
  using Parts = llvm::SmallVector<Doc, 16>;

  struct ModeScope {
    ModeScope(Layout& layout, Mode mode) : layout_(layout), outer_(layout.mode_) {
      layout.mode_ = mode;
    }
    ~ModeScope() { layout_.mode_ = outer_; }
    ModeScope(const ModeScope&) = delete;
    Layout& layout_;
    Mode outer_;
  };

  enum class ListStyle : uint8_t {
    Lines,    // an element a line
    Rows,     // the rows of the source stay
    Tuple,    // an element a line, with commas
    Template, // a line for the first, as many as fit for the rest

  };
  enum class Padding : uint8_t { None, Space };

  // ---- tokens (layout.cpp) ------------------------------------------------------------------
  const Token& now() const { return tokens_[at_]; }
  const Token& peek(size_t ahead = 1) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  TokenKind kind() const { return now().kind; }
  bool at(TokenKind wanted) const { return now().kind == wanted; }
  bool atWord(Word word) const { return now().word == word; }
  bool atEnd() const { return at(TokenKind::EndOfFile); }
  const Token* place() const { return &tokens_[at_]; }
  const Token* lastToken() const { return &tokens_[tokens_.size() - lex::kEndPadding]; }
  llvm::StringRef textOf(const Token& token) const {
    return text_.substr(token.begin - base_, token.end - token.begin);
  }
  /// The token with what stands before it that nobody has printed yet.
  Doc take();
  Doc take(TokenKind wanted);
  /// The token in front of a space.
  Doc takeThenSpace();
  Doc text(llvm::StringRef text) { return docs_.text(text); }
  Doc fail();
  /// The token that closes the bracket at `open`.
  size_t matching(size_t open) const;
  /// Comments before the current token, as they stand inside a line.
  Doc gap();
  bool gapBreaks() const;
  /// Comments of the gap that end the line of the token before.
  Doc trailingComments();
  /// A newline, then the other comments of the gap, each on its line.
  void lineTo(Parts& parts, bool mayBeBlank);
  /// As lineTo, where a line may also stay flat when there are no comments.
  void softLineTo(Parts& parts, llvm::StringRef flat, bool mayBeBlank, bool keepsComma = false);
  /// Behind an element: the comments in front of its comma, and the comma itself, which is printed
  /// where the list says.
  bool skipComma(Parts& parts);
  /// Behind a word of the grammar that may stand here, and a space: `as T`, `= value`, `-> T`.
  void spaced(Parts& parts) {
    parts.push_back(text(" "));
    parts.push_back(takeThenSpace());
  }
  /// `: T`, where it stands.
  void typeAnnotation(Parts& parts);
  /// `as name`, where it stands.
  void alias(Parts& parts);
  /// A space where two `&` would be another token, and `mut`.
  void behindAmpersand(Parts& parts);
  static Piece plain(Doc doc) {
    Piece piece;
    piece.doc = doc;
    return piece;
  }

  /// A bracketed list; the current token is its opener.
  Piece list(TokenKind close, ListStyle style, Padding padding, llvm::function_ref<Piece()> element,
             Mode mode = {});
  bool isListBreak(size_t token) const;

  // ---- items (layout_items.cpp) -------------------------------------------------------------
  bool atItem() const { return parse::beginsItem(place()); }
  bool atAttribute();
  Doc attribute();
  Doc attributes(bool ownLines);
  Doc visibility();
  Doc item();
  Doc itemKind();
  Doc function();
  Doc parameter();
  Doc structItem();
  Doc enumItem();
  Doc variant();
  Doc field();
  Doc members();
  Doc use();
  Doc useTree();
  Doc generics();
  Doc bounds();
  Doc where();

  // ---- statements (layout_statements.cpp) ---------------------------------------------------
  void fileStatements(Printer& printer);
  Piece block();
  /// The braces and what is in them, without a group of its own.
  Doc blockContents(bool& forced);
  Doc statement(bool& endsWithBlock);
  Piece statementExpression(bool& endsWithBlock, bool allowTargets);
  Doc let();
  bool braceIsMap() const;

  // ---- expressions (layout_expressions.cpp) -------------------------------------------------
  Piece expression();
  Piece expressionIn(Mode mode) {
    ModeScope scope(*this, mode);
    return expression();
  }
  Piece pipeFrom(Piece left);
  Piece range();
  Piece rangeFrom(Piece left);
  Piece rangeEnd(Doc low);
  Piece binary(unsigned minimum);
  Piece binaryFrom(Piece left, unsigned minimum);
  Piece unary();
  Piece castFrom(Piece operand);
  Piece prefix();
  Piece postfixFrom(Piece operand);
  Piece arguments(ListStyle style);
  Piece primary();
  Piece identifier();
  Piece path();
  Piece parenthesised();
  Piece collection(Doc mark);

  // ---- control flow (layout_control.cpp) ----------------------------------------------------
  Piece ifChain();
  Doc conditions();
  Piece match();
  Piece select();
  Piece cohort();
  void arms(Piece& piece, bool isSelect);
  Doc arm();
  Doc selectArm();
  Piece loop();
  Piece closure();
  bool valueFollows() const;
  Piece jump();

  // ---- patterns and types (layout_types.cpp) ------------------------------------------------
  Doc pattern();
  Doc patternAlternative();
  Doc patternBound();
  Doc patternPath();
  Doc type();
  Doc typePath();
  Doc genericArguments();
  bool atAngleClose() const;
  Doc closeAngle();

  DocBuilder docs_;
  llvm::StringRef text_;
  uint32_t base_;
  lex::TokenBuffer tokens_;
  Trivia trivia_;
  std::vector<uint32_t> closers_; // of each opening bracket; 0 for other tokens
  size_t at_ = 0;
  size_t gapDone_ = SIZE_MAX; // the token whose gap is printed already
  Mode mode_;
  size_t branchBody_ = SIZE_MAX; // a `{` here is a block, even an empty one
  llvm::DenseSet<size_t> notAttributes_;
  size_t largestPiece_ = 0;
  bool failed_ = false;
};

} // namespace gos::format
