// From parsed files to the model.

#include "compiler/document/text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <deque>

namespace gos::document {
namespace {

using llvm::ArrayRef;
using llvm::StringRef;

constexpr unsigned kMaxModules = 64; // inline modules inside each other

bool hasAttribute(const ast::Item* item, StringRef name) {
  return llvm::any_of(item->attributes, [&](const ast::Attribute& attribute) {
    return attribute.path.segments.size() == 1 &&
           attribute.path.segments[0].ident.name.text() == name;
  });
}

StringRef visibilityText(ast::Visibility visibility) {
  switch (visibility) {
  case ast::Visibility::Private:
    return "";
  case ast::Visibility::Package:
    return "pub(package) ";
  case ast::Visibility::Public:
    return "pub ";
  }
  return "";
}

class PackageReader {
public:
  PackageReader(const SourceMap& sources, Take take) : sources_(sources), take_(take) {}

  void addFile(const ParsedFile& file) {
    Module& module = moduleAt(file.modulePath);
    readComment(sources_, commentAtTop(sources_, file.file->id), module.path, module.documentation,
                module.code);
    addItems(module, file.file->module->items, 0);
  }

  void finish(Documentation& result) {
    for (const Pending& pending : pending_)
      attach(pending);
    for (Module& module : modules_)
      result.modules.push_back(std::move(module));
    llvm::stable_sort(result.modules,
                      [](const Module& a, const Module& b) { return a.path < b.path; });
  }

private:
  struct Pending { // an impl, once all types are known
    Module* module;
    const ast::ImplItem* impl;
  };

  Module& moduleAt(StringRef path) {
    for (Module& module : modules_)
      if (module.path == path)
        return module;
    Module& module = modules_.emplace_back();
    module.path = path.str();
    return module;
  }

  bool isTaken(ast::Visibility visibility) const {
    return take_ == Take::All || visibility == ast::Visibility::Public;
  }

  void addItems(Module& module, ArrayRef<ast::Item*> items, unsigned depth) {
    for (const ast::Item* item : items) {
      if (const auto* impl = llvm::dyn_cast<ast::ImplItem>(item)) {
        pending_.push_back({&module, impl});
        continue;
      }
      if (!item->name.name || !isTaken(item->visibility) || llvm::isa<ast::UseItem>(item))
        continue;
      if (const auto* inner = llvm::dyn_cast<ast::ModuleItem>(item)) {
        if (inner->hasBody && depth < kMaxModules && !hasAttribute(inner, "cfg"))
          addInline(module, inner, depth);
        continue;
      }
      if (auto made = makeItem(item, module.path))
        module.items.push_back(std::move(*made));
    }
  }

  void addInline(Module& around, const ast::ModuleItem* inner, unsigned depth) {
    Module& module = moduleAt(joined(around.path, inner->name.name.text()));
    readComment(sources_, inner->documentation, module.path, module.documentation, module.code);
    addItems(module, inner->items, depth + 1);
  }

  Item start(const ast::Item* from, ItemKind kind, StringRef owner) {
    Item item;
    item.kind = kind;
    item.name = from->name.name.text().str();
    item.path = joined(owner, item.name);
    item.visibility = from->visibility;
    item.span = from->span;
    item.notBuilt = hasAttribute(from, "not_yet");
    readComment(sources_, from->documentation, item.path, item.documentation, item.code);
    return item;
  }

