#pragma once
// Names to declarations: builds the module trees of all packages, follows `use`, answers look-ups.

#include "compiler/resolve/library.h"
#include "compiler/resolve/scopes.h"
#include "diagnostics/engine.h"

#include "llvm/ADT/StringMap.h"

#include <deque>
#include <memory>

namespace gos::resolve {

/// One file of a package, already parsed.
struct SourceModule {
  std::vector<std::string> path; // "deep", "nest"; empty for the entry file
  ast::File file;
};

struct Dependency {
  std::string name; // the module name in code
  std::string id;   // the project id, for quoted imports
  uint32_t package = 0;
  bool isBinding =
      false; // modules of Rust bindings: a whole path reaches them without `use`, as with `std`
};

struct Package {
  std::string name;
  std::vector<SourceModule> modules; // the entry file first
  std::vector<Dependency> dependencies;
};

/// The library's trees, parsed once and kept over the rounds of a fold.
struct LibraryTrees {
  llvm::StringMap<ast::ModuleItem*> modules;
  llvm::DenseMap<int32_t, ast::FunctionItem*> natives;
};

class Resolver {
public:
  /// Past so many errors no suggestions are worked out.
  static constexpr size_t kManyErrors = 200;

  Resolver(ast::Context& context, SourceMap& sources, Engine& engine, const Library* library,
           LibraryTrees& trees);
  ~Resolver();

  /// Package i of the list is package i + 1 of the program; 0 is the library.
  void build(ArrayRef<Package> packages);

  ModuleScope* root(uint32_t package) const { return roots_[package]; }
  ModuleScope* core() const {
    return roots_[0];
  } // the library's module `core`; null without a library
  /// A module of the library by its path, loaded on demand; null when there is none.
  ModuleScope* libraryModule(StringRef path);

  /// Makes the scope of a block that declares items, and declares them.
  ModuleScope* openBlock(ModuleScope* around, ArrayRef<ast::Stmt*> statements);
  /// What an item list declares, put into a scope (an inline module, a file, a block).
  void declare(ModuleScope* scope, ArrayRef<ast::Item*> items);

  /// Looks a single name up: the scopes around, imports, the prelude, and for kVariant the
  /// only enum of the program that declares it.
  const Binding* lookup(ModuleScope* from, Name name, uint8_t spaces);
  /// Looks in one module alone (its declarations, and imports where they may be seen through).
  const Binding* lookupIn(ModuleScope* module, Name name, uint8_t spaces, ModuleScope* from);

  /// The leading segments of a path that are modules, and what the first segment after them is.
  struct Prefix {
    const Binding* binding = nullptr; // null: not found, reported unless `quiet`
    size_t used = 0;                  // segments consumed, the one bound among them
    ModuleScope* module = nullptr;    // the module it was found in, when the path named one
    bool reported = false;
  };
  Prefix walk(ArrayRef<ast::PathSegment> segments, ModuleScope* from, uint8_t lastSpaces);

  ModuleScope* scopeOf(const ast::Item* item) const;
  bool isVisible(const ast::Item* item, ModuleScope* from) const;
  bool isVisible(ast::Visibility visibility, ModuleScope* declaredIn, ModuleScope* from) const;
  bool isVisible(ModuleScope* module, ModuleScope* from) const;
  static bool isInside(ModuleScope* inner, ModuleScope* outer);

  /// Reports an unknown single name: did you mean, or the import that would help.
  void reportUnknown(Span span, Name name, StringRef what, ModuleScope* from, uint8_t spaces,
                     ArrayRef<StringRef> moreCandidates = {});

  /// The native functions of an owner by name, with parsed signatures (types not resolved).
  void natives(StringRef owner, Name name, llvm::SmallVectorImpl<ast::FunctionItem*>& found);
  /// Resolves every import, so that bad ones are reported though unused.
  void checkImports();
  bool isKnownCall(Name name) const { return knownCalls_.count(name); }
  bool isBuiltinType(Name name) const { return builtinTypes_.count(name); }
  const Library* library() const { return library_; }
  ArrayRef<ModuleScope*> moduleScopes() const { return modules_; }
  bool testing = false; // `cfg(test)` holds
  /// Is the name imported into this scope by a `use` that leads nowhere? That was reported where it
  /// stands; whoever meets the name stays silent.
  static bool isBrokenImport(ModuleScope* scope, Name name);
  /// Visited by `declare` for each item with a table of its own.
  std::vector<ast::ImplItem*> impls;
  std::vector<std::pair<ast::Item*, ModuleScope*>> items; // in order of declaration, all packages
  size_t itemsSeen = 0; // the checker's mark: items before it are known to it
  size_t implsSeen = 0;

private:
  ModuleScope* makeScope();
  bool isConfigured(const ast::Item* item);
  ModuleScope* childModule(ModuleScope* parent, StringRef name, bool create);
  void addItem(ModuleScope* scope, ast::Item* item);
  void addImports(ModuleScope* scope, ast::UseItem* item);
  void addVariants(ModuleScope* scope, ast::EnumItem* item);
  void duplicate(ast::Item* first, ast::Item* second);
  void resolveImport(Import& import);
  const Binding* importTarget(Import* import);
  /// The longest leading run of a path `std::..` that is a module of the library; null when there
  /// is none, and reported.
  ModuleScope* standardModule(ArrayRef<ast::Ident> path, ModuleScope* from, size_t& used);
  const Binding* libraryFallback(ModuleScope* module, Name name, uint8_t spaces);
  const Binding* nativeIn(ModuleScope* module, Name name);
  ModuleScope* dependency(uint32_t package, StringRef name, bool byId);
  bool isBinding(uint32_t package, StringRef name) const;
  bool reportNeedsImport(Span span, Name name, ModuleScope* from, uint8_t spaces);

  ast::Context& context_;
  SourceMap& sources_;
  Engine& engine_;
  const Library* library_;
  LibraryTrees& trees_;
  std::deque<ModuleScope> scopes_;
  std::deque<Import> imports_;
  std::deque<Binding> made_; // bindings built on the fly
  std::vector<ModuleScope*> roots_;
  std::vector<ModuleScope*> modules_;
  std::vector<std::vector<Dependency>> dependencies_;
  llvm::StringMap<ModuleScope*> libraryModules_;
  llvm::DenseMap<std::pair<const void*, Name>, Binding*> fallbacks_;
  llvm::DenseMap<Name, Binding> programVariants_;
  llvm::DenseMap<Name, char> knownCalls_, builtinTypes_;
  llvm::DenseMap<ast::FunctionItem*, char> touchedNatives_; // natives whose record is of this run
  unsigned importDepth_ = 0;
};

} // namespace gos::resolve
