#include "compiler/format/doc.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>

namespace gos::format {

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

// ---- making -----------------------------------------------------------------------------------

Node* DocBuilder::make(Node::Kind kind) {
  Node* node = new (arena_.Allocate<Node>()) Node{};
  node->kind = kind;
  return node;
}

Doc DocBuilder::text(StringRef text) {
  Node* node = make(Node::Kind::Text);
  node->text = text;
  return node;
}

Doc DocBuilder::line(StringRef flat, bool blank, StringRef before) {
  Node* node = make(Node::Kind::Line);
  node->text = flat;
  node->blank = blank;
  node->before = before;
  return node;
}

Doc DocBuilder::hardLine(bool blank) {
  Node* node = make(Node::Kind::HardLine);
  node->breaks = node->newline = true;
  node->blank = blank;
  return node;
}

Doc DocBuilder::concat(ArrayRef<Doc> parts) {
  Node* node = make(Node::Kind::Concat);
  Doc* copy = arena_.Allocate<Doc>(parts.size());
  size_t count = 0;
  for (Doc part : parts) {
    if (!part)
      continue;
    copy[count++] = part;
    node->breaks |= part->breaks;
    node->newline |= part->newline;
  }
  if (count == 1)
    return copy[0];
  node->children = {copy, count};
  return node;
}

Doc DocBuilder::indent(Doc content) {
  Node* node = make(Node::Kind::Indent);
  Doc* copy = arena_.Allocate<Doc>(1);
  *copy = content;
  node->children = {copy, 1};
  node->breaks = content->breaks;
  node->newline = content->newline;
  return node;
}

Doc DocBuilder::group(Doc content, bool forced) {
  Node* node = make(Node::Kind::Group);
  Doc* copy = arena_.Allocate<Doc>(1);
  *copy = content;
  node->children = {copy, 1};
  node->breaks = forced || content->breaks;
  node->newline = forced || content->newline;
  return node;
}

Doc DocBuilder::fill(ArrayRef<Doc> itemsAndLines) {
  Node* node = make(Node::Kind::Fill);
  Doc* copy = arena_.Allocate<Doc>(itemsAndLines.size());
  std::copy(itemsAndLines.begin(), itemsAndLines.end(), copy);
  node->children = {copy, itemsAndLines.size()};
  for (Doc part : itemsAndLines) {
    node->breaks |= part->breaks;
    node->newline |= part->newline;
  }
  return node;
}

Doc DocBuilder::choice(Doc flat, Doc hugging, Doc expanded) {
  Node* node = make(Node::Kind::Choice);
  Doc* copy = arena_.Allocate<Doc>(3);
  copy[0] = flat;
  copy[1] = hugging;
  copy[2] = expanded;
  node->children = {copy, 3};
  node->newline = flat->newline;
  node->breaks = flat->breaks && !hugging;
  return node;
}

Doc DocBuilder::broken(Doc groupOrChoice) {
  Node* node = make(groupOrChoice->kind);
  *node = *groupOrChoice;
  if (node->kind == Node::Kind::Choice)
    node->forced = true;
  else
    node->breaks = true;
  node->newline = true;
  return node;
}

Doc DocBuilder::trailing(StringRef comment) {
  Node* node = make(Node::Kind::Trailing);
  node->text = comment;
  node->breaks = node->newline = true;
  return node;
}

Doc DocBuilder::ownLine(StringRef comment, bool blank) {
  Node* node = make(Node::Kind::OwnLine);
  node->text = comment;
  node->breaks = node->newline = true;
  node->blank = blank;
  return node;
}

Doc DocBuilder::inlined(StringRef comment) {
  Node* node = make(Node::Kind::Inline);
  node->text = comment;
  return node;
}

// ---- printing ---------------------------------------------------------------------------------

namespace {

enum class Mode : uint8_t { Flat, Break }; // of the lines of a group

struct Command {
  unsigned indent;
  Mode mode;
  Doc doc;
  uint32_t at = 0; // of a Fill: what comes next
};

/// Unicode scalars; what a terminal makes of them is its own affair.
unsigned widthOf(StringRef text) {
  return unsigned(llvm::count_if(text, [](char c) { return (uint8_t(c) & 0xC0) != 0x80; }));
}

class Printer {
public:
  std::string run(Doc doc) {
    push(0, Mode::Break, doc);
    while (!commands_.empty()) {
      const Command command = commands_.pop_back_val();
      step(command);
    }
    if (column_ != 0 || pendingNewline_)
      endLine();
    alignComments();
    return std::move(out_);
  }

private:
  /// A comment behind what stands on a line.
  struct LineComment {
    size_t offset;   // of its first byte
    unsigned line;   // that it ends
    unsigned column; // behind the space in front of it
    unsigned indent;
  };

