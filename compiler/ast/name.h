#pragma once
// Interned names: equal spellings are equal pointers.

#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"

namespace gos::ast {

class Name {
public:
  Name() = default;
  llvm::StringRef text() const { return entry_ ? entry_->getKey() : llvm::StringRef(); }
  explicit operator bool() const { return entry_ != nullptr; }
  friend bool operator==(Name a, Name b) { return a.entry_ == b.entry_; }
  friend bool operator!=(Name a, Name b) { return a.entry_ != b.entry_; }
  const void* key() const { return entry_; }

private:
  friend class NameTable;
  friend struct llvm::DenseMapInfo<Name>;
  using Entry = llvm::StringMapEntry<char>;
  explicit Name(const Entry* entry) : entry_(entry) {}
  const Entry* entry_ = nullptr;
};

class NameTable {
public:
  Name intern(llvm::StringRef text) { return Name(&*map_.try_emplace(text).first); }

private:
  llvm::StringMap<char, llvm::BumpPtrAllocator> map_;
};

} // namespace gos::ast

template <> struct llvm::DenseMapInfo<gos::ast::Name> {
  using Name = gos::ast::Name;
  static Name getEmptyKey() { return Name(DenseMapInfo<const Name::Entry*>::getEmptyKey()); }
  static Name getTombstoneKey() {
    return Name(DenseMapInfo<const Name::Entry*>::getTombstoneKey());
  }
  static unsigned getHashValue(Name name) {
    return DenseMapInfo<const void*>::getHashValue(name.key());
  }
  static bool isEqual(Name a, Name b) { return a == b; }
};
