// if, match, loops, closures, jumps, comptime (language.md sections 11, 14, 22).

#include "compiler/parse/parser.h"

namespace gos::parse {

// If = "if" Cond Block [ "else" ( If | Block ) ]
Expr* Parser::parseIf() {
  // A chain of `else if` is read by a loop, and linked from its end.
  SmallVector<ast::IfExpr*, 4> chain;
  Expr* last = nullptr;
  for (;;) {
    const uint32_t begin = at_->begin;
    auto* link = context_.make<ast::IfExpr>(at_->span());
    link->span.begin = begin;
    chain.push_back(link);
    advance();
    link->conditions = parseConditions("`if`");
    link->thenBlock = parseBlock();
    if (panic_ || !at(TokenKind::Else))
      break;
    advance();
    if (at(TokenKind::If))
      continue;
    last = parseBlock();
    break;
  }
  for (ast::IfExpr* link : llvm::reverse(chain)) {
    link->elseBranch = last;
    link->span = from(link->span.begin);
    last = link;
  }
  tallest_ += unsigned(chain.size());
  return last;
}

// Cond = CondTerm { "&&" CondTerm }       CondTerm = "let" Pattern "=" Cmp | Cmp
ArrayRef<Expr*> Parser::parseConditions(StringRef what) {
  Mode mode;
  mode.isHead = true;
  ModeScope scope(*this, mode);
  Height height(*this);
  SmallVector<Expr*, 4> conditions;
  bool sawLet = false;
  const auto refuseOr = [&](Span span) {
    fail(span, diag::UnexpectedToken, "`&&` beside a `let`", "`||`");
  };
  for (;;) {
    if (at(TokenKind::Let)) {
      sawLet = true;
      auto* condition = context_.make<ast::LetConditionExpr>(at_->span());
      const uint32_t begin = at_->begin;
      advance();
      condition->pattern = parsePattern();
      if (!panic_ && expect(TokenKind::Equal, "`=` after the pattern"))
        condition->value = parseBinary(kCompareLevel);
      else
        condition->value = errorExpr();
      condition->span = from(begin);
      conditions.push_back(condition);
    } else if (sawLet) {
      conditions.push_back(parseBinary(kCompareLevel));
    } else {
      Expr* condition = parseExpr();
      conditions.push_back(condition);
      if (!panic_ && at(TokenKind::AmpAmp)) // `let` follows
        if (const auto* binary = llvm::dyn_cast<ast::BinaryExpr>(condition);
            binary && binary->op == ast::BinaryOp::Or && !binary->parenthesised)
          refuseOr(binary->opSpan);
    }
    if (panic_ || !accept(TokenKind::AmpAmp))
      break;
  }
  if (!panic_ && at(TokenKind::PipePipe) && sawLet)
    refuseOr(at_->span());
  else if (!panic_ && !at(TokenKind::LeftBrace))
    failExpected(("`{` after the condition of " + what).str());
  if (panic_ && !gaveUp_) {
    // The block is most likely on this line: find it, so that its statements are still read.
    const Token* token = at_;
    while (token != last_ && token->kind != TokenKind::LeftBrace &&
           token->kind != TokenKind::RightBrace && (token == at_ || !token->newlineBefore))
      ++token;
    if (token->kind == TokenKind::LeftBrace) {
      while (at_ != token)
        advance();
      calm();
    }
  }
  return list(conditions);
}

// Match = "match" Expr "{" { Arm } "}"
Expr* Parser::parseMatch() {
  auto* match = context_.make<ast::MatchExpr>(at_->span());
  const uint32_t begin = at_->begin;
  advance();
  {
    Mode mode;
    mode.isHead = true;
    ModeScope scope(*this, mode);
    match->subject = parseExpr();
  }
  const Token opener = *at_;
  Nest nest(*this);
  if (panic_ || !nest.ok || !expect(TokenKind::LeftBrace, "`{` after the value of `match`")) {
    match->span = from(begin);
    return match;
  }
  Height height(*this);
  ModeScope scope(*this, Mode{});
  SmallVector<ast::MatchArm, 8> arms;
  while (!accept(TokenKind::RightBrace)) {
    if (atEnd() || isCloser(kind()) || beginsItemLine(*at_)) {
      failUnclosed(opener);
      break;
    }
    const Token* start = at_;
    bool needsSeparator = false;
    parseArm(arms, needsSeparator);
    if (!panic_) {
      if (accept(TokenKind::Comma) || at(TokenKind::RightBrace) || at_->newlineBefore ||
          !needsSeparator || atEnd())
        continue;
      fail(at_->span(), diag::ArmMissingSeparator, found(*at_));
    }
    if (!recoverList(TokenKind::RightBrace, opener, start))
      break;
  }
  match->arms = list(arms);
  match->span = from(begin);
  return match;
}

// Arm = Pattern [ "if" Expr ] "=>" Expr [ "," ]
void Parser::parseArm(SmallVectorImpl<ast::MatchArm>& arms, bool& needsSeparator) {
  ast::MatchArm arm;
  const uint32_t begin = at_->begin;
  arm.pattern = parsePattern();
  if (panic_)
    return;
  if (accept(TokenKind::If))
    arm.guard = parseExpr();
  if (panic_)
    return;
  if (!accept(TokenKind::FatArrow)) {
    if (atEnd())
      failExpected("`=>`");
    else
      fail(at_->span(), diag::ArmMissingArrow, found(*at_));
    return;
  }
  if (at(TokenKind::Comma) || at(TokenKind::RightBrace)) {
    fail(at_->span(), diag::ArmMissingBody, found(*at_));
    return;
  }
  Mode mode;
  mode.isArmBody = true;
  ModeScope scope(*this, mode);
  branchBody_ = at_;
  bool endsWithBlock = false;
  arm.body = parseStatementExpr(endsWithBlock, false);
  arm.span = from(begin);
  needsSeparator = !endsWithBlock;
  arms.push_back(arm);
}

// While = [ Label ":" ] "while" Cond Block      Loop = [ Label ":" ] "loop" Block
// For = [ Label ":" ] "for" Pattern "in" Expr Block
Expr* Parser::parseLoopForm(ast::Ident label, uint32_t begin) {
  switch (kind()) {
  case TokenKind::While: {
    auto* loop = context_.make<ast::WhileExpr>(at_->span());
    advance();
    loop->label = label;
    loop->conditions = parseConditions("`while`");
    loop->body = parseBlock();
    loop->span = from(begin);
    return loop;
  }
  case TokenKind::Loop: {
    auto* loop = context_.make<ast::LoopExpr>(at_->span());
    advance();
    loop->label = label;
    loop->body = parseBlock();
    loop->span = from(begin);
    return loop;
  }
  default: {
    auto* loop = context_.make<ast::ForExpr>(at_->span());
    advance();
    loop->label = label;
    loop->pattern = parsePattern();
    if (!panic_ && expect(TokenKind::In, "`in` after the pattern of `for`")) {
      Mode mode;
      mode.isHead = true;
      loop->iterable = parseExprIn(mode);
      if (!panic_ && !at(TokenKind::LeftBrace))
        failExpected("`{` after the head of `for`");
    } else {
      loop->iterable = errorExpr();
    }
    loop->body = parseBlock();
    loop->span = from(begin);
    return loop;
  }
  }
}

Expr* Parser::parseLabelled() {
  const Token token = *at_;
  ast::Ident label{name(token), token.span()};
  advance();
  if (!expect(TokenKind::Colon, "`:` after a label"))
    return errorExpr();
  if (at(TokenKind::While) || at(TokenKind::Loop) || at(TokenKind::For))
    return parseLoopForm(label, token.begin);
  failExpected("a loop after a label");
  return errorExpr();
}

// Closure = ( "||" | "|" Pattern [ ":" Type ] { SEP Pattern [ ":" Type ] } "|" ) [ "->" Type ] Expr
Expr* Parser::parseClosure() {
  auto* closure = context_.make<ast::ClosureExpr>(at_->span());
  const Token opener = *at_;
  Nest nest(*this);
  if (!nest.ok)
    return closure;
  advance();
  if (opener.kind == TokenKind::Pipe) {
    SmallVector<ast::ClosureParameter, 4> parameters;
    while (!panic_ && !accept(TokenKind::Pipe)) {
      ast::ClosureParameter parameter;
      parameter.pattern = parsePatternAlternative();
      if (!panic_ && accept(TokenKind::Colon))
        parameter.type = parseType();
      parameters.push_back(parameter);
      if (panic_ || accept(TokenKind::Comma) || at(TokenKind::Pipe) || at_->newlineBefore)
        continue;
      failExpected("`,` or `|` after a parameter");
    }
    closure->parameters = list(parameters);
  }
  if (!panic_ && accept(TokenKind::Arrow))
    closure->returnType = parseType();
  if (panic_) {
    closure->body = errorExpr();
  } else {
    branchBody_ = at_;
    closure->body = parseExpr();
  }
  closure->span = from(opener.begin);
  return closure;
}

/// Does a value stand behind `return` or `break`, on the same line?
bool Parser::valueFollows() const {
  return !at_->newlineBefore && canStartExpr() && !(at(TokenKind::LeftBrace) && mode_.isHead);
}

Expr* Parser::parseReturn() {
  auto* result = context_.make<ast::ReturnExpr>(at_->span());
  const uint32_t begin = at_->begin;
  advance();
  Nest nest(*this);
  if (nest.ok && valueFollows())
    result->value = parseExpr();
  result->span = from(begin);
  return result;
}

// Break = "break" [ Label ] [ Expr ]
Expr* Parser::parseBreak() {
  auto* jump = context_.make<ast::BreakExpr>(at_->span());
  const uint32_t begin = at_->begin;
  advance();
  Nest nest(*this);
  if (!nest.ok)
    return jump;
  if (at(TokenKind::Label) && peek() != TokenKind::Colon && !at_->newlineBefore) {
    jump->label = {name(*at_), at_->span()};
    advance();
  }
  if (valueFollows())
    jump->value = parseExpr();
  jump->span = from(begin);
  return jump;
}

Expr* Parser::parseContinue() {
  auto* jump = context_.make<ast::ContinueExpr>(at_->span());
  const uint32_t begin = at_->begin;
  advance();
  if (at(TokenKind::Label) && !at_->newlineBefore) {
    jump->label = {name(*at_), at_->span()};
    advance();
  } else if (at(TokenKind::Identifier) && !at_->newlineBefore) {
    fail(at_->span(), diag::ExpectedLabel, found(*at_));
  }
  jump->span = from(begin);
  return jump;
}

Expr* Parser::parseComptime() {
  auto* region = context_.make<ast::ComptimeExpr>(at_->span());
  const uint32_t begin = at_->begin;
  advance();
  region->body = parseBlock();
  region->span = from(begin);
  return region;
}

Expr* Parser::parseUnsafe() {
  const Token token = *at_;
  advance();
  if (!at(TokenKind::LeftBrace)) {
    failExpected("`{`");
    return errorExpr();
  }
  complain(token.span(), diag::NotYet, "`unsafe`");
  return parseBlock();
}

/// `arena`: understood as far as their braces, and reported by name.
Expr* Parser::parseUnbuiltBlock(StringRef feature) {
  const Token token = *at_;
  complain(token.span(), diag::NotYet, feature);
  advance();
  if (at(TokenKind::LeftParen))
    skipGroup();
  if (at(TokenKind::LeftBrace))
    skipGroup();
  return errorExpr(from(token.begin));
}

} // namespace gos::parse
