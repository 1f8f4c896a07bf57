// Blocks and statements (language.md sections 3.1 and 10).

#include "compiler/parse/parser.h"

#include "llvm/ADT/ScopeExit.h"

namespace gos::parse {

// Block = "{" { Stmt } [ Expr ] "}"
ast::BlockExpr* Parser::parseBlock() {
  const Token opener = *at_;
  auto* block = context_.make<ast::BlockExpr>(opener.span());
  block->closeBrace = opener.span();
  Nest nest(*this);
  if (!nest.ok || !expect(TokenKind::LeftBrace, "`{`"))
    return block;
  Height height(*this);
  ModeScope scope(*this, Mode{});
  SmallVector<Stmt*, 8> statements;
  parseStatements(statements, block->hasItems, &block->tail);
  if (at(TokenKind::RightBrace)) {
    block->closeBrace = at_->span();
    advance();
  } else {
    failUnclosed(opener);
  }
  block->statements = list(statements);
  block->span = from(opener.begin);
  return block;
}

void Parser::parseStatements(SmallVectorImpl<Stmt*>& statements, bool& hasItems, Expr** tail) {
  while (!atEnd() && !at(TokenKind::RightBrace)) {
    if (at(TokenKind::RightParen) || at(TokenKind::RightBracket)) {
      // Most likely the closer of a bracket that was given up: it ends nothing here.
      const Token* start = at_;
      fail(at_->span(), diag::UnexpectedToken, "a statement", found(*at_));
      advance();
      recoverStatement(start);
      continue;
    }
    const Token* start = at_;
    bool endsWithBlock = false;
    const bool beginsWithOperator =
        !statements.empty() && at_->newlineBefore &&
        (at(TokenKind::Minus) || at(TokenKind::Amp) || at(TokenKind::Star));
    Stmt* statement = parseStatement(endsWithBlock);
    if (const auto* item = llvm::dyn_cast<ast::ItemStmt>(statement)) {
      if (item->item->kind != ast::ItemKind::Error) {
        hasItems = true;
        statements.push_back(statement);
      }
    } else {
      statements.push_back(statement);
    }
    endStatement(start, endsWithBlock);
    // The value of a line such as `-cut` is lost when something follows it.
    if (beginsWithOperator && !panic_ && !at(TokenKind::RightBrace) && !atEnd())
      if (const auto* value = llvm::dyn_cast<ast::ExprStmt>(statement);
          value && llvm::isa<ast::UnaryExpr, ast::BorrowExpr, ast::BinaryExpr>(value->expr))
        complain(statement->span, diag::LineBeginsWithOperator,
                 text(statement->span).take_front(1));
  }
  // The value of the block: its last expression when nothing follows it.
  if (statements.empty())
    return;
  auto* last = llvm::dyn_cast<ast::ExprStmt>(statements.back());
  if (!last || llvm::isa<ast::AssignExpr>(last->expr))
    return;
  *tail = last->expr;
  statements.pop_back();
}

/// Checks what stands between this statement and the next one (section 3.1).
void Parser::endStatement(const Token* start, bool endsWithBlock) {
  if (panic_) {
    recoverStatement(start);
  } else if (at(TokenKind::Semicolon)) {
    const Token& next = at_[1];
    if (next.newlineBefore || next.kind == TokenKind::RightBrace ||
        next.kind == TokenKind::EndOfFile)
      complain(at_->span(), diag::UnexpectedToken, "the end of the line", "`;`")
          .help("`;` only separates statements that stand on one line")
          .suggest(at_->span(), "", "remove it");
    advance();
    while (at(TokenKind::Semicolon)) {
      complain(at_->span(), diag::UnexpectedToken, "a statement", "`;`")
          .suggest(at_->span(), "", "remove it");
      advance();
    }
  } else if (!endsWithBlock && !at_->newlineBefore && !atEnd() && !at(TokenKind::RightBrace)) {
    failExpected("a new line or `;` between two statements");
    recoverStatement(start);
  }
  if (at_ == start) // whatever happened, a loop over statements goes on
    advance();
}

// Stmt = Let | Item | Defer | Arena | MultiAssign | Expr
Stmt* Parser::parseStatement(bool& endsWithBlock) {
  const uint32_t begin = at_->begin;
  if (at(TokenKind::Let))
    return parseLet();
  if (atItem() || (at(TokenKind::Hash) && atAttribute())) {
    auto* statement = context_.make<ast::ItemStmt>(at_->span());
    const Token* start = at_;
    statement->item = parseItem();
    if (!statement->item)
      statement->item = context_.make<ast::ErrorItem>(start->span());
    statement->span = from(begin);
    endsWithBlock = at_ != start && at_[-1].kind == TokenKind::RightBrace;
    return statement;
  }
  if (at(TokenKind::Identifier)) {
    const Token& next = at_[1];
    const bool nextIsClose = !next.newlineBefore;
    switch (at_->word) {
    case Word::Defer:
      if (nextIsClose &&
          (next.kind == TokenKind::Identifier || lex::isKeyword(next.kind) ||
           next.kind == TokenKind::LeftBrace) &&
          next.kind != TokenKind::As) {
        advance();
        auto* statement = context_.make<ast::DeferStmt>(at_->span());
        branchBody_ = at_;
        statement->expr = parseStatementExpr(endsWithBlock, true);
        statement->span = from(begin);
        return statement;
      }
      break;
    case Word::Arena:
      if (nextIsClose && next.kind == TokenKind::LeftBrace) {
        auto* statement = context_.make<ast::ExprStmt>(at_->span());
        statement->expr = parseUnbuiltBlock("arenas (`arena`)");
        statement->span = from(begin);
        endsWithBlock = true;
        return statement;
      }
      break;
    case Word::Go:
      if (nextIsClose && (next.kind == TokenKind::Identifier || next.kind == TokenKind::Pipe ||
                          next.kind == TokenKind::PipePipe || next.kind == TokenKind::LeftBrace))
        fail(at_->span(), diag::GoStatement).help("`spawn(|| ..)` starts a goroutine");
      break;
    case Word::Spawn:
      if (spawnsWithoutParentheses())
        fail(at_->span(), diag::DeclinedFeature, "spawn without parentheses",
             "write `spawn(|| ..)`");
      break;
    case Word::Import:
      if (nextIsClose && (next.kind == TokenKind::Identifier || next.kind == TokenKind::String))
        fail(at_->span(), diag::DeclinedFeature, "import", "write `use`");
      break;
    default:
      break;
    }
  }
  auto* statement = context_.make<ast::ExprStmt>(at_->span());
  branchBody_ = at_;
  statement->expr = parseStatementExpr(endsWithBlock, true);
  statement->span = from(begin);
  return statement;
}

// Let = "let" Pattern { "," Pattern } [ ":" Type ] [ "=" Expr { "," Expr } ] [ "else" Block ]
Stmt* Parser::parseLet() {
  const uint32_t begin = at_->begin;
  auto* let = context_.make<ast::LetStmt>(at_->span());
  auto finish = llvm::make_scope_exit([&] { let->span = from(begin); });
  advance();
  const uint32_t targetsBegin = at_->begin;
  const bool isParenthesised = at(TokenKind::LeftParen);
  let->pattern = parsePattern();
  if (at(TokenKind::Comma) && !panic_) {
    SmallVector<Pattern*, 4> targets{let->pattern};
    while (!panic_ && accept(TokenKind::Comma))
      targets.push_back(parsePattern());
    auto* tuple = context_.make<ast::TuplePattern>(from(targetsBegin));
    tuple->elements = list(targets);
    let->pattern = tuple;
    let->targetList = true;
  } else if (auto* tuple = llvm::dyn_cast<ast::TuplePattern>(let->pattern);
             tuple && isParenthesised && tuple->elements.size() > 1) {
    const Span span = tuple->span;
    complain(span, diag::ParenthesisedTargets)
        .suggest({span.begin, span.begin + 1}, "", "remove the parenthesis")
        .suggest({span.end - 1, span.end}, "", "remove the parenthesis");
  }
  if (panic_)
    return let;
  if (accept(TokenKind::Colon))
    let->type = parseType();
  if (!panic_ && accept(TokenKind::Equal)) {
    const uint32_t valueBegin = at_->begin;
    let->value = parseExpr();
    if (!panic_ && at(TokenKind::Comma)) {
      SmallVector<Expr*, 4> values{let->value};
      while (!panic_ && accept(TokenKind::Comma))
        values.push_back(parseExpr());
      auto* tuple = context_.make<ast::TupleExpr>(from(valueBegin));
      tuple->elements = list(values);
      let->value = tuple;
    }
    if (!panic_ && accept(TokenKind::Else))
      let->elseBlock = parseBlock();
  }
  return let;
}

/// An expression where a statement may begin: a construct that ends in `}` ends the statement,
/// unless what follows can only continue it.
Expr* Parser::parseStatementExpr(bool& endsWithBlock, bool allowTargets) {
  Height height(*this);
  endsWithBlock = false;
  if (at(TokenKind::Identifier) && atWord(Word::Underscore) &&
      (peek() == TokenKind::Equal || (allowTargets && peek() == TokenKind::Comma))) {
    Expr* discard = makeName(*at_);
    advance();
    return parseAssignment(discard, allowTargets);
  }
  Expr* value = nullptr;
  if (beginsBlockLike(at_)) {
    value = parsePrimary();
    const bool isMap = llvm::isa<ast::MapExpr>(value);
    endsWithBlock = !isMap && !has(kind(), TokenTrait::ContinuesBlock);
    if (endsWithBlock)
      return value;
    value = castFrom(postfixFrom(value));
    value = pipeFrom(rangeFrom(binaryFrom(value, 1, tallest_ + 1)));
  } else {
    value = parsePipe();
  }
  return panic_ ? value : parseAssignment(value, allowTargets);
}

/// `first` alone, or the assignment that it is the first target of.
Expr* Parser::parseAssignment(Expr* first, bool allowTargets) {
  const bool hasMore = allowTargets && at(TokenKind::Comma);
  if (!hasMore && !operatorOf(kind()).isAssignment)
    return first;
  SmallVector<Expr*, 4> targets{first};
  while (allowTargets && !panic_ && accept(TokenKind::Comma))
    targets.push_back(parseAssignTarget());
  if (panic_)
    return first;
  const OperatorInfo info = operatorOf(kind());
  if (!info.isAssignment) {
    failExpected("`=` after a list of targets");
    return first;
  }
  advance();
  SmallVector<Expr*, 4> values{parseExpr()};
  while (allowTargets && !panic_ && accept(TokenKind::Comma))
    values.push_back(parseExpr());
  auto* assign = context_.make<ast::AssignExpr>(from(first->span));
  assign->compound = info.isCompound;
  assign->op = info.op;
  assign->targets = list(targets);
  assign->values = list(values);
  return assign;
}

Expr* Parser::parseAssignTarget() {
  if (at(TokenKind::Identifier) && atWord(Word::Underscore)) {
    Expr* discard = makeName(*at_);
    advance();
    return discard;
  }
  return parsePipe();
}

} // namespace gos::parse
