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
    if (auto* block = dyn_cast<BlockExpr>(expr); block && block->statements.empty() && block->tail) {
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
      return valueType(expr)->isFloat() ? std::nullopt : std::optional<int64_t>(int64_t(target.bits));
    if (target.kind == TargetKind::Const && target.item)
      if (auto* item = dyn_cast<ConstItem>(target.item); item && item->value && !item->owner)
        return constantInteger(item->value, depth + 1);
    return std::nullopt;
  }
  case ExprKind::Binary: {
    auto* binary = cast<BinaryExpr>(expr);
    if (!valueType(expr)->is(Kind::I64) || binary->method.kind != TargetKind::None)
      return std::nullopt;
    auto isLeaf = [](const Expr* e) { return e->kind == ExprKind::Int || e->kind == ExprKind::Path; };
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
      return *right >= 0 && *right < 64 ? std::optional(int64_t(uint64_t(*left) << *right)) : std::nullopt;
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
  case ExprKind::Int: case ExprKind::Bool: case ExprKind::Char: case ExprKind::Byte: case ExprKind::Unary:
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

Operand FunctionLowering::operandAs(const Expr* expr, LayoutId layout) { return converted(operand(expr), layout); }

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
  if (target.kind == Destination::Kind::Into && !isNever(expr) && !isUnit(registers_.layout(target.reg))) {
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

void FunctionLowering::into(const Expr* expr, Register dest) { emit(expr, Destination::into(dest)); }
void FunctionLowering::discard(const Expr* expr) { emit(expr, Destination::discard()); }

void FunctionLowering::intoSame(const Expr* expr, Register dest) {
  switch (expr->kind) {
  case ExprKind::Error:
    return; // the checker has reported it: nothing is run
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
  case ExprKind::Bool: case ExprKind::Char: case ExprKind::Byte:
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
  case ExprKind::Block: case ExprKind::If: case ExprKind::While: case ExprKind::Loop: case ExprKind::For:
  case ExprKind::Match: case ExprKind::KnownCall: case ExprKind::Assign: case ExprKind::Return:
  case ExprKind::Break: case ExprKind::Continue: case ExprKind::Comptime: case ExprKind::Borrow:
    emit(expr, Destination::into(dest)); // looked after there
    return;
  }
}

// ---- order of evaluation ------------------------------------------------------------------------------

bool FunctionLowering::mayWriteVariables(const Expr* expr) {
  if (expr->kind == ExprKind::Assign)
    return true;
  if (auto* borrow = dyn_cast<BorrowExpr>(expr); borrow && borrow->mutability == Mutability::Mutable)
    return true;
  // A reference that is handed on is written through.
  auto handsOn = [](llvm::ArrayRef<Argument> arguments) {
    return llvm::any_of(arguments, [](const Argument& argument) {
      return argument.value && argument.value->type && argument.value->type->isMutableRef();
    });
  };
  if (auto* call = dyn_cast<CallExpr>(expr); call && handsOn(call->arguments))
    return true;
  if (auto* call = dyn_cast<MethodCallExpr>(expr); call && call->target.kind == TargetKind::Function) {
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
        return llvm::any_of(later, [&](const Expr* expr) { return expr && expr->span.contains(use->span); });
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

// ---- paths --------------------------------------------------------------------------------------------

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
  case TargetKind::Const: case TargetKind::Static:
    return constantOperand(target.item, Environment{{}, nullptr, module_.packageOf(target.item), {}}, type);
  case TargetKind::AssociatedConst: {
    Type* self = target.selfType ? concrete(target.selfType) : nullptr;
    ConstItem* item = cast<ConstItem>(target.item);
    if (self)
      if (ConstItem* chosen = module_.program().selectConst(item, self))
        item = chosen;
    Environment environment{module_.instantiate(target.typeArgs, environment_), self, module_.packageOf(item), {}};
    return constantOperand(item, environment, type);
  }
  case TargetKind::Struct:
  case TargetKind::Variant: {
    uint32_t variant = target.kind == TargetKind::Variant ? target.index : 0;
    if (type->is(Kind::Fn)) {
      Register reg = acquire(layoutOf(type));
      code_.op(Opcode::NewClosure, reg, module_.constructor(type, variant, environment_.package, expr->span));
      return temporary(reg);
    }
    LayoutId layout = layoutOf(type);
    if (!isReference(layout))
      return immediate(variant, layout);
    Register reg = acquire(layout);
    construct(layout, variant, {}, reg);
    return temporary(reg);
  }
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

Operand FunctionLowering::constantOperand(Item* item, const Environment& environment, Type* type) {
  LayoutId layout = layoutOf(type);
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

/// The cell of a global, loaded once a call.
Register FunctionLowering::globalCell(Item* item, const Environment& environment, LayoutId layout) {
  uint32_t global = module_.global(item, environment);
  auto [found, isNew] = globalCells_.try_emplace(global, Register::None);
  if (isNew) {
    found->second = registers_.make(layouts().cellOf(layout), true);
    code_.prologue(Opcode::LoadGlobal, found->second, global);
  }
  return found->second;
}

// ---- fields and elements ------------------------------------------------------------------------------

static const IndexExpr* elementOf(const Expr* expr) {
  auto* index = dyn_cast<IndexExpr>(expr);
  return index && index->method.kind == TargetKind::None && !isa<RangeExpr>(index->index) ? index : nullptr;
}

void FunctionLowering::intoField(const Expr* written, uint32_t field, Register dest) {
  const Expr* object = actual(written);
  LayoutId layout = registers_.layout(dest);
  bool reference = isReference(layout);
  // `xs[i].f`: no need to hold the element.
  if (auto* element = elementOf(object); element && !reference && field < 256 &&
                                         valueType(element->object)->isSequence() &&
                                         valueType(element->index)->isInteger() &&
                                         this->layout(layoutOf(object)).kind == vm::LayoutKind::Struct) {
    Operand vec = operand(element->object);
    protect(vec, {element->index});
    Operand position = operand(element->index);
    Register vecReg = inRegister(vec), positionReg = inRegister(position);
    code_.op(Opcode::VecGetField, dest, vecReg, positionReg, field);
    drop(position);
    drop(vec);
    return;
  }
  Operand value = operand(object);
  Register reg = inRegister(value);
  code_.op(reference ? Opcode::GetFieldRef : Opcode::GetField, dest, reg, field);
  drop(value);
}

void FunctionLowering::intoIndex(const IndexExpr* expr, Register dest) {
  LayoutId layout = registers_.layout(dest);
  if (expr->method.kind == TargetKind::Function) {
    Operand result = methodResult(expr->method, {expr->object, expr->index}, layout);
    moveInto(dest, result);
    return;
  }
  const Expr* index = actual(expr->index);
  Type* object = valueType(expr->object);
  if (auto* range = dyn_cast<RangeExpr>(index)) {
    intoSlice(expr, range, dest);
    return;
  }
  if (valueType(index)->is(Kind::Range)) {
    intoSlice(expr, nullptr, dest);
    return;
  }
  if (object->is(Kind::Map) || object->is(Kind::BTreeMap)) {
    llvm::SmallVector<Operand, 2> values;
    operands({expr->object, index}, values, {layoutOf(object), layoutOf(object->args[0])});
    nativeCall("intrinsics::map_index", values, layout, dest, {});
    return;
  }
  if (object->is(Kind::String)) {
    llvm::SmallVector<Operand, 2> values;
    operands({expr->object, index}, values);
    Register text = inRegister(values[0]), position = inRegister(values[1]);
    code_.op(Opcode::StringCharAt, dest, text, position);
    drop(values[1]);
    drop(values[0]);
    return;
  }
  // Through the cell, without touching the count of what it holds.
  if (!isReference(layout))
    if (auto* path = dyn_cast<PathExpr>(actual(expr->object))) {
      Register cell = Register::None;
      if (path->target.kind == TargetKind::Variable) {
        const Local* local = find(path->target.variable);
        if (local && local->storage == Local::Storage::Cell)
          cell = local->cell;
      } else if (path->target.kind == TargetKind::Const || path->target.kind == TargetKind::Static) {
        cell = globalCell(path->target.item, Environment{{}, nullptr, module_.packageOf(path->target.item), {}},
                          layoutOf(object));
      }
      if (cell != Register::None) {
        Operand position = operand(index);
        Register reg = inRegister(position);
        code_.op(hasBytes(layoutOf(object)) ? Opcode::CellVecGetByte : Opcode::CellVecGet, dest, cell, reg);
        drop(position);
        return;
      }
    }
  llvm::SmallVector<Operand, 2> values;
  operands({expr->object, index}, values);
  Register vec = inRegister(values[0]), position = inRegister(values[1]);
  Opcode op = isReference(layout)            ? Opcode::VecGetRef
              : hasBytes(values[0].layout) ? Opcode::VecGetByte
                                             : Opcode::VecGet;
  code_.op(op, dest, vec, position);
  drop(values[1]);
  drop(values[0]);
}

void FunctionLowering::intoSlice(const IndexExpr* expr, const RangeExpr* range, Register dest) {
  LayoutId layout = registers_.layout(dest);
  Type* object = valueType(expr->object);
  bool isText = object->is(Kind::String);
  LayoutId integer = layouts().integer();
  llvm::SmallVector<const Expr*, 2> later;
  if (!range) {
    later.push_back(expr->index);
  } else {
    if (range->low)
      later.push_back(range->low);
    if (range->high)
      later.push_back(range->high);
  }
  Operand value = isText ? operand(expr->object) : operandAs(expr->object, layout);
  protect(value, later);
  Operand low = immediate(0, integer), high = immediate(INT64_MAX, integer);
  if (range) {
    if (range->low) {
      low = operand(range->low);
      if (range->high)
        protect(low, {range->high});
    }
    if (range->high) {
      high = operand(range->high);
      if (range->inclusive) {
        if (high.isImmediate()) {
          high.value = high.value == INT64_MAX ? high.value : high.value + 1;
        } else {
          Register one = hoistedConstant(1, integer);
          Register next = acquire(integer);
          code_.op(Opcode::WrapAdd, next, inRegister(high), one);
          drop(high);
          high = temporary(next);
        }
      }
    }
  } else {
    Operand bounds = operand(expr->index);
    Register reg = inRegister(bounds), from = acquire(integer), to = acquire(integer);
    code_.op(Opcode::GetField, from, reg, 0u);
    code_.op(Opcode::GetField, to, reg, 1u);
    drop(bounds);
    low = temporary(from);
    high = temporary(to);
  }
  if (isText) {
    llvm::SmallVector<Operand, 3> values{value, low, high};
    values[1].layout = values[2].layout = integer;
    nativeCall("String::substring", values, layout, dest, {});
    return;
  }
  Register vec = inRegister(value), from = inRegister(low), to = inRegister(high);
  registers_.wantLow(to);
  code_.op(Opcode::VecSlice, dest, vec, from, to);
  drop(high);
  drop(low);
  drop(value);
}

// ---- `?` ------------------------------------------------------------------------------------------------

void FunctionLowering::intoTry(const TryExpr* expr, Register dest) {
  Type* type = valueType(expr->operand);
  Operand carrier = operand(expr->operand);
  if (type->kind != Kind::Enum)
    return;
  bool isResult = type->item == module_.program().lang.result;
  uint32_t good = isResult ? module_.program().lang.ok : module_.program().lang.some;
  uint32_t bad = isResult ? module_.program().lang.err : module_.program().lang.none;
  LayoutId payload = registers_.layout(dest);
  if (!isReference(carrier.layout)) { // `Result<(), ()>` and kin cannot be: they have payloads
    drop(carrier);
    return;
  }
  Register reg = inRegister(carrier);
  Label fine = code_.makeLabel();
  code_.jump(Opcode::JumpTagNe, fine, reg, bad);

  // The way out.
  Type* resultType = expr->resultType ? concrete(expr->resultType) : resultType_;
  LayoutId resultLayout = layoutOf(resultType);
  if (!isResult) {
    Register none = acquire(resultLayout);
    code_.op(Opcode::NewUnitVariant, none, resultLayout, bad);
    emitReturn(temporary(none));
  } else if (expr->conversion == TryExpr::Conversion::None && resultLayout == carrier.layout) {
    Operand whole = carrier;
    if (whole.isTemporary()) {
      Register moved = acquire(resultLayout);
      code_.op(Opcode::TakeRef, moved, reg);
      emitReturn(temporary(moved));
    } else {
      emitReturn(whole);
    }
  } else {
    LayoutId errorLayout = layout(carrier.layout).variants[bad].fields[0];
    Operand error;
    if (isUnit(errorLayout)) {
      error = immediate(0, errorLayout);
    } else {
      Register payloadReg = acquire(errorLayout);
      code_.op(isReference(errorLayout) ? Opcode::GetPayloadRef : Opcode::GetPayload, payloadReg, reg, bad, 0u);
      error = temporary(payloadReg);
    }
    LayoutId wanted = layout(resultLayout).variants[bad].fields[0];
    switch (expr->conversion) {
    case TryExpr::Conversion::None:
      break;
    case TryExpr::Conversion::From: {
      Register made = acquire(wanted);
      llvm::SmallVector<Operand, 1> values{error};
      callWithOperands(select(expr->from), values, made);
      error = temporary(made);
      break;
    }
    case TryExpr::Conversion::StringToError:
    case TryExpr::Conversion::ToStdError: {
      if (layout(errorLayout).kind != vm::LayoutKind::String) {
        Register text = acquire(layouts().string());
        intoString({}, text);
        appendValue(text, error, FormatSpec{});
        error = temporary(text);
      }
      error = standardError(error);
      break;
    }
    }
    Register result = acquire(resultLayout);
    llvm::SmallVector<Operand, 1> fields{error};
    construct(resultLayout, bad, fields, result);
    emitReturn(temporary(result));
  }
  code_.bind(fine);
  if (!isUnit(payload) && !isUnit(layout(carrier.layout).variants[good].fields[0]))
    code_.op(isReference(payload) ? Opcode::GetPayloadRef : Opcode::GetPayload, dest, reg, good, 0u);
  drop(carrier);
}

/// An errors::Error with this message.
Operand FunctionLowering::standardError(Operand message) {
  StructItem* item = module_.program().lang.error;
  Type* type = module_.types().nominal(Kind::Struct, item, {});
  LayoutId layout = layoutOf(type);
  llvm::SmallVector<Type*, 8> types = module_.fieldTypes(type, 0);
  llvm::SmallVector<Operand, 4> fields;
  for (size_t i = 0; i != types.size(); ++i)
    fields.push_back(item->fields[i].name.name.text() == "message" ? message : defaultValue(types[i]));
  Register made = acquire(layout);
  construct(layout, 0, fields, made);
  return temporary(made);
}

// ---- casts ----------------------------------------------------------------------------------------------

static vm::IntWidth widthOf(Type* type) {
  switch (type->kind) {
  case Kind::I8: return vm::IntWidth::I8;
  case Kind::I16: return vm::IntWidth::I16;
  case Kind::I32: return vm::IntWidth::I32;
  case Kind::U8: return vm::IntWidth::U8;
  case Kind::U16: return vm::IntWidth::U16;
  case Kind::U32: return vm::IntWidth::U32;
  case Kind::U64: case Kind::Usize: return vm::IntWidth::U64;
  default: // the rest is carried in 64 signed bits
    return vm::IntWidth::I64;
  }
}

void FunctionLowering::intoCast(const CastExpr* expr, Register dest) {
  Type* from = valueType(expr->operand);
  Type* to = valueType(expr);
  castTo(operand(expr->operand), from, to, dest);
}

void FunctionLowering::castTo(Operand value, Type* from, Type* to, Register dest) {
  if (from == to || isReference(value.layout)) {
    moveInto(dest, value);
    return;
  }
  auto unary = [&](Opcode op, Slot d = {}) {
    Register reg = inRegister(value);
    code_.op(op, dest, reg, {}, d);
    drop(value);
  };
  if (to->isFloat()) {
    if (from->isFloat()) {
      if (to->is(Kind::F32))
        unary(Opcode::RoundF32);
      else
        moveInto(dest, value);
      return;
    }
    bool wide = from->is(Kind::U64) || from->is(Kind::Usize);
    unary(wide ? Opcode::UnsignedToFloat : Opcode::IntToFloat);
    if (to->is(Kind::F32))
      code_.op(Opcode::RoundF32, dest, dest);
    return;
  }
  if (from->isFloat()) {
    unary(Opcode::FloatToInt, uint32_t(widthOf(to)));
    return;
  }
  if (to->is(Kind::Char)) { // the low byte as Latin-1
    if (from->is(Kind::U8) || from->is(Kind::Char))
      moveInto(dest, value);
    else if (value.isImmediate())
      loadConstant(dest, uint64_t(value.value) & 0xff);
    else {
      Register reg = inRegister(value);
      code_.op(Opcode::BitAndImm, dest, reg, 0xffu);
      drop(value);
    }
    return;
  }
  unsigned fromBits = from->isInteger() ? from->bits() : from->is(Kind::Bool) ? 1 : 32;
  bool fromSigned = from->isInteger() && from->isSigned();
  unsigned toBits = to->isInteger() ? to->bits() : 64;
  bool toSigned = to->isSigned();
  bool fits = toBits == 64 || (fromSigned == toSigned && fromBits <= toBits) ||
              (!fromSigned && toSigned && fromBits < toBits);
  if (fits)
    moveInto(dest, value);
  else
    unary(Opcode::Wrap, uint32_t(widthOf(to)));
}

} // namespace gos::lower
