// Types as they are written (language.md sections 4 and 6).

#include "compiler/parse/parser.h"

namespace gos::parse {

TypeNode* Parser::parseType() {
  Nest nest(*this);
  return nest.ok ? parseTypeInner() : errorType();
}

// Type = TypePath | TupleType | ArrayType | RefType | FnType | "!"
TypeNode* Parser::parseTypeInner() {
  const uint32_t begin = at_->begin;
  switch (kind()) {
  case TokenKind::Identifier:
    switch (at_->word) {
    case Word::FnTrait:
    case Word::FnMutTrait:
    case Word::FnOnceTrait:
      if (at_->word != Word::FnTrait)
        complain(at_->span(), diag::CallableType, text(*at_));
      if (peek() == TokenKind::LeftParen)
        return parseFnType(begin);
      break;
    case Word::Dyn:
      if (!at_[1].newlineBefore &&
          (at_[1].kind == TokenKind::Identifier || at_[1].kind == TokenKind::LeftParen)) {
        fail(at_->span(), diag::DeclinedFeature, "dyn", "a collection of several types is an enum");
        return errorType();
      }
      break;
    case Word::Underscore:
      failExpected("a type");
      return errorType();
    default:
      break;
    }
    return parsePathType();
  case TokenKind::SelfType:
  case TokenKind::SelfValue:
  case TokenKind::Super:
  case TokenKind::Crate:
  case TokenKind::Less:
    return parsePathType();
  case TokenKind::LeftParen:
    return parseParenType();
  case TokenKind::LeftBracket:
    return parseBracketType();
  case TokenKind::Amp:
  case TokenKind::AmpAmp: {
    auto* outer = context_.make<ast::ReferenceTypeNode>(at_->span());
    ast::ReferenceTypeNode* inner = outer;
    if (at(TokenKind::AmpAmp)) {
      inner = context_.make<ast::ReferenceTypeNode>(Span{at_->begin + 1, at_->end});
      outer->target = inner;
    }
    advance();
    accept(TokenKind::Label); // a lifetime is accepted and ignored
    if (accept(TokenKind::Mut))
      inner->mutability = ast::Mutability::Mutable;
    inner->target = parseType();
    inner->span = from(inner->span.begin);
    outer->span = from(begin);
    return outer;
  }
  case TokenKind::Bang: {
    auto* never = context_.make<ast::NeverTypeNode>(at_->span());
    advance();
    return never;
  }
  case TokenKind::Fn:
    complain(at_->span(), diag::CallableType, "fn");
    if (peek() == TokenKind::LeftParen)
      return parseFnType(begin);
    advance();
    return context_.make<ast::ErrorTypeNode>(from(begin));
  case TokenKind::Impl:
    fail(at_->span(), diag::DeclinedFeature, "impl Trait", "name a type parameter with a bound");
    return errorType();
  case TokenKind::Star:
    fail(at_->span(), diag::UnexpectedToken, "a type", "a raw pointer");
    return errorType();
  case TokenKind::For:
    fail(at_->span(), diag::DeclinedFeature, "for<..>", "lifetimes are not written");
    return errorType();
  default:
    failExpected("a type");
    return errorType();
  }
}

bool Parser::canStartType() const {
  switch (kind()) {
  case TokenKind::Identifier:
  case TokenKind::SelfType:
  case TokenKind::SelfValue:
  case TokenKind::Super:
  case TokenKind::Crate:
  case TokenKind::Less:
  case TokenKind::LeftParen:
  case TokenKind::LeftBracket:
  case TokenKind::Amp:
  case TokenKind::AmpAmp:
  case TokenKind::Bang:
    return true;
  default:
    return false;
  }
}

TypeNode* Parser::parsePathType() {
  auto* node = context_.make<ast::PathTypeNode>(at_->span());
  const uint32_t begin = at_->begin;
  if (at(TokenKind::Less)) {
    const Token opener = *at_;
    advance();
    node->path.qualifier = parseType();
    if (panic_ || !closeAngle(opener) || !expect(TokenKind::ColonColon, "`::`"))
      return errorType();
  }
  if (!parseTypePath(node->path))
    return errorType();
  node->path.span = node->span = from(begin);
  return node;
}

// TypePath = Path [ "<" GArg { SEP GArg } ">" ] { "::" Ident }
bool Parser::parseTypePath(ast::Path& path) {
  const uint32_t begin = at_->begin;
  SmallVector<ast::PathSegment, 4> segments;
  for (;;) {
    const bool isName = (at(TokenKind::Identifier) && !atWord(Word::Underscore)) ||
                        at(TokenKind::SelfType) || at(TokenKind::SelfValue) ||
                        at(TokenKind::Super) || at(TokenKind::Crate);
    if (!isName) {
      failExpected("a name");
      return false;
    }
    ast::PathSegment segment;
    segment.ident = ident(*at_);
    advance();
    if (at(TokenKind::ColonColon) && peek() == TokenKind::Less)
      advance();
    if (at(TokenKind::Less) && !at_->newlineBefore) {
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
  return !panic_;
}

bool Parser::atAngleClose() const {
  return at(TokenKind::Greater) || at(TokenKind::ShiftRight) || at(TokenKind::GreaterEqual) ||
         at(TokenKind::ShiftRightEqual);
}

/// Consumes one `>`, cutting it off a longer operator where need be.
bool Parser::closeAngle(const Token& opener) {
  const auto cut = [&](TokenKind rest) {
    at_->kind = rest;
    previousEnd_ = ++at_->begin;
    at_->touchesPrevious = true;
    at_->newlineBefore = false;
    return true;
  };
  switch (kind()) {
  case TokenKind::Greater:
    advance();
    return true;
  case TokenKind::ShiftRight:
    return cut(TokenKind::Greater);
  case TokenKind::GreaterEqual:
    return cut(TokenKind::Equal);
  case TokenKind::ShiftRightEqual:
    return cut(TokenKind::GreaterEqual);
  default:
    if (atEnd() || isCloser(kind()))
      failUnclosed(opener);
    else
      failExpected("`,` or `>`");
    return false;
  }
}

// "<" GArg { SEP GArg } ">"       GArg = Type | [ "-" ] Literal | Block | Ident "=" Type
void Parser::parseGenericArgs(SmallVectorImpl<ast::GenericArg>& args) {
  const Token opener = *at_;
  advance();
  while (!panic_ && !atAngleClose()) {
    ast::GenericArg arg;
    switch (kind()) {
    case TokenKind::Label: // a lifetime is accepted and ignored
      advance();
      break;
    case TokenKind::Minus:
    case TokenKind::Int:
    case TokenKind::Char:
    case TokenKind::String:
    case TokenKind::True:
    case TokenKind::False:
      arg.value = parsePrefix();
      args.push_back(arg);
      break;
    case TokenKind::LeftBrace:
      arg.value = parseBlock();
      args.push_back(arg);
      break;
    default:
      if (at(TokenKind::Identifier) && peek() == TokenKind::Equal) {
        arg.label = ident(*at_);
        advance();
        advance();
      }
      arg.type = parseType();
      args.push_back(arg);
    }
    if (panic_ || accept(TokenKind::Comma) || at_->newlineBefore)
      continue;
    if (!atAngleClose())
      break;
  }
  if (!panic_)
    closeAngle(opener);
}

// FnType = "Fn" "(" [ Type { SEP Type } ] ")" [ "->" Type ]
TypeNode* Parser::parseFnType(uint32_t begin) {
  auto* node = context_.make<ast::FunctionTypeNode>(at_->span());
  advance();
  const Token opener = *at_;
  advance();
  SmallVector<TypeNode*, 4> parameters;
  parseList(TokenKind::RightParen, opener, [&] { parameters.push_back(parseType()); });
  node->parameters = list(parameters);
  if (!panic_ && accept(TokenKind::Arrow))
    node->result = parseType();
  node->span = from(begin);
  return node;
}

// TupleType = "(" [ Type { SEP Type } [ "," ] ] ")"
TypeNode* Parser::parseParenType() {
  const Token opener = *at_;
  advance();
  SmallVector<TypeNode*, 4> elements;
  parseList(TokenKind::RightParen, opener, [&] { elements.push_back(parseType()); });
  const bool hasComma =
      at_[-1].kind == TokenKind::RightParen && (at_ - 2)->kind == TokenKind::Comma;
  if (elements.size() == 1 && !hasComma)
    return elements.front();
  auto* tuple = context_.make<ast::TupleTypeNode>(from(opener.begin));
  tuple->elements = list(elements);
  return tuple;
}

// ArrayType = "[" Type [ ";" Expr ] "]"
TypeNode* Parser::parseBracketType() {
  const Token opener = *at_;
  advance();
  TypeNode* element = parseType();
  Expr* length = nullptr;
  if (!panic_ && accept(TokenKind::Semicolon))
    length = parseExprIn(Mode{});
  if (!panic_ && !accept(TokenKind::RightBracket)) {
    if (atEnd() || isCloser(kind()))
      failUnclosed(opener);
    else
      failExpected(length ? "`]`" : "`;` or `]`");
  }
  if (length) {
    auto* array = context_.make<ast::ArrayTypeNode>(from(opener.begin));
    array->element = element;
    array->length = length;
    return array;
  }
  auto* slice = context_.make<ast::SliceTypeNode>(from(opener.begin));
  slice->element = element;
  return slice;
}

} // namespace gos::parse
