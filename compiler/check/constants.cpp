// Const parameters and what stands for them: `struct Ring<const N: i64>`, `Ring<8>` (language.md
// section 16.3).
//
// A const argument is a type to everything that handles lists of type arguments: a Const, or the
// Param of a const parameter that is handed on. It never becomes the type of a value.

#include "compiler/check/checker.h"

#include "llvm/ADT/DenseSet.h"

namespace gos::check {

/// The const parameter of that name around, if there is one.
Parameter* Checker::constParameter(Name name, const ItemContext& context) {
  for (Parameter* parameter : context.generics)
    if (parameter->isConst && parameter->name == name)
      return parameter;
  return nullptr;
}

/// The type of a const parameter: what can be written as an argument and compared.
void Checker::resolveConstParameter(Parameter* parameter, const GenericParameter& written,
                                    const ItemContext& context) {
  parameter->defaultConst = written.constDefault;
  Type* type = resolveType(written.constType, context, TypeUse::Argument);
  if (!type->isInteger() && !type->is(Kind::Bool) && !type->is(Kind::Char)) {
    if (!type->is(Kind::Error))
      engine_
          .report(written.constType->span, diag::TypeMismatch, "an integer, bool or char",
                  types::print(type))
          .note("a const parameter is of such a type");
    type = types_.error();
    parameter->isBroken = true;
  }
  parameter->constType = type;
}

/// A const parameter where a type, a length or a const argument reads it.
Type* Checker::useConstParameter(Parameter* parameter, Span span, const ItemContext& context) {
  if (parameter->isBroken)
    return types_.error();
  Type* value = finish(types_.param(parameter), context);
  if (inBody() && body_->regionDepth && value->has(Type::HasParam) && !body_->isComptimeFn)
    engine_.report(span, diag::RuntimeBindingInRegion, parameter->name.text())
        .note("the region is evaluated once, for all values that the parameter may stand for");
  return value;
}

/// `{ N }` and `N`, where N is a const parameter.
static const PathSegment* plainName(Expr* expr) {
  while (auto* block = llvm::dyn_cast_or_null<BlockExpr>(expr)) {
    if (!block->statements.empty() || !block->tail)
      return nullptr;
    expr = block->tail;
  }
  auto* path = llvm::dyn_cast_or_null<PathExpr>(expr);
  if (!path || path->path.qualifier || path->path.segments.size() != 1)
    return nullptr;
  return &path->path.segments[0];
}

/// The length of an array as written: a Const, or a const parameter. Null: it is not constant;
/// reported if `silent`.
Type* Checker::lengthArgument(Expr* expr, const ItemContext& context, bool& silent) {
  expr = folded(expr);
  if (const PathSegment* name = plainName(expr); name && !isLocal(name->ident.name))
    if (Parameter* parameter = constParameter(name->ident.name, context)) {
      if (parameter->constType && !parameter->constType->isInteger()) {
        if (!parameter->isBroken)
          engine_
              .report(expr->span, diag::TypeMismatch, "an integer",
                      types::print(parameter->constType))
              .label(parameter->span, "declared here");
        silent = true;
        return nullptr;
      }
      parameter->isLength = true;
      return useConstParameter(parameter, expr->span, context);
    }
  std::optional<uint64_t> length = evaluateLength(expr, context, silent);
  return length ? types_.constant(types_.i64(), *length) : nullptr;
}

/// The value of a constant expression of an integer, a bool or a char, as bits.
std::optional<uint64_t> Checker::evaluateConst(Expr* expr, Type* wanted, const ItemContext& context,
                                               bool& silent, unsigned depth) {
  expr = folded(expr);
  if (!expr || depth > 500)
    return std::nullopt;
  if (auto* block = dyn_cast<BlockExpr>(expr); block && block->statements.empty() && block->tail)
    return evaluateConst(block->tail, wanted, context, silent, depth + 1);
  auto mismatch = [&](StringRef found) {
    engine_.report(expr->span, diag::TypeMismatch, types::print(wanted), found);
    silent = true;
    return std::nullopt;
  };
  switch (expr->kind) {
  case ExprKind::Bool:
    if (!wanted->is(Kind::Bool))
      return mismatch("bool");
    return uint64_t(cast<BoolExpr>(expr)->value);
  case ExprKind::Char:
    if (!wanted->is(Kind::Char))
      return mismatch("char");
    return uint64_t(cast<CharExpr>(expr)->value);
  case ExprKind::String:
    return mismatch("String");
  case ExprKind::Float:
    return mismatch("{float}");
  case ExprKind::Int:
    if (!wanted->isInteger())
      return mismatch("{integer}");
    if (auto* literal = cast<IntExpr>(expr); !literal->tooLarge && !wanted->isSigned()) {
      if (!fitsInteger(literal->value, false, wanted)) {
        engine_.report(expr->span, diag::LiteralOutOfRange, std::to_string(literal->value),
                       types::print(wanted));
        silent = true;
        return std::nullopt;
      }
      return literal->value;
    }
    break;
  case ExprKind::Comptime:
  case ExprKind::Call:
  case ExprKind::MethodCall:
  case ExprKind::KnownCall:
    if (initialisers_)
      silent = true; // it is folded where the constant is
    else
      examineRegion(expr, wanted, context, silent);
    return std::nullopt;
  case ExprKind::Unary:
    if (auto* unary = cast<UnaryExpr>(expr); unary->op == UnaryOp::Not && wanted->is(Kind::Bool)) {
      std::optional<uint64_t> value =
          evaluateConst(unary->operand, wanted, context, silent, depth + 1);
      return value ? std::optional<uint64_t>(!*value) : std::nullopt;
    }
    break;
  case ExprKind::Binary:
    if (wanted->is(Kind::Bool))
      return evaluateComparison(cast<BinaryExpr>(expr), context, silent, depth);
    break;
  case ExprKind::Path:
    if (wanted->isInteger())
      break;
    if (const PathSegment* name = plainName(expr); name && !isLocal(name->ident.name))
      if (Parameter* parameter = constParameter(name->ident.name, context)) {
        Type* value = useConstParameter(parameter, expr->span, context);
        if (value->is(Kind::Const)) // in the clone of a template
          return value->length;
        if (!value->is(Kind::Error))
          engine_.report(expr->span, diag::ConstParameterComputed, parameter->name.text())
              .label(parameter->span, "declared here");
        silent = true;
        return std::nullopt;
      }
    if (wanted->is(Kind::Char)) {
      uint64_t bits = 0;
      Kind kind = Kind::Error;
      auto* path = cast<PathExpr>(expr);
      if (Type* type = typeOfNumericPath(path->path, context);
          type && type->is(Kind::Char) &&
          numericConstant(type, path->path.segments.back().ident.name.text(), bits, kind))
        return bits;
    }
    if (ConstItem* constant = constantOf(cast<PathExpr>(expr), context, silent)) {
      Type* type = constInfo(constant).type;
      if (type != wanted)
        return type->is(Kind::Error) ? std::optional<uint64_t>() : mismatch(types::print(type));
      if (body_)
        noteConstUse(constant);
      // The context of the constant, in which its initialiser reads.
      ++initialisers_;
      std::optional<uint64_t> value =
          evaluateConst(constant->value, wanted, static_cast<ConstInfo*>(infoOf(constant))->context,
                        silent, depth + 1);
      --initialisers_;
      return value;
    }
    return std::nullopt;
  default:
    break;
  }
  if (!wanted->isInteger())
    return std::nullopt;
  std::optional<Integer> integer = evaluateInteger(expr, wanted, context, silent, depth + 1);
  if (!integer)
    return std::nullopt;
  const bool negative = integer->value < 0;
  if (integer->value > Wide(UINT64_MAX) || integer->value < -(Wide(1) << 64) ||
      !fitsInteger(uint64_t(negative ? -integer->value : integer->value), negative, wanted)) {
    engine_.report(expr->span, diag::LiteralOutOfRange, textOf(integer->value),
                   types::print(wanted));
    silent = true;
    return std::nullopt;
  }
  return uint64_t(integer->value);
}

/// What a comparison, `&&` or `||` of constants answers.
std::optional<uint64_t> Checker::evaluateComparison(BinaryExpr* expr, const ItemContext& context,
                                                    bool& silent, unsigned depth) {
  const auto part = [&](Expr* each, Type* type) {
    return evaluateConst(each, type, context, silent, depth + 1);
  };
  const auto decide = [&](auto left, auto right) -> std::optional<uint64_t> {
    switch (expr->op) {
    case BinaryOp::Eq:
      return left == right;
    case BinaryOp::Ne:
      return left != right;
    case BinaryOp::Lt:
      return left < right;
    case BinaryOp::Le:
      return left <= right;
    case BinaryOp::Gt:
      return left > right;
    case BinaryOp::Ge:
      return left >= right;
    default:
      return std::nullopt;
    }
  };
  if (expr->op == BinaryOp::And || expr->op == BinaryOp::Or) {
    const std::optional<uint64_t> left = part(expr->left, types_.boolean());
    if (!left)
      return std::nullopt;
    const std::optional<uint64_t> right = part(expr->right, types_.boolean());
    if (!right)
      return std::nullopt;
    return expr->op == BinaryOp::And ? *left & *right : *left | *right;
  }
  // What is compared: bools and chars say so themselves, all else is an integer.
  Type* type = nullptr;
  for (Expr* each : {folded(expr->left), folded(expr->right)}) {
    if (isa<BoolExpr>(each))
      type = types_.boolean();
    else if (isa<CharExpr>(each))
      type = types_.scalar(Kind::Char);
    else if (auto* path = dyn_cast<PathExpr>(each))
      if (ConstItem* constant = constantOf(path, context, silent))
        if (Type* own = constInfo(constant).type; own->is(Kind::Bool) || own->is(Kind::Char))
          type = own;
  }
  if (type) {
    const std::optional<uint64_t> left = part(expr->left, type);
    const std::optional<uint64_t> right = left ? part(expr->right, type) : std::nullopt;
    return left && right ? decide(*left, *right) : std::nullopt;
  }
  const std::optional<Integer> left =
      evaluateInteger(expr->left, nullptr, context, silent, depth + 1);
  const std::optional<Integer> right =
      left ? evaluateInteger(expr->right, nullptr, context, silent, depth + 1) : std::nullopt;
  return left && right ? decide(left->value, right->value) : std::nullopt;
}

/// What an expression says as the argument of a const parameter.
Type* Checker::constArgument(Expr* expr, Parameter* parameter, const ItemContext& context) {
  if (!parameter->constType || parameter->isBroken)
    return types_.error();
  if (const PathSegment* name = plainName(expr); name && !isLocal(name->ident.name))
    if (Parameter* handedOn = constParameter(name->ident.name, context))
      return handOn(handedOn, parameter, expr->span, context);
  bool silent = false;
  std::optional<uint64_t> value = evaluateConst(expr, parameter->constType, context, silent, 0);
  if (!value) {
    if (!silent)
      engine_.report(expr->span, diag::ConstantNotFoldable, "what is computed here");
    return types_.error();
  }
  return types_.constant(parameter->constType, *value);
}

Type* Checker::handOn(Parameter* from, Parameter* to, Span span, const ItemContext& context) {
  if (from->isBroken || from->constType != to->constType) {
    if (!from->isBroken)
      engine_
          .report(span, diag::TypeMismatch, types::print(to->constType),
                  types::print(from->constType))
          .label(from->span, "declared here");
    return types_.error();
  }
  return useConstParameter(from, span, context);
}

/// One argument of a list as written, for the parameter it is given to (null: a builtin type's).
Type* Checker::genericArgument(const GenericArg& arg, Parameter* parameter,
                               const ItemContext& context, TypeUse use) {
  const bool wantsConst = parameter && parameter->isConst;
  auto* path = arg.type ? dyn_cast<PathTypeNode>(arg.type) : nullptr;
  const bool isName = path && !path->path.qualifier && path->path.segments.size() == 1;
  if (isName && inBody() && path->path.segments[0].ident.name == underscore_) {
    Type* open = unifier_.fresh(); // `_` leaves an argument open
    if (wantsConst)
      noteConstArgument(parameter, open, arg.type->span);
    return open;
  }
  if (!wantsConst) {
    if (!arg.value)
      return resolveType(arg.type, context, use);
    engine_.report(arg.value->span, diag::WrongNamespace,
                   input_.sources.text(arg.value->span).take_front(40), "a value", "a type");
    return types_.error();
  }
  Type* value = types_.error();
  Span span = arg.value ? arg.value->span : arg.type->span;
  if (arg.value) {
    value = constArgument(arg.value, parameter, context);
  } else if (Parameter* handedOn =
                 isName ? constParameter(path->path.segments[0].ident.name, context) : nullptr) {
    value = parameter->isBroken ? value : handOn(handedOn, parameter, span, context);
    arg.type->resolved = value;
  } else if (path) {
    auto prefix = resolver_.walk(path->path.segments, context.scope, resolve::kValue);
    StringRef text = input_.sources.text(span).take_front(40);
    if (prefix.binding && prefix.binding->value && isa<ConstItem>(prefix.binding->value)) {
      engine_
          .report(span, diag::WrongNamespace, text, "the name of a constant",
                  "a literal or a block")
          .suggest(span, "{ " + text.str() + " }", "write braces around it");
    } else if (!prefix.reported && !resolveType(arg.type, context, use)->is(Kind::Error)) {
      engine_.report(span, diag::WrongNamespace, text, "a type",
                     "a value of the type `" + types::print(parameter->constType) + "`");
    }
  } else {
    resolveType(arg.type, context, use);
    engine_.report(span, diag::WrongNamespace, input_.sources.text(span).take_front(40), "a type",
                   "a value of the type `" + types::print(parameter->constType) + "`");
  }
  noteConstArgument(parameter, value, span);
  return value;
}

/// What a parameter stands for, to be judged when it is known: at the end of the body, or now.
void Checker::noteConstArgument(Parameter* parameter, Type* value, Span span) {
  if (body_)
    body_->constArguments.push_back({parameter, value, span});
  else if (value->isConstArgument())
    constArguments_.push_back({parameter, value, span});
}

/// The arguments that `value` opened or found: those of const parameters are judged with the body,
/// types must be inferred.
void Checker::noteOpened(ArrayRef<Parameter*> generics, ArrayRef<Type*> args, Span span,
                         StringRef name) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (i < generics.size() && generics[i]->isConst)
      noteConstArgument(generics[i], args[i], span);
    else if (args[i]->is(Kind::Infer))
      body_->opened.push_back({args[i], span, ("type argument of `" + name + "`").str()});
  }
}

