#include "compiler/lex/lexer.h"

#include "compiler/lex/characters.h"
#include "compiler/lex/huge_pages.h"
#include "compiler/lex/numbers.h"
#include "compiler/lex/strings.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace gos::lex {

namespace {

using llvm::StringRef;

// ---- keywords and words: an open hash table built by the compiler ------------------------------

struct Spelling {
  const char* text = nullptr;
  uint8_t length = 0;
  TokenKind kind = TokenKind::Identifier;
  Word word = Word::None;
};
constexpr Spelling kSpellings[] = {
#define GOS_KEYWORD(kind, spelling) {spelling, sizeof(spelling) - 1, TokenKind::kind, Word::None},
#define GOS_WORD(word, spelling)                                                                   \
  {spelling, sizeof(spelling) - 1, TokenKind::Identifier, Word::word},
#include "compiler/lex/token_kinds.def"
};
constexpr size_t kBuckets = 512;
constexpr uint32_t hashOf(const char* text, size_t length) {
  return (uint8_t(text[0]) * 7u + uint8_t(text[length - 1]) * 61u + uint8_t(text[length / 2]) * 3u +
          uint32_t(length) * 131u) %
         kBuckets;
}
constexpr std::array<uint8_t, kBuckets> kTable = [] {
  std::array<uint8_t, kBuckets> table{};
  for (size_t i = 0; i < std::size(kSpellings); ++i) {
    size_t at = hashOf(kSpellings[i].text, kSpellings[i].length);
    while (table[at] != 0)
      at = (at + 1) % kBuckets;
    table[at] = uint8_t(i + 1);
  }
  return table;
}();
constexpr size_t kLongestSpelling = 11; // macro_rules

class Lexer {
public:
  Lexer(const SourceFile& file, uint32_t begin, uint32_t end, Engine& engine)
      : file_(file), engine_(engine), start_(file.content().begin()), at_(start_ + begin),
        end_(start_ + end) {
    tokens_.reserve((end - begin) / 3 + 16); // address space; only what is written is memory
    preferHugePages(tokens_.data(), tokens_.capacity() * sizeof(Token));
  }

  TokenBuffer run(bool isWholeFile) {
    if (isWholeFile && end_ - at_ >= 2 && at_[0] == '#' && at_[1] == '!' &&
        !(end_ - at_ >= 3 && at_[2] == '['))
      skipLine();
    while (skipSpace())
      lexToken();
    Token last;
    last.begin = last.end = offset(end_);
    last.newlineBefore = true;
    for (unsigned i = 0; i < kEndPadding; ++i)
      tokens_.push_back(last);
    return std::move(tokens_);
  }

private:
  uint32_t offset(const char* place) const { return file_.base + uint32_t(place - start_); }
  char peek(ptrdiff_t ahead) const { return at_ + ahead < end_ ? at_[ahead] : '\0'; }

  void skipLine() {
    const void* newline = std::memchr(at_, '\n', size_t(end_ - at_));
    at_ = newline ? static_cast<const char*>(newline) : end_;
  }

  /// Steps over space and comments; false at the end.
  bool skipSpace() {
    newline_ = tokens_.empty();
    for (;;) {
      if (at_ == end_)
        return false;
      const char c = *at_;
      if (isClass(c, kSpace)) {
        ++at_;
      } else if (c == '\n') {
        newline_ = true;
        ++at_;
      } else if (c == '/' && peek(1) == '/') {
        skipLine();
      } else if (c == '/' && peek(1) == '*') {
        skipBlockComment();
      } else {
        return true;
      }
    }
  }

  void skipBlockComment() {
    const char* begin = at_;
    const StringRef rest(at_ + 2, size_t(end_ - at_ - 2));
    const size_t close = rest.find("*/");
    if (close == StringRef::npos) {
      engine_.report({offset(begin), offset(begin) + 2}, diag::MalformedToken,
                     "a block comment is never closed");
      at_ = end_;
    } else {
      at_ += close + 4;
    }
    newline_ |= std::memchr(begin, '\n', size_t(at_ - begin)) != nullptr;
  }

