#pragma once
// How strings and vectors keep their bytes. Private to the heap.

#include "vm/heap.h"

namespace gos::vm {

inline constexpr uint64_t kLargestCount = uint64_t(1)
                                          << 56; // elements or bytes; sizes below never overflow

inline size_t elementSize(const LayoutInfo& info) {
  return info.byteStorage ? 1 : sizeof(uint64_t);
}

/// Is the buffer the one inside the object? The block after an object without one starts at the
/// same address.
inline bool isInlineBuffer(VecObject* vec, const uint8_t* buffer) {
  return buffer == vec->inlineBuffer() && (vec->extra != 0 || vec->headroom + vec->capacity == 0);
}

} // namespace gos::vm