  std::optional<Item> makeItem(const ast::Item* from, StringRef owner) {
    const std::string visibility = visibilityText(from->visibility).str();
    const std::string name = from->name.name.text().str();
    switch (from->kind) {
    case ast::ItemKind::Function: {
      const auto* function = llvm::cast<ast::FunctionItem>(from);
      if (function->implicitMain || hasAttribute(from, "test"))
        return std::nullopt;
      Item item = start(from, ItemKind::Function, owner);
      item.signature = visibility + functionSignature(function);
      return item;
    }
    case ast::ItemKind::Struct:
      return makeStruct(llvm::cast<ast::StructItem>(from), owner);
    case ast::ItemKind::Enum:
      return makeEnum(llvm::cast<ast::EnumItem>(from), owner);
    case ast::ItemKind::Trait:
      return makeTrait(llvm::cast<ast::TraitItem>(from), owner);
    case ast::ItemKind::Alias: {
      const auto* alias = llvm::cast<ast::AliasItem>(from);
      Item item = start(from, ItemKind::Alias, owner);
      item.signature =
          visibility + "type " + name + generics(alias->generics) + bounds(alias->bounds, ": ");
      if (alias->target)
        item.signature += " = " + flat(sources_, alias->target->span);
      return item;
    }
    case ast::ItemKind::Newtype: {
      const auto* newtype = llvm::cast<ast::NewtypeItem>(from);
      Item item = start(from, ItemKind::Newtype, owner);
      item.signature = visibility + "newtype " + name + generics(newtype->generics);
      if (newtype->target)
        item.signature += " = " + flat(sources_, newtype->target->span);
      return item;
    }
    case ast::ItemKind::Const: {
      const auto* constant = llvm::cast<ast::ConstItem>(from);
      Item item = start(from, ItemKind::Constant, owner);
      item.signature = visibility + "const " + name + typed(constant->type);
      // A short value is worth showing; a long one hides the rest.
      if (constant->value && constant->value->span.size() <= 60)
        item.signature += " = " + flat(sources_, constant->value->span);
      return item;
    }
    case ast::ItemKind::Static: {
      const auto* variable = llvm::cast<ast::StaticItem>(from);
      Item item = start(from, ItemKind::Static, owner);
      item.signature = visibility + "static " + (variable->isMutable ? "mut " : "") + name +
                       typed(variable->type);
      return item;
    }
    case ast::ItemKind::Impl:
    case ast::ItemKind::Module:
    case ast::ItemKind::Use:
    case ast::ItemKind::Error:
      return std::nullopt;
    }
    return std::nullopt;
  }

  std::string typed(const ast::TypeNode* type) {
    return type ? ": " + flat(sources_, type->span) : std::string();
  }
  std::string generics(const ast::Generics& generics) {
    return generics.span.valid() ? flat(sources_, generics.span) : std::string();
  }
  std::string bounds(ArrayRef<ast::TypeBound> list, StringRef before) {
    std::string text;
    for (const ast::TypeBound& bound : list)
      text += (text.empty() ? before : StringRef(" + ")).str() + flat(sources_, bound.path.span);
    return text;
  }
  std::string where(const ast::Generics& generics) {
    std::string text;
    for (const ast::WherePredicate& predicate : generics.where)
      if (predicate.subject)
        text += (text.empty() ? " where " : ", ") + flat(sources_, predicate.subject->span) +
                bounds(predicate.bounds, ": ");
    return text;
  }

  std::string functionSignature(const ast::FunctionItem* function) {
    std::string text = function->isComptime ? "comptime " : "";
    if (function->isUnsafe)
      text += "unsafe ";
    text += ("fn " + function->name.name.text()).str() + generics(function->generics) + "(";
    for (size_t i = 0; i < function->parameters.size(); ++i)
      text += (i ? ", " : "") + flat(sources_, function->parameters[i].span);
    text += ")";
    if (function->returnType)
      text += " -> " + flat(sources_, function->returnType->span);
    return text + where(function->generics);
  }

  std::string derives(const ast::Item* item) {
    std::string text;
    for (const ast::Attribute& attribute : item->attributes) {
      if (attribute.path.segments.size() != 1)
        continue;
      const StringRef name = attribute.path.segments[0].ident.name.text();
      if (name != "derive" && name != "must_use")
        continue;
      text += "#[" + name.str();
      if (attribute.argumentSpan.valid() && attribute.argumentSpan.size())
        text += "(" + flat(sources_, attribute.argumentSpan) + ")";
      text += "]\n";
    }
    return text;
  }

  Item makeField(const ast::FieldDecl& field, StringRef owner) {
    Item item;
    item.kind = ItemKind::Field;
    item.name = field.name.name.text().str();
    item.path = joined(owner, item.name);
    item.visibility = field.visibility;
    item.span = field.name.span;
    item.signature = (visibilityText(field.visibility) + item.name).str() + typed(field.type);
    // What stands behind the field before it on one line is no comment of this one.
    readComment(sources_, commentAbove(sources_, field.name.span), item.path, item.documentation,
                item.code);
    return item;
  }

