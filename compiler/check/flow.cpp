// What is true of a variable at a point of the program: has a `let` without a value been given one,
// is an iterator used up? A walk in the order of evaluation; branches are joined, loops are walked
// again until nothing is new.

#include "compiler/check/checker.h"
#include "compiler/check/walk.h"

#include "llvm/ADT/SmallBitVector.h"

namespace gos::check {

namespace {

constexpr unsigned kMaxDepth = 4000; // past what the checker walks itself

/// Facts at a point, one bit a variable. A point that is never reached has all of `assigned` and
/// none of the others, so that joining it with another one changes nothing.
struct Facts {
  llvm::SmallBitVector assigned; // has a value on every way here
  llvm::SmallBitVector touched;  // was given a value on some way here
  llvm::SmallBitVector spent;    // was used up on some way here

  explicit Facts(unsigned count) : assigned(count), touched(count), spent(count) {}
  void unreachable() {
    assigned.set();
    touched.reset();
    spent.reset();
  }
  void join(const Facts& other) {
    assigned &= other.assigned;
    touched |= other.touched;
    spent |= other.spent;
  }
  bool operator==(const Facts& other) const {
    return assigned == other.assigned && touched == other.touched && spent == other.spent;
  }
};

} // namespace

class FlowWalk {
public:
  FlowWalk(Checker& checker, Body& body) : checker_(checker), count_(0), now_(0) {
    for (Variable* variable : body.late)
      late_.insert({variable, count_++});
    for (Variable* variable : body.cursors)
      if (cursors_.insert({variable, count_}).second)
        ++count_;
    spentAt_.resize(count_);
    now_ = Facts(count_);
  }

  void run(Expr* root) { walk(root); }

private:
  struct Frame {
    Expr* loop;
    Facts left;  // where a `break` goes to
    Facts again; // where a `continue` goes to
  };

  void report(Expr* place, llvm::function_ref<void()> message) {
    if (reported_.insert(place).second)
      message();
  }

  void read(PathExpr* path) {
    Variable* variable = path->target.variable;
    if (path->target.kind != TargetKind::Variable || !variable)
      return;
    if (auto late = late_.find(variable); late != late_.end() && !now_.assigned.test(late->second))
      report(path, [&] {
        checker_.engine_
            .report(path->span, diag::NotInferred,
                    ("the value of `" + variable->name.text() + "`").str())
            .label(variable->span, "declared without a value")
            .note("not every way here gives it one");
      });
    if (auto cursor = cursors_.find(variable);
        cursor != cursors_.end() && now_.spent.test(cursor->second))
      report(path, [&] {
        Diagnostic& report =
            checker_.engine_.report(path->span, diag::IteratorReused, variable->name.text());
        Span spent = spentAt_[cursor->second];
        if (spent == path->span)
          report.note("what goes on here is done more than once");
        else
          report.label(spent, "used up here");
        report.help("collect it into a `Vec` to go over its values again");
      });
  }

  void write(PathExpr* path) {
    Variable* variable = path->target.variable;
    if (path->target.kind != TargetKind::Variable || !variable)
      return;
    if (auto late = late_.find(variable); late != late_.end()) {
      if (now_.touched.test(late->second) && !variable->isMutable)
        report(path, [&] {
          checker_.engine_.report(path->span, diag::WriteToImmutable, variable->name.text())
              .label(variable->span, "declared without `mut`")
              .note("it may have been given its value before")
              .suggest(Span{variable->span.begin, variable->span.begin}, "mut ",
                       "declare it `mut`");
        });
      now_.assigned.set(late->second);
      now_.touched.set(late->second);
    }
    if (auto cursor = cursors_.find(variable); cursor != cursors_.end())
      now_.spent.reset(cursor->second);
  }

  PathExpr* cursorIn(Expr* expr) {
    auto* path = dyn_cast_or_null<PathExpr>(expr ? checker_.folded(expr) : nullptr);
    return path && cursors_.count(path->target.variable) ? path : nullptr;
  }
  void spend(Expr* expr) {
    if (PathExpr* path = cursorIn(expr)) {
      unsigned index = cursors_.lookup(path->target.variable);
      now_.spent.set(index);
      spentAt_[index] = path->span;
    }
  }
  void spendArguments(FunctionItem* function, ArrayRef<Expr*> ordered, size_t skip) {
    const Signature& signature = checker_.functionInfo(function).signature;
    for (size_t i = 0; i < ordered.size() && i + skip < signature.parameters.size(); ++i)
      if (!signature.parameters[i + skip]->is(Kind::Ref))
        spend(ordered[i]);
  }

