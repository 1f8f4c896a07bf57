#include "compiler/bindings/signatures.h"

#include "compiler/bindings/elf_section.h"
#include "compiler/bindings/records.h"
#include "compiler/bindings/types.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <set>

namespace gos::bindings {

using llvm::StringRef;

namespace {

/// Of a whole type with the structs in it: as deep, and as many values side by side.
constexpr uint64_t kDeepest = 64, kMostLeaves = 65536;

template <class... Arguments> llvm::Error refused(const char* format, Arguments&&... arguments) {
  return llvm::createStringError(
      llvm::inconvertibleErrorCode(),
      llvm::formatv(format, std::forward<Arguments>(arguments)...).str());
}

enum class Role { Parameter, Result, Field };

/// A struct or opaque type of the library.
struct NamedType {
  const ModuleSignature* module = nullptr;
  const StructSignature* structure = nullptr; // null: opaque
  std::vector<TypeTree> fields;               // of a struct, in order
  enum { New, Open, Done } state = New;
  uint64_t depth = 0, leaves = 0;
  bool isKey = true; // could be a key: no float, no container, no opaque in it
};

/// What a name in a type means: the types of the module itself first, then those of the crate.
class Judge {
public:
  explicit Judge(std::vector<ModuleSignature>& modules) : modules_(modules) {}

  llvm::Error judge() {
    if (llvm::Error error = judgePaths())
      return error;
    if (llvm::Error error = judgeNames())
      return error;
    for (ModuleSignature& module : modules_)
      for (StructSignature& structure : module.structs) {
        NamedType& type = *find(module, structure.name);
        for (TypedName& field : structure.fields) {
          auto tree = resolve(module, structure.name, field.type);
          if (!tree)
            return tree.takeError();
          type.fields.push_back(std::move(*tree));
        }
      }
    for (ModuleSignature& module : modules_) {
      for (StructSignature& structure : module.structs)
        if (llvm::Error error = measure(*find(module, structure.name), 0))
          return error;
      for (OpaqueSignature& opaque : module.opaques)
        if (llvm::Error error = measure(*find(module, opaque.name), 0))
          return error;
    }
    for (ModuleSignature& module : modules_) {
      for (StructSignature& structure : module.structs) {
        const NamedType& type = *find(module, structure.name);
        for (const TypeTree& tree : type.fields)
          if (llvm::Error error = judgeTree(module, structure.name, tree, Role::Field))
            return error;
      }
      for (FunctionSignature& function : module.functions)
        if (llvm::Error error = judgeFunction(module, function))
          return error;
    }
    return llvm::Error::success();
  }

private:
  static std::string key(StringRef crate, StringRef module, StringRef name) {
    return (crate + "\t" + module + "\t" + name).str();
  }
  NamedType* find(const ModuleSignature& module, StringRef name) {
    const auto found = types_.find(key(module.crate, module.path, name));
    return found == types_.end() ? nullptr : &found->getValue();
  }

  /// Modules come sorted by path and crate, so two of one path stand side by side.
  llvm::Error judgePaths() {
    for (size_t i = 1; i < modules_.size(); ++i)
      if (modules_[i - 1].path == modules_[i].path)
        return refused("two bindings with one name: the crates `{0}` and `{1}` both have the "
                       "module `{2}`; give one "
                       "`#[gos_module]` another path, or take one crate out of `[rust-bindings]`",
                       modules_[i - 1].crate, modules_[i].crate, modules_[i].path);
    return llvm::Error::success();
  }

  llvm::Error judgeNames() {
    std::set<StringRef> paths, symbols;
    for (const ModuleSignature& module : modules_)
      paths.insert(module.path);
    for (const ModuleSignature& module : modules_) {
      std::set<StringRef> names;
      const auto take = [&](StringRef name) -> llvm::Error {
        if (names.insert(name).second)
          return llvm::Error::success();
        return refused("two bindings with one name: `{0}::{1}` stands twice in the crate `{2}`",
                       module.path, name, module.crate);
      };
      for (const FunctionSignature& function : module.functions) {
        if (llvm::Error error = take(function.name))
          return error;
        if (!symbols.insert(function.symbol).second)
          return refused("`{0}::{1}` has the entry point `{2}`, which another function has",
                         module.path, function.name, function.symbol);
      }
      const auto takeType = [&](StringRef name, const StructSignature* structure) -> llvm::Error {
        if (llvm::Error error = take(name))
          return error;
        if (paths.count((module.path + "::" + name).str()))
          return refused(
              "`{0}::{1}` is a type of the crate `{2}` and also the path of a module; rename one",
              module.path, name, module.crate);
        NamedType& type = types_[key(module.crate, module.path, name)];
        type.module = &module;
        type.structure = structure;
        homes_[(module.crate + "\t" + name).str()].push_back(&module);
        return llvm::Error::success();
      };
      for (const StructSignature& structure : module.structs)
        if (llvm::Error error = takeType(structure.name, &structure))
          return error;
      for (const OpaqueSignature& opaque : module.opaques)
        if (llvm::Error error = takeType(opaque.name, nullptr))
          return error;
    }
    return llvm::Error::success();
  }

