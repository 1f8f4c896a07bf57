#pragma once
// The one layout of Gossamer's source text.
//
// What comes out has the same tokens in the same order (but for separators that a newline
// replaces), the same comments, and the same tree: all three are compared before anybody sees the
// result, and laying it out again changes nothing.

#include "llvm/ADT/StringRef.h"

#include <string>

namespace gos::format {

enum class Outcome : uint8_t {
  Formatted,    // `text` is the layout; it may be what was given
  SyntaxErrors, // the text is not a program: nothing was done
  Failed,       // a mistake of ours: the layout would have changed the program
};

struct Result {
  Outcome outcome = Outcome::Failed;
  std::string text;
  const char* why = "";    // of a failure: what would have changed
  size_t largestPiece = 0; // bytes that the layout of the largest item or statement took
};

/// Lays out the text of a file. `text` may begin with a byte order mark, and its lines may end with
/// a carriage return; neither is in the result.
Result formatText(llvm::StringRef text);

/// What differs between two texts as a unified diff with three lines around, without its heading.
std::string unifiedDiff(llvm::StringRef before, llvm::StringRef after);

} // namespace gos::format
