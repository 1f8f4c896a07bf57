// Building the module trees: packages of the user, modules of the library, blocks with items.

#include "compiler/parse/parse.h"
#include "compiler/resolve/resolver.h"

namespace gos::resolve {

using namespace ast;

Resolver::Resolver(ast::Context& context, SourceMap& sources, Engine& engine,
                   const Library* library, LibraryTrees& trees)
    : context_(context), sources_(sources), engine_(engine), library_(library), trees_(trees) {
#define GOS_KNOWN_CALL(name, spelling) knownCalls_[context_.names.intern(spelling)] = 1;
#include "compiler/ast/known_calls.def"
  knownCalls_[context_.names.intern("spawn")] = 1;
  for (StringRef name :
       {"bool", "char",     "i8",       "i16",   "i32",   "i64",    "isize",   "u8",      "u16",
        "u32",  "u64",      "usize",    "f32",   "f64",   "String", "str",     "Vec",     "Map",
        "Set",  "BTreeMap", "BTreeSet", "Deque", "Queue", "Stack",  "MaxHeap", "MinHeap", "Range"})
    builtinTypes_[context_.names.intern(name)] = 1;
}

Resolver::~Resolver() = default;

ModuleScope* Resolver::makeScope() {
  return &scopes_.emplace_back();
}

ModuleScope* Resolver::scopeOf(const Item* item) const {
  return item->parentModule ? static_cast<ModuleScope*>(item->parentModule->info) : nullptr;
}

void Resolver::build(ArrayRef<Package> packages) {
  roots_.assign(packages.size() + 1, nullptr);
  dependencies_.resize(packages.size() + 1);
  roots_[0] = libraryModule("core");
  for (size_t i = 0; i < packages.size(); ++i) {
    const Package& package = packages[i];
    uint32_t number = uint32_t(i + 1);
    dependencies_[number] = package.dependencies;
    ModuleScope* root = makeScope();
    root->package = number;
    roots_[number] = root;
    modules_.push_back(root);
    // First the places, then the contents: an inline `mod` may not hide a file of that name.
    for (const SourceModule& module : package.modules) {
      ModuleScope* scope = root;
      for (StringRef segment : module.path)
        scope = childModule(scope, segment, true);
      if (scope->item && scope != root)
        continue; // `util.gos` beside `util/mod.gos`: the first one counts
      scope->item = module.file.module;
      scope->item->package = number;
      scope->item->info = scope;
    }
    for (const SourceModule& module : package.modules) {
      auto* scope = static_cast<ModuleScope*>(module.file.module->info);
      if (!scope || scope->item != module.file.module)
        continue;
      for (const Attribute& attribute : module.file.module->innerAttributes)
        if (attribute.path.segments.size() == 1 &&
            attribute.path.segments[0].ident.name.text() == "allow")
          for (const Ident& word : attribute.words)
            scope->allowsUnusedResult |= word.name.text() == "unused_result";
      declare(scope, scope->item->items);
    }
  }
  // A directory without a file of its own still needs an item to hang its scope on.
  for (ModuleScope& scope : scopes_)
    if (!scope.item) {
      scope.item = context_.make<ModuleItem>(Span{});
      scope.item->package = scope.package;
      scope.item->info = &scope;
    }
}

ModuleScope* Resolver::childModule(ModuleScope* parent, StringRef text, bool create) {
  Name name = context_.names.intern(text);
  ScopeEntry& entry = parent->entries[name];
  if (!entry.own.module && create) {
    ModuleScope* child = makeScope();
    child->parent = parent;
    child->package = parent->package;
    child->path = parent->path.empty() ? text.str() : parent->path + "::" + text.str();
    child->allowsUnusedResult = false;
    modules_.push_back(child);
    parent->entries[name].own.module = child;
    return child;
  }
  return entry.own.module;
}

void Resolver::duplicate(Item* first, Item* second) {
  engine_.report(second->name.span, diag::DuplicateItem, second->name.name.text())
      .label(first->name.span, "first declared here");
}

void Resolver::addItem(ModuleScope* scope, Item* item) {
  Name name = item->name.name;
  if (!name)
    return;
  if (scope->package != 0 && knownCalls_.count(name))
    engine_.report(item->name.span, diag::ReservedCallName, name.text());
  Binding& own = scope->entries[name].own;
  switch (item->kind) {
  case ItemKind::Struct:
  case ItemKind::Enum:
  case ItemKind::Alias:
  case ItemKind::Newtype:
    if (own.type || (own.trait && scope->package != 0))
      return duplicate(own.type ? own.type : own.trait, item);
    own.type = item;
    return;
  case ItemKind::Trait:
    if (own.trait || (own.type && scope->package != 0))
      return duplicate(own.trait ? own.trait : own.type, item);
    own.trait = item;
    return;
  case ItemKind::Function:
    if (own.value && scope->package == 0 && isa<FunctionItem>(own.value)) {
      SmallVector<FunctionItem*, 4> all(own.overloads.begin(), own.overloads.end());
      if (all.empty())
        all.push_back(cast<FunctionItem>(own.value));
      all.push_back(cast<FunctionItem>(item));
      own.overloads = context_.list<FunctionItem*>(all);
      return;
    }
    [[fallthrough]];
  case ItemKind::Const:
  case ItemKind::Static:
    if (own.value)
      return duplicate(own.value, item);
    own.value = item;
    return;
  case ItemKind::Impl:
  case ItemKind::Module:
  case ItemKind::Use:
  case ItemKind::Error:
    return;
  }
}

void Resolver::addVariants(ModuleScope* scope, EnumItem* item) {
  for (uint32_t i = 0; i < item->variants.size(); ++i) {
    Name name = item->variants[i].name.name;
    if (!name)
      continue;
    Binding& own = scope->entries[name].own;
    if (!own.variantOf) {
      own.variantOf = item;
      own.variant = i;
    } else if (own.variantOf != item) {
      own.otherVariantOf = item;
    }
    if (scope->package == 0)
      continue;
    Binding& everywhere = programVariants_[name];
    if (!everywhere.variantOf) {
      everywhere.variantOf = item;
      everywhere.variant = i;
    } else if (everywhere.variantOf != item) {
      everywhere.otherVariantOf = item;
    }
  }
}

void Resolver::declare(ModuleScope* scope, ArrayRef<Item*> list) {
  scope->entries.reserve(unsigned(scope->entries.size() + list.size()));
  ModuleItem* parent = scope->module()->item;
  for (Item* item : list) {
    item->parentModule = parent;
    item->info = nullptr;
    if (!item->attributes.empty() && !isConfigured(item))
      continue;
    addItem(scope, item);
    if (auto* impl = dyn_cast<ImplItem>(item)) {
      impls.push_back(impl);
      for (Item* member : impl->items) {
        member->parentModule = parent;
        member->info = nullptr;
        if (auto* function = dyn_cast<FunctionItem>(member))
          function->owner = impl;
        else if (auto* constant = dyn_cast<ConstItem>(member))
          constant->owner = impl;
      }
    } else if (auto* trait = dyn_cast<TraitItem>(item)) {
      for (Item* member : trait->items) {
        member->parentModule = parent;
        member->info = nullptr;
        if (auto* function = dyn_cast<FunctionItem>(member))
          function->owner = trait;
        else if (auto* constant = dyn_cast<ConstItem>(member))
          constant->owner = trait;
      }
    } else if (auto* use = dyn_cast<UseItem>(item)) {
      addImports(scope, use);
    } else if (auto* enumeration = dyn_cast<EnumItem>(item)) {
      addVariants(scope, enumeration);
    } else if (auto* module = dyn_cast<ModuleItem>(item)) {
      StringRef name = module->name.name.text();
      ModuleScope* real = scope->module();
      ModuleScope* child = childModule(real, name, module->hasBody);
      if (!module->hasBody) {
        if (child) {
          child->declared = true;
          child->visibility = module->visibility;
        } else {
          engine_.report(module->name.span, diag::ModuleWithoutSource, name)
              .help(("write `src/" + (real->path.empty() ? std::string() : real->path + "/") +
                     name + ".gos`, or a body")
                        .str());
        }
        continue;
      }
      if (child->item) {
        engine_.report(module->name.span, diag::DuplicateItem, name);
        continue;
      }
      child->item = module;
      child->declared = true;
      child->visibility = module->visibility;
      child->allowsUnusedResult = real->allowsUnusedResult;
      module->package = scope->package;
      module->info = child;
      declare(child, module->items);
      module->info = child; // `declare` of the parent has cleared it
      continue;
    }
    items.push_back({item, scope});
  }
}

ModuleScope* Resolver::openBlock(ModuleScope* around, ArrayRef<Stmt*> statements) {
  ModuleScope* scope = makeScope();
  scope->kind = ModuleScope::Kind::Block;
  scope->parent = around;
  scope->package = around->package;
  scope->item = around->module()->item;
  scope->allowsUnusedResult = around->allowsUnusedResult;
  SmallVector<Item*, 8> list;
  for (Stmt* statement : statements)
    if (auto* item = dyn_cast<ItemStmt>(statement))
      list.push_back(item->item);
  declare(scope, list);
  return scope;
}

ModuleScope* Resolver::libraryModule(StringRef path) {
  auto found = libraryModules_.find(path);
  if (found != libraryModules_.end())
    return found->second;
  if (!library_ || !library_->hasModule(path)) {
    // `json` from inside the library means `encoding::json`.
    ModuleScope* scope = nullptr;
    if (library_ && path.find("::") == StringRef::npos) {
      SmallVector<StringRef, 64> paths;
      library_->modules(paths);
      for (StringRef each : paths)
        if (each.ends_with(("::" + path).str())) {
          scope = libraryModule(each);
          break;
        }
    }
    return scope;
  }
  ModuleScope* scope = makeScope();
  scope->path = path.str();
  scope->package = 0;
  libraryModules_[path] = scope;
  ModuleItem*& tree = trees_.modules[path];
  if (!tree) {
    if (std::optional<StringRef> text = library_->source(path)) {
      std::string name = "<std>/" + path.str() + ".gos";
      if (llvm::Expected<FileId> file = sources_.addCopy(name, *text))
        tree = parse::parseFile(*file, sources_, context_, engine_, {}).module;
      else
        llvm::consumeError(file.takeError());
    }
    if (!tree)
      tree = context_.make<ModuleItem>(Span{});
    tree->package = 0;
  }
  scope->item = tree;
  tree->info = scope;
  modules_.push_back(scope);
  declare(scope, tree->items);
  tree->info = scope;
  return scope;
}

void Resolver::natives(StringRef owner, Name name, llvm::SmallVectorImpl<FunctionItem*>& found) {
  if (!library_)
    return;
  SmallVector<NativeFunction, 4> rows;
  library_->natives(owner, name.text(), rows);
  for (const NativeFunction& row : rows) {
    FunctionItem*& function = trees_.natives[row.id];
    if (!function) {
      llvm::Expected<FileId> file = sources_.addCopy("<std>/" + row.path.str(), row.signature);
      if (!file) {
        llvm::consumeError(file.takeError());
        continue;
      }
      function = parse::parseSignature(*file, 0, uint32_t(row.signature.size()), sources_, context_,
                                       engine_);
      if (!function)
        continue;
      function->name = {name, function->span};
      function->builtin = row.id;
      function->visibility = Visibility::Public;
    }
    // The module that its types are resolved in: the owner, or the owner's without a type name.
    ModuleScope* module = nullptr;
    StringRef path = owner;
    while (!module && !path.empty()) {
      if (library_->hasModule(path))
        module = libraryModule(path);
      size_t cut = path.rfind("::");
      path = cut == StringRef::npos ? StringRef() : path.substr(0, cut);
    }
    if (!module)
      module = core();
    if (!touchedNatives_.try_emplace(function, 1).second) {
      found.push_back(function);
      continue;
    }
    function->parentModule = module ? module->item : nullptr;
    function->info = nullptr;
    found.push_back(function);
  }
}

} // namespace gos::resolve