  /// Parses a type and finds its names, first among those of the module, then among those of the
  /// crate. A type of another module may be spelled with its path in the record and is without it
  /// afterwards: the name has to say it alone. Each named node is left with the module that has it.
  llvm::Expected<TypeTree> resolve(const ModuleSignature& module, StringRef owner,
                                   std::string& text) {
    auto tree = parseType(text);
    if (!tree)
      return refused("{0}, in `{1}::{2}` of the crate `{3}`", llvm::toString(tree.takeError()),
                     module.path, owner, module.crate);
    bool isQualified = false;
    for (TypeNode& node : tree->nodes) {
      if (node.kind != TypeKind::Named)
        continue;
      isQualified |= !node.module.empty();
      auto home = homeOf(module, node);
      if (!home)
        return refused("{0}, in `{1}::{2}` of the crate `{3}`", llvm::toString(home.takeError()),
                       module.path, owner, module.crate);
      node.module = (*home)->path;
    }
    if (!isQualified)
      return tree;
    text = spell(*tree, uint32_t(tree->nodes.size() - 1));
    return resolve(module, owner, text);
  }

  /// The module that has the type of a node.
  llvm::Expected<const ModuleSignature*> homeOf(const ModuleSignature& module,
                                                const TypeNode& node) {
    const bool saysOwn = node.module.empty() || node.module == module.path;
    if (saysOwn && find(module, node.name) != nullptr)
      return &module;
    const auto homes = homes_.find((module.crate + "\t" + node.name).str());
    if (homes != homes_.end()) {
      const std::vector<const ModuleSignature*>& all = homes->getValue();
      const bool isThere = std::any_of(all.begin(), all.end(), [&](const ModuleSignature* each) {
        return node.module.empty() || each->path == node.module;
      });
      if (isThere && all.size() > 1)
        return refused("the type `{0}` of another module, of which the crate has two: rename one",
                       node.name);
      if (isThere)
        return all.front();
    }
    return refused("the type `{0}{1}{2}` is not in the crate", node.module,
                   node.module.empty() ? "" : "::", node.name);
  }

  static std::string spell(const TypeTree& tree, uint32_t index) {
    const TypeNode& node = tree.nodes[index];
    const auto list = [&] {
      std::string out;
      for (size_t i = 0; i < node.children.size(); ++i)
        out += (i == 0 ? "" : ", ") + spell(tree, node.children[i]);
      return out;
    };
    switch (node.kind) {
    case TypeKind::Bool:
      return "bool";
    case TypeKind::I64:
      return "i64";
    case TypeKind::F64:
      return "f64";
    case TypeKind::Char:
      return "char";
    case TypeKind::String:
      return "String";
    case TypeKind::Byte:
      return "u8";
    case TypeKind::Vec:
      return "Vec<" + list() + ">";
    case TypeKind::Option:
      return "Option<" + list() + ">";
    case TypeKind::Result:
      return "Result<" + list() + ">";
    case TypeKind::Map:
      return "HashMap<" + list() + ">";
    case TypeKind::Tuple:
      return "(" + list() + (node.children.size() == 1 ? ",)" : ")");
    case TypeKind::Named:
      return node.name.str();
    }
    return "";
  }

  NamedType& named(const ModuleSignature& module, const TypeNode& node) {
    return types_.find(key(module.crate, node.module, node.name))->getValue();
  }