  /// Comments of lines that follow each other begin at one column, unless their lines are too
  /// unlike.
  void alignComments() {
    constexpr unsigned kUnlike = 24;
    std::string aligned;
    size_t copied = 0;
    for (size_t i = 0; i < comments_.size();) {
      size_t end = i + 1;
      unsigned low = comments_[i].column, high = low;
      while (end < comments_.size() && comments_[end].line == comments_[end - 1].line + 1 &&
             comments_[end].indent == comments_[i].indent &&
             std::max(high, comments_[end].column) - std::min(low, comments_[end].column) <=
                 kUnlike) {
        low = std::min(low, comments_[end].column);
        high = std::max(high, comments_[end].column);
        ++end;
      }
      for (; i < end; ++i) {
        aligned.append(out_, copied, comments_[i].offset - copied);
        aligned.append(high - comments_[i].column, ' ');
        copied = comments_[i].offset;
      }
    }
    aligned.append(out_, copied);
    out_ = std::move(aligned);
  }

  void push(unsigned indent, Mode mode, Doc doc, uint32_t at = 0) {
    commands_.push_back({indent, mode, doc, at});
  }

  void endLine() {
    while (!out_.empty() && (out_.back() == ' ' || out_.back() == '\t'))
      out_.pop_back();
    out_ += '\n';
    ++line_;
    column_ = 0;
    pendingNewline_ = false;
    pendingSpace_ = false;
  }

  void newline(bool blank) {
    if (column_ != 0)
      endLine();
    pendingNewline_ = false;
    pendingSpace_ = false;
    if (blank && !out_.empty() && !llvm::StringRef(out_).ends_with("\n\n"))
      out_ += '\n', ++line_;
  }

  void put(unsigned indent, StringRef text) {
    if (text.empty())
      return;
    if (pendingNewline_) {
      newline(false);
      indent += kIndent; // a comment cut something in two
    }
    if (column_ == 0) {
      text = text.ltrim(' ');
      if (text.empty())
        return;
      lineIndent_ = indent;
      out_.append(indent, ' ');
      column_ = indent;
    } else if (pendingSpace_ && !StringRef(" )],;").contains(text.front())) {
      out_ += ' ';
      ++column_;
    }
    pendingSpace_ = false;
    out_ += text;
    line_ += unsigned(text.count('\n'));
    const size_t lastNewline = text.rfind('\n');
    if (lastNewline == StringRef::npos)
      column_ += widthOf(text);
    else
      column_ = std::max(1u, widthOf(text.drop_front(lastNewline + 1)));
  }

  void comment(const Command& command) {
    const Doc doc = command.doc;
    if (doc->kind == Node::Kind::OwnLine) {
      newline(doc->blank);
      put(command.indent, doc->text);
      pendingNewline_ = true;
      return;
    }
    if (pendingNewline_)
      newline(false);
    const bool endsLine = doc->kind == Node::Kind::Trailing;
    if (column_ != 0 && !StringRef(endsLine ? " " : " ([{").contains(out_.back())) {
      out_ += ' ';
      ++column_;
    }
    pendingSpace_ = false;
    if (endsLine && column_ != 0 && !doc->text.contains('\n'))
      comments_.push_back({out_.size(), line_, column_, lineIndent_});
    put(command.indent, doc->text);
    if (endsLine)
      pendingNewline_ = true;
    else
      pendingSpace_ = true;
  }

  void step(const Command& command) {
    const Doc doc = command.doc;
    const bool isFlat = command.mode == Mode::Flat;
    switch (doc->kind) {
    case Node::Kind::Text:
      return put(command.indent, doc->text);
    case Node::Kind::Line:
      if (isFlat && !pendingNewline_)
        return put(command.indent, doc->text);
      put(command.indent, doc->before);
      return newline(doc->blank);
    case Node::Kind::HardLine:
      return newline(doc->blank);
    case Node::Kind::Concat:
      for (Doc child : llvm::reverse(doc->children))
        push(command.indent, command.mode, child);
      return;
    case Node::Kind::Indent:
      return push(command.indent + kIndent, command.mode, doc->children[0]);
    case Node::Kind::Group: {
      const bool flat = !doc->breaks && (isFlat || fits(command, doc->children[0], Mode::Flat));
      return push(command.indent, flat ? Mode::Flat : Mode::Break, doc->children[0]);
    }
    case Node::Kind::Fill:
      return fill(command);
    case Node::Kind::Choice:
      return choose(command);
    case Node::Kind::Trailing:
    case Node::Kind::OwnLine:
    case Node::Kind::Inline:
      return comment(command);
    }
  }

