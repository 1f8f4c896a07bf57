#include "compiler/repl/editor.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Unicode.h"

namespace gos::repl {
namespace {

bool isContinuation(char c) {
  return (uint8_t(c) & 0xc0) == 0x80;
}
bool isWordByte(char c) {
  return llvm::isAlnum(c) || c == '_' || uint8_t(c) >= 0x80;
}

/// The columns of the scalar value that begins at `at`; what joins the one before it takes none.
size_t widthAt(llvm::StringRef text, size_t at, size_t end) {
  const int width = llvm::sys::unicode::columnWidthUTF8(text.slice(at, end));
  return width < 0 ? 1 : size_t(width);
}

} // namespace

size_t columnsOf(llvm::StringRef text) {
  size_t columns = 0;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    while (end < text.size() && isContinuation(text[end]))
      ++end;
    columns += widthAt(text, at, end);
    at = end;
  }
  return columns;
}

size_t wordStart(llvm::StringRef text) {
  size_t at = text.size();
  while (at > 0 && (isWordByte(text[at - 1]) || text[at - 1] == ':' || text[at - 1] == '!'))
    --at;
  return at;
}

size_t EditBuffer::previous(size_t at) const {
  if (at == 0)
    return 0;
  do {
    --at;
    while (at > 0 && isContinuation(text_[at]))
      --at;
  } while (at > 0 && widthAt(text_, at, next(at)) == 0); // a mark goes with its letter
  return at;
}

size_t EditBuffer::next(size_t at) const {
  if (at >= text_.size())
    return text_.size();
  ++at;
  while (at < text_.size() && isContinuation(text_[at]))
    ++at;
  return at;
}

void EditBuffer::insert(llvm::StringRef bytes) {
  text_.insert(cursor_, bytes.data(), bytes.size());
  cursor_ += bytes.size();
}
void EditBuffer::left() {
  cursor_ = previous(cursor_);
}
void EditBuffer::right() {
  cursor_ = next(cursor_);
  while (cursor_ < text_.size() && widthAt(text_, cursor_, next(cursor_)) == 0)
    cursor_ = next(cursor_);
}
void EditBuffer::wordLeft() {
  while (cursor_ > 0 && !isWordByte(text_[cursor_ - 1]))
    --cursor_;
  while (cursor_ > 0 && isWordByte(text_[cursor_ - 1]))
    --cursor_;
}
void EditBuffer::wordRight() {
  while (cursor_ < text_.size() && !isWordByte(text_[cursor_]))
    ++cursor_;
  while (cursor_ < text_.size() && isWordByte(text_[cursor_]))
    ++cursor_;
}
void EditBuffer::eraseBefore() {
  const size_t from = previous(cursor_);
  text_.erase(from, cursor_ - from);
  cursor_ = from;
}
void EditBuffer::eraseAfter() {
  const size_t from = cursor_;
  right();
  text_.erase(from, cursor_ - from);
  cursor_ = from;
}
void EditBuffer::killToEnd() {
  killed_ = text_.substr(cursor_);
  text_.resize(cursor_);
}
void EditBuffer::killToStart() {
  killed_ = text_.substr(0, cursor_);
  text_.erase(0, cursor_);
  cursor_ = 0;
}
void EditBuffer::killWord() {
  size_t from = cursor_;
  while (from > 0 && llvm::isSpace(text_[from - 1]))
    --from;
  while (from > 0 && !llvm::isSpace(text_[from - 1]))
    --from;
  killed_ = text_.substr(from, cursor_ - from);
  text_.erase(from, cursor_ - from);
  cursor_ = from;
}
size_t EditBuffer::columnsBefore() const {
  return columnsOf(llvm::StringRef(text_).take_front(cursor_));
}
size_t EditBuffer::columns() const {
  return columnsOf(text_);
}

} // namespace gos::repl