  void push(TokenKind kind, const char* behind, Word word = Word::None) {
    behind = std::min(behind, end_);
    Token token;
    token.begin = offset(at_);
    token.end = offset(behind);
    token.kind = kind;
    token.word = word;
    token.newlineBefore = newline_;
    token.touchesPrevious = !tokens_.empty() && tokens_.back().end == token.begin;
    tokens_.push_back(token);
    at_ = behind;
  }

  void pushError(const char* behind, const llvm::Twine& fault) {
    engine_.report({offset(at_), offset(behind)}, diag::MalformedToken, fault.str());
    push(TokenKind::Error, behind);
  }

  /// A literal that reaches the end of the text: the token ends with its line, so that what
  /// follows is still understood.
  void pushUnterminated(uint32_t openerLength, StringRef what) {
    engine_.report({offset(at_), offset(at_) + openerLength}, diag::MalformedToken,
                   (what + " is never closed").str());
    const void* newline = std::memchr(at_, '\n', size_t(end_ - at_));
    push(TokenKind::Error, newline ? static_cast<const char*>(newline) : end_);
  }

  /// `\"text\"`, most likely in a placeholder, where quotes need no backslash.
  void pushEscapedQuotes(const char* behind) {
    engine_
        .report({offset(at_), offset(behind)}, diag::MalformedToken,
                "escaped quotes outside of a string")
        .suggest({offset(at_), offset(behind)}, "\"" + std::string(at_ + 2, behind - 2) + "\"",
                 "write them without `\\`; in a placeholder too");
    push(TokenKind::Error, behind);
  }

  void lexToken() {
    const char c = *at_;
    if (isClass(c, kIdentStart))
      return lexWord();
    if (isClass(c, kDigit))
      return lexNumber();
    switch (c) {
    case '"':
      if (peek(1) == '"' && peek(2) == '"')
        return lexString(TokenKind::TripleString, 3);
      return lexString(TokenKind::String, 1);
    case '\'':
      return lexQuote(1);
    default:
      if (uint8_t(c) >= 0x80)
        return lexNonAscii();
      lexPunctuation();
    }
  }

  void lexWord() {
    const char c = *at_;
    // Literal prefixes first: r" r#" b" b' br" f" f""".
    switch (c) {
    case 'r':
      if ((peek(1) == '"' || peek(1) == '#') && lexRaw(1, TokenKind::RawString))
        return;
      break;
    case 'b':
      if (peek(1) == '"')
        return lexString(TokenKind::ByteString, 2);
      if (peek(1) == '\'')
        return lexQuote(2);
      if (peek(1) == 'r' && (peek(2) == '"' || peek(2) == '#') &&
          lexRaw(2, TokenKind::RawByteString))
        return;
      break;
    case 'f':
      if (peek(1) == '"') {
        if (peek(2) == '"' && peek(3) == '"')
          return lexString(TokenKind::TripleFString, 4);
        return lexString(TokenKind::FString, 2);
      }
      break;
    default:
      break;
    }
    const char* behind = at_ + 1;
    while (behind != end_ && isClass(*behind, kIdentContinue))
      ++behind;
    if (behind != end_ && uint8_t(*behind) >= 0x80)
      behind = skipIdentContinue(behind, end_);
    const size_t length = size_t(behind - at_);
    if (length <= kLongestSpelling) {
      for (size_t bucket = hashOf(at_, length); kTable[bucket] != 0;
           bucket = (bucket + 1) % kBuckets) {
        const Spelling& spelling = kSpellings[kTable[bucket] - 1];
        if (spelling.length == length && std::memcmp(spelling.text, at_, length) == 0)
          return push(spelling.kind, behind, spelling.word);
      }
    }
    push(TokenKind::Identifier, behind);
  }

