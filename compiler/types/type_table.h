#pragma once
// Makes types: each is built once, so equal types are equal pointers.

#include "compiler/types/type.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/Allocator.h"

#include <vector>

namespace gos::types {

class TypeTable {
public:
  TypeTable();
  TypeTable(const TypeTable&) = delete;
  TypeTable& operator=(const TypeTable&) = delete;

  Type* error() const { return scalar(Kind::Error); }
  Type* never() const { return scalar(Kind::Never); }
  Type* unit() const { return unit_; }
  Type* scalar(Kind kind) const { return scalars_[size_t(kind)]; }
  Type* boolean() const { return scalar(Kind::Bool); }
  Type* i64() const { return scalar(Kind::I64); }
  Type* f64() const { return scalar(Kind::F64); }
  Type* string() const { return scalar(Kind::String); }

  Type* tuple(ArrayRef<Type*> elements);
  Type* array(Type* element, uint64_t length);
  /// An array of the length that a Const, a const Param or a variable says.
  Type* array(Type* element, Type* length);
  /// The length of an array as a const argument.
  Type* lengthOf(Type* array);
  /// The const argument of that value: bits of an integer (sign-extended), a bool or a char.
  Type* constant(Type* type, uint64_t bits);
  Type* slice(Type* element) { return make(Kind::Slice, {element}); }
  Type* vec(Type* element) { return make(Kind::Vec, {element}); }
  Type* range(Type* element) { return make(Kind::Range, {element}); }
  Type* container(Kind kind, ArrayRef<Type*> args) { return make(kind, args); }
  Type* function(ArrayRef<Type*> parameters, Type* result);
  Type* reference(Mutability mutability, Type* target);
  Type* nominal(Kind kind, ast::Item* item, ArrayRef<Type*> args) { return make(kind, args, item); }
  Type* projection(ast::Item* associated, ArrayRef<Type*> baseAndArgs) {
    return make(Kind::Projection, baseAndArgs, associated);
  }
  Type* param(Parameter* parameter);
  /// The variable of that number; the same object each time, so bodies share them.
  Type* infer(InferKind kind, uint32_t id);
  /// A type of the same shape over other arguments.
  Type* rebuild(Type* type, ArrayRef<Type*> args);

  Parameter* makeParameter() { return new (arena_.Allocate<Parameter>()) Parameter(); }
  template <class T> ArrayRef<T> list(ArrayRef<T> items) {
    if (items.empty())
      return {};
    T* copy = arena_.Allocate<T>(items.size());
    std::uninitialized_copy(items.begin(), items.end(), copy);
    return {copy, items.size()};
  }

  /// Types are at most this deep: past it `make` answers the error type and sets this flag, which
  /// the checker turns into GT0008. Everything that recurses over types relies on it.
  static constexpr unsigned kMaxDepth = 200;
  /// Lowering puts arguments of at most kMaxArgumentDepth into types that are as deep as the
  /// checker allows.
  static constexpr unsigned kMaxArgumentDepth = 100;
  void allowInstances() { maxDepth_ = kMaxDepth + kMaxArgumentDepth; }
  bool takeTooDeep() { return std::exchange(tooDeep_, false); }
  size_t size() const { return next_; }
  size_t bytesUsed() const { return arena_.getTotalMemory(); }

private:
  struct KeyInfo;
  Type* make(Kind kind, ArrayRef<Type*> args, ast::Item* item = nullptr, uint64_t length = 0,
             Mutability mutability = Mutability::Shared);
  Type* add(Type type);

  llvm::BumpPtrAllocator arena_;
  Type* scalars_[size_t(Kind::Infer) + 1] = {};
  Type* unit_ = nullptr;
  std::vector<Type*> slots_; // open addressing, a power of two
  size_t used_ = 0;
  std::vector<Type*> infer_[3];
  uint32_t next_ = 0;
  bool tooDeep_ = false;
  unsigned maxDepth_ = kMaxDepth;
};

} // namespace gos::types
