// Blocks, statements, branches, loops, `?`.

#include "compiler/check/checker.h"

namespace gos::check {

Type* Checker::join(Type* first, Type* second, Expr* expr) {
  if (!first || shallow(first)->is(Kind::Never))
    return second;
  if (shallow(second)->is(Kind::Never))
    return first;
  if (shallow(first)->is(Kind::Error))
    return first;
  coerce(expr, second, first);
  return first;
}

Type* Checker::checkBlock(BlockExpr* expr, Type* expected, bool discarded) {
  size_t mark = openScope();
  ModuleScope* savedScope = body_->context.scope;
  if (expr->hasItems) {
    size_t firstItem = resolver_.items.size();
    body_->context.scope = resolver_.openBlock(savedScope, expr->statements);
    syncItems();
    syncImpls();
    // Bodies of functions inside wait in the queue; they see no locals.
    for (size_t i = firstItem; i < resolver_.items.size(); ++i) {
      auto [item, scope] = resolver_.items[i];
      if (scope != body_->context.scope)
        continue;
      Body* saved = std::exchange(body_, nullptr);
      checkAttributes(item);
      if (auto* function = dyn_cast<FunctionItem>(item)) {
        functionInfo(function);
        queueBody(function);
      } else if (isa<StructItem, EnumItem>(item)) {
        resolveFields(item);
        checkFinite(item, nullptr, item->name.span);
      } else if (isa<NewtypeItem, AliasItem>(item)) {
        nominal(item);
      } else if (auto* trait = dyn_cast<TraitItem>(item)) {
        checkTrait(trait);
      } else if (auto* impl = dyn_cast<ImplItem>(item)) {
        checkImpl(implInfo(impl));
      } else if (isa<ConstItem, StaticItem>(item)) {
        constInfo(item);
        constants_.push_back(item);
      }
      body_ = saved;
    }
  }
  bool diverges = false;
  for (Stmt* statement : expr->statements)
    checkStatement(statement, diverges);
  Type* type = nullptr;
  if (expr->tail) {
    if (discarded) {
      Type* tail = checkDiscardedExpr(expr->tail);
      type = shallow(tail)->is(Kind::Never) ? tail : types_.unit();
    } else {
      type = check(expr->tail, expected);
    }
    if (diverges)
      type = shallow(type)->is(Kind::Error) ? type : types_.never();
  } else {
    type = diverges ? types_.never() : types_.unit();
  }
  body_->context.scope = savedScope;
  closeScope(mark);
  expr->type = type;
  noteType(&expr->type);
  return type;
}

/// An expression whose value nobody wants: branches need not agree.
Type* Checker::checkDiscardedExpr(Expr* expr) {
  Expr* real = folded(expr);
  if (real == expr) {
    Type* type = nullptr;
    if (auto* block = dyn_cast<BlockExpr>(expr))
      type = checkBlock(block, nullptr, true);
    else if (auto* branch = dyn_cast<IfExpr>(expr))
      type = checkIf(branch, nullptr, true);
    else if (auto* match = dyn_cast<MatchExpr>(expr))
      type = checkMatch(match, nullptr, true);
    if (type)
      return setType(expr, type);
  }
  Type* type = check(expr, nullptr);
  body_->discards.push_back(expr);
  return type;
}

void Checker::checkStatement(Stmt* stmt, bool& diverges) {
  switch (stmt->kind) {
  case StmtKind::Let:
    checkLet(cast<LetStmt>(stmt), diverges);
    return;
  case StmtKind::Expr: {
    Type* type = checkDiscardedExpr(cast<ExprStmt>(stmt)->expr);
    if (shallow(type)->is(Kind::Never))
      diverges = true;
    return;
  }
  case StmtKind::Item:
    return;
  case StmtKind::Defer: {
    // Evaluated when the block is left, as if by a call: no control flow out of it.
    auto* deferred = cast<DeferStmt>(stmt);
    std::vector<Loop> saved;
    saved.swap(body_->loops);
    checkDiscardedExpr(deferred->expr);
    body_->discards.pop_back();
    saved.swap(body_->loops);
    return;
  }
  }
}

void Checker::checkLet(LetStmt* stmt, bool& diverges) {
  Type* declared = stmt->type ? resolveType(stmt->type, body_->context, TypeUse::Local) : nullptr;
  Type* type = declared;
  bool readThrough = false;
  if (stmt->value) {
    Expr* value = folded(stmt->value);
    // A target list gives each value the hint of its own target only.
    Type* actual = check(stmt->value, declared);
    if (shallow(actual)->is(Kind::Never))
      diverges = true;
    if (declared) {
      coerce(stmt->value, actual, declared);
    } else {
      type = actual;
      if (shallow(actual)->is(Kind::Never))
        type =
            isa<BindingPattern, WildcardPattern>(stmt->pattern) ? types_.never() : types_.error();
    }
    // Which place it is has to be known: a name or a place, nothing that is computed.
    if (shallow(type)->isMutableRef() && !isa<BorrowExpr, PathExpr>(value))
      type = withoutReference(stmt->value, type, "the value of a block or a branch");
    if (auto* borrow = dyn_cast<BorrowExpr>(value))
      readThrough = borrow->mutability == Mutability::Shared;
    if (stmt->type && isa<ReferenceTypeNode>(stmt->type) && !shallow(type)->is(Kind::Ref))
      readThrough = true;
    if (shallow(type)->is(Kind::Slice)) {
      engine_
          .report(stmt->value->span, diag::BareSliceOwned, print(type),
                  print(types_.vec(shallow(type)->args[0])))
          .help("write `.to_vec()`");
      type = types_.vec(shallow(type)->args[0]);
    }
  } else if (!type) {
    type = unifier_.fresh();
  }
  if (stmt->elseBlock) {
    // The names of the pattern are not bound in the block.
    Type* other = checkBlock(stmt->elseBlock, nullptr, true);
    if (!shallow(other)->is(Kind::Never) && !shallow(other)->is(Kind::Error))
      engine_
          .report(stmt->elseBlock->closeBrace.valid() ? stmt->elseBlock->closeBrace
                                                      : stmt->elseBlock->span,
                  diag::PatternNotTotal, print(type))
          .primary("the `else` block does not leave");
  }
  PatternScope scope;
  scope.isLet = isa<BindingPattern>(stmt->pattern);
  checkPattern(stmt->pattern, type, scope);
  if (auto* binding = dyn_cast<BindingPattern>(stmt->pattern)) {
    binding->variable->readThrough = readThrough;
    if (stmt->value)
      addBorrow(stmt->value, binding->variable->name, stmt->value->span);
    if (stmt->value && !binding->variable->isMutable)
      if (auto* closure = dyn_cast<ClosureExpr>(folded(stmt->value)))
        body_->namedClosures[binding->variable] = closure;
    if (!stmt->value) {
      binding->variable->isAssigned = true; // set later: lowering gives it a place of its own
      lateVariables_.insert(binding->variable);
      body_->late.push_back(binding->variable);
    }
  }
  if (!stmt->elseBlock && !isa<BindingPattern>(stmt->pattern) &&
      !isa<WildcardPattern>(stmt->pattern))
    body_->lets.push_back({stmt->pattern, type, false});
  else if (auto* binding = dyn_cast<BindingPattern>(stmt->pattern);
           binding && !stmt->elseBlock &&
           (binding->sub || binding->target.kind != TargetKind::None))
    body_->lets.push_back({stmt->pattern, type, false});
  if (!stmt->value && !isa<BindingPattern>(stmt->pattern))
    engine_.report(stmt->span, diag::NotInferred, "the value of this `let`");
}

void Checker::checkConditions(ArrayRef<Expr*> conditions) {
  for (Expr* condition : conditions) {
    if (auto* let = dyn_cast<LetConditionExpr>(condition)) {
      Type* type = check(let->value, nullptr);
      checkPattern(let->pattern, type);
      let->type = types_.boolean();
    } else {
      checkAgainst(condition, types_.boolean());
    }
  }
}

Type* Checker::checkIf(IfExpr* expr, Type* expected, bool discarded) {
  size_t mark = openScope();
  checkConditions(expr->conditions);
  if (!expr->elseBranch) {
    Type* type = checkBlock(expr->thenBlock, nullptr, true);
    // Without `else` each branch's value is dropped; a dropped Result counts.
    body_->discards.push_back(expr->thenBlock);
    (void)type;
    closeScope(mark);
    return types_.unit();
  }
  Type* first = checkBlock(expr->thenBlock, expected, discarded);
  closeScope(mark);
  Type* second;
  if (discarded) {
    second = checkDiscardedExpr(expr->elseBranch);
    bool never = shallow(first)->is(Kind::Never) && shallow(second)->is(Kind::Never);
    return never ? types_.never() : types_.unit();
  }
  Type* hint = expected ? expected : shallow(first)->is(Kind::Never) ? nullptr : first;
  second = check(expr->elseBranch, hint);
  Expr* place = expr->elseBranch;
  if (auto* block = dyn_cast<BlockExpr>(place); block && block->tail)
    place = block->tail;
  return join(first, second, place);
}

Type* Checker::checkMatch(MatchExpr* expr, Type* expected, bool discarded) {
  if (Expr* taken = takenArm(expr)) {
    check(expr->subject, nullptr);
    return discarded ? checkDiscardedExpr(taken) : check(taken, expected);
  }
  Type* subject = known(known(check(expr->subject, nullptr))->withoutReferences());
  bool strips = false;
  for (const MatchArm& arm : expr->arms)
    strips |= isa<ReferencePattern>(arm.pattern);
  if (strips)
    subject = shallow(expr->subject->type);
  Type* type = nullptr;
  Type* hint = expected;
  for (const MatchArm& arm : expr->arms) {
    size_t mark = openScope();
    checkPattern(arm.pattern, subject);
    if (arm.guard) {
      if (auto* let = dyn_cast<LetConditionExpr>(arm.guard)) {
        Type* value = check(let->value, nullptr);
        checkPattern(let->pattern, value);
        let->type = types_.boolean();
      } else {
        checkAgainst(arm.guard, types_.boolean());
      }
    }
    if (discarded) {
      Type* body = checkDiscardedExpr(arm.body);
      if (!shallow(body)->is(Kind::Never))
        type = types_.unit();
      else if (!type)
        type = body;
    } else {
      Type* body = check(arm.body, hint);
      Expr* place = arm.body;
      if (auto* block = dyn_cast<BlockExpr>(place); block && block->tail)
        place = block->tail;
      type = type ? join(type, body, place) : body;
      if (!hint && !shallow(type)->is(Kind::Never))
        hint = type;
    }
    closeScope(mark);
  }
  body_->matches.push_back(expr);
  if (!type)
    type = shallow(subject)->is(Kind::Never) || expr->arms.empty() ? types_.never() : types_.unit();
  return type;
}

Loop* Checker::findLoop(const Ident& label, Span span, StringRef what) {
  for (size_t i = body_->loops.size(); i > body_->frame->loops; --i) {
    Loop& loop = body_->loops[i - 1];
    if (!label.name || loop.label == label.name)
      return &loop;
  }
  std::string text = what.str();
  if (label.name)
    text += " " + label.name.text().str();
  Diagnostic& report = engine_.report(span, diag::LoopControlOutsideLoop, text);
  if (body_->frame->closure)
    report.note("a closure does not reach the loops around it");
  return nullptr;
}

Type* Checker::checkWhile(WhileExpr* expr) {
  size_t mark = openScope();
  checkConditions(expr->conditions);
  body_->loops.push_back({expr, expr->label.name, nullptr, false, false});
  checkBlock(expr->body, nullptr, true);
  body_->discards.push_back(expr->body);
  body_->loops.pop_back();
  closeScope(mark);
  return types_.unit();
}

Type* Checker::checkLoop(LoopExpr* expr, Type* expected) {
  body_->loops.push_back({expr, expr->label.name, nullptr, true, false});
  if (expected && !shallow(expected)->is(Kind::Infer))
    body_->loops.back().breakType = nullptr;
  checkBlock(expr->body, nullptr, true);
  body_->discards.push_back(expr->body);
  Loop loop = body_->loops.back();
  body_->loops.pop_back();
  expr->hasBreak = loop.hasBreak;
  if (!loop.hasBreak)
    return types_.never();
  return loop.breakType ? loop.breakType : types_.unit();
}

Type* Checker::elementOf(Expr* iterable, Type* type, ForExpr* loop) {
  type = known(known(type)->withoutReferences());
  switch (type->kind) {
  case Kind::Error:
  case Kind::Never:
    return types_.error();
  case Kind::Array:
  case Kind::Slice:
  case Kind::Vec:
  case Kind::Set:
  case Kind::BTreeSet:
  case Kind::Deque:
  case Kind::Range:
  case Kind::Queue:
  case Kind::Stack:
    return type->args[0];
  case Kind::Map:
  case Kind::BTreeMap:
    return types_.tuple({type->args[0], type->args[1]});
  case Kind::String:
    return types_.scalar(Kind::Char);
  default:
    break;
  }
  if (type->is(Kind::Infer) && type->inferKind == InferKind::General) {
    engine_.report(iterable->span, diag::NotInferred, "the type that `for` iterates over");
    return types_.error();
  }
  bool optional =
      type->is(Kind::Enum) && (type->item == lang_.option || type->item == lang_.result);
  if (!optional && (type->isNominal() || type->is(Kind::Param) || type->is(Kind::Projection))) {
    Member member = findMember(type, nextName_, true);
    if (auto* function = dyn_cast_or_null<FunctionItem>(member.item)) {
      const Signature& signature = functionInfo(function).signature;
      ValuePath value;
      value.kind = TargetKind::Function;
      value.item = function;
      value.outer = member.outer;
      value.self = member.self;
      SmallVector<Type*, 4> args =
          openTypeArgs(signature.generics, value, iterable->span, function->name.name.text());
      // A native's parameters come from the receiver.
      if (!signature.parameters.empty())
        unifier_.unify(
            substitute(signature.parameters[0], args, member.self ? member.self : signature.self)
                ->withoutReferences(),
            type);
      Type* result =
          shallow(substitute(signature.result, args, member.self ? member.self : signature.self));
      if (result->is(Kind::Projection))
        result = shallow(normaliseDeep(result));
      if (signature.parameters.size() == 1 && result->is(Kind::Enum) &&
          result->item == lang_.option) {
        if (loop)
          fillTarget(loop->next, value, args);
        return result->args[0];
      }
    }
  }
  Diagnostic& report = engine_.report(iterable->span, diag::NotIterable, print(type));
  if (optional)
    report.help("write `if let`, or `match`");
  return types_.error();
}

Type* Checker::checkFor(ForExpr* expr) {
  expr->next = {};
  expr->unrolled = false;
  if (checkReflectiveFor(expr))
    return types_.unit();
  Type* type = check(expr->iterable, nullptr);
  Type* element = elementOf(expr->iterable, type, expr);
  noteCursor(expr->iterable);
  expr->elementType = element;
  noteType(&expr->elementType);
  size_t mark = openScope();
  checkPattern(expr->pattern, element);
  if (!isa<BindingPattern>(expr->pattern) && !isa<WildcardPattern>(expr->pattern))
    body_->lets.push_back({expr->pattern, element, true});
  // A sequence is not changed while a loop walks over it.
  size_t borrows = body_->borrows.size();
  Expr* iterable = folded(expr->iterable);
  if (auto* borrow = dyn_cast<BorrowExpr>(iterable))
    iterable = borrow->operand;
  if (auto* path = dyn_cast<PathExpr>(iterable);
      path && path->target.kind == TargetKind::Variable &&
      shallow(path->target.variable->type)->isContainer())
    body_->borrows.push_back(
        {path->target.variable, forName_, iterable->span, false, locals_.size()});
  body_->loops.push_back({expr, expr->label.name, nullptr, false, false});
  checkBlock(expr->body, nullptr, true);
  body_->discards.push_back(expr->body);
  body_->loops.pop_back();
  if (body_->borrows.size() > borrows)
    body_->borrows.resize(borrows);
  closeScope(mark);
  return types_.unit();
}

Type* Checker::checkReturn(ReturnExpr* expr) {
  Type* result = body_->frame->result;
  if (!expr->value) {
    Type* wanted = shallow(result);
    bool implicit = isa_and_nonnull<FunctionItem>(body_->item) &&
                    cast<FunctionItem>(body_->item)->implicitMain && !body_->frame->closure;
    if (!implicit && !wanted->isUnit() && !wanted->is(Kind::Error) &&
        !unifier_.unify(wanted, types_.unit()))
      engine_.report(expr->span, diag::TypeMismatch, print(wanted), "()");
    return types_.never();
  }
  if (body_->regionDepth && !body_->frame->closure) {
    engine_.report(expr->span, diag::LoopControlOutsideLoop, "return")
        .note("a compile-time region is not left by `return`");
    check(expr->value, nullptr);
    return types_.never();
  }
  Type* actual = check(expr->value, result);
  coerce(expr->value, actual, result);
  return types_.never();
}

Type* Checker::checkBreak(BreakExpr* expr) {
  expr->target = nullptr;
  Loop* loop = findLoop(expr->label, expr->span, "break");
  if (!loop) {
    if (expr->value)
      check(expr->value, nullptr);
    return types_.never();
  }
  expr->target = loop->node;
  size_t index = size_t(loop - body_->loops.data());
  if (expr->value && !loop->isLoop) {
    engine_.report(expr->value->span, diag::TypeMismatch, "()", print(check(expr->value, nullptr)))
        .note("only `loop` has a value");
    return types_.never();
  }
  Type* known = loop->breakType;
  Type* type = expr->value ? checkValue(expr->value, known) : types_.unit();
  Loop& target = body_->loops[index];
  target.hasBreak = true;
  if (expr->value)
    target.breakType = known ? join(known, type, expr->value) : type;
  else if (known && target.isLoop)
    join(known, type, expr);
  return types_.never();
}

Type* Checker::checkContinue(ContinueExpr* expr) {
  Loop* loop = findLoop(expr->label, expr->span, "continue");
  expr->target = loop ? loop->node : nullptr;
  return types_.never();
}

Type* Checker::checkTry(TryExpr* expr) {
  expr->conversion = TryExpr::Conversion::None;
  expr->from = {};
  Type* type = known(known(check(expr->operand, nullptr))->withoutReferences());
  Frame* frame = body_->frame;
  frame->sawTry = true;
  Type* result = shallow(frame->result);
  if (body_->regionDepth && !frame->closure && !body_->isComptimeFn)
    result = types_.error();
  expr->resultType = result;
  noteType(&expr->resultType);
  if (type->is(Kind::Error) || type->is(Kind::Never))
    return type;
  bool option = type->is(Kind::Enum) && type->item == lang_.option;
  bool isResult = type->is(Kind::Enum) && type->item == lang_.result;
  auto misuse = [&] {
    Diagnostic& report = engine_.report(expr->span, diag::TryMisuse, print(type), print(result));
    if (isa_and_nonnull<FunctionItem>(body_->item) && !frame->closure)
      report.label(body_->item->name.span, "this function");
  };
  if (!option && !isResult) {
    misuse();
    return types_.error();
  }
  Type* value = type->args[0];
  if (result->is(Kind::Error)) {
    if (body_->regionDepth && !frame->closure)
      engine_.report(expr->span, diag::TryMisuse, print(type), "a compile-time region")
          .help("use `unwrap()`: a panic in a region is an error of the build");
    return value;
  }
  if (result->is(Kind::Infer)) { // a closure whose result is not known yet
    Type* open = option
                     ? types_.nominal(Kind::Enum, lang_.option, {unifier_.fresh()})
                     : types_.nominal(Kind::Enum, lang_.result, {unifier_.fresh(), type->args[1]});
    unifier_.unify(result, open);
    return value;
  }
  if (result->is(Kind::Enum) && result->item == type->item) {
    if (option)
      return value;
    Type* from = known(type->args[1]);
    Type* to = shallow(result->args[1]);
    if (from == to || from->is(Kind::Infer) || to->is(Kind::Infer)) {
      if (unifier_.unify(from, to))
        return value;
    }
    if (from->has(Type::HasInfer) || to->has(Type::HasInfer)) {
      if (unifier_.unify(from, to))
        return value;
    }
    // `From`, in an impl of the trait or as an inherent function of the target.
    if (TraitItem* trait = lang(LangTrait::From)) {
      ImplMatch match;
      SmallVector<Type*, 2> args{from};
      if (findImpl(trait, to, args, match))
        if (auto* function = dyn_cast_or_null<FunctionItem>(implMember(*match.impl, fromName_))) {
          ValuePath found;
          found.kind = TargetKind::Function;
          found.item = function;
          fillTarget(expr->from, found, match.args);
          expr->conversion = TryExpr::Conversion::From;
          return value;
        }
    }
    if (to->isNominal()) {
      Member member = findMember(to, fromName_, true);
      auto* function = dyn_cast_or_null<FunctionItem>(member.item);
      if (function && !member.self &&
          functionInfo(function).signature.generics.size() == member.outer.size() &&
          functionInfo(function).signature.parameters.size() == 1) {
        Type* parameter =
            substitute(functionInfo(function).signature.parameters[0], member.outer, to);
        if (parameter == from) {
          ValuePath found;
          found.kind = TargetKind::Function;
          found.item = function;
          fillTarget(expr->from, found, member.outer);
          expr->conversion = TryExpr::Conversion::From;
          return value;
        }
      }
    }
    if (errorItem() && to->is(Kind::Struct) && to->item == lang_.error) {
      if (from->is(Kind::String)) {
        expr->conversion = TryExpr::Conversion::StringToError;
        return value;
      }
      llvm::SmallPtrSet<Type*, 8> seen;
      if (hasTextForm(from, FormatSpec::Kind::Display, seen)) {
        expr->conversion = TryExpr::Conversion::ToStdError;
        return value;
      }
    }
    engine_.report(expr->span, diag::NoConversion, print(from), print(to))
        .help("write `.map_err(..)`, or an `impl From<" + print(from) + "> for " + print(to) + "`");
    return value;
  }
  misuse();
  return value;
}

} // namespace gos::check
