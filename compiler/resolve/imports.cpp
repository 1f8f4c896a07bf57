// `use`: what an imported name stands for.

#include "compiler/resolve/removed_names.h"
#include "compiler/resolve/resolver.h"
#include "compiler/resolve/unbuilt.h"

namespace gos::resolve {

using namespace ast;

void Resolver::addImports(ModuleScope* scope, UseItem* item) {
  for (const UseLeaf& leaf : item->leaves) {
    if (!leaf.binding.name)
      continue;
    ScopeEntry& entry = scope->entries[leaf.binding.name];
    if (entry.import) {
      engine_.report(leaf.binding.span, diag::DuplicateImport, leaf.binding.name.text())
          .label(entry.import->leaf->binding.span, "first imported here");
      continue;
    }
    imports_.push_back({&leaf, item, scope, Import::State::Fresh, {}});
    entry.import = &imports_.back();
  }
}

void Resolver::checkImports() {
  for (size_t i = 0; i < imports_.size(); ++i)
    if (imports_[i].scope->package != 0)
      importTarget(&imports_[i]);
}

bool Resolver::isBrokenImport(ModuleScope* scope, Name name) {
  auto found = scope->entries.find(name);
  if (found == scope->entries.end() || !found->second.import)
    return false;
  const Import& import = *found->second.import;
  return import.state != Import::State::Fresh && !import.target.names();
}

const Binding* Resolver::importTarget(Import* import) {
  if (import->state == Import::State::Done)
    return &import->target;
  if (import->state == Import::State::Running || importDepth_ > 200) {
    engine_.report(import->leaf->span, diag::ImportCycle, import->leaf->binding.name.text());
    import->state = Import::State::Done;
    return &import->target;
  }
  import->state = Import::State::Running;
  ++importDepth_;
  resolveImport(*import);
  --importDepth_;
  import->state = Import::State::Done;
  return &import->target;
}

ModuleScope* Resolver::dependency(uint32_t package, StringRef name, bool byId) {
  for (const Dependency& each : dependencies_[package])
    if ((byId ? each.id : each.name) == name && each.package < roots_.size())
      return roots_[each.package];
  return nullptr;
}

bool Resolver::isBinding(uint32_t package, StringRef name) const {
  return llvm::any_of(dependencies_[package],
                      [&](const Dependency& each) { return each.name == name && each.isBinding; });
}

ModuleScope* Resolver::standardModule(ArrayRef<Ident> path, ModuleScope* from, size_t& used) {
  std::string text;
  ModuleScope* found = nullptr;
  for (size_t i = 1; i < path.size(); ++i) {
    text += (i > 1 ? "::" : "") + path[i].name.text().str();
    // The library's own building blocks do not exist for anybody else.
    if (text == "intrinsics" && from->package != 0)
      break;
    if (library_->hasModule(text)) {
      found = libraryModule(text);
      used = i + 1;
    }
  }
  if (found)
    return found;
  std::string wanted = path[1].name.text().str();
  if (StringRef unbuilt = unbuiltModule(wanted); !unbuilt.empty()) {
    engine_.report(path[1].span, diag::NotYet, unbuilt);
    return nullptr;
  }
  SmallVector<StringRef, 64> modules;
  library_->modules(modules);
  Diagnostic& report = engine_.report(path[1].span, diag::UnknownModule, "std::" + wanted);
  for (StringRef each : modules)
    if (each != "intrinsics" && each.ends_with("::" + wanted)) {
      report.help(("its path is `std::" + each + "`").str());
      return nullptr;
    }
  StringRef near = nearest(wanted, modules);
  if (!near.empty())
    report.help(("did you mean `std::" + near + "`?").str());
  return nullptr;
}

void Resolver::resolveImport(Import& import) {
  const UseLeaf& leaf = *import.leaf;
  ModuleScope* from = import.scope;
  ModuleScope* module = nullptr;
  ArrayRef<Ident> path = leaf.path;
  std::string spelled;
  auto unknownModule = [&](Span span, StringRef text, ArrayRef<StringRef> candidates) {
    Diagnostic& report = engine_.report(span, diag::UnknownModule, text);
    StringRef near = nearest(text, candidates);
    if (!near.empty())
      report.help(("did you mean `" + near + "`?").str());
  };
  if (!leaf.package.empty()) {
    module = dependency(from->package, leaf.package, true);
    if (!module) {
      SmallVector<StringRef, 8> ids;
      for (const Dependency& each : dependencies_[from->package])
        ids.push_back(each.id);
      unknownModule(leaf.packageSpan, leaf.package, ids);
      return;
    }
    spelled = leaf.package.str();
  } else if (!path.empty()) {
    StringRef first = path[0].name.text();
    size_t used = 1;
    if (first == "crate") {
      module = from->package ? roots_[from->package] : core();
    } else if (first == "self") {
      module = from->module();
    } else if (first == "super") {
      module = from->module();
      used = 0;
      while (used < path.size() && path[used].name.text() == "super") {
        module = module->parent;
        ++used;
        if (!module) {
          engine_.report(path[used - 1].span, diag::UnknownModule, "super")
              .note("there is no module above the root of the package");
          return;
        }
      }
    } else if (first == "std" && library_) {
      if (path.size() == 1) {
        engine_.report(leaf.span, diag::MalformedUse, "`std` alone names no module");
        return;
      }
      module = standardModule(path, from, used);
      if (!module)
        return;
    } else {
      ModuleScope* here = from->module();
      auto own = here->entries.find(path[0].name);
      ModuleScope* outside = dependency(from->package, first, false);
      if (own != here->entries.end() && own->second.own.names()) {
        module = here;
        used = 0;
      } else if (outside) {
        module = outside;
      } else if (from->kind == ModuleScope::Kind::Block && from->parent &&
                 lookup(from->parent, path[0].name, kModule | kType)) {
        const Binding* binding = lookup(from->parent, path[0].name, kModule | kType);
        if (path.size() == 1) {
          import.target = *binding;
          return;
        }
        module = binding->module;
      } else {
        // From the root of the package.
        ModuleScope* root = from->package ? roots_[from->package] : nullptr;
        auto there = root ? root->entries.find(path[0].name) : here->entries.end();
        if (root && there != root->entries.end() && there->second.own.names()) {
          module = root;
          used = 0;
        } else if (from->package == 0 && libraryModule(first)) {
          module = libraryModule(first);
        }
      }
      if (!module) {
        SmallVector<StringRef, 32> candidates;
        for (auto& [name, entry] : here->entries)
          if (entry.own.module)
            candidates.push_back(name.text());
        for (const Dependency& each : dependencies_[from->package])
          candidates.push_back(each.name);
        llvm::sort(candidates);
        if (library_ && library_->hasModule(first)) {
          engine_.report(path[0].span, diag::UnknownModule, first)
              .help(("write `std::" + first + "`").str());
          return;
        }
        unknownModule(path[0].span, first, candidates);
        return;
      }
    }
    for (size_t i = 0; i < used; ++i)
      spelled += (i ? "::" : "") + path[i].name.text().str();
    path = path.drop_front(used);
  }
  // The rest of the path, from `module`. A leaf named `self` is the module itself.
  EnumItem* enumeration = nullptr;
  for (size_t i = 0; i < path.size(); ++i) {
    const Ident& segment = path[i];
    bool last = i + 1 == path.size();
    if (last && segment.name.text() == "self")
      break;
    if (enumeration) { // `use shapes::Shape::Circle`
      for (uint32_t v = 0; v < enumeration->variants.size(); ++v)
        if (enumeration->variants[v].name.name == segment.name && last) {
          import.target.variantOf = enumeration;
          import.target.variant = v;
          return;
        }
      engine_.report(segment.span, diag::NoSuchVariant, enumeration->name.name.text(),
                     segment.name.text());
      return;
    }
    const Binding* binding = lookupIn(module, segment.name, kAnything, from);
    if (!binding) {
      if (module->package == 0) {
        StringRef text = segment.name.text();
        const StringRef removed = nameNow(text);
        if (!removed.empty()) {
          engine_.report(segment.span, diag::RemovedStdName, text, removed);
          return;
        }
        SmallVector<StringRef, 64> candidates;
        library_->names(module->path, candidates);
        for (auto& [name, entry] : module->entries)
          if (entry.own.names())
            candidates.push_back(name.text());
        llvm::sort(candidates);
        Diagnostic& report =
            engine_.report(segment.span, diag::UnknownStdItem, "std::" + module->path, text);
        StringRef near = nearest(text, candidates);
        if (!near.empty())
          report.help(("did you mean `" + near + "`?").str());
        return;
      }
      if (isBrokenImport(module, segment.name))
        return;
      SmallVector<StringRef, 64> candidates;
      if (engine_.errorCount() <= kManyErrors)
        for (auto& [name, entry] : module->entries)
          if (entry.own.names())
            candidates.push_back(name.text());
      llvm::sort(candidates); // the tables are unordered
      Diagnostic& report = engine_.report(segment.span, diag::UnresolvedName,
                                          last ? "item" : "module", segment.name.text());
      if (!spelled.empty())
        report.primary("not in `" + spelled + "`");
      StringRef near = nearest(segment.name.text(), candidates);
      if (!near.empty())
        report.help(("did you mean `" + near + "`?").str());
      return;
    }
    if (last) {
      import.target = *binding;
      return;
    }
    if (binding->module) {
      module = binding->module;
    } else if (auto* found = dyn_cast_or_null<EnumItem>(binding->type)) {
      enumeration = found;
    } else {
      engine_.report(segment.span, diag::UnknownModule, segment.name.text());
      return;
    }
    spelled += (spelled.empty() ? "" : "::") + segment.name.text().str();
  }
  import.target.module = module;
}

} // namespace gos::resolve
