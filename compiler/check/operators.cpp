// Operators, borrows, assignment, and which places may be written.

#include "compiler/check/checker.h"

namespace gos::check {

static LangTrait traitOf(BinaryOp op) {
  switch (op) {
  case BinaryOp::Add:
    return LangTrait::Add;
  case BinaryOp::Sub:
    return LangTrait::Sub;
  case BinaryOp::Mul:
    return LangTrait::Mul;
  case BinaryOp::Div:
    return LangTrait::Div;
  case BinaryOp::Rem:
    return LangTrait::Rem;
  case BinaryOp::BitAnd:
    return LangTrait::BitAnd;
  case BinaryOp::BitOr:
    return LangTrait::BitOr;
  case BinaryOp::BitXor:
    return LangTrait::BitXor;
  case BinaryOp::Shl:
    return LangTrait::Shl;
  case BinaryOp::Shr:
    return LangTrait::Shr;
  case BinaryOp::WrapAdd:
  case BinaryOp::WrapSub:
  case BinaryOp::WrapMul:
  case BinaryOp::Eq:
  case BinaryOp::Ne:
  case BinaryOp::Lt:
  case BinaryOp::Le:
  case BinaryOp::Gt:
  case BinaryOp::Ge:
  case BinaryOp::And:
  case BinaryOp::Or:
    return LangTrait::None;
  }
  return LangTrait::None;
}

static bool isComparison(BinaryOp op) {
  return op >= BinaryOp::Eq && op <= BinaryOp::Ge;
}
static bool isShift(BinaryOp op) {
  return op == BinaryOp::Shl || op == BinaryOp::Shr;
}
static bool isOpenLiteral(Expr* expr) {
  if (auto* unary = dyn_cast<UnaryExpr>(expr); unary && unary->op == UnaryOp::Negate)
    expr = unary->operand;
  if (auto* literal = dyn_cast<IntExpr>(expr))
    return literal->suffix == NumberSuffix::None;
  if (auto* literal = dyn_cast<FloatExpr>(expr))
    return literal->suffix == NumberSuffix::None;
  return isa<ByteExpr>(expr);
}

Type* Checker::checkUnary(UnaryExpr* expr, Type* expected) {
  expr->method = {};
  switch (expr->op) {
  case UnaryOp::Deref: {
    Type* type = known(check(expr->operand, nullptr));
    if (type->is(Kind::Ref))
      return type->args[0];
    if (type->is(Kind::Error))
      return type;
    // A shared reference has been read through already.
    Expr* operand = folded(expr->operand);
    if (auto* path = dyn_cast<PathExpr>(operand);
        path && path->target.kind == TargetKind::Variable && path->target.variable->readThrough)
      return type;
    if (auto* borrow = dyn_cast<BorrowExpr>(operand);
        borrow && borrow->mutability == Mutability::Shared)
      return type;
    if (Member member = type->is(Kind::Struct)
                            ? findMember(type, context_.names.intern("deref"), true)
                            : Member();
        member.item && isa<FunctionItem>(member.item) && member.item->parentModule->package == 0) {
      // A cell of the library (`*flag`): its `deref`.
      ValuePath value;
      value.kind = TargetKind::Function;
      value.item = member.item;
      value.outer = member.outer;
      fillTarget(expr->method, value, member.outer);
      return substitute(functionInfo(cast<FunctionItem>(member.item)).signature.result,
                        member.outer, type);
    }
    engine_.report(expr->span, diag::DereferenceOfValue, print(type));
    return type;
  }
  case UnaryOp::Negate: {
    if (auto* literal = dyn_cast<IntExpr>(expr->operand); literal && folded(literal) == literal) {
      Type* type = checkInt(literal, expected, true);
      setType(literal, type);
      if (type->isInteger() && !type->isSigned() && literal->value != 0)
        return type; // reported as out of range
      return type;
    }
    break;
  }
  case UnaryOp::Not:
    break;
  }
  Type* hint = expected;
  Type* type = known(check(expr->operand, hint));
  if (type->is(Kind::Error) || type->is(Kind::Never))
    return type;
  bool negate = expr->op == UnaryOp::Negate;
  if (negate &&
      (type->isNumeric() || (type->is(Kind::Infer) && type->inferKind != InferKind::General)))
    return type;
  if (!negate && (type->isInteger() || type->is(Kind::Bool) || type->isInferInteger()))
    return type;
  if (type->is(Kind::Ref)) {
    engine_.report(expr->operand->span, diag::ReferenceForValue, print(type->args[0]), print(type));
    return types_.error();
  }
  if (type->is(Kind::Infer) && type->inferKind == InferKind::General) {
    if (!negate)
      unifier_.unify(type, types_.boolean());
    return shallow(type);
  }
  LangTrait which = negate ? LangTrait::Neg : LangTrait::Not;
  if (TraitItem* trait = lang(which)) {
    ImplMatch match;
    ValuePath value;
    value.kind = TargetKind::Function;
    if (findImpl(trait, type, {}, match)) {
      for (Item* member : match.impl->item->items)
        if (auto* function = dyn_cast<FunctionItem>(member)) {
          value.item = function;
          fillTarget(expr->method, value, match.args);
          return substitute(functionInfo(function).signature.result, match.args, type);
        }
    }
    if (type->is(Kind::Param) || type->is(Kind::Projection)) {
      TraitRef wanted;
      wanted.trait = trait;
      for (const TraitRef& bound : boundsOf(type))
        if (boundImplies(bound, wanted, type))
          for (Item* member : trait->items)
            if (auto* function = dyn_cast<FunctionItem>(member)) {
              value.item = function;
              value.self = type;
              fillTarget(expr->method, value, bound.args);
              Type* result =
                  shallow(substitute(functionInfo(function).signature.result, bound.args, type));
              return result->is(Kind::Projection) ? normaliseDeep(result) : result;
            }
    }
  }
  engine_.report(expr->span, diag::NoSuchOperator, ast::spelling(expr->op),
                 "`" + print(type) + "`");
  return types_.error();
}

Type* Checker::checkBorrow(BorrowExpr* expr, Type* expected) {
  Type* hint = expected ? shallow(expected)->withoutReferences() : nullptr;
  if (hint && shallow(hint)->is(Kind::Slice))
    hint = nullptr;
  Expr* operand = folded(expr->operand);
  if (auto* index = dyn_cast<IndexExpr>(operand); index && isa<RangeExpr>(folded(index->index))) {
    // A window onto part of a sequence.
    Type* type = check(operand, nullptr);
    Type* object = shallow(shallow(index->object->type)->withoutReferences());
    if (object->is(Kind::String)) {
      engine_.report(expr->span, diag::BorrowOfRange, print(object));
      return types_.error();
    }
    if (expr->mutability == Mutability::Shared || !object->isSequence())
      return type;
    checkWritable(index->object, true);
    return types_.reference(Mutability::Mutable, types_.slice(object->args[0]));
  }
  Type* type = check(operand, hint);
  if (operand != expr->operand)
    setType(expr->operand, type);
  Type* solid = shallow(type);
  if (expr->mutability == Mutability::Shared)
    return solid->is(Kind::Ref) ? solid->args[0] : type;
  if (solid->is(Kind::Error) || solid->is(Kind::Never))
    return solid;
  if (solid->is(Kind::Ref))
    return solid; // `&mut r` of a reference forwards it
  if (isPlace(operand)) {
    if (isKept(operand))
      checkWritable(operand, true);
    else
      engine_.report(operand->span, diag::BadAssignTarget)
          .primary("a value of its own, and no part of its owner");
  }
  return types_.reference(Mutability::Mutable, type);
}

Type* Checker::checkBinary(BinaryExpr* expr, Type* expected) {
  // Chains such as `a + b + c` are deep on the left: walked with a loop.
  SmallVector<BinaryExpr*, 16> chain;
  Expr* left = expr;
  while (auto* binary = dyn_cast<BinaryExpr>(left)) {
    if (folded(left) != left)
      break;
    chain.push_back(binary);
    left = binary->left;
  }
  Type* hint = expected;
  // The hint reaches the innermost operand only through arithmetic of the same type.
  for (BinaryExpr* each : chain)
    if (isComparison(each->op) || each->op == BinaryOp::And || each->op == BinaryOp::Or)
      hint = nullptr;
  Type* solid = hint ? shallow(hint) : nullptr;
  if (solid && !solid->isNumeric() &&
      !(solid->is(Kind::Infer) && solid->inferKind != InferKind::General))
    hint = nullptr;
  BinaryExpr* innermost = chain.back();
  bool logical = innermost->op == BinaryOp::And || innermost->op == BinaryOp::Or;
  Type* type = nullptr;
  // `0 < n`: the operand that is not a literal says the type.
  if (!logical && !hint && isOpenLiteral(innermost->left) && !isOpenLiteral(innermost->right) &&
      !isShift(innermost->op)) {
    Type* right = check(innermost->right, nullptr);
    Type* operand = known(right);
    if (isa<ByteExpr>(innermost->left) && (operand->isInteger() || operand->isInferInteger()))
      type = setType(innermost->left, operand);
    else if (isa<ByteExpr>(innermost->left) || operand->isNumeric() || operand->is(Kind::Infer))
      type = check(innermost->left, operand);
    else
      type = check(innermost->left, nullptr);
    Target method;
    type = operatorType(innermost->op, innermost->opSpan, innermost->left, type, innermost->right,
                        right, true, method);
    innermost->method = method;
    setType(innermost, type);
    if (isComparison(innermost->op) && !method.item)
      body_->comparisons.push_back({innermost, innermost->op >= BinaryOp::Lt});
    chain.pop_back();
  } else {
    type = check(left, logical ? types_.boolean() : hint);
  }
  while (!chain.empty()) {
    BinaryExpr* each = chain.pop_back_val();
    type = binaryType(each, type, hint);
    if (!chain.empty())
      setType(each, type);
  }
  return type;
}

Type* Checker::binaryType(BinaryExpr* expr, Type* left, Type*) {
  expr->method = {};
  if (expr->op == BinaryOp::And || expr->op == BinaryOp::Or) {
    coerce(expr->left, left, types_.boolean());
    checkAgainst(expr->right, types_.boolean());
    return types_.boolean();
  }
  Target method;
  Type* right = nullptr;
  Type* result =
      operatorType(expr->op, expr->opSpan, expr->left, left, expr->right, right, false, method);
  expr->method = method;
  if (method.selfType)
    noteType(&expr->method.selfType);
  if (isComparison(expr->op) && !method.item)
    body_->comparisons.push_back({expr, expr->op >= BinaryOp::Lt});
  return result;
}

bool Checker::userOperator(BinaryOp op, Type* left, Expr* right, Type*& rightType,
                           bool rightChecked, Target& method, Type*& result) {
  TraitItem* trait = lang(traitOf(op));
  if (!trait)
    return false;
  ValuePath value;
  value.kind = TargetKind::Function;
  if (left->is(Kind::Param) || left->is(Kind::Projection)) {
    TraitRef found;
    for (const TraitRef& bound : boundsOf(left)) {
      TraitRef wanted;
      wanted.trait = trait;
      if (bound.trait == trait) {
        found = bound;
        break;
      }
      if (boundImplies(bound, wanted, left)) {
        found.trait = trait;
        found.args = types_.list<Type*>({left});
      }
    }
    if (!found.trait)
      return false;
    Type* operand = found.args.empty() ? left : found.args[0];
    if (operand->has(Type::HasParam) && operand->is(Kind::Param) && operand->parameter->isSelf() &&
        !(left->is(Kind::Param) && left->parameter->isSelf()))
      operand = left; // a bound's default argument `Self`
    if (!rightChecked)
      rightType = check(right, operand);
    coerce(right, rightType, operand);
    for (Item* member : trait->items)
      if (auto* function = dyn_cast<FunctionItem>(member)) {
        value.item = function;
        value.self = left;
        SmallVector<Type*, 2> args{operand};
        fillTarget(method, value, args);
        result = shallow(substitute(functionInfo(function).signature.result, args, left));
        for (auto& [name, equal] : found.equalities)
          if (result->is(Kind::Projection) && result->item->name.name == name)
            result = equal;
        if (result->is(Kind::Projection))
          result = normaliseDeep(result);
        return true;
      }
    return false;
  }
  syncImpls();
  auto impls = traitImpls_.find({trait, headOf(left)});
  if (impls == traitImpls_.end())
    return false;
  // One impl gives the hint for the right operand.
  Type* hint = nullptr;
  if (!impls->second->next && impls->second->generics.empty() && !impls->second->trait.args.empty())
    hint = impls->second->trait.args[0];
  if (!rightChecked)
    rightType = check(right, hint);
  SmallVector<Type*, 2> args{known(rightType)};
  ImplMatch match;
  if (!findImpl(trait, left, args, match)) {
    if (!left->isNominal())
      return false;
    if (hint && !shallow(rightType)->is(Kind::Error)) {
      coerce(right, rightType, hint);
      result = types_.error();
      return true;
    }
    return false;
  }
  for (Item* member : match.impl->item->items)
    if (auto* function = dyn_cast<FunctionItem>(member)) {
      value.item = function;
      fillTarget(method, value, match.args);
      const Signature& signature = functionInfo(function).signature;
      if (signature.parameters.size() == 2)
        coerce(right, rightType, substitute(signature.parameters[1], match.args, left));
      result = substitute(signature.result, match.args, left);
      return true;
    }
  return false;
}

Type* Checker::operatorType(BinaryOp op, Span span, Expr* leftExpr, Type* left, Expr* right,
                            Type*& rightType, bool rightChecked, Target& method) {
  left = known(left);
  auto checkRight = [&](Type* hint) {
    if (!rightChecked)
      rightType = check(right, hint);
    rightChecked = true;
    return known(rightType);
  };
  if (left->is(Kind::Ref)) {
    engine_.report(leftExpr->span, diag::ReferenceForValue, print(left->args[0]), print(left));
    left = known(left->args[0]);
    checkRight(left);
    return isComparison(op) ? types_.boolean() : types_.error();
  }
  if (left->is(Kind::Error) || left->is(Kind::Never)) {
    checkRight(nullptr);
    return isComparison(op) ? types_.boolean() : left;
  }
  auto refused = [&](Type* one, Type* two) {
    std::string operands = "`" + print(one) + "`";
    if (two && two != one)
      operands += " and `" + print(two) + "`";
    engine_
        .report(span.valid() ? span : leftExpr->span, diag::NoSuchOperator, ast::spelling(op),
                operands)
        .label(leftExpr->span.to(right->span), "");
    return types_.error();
  };
  auto rightReference = [&](Type* type) {
    if (!type->is(Kind::Ref))
      return false;
    engine_.report(right->span, diag::ReferenceForValue, print(type->args[0]), print(type));
    return true;
  };
  if (isComparison(op)) {
    Type* other = isa<ByteExpr>(right) && (left->isInteger() || left->isInferInteger())
                      ? (rightChecked = true, rightType = setType(right, left))
                      : checkRight(left);
    if (rightReference(other))
      return types_.boolean();
    if (isa<ByteExpr>(leftExpr) && (other->isInteger() || other->isInferInteger())) {
      setType(leftExpr, other);
      left = other;
    }
    if (!unifier_.unify(left, other) && !other->is(Kind::Never)) {
      // Views and what they look at compare element by element.
      bool sequences = left->isSequence() && other->isSequence() &&
                       (left->is(Kind::Slice) || other->is(Kind::Slice)) &&
                       unifier_.unify(left->args[0], other->args[0]);
      if (!sequences && !unifier_.resolve(left)->has(Type::HasError) &&
          !unifier_.resolve(other)->has(Type::HasError))
        engine_.report(right->span, diag::TypeMismatch, print(left), print(other))
            .label(leftExpr->span, "the left operand is `" + print(left) + "`");
      return types_.boolean();
    }
    // An impl of the user's on the type itself.
    bool order = op >= BinaryOp::Lt;
    if (left->isNominal())
      for (LangTrait each : order ? std::array{LangTrait::PartialOrd, LangTrait::Ord}
                                  : std::array{LangTrait::PartialEq, LangTrait::Eq}) {
        TraitItem* trait = lang(each);
        ImplMatch match;
        if (!trait || !findImpl(trait, left, {}, match))
          continue;
        Name wanted = context_.names.intern(order ? "cmp" : "eq");
        auto* function = dyn_cast_or_null<FunctionItem>(implMember(*match.impl, wanted));
        if (!function)
          continue;
        ValuePath value;
        value.kind = TargetKind::Function;
        value.item = function;
        fillTarget(method, value, match.args);
        break;
      }
    return types_.boolean();
  }
  Type* result = nullptr;
  if (isShift(op)) {
    if (left->isNominal() || left->is(Kind::Param)) {
      if (userOperator(op, left, right, rightType, rightChecked, method, result))
        return result;
      return refused(left, rightChecked ? known(rightType) : nullptr);
    }
    Type* count = checkRight(nullptr);
    if (rightReference(count))
      return left;
    if (left->is(Kind::Infer) && left->inferKind == InferKind::General) {
      Type* integer = unifier_.fresh(InferKind::Integer);
      unifier_.unify(left, integer);
      left = integer;
    }
    if (!left->isInteger() && !left->isInferInteger())
      return refused(left, count);
    if (count->is(Kind::Infer) && count->inferKind == InferKind::General)
      unifier_.unify(count, unifier_.fresh(InferKind::Integer));
    else if (!count->isInteger() && !count->isInferInteger() && !count->is(Kind::Error) &&
             !count->is(Kind::Never))
      return refused(left, count);
    return left;
  }
  bool wrap = op == BinaryOp::WrapAdd || op == BinaryOp::WrapSub || op == BinaryOp::WrapMul;
  bool bits = op == BinaryOp::BitAnd || op == BinaryOp::BitOr || op == BinaryOp::BitXor;
  bool leftNumber =
      left->isNumeric() || (left->is(Kind::Infer) && left->inferKind != InferKind::General);
  if (left->isNominal() || left->is(Kind::Param) || left->is(Kind::Projection)) {
    if (userOperator(op, left, right, rightType, rightChecked, method, result))
      return result;
    if (!rightChecked)
      checkRight(nullptr);
    Type* other = known(rightType);
    if (other->is(Kind::Error))
      return other;
    return refused(left, other);
  }
  // `2.0 * vector`: an impl for the builtin type, chosen by the right operand.
  Type* hint = leftNumber || left->is(Kind::Infer) || left->is(Kind::String) || left->is(Kind::Bool)
                   ? left
                   : nullptr;
  Type* other;
  if (isa<ByteExpr>(right) && (left->isInteger() || left->isInferInteger())) {
    rightChecked = true;
    other = rightType = setType(right, left);
  } else {
    other = checkRight(hint);
  }
  if (rightReference(other))
    return leftNumber ? left : types_.error();
  if (isa<ByteExpr>(leftExpr) && (other->isInteger() || other->isInferInteger())) {
    setType(leftExpr, other);
    left = other;
    leftNumber = true;
  }
  if (other->is(Kind::Error) || other->is(Kind::Never))
    return left->is(Kind::Infer) || leftNumber || left->is(Kind::String) ? left : types_.error();
  if (other->isNominal() && !left->is(Kind::Infer)) {
    if (userOperator(op, left, right, rightType, true, method, result))
      return result;
  } else if (other->isNominal() && left->is(Kind::Infer) && left->inferKind != InferKind::General) {
    Type* standing = left->inferKind == InferKind::Integer ? types_.i64() : types_.f64();
    if (userOperator(op, standing, right, rightType, true, method, result)) {
      unifier_.unify(left, standing);
      return result;
    }
  }
  // A string with a reading view of one, and so on: both operands have one type.
  bool allowed = false;
  switch (op) {
  case BinaryOp::Add:
    allowed = leftNumber || left->is(Kind::String);
    break;
  case BinaryOp::Sub:
  case BinaryOp::Mul:
  case BinaryOp::Div:
  case BinaryOp::Rem:
    allowed = leftNumber;
    break;
  default:
    allowed = (wrap && (left->isInteger() || left->isInferInteger())) ||
              (bits && (left->isInteger() || left->isInferInteger() || left->is(Kind::Bool)));
    break;
  }
  if (left->is(Kind::Infer) && left->inferKind == InferKind::General) {
    // Both are unknown, or the right one says it.
    unifier_.unify(left, other);
    Type* solid = known(left);
    if (solid->is(Kind::Infer) && solid->inferKind == InferKind::General)
      return solid;
    return operatorType(op, span, leftExpr, solid, right, rightType, true, method);
  }
  if (!allowed)
    return refused(left, other);
  if (unifier_.unify(left, other))
    return known(left);
  if (unifier_.resolve(other)->has(Type::HasError))
    return left;
  bool otherNumber = other->isNumeric() || other->is(Kind::Infer);
  if (leftNumber && otherNumber) {
    engine_.report(right->span, diag::TypeMismatch, print(left), print(other))
        .label(leftExpr->span, "the left operand is `" + print(left) + "`")
        .help("numbers are not converted implicitly; write `as " + print(left) + "`");
    return left;
  }
  return refused(left, other);
}

void Checker::finishComparison(const Body::Operation& operation) {
  Type* type = operation.expr->left->type ? settle(operation.expr->left->type) : types_.error();
  type = type->withoutReferences();
  if (type->has(Type::HasError))
    return;
  llvm::SmallPtrSet<Type*, 8> seen;
  Answer answer =
      isStructurally(type, operation.order ? LangTrait::PartialOrd : LangTrait::PartialEq, 0, seen);
  if (answer == Answer::No)
    engine_.report(operation.expr->opSpan.valid() ? operation.expr->opSpan : operation.expr->span,
                   diag::NoSuchOperator, ast::spelling(operation.expr->op),
                   "`" + print(type) + "`");
}

} // namespace gos::check
