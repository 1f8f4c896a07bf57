// One body after the other: its locals, and what is settled when all of its variables are solved.

#include "compiler/check/checker.h"

namespace gos::check {

void Checker::reportTooDeep(Span span) {
  if (!std::exchange(reportedDepth_, true))
    engine_.report(span, diag::CheckNestingLimit, size_t(TypeTable::kMaxDepth));
}

void Checker::queueBody(FunctionItem* item) {
  if (!item->body)
    return;
  FunctionInfo& info = functionInfo(item);
  if (info.body != State::Fresh)
    return;
  info.body = State::Running;
  queue_.push_back(item);
}

void Checker::drainQueue() {
  // In order; a body may queue the functions inside it.
  for (size_t i = 0; i < queue_.size(); ++i)
    checkFunctionBody(queue_[i]);
  queue_.clear();
}

void Checker::beginBody(Body& body, Item* item, const ItemContext& context) {
  body.item = item;
  body.context = context;
  body.package = context.scope->package;
  body.errorsBefore = engine_.errorCount();
  auto damage = llvm::lower_bound(damage_, item->span.begin);
  body.damaged = damage != damage_.end() && *damage <= item->span.end;
  if (auto* function = dyn_cast<FunctionItem>(item))
    body.damaged |= function->implicitMain && !damage_.empty();
  body_ = &body;
  unifier_.reset();
  locals_.clear();
  localTop_.clear();
}

void Checker::endBody(Body& body) {
  zonk(body);
  body_ = nullptr;
  locals_.clear();
}

void Checker::declareLocal(Variable* variable) {
  if (!variable->name)
    return;
  auto [place, fresh] = localTop_.try_emplace(variable->name, -1);
  locals_.push_back({variable->name, variable, place->second});
  place->second = int32_t(locals_.size()) - 1;
  if (variable->type && variable->type->has(Type::HasInfer))
    body_->variables.push_back(variable);
}

void Checker::closeScope(size_t mark) {
  while (!body_->borrows.empty() && body_->borrows.back().scope > mark)
    body_->borrows.pop_back();
  while (locals_.size() > mark) {
    localTop_[locals_.back().name] = locals_.back().previous;
    locals_.pop_back();
  }
}

void Checker::enterRegion(size_t& savedFloor) {
  savedFloor = body_->regionFloor;
  if (body_->regionDepth++ == 0)
    body_->regionFloor = locals_.size();
}

void Checker::leaveRegion(size_t savedFloor) {
  --body_->regionDepth;
  body_->regionFloor = savedFloor;
}

void Checker::declareParameters(FunctionItem* item, const Signature& signature) {
  for (size_t i = 0; i < item->parameters.size() && i < signature.parameters.size(); ++i) {
    const FunctionParameter& parameter = item->parameters[i];
    if (!parameter.pattern)
      continue;
    Type* type = finish(signature.parameters[i], body_->context);
    PatternScope scope;
    scope.isParameter = true;
    // `self` and other plain names, without the questions a pattern asks.
    if (auto* binding = dyn_cast<BindingPattern>(parameter.pattern); binding && !binding->sub) {
      binding->target = {};
      binding->type = type;
      bindVariable(binding->variable, type, scope);
      bool shared =
          parameter.type && isa<ReferenceTypeNode>(parameter.type) && !type->is(Kind::Ref);
      binding->variable->readThrough = shared || (i == 0 && item->self == SelfKind::Shared);
      if (i == 0 && item->self == SelfKind::MutValue)
        binding->variable->isMutable = true;
      binding->variable->isComptime = parameter.isComptime;
      continue;
    }
    Pattern* pattern = parameter.pattern;
    if (auto* reference = dyn_cast<ReferencePattern>(pattern)) { // reported with the signature
      pattern = reference->sub;
      type = type->withoutReferences();
    }
    checkPattern(pattern, type, scope);
    body_->lets.push_back({pattern, type, true});
  }
  for (const FunctionParameter& parameter : item->parameters)
    if (parameter.defaultValue) {
      size_t i = size_t(&parameter - item->parameters.data());
      checkAgainst(parameter.defaultValue, finish(signature.parameters[i], body_->context));
    }
}

void Checker::checkFunctionBody(FunctionItem* item) {
  FunctionInfo& info = functionInfo(item);
  if (info.body == State::Done || !item->body)
    return;
  info.body = State::Done;
  bool bound = !info.context.bound.empty();
  if (info.isTemplate && !bound)
    return; // checked for each list of arguments
  Body body;
  beginBody(body, item, info.context);
  body.isComptimeFn = item->isComptime;
  body.allowsUnused = info.allowsUnused || info.context.scope->allowsUnusedResult ||
                      info.context.scope->package == 0;
  if (info.context.owner && hasAttribute(info.context.owner, "allow", "unused_result"))
    body.allowsUnused = true;
  if (bound)
    body.context.self = info.context.self ? finish(info.context.self, info.context) : nullptr;
  Frame frame;
  frame.owner = item;
  Type* result = finish(info.signature.result, info.context);
  bool hadTail = item->body->tail != nullptr;
  if (item->implicitMain) {
    if (errorItem() && lang_.result)
      result = types_.nominal(Kind::Enum, lang_.result,
                              {types_.unit(), types_.nominal(Kind::Struct, lang_.error, {})});
  }
  frame.result = result;
  body.frame = &frame;
  declareParameters(item, info.signature);
  Type* type =
      checkBlock(item->body, item->implicitMain && !hadTail ? types_.unit() : result, false);
  if (item->implicitMain) {
    if (hadTail || frame.sawTry) {
      if (!hadTail) {
        // `Ok(())` ends a main that uses `?`.
        auto* path = context_.make<PathExpr>(item->body->closeBrace);
        PathSegment segment;
        segment.ident = {lang_.result->variants[lang_.ok].name.name, item->body->closeBrace};
        path->path.segments = context_.list<PathSegment>({segment});
        path->path.span = item->body->closeBrace;
        auto* call = context_.make<CallExpr>(item->body->closeBrace);
        call->callee = path;
        Argument argument;
        argument.value = context_.make<TupleExpr>(item->body->closeBrace);
        call->arguments = context_.list<Argument>({argument});
        item->body->tail = call;
        checkAgainst(call, result);
        item->body->type = result;
      }
      info.signature.result = result;
    } else {
      info.signature.result = types_.unit();
    }
  } else {
    Expr* tail = item->body->tail;
    Type* solid = shallow(type);
    if (!item->returnType && !item->implicitMain && tail && !solid->isUnit() &&
        !solid->is(Kind::Never) && !solid->is(Kind::Error) && !solid->is(Kind::Infer)) {
      engine_.report(tail->span, diag::MissingReturnType, item->name.name.text(), print(solid))
          .label(item->name.span, "declared here")
          .help("write the type after `->`, or discard the value with `let _ =`");
    } else if (!tail && solid->isUnit() && !shallow(result)->isUnit() &&
               !shallow(result)->is(Kind::Error)) {
      Span place = item->body->closeBrace.valid() ? item->body->closeBrace : item->body->span;
      engine_.report(place, diag::TypeMismatch, print(result), "()")
          .primary("the body ends without a value")
          .label(item->returnType ? item->returnType->span : item->name.span, "promised here");
    } else {
      coerce(tail ? tail : item->body, type, result);
    }
  }
  endBody(body);
  info.bodyOk = engine_.errorCount() == body.errorsBefore;
  if (info.context.scope->package != 0 && !bound)
    functions_.push_back(item);
}

void Checker::checkConstBody(Item* item) {
  ConstInfo& info = constInfo(item);
  if (info.body != State::Fresh)
    return;
  info.body = State::Done;
  Expr* value = isa<ConstItem>(item) ? cast<ConstItem>(item)->value : cast<StaticItem>(item)->value;
  if (!value)
    return;
  Body body;
  beginBody(body, item, info.context);
  body.allowsUnused = true;
  Frame frame;
  frame.owner = item;
  frame.result = info.type;
  body.frame = &frame;
  checkAgainst(value, info.type);
  size_t errors = engine_.errorCount();
  endBody(body);
  if (engine_.errorCount() == errors && errors == body.errorsBefore)
    checkFoldable(value);
  info.uses = types_.list<Item*>(body.constUses);
}

ArrayRef<Type*> Checker::noteTypes(ArrayRef<Type*> list) {
  ArrayRef<Type*> kept = types_.list<Type*>(list);
  for (Type* each : kept)
    if (each->flags & (Type::HasInfer | Type::HasProjection)) {
      body_->lists.push_back({const_cast<Type**>(kept.data()), kept.size()});
      break;
    }
  return kept;
}

Type* Checker::known(Type* type) {
  type = shallow(type);
  if (type->is(Kind::Infer) && type->inferKind == InferKind::General && !body_->deferred.empty()) {
    solveDeferred();
    type = shallow(type);
    if (type->is(Kind::Infer)) {
      solveDeferred(type);
      type = shallow(type);
    }
  }
  if (type->is(Kind::Projection))
    type = shallow(normaliseDeep(type));
  return type;
}

/// A method of one type of numbers only (`to_bits`) waits until the number has one; see
/// solveDeferred.
bool Checker::waitsForNumber(Expr* expr, Type* receiver) {
  auto* call = dyn_cast<MethodCallExpr>(expr);
  if (!call || !receiver->is(Kind::Infer) || receiver->inferKind == InferKind::General ||
      findMember(receiver, call->name.name, true).item)
    return false;
  return findMember(receiver->inferKind == InferKind::Integer ? types_.i64() : types_.f64(),
                    call->name.name, true)
      .item;
}

/// Calls and fields whose receiver has become known. Numbers whose type nothing says get their
/// default when the answer `wanted` of a call is needed, and those of all calls with `defaults`.
void Checker::solveDeferred(Type* wanted, bool defaults) {
  bool progress = true;
  while (progress && !body_->deferred.empty()) {
    progress = false;
    std::vector<Body::Deferred> work;
    work.swap(body_->deferred);
    for (Body::Deferred& each : work) {
      Type* receiver = shallow(each.receiver);
      if (receiver->is(Kind::Infer) && receiver->inferKind == InferKind::General) {
        body_->deferred.push_back(each);
        continue;
      }
      if (Type* plain = shallow(receiver->withoutReferences()); waitsForNumber(each.expr, plain)) {
        if (!defaults && (!wanted || shallow(each.result) != wanted)) {
          body_->deferred.push_back(each);
          continue;
        }
        unifier_.unify(plain, plain->inferKind == InferKind::Integer ? types_.i64() : types_.f64());
      }
      progress = true;
      Type* result = types_.error();
      if (auto* call = dyn_cast<MethodCallExpr>(each.expr))
        result = finishMethodCall(call, receiver, each.expected, 2);
      else if (auto* field = dyn_cast<FieldExpr>(each.expr))
        result = fieldOf(field, receiver);
      if (!unifier_.unify(each.result, result) && !shallow(result)->is(Kind::Never))
        engine_.report(each.expr->span, diag::TypeMismatch, print(each.result), print(result));
    }
  }
}

/// Projections whose base has become known in the meantime.
Type* Checker::normaliseDeep(Type* type) {
  type = unifier_.resolve(type);
  if (!type->has(Type::HasProjection))
    return type;
  SmallVector<Type*, 8> parts;
  for (Type* arg : type->args)
    parts.push_back(normaliseDeep(arg));
  Type* made = types_.rebuild(type, parts);
  return made->is(Kind::Projection) ? normalise(made) : made;
}

Type* Checker::settle(Type* type) {
  type = unifier_.resolve(type);
  return type->has(Type::HasProjection) ? normaliseDeep(type) : type;
}

void Checker::zonk(Body& body) {
  solveDeferred();
  auto solveBounds = [&](bool last) {
    std::vector<Body::Bound> work;
    work.swap(body.bounds);
    for (const Body::Bound& bound : work)
      solveBound(bound, last);
  };
  if (!body.bounds.empty())
    solveBounds(false);
  solveDeferred();
  if (unifier_.hasVariables()) {
    settleDiverging(body);
    solveDeferred(nullptr, true);
    unifier_.applyDefaults();
    solveDeferred();
    if (!body.bounds.empty())
      solveBounds(true);
    bool clean = engine_.errorCount() == body.errorsBefore;
    bool reported = !clean || body.damaged || body.awaitsText;
    for (Body::Deferred& each : body.deferred) {
      if (reported)
        break;
      reported = true;
      Expr* receiver = isa<MethodCallExpr>(each.expr) ? cast<MethodCallExpr>(each.expr)->receiver
                                                      : cast<FieldExpr>(each.expr)->object;
      Variable* root = rootVariable(receiver);
      if (auto* field = dyn_cast<FieldExpr>(each.expr); field && root)
        engine_.report(field->name.span, diag::ClosureFieldUnknown, field->name.name.text(),
                       root->name.text());
      else if (root)
        engine_.report(receiver->span, diag::ClosureParameterUnknown, root->name.text());
      else
        engine_.report(receiver->span, diag::NotInferred, "the type of the receiver");
    }
    if (!reported)
      reported = reportOpenConstArgument(body);
    if (!reported)
      for (Variable* variable : body.variables) {
        Type* type = unifier_.resolve(variable->type);
        if (!type->has(Type::HasInfer))
          continue;
        reported = true;
        engine_
            .report(variable->span, diag::NotInferred,
                    "the type `" + print(type) + "` of `" + variable->name.text().str() + "`")
            .help("write it: `" + variable->name.text().str() + ": ..`");
        break;
      }
    if (!reported)
      for (Body::Opened& each : body.opened) {
        if (!unifier_.resolve(each.type)->has(Type::HasInfer))
          continue;
        reported = true;
        engine_.report(each.span, diag::NotInferred, each.what);
        break;
      }
    if (!reported)
      for (Type** place : body.types)
        if (unifier_.resolve(*place)->has(Type::HasInfer)) {
          // The place of the expression that owns the type is not known here: the body's is.
          engine_.report(body.item->name.span.valid() ? body.item->name.span : body.item->span,
                         diag::NotInferred,
                         "a type in `" + body.item->name.name.text().str() + "`");
          break;
        }
    unifier_.closeWith(types_.error());
  }
  for (Type** place : body.types)
    *place = settle(*place);
  for (auto [list, count] : body.lists)
    for (size_t i = 0; i < count; ++i)
      list[i] = settle(list[i]);
  for (Variable* variable : body.variables)
    variable->type = settle(variable->type);
  if (types_.takeTooDeep())
    reportTooDeep(body.item->name.span);
  // From here on all types are final.
  judgeConstArguments(body);
  for (auto [expr, negative] : body.literals)
    literalRange(expr, negative, expr->type);
  for (CastExpr* cast : body.casts)
    finishCast(cast);
  for (const Body::Operation& operation : body.comparisons)
    finishComparison(operation);
  for (const Body::Formatted& each : body.formatted) {
    Type* type = each.expr->type ? settle(each.expr->type) : types_.error();
    llvm::SmallPtrSet<Type*, 8> seen;
    if (hasTextForm(type, each.kind, seen))
      continue;
    Type* inner = type->withoutReferences();
    if (inner->is(Kind::Struct) && inner->item == lang_.iterator)
      engine_.report(each.span, diag::IteratorRendered, print(inner));
    else
      engine_.report(each.span, diag::NoTextForm, print(inner));
  }
  for (auto [type, span] : body.elements) {
    Type* element = settle(type);
    llvm::SmallPtrSet<Type*, 8> seen;
    (void)seen;
    if (element->is(Kind::Fn))
      engine_.report(span, diag::BadContainerElement, print(element), "a map or set");
  }
  if (!body.allowsUnused)
    for (Expr* expr : body.discards)
      checkDiscarded(expr);
  size_t errors = engine_.errorCount();
  if (errors == body.errorsBefore || !body.matches.empty() || !body.lets.empty()) {
    if (!body.damaged)
      for (MatchExpr* match : body.matches)
        checkExhaustive(match);
    for (const Body::Let& let : body.lets) {
      std::string missing;
      Type* type = settle(let.type);
      if (type->has(Type::HasError) || isTotal(let.pattern, type, &missing))
        continue;
      if (let.parameter)
        engine_.report(let.pattern->span, diag::PatternNotTotal, print(type))
            .note("`" + missing + "` is not covered");
      else
        engine_.report(let.pattern->span, diag::RefutableLet)
            .note("`" + missing + "` is not covered");
    }
  }
  finishLostWrites(body);
  finishClosures(body);
  finishClosureUses(body);
  for (auto [heap, span] : body.heaps)
    checkHeap(settle(heap), span);
  finishRegions(body);
  if (engine_.errorCount() == body.errorsBefore && !body.damaged)
    checkFlow(body);
  for (auto& [function, target] : body.instances) {
    bool concrete = true;
    for (Type* arg : target->typeArgs)
      concrete &= !(arg->flags & (Type::HasParam | Type::HasError | Type::HasInfer));
    if (concrete && (!target->selfType || !target->selfType->has(Type::HasParam)))
      instance(function, target->typeArgs, target->selfType);
  }
}

/// A value nobody looks at: a Result must not get lost (language.md section 10.3).
void Checker::checkDiscarded(Expr* expr) {
  expr = folded(expr);
  if (!expr || !expr->type)
    return;
  switch (expr->kind) {
  case ExprKind::Block: {
    auto* block = cast<BlockExpr>(expr);
    if (block->tail)
      checkDiscarded(block->tail);
    return;
  }
  case ExprKind::If: {
    auto* branch = cast<IfExpr>(expr);
    checkDiscarded(branch->thenBlock);
    if (branch->elseBranch)
      checkDiscarded(branch->elseBranch);
    return;
  }
  case ExprKind::Match:
    for (const MatchArm& arm : cast<MatchExpr>(expr)->arms)
      checkDiscarded(arm.body);
    return;
  case ExprKind::Pipe:
    if (Expr* meaning = cast<PipeExpr>(expr)->desugared)
      checkDiscarded(meaning);
    return;
  case ExprKind::While:
  case ExprKind::For:
  case ExprKind::Assign:
    return;
  default:
    break;
  }
  Type* type = expr->type->has(Type::HasInfer) ? settle(expr->type) : expr->type;
  if (type->is(Kind::Enum) && type->item == lang_.result) {
    engine_.report(expr->span, diag::DiscardedResult, print(type));
    return;
  }
  if (type->isNominal() && nominal(type->item).mustUse) {
    engine_.report(expr->span, diag::DiscardedMustUse, type->item->name.name.text());
    return;
  }
  FunctionItem* function = nullptr;
  if (auto* call = dyn_cast<CallExpr>(expr)) {
    if (auto* path = dyn_cast<PathExpr>(call->callee))
      function = dyn_cast_or_null<FunctionItem>(path->target.item);
  } else if (auto* method = dyn_cast<MethodCallExpr>(expr)) {
    function = dyn_cast_or_null<FunctionItem>(method->target.item);
  }
  if (function && functionInfo(function).mustUse)
    engine_.report(expr->span, diag::DiscardedMustUse, function->name.name.text());
}

} // namespace gos::check
