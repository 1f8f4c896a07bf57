// Parts of values: fields, positions, indices, and ranges.

#include "compiler/check/checker.h"

namespace gos::check {

Type* Checker::fieldOf(FieldExpr* expr, Type* object) {
  Type* type = shallow(shallow(object)->withoutReferences());
  if (type->is(Kind::Error))
    return type;
  if (type->is(Kind::Struct)) {
    auto* structure = cast<StructItem>(type->item);
    if (std::optional<uint32_t> index = fieldIndex(structure, structure->fields, expr->name.name)) {
      resolveFields(structure);
      expr->index = *index;
      const FieldDecl& field = structure->fields[*index];
      if (!resolver_.isVisible(field.visibility, scopeOf(structure), body_->context.scope))
        engine_.report(expr->name.span, diag::PrivateField, field.name.name.text(), print(type))
            .label(field.name.span, "declared here");
      return substitute(field.resolved, type->args, type);
    }
  }
  if (type->is(Kind::Enum) && type->item->name.name.text() == "Value" && type->item->parentModule &&
      type->item->parentModule->package == 0) {
    engine_.report(expr->name.span, diag::NoSuchField, expr->name.name.text(), print(type));
    return types_.error();
  }
  Diagnostic& report =
      engine_.report(expr->name.span, diag::NoSuchField, expr->name.name.text(), print(type));
  if (type->is(Kind::Struct)) {
    SmallVector<StringRef, 16> names;
    for (const FieldDecl& field : cast<StructItem>(type->item)->fields)
      names.push_back(field.name.name.text());
    StringRef near = nearest(expr->name.name.text(), names);
    if (!near.empty()) {
      report.help(("did you mean `" + near + "`?").str());
      return types_.error();
    }
  }
  if (Member member = findMember(type, expr->name.name, true); member.item)
    report.help(("it is a method: write `" + expr->name.name.text() + "()`").str());
  return types_.error();
}

Type* Checker::checkField(FieldExpr* expr, Type*) {
  Type* object = known(check(expr->object, nullptr));
  if (object->withoutReferences()->is(Kind::Infer) || object->is(Kind::Infer)) {
    if (object->is(Kind::Infer) && object->inferKind == InferKind::General) {
      Type* result = unifier_.fresh();
      body_->deferred.push_back({expr, object, result, nullptr});
      return result;
    }
  }
  return fieldOf(expr, object);
}

Type* Checker::checkTupleField(TupleFieldExpr* expr) {
  Type* type = known(known(check(expr->object, nullptr))->withoutReferences());
  if (type->is(Kind::Error))
    return type;
  if (type->is(Kind::Tuple) && expr->index < type->args.size())
    return type->args[expr->index];
  if (type->is(Kind::Struct)) {
    auto* structure = cast<StructItem>(type->item);
    resolveFields(structure);
    if (structure->shape == StructShape::Tuple && expr->index < structure->fields.size()) {
      const FieldDecl& field = structure->fields[expr->index];
      if (!resolver_.isVisible(field.visibility, scopeOf(structure), body_->context.scope))
        engine_.report(expr->span, diag::PrivateField, std::to_string(expr->index), print(type));
      return substitute(field.resolved, type->args, type);
    }
  }
  if (type->is(Kind::Infer))
    engine_.report(expr->object->span, diag::NotInferred, "the type of this value");
  else
    engine_.report(expr->span, diag::BadTuplePosition, std::to_string(expr->index), print(type));
  return types_.error();
}

Type* Checker::checkIndex(IndexExpr* expr, bool forWrite) {
  expr->method = {};
  Type* type = known(known(check(expr->object, nullptr))->withoutReferences());
  Expr* index = folded(expr->index);
  bool builtin = type->isSequence() || type->is(Kind::String);
  if (builtin) {
    Type* indexType = shallow(check(expr->index, isa<RangeExpr>(index) ? nullptr : types_.i64()));
    if (isa<RangeExpr>(index) || indexType->is(Kind::Range)) {
      if (type->is(Kind::String))
        return type;
      return types_.vec(type->args[0]);
    }
    if (indexType->is(Kind::Infer) && indexType->inferKind == InferKind::General)
      unifier_.unify(indexType, types_.i64());
    else if (!indexType->isInteger() && !indexType->isInferInteger() && !indexType->is(Kind::Never))
      coerce(expr->index, indexType, types_.i64());
    if (type->is(Kind::String))
      return types_.scalar(Kind::Char);
    return type->args[0];
  }
  if (type->is(Kind::Map) || type->is(Kind::BTreeMap)) {
    checkAgainst(expr->index, type->args[0]);
    if (forWrite) {
      engine_.report(expr->span, diag::NotIndexable, print(type))
          .note("an element is written by `insert(key, value)`");
      return types_.error();
    }
    return type->args[1];
  }
  if (type->isNominal() || type->is(Kind::Param)) {
    if (TraitItem* trait = lang(LangTrait::Index)) {
      Type* indexType = check(expr->index, nullptr);
      ImplMatch match;
      SmallVector<Type*, 2> args{indexType};
      if (findImpl(trait, type, args, match)) {
        for (Item* each : match.impl->item->items)
          if (auto* function = dyn_cast<FunctionItem>(each)) {
            ValuePath value;
            value.kind = TargetKind::Function;
            value.item = function;
            value.outer = match.args;
            fillTarget(expr->method, value, match.args);
            const Signature& signature = functionInfo(function).signature;
            if (signature.parameters.size() == 2)
              coerce(expr->index, indexType, substitute(signature.parameters[1], match.args, type));
            return substitute(signature.result, match.args, type);
          }
      }
      if (type->is(Kind::Param)) {
        Member bound = findInBounds(type, context_.names.intern("index"));
        if (auto* function = dyn_cast_or_null<FunctionItem>(bound.item)) {
          ValuePath value;
          value.kind = TargetKind::Function;
          value.item = function;
          value.outer = bound.outer;
          value.self = type;
          fillTarget(expr->method, value, bound.outer);
          return substitute(functionInfo(function).signature.result, bound.outer, type);
        }
      }
    }
  } else {
    check(expr->index, nullptr);
  }
  if (type->is(Kind::Error))
    return type;
  if (type->is(Kind::Infer) && type->inferKind == InferKind::General)
    engine_.report(expr->object->span, diag::NotInferred, "the type of this value");
  else
    engine_.report(expr->object->span, diag::NotIndexable, print(type));
  return types_.error();
}

Type* Checker::checkRange(RangeExpr* expr, Type* expected) {
  Type* hint = expected ? shallow(expected) : nullptr;
  Type* element = hint && hint->is(Kind::Range) ? hint->args[0] : nullptr;
  Type* low = nullptr;
  bool literalLow = expr->low && isa<IntExpr>(expr->low) &&
                    cast<IntExpr>(expr->low)->suffix == NumberSuffix::None;
  // `0..n`: the bound that is not a literal says the type.
  if (expr->high && literalLow && !element) {
    Type* high = check(expr->high, nullptr);
    low = check(expr->low, high);
    element = shallow(high)->is(Kind::Never) ? low : high;
    coerce(expr->low, low, element);
  } else {
    if (expr->low) {
      low = check(expr->low, element);
      if (element)
        coerce(expr->low, low, element);
      else
        element = low;
    }
    if (expr->high) {
      Type* high = check(expr->high, element);
      if (element)
        coerce(expr->high, high, element);
      else
        element = high;
    }
  }
  if (!element)
    element = types_.i64();
  Type* solid = shallow(element);
  if (solid->is(Kind::Infer) && solid->inferKind == InferKind::General) {
    unifier_.unify(solid, unifier_.fresh(InferKind::Integer));
  } else if (solid->is(Kind::Ref)) {
    engine_.report(expr->span, diag::ReferenceForValue, print(solid->args[0]), print(solid));
    return types_.error();
  } else if (!solid->isInteger() && !solid->isInferInteger() && !solid->is(Kind::Error) &&
             !solid->is(Kind::Never)) {
    engine_
        .report(expr->low ? expr->low->span : expr->high->span, diag::TypeMismatch, "i64",
                print(solid))
        .note("a range counts over integers");
    return types_.error();
  }
  return types_.range(element);
}

std::optional<Member> Checker::takeRangeApart(MethodCallExpr* expr, Type* type,
                                              SmallVectorImpl<Argument>& bounds) {
  if (expr->arguments.size() != 1) {
    engine_.report(expr->span, diag::CallArity, expr->name.name.text(), 1, expr->arguments.size());
    return std::nullopt;
  }
  auto* range = dyn_cast<RangeExpr>(folded(expr->arguments[0].value));
  if (!range) {
    engine_.report(expr->arguments[0].value->span, diag::StoredKeyRange);
    return std::nullopt;
  }
  // The range is never made: its bounds are keys of any type. What asks for its type is content
  // with a range of integers.
  setType(range, types_.range(types_.i64()));
  StringRef shape = "range";
  if (range->low && range->high)
    shape = range->inclusive ? "range_from_through" : "range_from_until";
  else if (range->low)
    shape = "range_from";
  else if (range->high)
    shape = range->inclusive ? "range_through" : "range_until";
  for (Expr* bound : {range->low, range->high})
    if (bound)
      bounds.push_back({{}, bound});
  return findMember(type, context_.names.intern(shape), true);
}

} // namespace gos::check
