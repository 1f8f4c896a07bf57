// Looking names and the leading modules of paths up; visibility.

#include "compiler/resolve/resolver.h"
#include "compiler/resolve/unbuilt.h"

#include "llvm/ADT/StringExtras.h"

namespace gos::resolve {

using namespace ast;

bool Resolver::isInside(ModuleScope* inner, ModuleScope* outer) {
  for (ModuleScope* scope = inner ? inner->module() : nullptr; scope; scope = scope->parent)
    if (scope == outer)
      return true;
  return false;
}

bool Resolver::isVisible(Visibility visibility, ModuleScope* declaredIn, ModuleScope* from) const {
  if (visibility == Visibility::Public || !declaredIn || from->package == 0)
    return true;
  if (visibility == Visibility::Package)
    return declaredIn->package == from->package;
  return isInside(from, declaredIn->module());
}

bool Resolver::isVisible(const Item* item, ModuleScope* from) const {
  return isVisible(item->visibility, scopeOf(item), from);
}

bool Resolver::isVisible(ModuleScope* module, ModuleScope* from) const {
  return !module->declared || isVisible(module->visibility, module->parent, from);
}

const Binding* Resolver::nativeIn(ModuleScope* module, Name name) {
  if (!library_ || module->package != 0)
    return nullptr;
  auto key = std::pair<const void*, Name>(module, name);
  auto found = fallbacks_.find(key);
  if (found != fallbacks_.end())
    return found->second;
  Binding* binding = nullptr;
  SmallVector<FunctionItem*, 4> functions;
  // Natives of a module; overloads written in Gossamer beside them join.
  natives(module->path, name, functions);
  if (!functions.empty()) {
    binding = &made_.emplace_back();
    auto own = module->entries.find(name);
    if (own != module->entries.end()) {
      *binding = own->second.own;
      if (auto* function = dyn_cast_or_null<FunctionItem>(binding->value)) {
        if (binding->overloads.empty())
          functions.push_back(function);
        functions.append(binding->overloads.begin(), binding->overloads.end());
      }
    }
    binding->value = functions[0];
    if (functions.size() > 1)
      binding->overloads = context_.list<FunctionItem*>(functions);
  }
  fallbacks_[key] = binding;
  return binding;
}

const Binding* Resolver::libraryFallback(ModuleScope* module, Name name, uint8_t spaces) {
  // A module inside: `encoding` has `json`.
  if (spaces & kModule) {
    std::string path = module->path + "::" + name.text().str();
    if (library_->hasModule(path)) {
      Binding& binding = made_.emplace_back();
      binding.module = libraryModule(path);
      return &binding;
    }
  }
  // The containers live in `std::collections`; the traits and types of the core are listed by
  // other modules too (`fmt::Display`, `option::Option`).
  if ((spaces & kType) && module->path == "collections" && builtinTypes_.count(name)) {
    Binding& binding = made_.emplace_back();
    binding.builtinType = name;
    return &binding;
  }
  if ((spaces & (kType | kTrait)) && core() && module != core()) {
    auto found = core()->entries.find(name);
    if (found != core()->entries.end() &&
        ((found->second.own.type && found->second.own.type->visibility == Visibility::Public) ||
         (found->second.own.trait && found->second.own.trait->visibility == Visibility::Public))) {
      Binding& binding = made_.emplace_back();
      binding.type = found->second.own.type;
      binding.trait = found->second.own.trait;
      return &binding;
    }
  }
  return nullptr;
}

const Binding* Resolver::lookupIn(ModuleScope* module, Name name, uint8_t spaces,
                                  ModuleScope* from) {
  if (!module)
    return nullptr;
  auto found = module->entries.find(name);
  if (module->package == 0 && (spaces & kValue))
    if (const Binding* native = nativeIn(module, name))
      return native;
  if (found != module->entries.end()) {
    if (found->second.own.has(spaces))
      return &found->second.own;
    // Imports are private spellings, seen from inside the module; the library re-exports by `pub
    // use`.
    Import* import = found->second.import;
    if (import && (isInside(from, module->module()) || module->package == 0 ||
                   isVisible(import->item->visibility, module, from))) {
      const Binding* target = importTarget(import);
      if (target->has(spaces))
        return target;
    }
  }
  if (module->package == 0 && library_)
    return libraryFallback(module, name, spaces);
  return nullptr;
}

const Binding* Resolver::lookup(ModuleScope* from, Name name, uint8_t spaces) {
  for (ModuleScope* scope = from; scope; scope = scope->parent) {
    auto found = scope->entries.find(name);
    if (found != scope->entries.end()) {
      if (found->second.own.has(spaces))
        return &found->second.own;
      if (found->second.import) {
        const Binding* target = importTarget(found->second.import);
        if (target->has(spaces))
          return target;
      }
    }
    if (scope->kind == ModuleScope::Kind::Module)
      break; // the names of a module around are reached by `super::`
  }
  if (from->package == 0) {
    // Inside the library everything is reached by its module's name.
    if (const Binding* native = spaces & kValue ? nativeIn(from->module(), name) : nullptr)
      return native;
    if (spaces & kModule)
      if (ModuleScope* module = libraryModule(name.text())) {
        auto key = std::pair<const void*, Name>(nullptr, name);
        Binding*& binding = fallbacks_[key];
        if (!binding) {
          binding = &made_.emplace_back();
          binding->module = module;
        }
        return binding;
      }
  }
  if (ModuleScope* prelude = core()) {
    auto found = prelude->entries.find(name);
    if (found != prelude->entries.end()) {
      const Binding& own = found->second.own;
      bool visible = from->package == 0;
      if (!visible) {
        visible = (own.type && own.type->visibility == Visibility::Public) ||
                  (own.trait && own.trait->visibility == Visibility::Public) ||
                  (own.value && own.value->visibility == Visibility::Public) ||
                  (own.variantOf && own.variantOf->visibility == Visibility::Public);
      }
      if (visible && own.has(spaces))
        return nativeIn(prelude, name) && (spaces & kValue) ? nativeIn(prelude, name) : &own;
    }
    if (spaces & kValue)
      if (const Binding* native = nativeIn(prelude, name))
        return native;
  }
  if ((spaces & kVariant) && from->package != 0) {
    auto found = programVariants_.find(name);
    if (found != programVariants_.end() && isVisible(found->second.variantOf, from))
      return &found->second;
  }
  return nullptr;
}

Resolver::Prefix Resolver::walk(ArrayRef<PathSegment> segments, ModuleScope* from,
                                uint8_t lastSpaces) {
  Prefix prefix;
  ModuleScope* module = nullptr;
  size_t at = 0;
  StringRef first = segments[0].ident.name.text();
  bool single = segments.size() == 1;
  if (first == "crate") {
    module = from->package ? roots_[from->package] : core();
    at = 1;
  } else if (first == "self" && !single) {
    module = from->module();
    at = 1;
  } else if (first == "super") {
    module = from->module();
    while (at < segments.size() && segments[at].ident.name.text() == "super") {
      module = module->parent;
      ++at;
      if (!module) {
        engine_.report(segments[at - 1].ident.span, diag::UnknownModule, "super")
            .note("there is no module above the root of the package");
        prefix.reported = true;
        return prefix;
      }
    }
  } else {
    uint8_t spaces = single ? lastSpaces : uint8_t(kType | kTrait | kModule);
    const Binding* binding = lookup(from, segments[0].ident.name, spaces);
    if (!binding) {
      if (!single) {
        if (ModuleScope* outside = dependency(from->package, first, false)) {
          if (isBinding(from->package, first)) {
            module = outside;
            at = 1;
          } else {
            engine_.report(segments[0].ident.span, diag::DependencyNotImported, first)
                .help(("add `use " + first + "`").str());
            prefix.reported = true;
          }
        } else if (first == "std" && library_) {
          // The whole path, without a `use`.
          SmallVector<Ident, 4> names;
          for (const PathSegment& segment : segments)
            names.push_back(segment.ident);
          module = standardModule(names, from, at);
          prefix.reported = !module;
        }
      }
      prefix.used = 1;
      if (!module)
        return prefix;
    } else {
      prefix.binding = binding;
      prefix.used = 1;
      if (single || !binding->module || binding->type)
        return prefix;
      module = binding->module;
      at = 1;
    }
  }
  while (at < segments.size()) {
    const PathSegment& segment = segments[at];
    bool last = at + 1 == segments.size();
    uint8_t spaces = last ? lastSpaces : uint8_t(kType | kTrait | kModule);
    const Binding* binding = lookupIn(module, segment.ident.name, spaces, from);
    prefix.module = module;
    prefix.used = at + 1;
    if (!binding) {
      StringRef text = segment.ident.name.text();
      SmallVector<StringRef, 64> candidates;
      if (engine_.errorCount() <= kManyErrors)
        for (auto& [name, entry] : module->entries)
          if (entry.own.has(spaces))
            candidates.push_back(name.text());
      llvm::sort(candidates);
      if (module->package == 0 && library_)
        library_->names(module->path, candidates);
      Diagnostic& report = module->package == 0
                               ? engine_.report(segment.ident.span, diag::UnknownStdItem,
                                                "std::" + module->path, text)
                               : engine_.report(segment.ident.span, diag::UnresolvedName,
                                                last ? "item" : "module", text);
      StringRef near = nearest(text, candidates);
      if (!near.empty())
        report.help(("did you mean `" + near + "`?").str());
      prefix.binding = nullptr;
      prefix.reported = true;
      return prefix;
    }
    prefix.binding = binding;
    if (binding->module && !isVisible(binding->module, from)) {
      engine_.report(segment.ident.span, diag::PrivateItem, "module", segment.ident.name.text());
      prefix.binding = nullptr;
      prefix.reported = true;
      return prefix;
    }
    if (last || binding->type || !binding->module)
      return prefix;
    module = binding->module;
    ++at;
  }
  // The path ends at a module: `crate`, `self::super`.
  Binding& binding = made_.emplace_back();
  binding.module = module;
  prefix.binding = &binding;
  prefix.used = segments.size();
  return prefix;
}

bool Resolver::reportNeedsImport(Span span, Name name, ModuleScope* from, uint8_t spaces) {
  // A module of the user's package that declares it.
  for (ModuleScope* module : modules_) {
    if (module->package != from->package || module->package == 0 || module == from->module())
      continue;
    auto found = module->entries.find(name);
    if (found == module->entries.end() || !found->second.own.has(spaces))
      continue;
    engine_.report(span, diag::NeedsImport, name.text())
        .help("add `use " + (module->path.empty() ? "crate" : "crate::" + module->path) +
              "::" + name.text().str() + "`");
    return true;
  }
  // A module of the library with that name.
  if ((spaces & kModule) && library_) {
    SmallVector<StringRef, 64> paths;
    library_->modules(paths);
    for (StringRef path : paths)
      if (path != "intrinsics" && path != "core" &&
          (path == name.text() || path.ends_with(("::" + name.text()).str()))) {
        engine_.report(span, diag::NeedsImport, name.text())
            .help(("add `use std::" + path + "`").str());
        return true;
      }
  }
  return false;
}

void Resolver::reportUnknown(Span span, Name name, StringRef what, ModuleScope* from,
                             uint8_t spaces, ArrayRef<StringRef> moreCandidates) {
  // Past what is shown nobody reads a suggestion: with thousands of mistakes they would cost the
  // most.
  if (engine_.errorCount() > kManyErrors) {
    engine_.report(span, diag::UnresolvedName, what, name.text());
    return;
  }
  for (ModuleScope* scope = from; scope; scope = scope->parent) {
    if (isBrokenImport(scope, name))
      return;
    if (scope->kind == ModuleScope::Kind::Module)
      break;
  }
  if (reportNeedsImport(span, name, from, spaces))
    return;
  StringRef unbuilt = unbuiltName(name.text());
  if (unbuilt.empty() && (spaces & kModule))
    unbuilt = unbuiltModule(name.text());
  if (!unbuilt.empty()) {
    engine_.report(span, diag::NotYet, unbuilt);
    return;
  }
  SmallVector<StringRef, 64> candidates(moreCandidates.begin(), moreCandidates.end());
  // In front of `::` stands a module or a type; a trait is meant too seldom to be suggested there.
  if (spaces & kModule)
    spaces &= uint8_t(~kTrait);
  for (ModuleScope* scope = from; scope; scope = scope->parent) {
    for (auto& [each, entry] : scope->entries)
      if (entry.own.has(spaces) || (entry.import && importTarget(entry.import)->has(spaces)))
        candidates.push_back(each.text());
    if (scope->kind == ModuleScope::Kind::Module)
      break;
  }
  if (core())
    for (auto& [each, entry] : core()->entries)
      if (entry.own.has(spaces))
        candidates.push_back(each.text());
  if (spaces & kType)
    for (auto& [each, unused] : builtinTypes_)
      candidates.push_back(each.text());
  llvm::sort(candidates); // the tables are unordered
  Diagnostic& report = engine_.report(span, diag::UnresolvedName, what, name.text());
  StringRef near = nearest(name.text(), candidates);
  // Modules of the library last: they need an import besides. A name in capitals is no module.
  SmallVector<StringRef, 64> paths, modules;
  if ((spaces & kModule) && library_ && !name.text().empty() && llvm::isLower(name.text()[0]))
    library_->modules(paths);
  llvm::erase_if(paths, [](StringRef path) { return path == "intrinsics" || path == "core"; });
  for (StringRef path : paths)
    modules.push_back(path.substr(path.rfind(':') + 1)); // npos + 1 is the whole path
  SmallVector<StringRef, 2> both;
  for (StringRef each : {near, nearest(name.text(), modules)})
    if (!each.empty())
      both.push_back(each);
  near = nearest(name.text(), both);
  if (near.empty())
    return;
  size_t module = size_t(llvm::find(modules, near) - modules.begin());
  if (llvm::is_contained(candidates, near) || module == modules.size())
    report.help(("did you mean `" + near + "`?").str());
  else
    report.help(("did you mean `" + near + "`? it needs `use std::" + paths[module] + "`").str());
}

} // namespace gos::resolve
