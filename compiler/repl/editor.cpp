#include "compiler/repl/editor.h"

#include "diagnostics/escape.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

namespace gos::repl {
namespace {

using llvm::StringRef;

/// The terminal as it is while a line is edited; as it was when this goes.
class RawMode {
public:
  RawMode() {
    if (tcgetattr(STDIN_FILENO, &before_) != 0)
      return;
    termios raw = before_;
    raw.c_iflag &= tcflag_t(~(BRKINT | ICRNL | INPCK | ISTRIP | IXON));
    raw.c_cflag |= CS8;
    raw.c_lflag &= tcflag_t(~(ECHO | ICANON | IEXTEN | ISIG));
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    active_ = tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
    if (active_)
      write("\x1b[?2004h"); // pasted text comes in brackets
  }
  ~RawMode() {
    if (!active_)
      return;
    write("\x1b[?2004l");
    tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  }
  bool active() const { return active_; }

  static void write(StringRef text) {
    while (!text.empty()) {
      const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
      if (written < 0 && errno == EINTR)
        continue;
      if (written <= 0)
        return;
      text = text.drop_front(size_t(written));
    }
  }

private:
  termios before_ = {};
  bool active_ = false;
};

size_t terminalWidth() {
  winsize size = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 8 ? size.ws_col : 80;
}

constexpr int kEnd = -1;
int readByte() {
  unsigned char byte = 0;
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, &byte, 1);
    if (got == 1)
      return byte;
    if (got < 0 && errno == EINTR)
      continue;
    return kEnd;
  }
}

/// One line at the terminal.
class Editing {
public:
  Editing(StringRef prompt, llvm::ArrayRef<std::string> history,
          llvm::function_ref<std::vector<std::string>(StringRef)> complete)
      : prompt_(prompt), history_(history), complete_(complete), at_(history.size()) {}

  LineEditor::Input run() {
    draw();
    for (;;) {
      const int byte = readByte();
      switch (byte) {
      case kEnd:
        return finish(LineEditor::Input::Kind::End);
      case '\r':
      case '\n':
        buffer_.end();
        draw();
        return finish(LineEditor::Input::Kind::Line);
      case 3: // Ctrl-C
        buffer_.end();
        draw();
        RawMode::write("^C");
        return finish(LineEditor::Input::Kind::Interrupted);
      case 4: // Ctrl-D
        if (buffer_.text().empty())
          return finish(LineEditor::Input::Kind::End);
        buffer_.eraseAfter();
        break;
      case 1:
        buffer_.home();
        break;
      case 5:
        buffer_.end();
        break;
      case 2:
        buffer_.left();
        break;
      case 6:
        buffer_.right();
        break;
      case 8:
      case 127:
        buffer_.eraseBefore();
        break;
      case 9:
        completeWord();
        break;
      case 11:
        buffer_.killToEnd();
        break;
      case 12:
        RawMode::write("\x1b[H\x1b[2J");
        break;
      case 14:
        browse(+1);
        break;
      case 16:
        browse(-1);
        break;
      case 18:
        search();
        break;
      case 21:
        buffer_.killToStart();
        break;
      case 23:
        buffer_.killWord();
        break;
      case 25:
        buffer_.yank();
        break;
      case 27:
        escape();
        break;
      default:
        if (byte >= 32)
          insertScalar(byte);
      }
      draw();
    }
  }

private:
  LineEditor::Input finish(LineEditor::Input::Kind kind) {
    RawMode::write("\r\n");
    return {kind, buffer_.text()};
  }

  void insertScalar(int first) {
    std::string bytes(1, char(first));
    const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
    for (int i = 0; i < more; ++i) {
      const int next = readByte();
      if (next == kEnd || (next & 0xc0) != 0x80)
        return;
      bytes += char(next);
    }
    if (first >= 0x80 && escapeForText(bytes) != bytes)
      return; // no text, or what a terminal would act on
    buffer_.insert(bytes);
  }

  void escape() {
    int byte = readByte();
    if (byte == 'b')
      return buffer_.wordLeft();
    if (byte == 'f')
      return buffer_.wordRight();
    if (byte != '[' && byte != 'O')
      return;
    std::string parameters;
    for (byte = readByte(); byte != kEnd && (byte < 0x40 || byte > 0x7e); byte = readByte())
      if (parameters.size() < 16)
        parameters += char(byte);
    const bool withControl = StringRef(parameters).ends_with(";5");
    switch (byte) {
    case 'A':
      return browse(-1);
    case 'B':
      return browse(+1);
    case 'C':
      return withControl ? buffer_.wordRight() : buffer_.right();
    case 'D':
      return withControl ? buffer_.wordLeft() : buffer_.left();
    case 'H':
      return buffer_.home();
    case 'F':
      return buffer_.end();
    case '~':
      if (parameters == "1" || parameters == "7")
        return buffer_.home();
      if (parameters == "4" || parameters == "8")
        return buffer_.end();
      if (parameters == "3")
        return buffer_.eraseAfter();
      if (parameters == "200")
        return paste();
      return;
    default:
      return;
    }
  }