/// Reports a const argument that nothing has said by the end of the body. True: there was one.
bool Checker::reportOpenConstArgument(Body& body) {
  for (const ConstArgument& each : body.constArguments)
    if (unifier_.resolve(each.value)->is(Kind::Infer)) {
      engine_.report(each.span, diag::ConstArgumentUnknown, each.parameter->name.text())
          .label(each.parameter->span, "declared here");
      return true;
    }
  return false;
}

/// Does an inferred argument fit into the type of its parameter? Those that are written were judged
/// before.
void Checker::judgeConstArguments(Body& body) {
  for (ConstArgument& each : body.constArguments) {
    each.value = settle(each.value);
    Type* wanted = each.parameter->constType;
    if (!each.value->isConstArgument() || !wanted || wanted->is(Kind::Error))
      continue;
    constArguments_.push_back(each);
    if (each.value->is(Kind::Param)) {
      // Lengths have at most 33 bits: a parameter of 64 holds each of them.
      Type* given = each.value->parameter->constType;
      if (given != wanted && given && !given->is(Kind::Error) &&
          !(given->isInteger() && wanted->isInteger() && wanted->bits() == 64))
        engine_.report(each.span, diag::TypeMismatch, types::print(wanted), types::print(given))
            .label(each.value->parameter->span, "declared here");
      continue;
    }
    const uint64_t bits = each.value->length;
    const bool negative = each.value->args[0]->isSigned() && int64_t(bits) < 0;
    if (wanted->isInteger() && !fitsInteger(negative ? uint64_t(0) - bits : bits, negative, wanted))
      engine_.report(each.span, diag::LiteralOutOfRange, types::print(each.value),
                     types::print(wanted));
  }
}

