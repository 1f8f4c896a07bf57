#include "compiler/parse/grammar.h"

namespace gos::parse {

using lex::Token;
using lex::TokenKind;
using lex::Word;

bool beginsItem(const Token* token) {
  if (has(token->kind, TokenTrait::BeginsItem))
    return true;
  if (token->kind == TokenKind::Unsafe)
    return token[1].kind == TokenKind::Fn || token[1].kind == TokenKind::Extern;
  if (token->kind != TokenKind::Identifier)
    return false;
  switch (token->word) {
  case Word::Comptime:
    return token[1].kind == TokenKind::Fn ||
           (token[1].kind == TokenKind::Unsafe && token[2].kind == TokenKind::Fn);
  case Word::Newtype:
    return token[1].kind == TokenKind::Identifier && !token[1].newlineBefore;
  case Word::Packed:
    return token[1].kind == TokenKind::Enum;
  default:
    return false;
  }
}

bool beginsExpression(const Token* token) {
  if (token->kind == TokenKind::Hash)
    return token[1].kind == TokenKind::LeftBracket || token[1].kind == TokenKind::LeftBrace;
  return has(token->kind, TokenTrait::BeginsExpression);
}

bool beginsBlockLike(const Token* token) {
  switch (token->kind) {
  case TokenKind::If:
  case TokenKind::Match:
  case TokenKind::While:
  case TokenKind::Loop:
  case TokenKind::For:
  case TokenKind::LeftBrace:
    return true;
  case TokenKind::Label:
    return token[1].kind == TokenKind::Colon;
  case TokenKind::Unsafe:
    return token[1].kind == TokenKind::LeftBrace;
  case TokenKind::Identifier:
    return (token->word == Word::Comptime || token->word == Word::Select ||
            token->word == Word::Cohort) &&
           token[1].kind == TokenKind::LeftBrace;
  default:
    return false;
  }
}

bool beginsPatternBound(const Token* token) {
  return token->kind == TokenKind::Identifier ? token->word != Word::Underscore
                                              : has(token->kind, TokenTrait::PatternBound);
}

bool braceBeginsMap(const Token* token, const Token* last, Matching matching) {
  const Token* first = token + 1;
  if (has(first->kind, TokenTrait::BeginsBlockBody))
    return false;
  for (token = first; token != last; ++token) {
    if (token != first && token->newlineBefore)
      return false;
    switch (token->kind) {
    case TokenKind::Colon:
      return token != first;
    case TokenKind::Comma:
    case TokenKind::Semicolon:
    case TokenKind::RightBrace:
    case TokenKind::RightParen:
    case TokenKind::RightBracket:
    case TokenKind::Equal:
    case TokenKind::FatArrow:
    case TokenKind::PipeGreater:
      return false;
    case TokenKind::LeftBrace:
    case TokenKind::LeftParen:
    case TokenKind::LeftBracket:
      token = matching(token);
      if (!token)
        return false;
      break;
    default:
      break;
    }
  }
  return false;
}

bool bareGenericsFollow(const Token* begin, const Token* last, Mode mode) {
  constexpr ptrdiff_t kReach = 128;
  int depth = 0;
  const Token* limit = last - begin > kReach ? begin + kReach : last;
  TokenKind previous = TokenKind::Less;
  for (const Token* token = begin; token < limit; previous = token->kind, ++token) {
    const bool beginsArgument = previous == TokenKind::Less || previous == TokenKind::Comma ||
                                previous == TokenKind::Equal || token->newlineBefore;
    int closes = 0;
    switch (token->kind) {
    case TokenKind::Less:
      ++depth;
      continue;
    case TokenKind::Greater:
      closes = 1;
      break;
    case TokenKind::ShiftRight:
      closes = 2;
      break;
    case TokenKind::LeftParen:
    case TokenKind::LeftBracket:
    case TokenKind::RightParen:
    case TokenKind::RightBracket:
    case TokenKind::Identifier:
    case TokenKind::SelfType:
    case TokenKind::SelfValue:
    case TokenKind::Super:
    case TokenKind::Crate:
    case TokenKind::ColonColon:
    case TokenKind::Comma:
    case TokenKind::Amp:
    case TokenKind::Mut:
    case TokenKind::Arrow:
    case TokenKind::Bang:
    case TokenKind::Equal:
    case TokenKind::Semicolon:
    case TokenKind::Label:
      continue;
    case TokenKind::Int:
    case TokenKind::True:
    case TokenKind::False:
    case TokenKind::Char:
    case TokenKind::String:
      if (beginsArgument || previous == TokenKind::Minus || previous == TokenKind::Semicolon)
        continue;
      return false;
    case TokenKind::Minus:
      if (beginsArgument)
        continue;
      return false;
    default:
      return false;
    }
    depth -= closes;
    if (depth < 0)
      return false;
    if (depth == 0) {
      const Token& next = token[1];
      if (next.newlineBefore)
        return false;
      return next.kind == TokenKind::LeftParen || next.kind == TokenKind::ColonColon ||
             (next.kind == TokenKind::LeftBrace && !mode.isHead);
    }
  }
  return false;
}

bool lineIsRangePattern(const Token* token, const Token* last) {
  ++token;
  if (token->kind == TokenKind::Minus)
    ++token;
  if (token->kind == TokenKind::Identifier) {
    ++token;
    while (token->kind == TokenKind::ColonColon && token[1].kind == TokenKind::Identifier)
      token += 2;
  } else {
    ++token;
  }
  if (token >= last)
    return false;
  return token->kind == TokenKind::FatArrow || token->kind == TokenKind::If ||
         token->kind == TokenKind::Pipe;
}

} // namespace gos::parse
