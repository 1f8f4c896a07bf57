#pragma once
// The Markdown of documentation comments, as far as such comments use it: paragraphs, headings,
// lists, quotations, tables, fenced code; in a line code, strong, emphasis and links. Total over
// any text, one pass, no recursion.

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace gos::document {

enum class Alignment : uint8_t { None, Left, Centre, Right };

struct Block {
  enum class Kind : uint8_t { Paragraph, Heading, Item, Quote, Table, Code };
  Kind kind = Kind::Paragraph;
  unsigned level = 0;                         // Heading: 1 to 6; Item: how deep
  std::string marker;                         // Item: "1." of an ordered list; empty for a bullet
  std::string info;                           // Code
  std::string text;                           // lines joined by a blank; Code: as it stands
  std::vector<std::vector<std::string>> rows; // Table: the heading first; all of one length
  std::vector<Alignment> alignments;          // Table: by column
};

struct Run {
  enum class Kind : uint8_t { Text, Code, Strong, Emphasis, Link };
  Kind kind = Kind::Text;
  std::string text;
  std::string target; // Link
};

std::vector<Block> parseMarkdown(llvm::StringRef text);
std::vector<Run> parseInline(llvm::StringRef text);
/// The first sentence of the first paragraph, for lists.
std::string summary(llvm::StringRef text);
/// A link that a page may hold: relative, http, https or mailto.
bool isSafeTarget(llvm::StringRef target);

} // namespace gos::document
