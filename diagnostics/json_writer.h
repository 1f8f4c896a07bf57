#pragma once
// The one door to the JSON library for output. Values are written in order; what comes out is one
// line of ASCII: control and non-ASCII characters are escaped, and bytes that are not UTF-8 appear
// as the text \xff, so a line is always valid JSON and nothing of it acts on a terminal.

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <memory>
#include <string>

namespace gos {

class JsonWriter {
public:
  JsonWriter();
  ~JsonWriter();
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;

  void beginObject();
  void endObject();
  void beginArray();
  void endArray();
  /// Names the next value; only directly inside an object.
  void key(llvm::StringRef name);

  void string(llvm::StringRef value);
  void number(int64_t value);
  void number(uint64_t value);
  /// A finite number with a fraction, such as seconds.
  void real(double value);
  void boolean(bool value);
  void null();

  /// A key and its value at once.
  void member(llvm::StringRef name, llvm::StringRef value) {
    key(name);
    string(value);
  }
  void member(llvm::StringRef name, uint64_t value) {
    key(name);
    number(value);
  }

  /// The finished value as one line without its newline; every begin must have had its end.
  std::string finish();

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace gos
