// Do patterns cover every case? The matrix algorithm of Maranget ("Warnings for pattern matching", 2007): a matrix of
// rows is taken apart column by column, by the constructors of the column's type, until a case remains that no row
// covers. Integers, characters, strings, floats and all ranges are opaque (language.md section 12): only a
// row that matches anything covers them.

#include "compiler/check/checker.h"

#include <functional>

namespace gos::check {
namespace {

/// A row of patterns; null matches anything.
using Row = SmallVector<Pattern*, 4>;

/// Hostile matches can make the matrix explode; past this many steps the answer is "not covered".
constexpr unsigned kMaxSteps = 200'000;
/// Arrays and slices are looked into up to this many elements.
constexpr uint64_t kMaxSliceLength = 64;

/// One way to build a value of a type.
struct Constructor {
  uint32_t index = 0;           // variant; 0 and 1 of bool; length of a slice
  bool more = false;            // a slice of `index` elements or more
  SmallVector<Type*, 4> fields;
};

class Matrix {
public:
  Matrix(std::function<Type*(Type*, unsigned, unsigned)> fieldType, std::function<size_t(Type*, unsigned)> fieldCount)
      : fieldType_(std::move(fieldType)), fieldCount_(std::move(fieldCount)) {}

  /// Is some value left that no row covers? `witness` then holds one pattern a column.
  bool missing(const std::vector<Row>& rows, ArrayRef<Type*> types, SmallVectorImpl<std::string>& witness) {
    if (++steps_ > kMaxSteps) {
      tooLarge_ = true;
      witness.assign(types.size(), "_");
      return true;
    }
    if (types.empty())
      return rows.empty();
    std::vector<Row> flat;
    for (const Row& row : rows)
      flatten(row, flat);
    Type* type = types.front()->withoutReferences();
    SmallVector<Constructor, 4> constructors;
    const bool enumerable = enumerate(type, flat, constructors);
    if (!enumerable || !anyConstructor(flat)) {
      std::vector<Row> rest;
      for (const Row& row : flat)
        if (!row.front())
          rest.emplace_back(row.begin() + 1, row.end());
      if (!missing(rest, types.drop_front(), witness))
        return false;
      witness.insert(witness.begin(), "_");
      return true;
    }
    for (const Constructor& constructor : constructors) {
      std::vector<Row> specialised;
      for (const Row& row : flat)
        specialise(row, type, constructor, specialised);
      SmallVector<Type*, 8> columns(constructor.fields.begin(), constructor.fields.end());
      columns.append(types.begin() + 1, types.end());
      SmallVector<std::string, 8> inner;
      if (!missing(specialised, columns, inner))
        continue;
      const size_t arity = constructor.fields.size();
      std::string text = show(type, constructor, ArrayRef<std::string>(inner).take_front(arity));
      witness.assign(inner.begin() + arity, inner.end());
      witness.insert(witness.begin(), std::move(text));
      return true;
    }
    return false;
  }

  bool tooLarge() const { return tooLarge_; }

private:
  /// The pattern with names and references taken off; null for one that matches anything.
  static Pattern* strip(Pattern* pattern) {
    while (pattern) {
      if (auto* binding = dyn_cast<BindingPattern>(pattern)) {
        if (binding->target.kind != TargetKind::None)
          return binding;
        pattern = binding->sub;
      } else if (auto* reference = dyn_cast<ReferencePattern>(pattern)) {
        pattern = reference->sub;
      } else if (isa<WildcardPattern>(pattern) || isa<RestPattern>(pattern) || isa<ErrorPattern>(pattern)) {
        return nullptr;
      } else {
        return pattern;
      }
    }
    return nullptr;
  }

  /// Spreads alternatives in the first column over rows of their own.
  void flatten(const Row& row, std::vector<Row>& into) {
    Pattern* head = strip(row.front());
    if (auto* alternatives = dyn_cast_or_null<OrPattern>(head)) {
      for (Pattern* alternative : alternatives->alternatives) {
        Row copy = row;
        copy.front() = alternative;
        flatten(copy, into);
      }
      return;
    }
    Row copy = row;
    copy.front() = head;
    into.push_back(std::move(copy));
  }

  static const Target* targetOf(const Pattern* pattern) {
    switch (pattern->kind) {
    case PatternKind::Binding: return &cast<BindingPattern>(pattern)->target;
    case PatternKind::Path: return &cast<PathPattern>(pattern)->target;
    case PatternKind::TupleStruct: return &cast<TupleStructPattern>(pattern)->target;
    case PatternKind::Struct: return &cast<StructPattern>(pattern)->target;
    default: return nullptr;
    }
  }

