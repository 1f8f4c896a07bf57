// Where parsing goes on after a mistake. A list resumes at its next element, a block at its next
// statement; until then nothing more is reported.

#include "compiler/parse/parser.h"

namespace gos::parse {

std::string Parser::found(const Token& token) const {
  switch (token.kind) {
  case TokenKind::EndOfFile:
    return "the end of the file";
  case TokenKind::Error:
    return "a malformed token";
  case TokenKind::String:
  case TokenKind::RawString:
  case TokenKind::TripleString:
  case TokenKind::FString:
  case TokenKind::TripleFString:
  case TokenKind::ByteString:
  case TokenKind::RawByteString:
    return ("a " + lex::describe(token.kind)).str();
  default:
    return ("`" + text(token).take_front(60) + "`").str();
  }
}

Diagnostic& Parser::failExpected(StringRef what) {
  if (at(TokenKind::Error)) { // the lexer has said what is wrong
    panic_ = true;
    return ignored();
  }
  if (at(TokenKind::Dollar))
    return fail(at_->span(), diag::DollarSign);
  if (atEnd())
    return fail(at_->span(), diag::UnexpectedEnd, what);
  return fail(at_->span(), diag::UnexpectedToken, what, found(*at_));
}

bool Parser::expect(TokenKind wanted, StringRef what) {
  if (accept(wanted))
    return true;
  failExpected(what);
  return false;
}

ast::Ident Parser::expectIdent(StringRef what) {
  if (at(TokenKind::Identifier) && !atWord(Word::Underscore)) {
    const ast::Ident result = ident(*at_);
    advance();
    return result;
  }
  failExpected(what);
  return {};
}

/// Does a malformed token behind the opener hold its closer, as a string does that is never closed?
bool Parser::closedInsideMalformed(const Token& opener) const {
  const char closer = opener.kind == TokenKind::LeftParen     ? ')'
                      : opener.kind == TokenKind::LeftBracket ? ']'
                                                              : '}';
  for (const Token* token = at_; token->begin > opener.begin; --token)
    if (token->kind == TokenKind::Error && text(*token).contains(closer))
      return true;
  return false;
}

void Parser::failUnclosed(const Token& opener) {
  if (panic_)
    return;
  if (closedInsideMalformed(opener)) { // the lexer has said what is wrong
    panic_ = true;
    return;
  }
  Diagnostic& report = fail(opener.span(), diag::UnterminatedDelimiter, text(opener));
  if (!atEnd())
    report.label(at_->span(), "found " + found(*at_) + " here");
}

void Parser::failSeparator(TokenKind close) {
  failExpected(("`,`, a new line or `" + lex::describe(close) + "`").str());
}

void Parser::tooDeep() {
  if (gaveUp_)
    return;
  fail(at_->span(), diag::NestingLimit, size_t(kMaxNesting));
  gaveUp_ = panic_ = true;
  at_ = last_;
}

bool Parser::beginsItemLine(const Token& token) {
  if (!token.newlineBefore)
    return false;
  switch (token.kind) {
  case TokenKind::Let:
  case TokenKind::Fn:
  case TokenKind::Struct:
  case TokenKind::Enum:
  case TokenKind::Impl:
  case TokenKind::Trait:
  case TokenKind::Use:
  case TokenKind::Mod:
  case TokenKind::Static:
    return true;
  default:
    return false;
  }
}

const Token* Parser::matching(const Token* open) {
  if (closers_.empty())
    matchBrackets();
  const uint32_t close = closers_[size_t(open - tokens_.data())];
  return close == 0 ? nullptr : tokens_.data() + close;
}

/// Pairs the brackets of the whole buffer, once. A closer takes the nearest opener of its kind;
/// what stands open between the two, and a closer without an opener, have no partner.
void Parser::matchBrackets() {
  closers_.assign(tokens_.size(), 0);
  SmallVector<uint32_t, 64> open;
  uint32_t counts[256] = {};
  for (uint32_t i = 0; i < tokens_.size(); ++i) {
    TokenKind opener;
    switch (tokens_[i].kind) {
    case TokenKind::LeftParen:
    case TokenKind::LeftBracket:
    case TokenKind::LeftBrace:
      open.push_back(i);
      ++counts[size_t(tokens_[i].kind)];
      continue;
    case TokenKind::RightParen:
      opener = TokenKind::LeftParen;
      break;
    case TokenKind::RightBracket:
      opener = TokenKind::LeftBracket;
      break;
    case TokenKind::RightBrace:
      opener = TokenKind::LeftBrace;
      break;
    default:
      continue;
    }
    if (counts[size_t(opener)] == 0)
      continue;
    for (;;) {
      const uint32_t top = open.pop_back_val();
      const TokenKind kind = tokens_[top].kind;
      --counts[size_t(kind)];
      if (kind == opener) {
        closers_[top] = i;
        break;
      }
    }
  }
}

void Parser::skipGroup() {
  const Token* close = matching(at_);
  if (!close) {
    failUnclosed(*at_);
    at_ = last_;
    return;
  }
  while (at_ != close)
    advance();
  advance();
}

/// Steps over one token, or over a whole bracketed group when it is closed.
void Parser::skipBalanced() {
  if (isOpener(kind()) && matching(at_))
    skipGroup();
  else
    advance();
}

void Parser::recoverStatement(const Token* start) {
  while (!atEnd() && !at(TokenKind::RightBrace)) {
    if (at_ != start && (at_->newlineBefore || at(TokenKind::Semicolon)))
      break;
    skipBalanced();
  }
  if (at(TokenKind::Semicolon))
    advance();
  calm();
}

bool Parser::recoverList(TokenKind close, const Token& opener, const Token* start) {
  for (;;) {
    if (at(close)) {
      calm();
      return true;
    }
    if (atEnd() || isCloser(kind()) || beginsItemLine(*at_)) {
      panic_ = true; // an unclosed list is part of the mistake that was reported
      (void)opener;
      return false;
    }
    if (at(TokenKind::Comma)) {
      advance();
      calm();
      return true;
    }
    if (at_ != start && at_->newlineBefore) {
      calm();
      return true;
    }
    if (at(TokenKind::Semicolon) && close != TokenKind::RightBrace) {
      panic_ = true;
      return false;
    }
    skipBalanced();
  }
}

} // namespace gos::parse
