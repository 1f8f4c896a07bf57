#pragma once
// Cutting text out of sources: comments above a place, and code with regular blanks.

#include "compiler/document/document.h"

namespace gos::document {

/// The run of `//` lines that ends on the line above `begin`; not valid when there is none.
Span commentAbove(const SourceMap& sources, Span begin);
/// The run of `//` lines at the top of a file, unless it documents the item below it.
Span commentAtTop(const SourceMap& sources, FileId file);
/// The text of a span with every run of blanks and newlines made one blank, comments left out.
std::string flat(const SourceMap& sources, Span span);
/// The documentation of a comment: its text, and its fenced blocks with their places.
void readComment(const SourceMap& sources, Span comment, llvm::StringRef owner, std::string& text,
                 std::vector<CodeBlock>& code);
/// "a::b"; the second alone when the first is empty.
std::string joined(llvm::StringRef first, llvm::StringRef second);

} // namespace gos::document
