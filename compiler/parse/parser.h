#pragma once
// The one Parser class: recursive descent over a flat token buffer, precedence climbing for binary
// operators. A chapter of grammar has a file of its own: items, uses, attributes, statements,
// expressions, primaries, control, patterns, types, templates; recovery has one too.

#include "compiler/ast/ast.h"
#include "compiler/lex/lexer.h"
#include "compiler/parse/grammar.h"
#include "compiler/parse/parse.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>

namespace gos::parse {

using ast::Expr;
using ast::Pattern;
using ast::Stmt;
using ast::TypeNode;
using lex::Token;
using lex::TokenKind;
using lex::Word;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;
using llvm::StringRef;

class Parser {
public:
  Parser(const SourceFile& file, FileId id, ast::Context& context, Engine& engine,
         lex::TokenBuffer tokens);

  ast::File parseFile(ParseOptions options);
  void begin(ParseOptions options);
  bool atEnd() const { return at_ == last_; }
  ArrayRef<ast::Attribute> parseInnerAttributes();
  void parsePiece(ast::Item*& item, Stmt*& statement);
  /// What can be said only of all pieces.
  void finishPieces();
  Expr* parseWholeExpression();
  ast::FunctionItem* parseSignature();

private:
  // ---- tokens (parser.cpp) ------------------------------------------------------------------
  TokenKind kind() const { return at_->kind; }
  TokenKind peek(unsigned ahead = 1) const { return at_[at_ + ahead <= last_ ? ahead : 0].kind; }
  bool at(TokenKind wanted) const { return at_->kind == wanted; }
  bool atWord(Word word) const { return at_->word == word; }
  void advance() {
    previousEnd_ = at_->end;
    if (at_ != last_)
      ++at_;
  }
  bool accept(TokenKind wanted) {
    if (!at(wanted))
      return false;
    advance();
    return true;
  }
  /// Reports what was expected when the token is another one.
  bool expect(TokenKind wanted, StringRef what);
  StringRef text(const Token& token) const {
    return {start_ + (token.begin - file_.base), token.end - token.begin};
  }
  StringRef text(Span span) const {
    return {start_ + (span.begin - file_.base), span.end - span.begin};
  }
  ast::Name name(const Token& token) { return context_.names.intern(text(token)); }
  ast::Ident ident(const Token& token) { return {name(token), token.span()}; }
  /// An identifier, consumed; an empty one after a report. `_` is none.
  ast::Ident expectIdent(StringRef what);
  Span from(uint32_t begin) const {
    return {begin, previousEnd_ > begin ? previousEnd_ : begin + 1};
  }
  Span from(Span begin) const { return from(begin.begin); }

  // ---- reports and recovery (recovery.cpp) -----------------------------------------------------
  /// A structural mistake: nothing more is reported until the parser has found its feet again.
  template <class... Args>
  Diagnostic& fail(Span span, Diag<Args...> diag, std::type_identity_t<Args>... args) {
    if (panic_)
      return ignored();
    panic_ = true;
    ++failures_;
    return engine_.report(span, diag, args...);
  }
  /// A mistake that does not disturb the structure.
  template <class... Args>
  Diagnostic& complain(Span span, Diag<Args...> diag, std::type_identity_t<Args>... args) {
    return panic_ ? ignored() : engine_.report(span, diag, args...);
  }
  Diagnostic& failExpected(StringRef what);
  Diagnostic& ignored() {
    ignored_ = Diagnostic{};
    return ignored_;
  }
  /// "`foo`", "integer `3`", "the end of the file".
  std::string found(const Token& token) const;
  bool closedInsideMalformed(const Token& opener) const;
  void failUnclosed(const Token& opener);
  void calm() { panic_ = gaveUp_; }
  /// The nesting limit: one report, and the rest of the file is not looked at.
  void tooDeep();
  void skipBalanced();
  void recoverStatement(const Token* start);
  bool recoverList(TokenKind close, const Token& opener, const Token* start);
  /// Skips the bracketed group that begins at the current token.
  void skipGroup();
  static bool beginsItemLine(const Token& token);
  static bool isCloser(TokenKind kind) {
    return kind == TokenKind::RightParen || kind == TokenKind::RightBracket ||
           kind == TokenKind::RightBrace;
  }
  static bool isOpener(TokenKind kind) {
    return kind == TokenKind::LeftParen || kind == TokenKind::LeftBracket ||
           kind == TokenKind::LeftBrace;
  }
  /// The token that closes the bracket at `open`; null if none.
  const Token* matching(const Token* open);
  void matchBrackets();

