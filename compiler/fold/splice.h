#pragma once
// A region's value as the expression that stands for it.

#include "compiler/check/check.h"
#include "compiler/fold/evaluate.h"

#include "llvm/ADT/StringMap.h"

namespace gos::fold {

/// The literal of a value at the region's type. Null for a float that no literal can express (NaN,
/// infinities).
ast::Expr* literalOf(const RegionValue& value, check::Type* type, Span span, ast::Context& context);

/// Parses generated text as one expression in a file of its own that hangs at `at`. Snippets of it
/// are never shown when the region read files or variables: the text may be theirs (T078).
/// `countAt` has the number of texts by their place in a real file. Null after reports.
ast::Expr* parseGenerated(llvm::StringRef text, Span at, bool mayHoldReadText, bool foreign,
                          llvm::StringMap<unsigned>& countAt, check::ProgramInput& input,
                          Engine& engine);

} // namespace gos::fold
