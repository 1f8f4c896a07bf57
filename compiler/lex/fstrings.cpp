// Where the placeholders of an interpolated string are (language.md section 2.9).

#include "compiler/lex/characters.h"
#include "compiler/lex/strings.h"

#include "llvm/ADT/ScopeExit.h"

#include <algorithm>
#include <cstring>

namespace gos::lex {

namespace {

using llvm::StringRef;

/// Steps over interpolated strings, and notes their placeholders where somebody wants them.
class FStringScanner {
public:
  FStringScanner(const char* end, int64_t& budget, llvm::SmallVectorImpl<FStringPart>* parts,
                 const SourceFile* file)
      : end_(end), budget_(budget), parts_(parts), file_(file) {}

  /// Scans from behind the opening quotes to behind the closing ones; null when they are missing.
  const char* scan(const char* at, bool isTriple, unsigned depth) {
    const char* textBegin = at;
    bool isBroken = false; // a placeholder was not closed: later braces are text
    while (at < end_) {
      switch (*at) {
      case '\\':
        at += escapeLength(at, end_);
        continue;
      case '"':
        if (isTriple && !(end_ - at >= 3 && at[1] == '"' && at[2] == '"')) {
          ++at;
          continue;
        }
        if (parts_ && depth == 0)
          parts_->push_back(textPart(textBegin, at));
        return at + (isTriple ? 3 : 1);
      case '{': {
        if (at[1] == '{') {
          at += 2;
          continue;
        }
        if (isBroken) {
          ++at;
          continue;
        }
        FStringPart part;
        const char* behind = budget_ > 0 ? scanPlaceholder(at, isTriple, depth, part) : nullptr;
        isBroken = behind == nullptr;
        // A broken placeholder breaks the literals around it: to try each of them again as text
        // would take time without bound.
        if (isBroken && depth != 0)
          return nullptr;
        if (parts_ && depth == 0) {
          part.hasPlaceholder = true;
          part.isClosed = !isBroken;
          part.text = spanOf(textBegin, at);
          part.braces = spanOf(at, isBroken ? at + 1 : behind);
          parts_->push_back(part);
        }
        at = textBegin = isBroken ? at + 1 : behind;
        continue;
      }
      case '}':
        at += at[1] == '}' ? 2 : 1;
        continue;
      default:
        ++at;
      }
    }
    return nullptr;
  }

private:
  static constexpr unsigned kMaxDepth = 32;

  Span spanOf(const char* begin, const char* end) const {
    if (!file_)
      return {};
    const char* start = file_->content().begin();
    return {file_->base + uint32_t(begin - start), file_->base + uint32_t(end - start)};
  }
  FStringPart textPart(const char* begin, const char* end) const {
    FStringPart part;
    part.text = spanOf(begin, end);
    return part;
  }

  /// `at` is the opening brace; answers the place behind the closing one, or null.
  const char* scanPlaceholder(const char* brace, bool isTriple, unsigned depth, FStringPart& part) {
    const char* reached = brace;
    const char* behind = depth > kMaxDepth
                             ? nullptr
                             : scanPlaceholderInside(brace + 1, isTriple, depth, part, reached);
    if (!behind)
      budget_ -= reached - brace + 1;
    return behind;
  }

  const char* scanPlaceholderInside(const char* at, bool isTriple, unsigned depth,
                                    FStringPart& part, const char*& reached) {
    const char* begin = at;
    auto note = llvm::make_scope_exit([&] { reached = std::max(reached, at); });
    unsigned nesting = 0;
    while (at < end_) {
      const char c = *at;
      if (isClass(c, kIdentStart)) {
        const char* word = at;
        at = skipIdentContinue(at, end_);
        const char* behind = skipPrefixed(StringRef(word, size_t(at - word)), at, isTriple, depth);
        if (!behind)
          return nullptr;
        at = behind;
        continue;
      }
      switch (c) {
      case '\n':
        if (!isTriple)
          return nullptr;
        ++at;
        continue;
      case '(':
      case '[':
      case '{':
        ++nesting;
        ++at;
        continue;
      case ')':
      case ']':
        nesting -= nesting != 0;
        ++at;
        continue;
      case '}':
        if (nesting == 0) {
          part.expr = spanOf(begin, at);
          return at + 1;
        }
        --nesting;
        ++at;
        continue;
      case '"': {
        const char* behind = skipNestedString(at, isTriple);
        if (!behind)
          return nullptr;
        at = behind;
        continue;
      }
      case '\\': { // no code, but meant as a string: the lexer reports it
        const char* behind = skipEscapedQuotes(at, lineLimit(at, isTriple));
        at = behind ? behind : at + 1;
        continue;
      }
      case '\'':
        at = skipCharacter(at);
        continue;
      case '/':
        if (isTriple && at[1] == '/')
          while (at < end_ && *at != '\n')
            ++at;
        else
          ++at;
        continue;
      case ':':
        if (at[1] == ':') {
          at += 2;
          continue;
        }
        if (nesting == 0) {
          part.expr = spanOf(begin, at);
          part.hasSpec = true;
          return scanSpec(at + 1, part);
        }
        ++at;
        continue;
      default:
        ++at;
      }
    }
    return nullptr;
  }

