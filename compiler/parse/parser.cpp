#include "compiler/parse/parser.h"

namespace gos::parse {

Parser::Parser(const SourceFile& file, FileId id, ast::Context& context, Engine& engine,
               lex::TokenBuffer tokens)
    : file_(file), id_(id), context_(context), engine_(engine), start_(file.content().begin()),
      tokens_(std::move(tokens)) {
  at_ = tokens_.data();
  last_ = at_ + (tokens_.size() - lex::kEndPadding);
  previousEnd_ = at_->begin;
}

// File = { InnerAttr } { Use | Item | Stmt }
ast::File Parser::parseFile(ParseOptions options) {
  isEntry_ = options.isEntry;
  isTest_ = options.isTest;
  keepsAll_ = options.keepsAll;
  ast::File file;
  file.id = id_;
  auto* module = context_.make<ast::ModuleItem>(Span{file_.base, file_.base + file_.size()});
  module->isFile = true;
  module->file = id_;
  module->package = file_.package;
  module->innerAttributes = parseInnerAttributes();
  file.module = module;

  SmallVector<ast::Item*, 32> items;
  SmallVector<Stmt*, 32> statements;
  bool saidNotEntry = false;
  while (!atEnd()) {
    const Token* start = at_;
    tallest_ = 0;
    if (at(TokenKind::RightBrace)) {
      if (failures_ == 0) // else it most likely belongs to what was skipped
        fail(at_->span(), diag::UnexpectedToken, "an item", "`}` that closes nothing");
      advance();
      calm();
      continue;
    }
    if (atItem() || (at(TokenKind::Hash) && atAttribute())) {
      if (ast::Item* item = parseItem())
        items.push_back(item);
      endItem(start);
      continue;
    }
    if (!isEntry_ && !saidNotEntry) {
      // What is not even the beginning of a statement gets the ordinary report.
      if (canStartExpr() || at(TokenKind::Let)) {
        complain(at_->span(), diag::StatementOutsideEntry);
        saidNotEntry = true;
      } else {
        failExpected("an item");
        recoverStatement(start);
        continue;
      }
    }
    bool endsWithBlock = false;
    Stmt* statement = parseStatement(endsWithBlock);
    if (isEntry_) {
      if (statements.empty())
        file.firstStatement = statement->span;
      statements.push_back(statement);
    }
    endStatement(start, endsWithBlock);
  }
  if (!statements.empty())
    for (const ast::Item* item : items)
      if (item->kind == ast::ItemKind::Function && item->name.name.text() == "main") {
        engine_.report(file.firstStatement, diag::MixedEntryForms)
            .label(item->name.span, "`fn main` is declared here");
        break;
      }
  module->items = list(items);
  file.statements = list(statements);
  return file;
}

Expr* Parser::parseWholeExpression() {
  if (atEnd()) {
    failExpected("an expression");
    return errorExpr();
  }
  Mode mode;
  mode.freeBreaks = true;
  Expr* value = parseExprIn(mode);
  if (!panic_ && !atEnd())
    failExpected("the end of the expression");
  return value;
}

ast::FunctionItem* Parser::parseSignature() {
  isSignature_ = true;
  const uint32_t begin = at_->begin;
  auto* function = context_.make<ast::FunctionItem>(at_->span());
  if (expect(TokenKind::Fn, "`fn`"))
    parseFunctionSignature(function);
  if (!panic_ && !atEnd())
    failExpected("the end of the signature");
  function->span = from(begin);
  return panic_ ? nullptr : function;
}

// ---- the door ------------------------------------------------------------------------------------

ast::File parseFile(FileId file, const SourceMap& sources, ast::Context& context, Engine& engine,
                    ParseOptions options) {
  const SourceFile& source = sources.file(file);
  return Parser(source, file, context, engine, lex::lexFile(source, engine)).parseFile(options);
}

ast::FunctionItem* makeImplicitMain(const ast::File& file, ast::Context& context) {
  if (file.statements.empty())
    return nullptr;
  const Span span = file.statements.front()->span.to(file.statements.back()->span);
  auto* main = context.make<ast::FunctionItem>(span);
  main->name = {context.names.intern("main"), file.firstStatement};
  main->implicitMain = true;
  main->parentModule = file.module;
  main->body = context.make<ast::BlockExpr>(span);
  main->body->statements = file.statements;
  main->body->closeBrace = {span.end - 1, span.end};
  return main;
}

Expr* parseExpressionText(FileId file, const SourceMap& sources, ast::Context& context,
                          Engine& engine) {
  const SourceFile& source = sources.file(file);
  return Parser(source, file, context, engine, lex::lexRange(source, 0, source.size(), engine))
      .parseWholeExpression();
}

ast::FunctionItem* parseSignature(FileId file, uint32_t begin, uint32_t end,
                                  const SourceMap& sources, ast::Context& context,
                                  Engine& engine) {
  const SourceFile& source = sources.file(file);
  return Parser(source, file, context, engine, lex::lexRange(source, begin, end, engine))
      .parseSignature();
}

} // namespace gos::parse
