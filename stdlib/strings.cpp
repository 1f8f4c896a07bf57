// String: the native methods. Two index spaces: scalars (len, find, pad) and bytes (substring,
// byte_*).

#include "stdlib/support.h"
#include "stdlib/unicode.h"

#include "vm/format.h"
#include "vm/text.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace gos::stdlib {

namespace {

constexpr uint64_t kReplaceSteps = 32; // to find and write one
constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

bool isBoundary(StringRef text, size_t at) {
  return at >= text.size() || (uint8_t(text[at]) & 0xc0) != 0x80;
}

/// A byte range, clamped and snapped outward to scalar boundaries.
StringRef snapped(StringRef text, int64_t start, int64_t end) {
  size_t from = size_t(std::clamp<int64_t>(start, 0, int64_t(text.size())));
  size_t to = size_t(std::clamp<int64_t>(end, 0, int64_t(text.size())));
  if (to <= from)
    return {};
  while (from > 0 && !isBoundary(text, from))
    --from;
  while (to < text.size() && !isBoundary(text, to))
    ++to;
  return text.slice(from, to);
}

/// As findFirst, from the end.
size_t findLast(StringRef text, StringRef needle) {
  constexpr size_t kShort = 16; // worth a copy of both above that
  if (needle.size() <= kShort || needle.size() > text.size())
    return text.rfind(needle);
  // In pieces that overlap, so that what is copied stays small and a place near the end is found
  // soon.
  const size_t piece = std::max<size_t>(needle.size() * 2, 4096);
  std::string backwards, wanted = needle.str();
  std::reverse(wanted.begin(), wanted.end());
  for (size_t end = text.size(); end >= needle.size();) {
    const size_t begin = end - std::min(end, piece);
    backwards.assign(text.begin() + begin, text.begin() + end);
    std::reverse(backwards.begin(), backwards.end());
    const size_t at = findFirst(backwards, wanted);
    if (at != StringRef::npos)
      return end - at - needle.size();
    if (begin == 0)
      break;
    end = begin + needle.size() - 1;
  }
  return StringRef::npos;
}

/// The scalars of a text, to be asked for one at a time.
class ScalarSet {
public:
  explicit ScalarSet(StringRef text) {
    for (size_t at = 0; at < text.size();) {
      unsigned length = 1;
      scalars_.push_back(uint32_t(vm::decodeScalar(text, at, length)));
      at += length;
    }
    llvm::sort(scalars_);
  }
  bool has(uint32_t scalar) const {
    return std::binary_search(scalars_.begin(), scalars_.end(), scalar);
  }

private:
  std::vector<uint32_t> scalars_;
};

/// Is the scalar that begins at `at` one of the set?
bool inSet(StringRef text, size_t at, unsigned length, const ScalarSet& set) {
  return set.has(uint32_t(vm::decodeScalar(text, at, length)));
}

size_t findAny(StringRef text, const ScalarSet& set) {
  for (size_t at = 0; at < text.size();) {
    unsigned length = 1;
    vm::decodeScalar(text, at, length);
    if (inSet(text, at, length, set))
      return at;
    at += length;
  }
  return StringRef::npos;
}

size_t lastScalar(StringRef text) {
  size_t at = text.size() - 1;
  while (at > 0 && !isBoundary(text, at) && text.size() - at < 4)
    --at;
  return at;
}

size_t findLastAny(StringRef text, const ScalarSet& set) {
  StringRef rest = text;
  while (!rest.empty()) {
    const size_t at = lastScalar(rest);
    if (inSet(rest, at, unsigned(rest.size() - at), set))
      return at;
    rest = rest.take_front(at);
  }
  return StringRef::npos;
}

StringRef trimSetStart(StringRef text, const ScalarSet& set) {
  while (!text.empty()) {
    unsigned length = 1;
    vm::decodeScalar(text, 0, length);
    if (!inSet(text, 0, length, set))
      break;
    text = text.drop_front(length);
  }
  return text;
}

StringRef trimSetEnd(StringRef text, const ScalarSet& set) {
  while (!text.empty()) {
    const size_t at = lastScalar(text);
    if (!inSet(text, at, unsigned(text.size() - at), set))
      break;
    text = text.take_front(at);
  }
  return text;
}

Trap returnIndex(Arguments& arguments, size_t at) {
  return at == StringRef::npos ? arguments.returnNone() : arguments.returnSomeInteger(int64_t(at));
}

Trap returnScalarIndex(Arguments& arguments, StringRef text, size_t at) {
  return at == StringRef::npos ? arguments.returnNone()
                               : arguments.returnSomeInteger(countScalars(text.take_front(at)));
}

/// Vec<String> of pieces of a text.
class Pieces {
public:
  explicit Pieces(Arguments& arguments)
      : vm_(arguments.vm()), layout_(arguments.resultLayout()),
        vec_(vm_.heap().newVec(layout_, 4)) {}
  bool add(StringRef piece) {
    if (vec_ == nullptr)
      return false;
    vm::StringObject* string = vm_.heap().newString(piece, vm_.layout(layout_).element);
    vm_.heap().chargeSteps(kPieceSteps);
    if (string != nullptr && vm_.heap().push(vec_, vm::fromObject(string)))
      return true;
    vm_.heap().release(vec_);
    vec_ = nullptr;
    return false;
  }
  Trap finish(Arguments& arguments) { return arguments.returnOwned(vm::fromObject(vec_)); }

private:
  Vm& vm_;
  static constexpr uint64_t kPieceSteps = 32;
  LayoutId layout_;
  VecObject* vec_;
};

Trap splitInto(Arguments& arguments, StringRef text, StringRef separator, uint64_t limit) {
  if (Trap trap = chargeSearch(arguments.vm(), text, separator))
    return trap;
  Pieces pieces(arguments);
  if (limit == 0)
    return pieces.finish(arguments);
  uint64_t made = 1;
  if (separator.empty()) {
    // Between all scalars, as an empty separator stands everywhere.
    for (size_t at = 0; at < text.size() && made < limit; ++made) {
      unsigned length = 1;
      vm::decodeScalar(text, at, length);
      if (at + length >= text.size())
        break;
      if (!pieces.add(text.substr(at, length)))
        return pieces.finish(arguments);
      text = text.drop_front(length);
    }
    pieces.add(text);
    return pieces.finish(arguments);
  }
  while (made < limit) {
    const size_t at = findFirst(text, separator);
    if (at == StringRef::npos)
      break;
    if (!pieces.add(text.take_front(at)))
      return pieces.finish(arguments);
    text = text.drop_front(at + separator.size());
    ++made;
  }
  pieces.add(text);
  return pieces.finish(arguments);
}

Trap returnPair(Arguments& arguments, StringRef left, StringRef right) {
  Builder builder(arguments.vm());
  const LayoutId pair = payloadOf(arguments.vm(), arguments.resultLayout(), "Some");
  const Value first = builder.string(builder.field(pair, 0), left);
  const Value second = builder.string(builder.field(pair, 1), right);
  const Value fields[] = {first, second};
  return arguments.returnSomeOwned(builder.structure(pair, fields));
}

Trap replaceInto(Arguments& arguments, uint64_t limit) {
  const StringRef text = arguments.string(0);
  const NeedleText from(arguments, 1);
  const NeedleText to(arguments, 2);
  if (Trap trap = chargeSearch(arguments.vm(), text, from.text()))
    return trap;
  vm::TextBuffer out(arguments.vm().heap());
  StringRef rest = text;
  if (from.text().empty()) {
    // An empty text stands before every scalar and at the end.
    uint64_t made = 0;
    for (; made < limit; ++made) {
      arguments.vm().heap().chargeSteps(kReplaceSteps);
      out.append(to.text());
      if (rest.empty())
        break;
      unsigned length = 1;
      vm::decodeScalar(rest, 0, length);
      if (!out.append(rest.take_front(length)))
        break;
      rest = rest.drop_front(length);
    }
  } else {
    for (uint64_t made = 0; made < limit; ++made) {
      const size_t at = findFirst(rest, from.text());
      if (at == StringRef::npos)
        break;
      arguments.vm().heap().chargeSteps(kReplaceSteps);
      out.append(rest.take_front(at));
      if (!out.append(to.text()))
        break;
      rest = rest.drop_front(at + from.text().size());
    }
  }
  out.append(rest);
  return arguments.returnText(out);
}

enum class Pad : uint8_t { Left, Right, Both };

Trap padInto(Arguments& arguments, Pad where) {
  const StringRef text = arguments.string(0);
  const int64_t width = arguments.integer(1);
  char unit[4];
  const StringRef fill(unit, vm::encodeScalar(uint32_t(arguments.integer(2)), unit));
  if (Trap trap = chargeBulk(arguments.vm(), text.size() * 2))
    return trap;
  const int64_t scalars = int64_t(vm::countScalars(text));
  if (width <= scalars)
    return arguments.returnString(text);
  const uint64_t missing = uint64_t(width - scalars);
  uint64_t before = 0;
  if (where == Pad::Left)
    before = missing;
  else if (where == Pad::Both)
    before = missing / 2;
  vm::TextBuffer out(arguments.vm().heap());
  out.appendRepeated(fill, before);
  out.append(text);
  out.appendRepeated(fill, missing - before);
  return arguments.returnText(out);
}

/// The String in an in-out slot, safe to change; null when the heap is full.
vm::StringObject* writable(Arguments& arguments) {
  Value& slot = arguments.slot(0);
  return arguments.vm().heap().makeUnique(slot) ? vm::asString(slot) : nullptr;
}

void shorten(vm::StringObject* string, uint64_t length) {
  string->length = length;
  string->scalars = -1;
  string->cursorScalar = 0;
  string->cursorByte = 0;
}

Trap appendTo(Arguments& arguments, StringRef text) {
  vm::StringObject* string = writable(arguments);
  if (string == nullptr || !arguments.vm().heap().append(string, text))
    return arguments.vm().heapTrap();
  return arguments.returnUnit();
}

/// What is left of argument 0 when blanks were taken away.
Trap blanksTrimmed(Arguments& arguments, StringRef rest) {
  if (Trap trap = chargeEach(arguments.vm(), arguments.string(0).size() - rest.size()))
    return trap;
  return arguments.returnString(rest);
}

Trap trimmed(Arguments& arguments, bool start, bool end) {
  const StringRef text = arguments.string(0);
  const NeedleText wanted(arguments, 1);
  if (Trap trap = chargeEach(arguments.vm(), text.size() + wanted.text().size() * 8))
    return trap;
  const vm::Scratch scratch(arguments.vm().heap(), wanted.text().size() * sizeof(uint32_t) * 2);
  if (!scratch)
    return arguments.vm().heapTrap();
  const ScalarSet set(wanted.text());
  StringRef rest = text;
  if (start)
    rest = trimSetStart(rest, set);
  if (end)
    rest = trimSetEnd(rest, set);
  return arguments.returnString(rest);
}

/// Letters may grow: U+0390 is two bytes, and six in upper case. The buffer may have twice that.
constexpr uint64_t kCaseGrowth = 6;

Trap inCase(Arguments& arguments, std::string (*convert)(StringRef)) {
  const StringRef text = arguments.string(0);
  if (Trap trap = chargeEach(arguments.vm(), text.size() * 8))
    return trap;
  const bool ascii =
      uint64_t(arguments.vm().heap().scalarCount(vm::asString(arguments.slot(0)))) == text.size();
  const vm::Scratch scratch(arguments.vm().heap(), text.size() * (ascii ? 1 : kCaseGrowth));
  if (!scratch)
    return arguments.vm().heapTrap();
  return arguments.returnString(convert(text));
}

} // namespace

