#pragma once
// What somebody else could notice of a callback: output, writes to what is outside of it, what the
// world answers (language.md section 24, GT0090).
//
// The functions that a callback comes to are a graph, a node for each function with the types that
// it is called with, so that what stands behind a bound or an operator is known. A callback is pure
// if no node that can be reached has an effect of its own. A function value is one that is written
// in the callback, or somebody else's, of whose effects nothing is known: it counts as one.

#include "compiler/check/checker.h"

#include "llvm/ADT/DenseSet.h"

#include <deque>
#include <map>

namespace gos::check {

class Effects {
public:
  explicit Effects(Checker& checker) : checker_(checker) {}

  /// What the callback does, in words; empty if nothing. Anything but a closure and the name of a
  /// function is a fault too.
  std::string ofCallback(Expr* callback);

private:
  /// A function with the types it is called with.
  struct Node {
    FunctionItem* function;
    ArrayRef<Type*> args;
    Type* self;
    bool isRead = false; // has its body been looked at?
    bool isPure = false; // it, and whatever it comes to
    std::string effect;  // its own
    SmallVector<size_t, 4> callees;
  };
  /// The text that is being looked at.
  struct Scope {
    Node* node;
    const ClosureExpr* closure; // the callback itself; null in a function that it calls
  };
  struct Pending {
    Expr* expr;
    bool isReadThrough; // a reference whose value alone is looked at
  };
  /// The impls that take the place of what every value can do, of a type and of its parts.
  struct Hooks {
    SmallVector<Selected, 2> functions;
    bool isOpen = false; // there is a parameter, which may stand for anything
  };

  size_t nodeOf(FunctionItem* function, ArrayRef<Type*> args, Type* self);
  void read(size_t index);
  void look(const Scope& scope, Expr* body);
  void visit(const Scope& scope, const Pending& pending, SmallVectorImpl<Pending>& next);
  void path(const Scope& scope, PathExpr* path, bool isReadThrough, SmallVectorImpl<Pending>& next);
  void call(const Scope& scope, const Target& target);
  void write(const Scope& scope, Expr* place);
  void behaviour(const Scope& scope, Type* type, const char* what);
  void native(const Scope& scope, FunctionItem* function, ArrayRef<Type*> args);
  void note(const Scope& scope, std::string effect);
  std::string reached(Node& from);
  const Hooks& hooksOf(Type* type);
  bool holdsFunction(Type* type);
  Type* concrete(const Scope& scope, Type* type);

  Checker& checker_;
  std::deque<Node> nodes_;
  std::map<std::vector<const void*>, size_t> index_;
  llvm::DenseMap<FunctionItem*, unsigned> instances_;
  std::map<Type*, Hooks> hooks_;
  llvm::DenseMap<Type*, bool> functions_;
};

} // namespace gos::check
