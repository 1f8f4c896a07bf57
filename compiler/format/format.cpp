#include "compiler/format/format.h"

#include "compiler/ast/printer.h"
#include "compiler/format/layout.h"
#include "compiler/parse/parse.h"
#include "diagnostics/engine.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/raw_ostream.h"

namespace gos::format {

namespace {

using lex::TokenKind;
using llvm::StringRef;

/// What must not change about a text, as digests: a text as long as the program need not be kept.
struct Essence {
  using Digest = llvm::BLAKE3Result<32>;
  Digest tokens, comments, tree;
};

/// A text, ready to be read.
class Reading {
public:
  /// The text ends with a NUL behind its last byte, and outlives the reading.
  explicit Reading(StringRef text) {
    auto added = sources_.add("", llvm::MemoryBuffer::getMemBuffer(text, ""));
    if (added)
      id_ = *added;
    else
      llvm::consumeError(added.takeError());
  }

  /// Parses the text; nothing when it is no program. `essence` is filled in when somebody asks.
  bool parse(Essence* essence);

  /// The layout of a program; nothing when it holds what the formatter does not know.
  std::optional<std::string> layOut(size_t& largestPiece) {
    Printer printer(file().size() + file().size() / 16 + 64);
    Layout layout(file(), lex::lexFile(file(), engine_));
    layout.file(printer);
    largestPiece = std::max(largestPiece, layout.largestPiece());
    if (layout.failed())
      return std::nullopt;
    return printer.finish();
  }

private:
  const SourceFile& file() const { return sources_.file(id_); }
  void digestTokens(const lex::TokenBuffer& tokens, Essence& essence) const;

  SourceMap sources_;
  Engine engine_{sources_};
  FileId id_ = FileId::None;
};

/// The tokens without separators; `>>` counts as two.
void Reading::digestTokens(const lex::TokenBuffer& tokens, Essence& essence) const {
  llvm::BLAKE3 digest;
  llvm::SmallString<4096> out;
  const auto flush = [&] {
    digest.update(StringRef(out));
    out.clear();
  };
  for (const lex::Token& token : tokens) {
    if (token.kind == TokenKind::Comma || token.kind == TokenKind::Semicolon)
      continue;
    StringRef text = file().content().substr(token.begin - file().base, token.end - token.begin);
    if (lex::isPunctuation(token.kind)) {
      while (text.size() > 1 && text.consume_front(">"))
        out += "> ";
    }
    out += text;
    out += ' ';
    if (out.size() > 4000)
      flush();
  }
  flush();
  essence.tokens = digest.final<32>();

  const Trivia trivia(file().content(), file().base, tokens);
  llvm::BLAKE3 comments;
  comments.update(trivia.hashbang());
  for (const Comment& comment : trivia.all()) {
    comments.update("\n");
    comments.update(comment.text);
  }
  essence.comments = comments.final<32>();
}

bool Reading::parse(Essence* essence) {
  if (id_ == FileId::None)
    return false;
  parse::ParseOptions options;
  options.isEntry = true;
  options.keepsAll = true;
  lex::TokenBuffer tokens = lex::lexFile(file(), engine_);
  if (essence)
    digestTokens(tokens, *essence);
  ast::Context context;
  parse::PieceParser parser(id_, sources_, std::move(tokens), context, engine_, options);
  llvm::BLAKE3 digest;
  std::string tree;
  while (const auto piece = parser.next()) {
    if (!essence || engine_.hasErrors())
      continue;
    tree.clear();
    llvm::raw_string_ostream out(tree);
    if (piece->item)
      ast::print(out, piece->item, ast::Layout::Lines);
    else if (piece->statement)
      ast::print(out, piece->statement, ast::Layout::Lines);
    out << '\n';
    digest.update(tree);
  }
  if (essence)
    essence->tree = digest.final<32>();
  return !engine_.hasErrors() && engine_.suppressed() == 0;
}

} // namespace

Result formatText(StringRef text) {
  text.consume_front("\xEF\xBB\xBF");
  constexpr unsigned kRounds = 4;
  Result result;
  std::string current = text.str();
  Essence before;
  for (unsigned round = 0; round < kRounds; ++round) {
    // The first reading becomes a proof only if something changes.
    Essence now;
    Reading reading(current);
    if (!reading.parse(round == 0 ? nullptr : &now)) {
      if (round == 0)
        result.outcome = Outcome::SyntaxErrors;
      else
        result.why = "it would not be a program any more";
      return result;
    }
    std::optional<std::string> next = reading.layOut(result.largestPiece);
    if (!next) {
      result.why = "it holds something that the formatter does not know";
      return result;
    }
    if (*next == current) {
      if (round == 0 || (now.tokens == before.tokens && now.comments == before.comments &&
                         now.tree == before.tree)) {
        result.outcome = Outcome::Formatted;
        result.text = std::move(current);
      } else {
        result.why = now.tokens != before.tokens       ? "its tokens would change"
                     : now.comments != before.comments ? "its comments would change"
                                                       : "its meaning would change";
      }
      return result;
    }
    if (round == 0)
      (void)reading.parse(&before);
    current = std::move(*next);
  }
  result.why = "its layout does not settle";
  return result;
}

} // namespace gos::format