  void lexNonAscii() {
    const Scalar scalar = decodeScalar(at_, end_);
    if (scalar.length != 0 && isXidStart(scalar.value))
      return push(TokenKind::Identifier, skipIdentContinue(at_ + scalar.length, end_));
    // One report for a run of characters that have no place in a program.
    const char* behind = at_;
    while (behind != end_ && uint8_t(*behind) >= 0x80) {
      const Scalar next = decodeScalar(behind, end_);
      if (next.length != 0 && isXidStart(next.value))
        break;
      behind += std::max(1u, next.length);
    }
    if (scalar.length == 0)
      return pushError(behind, "bytes that are not UTF-8");
    pushError(behind,
              "character U+" + llvm::utohexstr(scalar.value, false, 4) + " has no meaning here");
  }

  void lexNumber() {
    const NumberShape shape = scanNumber(at_, end_);
    const char* behind = std::min(shape.end, end_);
    if (shape.fault)
      return pushError(behind, shape.fault);
    push(shape.isFloat ? TokenKind::Float : TokenKind::Int, behind);
  }

  void lexString(TokenKind kind, uint32_t openerLength) {
    const char* inside = at_ + openerLength;
    const char* behind = nullptr;
    switch (kind) {
    case TokenKind::TripleString:
      behind = skipTripleString(inside, end_);
      break;
    case TokenKind::FString:
      behind = skipFString(inside, end_, false, fStringBudget_);
      break;
    case TokenKind::TripleFString:
      behind = skipFString(inside, end_, true, fStringBudget_);
      break;
    default:
      behind = skipString(inside, end_);
    }
    if (!behind || behind > end_) {
      if (!kindHasThreeQuotes(kind) && goBackToSuspect())
        openerLength = *at_ == 'f' ? 2 : 1;
      return pushUnterminated(openerLength, "a string");
    }
    if (!kindHasThreeQuotes(kind) && suspects_.size() < kMaxSuspects &&
        std::memchr(inside, '\n', size_t(behind - inside)))
      suspects_.push_back({tokens_.size(), engine_.mark()});
    push(kind, behind);
  }

  static bool kindHasThreeQuotes(TokenKind kind) {
    return kind == TokenKind::TripleString || kind == TokenKind::TripleFString;
  }

  /// At a string that is never closed: was it another one that lost its quote? Since then text and
  /// code have changed places, and the first string over several lines whose end touches a word is
  /// most likely the one. Goes back to it.
  bool goBackToSuspect() {
    if (returns_ == kMaxReturns)
      return false;
    for (size_t i = 0; i < suspects_.size(); ++i) {
      const Suspect suspect = suspects_[i];
      if (suspect.token + 1 >= tokens_.size())
        return false;
      const Token& next = tokens_[suspect.token + 1];
      const bool touchesWord =
          next.touchesPrevious && (next.kind == TokenKind::Identifier ||
                                   next.kind == TokenKind::Int || next.kind == TokenKind::Float ||
                                   next.kind == TokenKind::LeftBrace || isKeyword(next.kind));
      if (!touchesWord)
        continue;
      ++returns_;
      engine_.rollBack(suspect.mark);
      at_ = start_ + (tokens_[suspect.token].begin - file_.base);
      newline_ = tokens_[suspect.token].newlineBefore;
      tokens_.resize(suspect.token);
      suspects_.resize(i);
      return true;
    }
    return false;
  }

  /// False when no raw string begins here after all (`r#x`).
  bool lexRaw(uint32_t prefixLength, TokenKind kind) {
    bool isRawString = false;
    const char* behind = skipRawString(at_ + prefixLength, end_, isRawString);
    if (!isRawString)
      return false;
    if (behind)
      push(kind, behind);
    else
      pushUnterminated(prefixLength + 1, "a raw string");
    return true;
  }

