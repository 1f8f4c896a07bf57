#include "compiler/lex/strings.h"

#include "compiler/lex/characters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace gos::lex {

namespace {

using llvm::StringRef;

bool isBlank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

/// The fault of an escape, or what it means.
struct Escape {
  uint32_t value = 0;
  uint32_t length = 1;
  bool isMalformed = false; // GP0018
  bool isNoScalar = false;  // GT0010
};

Escape decodeEscape(const char* at, const char* end, bool isBytes) {
  Escape escape;
  if (end - at < 2) {
    escape.isMalformed = true;
    return escape;
  }
  escape.length = 2;
  switch (at[1]) {
  case 'n':
    escape.value = '\n';
    return escape;
  case 't':
    escape.value = '\t';
    return escape;
  case 'r':
    escape.value = '\r';
    return escape;
  case '0':
    return escape;
  case '\\':
  case '\'':
  case '"':
    escape.value = uint8_t(at[1]);
    return escape;
  case 'x':
    if (end - at < 4 || !isClass(at[2], kHexDigit) || !isClass(at[3], kHexDigit)) {
      escape.isMalformed = true;
      return escape;
    }
    escape.length = 4;
    escape.value = llvm::hexDigitValue(at[2]) * 16 + llvm::hexDigitValue(at[3]);
    escape.isNoScalar = !isBytes && escape.value > 0x7F;
    return escape;
  case 'u': {
    const char* digit = at + 2;
    if (digit == end || *digit != '{' || isBytes) {
      escape.isMalformed = true;
      return escape;
    }
    uint32_t count = 0;
    for (++digit; digit != end && isClass(*digit, kHexDigit) && count < 7; ++digit, ++count)
      escape.value = escape.value * 16 + llvm::hexDigitValue(*digit);
    if (digit == end || *digit != '}' || count == 0 || count > 6) {
      escape.isMalformed = true;
      escape.length = uint32_t(digit - at);
      return escape;
    }
    escape.length = uint32_t(digit + 1 - at);
    escape.isNoScalar =
        escape.value > 0x10FFFF || (escape.value >= 0xD800 && escape.value <= 0xDFFF);
    return escape;
  }
  }
  // An unknown escape covers one whole character, so that the report shows it.
  const Scalar scalar = decodeScalar(at + 1, end);
  escape.length = 1 + std::max(1u, scalar.length);
  escape.isMalformed = true;
  return escape;
}

/// Reports what is wrong with an escape; true when nothing is.
bool checkEscape(const Escape& escape, const char* at, const SourceFile& file, Engine& engine) {
  if (!escape.isMalformed && !escape.isNoScalar)
    return true;
  const uint32_t begin = file.base + uint32_t(at - file.content().begin());
  const Span span{begin, begin + escape.length};
  const StringRef text(at, escape.length);
  if (escape.isMalformed)
    engine.report(span, diag::MalformedToken, ("unknown escape `" + text + "`").str())
        .help("the escapes are \\n \\t \\r \\0 \\\\ \\' \\\" \\xHH and \\u{H..}");
  else
    engine.report(span, diag::BadEscapeValue, text);
  return false;
}

} // namespace

uint32_t escapeLength(const char* at, const char* end) {
  if (end - at < 2)
    return 1;
  if (at[1] != 'u' || end - at < 3 || at[2] != '{')
    return 2;
  const char* digit = at + 3;
  while (digit != end && isClass(*digit, kHexDigit))
    ++digit;
  return uint32_t(digit - at) + (digit != end && *digit == '}' ? 1 : 0);
}

const char* skipString(const char* at, const char* end) {
  while (at != end) {
    if (*at == '"')
      return at + 1;
    at += *at == '\\' && end - at >= 2 ? 2 : 1;
  }
  return nullptr;
}

const char* skipTripleString(const char* at, const char* end) {
  while (end - at >= 3) {
    if (at[0] == '"' && at[1] == '"' && at[2] == '"')
      return at + 3;
    at += *at == '\\' ? 2 : 1;
  }
  return nullptr;
}

