#include "compiler/types/substitute.h"

namespace gos::types {

namespace {
/// Types are directed graphs with sharing: the memo keeps a walk linear in the number of distinct
/// types.
class Substitution {
public:
  Substitution(TypeTable& table, ArrayRef<Type*> args, Type* self, Normalise normalise)
      : table_(table), args_(args), self_(self), normalise_(normalise) {}

  Type* apply(Type* type) {
    if (!type->has(Type::HasParam))
      return type;
    if (type->is(Kind::Param)) {
      const Parameter& parameter = *type->parameter;
      if (parameter.isSelf())
        return self_ ? self_ : type;
      return parameter.index < args_.size() && args_[parameter.index] ? args_[parameter.index]
                                                                      : type;
    }
    if (type->depth > 3) {
      auto found = memo_.find(type);
      if (found != memo_.end())
        return found->second;
    }
    llvm::SmallVector<Type*, 8> parts;
    for (Type* arg : type->args)
      parts.push_back(apply(arg));
    Type* made = table_.rebuild(type, parts);
    if (made->is(Kind::Projection))
      made = normalise_(made);
    if (type->depth > 3)
      memo_[type] = made;
    return made;
  }

private:
  TypeTable& table_;
  ArrayRef<Type*> args_;
  Type* self_;
  Normalise normalise_;
  llvm::DenseMap<Type*, Type*> memo_;
};
} // namespace

Type* substitute(TypeTable& table, Type* type, ArrayRef<Type*> args, Type* self,
                 Normalise normalise) {
  if (!type->has(Type::HasParam) || (args.empty() && !self))
    return type;
  return Substitution(table, args, self, normalise).apply(type);
}

} // namespace gos::types
