// Do the arms of a match cover every value? Matrix decomposition over constructors, after Maranget:
// a row per arm, a column per value that is still to be looked at; the answer names a value that no
// row covers.

#include "compiler/check/checker.h"

#include "llvm/ADT/SmallBitVector.h"

namespace gos::check {

namespace {

using Row = SmallVector<Pattern*, 4>; // null: matches anything

class Matrix {
public:
  Matrix(llvm::function_ref<Type*(Type*, uint32_t variant, uint32_t field)> fieldType)
      : fieldType_(fieldType) {}

  /// Past the bound nothing is known: whoever asks must not take the rows to be complete.
  bool tooLarge() const { return tooLarge_; }

  /// Is there a value that no row matches? Then `witness` describes it, a text a column.
  bool missing(std::vector<Row> rows, SmallVector<Type*, 4> columns,
               SmallVectorImpl<std::string>& witness, unsigned depth) {
    if (!spend(rows.size() + 1) || depth > kMaxDepth) {
      tooLarge_ = true;
      return false;
    }
    if (columns.empty())
      return rows.empty();
    // A row that takes everything: nothing is left to look for.
    for (const Row& row : rows)
      if (llvm::all_of(row, [](Pattern* each) { return plain(each) == nullptr; }))
        return false;
    if (rows.empty()) {
      for (size_t i = 0; i < columns.size(); ++i)
        witness.push_back("_");
      return true;
    }
    expand(rows);
    Type* type = columns[0]->withoutReferences();
    bool plain = true;
    for (const Row& row : rows)
      plain &= row[0] == nullptr;
    if (plain)
      return inDefault(rows, columns, "_", witness, depth);
    switch (type->kind) {
    case Kind::Bool: {
      for (bool value : {true, false})
        if (split(rows, columns, {}, value ? "true" : "false", witness, depth,
                  [&](Pattern* pattern, SmallVectorImpl<Pattern*>&) {
                    auto* literal = dyn_cast<LiteralPattern>(pattern);
                    auto* boolean = literal ? dyn_cast<BoolExpr>(literal->value) : nullptr;
                    return boolean && boolean->value == value;
                  }))
          return true;
      return false;
    }
    case Kind::Tuple: {
      SmallVector<Type*, 8> parts(type->args.begin(), type->args.end());
      return split(rows, columns, parts, "(", witness, depth,
                   [&](Pattern* pattern, SmallVectorImpl<Pattern*>& out) {
                     auto* tuple = dyn_cast<TuplePattern>(pattern);
                     if (!tuple)
                       return isa<LiteralPattern>(pattern) && parts.empty();
                     spread(tuple->elements, parts.size(), out);
                     return true;
                   });
    }
    case Kind::Struct: {
      auto* structure = cast<StructItem>(type->item);
      SmallVector<Type*, 8> parts;
      for (uint32_t i = 0; i < structure->fields.size(); ++i)
        parts.push_back(fieldType_(type, 0, i));
      return split(
          rows, columns, parts, structure->name.name.text().str() + shapeMark(structure->shape),
          witness, depth,
          [&](Pattern* pattern, SmallVectorImpl<Pattern*>& out) {
            return fieldsOf(pattern, parts.size(), out);
          },
          structure->fields);
    }
    case Kind::Enum: {
      auto* item = cast<EnumItem>(type->item);
      llvm::SmallBitVector used(unsigned(item->variants.size()));
      for (const Row& row : rows)
        if (row[0])
          if (std::optional<uint32_t> index = variantOf(row[0]))
            used.set(*index);
      // Variants that no row names are alike: one look at the rows that match anything.
      for (uint32_t i = 0; i < item->variants.size(); ++i) {
        const VariantDecl& variant = item->variants[i];
        std::string name = item->name.name.text().str() + "::" + variant.name.name.text().str();
        if (!used.test(i)) {
          std::string shape = variant.shape == StructShape::Unit ? name
                              : variant.shape == StructShape::Tuple
                                  ? name + placeholders(variant.fields.size())
                                  : name + " { .. }";
          if (inDefault(rows, columns, shape, witness, depth))
            return true;
          continue;
        }
      }
      for (uint32_t i = 0; i < item->variants.size(); ++i) {
        if (!used.test(i))
          continue;
        const VariantDecl& variant = item->variants[i];
        std::string name = item->name.name.text().str() + "::" + variant.name.name.text().str();
        SmallVector<Type*, 8> parts;
        for (uint32_t k = 0; k < variant.fields.size(); ++k)
          parts.push_back(fieldType_(type, i, k));
        if (split(
                rows, columns, parts, name + shapeMark(variant.shape), witness, depth,
                [&](Pattern* pattern, SmallVectorImpl<Pattern*>& out) {
                  std::optional<uint32_t> index = variantOf(pattern);
                  return index && *index == i && fieldsOf(pattern, parts.size(), out);
                },
                variant.fields))
          return true;
      }
      return false;
    }
    case Kind::Array:
    case Kind::Vec:
    case Kind::Slice: {
      // Lengths up to the one from which on no pattern tells them apart: past every exact length,
      // and long enough that what is in front of a `..` and what is behind one never meet. It
      // stands for all longer ones.
      size_t exact = 0, front = 0, back = 0;
      for (const Row& row : rows)
        if (auto* slice = dyn_cast_or_null<SlicePattern>(row[0])) {
          auto rest =
              llvm::find_if(slice->elements, [](Pattern* each) { return isa<RestPattern>(each); });
          if (rest == slice->elements.end()) {
            exact = std::max(exact, slice->elements.size());
            continue;
          }
          front = std::max<size_t>(front, size_t(rest - slice->elements.begin()));
          back = std::max<size_t>(back, size_t(slice->elements.end() - rest) - 1);
        }
      size_t from = 0, to = std::max(exact + 1, front + back);
      const bool fixed = type->is(Kind::Array) && !type->isOpenArray();
      if (fixed)
        from = to = std::min<size_t>(to, type->length);
      for (size_t length = from; length <= to; ++length) {
        SmallVector<Type*, 8> parts(length, type->args[0]);
        bool open = length == to && !fixed;
        if (split(rows, columns, parts, open ? "[.." : "[", witness, depth,
                  [&](Pattern* pattern, SmallVectorImpl<Pattern*>& out) {
                    auto* slice = dyn_cast<SlicePattern>(pattern);
                    if (!slice)
                      return false;
                    bool rest = llvm::any_of(slice->elements,
                                             [](Pattern* each) { return isa<RestPattern>(each); });
                    size_t given = slice->elements.size() - (rest ? 1 : 0);
                    if (rest ? given > length : given != length)
                      return false;
                    spread(slice->elements, length, out);
                    return true;
                  }))
          return true;
      }
      return false;
    }
    default:
      // Numbers, characters, texts and ranges are opaque: only what matches anything covers them.
      return inDefault(rows, columns, "_", witness, depth);
    }
  }

private:
  static constexpr size_t kMaxWork = 400'000;
  static constexpr unsigned kMaxDepth = 600;

