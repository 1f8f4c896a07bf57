// Blocks and statements (language.md sections 3.1, 3.4 and 10).

#include "compiler/format/layout.h"

namespace gos::format {

namespace {

bool isAssignment(lex::TokenKind kind) {
  using lex::TokenKind;
  switch (kind) {
  case TokenKind::Equal:
  case TokenKind::PlusEqual:
  case TokenKind::MinusEqual:
  case TokenKind::StarEqual:
  case TokenKind::SlashEqual:
  case TokenKind::PercentEqual:
  case TokenKind::AmpEqual:
  case TokenKind::PipeEqual:
  case TokenKind::CaretEqual:
  case TokenKind::ShiftLeftEqual:
  case TokenKind::ShiftRightEqual:
  case TokenKind::PlusPercentEqual:
  case TokenKind::MinusPercentEqual:
  case TokenKind::StarPercentEqual:
    return true;
  default:
    return false;
  }
}

} // namespace

Doc Layout::fileStatements() {
  Parts parts;
  bool isFirst = true;
  const auto toLine = [&] {
    if (!isFirst) {
      lineTo(parts, true);
    } else if (gapBreaks()) {
      lineTo(parts, false);
    }
    isFirst = false;
  };
  while (at(TokenKind::Hash) && peek().kind == TokenKind::Bang && !failed_) {
    toLine();
    const Doc hash = take();
    const Doc bang = take();
    parts.append({hash, bang, attribute()});
  }
  while (!atEnd() && !failed_) {
    toLine();
    bool endsWithBlock = false;
    parts.push_back(statement(endsWithBlock));
    if (at(TokenKind::Semicolon)) {
      if (Doc comments = gap())
        parts.push_back(comments);
      ++at_;
    }
  }
  if (gapBreaks())
    lineTo(parts, !isFirst);
  else if (Doc comments = gap())
    parts.push_back(comments);
  return docs_.concat(parts);
}

// Block = "{" { Stmt } [ Expr ] "}"
Piece Layout::block() {
  bool forced = false;
  const Doc contents = blockContents(forced);
  Piece piece;
  piece.body = docs_.group(contents, forced);
  piece.doc = piece.body;
  return piece;
}

Doc Layout::blockContents(bool& forced) {
  const Doc open = take(TokenKind::LeftBrace);
  ModeScope scope(*this, Mode{});
  if (at(TokenKind::RightBrace) && !gapBreaks())
    return docs_.concat({open, take()});
  forced |= now().newlineBefore && !at(TokenKind::RightBrace);
  Parts inner;
  bool isFirst = true, hadSemicolon = false;
  while (!at(TokenKind::RightBrace) && !atEnd() && !failed_) {
    forced |= gapBreaks() || (!isFirst && now().newlineBefore);
    softLineTo(inner, hadSemicolon ? "; " : " ", !isFirst);
    isFirst = false;
    bool endsWithBlock = false;
    inner.push_back(statement(endsWithBlock));
    hadSemicolon = at(TokenKind::Semicolon);
    if (hadSemicolon) {
      forced |= gapBreaks();
      if (Doc comments = gap())
        inner.push_back(comments);
      ++at_;
    }
  }
  forced |= gapBreaks();
  Parts whole{open};
  Doc last = docs_.line(" ");
  if (gapBreaks()) {
    lineTo(inner, !isFirst);
    last = nullptr;
    if (inner.back()->kind == Node::Kind::HardLine) {
      inner.pop_back();
      last = docs_.hardLine();
    }
  }
  whole.push_back(docs_.indent(docs_.concat(inner)));
  if (last)
    whole.push_back(last);
  whole.push_back(take(TokenKind::RightBrace));
  return docs_.concat(whole);
}

// Stmt = Let | Item | Defer | Arena | MultiAssign | Expr
Doc Layout::statement(bool& endsWithBlock) {
  if (at(TokenKind::Let))
    return let();
  if (atItem() || (at(TokenKind::Hash) && atAttribute())) {
    const Doc result = item();
    endsWithBlock = at_ != 0 && tokens_[at_ - 1].kind == TokenKind::RightBrace;
    return result;
  }
  if (at(TokenKind::Identifier) && atWord(Word::Defer)) {
    const Token& next = peek();
    if (!next.newlineBefore && next.kind != TokenKind::As &&
        (next.kind == TokenKind::Identifier || lex::isKeyword(next.kind) ||
         next.kind == TokenKind::LeftBrace)) {
      const Doc word = takeThenSpace();
      branchBody_ = at_;
      return docs_.concat({word, statementExpression(endsWithBlock, true).doc});
    }
  }
  branchBody_ = at_;
  return statementExpression(endsWithBlock, true).doc;
}

// Let = "let" Pattern { "," Pattern } [ ":" Type ] [ "=" Expr { "," Expr } ] [ "else" Block ]
Doc Layout::let() {
  Parts parts{takeThenSpace(), pattern()};
  while (at(TokenKind::Comma) && !failed_) {
    parts.push_back(takeThenSpace());
    parts.push_back(pattern());
  }
  if (at(TokenKind::Colon)) {
    parts.push_back(takeThenSpace());
    parts.push_back(type());
  }
  if (at(TokenKind::Equal)) {
    parts.push_back(text(" "));
    parts.push_back(takeThenSpace());
    parts.push_back(expression().doc);
    while (at(TokenKind::Comma) && !failed_) {
      parts.push_back(takeThenSpace());
      parts.push_back(expression().doc);
    }
    if (at(TokenKind::Else)) {
      parts.push_back(text(" "));
      parts.push_back(takeThenSpace());
      parts.push_back(block().doc);
    }
  }
  return docs_.concat(parts);
}

bool Layout::atBlockLike() const {
  switch (kind()) {
  case TokenKind::If:
  case TokenKind::Match:
  case TokenKind::While:
  case TokenKind::Loop:
  case TokenKind::For:
  case TokenKind::LeftBrace:
    return true;
  case TokenKind::Label:
    return peek().kind == TokenKind::Colon;
  case TokenKind::Identifier:
    return (atWord(Word::Comptime) || atWord(Word::Select) || atWord(Word::Cohort)) &&
           peek().kind == TokenKind::LeftBrace;
  default:
    return false;
  }
}

Piece Layout::statementExpression(bool& endsWithBlock, bool allowTargets) {
  endsWithBlock = false;
  Piece value;
  if (atBlockLike()) {
    const bool isMap = at(TokenKind::LeftBrace) &&
                       (peek().kind == TokenKind::RightBrace ? branchBody_ != at_ : braceIsMap());
    value = primary();
    switch (kind()) {
    case TokenKind::Dot:
    case TokenKind::Question:
    case TokenKind::As:
    case TokenKind::Plus:
    case TokenKind::Slash:
    case TokenKind::Percent:
    case TokenKind::PlusPercent:
    case TokenKind::StarPercent:
    case TokenKind::MinusPercent:
    case TokenKind::Caret:
    case TokenKind::EqualEqual:
    case TokenKind::BangEqual:
    case TokenKind::LessEqual:
    case TokenKind::GreaterEqual:
    case TokenKind::Greater:
    case TokenKind::AmpAmp:
    case TokenKind::PipeGreater:
      break;
    default:
      endsWithBlock = !isMap;
    }
    if (endsWithBlock)
      return value;
    value = castFrom(postfixFrom(value));
    value = pipeFrom(rangeFrom(binaryFrom(value, 1)));
  } else if (atWord(Word::Underscore) && at(TokenKind::Identifier)) {
    value.doc = take();
  } else {
    value = pipeFrom(range());
  }
  const bool hasMore = allowTargets && at(TokenKind::Comma);
  if (!hasMore && !isAssignment(kind()))
    return value;
  Parts parts{value.doc};
  while (allowTargets && at(TokenKind::Comma) && !failed_) {
    parts.push_back(takeThenSpace());
    parts.push_back(atWord(Word::Underscore) && at(TokenKind::Identifier) ? take()
                                                                          : pipeFrom(range()).doc);
  }
  if (!isAssignment(kind())) {
    value.doc = fail();
    return value;
  }
  parts.push_back(text(" "));
  parts.push_back(takeThenSpace());
  parts.push_back(expression().doc);
  while (allowTargets && at(TokenKind::Comma) && !failed_) {
    parts.push_back(takeThenSpace());
    parts.push_back(expression().doc);
  }
  Piece result;
  result.doc = docs_.concat(parts);
  return result;
}

/// Section 3.4, as the parser reads it.
bool Layout::braceIsMap() const {
  size_t token = at_ + 1;
  switch (tokens_[token].kind) {
  case TokenKind::Let:
  case TokenKind::Label:
  case TokenKind::Pipe:
  case TokenKind::PipePipe:
  case TokenKind::If:
  case TokenKind::Match:
  case TokenKind::While:
  case TokenKind::For:
  case TokenKind::Loop:
  case TokenKind::Return:
  case TokenKind::Break:
  case TokenKind::Continue:
  case TokenKind::Const:
  case TokenKind::Static:
  case TokenKind::Fn:
  case TokenKind::Struct:
  case TokenKind::Enum:
  case TokenKind::Trait:
  case TokenKind::Impl:
  case TokenKind::Type:
  case TokenKind::Use:
  case TokenKind::Mod:
  case TokenKind::Pub:
  case TokenKind::Unsafe:
    return false;
  default:
    break;
  }
  for (bool isFirst = true; tokens_[token].kind != TokenKind::EndOfFile; ++token, isFirst = false) {
    if (!isFirst && tokens_[token].newlineBefore)
      return false;
    switch (tokens_[token].kind) {
    case TokenKind::Colon:
      return !isFirst;
    case TokenKind::Comma:
    case TokenKind::Semicolon:
    case TokenKind::RightBrace:
    case TokenKind::RightParen:
    case TokenKind::RightBracket:
    case TokenKind::Equal:
    case TokenKind::FatArrow:
    case TokenKind::PipeGreater:
      return false;
    case TokenKind::LeftBrace:
    case TokenKind::LeftParen:
    case TokenKind::LeftBracket:
      token = matching(token);
      break;
    default:
      break;
    }
  }
  return false;
}

} // namespace gos::format
