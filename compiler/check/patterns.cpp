// Patterns: what they match, and the variables they bind.

#include "compiler/check/checker.h"

#include "llvm/ADT/StringExtras.h"

namespace gos::check {

void Checker::bindVariable(Variable* variable, Type* type, PatternScope& scope) {
  if (!variable)
    return;
  variable->type = type;
  variable->owner = body_->frame->owner;
  variable->capturedByReference = false;
  variable->isAssigned = false;
  variable->readThrough = false;
  if (scope.isParameter)
    variable->isParameter = true;
  if (scope.declare)
    declareLocal(variable);
  else if (type->has(Type::HasInfer))
    noteType(&variable->type);
}

/// Two values have no name in common.
void Checker::noteBound(Variable*& variable, PatternScope& scope) {
  for (Variable** other : scope.bound)
    if ((*other)->name == variable->name) {
      engine_.report(variable->span, diag::DuplicateItem, variable->name.text())
          .label((*other)->span, "first declared here");
      return;
    }
  scope.bound.push_back(&variable);
}

Type* Checker::patternLiteral(Expr* value, bool negative, Type* type) {
  Type* literal = nullptr;
  if (auto* integer = dyn_cast<IntExpr>(value)) {
    Type* solid = shallow(type);
    if (solid->isFloat())
      literal = unifier_.fresh(InferKind::Integer);
    else
      literal = checkInt(integer, type, negative);
    setType(value, literal);
    return literal;
  }
  if (auto* unary = dyn_cast<UnaryExpr>(value); unary && unary->op == UnaryOp::Negate) {
    literal = patternLiteral(unary->operand, !negative, type);
    return setType(value, literal);
  }
  if (isa<ByteExpr>(value) && shallow(type)->isInteger())
    return setType(value, type);
  return check(value, type);
}

bool Checker::resolvePatternPath(const Path& path, Type* type, Target& target, StructShape) {
  target = {};
  ValuePath value = resolveValue(path, type);
  if (value.kind == TargetKind::None)
    return false;
  fillTarget(target, value, value.outer);
  // An enum of the library marked `#[opaque]` may change inside: it is asked with functions
  // (language.md section 12).
  if (target.kind == TargetKind::Variant && body_->package != 0 &&
      scopeOf(target.item)->package == 0 && hasAttribute(target.item, "opaque")) {
    engine_.report(path.span, diag::PatternOnOpaque, print(type));
    target = {};
    return false;
  }
  return true;
}

void Checker::checkOr(OrPattern* pattern, Type* type, PatternScope& scope) {
  // The first alternative declares; the others bind the same names.
  PatternScope first;
  first.declare = scope.declare;
  first.isParameter = scope.isParameter;
  checkPattern(pattern->alternatives[0], type, first);
  for (Pattern* alternative : pattern->alternatives.drop_front()) {
    PatternScope other;
    other.declare = false;
    checkPattern(alternative, type, other);
    const auto named = [](const PatternScope& in, Name name) {
      auto found = llvm::find_if(in.bound, [&](Variable** each) { return (*each)->name == name; });
      return found == in.bound.end() ? nullptr : *found;
    };
    for (Variable** bound : other.bound) {
      Variable** twin = named(first, (*bound)->name);
      if (!twin) {
        engine_.report((*bound)->span, diag::UnresolvedName, "binding", (*bound)->name.text())
            .note("the first alternative does not bind it");
        continue;
      }
      if (!unifier_.unify((*twin)->type, (*bound)->type))
        engine_.report((*bound)->span, diag::TypeMismatch, print((*twin)->type),
                       print((*bound)->type));
      *bound = *twin;
    }
    for (Variable** each : first.bound)
      if (!named(other, (*each)->name))
        engine_.report(alternative->span, diag::UnresolvedName, "binding", (*each)->name.text())
            .note("every alternative binds the same names");
  }
  for (Variable** each : first.bound)
    noteBound(*each, scope);
}

void Checker::checkPattern(Pattern* pattern, Type* type, PatternScope& scope) {
  if (depth_ > 3000) {
    reportTooDeep(pattern->span);
    return;
  }
  struct Depth {
    unsigned& depth;
    explicit Depth(unsigned& d) : depth(d) { ++depth; }
    ~Depth() { --depth; }
  } depth(depth_);
  // Patterns see through references, except the one that names them.
  Type* solid = shallow(type);
  if (solid->is(Kind::Projection))
    solid = shallow(normaliseDeep(solid));
  if (solid->is(Kind::Ref) &&
      !isa<ReferencePattern, BindingPattern, WildcardPattern, OrPattern>(pattern))
    solid = shallow(solid->args[0]);
  pattern->type = solid;
  noteType(&pattern->type);
  auto mismatch = [&](Type* found) {
    pattern->type = types_.error(); // counts as anything when cases are counted
    engine_.report(pattern->span, diag::TypeMismatch, print(solid), print(found));
  };
  auto bindAll = [&](ArrayRef<Pattern*> elements) { // after an error: names are bound all the same
    pattern->type = types_.error();
    for (Pattern* element : elements)
      checkPattern(element, types_.error(), scope);
  };
  switch (pattern->kind) {
  case PatternKind::Error:
  case PatternKind::Wildcard:
    return;
  case PatternKind::Rest:
    if (Variable* variable = cast<RestPattern>(pattern)->variable)
      bindVariable(variable, type, scope);
    return;
  case PatternKind::Binding: {
    auto* binding = cast<BindingPattern>(pattern);
    binding->target = {};
    Variable* variable = binding->variable;
    if (!binding->sub && !variable->isMutable && !scope.isParameter) {
      // A name that means a constant or a unit variant matches it.
      Type* plain = shallow(solid->withoutReferences());
      if (plain->is(Kind::Enum)) {
        auto* item = cast<EnumItem>(plain->item);
        const Binding* found =
            resolver_.lookup(body_->context.scope, variable->name, resolve::kVariant);
        std::optional<uint32_t> index;
        if (found)
          index = variantIndex(item, variable->name);
        if (index) {
          if (item->variants[*index].shape == StructShape::Unit) {
            ValuePath value;
            value.kind = TargetKind::Variant;
            value.item = item;
            value.index = *index;
            fillTarget(binding->target, value, plain->args);
            return;
          }
          StringRef name = variable->name.text();
          bool tuple = item->variants[*index].shape == StructShape::Tuple;
          engine_.report(pattern->span, diag::ConstructorShape, name,
                         tuple ? "a tuple" : "a value with named fields",
                         tuple ? (name + "(..)").str() : (name + " { .. }").str());
          return;
        }
      }
      if (Parameter* parameter = constParameter(variable->name, body_->context)) {
        ValuePath value;
        Type* known = useConstParameter(parameter, pattern->span, body_->context);
        if (known->is(Kind::Error))
          return bindAll({});
        value.kind = TargetKind::ConstParam;
        value.outer.push_back(known);
        fillTarget(binding->target, value, value.outer);
        if (!unifier_.unify(solid->withoutReferences(), parameter->constType))
          mismatch(parameter->constType);
        return;
      }
      if (const Binding* found = resolver_.lookup(body_->context.scope, variable->name,
                                                  resolve::kVariant | resolve::kValue)) {
        if (auto* constant = dyn_cast_or_null<ConstItem>(found->value)) {
          ValuePath value;
          value.kind = TargetKind::Const;
          value.item = constant;
          fillTarget(binding->target, value, {});
          noteConstUse(constant);
          checkVisible(constant, "constant", pattern->span);
          Type* found2 = constInfo(constant).type;
          if (!unifier_.unify(solid->withoutReferences(), found2))
            mismatch(found2);
          return;
        }
        if (!found->value && found->variantOf && !plain->is(Kind::Enum) &&
            found->variantOf->variants[found->variant].shape == StructShape::Unit &&
            plain->is(Kind::Infer) && plain->inferKind == InferKind::General) {
          ValuePath value = variantValue(found->variantOf, found->variant, nullptr);
          Type* enumType = types_.nominal(Kind::Enum, found->variantOf, value.outer);
          unifier_.unify(plain, enumType);
          fillTarget(binding->target, value, value.outer);
          pattern->type = enumType;
          noteType(&pattern->type);
          return;
        }
        // A variant of another type: surely not meant as a new name.
        if (!found->value && found->variantOf && !plain->is(Kind::Error) &&
            !plain->is(Kind::Never) && llvm::isUpper(variable->name.text().front())) {
          mismatch(
              types_.nominal(Kind::Enum, found->variantOf, nominal(found->variantOf).type->args));
          bindVariable(variable, types_.error(), scope);
          noteBound(binding->variable, scope);
          return;
        }
      }
    }
    // A reference has a name of its own only where it is declared; elsewhere a name is a copy.
    const bool isCopy = binding->sub || !(scope.isParameter || scope.isLet);
    bindVariable(variable, isCopy && solid->is(Kind::Ref) ? solid->withoutReferences() : type,
                 scope);
    noteBound(binding->variable, scope);
    if (binding->sub)
      checkPattern(binding->sub, type, scope);
    return;
  }
  case PatternKind::Literal: {
    auto* literal = cast<LiteralPattern>(pattern);
    Type* found = patternLiteral(literal->value, literal->negative, solid);
    if (!unifier_.unify(solid, found)) {
      if (solid->isFloat() && isa<IntExpr>(literal->value))
        mismatch(types_.i64());
      else
        mismatch(found);
    }
    return;
  }
  case PatternKind::Range: {
    auto* range = cast<RangePattern>(pattern);
    for (Expr* bound : {range->low, range->high}) {
      if (!bound)
        continue;
      Expr* plain = bound;
      if (auto* unary = dyn_cast<UnaryExpr>(bound); unary && unary->op == UnaryOp::Negate)
        plain = unary->operand;
      if (auto* path = dyn_cast<PathExpr>(plain)) {
        Type* found = check(path, solid);
        if (path->target.kind != TargetKind::NumericConst && path->target.kind != TargetKind::None)
          engine_.report(bound->span, diag::RangeBoundPath, input_.sources.text(bound->span));
        else if (!unifier_.unify(solid, found))
          mismatch(found);
        continue;
      }
      Type* found = patternLiteral(bound, false, solid);
      if (!unifier_.unify(solid, found)) {
        mismatch(found);
        continue;
      }
      Type* final = shallow(found);
      if (!final->isNumeric() && !final->is(Kind::Char) && !final->is(Kind::Infer) &&
          !final->is(Kind::Error))
        engine_.report(bound->span, diag::TypeMismatch, "a number or a character", print(final));
    }
    return;
  }
  case PatternKind::Path: {
    auto* path = cast<PathPattern>(pattern);
    if (!resolvePatternPath(path->path, solid, path->target, StructShape::Unit))
      return;
    Type* found = nullptr;
    switch (path->target.kind) {
    case TargetKind::Variant: {
      const VariantDecl& variant = cast<EnumItem>(path->target.item)->variants[path->target.index];
      found = types_.nominal(Kind::Enum, path->target.item, path->target.typeArgs);
      if (variant.shape != StructShape::Unit) {
        StringRef name = variant.name.name.text();
        bool tuple = variant.shape == StructShape::Tuple;
        engine_.report(pattern->span, diag::ConstructorShape, name,
                       tuple ? "a tuple" : "a value with named fields",
                       tuple ? (name + "(..)").str() : (name + " { .. }").str());
        return;
      }
      break;
    }
    case TargetKind::Struct:
      found = types_.nominal(Kind::Struct, path->target.item, path->target.typeArgs);
      if (cast<StructItem>(path->target.item)->shape != StructShape::Unit) {
        engine_.report(pattern->span, diag::ConstructorShape, path->target.item->name.name.text(),
                       "a struct with fields",
                       path->target.item->name.name.text().str() + " { .. }");
        return;
      }
      break;
    case TargetKind::Const:
    case TargetKind::AssociatedConst:
      found = constInfo(path->target.item).type;
      break;
    case TargetKind::NumericConst: {
      ValuePath value = resolveValue(path->path, nullptr);
      found = value.type;
      break;
    }
    case TargetKind::None:
    case TargetKind::Variable:
    case TargetKind::Function:
    case TargetKind::Static:
    case TargetKind::ConstParam:
      engine_.report(pattern->span, diag::WrongNamespace,
                     path->path.segments.back().ident.name.text(), "a value known at run time",
                     "a constant or a variant");
      path->target = {};
      return;
    }
    if (!unifier_.unify(solid, found))
      mismatch(found);
    return;
  }
  case PatternKind::TupleStruct: {
    auto* tuple = cast<TupleStructPattern>(pattern);
    if (!resolvePatternPath(tuple->path, solid, tuple->target, StructShape::Tuple) ||
        (tuple->target.kind != TargetKind::Variant && tuple->target.kind != TargetKind::Struct)) {
      if (tuple->target.kind != TargetKind::None)
        engine_.report(tuple->path.span, diag::WrongNamespace,
                       tuple->path.segments.back().ident.name.text(), "a value",
                       "a variant or a struct");
      tuple->target = {};
      return bindAll(tuple->elements);
    }
    bool isStruct = tuple->target.kind == TargetKind::Struct;
    Item* item = tuple->target.item;
    const VariantDecl* variant =
        isStruct ? nullptr : &cast<EnumItem>(item)->variants[tuple->target.index];
    ArrayRef<FieldDecl> fields = isStruct ? cast<StructItem>(item)->fields : variant->fields;
    StructShape shape = isStruct ? cast<StructItem>(item)->shape : variant->shape;
    StringRef name = (isStruct ? item->name.name : variant->name.name).text();
    Type* found =
        types_.nominal(isStruct ? Kind::Struct : Kind::Enum, item, tuple->target.typeArgs);
    if (!unifier_.unify(solid, found)) {
      mismatch(found);
      return bindAll(tuple->elements);
    }
    found = unifier_.resolve(found);
    if (shape != StructShape::Tuple) {
      engine_.report(tuple->path.span, diag::ConstructorShape, name,
                     shape == StructShape::Unit ? "without fields" : "a value with named fields",
                     shape == StructShape::Unit ? name.str() : (name + " { .. }").str());
      return bindAll(tuple->elements);
    }
    size_t rest = tuple->elements.size();
    for (size_t i = 0; i < tuple->elements.size(); ++i)
      if (isa<RestPattern>(tuple->elements[i]))
        rest = i;
    bool hasRest = rest != tuple->elements.size();
    size_t given = tuple->elements.size() - (hasRest ? 1 : 0);
    if (given > fields.size() || (!hasRest && given < fields.size())) {
      engine_.report(pattern->span, diag::TooManyPositional, name, fields.size(), given);
      return bindAll(tuple->elements);
    }
    ModuleScope* home = isStruct ? scopeOf(item) : nullptr;
    for (size_t i = 0; i < tuple->elements.size(); ++i) {
      if (hasRest && i == rest) {
        tuple->elements[i]->type = types_.unit();
        continue;
      }
      size_t at = hasRest && i > rest ? fields.size() - (tuple->elements.size() - i) : i;
      if (home && !resolver_.isVisible(fields[at].visibility, home, body_->context.scope))
        engine_.report(tuple->elements[i]->span, diag::PrivateField, std::to_string(at),
                       print(found));
      checkPattern(tuple->elements[i], substitute(fields[at].resolved, found->args, found), scope);
    }
    return;
  }
  case PatternKind::Struct: {
    auto* structure = cast<StructPattern>(pattern);
    auto bindFields = [&] {
      pattern->type = types_.error();
      for (const FieldPattern& field : structure->fields)
        checkPattern(field.pattern, types_.error(), scope);
    };
    if (!resolvePatternPath(structure->path, solid, structure->target, StructShape::Named) ||
        (structure->target.kind != TargetKind::Variant &&
         structure->target.kind != TargetKind::Struct)) {
      if (structure->target.kind != TargetKind::None)
        engine_.report(structure->path.span, diag::WrongNamespace,
                       structure->path.segments.back().ident.name.text(), "a value",
                       "a variant or a struct");
      structure->target = {};
      return bindFields();
    }
    bool isStruct = structure->target.kind == TargetKind::Struct;
    Item* item = structure->target.item;
    const VariantDecl* variant =
        isStruct ? nullptr : &cast<EnumItem>(item)->variants[structure->target.index];
    ArrayRef<FieldDecl> fields = isStruct ? cast<StructItem>(item)->fields : variant->fields;
    StructShape shape = isStruct ? cast<StructItem>(item)->shape : variant->shape;
    StringRef name = (isStruct ? item->name.name : variant->name.name).text();
    Type* found =
        types_.nominal(isStruct ? Kind::Struct : Kind::Enum, item, structure->target.typeArgs);
    if (!unifier_.unify(solid, found)) {
      mismatch(found);
      return bindFields();
    }
    found = unifier_.resolve(found);
    if (shape == StructShape::Tuple) {
      engine_.report(structure->path.span, diag::ConstructorShape, name, "a tuple",
                     (name + "(..)").str());
      return bindFields();
    }
    ModuleScope* home = isStruct ? scopeOf(item) : nullptr;
    llvm::SmallPtrSet<const FieldDecl*, 8> seen;
    for (FieldPattern& field : structure->mutableFields()) {
      std::optional<uint32_t> index;
      for (uint32_t i = 0; i < fields.size() && !index; ++i)
        if (fields[i].name.name == field.name.name)
          index = i;
      if (!index) {
        SmallVector<StringRef, 8> names;
        for (const FieldDecl& each : fields)
          names.push_back(each.name.name.text());
        Diagnostic& report =
            engine_.report(field.name.span, diag::NoSuchField, field.name.name.text(), name);
        StringRef near = nearest(field.name.name.text(), names);
        if (!near.empty())
          report.help(("did you mean `" + near + "`?").str());
        checkPattern(field.pattern, types_.error(), scope);
        continue;
      }
      field.index = *index;
      if (!seen.insert(&fields[*index]).second)
        engine_.report(field.name.span, diag::DuplicateField, field.name.name.text());
      if (home && !resolver_.isVisible(fields[*index].visibility, home, body_->context.scope))
        engine_.report(field.name.span, diag::PrivateField, field.name.name.text(), print(found));
      checkPattern(field.pattern, substitute(fields[*index].resolved, found->args, found), scope);
    }
    if (!structure->hasRest)
      for (const FieldDecl& field : fields)
        if (!seen.count(&field)) {
          engine_.report(pattern->span, diag::MissingField, field.name.name.text(), name)
              .help("write `..` to leave fields out");
          break;
        }
    return;
  }
  case PatternKind::Tuple: {
    auto* tuple = cast<TuplePattern>(pattern);
    size_t rest = tuple->elements.size();
    for (size_t i = 0; i < tuple->elements.size(); ++i)
      if (isa<RestPattern>(tuple->elements[i]))
        rest = i;
    bool hasRest = rest != tuple->elements.size();
    size_t given = tuple->elements.size() - (hasRest ? 1 : 0);
    if (solid->is(Kind::Infer) && !hasRest) {
      SmallVector<Type*, 4> parts;
      for (size_t i = 0; i < given; ++i)
        parts.push_back(unifier_.fresh());
      Type* made = types_.tuple(parts);
      unifier_.unify(solid, made);
      solid = made;
      pattern->type = made;
      noteType(&pattern->type);
    }
    if (solid->is(Kind::Error))
      return bindAll(tuple->elements);
    if (!solid->is(Kind::Tuple)) {
      if (solid->is(Kind::Struct))
        engine_.report(pattern->span, diag::TuplePatternOnStruct, print(solid));
      else
        engine_.report(pattern->span, diag::TypeMismatch, print(solid), "a tuple");
      return bindAll(tuple->elements);
    }
    if (given > solid->args.size() || (!hasRest && given != solid->args.size())) {
      engine_.report(pattern->span, diag::TypeMismatch, print(solid),
                     "a tuple of " + std::to_string(given) + " elements");
      return bindAll(tuple->elements);
    }
    for (size_t i = 0; i < tuple->elements.size(); ++i) {
      if (hasRest && i == rest) {
        tuple->elements[i]->type = types_.unit();
        continue;
      }
      size_t at = hasRest && i > rest ? solid->args.size() - (tuple->elements.size() - i) : i;
      checkPattern(tuple->elements[i], solid->args[at], scope);
    }
    return;
  }
  case PatternKind::Slice: {
    auto* slice = cast<SlicePattern>(pattern);
    if (solid->is(Kind::Infer)) {
      Type* made = types_.vec(unifier_.fresh());
      unifier_.unify(solid, made);
      solid = made;
    }
    if (solid->is(Kind::Error) || !solid->isSequence()) {
      if (!solid->is(Kind::Error))
        engine_.report(pattern->span, diag::TypeMismatch, print(solid), "a sequence");
      return bindAll(slice->elements);
    }
    size_t given = 0;
    bool hasRest = false;
    for (Pattern* element : slice->elements) {
      if (auto* rest = dyn_cast<RestPattern>(element)) {
        hasRest = true;
        Type* view = types_.vec(solid->args[0]);
        rest->type = view;
        noteType(&rest->type);
        if (rest->variable) {
          bindVariable(rest->variable, view, scope);
          noteBound(rest->variable, scope);
        }
        continue;
      }
      ++given;
      checkPattern(element, solid->args[0], scope);
    }
    if (solid->isOpenArray())
      solid = unifier_.resolve(solid);
    if (solid->isOpenArray()) {
      if (!hasRest && shallow(solid->args[1])->is(Kind::Infer))
        unifier_.unify(solid->args[1], types_.constant(types_.i64(), given));
      return;
    }
    if (solid->is(Kind::Array) && (given > solid->length || (!hasRest && given != solid->length)))
      engine_.report(pattern->span, diag::TypeMismatch, print(solid),
                     "a sequence of " + std::to_string(given) + " elements");
    return;
  }
  case PatternKind::Or:
    checkOr(cast<OrPattern>(pattern), type, scope);
    return;
  case PatternKind::Reference: {
    auto* reference = cast<ReferencePattern>(pattern);
    if (!solid->is(Kind::Ref)) {
      // `&p` against a shared view, which is the value.
      if (!solid->is(Kind::Error))
        engine_.report(pattern->span, diag::ReferencePattern, print(solid));
      checkPattern(reference->sub, types_.error(), scope);
      return;
    }
    if (solid->mutability != reference->mutability)
      engine_.report(pattern->span, diag::ReferencePatternKind,
                     reference->mutability == Mutability::Mutable ? "&mut" : "&", print(solid));
    checkPattern(reference->sub, solid->args[0], scope);
    return;
  }
  }
}

} // namespace gos::check
