// `as`: what may become what (language.md section 19.3).

#include "compiler/check/checker.h"

namespace gos::check {

Type* Checker::checkCast(CastExpr* expr) {
  Type* target = resolveType(expr->target, body_->context, TypeUse::Local);
  // `300 as u8` casts an i64: the target says nothing about the operand, but a literal too large
  // for i64 is meant for the target.
  Type* hint = nullptr;
  if (auto* literal = dyn_cast<IntExpr>(expr->operand);
      literal && literal->suffix == NumberSuffix::None && literal->value > uint64_t(INT64_MAX) &&
      target->isInteger())
    hint = target;
  if (isa<FloatExpr>(expr->operand) && target->isFloat())
    hint = target;
  check(expr->operand, hint);
  body_->casts.push_back(expr);
  return target;
}

void Checker::finishCast(CastExpr* expr) {
  Type* from = settle(expr->operand->type);
  Type* to = settle(expr->type ? expr->type : types_.error());
  if (from->is(Kind::Error) || to->is(Kind::Error) || from->is(Kind::Never) || from == to)
    return;
  if (from->is(Kind::Ref)) {
    engine_.report(expr->operand->span, diag::ReferenceForValue, print(from->args[0]), print(from));
    return;
  }
  bool good = (from->isNumeric() && to->isNumeric()) || (from->is(Kind::Bool) && to->isInteger()) ||
              (from->is(Kind::Char) && to->isInteger()) ||
              (from->isInteger() && to->is(Kind::Char));
  if (!good)
    engine_.report(expr->span, diag::BadCast, print(from), print(to));
}

} // namespace gos::check