  /// The fields as text in their brackets, and as members.
  std::string fields(ast::StructShape shape, ArrayRef<ast::FieldDecl> list, StringRef owner,
                     Item& item, bool allVisible) {
    if (shape == ast::StructShape::Unit)
      return "";
    const bool isTuple = shape == ast::StructShape::Tuple;
    bool hidden = false;
    std::string text = isTuple ? "(" : allVisible ? " { " : " {\n";
    bool first = true;
    for (const ast::FieldDecl& field : list) {
      const bool shown = allVisible || isTaken(field.visibility);
      hidden |= !shown;
      if (isTuple) {
        text += (first ? "" : ", ") + visibilityText(field.visibility).str() +
                (shown && field.type ? flat(sources_, field.type->span) : std::string("_"));
      } else if (shown) {
        Item member = makeField(field, owner);
        text +=
            allVisible ? (first ? "" : ", ") + member.signature : "    " + member.signature + "\n";
        item.members.push_back(std::move(member));
      } else {
        continue;
      }
      first = false;
    }
    if (isTuple)
      return text + ")";
    if (allVisible)
      return text + " }";
    if (hidden)
      text += "    // private fields\n";
    return text + "}";
  }

  Item makeStruct(const ast::StructItem* from, StringRef owner) {
    Item item = start(from, ItemKind::Struct, owner);
    item.signature = derives(from) + visibilityText(from->visibility).str() + "struct " +
                     item.name + generics(from->generics) + where(from->generics);
    item.signature += fields(from->shape, from->fields, item.path, item, /*allVisible=*/false);
    return item;
  }

  Item makeEnum(const ast::EnumItem* from, StringRef owner) {
    Item item = start(from, ItemKind::Enum, owner);
    item.signature = derives(from) + visibilityText(from->visibility).str() + "enum " + item.name +
                     generics(from->generics) + where(from->generics) + " {\n";
    for (const ast::VariantDecl& variant : from->variants) {
      Item member;
      member.kind = ItemKind::Variant;
      member.name = variant.name.name.text().str();
      member.path = joined(item.path, member.name);
      member.span = variant.span;
      readComment(sources_, commentAbove(sources_, variant.span), member.path, member.documentation,
                  member.code);
      member.signature = member.name + fields(variant.shape, variant.fields, member.path, member,
                                              /*allVisible=*/true);
      item.signature += "    " + member.signature + "\n";
      item.members.push_back(std::move(member));
    }
    item.signature += "}";
    return item;
  }

  Item makeTrait(const ast::TraitItem* from, StringRef owner) {
    Item item = start(from, ItemKind::Trait, owner);
    item.signature = visibilityText(from->visibility).str() + "trait " + item.name +
                     generics(from->generics) + bounds(from->supertraits, ": ") +
                     where(from->generics);
    std::string inside;
    for (const ast::Item* each : from->items) {
      auto member = makeItem(each, item.path);
      if (!member)
        continue;
      if (const auto* function = llvm::dyn_cast<ast::FunctionItem>(each)) {
        member->kind =
            function->self == ast::SelfKind::None ? ItemKind::Associated : ItemKind::Method;
        if (function->body)
          member->signature += " { .. }";
      }
      member->visibility = from->visibility;
      inside += "    " + member->signature + "\n";
      item.members.push_back(std::move(*member));
    }
    item.signature += inside.empty() ? " {}" : " {\n" + inside + "}";
    return item;
  }

  // ---- impls ----------------------------------------------------------------------------------

  static StringRef lastName(const ast::TypeNode* type) {
    if (const auto* path = llvm::dyn_cast_or_null<ast::PathTypeNode>(type))
      if (!path->path.segments.empty())
        return path->path.segments.back().ident.name.text();
    return {};
  }

  static Item* typeNamed(Module& module, StringRef name) {
    for (Item& item : module.items)
      switch (item.kind) {
      case ItemKind::Struct:
      case ItemKind::Enum:
      case ItemKind::Newtype:
      case ItemKind::Alias:
      case ItemKind::BuiltinType:
        if (item.name == name)
          return &item;
        break;
      case ItemKind::Function:
      case ItemKind::Method:
      case ItemKind::Associated:
      case ItemKind::Trait:
      case ItemKind::Constant:
      case ItemKind::Static:
      case ItemKind::Field:
      case ItemKind::Variant:
      case ItemKind::Implementation:
      case ItemKind::Opaque:
        break;
      }
    return nullptr;
  }

