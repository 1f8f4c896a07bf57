#include "diagnostics/display_line.h"

#include "diagnostics/escape.h"

#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Unicode.h"

#include <algorithm>

namespace gos {

namespace {

constexpr size_t kTabWidth = 4;
/// A longer line is cut to this many bytes, of which so many stand before the caret.
constexpr size_t kLongestLine = 240;
constexpr size_t kBeforeFocus = 80;
constexpr llvm::StringLiteral kCut = "...";

bool isContinuationByte(char byte) {
  return (uint8_t(byte) & 0xC0) == 0x80;
}

/// Moves back to the first byte of a character, or not at all where the text is not UTF-8.
size_t characterStart(llvm::StringRef line, size_t at) {
  size_t start = at;
  while (start > 0 && start < line.size() && at - start < 4 && isContinuationByte(line[start]))
    --start;
  return at - start < 4 ? start : at;
}

/// The bytes of the character that `text` begins with; one byte where it is not UTF-8.
llvm::StringRef firstCharacter(llvm::StringRef text) {
  const auto* at = reinterpret_cast<const llvm::UTF8*>(text.begin());
  const auto* end = reinterpret_cast<const llvm::UTF8*>(text.end());
  return text.take_front(llvm::isLegalUTF8Sequence(at, end) ? llvm::getNumBytesForUTF8(*at) : 1);
}

size_t widthOf(llvm::StringRef character) {
  if (character == "\u200C" || character == "\u200D") // joiners
    return 0;
  const int width = llvm::sys::unicode::columnWidthUTF8(character);
  return width < 0 ? 1 : size_t(width);
}

/// `##[` and its kin are commands of CI runners; the escape of the second mark breaks them.
bool beginsCommand(llvm::StringRef text) {
  return text.starts_with("##") && escapeForText(text.take_front(24)).substr(1, 1) == "\\";
}

} // namespace

DisplayLine::DisplayLine(llvm::StringRef line, size_t focus) {
  size_t to = line.size();
  if (line.size() > kLongestLine) {
    focus = std::min(focus, line.size());
    from_ = std::min(focus > kBeforeFocus ? focus - kBeforeFocus : 0, line.size() - kLongestLine);
    to = characterStart(line, from_ + kLongestLine);
    from_ = characterStart(line, from_);
  }
  if (from_ > 0) {
    text_ = kCut;
    width_ = kCut.size();
  }
  append(line.slice(from_, to));
  if (to < line.size())
    text_ += kCut;
}

void DisplayLine::append(llvm::StringRef window) {
  columns_.reserve(window.size() + 1);
  bool commandMark = false; // the second mark of a CI command comes next
  while (!window.empty()) {
    const llvm::StringRef character = firstCharacter(window);
    columns_.insert(columns_.end(), character.size(), width_);
    if (character == "\t") {
      text_.append(kTabWidth, ' ');
      width_ += kTabWidth;
    } else {
      const std::string escaped = commandMark ? "\\x23" : escapeForText(character);
      text_ += escaped;
      width_ += llvm::StringRef(escaped) == character ? widthOf(character) : escaped.size();
      commandMark = !commandMark && beginsCommand(window);
    }
    window = window.drop_front(character.size());
  }
  columns_.push_back(width_);
}

size_t DisplayLine::columnOf(size_t byte) const {
  return columns_[byte < from_ ? 0 : std::min(byte - from_, columns_.size() - 1)];
}

} // namespace gos
