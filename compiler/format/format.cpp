#include "compiler/format/format.h"

#include "compiler/ast/printer.h"
#include "compiler/format/layout.h"
#include "compiler/parse/parse.h"
#include "diagnostics/engine.h"

#include "llvm/Support/raw_ostream.h"

namespace gos::format {

namespace {

using lex::TokenKind;
using llvm::StringRef;

/// A text, and what must not change about it.
struct Reading {
  SourceMap sources;
  Engine engine{sources};
  FileId id = FileId::None;
  bool isWhole = false;
  std::string tree;

  explicit Reading(StringRef text) {
    auto added = sources.addCopy("", text);
    if (!added) {
      llvm::consumeError(added.takeError());
      return;
    }
    id = *added;
    ast::Context context;
    parse::ParseOptions options;
    options.isEntry = true;
    options.keepsAll = true;
    const ast::File parsed = parse::parseFile(id, sources, context, engine, options);
    isWhole = !engine.hasErrors() && engine.suppressed() == 0;
    if (!isWhole)
      return;
    llvm::raw_string_ostream out(tree);
    ast::print(out, parsed);
  }
  const SourceFile& file() const { return sources.file(id); }
  lex::TokenBuffer tokens() { return lex::lexFile(file(), engine); }
};

/// The tokens without separators, one behind the other; `>>` counts as two.
std::string essence(Reading& reading, std::string& comments) {
  const SourceFile& file = reading.file();
  const lex::TokenBuffer tokens = reading.tokens();
  std::string out;
  for (const lex::Token& token : tokens) {
    if (token.kind == TokenKind::Comma || token.kind == TokenKind::Semicolon)
      continue;
    StringRef text = file.content().substr(token.begin - file.base, token.end - token.begin);
    if (lex::isPunctuation(token.kind)) {
      while (text.size() > 1 && text.consume_front(">"))
        out += "> ";
    }
    out += text;
    out += ' ';
  }
  const Trivia trivia(file.content(), file.base, tokens);
  comments = trivia.hashbang().str();
  for (const Comment& comment : trivia.all()) {
    comments += '\n';
    comments += comment.text;
  }
  return out;
}

} // namespace

Result formatText(StringRef text) {
  text.consume_front("\xEF\xBB\xBF");
  constexpr unsigned kRounds = 4;
  Result result;
  Reading before(text);
  if (!before.isWhole) {
    result.outcome = Outcome::SyntaxErrors;
    return result;
  }
  std::string commentsBefore;
  const std::string essenceBefore = essence(before, commentsBefore);
  std::string current = text.str();
  for (unsigned round = 0; round < kRounds; ++round) {
    Reading reading(current);
    if (!reading.isWhole) {
      result.why = "it would not be a program any more";
      return result;
    }
    DocBuilder docs;
    Layout layout(reading.file(), reading.tokens(), docs);
    const Doc doc = layout.file();
    if (layout.failed()) {
      result.why = "it holds something that the formatter does not know";
      return result;
    }
    std::string next = print(doc);
    if (next == current) {
      std::string comments;
      if (essence(reading, comments) != essenceBefore) {
        result.why = "its tokens would change";
        return result;
      }
      if (comments != commentsBefore) {
        result.why = "its comments would change";
        return result;
      }
      if (reading.tree != before.tree) {
        result.why = "its meaning would change";
        return result;
      }
      result.outcome = Outcome::Formatted;
      result.text = std::move(next);
      return result;
    }
    current = std::move(next);
  }
  result.why = "its layout does not settle";
  return result;
}

} // namespace gos::format
