#pragma once
// What the grammar says of a token alone, and where it looks further ahead: the parser, and the
// formatter that reads the same tokens again, both ask here.

#include "compiler/ast/ast.h"
#include "compiler/lex/lexer.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <array>
#include <initializer_list>

namespace gos::parse {

/// What the surroundings of an expression allow. Every bracket starts afresh.
struct Mode {
  bool isHead = false;     // of if, while, for, match: a `{` opens the body
  bool freeBreaks = false; // directly inside ( ): a line may begin with any operator
  bool isArmBody = false;  // a line that reads as a range pattern begins the next arm
  bool isPipeStep = false; // a closure body ends at `|>`
};

// ---- operators --------------------------------------------------------------------------------

inline constexpr uint8_t kOrLevel = 1, kAndLevel = 2, kCompareLevel = 3;

struct OperatorInfo {
  uint8_t level = 0; // of a binary operator; 0: none
  bool isAssignment = false;
  bool isCompound = false;
  ast::BinaryOp op = ast::BinaryOp::Add; // of a binary operator or a compound assignment
};

inline constexpr std::array<OperatorInfo, 256> kOperators = [] {
  std::array<OperatorInfo, 256> table{};
#define GOS_BINARY(token, precedence, binary)                                                      \
  table[size_t(lex::TokenKind::token)] = {precedence, false, false, ast::BinaryOp::binary};
#define GOS_COMPOUND(token, binary)                                                                \
  table[size_t(lex::TokenKind::token)] = {0, true, true, ast::BinaryOp::binary};
#include "compiler/parse/operators.def"
  table[size_t(lex::TokenKind::Equal)].isAssignment = true;
  return table;
}();

inline const OperatorInfo& operatorOf(lex::TokenKind kind) {
  return kOperators[size_t(kind)];
}

// ---- kinds of token ---------------------------------------------------------------------------

/// A claim about a kind of token; several may hold of one.
enum class TokenTrait : uint16_t {
  Literal = 1,
  BeginsExpression = 2, // and so does a literal; for `#` see beginsExpression
  StopsAtNewline = 4,   // an operator that begins something new when it begins a line
  ContinuesBlock = 8,   // behind the `}` of a statement: its value is used
  BeginsItem = 16,      // whatever follows
  BeginsBlockBody = 32, // directly behind a `{`: it is no map
  PatternBound = 64,    // may begin an end of a range pattern; and so may a name
};

inline constexpr std::array<uint16_t, 256> kTraits = [] {
  using enum lex::TokenKind;
  std::array<uint16_t, 256> table{};
  const auto set = [&](TokenTrait trait, std::initializer_list<lex::TokenKind> kinds) {
    for (lex::TokenKind kind : kinds)
      table[size_t(kind)] |= uint16_t(trait);
  };
  const auto literals = {Int,           Float,        Char,    Byte,          String,
                         RawString,     TripleString, FString, TripleFString, ByteString,
                         RawByteString, True,         False};
  set(TokenTrait::Literal, literals);
  set(TokenTrait::BeginsExpression, literals);
  set(TokenTrait::BeginsExpression,
      {Identifier, Label,    Error,  LeftParen, LeftBracket, LeftBrace, Minus,  Bang,
       Star,       Amp,      AmpAmp, Pipe,      PipePipe,    Less,      DotDot, DotDotEqual,
       SelfValue,  SelfType, Super,  Crate,     If,          Match,     While,  Loop,
       For,        Unsafe,   Return, Break,     Continue});
  set(TokenTrait::StopsAtNewline, {Amp, Star, Minus, Pipe});
  set(TokenTrait::ContinuesBlock,
      {Dot, Question, As, Plus, Slash, Percent, PlusPercent, StarPercent, MinusPercent, Caret,
       EqualEqual, BangEqual, LessEqual, GreaterEqual, Greater, AmpAmp, PipeGreater});
  set(TokenTrait::BeginsItem,
      {Fn, Struct, Enum, Trait, Impl, Type, Const, Static, Mod, Use, Pub, Extern});
  set(TokenTrait::BeginsBlockBody,
      {Let,   Label,  Pipe, PipePipe, If,   Match, While, For,  Loop, Return, Break, Continue,
       Const, Static, Fn,   Struct,   Enum, Trait, Impl,  Type, Use,  Mod,    Pub,   Unsafe});
  set(TokenTrait::PatternBound, {Minus, Int, Float, Char, Byte, String});
  return table;
}();

inline bool has(lex::TokenKind kind, TokenTrait trait) {
  return (kTraits[size_t(kind)] & uint16_t(trait)) != 0;
}

// ---- places that look ahead -------------------------------------------------------------------
// `token` points into a token buffer, which ends in padding; `last` is its first EndOfFile.

bool beginsItem(const lex::Token* token);
bool beginsExpression(const lex::Token* token);
/// Does a construct that ends in `}` begin here, which ends a statement?
bool beginsBlockLike(const lex::Token* token);
/// May the end of a range pattern begin here?
bool beginsPatternBound(const lex::Token* token);

/// The token that closes a bracket; null if none.
using Matching = llvm::function_ref<const lex::Token*(const lex::Token* open)>;

/// On `{` where an operand may stand, with something in it (section 3.4): a map when the first
/// entry has a `:` at its own depth. The first entry ends at its line, and words that only begin a
/// statement settle the matter at once.
bool braceBeginsMap(const lex::Token* token, const lex::Token* last, Matching matching);

/// On `<` behind a name: is it the list of `f<T>(x)`, `T<A>::f` or `S<A> { }`? Looks at most a
/// fixed number of tokens ahead, so that a long line of comparisons costs nothing.
bool bareGenericsFollow(const lex::Token* token, const lex::Token* last, Mode mode);

/// In a match arm's body, on `..` at the start of a line: does the line read as a range pattern?
bool lineIsRangePattern(const lex::Token* token, const lex::Token* last);

} // namespace gos::parse
