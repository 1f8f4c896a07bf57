// Records of items: made when an item is first seen, filled in when first asked for.

#include "compiler/check/checker.h"
#include "compiler/expand/derives.h"

namespace gos::check {

TraitFamily familyOf(LangTrait trait) {
  switch (trait) {
#define GOS_LANG_TRAIT(name, family)                                                               \
  case LangTrait::name:                                                                            \
    return TraitFamily::family;
#include "compiler/check/lang_traits.def"
  case LangTrait::None:
    break;
  }
  return TraitFamily::Known;
}

template <class T> T& Checker::makeInfo(Item* item, const ItemContext& context) {
  T* info = new (arena_.Allocate<T>()) T();
  info->context = context;
  item->info = static_cast<ItemInfo*>(info);
  return *info;
}

void Checker::addItem(Item* item, ModuleScope* scope) {
  ItemContext context;
  context.scope = scope;
  switch (item->kind) {
  case ItemKind::Function:
    makeInfo<FunctionInfo>(item, context);
    return;
  case ItemKind::Struct:
  case ItemKind::Enum:
  case ItemKind::Alias:
  case ItemKind::Newtype:
    makeInfo<NominalInfo>(item, context);
    return;
  case ItemKind::Trait: {
    makeInfo<TraitInfo>(item, context);
    context.owner = item;
    for (Item* member : cast<TraitItem>(item)->items) {
      if (isa<FunctionItem>(member))
        makeInfo<FunctionInfo>(member, context);
      else if (isa<ConstItem>(member))
        makeInfo<ConstInfo>(member, context);
      else if (isa<AliasItem>(member))
        makeInfo<NominalInfo>(member, context);
    }
    return;
  }
  case ItemKind::Impl: {
    auto* impl = cast<ImplItem>(item);
    makeInfo<ImplInfo>(item, context).item = impl;
    context.owner = item;
    for (Item* member : impl->items) {
      if (isa<FunctionItem>(member))
        makeInfo<FunctionInfo>(member, context);
      else if (isa<ConstItem>(member))
        makeInfo<ConstInfo>(member, context);
      else if (isa<AliasItem>(member))
        makeInfo<NominalInfo>(member, context);
    }
    return;
  }
  case ItemKind::Const:
  case ItemKind::Static:
    makeInfo<ConstInfo>(item, context);
    return;
  case ItemKind::Module:
  case ItemKind::Use:
  case ItemKind::Error:
    return;
  }
}

void Checker::syncItems() {
  while (resolver_.itemsSeen < resolver_.items.size()) {
    auto [item, scope] = resolver_.items[resolver_.itemsSeen++];
    addItem(item, scope);
  }
}

ItemInfo* Checker::infoOf(const Item* item) {
  if (!item->info || resolver_.itemsSeen < resolver_.items.size())
    syncItems();
  if (!item->info) // a native function: it is in no list
    addItem(const_cast<Item*>(item), resolver_.scopeOf(item));
  return static_cast<ItemInfo*>(item->info);
}

ModuleScope* Checker::scopeOf(const Item* item) {
  return infoOf(item)->context.scope;
}

bool Checker::hasAttribute(const Item* item, StringRef name, StringRef word) {
  for (const Attribute& attribute : item->attributes) {
    if (attribute.path.segments.size() != 1 || attribute.path.segments[0].ident.name.text() != name)
      continue;
    if (word.empty())
      return true;
    for (const Ident& each : attribute.words)
      if (each.name.text() == word)
        return true;
  }
  return false;
}

ArrayRef<Parameter*> Checker::makeGenerics(Item* item, Generics& generics,
                                           ArrayRef<Parameter*> outer, ItemContext& context) {
  if (generics.parameters.empty())
    return outer;
  SmallVector<Parameter*, 4> all(outer.begin(), outer.end());
  for (const GenericParameter& each : generics.parameters) {
    for (Parameter* earlier : all)
      if (earlier->name == each.name.name && earlier->owner == item)
        engine_.report(each.name.span, diag::DuplicateItem, each.name.name.text());
    Parameter* parameter = types_.makeParameter();
    parameter->name = each.name.name;
    parameter->index = uint32_t(all.size());
    parameter->owner = item;
    parameter->span = each.name.span;
    parameter->defaultType = each.defaultType;
    parameter->isConst = each.isConst;
    const_cast<GenericParameter&>(each).type = types_.param(parameter);
    if (each.isConst)
      resolveConstParameter(parameter, each, context);
    all.push_back(parameter);
  }
  context.generics = types_.list<Parameter*>(all);
  return context.generics;
}

void Checker::resolveBounds(Generics& generics, ItemContext& context) {
  for (const GenericParameter& each : generics.parameters) {
    if (each.bounds.empty() || !each.type)
      continue;
    SmallVector<TraitRef, 2> bounds;
    for (const TypeBound& bound : each.bounds) {
      TraitRef trait = resolveTraitRef(const_cast<TypeBound&>(bound), context);
      if (trait.trait)
        bounds.push_back(trait);
      else
        each.type->parameter->isBroken = true;
    }
    each.type->parameter->bounds = types_.list<TraitRef>(bounds);
  }
  for (const WherePredicate& predicate : generics.where) {
    Type* subject = resolveType(predicate.subject, context, TypeUse::Argument);
    SmallVector<TraitRef, 2> bounds;
    if (subject->is(Kind::Param))
      bounds.append(subject->parameter->bounds.begin(), subject->parameter->bounds.end());
    for (const TypeBound& bound : predicate.bounds) {
      TraitRef trait = resolveTraitRef(const_cast<TypeBound&>(bound), context);
      if (trait.trait)
        bounds.push_back(trait);
      else if (subject->is(Kind::Param))
        subject->parameter->isBroken = true;
    }
    if (subject->is(Kind::Param))
      subject->parameter->bounds = types_.list<TraitRef>(bounds);
    else if (subject->is(Kind::Projection))
      extraBounds_[subject] = bounds;
  }
}

NominalInfo& Checker::nominal(Item* item) {
  auto& info = *static_cast<NominalInfo*>(infoOf(item));
  if (info.state == State::Done)
    return info;
  if (info.state == State::Running) {
    if (!info.type) { // an alias that leads back to itself
      engine_.report(item->name.span, diag::TypeCycle, item->name.name.text());
      info.type = types_.error();
    }
    return info;
  }
  OutOfBody outside(*this);
  info.state = State::Running;
  info.generics = makeGenerics(item, item->generics, info.context.generics, info.context);
  SmallVector<Type*, 4> own;
  for (Parameter* parameter : info.generics)
    own.push_back(types_.param(parameter));
  info.mustUse = hasAttribute(item, "must_use");
  info.derivesDebug = hasAttribute(item, "derive", "Debug");
  info.derivesDefault = hasAttribute(item, "derive", "Default");
  if (auto* alias = dyn_cast<AliasItem>(item)) {
    resolveBounds(item->generics, info.context);
    if (alias->target) {
      enterOwner(info.context);
      Type* target = resolveType(alias->target, info.context, TypeUse::Alias);
      if (!info.type)
        info.type = target;
    } else {
      info.type = types_.error();
    }
  } else {
    Kind kind = isa<StructItem>(item) ? Kind::Struct
                : isa<EnumItem>(item) ? Kind::Enum
                                      : Kind::Newtype;
    info.type = types_.nominal(kind, item, own);
    info.context.self = info.type;
    resolveBounds(item->generics, info.context);
    if (auto* newtype = dyn_cast<NewtypeItem>(item)) {
      info.target = types_.error();
      info.target = resolveType(newtype->target, info.context, TypeUse::Field);
    }
    if (auto* enumeration = dyn_cast<EnumItem>(item)) {
      size_t count = enumeration->variants.size();
      if (count > 256)
        engine_.report(item->name.span, diag::TooManyVariants, item->name.name.text(), count, 256);
      StringRef width = enumeration->width.name ? enumeration->width.name.text() : StringRef();
      unsigned bits = 64;
      if (width.size() > 1 && !width.drop_front().getAsInteger(10, bits) && bits < 16 &&
          count > (size_t(1) << bits))
        engine_.report(enumeration->width.span, diag::EnumWidthTooSmall, width, size_t(1) << bits,
                       count);
    }
  }
  info.state = State::Done;
  return info;
}

void Checker::resolveFields(Item* item) {
  NominalInfo& info = nominal(item);
  if (info.fields != State::Fresh)
    return;
  OutOfBody outside(*this);
  info.fields = State::Running;
  auto resolve = [&](ArrayRef<FieldDecl> fields, StringRef owner) {
    llvm::DenseMap<Name, Span> seen;
    for (const FieldDecl& field : fields) {
      auto& mutableField = const_cast<FieldDecl&>(field);
      mutableField.resolved = resolveType(field.type, info.context, TypeUse::Field);
      if (field.name.name) {
        auto [first, fresh] = seen.try_emplace(field.name.name, field.name.span);
        if (!fresh)
          engine_.report(field.name.span, diag::DuplicateItem, field.name.name.text())
              .label(first->second, "first declared here");
      }
    }
    (void)owner;
    readCodecAttributes(fields);
  };
  if (auto* structure = dyn_cast<StructItem>(item)) {
    resolve(structure->fields, item->name.name.text());
    if (structure->fields.size() > 16) {
      indexes_.push_back(std::make_unique<llvm::DenseMap<Name, uint32_t>>());
      info.index = indexes_.back().get();
      for (uint32_t i = 0; i < structure->fields.size(); ++i)
        info.index->try_emplace(structure->fields[i].name.name, i);
    }
  } else if (auto* enumeration = dyn_cast<EnumItem>(item)) {
    llvm::DenseMap<Name, Span> seen;
    for (const VariantDecl& variant : enumeration->variants) {
      resolve(variant.fields, variant.name.name.text());
      refuseCodecAttributes(variant.attributes);
      auto [first, fresh] = seen.try_emplace(variant.name.name, variant.name.span);
      if (!fresh)
        engine_.report(variant.name.span, diag::DuplicateItem, variant.name.name.text())
            .label(first->second, "first declared here");
    }
    if (enumeration->variants.size() > 16) {
      indexes_.push_back(std::make_unique<llvm::DenseMap<Name, uint32_t>>());
      info.index = indexes_.back().get();
      for (uint32_t i = 0; i < enumeration->variants.size(); ++i)
        info.index->try_emplace(enumeration->variants[i].name.name, i);
    }
  }
  info.fields = State::Done;
}

std::optional<uint32_t> Checker::fieldIndex(Item* item, ArrayRef<FieldDecl> fields, Name name) {
  if (isa<StructItem>(item)) {
    resolveFields(item);
    NominalInfo& info = nominal(item);
    if (info.index) {
      auto found = info.index->find(name);
      if (found == info.index->end())
        return std::nullopt;
      return found->second;
    }
  }
  for (uint32_t i = 0; i < fields.size(); ++i)
    if (fields[i].name.name == name)
      return i;
  return std::nullopt;
}

std::optional<uint32_t> Checker::variantIndex(EnumItem* item, Name name) {
  resolveFields(item);
  NominalInfo& info = nominal(item);
  if (info.index) {
    auto found = info.index->find(name);
    if (found == info.index->end())
      return std::nullopt;
    return found->second;
  }
  for (uint32_t i = 0; i < item->variants.size(); ++i)
    if (item->variants[i].name.name == name)
      return i;
  return std::nullopt;
}

void Checker::checkFiniteParts(Item* owner, Type* type, Span span) {
  switch (type->kind) {
  case Kind::Tuple:
  case Kind::Array:
    for (Type* each : type->args)
      checkFiniteParts(owner, each, span);
    return;
  case Kind::Struct:
    checkFinite(type->item, nullptr, span);
    return;
  case Kind::Newtype:
    checkFinite(type->item, nullptr, span);
    return;
  default: // everything else lives on the heap
    return;
  }
}

/// A struct may hold itself only through an enum or a container.
bool Checker::checkFinite(Item* item, Type*, Span) {
  if (item->parentModule && item->parentModule->package == 0)
    return true;
  NominalInfo& info = nominal(item);
  if (info.finite == State::Done)
    return true;
  if (info.finite == State::Running) {
    engine_.report(item->name.span, diag::TypeCycle, item->name.name.text())
        .help("put a container or an enum between");
    info.finite = State::Done;
    return false;
  }
  info.finite = State::Running;
  if (auto* structure = dyn_cast<StructItem>(item)) {
    resolveFields(item);
    for (const FieldDecl& field : structure->fields)
      if (field.resolved)
        checkFiniteParts(item, field.resolved, field.name.span);
  } else if (isa<NewtypeItem>(item)) {
    checkFiniteParts(item, info.target, item->name.span);
  }
  info.finite = State::Done;
  return true;
}

TraitInfo& Checker::traitInfo(TraitItem* item) {
  auto& info = *static_cast<TraitInfo*>(infoOf(item));
  if (info.state == State::Fresh) {
    OutOfBody outside(*this);
    info.state = State::Running;
    info.lang = LangTrait::None;
    for (size_t i = 0; i < size_t(LangTrait::None); ++i)
      if (langTraits_[i] == item)
        info.lang = LangTrait(i);
    info.generics = makeGenerics(item, item->generics, {}, info.context);
    Parameter* self = types_.makeParameter();
    self->name = selfTypeName_;
    self->index = Parameter::kSelfIndex;
    self->owner = item;
    self->span = item->name.span;
    info.self = self;
    info.context.self = types_.param(self);
    info.context.owner = item;
    TraitRef own;
    own.trait = item;
    SmallVector<Type*, 2> args;
    for (Parameter* parameter : info.generics)
      args.push_back(types_.param(parameter));
    own.args = types_.list<Type*>(args);
    self->bounds = types_.list<TraitRef>({own});
    resolveBounds(item->generics, info.context);
    info.state = State::Done;
  }
  if (info.supers == State::Fresh && info.state == State::Done) {
    OutOfBody outside(*this);
    info.supers = State::Running;
    SmallVector<TraitRef, 2> supertraits;
    for (const TypeBound& bound : item->supertraits) {
      TraitRef trait = resolveTraitRef(const_cast<TypeBound&>(bound), info.context);
      if (trait.trait)
        supertraits.push_back(trait);
    }
    info.supertraits = types_.list<TraitRef>(supertraits);
    info.supers = State::Done;
  }
  return info;
}

void Checker::enterOwner(ItemContext& context) {
  if (auto* impl = dyn_cast_or_null<ImplItem>(context.owner)) {
    ImplInfo& owner = implInfo(impl);
    context.generics = owner.generics;
    context.self = owner.self;
  } else if (auto* trait = dyn_cast_or_null<TraitItem>(context.owner)) {
    TraitInfo& owner = traitInfo(trait);
    context.generics = owner.generics;
    context.self = types_.param(owner.self);
  }
}

ImplInfo& Checker::implInfo(ImplItem* item) {
  auto& info = *static_cast<ImplInfo*>(infoOf(item));
  if (info.state != State::Fresh)
    return info;
  OutOfBody outside(*this);
  info.state = State::Running;
  info.self = types_.error();
  info.generics = makeGenerics(item, item->generics, {}, info.context);
  info.context.owner = item;
  info.self = resolveType(item->target, info.context, TypeUse::Impl);
  info.context.self = info.self;
  if (item->hasTrait) {
    if (TraitItem* trait = resolveTraitPath(item->trait, info.context, false))
      info.trait = traitRef(trait, item->trait, info.context, info.self);
  }
  resolveBounds(item->generics, info.context);
  if (llvm::any_of(info.generics, [](Parameter* each) { return each->isBroken; })) {
    // The type again, now that the parameter is known to stand for nothing.
    info.self = resolveType(item->target, info.context, TypeUse::Impl);
    info.context.self = info.self;
  }
  info.state = State::Done;
  return info;
}

ConstInfo& Checker::constInfo(Item* item) {
  auto& info = *static_cast<ConstInfo*>(infoOf(item));
  if (info.state != State::Fresh)
    return info;
  OutOfBody outside(*this);
  info.state = State::Running;
  info.type = types_.error();
  enterOwner(info.context);
  TypeNode* node =
      isa<ConstItem>(item) ? cast<ConstItem>(item)->type : cast<StaticItem>(item)->type;
  if (node)
    info.type = resolveType(node, info.context, TypeUse::Field);
  info.state = State::Done;
  return info;
}

FunctionInfo& Checker::functionInfo(FunctionItem* item) {
  auto& info = *static_cast<FunctionInfo*>(infoOf(item));
  if (info.state == State::Fresh) {
    OutOfBody outside(*this);
    info.state = State::Running;
    resolveSignature(item, info);
    info.state = State::Done;
  }
  return info;
}

void Checker::findLangItems(Program& program) {
  ModuleScope* core = resolver_.core();
  if (!core)
    return;
  auto find = [&](ModuleScope* module, StringRef name, uint8_t spaces) -> const Binding* {
    return module ? resolver_.lookupIn(module, context_.names.intern(name), spaces, module)
                  : nullptr;
  };
#define GOS_LANG_TRAIT(name, family)                                                               \
  if (const Binding* found = find(core, #name, resolve::kTrait))                                   \
    langTraits_[size_t(LangTrait::name)] = dyn_cast_or_null<TraitItem>(found->trait);
#include "compiler/check/lang_traits.def"
  if (const Binding* found = find(core, "Option", resolve::kType))
    lang_.option = dyn_cast_or_null<EnumItem>(found->type);
  if (const Binding* found = find(core, "Result", resolve::kType))
    lang_.result = dyn_cast_or_null<EnumItem>(found->type);
  if (const Binding* found = find(core, "Iterator", resolve::kType))
    lang_.iterator = dyn_cast_or_null<StructItem>(found->type);
  syncItems();
  for (auto [item, some, none] :
       {std::tuple(&lang_.option, "Some", "None"), std::tuple(&lang_.result, "Ok", "Err")}) {
    if (!*item)
      continue;
    auto first = variantIndex(*item, context_.names.intern(some));
    auto second = variantIndex(*item, context_.names.intern(none));
    if (!first || !second) {
      *item = nullptr;
      continue;
    }
    if (item == &lang_.option) {
      lang_.some = *first;
      lang_.none = *second;
    } else {
      lang_.ok = *first;
      lang_.err = *second;
    }
  }
  (void)program;
}

void Checker::checkAttributes(Item* item) {
  static constexpr StringRef kKnown[] = {
      "derive", "default", "rename",   "skip",  "cfg",    "test", "bench", "fuzz",     "test_case",
      "ignore", "timeout", "must_use", "allow", "inline", "repr", "link",  "link_name"};
  if (!isa<FunctionItem>(item)) // `#[skip]` of a test
    refuseCodecAttributes(item->attributes);
  for (const Attribute& attribute : item->attributes) {
    if (attribute.path.segments.empty())
      continue;
    StringRef name = attribute.path.segments[0].ident.name.text();
    if (!llvm::is_contained(kKnown, name)) {
      Diagnostic& report = engine_.report(attribute.span, diag::UnknownAttribute, name);
      StringRef near = nearest(name, kKnown);
      if (!near.empty())
        report.help(("did you mean `" + near + "`?").str());
    }
    if (name != "derive")
      continue;
    for (const Ident& word : attribute.words) {
      if (!expand::deriveFromSpelling(word.name.text())) {
        Diagnostic& report = engine_.report(word.span, diag::NotDerivable, word.name.text());
        StringRef near = nearest(word.name.text(), expand::derivableNames());
        if (!near.empty())
          report.help(("did you mean `" + near + "`?").str());
      } else if (item->info && isa<StructItem, EnumItem>(item)) {
        // The derive stands for an impl: a second one is a duplicate.
        for (size_t i = 0; i < size_t(LangTrait::None); ++i)
          if (langTraits_[i] && langTraits_[i]->name.name == word.name) {
            auto found = traitImpls_.find({langTraits_[i], item});
            if (found != traitImpls_.end())
              engine_
                  .report(found->second->item->trait.span, diag::DuplicateImpl, word.name.text(),
                          item->name.name.text())
                  .label(word.span, "derived here");
          }
      }
    }
  }
}

void Checker::checkItems() {
  // Signatures, fields and impls of the user's items; bodies are queued and checked afterwards. The
  // list grows while the library is loaded: its items are checked when they are used.
  for (size_t i = 0; i < resolver_.items.size(); ++i) {
    auto [item, scope] = resolver_.items[i];
    if (scope->package == 0)
      continue;
    checkAttributes(item);
    switch (item->kind) {
    case ItemKind::Function:
      functionInfo(cast<FunctionItem>(item));
      queueBody(cast<FunctionItem>(item));
      break;
    case ItemKind::Struct:
    case ItemKind::Enum:
      resolveFields(item);
      checkFinite(item, nullptr, item->name.span);
      break;
    case ItemKind::Newtype:
    case ItemKind::Alias:
      nominal(item);
      if (isa<NewtypeItem>(item))
        checkFinite(item, nullptr, item->name.span);
      break;
    case ItemKind::Trait:
      checkTrait(cast<TraitItem>(item));
      break;
    case ItemKind::Impl:
      checkImpl(implInfo(cast<ImplItem>(item)));
      break;
    case ItemKind::Const:
    case ItemKind::Static:
      constInfo(item);
      constants_.push_back(item);
      break;
    case ItemKind::Module:
    case ItemKind::Use:
    case ItemKind::Error:
      break;
    }
  }
}

} // namespace gos::check
