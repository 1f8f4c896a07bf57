// Operands: which form begins here; names, paths, struct literals, and spellings of other
// languages.

#include "compiler/parse/parser.h"

namespace gos::parse {

Expr* Parser::parsePrimary() {
  if (has(kind(), TokenTrait::Literal))
    return parseLiteral();
  switch (kind()) {
  case TokenKind::Identifier:
    return parseIdentifier();
  case TokenKind::SelfValue:
  case TokenKind::SelfType:
  case TokenKind::Super:
  case TokenKind::Crate:
    return parsePathOrStruct();
  case TokenKind::LeftParen:
    return parseParen();
  case TokenKind::LeftBracket:
    return parseArray(false, at_->begin);
  case TokenKind::LeftBrace:
    return parseBrace();
  case TokenKind::Hash: {
    const uint32_t begin = at_->begin;
    if (peek() == TokenKind::LeftBracket) {
      advance();
      return parseArray(true, begin);
    }
    if (peek() == TokenKind::LeftBrace) {
      advance();
      return parseSet(begin);
    }
    break;
  }
  case TokenKind::If:
    return parseIf();
  case TokenKind::Match:
    return parseMatch();
  case TokenKind::While:
  case TokenKind::Loop:
  case TokenKind::For:
    return parseLoopForm({}, at_->begin);
  case TokenKind::Label:
    return parseLabelled();
  case TokenKind::Pipe:
  case TokenKind::PipePipe:
    return parseClosure();
  case TokenKind::Return:
    return parseReturn();
  case TokenKind::Break:
    return parseBreak();
  case TokenKind::Continue:
    return parseContinue();
  case TokenKind::Unsafe:
    return parseUnsafe();
  case TokenKind::Less:
    if (peek() == TokenKind::LeftBracket && at_[1].touchesPrevious)
      return parseRemovedCollection();
    return parseQualifiedPath();
  case TokenKind::Caret:
    if (peek() == TokenKind::LeftBracket && at_[1].touchesPrevious)
      return parseRemovedCollection();
    break;
  case TokenKind::Error: {
    // Reported by the lexer; it stands for an operand.
    Expr* error = errorExpr();
    advance();
    return error;
  }
  case TokenKind::Async:
    fail(at_->span(), diag::DeclinedFeature, "async", "every function may block");
    return errorExpr();
  case TokenKind::Await:
    fail(at_->span(), diag::DeclinedFeature, "await", "a call waits by itself");
    return errorExpr();
  case TokenKind::Yield:
    fail(at_->span(), diag::DeclinedFeature, "yield", "implement `Iterator`");
    return errorExpr();
  default:
    break;
  }
  failExpected("an expression");
  return errorExpr();
}

Expr* Parser::makeName(ast::Ident ident) {
  auto* path = context_.make<ast::PathExpr>(ident.span);
  path->path.span = ident.span;
  ast::PathSegment segment;
  segment.ident = ident;
  path->path.segments = context_.list(ArrayRef(segment));
  return path;
}

Expr* Parser::makeName(const Token& token) {
  return makeName(ident(token));
}

static constexpr StringRef kKnownCallSpellings[] = {
#define GOS_KNOWN_CALL(name, spelling) spelling,
#include "compiler/ast/known_calls.def"
};

bool Parser::isKnownCall(ast::Name name, ast::KnownCall& which) {
  if (knownCalls_.empty())
    for (StringRef spelling : kKnownCallSpellings)
      knownCalls_.push_back(context_.names.intern(spelling));
  for (size_t i = 0; i < knownCalls_.size(); ++i)
    if (knownCalls_[i] == name) {
      which = ast::KnownCall(i);
      return true;
    }
  return false;
}

/// A name, and what only looks like one: contextual words, calls with `!`, known calls.
Expr* Parser::parseIdentifier() {
  const Token& token = *at_;
  const Token& next = at_[1];
  if (token.word != Word::None) {
    switch (token.word) {
    case Word::Comptime:
      if (next.kind == TokenKind::LeftBrace && !mode_.isHead)
        return parseComptime();
      break;
    case Word::Select:
      if (next.kind == TokenKind::LeftBrace && !mode_.isHead)
        return parseSelect();
      break;
    case Word::Cohort:
      if (mode_.isHead)
        break;
      if (next.kind == TokenKind::LeftBrace)
        return parseCohort();
      if (next.kind == TokenKind::LeftParen && !next.newlineBefore)
        if (const Token* close = matching(&next);
            close && close[1].kind == TokenKind::LeftBrace && !close[1].newlineBefore)
          return parseCohort();
      break;
    case Word::Spawn:
      if (spawnsWithoutParentheses()) {
        fail(token.span(), diag::DeclinedFeature, "spawn without parentheses",
             "write `spawn(|| ..)`");
        return errorExpr();
      }
      checkSpawn();
      break;
    case Word::Move:
      if (next.kind == TokenKind::Pipe || next.kind == TokenKind::PipePipe) {
        complain(token.span(), diag::DeclinedFeature, "move", "closures capture by type");
        advance();
        return parseClosure();
      }
      break;
    case Word::MacroRules:
      if (next.kind == TokenKind::Bang) {
        fail(token.span(), diag::DeclinedFeature, "macro_rules",
             "write a `comptime fn` and `codegen!`");
        return errorExpr();
      }
      break;
    case Word::Underscore:
      if (next.kind == TokenKind::LeftBracket && next.touchesPrevious)
        return parseRemovedCollection();
      failExpected("an expression");
      return errorExpr();
    default:
      break;
    }
  }
  const bool bangFollows = next.kind == TokenKind::Bang && !next.newlineBefore;
  if (bangFollows || (next.kind == TokenKind::LeftParen && !next.newlineBefore)) {
    ast::KnownCall which;
    const bool isKnown = isKnownCall(name(token), which);
    const bool isOpen = !bangFollows || at_[2].kind == TokenKind::LeftParen;
    if (isKnown && isOpen)
      return parseKnownCall(token, which);
    if (isKnown && bangFollows && mode_.isPipeStep) {
      Expr* step = makeName(token); // `x |> println!`
      advance();
      advance();
      return step;
    }
    if (bangFollows && next.touchesPrevious && isOpener(at_[2].kind))
      return parseForeignMacro();
  }
  return parsePathOrStruct();
}

/// `name!(..)` where the name is none of the known calls.
Expr* Parser::parseForeignMacro() {
  const Token nameToken = *at_;
  const std::string word = text(nameToken).str();
  const Span span{nameToken.begin, at_[1].end};
  if (nameToken.word == Word::Regex || nameToken.word == Word::Sql) {
    complain(span, diag::BangAfterCheckedCall, word)
        .note("`" + word + "` is a module of the library, which is not supported yet");
  } else {
    Diagnostic& report = complain(at_[1].span(), diag::UnexpectedToken, "an ordinary call",
                                  "`!` after `" + word + "`");
    const StringRef near = nearest(word, kKnownCallSpellings);
    if (word == "vec")
      report.help("write `#[..]`");
    else if (word == "assert" || word == "assert_eq" || word == "assert_ne")
      report.help("`" + word + "` is a function; call it without `!`");
    else if (!near.empty())
      report.suggest(nameToken.span(), near.str(), "did you mean");
  }
  advance();
  advance();
  skipGroup();
  return errorExpr(from(nameToken.begin));
}

/// `<[..]>`, `^[..]`, `_[..]`.
Expr* Parser::parseRemovedCollection() {
  const Token opener = *at_;
  const std::string spelling = (text(opener) + "[").str();
  const Span span{opener.begin, at_[1].end};
  const StringRef instead = opener.kind == TokenKind::Less    ? "#["
                            : opener.kind == TokenKind::Caret ? "#{"
                                                              : "#[";
  complain(span, diag::RemovedCollectionLiteral, spelling, instead);
  advance();
  skipGroup();
  if (opener.kind == TokenKind::Less && at(TokenKind::Greater))
    advance();
  return errorExpr(from(opener.begin));
}

// PathSeg = ( Ident | "self" | "Self" | "super" | "crate" ) [ "::" "<" GArg { SEP GArg } ">" ]
void Parser::parsePathSegments(ast::Path& path, SmallVectorImpl<ast::PathSegment>& segments) {
  const uint32_t begin = path.qualifier ? path.qualifier->span.begin - 1 : at_->begin;
  for (;;) {
    const bool isName = (at(TokenKind::Identifier) && !atWord(Word::Underscore)) ||
                        at(TokenKind::SelfValue) || at(TokenKind::SelfType) ||
                        at(TokenKind::Super) || at(TokenKind::Crate);
    if (!isName) {
      failExpected("a name");
      break;
    }
    ast::PathSegment segment;
    segment.ident = ident(*at_);
    advance();
    const bool turbofish = at(TokenKind::ColonColon) && peek() == TokenKind::Less;
    if (turbofish ||
        (at(TokenKind::Less) && !at_->newlineBefore && bareGenericsFollow(at_, last_, mode_))) {
      if (turbofish)
        advance();
      segment.hasArgs = true;
      SmallVector<ast::GenericArg, 2> args;
      parseGenericArgs(args);
      segment.args = list(args);
    }
    segments.push_back(segment);
    if (panic_ || !at(TokenKind::ColonColon) || at_->newlineBefore)
      break;
    advance();
  }
  path.segments = list(segments);
  path.span = from(begin);
}

// StructLit = PathExpr "{" [ FieldInit { SEP FieldInit } [ "," ] ] "}"
Expr* Parser::parsePathOrStruct() {
  // Most names are one word.
  const TokenKind next = peek();
  if (next != TokenKind::ColonColon && next != TokenKind::Less && next != TokenKind::LeftBrace) {
    Expr* expr = makeName(*at_);
    advance();
    return expr;
  }
  ast::Path path;
  SmallVector<ast::PathSegment, 4> segments;
  parsePathSegments(path, segments);
  if (!panic_ && at(TokenKind::LeftBrace) && structLiteralFollows(path))
    return parseStructLiteral(path);
  auto* expr = context_.make<ast::PathExpr>(path.span);
  expr->path = path;
  return expr;
}

Expr* Parser::parseQualifiedPath() {
  const Token opener = *at_;
  Nest nest(*this);
  if (!nest.ok)
    return errorExpr();
  advance();
  ast::Path path;
  path.qualifier = parseType();
  if (!panic_ && at(TokenKind::As))
    fail(at_->span(), diag::DeclinedFeature, "<T as Trait>::", "write `T::`");
  if (!panic_ && closeAngle(opener) && expect(TokenKind::ColonColon, "`::`")) {
    SmallVector<ast::PathSegment, 4> segments;
    parsePathSegments(path, segments);
  }
  path.span = from(opener.begin);
  auto* expr = context_.make<ast::PathExpr>(path.span);
  expr->path = path;
  return expr;
}

/// On `{` behind a path: is it a struct literal? In a head it is one only when the text can be
/// nothing else, and then it is GP0006.
bool Parser::structLiteralFollows(const ast::Path& path) {
  if (at_->newlineBefore)
    return false;
  if (!mode_.isHead)
    return true;
  const Token* close = nullptr;
  bool isLiteral = at_[1].kind == TokenKind::Identifier && at_[2].kind == TokenKind::Colon;
  if (!isLiteral && (at_[1].kind == TokenKind::RightBrace ||
                     (at_[1].kind == TokenKind::Identifier &&
                      (at_[2].kind == TokenKind::Comma || at_[2].kind == TokenKind::RightBrace)))) {
    close = matching(at_);
    isLiteral = close && close[1].kind == TokenKind::LeftBrace && !close[1].newlineBefore;
  }
  if (isLiteral)
    complain(path.span.to(at_->span()), diag::StructLiteralInHead, text(path.span),
             "`if`, `while`, `for` or `match`");
  return isLiteral;
}

Expr* Parser::parseStructLiteral(const ast::Path& path) {
  const Token opener = *at_;
  auto* literal = context_.make<ast::StructLiteralExpr>(path.span);
  literal->path = path;
  Nest nest(*this);
  if (!nest.ok)
    return literal;
  advance();
  ModeScope scope(*this, Mode{});
  SmallVector<ast::FieldInit, 8> fields;
  parseList(TokenKind::RightBrace, opener, [&] {
    if (at(TokenKind::DotDot)) {
      const Span dots = at_->span();
      advance();
      Expr* base = parseExpr();
      if (literal->base)
        complain(dots, diag::SecondBase);
      else
        literal->base = base;
      return;
    }
    ast::FieldInit field;
    const Token token = *at_;
    field.name = expectIdent("a field name");
    if (panic_)
      return;
    if (accept(TokenKind::Colon)) {
      field.value = parseExpr();
    } else if (at(TokenKind::Equal)) {
      fail(at_->span(), diag::UnexpectedToken, "`:`", "`=`")
          .suggest(at_->span(), ":", "a field is given its value with `:`");
      return;
    } else {
      field.value = makeName(token);
      field.shorthand = true;
    }
    fields.push_back(field);
  });
  literal->fields = list(fields);
  literal->span = from(path.span);
  return literal;
}

} // namespace gos::parse
