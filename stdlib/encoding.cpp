// std::encoding::hex, base64; std::bytes.

#include "stdlib/support.h"

#include <array>
#include <cstring>

namespace gos::stdlib {

namespace {

constexpr uint64_t kPieceSteps = 32; // to find one place
constexpr StringRef kHexDigits = "0123456789abcdef";
constexpr StringRef kBase64Digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int hexDigit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

int base64Digit(char c) {
  const size_t at = kBase64Digits.find(c);
  return at == StringRef::npos ? -1 : int(at);
}

/// Room for a buffer of so many bytes and for what is made of it, and the work of a conversion.
Trap hasRoom(Vm& vm, uint64_t bytes) {
  if (bytes > vm.heap().available() / 2)
    return vm.heapTrap();
  return chargeEach(vm, bytes);
}

} // namespace

namespace bodies {

Trap HexEncode(Arguments& arguments) {
  const StringRef bytes = bytesOf(arguments, 0);
  if (Trap trap = hasRoom(arguments.vm(), bytes.size() * 2))
    return trap;
  std::string out;
  out.reserve(bytes.size() * 2);
  for (char c : bytes) {
    out += kHexDigits[uint8_t(c) >> 4];
    out += kHexDigits[uint8_t(c) & 15];
  }
  return arguments.returnString(out);
}

Trap HexDecode(Arguments& arguments) {
  const StringRef text = arguments.string(0);
  if (Trap trap = hasRoom(arguments.vm(), text.size()))
    return trap;
  if (text.size() % 2 != 0)
    return arguments.returnErr("a hex text has two digits for each byte");
  std::string out;
  out.reserve(text.size() / 2);
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = hexDigit(text[i]);
    const int low = hexDigit(text[i + 1]);
    if (high < 0 || low < 0)
      return arguments.returnErr("no hex digit at byte " + std::to_string(high < 0 ? i : i + 1));
    out += char(high << 4 | low);
  }
  return arguments.returnOkBytes(out);
}

Trap Base64Encode(Arguments& arguments) {
  const StringRef bytes = bytesOf(arguments, 0);
  if (Trap trap = hasRoom(arguments.vm(), bytes.size() * 2))
    return trap;
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < count ? uint8_t(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k)
      out += k <= count ? kBase64Digits[group >> (18 - 6 * k) & 63] : '=';
  }
  return arguments.returnString(out);
}

Trap Base64Decode(Arguments& arguments) {
  StringRef text = arguments.string(0);
  if (Trap trap = hasRoom(arguments.vm(), text.size()))
    return trap;
  if (text.size() % 4 != 0)
    return arguments.returnErr("a base64 text has a multiple of 4 characters");
  size_t padding = 0;
  while (padding < 2 && text.consume_back("="))
    ++padding;
  std::string out;
  out.reserve(text.size());
  uint32_t group = 0;
  unsigned bits = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const int digit = base64Digit(text[i]);
    if (digit < 0)
      return arguments.returnErr("no base64 digit at byte " + std::to_string(i));
    group = (group << 6 | uint32_t(digit)) & 0xffffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out += char(group >> bits & 0xff);
    }
  }
  if ((group & ((1u << bits) - 1)) != 0)
    return arguments.returnErr("the last character of the base64 text has bits that mean nothing");
  return arguments.returnOkBytes(out);
}

// ---- bytes --------------------------------------------------------------------------------------

Trap BytesIndexOf(Arguments& arguments) {
  const StringRef haystack = bytesOf(arguments, 0);
  if (Trap trap = chargeSearch(arguments.vm(), haystack, bytesOf(arguments, 1)))
    return trap;
  const size_t at = findFirst(haystack, bytesOf(arguments, 1));
  return at == StringRef::npos ? arguments.returnNone() : arguments.returnSomeInteger(int64_t(at));
}

Trap BytesSplit(Arguments& arguments) {
  Vm& vm = arguments.vm();
  StringRef rest = bytesOf(arguments, 0);
  const StringRef separator = bytesOf(arguments, 1);
  if (Trap trap = chargeSearch(vm, rest, separator))
    return trap;
  Builder builder(vm);
  const LayoutId list = arguments.resultLayout();
  VecObject* out = vm.heap().newVec(list, 4);
  for (bool more = true; more && out != nullptr;) {
    const size_t at = separator.empty() ? StringRef::npos : findFirst(rest, separator);
    vm.heap().chargeSteps(kPieceSteps);
    more = at != StringRef::npos;
    const Value piece = builder.bytes(builder.element(list), rest.take_front(at));
    if (piece == 0 || !vm.heap().push(out, piece)) {
      vm.heap().release(out);
      out = nullptr;
    }
    rest = more ? rest.drop_front(at + separator.size()) : StringRef();
  }
  return arguments.returnOwned(vm::fromObject(out));
}

Trap BytesReplace(Arguments& arguments) {
  Vm& vm = arguments.vm();
  StringRef rest = bytesOf(arguments, 0);
  const StringRef from = bytesOf(arguments, 1);
  const StringRef to = bytesOf(arguments, 2);
  if (Trap trap = chargeSearch(vm, rest, from))
    return trap;
  // First the size, then the bytes, straight into the result.
  uint64_t length = rest.size();
  if (!from.empty()) {
    StringRef looked = rest;
    for (size_t at = findFirst(looked, from); at != StringRef::npos; at = findFirst(looked, from)) {
      looked = looked.drop_front(at + from.size());
      length += to.size() - from.size();
      vm.heap().chargeSteps(2 * kPieceSteps);
    }
  }
  VecObject* out =
      length > vm.heap().available() ? nullptr : vm.heap().newVec(arguments.resultLayout(), length);
  if (out == nullptr)
    return vm.heapTrap();
  vm.heap().chargeBytes(length);
  const auto put = [&](StringRef bytes) {
    if (!bytes.empty())
      std::memcpy(out->bytes + out->length, bytes.data(), bytes.size());
    out->length += bytes.size();
  };
  while (true) {
    const size_t at = from.empty() ? StringRef::npos : findFirst(rest, from);
    put(rest.take_front(at));
    if (at == StringRef::npos)
      break;
    put(to);
    rest = rest.drop_front(at + from.size());
  }
  return arguments.returnOwned(vm::fromObject(out));
}

} // namespace bodies
} // namespace gos::stdlib
