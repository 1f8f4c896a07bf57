// Integers of constants: what lengths and const arguments are computed from, by the rules of the
// operators (language.md section 19).

#include "compiler/check/checker.h"

namespace gos::check {

std::string Checker::textOf(Wide value) {
  const bool negative = value < 0;
  std::string digits;
  do {
    const int digit = int(value % 10);
    digits += char('0' + (digit < 0 ? -digit : digit));
    value /= 10;
  } while (value != 0);
  if (negative)
    digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

/// What is left of a value in a type.
static Wide wrapped(Wide value, Type* type) {
  const unsigned bits = type->bits();
  const Wide low = value & ((Wide(1) << bits) - 1);
  return type->isSigned() && (low >> (bits - 1)) != 0 ? low - (Wide(1) << bits) : low;
}

static Wide valueOfBits(uint64_t bits, Type* type) {
  return type->isSigned() ? Wide(int64_t(bits)) : Wide(bits);
}

static Expr* withoutBlocks(Expr* expr) {
  while (auto* block = llvm::dyn_cast_or_null<BlockExpr>(expr)) {
    if (!block->statements.empty())
      return expr;
    expr = block->tail;
  }
  return expr;
}

/// The value of a constant expression. `wanted` is the type of what it is for, which literals take;
/// null for the length of an array. None: it is not constant, or that was reported (`silent`).
std::optional<Integer> Checker::evaluateInteger(Expr* expr, Type* wanted,
                                                const ItemContext& context, bool& silent,
                                                unsigned depth) {
  expr = folded(expr);
  if (!expr || depth > 500)
    return std::nullopt;
  const auto part = [&](Expr* each, Type* type) {
    return evaluateInteger(each, type, context, silent, depth + 1);
  };
  switch (expr->kind) {
  case ExprKind::Error:
    silent = true;
    return std::nullopt;
  case ExprKind::Int: {
    auto* literal = cast<IntExpr>(expr);
    if (literal->tooLarge)
      return std::nullopt;
    Type* type = nullptr;
    if (literal->suffix != NumberSuffix::None) {
      type = checkInt(literal, nullptr, false);
      if (!type->isInteger())
        return std::nullopt;
    }
    if (!expr->type)
      expr->type = type ? type : wanted && wanted->isInteger() ? wanted : types_.i64();
    return Integer{Wide(literal->value), type};
  }
  case ExprKind::Byte:
    return Integer{Wide(cast<ByteExpr>(expr)->value), nullptr};
  case ExprKind::Cast: {
    auto* conversion = cast<CastExpr>(expr);
    Type* type = resolveType(conversion->target, context, TypeUse::Local);
    if (!type->isInteger()) {
      silent |= type->is(Kind::Error);
      return std::nullopt;
    }
    Expr* operand = withoutBlocks(folded(conversion->operand));
    if (auto* boolean = dyn_cast_or_null<BoolExpr>(operand))
      return Integer{Wide(boolean->value), type};
    if (auto* character = dyn_cast_or_null<CharExpr>(operand))
      return Integer{wrapped(character->value, type), type};
    std::optional<Integer> value = part(conversion->operand, nullptr);
    if (!value)
      return std::nullopt;
    return Integer{wrapped(value->value, type), type};
  }
  case ExprKind::Block:
    if (Expr* tail = withoutBlocks(expr); tail && tail != expr)
      return part(tail, wanted);
    return std::nullopt;
  case ExprKind::Unary: {
    auto* unary = cast<UnaryExpr>(expr);
    if (unary->op == UnaryOp::Deref)
      return std::nullopt;
    if (auto* literal = dyn_cast<IntExpr>(folded(unary->operand));
        literal && unary->op == UnaryOp::Negate && !literal->tooLarge) {
      // The sign belongs to the literal: the least number of a type has no other spelling.
      Type* type = nullptr;
      if (literal->suffix != NumberSuffix::None) {
        type = checkInt(literal, nullptr, true);
        if (!type->isInteger())
          return std::nullopt;
      }
      if (!literal->type)
        literal->type = type ? type : wanted && wanted->isInteger() ? wanted : types_.i64();
      return Integer{-Wide(literal->value), type};
    }
    std::optional<Integer> value = part(unary->operand, wanted);
    if (!value)
      return std::nullopt;
    Type* type = value->type ? value->type : wanted ? wanted : types_.i64();
    if (unary->op == UnaryOp::Negate && !type->isSigned())
      return std::nullopt;
    return Integer{wrapped(unary->op == UnaryOp::Negate ? -value->value : -value->value - 1, type),
                   value->type};
  }
  case ExprKind::Binary:
    return integerOfBinary(cast<BinaryExpr>(expr), wanted, context, silent, depth);
  case ExprKind::Path:
    return integerOfPath(cast<PathExpr>(expr), context, silent, depth);
  case ExprKind::Comptime:
  case ExprKind::Call:
  case ExprKind::MethodCall:
  case ExprKind::KnownCall:
    return integerOfRegion(expr, wanted, context, silent);
  default:
    return std::nullopt;
  }
}

/// A region is a number after its fold. One in the initialiser of a constant is folded there.
std::optional<Integer> Checker::integerOfRegion(Expr* expr, Type* wanted,
                                                const ItemContext& context, bool& silent) {
  if (initialisers_)
    silent = true;
  else
    examineRegion(expr, wanted && wanted->isInteger() ? wanted : types_.i64(), context, silent);
  return std::nullopt;
}

std::optional<Integer> Checker::integerOfBinary(BinaryExpr* expr, Type* wanted,
                                                const ItemContext& context, bool& silent,
                                                unsigned depth) {
  const bool isShift = expr->op == BinaryOp::Shl || expr->op == BinaryOp::Shr;
  const std::optional<Integer> left =
      evaluateInteger(expr->left, wanted, context, silent, depth + 1);
  const std::optional<Integer> right =
      left ? evaluateInteger(expr->right, isShift ? nullptr : wanted, context, silent, depth + 1)
           : std::nullopt;
  if (!left || !right)
    return std::nullopt;
  Type* own = left->type ? left->type : isShift ? nullptr : right->type;
  if (!isShift && left->type && right->type && left->type != right->type) {
    if (!initialisers_) // there it is reported with the constant
      engine_
          .report(expr->right->span, diag::TypeMismatch, types::print(left->type),
                  types::print(right->type))
          .label(expr->left->span, "the left operand is `" + types::print(left->type) + "`");
    silent = true;
    return std::nullopt;
  }
  Type* type = own ? own : wanted && wanted->isInteger() ? wanted : types_.i64();
  Wide result = 0;
  switch (expr->op) {
  case BinaryOp::Add:
    result = left->value + right->value;
    break;
  case BinaryOp::Sub:
    result = left->value - right->value;
    break;
  case BinaryOp::Mul:
    // Operands have 65 bits at most, with the sign: their product could need one more than there
    // are.
    if (__builtin_mul_overflow(left->value, right->value, &result))
      return std::nullopt;
    break;
  case BinaryOp::WrapAdd:
    return Integer{wrapped(left->value + right->value, type), own};
  case BinaryOp::WrapSub:
    return Integer{wrapped(left->value - right->value, type), own};
  case BinaryOp::WrapMul:
    return Integer{
        wrapped(Wide(uint64_t(wrapped(left->value, type)) * uint64_t(wrapped(right->value, type))),
                type),
        own};
  case BinaryOp::Div:
  case BinaryOp::Rem:
    if (right->value == 0)
      return std::nullopt;
    result = expr->op == BinaryOp::Div ? left->value / right->value : left->value % right->value;
    if (type->isSigned() && right->value == -1)
      result = wrapped(result, type);
    break;
  case BinaryOp::Shl:
    return Integer{
        wrapped(Wide(uint64_t(wrapped(left->value, type)) << (uint64_t(right->value) & 63)), type),
        own};
  case BinaryOp::Shr:
    return Integer{wrapped(left->value, type) >> (uint64_t(right->value) & 63), own};
  case BinaryOp::BitAnd:
    result = left->value & right->value;
    break;
  case BinaryOp::BitOr:
    result = left->value | right->value;
    break;
  case BinaryOp::BitXor:
    result = left->value ^ right->value;
    break;
  case BinaryOp::Eq:
  case BinaryOp::Ne:
  case BinaryOp::Lt:
  case BinaryOp::Le:
  case BinaryOp::Gt:
  case BinaryOp::Ge:
  case BinaryOp::And:
  case BinaryOp::Or:
    return std::nullopt;
  }
  if (wrapped(result, type) != result) {
    engine_.report(expr->span, diag::LiteralOutOfRange, textOf(result), types::print(type));
    silent = true;
    return std::nullopt;
  }
  return Integer{result, own};
}

/// The type before `::MAX` and its kin. Null: something else stands there.
Type* Checker::typeOfNumericPath(const Path& path, const ItemContext& context) {
  if (path.qualifier)
    return path.segments.size() == 1 ? resolveType(path.qualifier, context, TypeUse::Local)
                                     : nullptr;
  if (path.segments.size() < 2 || path.segments[0].hasArgs)
    return nullptr;
  const Name name = path.segments[0].ident.name;
  if (path.segments.size() == 2 && name == selfTypeName_)
    return context.self ? finish(context.self, context) : nullptr;
  const auto prefix = resolver_.walk(path.segments.drop_back(), context.scope, resolve::kType);
  if (prefix.binding && prefix.used + 1 == path.segments.size()) {
    auto* alias = dyn_cast_or_null<AliasItem>(prefix.binding->type);
    return alias && alias->generics.parameters.empty() ? nominal(alias).type : nullptr;
  }
  const auto builtin = builtinNames_.find(name);
  if (path.segments.size() != 2 || prefix.binding || builtin == builtinNames_.end())
    return nullptr;
  return builtin->second < Kind::Vec ? types_.scalar(builtin->second) : nullptr;
}

std::optional<Integer> Checker::integerOfPath(PathExpr* path, const ItemContext& context,
                                              bool& silent, unsigned depth) {
  if (path->path.segments.size() == 1 && !path->path.qualifier &&
      !isLocal(path->path.segments[0].ident.name))
    if (Parameter* parameter = constParameter(path->path.segments[0].ident.name, context)) {
      Type* value = useConstParameter(parameter, path->span, context);
      if (value->is(Kind::Const)) // in the clone of a template
        return Integer{valueOfBits(value->length, value->args[0]), parameter->constType};
      if (!value->is(Kind::Error))
        engine_.report(path->span, diag::ConstParameterComputed, parameter->name.text())
            .label(parameter->span, "declared here");
      silent = true;
      return std::nullopt;
    }
  if (Type* type = typeOfNumericPath(path->path, context); type && type->isInteger()) {
    uint64_t bits = 0;
    Kind kind = Kind::Error;
    if (numericConstant(type, path->path.segments.back().ident.name.text(), bits, kind)) {
      path->target = {};
      path->target.kind = TargetKind::NumericConst;
      path->target.bits = bits;
      path->type = types_.scalar(kind);
      return Integer{valueOfBits(bits, path->type), path->type};
    }
  }
  ConstItem* constant = constantOf(path, context, silent);
  if (!constant)
    return std::nullopt;
  auto& info = *static_cast<ConstInfo*>(infoOf(constant));
  Type* type = constInfo(constant).type;
  if (info.value == State::Running) {
    engine_.report(constant->name.span, diag::ConstantCycle, constant->name.name.text());
    silent = true;
    return std::nullopt;
  }
  if (!type->isInteger()) {
    silent |= type->is(Kind::Error);
    return std::nullopt;
  }
  if (info.value == State::Fresh) {
    info.value = State::Running;
    ++initialisers_;
    std::optional<Integer> value =
        evaluateInteger(constant->value, type, info.context, silent, depth + 1);
    --initialisers_;
    // One that does not fit is reported where it stands.
    if (value && wrapped(value->value, type) == value->value)
      info.integer = value->value;
    else if (value)
      silent = true;
    info.value = State::Done;
  } else if (!info.integer) {
    silent = true;
  }
  if (body_) {
    path->target.kind = TargetKind::Const;
    path->target.item = constant;
    noteConstUse(constant);
  }
  path->type = type;
  return info.integer ? std::optional<Integer>({*info.integer, type}) : std::nullopt;
}

} // namespace gos::check
