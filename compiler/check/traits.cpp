// Impls: the indexes over them, selection, bounds, and finding members of types.

#include "compiler/check/checker.h"

namespace gos::check {

const void* Checker::headOf(Type* type) const {
  static constexpr char kHeads[size_t(Kind::Infer) + 1] = {};
  if (type->isNominal())
    return type->item;
  return &kHeads[size_t(type->kind)];
}

LangTrait Checker::langTrait(TraitItem* item) {
  return item ? traitInfo(item).lang : LangTrait::None;
}

Item* Checker::traitMember(TraitItem* trait, Name name) {
  for (Item* member : trait->items)
    if (member->name.name == name)
      return member;
  return nullptr;
}

Item* Checker::implMember(ImplInfo& info, Name name) {
  for (Item* member : info.item->items)
    if (member->name.name == name)
      return member;
  return nullptr;
}

void Checker::syncImpls() {
  while (resolver_.implsSeen < resolver_.impls.size()) {
    ImplItem* item = resolver_.impls[resolver_.implsSeen++];
    indexImpl(implInfo(item));
  }
}

void Checker::indexImpl(ImplInfo& info) {
  if (info.self->is(Kind::Error))
    return;
  if (info.self->is(Kind::Param) || info.self->is(Kind::Projection)) {
    engine_.report(info.item->target->span, diag::BlanketImpl,
                   info.trait.trait ? info.trait.trait->name.name.text() : StringRef("methods"),
                   types::print(info.self));
    // What the impl would have given is not missed again at each use.
    if (info.trait.trait)
      blanketTraits_.insert(info.trait.trait);
    for (ArrayRef<Item*> members :
         {info.item->items, info.trait.trait ? info.trait.trait->items : ArrayRef<Item*>()})
      for (Item* member : members)
        blanketMembers_.insert(member->name.name);
    return;
  }
  if (info.item->hasTrait && !info.trait.trait)
    return;
  const void* head = headOf(info.self);
  auto add = [&](Item* item, bool fromTrait) {
    if (!item->name.name)
      return;
    uint32_t at = uint32_t(memberEntries_.size());
    memberEntries_.push_back({item, &info, ~0u, fromTrait});
    auto [place, fresh] = members_.try_emplace({head, item->name.name}, at);
    if (fresh)
      return;
    // Inherent ones come first, otherwise the order of declaration.
    uint32_t* link = &place->second;
    while (*link != ~0u && (fromTrait || !memberEntries_[*link].fromTrait))
      link = &memberEntries_[*link].next;
    memberEntries_[at].next = *link;
    *link = at;
  };
  bool user = info.context.scope->package != 0;
  llvm::DenseMap<Name, Item*> own;
  for (Item* member : info.item->items) {
    auto [first, fresh] = own.try_emplace(member->name.name, member);
    if (!fresh && user) {
      engine_.report(member->name.span, diag::DuplicateItem, member->name.name.text())
          .label(first->second->name.span, "first declared here");
      continue;
    }
    if (!info.trait.trait && user) {
      // Another inherent block may declare it already, for the same type.
      auto found = members_.find({head, member->name.name});
      if (found != members_.end()) {
        MemberEntry& entry = memberEntries_[found->second];
        if (!entry.fromTrait && entry.impl != &info && entry.impl->context.scope->package != 0 &&
            entry.impl->self == info.self)
          engine_.report(member->name.span, diag::DuplicateItem, member->name.name.text())
              .label(entry.item->name.span, "first declared here");
      }
    }
    add(member, info.trait.trait != nullptr);
  }
  if (!info.trait.trait)
    return;
  for (Item* member : info.trait.trait->items) {
    if (own.count(member->name.name))
      continue;
    bool hasDefault = false;
    if (auto* function = dyn_cast<FunctionItem>(member))
      hasDefault = function->body;
    else if (auto* constant = dyn_cast<ConstItem>(member))
      hasDefault = constant->value;
    else if (auto* alias = dyn_cast<AliasItem>(member))
      hasDefault = alias->target;
    if (hasDefault)
      add(member, true);
  }
  ImplInfo*& first = traitImpls_[{info.trait.trait, head}];
  for (ImplInfo* other = first; other; other = other->next) {
    SmallVector<Type*, 4> args(other->generics.size());
    if (other->trait.args == info.trait.args &&
        (other->self == info.self ||
         (info.generics.empty() && matchPattern(other->self, info.self, args)))) {
      engine_
          .report(info.item->trait.span, diag::DuplicateImpl, types::print(info.trait),
                  types::print(info.self))
          .label(other->item->trait.span, "first implemented here");
      return;
    }
  }
  info.next = first;
  first = &info;
}

void Checker::supertraitsOf(TraitItem* trait, SmallVectorImpl<TraitItem*>& all) {
  llvm::SmallPtrSet<TraitItem*, 8> seen;
  all.push_back(trait);
  seen.insert(trait);
  for (size_t i = 0; i < all.size(); ++i)
    for (const TraitRef& super : traitInfo(all[i]).supertraits)
      if (seen.insert(super.trait).second)
        all.push_back(super.trait);
}

void Checker::checkTrait(TraitItem* item) {
  traitInfo(item);
  llvm::DenseMap<Name, Item*> seen;
  for (Item* member : item->items) {
    auto [first, fresh] = seen.try_emplace(member->name.name, member);
    if (!fresh)
      engine_.report(member->name.span, diag::DuplicateItem, member->name.name.text())
          .label(first->second->name.span, "first declared here");
    if (auto* function = dyn_cast<FunctionItem>(member)) {
      functionInfo(function);
      if (function->body)
        queueBody(function);
    } else if (isa<ConstItem>(member)) {
      constInfo(member);
      if (cast<ConstItem>(member)->value)
        constants_.push_back(member);
    } else if (isa<AliasItem>(member)) {
      nominal(member);
    }
  }
}

void Checker::checkImpl(ImplInfo& info) {
  ImplItem* item = info.item;
  for (Item* member : item->items) {
    if (auto* function = dyn_cast<FunctionItem>(member)) {
      functionInfo(function);
      queueBody(function);
    } else if (isa<ConstItem>(member)) {
      constInfo(member);
      if (cast<ConstItem>(member)->value)
        constants_.push_back(member);
    } else if (isa<AliasItem>(member)) {
      nominal(member);
    }
  }
  TraitItem* trait = info.trait.trait;
  if (!trait || info.self->is(Kind::Error))
    return;
  StringRef name = trait->name.name.text();
  std::string self = types::print(info.self);
  if (familyOf(langTrait(trait)) == TraitFamily::Automatic && langTrait(trait) != LangTrait::None) {
    engine_.report(item->trait.span, diag::AutomaticTrait, name);
    return;
  }
  for (Item* member : item->items) {
    Item* declared = traitMember(trait, member->name.name);
    if (!declared || declared->kind != member->kind) {
      if (langTrait(trait) == LangTrait::Display && member->name.name == toStringName_)
        engine_.report(member->name.span, diag::ToStringInDisplay);
      else if (langTrait(trait) != LangTrait::None && isa<AliasItem>(member) &&
               member->name.name.text() == "Output")
        continue;
      else
        engine_.report(member->name.span, diag::ExtraImplItem, member->name.name.text(), name);
      continue;
    }
    if (auto* function = dyn_cast<FunctionItem>(member))
      checkImplMethod(info, function, cast<FunctionItem>(declared));
  }
  // `Ord` and `PartialOrd` share `cmp`, `Eq` and `PartialEq` share `eq`: whichever is written
  // counts.
  for (Item* declared : trait->items) {
    if (implMember(info, declared->name.name))
      continue;
    if (auto* function = dyn_cast<FunctionItem>(declared)) {
      if (!function->body && function->builtin < 0)
        engine_.report(item->trait.span, diag::MissingTraitMethod, name, self,
                       declared->name.name.text());
    } else if (auto* constant = dyn_cast<ConstItem>(declared)) {
      if (!constant->value)
        engine_.report(item->trait.span, diag::MissingTraitItem, name, self,
                       declared->name.name.text());
    } else if (auto* alias = dyn_cast<AliasItem>(declared)) {
      if (!alias->target && langTrait(trait) != LangTrait::Iterator)
        engine_.report(item->trait.span, diag::MissingTraitItem, name, self,
                       declared->name.name.text());
    }
  }
  for (const TraitRef& super : traitInfo(trait).supertraits) {
    TraitRef wanted = super;
    SmallVector<Type*, 4> args;
    for (Type* arg : super.args)
      args.push_back(substitute(arg, info.trait.args, info.self));
    wanted.args = types_.list<Type*>(args);
    if (implements(info.self, wanted) == Answer::No)
      engine_.report(item->trait.span, diag::MissingSupertraitImpl, name, self,
                     super.trait->name.name.text());
  }
}

void Checker::checkImplMethod(ImplInfo& info, FunctionItem* method, FunctionItem* declared) {
  const Signature& own = functionInfo(method).signature;
  const Signature& wanted = functionInfo(declared).signature;
  StringRef name = method->name.name.text();
  bool ownSelf = method->self != SelfKind::None, wantedSelf = declared->self != SelfKind::None;
  if (own.parameters.size() != wanted.parameters.size() || ownSelf != wantedSelf) {
    engine_
        .report(method->name.span, diag::CallArity, name, wanted.parameters.size(),
                own.parameters.size())
        .label(declared->name.span, "declared here");
    return;
  }
  size_t ownGenerics = own.generics.size() - info.generics.size();
  size_t traitGenerics = traitInfo(info.trait.trait).generics.size();
  if (ownGenerics != wanted.generics.size() - traitGenerics) {
    engine_
        .report(method->name.span, diag::CallArity, name, wanted.generics.size() - traitGenerics,
                ownGenerics)
        .note("these are its generic parameters")
        .label(declared->name.span, "declared here");
    return;
  }
  SmallVector<Type*, 4> args(info.trait.args.begin(), info.trait.args.end());
  for (size_t i = 0; i < ownGenerics; ++i)
    args.push_back(types_.param(own.generics[info.generics.size() + i]));
  for (size_t i = 0; i < ownGenerics; ++i) {
    Parameter* ours = own.generics[info.generics.size() + i];
    Parameter* theirs = wanted.generics[traitGenerics + i];
    if (ours->isConst == theirs->isConst && ours->constType == theirs->constType)
      continue;
    auto describe = [](Parameter* each) {
      return each->isConst ? "const: " + types::print(each->constType) : "type";
    };
    engine_.report(ours->span, diag::TypeMismatch, describe(theirs), describe(ours))
        .label(theirs->span, "declared here");
    return;
  }
  LangTrait lang = langTrait(info.trait.trait);
  for (size_t i = 0; i < own.parameters.size(); ++i) {
    if (i == 0 && ownSelf) {
      if (own.parameters[0]->isMutableRef() != wanted.parameters[0]->isMutableRef())
        engine_
            .report(method->parameters[0].span, diag::TypeMismatch,
                    declared->self == SelfKind::Mutable ? "&mut self" : "&self",
                    method->self == SelfKind::Mutable ? "&mut self" : "self")
            .label(declared->name.span, "declared here");
      continue;
    }
    Type* expected = substitute(wanted.parameters[i], args, info.self);
    Type* actual = own.parameters[i];
    if (expected != actual && !expected->has(Type::HasError) && !actual->has(Type::HasError))
      engine_
          .report(method->parameters[i].span, diag::TypeMismatch, types::print(expected),
                  types::print(actual))
          .label(declared->name.span, "declared here");
  }
  Type* expected = substitute(wanted.result, args, info.self);
  // An operator's result is what the impl says; an iterator's element too.
  if (familyOf(lang) == TraitFamily::Operator || lang == LangTrait::Iterator ||
      lang == LangTrait::TryFrom)
    return;
  if (expected != own.result && !expected->has(Type::HasError) && !own.result->has(Type::HasError))
    engine_
        .report(method->returnType ? method->returnType->span : method->name.span,
                diag::TypeMismatch, types::print(expected), types::print(own.result))
        .label(declared->name.span, "declared here");
}

/// One-way: the parameters of `pattern` stand for anything; what they stand for goes into `args`.
bool Checker::matchPattern(Type* pattern, Type* type, llvm::MutableArrayRef<Type*> args) {
  type = unifier_.shallow(type);
  if (pattern->is(Kind::Error) || type->is(Kind::Error))
    return true;
  if (pattern->is(Kind::Param)) {
    uint32_t index = pattern->parameter->index;
    if (index >= args.size())
      return pattern == type;
    if (!args[index]) {
      args[index] = type;
      return true;
    }
    Type* bound = unifier_.resolve(args[index]);
    type = unifier_.resolve(type);
    return bound == type ||
           (((bound->flags | type->flags) & Type::HasInfer) && unifier_.unify(bound, type));
  }
  if (!pattern->has(Type::HasParam)) {
    if (pattern == type)
      return true;
    type = unifier_.resolve(type);
    return pattern == type || (type->has(Type::HasInfer) && unifier_.unify(pattern, type));
  }
  if (type->is(Kind::Infer))
    return type->inferKind == InferKind::General; // open: the parameters stay open too
  if (pattern->is(Kind::Array) && type->is(Kind::Array))
    return matchPattern(pattern->args[0], type->args[0], args) &&
           matchPattern(types_.lengthOf(pattern), types_.lengthOf(type), args);
  if (pattern->kind != type->kind || pattern->item != type->item ||
      pattern->length != type->length || pattern->mutability != type->mutability ||
      pattern->args.size() != type->args.size())
    return false;
  for (size_t i = 0; i < pattern->args.size(); ++i)
    if (!matchPattern(pattern->args[i], type->args[i], args))
      return false;
  return true;
}

void Checker::openArgs(ArrayRef<Parameter*> generics, SmallVectorImpl<Type*>& args) {
  for (size_t i = 0; i < generics.size(); ++i) {
    if (i >= args.size())
      args.push_back(nullptr);
    if (!args[i])
      args[i] = body_ && !generics[i]->isBroken ? unifier_.fresh() : types_.error();
  }
}

bool Checker::findImpl(TraitItem* trait, Type* self, ArrayRef<Type*> traitArgs, ImplMatch& match) {
  syncImpls();
  self = unifier_.shallow(self);
  auto found = traitImpls_.find({trait, headOf(self)});
  if (found == traitImpls_.end())
    return false;
  for (ImplInfo* impl = found->second; impl; impl = impl->next) {
    SmallVector<Type*, 4> args(impl->generics.size());
    if (!matchPattern(impl->self, self, args))
      continue;
    bool fits = true;
    for (size_t i = 0; i < traitArgs.size() && i < impl->trait.args.size() && fits; ++i)
      if (traitArgs[i])
        fits = matchPattern(impl->trait.args[i], traitArgs[i], args);
    if (!fits)
      continue;
    match.impl = impl;
    match.args = args;
    openArgs(impl->generics, match.args);
    return true;
  }
  return false;
}

ArrayRef<TraitRef> Checker::boundsOf(Type* type) {
  if (type->is(Kind::Param)) {
    if (type->parameter->isSelf()) {
      // The trait itself; its supertraits follow from it.
      return type->parameter->bounds;
    }
    return type->parameter->bounds;
  }
  if (type->is(Kind::Projection)) {
    auto extra = extraBounds_.find(type);
    if (extra != extraBounds_.end())
      return extra->second;
    auto* alias = cast<AliasItem>(type->item);
    SmallVector<TraitRef, 2> bounds;
    auto& info = nominal(alias);
    OutOfBody outside(*this);
    for (const TypeBound& bound : alias->bounds) {
      TraitRef trait = resolveTraitRef(const_cast<TypeBound&>(bound), info.context);
      if (trait.trait)
        bounds.push_back(trait);
    }
    extraBounds_[type] = bounds;
    return extraBounds_[type];
  }
  return {};
}

bool Checker::boundImplies(const TraitRef& bound, const TraitRef& wanted, Type* self,
                           unsigned depth) {
  if (depth > 32)
    return false;
  if (bound.trait == wanted.trait) {
    for (size_t i = 0; i < bound.args.size() && i < wanted.args.size(); ++i) {
      Type* have = bound.args[i];
      if (have != wanted.args[i] && !unifier_.unify(have, wanted.args[i]))
        return false;
    }
    return true;
  }
  LangTrait has = langTrait(bound.trait), wants = langTrait(wanted.trait);
  if (has != LangTrait::None && wants != LangTrait::None) {
    bool equality = wants == LangTrait::PartialEq || wants == LangTrait::Eq;
    bool order = wants == LangTrait::PartialOrd || wants == LangTrait::Ord;
    bool hasOrder = has == LangTrait::PartialOrd || has == LangTrait::Ord;
    bool hasEquality =
        hasOrder || has == LangTrait::PartialEq || has == LangTrait::Eq || has == LangTrait::Hash;
    if ((equality && hasEquality) || (order && hasOrder))
      return true;
  }
  for (const TraitRef& super : traitInfo(bound.trait).supertraits) {
    TraitRef copy = super;
    SmallVector<Type*, 4> args;
    for (Type* arg : super.args)
      args.push_back(substitute(arg, bound.args, self));
    copy.args = types_.list<Type*>(args);
    if (boundImplies(copy, wanted, self, depth + 1))
      return true;
  }
  return false;
}

Checker::Answer Checker::implements(Type* type, const TraitRef& trait, unsigned depth) {
  type = unifier_.shallow(type);
  if (!trait.trait || type->is(Kind::Error) || depth > 32 || blanketTraits_.contains(trait.trait) ||
      (type->is(Kind::Param) && type->parameter->isBroken))
    return Answer::Yes;
  if (type->is(Kind::Never))
    return Answer::Yes;
  LangTrait lang = langTrait(trait.trait);
  if (type->is(Kind::Param) || type->is(Kind::Projection)) {
    for (const TraitRef& bound : boundsOf(type))
      if (boundImplies(bound, trait, type))
        return Answer::Yes;
    if (lang != LangTrait::None) {
      llvm::SmallPtrSet<Type*, 8> seen;
      return isStructurally(type, lang, 0, seen);
    }
    return Answer::No;
  }
  if (type->is(Kind::Infer) && type->inferKind == InferKind::General)
    return Answer::Unknown;
  if (type->is(Kind::Infer)) {
    // A literal: some number has it, or its default has.
    if (lang != LangTrait::None) {
      llvm::SmallPtrSet<Type*, 8> seen;
      Type* standing = type->inferKind == InferKind::Integer ? types_.i64() : types_.f64();
      if (isStructurally(standing, lang, 0, seen) == Answer::Yes)
        return Answer::Yes;
    }
    return Answer::Unknown;
  }
  if (type->is(Kind::Ref))
    return implements(type->args[0], trait, depth + 1);
  ImplMatch match;
  if (findImpl(trait.trait, type, trait.args, match)) {
    // The bounds of the impl's own parameters.
    Answer all = Answer::Yes;
    for (Parameter* parameter : match.impl->generics) {
      for (const TraitRef& bound : parameter->bounds) {
        TraitRef wanted = bound;
        SmallVector<Type*, 4> args;
        for (Type* arg : bound.args)
          args.push_back(substitute(arg, match.args, type));
        wanted.args = types_.list<Type*>(args);
        Answer one = implements(match.args[parameter->index], wanted, depth + 1);
        if (one == Answer::No)
          return one;
        if (one == Answer::Unknown)
          all = one;
      }
    }
    for (auto& [name, wanted] : trait.equalities) {
      Item* own = implMember(*match.impl, name);
      Type* actual = nullptr;
      if (auto* alias = dyn_cast_or_null<AliasItem>(own)) {
        actual = substitute(nominal(alias).type, match.args, nullptr);
      } else if (Item* declared = traitMember(trait.trait, name)) {
        SmallVector<Type*, 4> args{type};
        args.append(match.impl->trait.args.begin(), match.impl->trait.args.end());
        for (Type*& arg : args)
          arg = substitute(arg, match.args, type);
        actual = normalise(types_.projection(declared, args));
      }
      if (actual && !unifier_.unify(actual, wanted))
        return Answer::No;
    }
    // An operator bound without a stated result promises the type itself.
    if (familyOf(lang) == TraitFamily::Operator && trait.equalities.empty() &&
        lang != LangTrait::Index && lang != LangTrait::IndexMut)
      for (Item* member : match.impl->item->items)
        if (auto* function = dyn_cast<FunctionItem>(member)) {
          Type* result = substitute(functionInfo(function).signature.result, match.args, type);
          if (!unifier_.unify(result, type))
            return Answer::No;
        }
    return all;
  }
  if (lang == LangTrait::Iterator) {
    // The lazy cursor, ranges, and any type with a fitting `next`.
    Type* element = nullptr;
    if (type->is(Kind::Struct) && type->item == lang_.iterator)
      element = type->args[0];
    else if (type->is(Kind::Range))
      element = type->args[0];
    if (!element)
      return Answer::No;
    for (auto& [name, wanted] : trait.equalities)
      if (!unifier_.unify(element, wanted))
        return Answer::No;
    return Answer::Yes;
  }
  if (lang != LangTrait::None) {
    // Eq beside PartialEq, Ord beside PartialOrd: an impl of either serves both.
    llvm::SmallPtrSet<Type*, 8> seen;
    Answer answer = isStructurally(type, lang, 0, seen);
    if (answer == Answer::Yes && familyOf(lang) == TraitFamily::Operator)
      for (size_t i = 0; i < trait.args.size(); ++i)
        if (!unifier_.unify(trait.args[i], type))
          return Answer::No;
    if (answer == Answer::Yes)
      for (auto& [name, wanted] : trait.equalities)
        if (!unifier_.unify(wanted, type))
          return Answer::No;
    return answer;
  }
  return Answer::No;
}

void Checker::solveBound(const Body::Bound& bound, bool last) {
  Answer answer = implements(bound.type, bound.trait);
  if (answer == Answer::No) {
    Type* type = unifier_.resolve(bound.type);
    if (type->has(Type::HasError))
      return;
    engine_.report(bound.span, diag::BoundNotSatisfied, print(type), types::print(bound.trait));
  } else if (answer == Answer::Unknown && !last) {
    body_->bounds.push_back(bound);
  } else if (langTrait(bound.trait.trait) == LangTrait::Decodable) {
    llvm::SmallPtrSet<Type*, 8> seen;
    checkCodecFields(bound.type, bound.span, seen);
  }
}

void Checker::checkBounds(ArrayRef<Parameter*> generics, ArrayRef<Type*> args, Type* self,
                          Span span) {
  for (size_t i = 0; i < generics.size() && i < args.size(); ++i) {
    for (const TraitRef& bound : generics[i]->bounds) {
      TraitRef wanted = bound;
      if (!bound.args.empty()) {
        SmallVector<Type*, 4> substituted;
        for (Type* arg : bound.args) {
          Type* made = substitute(arg, args, args[i]);
          substituted.push_back(made);
        }
        wanted.args = types_.list<Type*>(substituted);
      }
      if (!bound.equalities.empty()) {
        SmallVector<std::pair<Name, Type*>, 2> equalities;
        for (auto& [name, type] : bound.equalities)
          equalities.push_back({name, substitute(type, args, args[i])});
        wanted.equalities = types_.list<std::pair<Name, Type*>>(equalities);
      }
      Body::Bound each{args[i], wanted, span};
      solveBound(each, body_ == nullptr);
    }
  }
  (void)self;
}

} // namespace gos::check
