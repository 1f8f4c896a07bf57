#pragma once
// Bytes to tokens in one pass. The lexer never gives up: a malformed token is reported (GP0018)
// and becomes an Error token, and lexing goes on behind it.

#include "compiler/lex/token.h"
#include "diagnostics/engine.h"
#include "diagnostics/source_map.h"

#include <vector>

namespace gos::lex {

/// The tokens of a text. After the last one stand kEndPadding EndOfFile tokens, so that a reader
/// may look that far ahead without a check.
using TokenBuffer = std::vector<Token>;
inline constexpr unsigned kEndPadding = 4;

/// Lexes a whole file; a first line that begins `#!` (and not `#![`) is a comment.
TokenBuffer lexFile(const SourceFile& file, Engine& engine);
/// Lexes the bytes [begin, end) of a file (offsets in the file), such as a placeholder's
/// expression.
TokenBuffer lexRange(const SourceFile& file, uint32_t begin, uint32_t end, Engine& engine);

} // namespace gos::lex
