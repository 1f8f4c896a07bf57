// The compiler-known calls, and the pipe.

#include "compiler/check/checker.h"
#include "compiler/check/walk.h"

namespace gos::check {

Type* Checker::checkKnownCall(KnownCallExpr* expr, Type* expected) {
  switch (expr->which) {
  case KnownCall::Println:
  case KnownCall::Print:
  case KnownCall::Eprintln:
  case KnownCall::Eprint:
  case KnownCall::Format:
  case KnownCall::Panic:
  case KnownCall::Todo:
  case KnownCall::Unimplemented:
  case KnownCall::Unreachable: {
    for (Expr* argument : expr->arguments)
      check(argument, nullptr);
    for (const FormatPiece& piece : expr->pieces) {
      if (!piece.value)
        continue;
      if (!llvm::is_contained(expr->arguments, piece.value))
        check(piece.value, nullptr);
      body_->formatted.push_back({piece.value, piece.spec.kind, piece.value->span});
    }
    if (expr->which == KnownCall::Format)
      return types_.string();
    return expr->which >= KnownCall::Panic ? types_.never() : types_.unit();
  }
  case KnownCall::Matches: {
    if (expr->arguments.empty() || !expr->pattern)
      return types_.boolean();
    Type* subject = known(known(check(expr->arguments[0], nullptr))->withoutReferences());
    size_t mark = openScope();
    checkPattern(expr->pattern, subject);
    closeScope(mark);
    return types_.boolean();
  }
  case KnownCall::Dbg: {
    if (expr->arguments.empty())
      return types_.unit();
    Type* type = check(expr->arguments[0], expected);
    body_->formatted.push_back(
        {expr->arguments[0], FormatSpec::Kind::Debug, expr->arguments[0]->span});
    return type;
  }
  case KnownCall::Codegen: {
    if (expr->arguments.empty())
      return types_.error();
    const bool isInner = inRegion();
    if (isInner && !body_->context.generics.empty() && body_->context.bound.empty()) {
      check(expr->arguments[0], types_.string());
      engine_.report(expr->span, diag::NotYet,
                     "`codegen!` inside a compile-time region of a generic function");
      return types_.error();
    }
    // Its text is made before the region around it runs, so it reads nothing of that one either.
    const size_t floor = std::exchange(body_->regionFloor, locals_.size());
    ++body_->regionDepth;
    Type* type = known(check(expr->arguments[0], types_.string()));
    leaveRegion(floor);
    if (!type->is(Kind::Error) && !type->is(Kind::Never) && !unifier_.unify(type, types_.string()))
      engine_.report(expr->arguments[0]->span, diag::CodegenResult, print(type));
    pushRegion(expr, RegionKind::Codegen, types_.string(), false);
    regions_.back().isInner = isInner;
    body_->awaitsText = true;
    return types_.error(); // until its text stands here
  }
  }
  return types_.error();
}

Type* Checker::checkTypeInfo(CallExpr* expr, const ValuePath&) {
  auto* path = cast<PathExpr>(folded(expr->callee));
  const PathSegment& segment = path->path.segments[0];
  Type* pairs = types_.vec(types_.tuple({types_.string(), types_.string()}));
  expr->isTypeInfo = true;
  expr->reflected = {};
  path->type = types_.error();
  if (segment.args.size() != 1 || !segment.args[0].type || !expr->arguments.empty()) {
    engine_.report(expr->span, diag::CallArity, "typeInfo", 1, segment.args.size())
        .help("write `typeInfo::<T>()`");
    return pairs;
  }
  Type* type = resolveType(segment.args[0].type, body_->context, TypeUse::Local);
  SmallVector<std::pair<StringRef, StringRef>, 8> found;
  if (reflect(type, expr->span, found))
    expr->reflected = context_.list<std::pair<StringRef, StringRef>>(found);
  return pairs;
}

/// Does the body leave its own frame: `return`, `?`, or a loop control aimed outside?
static bool leaves(Expr* expr, unsigned loops, unsigned depth) {
  if (depth > 2000)
    return true;
  switch (expr->kind) {
  case ExprKind::Return:
  case ExprKind::Try:
    return true;
  case ExprKind::Break:
  case ExprKind::Continue:
    if (loops == 0 ||
        (isa<BreakExpr>(expr) ? cast<BreakExpr>(expr)->label : cast<ContinueExpr>(expr)->label)
            .name)
      return true;
    break;
  case ExprKind::Closure:
    return false;
  case ExprKind::While:
  case ExprKind::Loop:
  case ExprKind::For:
    ++loops;
    break;
  default:
    break;
  }
  bool found = false;
  forEachPart(expr, [&](Expr* part) { found = found || leaves(part, loops, depth + 1); });
  return found;
}

bool Checker::leavesFrame(Expr* body) {
  return leaves(body, 0, 0);
}

Type* Checker::checkPipe(PipeExpr* expr, Type* expected) {
  if (!expr->desugared) {
    Expr* step = expr->step;
    Argument argument;
    argument.value = expr->value;
    auto makeCall = [&](Expr* callee) {
      auto* call = context_.make<CallExpr>(expr->span);
      call->callee = callee;
      call->arguments = context_.list<Argument>({argument});
      return call;
    };
    auto* closure = dyn_cast<ClosureExpr>(step);
    if (closure && closure->parameters.size() == 1 && !closure->returnType &&
        !leavesFrame(closure->body)) {
      // `x |> |v| body` is `{ let v = x; body }` in the frame around.
      auto* let = context_.make<LetStmt>(expr->value->span);
      let->pattern = closure->parameters[0].pattern;
      let->type = closure->parameters[0].type;
      let->value = expr->value;
      auto* block = context_.make<BlockExpr>(expr->span);
      block->statements = context_.list<Stmt*>({let});
      block->tail = closure->body;
      block->closeBrace = step->span;
      expr->desugared = block;
    } else if (auto* call = dyn_cast<CallExpr>(step); call && call->arguments.empty()) {
      expr->desugared = makeCall(call->callee);
    } else if (auto* method = dyn_cast<MethodCallExpr>(step); method && method->arguments.empty()) {
      auto* made = context_.make<MethodCallExpr>(expr->span);
      made->receiver = method->receiver;
      made->name = method->name;
      made->typeArgs = method->typeArgs;
      made->hasTypeArgs = method->hasTypeArgs;
      made->arguments = context_.list<Argument>({argument});
      expr->desugared = made;
    } else if (auto* field = dyn_cast<FieldExpr>(step)) {
      // `recv.method` without parentheses; a field that holds a function is called the same way.
      auto* made = context_.make<MethodCallExpr>(expr->span);
      made->receiver = field->object;
      made->name = field->name;
      made->arguments = context_.list<Argument>({argument});
      expr->desugared = made;
    } else {
      StringRef name;
      Span nameSpan = step->span;
      if (auto* path = dyn_cast<PathExpr>(step); path && path->path.segments.size() == 1)
        name = path->path.segments[0].ident.name.text();
      else if (auto* known = dyn_cast<KnownCallExpr>(step);
               known && known->arguments.empty() && known->pieces.empty())
        name = known->name.name.text();
      std::optional<KnownCall> which;
#define GOS_KNOWN_CALL(kind, spelling)                                                             \
  if (name == spelling)                                                                            \
    which = KnownCall::kind;
#include "compiler/ast/known_calls.def"
      if (which && *which != KnownCall::Matches) {
        auto* made = context_.make<KnownCallExpr>(expr->span);
        made->which = *which;
        made->name = {context_.names.intern(name), nameSpan};
        made->arguments = context_.list<Expr*>({expr->value});
        FormatPiece piece;
        piece.value = expr->value;
        if (*which < KnownCall::Matches)
          made->pieces = context_.list<FormatPiece>({piece});
        expr->desugared = made;
      } else {
        expr->desugared = makeCall(step);
      }
    }
  }
  return check(expr->desugared, expected);
}

} // namespace gos::check
