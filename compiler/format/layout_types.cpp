// Patterns and types (language.md sections 4, 6 and 12).

#include "compiler/format/layout.h"

namespace gos::format {

// Pattern = PatAlt { "|" PatAlt }
Doc Layout::pattern() {
  const Doc first = patternAlternative();
  if (!at(TokenKind::Pipe))
    return first;
  Parts rest;
  bool forced = false;
  while (at(TokenKind::Pipe) && !failed_) {
    forced |= now().newlineBefore;
    softLineTo(rest, " ", false);
    rest.push_back(takeThenSpace());
    rest.push_back(patternAlternative());
  }
  return docs_.group(docs_.concat({first, docs_.indent(docs_.concat(rest))}), forced);
}

Doc Layout::patternAlternative() {
  const auto element = [this] {
    Piece piece;
    const bool isWord = peek().kind == TokenKind::Comma || peek().newlineBefore;
    piece.doc = pattern();
    piece.isSimple = isWord;
    if (at(TokenKind::Identifier) && !now().newlineBefore &&
        tokens_[at_ - 1].kind == TokenKind::DotDot)
      piece.doc = docs_.concat({piece.doc, take()}); // `..rest`
    return piece;
  };
  switch (kind()) {
  case TokenKind::Identifier:
    if (atWord(Word::Underscore))
      return take();
    switch (peek().kind) {
    case TokenKind::ColonColon:
    case TokenKind::LeftParen:
    case TokenKind::LeftBrace:
    case TokenKind::Less:
    case TokenKind::DotDot:
    case TokenKind::DotDotEqual:
      return patternPath();
    default:
      break;
    }
    [[fallthrough]];
  case TokenKind::Mut: {
    Parts parts;
    if (at(TokenKind::Mut))
      parts.push_back(takeThenSpace());
    parts.push_back(take());
    if (at(TokenKind::At)) {
      spaced(parts);
      parts.push_back(patternAlternative());
    }
    return docs_.concat(parts);
  }
  case TokenKind::SelfType:
  case TokenKind::SelfValue:
  case TokenKind::Super:
  case TokenKind::Crate:
    return patternPath();
  case TokenKind::DotDot:
  case TokenKind::DotDotEqual: {
    const bool isRange =
        at(TokenKind::DotDotEqual) || peek().kind == TokenKind::Minus ||
        peek().kind == TokenKind::Int || peek().kind == TokenKind::Float ||
        peek().kind == TokenKind::Char || peek().kind == TokenKind::Byte ||
        (peek().kind == TokenKind::Identifier && peek(2).kind == TokenKind::ColonColon);
    const Doc dots = take();
    return isRange ? docs_.concat({dots, patternBound()}) : dots;
  }
  case TokenKind::LeftParen:
    return list(TokenKind::RightParen, ListStyle::Tuple, Padding::None, element).doc;
  case TokenKind::LeftBracket:
    return list(TokenKind::RightBracket, ListStyle::Rows, Padding::None, element).doc;
  case TokenKind::Amp:
  case TokenKind::AmpAmp: {
    Parts parts{take()};
    if (at(TokenKind::Label))
      parts.push_back(takeThenSpace());
    behindAmpersand(parts);
    parts.push_back(patternAlternative());
    return docs_.concat(parts);
  }
  default: {
    const Doc low = patternBound();
    if (!at(TokenKind::DotDot) && !at(TokenKind::DotDotEqual))
      return low;
    const Doc dots = take();
    if (now().newlineBefore || !parse::beginsPatternBound(place()))
      return docs_.concat({low, dots});
    return docs_.concat({low, dots, patternBound()});
  }
  }
}

// PatBound = [ "-" ] Literal | IntLimit
Doc Layout::patternBound() {
  if (at(TokenKind::Minus)) {
    const Doc minus = take();
    return docs_.concat({minus, take()});
  }
  Parts parts{take()};
  while (at(TokenKind::ColonColon) && !failed_) {
    parts.push_back(take());
    parts.push_back(take());
  }
  return docs_.concat(parts);
}

// Path [ "(" [ Pattern { SEP Pattern } ] ")" | "{" [ PatField { SEP PatField } ] "}" ]
Doc Layout::patternPath() {
  Parts parts{take()};
  for (;;) {
    const bool turbofish = at(TokenKind::ColonColon) && peek().kind == TokenKind::Less;
    if (turbofish)
      parts.push_back(take());
    if (at(TokenKind::Less) && !now().newlineBefore)
      parts.push_back(genericArguments());
    if (!at(TokenKind::ColonColon) || now().newlineBefore || failed_)
      break;
    parts.push_back(take());
    parts.push_back(take());
  }
  if (at(TokenKind::DotDot) || at(TokenKind::DotDotEqual)) {
    parts.push_back(take());
    if (!now().newlineBefore && parse::beginsPatternBound(place()))
      parts.push_back(patternBound());
  } else if (at(TokenKind::LeftParen) && !now().newlineBefore) {
    parts.push_back(list(TokenKind::RightParen, ListStyle::Lines, Padding::None, [this] {
                      return plain(pattern());
                    }).doc);
  } else if (at(TokenKind::LeftBrace) && !now().newlineBefore) {
    parts.push_back(text(" "));
    parts.push_back(list(TokenKind::RightBrace, ListStyle::Rows, Padding::Space, [this] {
                      Piece piece;
                      Parts field;
                      if (at(TokenKind::DotDot)) {
                        piece.doc = take();
                        return piece;
                      }
                      if (at(TokenKind::Mut))
                        field.push_back(takeThenSpace());
                      field.push_back(take());
                      if (at(TokenKind::Colon)) {
                        field.push_back(takeThenSpace());
                        field.push_back(pattern());
                      }
                      piece.doc = docs_.concat(field);
                      return piece;
                    }).doc);
  }
  return docs_.concat(parts);
}

// ---- types ------------------------------------------------------------------------------------

// Type = TypePath | TupleType | ArrayType | RefType | FnType | "!"
Doc Layout::type() {
  const auto element = [this] { return plain(type()); };
  switch (kind()) {
  case TokenKind::Identifier:
    if (atWord(Word::FnTrait) && peek().kind == TokenKind::LeftParen) {
      const Doc word = take();
      Parts parts{word, list(TokenKind::RightParen, ListStyle::Lines, Padding::None, element).doc};
      if (at(TokenKind::Arrow)) {
        spaced(parts);
        parts.push_back(type());
      }
      return docs_.concat(parts);
    }
    return typePath();
  case TokenKind::SelfType:
  case TokenKind::SelfValue:
  case TokenKind::Super:
  case TokenKind::Crate:
    return typePath();
  case TokenKind::Less: {
    const Doc open = take();
    const Doc inner = type();
    const Doc close = closeAngle();
    const Doc colons = take(TokenKind::ColonColon);
    return docs_.concat({open, inner, close, colons, typePath()});
  }
  case TokenKind::LeftParen:
    return list(TokenKind::RightParen, ListStyle::Tuple, Padding::None, element).doc;
  case TokenKind::LeftBracket: {
    const Doc open = take();
    Parts parts{open, type()};
    if (at(TokenKind::Semicolon)) {
      parts.push_back(takeThenSpace());
      parts.push_back(expressionIn(Mode{}).doc);
    }
    parts.push_back(take(TokenKind::RightBracket));
    return docs_.concat(parts);
  }
  case TokenKind::Amp:
  case TokenKind::AmpAmp: {
    Parts parts{take()};
    if (at(TokenKind::Label))
      parts.push_back(takeThenSpace());
    behindAmpersand(parts);
    parts.push_back(type());
    return docs_.concat(parts);
  }
  case TokenKind::Bang:
    return take();
  default:
    return fail();
  }
}

// TypePath = Path [ "<" GArg { SEP GArg } ">" ] { "::" Ident }
Doc Layout::typePath() {
  Parts parts;
  for (;;) {
    parts.push_back(take());
    if (at(TokenKind::ColonColon) && peek().kind == TokenKind::Less)
      parts.push_back(take());
    if (at(TokenKind::Less) && !now().newlineBefore)
      parts.push_back(genericArguments());
    if (!at(TokenKind::ColonColon) || now().newlineBefore || failed_)
      break;
    parts.push_back(take());
  }
  return docs_.concat(parts);
}

bool Layout::atAngleClose() const {
  return at(TokenKind::Greater) || at(TokenKind::ShiftRight) || at(TokenKind::GreaterEqual) ||
         at(TokenKind::ShiftRightEqual);
}

/// One `>`, cut off a longer operator where need be.
Doc Layout::closeAngle() {
  TokenKind rest = TokenKind::EndOfFile;
  switch (kind()) {
  case TokenKind::Greater:
    return take();
  case TokenKind::ShiftRight:
    rest = TokenKind::Greater;
    break;
  case TokenKind::GreaterEqual:
    rest = TokenKind::Equal;
    break;
  case TokenKind::ShiftRightEqual:
    rest = TokenKind::GreaterEqual;
    break;
  default:
    return fail();
  }
  const Doc before = gap();
  gapDone_ = at_;
  tokens_[at_].kind = rest;
  ++tokens_[at_].begin;
  tokens_[at_].newlineBefore = false;
  return docs_.concat({before, text(">")});
}

// "<" GArg { SEP GArg } ">"       GArg = Type | [ "-" ] Literal | Block | Ident "=" Type
Doc Layout::genericArguments() {
  Parts parts{take(TokenKind::Less)};
  bool isFirst = true;
  while (!atAngleClose() && !atEnd() && !failed_) {
    if (!isFirst)
      parts.push_back(text(", "));
    isFirst = false;
    switch (kind()) {
    case TokenKind::Label:
      parts.push_back(take());
      break;
    case TokenKind::Minus:
    case TokenKind::Int:
    case TokenKind::Char:
    case TokenKind::String:
    case TokenKind::True:
    case TokenKind::False:
      parts.push_back(prefix().doc);
      break;
    case TokenKind::LeftBrace:
      parts.push_back(block().doc);
      break;
    default:
      if (at(TokenKind::Identifier) && peek().kind == TokenKind::Equal) {
        parts.push_back(takeThenSpace());
        parts.push_back(takeThenSpace());
      }
      parts.push_back(type());
    }
    skipComma(parts);
  }
  parts.push_back(closeAngle());
  return docs_.concat(parts);
}

} // namespace gos::format