/// A parameter that is the length of an array, here or where it is handed on to, takes what a
/// length may be.
void Checker::judgeLengths() {
  llvm::DenseMap<Parameter*, SmallVector<Parameter*, 2>>
      handedTo; // from each parameter to those that it is given by
  std::vector<Parameter*> lengths;
  for (const ConstArgument& each : constArguments_)
    if (each.value->is(Kind::Param)) {
      handedTo[each.parameter].push_back(each.value->parameter);
      if (each.parameter->isLength)
        lengths.push_back(each.parameter);
    }
  while (!lengths.empty()) {
    Parameter* parameter = lengths.back();
    lengths.pop_back();
    auto found = handedTo.find(parameter);
    if (found == handedTo.end())
      continue;
    for (Parameter* from : found->second) {
      from->isLength = true;
      lengths.push_back(from);
    }
    handedTo.erase(found);
  }
  llvm::DenseSet<std::pair<uint32_t, Type*>> reported;
  for (const ConstArgument& each : constArguments_)
    if (each.value->is(Kind::Const) && each.parameter->isLength &&
        each.value->length > kMaxLength && reported.insert({each.span.begin, each.value}).second)
      engine_.report(each.span, diag::LiteralOutOfRange, types::print(each.value),
                     "an array length");
}

} // namespace gos::check
