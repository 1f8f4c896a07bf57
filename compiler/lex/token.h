#pragma once
// A token: what it is and where. Its text is looked up in the source when somebody asks.

#include "diagnostics/span.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace gos::lex {

enum class TokenKind : uint8_t {
#define GOS_TOKEN(kind, description) kind,
#define GOS_PUNCTUATION(kind, spelling) kind,
#define GOS_KEYWORD(kind, spelling) kind,
#include "compiler/lex/token_kinds.def"
};

/// Identifiers that are keywords in one place, or that get a diagnostic of their own in another.
enum class Word : uint8_t {
  None,
#define GOS_WORD(word, spelling) word,
#include "compiler/lex/token_kinds.def"
};

struct Token {
  uint32_t begin = 0; // in the offset space of the source map
  uint32_t end = 0;
  TokenKind kind = TokenKind::EndOfFile;
  Word word = Word::None;       // of an Identifier
  bool newlineBefore = false;   // an LF stands between this token and the one before it
  bool touchesPrevious = false; // nothing at all stands between them

  Span span() const { return {begin, end}; }
};
static_assert(sizeof(Token) == 12);

/// "identifier", or the spelling of punctuation and keywords.
llvm::StringRef describe(TokenKind kind);
bool isKeyword(TokenKind kind);
bool isPunctuation(TokenKind kind);

} // namespace gos::lex
