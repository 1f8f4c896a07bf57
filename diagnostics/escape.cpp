#include "diagnostics/escape.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

namespace gos {

namespace {

enum class Layout { OneLine, Block };

/// A name or a sentence; whatever is longer was not written to be read in a message.
constexpr size_t kLongestQuoted = 4096;

/// The longest word of a CI command of the form `##word[`.
constexpr size_t kLongestCommandWord = 16;

void appendHexByte(std::string& out, uint8_t byte) {
  out += "\\x";
  out += llvm::hexdigit(byte >> 4, /*LowerCase=*/true);
  out += llvm::hexdigit(byte & 15, /*LowerCase=*/true);
}

/// Characters that change how the text around them is shown, or that show nothing at all.
bool isInvisibleControl(uint32_t scalar) {
  return (scalar >= 0x80 && scalar <= 0x9F)           // C1
         || scalar == 0x061C                          // Arabic letter mark
         || scalar == 0x200B                          // zero width space
         || scalar == 0x200E || scalar == 0x200F      // direction marks
         || (scalar >= 0x2028 && scalar <= 0x202E)    // line separators, bidirectional embeddings
         || (scalar >= 0x2060 && scalar <= 0x206F)    // invisible operators, isolates
         || scalar == 0xFEFF                          // byte order mark
         || (scalar >= 0xFFF9 && scalar <= 0xFFFB)    // interlinear annotation
         || (scalar >= 0xE0000 && scalar <= 0xE0FFF); // tags, and selectors that can hide bytes
}

/// `##[group]`, `##vso[...]`, `##teamcity[...]`: CI runners look for these anywhere in a line
/// (T080). True if `text` begins with one.
bool beginsCommand(llvm::StringRef text) {
  if (!text.consume_front("##"))
    return false;
  const size_t word = text.take_front(kLongestCommandWord).find_if_not(llvm::isAlpha);
  return word != llvm::StringRef::npos && text[word] == '[';
}

void appendAscii(std::string& out, char byte, Layout layout) {
  switch (byte) {
  case '\n':
    out += layout == Layout::Block ? "\n" : "\\n";
    return;
  case '\t':
    out += layout == Layout::Block ? "\t" : "\\t";
    return;
  case '\r':
    out += "\\r";
    return;
  default:
    if (uint8_t(byte) < 0x20 || byte == 0x7F)
      appendHexByte(out, uint8_t(byte));
    else
      out += byte;
  }
}

std::string escape(llvm::StringRef bytes, Layout layout) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    if (uint8_t(bytes.front()) < 0x80) {
      if (beginsCommand(bytes)) {
        out += "#\\x23";
        bytes = bytes.drop_front(2);
        continue;
      }
      appendAscii(out, bytes.front(), layout);
      bytes = bytes.drop_front();
      continue;
    }
    const auto* at = reinterpret_cast<const llvm::UTF8*>(bytes.begin());
    const auto* end = reinterpret_cast<const llvm::UTF8*>(bytes.end());
    const llvm::UTF8* next = at;
    llvm::UTF32 scalar = 0;
    if (llvm::convertUTF8Sequence(&next, end, &scalar, llvm::strictConversion) !=
        llvm::conversionOK) {
      appendHexByte(out, *at);
      bytes = bytes.drop_front();
      continue;
    }
    if (isInvisibleControl(scalar))
      out += "\\u{" + llvm::utohexstr(scalar, /*LowerCase=*/true) + "}";
    else
      out += bytes.take_front(size_t(next - at));
    bytes = bytes.drop_front(size_t(next - at));
  }
  return out;
}

} // namespace

std::string escapeForText(llvm::StringRef bytes) {
  return escape(bytes, Layout::OneLine);
}
std::string escapeForTextBlock(llvm::StringRef bytes) {
  return escape(bytes, Layout::Block);
}

std::string bounded(llvm::StringRef bytes) {
  if (bytes.size() <= kLongestQuoted)
    return bytes.str();
  size_t end = kLongestQuoted;
  while (end + 4 > kLongestQuoted && (uint8_t(bytes[end]) & 0xC0) == 0x80)
    --end;
  return bytes.take_front(end).str() + "... (" + std::to_string(bytes.size() - end) +
         " bytes more)";
}

} // namespace gos
