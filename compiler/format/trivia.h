#pragma once
// What stands between the tokens: comments, and whether a line was left empty.

#include "compiler/lex/lexer.h"
#include "diagnostics/source_map.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <vector>

namespace gos::format {

struct Comment {
  llvm::StringRef text;      // with its marks, without space or a carriage return at its end
  bool ownLine = false;      // begins its line
  bool newlineAfter = false; // ends its line
  bool blankBefore = false;  // an empty line stands before it
};

/// What stands in front of a token.
struct Gap {
  uint32_t firstComment = 0;
  uint32_t commentCount = 0;
  bool blank = false; // an empty line directly before the token
};

/// The gaps of a file: one a token, the last one before the end of the file.
class Trivia {
public:
  Trivia(llvm::StringRef text, uint32_t base, llvm::ArrayRef<lex::Token> tokens);

  const Gap& gap(size_t token) const { return gaps_[token]; }
  llvm::ArrayRef<Comment> comments(size_t token) const {
    return llvm::ArrayRef(comments_).slice(gaps_[token].firstComment, gaps_[token].commentCount);
  }
  llvm::ArrayRef<Comment> all() const { return comments_; }
  /// The first line when it is `#!`, without its newline.
  llvm::StringRef hashbang() const { return hashbang_; }

private:
  void scan(llvm::StringRef between, bool isFirst);

  std::vector<Gap> gaps_;
  std::vector<Comment> comments_;
  llvm::StringRef hashbang_;
};

} // namespace gos::format
