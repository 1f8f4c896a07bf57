// Reading fields, elements, slices.
#include "compiler/lower/function_lowering.h"

namespace gos::lower {

using namespace ast;
using llvm::cast;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;
using llvm::isa;
using types::Kind;

// ---- fields and elements
// ------------------------------------------------------------------------------

static const IndexExpr* elementOf(const Expr* expr) {
  auto* index = dyn_cast<IndexExpr>(expr);
  return index && index->method.kind == TargetKind::None && !isa<RangeExpr>(index->index) ? index
                                                                                          : nullptr;
}

void FunctionLowering::intoField(const Expr* written, uint32_t field, Register dest) {
  const Expr* object = actual(written);
  LayoutId layout = registers_.layout(dest);
  bool reference = isReference(layout);
  // `xs[i].f`: no need to hold the element.
  if (auto* element = elementOf(object);
      element && !reference && field < 256 && valueType(element->object)->isSequence() &&
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
      } else if (path->target.kind == TargetKind::Const ||
                 path->target.kind == TargetKind::Static) {
        cell = globalCell(path->target.item,
                          Environment{{}, nullptr, module_.packageOf(path->target.item), {}},
                          layoutOf(object));
      }
      if (cell != Register::None) {
        Operand position = operand(index);
        Register reg = inRegister(position);
        code_.op(hasBytes(layoutOf(object)) ? Opcode::CellVecGetByte : Opcode::CellVecGet, dest,
                 cell, reg);
        drop(position);
        return;
      }
    }
  llvm::SmallVector<Operand, 2> values;
  operands({expr->object, index}, values);
  Register vec = inRegister(values[0]), position = inRegister(values[1]);
  Opcode op = isReference(layout)          ? Opcode::VecGetRef
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

} // namespace gos::lower
