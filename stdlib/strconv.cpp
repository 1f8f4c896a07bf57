// std::strconv

#include "stdlib/numbers.h"
#include "stdlib/support.h"

#include "vm/format.h"
#include "vm/text.h"

namespace gos::stdlib {

namespace {

/// Reads a quoted text back: escapes as the language's literals have them.
std::optional<std::string> unquoted(StringRef text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"')
    return std::nullopt;
  text = text.drop_front().drop_back();
  std::string out;
  while (!text.empty()) {
    const char c = text.front();
    text = text.drop_front();
    if (c == '"' || c == '\n')
      return std::nullopt;
    if (c != '\\') {
      out += c;
      continue;
    }
    if (text.empty())
      return std::nullopt;
    const char kind = text.front();
    text = text.drop_front();
    uint64_t scalar = 0;
    switch (kind) {
    case 'n':
      out += '\n';
      continue;
    case 't':
      out += '\t';
      continue;
    case 'r':
      out += '\r';
      continue;
    case '0':
      out += '\0';
      continue;
    case '\\':
      out += '\\';
      continue;
    case '"':
      out += '"';
      continue;
    case '\'':
      out += '\'';
      continue;
    case 'x':
      if (text.size() < 2 || parseUnsigned(text.take_front(2), 16, scalar) != NumberFault::None ||
          scalar > 0x7f)
        return std::nullopt;
      text = text.drop_front(2);
      break;
    case 'u': {
      const size_t end = text.find('}');
      if (!text.starts_with("{") || end == StringRef::npos ||
          parseUnsigned(text.slice(1, end), 16, scalar) != NumberFault::None || scalar > 0x10ffff ||
          (scalar >= 0xd800 && scalar <= 0xdfff))
        return std::nullopt;
      text = text.drop_front(end + 1);
      break;
    }
    default:
      return std::nullopt;
    }
    char buffer[4];
    out.append(buffer, vm::encodeScalar(uint32_t(scalar), buffer));
  }
  return out;
}

} // namespace

namespace bodies {

Trap StrconvParseI64(Arguments& arguments) {
  arguments.vm().heap().chargeText(arguments.string(0).size() * 4);
  int64_t value = 0;
  const NumberFault fault = parseSigned(arguments.string(0), 10, value);
  return fault == NumberFault::None
             ? arguments.returnOkInteger(value)
             : arguments.returnErr(faultText(fault, arguments.string(0), "an i64"));
}
Trap StrconvParseU64(Arguments& arguments) {
  arguments.vm().heap().chargeText(arguments.string(0).size() * 4);
  uint64_t value = 0;
  const NumberFault fault = parseUnsigned(arguments.string(0), 10, value);
  return fault == NumberFault::None
             ? arguments.returnOkInteger(int64_t(value))
             : arguments.returnErr(faultText(fault, arguments.string(0), "a u64"));
}
Trap StrconvParseF64(Arguments& arguments) {
  arguments.vm().heap().chargeText(arguments.string(0).size() * 4);
  double value = 0;
  const NumberFault fault = parseReal(arguments.string(0), value);
  return fault == NumberFault::None
             ? arguments.returnOkReal(value)
             : arguments.returnErr(faultText(fault, arguments.string(0), "an f64"));
}
Trap StrconvParseBool(Arguments& arguments) {
  const StringRef text = arguments.string(0);
  if (text == "true" || text == "false")
    return arguments.returnOkInteger(text == "true");
  return arguments.returnErr(
      faultText(text.empty() ? NumberFault::Empty : NumberFault::Invalid, text, "a bool"));
}
Trap StrconvParseI64Radix(Arguments& arguments) {
  arguments.vm().heap().chargeText(arguments.string(0).size() * 4);
  const int64_t base = arguments.integer(1);
  if (base < 2 || base > 36)
    return arguments.returnErr("the base is " + std::to_string(base) + " but must be in 2..=36");
  int64_t value = 0;
  const NumberFault fault = parseSigned(arguments.string(0), unsigned(base), value);
  return fault == NumberFault::None
             ? arguments.returnOkInteger(value)
             : arguments.returnErr(
                   faultText(fault, arguments.string(0), "an i64 in base " + std::to_string(base)));
}
Trap StrconvFormatI64(Arguments& arguments) {
  return arguments.returnString(std::to_string(arguments.integer(0)));
}
Trap StrconvFormatF64(Arguments& arguments) {
  return arguments.returnString(vm::floatText(arguments.real(0), vm::FloatText::Display));
}
Trap StrconvFormatI64Radix(Arguments& arguments) {
  const int64_t value = arguments.integer(0);
  const int64_t base = arguments.integer(1);
  if (base < 2 || base > 36)
    return Trap::panic("format_i64_radix: the base is " + std::to_string(base) +
                       " but must be in 2..=36");
  uint64_t magnitude = value < 0 ? 0 - uint64_t(value) : uint64_t(value);
  std::string digits;
  do {
    digits += "0123456789abcdefghijklmnopqrstuvwxyz"[magnitude % uint64_t(base)];
    magnitude /= uint64_t(base);
  } while (magnitude != 0);
  if (value < 0)
    digits += '-';
  return arguments.returnString(std::string(digits.rbegin(), digits.rend()));
}
Trap StrconvQuote(Arguments& arguments) {
  if (Trap trap = chargeEach(arguments.vm(), arguments.string(0).size()))
    return trap;
  vm::TextBuffer out(arguments.vm().heap());
  vm::appendQuoted(arguments.string(0), out);
  return arguments.returnText(out);
}
Trap StrconvUnquote(Arguments& arguments) {
  if (Trap trap = chargeEach(arguments.vm(), arguments.string(0).size()))
    return trap;
  const vm::Scratch scratch(arguments.vm().heap(), arguments.string(0).size() * 2);
  if (!scratch)
    return arguments.vm().heapTrap();
  const std::optional<std::string> text = unquoted(arguments.string(0));
  return text ? arguments.returnOkString(*text)
              : arguments.returnErr("the text is not a string literal");
}

} // namespace bodies
} // namespace gos::stdlib