  bool spend(size_t work) {
    work_ += work;
    tooLarge_ |= work_ > kMaxWork;
    return !tooLarge_;
  }

  static std::string placeholders(size_t count) {
    std::string text = "(";
    for (size_t i = 0; i < count; ++i)
      text += i ? ", _" : "_";
    return text + ")";
  }
  static std::string shapeMark(StructShape shape) {
    return shape == StructShape::Unit ? "" : shape == StructShape::Tuple ? "(" : "{";
  }

  /// What a pattern says, without names, references and alternatives; null when it matches
  /// anything.
  static Pattern* plain(Pattern* pattern) {
    while (pattern) {
      if (pattern->type && pattern->type->is(Kind::Error))
        return nullptr;
      if (auto* binding = dyn_cast<BindingPattern>(pattern)) {
        if (binding->target.kind != TargetKind::None)
          return pattern;
        pattern = binding->sub;
      } else if (auto* reference = dyn_cast<ReferencePattern>(pattern)) {
        pattern = reference->sub;
      } else if (isa<WildcardPattern, RestPattern, ErrorPattern>(pattern)) {
        return nullptr;
      } else if (auto* structure = dyn_cast<StructPattern>(pattern);
                 structure && structure->target.kind == TargetKind::None) {
        return nullptr;
      } else {
        return pattern;
      }
    }
    return pattern;
  }

