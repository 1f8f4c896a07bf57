#include "compiler/fold/splice.h"

#include "compiler/parse/parse.h"

#include <bit>
#include <cmath>

namespace gos::fold {
namespace {

using namespace ast;
using types::Kind;

NumberSuffix suffixOf(Kind kind) {
  switch (kind) {
  case Kind::I8:
    return NumberSuffix::I8;
  case Kind::I16:
    return NumberSuffix::I16;
  case Kind::I32:
    return NumberSuffix::I32;
  case Kind::I64:
    return NumberSuffix::I64;
  case Kind::Isize:
    return NumberSuffix::Isize;
  case Kind::U8:
    return NumberSuffix::U8;
  case Kind::U16:
    return NumberSuffix::U16;
  case Kind::U32:
    return NumberSuffix::U32;
  case Kind::U64:
    return NumberSuffix::U64;
  case Kind::Usize:
    return NumberSuffix::Usize;
  case Kind::F32:
    return NumberSuffix::F32;
  case Kind::F64:
    return NumberSuffix::F64;
  default:
    return NumberSuffix::None;
  }
}

template <class Node> Node* typed(Context& context, Span span, check::Type* type) {
  Node* node = context.make<Node>(span);
  node->type = type;
  return node;
}

Expr* negated(Expr* operand, check::Type* type, Context& context) {
  UnaryExpr* minus = typed<UnaryExpr>(context, operand->span, type);
  minus->op = UnaryOp::Negate;
  minus->operand = operand;
  minus->parenthesised = true;
  return minus;
}

} // namespace

Expr* literalOf(const RegionValue& value, check::Type* type, Span span, Context& context) {
  if (value.kind == RegionValue::Kind::Text) {
    StringExpr* text = typed<StringExpr>(context, span, type);
    text->value = context.string(value.text);
    return text;
  }
  if (type->isUnit())
    return typed<TupleExpr>(context, span, type);
  if (type->is(Kind::Bool)) {
    BoolExpr* boolean = typed<BoolExpr>(context, span, type);
    boolean->value = value.bits != 0;
    return boolean;
  }
  if (type->is(Kind::Char)) {
    CharExpr* character = typed<CharExpr>(context, span, type);
    character->value = uint32_t(value.bits);
    return character;
  }
  if (type->isFloat()) {
    double real = std::bit_cast<double>(value.bits);
    if (!std::isfinite(real))
      return nullptr;
    FloatExpr* literal = typed<FloatExpr>(context, span, type);
    literal->value = std::fabs(real);
    literal->suffix = suffixOf(type->kind);
    return std::signbit(real) ? negated(literal, type, context) : literal;
  }
  IntExpr* literal = typed<IntExpr>(context, span, type);
  literal->suffix = suffixOf(type->kind);
  const bool negative = type->isSigned() && int64_t(value.bits) < 0;
  literal->value = negative ? uint64_t(0) - value.bits : value.bits;
  return negative ? negated(literal, type, context) : literal;
}

Expr* parseGenerated(llvm::StringRef text, Span at, bool mayHoldReadText, bool foreign,
                     llvm::StringMap<unsigned>& countAt, check::ProgramInput& input,
                     Engine& engine) {
  SourceMap& sources = input.sources;
  const FileId around = sources.fileOf(at);
  const SourceFile& outer = sources.file(around);
  // Text in text is named by the place in a real file, and counted there.
  Span root = at;
  while (sources.file(sources.fileOf(root)).parent.valid())
    root = sources.file(sources.fileOf(root)).parent;
  const LineColumn place = sources.locate(root);
  const std::string where = sources.file(sources.fileOf(root)).name + ":" +
                            std::to_string(place.line) + ":" + std::to_string(place.column);
  const unsigned number = ++countAt[where];
  std::string name = (number == 1 ? std::string("<generated at ")
                                  : "<generated " + std::to_string(number) + " at ") +
                     where + ">";
  const uint32_t package = outer.package;
  // What was hidden stays hidden when it is generated from again.
  const bool hidden = mayHoldReadText || outer.snippets == Snippets::Hidden;
  const bool tainted = foreign || outer.foreign;
  auto added = sources.addCopy(std::move(name), text);
  if (!added) {
    engine.report(at, diag::RegionRefused, llvm::toString(added.takeError()));
    return nullptr;
  }
  SourceFile& file = sources.file(*added);
  file.package = package;
  file.parent = at;
  file.snippets = hidden ? Snippets::Hidden : Snippets::Shown;
  file.foreign = tainted;
  const size_t errors = engine.errorCount();
  Expr* parsed = parse::parseExpressionText(*added, sources, input.context, engine);
  return engine.errorCount() == errors ? parsed : nullptr;
}

} // namespace gos::fold
