#include "stdlib/unicode.h"

#include "vm/text.h"

#include "llvm/ADT/ArrayRef.h"

#include <algorithm>

namespace gos::stdlib {

using llvm::ArrayRef;
using llvm::StringRef;

namespace {

struct ScalarRange {
  uint32_t first;
  uint32_t last;
};
struct CaseRun {
  uint32_t first;
  uint32_t last;
  uint32_t stride;
  int32_t delta;
};
struct CaseMany {
  uint32_t scalar;
  uint32_t parts[3];
};

constexpr ScalarRange kAlphabetic[] = {
#define GOS_ALPHABETIC(first, last) {first, last},
#include "stdlib/unicode_tables.def"
};
constexpr ScalarRange kNumeric[] = {
#define GOS_NUMERIC(first, last) {first, last},
#include "stdlib/unicode_tables.def"
};
constexpr ScalarRange kUppercase[] = {
#define GOS_UPPERCASE(first, last) {first, last},
#include "stdlib/unicode_tables.def"
};
constexpr ScalarRange kLowercase[] = {
#define GOS_LOWERCASE(first, last) {first, last},
#include "stdlib/unicode_tables.def"
};
constexpr CaseRun kToUpper[] = {
#define GOS_TO_UPPER(first, last, stride, delta) {first, last, stride, delta},
#include "stdlib/unicode_tables.def"
};
constexpr CaseRun kToLower[] = {
#define GOS_TO_LOWER(first, last, stride, delta) {first, last, stride, delta},
#include "stdlib/unicode_tables.def"
};
constexpr CaseMany kToUpperMany[] = {
#define GOS_TO_UPPER_MANY(scalar, a, b, c) {scalar, {a, b, c}},
#include "stdlib/unicode_tables.def"
};
constexpr CaseMany kToLowerMany[] = {
#define GOS_TO_LOWER_MANY(scalar, a, b, c) {scalar, {a, b, c}},
#include "stdlib/unicode_tables.def"
};

bool contains(ArrayRef<ScalarRange> table, uint32_t scalar) {
  const auto* at = std::partition_point(
      table.begin(), table.end(), [&](const ScalarRange& range) { return range.last < scalar; });
  return at != table.end() && at->first <= scalar;
}

uint32_t mapOne(ArrayRef<CaseRun> table, uint32_t scalar) {
  // Runs of stride 2 may interleave, so look at the neighbours as well.
  const auto* at = std::partition_point(table.begin(), table.end(),
                                        [&](const CaseRun& run) { return run.first <= scalar; });
  for (unsigned tries = 0; tries < 3 && at != table.begin(); ++tries) {
    --at;
    if (scalar <= at->last && (scalar - at->first) % at->stride == 0)
      return uint32_t(int64_t(scalar) + at->delta);
  }
  return scalar;
}

const CaseMany* mapMany(ArrayRef<CaseMany> table, uint32_t scalar) {
  const auto* at = std::partition_point(table.begin(), table.end(),
                                        [&](const CaseMany& row) { return row.scalar < scalar; });
  return at != table.end() && at->scalar == scalar ? at : nullptr;
}

bool isAscii(StringRef text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return uint8_t(c) < 0x80; });
}

void appendMapped(std::string& out, uint32_t scalar, ArrayRef<CaseRun> one,
                  ArrayRef<CaseMany> many) {
  if (const CaseMany* row = mapMany(many, scalar)) {
    for (uint32_t part : row->parts)
      if (part != 0)
        appendScalar(out, part);
    return;
  }
  appendScalar(out, mapOne(one, scalar));
}

bool isCased(uint32_t scalar) {
  return isUppercase(scalar) || isLowercase(scalar);
}

constexpr uint32_t kSigma = 0x3a3;
constexpr uint32_t kFinalSigma = 0x3c2;

