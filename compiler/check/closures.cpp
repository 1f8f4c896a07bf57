// Closures: their frames, what they capture and what they may write.

#include "compiler/check/checker.h"

namespace gos::check {

Type* Checker::checkClosure(ClosureExpr* expr, Type* expected, ClosureFate fate) {
  Type* hint = expected ? shallow(expected) : nullptr;
  bool fits = hint && hint->is(Kind::Fn) && hint->parameters().size() == expr->parameters.size();
  if (hint && hint->is(Kind::Fn) && !fits)
    engine_.report(expr->span, diag::CallArity, "closure", hint->parameters().size(),
                   expr->parameters.size());
  Frame frame;
  frame.outer = body_->frame;
  frame.owner = expr;
  frame.closure = expr;
  frame.fate = fate;
  frame.loops = body_->loops.size();
  size_t mark = openScope();
  body_->frame = &frame;
  SmallVector<Type*, 4> parameters;
  PatternScope scope;
  scope.isParameter = true;
  for (size_t i = 0; i < expr->parameters.size(); ++i) {
    ClosureParameter& parameter = expr->mutableParameters()[i];
    Type* wanted = fits ? hint->parameters()[i] : nullptr;
    Type* type = nullptr;
    bool shared = false;
    if (parameter.type) {
      type = resolveType(parameter.type, body_->context, TypeUse::Parameter);
      shared = isa<ReferenceTypeNode>(parameter.type) && !type->is(Kind::Ref);
      if (wanted && !unifier_.unify(wanted, type))
        engine_.report(parameter.type->span, diag::TypeMismatch, print(wanted), print(type));
    } else {
      type = wanted ? wanted : unifier_.fresh();
    }
    parameter.resolved = type;
    noteType(&parameter.resolved);
    parameters.push_back(type);
    checkPattern(parameter.pattern, type, scope);
    if (auto* binding = dyn_cast<BindingPattern>(parameter.pattern); binding && shared)
      binding->variable->readThrough = true;
    if (!isa<BindingPattern>(parameter.pattern) && !isa<WildcardPattern>(parameter.pattern))
      body_->lets.push_back({parameter.pattern, type, true});
  }
  Type* result = nullptr;
  if (expr->returnType)
    result = resolveType(expr->returnType, body_->context, TypeUse::Result);
  else if (fits)
    result = hint->result();
  bool dropped = !expr->returnType && result && shallow(result)->isUnit();
  frame.result = result ? result : unifier_.fresh();
  if (dropped) {
    // Nothing is wanted: the value of the body is dropped, if it is no Result.
    Type* type = checkDiscardedExpr(expr->body);
    (void)type;
    result = types_.unit();
  } else {
    Type* type = check(expr->body, frame.result);
    Type* solid = shallow(type);
    if (solid->is(Kind::Never)) {
      // Nothing comes of it, so it fits whatever is wanted; `zonk` decides if nothing is.
      result = frame.result;
      if (shallow(result)->is(Kind::Infer))
        body_->diverging.push_back({result, !fits});
    } else {
      Expr* place = expr->body;
      if (auto* block = dyn_cast<BlockExpr>(place); block && block->tail)
        place = block->tail;
      Type* value = withoutReference(place, type, "returned");
      coerce(place, value, frame.result);
      result = frame.result;
    }
  }
  body_->frame = frame.outer;
  closeScope(mark);
  expr->captures = context_.list<Variable*>(frame.captures);
  return types_.function(parameters, result);
}

/// What a function of the library does with the closures that it is given: `#[spawns]` runs them on
/// another goroutine, and natives that are no methods hold them beyond the call. What one of the
/// program does is known when all bodies are (fates.cpp).
ClosureFate Checker::fateOfArguments(const FunctionItem* function) {
  if (function->builtin >= 0)
    return hasReceiver(const_cast<FunctionItem*>(function)) ? ClosureFate::Called
                                                            : ClosureFate::Kept;
  if (function->attributes.empty() || !function->parentModule ||
      function->parentModule->package != 0)
    return ClosureFate::Called;
  return hasAttribute(function, "spawns") ? ClosureFate::Spawned : ClosureFate::Called;
}

/// A reference does not leave the goroutine, nor the block, that it was made in (GT0052). A closure
/// that is kept may hold a shared view, which is the value; another goroutine gets neither.
void Checker::checkCaptured(const Frame& frame, const Variable* variable, Span span) {
  const bool spawned = frame.fate == ClosureFate::Spawned;
  const bool shared = spawned && variable->readThrough && variable->name != selfName_;
  const bool exclusive = shallow(variable->type)->isMutableRef();
  if (frame.fate == ClosureFate::Called) {
    // What becomes of it is known when all bodies are (fates.cpp).
    if ((exclusive || variable->readThrough) && !llvm::is_contained(capturing_, body_->item))
      capturing_.push_back(body_->item);
    return;
  }
  if (!shared && !exclusive)
    return;
  Diagnostic& report = engine_
                           .report(span, diag::EscapingReference,
                                   spawned ? "captured by a closure that is spawned"
                                           : "captured by a closure that is kept")
                           .label(variable->span, "the reference");
  if (shared)
    report.help("capture the value itself: it is copied without cost to its owner");
}

/// Closures whose body does not end, and of which nothing was wanted.
void Checker::settleDiverging(Body& body) {
  for (const Body::Diverging& each : body.diverging)
    if (Type* result = shallow(each.result); result->is(Kind::Infer))
      unifier_.unify(result, each.isAlone ? types_.never() : types_.unit());
  body.diverging.clear();
}

void Checker::finishClosures(Body& body) {
  for (Variable* variable : body.captured)
    if (variable->type && variable->type->isContainer())
      variable->capturedByReference = true;
  llvm::SmallPtrSet<Variable*, 8> reported;
  for (const Body::CapturedWrite& write : body.capturedWrites) {
    Type* type = write.variable->type;
    if (!type || type->isContainer() || type->is(Kind::Ref) || type->has(Type::HasError))
      continue;
    if (reported.insert(write.variable).second)
      engine_.report(write.span, diag::CaptureWritten, write.variable->name.text())
          .label(write.variable->span, "declared outside of the closure")
          .help("keep the value in a container, which closures share, or answer it");
  }
}

} // namespace gos::check
