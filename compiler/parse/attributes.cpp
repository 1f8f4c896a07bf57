// Attributes and documentation comments (language.md sections 1.1, 3.2 and 23.1).

#include "compiler/parse/parser.h"

#include <cstdint>

namespace gos::parse {

/// A line that begins with `#[` is an attribute when an item follows the matching `]`, possibly
/// behind more attributes; otherwise it is a Vec literal.
bool Parser::atAttribute() {
  if (notAttributes_.contains(at_))
    return false;
  SmallVector<const Token*, 4> run;
  const Token* token = at_;
  while (token->kind == TokenKind::Hash && token[1].kind == TokenKind::LeftBracket) {
    const Token* close = matching(token + 1);
    if (!close)
      break;
    run.push_back(token);
    token = close + 1;
  }
  if (token != at_ && beginsItem(token))
    return true;
  // Each of the run is asked about in turn, and the answer is the same.
  notAttributes_.insert(run.begin(), run.end());
  return false;
}

// Attr = "#" "[" AttrBody "]"
ArrayRef<ast::Attribute> Parser::parseAttributes() {
  if (!at(TokenKind::Hash) || peek() != TokenKind::LeftBracket)
    return {};
  SmallVector<ast::Attribute, 4> attributes;
  while (at(TokenKind::Hash) && peek() == TokenKind::LeftBracket) {
    const uint32_t begin = at_->begin;
    advance();
    ast::Attribute attribute;
    const bool isWhole = parseAttribute(attribute);
    attribute.span = from(begin);
    if (isWhole)
      attributes.push_back(attribute);
  }
  return list(attributes);
}

// InnerAttr = "#" "!" "[" AttrBody "]"
ArrayRef<ast::Attribute> Parser::parseInnerAttributes() {
  SmallVector<ast::Attribute, 4> attributes;
  while (at(TokenKind::Hash) && peek() == TokenKind::Bang && peek(2) == TokenKind::LeftBracket) {
    const uint32_t begin = at_->begin;
    advance();
    advance();
    ast::Attribute attribute;
    const bool isWhole = parseAttribute(attribute);
    attribute.span = from(begin);
    if (isWhole)
      attributes.push_back(attribute);
  }
  return list(attributes);
}

// "[" AttrBody "]"       AttrBody = Path [ "(" Tokens ")" | "=" Literal ]
bool Parser::parseAttribute(ast::Attribute& attribute) {
  const Token* open = at_;
  const Token* close = matching(open);
  if (!close) {
    failUnclosed(*open);
    at_ = last_;
    return false;
  }
  const auto malformed = [&](StringRef why) {
    complain({open->begin, close->end}, diag::MalformedAttribute, why);
    skipGroup();
    return false;
  };
  const Token* token = open + 1;
  SmallVector<ast::PathSegment, 2> segments;
  for (;; ++token) {
    if (token->kind != TokenKind::Identifier)
      return malformed("it begins with a name");
    ast::PathSegment segment;
    segment.ident = ident(*token);
    segments.push_back(segment);
    if ((++token)->kind != TokenKind::ColonColon)
      break;
  }
  attribute.path.segments = list(segments);
  attribute.path.span = {open[1].begin, token[-1].end};
  if (token->kind == TokenKind::LeftParen) {
    const Token* end = matching(token);
    if (!end || end + 1 != close)
      return malformed("nothing may follow its arguments");
    attribute.argumentSpan = {token->end, end->begin};
    SmallVector<ast::Ident, 8> words;
    for (const Token* word = token + 1; word < end; ++word) {
      if (isOpener(word->kind)) {
        if (const Token* inner = matching(word))
          word = inner;
        continue;
      }
      if (word->kind == TokenKind::Identifier)
        words.push_back(ident(*word));
    }
    attribute.words = list(words);
  } else if (token->kind == TokenKind::Equal) {
    while (at_ != token + 1)
      advance();
    switch (kind()) {
    case TokenKind::String:
    case TokenKind::RawString:
    case TokenKind::Int:
    case TokenKind::Float:
    case TokenKind::Char:
    case TokenKind::True:
    case TokenKind::False:
      attribute.value = parseLiteral();
      break;
    default:
      complain({open->begin, close->end}, diag::MalformedAttribute, "its value is not a literal");
      while (at_ != close)
        advance();
      advance();
      return false;
    }
    if (at_ != close) {
      complain({open->begin, close->end}, diag::MalformedAttribute, "text follows its value");
      while (at_ != close)
        advance();
      advance();
      return false;
    }
    advance();
    return true;
  } else if (token != close) {
    return malformed("expected `(..)` or `= literal` after its name");
  }
  skipGroup();
  return true;
}

/// `#[cfg(..)]` is decided here, so that an item that is not there is nowhere. The program runs in
/// the tool itself: the target is the host.
bool Parser::cfgHolds(ArrayRef<ast::Attribute> attributes) {
  for (const ast::Attribute& attribute : attributes) {
    if (attribute.path.segments.size() != 1 ||
        attribute.path.segments[0].ident.name.text() != "cfg")
      continue;
    const Span argument = attribute.argumentSpan;
    if (!argument.valid()) {
      complain(attribute.span, diag::MalformedAttribute, "`cfg` takes a predicate");
      continue;
    }
    const lex::TokenBuffer tokens =
        lex::lexRange(file_, argument.begin - file_.base, argument.end - file_.base, engine_);
    size_t at = 0;
    const bool holds = cfgPredicateHolds(tokens, at, attribute.span, 0);
    if (at != SIZE_MAX && tokens[at].kind != TokenKind::EndOfFile)
      complain(tokens[at].span(), diag::MalformedAttribute, "`cfg` takes one predicate");
    if (!holds && !keepsAll_)
      return false;
  }
  return true;
}

/// Predicate = Ident [ "=" String ] | ( "not" | "any" | "all" ) "(" [ Predicate { "," Predicate } ]
/// ")" After a mistake `at` is SIZE_MAX and the predicate counts as held, so that the item is
/// checked.
bool Parser::cfgPredicateHolds(const lex::TokenBuffer& tokens, size_t& at, Span whole,
                               unsigned depth) {
  const auto malformed = [&](Span span, StringRef why) {
    complain(span.valid() && whole.contains(span) ? span : whole, diag::MalformedAttribute, why);
    at = SIZE_MAX;
    return true;
  };
  if (depth > kMaxNesting)
    return malformed(whole, "its predicate is nested too deeply");
  const Token& word = tokens[at];
  if (word.kind != TokenKind::Identifier)
    return malformed(word.span(), "expected a predicate of `cfg`");
  const StringRef name = text(word);
  const Token& next = tokens[++at];
  if (next.kind == TokenKind::LeftParen) {
    const bool isNot = name == "not", isAny = name == "any";
    if (!isNot && !isAny && name != "all")
      return malformed(word.span(), "the operators of `cfg` are `not`, `any` and `all`");
    ++at;
    size_t count = 0, held = 0;
    while (tokens[at].kind != TokenKind::RightParen) {
      held += cfgPredicateHolds(tokens, at, whole, depth + 1);
      ++count;
      if (at == SIZE_MAX)
        return true;
      if (tokens[at].kind == TokenKind::Comma)
        ++at;
      else if (tokens[at].kind != TokenKind::RightParen)
        return malformed(tokens[at].span(), "expected `,` or `)` in a predicate of `cfg`");
    }
    if (isNot && count != 1)
      return malformed(word.span(), "`not` takes one predicate");
    ++at;
    return isNot ? held == 0 : isAny ? held != 0 : held == count;
  }
#if defined(__linux__)
  constexpr StringRef system = "linux", family = "unix";
#elif defined(__APPLE__)
  constexpr StringRef system = "macos", family = "unix";
#elif defined(_WIN32)
  constexpr StringRef system = "windows", family = "windows";
#else
  constexpr StringRef system = "unknown", family = "unix";
#endif
#if defined(__x86_64__) || defined(_M_X64)
  constexpr StringRef machine = "x86_64";
#elif defined(__aarch64__) || defined(_M_ARM64)
  constexpr StringRef machine = "aarch64";
#else
  constexpr StringRef machine = "unknown";
#endif
  if (next.kind == TokenKind::Equal) {
    const Token& value = tokens[at + 1];
    if (value.kind != TokenKind::String)
      return malformed(value.span(), "the value of a predicate of `cfg` is a string");
    at += 2;
    const StringRef wanted = text(value).drop_front().drop_back();
    if (name == "target_os")
      return wanted == system;
    if (name == "target_family")
      return wanted == family;
    if (name == "target_arch")
      return wanted == machine;
    return malformed(word.span(),
                     "the predicates with a value are `target_os`, `target_family`, `target_arch`");
  }
  if (name == "test")
    return isTest_;
  if (name == "unix" || name == "windows")
    return name == family;
  return malformed(word.span(), "the predicates without a value are `test`, `unix`, `windows`");
}

/// The run of `//` lines that ends on the line above `begin`.
Span Parser::documentationAbove(uint32_t begin) const {
  const char* const top = start_;
  const char* place = start_ + (begin - file_.base);
  const auto lineStart = [&](const char* inside) {
    while (inside != top && inside[-1] != '\n')
      --inside;
    return inside;
  };
  const char* line = lineStart(place);
  Span documentation;
  while (line != top) {
    const char* above = lineStart(line - 1);
    const StringRef content = StringRef(above, size_t(line - 1 - above)).trim(" \t\r");
    if (!content.starts_with("//") || (above == top && content.starts_with("#!")))
      break;
    const uint32_t from = file_.base + uint32_t(content.begin() - top);
    if (!documentation.valid())
      documentation.end = file_.base + uint32_t(content.end() - top);
    documentation.begin = from;
    line = above;
  }
  return documentation;
}

} // namespace gos::parse
