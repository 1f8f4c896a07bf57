// The bracketed forms and the literals; map or block (language.md sections 2.6, 2.7, 3.4, 7).

#include "compiler/parse/parser.h"

#include "compiler/lex/numbers.h"
#include "compiler/lex/strings.h"

namespace gos::parse {

// Paren = "(" ")" | "(" Expr ")" | "(" Expr SEP [ Expr { SEP Expr } ] ")"
Expr* Parser::parseParen() {
  const Token opener = *at_;
  Nest nest(*this);
  if (!nest.ok)
    return errorExpr();
  advance();
  Mode mode;
  mode.freeBreaks = true;
  ModeScope scope(*this, mode);
  SmallVector<Expr*, 4> elements;
  bool isTuple = at(TokenKind::RightParen);
  if (!isTuple) {
    elements.push_back(parseExpr());
    if (!panic_ && accept(TokenKind::RightParen)) {
      Expr* inner = elements.front();
      inner->parenthesised = true;
      inner->span = from(opener.begin);
      return inner;
    }
    if (!panic_) {
      if (at(TokenKind::Comma))
        advance();
      else if (atEnd() || isCloser(kind()))
        failUnclosed(opener);
      else if (!at_->newlineBefore)
        failSeparator(TokenKind::RightParen);
    }
    if (panic_ && !recoverList(TokenKind::RightParen, opener, at_))
      return errorExpr(from(opener.begin));
  }
  parseList(TokenKind::RightParen, opener, [&] { elements.push_back(parseExpr()); });
  auto* tuple = context_.make<ast::TupleExpr>(from(opener.begin));
  tuple->elements = list(elements);
  return tuple;
}

// ArrayLit = "[" [ Expr ( ";" Expr | { SEP Expr } [ "," ] ) ] "]"
Expr* Parser::parseArray(bool isVec, uint32_t begin) {
  const Token opener = *at_;
  Nest nest(*this);
  if (!nest.ok)
    return errorExpr();
  advance();
  ModeScope scope(*this, Mode{});
  SmallVector<Expr*, 8> elements;
  Expr* count = nullptr;
  parseList(TokenKind::RightBracket, opener, [&] {
    elements.push_back(parseExpr());
    if (!panic_ && elements.size() == 1 && !count && accept(TokenKind::Semicolon)) {
      count = parseExpr();
      if (!panic_ && !at(TokenKind::RightBracket))
        failExpected("`]`");
    }
  });
  if (count) {
    auto* repeat = context_.make<ast::RepeatExpr>(from(begin));
    repeat->value = elements.front();
    repeat->count = count;
    repeat->isVec = isVec;
    return repeat;
  }
  auto* array = context_.make<ast::ArrayExpr>(from(begin));
  array->elements = list(elements);
  array->isVec = isVec;
  return array;
}

Expr* Parser::parseSet(uint32_t begin) {
  const Token opener = *at_;
  Nest nest(*this);
  if (!nest.ok)
    return errorExpr();
  advance();
  ModeScope scope(*this, Mode{});
  SmallVector<Expr*, 8> elements;
  parseList(TokenKind::RightBrace, opener, [&] { elements.push_back(parseExpr()); });
  auto* set = context_.make<ast::SetExpr>(from(begin));
  set->elements = list(elements);
  return set;
}

/// `{` where an operand may stand: a map or a block.
Expr* Parser::parseBrace() {
  const bool isBranchBody = branchBody_ == at_;
  if (peek() == TokenKind::RightBrace ? !isBranchBody : braceIsMap())
    return parseMap();
  return parseBlock();
}

bool Parser::braceIsMap() {
  return braceBeginsMap(at_, last_, [this](const Token* open) { return matching(open); });
}

// MapLit = "{" [ Expr ":" Expr { SEP Expr ":" Expr } [ "," ] ] "}"
Expr* Parser::parseMap() {
  const Token opener = *at_;
  Nest nest(*this);
  if (!nest.ok)
    return errorExpr();
  advance();
  ModeScope scope(*this, Mode{});
  SmallVector<std::pair<Expr*, Expr*>, 8> entries;
  parseList(TokenKind::RightBrace, opener, [&] {
    Expr* key = parseExpr();
    if (panic_ || !expect(TokenKind::Colon, "`:` after the key"))
      return;
    entries.push_back({key, parseExpr()});
  });
  auto* map = context_.make<ast::MapExpr>(from(opener.begin));
  map->entries = list(entries);
  return map;
}

// ---- literals
// ----------------------------------------------------------------------------------------

Expr* Parser::parseLiteral() {
  const Token token = *at_;
  const Span span = token.span();
  advance();
  switch (token.kind) {
  case TokenKind::Int:
  case TokenKind::Float:
    return parseNumber(token);
  case TokenKind::Char: {
    auto* literal = context_.make<ast::CharExpr>(span);
    literal->value = lex::characterValue(file_, token, engine_);
    return literal;
  }
  case TokenKind::Byte: {
    auto* literal = context_.make<ast::ByteExpr>(span);
    literal->value = uint8_t(lex::characterValue(file_, token, engine_));
    return literal;
  }
  case TokenKind::True:
  case TokenKind::False: {
    auto* literal = context_.make<ast::BoolExpr>(span);
    literal->value = token.kind == TokenKind::True;
    return literal;
  }
  case TokenKind::FString:
  case TokenKind::TripleFString:
    return parseFString(token);
  default:
    return parseString(token);
  }
}

Expr* Parser::parseString(const Token& token) {
  const lex::StringBody body = lex::bodyOf(file_, token, engine_);
  StringRef value;
  if (lex::isPlain(body)) {
    value = body.text();
  } else {
    llvm::SmallString<128> decoded;
    lex::appendText(body, body.begin, body.end, lex::Braces::Data, decoded, engine_);
    value = context_.string(decoded);
  }
  if (body.isBytes) {
    auto* literal = context_.make<ast::ByteStringExpr>(token.span());
    literal->value = value;
    return literal;
  }
  auto* literal = context_.make<ast::StringExpr>(token.span());
  literal->value = value;
  return literal;
}

Expr* Parser::parseNumber(const Token& token) {
  const StringRef spelling = text(token);
  const lex::NumberValue number = lex::decodeNumber(spelling);
  ast::NumberSuffix suffix = ast::NumberSuffix::None;
  if (!number.suffix.empty()) {
    static constexpr struct {
      StringRef text;
      ast::NumberSuffix suffix;
    } kSuffixes[] = {
        {"i8", ast::NumberSuffix::I8},       {"i16", ast::NumberSuffix::I16},
        {"i32", ast::NumberSuffix::I32},     {"i64", ast::NumberSuffix::I64},
        {"isize", ast::NumberSuffix::Isize}, {"u8", ast::NumberSuffix::U8},
        {"u16", ast::NumberSuffix::U16},     {"u32", ast::NumberSuffix::U32},
        {"u64", ast::NumberSuffix::U64},     {"usize", ast::NumberSuffix::Usize},
        {"f32", ast::NumberSuffix::F32},     {"f64", ast::NumberSuffix::F64},
    };
    StringRef written = number.suffix;
    written = written.drop_while([](char c) { return c == '_'; });
    for (const auto& entry : kSuffixes)
      if (entry.text == written)
        suffix = entry.suffix;
    const Span span{token.end - uint32_t(written.size()), token.end};
    if (written == "i128" || written == "u128") {
      complain(span, diag::WideInteger, written);
    } else if (suffix == ast::NumberSuffix::None) {
      complain(span, diag::MalformedToken, ("unknown suffix `" + written + "`").str());
    } else if (number.isFloat && suffix != ast::NumberSuffix::F32 &&
               suffix != ast::NumberSuffix::F64) {
      complain(span, diag::MalformedToken,
               ("suffix `" + written + "` on a number with a fraction").str());
      suffix = ast::NumberSuffix::None;
    }
  }
  if (number.isFloat) {
    auto* literal = context_.make<ast::FloatExpr>(token.span());
    literal->value = number.floating;
    literal->suffix = suffix;
    return literal;
  }
  auto* literal = context_.make<ast::IntExpr>(token.span());
  literal->value = number.integer;
  literal->suffix = suffix;
  literal->tooLarge = number.tooLarge;
  return literal;
}

} // namespace gos::parse