  const char* scanSpec(const char* at, FStringPart& part) {
    const char* begin = at;
    if (at != end_ && *at == '"' && (at[1] == '<' || at[1] == '^' || at[1] == '>'))
      ++at; // a quote as the fill
    unsigned nesting = 0;
    for (; at < end_ && *at != '\n' && *at != '"'; ++at) {
      if (*at == '{')
        ++nesting;
      if (*at != '}')
        continue;
      if (nesting == 0) {
        part.spec = spanOf(begin, at);
        return at + 1;
      }
      --nesting;
    }
    return nullptr;
  }

  /// `at` stands behind `word`: steps over the literal that the word is the prefix of, if any.
  const char* skipPrefixed(StringRef word, const char* at, bool isTriple, unsigned depth) {
    if (at >= end_ || (*at != '"' && *at != '#'))
      return at;
    if (word == "r" || word == "br") {
      const char* limit = lineLimit(at, isTriple);
      bool isRawString = false;
      const char* behind = skipRawString(at, limit, isRawString);
      if (isRawString && !behind)
        budget_ -= limit - at;
      return isRawString ? behind : at;
    }
    if (word == "f" && *at == '"') {
      const bool inner = end_ - at >= 3 && at[1] == '"' && at[2] == '"';
      const char* outerEnd = end_;
      end_ = lineLimit(at, isTriple);
      const char* behind = scan(at + (inner ? 3 : 1), inner, depth + 1);
      if (!behind)
        budget_ -= end_ - at;
      end_ = outerEnd;
      return behind;
    }
    return at;
  }

  const char* skipNestedString(const char* at, bool isTriple) {
    const char* limit = lineLimit(at, isTriple);
    const bool inner = limit - at >= 3 && at[1] == '"' && at[2] == '"';
    const char* behind = inner ? skipTripleString(at + 3, limit) : skipString(at + 1, limit);
    if (!behind)
      budget_ -= limit - at;
    return behind;
  }

  /// A placeholder of a single-line literal ends on its line.
  const char* lineLimit(const char* at, bool isTriple) {
    if (isTriple)
      return end_;
    if (at < lineFrom_ || at > lineEnd_) {
      const void* newline = std::memchr(at, '\n', size_t(end_ - at));
      lineEnd_ = newline ? static_cast<const char*>(newline) : end_;
      lineFrom_ = at;
    }
    return std::min(lineEnd_, end_);
  }

  /// Steps over a character literal, or over the quote of a label.
  const char* skipCharacter(const char* at) const {
    const char* inside = at + 1;
    if (inside == end_)
      return inside;
    if (*inside == '\\') {
      const char* behind = inside + escapeLength(inside, end_);
      return behind != end_ && *behind == '\'' ? behind + 1 : inside;
    }
    const Scalar scalar = decodeScalar(inside, end_);
    const char* behind = inside + scalar.length;
    return scalar.length != 0 && behind != end_ && *behind == '\'' ? behind + 1 : inside;
  }

  const char* end_;
  const char* lineFrom_ = nullptr; // the line that was measured last
  const char* lineEnd_ = nullptr;
  int64_t& budget_;
  llvm::SmallVectorImpl<FStringPart>* parts_;
  const SourceFile* file_;
};

} // namespace

const char* skipEscapedQuotes(const char* at, const char* end) {
  if (end - at < 4 || at[0] != '\\' || at[1] != '"')
    return nullptr;
  for (at += 2; end - at >= 2 && *at != '\n' && *at != '"'; ++at)
    if (at[0] == '\\' && at[1] == '"')
      return at + 2;
  return nullptr;
}

const char* skipFString(const char* afterQuotes, const char* end, bool isTriple, int64_t& budget) {
  return FStringScanner(end, budget, nullptr, nullptr).scan(afterQuotes, isTriple, 0);
}

StringBody cutFString(const SourceFile& file, const Token& token,
                      llvm::SmallVectorImpl<FStringPart>& parts, Engine& engine) {
  const bool isTriple = token.kind == TokenKind::TripleFString;
  const char* start = file.content().begin();
  int64_t budget = kFStringBudget;
  FStringScanner scanner(start + (token.end - file.base), budget, &parts, &file);
  scanner.scan(start + (token.begin - file.base) + (isTriple ? 4 : 2), isTriple, 0);
  const StringBody body = bodyOf(file, token, engine, parts);
  // The first and last line of a dedented body are not part of its text.
  for (FStringPart& part : parts) {
    part.text.begin = std::clamp(part.text.begin, body.begin, body.end);
    part.text.end = std::clamp(part.text.end, part.text.begin, body.end);
  }
  return body;
}

} // namespace gos::lex
