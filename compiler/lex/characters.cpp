#include "compiler/lex/characters.h"

#include <algorithm>
#include <iterator>

namespace gos::lex {

namespace {

struct Range {
  uint32_t first, last;
};
constexpr Range kStartRanges[] = {
#define GOS_XID_START(first, last) {first, last},
#include "compiler/lex/xid_ranges.def"
};
constexpr Range kContinueRanges[] = {
#define GOS_XID_CONTINUE(first, last) {first, last},
#include "compiler/lex/xid_ranges.def"
};

template <size_t N> bool contains(const Range (&ranges)[N], uint32_t scalar) {
  const Range* range =
      std::lower_bound(std::begin(ranges), std::end(ranges), scalar,
                       [](const Range& r, uint32_t value) { return r.last < value; });
  return range != std::end(ranges) && range->first <= scalar;
}

} // namespace

Scalar decodeScalar(const char* at, const char* end) {
  const auto byte = [&](int i) { return uint32_t(uint8_t(at[i])); };
  const auto continues = [&](int i) { return (byte(i) & 0xC0) == 0x80; };
  const uint32_t first = byte(0);
  if (first < 0x80)
    return {first, 1};
  if (first >= 0xC2 && first < 0xE0 && end - at >= 2 && continues(1))
    return {(first & 0x1F) << 6 | (byte(1) & 0x3F), 2};
  if (first >= 0xE0 && first < 0xF0 && end - at >= 3 && continues(1) && continues(2)) {
    const uint32_t value = (first & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    if (value >= 0x800 && (value < 0xD800 || value > 0xDFFF))
      return {value, 3};
  }
  if (first >= 0xF0 && first < 0xF5 && end - at >= 4 && continues(1) && continues(2) &&
      continues(3)) {
    const uint32_t value =
        (first & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
    if (value >= 0x10000 && value <= 0x10FFFF)
      return {value, 4};
  }
  return {};
}

void encodeScalar(uint32_t scalar, char (&out)[4], unsigned& length) {
  if (scalar < 0x80) {
    out[0] = char(scalar);
    length = 1;
  } else if (scalar < 0x800) {
    out[0] = char(0xC0 | scalar >> 6);
    out[1] = char(0x80 | (scalar & 0x3F));
    length = 2;
  } else if (scalar < 0x10000) {
    out[0] = char(0xE0 | scalar >> 12);
    out[1] = char(0x80 | (scalar >> 6 & 0x3F));
    out[2] = char(0x80 | (scalar & 0x3F));
    length = 3;
  } else {
    out[0] = char(0xF0 | (scalar >> 18 & 7));
    out[1] = char(0x80 | (scalar >> 12 & 0x3F));
    out[2] = char(0x80 | (scalar >> 6 & 0x3F));
    out[3] = char(0x80 | (scalar & 0x3F));
    length = 4;
  }
}

bool isXidStart(uint32_t scalar) {
  return scalar < 0x80 ? isClass(char(scalar), kIdentStart) : contains(kStartRanges, scalar);
}

bool isXidContinue(uint32_t scalar) {
  return scalar < 0x80 ? isClass(char(scalar), kIdentContinue) : contains(kContinueRanges, scalar);
}

const char* skipIdentContinue(const char* at, const char* end) {
  for (;;) {
    while (isClass(*at, kIdentContinue))
      ++at;
    if (at == end || uint8_t(*at) < 0x80)
      return at;
    const Scalar scalar = decodeScalar(at, end);
    if (scalar.length == 0 || !isXidContinue(scalar.value))
      return at;
    at += scalar.length;
  }
}

} // namespace gos::lex
