// Expressions by level of precedence (language.md section 5), and where one stops at a newline
// (section 3.2).

#include "compiler/parse/parser.h"

namespace gos::parse {

Expr* Parser::parseExpr() {
  Height height(*this);
  Expr* value = parsePipe();
  if (operatorOf(kind()).isAssignment && !panic_) {
    complain(at_->span(), diag::AssignmentInExpression, lex::describe(kind()));
    advance();
    Expr* right = parsePipe();
    return errorExpr(value->span.to(right->span));
  }
  return value;
}

// Pipe = Range { "|>" PipeStep }
Expr* Parser::pipeFrom(Expr* left) {
  while (at(TokenKind::PipeGreater) && !mode_.isPipeStep && !panic_) {
    advance();
    Mode mode = mode_;
    mode.isPipeStep = true;
    Expr* step = nullptr;
    {
      ModeScope scope(*this, mode);
      step = parseRange();
    }
    auto* pipe = context_.make<ast::PipeExpr>(from(left->span));
    pipe->value = left;
    pipe->step = panic_ ? step : checkPipeStep(step);
    left = pipe;
    ++tallest_;
  }
  return left;
}

/// A step is something to call with one argument, or a closure.
Expr* Parser::checkPipeStep(Expr* step) {
  const auto refuse = [&](StringRef what) {
    complain(step->span, diag::PipeStepNotCallable, what);
    return errorExpr(step->span);
  };
  switch (step->kind) {
  case ast::ExprKind::Call: {
    const auto* call = llvm::cast<ast::CallExpr>(step);
    if (call->arguments.empty())
      return step;
    complain(step->span, diag::PipeStepArguments, text(call->callee->span));
    return errorExpr(step->span);
  }
  case ast::ExprKind::MethodCall: {
    const auto* call = llvm::cast<ast::MethodCallExpr>(step);
    if (call->arguments.empty())
      return step;
    complain(step->span, diag::PipeStepArguments, call->name.name.text());
    return errorExpr(step->span);
  }
  case ast::ExprKind::KnownCall: {
    // `x |> println()` is `x |> println`.
    const auto* call = llvm::cast<ast::KnownCallExpr>(step);
    if (call->arguments.empty() && !call->hasTemplate && !call->pattern)
      return makeName(call->name);
    complain(step->span, diag::PipeStepArguments, call->name.name.text());
    return errorExpr(step->span);
  }
  case ast::ExprKind::Int:
  case ast::ExprKind::Float:
  case ast::ExprKind::Bool:
  case ast::ExprKind::Char:
  case ast::ExprKind::Byte:
  case ast::ExprKind::String:
  case ast::ExprKind::ByteString:
  case ast::ExprKind::FString:
    return refuse("a literal");
  case ast::ExprKind::Tuple:
  case ast::ExprKind::Array:
  case ast::ExprKind::Repeat:
  case ast::ExprKind::Map:
  case ast::ExprKind::Set:
  case ast::ExprKind::StructLiteral:
    return refuse("a compound literal");
  case ast::ExprKind::Binary:
  case ast::ExprKind::Unary:
  case ast::ExprKind::Range:
  case ast::ExprKind::Cast:
  case ast::ExprKind::Borrow:
    return refuse("the result of an operator");
  case ast::ExprKind::While:
  case ast::ExprKind::For:
    return refuse("a loop");
  default:
    return step;
  }
}

// Range = [ Or ] ( ".." [ Or ] | "..=" Or ) | Or
Expr* Parser::parseRange() {
  if (at(TokenKind::DotDot) || at(TokenKind::DotDotEqual))
    return rangeFrom(parseRangeEnd(at_->begin, nullptr));
  return rangeFrom(parseBinary(kOrLevel));
}

Expr* Parser::rangeFrom(Expr* left) {
  while ((at(TokenKind::DotDot) || at(TokenKind::DotDotEqual)) && !panic_) {
    if (at_->newlineBefore && mode_.isArmBody && lineIsRangePattern(at_, last_))
      return left;
    const bool isChained = llvm::isa<ast::RangeExpr>(left) && !left->parenthesised;
    if (isChained)
      complain(at_->span(), diag::ChainedRange, text(*at_));
    left = parseRangeEnd(left->span.begin, left);
    if (isChained)
      left = errorExpr(left->span);
  }
  return left;
}

Expr* Parser::parseRangeEnd(uint32_t begin, Expr* low) {
  auto* range = context_.make<ast::RangeExpr>(at_->span());
  const Token op = *at_;
  range->low = low;
  range->inclusive = at(TokenKind::DotDotEqual);
  advance();
  const bool endFollows = !at_->newlineBefore && canStartExpr() && !at(TokenKind::Pipe) &&
                          !at(TokenKind::PipePipe) && !at(TokenKind::DotDot) &&
                          !at(TokenKind::DotDotEqual) &&
                          !(at(TokenKind::LeftBrace) && mode_.isHead);
  if (endFollows)
    range->high = parseBinary(kOrLevel);
  else if (range->inclusive)
    complain(op.span(), diag::RangeWithoutEnd);
  range->span = from(begin);
  return range;
}

Expr* Parser::parseBinary(unsigned minimum) {
  const unsigned outer = tallest_;
  tallest_ = 0;
  Expr* left = parseUnary();
  left = binaryFrom(left, minimum, tallest_ + 1);
  if (tallest_ < outer)
    tallest_ = outer;
  return left;
}

/// Operators of level `minimum` and tighter behind `left`, whose tree has the given height.
Expr* Parser::binaryFrom(Expr* left, unsigned minimum, unsigned height) {
  bool isComparison = false;
  for (;;) {
    const OperatorInfo info = operatorOf(kind());
    if (info.level < minimum || info.level == 0 || panic_)
      break;
    if (at_->newlineBefore && !mode_.freeBreaks && has(kind(), TokenTrait::StopsAtNewline))
      break;
    if (info.level == kAndLevel && at_[1].kind == TokenKind::Let)
      break; // a let-chain: the condition goes on
    const bool isChained = info.level == kCompareLevel && isComparison;
    if (isChained)
      complain(at_->span(), diag::ChainedComparison, text(*at_));
    isComparison = info.level == kCompareLevel;
    auto* binary = context_.make<ast::BinaryExpr>(at_->span());
    binary->op = info.op;
    binary->opSpan = at_->span();
    binary->left = left;
    advance();
    tallest_ = 0;
    binary->right = parseBinary(info.level + 1);
    binary->span = from(left->span);
    height = (tallest_ > height ? tallest_ : height) + 1;
    if (height > kMaxTreeHeight)
      tooDeep();
    left = isChained ? errorExpr(binary->span) : static_cast<Expr*>(binary);
  }
  tallest_ = height;
  return left;
}

// Cast = Unary { "as" Type }
Expr* Parser::castFrom(Expr* operand) {
  while (at(TokenKind::As) && !panic_) {
    advance();
    auto* cast = context_.make<ast::CastExpr>(operand->span);
    cast->operand = operand;
    cast->target = parseType();
    cast->span = from(operand->span);
    operand = cast;
    ++tallest_;
  }
  return operand;
}

// Unary = ( "-" | "!" | "*" | "&" [ "mut" ] ) Unary | Postfix
Expr* Parser::parsePrefix() {
  struct Prefix {
    uint32_t begin;
    TokenKind kind;
    bool isMutable;
  };
  SmallVector<Prefix, 4> prefixes;
  for (;;) {
    const uint32_t begin = at_->begin;
    switch (kind()) {
    case TokenKind::Minus:
    case TokenKind::Bang:
    case TokenKind::Star:
      prefixes.push_back({begin, kind(), false});
      advance();
      continue;
    case TokenKind::AmpAmp:
      prefixes.push_back({begin, TokenKind::Amp, false});
      advance();
      prefixes.push_back({begin + 1, TokenKind::Amp, accept(TokenKind::Mut)});
      continue;
    case TokenKind::Amp:
      advance();
      prefixes.push_back({begin, TokenKind::Amp, accept(TokenKind::Mut)});
      continue;
    default:
      break;
    }
    break;
  }
  Expr* operand = postfixFrom(parsePrimary());
  for (const Prefix& prefix : llvm::reverse(prefixes)) {
    if (prefix.kind == TokenKind::Amp) {
      auto* borrow = context_.make<ast::BorrowExpr>(from(prefix.begin));
      borrow->mutability = prefix.isMutable ? ast::Mutability::Mutable : ast::Mutability::Shared;
      borrow->operand = operand;
      operand = borrow;
      continue;
    }
    auto* unary = context_.make<ast::UnaryExpr>(from(prefix.begin));
    unary->op = prefix.kind == TokenKind::Minus  ? ast::UnaryOp::Negate
                : prefix.kind == TokenKind::Bang ? ast::UnaryOp::Not
                                                 : ast::UnaryOp::Deref;
    unary->operand = operand;
    operand = unary;
  }
  tallest_ += unsigned(prefixes.size());
  return operand;
}

// Postfix = Primary { "." Ident [ "::" "<" GArg { SEP GArg } ">" ] [ Args ] | "." DecInt | Args
//                   | "[" Expr "]" | "?" }
Expr* Parser::postfixFrom(Expr* operand) {
  unsigned links = 0;
  while (!panic_) {
    switch (kind()) {
    case TokenKind::Dot:
      operand = parseMember(operand);
      break;
    case TokenKind::Question: {
      advance();
      auto* attempt = context_.make<ast::TryExpr>(from(operand->span));
      attempt->operand = operand;
      operand = attempt;
      break;
    }
    case TokenKind::LeftParen: {
      if (at_->newlineBefore)
        goto done;
      const Token callee = at_[-1];
      const bool hasLiteral = isTemplateLiteral(peek());
      const Token literal = at_[1];
      const size_t errorsBefore = engine_.errorCount() + engine_.suppressed();
      auto* call = context_.make<ast::CallExpr>(operand->span);
      call->callee = operand;
      call->arguments = parseArguments();
      if (hasLiteral && !panic_ && errorsBefore == engine_.errorCount() + engine_.suppressed())
        if (Expr* format = formatCallOf(callee, call->arguments, &literal)) {
          ast::Argument argument;
          argument.value = format;
          call->arguments = context_.list(ArrayRef(argument));
        }
      call->span = from(operand->span);
      operand = call;
      break;
    }
    case TokenKind::LeftBracket: {
      if (at_->newlineBefore)
        goto done;
      const Token opener = *at_;
      auto* index = context_.make<ast::IndexExpr>(operand->span);
      index->object = operand;
      Nest nest(*this);
      if (!nest.ok)
        return operand;
      advance();
      index->index = parseExprIn(Mode{});
      if (!panic_ && !accept(TokenKind::RightBracket))
        isCloser(kind()) || atEnd() ? failUnclosed(opener) : (void)failExpected("`]`");
      index->span = from(operand->span);
      operand = index;
      break;
    }
    default:
      goto done;
    }
    ++links;
  }
done:
  tallest_ += links;
  return operand;
}

Expr* Parser::parseMember(Expr* object) {
  advance();
  if (at(TokenKind::Int) || at(TokenKind::Float)) {
    // `x.0.1` reaches the parser as the float `0.1`.
    const Token token = *at_;
    SmallVector<StringRef, 2> positions;
    text(token).split(positions, '.');
    for (StringRef position : positions) {
      auto* field = context_.make<ast::TupleFieldExpr>(object->span);
      field->object = object;
      const uint32_t end = token.begin + uint32_t(position.end() - text(token).begin());
      field->span.end = end;
      if (position.getAsInteger(10, field->index)) {
        fail(token.span(), diag::ExpectedTupleIndex, found(token));
        advance();
        return object;
      }
      object = field;
      ++tallest_;
    }
    advance();
    return object;
  }
  if (!at(TokenKind::Identifier) || atWord(Word::Underscore)) {
    if (at(TokenKind::Await))
      fail(at_->span(), diag::DeclinedFeature, "await", "a call waits by itself");
    else if (at(TokenKind::Error) || atEnd())
      failExpected("a field name");
    else
      fail(at_->span(), diag::ExpectedTupleIndex, found(*at_));
    return object;
  }
  const ast::Ident member = ident(*at_);
  advance();
  const bool hasTypeArgs =
      at(TokenKind::ColonColon) && peek() == TokenKind::Less && !at_->newlineBefore;
  if (!hasTypeArgs && !(at(TokenKind::LeftParen) && !at_->newlineBefore)) {
    auto* field = context_.make<ast::FieldExpr>(from(object->span));
    field->object = object;
    field->name = member;
    return field;
  }
  auto* call = context_.make<ast::MethodCallExpr>(object->span);
  call->receiver = object;
  call->name = member;
  if (hasTypeArgs) {
    call->hasTypeArgs = true;
    advance();
    SmallVector<ast::GenericArg, 2> args;
    parseGenericArgs(args);
    call->typeArgs = list(args);
  }
  if (at(TokenKind::LeftParen) && !at_->newlineBefore)
    call->arguments = parseArguments();
  else if (!panic_)
    failExpected("`(`");
  call->span = from(object->span);
  return call;
}

// Args = "(" [ Arg { SEP Arg } [ "," ] ] ")"       Arg = [ Ident ":" ] Expr
ArrayRef<ast::Argument> Parser::parseArguments() {
  const Token opener = *at_;
  Nest nest(*this);
  if (!nest.ok)
    return {};
  advance();
  ModeScope scope(*this, Mode{});
  SmallVector<ast::Argument, 4> arguments;
  parseList(TokenKind::RightParen, opener, [&] {
    ast::Argument argument;
    if (at(TokenKind::Identifier) && (peek() == TokenKind::Colon || peek() == TokenKind::Equal)) {
      argument.label = ident(*at_);
      advance();
      if (at(TokenKind::Equal))
        complain(at_->span(), diag::LabelWithEquals, argument.label.name.text())
            .suggest(at_->span(), ":", "bind it with `:`");
      advance();
    }
    argument.value = parseExpr();
    arguments.push_back(argument);
  });
  return list(arguments);
}

} // namespace gos::parse
