// Finding the members of types, and saying that there are none.

#include "compiler/check/checker.h"

namespace gos::check {

ArrayRef<FunctionItem*> Checker::nativesOf(StringRef owner, Name name) {
  const char* key = ownerKeys_.try_emplace(owner).first->getKeyData();
  auto [place, fresh] = natives_.try_emplace({key, name});
  if (fresh) {
    SmallVector<FunctionItem*, 4> found;
    resolver_.natives(owner, name, found);
    ArrayRef<FunctionItem*> list = types_.list<FunctionItem*>(found);
    natives_[{key, name}] = list;
    return list;
  }
  return place->second;
}

void Checker::nativeOwners(Type* type, SmallVectorImpl<std::string>& owners) {
  if (type->isNominal()) {
    if (type->item->parentModule && type->item->parentModule->package == 0) {
      ModuleScope* scope = scopeOf(type->item);
      std::string path = scope->path == "core" ? "" : scope->path + "::";
      owners.push_back(path + type->item->name.name.text().str());
    }
    return;
  }
  StringRef own = types::spelling(type->kind);
  if (!own.empty())
    owners.push_back(own.str());
  if (type->isSequence())
    owners.push_back("Slice");
  if (type->isInteger() || type->isInferInteger())
    owners.push_back("Int");
  if (type->isFloat() || (type->is(Kind::Infer) && type->inferKind == InferKind::Float))
    owners.push_back("Float");
  if (type->is(Kind::Range))
    owners.push_back("Range");
}

Member Checker::findInBounds(Type* type, Name name) {
  Member member;
  SmallVector<std::pair<TraitRef, bool>, 4> work; // and: reached through a supertrait
  for (const TraitRef& bound : boundsOf(type))
    work.push_back({bound, type->is(Kind::Param) && type->parameter->isSelf()});
  llvm::SmallPtrSet<TraitItem*, 8> seen;
  bool inTrait = type->is(Kind::Param) && type->parameter->isSelf();
  for (size_t i = 0; i < work.size(); ++i) {
    TraitRef bound = work[i].first;
    if (!seen.insert(bound.trait).second)
      continue;
    if (Item* item = traitMember(bound.trait, name); item && !isa<AliasItem>(item)) {
      if (!member.item) {
        member.item = item;
        member.outer.assign(bound.args.begin(), bound.args.end());
        member.self = type;
      } else if (!work[i].second && langTrait(bound.trait) == LangTrait::None) {
        member.rival = bound.trait;
      }
    }
    if (inTrait || langTrait(bound.trait) != LangTrait::None)
      for (const TraitRef& super : traitInfo(bound.trait).supertraits) {
        TraitRef copy = super;
        SmallVector<Type*, 4> args;
        for (Type* arg : super.args)
          args.push_back(substitute(arg, bound.args, type));
        copy.args = types_.list<Type*>(args);
        work.push_back({copy, true});
      }
  }
  return member;
}

Member Checker::findMember(Type* type, Name name, bool functionsOnly) {
  type = unifier_.shallow(type)->withoutReferences();
  type = unifier_.shallow(type);
  Member member;
  if (type->is(Kind::Param) || type->is(Kind::Projection)) {
    member = findInBounds(type, name);
    if (member.item)
      return member;
  } else if (!type->is(Kind::Infer) || type->inferKind != InferKind::General) {
    syncImpls();
    Type* standing = type;
    if (type->is(Kind::Infer))
      standing = type->inferKind == InferKind::Integer ? types_.i64() : types_.f64();
    auto findIn = [&](Type* receiver, bool fromTrait) {
      auto found = members_.find({headOf(receiver), name});
      if (found == members_.end())
        return false;
      // With several impls of generic types the first that fits counts.
      for (uint32_t at = found->second; at != ~0u; at = memberEntries_[at].next) {
        const MemberEntry& entry = memberEntries_[at];
        if (entry.fromTrait != fromTrait || isa<AliasItem>(entry.item) ||
            (functionsOnly && !isa<FunctionItem>(entry.item)))
          continue;
        SmallVector<Type*, 4> args(entry.impl->generics.size());
        if (!matchPattern(entry.impl->self, receiver, args))
          continue;
        openArgs(entry.impl->generics, args);
        if (type->is(Kind::Infer))
          unifier_.unify(type, standing);
        member.item = entry.item;
        if (entry.impl->context.scope->package == 0) {
          SmallVector<FunctionItem*, 4> overloads;
          for (uint32_t other = at; other != ~0u; other = memberEntries_[other].next)
            if (memberEntries_[other].impl == entry.impl &&
                isa<FunctionItem>(memberEntries_[other].item))
              overloads.push_back(cast<FunctionItem>(memberEntries_[other].item));
          if (overloads.size() > 1)
            member.overloads = types_.list<FunctionItem*>(overloads);
        }
        if (isa_and_nonnull<TraitItem>(infoOf(entry.item)->context.owner)) {
          member.self = receiver;
          for (Type* arg : entry.impl->trait.args)
            member.outer.push_back(substitute(arg, args, receiver));
        } else {
          member.outer.assign(args.begin(), args.end());
        }
        return true;
      }
      return false;
    };
    if (findIn(standing, false))
      return member;
    SmallVector<std::string, 4> owners;
    nativeOwners(type, owners);
    for (const std::string& owner : owners) {
      ArrayRef<FunctionItem*> natives = nativesOf(owner, name);
      if (natives.empty())
        continue;
      member.item = natives[0];
      if (natives.size() > 1)
        member.overloads = natives;
      return member;
    }
    // Impls of the library on `[T]` serve arrays and vectors too.
    if ((standing->is(Kind::Array) || standing->is(Kind::Vec)) &&
        findIn(types_.slice(standing->args[0]), false))
      return member;
    if (findIn(standing, true))
      return member;
  }
  // What every value has: clone, cmp, eq, default and kin, where the type has the behaviour.
  for (LangTrait each : {LangTrait::Clone, LangTrait::PartialEq, LangTrait::PartialOrd,
                         LangTrait::Eq, LangTrait::Ord, LangTrait::Default, LangTrait::Debug,
                         LangTrait::Display, LangTrait::Add, LangTrait::Sub, LangTrait::Mul,
                         LangTrait::Div, LangTrait::Rem, LangTrait::Neg, LangTrait::Not}) {
    TraitItem* trait = lang(each);
    Item* item = trait ? traitMember(trait, name) : nullptr;
    if (!item || !isa<FunctionItem>(item))
      continue;
    if (type->is(Kind::Infer) && type->inferKind == InferKind::General)
      continue;
    llvm::SmallPtrSet<Type*, 8> seen;
    if (isStructurally(type, each, 0, seen) != Answer::Yes)
      continue;
    member.item = item;
    member.self = type;
    for (size_t i = 0; i < traitInfo(trait).generics.size(); ++i)
      member.outer.push_back(type);
    return member;
  }
  if (!type->is(Kind::Infer) || type->inferKind != InferKind::General) {
    ArrayRef<FunctionItem*> natives = nativesOf("Any", name);
    if (!natives.empty()) {
      member.item = natives[0];
      if (natives.size() > 1)
        member.overloads = natives;
    }
  }
  return member;
}

void Checker::reportNoMethod(Span span, Type* type, Name name) {
  StringRef text = name.text();
  type = unifier_.resolve(type->withoutReferences());
  if (type->is(Kind::Error) || blanketMembers_.contains(name) ||
      (type->is(Kind::Param) && type->parameter->isBroken))
    return;
  std::string spelled = print(type);
  if (type->is(Kind::Param) || type->is(Kind::Projection)) {
    for (const TraitRef& bound : boundsOf(type)) {
      SmallVector<TraitItem*, 8> all;
      supertraitsOf(bound.trait, all);
      for (TraitItem* trait : llvm::drop_begin(all))
        if (traitMember(trait, name)) {
          engine_.report(span, diag::MethodOfSupertrait, text, trait->name.name.text(), spelled);
          return;
        }
    }
    engine_.report(span, diag::MethodNotInBounds, spelled, text);
    return;
  }
  if (type->is(Kind::String) && text == "parse") {
    engine_.report(span, diag::StringParse, "to_i64");
    return;
  }
  for (auto [word, op] : std::initializer_list<std::pair<StringRef, StringRef>>{
           {"wrapping_add", "+%"}, {"wrapping_sub", "-%"}, {"wrapping_mul", "*%"}})
    if (text == word && (type->isInteger() || type->isInferInteger())) {
      engine_.report(span, diag::WrappingMethod, text, op);
      return;
    }
  if (type->is(Kind::Array) || type->is(Kind::Slice))
    if (!nativesOf("Vec", name).empty() &&
        !functionInfo(nativesOf("Vec", name)[0]).signature.parameters.empty() &&
        functionInfo(nativesOf("Vec", name)[0]).signature.parameters[0]->isMutableRef()) {
      engine_.report(span, diag::ResizeFixed, text, spelled);
      return;
    }
  SmallVector<StringRef, 64> candidates;
  const void* head = headOf(type);
  if (engine_.errorCount() > resolve::Resolver::kManyErrors)
    head = nullptr;
  for (auto& [key, at] : members_)
    if (head && key.first == head && isa<FunctionItem>(memberEntries_[at].item))
      candidates.push_back(key.second.text());
  SmallVector<std::string, 4> owners;
  nativeOwners(type, owners);
  if (resolver_.library())
    for (const std::string& owner : owners)
      resolver_.library()->names(owner, candidates);
  llvm::sort(candidates);
  Diagnostic& report = engine_.report(span, diag::NoSuchMethod, text, spelled);
  StringRef near = nearest(text, candidates);
  if (!near.empty())
    report.help(("did you mean `" + near + "`?").str());
}

} // namespace gos::check