  /// Depth and size of a struct, those of its fields first. A struct in itself, also through a
  /// vector, has none; a chain is cut before the stack is.
  llvm::Error measure(NamedType& type, unsigned nesting) {
    if (type.state == NamedType::Done)
      return llvm::Error::success();
    if (type.structure == nullptr) {
      type.depth = type.leaves = 1;
      type.isKey = false;
      type.state = NamedType::Done;
      return llvm::Error::success();
    }
    const ModuleSignature& module = *type.module;
    if (type.state == NamedType::Open)
      return refused("the struct `{0}::{1}` of the crate `{2}` holds itself; keep such a value in "
                     "Rust with `#[gos_opaque]`",
                     module.path, type.structure->name, module.crate);
    type.state = NamedType::Open;
    uint64_t leaves = 0, depth = 0;
    for (const TypeTree& tree : type.fields) {
      std::vector<uint64_t> deep(tree.nodes.size());
      for (size_t i = 0; i < tree.nodes.size(); ++i) { // children come before
        const TypeNode& node = tree.nodes[i];
        uint64_t below = 0;
        for (const uint32_t child : node.children)
          below = std::max(below, deep[child]);
        if (node.kind == TypeKind::Named) {
          NamedType& part = named(module, node);
          if (nesting < kDeepest)
            if (llvm::Error error = measure(part, nesting + 1))
              return error;
          below = nesting < kDeepest ? part.depth : kDeepest;
          leaves += part.leaves;
          type.isKey &= part.isKey;
        } else {
          ++leaves;
          type.isKey &= mayBeKey(node.kind);
        }
        deep[i] = below + 1;
      }
      depth = std::max(depth, deep.back());
    }
    if (depth > kDeepest || leaves > kMostLeaves)
      return refused(
          "the struct `{0}::{1}` of the crate `{2}` is too large: at most {3} deep and {4} values",
          module.path, type.structure->name, module.crate, kDeepest, kMostLeaves);
    type.depth = depth;
    type.leaves = std::max<uint64_t>(leaves, 1);
    type.state = NamedType::Done;
    return llvm::Error::success();
  }

  static bool mayBeKey(TypeKind kind) {
    switch (kind) {
    case TypeKind::Bool:
    case TypeKind::I64:
    case TypeKind::Char:
    case TypeKind::String:
    case TypeKind::Option:
    case TypeKind::Tuple:
    case TypeKind::Named: // asked itself
      return true;
    case TypeKind::F64:
    case TypeKind::Byte:
    case TypeKind::Vec:
    case TypeKind::Result:
    case TypeKind::Map:
      return false;
    }
    return false;
  }

  bool isKey(const ModuleSignature& module, const TypeTree& tree, uint32_t index) {
    const TypeNode& node = tree.nodes[index];
    if (!mayBeKey(node.kind) || (node.kind == TypeKind::Named && !named(module, node).isKey))
      return false;
    return std::all_of(node.children.begin(), node.children.end(),
                       [&](uint32_t child) { return isKey(module, tree, child); });
  }

  llvm::Error judgeTree(const ModuleSignature& module, StringRef owner, const TypeTree& tree,
                        Role role) {
    uint64_t leaves = 0;
    for (size_t i = 0; i < tree.nodes.size(); ++i) {
      const TypeNode& node = tree.nodes[i];
      if (node.kind == TypeKind::Map && !isKey(module, tree, node.children[0]))
        return refused(
            "`{0}::{1}` of the crate `{2}` has a map whose keys are `{3}`, which has no order",
            module.path, owner, module.crate, spell(tree, node.children[0]));
      ++leaves;
      if (node.kind != TypeKind::Named)
        continue;
      const NamedType& type = named(module, node);
      leaves += type.leaves;
      const bool isLent = role == Role::Parameter && i + 1 == tree.nodes.size();
      if (type.structure == nullptr && role != Role::Result && !isLent)
        return refused("`{0}::{1}` of the crate `{2}` has the opaque type `{3}` inside of another; "
                       "it stays in Rust and is "
                       "lent to a function as a parameter of its own",
                       module.path, owner, module.crate, node.name);
    }
    if (leaves > kMostLeaves)
      return refused("`{0}::{1}` of the crate `{2}` has a type of more than {3} values",
                     module.path, owner, module.crate, kMostLeaves);
    return llvm::Error::success();
  }

  llvm::Error judgeFunction(const ModuleSignature& module, FunctionSignature& function) {
    for (TypedName& parameter : function.parameters)
      if (llvm::Error error = judgeText(module, function.name, parameter.type, Role::Parameter))
        return error;
    return judgeText(module, function.name, function.result, Role::Result);
  }
  llvm::Error judgeText(const ModuleSignature& module, StringRef owner, std::string& text,
                        Role role) {
    auto tree = resolve(module, owner, text);
    if (!tree)
      return tree.takeError();
    return judgeTree(module, owner, *tree, role);
  }

  std::vector<ModuleSignature>& modules_;
  llvm::StringMap<NamedType> types_;                           // by crate, module, name
  llvm::StringMap<std::vector<const ModuleSignature*>> homes_; // by crate, name
};

} // namespace

llvm::Expected<Signatures> parseRecords(StringRef section) {
  auto modules = readRecords(section);
  if (!modules)
    return modules.takeError();
  Signatures signatures{std::move(*modules)};
  if (llvm::Error error = Judge(signatures.modules).judge())
    return error;
  return signatures;
}

llvm::Expected<Signatures> readSignatures(StringRef image) {
  auto section = elfSection(image, ".gossamer");
  if (!section)
    return section.takeError();
  return parseRecords(*section);
}

} // namespace gos::bindings
