#include "compiler/types/unify.h"

#include "llvm/ADT/SmallPtrSet.h"

namespace gos::types {

void Unifier::reset() {
  variables_.clear();
  for (auto& index : index_)
    index.clear();
}

void Unifier::swapVariables(Unifier& other) {
  variables_.swap(other.variables_);
  for (size_t i = 0; i < std::size(index_); ++i)
    index_[i].swap(other.index_[i]);
}

Type* Unifier::fresh(InferKind kind) {
  std::vector<uint32_t>& index = index_[size_t(kind)];
  Type* type = table_.infer(kind, uint32_t(index.size()));
  index.push_back(uint32_t(variables_.size()));
  variables_.push_back({type, nullptr});
  return type;
}

Unifier::Variable& Unifier::variable(Type* type) const {
  return variables_[index_[size_t(type->inferKind)][type->inferId]];
}

Type* Unifier::shallowSlow(Type* type) const {
  Type* root = type;
  while (root->is(Kind::Infer)) {
    Type* value = variable(root).value;
    if (!value)
      break;
    root = value;
  }
  while (type->is(Kind::Infer) && type != root) { // path compression
    Variable& each = variable(type);
    Type* next = each.value;
    if (!next)
      break;
    each.value = root;
    type = next;
  }
  return root;
}

Type* Unifier::resolveIn(Type* type, llvm::DenseMap<Type*, Type*>& memo) {
  type = shallow(type);
  if (!type->has(Type::HasInfer) || type->is(Kind::Infer))
    return type;
  auto found = memo.find(type);
  if (found != memo.end())
    return found->second;
  llvm::SmallVector<Type*, 8> parts;
  for (Type* arg : type->args)
    parts.push_back(resolveIn(arg, memo));
  Type* made = table_.rebuild(type, parts);
  memo[type] = made;
  return made;
}

Type* Unifier::resolve(Type* type) {
  if (!type->has(Type::HasInfer))
    return type;
  type = shallow(type);
  if (!type->has(Type::HasInfer) || type->is(Kind::Infer))
    return type;
  llvm::DenseMap<Type*, Type*> memo;
  return resolveIn(type, memo);
}

bool Unifier::occurs(Type* variable, Type* type) {
  llvm::SmallPtrSet<Type*, 16> seen;
  llvm::SmallVector<Type*, 16> work{type};
  while (!work.empty()) {
    Type* next = shallow(work.pop_back_val());
    if (next == variable)
      return true;
    if (!next->has(Type::HasInfer) || !seen.insert(next).second)
      continue;
    work.append(next->args.begin(), next->args.end());
  }
  return false;
}

void Unifier::bind(Type* type, Type* value) {
  variable(type).value = value;
}

bool Unifier::bindChecked(Type* type, Type* value) {
  if (value->is(Kind::Error)) {
    bind(type, value);
    return true;
  }
  if (type->inferKind == InferKind::Integer && !value->isInteger())
    return false;
  if (type->inferKind == InferKind::Float && !value->isFloat())
    return false;
  if (value->has(Type::HasInfer) && occurs(type, value))
    return false;
  bind(type, value);
  return true;
}

bool Unifier::unify(Type* a, Type* b) {
  if (a == b)
    return true;
  llvm::SmallVector<std::pair<Type*, Type*>, 8> work{{a, b}};
  llvm::DenseSet<std::pair<Type*, Type*>> seen;
  while (!work.empty()) {
    auto [left, right] = work.pop_back_val();
    left = shallow(left);
    right = shallow(right);
    if (left == right || left->is(Kind::Error) || right->is(Kind::Error))
      continue;
    if (left->is(Kind::Infer) && right->is(Kind::Infer)) {
      // The more particular kind survives.
      if (left->inferKind != InferKind::General && right->inferKind != InferKind::General &&
          left->inferKind != right->inferKind)
        return false;
      if (left->inferKind == InferKind::General)
        bind(left, right);
      else
        bind(right, left);
      continue;
    }
    if (left->is(Kind::Infer)) {
      if (!bindChecked(left, right))
        return false;
      continue;
    }
    if (right->is(Kind::Infer)) {
      if (!bindChecked(right, left))
        return false;
      continue;
    }
    if (left->is(Kind::Array) && right->is(Kind::Array) &&
        left->isOpenArray() != right->isOpenArray()) {
      work.push_back({left->args[0], right->args[0]});
      work.push_back({table_.lengthOf(left), table_.lengthOf(right)});
      continue;
    }
    if (left->kind != right->kind || left->item != right->item || left->length != right->length ||
        left->mutability != right->mutability || left->args.size() != right->args.size() ||
        left->is(Kind::Param))
      return false;
    // Without variables or errors different pointers are different types.
    constexpr uint8_t kOpen = Type::HasInfer | Type::HasError;
    if (!((left->flags | right->flags) & kOpen))
      return false;
    if (left->depth > 3 && !seen.insert({left, right}).second)
      continue;
    for (size_t i = 0; i < left->args.size(); ++i)
      work.push_back({left->args[i], right->args[i]});
  }
  return true;
}

void Unifier::applyDefaults() {
  for (Variable& each : variables_) {
    if (each.value)
      continue;
    if (each.type->inferKind == InferKind::Integer)
      each.value = table_.i64();
    else if (each.type->inferKind == InferKind::Float)
      each.value = table_.f64();
  }
}

void Unifier::closeWith(Type* type) {
  for (Variable& each : variables_)
    if (!each.value)
      each.value = type;
}

} // namespace gos::types
