#pragma once
// The text of values (language reference: formatting): `{}` and `{:?}`, width, fill, precision,
// radix. Text nested in a container is quoted on both channels. Nothing recurses on the C stack
// over the depth of a value, and every byte counts against the heap budget before it is written.

#include "vm/heap.h"
#include "vm/module.h"
#include "vm/trap.h"
#include "vm/value.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace gos::vm {

class Vm;

/// Text that is being made. In a heap it is an object from the start: every byte is counted before
/// it is written, and the finished text is that object, not a copy. Without one it is bounded by a
/// limit.
class TextBuffer {
public:
  explicit TextBuffer(Heap& heap) : heap_(&heap) {}
  explicit TextBuffer(uint64_t limit) : limit_(limit) {}
  ~TextBuffer() {
    if (object_ != nullptr)
      heap_->release(object_);
  }
  TextBuffer(const TextBuffer&) = delete;
  TextBuffer& operator=(const TextBuffer&) = delete;

  bool append(llvm::StringRef text);
  bool appendRepeated(llvm::StringRef unit, uint64_t count);
  /// Makes room for so many more bytes. False: they do not fit.
  bool reserve(uint64_t more);
  bool overflowed() const { return overflowed_; }
  llvm::StringRef text() const {
    return object_ != nullptr ? object_->text() : llvm::StringRef(text_);
  }
  size_t size() const { return text().size(); }
  /// The text as an object, the caller's; the buffer is empty then. Null when there was no room.
  StringObject* finish(LayoutId layout);

private:
  bool overflow() {
    overflowed_ = true;
    return false;
  }

  Heap* heap_ = nullptr;
  StringObject* object_ = nullptr; // with a heap, once there is text
  std::string text_;               // without
  uint64_t limit_ = 0;
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
/// Shortest text that reads back; an integral value without fraction (Display) or with `.0`
/// (Debug).
std::string floatText(double value, FloatText form, bool isSingle = false);
/// Exactly `precision` digits after the point (at most 1100 are computed; the rest are zeros).
std::string floatFixed(double value, uint32_t precision);
std::string integerText(int64_t value, IntWidth width);
std::string radixText(uint64_t value, IntWidth width, unsigned radix, bool upper);
/// "\"a\\n\"", "'x'": as a literal, control characters as \u{..}. Answers as `append` does.
bool appendQuoted(llvm::StringRef text, TextBuffer& out);
std::string quotedScalar(uint32_t scalar);
/// Puts `text` into the spec's width; numbers align right by default and pad with zeros after the
/// sign.
bool padText(llvm::StringRef text, const FormatSpec& spec, bool isNumber, TextBuffer& out);

} // namespace gos::vm