  /// Alternatives in the first column become rows.
  void expand(std::vector<Row>& rows) {
    bool any = false;
    for (Row& row : rows) {
      row[0] = plain(row[0]);
      any |= row[0] && isa<OrPattern>(row[0]);
    }
    if (!any)
      return;
    std::vector<Row> all;
    for (Row& row : rows)
      expandInto(row, all);
    rows.swap(all);
  }
  void expandInto(Row& row, std::vector<Row>& all) {
    row[0] = plain(row[0]);
    auto* alternatives = row[0] ? dyn_cast<OrPattern>(row[0]) : nullptr;
    if (!alternatives) {
      all.push_back(row);
      return;
    }
    for (Pattern* each : alternatives->alternatives) {
      if (!spend(1))
        return;
      Row copy = row;
      copy[0] = each;
      expandInto(copy, all);
    }
  }

  static std::optional<uint32_t> variantOf(Pattern* pattern) {
    const Target* target = nullptr;
    if (auto* binding = dyn_cast<BindingPattern>(pattern))
      target = &binding->target;
    else if (auto* path = dyn_cast<PathPattern>(pattern))
      target = &path->target;
    else if (auto* tuple = dyn_cast<TupleStructPattern>(pattern))
      target = &tuple->target;
    else if (auto* structure = dyn_cast<StructPattern>(pattern))
      target = &structure->target;
    if (!target || target->kind != TargetKind::Variant)
      return std::nullopt;
    return target->index;
  }

  static void spread(ArrayRef<Pattern*> elements, size_t count, SmallVectorImpl<Pattern*>& out) {
    out.assign(count, nullptr);
    size_t rest = elements.size();
    for (size_t i = 0; i < elements.size(); ++i)
      if (isa<RestPattern>(elements[i]))
        rest = i;
    for (size_t i = 0; i < elements.size(); ++i) {
      if (i == rest)
        continue;
      size_t at = i > rest ? count - (elements.size() - i) : i;
      if (at < count)
        out[at] = elements[i];
    }
  }

  static bool fieldsOf(Pattern* pattern, size_t count, SmallVectorImpl<Pattern*>& out) {
    if (auto* tuple = dyn_cast<TupleStructPattern>(pattern)) {
      spread(tuple->elements, count, out);
      return true;
    }
    out.assign(count, nullptr);
    if (auto* structure = dyn_cast<StructPattern>(pattern)) {
      for (const FieldPattern& field : structure->fields)
        if (field.index < count)
          out[field.index] = field.pattern;
      return true;
    }
    if (auto* path = dyn_cast<PathPattern>(pattern))
      return path->target.kind == TargetKind::Struct || path->target.kind == TargetKind::Variant;
    if (auto* binding = dyn_cast<BindingPattern>(pattern))
      return binding->target.kind == TargetKind::Variant;
    return false;
  }

  bool inDefault(const std::vector<Row>& rows, ArrayRef<Type*> columns, StringRef name,
                 SmallVectorImpl<std::string>& witness, unsigned depth) {
    if (tooLarge_)
      return false;
    std::vector<Row> rest;
    for (const Row& row : rows)
      if (!row[0])
        rest.push_back(Row(row.begin() + 1, row.end()));
    SmallVector<std::string, 4> inner;
    if (!missing(std::move(rest), SmallVector<Type*, 4>(columns.begin() + 1, columns.end()), inner,
                 depth + 1))
      return false;
    witness.push_back(name.str());
    witness.append(inner.begin(), inner.end());
    return true;
  }

