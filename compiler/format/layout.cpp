#include "compiler/format/layout.h"

namespace gos::format {

Layout::Layout(const SourceFile& file, lex::TokenBuffer tokens)
    : text_(file.content()), base_(file.base), tokens_(std::move(tokens)),
      trivia_(text_, base_, tokens_), closers_(tokens_.size(), 0) {
  llvm::SmallVector<size_t, 64> open;
  for (size_t i = 0; i < tokens_.size(); ++i) {
    switch (tokens_[i].kind) {
    case TokenKind::LeftParen:
    case TokenKind::LeftBracket:
    case TokenKind::LeftBrace:
      open.push_back(i);
      break;
    case TokenKind::RightParen:
    case TokenKind::RightBracket:
    case TokenKind::RightBrace:
      if (!open.empty())
        closers_[open.pop_back_val()] = uint32_t(i);
      break;
    default:
      break;
    }
  }
}

size_t Layout::matching(size_t open) const {
  return closers_[open] != 0 ? closers_[open] : tokens_.size() - 1;
}

Doc Layout::fail() {
  failed_ = true;
  if (!atEnd()) // so that every loop over tokens ends
    ++at_;
  return docs_.text("");
}

Doc Layout::take() {
  if (atEnd())
    return fail();
  Doc before = gap();
  Doc word = docs_.text(textOf(now()));
  ++at_;
  return before ? docs_.concat({before, word}) : word;
}

Doc Layout::take(TokenKind wanted) {
  return at(wanted) ? take() : fail();
}

Doc Layout::takeThenSpace() {
  Doc word = take();
  return docs_.concat({word, text(" ")});
}

// ---- comments ---------------------------------------------------------------------------------

Doc Layout::gap() {
  if (gapDone_ == at_ || !trivia_.hasComments(at_))
    return nullptr;
  gapDone_ = at_;
  Parts parts;
  for (const Comment& comment : trivia_.comments(at_)) {
    if (comment.ownLine)
      parts.push_back(docs_.ownLine(comment.text, comment.blankBefore));
    else if (comment.newlineAfter)
      parts.push_back(docs_.trailing(comment.text));
    else
      parts.push_back(docs_.inlined(comment.text));
  }
  return docs_.concat(parts);
}

/// Does a comment of the gap end a line?
bool Layout::gapBreaks() const {
  if (gapDone_ == at_)
    return false;
  for (const Comment& comment : trivia_.comments(at_))
    if (comment.ownLine || comment.newlineAfter)
      return true;
  return false;
}

Doc Layout::trailingComments() {
  if (gapDone_ == at_)
    return nullptr;
  const llvm::ArrayRef<Comment> comments = trivia_.comments(at_);
  size_t count = 0;
  while (count < comments.size() && !comments[count].ownLine)
    if (comments[count++].newlineAfter)
      break;
  if (count == 0 || !comments[count - 1].newlineAfter)
    return nullptr; // they belong to what follows on the line
  Parts parts;
  for (const Comment& comment : comments.take_front(count))
    parts.push_back(comment.newlineAfter ? docs_.trailing(comment.text)
                                         : docs_.inlined(comment.text));
  return docs_.concat(parts);
}

void Layout::lineTo(Parts& parts, bool mayBeBlank) {
  if (gapDone_ == at_) {
    parts.push_back(docs_.hardLine());
    return;
  }
  llvm::ArrayRef<Comment> comments = trivia_.comments(at_);
  if (Doc trailing = trailingComments()) {
    parts.push_back(trailing);
    while (!comments.front().newlineAfter)
      comments = comments.drop_front();
    comments = comments.drop_front();
  }
  gapDone_ = at_;
  bool isFirst = true;
  bool continues = false; // the next thing stands on the line of a comment
  for (const Comment& comment : comments) {
    if (!continues)
      parts.push_back(docs_.hardLine(comment.blankBefore && (mayBeBlank || !isFirst)));
    if (comment.newlineAfter)
      parts.push_back(docs_.ownLine(comment.text, false));
    else
      parts.push_back(docs_.inlined(comment.text));
    continues = !comment.newlineAfter;
    isFirst = false;
  }
  if (!continues)
    parts.push_back(docs_.hardLine(trivia_.isBlankBefore(at_) && (mayBeBlank || !isFirst)));
}

void Layout::softLineTo(Parts& parts, llvm::StringRef flat, bool mayBeBlank, bool keepsComma) {
  if (gapBreaks()) {
    if (keepsComma)
      parts.push_back(text(","));
    return lineTo(parts, mayBeBlank);
  }
  parts.push_back(docs_.line(flat, mayBeBlank && trivia_.isBlankBefore(at_), keepsComma));
}

bool Layout::skipComma(Parts& parts) {
  if (!at(TokenKind::Comma))
    return false;
  if (Doc comments = gap())
    parts.push_back(comments);
  ++at_;
  return true;
}

void Layout::behindAmpersand(Parts& parts) {
  if (at(TokenKind::Amp) || at(TokenKind::AmpAmp))
    parts.push_back(text(" "));
  if (at(TokenKind::Mut))
    parts.push_back(takeThenSpace());
}

void Layout::alias(Parts& parts) {
  if (!at(TokenKind::As))
    return;
  spaced(parts);
  parts.push_back(take());
}

void Layout::typeAnnotation(Parts& parts) {
  if (!at(TokenKind::Colon))
    return;
  parts.push_back(takeThenSpace());
  parts.push_back(type());
}

// ---- lists ------------------------------------------------------------------------------------

/// May a list go on behind a newline alone with this token? Not when the element before would take
/// it for its own.
bool Layout::isListBreak(size_t token) const {
  switch (tokens_[token].kind) {
  case TokenKind::PipePipe:
  case TokenKind::DotDot:
  case TokenKind::DotDotEqual:
  case TokenKind::Less:
  case TokenKind::AmpAmp:
    return false;
  default:
    return true;
  }
}

Piece Layout::list(TokenKind close, ListStyle style, Padding padding,
                   llvm::function_ref<Piece()> element, Mode mode) {
  Piece result = plain(text(""));
  const Doc open = take();
  ModeScope scope(*this, mode);
  if (at(close) && !gapBreaks()) {
    result.doc = docs_.concat({open, take()});
    result.front = open;
    return result;
  }
  const llvm::StringRef pad = padding == Padding::Space ? " " : "";
  bool forced = now().newlineBefore && !at(close);
  const bool isWrittenInLines = forced;

  struct Element {
    Doc doc;  // with the comments in front of its comma
    Doc line; // in front of it, in the broken list
    bool beginsRow;
    bool isCommented; // the line holds comments
  };
  llvm::SmallVector<Element, 8> elements;
  Piece last;               // the piece of the last element
  Doc afterwards = nullptr; // comments in front of its comma
  bool hasLastComma = false;
  bool allSimple = true;
  while (!at(close) && !atEnd() && !failed_) {
    const bool beginsRow = now().newlineBefore;
    const bool isFirst = elements.empty();
    const bool keepsComma = style == ListStyle::Tuple || !isListBreak(at_);
    if (gapBreaks())
      forced = true;
    Parts line;
    softLineTo(line, isFirst ? pad : ", ", !isFirst, !isFirst && keepsComma);
    const size_t before = at_;
    last = element();
    if (at_ == before)
      fail();
    allSimple &= last.isSimple;
    hasLastComma = at(TokenKind::Comma);
    afterwards = nullptr;
    if (hasLastComma) {
      forced |= gapBreaks();
      afterwards = gap();
      ++at_;
    } else if (!at(close) && !now().newlineBefore) {
      fail(); // no separator: this is not the list that it was taken for
    }
    elements.push_back({afterwards ? docs_.concat({last.doc, afterwards}) : last.doc,
                        docs_.concat(line), beginsRow, line.size() > 1});
  }
  if (failed_)
    return result;

  forced |= gapBreaks();
  Parts lastLine;
  Parts closing;
  if (gapBreaks()) {
    lineTo(lastLine, !elements.empty());
    if (lastLine.back()->kind == Node::Kind::HardLine) {
      lastLine.pop_back(); // the newline before the closer stands outside of the indent
      closing.push_back(docs_.hardLine());
    }
  } else {
    closing.push_back(docs_.line(pad));
  }
  const bool isSingleTuple = style == ListStyle::Tuple && elements.size() == 1 && hasLastComma;

  // The list with its breaks.
  Parts inner;
  const bool asRows = (style == ListStyle::Rows && elements.size() > 1 &&
                       (isWrittenInLines || (allSimple && !forced))) ||
                      (style == ListStyle::Template && elements.size() > 2);

  Parts row; // items and lines in turn
  for (size_t i = 0; i < elements.size(); ++i) {
    const Element& each = elements[i];
    const bool startsLine = !asRows || i == 0 || (isWrittenInLines && each.beginsRow) ||
                            each.isCommented ||
                            (style == ListStyle::Template && i == 1 && !isWrittenInLines);
    if (startsLine) {
      if (!row.empty())
        inner.push_back(docs_.fill(row));
      row.clear();
      if (asRows && i != 0 && !each.isCommented && isWrittenInLines) {
        if (each.line->keepsComma)
          inner.push_back(text(","));
        inner.push_back(docs_.hardLine(each.line->blank));
      } else {
        inner.push_back(each.line);
      }
    } else {
      row.push_back(each.line);
    }
    const Doc item = isSingleTuple ? docs_.concat({each.doc, text(",")}) : each.doc;
    (asRows ? row : inner).push_back(item);
  }
  if (!row.empty())
    inner.push_back(docs_.fill(row));
  inner.append(lastLine.begin(), lastLine.end());
  const Doc closer = take(close);
  // Parentheses around one expression cling to it.
  if (style == ListStyle::Tuple && elements.size() == 1 && !hasLastComma && !isWrittenInLines &&
      lastLine.empty() && !elements[0].isCommented && !afterwards) {
    // What breaks in them breaks nothing around them.
    const Doc only = elements[0].doc;
    result.doc = docs_.concat({open, only->breaks ? docs_.choice(only, only, only) : only, closer});
    return result;
  }
  Parts whole{docs_.indent(docs_.concat(inner))};
  whole.append(closing.begin(), closing.end());
  whole.push_back(closer);
  const Doc body = docs_.concat(whole);

  // The same, with the last element hugged.
  Doc hugging = nullptr;
  const bool isAlone = elements.size() == 1;
  const bool hugsMore = (style == ListStyle::Lines || style == ListStyle::Template) &&
                        padding == Padding::None && !last.isCall;
  if (!forced && style != ListStyle::Tuple && last.body && (isAlone || hugsMore)) {
    Parts parts{text(pad)};
    bool breaksEarly = last.front && last.front->newline;
    for (const Element& each : llvm::ArrayRef(elements).drop_back()) {
      parts.push_back(each.doc);
      parts.push_back(text(", "));
      breaksEarly |= each.doc->newline;
    }
    if (!breaksEarly) {
      if (last.front)
        parts.push_back(last.front);
      parts.push_back(docs_.broken(last.body));
      if (afterwards)
        parts.push_back(afterwards);
      parts.push_back(text(pad));
      parts.push_back(closer);
      hugging = docs_.concat(parts);
    }
  }
  result.body =
      hugging ? docs_.choice(body, hugging, body) : docs_.group(body, forced || body->newline);
  result.front = open;
  result.doc = docs_.concat({open, result.body});
  return result;
}

// ---- the file ---------------------------------------------------------------------------------

void Layout::file(Printer& printer) {
  if (!trivia_.hashbang().empty()) {
    printer.print(text(trivia_.hashbang()));
    printer.print(docs_.hardLine());
  }
  fileStatements(printer);
  if (!atEnd())
    fail();
}

} // namespace gos::format
