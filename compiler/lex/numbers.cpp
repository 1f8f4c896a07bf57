#include "compiler/lex/numbers.h"

#include "compiler/lex/characters.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"

#include <charconv>
#include <limits>

namespace gos::lex {

namespace {

unsigned radixOf(char letter) {
  switch (letter) {
  case 'x':
  case 'X':
    return 16;
  case 'o':
  case 'O':
    return 8;
  case 'b':
  case 'B':
    return 2;
  }
  return 10;
}

const char* skipDigits(const char* at) {
  while (isClass(*at, kDigit) || *at == '_')
    ++at;
  return at;
}

/// Does an exponent stand at `at`? `1e5`, `1e-5`; not `1else` nor `1e`.
bool isExponent(const char* at) {
  if (*at != 'e' && *at != 'E')
    return false;
  ++at;
  if (*at == '+' || *at == '-')
    ++at;
  return isClass(*at, kDigit);
}

} // namespace

NumberShape scanNumber(const char* at, const char* end) {
  NumberShape shape;
  const unsigned radix = *at == '0' ? radixOf(at[1]) : 10;
  if (radix != 10) {
    at += 2;
    if (*at == '_')
      shape.fault = "`_` stands before the first digit";
    bool any = false;
    // A hexadecimal number may swallow a suffix's letters only up to the first that is no digit.
    for (; isClass(*at, radix == 16 ? kHexDigit : kDigit) || *at == '_'; ++at) {
      if (*at == '_')
        continue;
      any = true;
      if (radix < 10 && unsigned(*at - '0') >= radix && !shape.fault)
        shape.fault =
            radix == 2 ? "digit past 1 in a binary number" : "digit past 7 in an octal number";
    }
    if (!any)
      shape.fault = "digits are missing after the radix prefix";
    shape.end = skipIdentContinue(at, end);
    return shape;
  }
  at = skipDigits(at);
  if (*at == '.' && isClass(at[1], kDigit)) {
    shape.isFloat = true;
    if (at[-1] == '_')
      shape.fault = "`_` stands next to the decimal point";
    at = skipDigits(at + 1);
  }
  if (isExponent(at)) {
    shape.isFloat = true;
    if (at[-1] == '_')
      shape.fault = "`_` stands next to the exponent";
    ++at;
    if (*at == '+' || *at == '-')
      ++at;
    at = skipDigits(at);
  }
  shape.end = skipIdentContinue(at, end);
  return shape;
}

NumberValue decodeNumber(llvm::StringRef text) {
  NumberValue value;
  const unsigned radix = text.size() > 1 && text[0] == '0' ? radixOf(text[1]) : 10;
  if (radix != 10)
    text = text.drop_front(2);
  llvm::SmallString<64> digits;
  size_t at = 0;
  const auto copyDigits = [&](uint8_t mask) {
    for (; at < text.size() && (isClass(text[at], mask) || text[at] == '_'); ++at)
      if (text[at] != '_')
        digits.push_back(text[at]);
  };
  copyDigits(radix == 16 ? kHexDigit : kDigit);
  if (radix == 10) {
    if (at + 1 < text.size() && text[at] == '.' && isClass(text[at + 1], kDigit)) {
      value.isFloat = true;
      digits.push_back('.');
      ++at;
      copyDigits(kDigit);
    }
    if (at < text.size() && isExponent(text.str().c_str() + at)) {
      value.isFloat = true;
      digits.push_back('e');
      ++at;
      if (text[at] == '-')
        digits.push_back('-');
      if (text[at] == '+' || text[at] == '-')
        ++at;
      copyDigits(kDigit);
    }
  }
  value.suffix = text.substr(at);
  if (value.isFloat) {
    const auto result = std::from_chars(digits.begin(), digits.end(), value.floating);
    if (result.ec == std::errc::result_out_of_range) {
      // A negative exponent underflows to zero, any other number overflows to infinity.
      const size_t exponent = llvm::StringRef(digits).find("e-");
      value.floating =
          exponent != llvm::StringRef::npos ? 0.0 : std::numeric_limits<double>::infinity();
    }
    return value;
  }
  for (char digit : digits) {
    uint64_t next;
    if (__builtin_mul_overflow(value.integer, uint64_t(radix), &next) ||
        __builtin_add_overflow(next, uint64_t(llvm::hexDigitValue(digit)), &next)) {
      value.tooLarge = true;
      break;
    }
    value.integer = next;
  }
  return value;
}

} // namespace gos::lex