  /// Elements separated by commas or newlines up to `close`; the opener is already consumed.
  template <class Element> bool parseList(TokenKind close, const Token& opener, Element element) {
    for (;;) {
      if (accept(close))
        return true;
      if (atEnd() || isCloser(kind()) || beginsItemLine(*at_)) {
        failUnclosed(opener);
        return false;
      }
      const Token* start = at_;
      element();
      if (panic_) {
        if (!recoverList(close, opener, start))
          return false;
        continue;
      }
      if (accept(TokenKind::Comma) || at(close))
        continue;
      if (at_->newlineBefore && at_ != start)
        continue;
      if (atEnd() || isCloser(kind())) {
        failUnclosed(opener);
        return false;
      }
      failSeparator(close);
      if (!recoverList(close, opener, start))
        return false;
    }
  }
  void failSeparator(TokenKind close);

  // ---- limits -------------------------------------------------------------------------------
  struct Nest {
    explicit Nest(Parser& p) : parser(p), ok(++p.depth_ <= kMaxNesting) {
      if (!ok)
        p.tooDeep();
    }
    ~Nest() { --parser.depth_; }
    Nest(const Nest&) = delete;
    Parser& parser;
    bool ok;
  };
  /// Measures the height of the tree that is built while it lives.
  struct Height {
    explicit Height(Parser& p) : parser(p), outer(p.tallest_) { p.tallest_ = 0; }
    ~Height() {
      if (++parser.tallest_ > kMaxTreeHeight)
        parser.tooDeep();
      if (parser.tallest_ < outer)
        parser.tallest_ = outer;
    }
    Height(const Height&) = delete;
    Parser& parser;
    unsigned outer;
  };
  struct ModeScope {
    ModeScope(Parser& p, Mode mode) : parser(p), outer(p.mode_) { p.mode_ = mode; }
    ~ModeScope() { parser.mode_ = outer; }
    ModeScope(const ModeScope&) = delete;
    Parser& parser;
    Mode outer;
  };

  // ---- items (items.cpp, uses.cpp, attributes.cpp) ---------------------------------------------
  using Items = SmallVectorImpl<ast::Item*>;
  bool atItem() const { return beginsItem(at_); }
  bool atAttribute();
  ast::Item* parseItem();
  ast::Item* parseItemKind(ArrayRef<ast::Attribute> attributes, ast::Visibility visibility,
                           uint32_t begin);
  template <class Node> Node* finishItem(Node* item, uint32_t begin) {
    item->span = from(begin);
    return item;
  }
  void parseModuleBody(ast::ModuleItem* module, const Token& opener);
  void endItem(const Token* start);
  ast::FunctionItem* parseFunction();
  void parseFunctionSignature(ast::FunctionItem* function);
  void parseParameters(ast::FunctionItem* function);
  bool parseSelfParameter(ast::FunctionItem* function, ast::FunctionParameter& parameter);
  void parseParameter(ast::FunctionParameter& parameter);
  Expr* parseDefault(ast::FunctionParameter& parameter);
  bool parseHeader(ast::Item* item, StringRef what, ast::Generics& generics);
  template <class Node> ast::Item* parseTypedValue(Node* item, StringRef what, bool mayLackValue);
  ast::Item* parseStruct();
  ast::Item* parseEnum();
  ast::Item* parseTrait();
  ast::Item* parseImpl();
  ast::Item* parseAlias(bool isMember);
  ast::Item* parseNewtype();
  ast::Item* parseConst(bool isMember);
  ast::Item* parseStatic();
  ast::Item* parseMod();
  ast::Item* parseExtern();
  ast::Item* parseUse();
  void parseUseGroup(SmallVectorImpl<ast::Ident>& prefix, const ast::UseLeaf& shared,
                     SmallVectorImpl<ast::UseLeaf>& leaves);
  void parseUseTree(SmallVectorImpl<ast::Ident>& prefix, const ast::UseLeaf& shared,
                    SmallVectorImpl<ast::UseLeaf>& leaves, bool isRoot);
  ArrayRef<ast::Item*> parseMembers(bool isTrait);
  ArrayRef<ast::FieldDecl> parseNamedFields();
  ArrayRef<ast::FieldDecl> parseTupleFields(bool withVisibility);
  void parseGenerics(ast::Generics& generics);
  void parseWhere(ast::Generics& generics);
  ArrayRef<ast::TypeBound> parseBounds();
  ast::Visibility parseVisibility();
  ArrayRef<ast::Attribute> parseAttributes();
  bool parseAttribute(ast::Attribute& attribute);
  bool cfgHolds(ArrayRef<ast::Attribute> attributes);
  bool cfgPredicateHolds(const lex::TokenBuffer& tokens, size_t& at, Span whole, unsigned depth);
  Span documentationAbove(uint32_t begin) const;

