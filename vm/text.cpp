#include "vm/text.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cstring>

namespace gos::vm {

namespace {

constexpr uint32_t kReplacement = 0xfffd;

bool isContinuation(char byte) {
  return (uint8_t(byte) & 0xc0) == 0x80;
}

/// Length of the well-formed sequence at `offset`, or 0.
unsigned sequenceLength(llvm::StringRef text, size_t offset) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data()) + offset;
  const size_t left = text.size() - offset;
  const uint8_t first = bytes[0];
  if (first < 0x80)
    return 1;
  if (first < 0xc2 || first > 0xf4)
    return 0;
  const unsigned length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (left < length)
    return 0;
  for (unsigned i = 1; i < length; ++i)
    if (!isContinuation(char(bytes[i])))
      return 0;
  // Overlong forms, surrogates, and what lies beyond U+10FFFF.
  if ((first == 0xe0 && bytes[1] < 0xa0) || (first == 0xed && bytes[1] >= 0xa0) ||
      (first == 0xf0 && bytes[1] < 0x90) || (first == 0xf4 && bytes[1] >= 0x90))
    return 0;
  return length;
}

/// Bytes from `offset` to the next scalar; a byte that starts none counts as one.
unsigned stepLength(llvm::StringRef text, size_t offset) {
  const unsigned length = sequenceLength(text, offset);
  return length == 0 ? 1 : length;
}

/// Bytes from the scalar before `offset` (above 0, where one begins) to it. A sequence's first byte
/// is never inside another one, so going back finds what going forward would have.
unsigned stepBack(llvm::StringRef text, size_t offset) {
  for (unsigned length = 1; length <= 4 && length <= offset; ++length) {
    const size_t first = offset - length;
    if (!isContinuation(text[first]))
      return sequenceLength(text, first) == length ? length : 1;
  }
  return 1;
}

/// How many leading bytes are ASCII.
size_t asciiPrefix(llvm::StringRef text, size_t from) {
  size_t at = from;
  while (at + 8 <= text.size()) {
    uint64_t word;
    std::memcpy(&word, text.data() + at, 8);
    if ((word & 0x8080808080808080ull) != 0)
      break;
    at += 8;
  }
  while (at < text.size() && uint8_t(text[at]) < 0x80)
    ++at;
  return at;
}

} // namespace

int64_t scalarCount(StringObject* string) {
  if (string->scalars < 0)
    string->scalars = int64_t(countScalars(string->text()));
  return string->scalars;
}

uint64_t countScalars(llvm::StringRef text) {
  uint64_t count = 0;
  size_t at = 0;
  while (at < text.size()) {
    const size_t next = asciiPrefix(text, at);
    count += next - at;
    at = next;
    if (at < text.size()) {
      at += stepLength(text, at);
      ++count;
    }
  }
  return count;
}

uint64_t byteOffset(StringObject* string, uint64_t scalarIndex, uint64_t* walked) {
  const auto total = uint64_t(scalarCount(string));
  if (total == string->length)
    return std::min(scalarIndex, string->length);
  if (scalarIndex >= total)
    return string->length;
  const llvm::StringRef text = string->text();
  // From the nearest of three known places. The cursor is written only where its numbers fit.
  uint64_t scalar = 0;
  uint64_t byte = 0;
  const auto distance = [&](uint64_t from) {
    return from < scalarIndex ? scalarIndex - from : from - scalarIndex;
  };
  if (string->cursorByte < text.size() && distance(string->cursorScalar) < distance(scalar)) {
    scalar = string->cursorScalar;
    byte = string->cursorByte;
  }
  if (distance(total) < distance(scalar)) {
    scalar = total;
    byte = text.size();
  }
  if (walked != nullptr)
    *walked = distance(scalar);
  for (; scalar < scalarIndex && byte < text.size(); ++scalar)
    byte += stepLength(text, byte);
  for (; scalar > scalarIndex && byte > 0; --scalar)
    byte -= stepBack(text, byte);
  if (byte <= UINT32_MAX) {
    string->cursorScalar = uint32_t(scalar);
    string->cursorByte = uint32_t(byte);
  }
  return byte;
}

uint32_t decodeScalar(llvm::StringRef text, size_t offset, unsigned& length) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data()) + offset;
  length = sequenceLength(text, offset);
  switch (length) {
  case 1:
    return bytes[0];
  case 2:
    return uint32_t(bytes[0] & 0x1f) << 6 | (bytes[1] & 0x3f);
  case 3:
    return uint32_t(bytes[0] & 0x0f) << 12 | uint32_t(bytes[1] & 0x3f) << 6 | (bytes[2] & 0x3f);
  case 4:
    return uint32_t(bytes[0] & 0x07) << 18 | uint32_t(bytes[1] & 0x3f) << 12 |
           uint32_t(bytes[2] & 0x3f) << 6 | (bytes[3] & 0x3f);
  }
  length = 1;
  return kReplacement;
}

unsigned encodeScalar(uint32_t scalar, char* out) {
  if (scalar > 0x10ffff || (scalar >= 0xd800 && scalar < 0xe000))
    scalar = kReplacement;
  if (scalar < 0x80) {
    out[0] = char(scalar);
    return 1;
  }
  if (scalar < 0x800) {
    out[0] = char(0xc0 | scalar >> 6);
    out[1] = char(0x80 | (scalar & 0x3f));
    return 2;
  }
  if (scalar < 0x10000) {
    out[0] = char(0xe0 | scalar >> 12);
    out[1] = char(0x80 | (scalar >> 6 & 0x3f));
    out[2] = char(0x80 | (scalar & 0x3f));
    return 3;
  }
  out[0] = char(0xf0 | scalar >> 18);
  out[1] = char(0x80 | (scalar >> 12 & 0x3f));
  out[2] = char(0x80 | (scalar >> 6 & 0x3f));
  out[3] = char(0x80 | (scalar & 0x3f));
  return 4;
}

bool isValidUtf8(llvm::StringRef text) {
  size_t at = 0;
  while (at < text.size()) {
    at = asciiPrefix(text, at);
    if (at >= text.size())
      break;
    const unsigned length = sequenceLength(text, at);
    if (length == 0)
      return false;
    at += length;
  }
  return true;
}

} // namespace gos::vm