void appendLower(std::string& out, StringRef text, size_t at, uint32_t scalar, unsigned length,
                 bool afterCased) {
  if (scalar == kSigma && afterCased) {
    unsigned next = 0;
    const size_t behind = at + length;
    if (behind >= text.size() || !isCased(vm::decodeScalar(text, behind, next))) {
      appendScalar(out, kFinalSigma);
      return;
    }
  }
  appendMapped(out, scalar, kToLower, kToLowerMany);
}

} // namespace

bool isAlphabetic(uint32_t scalar) {
  return contains(kAlphabetic, scalar);
}
bool isNumeric(uint32_t scalar) {
  return contains(kNumeric, scalar);
}
bool isUppercase(uint32_t scalar) {
  return contains(kUppercase, scalar);
}
bool isLowercase(uint32_t scalar) {
  return contains(kLowercase, scalar);
}
bool isControl(uint32_t scalar) {
  return scalar < 0x20 || (scalar >= 0x7f && scalar < 0xa0);
}

bool isWhitespace(uint32_t scalar) {
  return (scalar >= 0x9 && scalar <= 0xd) || scalar == 0x20 || scalar == 0x85 || scalar == 0xa0 ||
         scalar == 0x1680 || (scalar >= 0x2000 && scalar <= 0x200a) || scalar == 0x2028 ||
         scalar == 0x2029 || scalar == 0x202f || scalar == 0x205f || scalar == 0x3000;
}

uint32_t simpleUpper(uint32_t scalar) {
  return mapOne(kToUpper, scalar);
}
uint32_t simpleLower(uint32_t scalar) {
  return mapOne(kToLower, scalar);
}

void appendScalar(std::string& out, uint32_t scalar) {
  char buffer[4];
  out.append(buffer, vm::encodeScalar(scalar, buffer));
}

int64_t countScalars(StringRef text) {
  int64_t count = 0;
  for (size_t at = 0; at < text.size();) {
    if (uint8_t(text[at]) < 0x80) {
      ++at;
    } else {
      unsigned length = 1;
      vm::decodeScalar(text, at, length);
      at += length;
    }
    ++count;
  }
  return count;
}

std::string toUpper(StringRef text) {
  if (isAscii(text))
    return text.upper();
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    unsigned length = 1;
    const uint32_t scalar = vm::decodeScalar(text, at, length);
    appendMapped(out, scalar, kToUpper, kToUpperMany);
    at += length;
  }
  return out;
}

std::string toLower(StringRef text) {
  if (isAscii(text))
    return text.lower();
  std::string out;
  out.reserve(text.size());
  bool afterCased = false;
  for (size_t at = 0; at < text.size();) {
    unsigned length = 1;
    const uint32_t scalar = vm::decodeScalar(text, at, length);
    appendLower(out, text, at, scalar, length, afterCased);
    afterCased = isCased(scalar);
    at += length;
  }
  return out;
}

std::string toTitle(StringRef text) {
  std::string out;
  out.reserve(text.size());
  bool inWord = false;
  for (size_t at = 0; at < text.size();) {
    unsigned length = 1;
    const uint32_t scalar = vm::decodeScalar(text, at, length);
    if (inWord)
      appendLower(out, text, at, scalar, length, true);
    else
      appendMapped(out, scalar, kToUpper, kToUpperMany);
    inWord = isAlphabetic(scalar) || isNumeric(scalar) || (inWord && scalar == '\'');
    at += length;
  }
  return out;
}

StringRef trimStart(StringRef text) {
  while (!text.empty()) {
    unsigned length = 1;
    if (!isWhitespace(vm::decodeScalar(text, 0, length)))
      break;
    text = text.drop_front(length);
  }
  return text;
}

StringRef trimEnd(StringRef text) {
  while (!text.empty()) {
    size_t at = text.size() - 1;
    while (at > 0 && (uint8_t(text[at]) & 0xc0) == 0x80 && text.size() - at < 4)
      --at;
    unsigned length = 1;
    if (!isWhitespace(vm::decodeScalar(text, at, length)))
      break;
    text = text.take_front(at);
  }
  return text;
}

} // namespace gos::stdlib
