#pragma once
// Classes of characters: a table for ASCII, ranges for the rest, and a total UTF-8 decoder.

#include <array>
#include <cstdint>

namespace gos::lex {

enum CharacterClass : uint8_t {
  kIdentStart = 1,
  kIdentContinue = 2,
  kDigit = 4,
  kHexDigit = 8,
  kSpace = 16, // not LF
};

inline constexpr std::array<uint8_t, 256> kCharacterClasses = [] {
  std::array<uint8_t, 256> table{};
  for (int c = '0'; c <= '9'; ++c)
    table[c] = kIdentContinue | kDigit | kHexDigit;
  for (int c = 'a'; c <= 'z'; ++c)
    table[c] = kIdentStart | kIdentContinue | (c <= 'f' ? kHexDigit : 0);
  for (int c = 'A'; c <= 'Z'; ++c)
    table[c] = kIdentStart | kIdentContinue | (c <= 'F' ? kHexDigit : 0);
  table['_'] = kIdentStart | kIdentContinue;
  table[' '] = table['\t'] = table['\r'] = kSpace;
  return table;
}();

inline bool isClass(char c, uint8_t mask) {
  return (kCharacterClasses[uint8_t(c)] & mask) != 0;
}

struct Scalar {
  uint32_t value = 0;
  uint32_t length = 0; // 0: the bytes are not UTF-8
};
/// Decodes one scalar of [at, end); at != end.
Scalar decodeScalar(const char* at, const char* end);
void encodeScalar(uint32_t scalar, char (&out)[4], unsigned& length);

bool isXidStart(uint32_t scalar);
bool isXidContinue(uint32_t scalar);
/// The end of the run of identifier characters that begins at `at`.
const char* skipIdentContinue(const char* at, const char* end);

} // namespace gos::lex
