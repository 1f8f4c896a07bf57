#include "compiler/expand/derives.h"

namespace gos::expand {

using llvm::StringRef;

namespace {

constexpr StringRef kNames[] = {
#define GOS_DERIVE(name) #name,
#include "compiler/expand/derives.def"
};

} // namespace

StringRef spelling(Derive derive) {
  return kNames[size_t(derive)];
}

std::optional<Derive> deriveFromSpelling(StringRef text) {
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (kNames[i] == text)
      return Derive(i);
  return std::nullopt;
}

llvm::ArrayRef<StringRef> derivableNames() {
  return kNames;
}

DeriveSet derivesOf(const ast::Item& item) {
  DeriveSet set;
  for (const ast::Attribute& attribute : item.attributes) {
    if (attribute.path.segments.size() != 1 ||
        attribute.path.segments[0].ident.name.text() != "derive")
      continue;
    for (const ast::Ident& word : attribute.words)
      if (auto derive = deriveFromSpelling(word.name.text()))
        set.add(*derive);
  }
  return set;
}

const ast::VariantDecl* defaultVariant(const ast::EnumItem& item) {
  for (const ast::VariantDecl& variant : item.variants)
    for (const ast::Attribute& attribute : variant.attributes)
      if (attribute.path.segments.size() == 1 &&
          attribute.path.segments[0].ident.name.text() == "default")
        return &variant;
  if (!item.variants.empty() && item.variants[0].shape == ast::StructShape::Unit)
    return &item.variants[0];
  return nullptr;
}

} // namespace gos::expand
