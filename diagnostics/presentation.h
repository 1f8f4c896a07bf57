#pragma once
// What a diagnostic may show, settled once for text and JSON: whether its words quote a text that
// must stay hidden (T078), and where generated text was generated.

#include "diagnostics/engine.h"

namespace gos {

inline constexpr uint64_t kDiagnosticSchema = 1;

/// "error", "warning", "note".
llvm::StringRef severityWord(Severity severity);

/// The diagnostic as it is shown: with a "generated here" label for each call that generated the
/// text it points into, and, where that text is hidden, without a word that could quote it.
Diagnostic presented(const Diagnostic& diagnostic, const SourceMap& sources);

} // namespace gos
