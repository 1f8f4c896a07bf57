#pragma once
// The arena of a compilation: slabs that double in size, large ones on huge pages.

#include "compiler/lex/huge_pages.h"

#include "llvm/Support/Allocator.h"

namespace gos::ast {

class SlabAllocator : public llvm::AllocatorBase<SlabAllocator> {
public:
  void* Allocate(size_t size, size_t alignment) {
    if (size < 2 * lex::kHugePage)
      return llvm::allocate_buffer(size, alignment);
    void* slab = llvm::allocate_buffer(size, lex::kHugePage);
    lex::preferHugePages(slab, size);
    return slab;
  }
  void Deallocate(const void* slab, size_t size, size_t alignment) {
    llvm::deallocate_buffer(const_cast<void*>(slab), size,
                            size < 2 * lex::kHugePage ? alignment : size_t(lex::kHugePage));
  }
  using AllocatorBase<SlabAllocator>::Allocate;
  using AllocatorBase<SlabAllocator>::Deallocate;
};

/// First slab 64 KiB, each next one twice the size: a small program touches little, a large one
/// asks the system rarely.
using Arena = llvm::BumpPtrAllocatorImpl<SlabAllocator, 65536, 65536, 1>;

} // namespace gos::ast
