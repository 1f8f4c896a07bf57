// Items (language.md section 9): types, traits, impls, constants, modules.

#include "compiler/parse/parser.h"

#include "llvm/ADT/ScopeExit.h"

namespace gos::parse {

/// Ends a top-level item: what follows stands on a line of its own or behind `}`.
void Parser::endItem(const Token* start) {
  const bool endsWithBlock = at_ != start && at_[-1].kind == TokenKind::RightBrace;
  endStatement(start, endsWithBlock);
}

// Item = { Attr } [ Vis ] ItemKind
ast::Item* Parser::parseItem() {
  Nest nest(*this);
  if (!nest.ok)
    return nullptr;
  const uint32_t begin = at_->begin;
  const Span documentation = documentationAbove(begin);
  const ArrayRef<ast::Attribute> attributes = parseAttributes();
  const ast::Visibility visibility = parseVisibility();
  ast::Item* item = panic_ ? nullptr : parseItemKind(attributes, visibility, begin);
  if (!item || !cfgHolds(attributes))
    return nullptr;
  item->documentation = documentation;
  return item;
}

ast::Item* Parser::parseItemKind(ArrayRef<ast::Attribute> attributes, ast::Visibility visibility,
                                 uint32_t begin) {
  ast::Item* item = nullptr;
  switch (kind()) {
  case TokenKind::Struct:
    item = parseStruct();
    break;
  case TokenKind::Enum:
    item = parseEnum();
    break;
  case TokenKind::Trait:
    item = parseTrait();
    break;
  case TokenKind::Impl:
    item = parseImpl();
    break;
  case TokenKind::Type:
    item = parseAlias(false);
    break;
  case TokenKind::Const:
    item = parseConst(false);
    break;
  case TokenKind::Static:
    item = parseStatic();
    break;
  case TokenKind::Mod:
    item = parseMod();
    break;
  case TokenKind::Use:
    item = parseUse();
    break;
  case TokenKind::Extern:
    item = parseExtern();
    break;
  case TokenKind::Unsafe:
    item = peek() == TokenKind::Extern ? parseExtern() : parseFunction();
    break;
  case TokenKind::Fn:
    item = parseFunction();
    break;
  case TokenKind::Identifier:
    if (atItem()) {
      item = atWord(Word::Comptime)  ? parseFunction()
             : atWord(Word::Newtype) ? parseNewtype()
                                     : parseEnum();
      break;
    }
    [[fallthrough]];
  default:
    failExpected("an item");
    return nullptr;
  }
  item->attributes = attributes;
  item->visibility = visibility;
  return finishItem(item, begin);
}

// Vis = "pub" [ "(" "package" ")" ]
ast::Visibility Parser::parseVisibility() {
  if (!accept(TokenKind::Pub))
    return ast::Visibility::Private;
  if (!at(TokenKind::LeftParen) || at_->newlineBefore)
    return ast::Visibility::Public;
  if (peek() == TokenKind::Package && at_[2].kind == TokenKind::RightParen) {
    advance();
    advance();
    advance();
    return ast::Visibility::Package;
  }
  // `pub(` in front of a tuple field's type: a parenthesised type is not what was meant.
  switch (peek()) {
  case TokenKind::Crate:
  case TokenKind::Super:
  case TokenKind::SelfValue:
  case TokenKind::In: {
    const Token* close = matching(at_);
    const Span span{at_->begin, close ? close->end : at_->end};
    complain(span, diag::UnsupportedVisibility,
             close ? text(Span{at_[1].begin, close->begin}) : text(at_[1]));
    skipGroup();
    return ast::Visibility::Package;
  }
  default:
    return ast::Visibility::Public;
  }
}

// ---- structs and enums ----------------------------------------------------------------------

/// The keyword, the name and the generics of an item. False after a report.
bool Parser::parseHeader(ast::Item* item, StringRef what, ast::Generics& generics) {
  advance();
  item->name = expectIdent(what);
  if (!panic_)
    parseGenerics(generics);
  return !panic_;
}

// Struct = "struct" Ident [ Generics ] [ StructBody ] [ Where ]
ast::Item* Parser::parseStruct() {
  auto* item = context_.make<ast::StructItem>(at_->span());
  if (!parseHeader(item, "the name of the struct", item->generics))
    return item;
  parseWhere(item->generics);
  if (!panic_ && at(TokenKind::LeftBrace)) {
    item->shape = ast::StructShape::Named;
    item->fields = parseNamedFields();
  } else if (!panic_ && at(TokenKind::LeftParen) && !at_->newlineBefore) {
    item->shape = ast::StructShape::Tuple;
    item->fields = parseTupleFields(true);
  }
  if (!panic_)
    parseWhere(item->generics);
  return item;
}

// "{" [ Field { SEP Field } [ "," ] ] "}"       Field = { Attr } [ Vis ] Ident ":" Type
ArrayRef<ast::FieldDecl> Parser::parseNamedFields() {
  const Token opener = *at_;
  advance();
  SmallVector<ast::FieldDecl, 8> fields;
  parseList(TokenKind::RightBrace, opener, [&] {
    ast::FieldDecl field;
    field.attributes = parseAttributes();
    field.visibility = parseVisibility();
    field.name = expectIdent("the name of a field");
    if (panic_ || !expect(TokenKind::Colon, "`:` and the field's type"))
      return;
    field.type = parseType();
    if (!panic_ && at(TokenKind::Equal))
      fail(at_->span(), diag::DeclinedFeature, "= value",
           "a field has no default; derive or implement `Default`");
    fields.push_back(field);
  });
  return list(fields);
}

ArrayRef<ast::FieldDecl> Parser::parseTupleFields(bool withVisibility) {
  const Token opener = *at_;
  advance();
  SmallVector<ast::FieldDecl, 4> fields;
  parseList(TokenKind::RightParen, opener, [&] {
    ast::FieldDecl field;
    field.attributes = parseAttributes();
    if (withVisibility)
      field.visibility = parseVisibility();
    field.type = parseType();
    fields.push_back(field);
  });
  return list(fields);
}

// Enum = [ "packed" ] "enum" Ident [ Generics ] [ ":" UWidth ] "{" ... "}" [ Where ]
ast::Item* Parser::parseEnum() {
  auto* item = context_.make<ast::EnumItem>(at_->span());
  if (atWord(Word::Packed)) {
    item->isPacked = true;
    advance();
  }
  if (!parseHeader(item, "the name of the enum", item->generics))
    return item;
  if (accept(TokenKind::Colon)) {
    item->width = expectIdent("the width of the enum");
    unsigned bits = 0;
    StringRef width = item->width.name.text();
    if (!panic_ && (!width.consume_front("u") || width.getAsInteger(10, bits) || bits == 0 ||
                    bits > 64 || width.starts_with("0")))
      complain(item->width.span, diag::EnumWidth, item->width.name.text());
  }
  if (!panic_)
    parseWhere(item->generics);
  const Token opener = *at_;
  if (panic_ || !expect(TokenKind::LeftBrace, "`{` and the variants"))
    return item;
  SmallVector<ast::VariantDecl, 8> variants;
  parseList(TokenKind::RightBrace, opener, [&] {
    ast::VariantDecl variant;
    const uint32_t begin = at_->begin;
    variant.attributes = parseAttributes();
    if (at(TokenKind::Pub)) {
      fail(at_->span(), diag::UnexpectedToken, "a variant", "`pub`")
          .help("a variant is as visible as its enum");
      return;
    }
    variant.name = expectIdent("the name of a variant");
    if (panic_)
      return;
    if (at(TokenKind::LeftParen) && !at_->newlineBefore) {
      variant.shape = ast::StructShape::Tuple;
      variant.fields = parseTupleFields(false);
    } else if (at(TokenKind::LeftBrace) && !at_->newlineBefore) {
      variant.shape = ast::StructShape::Named;
      variant.fields = parseNamedFields();
    }
    if (!panic_ && at(TokenKind::Equal)) {
      fail(at_->span(), diag::DeclinedFeature, "= value",
           "variants number from zero in the order they are written");
      return;
    }
    variant.span = from(begin);
    variants.push_back(variant);
  });
  item->variants = list(variants);
  if (!panic_)
    parseWhere(item->generics);
  return item;
}

// ---- traits and impls -----------------------------------------------------------------------

// Trait = "trait" Ident [ Generics ] [ ":" Bounds ] "{" { TraitItem } "}"
ast::Item* Parser::parseTrait() {
  auto* item = context_.make<ast::TraitItem>(at_->span());
  if (!parseHeader(item, "the name of the trait", item->generics))
    return item;
  if (accept(TokenKind::Colon))
    item->supertraits = parseBounds();
  if (!panic_)
    parseWhere(item->generics);
  if (!panic_)
    item->items = parseMembers(true);
  return item;
}

// Impl = "impl" [ Generics ] [ TypePath "for" ] Type [ Where ] "{" { ImplItem } "}"
ast::Item* Parser::parseImpl() {
  auto* item = context_.make<ast::ImplItem>(at_->span());
  advance();
  parseGenerics(item->generics);
  if (panic_)
    return item;
  item->target = parseType();
  if (!panic_ && at(TokenKind::For)) {
    const auto* trait = llvm::dyn_cast<ast::PathTypeNode>(item->target);
    if (!trait) {
      fail(item->target->span, diag::UnexpectedToken, "the name of a trait",
           ("`" + text(item->target->span) + "`").str());
      return item;
    }
    item->hasTrait = true;
    item->trait = trait->path;
    advance();
    item->target = parseType();
  }
  if (!panic_)
    parseWhere(item->generics);
  if (!panic_)
    item->items = parseMembers(false);
  return item;
}

// TraitItem = { Attr } ( FnSig [ Block ] | "type" .. | "const" .. )
// ImplItem = { Attr } [ Vis ] ( Fn | "const" .. | "type" .. )
ArrayRef<ast::Item*> Parser::parseMembers(bool isTrait) {
  ++functionDepth_; // a method of this name is not `main`
  const auto leave = llvm::make_scope_exit([&] { --functionDepth_; });
  const Token opener = *at_;
  if (!expect(TokenKind::LeftBrace, "`{`"))
    return {};
  SmallVector<ast::Item*, 8> members;
  while (!at(TokenKind::RightBrace)) {
    if (atEnd()) {
      failUnclosed(opener);
      return list(members);
    }
    const Token* start = at_;
    const uint32_t begin = at_->begin;
    const Span documentation = documentationAbove(begin);
    const ArrayRef<ast::Attribute> attributes = parseAttributes();
    const ast::Visibility visibility = parseVisibility();
    ast::Item* member = nullptr;
    if (!panic_) {
      switch (kind()) {
      case TokenKind::Fn:
      case TokenKind::Unsafe: {
        ast::FunctionItem* function = parseFunction();
        if (!function->body && !isTrait && !panic_)
          failExpected("`{` and the body");
        member = function;
        break;
      }
      case TokenKind::Const:
        member = parseConst(true);
        break;
      case TokenKind::Type:
        member = parseAlias(true);
        break;
      default:
        if (at(TokenKind::Identifier) && atItem() && atWord(Word::Comptime))
          member = parseFunction();
        else
          failExpected(isTrait ? "`fn`, `const` or `type` in a trait"
                               : "`fn`, `const` or `type` in an impl");
      }
    }
    if (member) {
      member->attributes = attributes;
      member->visibility = visibility;
      member->documentation = documentation;
      member->span = from(begin);
      if (member->name.name && cfgHolds(attributes))
        members.push_back(member);
    }
    endItem(start);
  }
  advance();
  return list(members);
}

// ---- the small ones -------------------------------------------------------------------------

// Alias = "type" Ident [ Generics ] "=" Type; a member also "type" Ident [ ":" Bounds ] [ "=" Type
// ]
ast::Item* Parser::parseAlias(bool isMember) {
  auto* item = context_.make<ast::AliasItem>(at_->span());
  if (!parseHeader(item, "the name of the type", item->generics))
    return item;
  if (isMember && accept(TokenKind::Colon))
    item->bounds = parseBounds();
  if (panic_)
    return item;
  if (!at(TokenKind::Equal)) {
    if (!isMember)
      failExpected("`=` and the type");
    return item;
  }
  advance();
  if (atWord(Word::New) && at(TokenKind::Identifier) && !at_[1].newlineBefore &&
      (at_[1].kind == TokenKind::Identifier || at_[1].kind == TokenKind::LeftParen ||
       at_[1].kind == TokenKind::LeftBracket || at_[1].kind == TokenKind::SelfType)) {
    complain(at_->span(), diag::NewTypeSpelling, item->name.name.text());
    advance();
  }
  item->target = parseType();
  return item;
}

// NewType = "newtype" Ident [ Generics ] "=" Type
ast::Item* Parser::parseNewtype() {
  auto* item = context_.make<ast::NewtypeItem>(at_->span());
  if (parseHeader(item, "the name of the type", item->generics) &&
      expect(TokenKind::Equal, "`=` and the type"))
    item->target = parseType();
  return item;
}

// Const = "const" Ident ":" Type "=" Expr
ast::Item* Parser::parseConst(bool isMember) {
  auto* item = context_.make<ast::ConstItem>(at_->span());
  advance();
  return parseTypedValue(item, "the name of the constant", isMember);
}

// Static = "static" [ "mut" ] Ident ":" Type "=" Expr
ast::Item* Parser::parseStatic() {
  auto* item = context_.make<ast::StaticItem>(at_->span());
  advance();
  item->isMutable = accept(TokenKind::Mut);
  return parseTypedValue(item, "the name of the static", /*mayLackValue=*/false);
}

/// The rest of a constant or static, from its name on. An item with a name has a type.
template <class Node>
ast::Item* Parser::parseTypedValue(Node* item, StringRef what, bool mayLackValue) {
  item->name = expectIdent(what);
  if (panic_)
    return item;
  if (accept(TokenKind::Colon))
    item->type = parseType();
  else
    complain(item->name.span, diag::MissingConstantType, item->name.name.text());
  if (!panic_ && !(mayLackValue && !at(TokenKind::Equal)) &&
      expect(TokenKind::Equal, "`=` and the value"))
    item->value = parseExprIn(Mode{});
  if (!item->type)
    item->type = context_.make<ast::ErrorTypeNode>(item->name.span);
  return item;
}

// Mod = "mod" Ident [ "{" { Use | Item } "}" ]
ast::Item* Parser::parseMod() {
  auto* item = context_.make<ast::ModuleItem>(at_->span());
  item->hasBody = false;
  item->file = id_;
  item->package = file_.package;
  advance();
  item->name = expectIdent("the name of the module");
  if (panic_)
    return item;
  if (at(TokenKind::Semicolon)) {
    complain(at_->span(), diag::ModWithSemicolon, item->name.name.text())
        .suggest(at_->span(), "", "remove it");
    advance();
    return item;
  }
  if (!at(TokenKind::LeftBrace) || at_->newlineBefore)
    return item;
  const Token opener = *at_;
  advance();
  item->hasBody = true;
  parseModuleBody(item, opener);
  return item;
}

void Parser::parseModuleBody(ast::ModuleItem* module, const Token& opener) {
  module->innerAttributes = parseInnerAttributes();
  SmallVector<ast::Item*, 8> items;
  while (!at(TokenKind::RightBrace)) {
    if (atEnd()) {
      failUnclosed(opener);
      break;
    }
    const Token* start = at_;
    if (atItem() || (at(TokenKind::Hash) && atAttribute())) {
      if (ast::Item* item = parseItem())
        items.push_back(item);
      endItem(start);
    } else if (canStartExpr() || at(TokenKind::Let)) {
      complain(at_->span(), diag::StatementOutsideEntry);
      bool endsWithBlock = false;
      parseStatement(endsWithBlock);
      endStatement(start, endsWithBlock);
    } else {
      failExpected("an item");
      recoverStatement(start);
      if (at_ == start)
        advance();
    }
  }
  accept(TokenKind::RightBrace);
  module->items = list(items);
}

// Extern = "unsafe" "extern" String "{" ... "}"
ast::Item* Parser::parseExtern() {
  auto* item = context_.make<ast::ErrorItem>(at_->span());
  const uint32_t begin = at_->begin;
  const bool isUnsafe = accept(TokenKind::Unsafe);
  const Token keyword = *at_;
  advance();
  const bool hasAbi = accept(TokenKind::String);
  if (isUnsafe && hasAbi && at(TokenKind::LeftBrace))
    complain({begin, keyword.end}, diag::NotYet, "foreign functions (`unsafe extern`)");
  else
    complain(keyword.span(), diag::ExternForm, ("in front of " + found(*at_)));
  if (at(TokenKind::LeftBrace)) {
    skipGroup();
    return item;
  }
  panic_ = true; // reported; skip the line
  return item;
}

} // namespace gos::parse
