// The printer of documents: works off a stack of what is to come, and measures, at each group,
// whether what follows up to the next newline fits on the line.

#include "compiler/format/doc.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cstring>

namespace gos::format {

using llvm::ArrayRef;
using llvm::StringRef;

namespace {

/// Unicode scalars; what a terminal makes of them is its own affair.
unsigned widthOf(StringRef text) {
  return unsigned(llvm::count_if(text, [](char c) { return (uint8_t(c) & 0xC0) != 0x80; }));
}

} // namespace

void Printer::print(Doc doc) {
  push(0, LineMode::Break, doc);
  while (!commands_.empty()) {
    const Command command = commands_.pop_back_val();
    step(command);
  }
}

std::string Printer::finish() {
  if (column_ != 0 || pendingNewline_)
    endLine();
  alignComments();
  return std::move(out_);
}

// ---- lines ------------------------------------------------------------------------------------

void Printer::endLine() {
  while (!out_.empty() && (out_.back() == ' ' || out_.back() == '\t'))
    out_.pop_back();
  out_ += '\n';
  ++line_;
  column_ = 0;
  pendingNewline_ = false;
  pendingSpace_ = false;
}

void Printer::newline(bool blank) {
  if (column_ != 0)
    endLine();
  pendingNewline_ = false;
  pendingSpace_ = false;
  if (blank && !out_.empty() && !StringRef(out_).ends_with("\n\n"))
    out_ += '\n', ++line_;
}

void Printer::put(unsigned indent, StringRef text) {
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
  const size_t lastNewline = text.rfind('\n');
  if (lastNewline == StringRef::npos) {
    column_ += widthOf(text);
  } else {
    line_ += unsigned(text.count('\n'));
    column_ = std::max(1u, widthOf(text.drop_front(lastNewline + 1)));
  }
}

// ---- comments ---------------------------------------------------------------------------------

void Printer::comment(const Command& command) {
  const Doc doc = command.doc;
  if (doc->kind == Node::Kind::OwnLine) {
    newline(doc->blank);
    put(command.indent, doc->text());
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
  if (endsLine && column_ != 0 && !doc->text().contains('\n'))
    addComment(lineIndent_);
  put(command.indent, doc->text());
  if (endsLine)
    pendingNewline_ = true;
  else
    pendingSpace_ = true;
}

/// Comments of lines that follow each other begin at one column, unless their lines are too unlike.
void Printer::addComment(unsigned indent) {
  constexpr unsigned kUnlike = 24;
  const bool follows = !comments_.empty() && line_ == comments_.back().line + 1 &&
                       indent == comments_[0].indent &&
                       std::max(highest_, column_) - std::min(lowest_, column_) <= kUnlike;
  if (!follows) {
    alignComments();
    lowest_ = highest_ = column_;
  }
  lowest_ = std::min(lowest_, column_);
  highest_ = std::max(highest_, column_);
  comments_.push_back({out_.size(), line_, column_, indent});
}

void Printer::alignComments() {
  size_t missing = 0;
  for (const LineComment& each : comments_)
    missing += highest_ - each.column;
  if (missing != 0) {
    // From the end, so that every byte moves once.
    size_t end = out_.size();
    out_.append(missing, ' ');
    char* text = out_.data();
    for (const LineComment& each : llvm::reverse(comments_)) {
      std::memmove(text + each.offset + missing, text + each.offset, end - each.offset);
      const size_t here = highest_ - each.column;
      missing -= here;
      std::memset(text + each.offset + missing, ' ', here);
      end = each.offset;
    }
  }
  comments_.clear();
}

// ---- documents --------------------------------------------------------------------------------

void Printer::step(const Command& command) {
  const Doc doc = command.doc;
  const bool isFlat = command.mode == LineMode::Flat;
  switch (doc->kind) {
  case Node::Kind::Text:
    return put(command.indent, doc->text());
  case Node::Kind::Line:
    if (isFlat && !pendingNewline_)
      return put(command.indent, doc->text());
    if (doc->keepsComma)
      put(command.indent, ",");
    return newline(doc->blank);
  case Node::Kind::HardLine:
    return newline(doc->blank);
  case Node::Kind::Concat:
    for (uint32_t at = command.at; at < doc->size; ++at) {
      const Doc child = doc->several[at];
      if (child->kind == Node::Kind::Text) {
        put(command.indent, child->text());
        continue;
      }
      if (at + 1 < doc->size)
        push(command.indent, command.mode, doc, at + 1);
      return push(command.indent, command.mode, child);
    }
    return;
  case Node::Kind::Indent:
    return push(command.indent + kIndent, command.mode, doc->child);
  case Node::Kind::Group: {
    const bool flat = !doc->breaks && (isFlat || fits(command, doc->child));
    return push(command.indent, flat ? LineMode::Flat : LineMode::Break, doc->child);
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

void Printer::choose(const Command& command) {
  const ArrayRef<Doc> choices = command.doc->children();
  const Doc flat = choices[0], hugging = choices[1], expanded = choices[2];
  const bool mayBeFlat = !command.doc->forced && !flat->newline;
  if (mayBeFlat && (command.mode == LineMode::Flat || fits(command, flat)))
    return push(command.indent, LineMode::Flat, flat);
  if (hugging && fits(command, hugging))
    return push(command.indent, LineMode::Flat, hugging);
  push(command.indent, LineMode::Break, expanded);
}

void Printer::fill(const Command& command) {
  const ArrayRef<Doc> parts = command.doc->children();
  if (command.at == 0 && !parts.empty()) {
    push(command.indent, command.mode, command.doc, 1);
    return push(command.indent, command.mode, parts[0]);
  }
  if (command.at + 1 >= parts.size())
    return;
  const Doc line = parts[command.at], item = parts[command.at + 1];
  const bool flat = command.mode == LineMode::Flat ||
                    (!line->breaks && !item->breaks && !pendingNewline_ && fitsPair(line, item));
  push(command.indent, command.mode, command.doc, command.at + 2);
  push(command.indent, command.mode, item);
  push(command.indent, flat ? LineMode::Flat : LineMode::Break, line);
}

// ---- measuring --------------------------------------------------------------------------------

bool Printer::fitsPair(Doc line, Doc item) {
  // One column for what may follow.
  work_.assign({{item, 0, LineMode::Flat}, {line, 0, LineMode::Flat}});
  return measure(int(kColumns) - int(column_) - 1, 0);
}

/// Does the document, flat, and what follows it up to the next newline, fit on this line?
bool Printer::fits(const Command& command, Doc doc) {
  const bool isFresh = column_ == 0 || pendingNewline_;
  work_.assign(1, {doc, 0, LineMode::Flat});
  return measure(int(kColumns) - int(isFresh ? command.indent : column_), commands_.size());
}

/// Works off what is to come, then `rest` commands of the stack; true at a certain newline.
bool Printer::measure(int room, size_t rest) {
  while (room >= 0) {
    if (work_.empty()) {
      if (rest == 0)
        return true;
      const Command& next = commands_[--rest];
      work_.push_back({next.doc, next.at, next.mode});
      continue;
    }
    const auto [doc, at, mode] = work_.pop_back_val();
    switch (doc->kind) {
    case Node::Kind::Text: {
      const StringRef text = doc->text();
      const size_t end = text.find('\n');
      room -= int(widthOf(text.take_front(end)));
      if (end != StringRef::npos)
        return room >= 0;
      break;
    }
    case Node::Kind::Line:
      if (mode == LineMode::Break)
        return room >= int(doc->keepsComma);
      room -= int(doc->size);
      break;
    case Node::Kind::HardLine:
    case Node::Kind::OwnLine:
    case Node::Kind::Trailing:
      return true;
    case Node::Kind::Inline:
      room -= int(widthOf(doc->text())) + 1;
      break;
    case Node::Kind::Concat:
    case Node::Kind::Fill:
      // Child by child: a long list is not looked at beyond the line.
      if (at + 1 < doc->size)
        work_.push_back({doc, at + 1, mode});
      if (at < doc->size)
        work_.push_back({doc->several[at], 0, mode});
      break;
    case Node::Kind::Indent:
      work_.push_back({doc->child, 0, mode});
      break;
    case Node::Kind::Group:
      work_.push_back({doc->child, 0, doc->breaks ? LineMode::Break : mode});
      break;
    case Node::Kind::Choice:
      if (!doc->forced && !doc->several[0]->newline)
        work_.push_back({doc->several[0], 0, mode});
      else if (doc->several[1])
        work_.push_back({doc->several[1], 0, LineMode::Flat});
      else
        work_.push_back({doc->several[2], 0, LineMode::Break});
      break;
    }
  }
  return false;
}

} // namespace gos::format
