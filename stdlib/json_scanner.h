#pragma once
// Reading JSON (RFC 8259): the words, and a pass over one value with an explicit stack and a limit
// on the depth. No recursion over input.

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace gos::stdlib {

using llvm::StringRef;

/// How deep arrays and objects may lie in each other.
inline constexpr size_t kDeepestJson = 1000;

/// The text and a position in it.
class JsonScanner {
public:
  explicit JsonScanner(StringRef source) : source_(source) {}

  void skipBlanks();
  bool atEnd() const { return at_ >= source_.size(); }
  char peek() const { return atEnd() ? '\0' : source_[at_]; }
  bool take(char c);
  bool takeWord(StringRef word);
  /// -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
  bool takeNumber(StringRef& number, bool& integral);
  /// The content of a string whose opening quote was taken.
  bool takeString(std::string& out);
  /// "line 3, column 7"
  std::string place() const;
  /// "a `:` is missing at line 3, column 7"
  std::string fault(StringRef what) const { return what.str() + " at " + place(); }

private:
  bool takeDigits();
  bool takeHex(uint32_t& unit);
  bool takeEscape(std::string& out);

  StringRef source_;
  size_t at_ = 0;
};

/// What the reader tells of a value, in order. Each answers false to stop.
class JsonListener {
public:
  virtual ~JsonListener() = default;
  virtual bool null() = 0;
  virtual bool boolean(bool value) = 0;
  virtual bool integer(int64_t value) = 0;
  virtual bool real(double value) = 0;
  virtual bool string(StringRef text) = 0;
  virtual bool key(StringRef text) = 0;
  virtual bool open(bool isObject) = 0;
  virtual bool close() = 0;
};

/// Hears nothing: for a value that is only passed over.
class IgnoreJson : public JsonListener {
public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool integer(int64_t) override { return true; }
  bool real(double) override { return true; }
  bool string(StringRef) override { return true; }
  bool key(StringRef) override { return true; }
  bool open(bool) override { return true; }
  bool close() override { return true; }
};

/// One value, `depth` levels inside of others; blanks before it are passed. The message of a syntax
/// error; empty when the value is well formed or the listener stopped.
std::string readJsonValue(JsonScanner& scanner, JsonListener& listener, size_t depth = 0);
/// After the last value: is there more text? The message, or empty.
std::string endJson(JsonScanner& scanner);

} // namespace gos::stdlib
