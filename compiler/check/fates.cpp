#include "compiler/check/fates.h"

#include "compiler/check/walk.h"

namespace gos::check {

/// The worst that a parameter comes to.
ClosureFate Fates::of(FunctionItem* function, size_t parameter) {
  std::vector<Key> queue{{function, parameter}};
  std::map<Key, bool> seen{{queue[0], true}};
  ClosureFate worst = ClosureFate::Called;
  for (size_t at = 0; at < queue.size() && worst != ClosureFate::Spawned; ++at) {
    const Node& node = nodeOf(queue[at]);
    worst = std::max(worst, node.own);
    for (const Key& next : node.givenTo)
      if (seen.try_emplace(next, true).second)
        queue.push_back(next);
  }
  return worst;
}

const Fates::Node& Fates::nodeOf(Key key) {
  FunctionItem* function = key.first;
  FunctionInfo& info = checker_.functionInfo(function);
  Node& node = nodes_[key];
  if (function->builtin >= 0 || (function->parentModule && function->parentModule->package == 0)) {
    node.own = checker_.fateOfArguments(function);
  } else if (isa_and_nonnull<TraitItem>(info.context.owner) || !function->body || info.isTemplate) {
    // Whose impl that is, or for which types, is not known.
    node.own = ClosureFate::Kept;
  } else if (key.second < info.signature.parameters.size() &&
             !info.signature.parameters[key.second]->is(Kind::Fn)) {
    node.own = ClosureFate::Kept; // a value of any type is held
  } else if (read_.insert(function).second) {
    read(function);
  }
  return nodes_[key];
}

void Fates::read(FunctionItem* function) {
  Tracked tracked;
  const Signature& signature = checker_.functionInfo(function).signature;
  for (size_t i = 0; i < function->parameters.size() && i < signature.parameters.size(); ++i)
    if (signature.parameters[i]->is(Kind::Fn))
      if (auto* binding = dyn_cast_or_null<BindingPattern>(function->parameters[i].pattern))
        tracked.push_back({binding->variable, i});
  if (tracked.empty() || !checker_.ensureChecked(function))
    return;
  SmallVector<Expr*, 32> stack{function->body};
  while (!stack.empty())
    visit(function, tracked, checker_.folded(stack.pop_back_val()), stack);
}

/// The expression, or a closure that captures it, is a value of its own.
void Fates::keep(FunctionItem* reader, const Tracked& tracked, Expr* expr) {
  for (const auto& [variable, index] : tracked) {
    bool isIt = false;
    if (auto* path = dyn_cast<PathExpr>(expr))
      isIt = path->target.kind == TargetKind::Variable && path->target.variable == variable;
    else if (auto* closure = dyn_cast<ClosureExpr>(expr))
      isIt = llvm::is_contained(closure->captures, variable);
    if (isIt)
      nodes_[{reader, index}].own = std::max(nodes_[{reader, index}].own, ClosureFate::Kept);
  }
}

void Fates::give(FunctionItem* reader, const Tracked& tracked, const Target* callee,
                 bool hasReceiver, ArrayRef<Expr*> arguments, SmallVectorImpl<Expr*>& next) {
  auto* function = callee && callee->kind == TargetKind::Function
                       ? dyn_cast_or_null<FunctionItem>(callee->item)
                       : nullptr;
  for (size_t i = 0; i < arguments.size(); ++i) {
    Expr* argument = arguments[i] ? checker_.folded(arguments[i]) : nullptr;
    if (!argument)
      continue;
    auto* closure = dyn_cast<ClosureExpr>(argument);
    auto* path = dyn_cast<PathExpr>(argument);
    if (!function || !(closure || path)) {
      next.push_back(argument);
      continue;
    }
    for (const auto& [variable, index] : tracked)
      if (closure ? llvm::is_contained(closure->captures, variable)
                  : path->target.kind == TargetKind::Variable && path->target.variable == variable)
        nodes_[{reader, index}].givenTo.push_back({function, i + (hasReceiver ? 1 : 0)});
    if (closure)
      next.push_back(closure->body);
  }
}

void Fates::visit(FunctionItem* reader, const Tracked& tracked, Expr* expr,
                  SmallVectorImpl<Expr*>& next) {
  switch (expr->kind) {
  case ExprKind::Call: {
    auto* call = cast<CallExpr>(expr);
    auto* path = dyn_cast<PathExpr>(checker_.folded(call->callee));
    if (!path)
      next.push_back(call->callee);
    if (call->ordered.empty())
      for (const Argument& argument : call->arguments)
        next.push_back(argument.value);
    return give(reader, tracked, path ? &path->target : nullptr, false, call->ordered, next);
  }
  case ExprKind::MethodCall: {
    auto* method = cast<MethodCallExpr>(expr);
    next.push_back(method->receiver);
    if (method->ordered.empty())
      for (const Argument& argument : method->arguments)
        next.push_back(argument.value);
    return give(reader, tracked, &method->target, true, method->ordered, next);
  }
  case ExprKind::Closure:
    keep(reader, tracked, expr);
    next.push_back(cast<ClosureExpr>(expr)->body);
    return;
  case ExprKind::Path:
    return keep(reader, tracked, expr);
  case ExprKind::Pipe:
    if (Expr* meant = cast<PipeExpr>(expr)->desugared) {
      next.push_back(meant);
      return;
    }
    break;
  case ExprKind::For:
    if (cast<ForExpr>(expr)->unrolled) {
      for (BlockExpr* body : cast<ForExpr>(expr)->unrolledBodies)
        next.push_back(body);
      return;
    }
    break;
  default:
    break;
  }
  forEachPart(expr, [&](Expr* part) { next.push_back(part); });
}

/// Where the closure mentions the variable.
static Span mentionOf(const Checker& checker, Expr* body, const Variable* variable,
                      Span otherwise) {
  SmallVector<Expr*, 16> stack{body};
  while (!stack.empty()) {
    Expr* expr = checker.folded(stack.pop_back_val());
    if (auto* path = dyn_cast<PathExpr>(expr); path && path->target.variable == variable)
      return path->span;
    const size_t before = stack.size();
    forEachPart(expr, [&](Expr* part) { stack.push_back(part); });
    std::reverse(stack.begin() + ptrdiff_t(before), stack.end());
  }
  return otherwise;
}

/// Closures in calls of functions of the program: what they capture must not outlive the call.
void Checker::checkGivenClosures() {
  Fates fates(*this);
  for (size_t i = 0; i < givenClosures_.size(); ++i) {
    const GivenClosure given = givenClosures_[i];
    std::optional<ClosureFate> fate;
    for (const Variable* variable : given.closure->captures) {
      if (!variable->type)
        continue;
      const bool exclusive = variable->type->isMutableRef();
      const bool shared = variable->readThrough && variable->name != selfName_;
      if (!exclusive && !shared)
        continue;
      if (!fate)
        fate = fates.of(given.function, given.parameter);
      const bool spawned = *fate == ClosureFate::Spawned;
      if (*fate == ClosureFate::Called || (!exclusive && !spawned))
        continue;
      const StringRef name = given.function->name.name.text();
      engine_
          .report(mentionOf(*this, given.closure->body, variable, given.closure->span),
                  diag::EscapingReference,
                  spawned ? "captured by a closure that is spawned"
                          : "captured by a closure that is kept")
          .label(variable->span, "the reference")
          .label(given.function->name.span,
                 isa_and_nonnull<TraitItem>(functionInfo(given.function).context.owner)
                     ? ("which `" + name + "` that is, is not known here").str()
                     : ("`" + name + "` does more with it than to call it").str());
    }
  }
  givenClosures_.clear();
}

} // namespace gos::check
