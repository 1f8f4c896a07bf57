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

/// What stands in front of each token of a file; the last one is its end.
class Trivia {
public:
  Trivia(llvm::StringRef text, uint32_t base, llvm::ArrayRef<lex::Token> tokens);

  /// An empty line directly before the token.
  bool isBlankBefore(size_t token) const { return gaps_[token] % 2 != 0; }
  bool hasComments(size_t token) const { return gaps_[token] / 2 != gaps_[token + 1] / 2; }
  llvm::ArrayRef<Comment> comments(size_t token) const {
    const uint32_t first = gaps_[token] / 2;
    return llvm::ArrayRef(comments_).slice(first, gaps_[token + 1] / 2 - first);
  }
  llvm::ArrayRef<Comment> all() const { return comments_; }
  /// The first line when it is `#!`, without its newline.
  llvm::StringRef hashbang() const { return hashbang_; }

private:
  void scan(llvm::StringRef between, bool isFirst);

  std::vector<uint32_t> gaps_; // twice the number of the first comment, and one for an empty line
  std::vector<Comment> comments_;
  llvm::StringRef hashbang_;
};

} // namespace gos::format
