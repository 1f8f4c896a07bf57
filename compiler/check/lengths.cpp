// Constants in types: the lengths of arrays.

#include "compiler/check/checker.h"

namespace gos::check {

std::optional<uint64_t> Checker::evaluateLength(Expr* expr, const ItemContext& context,
                                                bool& silent) {
  expr = folded(expr);
  bool region = isa<ComptimeExpr>(expr) || (isa<KnownCallExpr>(expr) &&
                                            cast<KnownCallExpr>(expr)->which == KnownCall::Codegen);
  bool call = isa<CallExpr>(expr) || isa<MethodCallExpr>(expr);
  if (region || call) {
    examineRegion(expr, types_.i64(), context, silent);
    return std::nullopt;
  }
  std::optional<int64_t> value = evaluateInteger(expr, context, silent, 0);
  if (!value)
    return std::nullopt;
  if (*value < 0 || uint64_t(*value) > kMaxLength) {
    engine_.report(expr->span, diag::LiteralOutOfRange, std::to_string(*value), "an array length");
    silent = true;
    return std::nullopt;
  }
  return uint64_t(*value);
}

/// A region at type level: known after the fold. Until then the type is not.
void Checker::examineRegion(Expr* expr, Type* wanted, const ItemContext& context, bool& silent) {
  auto examine = [&] {
    Type* type = check(expr, wanted);
    (void)type;
    if (!regions_.empty() && regions_.back().node == expr) {
      regions_.back().isTypeLevel = true;
      silent = true;
    } else if (isa<ComptimeExpr>(expr) && inRegion()) {
      silent = false;
    }
  };
  if (body_) {
    examine();
  } else {
    // In a body of its own; one that waits meanwhile (of the function around the item) keeps its
    // variables.
    Body body;
    Item* stand = context_.make<ErrorItem>(expr->span);
    std::vector<Local> savedLocals;
    savedLocals.swap(locals_);
    llvm::DenseMap<Name, int32_t> savedTop;
    savedTop.swap(localTop_);
    types::Unifier savedVariables(types_);
    savedVariables.swapVariables(unifier_);
    beginBody(body, stand, context);
    Frame frame;
    frame.owner = stand;
    frame.result = wanted;
    body.frame = &frame;
    body.allowsUnused = true;
    examine();
    endBody(body);
    savedLocals.swap(locals_);
    savedTop.swap(localTop_);
    savedVariables.swapVariables(unifier_);
    for (Region& each : regions_)
      if (each.enclosing == stand)
        each.enclosing = nullptr;
  }
  if (engine_.hasErrors())
    silent = true;
}

/// The constant that a path names. Null: there is none; what was reported makes `silent`.
ConstItem* Checker::constantOf(PathExpr* path, const ItemContext& context, bool& silent) {
  ArrayRef<PathSegment> segments = path->path.segments;
  if (path->path.qualifier || segments.empty())
    return nullptr;
  ConstItem* constant = nullptr;
  if (segments.size() == 2 && segments[0].ident.name == selfTypeName_ && context.owner) {
    ArrayRef<Item*> items =
        isa<ImplItem>(context.owner) ? cast<ImplItem>(context.owner)->items : ArrayRef<Item*>();
    for (Item* item : items)
      if (item->name.name == segments[1].ident.name)
        constant = dyn_cast<ConstItem>(item);
  } else if (segments.size() == 1 && isLocal(segments[0].ident.name)) {
    return nullptr;
  } else {
    auto prefix = resolver_.walk(segments, context.scope, resolve::kValue | resolve::kVariant);
    if (!prefix.binding) {
      silent |= prefix.reported;
      if (!prefix.reported && segments.size() == 1 &&
          llvm::none_of(context.generics,
                        [&](Parameter* each) { return each->name == segments[0].ident.name; })) {
        resolver_.reportUnknown(segments[0].ident.span, segments[0].ident.name, "constant",
                                context.scope, resolve::kValue);
        silent = true;
      }
      return nullptr;
    }
    if (prefix.used == segments.size()) {
      constant = dyn_cast_or_null<ConstItem>(prefix.binding->value);
    } else if (prefix.binding->type && prefix.used + 1 == segments.size()) {
      syncImpls();
      auto found = members_.find({prefix.binding->type, segments.back().ident.name});
      if (found != members_.end())
        constant = dyn_cast<ConstItem>(memberEntries_[found->second].item);
    }
  }
  if (!constant || !constant->value)
    return nullptr;
  if (!resolver_.isVisible(constant, context.scope)) {
    engine_.report(path->span, diag::PrivateItem, "constant", constant->name.name.text());
    silent = true;
    return nullptr;
  }
  return constant;
}

std::optional<int64_t> Checker::evaluateInteger(Expr* expr, const ItemContext& context,
                                                bool& silent, unsigned depth) {
  expr = folded(expr);
  if (!expr || depth > 500)
    return std::nullopt;
  auto part = [&](Expr* each) { return evaluateInteger(each, context, silent, depth + 1); };
  switch (expr->kind) {
  case ExprKind::Error:
    silent = true;
    return std::nullopt;
  case ExprKind::Int:
    if (cast<IntExpr>(expr)->tooLarge || cast<IntExpr>(expr)->value > uint64_t(INT64_MAX))
      return std::nullopt;
    if (!expr->type)
      expr->type = types_.i64();
    return int64_t(cast<IntExpr>(expr)->value);
  case ExprKind::Byte:
    return cast<ByteExpr>(expr)->value;
  case ExprKind::Cast:
    return part(cast<CastExpr>(expr)->operand);
  case ExprKind::Block: {
    auto* block = cast<BlockExpr>(expr);
    if (block->statements.empty() && block->tail)
      return part(block->tail);
    return std::nullopt;
  }
  case ExprKind::Unary: {
    auto* unary = cast<UnaryExpr>(expr);
    if (unary->op != UnaryOp::Negate)
      return std::nullopt;
    std::optional<int64_t> value = part(unary->operand);
    if (!value || *value == INT64_MIN)
      return std::nullopt;
    return -*value;
  }
  case ExprKind::Binary: {
    auto* binary = cast<BinaryExpr>(expr);
    std::optional<int64_t> left = part(binary->left);
    std::optional<int64_t> right = left ? part(binary->right) : std::nullopt;
    if (!left || !right)
      return std::nullopt;
    int64_t result = 0;
    switch (binary->op) {
    case BinaryOp::Add:
    case BinaryOp::WrapAdd:
      if (__builtin_add_overflow(*left, *right, &result))
        return std::nullopt;
      return result;
    case BinaryOp::Sub:
    case BinaryOp::WrapSub:
      if (__builtin_sub_overflow(*left, *right, &result))
        return std::nullopt;
      return result;
    case BinaryOp::Mul:
    case BinaryOp::WrapMul:
      if (__builtin_mul_overflow(*left, *right, &result))
        return std::nullopt;
      return result;
    case BinaryOp::Div:
    case BinaryOp::Rem:
      if (*right == 0 || (*left == INT64_MIN && *right == -1))
        return std::nullopt;
      return binary->op == BinaryOp::Div ? *left / *right : *left % *right;
    case BinaryOp::Shl:
      if (*right < 0 || *right > 62 || *left < 0 || *left > (INT64_MAX >> *right))
        return std::nullopt;
      return *left << *right;
    case BinaryOp::Shr:
      return *right < 0 || *right > 63 ? std::optional<int64_t>() : *left >> *right;
    case BinaryOp::BitAnd:
      return *left & *right;
    case BinaryOp::BitOr:
      return *left | *right;
    case BinaryOp::BitXor:
      return *left ^ *right;
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
    return std::nullopt;
  }
  case ExprKind::Path: {
    auto* path = cast<PathExpr>(expr);
    if (path->path.segments.size() == 1 && !path->path.qualifier &&
        !isLocal(path->path.segments[0].ident.name))
      if (Parameter* parameter = constParameter(path->path.segments[0].ident.name, context)) {
        Type* value = useConstParameter(parameter, expr->span, context);
        if (value->is(Kind::Const)) // in the clone of a template
          return int64_t(value->length);
        if (!value->is(Kind::Error))
          engine_.report(expr->span, diag::ConstParameterComputed, parameter->name.text())
              .label(parameter->span, "declared here");
        silent = true;
        return std::nullopt;
      }
    ConstItem* constant = constantOf(path, context, silent);
    if (!constant)
      return std::nullopt;
    auto& info = *static_cast<ConstInfo*>(infoOf(constant));
    if (info.value == State::Running) {
      engine_.report(constant->name.span, diag::ConstantCycle, constant->name.name.text());
      silent = true;
      return std::nullopt;
    }
    if (info.value == State::Fresh) {
      info.value = State::Running;
      // A region in the initialiser is folded first; the type is not known until then.
      Expr* value = folded(constant->value);
      if (isa<ComptimeExpr>(value) || isa<CallExpr>(value) || isa<KnownCallExpr>(value))
        silent = true;
      else
        info.integer = evaluateInteger(value, info.context, silent, depth + 1);
      info.value = State::Done;
    } else if (!info.integer) {
      silent = true;
    }
    if (body_) {
      path->target.kind = TargetKind::Const;
      path->target.item = constant;
      noteConstUse(constant);
    }
    path->type = types_.i64();
    return info.integer;
  }
  default:
    return std::nullopt;
  }
}

} // namespace gos::check