  /// Pasted text is text, whatever is in it, up to the bracket that ends it.
  void paste() {
    std::string text;
    constexpr StringRef kEndOfPaste = "\x1b[201~";
    for (int byte = readByte(); byte != kEnd; byte = readByte()) {
      text += char(byte);
      if (StringRef(text).ends_with(kEndOfPaste)) {
        text.resize(text.size() - kEndOfPaste.size());
        break;
      }
    }
    std::string clean;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\r')
        clean += i + 1 < text.size() && text[i + 1] == '\n' ? "" : "\n";
      else if (uint8_t(text[i]) >= 32 || text[i] == '\n' || text[i] == '\t')
        clean += text[i];
    }
    buffer_.insert(clean);
  }

  void browse(int step) {
    if ((step < 0 && at_ == 0) || (step > 0 && at_ == history_.size()))
      return;
    if (at_ == history_.size())
      unfinished_ = buffer_.text();
    at_ = size_t(std::ptrdiff_t(at_) + step);
    buffer_.set(at_ == history_.size() ? StringRef(unfinished_) : StringRef(history_[at_]));
  }

  /// Ctrl-R: the newest line that holds what is typed.
  void search() {
    const std::string before = buffer_.text();
    std::string wanted;
    size_t from = history_.size();
    for (;;) {
      size_t found = from;
      while (found > 0 && !StringRef(history_[found - 1]).contains(wanted))
        --found;
      if (found > 0 && !wanted.empty())
        buffer_.set(history_[found - 1]);
      draw(("(search: " + wanted + ") "));
      const int byte = readByte();
      if (byte == 18) { // an older one
        from = found > 0 ? found - 1 : 0;
        continue;
      }
      if (byte == 127 || byte == 8) {
        if (!wanted.empty())
          wanted.pop_back();
        from = history_.size();
        continue;
      }
      if (byte == 3 || byte == 7 || byte == kEnd) {
        buffer_.set(before);
        return;
      }
      if (byte >= 32) {
        wanted += char(byte);
        from = history_.size();
        continue;
      }
      return; // taken; Enter is pressed again to run it
    }
  }

  void completeWord() {
    const StringRef head = StringRef(buffer_.text()).take_front(buffer_.cursor());
    if (head.trim().empty())
      return buffer_.insert("    ");
    const StringRef word = head.drop_front(wordStart(head));
    const std::vector<std::string> words = complete_(head);
    if (words.empty())
      return;
    // As far as all of them agree.
    std::string common = words.front();
    for (const std::string& each : words) {
      size_t same = 0;
      while (same < common.size() && same < each.size() && common[same] == each[same])
        ++same;
      common.resize(same);
    }
    if (common.size() > word.size())
      return buffer_.insert(StringRef(common).drop_front(word.size()));
    if (words.size() < 2)
      return;
    std::string list = "\r\n";
    for (const std::string& each : llvm::ArrayRef(words).take_front(60))
      list += each + "  ";
    if (words.size() > 60)
      list += "...";
    RawMode::write(list + "\r\n");
    row_ = 0;
  }

  void draw() { draw(prompt_); }
  /// Draws the line anew: it may take several rows, and newlines of a paste are shown as such.
  void draw(StringRef prompt) {
    const size_t width = terminalWidth();
    std::string shown, before;
    const auto visible = [](StringRef text) {
      std::string result;
      for (char c : text)
        if (c == '\n')
          result += "\u23ce";
        else if (c == '\t')
          result += ' ';
        else
          result += c;
      return result;
    };
    shown = visible(buffer_.text());
    before = visible(StringRef(buffer_.text()).take_front(buffer_.cursor()));
    const size_t promptColumns = columnsOf(prompt);
    const size_t all = promptColumns + columnsOf(shown), cursor = promptColumns + columnsOf(before);
    std::string out;
    if (row_ > 0)
      out += "\x1b[" + llvm::utostr(row_) + "A";
    out += "\r\x1b[J" + prompt.str() + shown;
    if (all > 0 && all % width == 0)
      out += "\r\n"; // the cursor waits behind the last column
    const size_t lastRow = all / width;
    row_ = cursor / width;
    if (lastRow > row_)
      out += "\x1b[" + llvm::utostr(lastRow - row_) + "A";
    out += "\r";
    if (cursor % width)
      out += "\x1b[" + llvm::utostr(cursor % width) + "C";
    RawMode::write(out);
  }

  StringRef prompt_;
  llvm::ArrayRef<std::string> history_;
  llvm::function_ref<std::vector<std::string>(StringRef)> complete_;
  EditBuffer buffer_;
  size_t at_;
  std::string unfinished_;
  size_t row_ = 0; // the cursor's, from the first of the line
};

} // namespace

LineEditor::LineEditor() {
  const char* terminal = std::getenv("TERM");
  interactive_ =
      isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && terminal && StringRef(terminal) != "dumb";
  if (interactive_)
    history_.load();
}

LineEditor::~LineEditor() = default;

LineEditor::Input
LineEditor::read(StringRef prompt,
                 llvm::function_ref<std::vector<std::string>(StringRef)> complete) {
  if (!interactive_)
    return readPlain();
  RawMode raw;
  if (!raw.active())
    return readPlain();
  return Editing(prompt, history_.lines(), complete).run();
}

LineEditor::Input LineEditor::readPlain() {
  for (;;) {
    const size_t newline = pending_.find('\n');
    if (newline != std::string::npos || (atEnd_ && !pending_.empty())) {
      Input input;
      input.text = pending_.substr(0, newline);
      pending_.erase(0, newline == std::string::npos ? newline : newline + 1);
      if (StringRef(input.text).ends_with("\r"))
        input.text.pop_back();
      return input;
    }
    if (atEnd_)
      return {Input::Kind::End, {}};
    // One byte at a time: what follows belongs to the program, if it reads its input.
    const int byte = readByte();
    if (byte == kEnd)
      atEnd_ = true;
    else
      pending_ += char(byte);
  }
}

} // namespace gos::repl