  /// Conditions joined by `&&`; `otherwise` gets the facts of every way on which one does not hold.
  void conditions(ArrayRef<Expr*> list, Facts& otherwise) {
    for (Expr* each : list) {
      walk(each);
      otherwise.join(now_);
    }
  }
  Facts nowhere() const {
    Facts facts(count_);
    facts.unreachable();
    return facts;
  }

  /// `iteration` walks one round: from the facts at its head to those at its end; ways out go to
  /// the frame.
  void loop(Expr* node, llvm::function_ref<void()> iteration) {
    Facts head = now_;
    while (true) {
      frames_.push_back({node, nowhere(), nowhere()});
      now_ = head;
      iteration();
      Frame frame = frames_.pop_back_val();
      now_.join(frame.again);
      forgetInside(node);
      Facts next = head;
      next.join(now_);
      now_ = frame.left;
      if (next == head)
        return;
      head = next;
    }
  }

  void forget(Variable* variable) {
    if (auto late = late_.find(variable); late != late_.end()) {
      now_.assigned.reset(late->second);
      now_.touched.reset(late->second);
    }
    if (auto cursor = cursors_.find(variable); cursor != cursors_.end())
      now_.spent.reset(cursor->second);
  }
  /// Variables of a loop's body are new ones in each round.
  void forgetInside(Expr* loop) {
    for (auto& table : {&late_, &cursors_})
      for (auto& [variable, index] : *table)
        if (loop->span.begin <= variable->span.begin && variable->span.end <= loop->span.end)
          forget(variable);
  }

  void leave(Expr* target, bool again) {
    for (Frame& frame : frames_)
      if (frame.loop == target)
        (again ? frame.again : frame.left).join(now_);
    now_.unreachable();
  }

  void walk(Expr* expr) {
    if (!expr || depth_ >= kMaxDepth)
      return;
    ++depth_;
    expr = checker_.folded(expr);
    walkKind(expr);
    if (expr->type && checker_.shallow(expr->type)->is(Kind::Never))
      now_.unreachable();
    --depth_;
  }

  void walkBlock(BlockExpr* block) {
    for (Stmt* statement : block->statements) {
      if (auto* let = dyn_cast<LetStmt>(statement)) {
        walk(let->value);
        if (auto* binding = dyn_cast<BindingPattern>(let->pattern))
          forget(binding->variable);
        if (let->elseBlock) {
          Facts matched = now_;
          walk(let->elseBlock);
          now_.join(matched);
        }
      } else if (auto* plain = dyn_cast<ExprStmt>(statement)) {
        walk(plain->expr);
      } else if (auto* deferred = dyn_cast<DeferStmt>(statement)) {
        walk(deferred->expr);
      }
    }
    walk(block->tail);
  }

