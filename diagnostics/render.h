#pragma once
// Diagnostics as text with carets for people, and as one JSON object a line for programs.

#include "diagnostics/engine.h"

#include "llvm/Support/raw_ostream.h"

namespace gos {

enum class Colour { Off, On };
enum class MessageFormat { Text, Json };

// Where a label lies in a text of Snippets::Hidden, a message that could quote it (parser,
// resolution, types, match, lint) is shown without its arguments, notes and helps (T078).

/// One diagnostic with its source lines, carets, notes and helps.
void renderText(llvm::raw_ostream& out, const Diagnostic& diagnostic, const SourceMap& sources,
                Colour colour);
/// One JSON object and a newline: schema, code, severity, title, message, labels, notes, helps,
/// suggestions.
void renderJson(llvm::raw_ostream& out, const Diagnostic& diagnostic, const SourceMap& sources);
/// All diagnostics of an engine, and in text the closing count ("2 errors, 1 warning").
void renderAll(llvm::raw_ostream& out, const Engine& engine, MessageFormat format, Colour colour);

} // namespace gos
