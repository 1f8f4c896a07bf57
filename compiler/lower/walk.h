#pragma once
// What one look at a body tells before it is lowered: which variables need a cell, and where each
// is used last.

#include "compiler/check/program.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace gos::lower {

/// The expressions directly inside this one, in the order they are evaluated. A closure's body is
/// not among them.
void forEachChild(const ast::Expr* expr, llvm::function_ref<void(const ast::Expr*)> visit);
void forEachChild(const ast::Stmt* stmt, llvm::function_ref<void(const ast::Expr*)> visit);
/// The variables that a pattern binds.
void forEachBinding(const ast::Pattern* pattern,
                    llvm::function_ref<void(const ast::Variable*)> visit);

/// The pattern beneath `&` and `&mut`.
const ast::Pattern* withoutReference(const ast::Pattern* pattern);

/// The variable at the root of a place such as `v.f[i]`, or null.
const ast::Variable* rootVariable(const ast::Expr* place);
const ast::PathExpr* rootPath(const ast::Expr* place);

struct BodyFacts {
  /// `&mut v` was written for the whole variable in a `let`, or as an argument while v is a
  /// sequence.
  llvm::DenseSet<const ast::Variable*> borrowed;
  /// Captured by some closure (by cell or by copy).
  llvm::DenseSet<const ast::Variable*> captured;
  /// Reads after which the variable is not read again before it is written anew.
  llvm::DenseMap<const ast::Variable*, const ast::Expr*> lastUse;
  /// The same for `v = f(v)`: the assignment overwrites it. A bounded number for each variable.
  llvm::DenseMap<const ast::Variable*, llvm::SmallVector<const ast::Expr*, 2>> overwritten;

  bool isLastUse(const ast::Variable* variable, const ast::Expr* use) const {
    auto found = lastUse.find(variable);
    if (found != lastUse.end() && found->second == use)
      return true;
    auto listed = overwritten.find(variable);
    return listed != overwritten.end() && llvm::is_contained(listed->second, use);
  }
  void gather(const ast::Expr* body, check::Program& program,
              llvm::function_ref<types::Type*(types::Type*)> concrete,
              llvm::ArrayRef<const ast::Variable*> parameters);
};

/// The place that a `let` with this value makes a reference to: of `&mut place`, and of a name that
/// is such a reference. Null: it binds a value.
const ast::Expr* referredPlace(const ast::Expr* value);

} // namespace gos::lower
