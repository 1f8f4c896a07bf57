#include "compiler/format/layout.h"

namespace gos::format {

Layout::Layout(const SourceFile& file, lex::TokenBuffer tokens, DocBuilder& docs)
    : docs_(docs), text_(file.content()), base_(file.base), tokens_(std::move(tokens)),
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
  if (gapDone_ == at_ || trivia_.gap(at_).commentCount == 0)
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
    parts.push_back(docs_.hardLine(trivia_.gap(at_).blank && (mayBeBlank || !isFirst)));
}

void Layout::softLineTo(Parts& parts, llvm::StringRef flat, bool mayBeBlank,
                        llvm::StringRef before) {
  if (gapBreaks()) {
    if (!before.empty())
      parts.push_back(text(before));
    return lineTo(parts, mayBeBlank);
  }
  parts.push_back(docs_.line(flat, mayBeBlank && trivia_.gap(at_).blank, before));
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
  Piece result;
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
    Piece piece;
    Parts lineBefore; // of the broken list
    bool beginsRow = false;
    Doc afterwards = nullptr; // comments in front of its comma
  };
  llvm::SmallVector<Element, 8> elements;
  bool hasLastComma = false;
  bool allSimple = true;
  while (!at(close) && !atEnd() && !failed_) {
    Element& added = elements.emplace_back();
    added.beginsRow = now().newlineBefore;
    const bool isFirst = elements.size() == 1;
    const bool keepsComma = style == ListStyle::Tuple || !isListBreak(at_);
    if (gapBreaks())
      forced = true;
    softLineTo(added.lineBefore, isFirst ? pad : ", ", !isFirst, !isFirst && keepsComma ? "," : "");
    const size_t before = at_;
    added.piece = element();
    if (at_ == before)
      fail();
    allSimple &= added.piece.isSimple;
    hasLastComma = at(TokenKind::Comma);
    if (hasLastComma) {
      forced |= gapBreaks();
      added.afterwards = gap();
      ++at_;
    } else if (!at(close) && !now().newlineBefore) {
      fail(); // no separator: this is not the list that it was taken for
    }
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
    Element& each = elements[i];
    const bool startsLine = !asRows || i == 0 || (isWrittenInLines && each.beginsRow) ||
                            each.lineBefore.size() > 1 ||
                            (style == ListStyle::Template && i == 1 && !isWrittenInLines);
    if (startsLine) {
      if (!row.empty())
        inner.push_back(docs_.fill(row));
      row.clear();
      if (asRows && i != 0 && each.lineBefore.size() == 1 && isWrittenInLines) {
        const Doc line = each.lineBefore[0];
        if (!line->before.empty())
          inner.push_back(text(line->before));
        inner.push_back(docs_.hardLine(line->blank));
      } else {
        inner.append(each.lineBefore.begin(), each.lineBefore.end());
      }
    } else {
      row.push_back(each.lineBefore[0]);
    }
    Doc item = each.afterwards ? docs_.concat({each.piece.doc, each.afterwards}) : each.piece.doc;
    if (isSingleTuple)
      item = docs_.concat({item, text(",")});
    if (asRows)
      row.push_back(item);
    else
      inner.push_back(item);
  }
  if (!row.empty())
    inner.push_back(docs_.fill(row));
  inner.append(lastLine.begin(), lastLine.end());
  const Doc closer = take(close);
  // Parentheses around one expression cling to it.
  if (style == ListStyle::Tuple && elements.size() == 1 && !hasLastComma && !isWrittenInLines &&
      lastLine.empty() && elements[0].lineBefore.size() == 1 && !elements[0].afterwards) {
    // What breaks in them breaks nothing around them.
    const Doc only = elements[0].piece.doc;
    result.doc = docs_.concat({open, only->breaks ? docs_.choice(only, only, only) : only, closer});
    return result;
  }
  Parts whole{docs_.indent(docs_.concat(inner))};
  whole.append(closing.begin(), closing.end());
  whole.push_back(closer);
  const Doc body = docs_.concat(whole);

  // The same, with the last element hugged.
  Doc hugging = nullptr;
  Piece* last = elements.empty() ? nullptr : &elements.back().piece;
  const bool isAlone = elements.size() == 1;
  const bool hugsMore = (style == ListStyle::Lines || style == ListStyle::Template) &&
                        padding == Padding::None && last && !last->isCall;
  if (!forced && style != ListStyle::Tuple && last && last->body && (isAlone || hugsMore)) {
    Parts parts{text(pad)};
    bool breaksEarly = false;
    for (size_t i = 0; i + 1 < elements.size(); ++i) {
      if (i != 0)
        parts.push_back(text(", "));
      parts.push_back(elements[i].piece.doc);
      if (elements[i].afterwards)
        parts.push_back(elements[i].afterwards);
      breaksEarly |= elements[i].piece.doc->newline;
    }
    if (elements.size() > 1)
      parts.push_back(text(", "));
    breaksEarly |= last->front && last->front->newline;
    if (last->front)
      parts.push_back(last->front);
    parts.push_back(docs_.broken(last->body));
    if (elements.back().afterwards)
      parts.push_back(elements.back().afterwards);
    parts.push_back(text(pad));
    parts.push_back(closer);
    if (!breaksEarly)
      hugging = docs_.concat(parts);
  }
  result.body =
      hugging ? docs_.choice(body, hugging, body) : docs_.group(body, forced || body->newline);
  result.front = open;
  result.doc = docs_.concat({open, result.body});
  return result;
}

// ---- the file ---------------------------------------------------------------------------------

Doc Layout::file() {
  Parts parts;
  if (!trivia_.hashbang().empty()) {
    parts.push_back(text(trivia_.hashbang()));
    parts.push_back(docs_.hardLine());
  }
  parts.push_back(fileStatements());
  if (!atEnd())
    fail();
  return docs_.concat(parts);
}

} // namespace gos::format
