#pragma once
// A layout as a value: text, places where a line may break, and groups of them that break together;
// and the printer that decides, group by group, what fits on a line.

#include "compiler/ast/arena.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace gos::format {

inline constexpr unsigned kColumns = 100;
inline constexpr unsigned kIndent = 4;

/// Small, since a long table has one or two of them for each of its elements.
struct Node {
  enum class Kind : uint8_t {
    Text,     // may hold newlines (a string over lines, a block comment): printed as it is
    Line,     // its text when its group is flat; else a newline
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

  Kind kind = Kind::Text;
  bool breaks : 1 = false; // a newline inside is certain, and the groups around it break
  bool newline : 1 =
      false;              // a newline inside is certain, but may stay inside (of a hugged argument)
  bool blank : 1 = false; // of a line: an empty line stands before it when it breaks
  bool forced : 1 = false;     // of a Choice: never flat
  bool keepsComma : 1 = false; // of a Line: a comma stands in front of its newline
  uint32_t size = 0;           // bytes of the text, or children
  union {
    const char* bytes = nullptr;
    const Node* child; // of Indent and Group
    const Node* const* several;
  };

  llvm::StringRef text() const { return {bytes, size}; }
  llvm::ArrayRef<const Node*> children() const { return {several, size}; }
};
static_assert(sizeof(Node) == 16);
using Doc = const Node*;

/// Makes nodes, and owns them.
class DocBuilder {
public:
  Doc text(llvm::StringRef text);
  /// A place to break; `flat` stands there otherwise.
  Doc line(llvm::StringRef flat, bool blank = false, bool keepsComma = false);
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

  /// Frees every node that was made.
  void reset() { arena_.Reset(); }
  size_t bytesUsed() const { return arena_.getBytesAllocated(); }

private:
  Node* make(Node::Kind kind, llvm::StringRef text = {});
  Node* makeAround(Node::Kind kind, Doc content);
  ast::Arena arena_;
};

enum class LineMode : uint8_t { Flat, Break }; // of the lines of a group

/// Documents as text, one behind the other, no line longer than kColumns where that can be had.
class Printer {
public:
  /// `expected`: about as many bytes will come.
  explicit Printer(size_t expected) { out_.reserve(expected); }

  /// Between two documents a newline is certain: the first ends with one, or the next begins so.
  void print(Doc doc);
  /// Everything that was printed; the last line is ended.
  std::string finish();

private:
  struct Command {
    Doc doc;
    uint32_t at; // of a Concat or a Fill: the child that comes next
    unsigned indent;
    LineMode mode;
  };
  /// A part of what is measured.
  struct Measured {
    Doc doc;
    uint32_t at; // as of a Command
    LineMode mode;
  };
  /// A comment behind what stands on a line.
  struct LineComment {
    size_t offset;   // of its first byte
    unsigned line;   // that it ends
    unsigned column; // behind the space in front of it
    unsigned indent;
  };

  void push(unsigned indent, LineMode mode, Doc doc, uint32_t at = 0) {
    commands_.push_back({doc, at, indent, mode});
  }
  void step(const Command& command);
  void endLine();
  void newline(bool blank);
  void put(unsigned indent, llvm::StringRef text);
  void comment(const Command& command);
  void addComment(unsigned indent);
  void alignComments();
  void choose(const Command& command);
  void fill(const Command& command);
  bool fits(const Command& command, Doc doc);
  bool fitsPair(Doc line, Doc item);
  bool measure(int room, size_t rest);

  llvm::SmallVector<Command, 256> commands_;
  llvm::SmallVector<Measured, 64> work_; // of measure
  std::string out_;
  llvm::SmallVector<LineComment, 16> comments_; // of lines that follow each other, not yet aligned
  unsigned lowest_ = 0, highest_ = 0;           // of their columns
  unsigned line_ = 0;
  unsigned column_ = 0;
  unsigned lineIndent_ = 0;
  bool pendingNewline_ = false; // a comment ends the line
  bool pendingSpace_ = false;   // behind a comment between two tokens
};

} // namespace gos::format
