// Behaviour that values have without an impl: equality, order, text, clone, default, arithmetic.

#include "compiler/check/checker.h"

namespace gos::check {

/// Behaviour that values have without an impl.
Checker::Answer Checker::isStructurally(Type* type, LangTrait trait, unsigned depth,
                                        llvm::SmallPtrSetImpl<Type*>& seen) {
  type = unifier_.shallow(type);
  if (depth > 64 || type->isConstArgument() || !seen.insert(type).second)
    return Answer::Yes;
  if (type->is(Kind::Error) || type->is(Kind::Never))
    return Answer::Yes;
  if (type->is(Kind::Infer)) {
    if (type->inferKind != InferKind::General && trait != LangTrait::None)
      return Answer::Yes;
    return Answer::Unknown;
  }
  if (type->is(Kind::Param) || type->is(Kind::Projection)) {
    // Clone, Hash and kin are what every value has.
    switch (trait) {
    case LangTrait::Clone:
    case LangTrait::Copy:
    case LangTrait::Sized:
    case LangTrait::Send:
    case LangTrait::Sync:
      return Answer::Yes;
    default:
      break;
    }
    TraitRef wanted;
    wanted.trait = lang(trait);
    if (!wanted.trait)
      return Answer::No;
    for (const TraitRef& bound : boundsOf(type))
      if (boundImplies(bound, wanted, type))
        return Answer::Yes;
    return Answer::No;
  }
  if (type->is(Kind::Ref))
    return isStructurally(type->args[0], trait, depth + 1, seen);
  const bool foreign = type->is(Kind::Struct) && cast<StructItem>(type->item)->isForeign;
  bool handle = type->is(Kind::Struct) && type->item->parentModule &&
                type->item->parentModule->package == 0 && lang_.iterator == type->item;
  auto parts = [&](ArrayRef<Type*> args) {
    Answer all = Answer::Yes;
    for (Type* arg : args) {
      Answer one = isStructurally(arg, trait, depth + 1, seen);
      if (one == Answer::No)
        return one;
      if (one == Answer::Unknown)
        all = one;
    }
    return all;
  };
  auto fields = [&]() -> Answer {
    resolveFields(type->item);
    Answer all = Answer::Yes;
    auto each = [&](ArrayRef<FieldDecl> list) {
      for (const FieldDecl& field : list) {
        if (!field.resolved || all == Answer::No)
          continue;
        if (field.isSkipped && (trait == LangTrait::Encodable || trait == LangTrait::Decodable))
          continue;
        Answer one =
            isStructurally(substitute(field.resolved, type->args, type), trait, depth + 1, seen);
        if (one != Answer::Yes)
          all = one;
      }
    };
    if (auto* structure = dyn_cast<StructItem>(type->item))
      each(structure->fields);
    else if (auto* enumeration = dyn_cast<EnumItem>(type->item))
      for (const VariantDecl& variant : enumeration->variants)
        each(variant.fields);
    return all;
  };
  switch (trait) {
  case LangTrait::Clone:
  case LangTrait::Sized:
  case LangTrait::Send:
  case LangTrait::Sync:
  case LangTrait::Copy:
    return Answer::Yes;
  case LangTrait::PartialEq:
  case LangTrait::Eq:
  case LangTrait::Hash:
    if (type->is(Kind::Fn) || handle)
      return Answer::No;
    if (type->isNominal()) {
      ImplMatch match;
      for (LangTrait each : {LangTrait::PartialEq, LangTrait::Eq})
        if (lang(each) && findImpl(lang(each), type, {}, match))
          return Answer::Yes;
      return type->is(Kind::Newtype) ? isStructurally(representation(type), trait, depth + 1, seen)
                                     : fields();
    }
    return parts(type->args);
  case LangTrait::PartialOrd:
  case LangTrait::Ord:
    if (type->is(Kind::Fn) || handle || foreign || type->is(Kind::Map) || type->is(Kind::Set) ||
        type->is(Kind::BTreeMap) || type->is(Kind::BTreeSet) || type->is(Kind::MaxHeap) ||
        type->is(Kind::MinHeap) || type->is(Kind::Range))
      return Answer::No;
    if (type->isNominal()) {
      ImplMatch match;
      for (LangTrait each : {LangTrait::PartialOrd, LangTrait::Ord})
        if (lang(each) && findImpl(lang(each), type, {}, match))
          return Answer::Yes;
      return type->is(Kind::Newtype) ? isStructurally(representation(type), trait, depth + 1, seen)
                                     : fields();
    }
    return parts(type->args);
  case LangTrait::Default:
    if (type->is(Kind::Fn) || type->is(Kind::Slice) || handle || foreign)
      return Answer::No;
    if (type->isContainer() || type->isScalar() || type->is(Kind::String))
      return Answer::Yes;
    if (type->isNominal()) {
      ImplMatch match;
      if (lang(trait) && findImpl(lang(trait), type, {}, match))
        return Answer::Yes;
      if (type->item == lang_.option)
        return Answer::Yes;
      if (type->is(Kind::Newtype))
        return isStructurally(representation(type), trait, depth + 1, seen);
      return nominal(type->item).derivesDefault ? Answer::Yes : Answer::No;
    }
    return parts(type->args);
  case LangTrait::Display:
  case LangTrait::Debug: {
    llvm::SmallPtrSet<Type*, 8> formatted;
    return hasTextForm(type,
                       trait == LangTrait::Debug ? FormatSpec::Kind::Debug
                                                 : FormatSpec::Kind::Display,
                       formatted)
               ? Answer::Yes
               : Answer::No;
  }
  case LangTrait::Encodable:
  case LangTrait::Decodable:
    // A function and a range have no JSON form. The length of a slice is nobody's, a heap orders
    // what it is given, and the name of a member says a key only where its text does.
    if (type->is(Kind::Fn) || handle || type->is(Kind::Range))
      return Answer::No;
    if (trait == LangTrait::Decodable) {
      if (type->is(Kind::Slice) || type->is(Kind::MaxHeap) || type->is(Kind::MinHeap))
        return Answer::No;
      if ((type->is(Kind::Map) || type->is(Kind::BTreeMap)) && !isMemberName(type->args[0]))
        return Answer::No;
    }
    if (!type->isNominal())
      return parts(type->args);
    if (type->is(Kind::Newtype))
      return isStructurally(representation(type), trait, depth + 1, seen);
    return isOpaqueHandle(type) ? Answer::No : fields();
  case LangTrait::Add:
    return type->isNumeric() || type->is(Kind::String) ? Answer::Yes : Answer::No;
  case LangTrait::Sub:
  case LangTrait::Mul:
  case LangTrait::Div:
  case LangTrait::Rem:
  case LangTrait::Neg:
    return type->isNumeric() ? Answer::Yes : Answer::No;
  case LangTrait::BitAnd:
  case LangTrait::BitOr:
  case LangTrait::BitXor:
  case LangTrait::Not:
    return type->isInteger() || type->is(Kind::Bool) ? Answer::Yes : Answer::No;
  case LangTrait::Shl:
  case LangTrait::Shr:
    return type->isInteger() ? Answer::Yes : Answer::No;
  default:
    return Answer::No;
  }
}

/// Can the name of a JSON member be a key of this type?
bool Checker::isMemberName(Type* type) {
  type = shallow(type)->withoutReferences();
  if (type->is(Kind::Newtype))
    return isMemberName(representation(type));
  if (type->is(Kind::Enum))
    return llvm::all_of(cast<EnumItem>(type->item)->variants,
                        [](const VariantDecl& variant) { return variant.fields.empty(); });
  return type->isInteger() || type->isInferInteger() || type->is(Kind::String) ||
         type->is(Kind::Bool) || type->is(Kind::Char) || type->is(Kind::Infer) ||
         type->is(Kind::Error) || type->is(Kind::Never) || type->is(Kind::Param) ||
         type->is(Kind::Projection);
}

/// A struct of the library whose fields are its own affair, such as an open file, or a value that
/// stays in Rust.
bool Checker::isOpaqueHandle(Type* type) {
  if (type->is(Kind::Struct) && cast<StructItem>(type->item)->isForeign)
    return true;
  if (!type->is(Kind::Struct) || !type->item->parentModule ||
      type->item->parentModule->package != 0)
    return false;
  return llvm::any_of(cast<StructItem>(type->item)->fields, [](const FieldDecl& field) {
    return field.visibility == Visibility::Private;
  });
}

/// `#[rename("id")]`, `#[skip]` and `#[default]` of the fields of a struct or variant (language.md
/// section 17.6).
void Checker::readCodecAttributes(ArrayRef<FieldDecl> fields) {
  llvm::DenseMap<StringRef, const FieldDecl*> members;
  for (const FieldDecl& constField : fields) {
    auto& field = const_cast<FieldDecl&>(constField);
    field.member = {};
    field.isSkipped = field.isDefaulted = false;
    for (const Attribute& attribute : field.attributes) {
      if (attribute.path.segments.size() != 1)
        continue;
      StringRef name = attribute.path.segments[0].ident.name.text();
      if (name != "rename" && name != "skip" && name != "default")
        continue;
      if (!field.name.name) {
        engine_.report(attribute.span, diag::MalformedAttribute,
                       ("`" + name + "` is for fields that have a name").str());
        continue;
      }
      StringRef argument =
          attribute.argumentSpan.valid() ? input_.sources.text(attribute.argumentSpan).trim() : "";
      if (name == "rename") {
        const bool isText =
            argument.size() > 2 && argument.starts_with("\"") && argument.ends_with("\"");
        StringRef text = isText ? argument.drop_front().drop_back() : StringRef();
        if (text.empty() || text.contains('"') || text.contains('\\'))
          engine_.report(attribute.span, diag::MalformedAttribute,
                         "`rename` takes one string without escapes");
        else if (!field.member.empty())
          engine_.report(attribute.span, diag::MalformedAttribute,
                         "`rename` stands once at a field");
        else
          field.member = context_.string(text);
        continue;
      }
      if (!argument.empty())
        engine_.report(attribute.span, diag::MalformedAttribute,
                       ("`" + name + "` takes nothing").str());
      (name == "skip" ? field.isSkipped : field.isDefaulted) = true;
    }
    if (!field.name.name || field.isSkipped)
      continue;
    StringRef member = field.member.empty() ? field.name.name.text() : field.member;
    auto [first, fresh] = members.try_emplace(member, &field);
    // Two fields of one name are reported as such.
    if (!fresh && (!field.member.empty() || !first->second->member.empty()))
      engine_.report(field.name.span, diag::DuplicateItem, member)
          .note("it is the name of a member of the JSON form")
          .label(first->second->name.span, "first declared here");
  }
}

/// Attributes of fields say nothing of an item or a variant.
void Checker::refuseCodecAttributes(ArrayRef<Attribute> attributes) {
  for (const Attribute& attribute : attributes)
    if (attribute.path.segments.size() == 1)
      if (StringRef name = attribute.path.segments[0].ident.name.text();
          name == "rename" || name == "skip")
        engine_.report(attribute.span, diag::MalformedAttribute,
                       ("`" + name + "` is for fields that have a name").str());
}

/// Has a value of the type a zero value (language.md section 6.4)?
bool Checker::hasZero(Type* type, llvm::SmallPtrSetImpl<Type*>& seen) {
  type = shallow(type);
  if (!seen.insert(type).second || seen.size() > 1000)
    return true;
  switch (type->kind) {
  case Kind::Fn:
  case Kind::Slice:
  case Kind::Range:
  case Kind::Ref:
  case Kind::Param:
  case Kind::Projection:
    return false;
  case Kind::Tuple:
    return llvm::all_of(type->args, [&](Type* each) { return hasZero(each, seen); });
  case Kind::Array:
    return hasZero(type->args[0], seen);
  case Kind::Newtype:
    return hasZero(representation(type), seen);
  case Kind::Enum: {
    ArrayRef<VariantDecl> variants = cast<EnumItem>(type->item)->variants;
    return type->item == lang_.option || (!variants.empty() && variants[0].fields.empty());
  }
  case Kind::Struct: {
    if (isOpaqueHandle(type) || type->item == lang_.iterator)
      return false;
    resolveFields(type->item);
    return llvm::all_of(cast<StructItem>(type->item)->fields, [&](const FieldDecl& field) {
      return !field.resolved || hasZero(substitute(field.resolved, type->args, type), seen);
    });
  }
  default:
    return true;
  }
}

/// A field that a codec leaves out needs a value when it is read.
void Checker::checkCodecFields(Type* type, Span span, llvm::SmallPtrSetImpl<Type*>& seen) {
  type = shallow(type);
  if (!seen.insert(type).second || seen.size() > 1000)
    return;
  for (Type* arg : type->args)
    checkCodecFields(arg, span, seen);
  if (type->is(Kind::Newtype))
    return checkCodecFields(representation(type), span, seen);
  if (!type->is(Kind::Struct) && !type->is(Kind::Enum))
    return;
  resolveFields(type->item);
  auto each = [&](ArrayRef<FieldDecl> fields) {
    for (const FieldDecl& field : fields) {
      if (!field.resolved)
        continue;
      Type* own = substitute(field.resolved, type->args, type);
      llvm::SmallPtrSet<Type*, 8> zeros;
      if ((field.isSkipped || field.isDefaulted) && !hasZero(own, zeros))
        engine_.report(field.name.span, diag::BoundNotSatisfied, print(own), "Default")
            .note("the field may be missing, and a value of its type does not come out of nothing")
            .label(span, "read here");
      if (!field.isSkipped)
        checkCodecFields(own, span, seen);
    }
  };
  if (auto* structure = dyn_cast<StructItem>(type->item))
    each(structure->fields);
  else
    for (const VariantDecl& variant : cast<EnumItem>(type->item)->variants)
      each(variant.fields);
}

bool Checker::hasTextForm(Type* type, FormatSpec::Kind kind, llvm::SmallPtrSetImpl<Type*>& seen) {
  type = unifier_.shallow(type)->withoutReferences();
  if (type->isConstArgument() || !seen.insert(type).second)
    return true;
  if (kind != FormatSpec::Kind::Display && kind != FormatSpec::Kind::Debug) {
    // A radix needs an integer.
    if (type->is(Kind::Param)) {
      return false;
    }
    return type->isInteger() || type->isInferInteger() || type->is(Kind::Error) ||
           type->is(Kind::Never);
  }
  switch (type->kind) {
  case Kind::Fn:
    return false;
  case Kind::Param:
  case Kind::Projection: {
    for (LangTrait each : {LangTrait::Display, LangTrait::Debug}) {
      if (each == LangTrait::Display && kind == FormatSpec::Kind::Debug)
        continue;
      if (each == LangTrait::Debug && kind == FormatSpec::Kind::Display)
        continue;
      TraitRef wanted;
      wanted.trait = lang(each);
      if (!wanted.trait)
        return true;
      for (const TraitRef& bound : boundsOf(type))
        if (boundImplies(bound, wanted, type))
          return true;
    }
    // Inside the library every value may be rendered: its own signatures say what it takes.
    return body_ && body_->package == 0;
  }
  case Kind::Struct:
  case Kind::Enum: {
    if (type->item == lang_.iterator)
      return false;
    ImplMatch match;
    TraitItem* trait =
        lang(kind == FormatSpec::Kind::Debug ? LangTrait::Debug : LangTrait::Display);
    if (trait && findImpl(trait, type, {}, match))
      return true;
    bool library = type->item->parentModule && type->item->parentModule->package == 0;
    if (library && isa<StructItem>(type->item) && type->item != lang_.option &&
        !nominal(type->item).derivesDebug) {
      // Opaque handles of the library have no text.
      auto* structure = cast<StructItem>(type->item);
      for (const FieldDecl& field : structure->fields)
        if (field.visibility == Visibility::Private)
          return false;
    }
    if (!library && !type->args.empty() && !nominal(type->item).derivesDebug)
      return false; // a generic type must derive Debug
    resolveFields(type->item);
    auto each = [&](ArrayRef<FieldDecl> fields) {
      for (const FieldDecl& field : fields)
        if (field.resolved &&
            !hasTextForm(substitute(field.resolved, type->args, type), kind, seen))
          return false;
      return true;
    };
    if (auto* structure = dyn_cast<StructItem>(type->item))
      return each(structure->fields);
    for (const VariantDecl& variant : cast<EnumItem>(type->item)->variants)
      if (!each(variant.fields))
        return false;
    return true;
  }
  case Kind::Newtype: {
    ImplMatch match;
    TraitItem* trait =
        lang(kind == FormatSpec::Kind::Debug ? LangTrait::Debug : LangTrait::Display);
    if (trait && findImpl(trait, type, {}, match))
      return true;
    return hasTextForm(representation(type), kind, seen);
  }
  default:
    for (Type* arg : type->args)
      if (!hasTextForm(arg, kind, seen))
        return false;
    return true;
  }
}

} // namespace gos::check
