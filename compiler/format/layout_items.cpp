// Items (language.md section 9), attributes, `use`.

#include "compiler/format/layout.h"

namespace gos::format {

bool Layout::atAttribute() {
  if (notAttributes_.contains(at_))
    return false;
  llvm::SmallVector<size_t, 4> run;
  size_t token = at_;
  while (tokens_[token].kind == TokenKind::Hash &&
         tokens_[token + 1].kind == TokenKind::LeftBracket) {
    run.push_back(token);
    token = matching(token + 1) + 1;
    if (token >= tokens_.size())
      return false;
  }
  if (!run.empty() && parse::beginsItem(&tokens_[token]))
    return true;
  // Each of the run is asked about in turn, and the answer is the same.
  notAttributes_.insert(run.begin(), run.end());
  return false;
}

/// `[name(..)]`, `[name = literal]`, behind the `#`: its tokens on one line.
Doc Layout::attribute() {
  const size_t close = matching(at_);
  Parts parts;
  bool wantsSpace = false;
  while (at_ <= close && !atEnd() && !failed_) {
    const bool isWord =
        at(TokenKind::Identifier) || lex::isKeyword(kind()) || !lex::isPunctuation(kind());
    const bool isSpaced = at(TokenKind::Equal) || at(TokenKind::FatArrow);
    const TokenKind previous = at_ == 0 ? TokenKind::EndOfFile : tokens_[at_ - 1].kind;
    const bool followsWord = previous == TokenKind::Identifier || lex::isKeyword(previous);
    if (wantsSpace || isSpaced || (isWord && followsWord))
      parts.push_back(text(" "));
    wantsSpace = isSpaced || at(TokenKind::Comma);
    parts.push_back(take());
  }
  return docs_.concat(parts);
}

/// On lines of their own, or in front of what they belong to as they are written.
Doc Layout::attributes(bool ownLines) {
  Parts parts;
  while (at(TokenKind::Hash) && peek().kind == TokenKind::LeftBracket && !failed_) {
    parts.push_back(take());
    parts.push_back(attribute());
    if (ownLines || now().newlineBefore)
      lineTo(parts, false);
    else
      parts.push_back(text(" "));
  }
  return docs_.concat(parts);
}

// Vis = "pub" [ "(" "package" ")" ]
Doc Layout::visibility() {
  if (!at(TokenKind::Pub))
    return nullptr;
  Parts parts{take()};
  if (at(TokenKind::LeftParen) && peek().kind == TokenKind::Package) {
    parts.push_back(take());
    parts.push_back(take());
    parts.push_back(take());
  }
  parts.push_back(text(" "));
  return docs_.concat(parts);
}

// Item = { Attr } [ Vis ] ItemKind
Doc Layout::item() {
  const Doc front = attributes(true);
  const Doc seen = visibility();
  return docs_.concat({front, seen, itemKind()});
}

Doc Layout::itemKind() {
  switch (kind()) {
  case TokenKind::Fn:
    return function();
  case TokenKind::Struct:
    return structItem();
  case TokenKind::Enum:
    return enumItem();
  case TokenKind::Trait: {
    const Doc word = takeThenSpace();
    const Doc name = take();
    const Doc parameters = generics();
    Parts parts{word, name, parameters};
    if (at(TokenKind::Colon)) {
      parts.push_back(takeThenSpace());
      parts.push_back(bounds());
    }
    parts.push_back(where());
    parts.push_back(members());
    return docs_.concat(parts);
  }
  case TokenKind::Impl: {
    const Doc word = take();
    const Doc parameters = generics();
    Parts parts{word, parameters, text(" "), type()};
    if (at(TokenKind::For)) {
      spaced(parts);
      parts.push_back(type());
    }
    parts.push_back(where());
    parts.push_back(members());
    return docs_.concat(parts);
  }
  case TokenKind::Type: {
    Parts parts{takeThenSpace(), take(), generics()};
    if (at(TokenKind::Colon)) {
      parts.push_back(takeThenSpace());
      parts.push_back(bounds());
    }
    if (at(TokenKind::Equal)) {
      spaced(parts);
      parts.push_back(type());
    }
    return docs_.concat(parts);
  }
  case TokenKind::Const:
  case TokenKind::Static: {
    Parts parts{takeThenSpace()};
    if (at(TokenKind::Mut))
      parts.push_back(takeThenSpace());
    parts.push_back(take());
    typeAnnotation(parts);
    if (at(TokenKind::Equal)) {
      spaced(parts);
      parts.push_back(expressionIn(Mode{}).doc);
    }
    return docs_.concat(parts);
  }
  case TokenKind::Mod: {
    Parts parts{takeThenSpace(), take()};
    if (at(TokenKind::LeftBrace) && !now().newlineBefore)
      parts.push_back(members());
    return docs_.concat(parts);
  }
  case TokenKind::Use:
    return use();
  case TokenKind::Identifier:
    if (atWord(Word::Comptime))
      return function();
    if (atWord(Word::Packed)) {
      const Doc word = takeThenSpace();
      return docs_.concat({word, enumItem()});
    }
    if (atWord(Word::Newtype)) {
      Parts parts{takeThenSpace(), take(), generics(), text(" ")};
      parts.push_back(take(TokenKind::Equal));
      parts.push_back(text(" "));
      parts.push_back(type());
      return docs_.concat(parts);
    }
    return fail();
  default:
    return fail();
  }
}

// ---- functions --------------------------------------------------------------------------------

// Fn = [ "comptime" ] "fn" Ident [ Generics ] "(" [ Params ] ")" [ "->" Type ] [ Where ] [ Block ]
Doc Layout::function() {
  Parts parts;
  if (at(TokenKind::Identifier))
    parts.push_back(takeThenSpace());
  parts.push_back(take(TokenKind::Fn));
  parts.push_back(text(" "));
  parts.push_back(take());
  parts.push_back(generics());
  if (!at(TokenKind::LeftParen))
    return fail();
  parts.push_back(list(TokenKind::RightParen, ListStyle::Lines, Padding::None, [this] {
                    return plain(parameter());
                  }).doc);
  if (at(TokenKind::Arrow)) {
    spaced(parts);
    parts.push_back(type());
  }
  parts.push_back(where());
  if (at(TokenKind::LeftBrace)) {
    parts.push_back(text(" "));
    parts.push_back(block().doc);
  }
  return docs_.concat(parts);
}

// Param = [ "comptime" ] [ "mut" ] Pattern ":" Type [ "=" DefaultLit ]; and the forms of `self`
Doc Layout::parameter() {
  Parts parts;
  if (at(TokenKind::Identifier) && atWord(Word::Comptime) && peek().kind != TokenKind::Colon)
    parts.push_back(takeThenSpace());
  parts.push_back(pattern());
  typeAnnotation(parts);
  if (at(TokenKind::Equal)) {
    spaced(parts);
    parts.push_back(expression().doc);
  }
  return docs_.concat(parts);
}

// Generics = "<" GParam { SEP GParam } ">"
Doc Layout::generics() {
  if (!at(TokenKind::Less))
    return nullptr;
  Parts parts{take()};
  bool isFirst = true;
  while (!atAngleClose() && !atEnd() && !failed_) {
    if (!isFirst)
      parts.push_back(text(", "));
    isFirst = false;
    const bool isConst = at(TokenKind::Const);
    if (isConst)
      parts.push_back(takeThenSpace());
    parts.push_back(take());
    if (at(TokenKind::Colon)) {
      parts.push_back(takeThenSpace());
      parts.push_back(bounds());
    }
    if (at(TokenKind::Equal)) {
      spaced(parts);
      parts.push_back(!isConst ? type() : at(TokenKind::LeftBrace) ? block().doc : prefix().doc);
    }
    skipComma(parts);
  }
  parts.push_back(closeAngle());
  return docs_.concat(parts);
}

// Bounds = Bound { "+" Bound }
Doc Layout::bounds() {
  Parts parts;
  for (;;) {
    parts.push_back(at(TokenKind::Label) ? take() : type());
    if (!at(TokenKind::Plus) || failed_)
      break;
    spaced(parts);
  }
  return docs_.concat(parts);
}

// Where = "where" Type ":" Bounds { SEP Type ":" Bounds }
Doc Layout::where() {
  if (!at(TokenKind::Where))
    return nullptr;
  const bool forced = now().newlineBefore;
  Parts parts{docs_.line(" "), takeThenSpace()};
  for (bool isFirst = true; !failed_; isFirst = false) {
    if (!isFirst)
      parts.push_back(text(", "));
    parts.push_back(type());
    parts.push_back(take(TokenKind::Colon));
    parts.push_back(text(" "));
    parts.push_back(bounds());
    if (skipComma(parts))
      continue;
    if (!now().newlineBefore ||
        !(peek().kind == TokenKind::Colon || peek().kind == TokenKind::ColonColon ||
          peek().kind == TokenKind::Less))
      break;
  }
  return docs_.group(docs_.indent(docs_.concat(parts)), forced);
}

// ---- types ------------------------------------------------------------------------------------

// Field = { Attr } [ Vis ] [ Ident ":" ] Type
Doc Layout::field() {
  const Doc front = attributes(false);
  const Doc seen = visibility();
  Parts parts{front, seen};
  if (at(TokenKind::Identifier) && peek().kind == TokenKind::Colon) {
    parts.push_back(take());
    parts.push_back(takeThenSpace());
  }
  parts.push_back(type());
  return docs_.concat(parts);
}

// Struct = "struct" Ident [ Generics ] [ StructBody ] [ Where ]
Doc Layout::structItem() {
  const auto element = [this] { return plain(field()); };
  Parts parts{takeThenSpace(), take(), generics(), where()};
  if (at(TokenKind::LeftBrace)) {
    parts.push_back(text(" "));
    parts.push_back(list(TokenKind::RightBrace, ListStyle::Lines, Padding::Space, element).doc);
  } else if (at(TokenKind::LeftParen) && !now().newlineBefore) {
    parts.push_back(list(TokenKind::RightParen, ListStyle::Lines, Padding::None, element).doc);
  }
  parts.push_back(where());
  return docs_.concat(parts);
}

// "enum" Ident [ Generics ] [ ":" UWidth ] "{" [ Variant { SEP Variant } [ "," ] ] "}" [ Where ]
Doc Layout::enumItem() {
  Parts parts{takeThenSpace(), take(), generics()};
  if (at(TokenKind::Colon)) {
    parts.push_back(takeThenSpace());
    parts.push_back(take());
  }
  parts.push_back(where());
  parts.push_back(text(" "));
  if (!at(TokenKind::LeftBrace))
    return fail();
  parts.push_back(list(TokenKind::RightBrace, ListStyle::Rows, Padding::Space, [this] {
                    const size_t begin = at_;
                    Piece piece;
                    piece.doc = variant();
                    piece.isSimple = at_ == begin + 1;
                    return piece;
                  }).doc);
  parts.push_back(where());
  return docs_.concat(parts);
}

// Variant = { Attr } Ident [ "(" Type { SEP Type } ")" | "{" Field { SEP Field } "}" ]
Doc Layout::variant() {
  const auto element = [this] { return plain(field()); };
  const Doc front = attributes(false);
  Parts parts{front, take()};
  if (at(TokenKind::LeftParen) && !now().newlineBefore) {
    parts.push_back(list(TokenKind::RightParen, ListStyle::Lines, Padding::None, element).doc);
  } else if (at(TokenKind::LeftBrace) && !now().newlineBefore) {
    parts.push_back(text(" "));
    parts.push_back(list(TokenKind::RightBrace, ListStyle::Lines, Padding::Space, element).doc);
  }
  return docs_.concat(parts);
}

/// The items of a trait, an impl or a module, in their braces.
Doc Layout::members() {
  const Doc contents = block().doc;
  return docs_.concat({text(" "), contents});
}

// ---- use --------------------------------------------------------------------------------------

Doc Layout::use() {
  const Doc word = takeThenSpace();
  if (!at(TokenKind::String))
    return docs_.concat({word, useTree()});
  Parts parts{word, take()};
  if (at(TokenKind::ColonColon)) {
    parts.push_back(take());
    parts.push_back(useTree());
  } else
    alias(parts);
  return docs_.concat(parts);
}

// UseLeaf = ( Ident | "self" ) [ "as" Ident ] | Ident "::" ( UseLeaf | "{" .. "}" )
Doc Layout::useTree() {
  Parts parts;
  for (;;) {
    if (at(TokenKind::LeftBrace)) {
      parts.push_back(list(TokenKind::RightBrace, ListStyle::Rows, Padding::None, [this] {
                        const size_t begin = at_;
                        Piece piece;
                        piece.doc = useTree();
                        piece.isSimple = at_ <= begin + 3;
                        return piece;
                      }).doc);
      return docs_.concat(parts);
    }
    parts.push_back(take());
    if (!at(TokenKind::ColonColon) || failed_)
      break;
    parts.push_back(take());
  }
  alias(parts);
  return docs_.concat(parts);
}

} // namespace gos::format
