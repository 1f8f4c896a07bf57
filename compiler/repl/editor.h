#pragma once
// Reading lines from a person: a line that can be edited, a history, completion. At a terminal that
// cannot do it, and from a pipe or a file, lines are read as they come.

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace gos::repl {

/// The history of lines, in a file that only its owner reads: lines may hold what nobody else
/// should see.
class History {
public:
  /// The file in `$XDG_STATE_HOME/gossamer`, else `~/.local/state/gossamer`; none if there is no
  /// home.
  void load();
  void add(llvm::StringRef line);
  llvm::ArrayRef<std::string> lines() const { return lines_; }

private:
  std::string path_;
  std::vector<std::string> lines_;
};

class LineEditor {
public:
  LineEditor();
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  /// Can lines be edited here? Else `read` shows no prompt.
  bool isInteractive() const { return interactive_; }

  struct Input {
    enum class Kind : uint8_t { Line, End, Interrupted };
    Kind kind = Kind::Line;
    std::string text; // without the newline
  };
  /// `complete` answers the words that may stand in place of the last one of the text.
  Input read(llvm::StringRef prompt,
             llvm::function_ref<std::vector<std::string>(llvm::StringRef)> complete);
  /// What was entered goes into the history.
  void remember(llvm::StringRef text) {
    if (interactive_)
      history_.add(text);
  }

private:
  Input readPlain();
  bool interactive_ = false;
  History history_;
  std::string pending_; // read and not given out yet
  bool atEnd_ = false;
};

/// The edited text and its cursor: no terminal, so that it can be tested.
class EditBuffer {
public:
  const std::string& text() const { return text_; }
  size_t cursor() const { return cursor_; }
  void set(llvm::StringRef text) {
    text_ = text.str();
    cursor_ = text_.size();
  }
  void insert(llvm::StringRef bytes);
  void left();
  void right();
  void wordLeft();
  void wordRight();
  void home() { cursor_ = 0; }
  void end() { cursor_ = text_.size(); }
  void eraseBefore();
  void eraseAfter();
  void killToEnd();
  void killToStart();
  void killWord();
  void yank() { insert(killed_); }
  /// Columns that the text before the cursor takes, and all of it.
  size_t columnsBefore() const;
  size_t columns() const;

private:
  size_t previous(size_t at) const;
  size_t next(size_t at) const;
  std::string text_, killed_;
  size_t cursor_ = 0;
};

/// The columns that a text takes at a terminal.
size_t columnsOf(llvm::StringRef text);
/// The start of the word that completion would replace.
size_t wordStart(llvm::StringRef text);

} // namespace gos::repl