  void choose(const Command& command) {
    const Doc flat = command.doc->children[0], hugging = command.doc->children[1],
              expanded = command.doc->children[2];
    const bool mayBeFlat = !command.doc->forced && !flat->newline;
    if (mayBeFlat && command.mode == Mode::Flat)
      return push(command.indent, Mode::Flat, flat);
    if (mayBeFlat && fits(command, flat, Mode::Flat))
      return push(command.indent, Mode::Flat, flat);
    if (hugging && fits(command, hugging, Mode::Flat))
      return push(command.indent, Mode::Flat, hugging);
    push(command.indent, Mode::Break, expanded);
  }

  void fill(Command command) {
    const ArrayRef<Doc> parts = command.doc->children;
    if (command.at == 0 && !parts.empty()) {
      push(command.indent, command.mode, command.doc, 1);
      return push(command.indent, command.mode, parts[0]);
    }
    if (command.at + 1 >= parts.size())
      return;
    const Doc line = parts[command.at], item = parts[command.at + 1];
    const bool flat = command.mode == Mode::Flat ||
                      (!line->breaks && !item->breaks && !pendingNewline_ && fitsPair(line, item));
    push(command.indent, command.mode, command.doc, command.at + 2);
    push(command.indent, command.mode, item);
    push(command.indent, flat ? Mode::Flat : Mode::Break, line);
  }

  bool fitsPair(Doc line, Doc item) {
    int room = int(kColumns) - int(column_);
    SmallVector<std::pair<Mode, Doc>, 32> work{{Mode::Flat, item}, {Mode::Flat, line}};
    // One column for what may follow.
    return measure(work, room, 0) && room >= 1;
  }

  /// Does the document, and what follows it up to the next newline, fit on this line?
  bool fits(const Command& command, Doc doc, Mode mode) {
    int room = int(kColumns) - int(column_ == 0 ? command.indent : column_);
    if (pendingNewline_)
      room = int(kColumns) - int(command.indent);
    SmallVector<std::pair<Mode, Doc>, 32> work{{mode, doc}};
    return measure(work, room, commands_.size());
  }

  /// Works off what is to come, then `rest` commands of the stack; true at a certain newline.
  bool measure(SmallVector<std::pair<Mode, Doc>, 32>& work, int& room, size_t rest) {
    while (room >= 0) {
      if (work.empty()) {
        if (rest == 0)
          return true;
        const Command& next = commands_[--rest];
        if (next.doc->kind == Node::Kind::Fill) {
          const ArrayRef<Doc> parts = next.doc->children.drop_front(next.at);
          for (Doc part : llvm::reverse(parts))
            work.push_back({next.mode, part});
          continue;
        }
        work.push_back({next.mode, next.doc});
        continue;
      }
      const auto [mode, doc] = work.pop_back_val();
      switch (doc->kind) {
      case Node::Kind::Text: {
        const size_t end = doc->text.find('\n');
        room -= int(widthOf(doc->text.take_front(end)));
        if (end != StringRef::npos)
          return room >= 0;
        break;
      }
      case Node::Kind::Line:
        if (mode == Mode::Break)
          return room >= int(doc->before.size());
        room -= int(doc->text.size());
        break;
      case Node::Kind::HardLine:
      case Node::Kind::OwnLine:
      case Node::Kind::Trailing:
        return true;
      case Node::Kind::Inline:
        room -= int(widthOf(doc->text)) + 1;
        break;
      case Node::Kind::Concat:
      case Node::Kind::Fill:
        for (Doc child : llvm::reverse(doc->children))
          work.push_back({mode, child});
        break;
      case Node::Kind::Indent:
        work.push_back({mode, doc->children[0]});
        break;
      case Node::Kind::Group:
        work.push_back({doc->breaks ? Mode::Break : mode, doc->children[0]});
        break;
      case Node::Kind::Choice:
        if (!doc->forced && !doc->children[0]->newline)
          work.push_back({mode, doc->children[0]});
        else if (doc->children[1])
          work.push_back({Mode::Flat, doc->children[1]});
        else
          work.push_back({Mode::Break, doc->children[2]});
        break;
      }
    }
    return false;
  }

  SmallVector<Command, 256> commands_;
  std::string out_;
  llvm::SmallVector<LineComment, 16> comments_;
  unsigned line_ = 0;
  unsigned column_ = 0;
  unsigned lineIndent_ = 0;
  bool pendingNewline_ = false; // a comment ends the line
  bool pendingSpace_ = false;   // behind a comment between two tokens
};

} // namespace

std::string print(Doc doc) {
  return Printer().run(doc);
}

} // namespace gos::format
