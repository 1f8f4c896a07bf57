#include "compiler/document/document.h"

#include "compiler/document/text.h"

#include "llvm/ADT/STLExtras.h"

namespace gos::document {
namespace {

using llvm::StringRef;

const Item* findItem(llvm::ArrayRef<Item> items, StringRef path, unsigned depth) {
  if (depth > 8)
    return nullptr;
  for (const Item& item : items) {
    if (item.path == path && item.kind != ItemKind::Implementation)
      return &item;
    if (const Item* inside = findItem(item.members, path, depth + 1))
      return inside;
  }
  return nullptr;
}

void collectPaths(llvm::ArrayRef<Item> items, std::vector<StringRef>& paths, unsigned depth) {
  if (depth > 8)
    return;
  for (const Item& item : items) {
    if (item.kind == ItemKind::Implementation)
      continue;
    paths.push_back(item.path);
    collectPaths(item.members, paths, depth + 1);
  }
}

void collectCode(llvm::ArrayRef<Item> items, std::vector<CodeBlock>& blocks, unsigned depth) {
  if (depth > 8)
    return;
  for (const Item& item : items) {
    llvm::append_range(blocks, item.code);
    collectCode(item.members, blocks, depth + 1);
  }
}

Found findExactly(const Documentation& documentation, StringRef path) {
  Found found;
  for (const Module& module : documentation.modules) {
    if (module.path == path) {
      found.module = &module;
      return found;
    }
    if (const Item* item = findItem(module.items, path, 0)) {
      found.module = &module;
      found.item = item;
      return found;
    }
  }
  return found;
}

} // namespace

std::vector<CodeBlock> codeBlocks(const Documentation& documentation) {
  std::vector<CodeBlock> blocks;
  for (const Module& module : documentation.modules) {
    llvm::append_range(blocks, module.code);
    collectCode(module.items, blocks, 0);
  }
  return blocks;
}

Found find(const Documentation& documentation, StringRef path) {
  Found found = findExactly(documentation, path);
  if (found.module)
    return found;
  // What the prelude holds is named without it as well: `std::String::trim`.
  StringRef rest = path;
  if (rest.consume_front("std::"))
    found = findExactly(documentation, ("std::prelude::" + rest).str());
  if (found.module)
    return found;
  std::vector<StringRef> paths;
  for (const Module& module : documentation.modules) {
    if (!module.path.empty())
      paths.push_back(module.path);
    collectPaths(module.items, paths, 0);
  }
  // The whole path first, then the last word beneath what is known of the beginning.
  found.nearest = nearest(path, paths).str();
  const auto [owner, name] = path.rsplit("::");
  std::vector<StringRef> names;
  for (StringRef candidate : paths)
    if (candidate.starts_with(owner) && candidate.substr(owner.size()).starts_with("::"))
      names.push_back(candidate.substr(owner.size() + 2));
  if (StringRef best = nearest(name, names); !best.empty())
    found.nearest = joined(owner, best);
  return found;
}

} // namespace gos::document
