#pragma once
// The types of the interface as the records spell them, parsed into trees. Whether a named type
// exists, and what it is, is the business of signatures.cpp.

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace gos::bindings {

enum class TypeKind : uint8_t {
  Bool,
  I64,
  F64,
  Char,
  String,
  Byte,
  Vec,
  Option,
  Result,
  Map,
  Tuple,
  Named
};

/// A type; `children` are indices into the tree.
struct TypeNode {
  TypeKind kind = TypeKind::Named;
  llvm::StringRef module, name; // of Named; `module` is empty where it is the own one
  llvm::SmallVector<uint32_t, 2> children;
};

/// A parsed type over the text it came from. The root is the last node: children come before.
struct TypeTree {
  std::vector<TypeNode> nodes;
  const TypeNode& root() const { return nodes.back(); }
};

/// The deepest that types may stand in one another, and the most nodes of one type.
inline constexpr unsigned kDeepestType = 32;
inline constexpr size_t kMostTypeNodes = 1024;

/// Parses the one spelling that every type has: blanks stand behind commas and nowhere else.
llvm::Expected<TypeTree> parseType(llvm::StringRef text);

/// A name of Gossamer that is no reserved word, of at most 255 bytes.
bool isBindingName(llvm::StringRef name);
/// Names with `::` between them, at most 16, of which the first is not `std`.
bool isModulePath(llvm::StringRef path);
/// A type of the language, which no type of a crate may stand in for.
bool isLanguageType(llvm::StringRef name);

} // namespace gos::bindings
