// Functions, their parameters, generics and bounds (language.md sections 9.1, 13.1, 16).

#include "compiler/parse/parser.h"

namespace gos::parse {

// Fn = [ "comptime" ] [ "unsafe" ] "fn" Ident [ Generics ] "(" [ Params ] ")" [ "->" Type ]
//      [ Where ] Block
ast::FunctionItem* Parser::parseFunction() {
  auto* function = context_.make<ast::FunctionItem>(at_->span());
  if (atWord(Word::Comptime)) {
    function->isComptime = true;
    advance();
  }
  if (at(TokenKind::Unsafe)) {
    complain(at_->span(), diag::NotYet, "`unsafe fn`");
    function->isUnsafe = true;
    advance();
  }
  if (!expect(TokenKind::Fn, "`fn`"))
    return function;
  function->name = expectIdent("the name of the function");
  if (panic_)
    return function;
  parseFunctionSignature(function);
  if (panic_ && !gaveUp_) {
    // The body is still read, so that its own mistakes are seen and its braces are spent.
    if (at(TokenKind::LeftBrace) && !at_->newlineBefore)
      calm();
    else
      return function;
  }
  if (at(TokenKind::LeftBrace)) {
    const unsigned outer = tallest_;
    tallest_ = 0;
    const bool outerMaySpawn =
        std::exchange(maySpawn_, file_.package == 0 ||
                                     (functionDepth_ == 0 && function->name.name.text() == "main" &&
                                      function->parameters.empty()));
    ++functionDepth_;
    function->body = parseBlock();
    --functionDepth_;
    maySpawn_ = outerMaySpawn;
    tallest_ = outer;
  }
  return function;
}

void Parser::parseFunctionSignature(ast::FunctionItem* function) {
  parseGenerics(function->generics);
  if (panic_)
    return;
  if (!at(TokenKind::LeftParen)) {
    failExpected("`(`");
    return;
  }
  parseParameters(function);
  if (!panic_ && accept(TokenKind::Arrow))
    function->returnType = parseType();
  if (!panic_)
    parseWhere(function->generics);
}

// Params = Param { SEP Param } [ "," ]
void Parser::parseParameters(ast::FunctionItem* function) {
  const Token opener = *at_;
  advance();
  SmallVector<ast::FunctionParameter, 8> parameters;
  parseList(TokenKind::RightParen, opener, [&] {
    ast::FunctionParameter parameter;
    const uint32_t begin = at_->begin;
    if (!parseSelfParameter(function, parameter))
      parseParameter(parameter);
    else if (!parameters.empty())
      fail(from(begin), diag::UnexpectedToken, "`self` as the first parameter",
           "it behind another one");
    parameter.span = from(begin);
    if (parameter.pattern)
      parameters.push_back(parameter);
  });
  function->parameters = list(parameters);
}

// SelfParam = "self" | "&" "self" | "&" "mut" "self" | "mut" "self"
bool Parser::parseSelfParameter(ast::FunctionItem* function, ast::FunctionParameter& parameter) {
  const uint32_t begin = at_->begin;
  ast::SelfKind self = ast::SelfKind::Value;
  unsigned length = 0;
  if (at(TokenKind::Amp)) {
    const unsigned lifetime = peek() == TokenKind::Label ? 1 : 0;
    const bool isMutable = peek(1 + lifetime) == TokenKind::Mut;
    self = isMutable ? ast::SelfKind::Mutable : ast::SelfKind::Shared;
    length = 1 + lifetime + (isMutable ? 1 : 0);
  } else if (at(TokenKind::Mut)) {
    self = ast::SelfKind::MutValue;
    length = 1;
  }
  if (peek(length) != TokenKind::SelfValue)
    return false;
  for (unsigned i = 0; i < length; ++i)
    advance();
  const ast::Ident word = ident(*at_);
  advance();
  auto* binding = makeBinding(word, self == ast::SelfKind::MutValue, begin);
  binding->variable->isParameter = true;
  parameter.pattern = binding;
  if (accept(TokenKind::Colon)) {
    parameter.type = parseType();
    if (const auto* reference = llvm::dyn_cast<ast::ReferenceTypeNode>(parameter.type))
      self = reference->mutability == ast::Mutability::Mutable ? ast::SelfKind::Mutable
                                                               : ast::SelfKind::Shared;
  }
  function->self = self;
  return true;
}

// Param = [ "comptime" ] [ "mut" ] Pattern ":" Type [ "=" DefaultLit ]
void Parser::parseParameter(ast::FunctionParameter& parameter) {
  if (atWord(Word::Comptime) && at(TokenKind::Identifier) && peek() != TokenKind::Colon) {
    parameter.isComptime = true;
    advance();
  }
  if (isSignature_ && !(at(TokenKind::Identifier) && peek() == TokenKind::Colon) &&
      !at(TokenKind::Mut)) {
    // A signature of the library's table may leave the names out.
    parameter.pattern = context_.make<ast::WildcardPattern>(at_->span());
    parameter.type = parseType();
    return;
  }
  parameter.pattern = parsePattern();
  if (panic_)
    return;
  if (auto* binding = llvm::dyn_cast<ast::BindingPattern>(parameter.pattern)) {
    binding->variable->isParameter = true;
    binding->variable->isComptime = parameter.isComptime;
  }
  if (!expect(TokenKind::Colon, "`:` and the parameter's type"))
    return;
  parameter.type = parseType();
  if (!panic_ && accept(TokenKind::Equal))
    parameter.defaultValue = parseDefault(parameter);
}

// DefaultLit = [ "-" ] Literal
Expr* Parser::parseDefault(ast::FunctionParameter& parameter) {
  Expr* value = parseExpr();
  const Expr* literal = value;
  if (const auto* unary = llvm::dyn_cast<ast::UnaryExpr>(literal);
      unary && unary->op == ast::UnaryOp::Negate)
    literal = unary->operand;
  switch (literal->kind) {
  case ast::ExprKind::Error:
  case ast::ExprKind::Int:
  case ast::ExprKind::Float:
    return value;
  case ast::ExprKind::Bool:
  case ast::ExprKind::Char:
  case ast::ExprKind::Byte:
  case ast::ExprKind::String:
  case ast::ExprKind::ByteString:
    if (literal == value)
      return value;
    break;
  default:
    break;
  }
  complain(value->span, diag::NonLiteralDefault, parameter.label().text());
  return errorExpr(value->span);
}

// ---- generics -------------------------------------------------------------------------------

// Generics = "<" GParam { SEP GParam } ">"
void Parser::parseGenerics(ast::Generics& generics) {
  if (!at(TokenKind::Less))
    return;
  const Token opener = *at_;
  advance();
  SmallVector<ast::GenericParameter, 4> parameters;
  while (!panic_ && !atAngleClose()) {
    if (at(TokenKind::Label)) { // a lifetime is accepted and ignored
      advance();
      if (accept(TokenKind::Colon))
        while (accept(TokenKind::Label) || accept(TokenKind::Plus)) {
        }
    } else {
      ast::GenericParameter parameter;
      parameter.isConst = accept(TokenKind::Const);
      parameter.name = expectIdent("the name of a type parameter");
      if (panic_)
        break;
      if (parameter.isConst) {
        if (expect(TokenKind::Colon, "`:` and the type of the parameter"))
          parameter.constType = parseType();
        if (!panic_ && accept(TokenKind::Equal))
          parameter.constDefault = at(TokenKind::LeftBrace) ? parseBlock() : parsePrefix();
      } else {
        if (accept(TokenKind::Colon))
          parameter.bounds = parseBounds();
        if (!panic_ && accept(TokenKind::Equal))
          parameter.defaultType = parseType();
      }
      parameters.push_back(parameter);
    }
    if (panic_ || accept(TokenKind::Comma) || at_->newlineBefore)
      continue;
    if (!atAngleClose())
      break;
  }
  if (!panic_)
    closeAngle(opener);
  generics.parameters = list(parameters);
  generics.span = from(opener.begin);
}

// Bounds = Bound { "+" Bound }
ArrayRef<ast::TypeBound> Parser::parseBounds() {
  SmallVector<ast::TypeBound, 4> bounds;
  do {
    if (accept(TokenKind::Label)) // a lifetime
      continue;
    if (at(TokenKind::Question)) {
      fail(at_->span(), diag::DeclinedFeature, "?Sized", "every type has a size");
      break;
    }
    ast::TypeBound bound;
    const uint32_t begin = at_->begin;
    const bool isCallable =
        at(TokenKind::Identifier) && peek() == TokenKind::LeftParen &&
        (atWord(Word::FnTrait) || atWord(Word::FnMutTrait) || atWord(Word::FnOnceTrait));
    if (isCallable) {
      // `F: Fn(A) -> R`: the path `Fn` with the function type as its one argument.
      ast::PathSegment segment;
      segment.ident = {context_.names.intern("Fn"), at_->span()};
      segment.hasArgs = true;
      ast::GenericArg arg;
      arg.type = parseTypeInner();
      segment.args = context_.list(ArrayRef(arg));
      bound.path.segments = context_.list(ArrayRef(segment));
      bound.path.span = from(begin);
    } else if (!parseTypePath(bound.path)) {
      break;
    }
    bounds.push_back(bound);
  } while (!panic_ && accept(TokenKind::Plus));
  return list(bounds);
}

// Where = "where" Type ":" Bounds { SEP Type ":" Bounds }
void Parser::parseWhere(ast::Generics& generics) {
  if (!accept(TokenKind::Where))
    return;
  SmallVector<ast::WherePredicate, 4> predicates;
  while (!panic_ && canStartType()) {
    ast::WherePredicate predicate;
    predicate.subject = parseType();
    if (panic_ || !expect(TokenKind::Colon, "`:` and the bounds"))
      break;
    predicate.bounds = parseBounds();
    predicates.push_back(predicate);
    // A newline separates, and also ends a clause that nothing follows: then what comes next
    // does not read as `Type :`.
    if (!accept(TokenKind::Comma) &&
        !(at_->newlineBefore && (peek() == TokenKind::Colon || peek() == TokenKind::ColonColon ||
                                 peek() == TokenKind::Less)))
      break;
  }
  generics.where = list(predicates);
}

} // namespace gos::parse