  /// A label, a character, or (with a prefix of two) a byte.
  void lexQuote(uint32_t openerLength) {
    const TokenKind kind = openerLength == 1 ? TokenKind::Char : TokenKind::Byte;
    const StringRef what = openerLength == 1 ? "a character literal" : "a byte literal";
    const char* inside = at_ + openerLength;
    if (inside == end_ || *inside == '\n')
      return pushError(inside, what + " is never closed");
    if (*inside == '\'') {
      // `'''` is most likely a quote that was not escaped.
      const bool isTripled = inside + 1 != end_ && inside[1] == '\'';
      return pushError(inside + (isTripled ? 2 : 1), what + " is empty");
    }
    if (*inside == '\\') {
      const char* behind = inside + escapeLength(inside, end_);
      if (behind < end_ && *behind == '\'')
        return push(kind, behind + 1);
      return closeBroken(inside + 1, what);
    }
    const Scalar scalar = decodeScalar(inside, end_);
    if (openerLength == 1 && scalar.length != 0 && isXidStart(scalar.value)) {
      const char* run = skipIdentContinue(inside, end_);
      if (run == end_ || *run != '\'')
        return push(TokenKind::Label, run);
      if (run == inside + scalar.length)
        return push(kind, run + 1);
      return pushError(run + 1, what + " holds more than one character");
    }
    const char* behind = inside + std::max(1u, scalar.length);
    if (scalar.length == 0)
      return closeBroken(inside, what);
    if (behind != end_ && *behind == '\'')
      return push(kind, behind + 1);
    closeBroken(behind, what);
  }

  /// The literal does not end where it should: looks for its quote a little further on the line.
  void closeBroken(const char* from, StringRef what) {
    constexpr ptrdiff_t kReach = 16;
    const char* limit = from + std::min<ptrdiff_t>(end_ - from, kReach);
    for (const char* place = from; place < limit && *place != '\n'; ++place)
      if (*place == '\'')
        return pushError(place + 1, what + " is not one character or escape");
    pushError(std::min(from, end_), what + " is never closed");
  }

  void punctuation(TokenKind kind, uint32_t length) { push(kind, at_ + length); }
  /// `c`, or `c=`.
  void orEqual(TokenKind plain, TokenKind withEqual) {
    return peek(1) == '=' ? punctuation(withEqual, 2) : punctuation(plain, 1);
  }
  /// `c`, `c=`, `c%`, or `c%=`.
  void arithmetic(TokenKind plain, TokenKind withEqual, TokenKind wrapping,
                  TokenKind wrappingEqual) {
    if (peek(1) == '%')
      return peek(2) == '=' ? punctuation(wrappingEqual, 3) : punctuation(wrapping, 2);
    orEqual(plain, withEqual);
  }

