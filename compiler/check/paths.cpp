// What a path means as a value.

#include "compiler/check/checker.h"

#include <cfloat>
#include <cmath>
#include <limits>

namespace gos::check {

bool Checker::checkVisible(const Item* item, StringRef what, Span span) {
  if (!body_ && item->visibility == Visibility::Public)
    return true;
  ModuleScope* from = body_ ? body_->context.scope : nullptr;
  if (!from)
    return true; // a signature: judged where the item is used
  if (resolver_.isVisible(item, from))
    return true;
  engine_.report(span, diag::PrivateItem, what, item->name.name.text())
      .label(item->name.span, "declared here");
  return false;
}

Variable* Checker::useVariable(const Local& local, Span span, bool report) {
  Variable* variable = local.variable;
  size_t index = size_t(&local - locals_.data());
  if (body_->regionDepth && index < body_->regionFloor) {
    if (report)
      engine_.report(span, diag::RuntimeBindingInRegion, variable->name.text())
          .label(variable->span, "bound here");
    return nullptr;
  }
  if (!body_->borrows.empty() && report)
    reportConflict(variable, span, false);
  for (Frame* frame = body_->frame; frame && frame->owner != variable->owner;
       frame = frame->outer) {
    if (!frame->closure)
      break;
    if (!llvm::is_contained(frame->captures, variable)) {
      frame->captures.push_back(variable);
      body_->captured.push_back(variable);
      if (report)
        checkCaptured(*frame, variable, span);
    }
  }
  return variable;
}

Variable* Checker::findLocal(Name name, Span span, bool report) {
  auto found = localTop_.find(name);
  if (found == localTop_.end() || found->second < 0)
    return nullptr;
  return useVariable(locals_[size_t(found->second)], span, report);
}

void Checker::noteConstUse(Item* item) {
  if (body_ && !isa_and_nonnull<FunctionItem>(body_->item))
    body_->constUses.push_back(item);
}

ValuePath Checker::variantValue(EnumItem* item, uint32_t index, Type* expected) {
  ValuePath value;
  value.kind = TargetKind::Variant;
  value.item = item;
  value.index = index;
  resolveFields(item);
  NominalInfo& info = nominal(item);
  if (info.generics.empty())
    return value;
  Type* hint = expected ? shallow(expected) : nullptr;
  if (hint && hint->is(Kind::Enum) && hint->item == item)
    value.outer.assign(hint->args.begin(), hint->args.end());
  else
    openArgs(info.generics, value.outer);
  return value;
}

bool Checker::numericConstant(Type* type, StringRef name, uint64_t& bits, Kind& kind) {
  auto bitsOf = [](double value) {
    uint64_t raw;
    memcpy(&raw, &value, sizeof raw);
    return raw;
  };
  if (type->isInteger()) {
    unsigned width = type->bits();
    kind = type->kind;
    if (name == "BITS") {
      bits = width;
      kind = Kind::I64;
      return true;
    }
    if (name == "MIN") {
      bits = type->isSigned() ? uint64_t(-1) << (width - 1) : 0;
      return true;
    }
    if (name == "MAX") {
      bits = type->isSigned() ? (uint64_t(1) << (width - 1)) - 1
             : width == 64    ? ~uint64_t(0)
                              : (uint64_t(1) << width) - 1;
      return true;
    }
    return false;
  }
  if (type->isFloat()) {
    bool narrow = type->is(Kind::F32);
    kind = type->kind;
    if (name == "MAX")
      bits = bitsOf(narrow ? double(FLT_MAX) : DBL_MAX);
    else if (name == "MIN")
      bits = bitsOf(narrow ? -double(FLT_MAX) : -DBL_MAX);
    else if (name == "MIN_POSITIVE")
      bits = bitsOf(narrow ? double(FLT_MIN) : DBL_MIN);
    else if (name == "EPSILON")
      bits = bitsOf(narrow ? double(FLT_EPSILON) : DBL_EPSILON);
    else if (name == "INFINITY")
      bits = bitsOf(std::numeric_limits<double>::infinity());
    else if (name == "NEG_INFINITY")
      bits = bitsOf(-std::numeric_limits<double>::infinity());
    else if (name == "NAN")
      bits = bitsOf(std::numeric_limits<double>::quiet_NaN());
    else
      return false;
    return true;
  }
  if (type->is(Kind::Char) && name == "MAX") {
    bits = 0x10ffff;
    kind = Kind::Char;
    return true;
  }
  return false;
}

ValuePath Checker::associated(Type* type, const PathSegment& segment, Span span) {
  ValuePath value;
  type = known(type);
  if (type->is(Kind::Error))
    return value;
  noteHeap(type, span);
  Name name = segment.ident.name;
  value.explicitArgs = segment.args;
  value.hasExplicit = segment.hasArgs;
  value.explicitSpan = segment.ident.span;
  if (type->is(Kind::Enum)) {
    auto* item = cast<EnumItem>(type->item);
    if (std::optional<uint32_t> index = variantIndex(item, name)) {
      value.kind = TargetKind::Variant;
      value.item = item;
      value.index = *index;
      value.outer.assign(type->args.begin(), type->args.end());
      return value;
    }
  }
  Kind kind = Kind::Error;
  if (numericConstant(type, name.text(), value.bits, kind)) {
    value.kind = TargetKind::NumericConst;
    value.type = types_.scalar(kind);
    return value;
  }
  Member member = findMember(type, name, false);
  if (!member.item) {
    // A free function of the prelude's kind: `char::from_u32` and the like are natives of the type.
    if (type->is(Kind::Enum)) {
      SmallVector<StringRef, 16> names;
      for (const VariantDecl& variant : cast<EnumItem>(type->item)->variants)
        names.push_back(variant.name.name.text());
      Diagnostic& report = engine_.report(segment.ident.span, diag::NoSuchVariant,
                                          type->item->name.name.text(), name.text());
      StringRef near = nearest(name.text(), names);
      if (!near.empty())
        report.help(("did you mean `" + near + "`?").str());
    } else {
      reportNoMethod(segment.ident.span, type, name);
    }
    return value;
  }
  value.item = member.item;
  value.outer = member.outer;
  value.overloads = member.overloads;
  value.self = member.self;
  if (auto* constant = dyn_cast<ConstItem>(member.item)) {
    value.kind = TargetKind::AssociatedConst;
    value.type =
        substitute(constInfo(constant).type, member.outer, member.self ? member.self : type);
    if (!value.self)
      value.self = type;
    noteConstUse(constant);
  } else {
    value.kind = TargetKind::Function;
  }
  Item* owner = infoOf(member.item)->context.owner;
  bool inherent = owner && isa<ImplItem>(owner) && !cast<ImplItem>(owner)->hasTrait;
  if (inherent && !resolver_.isVisible(member.item, body_->context.scope)) {
    engine_.report(segment.ident.span, diag::PrivateMethod, name.text(), print(type))
        .label(member.item->name.span, "declared here");
    value.kind = TargetKind::None;
  }
  (void)span;
  return value;
}

ValuePath Checker::fromBinding(const Binding& binding, const PathSegment& segment, Span span,
                               Type* expected) {
  ValuePath value;
  value.explicitArgs = segment.args;
  value.hasExplicit = segment.hasArgs;
  value.explicitSpan = segment.ident.span;
  if (binding.value) {
    value.item = binding.value;
    if (isa<FunctionItem>(binding.value)) {
      value.kind = TargetKind::Function;
      value.overloads = binding.overloads;
    } else {
      value.kind = isa<ConstItem>(binding.value) ? TargetKind::Const : TargetKind::Static;
      value.type = constInfo(binding.value).type;
      noteConstUse(binding.value);
    }
    if (!checkVisible(binding.value, isa<FunctionItem>(binding.value) ? "function" : "constant",
                      segment.ident.span))
      value.kind = TargetKind::None;
    return value;
  }
  Type* wanted = expected && binding.variantOf ? shallow(expected)->withoutReferences() : nullptr;
  bool variantWins =
      binding.variantOf &&
      (!binding.type || !isa<StructItem>(binding.type) ||
       (wanted && wanted->is(Kind::Enum) &&
        (wanted->item == binding.variantOf || wanted->item == binding.otherVariantOf)));
  if (binding.type && !variantWins) {
    if (!checkVisible(binding.type, "type", segment.ident.span))
      return value;
    Item* item = binding.type;
    Type* type = namedType(item, segment, body_->context, TypeUse::Local);
    if (type->is(Kind::Struct)) {
      value.kind = TargetKind::Struct;
      value.item = type->item;
      value.outer.assign(type->args.begin(), type->args.end());
      if (NominalInfo& info = nominal(type->item);
          !segment.hasArgs && !info.generics.empty() && expected) {
        Type* hint = shallow(expected);
        if (hint->is(Kind::Struct) && hint->item == type->item)
          value.outer.assign(hint->args.begin(), hint->args.end());
      }
      resolveFields(type->item);
      value.hasExplicit = false;
    } else if (!type->is(Kind::Error)) {
      engine_.report(segment.ident.span, diag::WrongNamespace, segment.ident.name.text(), "a type",
                     "a value");
    }
    return value;
  }
  if (binding.variantOf) {
    if (binding.otherVariantOf) {
      Type* hint = expected ? shallow(expected) : nullptr;
      if (hint && hint->is(Kind::Fn))
        hint = shallow(hint->result());
      EnumItem* chosen = nullptr;
      if (hint && hint->is(Kind::Enum) &&
          (hint->item == binding.variantOf || hint->item == binding.otherVariantOf))
        chosen = cast<EnumItem>(hint->item);
      if (!chosen) {
        engine_.report(segment.ident.span, diag::AmbiguousVariant, segment.ident.name.text(),
                       binding.variantOf->name.name.text(),
                       binding.otherVariantOf->name.name.text());
        return value;
      }
      return variantValue(chosen, *variantIndex(chosen, segment.ident.name), expected);
    }
    ValuePath variant = variantValue(binding.variantOf, binding.variant, expected);
    if (segment.hasArgs && !segment.args.empty()) {
      variant.outer.clear();
      SmallVector<Type*, 4> args = typeArguments(
          segment, nominal(binding.variantOf).generics.size(), nominal(binding.variantOf).generics,
          body_->context, TypeUse::Local, binding.variantOf->name.name.text());
      variant.outer.assign(args.begin(), args.end());
    }
    return variant;
  }
  StringRef what = binding.module ? "a module" : binding.trait ? "a trait" : "a type";
  engine_.report(span, diag::WrongNamespace, segment.ident.name.text(), what, "a value");
  return value;
}

ValuePath Checker::resolveValue(const Path& path, Type* expected) {
  const ItemContext& context = body_->context;
  ArrayRef<PathSegment> segments = path.segments;
  if (segments.empty()) { // `<T>` alone
    engine_.report(path.span, diag::WrongNamespace, "<..>", "a type", "a value");
    return {};
  }
  if (path.qualifier) {
    Type* base = resolveType(path.qualifier, context, TypeUse::Local);
    for (const PathSegment& segment : segments.drop_back())
      base = projection(base, segment.ident, context, true);
    return associated(base, segments.back(), path.span);
  }
  const PathSegment& first = segments[0];
  Name name = first.ident.name;
  if (segments.size() == 1) {
    auto found = localTop_.find(name);
    if (found != localTop_.end() && found->second >= 0) {
      ValuePath value;
      value.variable = useVariable(locals_[size_t(found->second)], first.ident.span, true);
      value.kind = value.variable ? TargetKind::Variable : TargetKind::None;
      return value;
    }
    if (Parameter* parameter = constParameter(name, context)) {
      ValuePath value;
      Type* known = useConstParameter(parameter, first.ident.span, context);
      if (known->is(Kind::Error))
        return value;
      value.kind = TargetKind::ConstParam;
      value.type = parameter->constType;
      value.outer.push_back(known);
      return value;
    }
    if (name == selfTypeName_ && context.self) {
      ValuePath value;
      Type* self = finish(context.self, context);
      if (self->is(Kind::Struct)) {
        value.kind = TargetKind::Struct;
        value.item = self->item;
        value.outer.assign(self->args.begin(), self->args.end());
        resolveFields(self->item);
      } else {
        engine_.report(first.ident.span, diag::WrongNamespace, "Self", "a type", "a value");
      }
      return value;
    }
    if (resolver_.isKnownCall(name) && name.text() != "spawn") {
      engine_.report(first.ident.span, diag::KnownCallAsValue, name.text());
      return {};
    }
    constexpr uint8_t kSpaces = resolve::kValue | resolve::kVariant | resolve::kType;
    // Values first: a type of the name in a nearer scope must not hide a function.
    const Binding* binding =
        resolver_.lookup(context.scope, name, resolve::kValue | resolve::kVariant);
    if (!binding || (!binding->value && binding->variantOf))
      if (const Binding* any = resolver_.lookup(context.scope, name, kSpaces))
        if (!binding || any->type)
          binding = any;
    if (binding)
      return fromBinding(*binding, first, path.span, expected);
    for (Parameter* parameter : context.generics)
      if (parameter->name == name) {
        engine_.report(first.ident.span, diag::WrongNamespace, name.text(), "a type", "a value");
        return {};
      }
    if (builtinNames_.count(name)) {
      engine_.report(first.ident.span, diag::WrongNamespace, name.text(), "a type", "a value");
      return {};
    }
    if (body_->damaged)
      return {};
    SmallVector<StringRef, 32> locals;
    if (engine_.errorCount() <= resolve::Resolver::kManyErrors)
      for (const Local& local : locals_)
        locals.push_back(local.name.text());
    if (const Binding* module =
            resolver_.lookup(context.scope, name, resolve::kModule | resolve::kTrait)) {
      engine_.report(first.ident.span, diag::WrongNamespace, name.text(),
                     module->module ? "a module" : "a trait", "a value");
      return {};
    }
    StringRef what = name == selfName_ ? "receiver" : "value";
    resolver_.reportUnknown(first.ident.span, name, what, context.scope,
                            resolve::kValue | resolve::kVariant | resolve::kType, locals);
    return {};
  }
  // A type in front: a parameter, `Self`, a builtin, or what the modules say.
  Type* base = nullptr;
  size_t used = 1;
  bool builtin = false;
  Path head;
  head.span = path.span;
  if (name == selfTypeName_ ||
      llvm::any_of(context.generics, [&](Parameter* each) { return each->name == name; })) {
    head.segments = segments.take_front(1);
    base = resolveTypePath(head, context, TypeUse::Local);
  } else if (builtinNames_.count(name) &&
             !resolver_.lookup(context.scope, name, resolve::kType | resolve::kModule)) {
    base = builtinType(name, first, context, TypeUse::Local, builtin);
  } else {
    auto prefix = resolver_.walk(segments, context.scope,
                                 resolve::kValue | resolve::kVariant | resolve::kType);
    if (!prefix.binding && builtinNames_.count(name)) {
      base = builtinType(name, first, context, TypeUse::Local, builtin);
    } else if (!prefix.binding) {
      if (!prefix.reported) {
        StringRef text = name.text();
        if (text == "Box" || text == "Rc" || text == "Arc") {
          engine_.report(first.ident.span, diag::NoIndirection, text);
          return {};
        }
        resolver_.reportUnknown(first.ident.span, name, "module or type", context.scope,
                                resolve::kType | resolve::kModule | resolve::kTrait);
      }
      return {};
    } else {
      const Binding& binding = *prefix.binding;
      const PathSegment& segment = segments[prefix.used - 1];
      used = prefix.used;
      if (used == segments.size())
        return fromBinding(binding, segment, path.span, expected);
      if (binding.builtinType) {
        base = builtinType(binding.builtinType, segment, context, TypeUse::Local, builtin);
      } else if (binding.type) {
        if (!checkVisible(binding.type, "type", segment.ident.span))
          return {};
        // `Enum::Variant` of a generic enum: what is expected says the arguments.
        if (auto* item = dyn_cast<EnumItem>(binding.type);
            item && used + 1 == segments.size() && !segment.hasArgs)
          if (std::optional<uint32_t> index = variantIndex(item, segments[used].ident.name)) {
            ValuePath value = variantValue(item, *index, expected);
            return value;
          }
        base = namedType(binding.type, segment, context, TypeUse::Local);
      } else if (auto* trait = dyn_cast_or_null<TraitItem>(binding.trait)) {
        const PathSegment& member = segments[used];
        Item* item = traitMember(trait, member.ident.name);
        if (!item || isa<AliasItem>(item) || used + 1 != segments.size()) {
          engine_.report(member.ident.span, diag::UnknownProjection, trait->name.name.text(),
                         member.ident.name.text());
          return {};
        }
        ValuePath value;
        value.item = item;
        value.self = unifier_.fresh();
        TraitInfo& info = traitInfo(trait);
        if (segment.hasArgs) {
          SmallVector<Type*, 4> args =
              typeArguments(segment, info.generics.size(), info.generics, context, TypeUse::Local,
                            trait->name.name.text());
          value.outer.assign(args.begin(), args.end());
        } else {
          openArgs(info.generics, value.outer);
        }
        TraitRef bound;
        bound.trait = trait;
        bound.args = types_.list<Type*>(value.outer);
        body_->bounds.push_back({value.self, bound, member.ident.span});
        value.explicitArgs = member.args;
        value.hasExplicit = member.hasArgs;
        if (isa<FunctionItem>(item)) {
          value.kind = TargetKind::Function;
        } else {
          value.kind = TargetKind::AssociatedConst;
          value.type = substitute(constInfo(item).type, value.outer, value.self);
        }
        return value;
      } else {
        engine_.report(segment.ident.span, diag::WrongNamespace, segment.ident.name.text(),
                       "a value", "a module or a type");
        return {};
      }
    }
  }
  if (!base)
    return {};
  for (; used + 1 < segments.size(); ++used)
    base = projection(base, segments[used].ident, context, true);
  return associated(base, segments.back(), path.span);
}

void Checker::fillTarget(Target& target, const ValuePath& value, ArrayRef<Type*> typeArgs) {
  target.kind = value.kind;
  target.variable = value.variable;
  target.item = value.item;
  target.index = value.index;
  target.bits = value.bits;
  target.typeArgs = noteTypes(typeArgs);
  target.selfType = value.self;
  if (target.selfType)
    noteType(&target.selfType);
}

SmallVector<Type*, 4> Checker::openTypeArgs(ArrayRef<Parameter*> generics, const ValuePath& value,
                                            Span span, StringRef name) {
  SmallVector<Type*, 4> args(value.outer.begin(), value.outer.end());
  size_t outer = args.size();
  size_t wanted = generics.size();
  if (value.hasExplicit && !value.explicitArgs.empty()) {
    size_t own = wanted > outer ? wanted - outer : 0;
    if (value.explicitArgs.size() > own) {
      engine_.report(value.explicitSpan, diag::CallArity, name, own, value.explicitArgs.size())
          .note("these are its type arguments");
    }
    for (const GenericArg& arg : value.explicitArgs) {
      if (args.size() >= wanted)
        break;
      args.push_back(genericArgument(arg, generics[args.size()], body_->context, TypeUse::Local));
    }
  }
  for (size_t i = 0; i < outer && i < wanted; ++i)
    if (generics[i]->isConst)
      noteConstArgument(generics[i], args[i], span);
  while (args.size() < wanted) {
    if (generics[args.size()]->isBroken) {
      args.push_back(types_.error());
      continue;
    }
    Type* fresh = unifier_.fresh();
    if (generics[args.size()]->isConst) {
      noteConstArgument(generics[args.size()], fresh, span);
      args.push_back(fresh);
      continue;
    }
    body_->opened.push_back(
        {fresh, span,
         ("type argument `" + generics[args.size()]->name.text() + "` of `" + name + "`").str()});
    args.push_back(fresh);
  }
  return args;
}

Type* Checker::checkPath(PathExpr* expr, Type* expected) {
  expr->target = {};
  if (expr->path.segments.size() == 1 && expr->path.segments[0].ident.name == underscore_) {
    engine_.report(expr->span, diag::WrongNamespace, "_", "a discard", "a value");
    return types_.error();
  }
  ValuePath value = resolveValue(expr->path, expected);
  switch (value.kind) {
  case TargetKind::None:
    return types_.error();
  case TargetKind::Variable:
    expr->target.kind = TargetKind::Variable;
    expr->target.variable = value.variable;
    return value.variable->type;
  case TargetKind::Const:
  case TargetKind::Static:
    fillTarget(expr->target, value, {});
    return finish(value.type, body_->context);
  case TargetKind::AssociatedConst:
    fillTarget(expr->target, value, value.outer);
    return value.type;
  case TargetKind::NumericConst:
    fillTarget(expr->target, value, {});
    return value.type;
  case TargetKind::ConstParam:
    fillTarget(expr->target, value, value.outer);
    return value.type;
  case TargetKind::Struct:
  case TargetKind::Variant: {
    bool isStruct = value.kind == TargetKind::Struct;
    auto* structure = isStruct ? cast<StructItem>(value.item) : nullptr;
    const VariantDecl* variant =
        isStruct ? nullptr : &cast<EnumItem>(value.item)->variants[value.index];
    StructShape shape = isStruct ? structure->shape : variant->shape;
    ArrayRef<FieldDecl> fields = isStruct ? structure->fields : variant->fields;
    StringRef name = isStruct ? structure->name.name.text() : variant->name.name.text();
    Type* type = types_.nominal(isStruct ? Kind::Struct : Kind::Enum, value.item, value.outer);
    noteOpened(nominal(value.item).generics, value.outer, expr->span, name);
    fillTarget(expr->target, value, value.outer);
    if (shape == StructShape::Named && !fields.empty()) {
      engine_.report(expr->span, diag::ConstructorShape, name, "a value with named fields",
                     (name + " { .. }").str());
      return types_.error();
    }
    if (shape != StructShape::Tuple)
      return type;
    // A constructor as a function.
    Type* hint = expected ? shallow(expected) : nullptr;
    if (!hint || !(hint->is(Kind::Fn) || hint->is(Kind::Infer))) {
      engine_.report(expr->span, diag::ConstructorShape, name, "a tuple", (name + "(..)").str());
      return types_.error();
    }
    SmallVector<Type*, 4> parameters;
    for (const FieldDecl& field : fields)
      parameters.push_back(substitute(field.resolved, value.outer, type));
    return types_.function(parameters, type);
  }
  case TargetKind::Function: {
    auto* function = cast<FunctionItem>(value.item);
    Type* hint = expected ? shallow(expected) : nullptr;
    if (!value.overloads.empty()) {
      FunctionItem* chosen = nullptr;
      for (FunctionItem* each : value.overloads)
        if (hint && hint->is(Kind::Fn) && each->parameters.size() == hint->parameters().size())
          chosen = chosen ? chosen : each;
      if (!chosen) {
        engine_.report(expr->span, diag::StdFunctionAsValue, function->name.name.text());
        return types_.error();
      }
      function = chosen;
      value.item = chosen;
    }
    if (fateOfArguments(function) == ClosureFate::Spawned || isParallel(function)) {
      // Where a goroutine may start, what it may hold, and what a callback does is looked at where
      // it is written.
      engine_.report(expr->span, diag::StdFunctionAsValue, function->name.name.text());
      return types_.error();
    }
    const Signature& signature = functionInfo(function).signature;
    SmallVector<Type*, 4> args =
        openTypeArgs(signature.generics, value, expr->span, function->name.name.text());
    fillTarget(expr->target, value, args);
    checkBounds(signature.generics, expr->target.typeArgs, value.self, expr->span);
    if (functionInfo(function).isTemplate)
      body_->instances.push_back({function, &expr->target});
    SmallVector<Type*, 8> parameters;
    for (Type* parameter : signature.parameters)
      parameters.push_back(substitute(parameter, args, value.self ? value.self : signature.self));
    Type* result =
        shallow(substitute(signature.result, args, value.self ? value.self : signature.self));
    // One that does not come back fits wherever a function of its parameters is wanted.
    if (result->is(Kind::Never) && hint && hint->is(Kind::Fn) &&
        hint->parameters().size() == parameters.size()) {
      result = hint->result();
      if (shallow(result)->is(Kind::Infer))
        body_->diverging.push_back({result, false});
    }
    return types_.function(parameters, result);
  }
  }
  return types_.error();
}

} // namespace gos::check
