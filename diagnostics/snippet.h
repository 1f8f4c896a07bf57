#pragma once
// The part of a text report that shows source: numbered lines of one file with the marks of the
// labels beneath them.

#include "diagnostics/engine.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

namespace gos {

/// The roles that are coloured when colour is asked for.
enum class Style : uint8_t { Plain, Bold, Error, Warning, Note, Frame };

/// Writes text in a style; knows alone how styles become terminal codes.
class StyledOutput {
public:
  StyledOutput(llvm::raw_ostream& out, bool colour) : out_(out), colour_(colour) {}
  void write(llvm::StringRef text, Style style = Style::Plain);
  void fill(size_t count, char character = ' ') {
    for (size_t i = 0; i < count; ++i)
      out_ << character;
  }

private:
  llvm::raw_ostream& out_;
  bool colour_;
};

/// Columns that the number of the last line of any label takes.
size_t gutterWidth(llvm::ArrayRef<Label> labels, const SourceMap& sources);

/// The lines of `file` that `labels` (all of them in it) point to, with marks and messages.
void writeSnippet(StyledOutput& out, llvm::ArrayRef<const Label*> labels, FileId file,
                  const SourceMap& sources, size_t gutter, Style primary);

} // namespace gos
