#include "vm/format.h"

#include "vm/structural.h"
#include "vm/text.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace gos::vm {

namespace {

/// Digits and decimal exponent of the shortest text that reads back: value = 0.DIGITS *
/// 10^exponent.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

Decimal shortest(double value, bool isSingle) {
  char buffer[64];
  const std::to_chars_result end =
      isSingle
          ? std::to_chars(buffer, buffer + sizeof(buffer), float(value),
                          std::chars_format::scientific)
          : std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific);
  // d.ddde[+-]xx
  const llvm::StringRef text(buffer, size_t(end.ptr - buffer));
  const auto [mantissa, exponent] = text.split('e');
  Decimal decimal;
  for (char c : mantissa)
    if (c != '.')
      decimal.digits.push_back(c);
  int power = 0;
  exponent.drop_front(exponent.starts_with("+") ? 1 : 0).getAsInteger(10, power);
  decimal.exponent = power + 1;
  while (decimal.digits.size() > 1 && decimal.digits.back() == '0')
    decimal.digits.pop_back();
  return decimal;
}

std::string nonFinite(double value) {
  if (std::isnan(value))
    return "NaN";
  return value < 0 ? "-inf" : "inf";
}

bool needsEscape(uint32_t scalar) {
  // C0, DEL, C1, and what turns the direction of text around or breaks lines.
  return scalar < 0x20 || (scalar >= 0x7f && scalar < 0xa0) ||
         (scalar >= 0x200e && scalar <= 0x200f) || (scalar >= 0x2028 && scalar <= 0x202e) ||
         (scalar >= 0x2066 && scalar <= 0x2069) || scalar == 0x061c || scalar == 0xfeff;
}

void appendEscaped(uint32_t scalar, char quote, std::string& out) {
  switch (scalar) {
  case '\\':
    out += "\\\\";
    return;
  case '\n':
    out += "\\n";
    return;
  case '\r':
    out += "\\r";
    return;
  case '\t':
    out += "\\t";
    return;
  case 0:
    out += "\\0";
    return;
  }
  if (scalar == uint32_t(uint8_t(quote))) {
    out += '\\';
    out += quote;
    return;
  }
  if (needsEscape(scalar)) {
    out += "\\u{" + llvm::utohexstr(scalar, /*LowerCase=*/true) + "}";
    return;
  }
  char bytes[4];
  out.append(bytes, encodeScalar(scalar, bytes));
}

} // namespace

std::string floatText(double value, FloatText form, bool isSingle) {
  if (!std::isfinite(value))
    return nonFinite(value);
  std::string out = std::signbit(value) ? "-" : "";
  if (value == 0) {
    out += form == FloatText::Debug ? "0.0" : "0";
    return out;
  }
  const Decimal decimal = shortest(std::fabs(value), isSingle);
  const auto count = int(decimal.digits.size());
  if (decimal.exponent <= 0) {
    out += "0.";
    out.append(size_t(-decimal.exponent), '0');
    out += decimal.digits;
    return out;
  }
  if (count <= decimal.exponent) {
    out += decimal.digits;
    out.append(size_t(decimal.exponent - count), '0');
    if (form == FloatText::Debug)
      out += ".0";
    return out;
  }
  out.append(decimal.digits, 0, size_t(decimal.exponent));
  out += '.';
  out.append(decimal.digits, size_t(decimal.exponent));
  return out;
}

std::string floatFixed(double value, uint32_t precision) {
  if (!std::isfinite(value))
    return nonFinite(value);
  // 1074 digits after the point are all that a double has.
  char buffer[1600];
  const std::to_chars_result end =
      std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::fixed,
                    int(std::min<uint32_t>(precision, 1100)));
  return std::string(buffer, end.ptr);
}

std::string integerText(int64_t value, IntWidth width) {
  return isSigned(width) ? llvm::itostr(value) : llvm::utostr(uint64_t(value));
}

std::string radixText(uint64_t value, IntWidth width, unsigned radix, bool upper) {
  const unsigned bits = 8u << (unsigned(width) & 3);
  if (bits < 64)
    value &= (uint64_t(1) << bits) - 1;
  char buffer[64];
  const std::to_chars_result end =
      std::to_chars(buffer, buffer + sizeof(buffer), value, int(radix));
  std::string text(buffer, end.ptr);
  return upper ? llvm::StringRef(text).upper() : text;
}