  static bool isConstructor(const Pattern* pattern) {
    switch (pattern->kind) {
    case PatternKind::Tuple:
    case PatternKind::Slice: return true;
    case PatternKind::Literal: return isa<BoolExpr>(cast<LiteralPattern>(pattern)->value);
    default:
      if (const Target* target = targetOf(pattern))
        return target->kind == TargetKind::Variant || target->kind == TargetKind::Struct;
      return false;
    }
  }

  static bool anyConstructor(const std::vector<Row>& rows) {
    return llvm::any_of(rows, [](const Row& row) { return row.front() && isConstructor(row.front()); });
  }

  bool enumerate(Type* type, const std::vector<Row>& rows, SmallVectorImpl<Constructor>& constructors) {
    switch (type->kind) {
    case Kind::Bool:
      constructors.resize(2);
      constructors[1].index = 1;
      return true;
    case Kind::Tuple: {
      Constructor only;
      only.fields.assign(type->args.begin(), type->args.end());
      constructors.push_back(std::move(only));
      return true;
    }
    case Kind::Struct:
    case Kind::Enum: {
      const size_t count = type->is(Kind::Enum) ? cast<EnumItem>(type->item)->variants.size() : 1;
      for (uint32_t variant = 0; variant < count; ++variant) {
        Constructor one;
        one.index = variant;
        for (unsigned field = 0; field < fieldCount_(type, variant); ++field)
          one.fields.push_back(fieldType_(type, variant, field));
        constructors.push_back(std::move(one));
      }
      return true;
    }
    case Kind::Array:
      if (type->length > kMaxSliceLength)
        return false;
      constructors.emplace_back();
      constructors.back().index = uint32_t(type->length);
      constructors.back().fields.assign(size_t(type->length), type->element());
      return true;
    case Kind::Slice:
    case Kind::Vec: {
      // Lengths up to the longest that a row mentions, and one for all that are longer.
      size_t longest = 0;
      for (const Row& row : rows)
        if (auto* slice = dyn_cast_or_null<SlicePattern>(row.front()))
          longest = std::max(longest, slice->elements.size());
      if (longest > kMaxSliceLength)
        return false;
      for (size_t length = 0; length <= longest + 1; ++length) {
        constructors.emplace_back();
        constructors.back().index = uint32_t(length);
        constructors.back().more = length == longest + 1;
        constructors.back().fields.assign(length, type->element());
      }
      return true;
    }
    default: return false;
    }
  }

  /// Adds what is left of a row once its first column is known to be built by `constructor`.
  void specialise(const Row& row, Type* type, const Constructor& constructor, std::vector<Row>& into) {
    Row result;
    if (!row.front())
      result.assign(constructor.fields.size(), nullptr);
    else if (!elementsFor(row.front(), type, constructor, result))
      return;
    result.append(row.begin() + 1, row.end());
    into.push_back(std::move(result));
  }

  /// A list with at most one `..`, spread over `count` columns.
  static bool spread(ArrayRef<Pattern*> elements, size_t count, Row& into) {
    const auto* rest = llvm::find_if(elements, [](Pattern* element) { return isa<RestPattern>(element); });
    if (rest == elements.end()) {
      if (elements.size() != count)
        return false;
      into.assign(elements.begin(), elements.end());
      return true;
    }
    const size_t before = size_t(rest - elements.begin());
    const size_t after = elements.size() - before - 1;
    if (before + after > count)
      return false;
    into.assign(elements.begin(), rest);
    into.append(count - before - after, nullptr);
    into.append(rest + 1, elements.end());
    return true;
  }

  bool elementsFor(Pattern* pattern, Type* type, const Constructor& constructor, Row& into) {
    const size_t count = constructor.fields.size();
    switch (pattern->kind) {
    case PatternKind::Literal: {
      auto* boolean = dyn_cast<BoolExpr>(cast<LiteralPattern>(pattern)->value);
      return boolean && type->is(Kind::Bool) && boolean->value == (constructor.index == 1);
    }
    case PatternKind::Tuple: return spread(cast<TuplePattern>(pattern)->elements, count, into);
    case PatternKind::Slice: {
      ArrayRef<Pattern*> elements = cast<SlicePattern>(pattern)->elements;
      const bool hasRest = llvm::any_of(elements, [](Pattern* element) { return isa<RestPattern>(element); });
      return !(constructor.more && !hasRest) && spread(elements, count, into);
    }
    default: break;
    }
    const Target* target = targetOf(pattern);
    if (!target || (target->kind != TargetKind::Variant && target->kind != TargetKind::Struct))
      return false; // opaque: a constant, a number, a range
    if (target->kind == TargetKind::Variant && target->index != constructor.index)
      return false;
    if (auto* tuple = dyn_cast<TupleStructPattern>(pattern))
      return spread(tuple->elements, count, into);
    into.assign(count, nullptr);
    if (auto* named = dyn_cast<StructPattern>(pattern))
      for (const FieldPattern& field : named->fields)
        if (field.index < count)
          into[field.index] = field.pattern;
    return true;
  }

