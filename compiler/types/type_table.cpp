#include "compiler/types/type_table.h"

#include "llvm/ADT/Hashing.h"

namespace gos::types {

StringRef spelling(Kind kind) {
  switch (kind) {
#define GOS_INTEGER(kind, text, bits, isSigned)                                                    \
  case Kind::kind:                                                                                 \
    return text;
#define GOS_FLOAT(kind, text, bits)                                                                \
  case Kind::kind:                                                                                 \
    return text;
#define GOS_SCALAR(kind, text)                                                                     \
  case Kind::kind:                                                                                 \
    return text;
#define GOS_CONTAINER(kind, text, arguments)                                                       \
  case Kind::kind:                                                                                 \
    return text;
#include "compiler/types/constructors.def"
  case Kind::Never:
    return "!";
  case Kind::Error:
  case Kind::Tuple:
  case Kind::Array:
  case Kind::Slice:
  case Kind::Range:
  case Kind::Fn:
  case Kind::Ref:
  case Kind::Struct:
  case Kind::Enum:
  case Kind::Newtype:
  case Kind::Param:
  case Kind::Projection:
  case Kind::Const:
  case Kind::Infer:
    return {};
  }
  return {};
}

unsigned argumentCount(Kind kind) {
  switch (kind) {
#define GOS_CONTAINER(kind, text, arguments)                                                       \
  case Kind::kind:                                                                                 \
    return arguments;
#include "compiler/types/constructors.def"
  default: // not a container; the table above is the list
    return 0;
  }
}

unsigned Type::bits() const {
  switch (kind) {
#define GOS_INTEGER(kind, text, width, isSigned)                                                   \
  case Kind::kind:                                                                                 \
    return width;
#define GOS_FLOAT(kind, text, width)                                                               \
  case Kind::kind:                                                                                 \
    return width;
#include "compiler/types/constructors.def"
  default: // not a number
    return 0;
  }
}

static unsigned hashOf(Kind kind, ArrayRef<Type*> args, const void* item, uint64_t length,
                       Mutability mutability) {
  llvm::hash_code hash = llvm::hash_combine(uint8_t(kind), item, length, uint8_t(mutability));
  for (Type* arg : args)
    hash = llvm::hash_combine(hash, arg->number);
  return unsigned(size_t(hash));
}

TypeTable::TypeTable() {
  slots_.resize(1024);
  for (unsigned kind = 0; kind <= unsigned(Kind::String); ++kind) {
    Type type{Kind(kind)};
    if (Kind(kind) == Kind::Error)
      type.flags = Type::HasError;
    scalars_[kind] = add(type);
  }
  unit_ = make(Kind::Tuple, {});
}

Type* TypeTable::add(Type type) {
  Type* made = new (arena_.Allocate<Type>()) Type(type);
  made->number = next_++;
  return made;
}

Type* TypeTable::make(Kind kind, ArrayRef<Type*> args, ast::Item* item, uint64_t length,
                      Mutability mutability) {
  unsigned hash = hashOf(kind, args, item, length, mutability);
  size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  while (Type* found = slots_[slot]) {
    if (found->kind == kind && found->item == item && found->length == length &&
        found->mutability == mutability && found->args == args)
      return found;
    slot = (slot + 1) & mask;
  }
  Type type{kind};
  type.item = item;
  type.length = length;
  type.mutability = mutability;
  for (Type* arg : args) {
    type.flags |= arg->flags;
    type.depth = std::max<uint16_t>(type.depth, arg->depth);
  }
  if (kind == Kind::Ref)
    type.flags |= Type::HasReference;
  if (kind == Kind::Projection)
    type.flags |= Type::HasProjection;
  if (++type.depth > maxDepth_) {
    tooDeep_ = true;
    return error();
  }
  type.args = list(args);
  Type* made = add(type);
  slots_[slot] = made;
  if (++used_ * 2 > slots_.size()) {
    std::vector<Type*> old(slots_.size() * 2);
    old.swap(slots_);
    mask = slots_.size() - 1;
    for (Type* each : old)
      if (each) {
        slot = hashOf(each->kind, each->args, each->item, each->length, each->mutability) & mask;
        while (slots_[slot])
          slot = (slot + 1) & mask;
        slots_[slot] = each;
      }
  }
  return made;
}

Type* TypeTable::tuple(ArrayRef<Type*> elements) {
  return make(Kind::Tuple, elements);
}

Type* TypeTable::array(Type* element, uint64_t length) {
  return make(Kind::Array, {element}, nullptr, length);
}

Type* TypeTable::array(Type* element, Type* length) {
  if (length->is(Kind::Const))
    return array(element, length->length);
  return make(Kind::Array, {element, length});
}

Type* TypeTable::lengthOf(Type* type) {
  return type->isOpenArray() ? type->args[1] : constant(i64(), type->length);
}

Type* TypeTable::constant(Type* type, uint64_t bits) {
  // The parameter says of which type the value is: 3 is the same argument for all of them.
  if (type->isInteger())
    type = !type->isSigned() && bits > uint64_t(INT64_MAX) ? scalar(Kind::U64) : i64();
  return make(Kind::Const, {type}, nullptr, bits);
}

Type* TypeTable::function(ArrayRef<Type*> parameters, Type* result) {
  llvm::SmallVector<Type*, 8> args(parameters.begin(), parameters.end());
  args.push_back(result);
  return make(Kind::Fn, args);
}

Type* TypeTable::reference(Mutability mutability, Type* target) {
  if (target->is(Kind::Error))
    return target;
  return make(Kind::Ref, {target}, nullptr, 0, mutability);
}

Type* TypeTable::param(Parameter* parameter) {
  if (!parameter->type) {
    Type type{Kind::Param};
    type.parameter = parameter;
    type.flags = Type::HasParam;
    parameter->type = add(type);
  }
  return parameter->type;
}

Type* TypeTable::infer(InferKind kind, uint32_t id) {
  std::vector<Type*>& pool = infer_[size_t(kind)];
  while (pool.size() <= id) {
    Type type{Kind::Infer};
    type.inferKind = kind;
    type.inferId = uint32_t(pool.size());
    type.flags = Type::HasInfer;
    pool.push_back(add(type));
  }
  return pool[id];
}

Type* TypeTable::rebuild(Type* type, ArrayRef<Type*> args) {
  if (type->isOpenArray())
    return array(args[0], args[1]);
  return make(type->kind, args, type->item, type->length, type->mutability);
}

} // namespace gos::types
