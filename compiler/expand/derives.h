#pragma once
// What `#[derive]` writes. Equality, order and both renderings are structural on every type, so a
// derive needs no code of its own: it is a fact about an item that the checker asks for.

#include "compiler/ast/ast.h"

#include <cstdint>
#include <optional>

namespace gos::expand {

enum class Derive : uint8_t {
#define GOS_DERIVE(name) name,
#include "compiler/expand/derives.def"
};

/// A set of derives.
class DeriveSet {
public:
  bool has(Derive derive) const { return (bits_ & 1u << unsigned(derive)) != 0; }
  void add(Derive derive) { bits_ |= 1u << unsigned(derive); }
  bool empty() const { return bits_ == 0; }

private:
  uint32_t bits_ = 0;
};

llvm::StringRef spelling(Derive derive);
/// Empty for a name that cannot be derived (GT0025).
std::optional<Derive> deriveFromSpelling(llvm::StringRef text);
/// All names that can be derived, for did-you-mean.
llvm::ArrayRef<llvm::StringRef> derivableNames();

/// What the attributes of an item derive; names that cannot be derived are left out.
DeriveSet derivesOf(const ast::Item& item);
/// Calls `unknown` for each name in a `#[derive(..)]` of the item that cannot be derived.
template <class Unknown> void eachUnknownDerive(const ast::Item& item, Unknown unknown) {
  for (const ast::Attribute& attribute : item.attributes)
    if (attribute.path.segments.size() == 1 &&
        attribute.path.segments[0].ident.name.text() == "derive")
      for (const ast::Ident& word : attribute.words)
        if (!deriveFromSpelling(word.name.text()))
          unknown(word);
}

/// The variant that `#[default]` marks, or else the first one without a payload; null when the enum
/// has no default.
const ast::VariantDecl* defaultVariant(const ast::EnumItem& item);

} // namespace gos::expand
