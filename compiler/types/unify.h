#pragma once
// Inference variables of one body and their solution.

#include "compiler/types/type_table.h"

namespace gos::types {

class Unifier {
public:
  explicit Unifier(TypeTable& table) : table_(table) {}

  /// Forgets all variables: a new body begins.
  void reset();
  /// Exchanges the variables with those of another one over the same table: a body is put aside for
  /// another one.
  void swapVariables(Unifier& other);
  Type* fresh(InferKind kind = InferKind::General);
  bool hasVariables() const { return !variables_.empty(); }

  /// The type a variable stands for by now, one level deep.
  Type* shallow(Type* type) const { return type->is(Kind::Infer) ? shallowSlow(type) : type; }
  /// All solved variables replaced.
  Type* resolve(Type* type);
  /// Makes both equal; false when they cannot be (some variables may have been bound by then).
  bool unify(Type* a, Type* b);
  /// Binds an unsolved variable without a question.
  void bind(Type* variable, Type* type);
  /// Integer variables become i64, float ones f64; the rest stays.
  void applyDefaults();
  /// Binds what is still open.
  void closeWith(Type* type);

private:
  struct Variable {
    Type* type; // the Infer type
    Type* value = nullptr;
  };
  Type* shallowSlow(Type* type) const;
  Variable& variable(Type* type) const;
  bool occurs(Type* variable, Type* type);
  bool bindChecked(Type* variable, Type* type);
  Type* resolveIn(Type* type, llvm::DenseMap<Type*, Type*>& memo);

  TypeTable& table_;
  mutable std::vector<Variable> variables_; // by number of creation
  std::vector<uint32_t> index_[3];          // Infer id of a kind -> place in variables_
};

} // namespace gos::types