  // ---- statements (statements.cpp) ----------------------------------------------------------
  ast::BlockExpr* parseBlock();
  /// Statements up to `}` or the end of the file.
  void parseStatements(SmallVectorImpl<Stmt*>& statements, bool& hasItems, Expr** tail);
  Stmt* parseStatement(bool& endsWithBlock);
  Stmt* parseLet();
  Expr* parseStatementExpr(bool& endsWithBlock, bool allowTargets);
  Expr* parseAssignment(Expr* first, bool allowTargets);
  void endStatement(const Token* start, bool endsWithBlock);
  Expr* parseAssignTarget();

  // ---- expressions (expressions.cpp) --------------------------------------------------------
  /// An expression of any level; an assignment in it is GP0008.
  Expr* parseExpr();
  Expr* parseExprIn(Mode mode) {
    ModeScope scope(*this, mode);
    return parseExpr();
  }
  Expr* parsePipe() { return pipeFrom(parseRange()); }
  Expr* pipeFrom(Expr* left);
  Expr* checkPipeStep(Expr* step);
  Expr* parseRange();
  Expr* rangeFrom(Expr* left);
  Expr* parseRangeEnd(uint32_t begin, Expr* low);
  Expr* parseBinary(unsigned minimum);
  Expr* binaryFrom(Expr* left, unsigned minimum, unsigned height);
  Expr* parseUnary() { return castFrom(parsePrefix()); }
  Expr* castFrom(Expr* operand);
  Expr* parsePrefix();
  Expr* postfixFrom(Expr* operand);
  Expr* parseMember(Expr* object);
  ArrayRef<ast::Argument> parseArguments();
  bool canStartExpr() const { return beginsExpression(at_); }
  Expr* errorExpr() { return context_.make<ast::ErrorExpr>(at_->span()); }
  Expr* errorExpr(Span span) { return context_.make<ast::ErrorExpr>(span); }

  // ---- primaries (primaries.cpp) ------------------------------------------------------------
  Expr* parsePrimary();
  Expr* parseIdentifier();
  Expr* parsePathOrStruct();
  void parsePathSegments(ast::Path& path, SmallVectorImpl<ast::PathSegment>& segments);
  bool structLiteralFollows(const ast::Path& path);
  Expr* parseStructLiteral(const ast::Path& path);
  Expr* parseQualifiedPath();
  Expr* parseParen();
  Expr* parseArray(bool isVec, uint32_t begin);
  Expr* parseSet(uint32_t begin);
  Expr* parseBrace();
  bool braceIsMap();
  Expr* parseMap();
  Expr* parseLiteral();
  Expr* parseNumber(const Token& token);
  Expr* parseString(const Token& token);
  Expr* parseForeignMacro();
  Expr* parseRemovedCollection();
  bool isKnownCall(ast::Name name, ast::KnownCall& which);
  Expr* makeName(const Token& token);
  Expr* makeName(ast::Ident ident);

  // ---- control flow (control.cpp) -----------------------------------------------------------
  Expr* parseIf();
  ArrayRef<Expr*> parseConditions(StringRef what);
  Expr* parseMatch();
  void parseArm(SmallVectorImpl<ast::MatchArm>& arms, bool& needsSeparator);
  Expr* parseLoopForm(ast::Ident label, uint32_t begin);
  Expr* parseLabelled();
  Expr* parseClosure();
  Expr* parseReturn();
  Expr* parseBreak();
  Expr* parseContinue();
  Expr* parseComptime();
  Expr* parseUnsafe();
  Expr* parseUnbuiltBlock(StringRef feature);
  bool valueFollows() const;

