#pragma once
// Tables of names: what a module, or a block with items in it, declares and imports.

#include "compiler/ast/ast.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <string>
#include <vector>

namespace gos::resolve {

using ast::Name;
using llvm::ArrayRef;
using llvm::cast;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;
using llvm::isa;
using llvm::SmallVector;
using llvm::StringRef;

struct ModuleScope;

/// Kinds of things a name may be looked for as.
enum Namespace : uint8_t {
  kType = 1, // struct, enum, alias, newtype, builtin type
  kTrait = 2,
  kValue = 4,   // function, const, static
  kVariant = 8, // a bare variant
  kModule = 16,
  kAnything = 31,
};

/// Everything one name stands for in one scope.
struct Binding {
  ast::Item* type = nullptr;
  ast::Item* trait = nullptr;
  ast::Item* value = nullptr;
  ArrayRef<ast::FunctionItem*> overloads; // library only: more than one function of the name
  ModuleScope* module = nullptr;
  ast::EnumItem* variantOf = nullptr;
  ast::EnumItem* otherVariantOf = nullptr; // a second enum with such a variant: ambiguous
  uint32_t variant = 0;
  Name builtinType; // `Map` of std::collections: the builtin type of that name

  uint8_t names() const {
    return uint8_t((type || builtinType ? kType : 0) | (trait ? kTrait : 0) | (value ? kValue : 0) |
                   (variantOf ? kVariant : 0) | (module ? kModule : 0));
  }
  bool has(uint8_t spaces) const { return names() & spaces; }
};

/// An imported name, resolved when it is first looked up.
struct Import {
  const ast::UseLeaf* leaf = nullptr;
  ast::UseItem* item = nullptr;
  ModuleScope* scope = nullptr;
  enum class State : uint8_t { Fresh, Running, Done } state = State::Fresh;
  Binding target;
};

struct ScopeEntry {
  Binding own;
  Import* import = nullptr;
};

struct ModuleScope {
  enum class Kind : uint8_t { Module, Block };
  Kind kind = Kind::Module;
  ast::ModuleItem* item = nullptr;
  ModuleScope* parent =
      nullptr; // of a module: the module around it; of a block: the scope around it
  uint32_t package = 0;
  std::string path; // "fs", "encoding::json"; of a user's module "deep::nest"; empty for a root
  bool declared = false; // by a `mod` item, which gives it a visibility
  ast::Visibility visibility = ast::Visibility::Public;
  bool allowsUnusedResult = false;
  llvm::DenseMap<Name, ScopeEntry> entries;
  std::vector<Name> missingNatives; // names already asked of the library, in vain

  ModuleScope* module() {
    ModuleScope* scope = this;
    while (scope->kind == Kind::Block)
      scope = scope->parent;
    return scope;
  }
};

} // namespace gos::resolve