  /// The type that an impl is about: of its module, else the only one of that name, else a type
  /// that is declared elsewhere and gets an entry here. Null: a type that is not shown.
  Item* targetOf(const Pending& pending, StringRef name) {
    if (Item* here = typeNamed(*pending.module, name))
      return here;
    Item* only = nullptr;
    for (Module& module : modules_)
      if (Item* there = typeNamed(module, name)) {
        if (only)
          return nullptr;
        only = there;
      }
    return only;
  }

  void attach(const Pending& pending) {
    const ast::ImplItem* impl = pending.impl;
    if (!impl->target)
      return;
    const std::string written = flat(sources_, impl->target->span);
    const StringRef name = lastName(impl->target);
    Item* target = name.empty() ? nullptr : targetOf(pending, name);
    std::vector<Item> members;
    const std::string owner =
        target ? target->path
               : joined(pending.module->path, name.empty() ? StringRef(written) : name);
    for (const ast::Item* each : impl->items) {
      if (!impl->hasTrait && !isTaken(each->visibility))
        continue;
      auto member = makeItem(each, owner);
      if (!member)
        continue;
      if (const auto* function = llvm::dyn_cast<ast::FunctionItem>(each))
        member->kind =
            function->self == ast::SelfKind::None ? ItemKind::Associated : ItemKind::Method;
      members.push_back(std::move(*member));
    }
    if (impl->hasTrait) {
      Item made;
      made.kind = ItemKind::Implementation;
      made.name = flat(sources_, impl->trait.span);
      made.signature = "impl" + generics(impl->generics) + " " + made.name + " for " + written +
                       where(impl->generics);
      made.path = owner + "::" + made.name;
      made.span = impl->span;
      readComment(sources_, impl->documentation, made.path, made.documentation, made.code);
      // Its functions are the trait's; only what is said about them here is worth a place.
      for (Item& member : members)
        if (!member.documentation.empty())
          made.members.push_back(std::move(member));
      if (target)
        target->members.push_back(std::move(made));
      else if (take_ == Take::All)
        pending.module->items.push_back(std::move(made));
      return;
    }
    if (!target) {
      if (members.empty())
        return;
      if (take_ == Take::Reachable && !isBuiltinName(name))
        return; // of a private type
      Item made;
      made.kind = ItemKind::BuiltinType;
      made.name = name.empty() ? written : name.str();
      made.path = owner;
      pending.module->items.push_back(std::move(made));
      target = &pending.module->items.back();
    }
    std::move(members.begin(), members.end(), std::back_inserter(target->members));
  }

  /// A type that no file of the package declares.
  bool isBuiltinName(StringRef name) const { return !privateTypes_.contains(name); }

  const SourceMap& sources_;
  Take take_;
  std::deque<Module> modules_; // never move: impls point at them
  std::vector<Pending> pending_;

public:
  llvm::StringMap<char> privateTypes_;
};

void collectPrivate(ArrayRef<ast::Item*> items, llvm::StringMap<char>& names, unsigned depth) {
  for (const ast::Item* item : items) {
    if (const auto* module = llvm::dyn_cast<ast::ModuleItem>(item)) {
      if (depth < kMaxModules)
        collectPrivate(module->items, names, depth + 1);
    } else if (item->name.name &&
               (llvm::isa<ast::StructItem>(item) || llvm::isa<ast::EnumItem>(item) ||
                llvm::isa<ast::NewtypeItem>(item))) {
      names[item->name.name.text()] = 1;
    }
  }
}

} // namespace

Documentation documentPackage(StringRef title, ArrayRef<ParsedFile> files, const SourceMap& sources,
                              Take take) {
  Documentation result;
  result.title = title.str();
  PackageReader reader(sources, take);
  for (const ParsedFile& file : files)
    collectPrivate(file.file->module->items, reader.privateTypes_, 0);
  for (const ParsedFile& file : files)
    reader.addFile(file);
  reader.finish(result);
  return result;
}

} // namespace gos::document