  static std::string list(ArrayRef<std::string> parts) {
    std::string text;
    for (const std::string& part : parts)
      text += (text.empty() ? "" : ", ") + part;
    return text;
  }

  std::string show(Type* type, const Constructor& constructor, ArrayRef<std::string> fields) const {
    switch (type->kind) {
    case Kind::Bool: return constructor.index ? "true" : "false";
    case Kind::Tuple: return "(" + list(fields) + (fields.size() == 1 ? ",)" : ")");
    case Kind::Struct: {
      auto* item = cast<StructItem>(type->item);
      return shape(item->name.name.text(), item->shape, item->fields, fields);
    }
    case Kind::Enum: {
      auto* item = cast<EnumItem>(type->item);
      const VariantDecl& variant = item->variants[constructor.index];
      StringRef owner = item->name.name.text();
      std::string name = owner == "Option" || owner == "Result"
                             ? variant.name.name.text().str()
                             : (owner + "::" + variant.name.name.text()).str();
      return shape(name, variant.shape, variant.fields, fields);
    }
    default:
      return "[" + list(fields) + (constructor.more ? (fields.empty() ? ".." : ", ..") : "") + "]";
    }
  }

  static std::string shape(StringRef name, StructShape shape, ArrayRef<FieldDecl> declared,
                           ArrayRef<std::string> fields) {
    switch (shape) {
    case StructShape::Unit: return name.str();
    case StructShape::Tuple: return (name + "(" + list(fields) + ")").str();
    case StructShape::Named: break;
    }
    std::string text;
    for (size_t i = 0; i < fields.size() && i < declared.size(); ++i)
      if (fields[i] != "_")
        text += (declared[i].name.name.text() + ": " + fields[i] + ", ").str();
    return (name + " { " + text + ".. }").str();
  }

  std::function<Type*(Type*, unsigned, unsigned)> fieldType_;
  std::function<size_t(Type*, unsigned)> fieldCount_;
  unsigned steps_ = 0;
  bool tooLarge_ = false;
};

size_t fieldCountOf(Type* type, unsigned variant) {
  if (type->is(Kind::Enum))
    return cast<EnumItem>(type->item)->variants[variant].fields.size();
  return cast<StructItem>(type->item)->fields.size();
}

} // namespace

void Checker::checkExhaustive(MatchExpr* expr) {
  Type* type = expr->subject->type;
  if (!type || type->has(Type::HasError) || type->is(Kind::Never))
    return;
  std::vector<Row> rows;
  for (const MatchArm& arm : expr->arms)
    if (!arm.guard) // a guard may always answer no
      rows.push_back({arm.pattern});
  Matrix matrix([this](Type* of, unsigned variant, unsigned field) {
    return of->is(Kind::Enum) ? payloadType(of, variant, field) : fieldType(of, field);
  }, fieldCountOf);
  SmallVector<std::string, 4> witness;
  if (!matrix.missing(rows, type, witness))
    return;
  Diagnostic& diagnostic = engine_.report(expr->subject->span, diag::NonExhaustive, witness.front());
  if (matrix.tooLarge())
    diagnostic.note("the patterns are too many to look at them all");
  diagnostic.help(witness.front() == "_" ? "add an arm `_ => ..`"
                                         : "add an arm for it, or `_ => ..` for all that is left");
}

bool Checker::isTotal(Pattern* pattern, Type* type, std::string* missing) {
  if (!type || type->has(Type::HasError) || type->is(Kind::Never))
    return true;
  Matrix matrix([this](Type* of, unsigned variant, unsigned field) {
    return of->is(Kind::Enum) ? payloadType(of, variant, field) : fieldType(of, field);
  }, fieldCountOf);
  std::vector<Row> rows;
  rows.push_back({pattern});
  SmallVector<std::string, 4> witness;
  if (!matrix.missing(rows, type, witness))
    return true;
  if (missing)
    *missing = witness.front();
  return false;
}

} // namespace gos::check
