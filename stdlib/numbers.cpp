#include "stdlib/numbers.h"

#include "llvm/ADT/Twine.h"

#include <charconv>
#include <limits>

namespace gos::stdlib {

using llvm::StringRef;

namespace {

int digitOf(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'z')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'Z')
    return c - 'A' + 10;
  return 99;
}

NumberFault parseDigits(StringRef digits, unsigned base, uint64_t& value) {
  if (digits.empty())
    return NumberFault::Invalid;
  uint64_t total = 0;
  bool tooLarge = false;
  for (char c : digits) {
    const int digit = digitOf(c);
    if (digit >= int(base))
      return NumberFault::Invalid;
    tooLarge |= __builtin_mul_overflow(total, uint64_t(base), &total);
    tooLarge |= __builtin_add_overflow(total, uint64_t(digit), &total);
  }
  value = total;
  return tooLarge ? NumberFault::TooLarge : NumberFault::None;
}

} // namespace

NumberFault parseSigned(StringRef text, unsigned base, int64_t& value) {
  if (text.empty())
    return NumberFault::Empty;
  const bool negative = text.front() == '-';
  if (negative || text.front() == '+')
    text = text.drop_front();
  uint64_t magnitude = 0;
  if (NumberFault fault = parseDigits(text, base, magnitude); fault != NumberFault::None)
    return fault;
  constexpr uint64_t kMost = uint64_t(std::numeric_limits<int64_t>::max());
  if (magnitude > kMost + (negative ? 1 : 0))
    return NumberFault::TooLarge;
  value = int64_t(negative ? 0 - magnitude : magnitude);
  return NumberFault::None;
}

NumberFault parseUnsigned(StringRef text, unsigned base, uint64_t& value) {
  if (text.empty())
    return NumberFault::Empty;
  if (text.front() == '+')
    text = text.drop_front();
  return parseDigits(text, base, value);
}

NumberFault parseReal(StringRef text, double& value) {
  if (text.empty())
    return NumberFault::Empty;
  StringRef digits = text;
  const bool negative = digits.front() == '-';
  if (negative || digits.front() == '+')
    digits = digits.drop_front();
  if (digits.equals_insensitive("nan")) {
    value = std::numeric_limits<double>::quiet_NaN();
    return NumberFault::None;
  }
  if (digits.equals_insensitive("inf") || digits.equals_insensitive("infinity")) {
    value = std::numeric_limits<double>::infinity() * (negative ? -1.0 : 1.0);
    return NumberFault::None;
  }
  // from_chars would take hexadecimal words and more signs.
  if (digits.empty() || digits.find_first_not_of("0123456789.eE+-") != StringRef::npos ||
      digits.front() == '-' || digits.front() == '+' || digits.front() == 'e' ||
      digits.front() == 'E')
    return NumberFault::Invalid;
  double parsed = 0;
  const std::from_chars_result result = std::from_chars(digits.begin(), digits.end(), parsed);
  if (result.ptr != digits.end() || result.ec == std::errc::invalid_argument)
    return NumberFault::Invalid;
  if (result.ec == std::errc::result_out_of_range) {
    // Rounds like any other number: to an infinity or to zero, by the exponent's sign.
    const size_t exponent = digits.find_first_of("eE");
    const bool tiny = exponent != StringRef::npos ? digits.substr(exponent + 1).starts_with("-")
                                                  : digits.starts_with("0");
    parsed = tiny ? 0.0 : std::numeric_limits<double>::infinity();
  }
  value = negative ? -parsed : parsed;
  return NumberFault::None;
}

std::string faultText(NumberFault fault, StringRef text, StringRef wanted) {
  switch (fault) {
  case NumberFault::None:
    return {};
  case NumberFault::Empty:
    return ("an empty text is not " + wanted).str();
  case NumberFault::Invalid:
    return ("`" + text + "` is not " + wanted).str();
  case NumberFault::TooLarge:
    return ("`" + text + "` does not fit " + wanted).str();
  }
  return {};
}

} // namespace gos::stdlib
