// Types as written to types; paths to traits; signatures of functions.

#include "compiler/check/checker.h"
#include "compiler/resolve/removed_names.h"

namespace gos::check {

Type* Checker::finish(Type* type, const ItemContext& context) {
  if (context.bound.empty() || !type->has(Type::HasParam))
    return type;
  return substitute(type, context.bound, nullptr);
}

Type* Checker::resolveType(TypeNode* node, const ItemContext& context, TypeUse use) {
  if (!node)
    return types_.error();
  if (depth_ > 2000) {
    reportTooDeep(node->span);
    return types_.error();
  }
  ++depth_;
  Type* type = resolveTypeInner(node, context, use);
  --depth_;
  if (types_.takeTooDeep())
    reportTooDeep(node->span);
  node->resolved = type;
  return type;
}

Type* Checker::resolveTypeInner(TypeNode* node, const ItemContext& context, TypeUse use) {
  bool library = context.scope && context.scope->package == 0;
  switch (node->kind) {
  case TypeNodeKind::Error:
    return types_.error();
  case TypeNodeKind::Never:
    return types_.never();
  case TypeNodeKind::Path: {
    return resolveTypePath(cast<PathTypeNode>(node)->path, context, use);
  }
  case TypeNodeKind::Tuple: {
    SmallVector<Type*, 8> elements;
    for (TypeNode* element : cast<TupleTypeNode>(node)->elements)
      elements.push_back(resolveType(element, context, TypeUse::Argument));
    return types_.tuple(elements);
  }
  case TypeNodeKind::Array: {
    auto* array = cast<ArrayTypeNode>(node);
    Type* element = resolveType(array->element, context, TypeUse::Argument);
    bool silent = false;
    Type* length = lengthArgument(array->length, context, silent);
    if (!length) {
      if (!silent)
        engine_.report(array->length->span, diag::ArrayLengthNotConstant);
      return types_.error();
    }
    return types_.array(element, length);
  }
  case TypeNodeKind::Slice: {
    Type* element = resolveType(cast<SliceTypeNode>(node)->element, context, TypeUse::Argument);
    if (use != TypeUse::Parameter && use != TypeUse::Impl && !library) {
      std::string spelled = types::print(types_.slice(element));
      std::string owned = types::print(types_.vec(element));
      engine_.report(node->span, diag::BareSliceOwned, spelled, owned);
      return types_.error();
    }
    return types_.slice(element);
  }
  case TypeNodeKind::Reference: {
    auto* reference = cast<ReferenceTypeNode>(node);
    bool outer = use == TypeUse::Parameter || use == TypeUse::Local || library;
    Type* target =
        resolveType(reference->target, context, outer ? TypeUse::Parameter : TypeUse::Argument);
    if (target->is(Kind::Ref)) {
      engine_.report(node->span, diag::EscapingReference, "taken of a reference");
      return types_.error();
    }
    if (!outer) {
      engine_
          .report(node->span, diag::EscapingReference,
                  use == TypeUse::Result ? "returned" : "stored in a value")
          .help("values are copied without cost to their owner: write the type without `&`");
      return types_.error();
    }
    if (reference->mutability == Mutability::Shared)
      return target; // a shared reference means the value
    return types_.reference(Mutability::Mutable, target);
  }
  case TypeNodeKind::Function: {
    auto* function = cast<FunctionTypeNode>(node);
    SmallVector<Type*, 8> parameters;
    for (TypeNode* parameter : function->parameters)
      parameters.push_back(resolveType(parameter, context, TypeUse::Parameter));
    Type* result =
        function->result ? resolveType(function->result, context, TypeUse::Result) : types_.unit();
    return types_.function(parameters, result);
  }
  }
  return types_.error();
}

SmallVector<Type*, 4> Checker::typeArguments(const PathSegment& segment, size_t wanted,
                                             ArrayRef<Parameter*> parameters,
                                             const ItemContext& context, TypeUse use,
                                             StringRef name) {
  SmallVector<Type*, 4> args;
  for (const GenericArg& arg : segment.args) {
    if (arg.label.name) {
      engine_.report(arg.label.span, diag::UnknownProjection, name, arg.label.name.text());
      continue;
    }
    Parameter* parameter = args.size() < parameters.size() ? parameters[args.size()] : nullptr;
    args.push_back(genericArgument(arg, parameter, context, TypeUse::Argument));
  }
  if (args.size() > wanted) {
    engine_.report(segment.ident.span, diag::CallArity, name, wanted, args.size());
    args.resize(wanted);
  }
  size_t given = args.size();
  for (size_t i = given; i < wanted; ++i) {
    if (i < parameters.size() && parameters[i]->defaultType) {
      OutOfBody outside(*this);
      Type* type = resolveType(parameters[i]->defaultType, infoOf(parameters[i]->owner)->context,
                               TypeUse::Argument);
      args.push_back(substitute(type, args, context.self));
      continue;
    }
    if (i < parameters.size() && parameters[i]->defaultConst) {
      OutOfBody outside(*this);
      Type* value = constArgument(parameters[i]->defaultConst, parameters[i],
                                  infoOf(parameters[i]->owner)->context);
      args.push_back(substitute(value, args, context.self));
      continue;
    }
    if (inBody() && given == 0 && use != TypeUse::Impl) {
      bool broken = i < parameters.size() && parameters[i]->isBroken;
      args.push_back(broken ? types_.error() : unifier_.fresh());
      continue;
    }
    if (i == given)
      engine_.report(segment.ident.span, diag::CallArity, name, wanted, given)
          .note("these are its type arguments");
    args.push_back(types_.error());
  }
  return args;
}

Type* Checker::builtinType(Name name, const PathSegment& segment, const ItemContext& context,
                           TypeUse use, bool& found) {
  auto builtin = builtinNames_.find(name);
  found = builtin != builtinNames_.end();
  if (!found)
    return nullptr;
  Kind kind = builtin->second;
  unsigned wanted = types::argumentCount(kind);
  if (kind == Kind::Range) {
    if (segment.hasArgs && !segment.args.empty())
      engine_.report(segment.ident.span, diag::CallArity, name.text(), 0, segment.args.size());
    return types_.range(types_.i64());
  }
  if (wanted == 0) {
    if (segment.hasArgs && !segment.args.empty())
      engine_.report(segment.ident.span, diag::CallArity, name.text(), 0, segment.args.size());
    return types_.scalar(kind);
  }
  SmallVector<Type*, 4> args = typeArguments(segment, wanted, {}, context, use, name.text());
  Type* type = types_.container(kind, args);
  noteHeap(type, segment.ident.span);
  return type;
}

Type* Checker::namedType(Item* item, const PathSegment& segment, const ItemContext& context,
                         TypeUse use) {
  NominalInfo& info = nominal(item);
  SmallVector<Type*, 4> args = typeArguments(segment, info.generics.size(), info.generics, context,
                                             use, item->name.name.text());
  if (isa<AliasItem>(item))
    return info.type ? substitute(info.type, args, nullptr) : types_.error();
  if (inBody() && !body_->context.bound.empty())
    for (Type*& arg : args)
      arg = finish(arg, context);
  Type* type = types_.nominal(info.type->kind, item, args);
  if (!info.generics.empty() && inBody())
    checkBounds(info.generics, type->args, nullptr, segment.ident.span);
  return type;
}

Type* Checker::resolveTypePath(const Path& path, const ItemContext& context, TypeUse use) {
  if (path.qualifier) {
    Type* base = resolveType(path.qualifier, context, TypeUse::Argument);
    for (const PathSegment& segment : path.segments)
      base = projection(base, segment.ident, context, true);
    return base;
  }
  if (path.segments.empty())
    return types_.error();
  const PathSegment& first = path.segments[0];
  Name name = first.ident.name;
  Type* base = nullptr;
  size_t used = 1;
  if (name == selfTypeName_) {
    base = context.self;
    if (!base) {
      engine_.report(first.ident.span, diag::UnresolvedName, "type", "Self");
      return types_.error();
    }
    base = finish(base, context);
  }
  if (!base)
    for (Parameter* parameter : context.generics)
      if (parameter->name == name) {
        if (parameter->isBroken)
          return types_.error();
        if (parameter->isConst) {
          engine_
              .report(first.ident.span, diag::WrongNamespace, name.text(), "a const parameter",
                      "a type")
              .label(parameter->span, "declared here");
          return types_.error();
        }
        base = finish(types_.param(parameter), context);
        if (inBody() && body_->regionDepth && base->has(Type::HasParam) && !body_->isComptimeFn)
          engine_.report(first.ident.span, diag::RuntimeBindingInRegion, name.text())
              .note("the region is evaluated once, for all types that the parameter may stand for");
        break;
      }
  if (!base && path.segments.size() == 1) {
    // A builtin name, unless something around declares the name anew.
    bool builtin = false;
    if (builtinNames_.count(name)) {
      bool shadowed = false;
      for (ModuleScope* scope = context.scope; scope && !shadowed; scope = scope->parent) {
        auto own = scope->entries.find(name);
        shadowed = own != scope->entries.end() && own->second.own.type;
        if (scope->kind == ModuleScope::Kind::Module)
          break;
      }
      if (!shadowed)
        if (Type* type = builtinType(name, first, context, use, builtin))
          return type;
    }
  }
  if (!base) {
    auto prefix = resolver_.walk(path.segments, context.scope, resolve::kType | resolve::kTrait);
    if (!prefix.binding && path.segments.size() > 1 && builtinNames_.count(name)) {
      bool found = false;
      base = builtinType(name, first, context, use, found);
    } else if (!prefix.binding) {
      if (prefix.reported)
        return types_.error();
      const Ident& ident = path.segments[prefix.used ? prefix.used - 1 : 0].ident;
      StringRef text = ident.name.text();
      if (text == "i128" || text == "u128") {
        engine_.report(ident.span, diag::WideInteger, text);
      } else if (text == "Box" || text == "Rc" || text == "Arc") {
        engine_.report(ident.span, diag::NoIndirection, text);
      } else {
        const StringRef now = resolve::nameNow(text);
        if (!now.empty()) {
          engine_.report(ident.span, diag::RemovedStdName, text, now);
        } else if (path.segments.size() == 1) {
          SmallVector<StringRef, 8> more;
          for (Parameter* parameter : context.generics)
            more.push_back(parameter->name.text());
          resolver_.reportUnknown(ident.span, ident.name, "type", context.scope, resolve::kType,
                                  more);
        } else {
          resolver_.reportUnknown(ident.span, ident.name, "module or type", context.scope,
                                  resolve::kType | resolve::kModule);
        }
      }
      return types_.error();
    } else {
      used = prefix.used;
      const PathSegment& segment = path.segments[used - 1];
      const Binding& binding = *prefix.binding;
      if (binding.builtinType) {
        bool found = false;
        base = builtinType(binding.builtinType, segment, context, use, found);
        if (!base)
          return types_.error();
      } else if (binding.type) {
        if (!checkVisible(binding.type, "type", segment.ident.span))
          return types_.error();
        base = namedType(binding.type, segment, context, use);
      } else if (binding.trait) {
        engine_.report(segment.ident.span, diag::TraitAsType, segment.ident.name.text());
        return types_.error();
      } else {
        engine_.report(segment.ident.span, diag::WrongNamespace, segment.ident.name.text(),
                       binding.module ? "a module" : "a value", "a type");
        return types_.error();
      }
    }
  }
  for (size_t i = used; i < path.segments.size(); ++i)
    base = projection(base, path.segments[i].ident, context, true);
  return base;
}

Type* Checker::projection(Type* base, const Ident& name, const ItemContext& context, bool report) {
  if (inBody())
    base = shallow(base);
  if (base->is(Kind::Error))
    return base;
  if (base->is(Kind::Param) || base->is(Kind::Projection)) {
    Type* found = nullptr;
    SmallVector<TraitRef, 4> work(boundsOf(base).begin(), boundsOf(base).end());
    llvm::SmallPtrSet<TraitItem*, 8> seen;
    for (size_t i = 0; i < work.size(); ++i) {
      TraitRef bound = work[i];
      if (!seen.insert(bound.trait).second)
        continue;
      for (auto& [label, type] : bound.equalities)
        if (label == name.name)
          return type;
      for (Item* member : bound.trait->items)
        if (isa<AliasItem>(member) && member->name.name == name.name) {
          SmallVector<Type*, 4> args{base};
          args.append(bound.args.begin(), bound.args.end());
          Type* made = types_.projection(member, args);
          if (found && found != made && report) {
            engine_.report(name.span, diag::AmbiguousProjection, name.name.text(),
                           types::print(base));
            return types_.error();
          }
          found = made;
        }
      for (const TraitRef& super : traitInfo(bound.trait).supertraits) {
        TraitRef copy = super;
        SmallVector<Type*, 4> args;
        for (Type* arg : super.args)
          args.push_back(substitute(arg, bound.args, base));
        copy.args = types_.list<Type*>(args);
        work.push_back(copy);
      }
    }
    if (found)
      return normalise(found);
  } else {
    syncImpls();
    for (auto entry = members_.find({headOf(base), name.name}); entry != members_.end();) {
      for (uint32_t at = entry->second; at != ~0u; at = memberEntries_[at].next) {
        const MemberEntry& member = memberEntries_[at];
        auto* alias = dyn_cast<AliasItem>(member.item);
        if (!alias)
          continue;
        SmallVector<Type*, 4> args(member.impl->generics.size());
        if (!matchPattern(member.impl->self, base, args))
          continue;
        if (isa<TraitItem>(infoOf(alias)->context.owner)) {
          // The trait's default.
          return substitute(nominal(alias).type, member.impl->trait.args, base);
        }
        openArgs(member.impl->generics, args);
        return substitute(nominal(alias).type, args, nullptr);
      }
      break;
    }
  }
  if (report)
    engine_.report(name.span, diag::UnknownProjection, types::print(base, &unifier_),
                   name.name.text());
  (void)context;
  return types_.error();
}

/// What a projection stands for, once its base is known; itself while it is not.
Type* Checker::normalise(Type* type) {
  if (!type->is(Kind::Projection))
    return type;
  Type* base = type->args[0];
  if (base->is(Kind::Infer))
    base = unifier_.shallow(base);
  if (base->is(Kind::Infer) || base->is(Kind::Error))
    return base->is(Kind::Error) ? base : type;
  auto* alias = cast<AliasItem>(type->item);
  auto* trait = cast<TraitItem>(infoOf(alias)->context.owner);
  if (base->is(Kind::Param) || base->is(Kind::Projection)) {
    for (const TraitRef& bound : boundsOf(base))
      if (bound.trait == trait) {
        for (auto& [label, equal] : bound.equalities)
          if (label == alias->name.name)
            return equal;
        // The result of an operator on a bare parameter is the parameter.
        if (alias->target && familyOf(langTrait(trait)) == TraitFamily::Operator)
          return substitute(nominal(alias).type, type->args.drop_front(), base);
      }
    return type;
  }
  ImplMatch match;
  if (findImpl(trait, base, type->args.drop_front(), match)) {
    if (Item* own = implMember(*match.impl, alias->name.name))
      if (isa<AliasItem>(own))
        return substitute(nominal(own).type, match.args, nullptr);
    if (familyOf(langTrait(trait)) == TraitFamily::Operator)
      for (Item* member : match.impl->item->items)
        if (auto* function = dyn_cast<FunctionItem>(member))
          return substitute(functionInfo(function).signature.result, match.args, base);
  } else if (langTrait(trait) == LangTrait::Iterator && base->is(Kind::Struct) &&
             base->item == lang_.iterator) {
    return base->args[0];
  }
  if (alias->target)
    return substitute(nominal(alias).type, type->args.drop_front(), base);
  return types_.error();
}

Type* Checker::substitute(Type* type, ArrayRef<Type*> args, Type* self) {
  if (!type->has(Type::HasParam))
    return type;
  return types::substitute(types_, type, args, self,
                           [this](Type* each) { return normalise(each); });
}

TraitItem* Checker::resolveTraitPath(const Path& path, const ItemContext& context, bool isBound) {
  if (path.segments.empty())
    return nullptr;
  auto prefix = resolver_.walk(path.segments, context.scope, resolve::kTrait);
  const PathSegment& last = path.segments.back();
  StringRef text = last.ident.name.text();
  if (!prefix.binding) {
    if (prefix.reported)
      return nullptr;
    if (path.segments.size() == 1 &&
        resolver_.lookup(context.scope, last.ident.name, resolve::kType)) {
      if (isBound)
        engine_.report(last.ident.span, diag::UnknownBound, text);
      else
        engine_.report(last.ident.span, diag::UnknownTrait, text).note("it is a type");
      return nullptr;
    }
    const Binding* elsewhere = nullptr;
    (void)elsewhere;
    if (path.segments.size() > 1) {
      resolver_.reportUnknown(path.segments[0].ident.span, path.segments[0].ident.name, "module",
                              context.scope, resolve::kModule);
      return nullptr;
    }
    SmallVector<StringRef, 64> names;
    for (size_t i = 0; i < size_t(LangTrait::None); ++i)
      if (langTraits_[i])
        names.push_back(langTraits_[i]->name.name.text());
    Diagnostic& report = isBound ? engine_.report(last.ident.span, diag::UnknownBound, text)
                                 : engine_.report(last.ident.span, diag::UnknownTrait, text);
    for (auto& [name, entry] : context.scope->module()->entries)
      if (entry.own.trait)
        names.push_back(name.text());
    llvm::sort(names);
    StringRef near = nearest(text, names);
    if (!near.empty())
      report.help(("did you mean `" + near + "`?").str());
    return nullptr;
  }
  auto* trait = dyn_cast_or_null<TraitItem>(prefix.binding->trait);
  if (!trait || prefix.used != path.segments.size()) {
    if (isBound)
      engine_.report(path.span, diag::UnknownBound, text);
    else
      engine_.report(path.span, diag::UnknownTrait, text);
    return nullptr;
  }
  if (!resolver_.isVisible(trait, context.scope)) {
    engine_.report(last.ident.span, diag::PrivateItem, "trait", text);
    return nullptr;
  }
  return trait;
}

TraitRef Checker::traitRef(TraitItem* trait, const Path& path, const ItemContext& context,
                           Type* self) {
  TraitRef result;
  result.trait = trait;
  TraitInfo& info = traitInfo(trait);
  const PathSegment& last = path.segments.back();
  SmallVector<Type*, 4> args;
  SmallVector<std::pair<Name, Type*>, 2> equalities;
  for (const GenericArg& arg : last.args) {
    if (arg.label.name) {
      if (arg.type)
        equalities.push_back({arg.label.name, resolveType(arg.type, context, TypeUse::Argument)});
      if (!traitMember(trait, arg.label.name))
        engine_.report(arg.label.span, diag::UnknownProjection, trait->name.name.text(),
                       arg.label.name.text());
    } else if (arg.type || arg.value) {
      Parameter* parameter =
          args.size() < info.generics.size() ? info.generics[args.size()] : nullptr;
      args.push_back(genericArgument(arg, parameter, context, TypeUse::Argument));
    }
  }
  // `Iterator<T>` as a bound names the element.
  if (info.lang == LangTrait::Iterator && info.generics.empty() && args.size() == 1) {
    Name item = context_.names.intern("Item");
    if (traitMember(trait, item)) {
      equalities.push_back({item, args[0]});
      args.clear();
    }
  }
  if (args.size() > info.generics.size()) {
    engine_.report(last.ident.span, diag::CallArity, trait->name.name.text(), info.generics.size(),
                   args.size());
    args.resize(info.generics.size());
  }
  while (args.size() < info.generics.size()) {
    Parameter* parameter = info.generics[args.size()];
    if (parameter->defaultType) {
      Type* type = resolveType(parameter->defaultType, info.context, TypeUse::Argument);
      args.push_back(substitute(type, args, self));
    } else if (parameter->defaultConst) {
      Type* value = constArgument(parameter->defaultConst, parameter, info.context);
      args.push_back(substitute(value, args, self));
    } else {
      engine_.report(last.ident.span, diag::CallArity, trait->name.name.text(),
                     info.generics.size(), args.size());
      args.push_back(types_.error());
    }
  }
  result.args = types_.list<Type*>(args);
  result.equalities = types_.list<std::pair<Name, Type*>>(equalities);
  return result;
}

TraitRef Checker::resolveTraitRef(TypeBound& bound, const ItemContext& context) {
  TraitItem* trait = resolveTraitPath(bound.path, context, true);
  bound.trait = trait;
  if (!trait)
    return {};
  // A default argument `Self` of a bound is the parameter; it is put in where the bound is used.
  return traitRef(trait, bound.path, context, context.self);
}

void Checker::resolveSignature(FunctionItem* item, FunctionInfo& info) {
  ItemContext& context = info.context;
  Signature& signature = info.signature;
  context.generics = {};
  enterOwner(context);
  signature.self = context.owner ? context.self : nullptr;
  signature.generics = makeGenerics(item, item->generics, context.generics, context);
  resolveBounds(item->generics, context);
  info.mustUse = hasAttribute(item, "must_use");
  info.allowsUnused = hasAttribute(item, "allow", "unused_result");
  SmallVector<Type*, 8> parameters;
  llvm::SmallDenseMap<Name, Span, 8> labels;
  for (size_t i = 0; i < item->parameters.size(); ++i) {
    const FunctionParameter& parameter = item->parameters[i];
    Type* type = nullptr;
    if (parameter.type) {
      type = resolveType(parameter.type, context, TypeUse::Parameter);
    } else if (item->self != SelfKind::None && i == 0 && context.self) {
      type = item->self == SelfKind::Mutable ? types_.reference(Mutability::Mutable, context.self)
                                             : context.self;
    } else {
      engine_.report(parameter.span, diag::UnresolvedName, "type", "Self")
          .note("`self` stands in a function that is not in an `impl` or a `trait`");
      type = types_.error();
    }
    if (parameter.pattern && isa<ReferencePattern>(parameter.pattern))
      engine_.report(parameter.pattern->span, diag::ReferenceInParameter);
    if (Name label = parameter.label()) {
      auto [first, fresh] = labels.try_emplace(label, parameter.span);
      if (!fresh)
        engine_.report(parameter.span, diag::DuplicateItem, label.text())
            .label(first->second, "first declared here");
    }
    if (parameter.defaultValue) {
      ++info.optional;
      Expr* value = parameter.defaultValue;
      if (auto* unary = dyn_cast<UnaryExpr>(value); unary && unary->op == UnaryOp::Negate)
        value = unary->operand;
      if (!isa<IntExpr, FloatExpr, BoolExpr, CharExpr, StringExpr, ByteExpr, ByteStringExpr,
               ErrorExpr>(value))
        engine_.report(parameter.defaultValue->span, diag::NonLiteralDefault,
                       parameter.label().text());
    }
    parameters.push_back(type);
  }
  signature.parameters = types_.list<Type*>(parameters);
  signature.result =
      item->returnType ? resolveType(item->returnType, context, TypeUse::Result) : types_.unit();
  if (signature.result->is(Kind::Ref) && context.scope && context.scope->package) {
    engine_.report(item->returnType->span, diag::EscapingReference, "returned");
    signature.result = types_.error();
  }
  if (!signature.generics.empty() && item->body && context.scope->package)
    info.isTemplate = input_.sources.text(item->body->span).contains("typeInfo");
}

} // namespace gos::check
