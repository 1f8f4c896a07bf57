#pragma once
// A type of the language. Types are built once by a TypeTable and compared by pointer.

#include "compiler/ast/ast.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <utility>

namespace gos::types {

using ast::Mutability;
using llvm::ArrayRef;
using llvm::StringRef;

enum class Kind : uint8_t {
  Error, // something was wrong and has been reported; fits everything, silently
  Never, // `!`
#define GOS_INTEGER(kind, spelling, bits, isSigned) kind,
#define GOS_FLOAT(kind, spelling, bits) kind,
#define GOS_SCALAR(kind, spelling) kind,
#define GOS_CONTAINER(kind, spelling, arguments) kind,
#include "compiler/types/constructors.def"
  Tuple,   // args: the elements; unit is the empty one
  Array,   // args[0], length; while the length is open: args[0], args[1], a Const, Param or Infer
  Slice,   // args[0]: `[T]`, the view
  Range,   // args[0]: the integer type of the bounds
  Fn,      // args: the parameters, then the result
  Ref,     // args[0], mutability. Ref(Shared, T) is represented as T
  Struct,  // item, args
  Enum,    // item, args
  Newtype, // item, args; the representation: Program::representation
  Param,   // parameter
  Projection, // args[0]: the base, then the arguments of the trait; item: the AliasItem in the
              // trait
  Const,      // a const argument: its bits are `length`, args[0] says how they are written
  Infer,      // only while a body is being checked
};

enum class InferKind : uint8_t { General, Integer, Float };

class Type;

/// A bound: a trait with its arguments and what it fixes of the associated types.
struct TraitRef {
  ast::TraitItem* trait = nullptr;
  ArrayRef<Type*> args;
  ArrayRef<std::pair<ast::Name, Type*>> equalities;
};

/// A generic parameter. `index` is its place in the argument list of its item, outer ones first;
/// the `Self` of a trait has kSelfIndex.
struct Parameter {
  static constexpr uint32_t kSelfIndex = ~0u;
  ast::Name name;
  uint32_t index = 0;
  ast::Item* owner = nullptr;
  ArrayRef<TraitRef> bounds;
  Type* type = nullptr;
  ast::TypeNode* defaultType = nullptr; // of a trait's or struct's parameter
  bool isConst = false;                 // stands for a value
  Type* constType = nullptr;            // then: the type of that value
  ast::Expr* defaultConst = nullptr;    // then: of a struct's parameter
  bool isLength = false;                // an array is as long as it says
  bool isBroken = false; // one of its bounds is no trait: what it can do is not known
  Span span;
  bool isSelf() const { return index == kSelfIndex; }
};

class Type {
public:
  enum Flag : uint8_t {
    HasInfer = 1,
    HasParam = 2,
    HasError = 4,
    HasProjection = 8,
    HasReference = 16
  };

  Kind kind;
  uint8_t flags = 0;
  Mutability mutability = Mutability::Shared; // Ref
  InferKind inferKind = InferKind::General;   // Infer
  uint16_t depth = 0;
  uint32_t number = 0;  // unique in its table, in order of making: a deterministic key
  uint32_t inferId = 0; // Infer
  uint64_t length = 0;  // Array, Const
  ast::Item* item = nullptr;
  Parameter* parameter = nullptr;
  ArrayRef<Type*> args;

  explicit Type(Kind k) : kind(k) {}

  bool is(Kind k) const { return kind == k; }
  bool has(Flag flag) const { return flags & flag; }
  bool isUnit() const { return kind == Kind::Tuple && args.empty(); }
  bool isInteger() const { return kind >= Kind::I8 && kind <= Kind::Usize; }
  bool isSigned() const { return kind >= Kind::I8 && kind <= Kind::Isize; }
  bool isFloat() const { return kind == Kind::F32 || kind == Kind::F64; }
  bool isNumeric() const { return isInteger() || isFloat(); }
  bool isScalar() const { return kind >= Kind::Bool && kind <= Kind::F64; }
  /// Vec, Map, Set, BTree*, Deque, Queue, Stack and the heaps.
  bool isContainer() const { return kind >= Kind::Vec && kind <= Kind::MinHeap; }
  /// Array, slice or Vec.
  bool isSequence() const {
    return kind == Kind::Array || kind == Kind::Slice || kind == Kind::Vec;
  }
  bool isNominal() const {
    return kind == Kind::Struct || kind == Kind::Enum || kind == Kind::Newtype;
  }
  /// An array whose length is a parameter, or not known yet.
  bool isOpenArray() const { return kind == Kind::Array && args.size() == 2; }
  /// What stands where a const argument does, once it is known.
  bool isConstArgument() const {
    return kind == Kind::Const || (kind == Kind::Param && parameter->isConst);
  }
  bool isMutableRef() const { return kind == Kind::Ref && mutability == Mutability::Mutable; }
  bool isInferInteger() const { return kind == Kind::Infer && inferKind == InferKind::Integer; }
  unsigned bits() const; // of an integer or float

  Type* element() const { return args[0]; } // Array, Slice, Vec, Set, Ref, ...
  ArrayRef<Type*> parameters() const { return args.drop_back(); } // Fn
  Type* result() const { return args.back(); }                    // Fn
  /// Without references of either kind.
  Type* withoutReferences() {
    Type* type = this;
    while (type->kind == Kind::Ref)
      type = type->args[0];
    return type;
  }
};

/// The spelling of a builtin scalar or container, empty for the rest.
StringRef spelling(Kind kind);
/// The number of type arguments of a builtin container; 0 for the rest.
unsigned argumentCount(Kind kind);

} // namespace gos::types
