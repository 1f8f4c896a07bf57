#pragma once
// A layout as a value: text, places where a line may break, and groups of them that break together;
// and the printer that decides, group by group, what fits on a line.

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"

#include <cstdint>
#include <string>

namespace gos::format {

inline constexpr unsigned kColumns = 100;
inline constexpr unsigned kIndent = 4;

struct Node {
  enum class Kind : uint8_t {
    Text,     // may hold newlines (a string over lines, a block comment): printed as it is
    Line,     // `text` when its group is flat; else a newline
    HardLine, // always a newline
    Concat,
    Indent,   // one child; newlines inside go one level deeper
    Group,    // one child; flat if it fits
    Fill,     // items and the lines between them, in turn; each line breaks on its own
    Choice,   // three children: flat; hugging (may be null); expanded
    Trailing, // a comment behind what stands on the line; ends the line
    OwnLine,  // a comment on a line of its own; ends the line
    Inline,   // a block comment between two tokens of a line
  };

  Kind kind;
  bool breaks = false;  // a newline inside is certain, and the groups around it break
  bool newline = false; // a newline inside is certain, but may stay inside (of a hugged argument)
  bool blank = false;   // of a line: an empty line stands before it when it breaks
  bool forced = false;  // of a Choice: never flat
  llvm::StringRef text;
  llvm::StringRef before; // of a Line: printed in front of the newline
  llvm::ArrayRef<const Node*> children;
};
using Doc = const Node*;

/// Makes nodes, and owns them.
class DocBuilder {
public:
  Doc text(llvm::StringRef text);
  /// A place to break; `flat` stands there otherwise.
  Doc line(llvm::StringRef flat, bool blank = false, llvm::StringRef before = {});
  Doc hardLine(bool blank = false);
  Doc concat(llvm::ArrayRef<Doc> parts);
  Doc indent(Doc content);
  Doc group(Doc content, bool forced = false);
  Doc fill(llvm::ArrayRef<Doc> itemsAndLines);
  /// `flat` if it fits. Else `hugging`, whose front must fit on the line, if there is one and
  /// nothing in its front breaks; else `expanded`.
  Doc choice(Doc flat, Doc hugging, Doc expanded);
  /// The group or choice, broken.
  Doc broken(Doc groupOrChoice);
  Doc trailing(llvm::StringRef comment);
  Doc ownLine(llvm::StringRef comment, bool blank);
  Doc inlined(llvm::StringRef comment);

private:
  Node* make(Node::Kind kind);
  llvm::BumpPtrAllocator arena_;
};

/// The layout as text, no line longer than kColumns where that can be had.
std::string print(Doc doc);

} // namespace gos::format
