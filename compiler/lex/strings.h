#pragma once
// Text literals (language.md 2.5, 2.7 to 2.9): escapes, the dedenting of triple-quoted strings, and
// where the placeholders of an interpolated string are.

#include "compiler/lex/token.h"
#include "diagnostics/engine.h"
#include "diagnostics/source_map.h"

#include "llvm/ADT/SmallVector.h"

namespace gos::lex {

/// What stands between the quotes of a string token. Offsets are in the shared space.
struct StringBody {
  const SourceFile* file = nullptr;
  uint32_t begin = 0, end = 0;
  bool isRaw = false;
  bool isBytes = false;
  bool isDedented = false; // of several lines between triple quotes
  uint32_t margin = 0;     // bytes to drop at the start of each line

  llvm::StringRef text() const {
    return file->content().slice(begin - file->base, end - file->base);
  }
};

/// One piece of an interpolated string: text, then (unless it is the last) a placeholder.
struct FStringPart {
  Span text;
  bool hasPlaceholder = false;
  bool isClosed = true; // false: a `{` without its `}`
  Span braces;          // the whole placeholder, braces included
  Span expr;
  bool hasSpec = false;
  Span spec;
};

/// The body of a string token of any kind; reports text after an opening `"""` (GP0033). Lines that
/// begin inside one of the placeholders are not measured for the margin.
StringBody bodyOf(const SourceFile& file, const Token& token, Engine& engine,
                  llvm::ArrayRef<FStringPart> parts = {});
/// The body and the pieces of an FString or TripleFString token.
StringBody cutFString(const SourceFile& file, const Token& token,
                      llvm::SmallVectorImpl<FStringPart>& parts, Engine& engine);

/// True when the value of a body is its text in the source, byte for byte.
bool isPlain(const StringBody& body);
enum class Braces { Data, Doubled }; // Doubled: `{{` is one brace, and a lone one is GP0065
/// Appends the value of the part [from, to) of a body, decoded and dedented; reports bad escapes.
void appendText(const StringBody& body, uint32_t from, uint32_t to, Braces braces,
                llvm::SmallVectorImpl<char>& out, Engine& engine);
/// The length of the escape at `at` (a backslash), so that a scan can step over it; at least 1.
uint32_t escapeLength(const char* at, const char* end);

/// The scalar of a Char token or the byte of a Byte token.
uint32_t characterValue(const SourceFile& file, const Token& token, Engine& engine);

// For the lexer: each answers the place behind the closing quote, or null when it is missing.
const char* skipString(const char* afterQuote, const char* end);
const char* skipTripleString(const char* afterQuotes, const char* end);
/// `at` stands behind the `r`, on a `#` or the quote; null when that is no raw string at all.
const char* skipRawString(const char* at, const char* end, bool& isRawString);
/// Steps over broken placeholders cost `budget`; when it is spent (the file is full of mistakes)
/// braces are plain text.
const char* skipFString(const char* afterQuotes, const char* end, bool isTriple, int64_t& budget);
/// Steps over `\"text\"` on one line, which stands where no string is open; null if it is not that.
const char* skipEscapedQuotes(const char* at, const char* end);
inline constexpr int64_t kFStringBudget = 8 << 20;

} // namespace gos::lex
