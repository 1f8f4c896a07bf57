#include "compiler/format/trivia.h"

namespace gos::format {

using llvm::StringRef;

Trivia::Trivia(StringRef text, uint32_t base, llvm::ArrayRef<lex::Token> tokens) {
  size_t at = 0;
  if (text.starts_with("#!") && !text.starts_with("#![")) {
    const size_t end = std::min(text.find('\n'), text.size());
    hashbang_ = text.take_front(end).rtrim();
    at = end;
  }
  gaps_.reserve(tokens.size() + 1);
  for (const lex::Token& token : tokens) {
    const size_t begin = token.begin - base;
    scan(text.slice(at, begin), gaps_.empty());
    at = token.end - base;
    if (token.kind == lex::TokenKind::EndOfFile)
      break;
  }
  gaps_.push_back(uint32_t(comments_.size() * 2));
}

/// Cuts the text between two tokens into comments.
void Trivia::scan(StringRef between, bool isFirst) {
  const size_t first = comments_.size();
  unsigned newlines = 0; // since the last comment or the token before
  bool lineIsFresh = isFirst;
  while (!between.empty()) {
    if (between.front() == '\n') {
      ++newlines;
      if (comments_.size() != first)
        comments_.back().newlineAfter = true;
      between = between.drop_front();
      continue;
    }
    if (between.front() != '/') {
      between = between.drop_front();
      continue;
    }
    Comment comment;
    size_t end = between.find('\n');
    if (between.starts_with("/*")) {
      end = between.find("*/", 2);
      end = end == StringRef::npos ? between.size() : end + 2;
    }
    comment.text = between.take_front(end).rtrim();
    comment.ownLine = lineIsFresh || newlines != 0;
    comment.blankBefore = newlines > 1;
    between = between.drop_front(std::min(end, between.size()));
    comments_.push_back(comment);
    newlines = 0;
    lineIsFresh = false;
  }
  gaps_.push_back(uint32_t(first * 2 + (newlines > 1)));
}

} // namespace gos::format
