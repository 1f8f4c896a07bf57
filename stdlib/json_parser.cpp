// The reader: one pass over the text, an explicit stack, a limit on the depth. No recursion over input.

#include "stdlib/json_text.h"
#include "stdlib/numbers.h"

#include "vm/map.h"
#include "vm/text.h"

#include <vector>

namespace gos::stdlib {

namespace {

constexpr size_t kDeepest = 1000;

/// The text and a position in it.
class Scanner {
public:
  explicit Scanner(StringRef source) : source_(source) {}

  void skipBlanks() {
    while (at_ < source_.size() && StringRef(" \t\r\n").contains(source_[at_]))
      ++at_;
  }
  bool atEnd() const { return at_ >= source_.size(); }
  char peek() const { return atEnd() ? '\0' : source_[at_]; }
  bool take(char c) {
    if (peek() != c || atEnd())
      return false;
    ++at_;
    return true;
  }
  bool takeWord(StringRef word) {
    if (!source_.substr(at_).starts_with(word))
      return false;
    at_ += word.size();
    return true;
  }

  /// -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
  bool takeNumber(StringRef& number, bool& integral) {
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

  /// The content of a string whose opening quote was taken.
  bool takeString(std::string& out) {
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
      case '"': case '\\': case '/': out += kind; break;
      case 'b': out += '\b'; break;
      case 'f': out += '\f'; break;
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case 't': out += '\t'; break;
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

  std::string place() const {
    size_t line = 1;
    size_t column = 1;
    for (char c : source_.take_front(at_)) {
      column = c == '\n' ? 1 : column + ((uint8_t(c) & 0xc0) != 0x80);
      line += c == '\n';
    }
    return "line " + std::to_string(line) + ", column " + std::to_string(column);
  }

private:
  bool takeDigits() {
    const size_t start = at_;
    while (!atEnd() && source_[at_] >= '0' && source_[at_] <= '9')
      ++at_;
    return at_ != start;
  }
  bool takeHex(uint32_t& unit) {
    uint64_t value = 0;
    const StringRef digits = source_.substr(at_, 4);
    if (digits.size() < 4 || digits.front() == '+' || parseUnsigned(digits, 16, value) != NumberFault::None)
      return false;
    at_ += 4;
    unit = uint32_t(value);
    return true;
  }
  /// \uXXXX, a pair of surrogates as one scalar; a lone surrogate is no text.
  bool takeEscape(std::string& out) {
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

  StringRef source_;
  size_t at_ = 0;
};

/// What the parser tells of the document, in order. Each answers false to stop.
class Listener {
public:
  virtual ~Listener() = default;
  virtual bool null() = 0;
  virtual bool boolean(bool value) = 0;
  virtual bool integer(int64_t value) = 0;
  virtual bool real(double value) = 0;
  virtual bool string(StringRef text) = 0;
  virtual bool key(StringRef text) = 0;
  virtual bool open(bool isObject) = 0;
  virtual bool close() = 0;
};

/// The message of a syntax error; empty when the document is well formed or the listener stopped it.
std::string parseDocument(StringRef source, Listener& listener) {
  Scanner scanner(source);
  std::vector<bool> open; // true: an object
  std::string text;
  auto fault = [&](StringRef what) { return (what + " at " + scanner.place()).str(); };
  bool wantsValue = true;
  while (true) {
    scanner.skipBlanks();
    if (wantsValue) {
      wantsValue = false;
      bool going = true;
      StringRef number;
      bool integral = false;
      if (scanner.take('{') || scanner.peek() == '[') {
        const bool isObject = !scanner.take('[');
        if (open.size() >= kDeepest)
          return fault("values are nested too deep");
        open.push_back(isObject);
        if (!listener.open(isObject))
          return {};
        scanner.skipBlanks();
        if (scanner.peek() == (isObject ? '}' : ']'))
          continue; // an empty one: closed below
        if (!isObject) {
          wantsValue = true;
          continue;
        }
        if (!scanner.take('"') || !scanner.takeString(text))
          return fault("a member needs a name in quotes");
        scanner.skipBlanks();
        if (!scanner.take(':'))
          return fault("a `:` is missing");
        if (!listener.key(text))
          return {};
        wantsValue = true;
        continue;
      }
      if (scanner.take('"')) {
        if (!scanner.takeString(text))
          return fault("the string is not well formed");
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
        } else {
          parseReal(number, value);
          going = listener.real(value);
        }
      } else {
        return fault(scanner.atEnd() ? "the document ends too early" : "a value is expected");
      }
      if (!going)
        return {};
      continue;
    }
    if (open.empty())
      return scanner.atEnd() ? std::string() : fault("the document goes on after its value");
    if (scanner.take(open.back() ? '}' : ']')) {
      open.pop_back();
      if (!listener.close())
        return {};
      continue;
    }
    if (!scanner.take(','))
      return fault(scanner.atEnd() ? "the document ends too early"
                                   : (open.back() ? "a `,` or `}` is expected" : "a `,` or `]` is expected"));
    scanner.skipBlanks();
    if (open.back()) {
      if (!scanner.take('"') || !scanner.takeString(text))
        return fault("a member needs a name in quotes");
      scanner.skipBlanks();
      if (!scanner.take(':'))
        return fault("a `:` is missing");
      if (!listener.key(text))
        return {};
    }
    wantsValue = true;
  }
}

class Ignore : public Listener {
public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool integer(int64_t) override { return true; }
  bool real(double) override { return true; }
  bool string(StringRef) override { return true; }
  bool key(StringRef) override { return true; }
  bool open(bool) override { return true; }
  bool close() override { return ended = true; }
  bool ended = false;
};

/// Makes values. What is open is owned here until it is closed into what is around it.
class Maker : public Listener {
public:
  Maker(Vm& vm, LayoutId layout) : vm_(vm), layout_(layout), tags_(jsonTags(vm.layout(layout))) {}
  ~Maker() override {
    for (Open& each : open_) {
      vm_.heap().release(vm::asObject(each.container));
      vm_.heap().release(vm::asObject(each.key));
    }
    vm_.releaseValue(result_, layout_);
  }

  bool null() override { return add(vm_.unitVariant(layout_, tags_.null)); }
  bool boolean(bool value) override { return addScalar(tags_.boolean, Value(value)); }
  bool integer(int64_t value) override { return addScalar(tags_.integer, vm::fromInteger(value)); }
  bool real(double value) override { return addScalar(tags_.real, vm::fromReal(value)); }
  bool string(StringRef text) override {
    Builder builder(vm_);
    return addScalar(tags_.text, builder.string(fieldOf(tags_.text), text));
  }
  bool key(StringRef text) override {
    const LayoutId map = fieldOf(tags_.object);
    open_.back().key = vm::fromObject(vm_.heap().newString(text, vm_.layout(map).element));
    return open_.back().key != 0 || full();
  }
  bool open(bool isObject) override {
    if ((trap_ = vm_.charge(1)))
      return false;
    Open opened;
    opened.isObject = isObject;
    const LayoutId layout = fieldOf(isObject ? tags_.object : tags_.array);
    opened.container = isObject ? vm::fromObject(vm_.heap().newMap(layout)) : vm::fromObject(vm_.heap().newVec(layout, 4));
    if (opened.container == 0)
      return full();
    open_.push_back(opened);
    return true;
  }
  bool close() override {
    const Open closed = open_.back();
    open_.pop_back();
    return addScalar(closed.isObject ? tags_.object : tags_.array, closed.container);
  }

  Trap takeTrap() { return std::move(trap_); }
  Value takeResult() { return std::exchange(result_, 0); }

private:
  struct Open {
    bool isObject = false;
    Value container = 0;
    Value key = 0;
  };

  LayoutId fieldOf(uint16_t tag) const { return vm_.layout(layout_).variants[tag].fields[0]; }
  bool full() {
    trap_ = vm_.heapTrap();
    return false;
  }
  bool addScalar(uint16_t tag, Value payload) {
    const Value fields[] = {payload};
    return add(Builder(vm_).variant(layout_, tag, fields));
  }
  /// Puts a finished value where it belongs; takes it over.
  bool add(Value value) {
    if (value == 0)
      return full();
    if (open_.empty()) {
      result_ = value;
      return true;
    }
    Open& around = open_.back();
    if (!around.isObject)
      return vm_.heap().push(vm::asVec(around.container), value) || full();
    bool present = false;
    trap_ = vm::mapInsert(vm_, vm::asMap(around.container), std::exchange(around.key, 0), value, present);
    return !trap_;
  }

  Vm& vm_;
  LayoutId layout_;
  JsonTags tags_;
  std::vector<Open> open_;
  Value result_ = 0;
  Trap trap_;
};

} // namespace

JsonFault parseJson(Vm& vm, StringRef source, LayoutId layout, Value& out) {
  JsonFault fault;
  if ((fault.trap = chargeBulk(vm, source.size())))
    return fault;
  Maker maker(vm, layout);
  fault.message = parseDocument(source, maker);
  fault.trap = maker.takeTrap();
  if (!fault.failed())
    out = maker.takeResult();
  return fault;
}

bool isValidJson(StringRef source) {
  Ignore nothing;
  return parseDocument(source, nothing).empty();
}

} // namespace gos::stdlib
