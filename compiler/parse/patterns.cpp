// Patterns (language.md section 12).

#include "compiler/parse/parser.h"

namespace gos::parse {

// Pattern = PatAlt { "|" PatAlt }
Pattern* Parser::parsePattern() {
  const uint32_t begin = at_->begin;
  Pattern* first = parsePatternAlternative();
  if (!at(TokenKind::Pipe) || panic_)
    return first;
  SmallVector<Pattern*, 4> alternatives{first};
  while (!panic_ && accept(TokenKind::Pipe))
    alternatives.push_back(parsePatternAlternative());
  auto* either = context_.make<ast::OrPattern>(from(begin));
  either->alternatives = list(alternatives);
  return either;
}

Pattern* Parser::parsePatternAlternative() {
  Nest nest(*this);
  return nest.ok ? parsePatternInner() : errorPattern();
}

ast::BindingPattern* Parser::makeBinding(ast::Ident ident, bool isMutable, uint32_t begin) {
  auto* binding = context_.make<ast::BindingPattern>(from(begin));
  auto* variable = context_.makePlain<ast::Variable>();
  variable->name = ident.name;
  variable->span = ident.span;
  variable->isMutable = isMutable;
  binding->variable = variable;
  return binding;
}

Pattern* Parser::parsePatternInner() {
  const uint32_t begin = at_->begin;
  switch (kind()) {
  case TokenKind::Identifier:
    if (atWord(Word::Underscore)) {
      auto* wildcard = context_.make<ast::WildcardPattern>(at_->span());
      advance();
      return wildcard;
    }
    switch (peek()) {
    case TokenKind::ColonColon:
    case TokenKind::LeftParen:
    case TokenKind::LeftBrace:
    case TokenKind::Less:
    case TokenKind::DotDot:
    case TokenKind::DotDotEqual:
      return parsePathPattern();
    default:
      return parseBinding(false, begin);
    }
  case TokenKind::Mut:
    advance();
    return parseBinding(true, begin);
  case TokenKind::SelfType:
  case TokenKind::SelfValue:
  case TokenKind::Super:
  case TokenKind::Crate:
    return parsePathPattern();
  case TokenKind::Minus:
  case TokenKind::Int:
  case TokenKind::Float:
  case TokenKind::Char:
  case TokenKind::Byte:
  case TokenKind::String:
  case TokenKind::RawString:
  case TokenKind::TripleString:
  case TokenKind::ByteString:
  case TokenKind::RawByteString:
  case TokenKind::True:
  case TokenKind::False: {
    bool isNegative = false;
    Expr* value = parsePatternBound(isNegative);
    if (panic_)
      return errorPattern();
    if (at(TokenKind::DotDot) || at(TokenKind::DotDotEqual))
      return parseRangePattern(value, begin);
    auto* literal = context_.make<ast::LiteralPattern>(from(begin));
    literal->negative = isNegative;
    literal->value = isNegative ? llvm::cast<ast::UnaryExpr>(value)->operand : value;
    return literal;
  }
  case TokenKind::DotDot:
  case TokenKind::DotDotEqual: {
    if (at(TokenKind::DotDotEqual) || at_[1].kind == TokenKind::Minus ||
        at_[1].kind == TokenKind::Int || at_[1].kind == TokenKind::Float ||
        at_[1].kind == TokenKind::Char || at_[1].kind == TokenKind::Byte ||
        (at_[1].kind == TokenKind::Identifier && at_[2].kind == TokenKind::ColonColon))
      return parseRangePattern(nullptr, begin);
    auto* rest = context_.make<ast::RestPattern>(at_->span());
    advance();
    return rest;
  }
  case TokenKind::LeftParen:
    return parseParenPattern();
  case TokenKind::LeftBracket:
    return parseSlicePattern();
  case TokenKind::Amp:
  case TokenKind::AmpAmp: {
    auto* outer = context_.make<ast::ReferencePattern>(at_->span());
    ast::ReferencePattern* inner = outer;
    if (at(TokenKind::AmpAmp)) {
      inner = context_.make<ast::ReferencePattern>(Span{at_->begin + 1, at_->end});
      outer->sub = inner;
    }
    advance();
    if (accept(TokenKind::Mut))
      inner->mutability = ast::Mutability::Mutable;
    inner->sub = parsePatternAlternative();
    inner->span = from(inner->span.begin);
    outer->span = from(begin);
    return outer;
  }
  case TokenKind::Error: {
    Pattern* error = errorPattern();
    advance();
    return error;
  }
  default:
    failExpected("a pattern");
    return errorPattern();
  }
}

// [ "mut" ] Ident [ "@" PatAlt ]
Pattern* Parser::parseBinding(bool isMutable, uint32_t begin) {
  const ast::Ident ident = expectIdent("a name");
  if (panic_)
    return errorPattern();
  ast::BindingPattern* binding = makeBinding(ident, isMutable, begin);
  if (accept(TokenKind::At)) {
    binding->sub = parsePatternAlternative();
    binding->span = from(begin);
  }
  return binding;
}

// Path [ "(" [ Pattern { SEP Pattern } ] ")" | "{" [ PatField { SEP PatField } ] "}" ]
Pattern* Parser::parsePathPattern() {
  const uint32_t begin = at_->begin;
  const Token first = *at_;
  ast::Path path;
  SmallVector<ast::PathSegment, 4> segments;
  parsePathSegments(path, segments);
  if (panic_)
    return errorPattern();
  if (at(TokenKind::DotDot) || at(TokenKind::DotDotEqual)) {
    if (!isIntLimit(path))
      complain(path.span, diag::RangeBoundPath, text(path.span));
    auto* bound = context_.make<ast::PathExpr>(path.span);
    bound->path = path;
    return parseRangePattern(bound, begin);
  }
  if (at(TokenKind::LeftParen) && !at_->newlineBefore) {
    const Token opener = *at_;
    auto* tuple = context_.make<ast::TupleStructPattern>(path.span);
    tuple->path = path;
    advance();
    SmallVector<Pattern*, 4> elements;
    parsePatternList(TokenKind::RightParen, opener, elements, false);
    tuple->elements = list(elements);
    tuple->span = from(begin);
    return tuple;
  }
  if (at(TokenKind::LeftBrace) && !at_->newlineBefore)
    return parseStructPattern(path);
  if (segments.size() == 1 && !segments.front().hasArgs && first.kind == TokenKind::Identifier)
    return makeBinding(segments.front().ident, false, begin);
  auto* pattern = context_.make<ast::PathPattern>(path.span);
  pattern->path = path;
  return pattern;
}

// PatField = [ "mut" ] Ident [ ":" Pattern ] | ".."
Pattern* Parser::parseStructPattern(const ast::Path& path) {
  const Token opener = *at_;
  auto* pattern = context_.make<ast::StructPattern>(path.span);
  pattern->path = path;
  advance();
  SmallVector<ast::FieldPattern, 8> fields;
  parseList(TokenKind::RightBrace, opener, [&] {
    if (at(TokenKind::DotDot)) {
      if (pattern->hasRest)
        complain(at_->span(), diag::SecondRest);
      pattern->hasRest = true;
      advance();
      return;
    }
    const uint32_t begin = at_->begin;
    const bool isMutable = accept(TokenKind::Mut);
    ast::FieldPattern field;
    field.name = expectIdent("a field name");
    if (panic_)
      return;
    if (!isMutable && accept(TokenKind::Colon))
      field.pattern = parsePattern();
    else
      field.pattern = makeBinding(field.name, isMutable, begin);
    fields.push_back(field);
  });
  pattern->fields = list(fields);
  pattern->span = from(path.span);
  return pattern;
}

void Parser::parsePatternList(TokenKind close, const Token& opener,
                              SmallVectorImpl<Pattern*>& patterns, bool allowRestName) {
  bool hasRest = false;
  parseList(close, opener, [&] {
    const uint32_t begin = at_->begin;
    Pattern* element = parsePattern();
    // `rest @ ..` is `..rest`.
    if (auto* named = llvm::dyn_cast<ast::BindingPattern>(element); named && allowRestName)
      if (auto* rest = llvm::dyn_cast_or_null<ast::RestPattern>(named->sub)) {
        rest->variable = named->variable;
        rest->span = named->span;
        element = rest;
      }
    if (auto* rest = llvm::dyn_cast<ast::RestPattern>(element)) {
      if (hasRest)
        complain(rest->span, diag::SecondRest);
      hasRest = true;
      if (!rest->variable && allowRestName && at(TokenKind::Identifier) && !at_->newlineBefore &&
          !atWord(Word::Underscore)) {
        const ast::Ident name = ident(*at_);
        advance();
        rest->variable = makeBinding(name, false, begin)->variable;
        rest->span = from(begin);
      }
    }
    patterns.push_back(element);
  });
}

Pattern* Parser::parseParenPattern() {
  const Token opener = *at_;
  advance();
  SmallVector<Pattern*, 4> elements;
  parsePatternList(TokenKind::RightParen, opener, elements, false);
  // `(p)` is `p`; one element with its comma is a tuple.
  const bool hasComma =
      at_[-1].kind == TokenKind::RightParen && (at_ - 2)->kind == TokenKind::Comma;
  if (elements.size() == 1 && !hasComma && !llvm::isa<ast::RestPattern>(elements.front()))
    return elements.front();
  auto* tuple = context_.make<ast::TuplePattern>(from(opener.begin));
  tuple->elements = list(elements);
  return tuple;
}

Pattern* Parser::parseSlicePattern() {
  const Token opener = *at_;
  advance();
  SmallVector<Pattern*, 4> elements;
  parsePatternList(TokenKind::RightBracket, opener, elements, true);
  auto* slice = context_.make<ast::SlicePattern>(from(opener.begin));
  slice->elements = list(elements);
  return slice;
}

// PatRange = PatBound ".." [ PatBound ] | PatBound "..=" PatBound | ".." PatBound | "..=" PatBound
Pattern* Parser::parseRangePattern(Expr* low, uint32_t begin) {
  auto* range = context_.make<ast::RangePattern>(at_->span());
  const Token op = *at_;
  range->low = low;
  range->inclusive = op.kind == TokenKind::DotDotEqual;
  advance();
  bool isNegative = false;
  if (!at_->newlineBefore && beginsPatternBound(at_))
    range->high = parsePatternBound(isNegative);
  else if (range->inclusive)
    complain(op.span(), diag::RangeWithoutEnd);
  range->span = from(begin);
  return range;
}

bool Parser::isIntLimit(const ast::Path& path) const {
  if (path.segments.size() != 2)
    return false;
  const StringRef last = path.segments[1].ident.name.text();
  return last == "MIN" || last == "MAX";
}

// PatBound = [ "-" ] Literal | IntLimit
Expr* Parser::parsePatternBound(bool& isNegative) {
  const uint32_t begin = at_->begin;
  if (at(TokenKind::Identifier)) {
    ast::Path path;
    SmallVector<ast::PathSegment, 2> segments;
    parsePathSegments(path, segments);
    if (!panic_ && !isIntLimit(path))
      complain(path.span, diag::RangeBoundPath, text(path.span));
    auto* bound = context_.make<ast::PathExpr>(path.span);
    bound->path = path;
    return bound;
  }
  isNegative = accept(TokenKind::Minus);
  if (isNegative && !at(TokenKind::Int) && !at(TokenKind::Float)) {
    failExpected("a number after `-`");
    isNegative = false;
    return errorExpr();
  }
  Expr* value = parseLiteral();
  if (!isNegative)
    return value;
  auto* negated = context_.make<ast::UnaryExpr>(from(begin));
  negated->op = ast::UnaryOp::Negate;
  negated->operand = value;
  return negated;
}

} // namespace gos::parse
