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

void Parser::begin(ParseOptions options) {
  isEntry_ = options.isEntry;
  isTest_ = options.isTest;
  keepsAll_ = options.keepsAll;
}

// File = { InnerAttr } { Use | Item | Stmt }
ast::File Parser::parseFile(ParseOptions options) {
  begin(options);
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
  while (!atEnd()) {
    ast::Item* item = nullptr;
    Stmt* statement = nullptr;
    parsePiece(item, statement);
    if (item)
      items.push_back(item);
    if (statement)
      statements.push_back(statement);
  }
  finishPieces();
  file.firstStatement = firstStatement_;
  module->items = list(items);
  file.statements = list(statements);
  return file;
}

/// One item or statement of the outermost level, or a mistake in the place of one.
void Parser::parsePiece(ast::Item*& item, Stmt*& statement) {
  const Token* start = at_;
  tallest_ = 0;
  if (at(TokenKind::RightBrace)) {
    if (failures_ == 0) // else it most likely belongs to what was skipped
      fail(at_->span(), diag::UnexpectedToken, "an item", "`}` that closes nothing");
    advance();
    calm();
    return;
  }
  if (atItem() || (at(TokenKind::Hash) && atAttribute())) {
    item = parseItem();
    if (item && item->kind == ast::ItemKind::Function && !mainName_.valid() &&
        item->name.name.text() == "main")
      mainName_ = item->name.span;
    endItem(start);
    return;
  }
  if (!isEntry_ && !saidNotEntry_) {
    // What is not even the beginning of a statement gets the ordinary report.
    if (canStartExpr() || at(TokenKind::Let)) {
      complain(at_->span(), diag::StatementOutsideEntry);
      saidNotEntry_ = true;
    } else {
      failExpected("an item");
      recoverStatement(start);
      return;
    }
  }
  bool endsWithBlock = false;
  Stmt* parsed = parseStatement(endsWithBlock);
  if (isEntry_) {
    if (!firstStatement_.valid())
      firstStatement_ = parsed->span;
    statement = parsed;
  }
  endStatement(start, endsWithBlock);
}

void Parser::finishPieces() {
  if (firstStatement_.valid() && mainName_.valid())
    engine_.report(firstStatement_, diag::MixedEntryForms)
        .label(mainName_, "`fn main` is declared here");
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

// ---- the door
// ------------------------------------------------------------------------------------

ast::File parseFile(FileId file, const SourceMap& sources, ast::Context& context, Engine& engine,
                    ParseOptions options) {
  const SourceFile& source = sources.file(file);
  return Parser(source, file, context, engine, lex::lexFile(source, engine)).parseFile(options);
}

PieceParser::PieceParser(FileId file, const SourceMap& sources, lex::TokenBuffer tokens,
                         ast::Context& context, Engine& engine, ParseOptions options)
    : context_(context), parser_(std::make_unique<Parser>(sources.file(file), file, context, engine,
                                                          std::move(tokens))) {
  parser_->begin(options);
  (void)parser_->parseInnerAttributes();
}

PieceParser::~PieceParser() = default;

std::optional<PieceParser::Piece> PieceParser::next() {
  context_.arena().Reset();
  if (parser_->atEnd()) {
    parser_->finishPieces();
    return std::nullopt;
  }
  ast::Item* item = nullptr;
  Stmt* statement = nullptr;
  parser_->parsePiece(item, statement);
  return Piece{item, statement};
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
                                  const SourceMap& sources, ast::Context& context, Engine& engine) {
  const SourceFile& source = sources.file(file);
  return Parser(source, file, context, engine, lex::lexRange(source, begin, end, engine))
      .parseSignature();
}

} // namespace gos::parse
