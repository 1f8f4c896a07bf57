#pragma once
// Deep copies of trees, for what is written once and checked several times: the unrolled body of
// `for .. in typeInfo::<T>()`, and templates. What the checker wrote into the original is not
// copied; every variable that the copied tree declares gets a twin of its own.

#include "compiler/ast/ast.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace gos::ast {

class Cloner {
public:
  /// Asked for every name that stands as an expression; a node that it answers takes the name's
  /// place. Null keeps the name.
  using ReplaceName = llvm::function_ref<Expr*(const PathExpr&)>;

  explicit Cloner(Context& context) : context_(context) {}
  Cloner(Context& context, ReplaceName replace) : context_(context), replace_(replace) {}

  Expr* clone(const Expr* expr);
  BlockExpr* clone(const BlockExpr* block);
  Pattern* clone(const Pattern* pattern);
  TypeNode* clone(const TypeNode* type);
  Stmt* clone(const Stmt* stmt);
  /// The owner and the parent module stay those of the original.
  FunctionItem* clone(const FunctionItem* function);
  /// The twin of a variable that the copied tree declares; any other variable itself.
  Variable* variable(Variable* original);

private:
  Variable* declare(const Variable* original);
  Path clonePath(const Path& path);
  Generics cloneGenerics(const Generics& generics);
  ArrayRef<GenericArg> cloneArgs(ArrayRef<GenericArg> args);
  ArrayRef<TypeBound> cloneBounds(ArrayRef<TypeBound> bounds);
  ArrayRef<Argument> cloneArguments(ArrayRef<Argument> arguments);
  ArrayRef<FormatPiece> clonePieces(ArrayRef<FormatPiece> pieces, ArrayRef<Expr*> from,
                                    ArrayRef<Expr*> to);
  template <class Node> ArrayRef<Node*> cloneList(ArrayRef<Node*> nodes);

  Context& context_;
  ReplaceName replace_;
  llvm::DenseMap<const Variable*, Variable*> twins_;
};

} // namespace gos::ast