  void lexPunctuation() {
    switch (*at_) {
    case '(':
      return punctuation(TokenKind::LeftParen, 1);
    case ')':
      return punctuation(TokenKind::RightParen, 1);
    case '[':
      return punctuation(TokenKind::LeftBracket, 1);
    case ']':
      return punctuation(TokenKind::RightBracket, 1);
    case '{':
      return punctuation(TokenKind::LeftBrace, 1);
    case '}':
      return punctuation(TokenKind::RightBrace, 1);
    case ',':
      return punctuation(TokenKind::Comma, 1);
    case ';':
      return punctuation(TokenKind::Semicolon, 1);
    case '?':
      return punctuation(TokenKind::Question, 1);
    case '#':
      return punctuation(TokenKind::Hash, 1);
    case '@':
      return punctuation(TokenKind::At, 1);
    case '$':
      return punctuation(TokenKind::Dollar, 1);
    case ':':
      return peek(1) == ':' ? punctuation(TokenKind::ColonColon, 2)
                            : punctuation(TokenKind::Colon, 1);
    case '.':
      if (peek(1) != '.')
        return punctuation(TokenKind::Dot, 1);
      if (peek(2) == '=')
        return punctuation(TokenKind::DotDotEqual, 3);
      return peek(2) == '.' ? punctuation(TokenKind::Ellipsis, 3)
                            : punctuation(TokenKind::DotDot, 2);
    case '+':
      return arithmetic(TokenKind::Plus, TokenKind::PlusEqual, TokenKind::PlusPercent,
                        TokenKind::PlusPercentEqual);
    case '-':
      if (peek(1) == '>')
        return punctuation(TokenKind::Arrow, 2);
      return arithmetic(TokenKind::Minus, TokenKind::MinusEqual, TokenKind::MinusPercent,
                        TokenKind::MinusPercentEqual);
    case '*':
      return arithmetic(TokenKind::Star, TokenKind::StarEqual, TokenKind::StarPercent,
                        TokenKind::StarPercentEqual);
    case '/':
      return orEqual(TokenKind::Slash, TokenKind::SlashEqual);
    case '%':
      return orEqual(TokenKind::Percent, TokenKind::PercentEqual);
    case '^':
      return orEqual(TokenKind::Caret, TokenKind::CaretEqual);
    case '!':
      return orEqual(TokenKind::Bang, TokenKind::BangEqual);
    case '&':
      return peek(1) == '&' ? punctuation(TokenKind::AmpAmp, 2)
                            : orEqual(TokenKind::Amp, TokenKind::AmpEqual);
    case '|':
      if (peek(1) == '|')
        return punctuation(TokenKind::PipePipe, 2);
      return peek(1) == '>' ? punctuation(TokenKind::PipeGreater, 2)
                            : orEqual(TokenKind::Pipe, TokenKind::PipeEqual);
    case '=':
      return peek(1) == '>' ? punctuation(TokenKind::FatArrow, 2)
                            : orEqual(TokenKind::Equal, TokenKind::EqualEqual);
    case '<':
      if (peek(1) == '<')
        return peek(2) == '=' ? punctuation(TokenKind::ShiftLeftEqual, 3)
                              : punctuation(TokenKind::ShiftLeft, 2);
      return orEqual(TokenKind::Less, TokenKind::LessEqual);
    case '>':
      if (peek(1) == '>')
        return peek(2) == '=' ? punctuation(TokenKind::ShiftRightEqual, 3)
                              : punctuation(TokenKind::ShiftRight, 2);
      return orEqual(TokenKind::Greater, TokenKind::GreaterEqual);
    default:
      break;
    }
    const char* behind = at_ + 1;
    while (behind != end_ && *behind == *at_)
      ++behind;
    if (*at_ == '\\' && peek(1) == '"')
      if (const char* close = skipEscapedQuotes(at_, end_))
        return pushEscapedQuotes(close);
    if (llvm::isPrint(*at_) && *at_ != '`')
      return pushError(behind, "character `" + llvm::Twine(*at_) + "` has no meaning here");
    pushError(behind,
              "character U+" + llvm::utohexstr(uint8_t(*at_), false, 4) + " has no meaning here");
  }

  const SourceFile& file_;
  Engine& engine_;
  const char* start_;
  const char* at_;
  const char* end_;
  bool newline_ = false;
  int64_t fStringBudget_ = kFStringBudget;
  TokenBuffer tokens_;

  /// A string over several lines, and what was reported when it began.
  struct Suspect {
    size_t token;
    Engine::Mark mark;
  };
  static constexpr size_t kMaxSuspects = 1024;
  static constexpr unsigned kMaxReturns = 8; // each lexes the rest of the file again
  std::vector<Suspect> suspects_;
  unsigned returns_ = 0;
};

} // namespace

StringRef describe(TokenKind kind) {
  switch (kind) {
#define GOS_TOKEN(kind, description)                                                               \
  case TokenKind::kind:                                                                            \
    return description;
#define GOS_PUNCTUATION(kind, spelling)                                                            \
  case TokenKind::kind:                                                                            \
    return spelling;
#define GOS_KEYWORD(kind, spelling)                                                                \
  case TokenKind::kind:                                                                            \
    return spelling;
#include "compiler/lex/token_kinds.def"
  }
  return "token";
}

bool isKeyword(TokenKind kind) {
  return kind >= TokenKind::As;
}
bool isPunctuation(TokenKind kind) {
  return kind >= TokenKind::LeftParen && kind < TokenKind::As;
}

TokenBuffer lexFile(const SourceFile& file, Engine& engine) {
  return Lexer(file, 0, file.size(), engine).run(true);
}

TokenBuffer lexRange(const SourceFile& file, uint32_t begin, uint32_t end, Engine& engine) {
  return Lexer(file, begin, end, engine).run(false);
}

} // namespace gos::lex
