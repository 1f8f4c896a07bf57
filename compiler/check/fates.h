#pragma once
// What becomes of the closures that a function of the program is given: it only calls them, or they
// outlive the call, or run on another goroutine (language.md section 8.3, GT0052).
//
// Each parameter of function type is a node; giving it on to a parameter of another function,
// itself or inside a closure, is an edge. What becomes of it is the worst that can be reached.

#include "compiler/check/checker.h"

#include <map>

namespace gos::check {

class Fates {
public:
  explicit Fates(Checker& checker) : checker_(checker) {}

  ClosureFate of(FunctionItem* function, size_t parameter);

private:
  using Key = std::pair<FunctionItem*, size_t>;
  struct Node {
    ClosureFate own = ClosureFate::Called;
    SmallVector<Key, 2> givenTo;
  };
  using Tracked = SmallVector<std::pair<Variable*, size_t>, 4>;

  const Node& nodeOf(Key key);
  void read(FunctionItem* function);
  void visit(FunctionItem* reader, const Tracked& tracked, Expr* expr,
             SmallVectorImpl<Expr*>& next);
  void give(FunctionItem* reader, const Tracked& tracked, const Target* callee, bool hasReceiver,
            ArrayRef<Expr*> arguments, SmallVectorImpl<Expr*>& next);
  void keep(FunctionItem* reader, const Tracked& tracked, Expr* expr);

  Checker& checker_;
  llvm::SmallPtrSet<FunctionItem*, 16> read_;
  std::map<Key, Node> nodes_;
};

} // namespace gos::check
