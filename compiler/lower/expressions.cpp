// Expressions in general: operands, destinations, paths, fields, indexing, `?`, casts.
#include "compiler/lower/function_lowering.h"

namespace gos::lower {

using namespace ast;
using llvm::cast;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;
using llvm::isa;
using types::Kind;

const Expr* FunctionLowering::actual(const Expr* expr) {
  for (;;) {
    if (Expr* other = module_.program().folded(const_cast<Expr*>(expr)); other && other != expr) {
      expr = other;
      continue;
    }
    if (auto* pipe = dyn_cast<PipeExpr>(expr); pipe && pipe->desugared) {
      expr = pipe->desugared;
      continue;
    }
    if (auto* region = dyn_cast<ComptimeExpr>(expr)) {
      expr = region->body;
      continue;
    }
    if (auto* borrow = dyn_cast<BorrowExpr>(expr)) { // as a value: what it refers to
      expr = borrow->operand;
      continue;
    }
    if (auto* unary = dyn_cast<UnaryExpr>(expr);
        unary && unary->op == UnaryOp::Deref && unary->method.kind == TargetKind::None) {
      expr = unary->operand;
      continue;
    }
    if (auto* block = dyn_cast<BlockExpr>(expr);
        block && block->statements.empty() && block->tail) {
      expr = block->tail;
      continue;
    }
    return expr;
  }
}

std::optional<int64_t> FunctionLowering::constantInteger(const Expr* expr, unsigned depth) {
  if (depth > 32)
    return std::nullopt;
  expr = actual(expr);
  switch (expr->kind) {
  case ExprKind::Bool:
    return cast<BoolExpr>(expr)->value;
  case ExprKind::Char:
    return cast<CharExpr>(expr)->value;
  case ExprKind::Byte:
    return cast<ByteExpr>(expr)->value;
  case ExprKind::Int:
    if (!valueType(expr)->isInteger())
      return std::nullopt;
    return int64_t(cast<IntExpr>(expr)->value);
  case ExprKind::Unary: {
    auto* unary = cast<UnaryExpr>(expr);
    auto* literal = dyn_cast<IntExpr>(unary->operand);
    if (unary->op != UnaryOp::Negate || !literal || !valueType(expr)->isInteger())
      return std::nullopt;
    return int64_t(0 - literal->value);
  }
  case ExprKind::Path: {
    const Target& target = cast<PathExpr>(expr)->target;
    if (target.kind == TargetKind::NumericConst)
      return valueType(expr)->isFloat() ? std::nullopt
                                        : std::optional<int64_t>(int64_t(target.bits));
    if (target.kind == TargetKind::ConstParam && valueType(expr)->isInteger())
      return int64_t(constParameter(target));
    if (target.kind == TargetKind::Const && target.item)
      if (auto* item = dyn_cast<ConstItem>(target.item); item && item->value && !item->owner)
        return constantInteger(item->value, depth + 1);
    return std::nullopt;
  }
  case ExprKind::Binary: {
    auto* binary = cast<BinaryExpr>(expr);
    if (!valueType(expr)->is(Kind::I64) || binary->method.kind != TargetKind::None)
      return std::nullopt;
    auto isLeaf = [](const Expr* e) {
      return e->kind == ExprKind::Int || e->kind == ExprKind::Path;
    };
    if (!isLeaf(binary->left) || !isLeaf(binary->right))
      return std::nullopt;
    auto left = constantInteger(binary->left, depth + 1);
    auto right = constantInteger(binary->right, depth + 1);
    if (!left || !right)
      return std::nullopt;
    int64_t result = 0;
    switch (binary->op) {
    case BinaryOp::Add:
      return __builtin_add_overflow(*left, *right, &result) ? std::nullopt : std::optional(result);
    case BinaryOp::Sub:
      return __builtin_sub_overflow(*left, *right, &result) ? std::nullopt : std::optional(result);
    case BinaryOp::Mul:
      return __builtin_mul_overflow(*left, *right, &result) ? std::nullopt : std::optional(result);
    case BinaryOp::Shl:
      return *right >= 0 && *right < 64 ? std::optional(int64_t(uint64_t(*left) << *right))
                                        : std::nullopt;
    default: // evaluated when the program runs
      return std::nullopt;
    }
  }
  default: // not a constant that is worth knowing
    return std::nullopt;
  }
}

Operand FunctionLowering::operand(const Expr* written) {
  const Expr* expr = actual(written);
  if (isNever(expr)) {
    discard(expr);
    return unit();
  }
  LayoutId layout = layoutOf(expr);
  switch (expr->kind) {
  case ExprKind::Int:
  case ExprKind::Bool:
  case ExprKind::Char:
  case ExprKind::Byte:
  case ExprKind::Unary:
  case ExprKind::Binary:
    if (auto value = constantInteger(expr))
      return immediate(*value, layout);
    break;
  case ExprKind::Path:
    return pathOperand(cast<PathExpr>(expr));
  default: // computed below
    break;
  }
  if (isUnit(layout)) {
    discard(expr);
    return immediate(0, layout);
  }
  Register reg = acquire(layout);
  into(expr, reg);
  Operand result = temporary(reg);
  result.isConstant = expr->kind == ExprKind::String;
  return result;
}

Operand FunctionLowering::operandAs(const Expr* expr, LayoutId layout) {
  return converted(operand(expr), layout);
}

void FunctionLowering::deliver(Operand value, Destination target) {
  switch (target.kind) {
  case Destination::Kind::Discard:
    drop(value);
    return;
  case Destination::Kind::Into:
    moveInto(target.reg, value);
    return;
  case Destination::Kind::Return:
    emitReturn(value);
    return;
  }
}

void FunctionLowering::emit(const Expr* written, Destination target) {
  const Expr* expr = actual(written);
  SpanScope span(code_, expr->span);
  switch (expr->kind) {
  case ExprKind::Block:
    block(cast<BlockExpr>(expr), target);
    return;
  case ExprKind::If:
    ifExpression(cast<IfExpr>(expr), target);
    return;
  case ExprKind::Match:
    matchExpression(cast<MatchExpr>(expr), target);
    return;
  case ExprKind::Loop:
    loopLoop(cast<LoopExpr>(expr), target);
    return;
  case ExprKind::While:
    whileLoop(cast<WhileExpr>(expr));
    deliver(unit(), target);
    return;
  case ExprKind::For:
    forLoop(cast<ForExpr>(expr));
    deliver(unit(), target);
    return;
  case ExprKind::Assign:
    intoAssign(cast<AssignExpr>(expr));
    deliver(unit(), target);
    return;
  case ExprKind::Return:
    returnValue(cast<ReturnExpr>(expr)->value);
    return;
  case ExprKind::Break: {
    auto* jump = cast<BreakExpr>(expr);
    breakOrContinue(expr, jump->target, true, jump->value);
    return;
  }
  case ExprKind::Continue:
    breakOrContinue(expr, cast<ContinueExpr>(expr)->target, false, nullptr);
    return;
  case ExprKind::KnownCall:
    knownCall(cast<KnownCallExpr>(expr), target);
    return;
  default: // an ordinary value
    break;
  }
  if (target.kind == Destination::Kind::Return && !isNever(expr)) {
    // One register less than computing it and moving it would take.
    emitReturn(isUnit(resultLayout_) ? operand(expr) : operandAs(expr, resultLayout_));
    return;
  }
  if (target.kind == Destination::Kind::Into && !isNever(expr) &&
      !isUnit(registers_.layout(target.reg))) {
    LayoutId layout = layoutOf(expr);
    if (layout != registers_.layout(target.reg) && isReference(layout)) {
      Operand value = operand(expr);
      moveInto(target.reg, value);
    } else if (expr->kind == ExprKind::Path || isUnit(layout)) {
      Operand value = operand(expr);
      moveInto(target.reg, value);
    } else if (auto value = constantInteger(expr)) {
      loadConstant(target.reg, uint64_t(*value));
    } else {
      intoSame(expr, target.reg);
    }
    return;
  }
  // Discarded, or of a type without values: for its effect.
  if (expr->kind == ExprKind::Path && cast<PathExpr>(expr)->target.kind == TargetKind::Variable)
    return;
  LayoutId layout = layoutOf(expr);
  Register scratch = acquire(layout);
  intoSame(expr, scratch);
  if (isReference(layout))
    code_.op(Opcode::Release, scratch);
  release(scratch);
}

void FunctionLowering::into(const Expr* expr, Register dest) {
  emit(expr, Destination::into(dest));
}
void FunctionLowering::discard(const Expr* expr) {
  emit(expr, Destination::discard());
}

void FunctionLowering::intoSame(const Expr* expr, Register dest) {
  switch (expr->kind) {
  case ExprKind::Error:
    return;           // the checker has reported it: nothing is run
  case ExprKind::Int: // of a float type
    loadConstant(dest, std::bit_cast<uint64_t>(double(cast<IntExpr>(expr)->value)));
    return;
  case ExprKind::Float: {
    double value = cast<FloatExpr>(expr)->value;
    if (valueType(expr)->is(Kind::F32))
      value = double(float(value));
    loadConstant(dest, std::bit_cast<uint64_t>(value));
    return;
  }
  case ExprKind::Bool:
  case ExprKind::Char:
  case ExprKind::Byte:
    loadConstant(dest, uint64_t(*constantInteger(expr)));
    return;
  case ExprKind::String:
    intoString(cast<StringExpr>(expr)->value, dest);
    return;
  case ExprKind::ByteString:
    intoString(cast<ByteStringExpr>(expr)->value, dest);
    return;
  case ExprKind::FString:
    formatInto(cast<FStringExpr>(expr)->pieces, {}, dest);
    return;
  case ExprKind::Path: {
    Operand value = pathOperand(cast<PathExpr>(expr));
    moveInto(dest, value);
    return;
  }
  case ExprKind::StructLiteral:
    intoStruct(cast<StructLiteralExpr>(expr), dest);
    return;
  case ExprKind::Tuple: {
    auto* tuple = cast<TupleExpr>(expr);
    LayoutId layout = registers_.layout(dest);
    if (tuple->elements.empty())
      return;
    llvm::SmallVector<LayoutId, 8> wanted(this->layout(layout).variants[0].fields.begin(),
                                          this->layout(layout).variants[0].fields.end());
    llvm::SmallVector<const Expr*, 8> elements(tuple->elements.begin(), tuple->elements.end());
    llvm::SmallVector<Operand, 8> values;
    operands(elements, values, wanted);
    construct(layout, 0, values, dest);
    return;
  }
  case ExprKind::Array:
    intoElements(cast<ArrayExpr>(expr)->elements, dest);
    return;
  case ExprKind::Repeat:
    intoRepeat(cast<RepeatExpr>(expr), dest);
    return;
  case ExprKind::Map:
    intoMap(cast<MapExpr>(expr), dest);
    return;
  case ExprKind::Set:
    intoSet(cast<SetExpr>(expr), dest);
    return;
  case ExprKind::Closure:
    intoClosure(cast<ClosureExpr>(expr), dest);
    return;
  case ExprKind::Call:
    intoCall(cast<CallExpr>(expr), dest);
    return;
  case ExprKind::MethodCall:
    intoMethodCall(cast<MethodCallExpr>(expr), dest);
    return;
  case ExprKind::Field:
    intoField(cast<FieldExpr>(expr)->object, cast<FieldExpr>(expr)->index, dest);
    return;
  case ExprKind::TupleField:
    intoField(cast<TupleFieldExpr>(expr)->object, cast<TupleFieldExpr>(expr)->index, dest);
    return;
  case ExprKind::Index:
    intoIndex(cast<IndexExpr>(expr), dest);
    return;
  case ExprKind::Range:
    intoRange(cast<RangeExpr>(expr), dest);
    return;
  case ExprKind::Unary:
    intoUnary(cast<UnaryExpr>(expr), dest);
    return;
  case ExprKind::Binary:
    intoBinary(cast<BinaryExpr>(expr), dest);
    return;
  case ExprKind::Cast:
    intoCast(cast<CastExpr>(expr), dest);
    return;
  case ExprKind::Try:
    intoTry(cast<TryExpr>(expr), dest);
    return;
  case ExprKind::LetCondition:
    module_.notYet(expr->span, "`let` outside a condition");
    return;
  case ExprKind::Pipe:
    module_.notYet(expr->span, "this step of a pipe");
    return;
  case ExprKind::Block:
  case ExprKind::If:
  case ExprKind::While:
  case ExprKind::Loop:
  case ExprKind::For:
  case ExprKind::Match:
  case ExprKind::KnownCall:
  case ExprKind::Assign:
  case ExprKind::Return:
  case ExprKind::Break:
  case ExprKind::Continue:
  case ExprKind::Comptime:
  case ExprKind::Borrow:
    emit(expr, Destination::into(dest)); // looked after there
    return;
  }
}

// ---- order of evaluation
// ------------------------------------------------------------------------------

bool FunctionLowering::mayWriteVariables(const Expr* expr) {
  if (expr->kind == ExprKind::Assign)
    return true;
  if (auto* borrow = dyn_cast<BorrowExpr>(expr);
      borrow && borrow->mutability == Mutability::Mutable)
    return true;
  // A reference that is handed on is written through.
  auto handsOn = [](llvm::ArrayRef<Argument> arguments) {
    return llvm::any_of(arguments, [](const Argument& argument) {
      return argument.value && argument.value->type && argument.value->type->isMutableRef();
    });
  };
  if (auto* call = dyn_cast<CallExpr>(expr); call && handsOn(call->arguments))
    return true;
  if (auto* call = dyn_cast<MethodCallExpr>(expr);
      call && call->target.kind == TargetKind::Function) {
    if (handsOn(call->arguments))
      return true;
    auto* item = dyn_cast_or_null<FunctionItem>(call->target.item);
    if (!item)
      return true;
    const check::Signature& signature = module_.program().signature(item);
    if (!signature.parameters.empty() && signature.parameters[0]->isMutableRef())
      return true;
  }
  bool result = false;
  forEachChild(expr, [&](const Expr* child) { result = result || mayWriteVariables(child); });
  return result;
}

void FunctionLowering::protect(Operand& operand, llvm::ArrayRef<const Expr*> later) {
  if (!operand.isLocal() || !operand.variable || later.empty())
    return;
  if (!operand.lastUse) {
    // A later sibling must not take what is still needed here.
    auto found = facts_.lastUse.find(operand.variable);
    if (found != facts_.lastUse.end() && isReference(operand.layout)) {
      Span use = found->second->span;
      for (const Expr* expr : later)
        if (expr && (expr->span.contains(use) || actual(expr)->span.contains(use))) {
          facts_.lastUse.erase(found);
          break;
        }
    }
    auto listed = facts_.overwritten.find(operand.variable);
    if (listed != facts_.overwritten.end() && isReference(operand.layout))
      llvm::erase_if(listed->second, [&](const Expr* use) {
        return llvm::any_of(
            later, [&](const Expr* expr) { return expr && expr->span.contains(use->span); });
      });
  }
  bool isReferenceVariable = operand.variable->type && operand.variable->type->isMutableRef();
  if (!operand.variable->isMutable && !isReferenceVariable)
    return;
  for (const Expr* expr : later)
    if (expr && mayWriteVariables(expr)) {
      operand.lastUse = false;
      operand = copied(operand);
      return;
    }
}

void FunctionLowering::operands(llvm::ArrayRef<const Expr*> exprs, OperandList& out,
                                llvm::ArrayRef<LayoutId> wanted) {
  for (size_t i = 0; i != exprs.size(); ++i) {
    Operand value = i < wanted.size() ? operandAs(exprs[i], wanted[i]) : operand(exprs[i]);
    protect(value, exprs.drop_front(i + 1));
    out.push_back(value);
  }
}

// ---- paths
// --------------------------------------------------------------------------------------------

Operand FunctionLowering::variableOperand(const Variable* variable, const Expr* use) {
  const Local* local = find(variable);
  if (!local) {
    module_.notYet(use->span, ("the variable `" + variable->name.text() + "` from here").str());
    return unit();
  }
  if (isUnit(local->layout))
    return immediate(0, local->layout);
  if (local->storage == Local::Storage::Cell) {
    Register reg = acquire(local->layout);
    code_.op(isReference(local->layout) ? Opcode::CellGetRef : Opcode::CellGet, reg, local->cell);
    return temporary(reg);
  }
  Operand result;
  result.kind = Operand::Kind::Local;
  result.reg = local->value;
  result.layout = local->layout;
  result.variable = variable;
  result.lastUse = local->storage == Local::Storage::Register && isReference(local->layout) &&
                   facts_.isLastUse(variable, use) && runningActions_ == 0;
  return result;
}

Operand FunctionLowering::pathOperand(const PathExpr* expr) {
  const Target& target = expr->target;
  Type* type = valueType(expr);
  switch (target.kind) {
  case TargetKind::None:
    return unit();
  case TargetKind::Variable:
    return variableOperand(target.variable, expr);
  case TargetKind::Function:
    return functionValue(select(target), type, expr->span);
  case TargetKind::Const:
  case TargetKind::Static:
    return constantOperand(target.item,
                           Environment{{}, nullptr, module_.packageOf(target.item), {}}, type);
  case TargetKind::AssociatedConst: {
    Type* self = target.selfType ? concrete(target.selfType) : nullptr;
    ConstItem* item = cast<ConstItem>(target.item);
    if (self)
      if (ConstItem* chosen = module_.program().selectConst(item, self))
        item = chosen;
    Environment environment{
        module_.instantiate(target.typeArgs, environment_), self, module_.packageOf(item), {}};
    return constantOperand(item, environment, type);
  }
  case TargetKind::Struct:
  case TargetKind::Variant: {
    uint32_t variant = target.kind == TargetKind::Variant ? target.index : 0;
    if (type->is(Kind::Fn)) {
      Register reg = acquire(layoutOf(type));
      code_.op(Opcode::NewClosure, reg,
               module_.constructor(type, variant, environment_.package, expr->span));
      return temporary(reg);
    }
    LayoutId layout = layoutOf(type);
    if (!isReference(layout))
      return immediate(variant, layout);
    Register reg = acquire(layout);
    construct(layout, variant, {}, reg);
    return temporary(reg);
  }
  case TargetKind::ConstParam:
    return immediate(int64_t(constParameter(target)), layoutOf(type));
  case TargetKind::NumericConst: {
    LayoutId layout = layoutOf(type);
    if (!type->isFloat())
      return immediate(int64_t(target.bits), layout);
    Register reg = acquire(layout);
    loadConstant(reg, target.bits);
    return temporary(reg);
  }
  }
  return unit();
}

/// What a const parameter stands for in this instance.
uint64_t FunctionLowering::constParameter(const Target& target) {
  return target.typeArgs.empty() ? 0 : concrete(target.typeArgs[0])->length;
}

Operand FunctionLowering::constantOperand(Item* item, const Environment& environment, Type* type) {
  LayoutId layout = layoutOf(type);
  if (module_.packageOf(item) == 0)
    module_.program().ensureConstant(item);
  if (auto* constant = dyn_cast<ConstItem>(item); constant && constant->value) {
    const Expr* value = actual(constant->value);
    if (!constant->owner)
      if (auto known = constantInteger(value); known && !isReference(layout))
        return immediate(*known, layout);
    if (value->kind == ExprKind::String || value->kind == ExprKind::Float) {
      Register reg = acquire(layout);
      intoSame(value, reg);
      Operand result = temporary(reg);
      result.isConstant = value->kind == ExprKind::String;
      return result;
    }
  }
  if (isUnit(layout))
    return immediate(0, layout);
  Register cell = globalCell(item, environment, layout);
  Register reg = acquire(layout);
  code_.op(isReference(layout) ? Opcode::CellGetRef : Opcode::CellGet, reg, cell);
  return temporary(reg);
}

/// Is this made of literals alone, so that nobody can see when it is made? The depth is that of
/// constants and brackets.
bool FunctionLowering::isPlainValue(const Expr* expr, unsigned depth) {
  expr = expr ? actual(expr) : nullptr;
  if (!expr || depth > 64)
    return false;
  auto all = [&](llvm::ArrayRef<Expr*> elements) {
    return llvm::all_of(elements, [&](Expr* each) { return isPlainValue(each, depth + 1); });
  };
  switch (expr->kind) {
  case ExprKind::Int:
  case ExprKind::Float:
  case ExprKind::Bool:
  case ExprKind::Char:
  case ExprKind::String:
  case ExprKind::Byte:
  case ExprKind::ByteString:
    return true;
  case ExprKind::Tuple:
    return all(cast<TupleExpr>(expr)->elements);
  case ExprKind::Array:
    return all(cast<ArrayExpr>(expr)->elements);
  case ExprKind::StructLiteral: {
    auto* literal = cast<StructLiteralExpr>(expr);
    return !literal->base && llvm::all_of(literal->fields, [&](const FieldInit& field) {
      return isPlainValue(field.value, depth + 1);
    });
  }
  case ExprKind::Path: {
    const Target& target = cast<PathExpr>(expr)->target;
    return target.kind == TargetKind::Struct || target.kind == TargetKind::Variant;
  }
  case ExprKind::Unary: {
    const Expr* operand = actual(cast<UnaryExpr>(expr)->operand);
    return cast<UnaryExpr>(expr)->op == UnaryOp::Negate &&
           (operand->kind == ExprKind::Int || operand->kind == ExprKind::Float);
  }
  default: // whatever may fail, or asks another constant
    return false;
  }
}

/// The cell of a global. What cannot be seen being made is loaded once a call, in front of
/// everything; the rest where it is reached, since making it may panic.
Register FunctionLowering::globalCell(Item* item, const Environment& environment, LayoutId layout) {
  uint32_t global = module_.global(item, environment);
  auto [found, isNew] = globalCells_.try_emplace(global, GlobalCell());
  GlobalCell& known = found->second;
  if (isNew) {
    known.reg = registers_.make(layouts().cellOf(layout), true);
    known.early = isPlainValue(item->kind == ItemKind::Static ? cast<StaticItem>(item)->value
                                                              : cast<ConstItem>(item)->value);
    if (known.early)
      code_.prologue(Opcode::LoadGlobal, known.reg, global);
  }
  if (!known.early)
    code_.op(Opcode::LoadGlobal, known.reg, global);
  return known.reg;
}

} // namespace gos::lower