const char* skipRawString(const char* at, const char* end, bool& isRawString) {
  const char* hashes = at;
  while (at != end && *at == '#')
    ++at;
  const size_t count = size_t(at - hashes);
  isRawString = at != end && *at == '"';
  if (!isRawString)
    return nullptr;
  for (++at; at != end; ++at) {
    if (*at != '"')
      continue;
    size_t found = 0;
    while (found < count && at + 1 + found != end && at[1 + found] == '#')
      ++found;
    if (found == count)
      return at + 1 + count;
    at += found;
  }
  return nullptr;
}

StringBody bodyOf(const SourceFile& file, const Token& token, Engine& engine,
                  llvm::ArrayRef<FStringPart> parts) {
  StringBody body;
  body.file = &file;
  body.begin = token.begin;
  body.end = token.end;
  const StringRef text = body.text();
  uint32_t front = 0, back = 1;
  bool isTriple = false;
  switch (token.kind) {
  case TokenKind::String:
    front = 1;
    break;
  case TokenKind::ByteString:
    front = 2;
    body.isBytes = true;
    break;
  case TokenKind::FString:
    front = 2;
    break;
  case TokenKind::RawString:
  case TokenKind::RawByteString: {
    body.isRaw = true;
    body.isBytes = token.kind == TokenKind::RawByteString;
    front = uint32_t(text.find('"')) + 1;
    back = front - (body.isBytes ? 2 : 1);
    break;
  }
  case TokenKind::TripleString:
    front = back = 3;
    isTriple = true;
    break;
  case TokenKind::TripleFString:
    front = 4;
    back = 3;
    isTriple = true;
    break;
  default:
    assert(false && "not a string token");
  }
  body.begin += front;
  body.end -= back;
  if (!isTriple)
    return body;

  const StringRef inside = body.text();
  const size_t firstNewline = inside.find('\n');
  if (firstNewline == StringRef::npos)
    return body;
  for (const FStringPart& part : parts)
    if (part.hasPlaceholder && part.braces.begin < body.begin + firstNewline &&
        part.braces.end > body.begin + firstNewline)
      return body; // the line break is inside a placeholder: the text has one line
  const StringRef opening = inside.take_front(firstNewline);
  if (!llvm::all_of(opening, isBlank))
    engine.report({body.begin, body.begin + uint32_t(opening.rtrim().size())},
                  diag::TextAfterTripleQuote);
  body.isDedented = true;
  StringRef lines = inside.drop_front(firstNewline + 1);
  body.begin += uint32_t(firstNewline) + 1;

  bool isMeasured = false;
  StringRef margin;
  const auto measure = [&](StringRef line) {
    const StringRef indent = line.take_while([](char c) { return c == ' ' || c == '\t'; });
    if (!isMeasured) {
      margin = indent;
      isMeasured = true;
      return;
    }
    size_t same = 0;
    while (same < margin.size() && same < indent.size() && margin[same] == indent[same])
      ++same;
    margin = margin.take_front(same);
  };
  const size_t lastNewline = lines.rfind('\n');
  const StringRef closing = lastNewline == StringRef::npos ? lines : lines.substr(lastNewline + 1);
  if (llvm::all_of(closing, isBlank)) {
    measure(closing);
    lines = lastNewline == StringRef::npos ? StringRef() : lines.take_front(lastNewline);
    lines.consume_back("\r");
    body.end = body.begin + uint32_t(lines.size());
  }
  const FStringPart* part = parts.begin();
  while (!lines.empty()) {
    const auto [line, rest] = lines.split('\n');
    const uint32_t at = file.base + uint32_t(line.begin() - file.content().begin());
    while (part != parts.end() && (!part->hasPlaceholder || part->braces.end <= at))
      ++part;
    const bool isInsidePlaceholder = part != parts.end() && part->braces.begin < at;
    if (!isInsidePlaceholder && !llvm::all_of(line, isBlank))
      measure(line);
    lines = rest;
  }
  body.margin = uint32_t(margin.size());
  return body;
}

