// The reader of JSON: words, and one pass over a value.

#include "stdlib/json_scanner.h"

#include "stdlib/numbers.h"

#include "vm/text.h"

#include <cmath>
#include <vector>

namespace gos::stdlib {

void JsonScanner::skipBlanks() {
  while (at_ < source_.size() && StringRef(" \t\r\n").contains(source_[at_]))
    ++at_;
}
bool JsonScanner::take(char c) {
  if (peek() != c || atEnd())
    return false;
  ++at_;
  return true;
}
bool JsonScanner::takeWord(StringRef word) {
  if (!source_.substr(at_).starts_with(word))
    return false;
  at_ += word.size();
  return true;
}

bool JsonScanner::takeNumber(StringRef& number, bool& integral) {
  const size_t start = at_;
  take('-');
  if (!take('0') && !takeDigits())
    return false;
  integral = true;
  if (take('.')) {
    integral = false;
    if (!takeDigits())
      return false;
  }
  if (take('e') || take('E')) {
    integral = false;
    if (!take('+'))
      take('-');
    if (!takeDigits())
      return false;
  }
  number = source_.slice(start, at_);
  return true;
}

bool JsonScanner::takeString(std::string& out) {
  out.clear();
  while (!atEnd()) {
    const char c = source_[at_++];
    if (c == '"')
      return true;
    if (uint8_t(c) < 0x20) {
      --at_;
      return false;
    }
    if (c != '\\') {
      out += c;
      continue;
    }
    const char kind = atEnd() ? '\0' : source_[at_++];
    switch (kind) {
    case '"':
    case '\\':
    case '/':
      out += kind;
      break;
    case 'b':
      out += '\b';
      break;
    case 'f':
      out += '\f';
      break;
    case 'n':
      out += '\n';
      break;
    case 'r':
      out += '\r';
      break;
    case 't':
      out += '\t';
      break;
    case 'u':
      if (!takeEscape(out))
        return false;
      break;
    default:
      return false;
    }
  }
  return false;
}

std::string JsonScanner::place() const {
  size_t line = 1;
  size_t column = 1;
  for (char c : source_.take_front(at_)) {
    column = c == '\n' ? 1 : column + ((uint8_t(c) & 0xc0) != 0x80);
    line += c == '\n';
  }
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

bool JsonScanner::takeDigits() {
  const size_t start = at_;
  while (!atEnd() && source_[at_] >= '0' && source_[at_] <= '9')
    ++at_;
  return at_ != start;
}
bool JsonScanner::takeHex(uint32_t& unit) {
  uint64_t value = 0;
  const StringRef digits = source_.substr(at_, 4);
  if (digits.size() < 4 || digits.front() == '+' ||
      parseUnsigned(digits, 16, value) != NumberFault::None)
    return false;
  at_ += 4;
  unit = uint32_t(value);
  return true;
}
/// \uXXXX, a pair of surrogates as one scalar; a lone surrogate is no text.
bool JsonScanner::takeEscape(std::string& out) {
  uint32_t scalar = 0;
  if (!takeHex(scalar) || (scalar >= 0xdc00 && scalar <= 0xdfff))
    return false;
  if (scalar >= 0xd800 && scalar <= 0xdbff) {
    uint32_t low = 0;
    if (!takeWord("\\u") || !takeHex(low) || low < 0xdc00 || low > 0xdfff)
      return false;
    scalar = 0x10000 + ((scalar - 0xd800) << 10) + (low - 0xdc00);
  }
  char buffer[4];
  out.append(buffer, vm::encodeScalar(scalar, buffer));
  return true;
}

std::string readJsonValue(JsonScanner& scanner, JsonListener& listener, size_t depth) {
  std::vector<bool> open; // true: an object
  std::string text;
  // The name of a member, and the `:` behind it.
  auto member = [&]() -> std::string {
    if (!scanner.take('"') || !scanner.takeString(text))
      return scanner.fault("a member needs a name in quotes");
    scanner.skipBlanks();
    return scanner.take(':') ? std::string() : scanner.fault("a `:` is missing");
  };
  bool wantsValue = true;
  while (true) {
    if (!wantsValue && open.empty())
      return {};
    scanner.skipBlanks();
    if (wantsValue) {
      wantsValue = false;
      bool going = true;
      StringRef number;
      bool integral = false;
      if (scanner.peek() == '{' || scanner.peek() == '[') {
        const bool isObject = scanner.take('{');
        if (!isObject)
          scanner.take('[');
        if (open.size() + depth >= kDeepestJson)
          return scanner.fault("values are nested too deep");
        open.push_back(isObject);
        if (!listener.open(isObject))
          return {};
        scanner.skipBlanks();
        if (scanner.peek() == (isObject ? '}' : ']'))
          continue; // an empty one: closed below
        if (isObject) {
          if (std::string fault = member(); !fault.empty())
            return fault;
          if (!listener.key(text))
            return {};
        }
        wantsValue = true;
        continue;
      }
      if (scanner.take('"')) {
        if (!scanner.takeString(text))
          return scanner.fault("the string is not well formed");
        going = listener.string(text);
      } else if (scanner.takeWord("null")) {
        going = listener.null();
      } else if (scanner.takeWord("true")) {
        going = listener.boolean(true);
      } else if (scanner.takeWord("false")) {
        going = listener.boolean(false);
      } else if (scanner.takeNumber(number, integral)) {
        int64_t whole = 0;
        double value = 0;
        if (integral && parseSigned(number, 10, whole) == NumberFault::None) {
          going = listener.integer(whole);
        } else if (parseReal(number, value) != NumberFault::None || !std::isfinite(value)) {
          return scanner.fault("the number is out of range");
        } else {
          going = listener.real(value);
        }
      } else {
        return scanner.fault(scanner.atEnd() ? "the document ends too early"
                                             : "a value is expected");
      }
      if (!going)
        return {};
      continue;
    }
    if (scanner.take(open.back() ? '}' : ']')) {
      open.pop_back();
      if (!listener.close())
        return {};
      continue;
    }
    if (!scanner.take(','))
      return scanner.fault(scanner.atEnd() ? "the document ends too early"
                                           : (open.back() ? "a `,` or `}` is expected"
                                                          : "a `,` or `]` is expected"));
    scanner.skipBlanks();
    if (open.back()) {
      if (std::string fault = member(); !fault.empty())
        return fault;
      if (!listener.key(text))
        return {};
    }
    wantsValue = true;
  }
}

std::string endJson(JsonScanner& scanner) {
  scanner.skipBlanks();
  return scanner.atEnd() ? std::string() : scanner.fault("the document goes on after its value");
}

} // namespace gos::stdlib
