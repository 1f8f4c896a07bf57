#pragma once
// Text in a StringObject counts in scalar values and in bytes; these go from one to the other. All
// of them are total over any bytes.

#include "vm/object.h"

#include "llvm/ADT/StringRef.h"

namespace gos::vm {

/// The number of scalar values, cached in the object.
int64_t scalarCount(StringObject* string);
/// Byte offset of a scalar index at most scalarCount; cached, so that a walk in either direction is
/// linear. Says how many scalars it went over.
uint64_t byteOffset(StringObject* string, uint64_t scalarIndex, uint64_t* walked = nullptr);
/// Do the bytes begin inside a scalar? Put behind others they may then complete the last one.
inline bool startsInside(llvm::StringRef text) {
  return !text.empty() && (uint8_t(text.front()) & 0xc0) == 0x80;
}
/// The number of scalar values of any bytes.
uint64_t countScalars(llvm::StringRef text);
/// Decodes the scalar value at `offset` (below the size) and says how many bytes it takes; a byte
/// that starts none is U+FFFD and one byte long.
uint32_t decodeScalar(llvm::StringRef text, size_t offset, unsigned& length);
/// Writes at most 4 bytes; what is no scalar value becomes U+FFFD.
unsigned encodeScalar(uint32_t scalar, char* out);
bool isValidUtf8(llvm::StringRef text);

} // namespace gos::vm