bool appendQuoted(llvm::StringRef text, TextBuffer& out) {
  constexpr size_t kBlock = 1024; // bytes that are escaped at once
  std::string block = "\"";
  for (size_t at = 0; at < text.size();) {
    unsigned length = 0;
    appendEscaped(decodeScalar(text, at, length), '"', block);
    at += length;
    if (block.size() >= kBlock) {
      if (!out.append(block))
        return false;
      block.clear();
    }
  }
  block += '"';
  return out.append(block);
}

std::string quotedScalar(uint32_t scalar) {
  std::string out = "'";
  appendEscaped(scalar, '\'', out);
  return out + '\'';
}

bool TextBuffer::append(llvm::StringRef text) {
  if (overflowed_)
    return false;
  if (heap_ == nullptr) {
    if (text.size() > limit_ - text_.size())
      return overflow();
    text_.append(text.data(), text.size());
    return true;
  }
  if (object_ == nullptr) {
    object_ = heap_->newStringWithCapacity(std::max<uint64_t>(text.size(), 64));
    if (object_ == nullptr)
      return overflow();
  }
  return heap_->append(object_, text) || overflow();
}

bool TextBuffer::reserve(uint64_t more) {
  if (heap_ == nullptr)
    return more <= limit_ - text_.size() || overflow();
  if (object_ == nullptr) {
    object_ = heap_->newStringWithCapacity(more);
    return object_ != nullptr || overflow();
  }
  return (more <= heap_->limit() && heap_->reserveString(object_, object_->length + more)) ||
         overflow();
}

bool TextBuffer::appendRepeated(llvm::StringRef unit, uint64_t count) {
  if (count == 0 || unit.empty())
    return true;
  const uint64_t most = heap_ == nullptr ? limit_ - text_.size() : heap_->limit();
  if (overflowed_ || count > most / unit.size() || !reserve(count * unit.size()))
    return overflow();
  // In blocks that are worth a copy.
  llvm::SmallString<256> block;
  const uint64_t inBlock = std::clamp<uint64_t>(256 / unit.size(), 1, count);
  for (uint64_t i = 0; i < inBlock; ++i)
    block += unit;
  for (; count >= inBlock; count -= inBlock)
    if (!append(block))
      return false;
  return append(llvm::StringRef(block).take_front(count * unit.size()));
}

StringObject* TextBuffer::finish(LayoutId layout) {
  if (overflowed_)
    return nullptr;
  if (object_ == nullptr && heap_ != nullptr)
    object_ = heap_->newStringWithCapacity(0);
  StringObject* finished = object_;
  object_ = nullptr;
  if (finished != nullptr)
    finished->layout = layout;
  return finished;
}

bool padText(llvm::StringRef text, const FormatSpec& spec, bool isNumber, TextBuffer& out) {
  if (spec.width <= 0)
    return out.append(text);
  uint64_t characters = 0;
  for (size_t at = 0; at < text.size(); ++characters) {
    unsigned length = 0;
    decodeScalar(text, at, length);
    at += length;
  }
  if (characters >= uint64_t(spec.width))
    return out.append(text);
  const uint64_t missing = uint64_t(spec.width) - characters;
  const bool isWord = text.ends_with("NaN") || text.ends_with("inf");
  if (spec.zero && isNumber && !isWord) {
    const bool signedText = text.starts_with("-");
    return out.append(text.take_front(signedText)) && out.appendRepeated("0", missing) &&
           out.append(text.drop_front(signedText));
  }
  char fill[4];
  const llvm::StringRef unit(fill, encodeScalar(spec.fill, fill));
  uint64_t before = isNumber ? missing : 0;
  switch (spec.align) {
  case FormatSpec::Align::Default:
    break;
  case FormatSpec::Align::Left:
    before = 0;
    break;
  case FormatSpec::Align::Centre:
    before = missing / 2;
    break;
  case FormatSpec::Align::Right:
    before = missing;
    break;
  }
  return out.appendRepeated(unit, before) && out.append(text) &&
         out.appendRepeated(unit, missing - before);
}

} // namespace gos::vm
