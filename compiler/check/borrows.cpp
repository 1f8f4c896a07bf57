// Exclusive references: within one call, and named ones until the end of their block (language.md
// section 8.3).

#include "compiler/check/checker.h"

namespace gos::check {

/// `let r = &mut place` keeps the root of the place from everybody else while `r` is in scope; `let
/// r = &place` keeps it from being written. `let r = q`, of a reference `q`, is `let r = &mut *q`.
void Checker::addBorrow(Expr* value, Name by, Span span) {
  if (auto* path = dyn_cast<PathExpr>(folded(value));
      path && path->target.kind == TargetKind::Variable && path->target.variable->type &&
      shallow(path->target.variable->type)->isMutableRef())
    body_->borrows.push_back({path->target.variable, by, span, true, locals_.size()});
  auto* borrow = dyn_cast<BorrowExpr>(folded(value));
  if (!borrow)
    return;
  if (Variable* root = rootVariable(borrow->operand); root && isPlace(borrow->operand))
    body_->borrows.push_back(
        {root, by, span, borrow->mutability == Mutability::Mutable, locals_.size()});
}

void Checker::reportConflict(Variable* root, Span span, bool writes) {
  for (const Body::Borrow& borrow : body_->borrows) {
    if (borrow.root != root || (!writes && !borrow.exclusive))
      continue;
    engine_
        .report(span, diag::BorrowConflict, writes ? "write to" : "read", root->name.text(),
                borrow.by.text())
        .label(borrow.span, "borrowed here, until the end of the block");
    body_->borrows.erase(body_->borrows.begin() + (&borrow - body_->borrows.data()));
    return;
  }
}

/// The closure that the expression is, or that the variable was declared with.
ClosureExpr* Checker::closureOf(Expr* expr) {
  if (auto* closure = dyn_cast<ClosureExpr>(expr))
    return closure;
  auto* path = dyn_cast<PathExpr>(expr);
  return path && path->target.kind == TargetKind::Variable
             ? body_->namedClosures.lookup(path->target.variable)
             : nullptr;
}

void Checker::checkBorrowsOfCall(FunctionItem* function, Expr* receiver, bool receiverMutable,
                                 ArrayRef<Expr*> ordered, Expr* callee) {
  // Two `&mut` of one root in one call; windows are the exception, they are compared at run time.
  struct Exclusive {
    Variable* root;
    Expr* place;
    std::string by;
  };
  SmallVector<Exclusive, 4> roots;
  if (receiver && receiverMutable)
    if (Variable* root = rootVariable(folded(receiver)))
      roots.push_back({root, receiver, function ? function->name.name.text().str() : "the call"});
  for (Expr* argument : ordered) {
    auto* borrow = argument ? dyn_cast<BorrowExpr>(folded(argument)) : nullptr;
    if (!borrow || borrow->mutability != Mutability::Mutable)
      continue;
    if (auto* index = dyn_cast<IndexExpr>(borrow->operand); index && isa<RangeExpr>(index->index))
      continue;
    Variable* root = rootVariable(borrow->operand);
    if (!root)
      continue;
    for (const Exclusive& other : roots)
      if (other.root == root) {
        engine_.report(argument->span, diag::OverlappingBorrows, root->name.text())
            .label(other.place->span, "first borrowed here");
        return;
      }
    roots.push_back({root, argument, "&mut " + root->name.text().str()});
  }
  if (roots.empty())
    return;
  // A shared view beside it: `&place`, or a place for a parameter `&T`. A parameter by value takes
  // a copy, made before the call begins: `list.push(list.len())`.
  auto views = [&](Expr* view, Expr* place) {
    Variable* root = isPlace(place) ? rootVariable(place) : nullptr;
    for (const Exclusive& other : roots)
      if (root && other.root == root && other.place != view) {
        engine_.report(view->span, diag::BorrowConflict, "read", root->name.text(), other.by)
            .label(other.place->span, "borrowed here, for the whole call")
            .help("pass a copy: `" + root->name.text().str() + ".clone()`");
        return;
      }
  };
  if (ClosureExpr* closure = callee ? closureOf(folded(callee)) : nullptr)
    for (const Exclusive& other : roots)
      body_->closureUses.push_back({callee->span, closure, other.root, other.by});
  size_t skip = receiver ? 1 : 0;
  if (receiver && !receiverMutable && function && function->self == SelfKind::Shared)
    views(receiver, folded(receiver));
  for (size_t i = 0; i < ordered.size(); ++i) {
    Expr* argument = ordered[i] ? folded(ordered[i]) : nullptr;
    if (!argument)
      continue;
    if (auto* borrow = dyn_cast<BorrowExpr>(argument)) {
      if (borrow->mutability == Mutability::Shared)
        views(ordered[i], folded(borrow->operand));
    } else if (ClosureExpr* closure = closureOf(argument)) {
      for (const Exclusive& other : roots)
        body_->closureUses.push_back({argument->span, closure, other.root, other.by});
    } else if (function && i + skip < function->parameters.size()) {
      auto* node = dyn_cast_or_null<ReferenceTypeNode>(function->parameters[i + skip].type);
      if (node && node->mutability == Mutability::Shared)
        views(ordered[i], argument);
    }
  }
}

/// A closure sees a container that it captures, and a reference, while the call it is handed to has
/// it borrowed.
void Checker::finishClosureUses(Body& body) {
  for (const Body::ClosureUse& use : body.closureUses) {
    Type* type = use.root->type;
    if (!type || !(type->isContainer() || type->is(Kind::Ref)) ||
        !llvm::is_contained(use.closure->captures, use.root))
      continue;
    Diagnostic& report =
        engine_.report(use.span, diag::BorrowConflict, "capture", use.root->name.text(), use.by);
    if (!(use.span == use.closure->span))
      report.label(use.closure->span, "captured here");
  }
}

} // namespace gos::check
