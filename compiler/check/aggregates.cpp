// Tuples, arrays, maps, sets and structs as written.

#include "compiler/check/checker.h"

#include "llvm/ADT/SmallBitVector.h"

namespace gos::check {

Type* Checker::checkTuple(TupleExpr* expr, Type* expected) {
  if (expr->elements.empty())
    return types_.unit();
  Type* hint = expected ? shallow(expected) : nullptr;
  bool fits = hint && hint->is(Kind::Tuple) && hint->args.size() == expr->elements.size();
  SmallVector<Type*, 8> elements;
  bool never = false;
  for (size_t i = 0; i < expr->elements.size(); ++i) {
    Type* want = fits ? hint->args[i] : nullptr;
    Type* type = checkValue(expr->elements[i], want);
    if (want && !shallow(want)->is(Kind::Infer) && coercible(shallow(type), shallow(want)))
      type = want;
    never |= shallow(type)->is(Kind::Never);
    elements.push_back(type);
  }
  if (never)
    return types_.never();
  return types_.tuple(elements);
}

Type* Checker::checkArray(ArrayExpr* expr, Type* expected) {
  Type* hint = expected ? shallow(expected)->withoutReferences() : nullptr;
  Type* element = nullptr;
  bool asVec = expr->isVec;
  if (hint && hint->isSequence()) {
    element = hint->args[0];
    if (hint->is(Kind::Vec))
      asVec = true;
    else if (hint->is(Kind::Array))
      asVec = false;
  }
  bool given = element != nullptr;
  for (Expr* each : expr->elements) {
    Type* type = checkValue(each, element);
    if (element) {
      if (shallow(element)->is(Kind::Never))
        element = type;
      else
        coerce(each, type, element);
    } else {
      element = type;
    }
  }
  if (!element)
    element = unifier_.fresh();
  if (shallow(element)->is(Kind::Never) && !given)
    return types_.never();
  return asVec ? types_.vec(element) : types_.array(element, expr->elements.size());
}

Type* Checker::checkRepeat(RepeatExpr* expr, Type* expected) {
  Type* hint = expected ? shallow(expected)->withoutReferences() : nullptr;
  Type* element = nullptr;
  bool asVec = expr->isVec;
  if (hint && hint->isSequence()) {
    element = hint->args[0];
    if (hint->is(Kind::Vec))
      asVec = true;
    else if (hint->is(Kind::Array))
      asVec = false;
  }
  Type* type = checkValue(expr->value, element);
  if (element)
    coerce(expr->value, type, element);
  else
    element = type;
  if (asVec) {
    Type* count = shallow(check(expr->count, types_.i64()));
    if (!count->isInteger() && !count->isInferInteger())
      coerce(expr->count, count, types_.i64());
    return types_.vec(element);
  }
  bool silent = false;
  Type* length = lengthArgument(expr->count, body_->context, silent);
  if (!length) {
    if (!silent)
      engine_.report(expr->count->span, diag::ArrayLengthNotConstant)
          .help("`#[value; count]` is a `Vec`, whose length may be known only at run time");
    return types_.error();
  }
  if (!expr->count->type)
    expr->count->type = types_.i64();
  return types_.array(element, length);
}

Type* Checker::checkMap(MapExpr* expr, Type* expected) {
  Type* hint = expected ? shallow(expected)->withoutReferences() : nullptr;
  Kind kind = Kind::Map;
  Type* key = nullptr;
  Type* value = nullptr;
  if (hint && (hint->is(Kind::Map) || hint->is(Kind::BTreeMap))) {
    kind = hint->kind;
    key = hint->args[0];
    value = hint->args[1];
  }
  for (auto& [keyExpr, valueExpr] : expr->entries) {
    Type* keyType = checkValue(keyExpr, key);
    if (key)
      coerce(keyExpr, keyType, key);
    else
      key = keyType;
    Type* valueType = checkValue(valueExpr, value);
    if (value)
      coerce(valueExpr, valueType, value);
    else
      value = valueType;
  }
  if (!key)
    key = unifier_.fresh();
  if (!value)
    value = unifier_.fresh();
  body_->elements.push_back({key, expr->span});
  return types_.container(kind, {key, value});
}

Type* Checker::checkSet(SetExpr* expr, Type* expected) {
  Type* hint = expected ? shallow(expected)->withoutReferences() : nullptr;
  Kind kind = Kind::Set;
  Type* element = nullptr;
  if (hint && (hint->is(Kind::Set) || hint->is(Kind::BTreeSet))) {
    kind = hint->kind;
    element = hint->args[0];
  }
  for (Expr* each : expr->elements) {
    Type* type = checkValue(each, element);
    if (element)
      coerce(each, type, element);
    else
      element = type;
  }
  if (!element)
    element = unifier_.fresh();
  body_->elements.push_back({element, expr->span});
  return types_.container(kind, {element});
}

Type* Checker::checkStructLiteral(StructLiteralExpr* expr, Type* expected) {
  expr->target = {};
  auto checkRest = [&] { // what can still be checked when the type is unknown
    for (const FieldInit& field : expr->fields)
      check(field.value, nullptr);
    if (expr->base)
      check(expr->base, nullptr);
    return types_.error();
  };
  ValuePath value = resolveValue(expr->path, expected);
  if (value.kind == TargetKind::None)
    return checkRest();
  if (value.kind != TargetKind::Struct && value.kind != TargetKind::Variant) {
    engine_.report(expr->path.span, diag::WrongNamespace,
                   expr->path.segments.back().ident.name.text(), "a value", "a struct");
    return checkRest();
  }
  bool isStruct = value.kind == TargetKind::Struct;
  auto* structure = isStruct ? cast<StructItem>(value.item) : nullptr;
  const VariantDecl* variant =
      isStruct ? nullptr : &cast<EnumItem>(value.item)->variants[value.index];
  ArrayRef<FieldDecl> fields = isStruct ? structure->fields : variant->fields;
  StructShape shape = isStruct ? structure->shape : variant->shape;
  std::string name = (isStruct ? structure->name.name : variant->name.name).text().str();
  Type* type = types_.nominal(isStruct ? Kind::Struct : Kind::Enum, value.item, value.outer);
  fillTarget(expr->target, value, value.outer);
  noteOpened(nominal(value.item).generics, value.outer, expr->path.span, name);
  if (shape == StructShape::Tuple || (shape == StructShape::Unit && !expr->fields.empty())) {
    engine_.report(expr->path.span, diag::ConstructorShape, name,
                   shape == StructShape::Tuple ? "a tuple" : "without fields",
                   shape == StructShape::Tuple ? name + "(..)" : name);
    checkRest();
    return type;
  }
  ModuleScope* home = scopeOf(value.item);
  auto visible = [&](const FieldDecl& field) {
    return !isStruct || resolver_.isVisible(field.visibility, home, body_->context.scope);
  };
  llvm::SmallBitVector seen(unsigned(fields.size()));
  for (FieldInit& field : expr->mutableFields()) {
    std::optional<uint32_t> index;
    if (isStruct) {
      index = fieldIndex(value.item, fields, field.name.name);
    } else {
      for (uint32_t i = 0; i < fields.size() && !index; ++i)
        if (fields[i].name.name == field.name.name)
          index = i;
    }
    if (!index) {
      SmallVector<StringRef, 16> names;
      for (const FieldDecl& each : fields)
        names.push_back(each.name.name.text());
      Diagnostic& report =
          engine_.report(field.name.span, diag::NoSuchField, field.name.name.text(), print(type));
      StringRef near = nearest(field.name.name.text(), names);
      if (!near.empty())
        report.help(("did you mean `" + near + "`?").str());
      if (!field.shorthand)
        check(field.value, nullptr);
      continue;
    }
    field.index = *index;
    if (seen.test(*index))
      engine_.report(field.name.span, diag::DuplicateField, field.name.name.text());
    seen.set(*index);
    if (!visible(fields[*index]))
      engine_.report(field.name.span, diag::PrivateField, field.name.name.text(), print(type));
    Type* wanted = substitute(fields[*index].resolved, value.outer, type);
    Type* actual = checkValue(field.value, wanted);
    coerce(field.value, actual, wanted);
  }
  if (expr->base) {
    checkAgainst(expr->base, type);
    for (uint32_t i = 0; i < fields.size(); ++i)
      if (!seen.test(i) && !visible(fields[i])) {
        engine_.report(expr->base->span, diag::PrivateField, fields[i].name.name.text(),
                       print(type));
        break;
      }
    return type;
  }
  for (uint32_t i = 0; i < fields.size(); ++i) {
    if (seen.test(i))
      continue;
    if (!visible(fields[i]))
      engine_.report(expr->path.span, diag::PrivateField, fields[i].name.name.text(), print(type));
    else
      engine_.report(expr->path.span, diag::MissingField, fields[i].name.name.text(), name);
    break;
  }
  return type;
}

} // namespace gos::check