  // ---- goroutines (concurrency.cpp) -----------------------------------------------------------
  struct SelectArm;
  Expr* parseCohort();
  Expr* settingValue(const ast::Argument& argument);
  Expr* parseSelect();
  void parseSelectArm(SmallVectorImpl<SelectArm>& arms);
  bool spawnsWithoutParentheses() const;
  void checkSpawn();
  Expr* makeLibraryPath(StringRef module, StringRef name, Span span);
  Expr* makeLibraryCall(StringRef module, StringRef name, ArrayRef<Expr*> values, Span span);
  ast::Stmt* makeStatement(Expr* expr);
  ast::Stmt* makeLet(ast::Ident name, Expr* value, bool isMutable);

  // ---- templates (templates.cpp) ------------------------------------------------------------
  Expr* parseKnownCall(const Token& nameToken, ast::KnownCall which);
  Expr* parseFString(const Token& token);
  Expr* parsePlaceholderExpr(Span span);
  /// Cuts a literal template; the values of `{}` come from `arguments`.
  ArrayRef<ast::FormatPiece> cutTemplate(const Token& literal, ArrayRef<Expr*> arguments);
  Expr* parsePlaceholderName(StringRef words, uint32_t begin, StringRef whole, Span wholeSpan);
  bool parseSpec(StringRef spec, Span span, StringRef whole, ast::FormatSpec& out);
  Expr* formatCallOf(const Token& callee, ArrayRef<ast::Argument> arguments, const Token* literal);
  static bool isTemplateLiteral(TokenKind kind) {
    return kind == TokenKind::String || kind == TokenKind::RawString ||
           kind == TokenKind::TripleString;
  }

  // ---- patterns (patterns.cpp) --------------------------------------------------------------
  Pattern* parsePattern();
  Pattern* parsePatternAlternative();
  Pattern* parsePatternInner();
  Pattern* parseBinding(bool isMutable, uint32_t begin);
  Pattern* parsePathPattern();
  Pattern* parseStructPattern(const ast::Path& path);
  Pattern* parseParenPattern();
  Pattern* parseSlicePattern();
  Pattern* parseRangePattern(Expr* low, uint32_t begin);
  Expr* parsePatternBound(bool& isNegative);
  void parsePatternList(TokenKind close, const Token& opener, SmallVectorImpl<Pattern*>& patterns,
                        bool allowRestName);
  bool isIntLimit(const ast::Path& path) const;
  ast::BindingPattern* makeBinding(ast::Ident ident, bool isMutable, uint32_t begin);
  Pattern* errorPattern() { return context_.make<ast::ErrorPattern>(at_->span()); }

  // ---- types (types.cpp) --------------------------------------------------------------------
  TypeNode* parseType();
  TypeNode* parseTypeInner();
  TypeNode* parsePathType();
  TypeNode* parseFnType(uint32_t begin);
  TypeNode* parseParenType();
  TypeNode* parseBracketType();
  bool parseTypePath(ast::Path& path);
  void parseGenericArgs(SmallVectorImpl<ast::GenericArg>& args);
  bool atAngleClose() const;
  bool closeAngle(const Token& opener);
  bool canStartType() const;
  TypeNode* errorType() { return context_.make<ast::ErrorTypeNode>(at_->span()); }

  template <class T> ArrayRef<T> list(const SmallVectorImpl<T>& items) {
    return context_.list(ArrayRef<T>(items.data(), items.size()));
  }

  const SourceFile& file_;
  FileId id_;
  ast::Context& context_;
  Engine& engine_;
  const char* start_;
  lex::TokenBuffer tokens_;
  Token* at_;
  Token* last_; // the first EndOfFile
  uint32_t previousEnd_ = 0;
  Mode mode_;
  const Token* branchBody_ = nullptr; // where `{}` is an empty block, not an empty map
  unsigned depth_ = 0;
  unsigned tallest_ = 0;
  bool panic_ = false;
  bool gaveUp_ = false;
  bool isEntry_ = false;
  bool isTest_ = false;
  bool maySpawn_ = true; // inside a cohort, or in `main`
  unsigned functionDepth_ = 0;
  bool keepsAll_ = false;
  bool isSignature_ = false; // of the library's table: parameters may have no names
  bool saidNotEntry_ = false;
  Span firstStatement_;   // of the outermost level
  Span mainName_;         // of `fn main`
  unsigned failures_ = 0; // structural mistakes so far
  Diagnostic ignored_;
  std::vector<uint32_t> closers_; // by index: the closer of an opener; made when first asked for
  llvm::DenseSet<const Token*> notAttributes_;
  /// The interned known calls, made when the first call is seen.
  SmallVector<ast::Name, 16> knownCalls_;
};

} // namespace gos::parse
