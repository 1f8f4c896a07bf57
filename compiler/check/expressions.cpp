// Expressions: the dispatch, conversions, literals, aggregates, fields, indices.

#include "compiler/check/checker.h"

#include "llvm/ADT/SmallBitVector.h"

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
    return checkClosure(cast<ClosureExpr>(expr), expected, false);
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
  Diagnostic& report = engine_.report(expr->span, diag::TypeMismatch, print(expected), print(actual));
  if (actual->isNumeric() && expected->isNumeric())
    report.help("numbers are not converted implicitly; write `as " + print(expected) + "`");
  else if (expected->is(Kind::Enum) && expected->item == lang_.option && unifier_.unify(expected->args[0], actual))
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
  case NumberSuffix::None: return Kind::Error;
  case NumberSuffix::I8: return Kind::I8;
  case NumberSuffix::I16: return Kind::I16;
  case NumberSuffix::I32: return Kind::I32;
  case NumberSuffix::I64: return Kind::I64;
  case NumberSuffix::Isize: return Kind::Isize;
  case NumberSuffix::U8: return Kind::U8;
  case NumberSuffix::U16: return Kind::U16;
  case NumberSuffix::U32: return Kind::U32;
  case NumberSuffix::U64: return Kind::U64;
  case NumberSuffix::Usize: return Kind::Usize;
  case NumberSuffix::F32: return Kind::F32;
  case NumberSuffix::F64: return Kind::F64;
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

// ---- aggregates ---------------------------------------------------------------------------------

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
  std::optional<uint64_t> length = evaluateLength(expr->count, body_->context, silent);
  if (!length) {
    if (!silent)
      engine_.report(expr->count->span, diag::ArrayLengthNotConstant)
          .help("`#[value; count]` is a `Vec`, whose length may be known only at run time");
    return types_.error();
  }
  if (!expr->count->type)
    expr->count->type = types_.i64();
  return types_.array(element, *length);
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
  const VariantDecl* variant = isStruct ? nullptr : &cast<EnumItem>(value.item)->variants[value.index];
  ArrayRef<FieldDecl> fields = isStruct ? structure->fields : variant->fields;
  StructShape shape = isStruct ? structure->shape : variant->shape;
  std::string name = (isStruct ? structure->name.name : variant->name.name).text().str();
  Type* type = types_.nominal(isStruct ? Kind::Struct : Kind::Enum, value.item, value.outer);
  fillTarget(expr->target, value, value.outer);
  for (Type* each : value.outer)
    if (each->is(Kind::Infer))
      body_->opened.push_back({each, expr->path.span, "type argument of `" + name + "`"});
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
        engine_.report(expr->base->span, diag::PrivateField, fields[i].name.name.text(), print(type));
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

// ---- parts of values ----------------------------------------------------------------------------

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
    engine_.report(expr->low ? expr->low->span : expr->high->span, diag::TypeMismatch, "i64", print(solid))
        .note("a range counts over integers");
    return types_.error();
  }
  return types_.range(element);
}

Type* Checker::checkCast(CastExpr* expr) {
  Type* target = resolveType(expr->target, body_->context, TypeUse::Local);
  // `300 as u8` casts an i64: the target says nothing about the operand, but a literal too large for
  // i64 is meant for the target.
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
              (from->is(Kind::Char) && to->isInteger()) || (from->isInteger() && to->is(Kind::Char));
  if (!good)
    engine_.report(expr->span, diag::BadCast, print(from), print(to));
}

// ---- constants in types ---------------------------------------------------------------------------

std::optional<uint64_t> Checker::evaluateLength(Expr* expr, const ItemContext& context, bool& silent) {
  expr = folded(expr);
  bool region = isa<ComptimeExpr>(expr) ||
                (isa<KnownCallExpr>(expr) && cast<KnownCallExpr>(expr)->which == KnownCall::Codegen);
  bool call = isa<CallExpr>(expr) || isa<MethodCallExpr>(expr);
  if (region || call) {
    // A region at type level: known after the fold. Until then the type is not.
    auto examine = [&] {
      Type* type = check(expr, types_.i64());
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
    } else if (suspended_) {
      engine_.report(expr->span, diag::NotYet, "a compile-time region in the type of an item inside a function");
      silent = true;
    } else {
      Body body;
      Item* stand = context_.make<ErrorItem>(expr->span);
      std::vector<Local> savedLocals;
      savedLocals.swap(locals_);
      beginBody(body, stand, context);
      Frame frame;
      frame.owner = stand;
      frame.result = types_.i64();
      body.frame = &frame;
      body.allowsUnused = true;
      examine();
      endBody(body);
      savedLocals.swap(locals_);
      for (Region& each : regions_)
        if (each.enclosing == stand)
          each.enclosing = nullptr;
    }
    if (engine_.hasErrors())
      silent = true;
    return std::nullopt;
  }
  std::optional<int64_t> value = evaluateInteger(expr, context, silent, 0);
  if (!value)
    return std::nullopt;
  if (*value < 0 || *value > (int64_t(1) << 32)) {
    engine_.report(expr->span, diag::LiteralOutOfRange, std::to_string(*value), "an array length");
    silent = true;
    return std::nullopt;
  }
  return uint64_t(*value);
}

std::optional<int64_t> Checker::evaluateInteger(Expr* expr, const ItemContext& context, bool& silent,
                                                unsigned depth) {
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
    ArrayRef<PathSegment> segments = path->path.segments;
    if (path->path.qualifier || segments.empty())
      return std::nullopt;
    ConstItem* constant = nullptr;
    if (segments.size() == 2 && segments[0].ident.name == selfTypeName_ && context.owner) {
      ArrayRef<Item*> items = isa<ImplItem>(context.owner) ? cast<ImplItem>(context.owner)->items
                                                           : ArrayRef<Item*>();
      for (Item* item : items)
        if (item->name.name == segments[1].ident.name)
          constant = dyn_cast<ConstItem>(item);
    } else if (segments.size() == 1 && isLocal(segments[0].ident.name)) {
      return std::nullopt;
    } else {
      auto prefix = resolver_.walk(segments, context.scope, resolve::kValue | resolve::kVariant);
      if (!prefix.binding) {
        silent |= prefix.reported;
        if (!prefix.reported && segments.size() == 1) {
          bool parameter = false;
          for (Parameter* each : context.generics)
            if (each->name == segments[0].ident.name) {
              parameter = true;
              silent |= each->isConst;
            }
          if (!parameter)
            resolver_.reportUnknown(segments[0].ident.span, segments[0].ident.name, "constant",
                                    context.scope, resolve::kValue);
          silent |= !parameter;
        }
        return std::nullopt;
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
      return std::nullopt;
    if (!resolver_.isVisible(constant, context.scope)) {
      engine_.report(expr->span, diag::PrivateItem, "constant", constant->name.name.text());
      silent = true;
      return std::nullopt;
    }
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
