// `typeInfo::<T>()`: the pairs it answers, and loops over it, which are unrolled.

#include "compiler/ast/clone.h"
#include "compiler/check/checker.h"

namespace gos::check {

bool Checker::reflect(Type* type, Span span,
                      SmallVectorImpl<std::pair<StringRef, StringRef>>& pairs) {
  type = unifier_.resolve(type)->withoutReferences();
  if (type->has(Type::HasError))
    return false;
  auto refuse = [&] {
    engine_.report(span, diag::NothingToReflect, print(type));
    return false;
  };
  auto text = [&](Type* each) {
    return context_.string(types::print(each, nullptr, size_t(1) << 20));
  };
  if (type->is(Kind::Struct)) {
    auto* structure = cast<StructItem>(type->item);
    resolveFields(structure);
    if (structure->fields.empty() || structure->isForeign)
      return refuse();
    for (size_t i = 0; i < structure->fields.size(); ++i) {
      const FieldDecl& field = structure->fields[i];
      StringRef name = structure->shape == StructShape::Tuple ? context_.string(std::to_string(i))
                                                              : field.name.name.text();
      pairs.push_back({name, text(substitute(field.resolved, type->args, type))});
    }
    return true;
  }
  if (type->is(Kind::Enum)) {
    auto* item = cast<EnumItem>(type->item);
    resolveFields(item);
    for (const VariantDecl& variant : item->variants) {
      StringRef payload = "()";
      if (variant.fields.size() == 1) {
        payload = text(substitute(variant.fields[0].resolved, type->args, type));
      } else if (!variant.fields.empty()) {
        SmallVector<Type*, 4> parts;
        for (const FieldDecl& field : variant.fields)
          parts.push_back(substitute(field.resolved, type->args, type));
        payload = text(types_.tuple(parts));
      }
      pairs.push_back({variant.name.name.text(), payload});
    }
    return !item->variants.empty() || refuse();
  }
  return refuse();
}

bool Checker::checkReflectiveFor(ForExpr* expr) {
  auto* call = dyn_cast<CallExpr>(folded(expr->iterable));
  auto* path = call ? dyn_cast<PathExpr>(call->callee) : nullptr;
  if (!path || path->path.segments.size() != 1 ||
      path->path.segments[0].ident.name != typeInfoName_ || isLocal(typeInfoName_))
    return false;
  auto* pattern = dyn_cast<TuplePattern>(expr->pattern);
  if (!pattern || pattern->elements.size() != 2)
    return false;
  Name names[2];
  for (int i = 0; i < 2; ++i) {
    if (auto* binding = dyn_cast<BindingPattern>(pattern->elements[i]); binding && !binding->sub)
      names[i] = binding->variable->name;
    else if (!isa<WildcardPattern>(pattern->elements[i]))
      return false;
  }
  setType(call, checkTypeInfo(call, {}));
  expr->elementType = types_.tuple({types_.string(), types_.string()});
  expr->unrolled = true;
  if (expr->unrolledBodies.size() != call->reflected.size()) {
    SmallVector<BlockExpr*, 8> bodies;
    for (auto& pair : call->reflected) {
      auto replace = [&](const PathExpr& name) -> Expr* {
        if (name.path.segments.size() != 1 || name.path.qualifier)
          return nullptr;
        for (int i = 0; i < 2; ++i)
          if (names[i] && name.path.segments[0].ident.name == names[i]) {
            auto* literal = context_.make<StringExpr>(name.span);
            literal->value = i == 0 ? pair.first : pair.second;
            return literal;
          }
        return nullptr;
      };
      Cloner cloner(context_, replace);
      bodies.push_back(cloner.clone(expr->body));
    }
    expr->unrolledBodies = context_.list<BlockExpr*>(bodies);
  }
  ++unrolling_;
  for (BlockExpr* body : expr->unrolledBodies) {
    body_->loops.push_back({expr, expr->label.name, nullptr, false, false});
    checkBlock(body, nullptr, true);
    body_->discards.push_back(body);
    body_->loops.pop_back();
  }
  --unrolling_;
  return true;
}

/// `field_of(value, "name")` in an unrolled body is the field.
Type* Checker::checkFieldOf(CallExpr* expr, Type* expected) {
  auto* name =
      expr->arguments.size() == 2 ? dyn_cast<StringExpr>(expr->arguments[1].value) : nullptr;
  if (!name || !unrolling_) {
    engine_.report(expr->span, diag::NothingToReflect, "field_of")
        .note("it is known inside `for (name, ty) in typeInfo::<T>()`, with that name");
    checkArgumentsAlone(expr->arguments);
    return types_.error();
  }
  Expr* made = nullptr;
  uint32_t index = 0;
  if (!name->value.getAsInteger(10, index)) {
    auto* field = context_.make<TupleFieldExpr>(expr->span);
    field->object = expr->arguments[0].value;
    field->index = index;
    made = field;
  } else {
    auto* field = context_.make<FieldExpr>(expr->span);
    field->object = expr->arguments[0].value;
    field->name = {context_.names.intern(name->value), expr->span};
    made = field;
  }
  input_.folded[expr] = made;
  return check(made, expected);
}

/// `match ty { "i64" => .., _ => .. }` in an unrolled body keeps the arm that is taken.
Expr* Checker::takenArm(MatchExpr* expr) {
  auto* subject = unrolling_ ? dyn_cast<StringExpr>(folded(expr->subject)) : nullptr;
  if (!subject)
    return nullptr;
  std::function<int(Pattern*)> matches = [&](Pattern* pattern) -> int { // 1 yes, 0 no, -1 unknown
    if (isa<WildcardPattern>(pattern))
      return 1;
    if (auto* literal = dyn_cast<LiteralPattern>(pattern))
      if (auto* text = dyn_cast<StringExpr>(literal->value))
        return text->value == subject->value;
    if (auto* either = dyn_cast<OrPattern>(pattern)) {
      for (Pattern* each : either->alternatives)
        if (int answer = matches(each); answer != 0)
          return answer;
      return 0;
    }
    return -1;
  };
  for (const MatchArm& arm : expr->arms) {
    if (arm.guard)
      return nullptr;
    int answer = matches(arm.pattern);
    if (answer < 0)
      return nullptr;
    if (answer == 1) {
      input_.folded[expr] = arm.body;
      return arm.body;
    }
  }
  return nullptr;
}

} // namespace gos::check
