// Blocks, statements, conditions, `while`, `loop`, `break`. The `for` loops are in loops.cpp.
#include "compiler/lower/function_lowering.h"

namespace gos::lower {

using namespace ast;
using llvm::cast;
using llvm::dyn_cast;
using types::Kind;

void FunctionLowering::block(const BlockExpr* block, Destination target) {
  pushScope();
  for (const Stmt* stmt : block->statements) {
    if (code_.isDead())
      break;
    statement(stmt);
  }
  if (code_.isDead()) {
    popScope();
    return;
  }
  if (!block->tail) {
    if (target.kind ==
        Destination::Kind::Return) { // the frame goes: nothing is released one by one
      emitReturn(unit());
      popScope();
      return;
    }
    popScope();
    if (!code_.isDead())
      deliver(unit(), target);
    return;
  }
  if (target.kind == Destination::Kind::Into && !scopes_.back().actions.empty() &&
      !isNever(block->tail)) {
    // What runs at the end of the block may see the destination: it is written after.
    Operand value = operand(block->tail);
    if (value.isLocal()) {
      value.lastUse = false;
      value = copied(value);
    }
    popScope();
    deliver(value, target);
    return;
  }
  emit(block->tail, target);
  popScope();
}

void FunctionLowering::statement(const Stmt* stmt) {
  SpanScope span(code_, stmt->span);
  switch (stmt->kind) {
  case StmtKind::Let:
    letStatement(cast<LetStmt>(stmt));
    return;
  case StmtKind::Expr:
    discard(cast<ExprStmt>(stmt)->expr);
    return;
  case StmtKind::Item:
    return; // lowered when something reaches it
  case StmtKind::Defer: {
    ExitAction action;
    action.deferred = cast<DeferStmt>(stmt)->expr;
    scopes_.back().actions.push_back(action);
    return;
  }
  }
}

void FunctionLowering::letStatement(const LetStmt* let) {
  if (!let->value) {
    // Initialised later. A scalar starts as zero, so that nothing depends on what the register held
    // before.
    forEachBinding(let->pattern, [&](const Variable* variable) {
      Type* type = concrete(variable->type)->withoutReferences();
      LayoutId layout = layoutOf(type);
      if (!isReference(layout)) {
        bindVariable(variable, type, immediate(0, layout));
        return;
      }
      if (needsCell(variable)) {
        bindVariable(variable, type, defaultValue(type));
        return;
      }
      Local& local = declare(variable, type, Local::Storage::Register);
      local.value = acquire(layout);
      live_[local.value] = 1;
      scopes_.back().owned.push_back(local.value);
      code_.op(Opcode::Release, local.value); // the last turn of a loop may have left something
    });
    return;
  }
  const Expr* value = let->value;

  // `let r = &mut place`, and `let r = q` where `q` is such a reference.
  if (const Expr* referred = referredPlace(value))
    if (auto* binding = dyn_cast<BindingPattern>(let->pattern);
        binding && isSimpleBinding(let->pattern)) {
      Place where = place(referred);
      Type* type = where.type();
      LayoutId layout = where.layout();
      if (where.steps.empty() && where.root == Place::Root::Cell) {
        Register cell = acquire(layouts().cellOf(layout));
        code_.op(Opcode::MoveRef, cell, where.reg);
        Local& local = declare(binding->variable, type, Local::Storage::Cell);
        local.cell = cell;
        live_[cell] = 1;
        scopes_.back().owned.push_back(cell);
        dropPlace(where);
        return;
      }
      // A copy in a cell, written back when the block ends.
      for (PlaceStep& step : where.steps) {
        if (step.index.isLocal())
          step.index = copied(step.index);
        if (step.high.isLocal())
          step.high = copied(step.high);
      }
      Operand current = loadPlace(where);
      Register cell = acquire(layouts().cellOf(layout));
      if (isReference(layout)) {
        code_.op(Opcode::NewCellTake, cell, owned(current));
        taken(current);
      } else {
        code_.op(Opcode::NewCellScalar, cell, inRegister(current));
        drop(current);
      }
      Local& local = declare(binding->variable, type, Local::Storage::Cell);
      local.cell = cell;
      live_[cell] = 1;
      scopes_.back().owned.push_back(cell);
      ExitAction action;
      action.cell = cell;
      action.place = where;
      scopes_.back().actions.push_back(action);
      return;
    }

  if (let->elseBlock) {
    Label otherwise = code_.makeLabel(), fine = code_.makeLabel();
    size_t mark = patternTemporaries_.size();
    Subject subject = subjectOf(value, {let->pattern});
    holdSubject(subject);
    matchPattern(let->pattern, subject, otherwise);
    succeedPattern(mark, subject);
    code_.jump(fine);
    code_.bind(otherwise);
    failPattern(mark);
    discard(let->elseBlock);
    if (!code_.isDead()) // the checker demands that the block diverges
      code_.op(Opcode::PanicCode, {}, 0u, {}, uint32_t(vm::PanicReason::NoArm));
    code_.bind(fine);
    return;
  }

  // The value straight into the variable's register.
  if (auto* binding = dyn_cast<BindingPattern>(let->pattern);
      binding && isSimpleBinding(let->pattern)) {
    Type* type = concrete(binding->variable->type)->withoutReferences();
    LayoutId layout = layoutOf(type);
    const Expr* source = actual(value);
    if (!needsCell(binding->variable) && !isUnit(layout) && !isNever(value) &&
        source->kind != ExprKind::Path) {
      Register reg = acquire(layout);
      into(value, reg);
      Local& local = declare(binding->variable, type, Local::Storage::Register);
      local.value = reg;
      live_[reg] = 1;
      if (isReference(layout))
        scopes_.back().owned.push_back(reg);
      return;
    }
    Operand result = operand(value);
    if (isNever(value))
      return;
    if (result.isLocal() && !result.lastUse)
      result = copied(result);
    bindVariable(binding->variable, type, result);
    return;
  }

  // A list of targets and a list of values: no tuple is built.
  auto* tuple = dyn_cast<TupleExpr>(actual(value));
  auto* pattern = dyn_cast<TuplePattern>(let->pattern);
  if (tuple && pattern && tuple->elements.size() == pattern->elements.size() &&
      llvm::none_of(pattern->elements,
                    [](const Pattern* p) { return p->kind == PatternKind::Rest; })) {
    llvm::SmallVector<Operand, 4> values;
    for (const Expr* element : tuple->elements) {
      Operand result = operand(element);
      if (result.isLocal() && !result.lastUse)
        result = copied(result);
      values.push_back(result);
    }
    for (size_t i = 0; i != values.size(); ++i)
      bindPattern(pattern->elements[i], valueType(tuple->elements[i]), values[i]);
    return;
  }
  Operand result = operand(value);
  if (isNever(value))
    return;
  bindPattern(let->pattern, valueType(value), result);
}

// ---- if and while
// -------------------------------------------------------------------------------------

/// Each condition in turn; what a `let` binds is visible in those after it and in the body.
void FunctionLowering::conditions(llvm::ArrayRef<Expr*> conditions, Label otherwise) {
  for (const Expr* condition : conditions) {
    auto* let = dyn_cast<LetConditionExpr>(condition);
    if (!let) {
      branch(condition, otherwise, false);
      continue;
    }
    SpanScope span(code_, let->span);
    size_t mark = patternTemporaries_.size();
    Subject subject = subjectOf(let->value, {let->pattern});
    holdSubject(subject);
    matchPattern(let->pattern, subject, otherwise);
    succeedPattern(mark, subject); // what is still held on the other way is released there
  }
}

void FunctionLowering::ifExpression(const IfExpr* expr, Destination target) {
  Label otherwise = code_.makeLabel(), end = code_.makeLabel();
  size_t mark = patternTemporaries_.size();
  pushScope();
  conditions(expr->conditions, otherwise);
  // Without an else the branch's own value is dropped.
  emit(expr->thenBlock, expr->elseBranch ? target : Destination::discard());
  popScope();
  bool held = patternTemporaries_.size() > mark;
  if (expr->elseBranch || held)
    code_.jump(end);
  code_.bind(otherwise);
  failPattern(mark);
  if (expr->elseBranch)
    emit(expr->elseBranch, target);
  code_.bind(end);
  if (!expr->elseBranch && !code_.isDead())
    deliver(unit(), target);
}

void FunctionLowering::whileLoop(const WhileExpr* expr) {
  Label top = code_.makeLabel(), otherwise = code_.makeLabel(), end = code_.makeLabel();
  code_.bind(top);
  size_t mark = patternTemporaries_.size();
  loops_.push_back({expr, end, top, Destination::discard(), scopes_.size()});
  pushScope();
  conditions(expr->conditions, otherwise);
  emit(expr->body, Destination::discard());
  popScope();
  code_.jump(Opcode::LoopJump, top);
  loops_.pop_back();
  code_.bind(otherwise);
  failPattern(mark);
  code_.bind(end);
}

void FunctionLowering::loopLoop(const LoopExpr* expr, Destination target) {
  Label top = code_.makeLabel(), end = code_.makeLabel();
  code_.bind(top);
  loops_.push_back({expr, end, top, target, scopes_.size()});
  emit(expr->body, Destination::discard());
  code_.jump(Opcode::LoopJump, top);
  loops_.pop_back();
  code_.bind(end);
  if (target.kind == Destination::Kind::Return && !code_.isDead())
    emitReturn(unit());
}

void FunctionLowering::breakOrContinue(const Expr* expr, const Expr* loop, bool isBreak,
                                       const Expr* value) {
  Loop* found = nullptr;
  for (size_t i = loops_.size(); i-- > 0 && !found;)
    if (loops_[i].node == loop)
      found = &loops_[i];
  if (!found && !loops_.empty())
    found = &loops_.back();
  if (!found) {
    module_.notYet(expr->span, isBreak ? "`break` here" : "`continue` here");
    return;
  }
  Loop target = *found;
  if (!isBreak) {
    leaveScopes(target.scopes, true);
    code_.jump(target.isCounted ? Opcode::Jump : Opcode::LoopJump, target.continueLabel);
    return;
  }
  if (value && target.target.kind == Destination::Kind::Into && hasActionsSince(target.scopes)) {
    // What runs on the way out may see the destination: it is written after.
    Operand result = operand(value);
    if (result.isLocal()) {
      result.lastUse = false;
      result = copied(result);
    }
    leaveScopes(target.scopes, true);
    deliver(result, target.target);
  } else {
    if (value)
      emit(value, target.target);
    else if (target.target.kind == Destination::Kind::Return)
      emitReturn(unit());
    if (code_.isDead())
      return;
    leaveScopes(target.scopes, true);
  }
  code_.jump(target.breakLabel);
}

bool FunctionLowering::hasActionsSince(size_t depth) const {
  for (size_t i = depth; i < scopes_.size(); ++i)
    if (!scopes_[i].actions.empty())
      return true;
  return false;
}

} // namespace gos::lower
