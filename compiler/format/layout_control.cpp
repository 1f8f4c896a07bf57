// if, match, loops, closures and jumps (language.md section 11).

#include "compiler/format/layout.h"

namespace gos::format {

// If = "if" Cond Block [ "else" ( If | Block ) ]
/// All branches stand on one line, or none does.
Piece Layout::ifChain() {
  Parts parts;
  bool forced = false;
  for (;;) {
    parts.push_back(takeThenSpace());
    parts.push_back(conditions());
    parts.push_back(text(" "));
    parts.push_back(blockContents(forced));
    if (!at(TokenKind::Else) || failed_)
      break;
    if (gapBreaks())
      lineTo(parts, false);
    else
      spaced(parts);
    if (at(TokenKind::If))
      continue;
    parts.push_back(blockContents(forced));
    break;
  }
  Piece piece;
  piece.doc = docs_.group(docs_.concat(parts), forced);
  return piece;
}

// Cond = CondTerm { "&&" CondTerm }       CondTerm = "let" Pattern "=" Cmp | Cmp
Doc Layout::conditions() {
  Mode mode;
  mode.isHead = true;
  ModeScope scope(*this, mode);
  Parts terms;
  Parts rest;
  bool sawLet = false, forced = false;
  for (;;) {
    Doc term = nullptr;
    if (at(TokenKind::Let)) {
      sawLet = true;
      const Doc word = takeThenSpace();
      const Doc left = pattern();
      const Doc equal = docs_.concat({text(" "), takeThenSpace()});
      term = docs_.concat({word, left, equal, binary(parse::kCompareLevel).doc});
    } else {
      term = sawLet ? binary(parse::kCompareLevel).doc : expression().doc;
    }
    (terms.empty() ? terms : rest).push_back(term);
    if (!at(TokenKind::AmpAmp) || failed_)
      break;
    rest.push_back(text(" "));
    rest.push_back(take());
    forced |= now().newlineBefore;
    softLineTo(rest, " ", false);
  }
  if (rest.empty())
    return terms.front();
  return docs_.group(docs_.concat({terms.front(), docs_.indent(docs_.indent(docs_.concat(rest)))}),
                     forced);
}

// Match = "match" Expr "{" { Arm } "}"
Piece Layout::match() {
  const Doc word = takeThenSpace();
  Mode head;
  head.isHead = true;
  const Doc subject = expressionIn(head).doc;
  Piece piece;
  piece.front = docs_.concat({word, subject, text(" ")});
  arms(piece, /*isSelect=*/false);
  return piece;
}

// Select = "select" "{" { SelectArm [ "," ] } "}"
Piece Layout::select() {
  Piece piece;
  piece.front = takeThenSpace();
  arms(piece, /*isSelect=*/true);
  return piece;
}

// Cohort = "cohort" [ "(" Ident ":" Expr { SEP Ident ":" Expr } ")" ] Block
Piece Layout::cohort() {
  Parts front{take()};
  if (at(TokenKind::LeftParen))
    front.push_back(arguments(ListStyle::Lines).doc);
  front.push_back(text(" "));
  Piece piece = block();
  piece.front = docs_.concat(front);
  piece.doc = docs_.concat({piece.front, piece.body});
  return piece;
}

/// The braces of `match` and `select`, and the arms in them, behind what stands in `piece.front`.
void Layout::arms(Piece& piece, bool isSelect) {
  const Doc open = take(TokenKind::LeftBrace);
  ModeScope scope(*this, Mode{});
  if (at(TokenKind::RightBrace) && !gapBreaks()) {
    piece.body = docs_.group(docs_.concat({open, take()}));
    piece.doc = docs_.concat({piece.front, piece.body});
    return;
  }
  bool forced = now().newlineBefore;
  Parts inner;
  bool isFirst = true;
  while (!at(TokenKind::RightBrace) && !atEnd() && !failed_) {
    forced |= gapBreaks() || now().newlineBefore;
    const bool keepsComma = !isFirst && !isListBreak(at_);
    softLineTo(inner, isFirst ? " " : ", ", !isFirst, keepsComma);
    isFirst = false;
    inner.push_back(isSelect ? selectArm() : arm());
    if (at(TokenKind::Comma)) {
      forced |= gapBreaks();
      if (Doc comments = gap())
        inner.push_back(comments);
      ++at_;
    }
  }
  Doc last = docs_.line(" ");
  if (gapBreaks()) {
    forced = true;
    lineTo(inner, !isFirst);
    last = nullptr;
    if (inner.back()->kind == Node::Kind::HardLine) {
      inner.pop_back();
      last = docs_.hardLine();
    }
  }
  piece.body = docs_.group(
      docs_.concat({open, docs_.indent(docs_.concat(inner)), last, take(TokenKind::RightBrace)}),
      forced);
  piece.doc = docs_.concat({piece.front, piece.body});
}

// SelectArm = ( Pattern "=" Expr | Expr | "default" ) "=>" Expr
Doc Layout::selectArm() {
  // A pattern is followed by `=`; anything else is an expression.
  size_t end = at_;
  while (tokens_[end].kind != TokenKind::FatArrow && tokens_[end].kind != TokenKind::Equal &&
         tokens_[end].kind != TokenKind::EndOfFile)
    end = closers_[end] != 0 ? closers_[end] + 1 : end + 1;
  Parts parts;
  if (tokens_[end].kind == TokenKind::Equal) {
    parts.push_back(pattern());
    spaced(parts);
  }
  parts.push_back(expression().doc);
  parts.push_back(text(" "));
  parts.push_back(take(TokenKind::FatArrow));
  parts.push_back(text(" "));
  branchBody_ = at_;
  parts.push_back(expression().doc);
  return docs_.concat(parts);
}

// Arm = Pattern [ "if" Expr ] "=>" Expr [ "," ]
Doc Layout::arm() {
  Parts parts{pattern()};
  if (at(TokenKind::If)) {
    spaced(parts);
    parts.push_back(expression().doc);
  }
  parts.push_back(text(" "));
  parts.push_back(take(TokenKind::FatArrow));
  parts.push_back(text(" "));
  Mode mode;
  mode.isArmBody = true;
  ModeScope scope(*this, mode);
  branchBody_ = at_;
  bool endsWithBlock = false;
  parts.push_back(statementExpression(endsWithBlock, false).doc);
  return docs_.concat(parts);
}

// While = [ Label ":" ] "while" Cond Block      Loop = [ Label ":" ] "loop" Block
// For = [ Label ":" ] "for" Pattern "in" Expr Block
Piece Layout::loop() {
  Parts parts;
  if (at(TokenKind::Label)) {
    parts.push_back(take());
    parts.push_back(take(TokenKind::Colon));
    parts.push_back(text(" "));
  }
  const TokenKind which = kind();
  parts.push_back(takeThenSpace());
  if (which == TokenKind::While) {
    parts.push_back(conditions());
    parts.push_back(text(" "));
  } else if (which == TokenKind::For) {
    parts.push_back(pattern());
    parts.push_back(text(" "));
    parts.push_back(take(TokenKind::In));
    parts.push_back(text(" "));
    Mode head;
    head.isHead = true;
    parts.push_back(expressionIn(head).doc);
    parts.push_back(text(" "));
  } else if (which != TokenKind::Loop) {
    fail();
  }
  parts.push_back(block().doc);
  Piece piece;
  piece.doc = docs_.concat(parts);
  return piece;
}

// Closure = ( "||" | "|" Pattern [ ":" Type ] { SEP Pattern [ ":" Type ] } "|" ) [ "->" Type ] Expr
Piece Layout::closure() {
  Parts parts;
  if (at(TokenKind::PipePipe)) {
    parts.push_back(take());
  } else {
    parts.push_back(take());
    if (at(TokenKind::Pipe))
      parts.push_back(text(" ")); // `||` would be another token
    bool isFirst = true;
    while (!at(TokenKind::Pipe) && !atEnd() && !failed_) {
      if (!isFirst)
        parts.push_back(text(", "));
      isFirst = false;
      parts.push_back(patternAlternative());
      typeAnnotation(parts);
      skipComma(parts);
    }
    parts.push_back(take(TokenKind::Pipe));
  }
  if (at(TokenKind::Arrow)) {
    spaced(parts);
    parts.push_back(type());
  }
  parts.push_back(text(" "));
  branchBody_ = at_;
  const Piece body = expression();
  Piece piece;
  if (body.body) {
    if (body.front)
      parts.push_back(body.front);
    piece.front = docs_.concat(parts);
    piece.body = body.body;
    piece.doc = docs_.concat({piece.front, piece.body});
  } else {
    parts.push_back(body.doc);
    piece.doc = docs_.concat(parts);
  }
  return piece;
}

/// Does a value stand behind `return` or `break`, on the same line?
bool Layout::valueFollows() const {
  return !now().newlineBefore && parse::beginsExpression(place()) &&
         !(at(TokenKind::LeftBrace) && mode_.isHead);
}

Piece Layout::jump() {
  Parts parts;
  const TokenKind which = kind();
  parts.push_back(take());
  if (which != TokenKind::Return && at(TokenKind::Label) && !now().newlineBefore &&
      peek().kind != TokenKind::Colon) {
    parts.push_back(text(" "));
    parts.push_back(take());
  }
  if (which != TokenKind::Continue && valueFollows()) {
    parts.push_back(text(" "));
    parts.push_back(expression().doc);
  }
  Piece piece;
  piece.doc = docs_.concat(parts);
  return piece;
}

} // namespace gos::format