namespace bodies {

Trap StringNew(Arguments& arguments) {
  return arguments.returnString({});
}

Trap StringWithCapacity(Arguments& arguments) {
  const int64_t wanted = std::max<int64_t>(arguments.integer(0), 0);
  vm::StringObject* string =
      arguments.vm().heap().newStringWithCapacity(uint64_t(wanted), arguments.resultLayout());
  return arguments.returnOwned(vm::fromObject(string));
}

Trap StringFrom(Arguments& arguments) {
  vm::TextBuffer out(arguments.vm().heap());
  if (Trap trap = vm::formatDisplay(arguments.vm(), arguments.slot(0), arguments.layoutId(0), out))
    return trap;
  return arguments.returnText(out);
}

Trap StringFromUtf8(Arguments& arguments) {
  const StringRef bytes = bytesOf(arguments, 0);
  if (Trap trap = chargeBulk(arguments.vm(), bytes.size() * 2))
    return trap;
  if (!vm::isValidUtf8(bytes))
    return arguments.returnErr("the bytes are not UTF-8");
  return arguments.returnOkString(bytes);
}

Trap StringLen(Arguments& arguments) {
  return arguments.returnInteger(
      arguments.vm().heap().scalarCount(vm::asString(arguments.slot(0))));
}
Trap StringByteLen(Arguments& arguments) {
  return arguments.returnInteger(int64_t(arguments.string(0).size()));
}
Trap StringIsEmpty(Arguments& arguments) {
  return arguments.returnBoolean(arguments.string(0).empty());
}

Trap StringByteAt(Arguments& arguments) {
  const StringRef text = arguments.string(0);
  const uint64_t at = uint64_t(arguments.integer(1));
  return arguments.returnInteger(at < text.size() ? int64_t(uint8_t(text[at])) : 0);
}

Trap StringBytes(Arguments& arguments) {
  return arguments.returnBytes(arguments.string(0));
}
Trap StringAsBytes(Arguments& arguments) {
  return arguments.returnBytes(arguments.string(0));
}

Trap StringSubstring(Arguments& arguments) {
  return arguments.returnString(
      snapped(arguments.string(0), arguments.integer(1), arguments.integer(2)));
}

Trap StringSlice(Arguments& arguments) {
  const StringRef text = arguments.string(0);
  const int64_t start = arguments.integer(1);
  const int64_t end = arguments.integer(2);
  if (start < 0 || end < start || uint64_t(end) > text.size())
    return arguments.returnErr("the byte range " + std::to_string(start) + ".." +
                               std::to_string(end) + " is outside a text of " +
                               std::to_string(text.size()) + " bytes");
  if (!isBoundary(text, size_t(start)) || !isBoundary(text, size_t(end)))
    return arguments.returnErr("the byte range " + std::to_string(start) + ".." +
                               std::to_string(end) + " cuts a character");
  return arguments.returnOkString(text.slice(size_t(start), size_t(end)));
}

Trap StringPush(Arguments& arguments) {
  vm::StringObject* string = writable(arguments);
  if (string == nullptr ||
      !arguments.vm().heap().appendScalar(string, uint32_t(arguments.integer(1))))
    return arguments.vm().heapTrap();
  return arguments.returnUnit();
}
Trap StringPushChar(Arguments& arguments) {
  return StringPush(arguments);
}
/// As `byte as char`: a byte from 0x80 on is the scalar of that number, so the text stays UTF-8.
Trap StringPushByte(Arguments& arguments) {
  return StringPush(arguments);
}

Trap StringPushStr(Arguments& arguments) {
  return appendTo(arguments, arguments.string(1));
}

Trap StringClear(Arguments& arguments) {
  vm::StringObject* string = writable(arguments);
  if (string == nullptr)
    return arguments.vm().heapTrap();
  shorten(string, 0);
  return arguments.returnUnit();
}

Trap StringTruncate(Arguments& arguments) {
  const StringRef text = arguments.string(0);
  size_t length = size_t(std::clamp<int64_t>(arguments.integer(1), 0, int64_t(text.size())));
  while (length > 0 && !isBoundary(text, length))
    --length;
  if (length == text.size())
    return arguments.returnUnit();
  vm::StringObject* string = writable(arguments);
  if (string == nullptr)
    return arguments.vm().heapTrap();
  shorten(string, length);
  return arguments.returnUnit();
}

Trap StringTrim(Arguments& arguments) {
  return blanksTrimmed(arguments, trimEnd(trimStart(arguments.string(0))));
}
Trap StringTrimStart(Arguments& arguments) {
  return blanksTrimmed(arguments, trimStart(arguments.string(0)));
}
Trap StringTrimEnd(Arguments& arguments) {
  return blanksTrimmed(arguments, trimEnd(arguments.string(0)));
}
Trap StringTrimMatches(Arguments& arguments) {
  return trimmed(arguments, true, true);
}
Trap StringTrimStartMatches(Arguments& arguments) {
  return trimmed(arguments, true, false);
}
Trap StringTrimEndMatches(Arguments& arguments) {
  return trimmed(arguments, false, true);
}

Trap StringContains(Arguments& arguments) {
  const StringRef text = arguments.string(0);
  const NeedleText needle(arguments, 1);
  if (Trap trap = chargeSearch(arguments.vm(), text, needle.text()))
    return trap;
  return arguments.returnBoolean(findFirst(text, needle.text()) != StringRef::npos);
}

Trap StringContainsAny(Arguments& arguments) {
  const NeedleText set(arguments, 1);
  if (Trap trap = chargeEach(arguments.vm(), arguments.string(0).size() + set.text().size() * 8))
    return trap;
  const vm::Scratch scratch(arguments.vm().heap(), set.text().size() * sizeof(uint32_t) * 2);
  if (!scratch)
    return arguments.vm().heapTrap();
  return arguments.returnBoolean(findAny(arguments.string(0), ScalarSet(set.text())) !=
                                 StringRef::npos);
}

Trap StringStartsWith(Arguments& arguments) {
  const NeedleText prefix(arguments, 1);
  arguments.vm().heap().chargeBytes(prefix.text().size());
  return arguments.returnBoolean(arguments.string(0).starts_with(prefix.text()));
}
Trap StringEndsWith(Arguments& arguments) {
  const NeedleText suffix(arguments, 1);
  arguments.vm().heap().chargeBytes(suffix.text().size());
  return arguments.returnBoolean(arguments.string(0).ends_with(suffix.text()));
}

Trap StringStripPrefix(Arguments& arguments) {
  StringRef text = arguments.string(0);
  arguments.vm().heap().chargeBytes(text.size());
  return text.consume_front(NeedleText(arguments, 1).text()) ? arguments.returnSomeString(text)
                                                             : arguments.returnNone();
}
Trap StringStripSuffix(Arguments& arguments) {
  StringRef text = arguments.string(0);
  arguments.vm().heap().chargeBytes(text.size());
  return text.consume_back(NeedleText(arguments, 1).text()) ? arguments.returnSomeString(text)
                                                            : arguments.returnNone();
}

Trap StringFind(Arguments& arguments) {
  const StringRef text = arguments.string(0);
  const NeedleText needle(arguments, 1);
  if (Trap trap = chargeSearch(arguments.vm(), text, needle.text()))
    return trap;
  return returnScalarIndex(arguments, text, findFirst(text, needle.text()));
}
Trap StringRfind(Arguments& arguments) {
  const StringRef text = arguments.string(0);
  const NeedleText needle(arguments, 1);
  if (Trap trap = chargeEach(arguments.vm(), text.size() + needle.text().size()))
    return trap;
  return returnScalarIndex(arguments, text, findLast(text, needle.text()));
}
Trap StringByteFind(Arguments& arguments) {
  const StringRef text = arguments.string(0);
  const NeedleText needle(arguments, 1);
  if (Trap trap = chargeSearch(arguments.vm(), text, needle.text()))
    return trap;
  return returnIndex(arguments, findFirst(text, needle.text()));
}
Trap StringByteRfind(Arguments& arguments) {
  if (Trap trap = chargeEach(arguments.vm(), arguments.string(0).size()))
    return trap;
  return returnIndex(arguments, findLast(arguments.string(0), NeedleText(arguments, 1).text()));
}
Trap StringFindAny(Arguments& arguments) {
  const NeedleText set(arguments, 1);
  if (Trap trap = chargeEach(arguments.vm(), arguments.string(0).size() + set.text().size() * 8))
    return trap;
  const vm::Scratch scratch(arguments.vm().heap(), set.text().size() * sizeof(uint32_t) * 2);
  if (!scratch)
    return arguments.vm().heapTrap();
  return returnIndex(arguments, findAny(arguments.string(0), ScalarSet(set.text())));
}
Trap StringRfindAny(Arguments& arguments) {
  const NeedleText set(arguments, 1);
  if (Trap trap = chargeEach(arguments.vm(), arguments.string(0).size() + set.text().size() * 8))
    return trap;
  const vm::Scratch scratch(arguments.vm().heap(), set.text().size() * sizeof(uint32_t) * 2);
  if (!scratch)
    return arguments.vm().heapTrap();
  return returnIndex(arguments, findLastAny(arguments.string(0), ScalarSet(set.text())));
}

Trap StringCount(Arguments& arguments) {
  StringRef text = arguments.string(0);
  const NeedleText needle(arguments, 1);
  if (Trap trap = chargeSearch(arguments.vm(), text, needle.text()))
    return trap;
  if (needle.text().empty())
    return arguments.returnInteger(countScalars(text) + 1);
  int64_t count = 0;
  for (size_t at = findFirst(text, needle.text()); at != StringRef::npos;
       at = findFirst(text, needle.text())) {
    arguments.vm().heap().chargeSteps(kReplaceSteps);
    text = text.drop_front(at + needle.text().size());
    ++count;
  }
  return arguments.returnInteger(count);
}

Trap StringReplace(Arguments& arguments) {
  return replaceInto(arguments, kNoLimit);
}
Trap StringReplacen(Arguments& arguments) {
  return replaceInto(arguments, uint64_t(std::max<int64_t>(arguments.integer(3), 0)));
}

Trap StringSplit(Arguments& arguments) {
  return splitInto(arguments, arguments.string(0), NeedleText(arguments, 1).text(), kNoLimit);
}
Trap StringSplitn(Arguments& arguments) {
  return splitInto(arguments, arguments.string(0), NeedleText(arguments, 2).text(),
                   uint64_t(std::max<int64_t>(arguments.integer(1), 0)));
}

Trap StringSplitOnce(Arguments& arguments) {
  const StringRef text = arguments.string(0);
  const NeedleText separator(arguments, 1);
  if (Trap trap = chargeSearch(arguments.vm(), text, separator.text()))
    return trap;
  const size_t at = findFirst(text, separator.text());
  if (at == StringRef::npos)
    return arguments.returnNone();
  return returnPair(arguments, text.take_front(at), text.drop_front(at + separator.text().size()));
}
Trap StringRsplitOnce(Arguments& arguments) {
  const StringRef text = arguments.string(0);
  const NeedleText separator(arguments, 1);
  if (Trap trap = chargeEach(arguments.vm(), text.size()))
    return trap;
  const size_t at = findLast(text, separator.text());
  if (at == StringRef::npos)
    return arguments.returnNone();
  return returnPair(arguments, text.take_front(at), text.drop_front(at + separator.text().size()));
}

Trap StringEqualFold(Arguments& arguments) {
  const NeedleText other(arguments, 1);
  const uint64_t bytes = arguments.string(0).size() + other.text().size();
  if (Trap trap = chargeEach(arguments.vm(), bytes * 8))
    return trap;
  const vm::Scratch scratch(arguments.vm().heap(), bytes * 3 * kCaseGrowth);
  if (!scratch)
    return arguments.vm().heapTrap();
  return arguments.returnBoolean(toLower(toUpper(arguments.string(0))) ==
                                 toLower(toUpper(other.text())));
}

Trap StringRepeat(Arguments& arguments) {
  const StringRef text = arguments.string(0);
  const uint64_t count = uint64_t(std::max<int64_t>(arguments.integer(1), 0));
  if (text.empty() || count == 0)
    return arguments.returnString({});
  vm::TextBuffer out(arguments.vm().heap());
  out.appendRepeated(text, count);
  return arguments.returnText(out);
}

Trap StringSplitWhitespace(Arguments& arguments) {
  StringRef text = arguments.string(0);
  if (Trap trap = chargeEach(arguments.vm(), text.size()))
    return trap;
  Pieces pieces(arguments);
  while (true) {
    text = trimStart(text);
    if (text.empty())
      return pieces.finish(arguments);
    size_t end = 0;
    while (end < text.size()) {
      unsigned length = 1;
      if (isWhitespace(vm::decodeScalar(text, end, length)))
        break;
      end += length;
    }
    if (!pieces.add(text.take_front(end)))
      return pieces.finish(arguments);
    text = text.drop_front(end);
  }
}

Trap StringLines(Arguments& arguments) {
  StringRef text = arguments.string(0);
  if (Trap trap = chargeBulk(arguments.vm(), text.size()))
    return trap;
  Pieces pieces(arguments);
  while (!text.empty()) {
    const size_t at = text.find('\n');
    StringRef line = text.take_front(at);
    text = at == StringRef::npos ? StringRef() : text.drop_front(at + 1);
    if (at != StringRef::npos)
      line.consume_back("\r");
    if (!pieces.add(line))
      break;
  }
  return pieces.finish(arguments);
}

Trap StringByteOffset(Arguments& arguments) {
  vm::StringObject* string = vm::asString(arguments.slot(0));
  const int64_t at = arguments.integer(1);
  vm::Heap& heap = arguments.vm().heap();
  if (at < 0 || at > heap.scalarCount(string))
    return arguments.returnNone();
  return arguments.returnSomeInteger(int64_t(heap.byteOffset(string, uint64_t(at))));
}

Trap StringCharIndex(Arguments& arguments) {
  const StringRef text = arguments.string(0);
  const int64_t at = arguments.integer(1);
  if (at < 0 || uint64_t(at) > text.size() || !isBoundary(text, size_t(at)))
    return arguments.returnNone();
  if (Trap trap = chargeBulk(arguments.vm(), uint64_t(at) * 2))
    return trap;
  return arguments.returnSomeInteger(countScalars(text.take_front(size_t(at))));
}

Trap StringPadLeft(Arguments& arguments) {
  return padInto(arguments, Pad::Left);
}
Trap StringPadRight(Arguments& arguments) {
  return padInto(arguments, Pad::Right);
}
Trap StringCenter(Arguments& arguments) {
  return padInto(arguments, Pad::Both);
}

Trap StringToLowercase(Arguments& arguments) {
  return inCase(arguments, toLower);
}
Trap StringToUppercase(Arguments& arguments) {
  return inCase(arguments, toUpper);
}
Trap StringToTitle(Arguments& arguments) {
  return inCase(arguments, toTitle);
}

Trap StringReverse(Arguments& arguments) {
  StringRef text = arguments.string(0);
  if (Trap trap = chargeEach(arguments.vm(), text.size()))
    return trap;
  return returnMade(arguments, text.size(), [&](std::string& out) -> Trap {
    while (!text.empty()) {
      const size_t at = lastScalar(text);
      out.append(text.data() + at, text.size() - at);
      text = text.take_front(at);
    }
    return {};
  });
}

// ---- char ---------------------------------------------------------------------------------------

namespace {
uint32_t scalarOf(const Arguments& arguments) {
  return uint32_t(arguments.integer(0));
}
bool isScalarValue(int64_t n) {
  return n >= 0 && n <= 0x10ffff && !(n >= 0xd800 && n <= 0xdfff);
}
} // namespace

Trap CharFromU32(Arguments& arguments) {
  const int64_t n = arguments.integer(0);
  return isScalarValue(n) ? arguments.returnSomeInteger(n) : arguments.returnNone();
}
Trap CharIsAlphabetic(Arguments& arguments) {
  return arguments.returnBoolean(isAlphabetic(scalarOf(arguments)));
}
Trap CharIsNumeric(Arguments& arguments) {
  return arguments.returnBoolean(isNumeric(scalarOf(arguments)));
}
Trap CharIsAlphanumeric(Arguments& arguments) {
  return arguments.returnBoolean(isAlphabetic(scalarOf(arguments)) ||
                                 isNumeric(scalarOf(arguments)));
}
Trap CharIsWhitespace(Arguments& arguments) {
  return arguments.returnBoolean(isWhitespace(scalarOf(arguments)));
}
Trap CharIsUppercase(Arguments& arguments) {
  return arguments.returnBoolean(isUppercase(scalarOf(arguments)));
}
Trap CharIsLowercase(Arguments& arguments) {
  return arguments.returnBoolean(isLowercase(scalarOf(arguments)));
}
Trap CharIsControl(Arguments& arguments) {
  return arguments.returnBoolean(isControl(scalarOf(arguments)));
}
Trap CharToUppercase(Arguments& arguments) {
  return arguments.returnInteger(simpleUpper(scalarOf(arguments)));
}
Trap CharToLowercase(Arguments& arguments) {
  return arguments.returnInteger(simpleLower(scalarOf(arguments)));
}

Trap CharText(Arguments& arguments) {
  char buffer[4];
  return arguments.returnString({buffer, vm::encodeScalar(scalarOf(arguments), buffer)});
}

Trap CharFromScalar(Arguments& arguments) {
  const int64_t n = arguments.integer(0);
  return arguments.returnInteger(isScalarValue(n) ? n : 0xfffd);
}

/// -1 at the end.
Trap CharAtByte(Arguments& arguments) {
  const StringRef text = arguments.string(0);
  const uint64_t at = uint64_t(arguments.integer(1));
  if (at >= text.size())
    return arguments.returnInteger(-1);
  unsigned length = 1;
  return arguments.returnInteger(vm::decodeScalar(text, at, length));
}

Trap CharWidth(Arguments& arguments) {
  char buffer[4];
  return arguments.returnInteger(vm::encodeScalar(scalarOf(arguments), buffer));
}

} // namespace bodies
} // namespace gos::stdlib