bool isPlain(const StringBody& body) {
  if (body.isDedented)
    return false;
  const StringRef text = body.text();
  if (!body.isRaw && !text.empty() && std::memchr(text.data(), '\\', text.size()))
    return false;
  return llvm::all_of(text, [](char c) { return uint8_t(c) < 0x80; });
}

void appendText(const StringBody& body, uint32_t from, uint32_t to, Braces braces,
                llvm::SmallVectorImpl<char>& out, Engine& engine) {
  const SourceFile& file = *body.file;
  const char* start = file.content().begin();
  const char* bodyBegin = start + (body.begin - file.base);
  const char* bodyEnd = start + (body.end - file.base);
  const char* at = start + (from - file.base);
  const char* end = start + (to - file.base);
  const auto spanAt = [&](const char* place, uint32_t length) {
    const uint32_t offset = file.base + uint32_t(place - start);
    return Span{offset, offset + length};
  };
  while (at < end) {
    if (body.isDedented && (at == bodyBegin || at[-1] == '\n')) {
      const char* text = at;
      while (text != bodyEnd && isBlank(*text))
        ++text;
      if (text == bodyEnd || *text == '\n')
        at = std::min(text, end); // a blank line becomes empty
      else
        at = std::min(at + body.margin, end);
      if (at == end)
        return;
      if (at[0] == '\n') {
        out.push_back(*at++);
        continue;
      }
    }
    const char c = *at;
    if (c == '\\' && !body.isRaw) {
      const Escape escape = decodeEscape(at, end, body.isBytes);
      if (checkEscape(escape, at, file, engine)) {
        if (body.isBytes) {
          out.push_back(char(escape.value));
        } else {
          char bytes[4];
          unsigned length = 0;
          encodeScalar(escape.value, bytes, length);
          out.append(bytes, bytes + length);
        }
      }
      at += escape.length;
      continue;
    }
    if (braces == Braces::Doubled && (c == '{' || c == '}')) {
      const bool isDoubled = at + 1 < end && at[1] == c;
      if (!isDoubled)
        engine.report(spanAt(at, 1), diag::StrayBrace, StringRef(at, 1));
      out.push_back(c);
      at += isDoubled ? 2 : 1;
      continue;
    }
    if (uint8_t(c) < 0x80) {
      out.push_back(c);
      ++at;
      continue;
    }
    const Scalar scalar = decodeScalar(at, end);
    if (scalar.length == 0) {
      engine.report(spanAt(at, 1), diag::MalformedToken, "bytes that are not UTF-8");
      out.push_back('?');
      do
        ++at;
      while (at < end && uint8_t(*at) >= 0x80 && decodeScalar(at, end).length == 0);
      continue;
    }
    if (body.isBytes)
      engine.report(spanAt(at, scalar.length), diag::MalformedToken,
                    "a byte string holds a character outside ASCII");
    out.append(at, at + scalar.length);
    at += scalar.length;
  }
}

uint32_t characterValue(const SourceFile& file, const Token& token, Engine& engine) {
  const bool isByte = token.kind == TokenKind::Byte;
  const char* start = file.content().begin();
  const char* at = start + (token.begin - file.base) + (isByte ? 2 : 1);
  const char* end = start + (token.end - file.base) - 1;
  if (at >= end)
    return 0;
  if (*at == '\\') {
    const Escape escape = decodeEscape(at, end, isByte);
    return checkEscape(escape, at, file, engine) ? escape.value : 0;
  }
  const Scalar scalar = decodeScalar(at, end);
  if (isByte && scalar.value >= 0x80) {
    engine.report(token.span(), diag::MalformedToken,
                  "a byte literal holds a character outside ASCII");
    return 0;
  }
  return scalar.value;
}

} // namespace gos::lex