  /// The rows that can match one constructor, with its parts as new columns.
  bool split(const std::vector<Row>& rows, ArrayRef<Type*> columns, ArrayRef<Type*> parts,
             StringRef name, SmallVectorImpl<std::string>& witness, unsigned depth,
             llvm::function_ref<bool(Pattern*, SmallVectorImpl<Pattern*>&)> take,
             ArrayRef<FieldDecl> fields = {}) {
    if (tooLarge_)
      return false;
    std::vector<Row> rest;
    for (const Row& row : rows) {
      SmallVector<Pattern*, 8> out;
      if (!row[0])
        out.assign(parts.size(), nullptr);
      else if (!take(row[0], out))
        continue;
      out.resize(parts.size(), nullptr);
      Row next(out.begin(), out.end());
      next.append(row.begin() + 1, row.end());
      rest.push_back(std::move(next));
    }
    SmallVector<Type*, 4> types(parts.begin(), parts.end());
    types.append(columns.begin() + 1, columns.end());
    SmallVector<std::string, 4> inner;
    if (!missing(std::move(rest), std::move(types), inner, depth + 1))
      return false;
    // Put the text of the constructor together again.
    std::string text = name.str();
    bool bracket = text == "[" || text == "[..";
    bool open = text == "[..";
    bool named = !text.empty() && text.back() == '{';
    bool closes = bracket || named || (!text.empty() && text.back() == '(');
    if (bracket)
      text = "[";
    if (named)
      text.back() = ' ', text += "{ ";
    for (size_t i = 0; i < parts.size(); ++i) {
      if (i)
        text += ", ";
      if (named && i < fields.size())
        text += fields[i].name.name.text().str() + ": ";
      text += i < inner.size() ? inner[i] : "_";
      if (text.size() > 200)
        break;
    }
    if (open)
      text += parts.empty() ? ".." : ", ..";
    if (closes)
      text += bracket ? "]" : named ? " }" : parts.size() == 1 && name == "(" ? ",)" : ")";
    witness.push_back(text);
    for (size_t i = parts.size(); i < inner.size(); ++i)
      witness.push_back(inner[i]);
    return true;
  }

  llvm::function_ref<Type*(Type*, uint32_t, uint32_t)> fieldType_;
  size_t work_ = 0;
  bool tooLarge_ = false;
};

} // namespace

bool Checker::isTotal(Pattern* pattern, Type* type, std::string* missing) {
  auto field = [&](Type* owner, uint32_t variant, uint32_t index) {
    return owner->is(Kind::Enum) ? payloadType(owner, variant, index) : fieldType(owner, index);
  };
  Matrix matrix(field);
  std::vector<Row> rows{Row{pattern}};
  SmallVector<std::string, 4> witness;
  bool found = matrix.missing(std::move(rows), {type}, witness, 0);
  if (!found && !matrix.tooLarge())
    return true;
  if (missing)
    *missing = witness.empty() || matrix.tooLarge() ? "_" : witness[0];
  return false;
}

void Checker::checkExhaustive(MatchExpr* expr) {
  Type* type =
      expr->subject->type ? settle(expr->subject->type)->withoutReferences() : types_.error();
  if (type->has(Type::HasError) || type->is(Kind::Never))
    return;
  std::vector<Row> rows;
  for (const MatchArm& arm : expr->arms) {
    if (arm.pattern->type && arm.pattern->type->is(Kind::Error))
      return;
    if (!arm.guard)
      rows.push_back(Row{arm.pattern});
  }
  auto field = [&](Type* owner, uint32_t variant, uint32_t index) {
    return owner->is(Kind::Enum) ? payloadType(owner, variant, index) : fieldType(owner, index);
  };
  Matrix matrix(field);
  SmallVector<std::string, 4> witness;
  bool found = matrix.missing(std::move(rows), {type}, witness, 0);
  if (matrix.tooLarge()) {
    engine_.report(expr->subject->span, diag::NonExhaustive, "_")
        .note("its arms are too many to be judged together")
        .help("add a `_` arm for what is left");
    return;
  }
  if (!found)
    return;
  engine_.report(expr->subject->span, diag::NonExhaustive, witness.empty() ? "_" : witness[0])
      .help("add an arm for it, or `_`");
}

} // namespace gos::check
