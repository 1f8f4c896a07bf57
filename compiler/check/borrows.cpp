// Exclusive references: within one call, and named ones until the end of their block (language.md section 8.3).

#include "compiler/check/checker.h"

namespace gos::check {

/// `let r = &mut place` keeps the root of the place from everybody else while `r` is in scope; `let r = &place`
/// keeps it from being written.
void Checker::addBorrow(Expr* value, Name by, Span span) {
  auto* borrow = dyn_cast<BorrowExpr>(folded(value));
  if (!borrow)
    return;
  if (Variable* root = rootVariable(borrow->operand); root && isPlace(borrow->operand))
    body_->borrows.push_back({root, by, span, borrow->mutability == Mutability::Mutable, locals_.size()});
}

void Checker::reportConflict(Variable* root, Span span, bool writes) {
  for (const Body::Borrow& borrow : body_->borrows) {
    if (borrow.root != root || (!writes && !borrow.exclusive))
      continue;
    engine_.report(span, diag::BorrowConflict, writes ? "write to" : "read", root->name.text(),
                   borrow.by.text())
        .label(borrow.span, "borrowed here, until the end of the block");
    body_->borrows.erase(body_->borrows.begin() + (&borrow - body_->borrows.data()));
    return;
  }
}

void Checker::checkBorrowsOfCall(Expr* receiver, bool receiverMutable, ArrayRef<Expr*> ordered) {
  // Two `&mut` of one root in one call; windows are the exception, they are compared at run time.
  SmallVector<std::pair<Variable*, Expr*>, 4> roots;
  if (receiver && receiverMutable)
    if (Variable* root = rootVariable(receiver))
      roots.push_back({root, receiver});
  for (Expr* argument : ordered) {
    auto* borrow = argument ? dyn_cast<BorrowExpr>(folded(argument)) : nullptr;
    if (!borrow || borrow->mutability != Mutability::Mutable)
      continue;
    if (auto* index = dyn_cast<IndexExpr>(borrow->operand); index && isa<RangeExpr>(index->index))
      continue;
    Variable* root = rootVariable(borrow->operand);
    if (!root)
      continue;
    for (auto& [other, place] : roots)
      if (other == root) {
        engine_.report(argument->span, diag::OverlappingBorrows, root->name.text())
            .label(place->span, "first borrowed here");
        return;
      }
    roots.push_back({root, argument});
  }
}

} // namespace gos::check
