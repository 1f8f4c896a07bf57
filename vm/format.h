#pragma once
// The text of values (language reference: formatting): `{}` and `{:?}`, width, fill, precision, radix. Text nested in a
// container is quoted on both channels. Nothing recurses on the C stack over the depth of a value, and every byte
// counts against the heap budget before it is written.

#include "vm/module.h"
#include "vm/trap.h"
#include "vm/value.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace gos::vm {

class Vm;

/// Text that is being made, bounded by what is left of the heap budget.
class TextBuffer {
public:
  explicit TextBuffer(uint64_t limit) : limit_(limit) {}
  bool append(llvm::StringRef text) {
    if (text.size() > limit_ - text_.size()) {
      overflowed_ = true;
      return false;
    }
    text_.append(text.data(), text.size());
    return true;
  }
  bool appendRepeated(llvm::StringRef unit, uint64_t count);
  bool overflowed() const { return overflowed_; }
  llvm::StringRef text() const { return text_; }
  std::string take() { return std::move(text_); }
  void clear() { text_.clear(); }
  size_t size() const { return text_.size(); }

private:
  std::string text_;
  uint64_t limit_;
  bool overflowed_ = false;
};

/// Appends the text of the (borrowed) value of any layout.
Trap formatValue(Vm& vm, Value value, LayoutId layout, const FormatSpec& spec, TextBuffer& out);
/// The same with the default spec, `{}`; for `to_string`, `String::from`, `assert_eq`.
Trap formatDisplay(Vm& vm, Value value, LayoutId layout, TextBuffer& out);
/// `{:?}`
Trap formatDebug(Vm& vm, Value value, LayoutId layout, TextBuffer& out);

// Pieces, without a Vm.
enum class FloatText : uint8_t { Display, Debug };
/// Shortest text that reads back; an integral value without fraction (Display) or with `.0` (Debug).
std::string floatText(double value, FloatText form, bool isSingle = false);
/// Exactly `precision` digits after the point (at most 1100 are computed; the rest are zeros).
std::string floatFixed(double value, uint32_t precision);
std::string integerText(int64_t value, IntWidth width);
std::string radixText(uint64_t value, IntWidth width, unsigned radix, bool upper);
/// "\"a\\n\"", "'x'": as a literal, control characters as \u{..}.
std::string quotedText(llvm::StringRef text);
std::string quotedScalar(uint32_t scalar);
/// Puts `text` into the spec's width; numbers align right by default and pad with zeros after the sign.
bool padText(llvm::StringRef text, const FormatSpec& spec, bool isNumber, TextBuffer& out);

} // namespace gos::vm
