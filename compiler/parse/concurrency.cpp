// `cohort`, `select` and `spawn`. The first two are written out here as calls of std::runtime and
// std::sync, which are documented as what they stand for; the names of what is kept between the
// calls have a space in them, so that no program can mean them.

#include "compiler/parse/parser.h"

#include "llvm/ADT/StringExtras.h"

namespace gos::parse {

/// `std::module::name` as an expression.
Expr* Parser::makeLibraryPath(StringRef module, StringRef name, Span span) {
  auto* path = context_.make<ast::PathExpr>(span);
  path->path.span = span;
  SmallVector<ast::PathSegment, 3> segments;
  for (StringRef word : {StringRef("std"), module, name}) {
    ast::PathSegment segment;
    segment.ident = {context_.names.intern(word), span};
    segments.push_back(segment);
  }
  path->path.segments = list(segments);
  return path;
}

Expr* Parser::makeLibraryCall(StringRef module, StringRef name, ArrayRef<Expr*> values, Span span) {
  auto* call = context_.make<ast::CallExpr>(span);
  call->callee = makeLibraryPath(module, name, span);
  SmallVector<ast::Argument, 2> arguments;
  for (Expr* value : values)
    arguments.push_back({{}, value});
  call->arguments = list(arguments);
  return call;
}

ast::Stmt* Parser::makeStatement(Expr* expr) {
  auto* statement = context_.make<ast::ExprStmt>(expr->span);
  statement->expr = expr;
  return statement;
}

ast::Stmt* Parser::makeLet(ast::Ident name, Expr* value, bool isMutable) {
  auto* let = context_.make<ast::LetStmt>(value->span);
  ast::BindingPattern* binding = makeBinding(name, isMutable, value->span.begin);
  binding->span = value->span;
  let->pattern = binding;
  let->value = value;
  return let;
}

static Expr* makeInteger(ast::Context& context, uint64_t value, Span span) {
  auto* integer = context.make<ast::IntExpr>(span);
  integer->value = value;
  return integer;
}

/// `spawn f()`, `spawn { .. }`: how others write what is a function here.
bool Parser::spawnsWithoutParentheses() const {
  const Token& next = at_[1];
  return !next.newlineBefore &&
         (next.kind == TokenKind::Identifier || next.kind == TokenKind::Pipe ||
          next.kind == TokenKind::PipePipe || (next.kind == TokenKind::LeftBrace && !mode_.isHead));
}

/// A goroutine belongs to a cohort of the same function, or to `main` (language.md 21.1).
void Parser::checkSpawn() {
  if (!maySpawn_ && at_[1].kind == TokenKind::LeftParen && !at_[1].newlineBefore)
    complain(at_->span(), diag::SpawnOutsideCohort)
        .help("write `cohort { spawn(..) }`: the block waits for all that are started in it");
}

/// `Policy::Race` and its like are words of the header, whatever is in scope.
Expr* Parser::settingValue(const ast::Argument& argument) {
  if (!argument.label.name || !argument.value)
    return argument.value;
  const auto* path = llvm::dyn_cast<ast::PathExpr>(argument.value);
  const bool isWord = path && path->path.segments.size() == 2;
  static constexpr struct {
    StringRef setting, type;
    StringRef words[3];
  } kSettings[] = {{"policy", "Policy", {"FailFast", "CollectAll", "Race"}},
                   {"on_error", "OnError", {"Propagate", "Log", "Ignore"}},
                   {"isolation", "Isolation", {"Shared", "Thread", ""}}};
  for (const auto& each : kSettings) {
    if (argument.label.name.text() != each.setting)
      continue;
    for (size_t i = 0; i < 3 && isWord && path->path.segments[0].ident.name.text() == each.type;
         ++i)
      if (!each.words[i].empty() && path->path.segments[1].ident.name.text() == each.words[i])
        return makeInteger(context_, i, path->span);
    complain(argument.value->span, diag::UnexpectedToken,
             ("`" + each.type + "::" + each.words[0] + "`" + " or another word of it").str(),
             "none of its words");
  }
  return argument.value;
}

// Cohort = "cohort" [ "(" Ident ":" Expr { SEP Ident ":" Expr } ")" ] Block
Expr* Parser::parseCohort() {
  const Token word = *at_;
  Nest nest(*this);
  if (!nest.ok)
    return errorExpr();
  Height height(*this);
  advance();
  auto* push = context_.make<ast::CallExpr>(word.span());
  push->callee = makeLibraryPath("runtime", "cohort_push", word.span());
  if (at(TokenKind::LeftParen)) {
    SmallVector<ast::Argument, 4> settings;
    for (ast::Argument argument : parseArguments()) {
      if (!argument.label.name && argument.value)
        complain(argument.value->span, diag::UnexpectedToken, "a setting such as `timeout: 100`",
                 "a value without a name");
      argument.value = settingValue(argument);
      settings.push_back(argument);
    }
    push->arguments = list(settings);
  }
  push->span = from(word.begin);
  if (panic_)
    return errorExpr();
  const bool outer = std::exchange(maySpawn_, true);
  ast::BlockExpr* body = parseBlock();
  maySpawn_ = outer;
  const Span span = from(word.begin);

  const ast::Ident settings{context_.names.intern("cohort settings"), word.span()};
  const ast::Ident result{context_.names.intern("cohort result"), word.span()};
  auto* assign = context_.make<ast::AssignExpr>(word.span());
  Expr* target = makeName(result);
  Expr* joined = makeLibraryCall("runtime", "cohort_join", {makeName(settings)}, word.span());
  assign->targets = context_.list(ArrayRef(target));
  assign->values = context_.list(ArrayRef(joined));
  auto* atExit = context_.make<ast::DeferStmt>(word.span());
  atExit->expr = assign;

  SmallVector<Stmt*, 8> inside{makeLet(settings, push, false), atExit};
  inside.append(body->statements.begin(), body->statements.end());
  if (body->tail) { // its value is nobody's
    auto* drop = context_.make<ast::LetStmt>(body->tail->span);
    drop->pattern = context_.make<ast::WildcardPattern>(body->tail->span);
    drop->value = body->tail;
    inside.push_back(drop);
  }
  body->statements = list(inside);
  body->tail = nullptr;

  auto* whole = context_.make<ast::BlockExpr>(span);
  SmallVector<Stmt*, 2> statements{
      makeLet(result, makeLibraryCall("runtime", "cohort_begun", {}, word.span()), true),
      makeStatement(body)};
  whole->statements = list(statements);
  whole->tail = makeName(result);
  whole->closeBrace = body->closeBrace;
  return whole;
}

namespace {
/// What a receive arm takes, as stdlib/sync.cpp counts it.
enum ReceiveMode : uint8_t { AnyValue, OnlySome, OnlyNone };

ReceiveMode modeOf(const ast::Pattern* pattern) {
  const auto named = [](const ast::Path& path, StringRef name) {
    return !path.segments.empty() && path.segments.back().ident.name.text() == name;
  };
  if (const auto* some = llvm::dyn_cast<ast::TupleStructPattern>(pattern))
    return named(some->path, "Some") ? OnlySome : AnyValue;
  if (const auto* none = llvm::dyn_cast<ast::PathPattern>(pattern))
    return named(none->path, "None") ? OnlyNone : AnyValue;
  if (const auto* binding = llvm::dyn_cast<ast::BindingPattern>(pattern))
    return binding->variable->name.text() == "None" ? OnlyNone : AnyValue;
  return AnyValue;
}
} // namespace

struct Parser::SelectArm {
  enum Kind : uint8_t { Receive, Send, Default } kind = Default;
  Pattern* pattern = nullptr;
  ast::MethodCallExpr* call = nullptr;
  Expr* body = nullptr;
  Span span;
};

// SelectArm = ( Pattern "=" Expr "." "recv" "(" ")" | Expr "." "send" "(" Expr ")" | "default" )
// "=>" Expr
void Parser::parseSelectArm(SmallVectorImpl<SelectArm>& arms) {
  SelectArm arm;
  const uint32_t begin = at_->begin;
  if (at(TokenKind::Identifier) && text(*at_) == "default" && peek() == TokenKind::FatArrow) {
    advance();
  } else {
    // A pattern is followed by `=`; anything else is the channel of a send.
    const Token* end = at_;
    for (; end < last_ && end->kind != TokenKind::FatArrow && end->kind != TokenKind::Equal; ++end)
      if (isOpener(end->kind)) {
        const Token* close = matching(end);
        if (!close)
          break;
        end = close;
      }
    Expr* value = nullptr;
    if (end->kind == TokenKind::Equal) {
      arm.kind = SelectArm::Receive;
      arm.pattern = parsePattern();
      if (panic_ || !expect(TokenKind::Equal, "`=` and what is received"))
        return;
    } else {
      arm.kind = SelectArm::Send;
    }
    value = parseExpr();
    if (panic_)
      return;
    arm.call = llvm::dyn_cast<ast::MethodCallExpr>(value);
    const StringRef wanted = arm.kind == SelectArm::Receive ? "recv" : "send";
    if (arm.pattern && arm.call && arm.call->name.name.text() == "send")
      arm.kind = SelectArm::Send; // `_ = tx.send(v)`
    const size_t arguments = arm.kind == SelectArm::Receive ? 0 : 1;
    if (!arm.call || arm.call->arguments.size() != arguments ||
        arm.call->name.name.text() != (arm.kind == SelectArm::Send ? StringRef("send") : wanted)) {
      fail(value->span, diag::UnexpectedToken,
           arm.kind == SelectArm::Receive ? "`.recv()` of a receiver"
                                          : "`.send(value)` of a sender",
           "another expression");
      return;
    }
  }
  if (!expect(TokenKind::FatArrow, "`=>` and what the arm does"))
    return;
  branchBody_ = at_;
  arm.body = parseExpr();
  arm.span = from(begin);
  arms.push_back(arm);
}

// Select = "select" "{" { SelectArm [ "," ] } "}"
Expr* Parser::parseSelect() {
  const Token word = *at_;
  Nest nest(*this);
  if (!nest.ok)
    return errorExpr();
  Height height(*this);
  advance();
  const Token opener = *at_;
  advance();
  ModeScope scope(*this, Mode{});
  SmallVector<SelectArm, 4> arms;
  while (!accept(TokenKind::RightBrace)) {
    if (atEnd() || isCloser(kind()) || beginsItemLine(*at_)) {
      failUnclosed(opener);
      break;
    }
    const Token* start = at_;
    parseSelectArm(arms);
    if (!panic_ && (accept(TokenKind::Comma) || at(TokenKind::RightBrace) || at_->newlineBefore ||
                    at_[-1].kind == TokenKind::RightBrace || atEnd()))
      continue;
    if (!panic_)
      fail(at_->span(), diag::ArmMissingSeparator, found(*at_));
    if (!recoverList(TokenKind::RightBrace, opener, start))
      break;
  }
  const Span span = from(word.begin);
  if (panic_)
    return errorExpr(span);

  SmallVector<Stmt*, 12> statements;
  SmallVector<Stmt*, 8> registered;
  SmallVector<ast::MatchArm, 8> cases;
  Expr* otherwise = nullptr;
  unsigned number = 0;
  for (SelectArm& arm : arms) {
    if (arm.kind == SelectArm::Default) {
      if (otherwise)
        complain(arm.span, diag::UnexpectedToken, "one `default`", "another one");
      otherwise = arm.body;
      continue;
    }
    const auto nameOf = [&](const char* what) {
      return ast::Ident{
          context_.names.intern((llvm::Twine("select ") + what + llvm::Twine(number)).str()),
          arm.call->span};
    };
    const ast::Ident channel = nameOf("channel ");
    statements.push_back(makeLet(channel, arm.call->receiver, false));
    ast::MatchArm chosen;
    chosen.span = arm.span;
    auto* literal = context_.make<ast::LiteralPattern>(arm.span);
    literal->value = makeInteger(context_, number, arm.span);
    chosen.pattern = literal;
    if (arm.kind == SelectArm::Send) {
      const ast::Ident sent = nameOf("value ");
      statements.push_back(makeLet(sent, arm.call->arguments[0].value, false));
      registered.push_back(makeStatement(makeLibraryCall(
          "sync", "select_send", {makeName(channel), makeName(sent)}, arm.call->span)));
      chosen.body = arm.body;
    } else {
      const ReceiveMode mode = modeOf(arm.pattern);
      registered.push_back(makeStatement(makeLibraryCall(
          "sync", "select_recv", {makeName(channel), makeInteger(context_, mode, arm.call->span)},
          arm.call->span)));
      Expr* taken = makeLibraryCall("sync", "select_take", {makeName(channel)}, arm.call->span);
      if (mode == AnyValue) {
        auto* let = context_.make<ast::LetStmt>(arm.call->span);
        let->pattern = arm.pattern;
        let->value = taken;
        auto* block = context_.make<ast::BlockExpr>(arm.span);
        block->statements = context_.list(ArrayRef<Stmt*>(let));
        block->tail = arm.body;
        block->closeBrace = arm.span;
        chosen.body = block;
      } else {
        auto* match = context_.make<ast::MatchExpr>(arm.span);
        match->subject = taken;
        ast::MatchArm wanted, rest;
        wanted.pattern = arm.pattern;
        wanted.body = arm.body;
        wanted.span = arm.span;
        rest.pattern = context_.make<ast::WildcardPattern>(arm.span);
        rest.body = makeLibraryCall("sync", "select_misfit", {}, arm.span);
        rest.span = arm.span;
        SmallVector<ast::MatchArm, 2> both{wanted, rest};
        match->arms = list(both);
        chosen.body = match;
      }
    }
    cases.push_back(chosen);
    ++number;
  }
  if (arms.empty())
    complain(span, diag::UnexpectedToken, "an arm of `select`", "none");
  statements.push_back(makeStatement(makeLibraryCall("sync", "select_begin", {}, word.span())));
  statements.append(registered.begin(), registered.end());
  auto* wait = context_.make<ast::BoolExpr>(word.span());
  wait->value = otherwise == nullptr;
  auto* match = context_.make<ast::MatchExpr>(span);
  match->subject = makeLibraryCall("sync", "select_go", {wait}, word.span());
  ast::MatchArm rest;
  rest.span = span;
  rest.pattern = context_.make<ast::WildcardPattern>(word.span());
  rest.body = otherwise ? otherwise : makeLibraryCall("sync", "select_misfit", {}, word.span());
  cases.push_back(rest);
  match->arms = list(cases);
  auto* whole = context_.make<ast::BlockExpr>(span);
  whole->statements = list(statements);
  whole->tail = match;
  whole->closeBrace = {span.end - 1, span.end};
  return whole;
}

} // namespace gos::parse
