// Places: what may be written, borrowed and assigned to.

#include "compiler/check/checker.h"

namespace gos::check {

bool Checker::isPlace(Expr* expr) {
  switch (expr->kind) {
  case ExprKind::Path: {
    TargetKind kind = cast<PathExpr>(expr)->target.kind;
    return kind == TargetKind::Variable || kind == TargetKind::Static ||
           kind == TargetKind::Const || kind == TargetKind::AssociatedConst;
  }
  case ExprKind::Field:
    return isPlace(cast<FieldExpr>(expr)->object);
  case ExprKind::TupleField:
    return isPlace(cast<TupleFieldExpr>(expr)->object);
  case ExprKind::Index:
    return isPlace(cast<IndexExpr>(expr)->object);
  case ExprKind::Unary:
    return cast<UnaryExpr>(expr)->op == UnaryOp::Deref;
  default:
    return false;
  }
}

/// Is what is written to this place looked at by anybody? An element that an impl of `Index`
/// answers, a range of a sequence and a character of a text are values of their own.
bool Checker::isKept(Expr* place) {
  switch (place->kind) {
  case ExprKind::Field:
    return isKept(folded(cast<FieldExpr>(place)->object));
  case ExprKind::TupleField:
    return isKept(folded(cast<TupleFieldExpr>(place)->object));
  case ExprKind::Index: {
    auto* index = cast<IndexExpr>(place);
    Type* object = index->object->type ? shallow(shallow(index->object->type)->withoutReferences())
                                       : types_.error();
    if (object->is(Kind::Error))
      return true;
    Type* at = index->index->type ? shallow(index->index->type) : types_.error();
    bool keeps =
        object->is(Kind::Map) || object->is(Kind::BTreeMap) ||
        (object->isSequence() && !isa<RangeExpr>(folded(index->index)) && !at->is(Kind::Range));
    return keeps && isKept(folded(index->object));
  }
  case ExprKind::MethodCall: {
    // What `or_insert` answers stays in the map.
    auto* call = cast<MethodCallExpr>(place);
    auto* function = dyn_cast_or_null<FunctionItem>(call->target.item);
    Type* object = call->receiver->type
                       ? shallow(shallow(call->receiver->type)->withoutReferences())
                       : types_.error();
    if (function && function->builtin >= 0 && call->name.name.text() == "or_insert" &&
        (object->is(Kind::Map) || object->is(Kind::BTreeMap)))
      return isKept(folded(call->receiver));
    return place->type && shallow(place->type)->is(Kind::Ref);
  }
  case ExprKind::Call: // a reference from inside the library
    return place->type && shallow(place->type)->is(Kind::Ref);
  case ExprKind::Error:
    return true;
  default:
    return isPlace(place);
  }
}

/// A write to a value that nothing keeps is lost, unless the call is made for its answer
/// (`words().pop()`).
void Checker::finishLostWrites(Body& body) {
  for (const Body::LostWrite& write : body.lostWrites) {
    Type* result = write.call->type ? settle(write.call->type) : types_.error();
    Type* receiver = write.receiver->type ? settle(write.receiver->type) : types_.error();
    if (receiver->has(Type::HasError) ||
        (receiver->is(Kind::Struct) && receiver->item == lang_.iterator))
      continue;
    if (!result->isUnit() && !llvm::is_contained(body.discards, write.call))
      continue;
    engine_.report(write.receiver->span, diag::BadAssignTarget)
        .primary("a value of its own, which `" + write.call->name.name.text().str() +
                 "` changes and nobody keeps")
        .help("give it a name with `let mut` first");
  }
}

Variable* Checker::rootVariable(Expr* expr) {
  while (true) {
    switch (expr->kind) {
    case ExprKind::Path:
      return cast<PathExpr>(expr)->target.variable;
    case ExprKind::Field:
      expr = cast<FieldExpr>(expr)->object;
      break;
    case ExprKind::TupleField:
      expr = cast<TupleFieldExpr>(expr)->object;
      break;
    case ExprKind::Index:
      expr = cast<IndexExpr>(expr)->object;
      break;
    case ExprKind::Borrow:
      expr = cast<BorrowExpr>(expr)->operand;
      break;
    case ExprKind::Unary:
      if (cast<UnaryExpr>(expr)->op != UnaryOp::Deref)
        return nullptr;
      expr = cast<UnaryExpr>(expr)->operand;
      break;
    default:
      return nullptr;
    }
  }
}

void Checker::noteWrite(Variable* variable, Span span) {
  variable->isAssigned = true;
  if (!body_->borrows.empty())
    reportConflict(variable, span, true);
  if (variable->owner != body_->frame->owner)
    body_->capturedWrites.push_back({variable, span});
}

/// May this place be written (or borrowed with `&mut`)? Reports when it may not.
void Checker::checkWritable(Expr* place, bool borrow, bool topLevel) {
  switch (place->kind) {
  case ExprKind::Path: {
    auto* path = cast<PathExpr>(place);
    if (path->target.kind == TargetKind::None)
      return; // reported
    StringRef name = path->path.segments.back().ident.name.text();
    if (path->target.kind == TargetKind::Variable) {
      Variable* variable = path->target.variable;
      noteWrite(variable, place->span);
      if (!topLevel && shallow(variable->type)->isMutableRef())
        return; // through the reference
      if (borrow && shallow(variable->type)->isMutableRef())
        return; // forwarded
      if (variable->readThrough) {
        engine_.report(place->span, diag::WriteThroughShared, name)
            .label(variable->span,
                   name == "self" ? "`&self` reads; `&mut self` writes" : "a shared reference");
        return;
      }
      if (variable->isMutable)
        return;
      Diagnostic& report = borrow
                               ? engine_.report(place->span, diag::MutableBorrowOfImmutable, name)
                               : engine_.report(place->span, diag::WriteToImmutable, name);
      report.label(variable->span, "declared without `mut`");
      if (variable->name != selfName_)
        report.suggest(Span{variable->span.begin, variable->span.begin}, "mut ",
                       "declare it `mut`");
      return;
    }
    if (path->target.kind == TargetKind::Static && cast<StaticItem>(path->target.item)->isMutable)
      return;
    if (path->target.kind == TargetKind::Static || path->target.kind == TargetKind::Const ||
        path->target.kind == TargetKind::AssociatedConst ||
        path->target.kind == TargetKind::ConstParam) {
      if (borrow)
        engine_.report(place->span, diag::MutableBorrowOfImmutable, name);
      else
        engine_.report(place->span, diag::WriteToImmutable, name);
      return;
    }
    engine_.report(place->span, diag::BadAssignTarget);
    return;
  }
  case ExprKind::Field:
    return checkWritable(cast<FieldExpr>(place)->object, borrow, false);
  case ExprKind::TupleField:
    return checkWritable(cast<TupleFieldExpr>(place)->object, borrow, false);
  case ExprKind::Index: {
    auto* index = cast<IndexExpr>(place);
    Type* object =
        index->object->type ? shallow(shallow(index->object->type)->withoutReferences()) : nullptr;
    if (object && object->is(Kind::String) && !borrow)
      engine_.report(place->span, diag::BadAssignTarget)
          .note("a character of a `String` is no place of its own");
    if (object && object->isSequence() && isa<RangeExpr>(index->index) && !borrow) {
      engine_.report(place->span, diag::BadAssignTarget).note("a range of a sequence is a copy");
      return;
    }
    return checkWritable(index->object, borrow, false);
  }
  case ExprKind::Unary: {
    auto* unary = cast<UnaryExpr>(place);
    if (unary->op == UnaryOp::Deref) {
      Type* type = unary->operand->type ? shallow(unary->operand->type) : nullptr;
      if (type && type->isMutableRef()) {
        if (Variable* root = rootVariable(unary->operand))
          noteWrite(root, place->span);
        return;
      }
      if (auto* path = dyn_cast<PathExpr>(unary->operand);
          path && path->target.variable && path->target.variable->readThrough)
        engine_.report(place->span, diag::WriteThroughShared, path->target.variable->name.text());
      return; // otherwise reported as GT0083
    }
    break;
  }
  case ExprKind::Error:
    return;
  case ExprKind::MethodCall:
  case ExprKind::Call: {
    // What a call answers: a reference from inside the library, or a temporary.
    if ((borrow && place->type) || (!topLevel && isKept(place)))
      return;
    break;
  }
  default:
    break;
  }
  if (borrow)
    return; // a temporary, for the one call
  engine_.report(place->span, diag::BadAssignTarget);
}

Type* Checker::checkAssign(AssignExpr* expr) {
  auto isDiscard = [&](Expr* target) {
    auto* path = dyn_cast<PathExpr>(target);
    return path && path->path.segments.size() == 1 &&
           path->path.segments[0].ident.name == underscore_;
  };
  auto checkTarget = [&](Expr* target) -> Type* {
    Type* type;
    if (auto* index = dyn_cast<IndexExpr>(target); index && folded(target) == target)
      type = setType(target, checkIndex(index, true));
    else
      type = check(target, nullptr);
    return type;
  };
  auto writable = [&](Expr* target) {
    // `let x: T`, given its value later: once, without `mut`.
    if (auto* path = dyn_cast<PathExpr>(target);
        path && path->target.kind == TargetKind::Variable && path->target.variable->isAssigned &&
        !path->target.variable->isMutable && !path->target.variable->isParameter &&
        !expr->compound && lateVariables_.contains(path->target.variable)) {
      noteWrite(path->target.variable, target->span);
      return;
    }
    if (shallow(target->type)->is(Kind::Error) && !isPlace(target))
      return;
    checkWritable(target, false);
  };
  size_t count = expr->targets.size();
  SmallVector<Target, 2> methods;
  if (expr->compound) {
    bool any = false;
    if (expr->values.size() != count)
      engine_.report(expr->span, diag::TypeMismatch, std::to_string(count) + " values",
                     std::to_string(expr->values.size()));
    for (size_t i = 0; i < count; ++i) {
      Expr* target = expr->targets[i];
      if (isDiscard(target)) {
        engine_.report(target->span, diag::BadAssignTarget);
        methods.push_back({});
        continue;
      }
      Type* type = checkTarget(target);
      writable(target);
      Target method;
      if (i < expr->values.size()) {
        Type* right = nullptr;
        Type* result = operatorType(expr->op, target->span, target, type, expr->values[i], right,
                                    false, method);
        Type* plain = shallow(type);
        if (!plain->is(Kind::Ref))
          coerce(expr->values[i], result, type);
      }
      any |= method.item != nullptr;
      methods.push_back(method);
    }
    expr->methods = any ? context_.list<Target>(methods) : ArrayRef<Target>();
    for (const Target& each : expr->methods)
      if (each.selfType)
        noteType(const_cast<Type**>(&each.selfType));
    return types_.unit();
  }
  expr->methods = {};
  if (count == 1 && expr->values.size() == 1) {
    Expr* target = expr->targets[0];
    if (isDiscard(target)) {
      setType(target, check(expr->values[0], nullptr));
      return types_.unit();
    }
    Type* type = checkTarget(target);
    writable(target);
    Type* solid = shallow(type);
    if (solid->isMutableRef() && isa<PathExpr>(target)) {
      Type* actual = check(expr->values[0], solid->args[0]);
      if (!shallow(actual)->is(Kind::Ref))
        engine_.report(target->span, diag::TypeMismatch, print(solid), print(actual))
            .help("write through the reference: `*" +
                  cast<PathExpr>(target)->path.segments[0].ident.name.text().str() + " = ..`");
      else
        coerce(expr->values[0], actual, solid);
      return types_.unit();
    }
    Type* actual = checkValue(expr->values[0], type);
    coerce(expr->values[0], actual, type);
    return types_.unit();
  }
  SmallVector<Type*, 4> wanted;
  for (Expr* target : expr->targets) {
    if (isDiscard(target)) {
      wanted.push_back(setType(target, unifier_.fresh()));
      continue;
    }
    wanted.push_back(checkTarget(target));
    writable(target);
  }
  if (expr->values.size() == 1) {
    Type* all = types_.tuple(wanted);
    checkAgainst(expr->values[0], all);
  } else if (expr->values.size() == count) {
    for (size_t i = 0; i < count; ++i)
      coerce(expr->values[i], checkValue(expr->values[i], wanted[i]), wanted[i]);
  } else {
    engine_.report(expr->span, diag::TypeMismatch, std::to_string(count) + " values",
                   std::to_string(expr->values.size()));
    for (Expr* value : expr->values)
      check(value, nullptr);
  }
  return types_.unit();
}

} // namespace gos::check