  void walkKind(Expr* expr) {
    switch (expr->kind) {
    case ExprKind::Path:
      return read(cast<PathExpr>(expr));
    case ExprKind::Block:
      return walkBlock(cast<BlockExpr>(expr));
    case ExprKind::If: {
      auto* branch = cast<IfExpr>(expr);
      Facts otherwise = nowhere();
      conditions(branch->conditions, otherwise);
      walk(branch->thenBlock);
      Facts taken = now_;
      now_ = otherwise;
      walk(branch->elseBranch);
      now_.join(taken);
      return;
    }
    case ExprKind::Match: {
      auto* match = cast<MatchExpr>(expr);
      walk(match->subject);
      Facts before = now_, after = nowhere();
      for (const MatchArm& arm : match->arms) {
        now_ = before;
        walk(arm.guard);
        if (arm.guard)
          before.join(now_); // the next arm is looked at after it
        walk(arm.body);
        after.join(now_);
      }
      if (!match->arms.empty())
        now_ = after;
      return;
    }
    case ExprKind::While: {
      auto* repeated = cast<WhileExpr>(expr);
      loop(expr, [&] {
        Facts out = nowhere();
        conditions(repeated->conditions, out);
        frames_.back().left.join(out);
        walk(repeated->body);
      });
      return;
    }
    case ExprKind::Loop:
      loop(expr, [&] { walk(cast<LoopExpr>(expr)->body); });
      return;
    case ExprKind::For: {
      auto* repeated = cast<ForExpr>(expr);
      if (repeated->unrolled) {
        for (BlockExpr* body : repeated->unrolledBodies)
          walk(body);
        return;
      }
      walk(repeated->iterable);
      loop(expr, [&] {
        frames_.back().left.join(now_);
        walk(repeated->body);
      });
      if (!broken_.count(expr)) // a loop that is left early leaves the rest
        spend(repeated->iterable);
      return;
    }
    case ExprKind::Break:
      walk(cast<BreakExpr>(expr)->value);
      broken_.insert(cast<BreakExpr>(expr)->target);
      return leave(cast<BreakExpr>(expr)->target, false);
    case ExprKind::Continue:
      return leave(cast<ContinueExpr>(expr)->target, true);
    case ExprKind::Return:
      walk(cast<ReturnExpr>(expr)->value);
      return now_.unreachable();
    case ExprKind::Closure: {
      // Called any number of times from now on: what it writes may be written twice, and need not
      // be written at all.
      Facts before = now_;
      SmallVector<Frame, 4> outside;
      outside.swap(frames_);
      loop(expr, [&] {
        frames_.back().left.join(now_);
        walk(cast<ClosureExpr>(expr)->body);
      });
      outside.swap(frames_);
      now_.assigned = before.assigned;
      now_.spent = before.spent;
      return;
    }
    case ExprKind::Binary: {
      // Chains are deep on the left.
      SmallVector<BinaryExpr*, 16> chain;
      Expr* left = expr;
      while (auto* binary = dyn_cast<BinaryExpr>(left)) {
        chain.push_back(binary);
        left = checker_.folded(binary->left);
      }
      walk(left);
      while (!chain.empty()) {
        BinaryExpr* each = chain.pop_back_val();
        Facts before = now_;
        walk(each->right);
        if (each->op == BinaryOp::And || each->op == BinaryOp::Or)
          now_.join(before);
      }
      return;
    }
    case ExprKind::Assign: {
      auto* assign = cast<AssignExpr>(expr);
      for (Expr* value : assign->values)
        walk(value);
      for (Expr* target : assign->targets) {
        auto* path = dyn_cast<PathExpr>(checker_.folded(target));
        if (!path || assign->compound)
          walk(target);
        if (path)
          write(path);
      }
      return;
    }
    case ExprKind::Pipe:
      if (Expr* meaning = cast<PipeExpr>(expr)->desugared)
        return walk(meaning);
      break;
    case ExprKind::MethodCall: {
      auto* call = cast<MethodCallExpr>(expr);
      forEachPart(expr, [&](Expr* part) { walk(part); });
      if (auto* function = dyn_cast_or_null<FunctionItem>(call->target.item)) {
        if (function->self == SelfKind::Value || function->self == SelfKind::MutValue)
          spend(call->receiver);
        spendArguments(function, call->ordered, 1);
      }
      return;
    }
    case ExprKind::Call: {
      auto* call = cast<CallExpr>(expr);
      forEachPart(expr, [&](Expr* part) { walk(part); });
      auto* path = dyn_cast<PathExpr>(checker_.folded(call->callee));
      if (auto* function = path ? dyn_cast_or_null<FunctionItem>(path->target.item) : nullptr)
        spendArguments(function, call->ordered, 0);
      return;
    }
    default:
      break;
    }
    forEachPart(expr, [&](Expr* part) { walk(part); });
  }

  Checker& checker_;
  unsigned count_;
  Facts now_;
  llvm::DenseMap<Variable*, unsigned> late_, cursors_;
  SmallVector<Span, 4> spentAt_;
  SmallVector<Frame, 4> frames_;
  llvm::SmallPtrSet<Expr*, 8> reported_, broken_;
  unsigned depth_ = 0;
};

/// An iterator in a variable of the function, handed to something that may use it up.
void Checker::noteCursor(Expr* expr) {
  auto* path = dyn_cast<PathExpr>(folded(expr));
  if (!path || path->target.kind != TargetKind::Variable || !path->target.variable->type)
    return;
  Type* type = shallow(path->target.variable->type);
  if (type->is(Kind::Struct) && type->item == lang_.iterator)
    body_->cursors.push_back(path->target.variable);
}

void Checker::checkFlow(Body& body) {
  auto* function = dyn_cast<FunctionItem>(body.item);
  Expr* root = function ? function->body : nullptr;
  if (!root || (body.late.empty() && body.cursors.empty()))
    return;
  FlowWalk(*this, body).run(root);
}

} // namespace gos::check
