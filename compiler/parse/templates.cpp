// Format templates and interpolated strings (language.md sections 2.9 and 18).

#include "compiler/parse/parser.h"

#include "compiler/lex/characters.h"
#include "compiler/lex/strings.h"

namespace gos::parse {

namespace {

bool isFormatting(ast::KnownCall which) {
  switch (which) {
  case ast::KnownCall::Println:
  case ast::KnownCall::Print:
  case ast::KnownCall::Eprintln:
  case ast::KnownCall::Eprint:
  case ast::KnownCall::Format:
  case ast::KnownCall::Panic:
  case ast::KnownCall::Todo:
  case ast::KnownCall::Unimplemented:
  case ast::KnownCall::Unreachable:
    return true;
  case ast::KnownCall::Matches:
  case ast::KnownCall::Dbg:
  case ast::KnownCall::Codegen:
    return false;
  }
  return false;
}

} // namespace

/// `name(..)` or `name!(..)` for a name of known_calls.def.
Expr* Parser::parseKnownCall(const Token& nameToken, ast::KnownCall which) {
  auto* call = context_.make<ast::KnownCallExpr>(nameToken.span());
  const uint32_t begin = nameToken.begin;
  call->which = which;
  call->name = ident(nameToken);
  advance();
  call->hasBang = accept(TokenKind::Bang);
  const Token opener = *at_;
  Nest nest(*this);
  if (!nest.ok)
    return call;
  advance();
  ModeScope scope(*this, Mode{});
  SmallVector<Expr*, 4> values;
  Token literal; // the first argument, when it is a string literal and nothing more
  bool isFirst = true, isBroken = false; // isBroken: a bad escape in it has been reported
  parseList(TokenKind::RightParen, opener, [&] {
    if (which == ast::KnownCall::Matches && values.size() == 1 && !call->pattern) {
      call->pattern = parsePattern();
      return;
    }
    if (at(TokenKind::Identifier) && peek() == TokenKind::Colon) {
      fail(at_[1].span(), diag::UnexpectedToken, "an argument without a label", "`:`");
      return;
    }
    const Token first = *at_;
    const size_t errorsBefore = engine_.errorCount() + engine_.suppressed();
    values.push_back(parseExpr());
    if (isFirst && isTemplateLiteral(first.kind) && values.back()->kind == ast::ExprKind::String &&
        !values.back()->parenthesised) {
      literal = first;
      isBroken = engine_.errorCount() + engine_.suppressed() != errorsBefore;
    }
    isFirst = false;
  });
  call->span = from(begin);
  if (panic_) {
    call->arguments = list(values);
    return call;
  }
  if (!isFormatting(which)) {
    call->arguments = list(values);
    const bool isMatches = which == ast::KnownCall::Matches;
    if (values.size() != 1 || (isMatches && !call->pattern)) {
      const size_t given = values.size() + (call->pattern ? 1 : 0);
      complain(call->span, diag::CallArity, call->name.name.text(), size_t(isMatches ? 2 : 1),
               given);
      return errorExpr(call->span);
    }
    return call;
  }
  if (literal.kind != TokenKind::EndOfFile) {
    call->hasTemplate = true;
    call->arguments = list(values).drop_front();
    if (!isBroken)
      call->pieces = cutTemplate(literal, call->arguments);
    return call;
  }
  call->arguments = list(values);
  if (values.size() > 1)
    complain(values.front()->span, diag::NoLiteralTemplate, call->name.name.text());
  if (!values.empty()) {
    ast::FormatPiece piece;
    piece.value = values.front();
    call->pieces = context_.list(ArrayRef(piece));
  }
  return call;
}

/// `errors::newf(template, ..)`: the template is expanded as that of `format` is.
Expr* Parser::formatCallOf(const Token& callee, ArrayRef<ast::Argument> arguments,
                           const Token* literal) {
  if (callee.kind != TokenKind::Identifier || text(callee) != "newf" || arguments.empty() ||
      !llvm::isa<ast::StringExpr>(arguments.front().value))
    return nullptr;
  SmallVector<Expr*, 4> values;
  for (const ast::Argument& argument : arguments.drop_front())
    values.push_back(argument.value);
  auto* format = context_.make<ast::KnownCallExpr>(
      arguments.front().value->span.to(arguments.back().value->span));
  format->which = ast::KnownCall::Format;
  format->name = {context_.names.intern("format"), callee.span()};
  format->hasTemplate = true;
  format->arguments = list(values);
  format->pieces = cutTemplate(*literal, format->arguments);
  return format;
}

/// Cuts a literal template into pieces. An escape never opens a placeholder.
ArrayRef<ast::FormatPiece> Parser::cutTemplate(const Token& literal, ArrayRef<Expr*> arguments) {
  const lex::StringBody body = lex::bodyOf(file_, literal, engine_);
  const StringRef words = body.text();
  SmallVector<ast::FormatPiece, 8> pieces;
  llvm::SmallString<128> decoded;
  size_t positional = 0, textBegin = 0, at = 0;
  const auto flush = [&](size_t end) -> StringRef {
    const StringRef piece = words.slice(textBegin, end);
    const bool isPlain = !body.isDedented && llvm::all_of(piece, [](char c) {
      return uint8_t(c) < 0x80 && c != '\\' && c != '{' && c != '}';
    });
    if (isPlain)
      return piece;
    decoded.clear();
    lex::appendText(body, body.begin + uint32_t(textBegin), body.begin + uint32_t(end),
                    lex::Braces::Doubled, decoded, engine_);
    return context_.string(decoded);
  };
  while (at < words.size()) {
    const char c = words[at];
    if (c == '\\' && !body.isRaw) {
      at += lex::escapeLength(words.begin() + at, words.end());
      continue;
    }
    if (c == '}' || (c == '{' && at + 1 < words.size() && words[at + 1] == '{')) {
      at += at + 1 < words.size() && words[at + 1] == c ? 2 : 1;
      continue;
    }
    if (c != '{') {
      ++at;
      continue;
    }
    size_t close = words.find_first_of("{}\n", at + 1);
    // A brace may be the fill of a spec: `{:}<5}`.
    if (close != StringRef::npos && words[close] == '}' && words[close - 1] == ':' &&
        close + 1 < words.size() && StringRef("<^>").contains(words[close + 1]) &&
        words.substr(close + 1)
            .take_while([](char d) { return d != '{' && d != '\n'; })
            .contains('}'))
      close = words.find('}', close + 1);
    if (close == StringRef::npos || words[close] != '}') {
      ++at; // reported when the text is decoded, as a stray brace
      continue;
    }
    const Span span{body.begin + uint32_t(at), body.begin + uint32_t(close) + 1};
    const StringRef whole = words.slice(at, close + 1);
    const StringRef inside = words.slice(at + 1, close);
    ast::FormatPiece piece;
    piece.text = flush(at);
    const size_t colon = inside.find(':');
    const bool isPathSeparator = colon != StringRef::npos && inside.substr(colon).starts_with("::");
    const StringRef nameText = inside.take_front(isPathSeparator ? StringRef::npos : colon);
    if (nameText.trim().empty()) {
      piece.value = positional < arguments.size() ? arguments[positional] : errorExpr(span);
      ++positional;
    } else {
      piece.value = parsePlaceholderName(nameText, span.begin + 1, whole, span);
    }
    if (colon != StringRef::npos && !isPathSeparator)
      parseSpec(inside.substr(colon + 1), {span.begin + 2 + uint32_t(colon), span.end - 1}, whole,
                piece.spec);
    pieces.push_back(piece);
    at = textBegin = close + 1;
  }
  if (textBegin < words.size()) {
    ast::FormatPiece last;
    last.text = flush(words.size());
    pieces.push_back(last);
  }
  if (positional != arguments.size())
    complain(literal.span(), diag::PlaceholderCount, positional, arguments.size());
  return list(pieces);
}

/// The name or field path of a template's placeholder: `name`, `name.path.0`.
Expr* Parser::parsePlaceholderName(StringRef words, uint32_t begin, StringRef whole,
                                   Span wholeSpan) {
  const uint32_t lead = uint32_t(words.size() - words.ltrim().size());
  words = words.trim();
  begin += lead;
  Expr* value = nullptr;
  const auto refuse = [&]() -> Expr* {
    complain(wholeSpan, diag::BadPlaceholder, whole, "only a name or a field path may stand in it")
        .help("bind the value first, or use an f-string");
    return errorExpr(wholeSpan);
  };
  unsigned links = 0;
  while (true) {
    const StringRef part = words.take_front(words.find('.'));
    const Span span{begin, begin + uint32_t(part.size())};
    if (part.empty() || ++links > kMaxNesting)
      return refuse();
    const bool isPosition = llvm::all_of(part, [](char c) { return lex::isClass(c, lex::kDigit); });
    const char* end = part.end();
    bool isName = false;
    if (!isPosition) {
      const lex::Scalar first = lex::decodeScalar(part.begin(), end);
      isName = first.length != 0 && lex::isXidStart(first.value) && part != "_";
      for (const char* place = part.begin() + first.length; isName && place < end;) {
        const lex::Scalar scalar = lex::decodeScalar(place, end);
        isName = scalar.length != 0 && lex::isXidContinue(scalar.value);
        place += scalar.length;
      }
    }
    if (!value) {
      if (!isName)
        return refuse();
      value = makeName(ast::Ident{context_.names.intern(part), span});
    } else if (isPosition) {
      auto* field = context_.make<ast::TupleFieldExpr>(value->span.to(span));
      field->object = value;
      if (part.getAsInteger(10, field->index))
        return refuse();
      value = field;
    } else if (isName) {
      auto* field = context_.make<ast::FieldExpr>(value->span.to(span));
      field->object = value;
      field->name = {context_.names.intern(part), span};
      value = field;
    } else {
      return refuse();
    }
    if (part.size() == words.size())
      return value;
    words = words.drop_front(part.size() + 1);
    begin += uint32_t(part.size()) + 1;
  }
}

// Spec = [ [ fill ] align ] [ "0" ] [ width ] [ "." precision ] [ kind ]
bool Parser::parseSpec(StringRef spec, Span span, StringRef whole, ast::FormatSpec& out) {
  const auto refuse = [&](StringRef why) {
    complain(span.size() == 0 ? Span{span.begin - 1, span.end} : span, diag::BadPlaceholder, whole,
             why);
    return false;
  };
  const auto alignOf = [](char c) {
    return c == '<'   ? ast::FormatSpec::Align::Left
           : c == '^' ? ast::FormatSpec::Align::Centre
           : c == '>' ? ast::FormatSpec::Align::Right
                      : ast::FormatSpec::Align::Default;
  };
  if (!spec.empty()) {
    const lex::Scalar fill = lex::decodeScalar(spec.begin(), spec.end());
    if (fill.length != 0 && spec.size() > fill.length &&
        alignOf(spec[fill.length]) != ast::FormatSpec::Align::Default) {
      out.fill = fill.value;
      out.align = alignOf(spec[fill.length]);
      spec = spec.drop_front(fill.length + 1);
    } else if (alignOf(spec.front()) != ast::FormatSpec::Align::Default) {
      out.align = alignOf(spec.front());
      spec = spec.drop_front();
    }
  }
  // A width past this is a mistake, or an attempt to make a program print gigabytes.
  constexpr int32_t kLargest = 65535;
  const auto number = [&](int32_t& value) {
    const StringRef digits = spec.take_while([](char c) { return lex::isClass(c, lex::kDigit); });
    if (digits.empty())
      return true;
    spec = spec.drop_front(digits.size());
    return !digits.getAsInteger(10, value) && value <= kLargest;
  };
  if (spec.starts_with("0")) {
    out.zero = true;
    spec = spec.drop_front();
  }
  if (!number(out.width))
    return refuse("width is too large");
  if (spec.consume_front(".")) {
    if (spec.empty() || !lex::isClass(spec.front(), lex::kDigit))
      return refuse("digits are missing after `.`");
    if (!number(out.precision))
      return refuse("precision is too large");
  }
  if (!spec.empty()) {
    switch (spec.front()) {
    case '?':
      out.kind = ast::FormatSpec::Kind::Debug;
      break;
    case 'x':
      out.kind = ast::FormatSpec::Kind::LowerHex;
      break;
    case 'X':
      out.kind = ast::FormatSpec::Kind::UpperHex;
      break;
    case 'b':
      out.kind = ast::FormatSpec::Kind::Binary;
      break;
    case 'o':
      out.kind = ast::FormatSpec::Kind::Octal;
      break;
    default:
      return refuse("a spec is a fill, an alignment, `0`, a width, a precision and a kind");
    }
    spec = spec.drop_front();
  }
  if (!spec.empty())
    return refuse("text follows the kind");
  return true;
}

Expr* Parser::parseFString(const Token& token) {
  SmallVector<lex::FStringPart, 8> parts;
  const lex::StringBody body = lex::cutFString(file_, token, parts, engine_);
  auto* result = context_.make<ast::FStringExpr>(token.span());
  SmallVector<ast::FormatPiece, 8> pieces;
  llvm::SmallString<128> decoded;
  lex::Braces braces = lex::Braces::Doubled;
  for (const lex::FStringPart& part : parts) {
    ast::FormatPiece piece;
    decoded.clear();
    lex::appendText(body, part.text.begin, part.text.end, braces, decoded, engine_);
    piece.text = context_.string(decoded);
    if (part.hasPlaceholder) {
      if (!part.isClosed) {
        complain(part.braces, diag::StrayBrace, "{");
        braces = lex::Braces::Data; // its `}` is the same mistake
        piece.value = errorExpr(part.braces);
      } else if (text(part.expr).trim().empty()) {
        complain(part.braces, diag::EmptyPlaceholder);
        piece.value = errorExpr(part.braces);
      } else {
        piece.value = parsePlaceholderExpr(part.expr);
        if (part.hasSpec)
          parseSpec(text(part.spec), part.spec, text(part.braces), piece.spec);
      }
    }
    if (piece.value || !piece.text.empty())
      pieces.push_back(piece);
  }
  result->pieces = list(pieces);
  return result;
}

/// Parses a stretch of the source inside a literal as one expression.
Expr* Parser::parsePlaceholderExpr(Span span) {
  Nest nest(*this);
  if (!nest.ok)
    return errorExpr(span);
  lex::TokenBuffer tokens =
      lex::lexRange(file_, span.begin - file_.base, span.end - file_.base, engine_);
  tokens_.swap(tokens);
  Token* const outerAt = at_;
  Token* const outerLast = last_;
  const uint32_t outerEnd = previousEnd_;
  const Token* const outerBranch = branchBody_;
  std::vector<uint32_t> outerClosers;
  std::swap(outerClosers, closers_);
  llvm::DenseSet<const Token*> outerNotAttributes;
  std::swap(outerNotAttributes, notAttributes_);
  at_ = tokens_.data();
  last_ = at_ + (tokens_.size() - lex::kEndPadding);
  previousEnd_ = at_->begin;
  branchBody_ = nullptr;
  const bool outerPanic = panic_;
  panic_ = gaveUp_;

  Mode mode;
  mode.freeBreaks = true;
  Expr* value = nullptr;
  {
    ModeScope scope(*this, mode);
    if (atEnd()) { // nothing but a comment
      fail(span, diag::EmptyPlaceholder);
      value = errorExpr(span);
    } else {
      value = parseExpr();
      if (!panic_ && !atEnd())
        fail(at_->span(), diag::UnexpectedToken, "`}` or `:`", found(*at_));
    }
  }

  tokens_.swap(tokens);
  at_ = gaveUp_ ? outerLast : outerAt;
  last_ = outerLast;
  previousEnd_ = outerEnd;
  branchBody_ = outerBranch;
  std::swap(outerClosers, closers_);
  std::swap(outerNotAttributes, notAttributes_);
  panic_ = outerPanic || gaveUp_;
  return value;
}

} // namespace gos::parse
