// `use` (language.md section 17.2): groups are flattened, one leaf for each name they bring.

#include "compiler/lex/strings.h"
#include "compiler/parse/parser.h"

namespace gos::parse {

// Use = "use" UseRoot [ "as" Ident ] | "use" UseRoot "::" "{" UseLeaf { SEP UseLeaf } "}"
// UseRoot = String [ "::" ModPath ] | ModPath
ast::Item* Parser::parseUse() {
  auto* item = context_.make<ast::UseItem>(at_->span());
  advance();
  ast::UseLeaf shared;
  SmallVector<ast::Ident, 8> prefix;
  SmallVector<ast::UseLeaf, 4> leaves;
  const uint32_t begin = at_->begin;
  if (at(TokenKind::String)) {
    const lex::StringBody body = lex::bodyOf(file_, *at_, engine_);
    shared.package = body.text();
    shared.packageSpan = at_->span();
    if (shared.package.empty())
      complain(at_->span(), diag::MalformedUse, "the project id is empty");
    advance();
    if (!accept(TokenKind::ColonColon)) {
      // The binding is the last part of the id, spelled as a name.
      ast::UseLeaf leaf = shared;
      std::string last = shared.package.substr(shared.package.rfind('/') + 1).str();
      std::replace(last.begin(), last.end(), '-', '_');
      leaf.binding = {context_.names.intern(last), shared.packageSpan};
      if (accept(TokenKind::As))
        leaf.binding = expectIdent("a name after `as`");
      leaf.span = from(begin);
      leaves.push_back(leaf);
      item->leaves = list(leaves);
      return item;
    }
  }
  parseUseTree(prefix, shared, leaves, true);
  item->leaves = list(leaves);
  return item;
}

// UseLeaf = ( Ident | "self" ) [ "as" Ident ] | Ident "::" ( UseLeaf | "{" UseLeaf { SEP UseLeaf }
// "}" )
void Parser::parseUseTree(SmallVectorImpl<ast::Ident>& prefix, const ast::UseLeaf& shared,
                          SmallVectorImpl<ast::UseLeaf>& leaves, bool isRoot) {
  const size_t depth = prefix.size();
  const uint32_t begin = at_->begin;
  bool isSelfLeaf = false;
  for (;;) {
    if (at(TokenKind::LeftBrace) &&
        (prefix.size() != depth || (isRoot && shared.packageSpan.valid()))) {
      parseUseGroup(prefix, shared, leaves);
      prefix.resize(depth);
      return;
    }
    if (at(TokenKind::Star)) {
      fail(at_->span(), diag::MalformedUse, "`*` imports nothing; name what is wanted");
      break;
    }
    const bool isFirst = prefix.size() == depth;
    const bool isName = at(TokenKind::Identifier) && !atWord(Word::Underscore);
    const bool isRootWord = at(TokenKind::Crate) || at(TokenKind::SelfValue);
    if (at(TokenKind::SelfValue) && isFirst && !isRoot) {
      isSelfLeaf = true;
      advance();
      break;
    }
    if (!isName && !at(TokenKind::Super) && !(isRootWord && isFirst && isRoot)) {
      if (atEnd())
        failExpected("a name");
      else
        fail(at_->span(), diag::MalformedUse, "expected a name, found " + found(*at_));
      break;
    }
    ast::Ident segment = ident(*at_);
    advance();
    if (at(TokenKind::Minus) && !at_->newlineBefore && isName) {
      std::string joined = segment.name.text().str();
      while (at(TokenKind::Minus) && peek() == TokenKind::Identifier) {
        advance();
        joined += "_" + text(*at_).str();
        advance();
      }
      segment.span = from(segment.span);
      segment.name = context_.names.intern(joined);
      complain(segment.span, diag::DashInUsePath, joined).suggest(segment.span, joined, "");
    }
    prefix.push_back(segment);
    if (at(TokenKind::Dot) && !at_->newlineBefore) {
      fail(at_->span(), diag::MalformedUse, "names of a path are joined by `::`, not `.`");
      break;
    }
    if (at_->newlineBefore || !accept(TokenKind::ColonColon))
      break;
  }
  if (panic_) {
    prefix.resize(depth);
    return;
  }
  ast::UseLeaf leaf = shared;
  leaf.path = list(prefix);
  leaf.binding = prefix.empty() ? ast::Ident{} : prefix.back();
  if (isSelfLeaf && prefix.empty()) {
    std::string last = shared.package.substr(shared.package.rfind('/') + 1).str();
    std::replace(last.begin(), last.end(), '-', '_');
    leaf.binding = {context_.names.intern(last), shared.packageSpan};
  }
  if (at(TokenKind::As) && !at_->newlineBefore) {
    advance();
    leaf.binding = expectIdent("a name after `as`");
  }
  leaf.span = from(begin);
  if (!panic_)
    leaves.push_back(leaf);
  prefix.resize(depth);
}

void Parser::parseUseGroup(SmallVectorImpl<ast::Ident>& prefix, const ast::UseLeaf& shared,
                           SmallVectorImpl<ast::UseLeaf>& leaves) {
  const Token opener = *at_;
  Nest nest(*this);
  if (!nest.ok)
    return;
  advance();
  parseList(TokenKind::RightBrace, opener, [&] { parseUseTree(prefix, shared, leaves, false); });
}

} // namespace gos::parse
