// Expressions: the dispatch, implicit conversions, literals.

#include "compiler/check/checker.h"

namespace gos::check {

Type* Checker::check(Expr* expr, Type* expected) {
  if (Expr* replacement = folded(expr); replacement != expr) {
    Type* type = check(replacement, expected);
    return setType(expr, type);
  }
  if (depth_ > 3000) {
    reportTooDeep(expr->span);
    return setType(expr, types_.error());
  }
  ++depth_;
  Type* type = checkKind(expr, expected);
  --depth_;
  return setType(expr, type);
}

Type* Checker::checkKind(Expr* expr, Type* expected) {
  switch (expr->kind) {
  case ExprKind::Error:
    return types_.error();
  case ExprKind::Int:
    return checkInt(cast<IntExpr>(expr), expected, false);
  case ExprKind::Float: {
    auto* literal = cast<FloatExpr>(expr);
    if (literal->suffix == NumberSuffix::F32)
      return types_.scalar(Kind::F32);
    if (literal->suffix == NumberSuffix::F64)
      return types_.f64();
    Type* hint = expected ? shallow(expected) : nullptr;
    if (hint && hint->isFloat())
      return hint;
    if (hint && !hint->is(Kind::Infer))
      return types_.f64();
    return unifier_.fresh(InferKind::Float);
  }
  case ExprKind::Bool:
    return types_.boolean();
  case ExprKind::Char:
    return types_.scalar(Kind::Char);
  case ExprKind::String:
    return types_.string();
  case ExprKind::Byte: {
    return types_.scalar(Kind::U8);
  }
  case ExprKind::ByteString:
    return types_.vec(types_.scalar(Kind::U8));
  case ExprKind::FString:
    for (const FormatPiece& piece : cast<FStringExpr>(expr)->pieces)
      if (piece.value) {
        check(piece.value, nullptr);
        body_->formatted.push_back({piece.value, piece.spec.kind, piece.value->span});
      }
    return types_.string();
  case ExprKind::Path:
    return checkPath(cast<PathExpr>(expr), expected);
  case ExprKind::StructLiteral:
    return checkStructLiteral(cast<StructLiteralExpr>(expr), expected);
  case ExprKind::Tuple:
    return checkTuple(cast<TupleExpr>(expr), expected);
  case ExprKind::Array:
    return checkArray(cast<ArrayExpr>(expr), expected);
  case ExprKind::Repeat:
    return checkRepeat(cast<RepeatExpr>(expr), expected);
  case ExprKind::Map:
    return checkMap(cast<MapExpr>(expr), expected);
  case ExprKind::Set:
    return checkSet(cast<SetExpr>(expr), expected);
  case ExprKind::Block:
    return checkBlock(cast<BlockExpr>(expr), expected, false);
  case ExprKind::If:
    return checkIf(cast<IfExpr>(expr), expected, false);
  case ExprKind::LetCondition: // the parser allows it in conditions only
    return types_.error();
  case ExprKind::While:
    return checkWhile(cast<WhileExpr>(expr));
  case ExprKind::Loop:
    return checkLoop(cast<LoopExpr>(expr), expected);
  case ExprKind::For:
    return checkFor(cast<ForExpr>(expr));
  case ExprKind::Match:
    return checkMatch(cast<MatchExpr>(expr), expected, false);
  case ExprKind::Closure:
    return checkClosure(cast<ClosureExpr>(expr), expected, ClosureFate::Kept);
  case ExprKind::Call:
    return checkCall(cast<CallExpr>(expr), expected);
  case ExprKind::MethodCall:
    return checkMethodCall(cast<MethodCallExpr>(expr), expected);
  case ExprKind::KnownCall:
    return checkKnownCall(cast<KnownCallExpr>(expr), expected);
  case ExprKind::Field:
    return checkField(cast<FieldExpr>(expr), expected);
  case ExprKind::TupleField:
    return checkTupleField(cast<TupleFieldExpr>(expr));
  case ExprKind::Index:
    return checkIndex(cast<IndexExpr>(expr), false);
  case ExprKind::Range:
    return checkRange(cast<RangeExpr>(expr), expected);
  case ExprKind::Unary:
    return checkUnary(cast<UnaryExpr>(expr), expected);
  case ExprKind::Borrow:
    return checkBorrow(cast<BorrowExpr>(expr), expected);
  case ExprKind::Binary:
    return checkBinary(cast<BinaryExpr>(expr), expected);
  case ExprKind::Assign:
    return checkAssign(cast<AssignExpr>(expr));
  case ExprKind::Cast:
    return checkCast(cast<CastExpr>(expr));
  case ExprKind::Try:
    return checkTry(cast<TryExpr>(expr));
  case ExprKind::Pipe:
    return checkPipe(cast<PipeExpr>(expr), expected);
  case ExprKind::Return:
    return checkReturn(cast<ReturnExpr>(expr));
  case ExprKind::Break:
    return checkBreak(cast<BreakExpr>(expr));
  case ExprKind::Continue:
    return checkContinue(cast<ContinueExpr>(expr));
  case ExprKind::Comptime: {
    auto* region = cast<ComptimeExpr>(expr);
    if (inRegion())
      return check(region->body, expected);
    size_t floor;
    enterRegion(floor);
    Type* type = check(region->body, expected);
    leaveRegion(floor);
    pushRegion(expr, RegionKind::Block, type, false);
    return type;
  }
  }
  return types_.error();
}

bool Checker::coercible(Type* actual, Type* expected) {
  // Array and Vec to a view of their elements.
  return expected->is(Kind::Slice) && (actual->is(Kind::Array) || actual->is(Kind::Vec)) &&
         unifier_.unify(actual->args[0], expected->args[0]);
}

bool Checker::coerce(Expr* expr, Type* actual, Type* expected) {
  actual = shallow(actual);
  expected = shallow(expected);
  if (actual == expected || actual->is(Kind::Never) || actual->is(Kind::Error) ||
      expected->is(Kind::Error))
    return true;
  if (actual->is(Kind::Projection))
    actual = shallow(normaliseDeep(actual));
  if (expected->is(Kind::Projection))
    expected = shallow(normaliseDeep(expected));
  if (expected->is(Kind::Ref)) {
    if (actual->is(Kind::Ref)) {
      Type* from = shallow(actual->args[0]);
      Type* to = shallow(expected->args[0]);
      if (coercible(from, to) || unifier_.unify(from, to))
        return true;
    } else if (actual->is(Kind::Infer) && unifier_.unify(actual, expected)) {
      return true;
    }
    engine_.report(expr->span, diag::TypeMismatch, print(expected), print(actual));
    return false;
  }
  if (actual->is(Kind::Ref)) {
    if (expected->is(Kind::Infer) || unifier_.unify(actual->args[0], expected) ||
        coercible(shallow(actual->args[0]), expected)) {
      engine_.report(expr->span, diag::ReferenceForValue, print(actual->args[0]), print(actual));
      if (expected->is(Kind::Infer))
        unifier_.unify(expected, actual->args[0]);
    } else {
      engine_.report(expr->span, diag::TypeMismatch, print(expected), print(actual));
    }
    return false;
  }
  if (coercible(actual, expected) || unifier_.unify(actual, expected))
    return true;
  // A closure or function that answers something fits where nothing is wanted.
  if (actual->is(Kind::Fn) && expected->is(Kind::Fn) && isa<ClosureExpr>(expr) &&
      actual->args.size() == expected->args.size() && shallow(expected->result())->isUnit()) {
    bool fits = true;
    for (size_t i = 0; i + 1 < actual->args.size(); ++i)
      fits &= unifier_.unify(actual->args[i], expected->args[i]);
    if (fits)
      return true;
  }
  if (shallow(actual)->has(Type::HasError) && unifier_.resolve(actual)->has(Type::HasError))
    return true;
  Diagnostic& report =
      engine_.report(expr->span, diag::TypeMismatch, print(expected), print(actual));
  if (actual->isNumeric() && expected->isNumeric())
    report.help("numbers are not converted implicitly; write `as " + print(expected) + "`");
  else if (expected->is(Kind::Enum) && expected->item == lang_.option &&
           unifier_.unify(expected->args[0], actual))
    report.help("wrap it: `Some(..)`");
  return false;
}

void Checker::checkAgainst(Expr* expr, Type* expected) {
  coerce(expr, check(expr, expected), expected);
}

Type* Checker::withoutReference(Expr* expr, Type* type, StringRef what) {
  Type* solid = shallow(type);
  if (!solid->is(Kind::Ref))
    return type;
  engine_.report(expr->span, diag::EscapingReference, what);
  return solid->args[0];
}

Type* Checker::checkValue(Expr* expr, Type* expected) {
  return withoutReference(expr, check(expr, expected), "stored in a value");
}

// ---- numbers ------------------------------------------------------------------------------------

static Kind kindOf(NumberSuffix suffix) {
  switch (suffix) {
  case NumberSuffix::None:
    return Kind::Error;
  case NumberSuffix::I8:
    return Kind::I8;
  case NumberSuffix::I16:
    return Kind::I16;
  case NumberSuffix::I32:
    return Kind::I32;
  case NumberSuffix::I64:
    return Kind::I64;
  case NumberSuffix::Isize:
    return Kind::Isize;
  case NumberSuffix::U8:
    return Kind::U8;
  case NumberSuffix::U16:
    return Kind::U16;
  case NumberSuffix::U32:
    return Kind::U32;
  case NumberSuffix::U64:
    return Kind::U64;
  case NumberSuffix::Usize:
    return Kind::Usize;
  case NumberSuffix::F32:
    return Kind::F32;
  case NumberSuffix::F64:
    return Kind::F64;
  }
  return Kind::Error;
}

bool Checker::fitsInteger(uint64_t value, bool negative, Type* type) {
  unsigned bits = type->bits();
  if (!type->isSigned())
    return (!negative || value == 0) && (bits == 64 || value < (uint64_t(1) << bits));
  uint64_t limit = uint64_t(1) << (bits - 1);
  return negative ? value <= limit : value < limit;
}

void Checker::literalRange(Expr* expr, bool negative, Type* type) {
  auto* literal = cast<IntExpr>(expr);
  if (!type->isInteger())
    return;
  if (literal->tooLarge || !fitsInteger(literal->value, negative, type)) {
    std::string text = literal->tooLarge ? input_.sources.text(literal->span).str()
                                         : std::to_string(literal->value);
    engine_.report(expr->span, diag::LiteralOutOfRange, (negative ? "-" : "") + text, print(type));
  }
}

Type* Checker::checkInt(IntExpr* expr, Type* expected, bool negative) {
  if (expr->suffix != NumberSuffix::None) {
    Type* type = types_.scalar(kindOf(expr->suffix));
    literalRange(expr, negative, type);
    return type;
  }
  Type* hint = expected ? shallow(expected) : nullptr;
  if (hint && hint->is(Kind::Projection))
    hint = shallow(normaliseDeep(hint));
  if (hint && hint->isInteger()) {
    literalRange(expr, negative, hint);
    return hint;
  }
  if (hint && !hint->is(Kind::Infer)) {
    if (expr->tooLarge || expr->value > uint64_t(INT64_MAX))
      literalRange(expr, negative, types_.i64());
    return types_.i64();
  }
  Type* type = hint && hint->isInferInteger() ? hint : unifier_.fresh(InferKind::Integer);
  if (expr->tooLarge || expr->value >= 128)
    body_->literals.push_back({expr, negative});
  else if (negative)
    body_->literals.push_back({expr, negative});
  expr->type = type;
  return type;
}

} // namespace gos::check
