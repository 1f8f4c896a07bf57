// Blocks and statements (language.md sections 3.1, 3.4 and 10).

#include "compiler/format/layout.h"

namespace gos::format {

void Layout::fileStatements(Printer& printer) {
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
  const auto finishPiece = [&] {
    if (!failed_)
      printer.print(docs_.concat(parts));
    parts.clear();
    largestPiece_ = std::max(largestPiece_, docs_.bytesUsed());
    docs_.reset();
  };
  while (at(TokenKind::Hash) && peek().kind == TokenKind::Bang && !failed_) {
    toLine();
    const Doc hash = take();
    const Doc bang = take();
    parts.append({hash, bang, attribute()});
    finishPiece();
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
    finishPiece();
  }
  if (gapBreaks())
    lineTo(parts, !isFirst);
  else if (Doc comments = gap())
    parts.push_back(comments);
  finishPiece();
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
  typeAnnotation(parts);
  if (at(TokenKind::Equal)) {
    spaced(parts);
    parts.push_back(expression().doc);
    while (at(TokenKind::Comma) && !failed_) {
      parts.push_back(takeThenSpace());
      parts.push_back(expression().doc);
    }
    if (at(TokenKind::Else)) {
      spaced(parts);
      parts.push_back(block().doc);
    }
  }
  return docs_.concat(parts);
}

Piece Layout::statementExpression(bool& endsWithBlock, bool allowTargets) {
  endsWithBlock = false;
  Piece value;
  if (parse::beginsBlockLike(place())) {
    const bool isMap = at(TokenKind::LeftBrace) &&
                       (peek().kind == TokenKind::RightBrace ? branchBody_ != at_ : braceIsMap());
    value = primary();
    endsWithBlock = !isMap && !parse::has(kind(), parse::TokenTrait::ContinuesBlock);
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
  if (!hasMore && !parse::operatorOf(kind()).isAssignment)
    return value;
  Parts parts{value.doc};
  while (allowTargets && at(TokenKind::Comma) && !failed_) {
    parts.push_back(takeThenSpace());
    parts.push_back(atWord(Word::Underscore) && at(TokenKind::Identifier) ? take()
                                                                          : pipeFrom(range()).doc);
  }
  if (!parse::operatorOf(kind()).isAssignment) {
    value.doc = fail();
    return value;
  }
  spaced(parts);
  parts.push_back(expression().doc);
  while (allowTargets && at(TokenKind::Comma) && !failed_) {
    parts.push_back(takeThenSpace());
    parts.push_back(expression().doc);
  }
  Piece result;
  result.doc = docs_.concat(parts);
  return result;
}

bool Layout::braceIsMap() const {
  return parse::braceBeginsMap(place(), lastToken(), [this](const Token* open) {
    const uint32_t close = closers_[size_t(open - tokens_.data())];
    return close != 0 ? &tokens_[close] : nullptr;
  });
}

} // namespace gos::format
