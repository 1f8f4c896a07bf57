// Expressions by level of precedence (language.md section 5), and where one stops at a newline
// (section 3.2).

#include "compiler/format/layout.h"

namespace gos::format {

namespace {

/// A link of a chain: `.name(args)[i]?`.
struct Link {
  llvm::SmallVector<Doc, 4> parts;
  Piece last; // its last part
  bool isCall = false;
  bool newlineBefore = false;
  llvm::SmallVector<Doc, 16> lineBefore; // the newline, and comments in front of it
  bool isCommented = false;
};

} // namespace

Piece Layout::expression() {
  const size_t begin = at_;
  Piece value = pipeFrom(range());
  const size_t count = at_ - begin;
  constexpr unsigned kShort = 16;
  value.isSimple = tokens_[begin].end - tokens_[begin].begin <= kShort &&
                   (count == 1 || (count == 2 && tokens_[begin].kind == TokenKind::Minus));
  return value;
}

// Pipe = Range { "|>" PipeStep }
Piece Layout::pipeFrom(Piece left) {
  if (!at(TokenKind::PipeGreater) || mode_.isPipeStep)
    return left;
  Parts rest;
  bool forced = false;
  while (at(TokenKind::PipeGreater) && !failed_) {
    forced |= now().newlineBefore;
    softLineTo(rest, " ", false);
    rest.push_back(takeThenSpace());
    Mode mode = mode_;
    mode.isPipeStep = true;
    ModeScope scope(*this, mode);
    rest.push_back(range().doc);
  }
  Piece piece;
  piece.doc = docs_.group(docs_.concat({left.doc, docs_.indent(docs_.concat(rest))}), forced);
  return piece;
}

// Range = [ Or ] ( ".." [ Or ] | "..=" Or ) | Or
Piece Layout::range() {
  if (at(TokenKind::DotDot) || at(TokenKind::DotDotEqual))
    return rangeEnd(nullptr);
  return rangeFrom(binary(1));
}

Piece Layout::rangeFrom(Piece left) {
  if (!at(TokenKind::DotDot) && !at(TokenKind::DotDotEqual))
    return left;
  if (now().newlineBefore && mode_.isArmBody && parse::lineIsRangePattern(place(), lastToken()))
    return left;
  return rangeEnd(left.doc);
}

Piece Layout::rangeEnd(Doc low) {
  Parts parts{low, take()};
  const bool endFollows = !now().newlineBefore && parse::beginsExpression(place()) &&
                          !at(TokenKind::Pipe) && !at(TokenKind::PipePipe) &&
                          !at(TokenKind::DotDot) && !at(TokenKind::DotDotEqual) &&
                          !(at(TokenKind::LeftBrace) && mode_.isHead);
  if (endFollows)
    parts.push_back(binary(1).doc);
  Piece piece;
  piece.doc = docs_.concat(parts);
  return piece;
}

Piece Layout::binary(unsigned minimum) {
  return binaryFrom(unary(), minimum);
}

/// Operators of level `minimum` and tighter; the operands of one level break together, behind
/// their operators.
Piece Layout::binaryFrom(Piece left, unsigned minimum) {
  unsigned level = 0; // of what is being collected
  Parts rest;
  bool forced = false;
  const auto finish = [&] {
    if (rest.empty())
      return;
    Piece piece;
    // In a head one level more, so that the condition does not look like the body.
    const Doc deeper = docs_.indent(docs_.concat(rest));
    piece.doc =
        docs_.group(docs_.concat({left.doc, mode_.isHead ? docs_.indent(deeper) : deeper}), forced);
    left = piece;
    rest.clear();
    forced = false;
  };
  for (;;) {
    const unsigned next = parse::operatorOf(kind()).level;
    if (next == 0 || next < minimum || failed_)
      break;
    if (now().newlineBefore && !mode_.freeBreaks &&
        parse::has(kind(), parse::TokenTrait::StopsAtNewline))
      break;
    if (next == parse::kAndLevel && peek().kind == TokenKind::Let)
      break;
    if (next != level)
      finish();
    level = next;
    forced |= now().newlineBefore;
    rest.push_back(text(" "));
    rest.push_back(take());
    forced |= now().newlineBefore;
    softLineTo(rest, " ", false);
    rest.push_back(binary(next + 1).doc);
  }
  finish();
  return left;
}

Piece Layout::unary() {
  return castFrom(prefix());
}

// Cast = Unary { "as" Type }
Piece Layout::castFrom(Piece operand) {
  while (at(TokenKind::As) && !failed_) {
    Parts parts{operand.doc, text(" "), takeThenSpace(), type()};
    operand = Piece{};
    operand.doc = docs_.concat(parts);
  }
  return operand;
}

// Unary = ( "-" | "!" | "*" | "&" [ "mut" ] ) Unary | Postfix
Piece Layout::prefix() {
  Parts marks;
  for (bool goesOn = true; goesOn && !failed_;) {
    switch (kind()) {
    case TokenKind::Minus:
    case TokenKind::Bang:
    case TokenKind::Star:
      marks.push_back(take());
      break;
    case TokenKind::Amp:
    case TokenKind::AmpAmp:
      marks.push_back(take());
      behindAmpersand(marks);
      break;
    default:
      goesOn = false;
    }
  }
  Piece operand = postfixFrom(primary());
  if (marks.empty())
    return operand;
  const auto prefixed = [&](Doc doc) {
    Parts parts(marks.begin(), marks.end());
    parts.push_back(doc);
    return docs_.concat(parts);
  };
  if (operand.body)
    operand.front = operand.front ? prefixed(operand.front) : docs_.concat(marks);
  operand.doc = prefixed(operand.doc);
  return operand;
}

// Postfix = Primary { "." Ident [ "::" "<" GArg { SEP GArg } ">" ] [ Args ] | "." DecInt | Args
//                   | "[" Expr "]" | "?" }
Piece Layout::postfixFrom(Piece operand) {
  llvm::SmallVector<Link, 4> links;
  Parts head{operand.doc};
  Piece last = operand; // the last part of the head
  const size_t begin = at_;
  const auto addPart = [&](Piece part, bool isCall) {
    if (links.empty()) {
      head.push_back(part.doc);
      last = part;
      last.isCall |= isCall;
    } else {
      links.back().parts.push_back(part.doc);
      links.back().last = part;
      links.back().isCall |= isCall;
    }
  };
  while (!failed_) {
    if (at(TokenKind::Dot)) {
      Parts name;
      const bool newlineBefore = now().newlineBefore;
      const bool isCommented = gapBreaks();
      Parts lineBefore;
      if (isCommented)
        lineTo(lineBefore, false);
      else
        lineBefore.push_back(docs_.hardLine());
      gapDone_ = isCommented ? at_ : gapDone_;
      name.push_back(take());
      name.push_back(take()); // a name, or positions such as `0.1`
      bool isCall = false;
      if (at(TokenKind::ColonColon) && peek().kind == TokenKind::Less && !now().newlineBefore) {
        name.push_back(take());
        name.push_back(genericArguments());
      }
      if (at(TokenKind::LeftParen) && !now().newlineBefore)
        isCall = true;
      Piece part;
      part.doc = docs_.concat(name);
      if (!isCall && links.empty() && !isCommented) {
        addPart(part, false); // a field of the head
        continue;
      }
      links.emplace_back();
      links.back().newlineBefore = newlineBefore;
      links.back().lineBefore = lineBefore;
      links.back().isCommented = isCommented;
      addPart(part, isCall);
    } else if (at(TokenKind::Question)) {
      Piece part;
      part.doc = take();
      addPart(part, false);
    } else if (at(TokenKind::LeftParen) && !now().newlineBefore) {
      addPart(arguments(ListStyle::Lines), true);
    } else if (at(TokenKind::LeftBracket) && !now().newlineBefore) {
      const Doc open = take();
      const Doc index = expressionIn(Mode{}).doc;
      Piece part;
      part.doc = docs_.concat({open, index, take(TokenKind::RightBracket)});
      addPart(part, false);
    } else {
      break;
    }
  }
  if (at_ == begin)
    return operand;

  // `self` and other short words keep their first link on their line.
  bool forced = false;
  size_t kept = 0;
  if (links.size() > 1 && head.size() == 1 && operand.doc->kind == Node::Kind::Text &&
      operand.doc->size <= kIndent && !links[0].isCommented)
    kept = 1;
  for (size_t i = kept; i < links.size(); ++i)
    forced |= links[i].newlineBefore;
  const bool isCommented = llvm::any_of(links, [](const Link& link) { return link.isCommented; });

  const auto inlineDoc = [&](bool hugsLast, Doc& front) {
    Parts parts(head.begin(), head.end());
    for (size_t i = 0; i < links.size(); ++i)
      parts.append(links[i].parts.begin(), links[i].parts.end());
    front = nullptr;
    const Piece& tail = links.empty() ? last : links.back().last;
    if (hugsLast && tail.body) {
      parts.pop_back();
      if (tail.front)
        parts.push_back(tail.front);
      front = docs_.concat(parts);
      parts.push_back(docs_.broken(tail.body));
    }
    return docs_.concat(parts);
  };
  const Piece& tail = links.empty() ? last : links.back().last;
  Doc front = nullptr;
  Piece piece;
  const Doc whole = inlineDoc(false, front);
  if (links.size() - kept <= 1 && !isCommented && !(forced && links.size() > 1)) {
    // One link, or none: nothing to break but its arguments.
    if (tail.body) {
      inlineDoc(true, front);
      piece.front = front;
      piece.body = tail.body;
      piece.isCall = true;
      piece.doc = docs_.concat({front, tail.body});
    } else {
      piece.doc = whole;
    }
    return piece;
  }
  Parts lines;
  Parts first(head.begin(), head.end());
  for (size_t i = 0; i < links.size(); ++i) {
    if (i >= kept)
      lines.append(links[i].lineBefore.begin(), links[i].lineBefore.end());
    (i < kept ? first : lines).append(links[i].parts.begin(), links[i].parts.end());
  }
  first.push_back(docs_.indent(docs_.concat(lines)));
  const Doc expanded = docs_.concat(first);
  if (forced) {
    piece.doc = expanded;
    return piece;
  }
  if (whole->newline) {
    // Written with a block inside and no break between the links: it stays so, if its front fits.
    piece.doc = whole;
    return piece;
  }
  const Doc hugging = inlineDoc(true, front);
  piece.doc = docs_.choice(whole, tail.body ? hugging : nullptr, expanded);
  return piece;
}

// Args = "(" [ Arg { SEP Arg } [ "," ] ] ")"       Arg = [ Ident ":" ] Expr
Piece Layout::arguments(ListStyle style) {
  return list(TokenKind::RightParen, style, Padding::None, [this] {
    if (!at(TokenKind::Identifier) || peek().kind != TokenKind::Colon)
      return expression();
    const Doc label = take();
    const Doc colon = takeThenSpace();
    Piece value = expression();
    value.front = docs_.concat({label, colon, value.front});
    value.doc = docs_.concat({label, colon, value.doc});
    value.isSimple = false;
    return value;
  });
}

// ---- operands ---------------------------------------------------------------------------------

Piece Layout::primary() {
  if (parse::has(kind(), parse::TokenTrait::Literal)) {
    return plain(take());
  }
  switch (kind()) {
  case TokenKind::Identifier:
    return identifier();
  case TokenKind::SelfValue:
  case TokenKind::SelfType:
  case TokenKind::Super:
  case TokenKind::Crate:
  case TokenKind::Less:
    return path();
  case TokenKind::LeftParen:
    return parenthesised();
  case TokenKind::LeftBracket:
    return collection(nullptr);
  case TokenKind::Hash:
    if (peek().kind == TokenKind::LeftBracket || peek().kind == TokenKind::LeftBrace)
      return collection(take());
    break;
  case TokenKind::LeftBrace:
    if (peek().kind == TokenKind::RightBrace ? branchBody_ != at_ : braceIsMap())
      return collection(nullptr);
    return block();
  case TokenKind::If:
    return ifChain();
  case TokenKind::Match:
    return match();
  case TokenKind::Label:
  case TokenKind::While:
  case TokenKind::Loop:
  case TokenKind::For:
    return loop();
  case TokenKind::Pipe:
  case TokenKind::PipePipe:
    return closure();
  case TokenKind::Return:
  case TokenKind::Break:
  case TokenKind::Continue:
    return jump();
  default:
    break;
  }
  Piece piece;
  piece.doc = fail();
  return piece;
}

/// A name, and what only looks like one: `comptime { }`, calls with `!`.
Piece Layout::identifier() {
  if (atWord(Word::Comptime) && peek().kind == TokenKind::LeftBrace && !mode_.isHead) {
    const Doc word = takeThenSpace();
    Piece piece = block();
    piece.front = word;
    piece.doc = docs_.concat({word, piece.body});
    return piece;
  }
  if (atWord(Word::Select) && peek().kind == TokenKind::LeftBrace && !mode_.isHead)
    return select();
  if (atWord(Word::Cohort) && !mode_.isHead) {
    const bool hasHeader = peek().kind == TokenKind::LeftParen && !peek().newlineBefore;
    const size_t brace = hasHeader ? matching(at_ + 1) + 1 : at_ + 1;
    if (brace < tokens_.size() && tokens_[brace].kind == TokenKind::LeftBrace &&
        !(hasHeader && tokens_[brace].newlineBefore))
      return cohort();
  }
  const bool bangFollows = peek().kind == TokenKind::Bang && !peek().newlineBefore;
  const bool isCall = bangFollows && peek(2).kind == TokenKind::LeftParen;
  if (isCall || (bangFollows && mode_.isPipeStep)) {
    const Doc name = take();
    const Doc bang = take();
    const Doc word = docs_.concat({name, bang});
    Piece piece;
    if (!isCall) {
      piece.doc = word; // `x |> println!`
      return piece;
    }
    // `matches!` takes a pattern: its second argument.
    const bool isMatches = name->kind == Node::Kind::Text && name->text() == "matches";
    unsigned position = 0;
    piece = isMatches ? list(TokenKind::RightParen, ListStyle::Lines, Padding::None,
                             [&] {
                               if (position++ == 0)
                                 return expression();
                               return plain(pattern());
                             })
                      : arguments(ListStyle::Template);
    piece.front = docs_.concat({word, piece.front});
    piece.doc = docs_.concat({word, piece.doc});
    piece.isCall = true;
    return piece;
  }
  if (peek().kind == TokenKind::LeftParen && textOf(now()) == "matches") {
    // Without its `!` it takes a pattern all the same, unless it is a function of that name.
    const Doc word = take();
    unsigned position = 0;
    Piece piece = list(TokenKind::RightParen, ListStyle::Lines, Padding::None, [&] {
      if (position++ == 0)
        return expression();
      return plain(pattern());
    });
    piece.front = docs_.concat({word, piece.front});
    piece.doc = docs_.concat({word, piece.doc});
    piece.isCall = true;
    return piece;
  }
  return path();
}

// PathExpr = [ "<" Type ">" "::" ] PathSeg { "::" PathSeg }; and a struct literal
Piece Layout::path() {
  Parts parts;
  if (at(TokenKind::Less)) {
    parts.push_back(take());
    parts.push_back(type());
    parts.push_back(closeAngle());
    parts.push_back(take(TokenKind::ColonColon));
  }
  for (;;) {
    parts.push_back(take());
    const bool turbofish = at(TokenKind::ColonColon) && peek().kind == TokenKind::Less;
    if (turbofish)
      parts.push_back(take());
    if (at(TokenKind::Less) &&
        (turbofish ||
         (!now().newlineBefore && parse::bareGenericsFollow(place(), lastToken(), mode_))))
      parts.push_back(genericArguments());
    if (!at(TokenKind::ColonColon) || now().newlineBefore || failed_)
      break;
    parts.push_back(take());
  }
  Piece piece;
  piece.doc = docs_.concat(parts);
  if (!at(TokenKind::LeftBrace) || now().newlineBefore || mode_.isHead)
    return piece;
  // StructLit = PathExpr "{" [ FieldInit { SEP FieldInit } [ "," ] ] "}"
  const Doc head = docs_.concat({piece.doc, text(" ")});
  piece = list(TokenKind::RightBrace, ListStyle::Rows, Padding::Space, [this] {
    Piece field;
    if (at(TokenKind::DotDot)) {
      const Doc dots = take();
      field.doc = docs_.concat({dots, expression().doc});
      return field;
    }
    field.doc = take();
    if (!at(TokenKind::Colon))
      return field;
    const Doc colon = takeThenSpace();
    const Doc name = docs_.concat({field.doc, colon});
    const Piece value = expression();
    field.doc = docs_.concat({name, value.doc});
    field.front = docs_.concat({name, value.front});
    field.body = value.body;
    return field;
  });
  piece.front = docs_.concat({head, piece.front});
  piece.doc = docs_.concat({head, piece.doc});
  return piece;
}

// Paren = "(" ")" | "(" Expr ")" | "(" Expr SEP [ Expr { SEP Expr } ] ")"
Piece Layout::parenthesised() {
  // A tuple has a comma, or a second element on a line of its own.
  Mode mode;
  mode.freeBreaks = true;
  return list(
      TokenKind::RightParen, ListStyle::Tuple, Padding::None, [this] { return expression(); },
      mode);
}

/// `[..]`, `#[..]`, `#{..}` and maps; `mark` is the `#`.
Piece Layout::collection(Doc mark) {
  const bool isBracket = at(TokenKind::LeftBracket);
  const bool isMap = !isBracket && !mark;
  Piece piece = list(isBracket ? TokenKind::RightBracket : TokenKind::RightBrace, ListStyle::Rows,
                     isMap ? Padding::Space : Padding::None, [&] {
                       Piece element = expression();
                       if (isMap) {
                         const Doc colon = take(TokenKind::Colon);
                         Parts parts{element.doc, colon, text(" "), expression().doc};
                         element = Piece{};
                         element.doc = docs_.concat(parts);
                       } else if (at(TokenKind::Semicolon)) {
                         const Doc semicolon = takeThenSpace();
                         element.doc = docs_.concat({element.doc, semicolon, expression().doc});
                         element.front = element.body = nullptr;
                         element.isSimple = false;
                       }
                       return element;
                     });
  if (mark && piece.body) {
    piece.front = docs_.concat({mark, piece.front});
    piece.doc = docs_.concat({piece.front, piece.body});
  } else if (mark) {
    piece.doc = docs_.concat({mark, piece.doc});
    piece.front = nullptr;
  }
  return piece;
}

} // namespace gos::format
