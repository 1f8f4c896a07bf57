// Values built from parts: structs, tuples, variants, arrays, maps, sets, ranges, text.
#include "compiler/lower/function_lowering.h"

namespace gos::lower {

using namespace ast;
using llvm::cast;
using llvm::dyn_cast;
using types::Kind;

/// Literals with more elements are pushed one by one, so that frames stay small.
static constexpr size_t kMaxElementsAtOnce = 32;

void FunctionLowering::argument(uint32_t slot, Operand& operand) {
  code_.noteOutgoing(slot + 1);
  if (operand.isImmediate()) {
    if (operand.value >= INT32_MIN && operand.value <= INT32_MAX &&
        !layouts().isFloat(operand.layout))
      code_.op(Opcode::ArgInt, slot, int32_t(operand.value));
    else
      code_.op(Opcode::ArgScalar, slot, inRegister(operand));
    if (operand.isTemporary())
      release(operand.reg);
  } else if (!isReference(operand.layout)) {
    code_.op(Opcode::ArgScalar, slot, operand.reg);
    if (operand.isTemporary())
      release(operand.reg);
  } else if (operand.isTemporary() || operand.lastUse) {
    code_.op(Opcode::ArgTake, slot, operand.reg);
    if (operand.isTemporary())
      release(operand.reg);
  } else {
    code_.op(Opcode::ArgRef, slot, operand.reg);
  }
  operand.kind = Operand::Kind::Immediate;
}

void FunctionLowering::arguments(llvm::MutableArrayRef<Operand> operands) {
  // Large constants need a register: load them before the block begins.
  for (Operand& operand : operands)
    if (operand.isImmediate() && (operand.value < INT32_MIN || operand.value > INT32_MAX))
      inRegister(operand);
  // The same variable twice: only the last may take it.
  for (size_t i = 0; i != operands.size(); ++i)
    if (operands[i].isLocal() && operands[i].lastUse)
      for (size_t k = i + 1; k != operands.size(); ++k)
        if (operands[k].isLocal() && operands[k].reg == operands[i].reg)
          operands[i].lastUse = false;
  for (size_t i = 0; i != operands.size(); ++i)
    argument(uint32_t(i), operands[i]);
}

void FunctionLowering::construct(LayoutId layout, uint32_t variant,
                                 llvm::MutableArrayRef<Operand> fields, Register dest) {
  const vm::Layout& shape = this->layout(layout);
  switch (shape.kind) {
  case vm::LayoutKind::Struct:
    arguments(fields);
    code_.op(Opcode::NewStruct, dest, layout);
    return;
  case vm::LayoutKind::Enum:
    if (fields.empty()) {
      code_.op(Opcode::NewUnitVariant, dest, layout, variant);
      return;
    }
    arguments(fields);
    code_.op(Opcode::NewEnum, dest, layout, variant);
    return;
  case vm::LayoutKind::Int: // a struct without fields, an enum without payloads
    for (Operand& field : fields)
      drop(field);
    if (!isUnit(layout))
      code_.op(Opcode::LoadInt, dest, variant);
    return;
  case vm::LayoutKind::Float:
  case vm::LayoutKind::String:
  case vm::LayoutKind::Vec:
  case vm::LayoutKind::Map:
  case vm::LayoutKind::Set:
  case vm::LayoutKind::Closure:
  case vm::LayoutKind::Cell:
  case vm::LayoutKind::Handle:
    for (Operand& field : fields)
      drop(field);
    return; // only in code the checker refused
  }
}

void FunctionLowering::intoStruct(const StructLiteralExpr* expr, Register dest) {
  LayoutId layout = registers_.layout(dest);
  uint32_t variant = expr->target.kind == TargetKind::Variant ? expr->target.index : 0;
  const vm::Layout& shape = this->layout(layout);
  if (!isReference(layout) || shape.variants.size() <= variant) {
    for (const FieldInit& field : expr->fields)
      discard(field.value);
    construct(layout, variant, {}, dest);
    return;
  }
  llvm::SmallVector<LayoutId, 8> wanted(shape.variants[variant].fields.begin(),
                                        shape.variants[variant].fields.end());
  llvm::SmallVector<const Expr*, 8> exprs;
  for (const FieldInit& field : expr->fields)
    exprs.push_back(field.value);
  llvm::SmallVector<LayoutId, 8> inOrder;
  for (const FieldInit& field : expr->fields)
    inOrder.push_back(field.index < wanted.size() ? wanted[field.index] : layouts().unit());
  if (expr->base)
    exprs.push_back(expr->base);
  llvm::SmallVector<Operand, 8> values;
  operands(exprs, values, inOrder);

  if (expr->base && expr->fields.size() < wanted.size()) {
    // A copy of the base with the named fields changed.
    Operand base = values.pop_back_val();
    Register made = acquire(layout);
    moveInto(made, base);
    for (size_t i = 0; i != expr->fields.size(); ++i) {
      uint32_t field = expr->fields[i].index;
      if (isUnit(wanted[field])) {
        drop(values[i]);
      } else if (isReference(wanted[field])) {
        code_.op(Opcode::SetFieldTake, made, field, owned(values[i]));
        taken(values[i]);
      } else {
        code_.op(Opcode::SetField, made, field, inRegister(values[i]));
        drop(values[i]);
      }
    }
    Operand result = temporary(made);
    moveInto(dest, result);
    return;
  }
  if (expr->base) {
    drop(values.back());
    values.pop_back();
  }
  llvm::SmallVector<Operand, 8> fields(wanted.size());
  for (size_t i = 0; i != wanted.size(); ++i)
    fields[i] = immediate(0, wanted[i]);
  for (size_t i = 0; i != expr->fields.size(); ++i)
    if (expr->fields[i].index < fields.size())
      fields[expr->fields[i].index] = values[i];
  construct(layout, variant, fields, dest);
}

void FunctionLowering::pushElement(Register vec, Operand& value) {
  LayoutId element = layout(registers_.layout(vec)).element;
  if (isReference(element)) {
    value = converted(value, element);
    code_.op(Opcode::VecPushTake, vec, owned(value));
    taken(value);
    return;
  }
  Register reg = inRegister(value);
  code_.op(hasBytes(registers_.layout(vec)) ? Opcode::VecPushByte : Opcode::VecPush, vec, reg);
  drop(value);
}

void FunctionLowering::intoElements(llvm::ArrayRef<Expr*> elements, Register dest) {
  LayoutId layout = registers_.layout(dest);
  if (this->layout(layout).kind != vm::LayoutKind::Vec)
    return;
  LayoutId element = this->layout(layout).element;
  if (elements.size() <= kMaxElementsAtOnce) {
    llvm::SmallVector<const Expr*, 16> exprs(elements.begin(), elements.end());
    llvm::SmallVector<LayoutId, 16> wanted(elements.size(), element);
    llvm::SmallVector<Operand, 16> values;
    operands(exprs, values, wanted);
    arguments(values);
    code_.op(Opcode::NewVec, dest, layout, uint32_t(values.size()));
    return;
  }
  Register vec = acquire(layout);
  code_.op(Opcode::NewVec, vec, layout, 0u);
  for (const Expr* expr : elements) {
    Operand value = operandAs(expr, element);
    if (value.isImmediate() && !isUnit(element)) { // not hoisted: there may be thousands
      Register reg = acquire(element);
      loadConstant(reg, uint64_t(value.value));
      value = temporary(reg);
    }
    pushElement(vec, value);
  }
  Operand result = temporary(vec);
  moveInto(dest, result);
}

void FunctionLowering::intoRepeat(const RepeatExpr* expr, Register dest) {
  LayoutId layout = registers_.layout(dest);
  LayoutId element = this->layout(layout).element;
  Operand value = operandAs(expr->value, element);
  protect(value, {expr->count});
  Type* type = valueType(expr);
  Operand count = type->is(Kind::Array) ? immediate(int64_t(type->length), layouts().integer())
                                        : operand(expr->count);
  Register reg = inRegister(count);
  Operand values[] = {value};
  arguments(values);
  code_.op(Opcode::NewVecRepeat, dest, reg, layout, 0u);
  drop(count);
}

void FunctionLowering::intoMap(const MapExpr* expr, Register dest) {
  LayoutId layout = registers_.layout(dest);
  Type* type = valueType(expr);
  bool ordered = type->is(Kind::BTreeMap);
  if (expr->entries.empty()) {
    nativeCall(ordered ? "BTreeMap::new" : "Map::new", {}, layout, dest, {});
    return;
  }
  Type* pair = module_.types().tuple({type->args[0], type->args[1]});
  LayoutId entry = layoutOf(pair), list = layoutOf(module_.types().slice(pair));
  LayoutId key = layoutOf(type->args[0]), value = layoutOf(type->args[1]);
  Register entries = acquire(list);
  code_.op(Opcode::NewVec, entries, list, 0u);
  for (const auto& [left, right] : expr->entries) {
    llvm::SmallVector<Operand, 2> values;
    operands({left, right}, values, {key, value});
    Register made = acquire(entry);
    construct(entry, 0, values, made);
    Operand element = temporary(made);
    pushElement(entries, element);
  }
  llvm::SmallVector<Operand, 1> values{temporary(entries)};
  nativeCall(ordered ? "BTreeMap::from" : "Map::from", values, layout, dest, {});
}

void FunctionLowering::intoSet(const SetExpr* expr, Register dest) {
  LayoutId layout = registers_.layout(dest);
  Type* type = valueType(expr);
  bool ordered = type->is(Kind::BTreeSet);
  if (expr->elements.empty()) {
    nativeCall(ordered ? "BTreeSet::new" : "Set::new", {}, layout, dest, {});
    return;
  }
  Register list = acquire(layoutOf(module_.types().slice(type->args[0])));
  intoElements(expr->elements, list);
  llvm::SmallVector<Operand, 1> values{temporary(list)};
  nativeCall(ordered ? "BTreeSet::from" : "Set::from", values, layout, dest, {});
}

/// A stored range: its first value and the one past its last.
void FunctionLowering::intoRange(const RangeExpr* expr, Register dest) {
  LayoutId layout = registers_.layout(dest);
  LayoutId bound = this->layout(layout).variants[0].fields[0];
  Operand low = immediate(0, bound), high = immediate(INT64_MAX, bound);
  if (expr->low) {
    low = operand(expr->low);
    if (expr->high)
      protect(low, {expr->high});
  }
  if (expr->high) {
    high = operand(expr->high);
    if (expr->inclusive) {
      if (high.isImmediate()) {
        high.value = high.value == INT64_MAX ? high.value : high.value + 1;
      } else {
        Register next = acquire(bound);
        code_.op(Opcode::AddImmI64, next, inRegister(high), 1);
        drop(high);
        high = temporary(next);
      }
    }
  }
  llvm::SmallVector<Operand, 2> values{low, high};
  construct(layout, 0, values, dest);
}

void FunctionLowering::intoString(llvm::StringRef text, Register dest) {
  code_.op(Opcode::LoadString, dest, module_.string(text));
}

} // namespace gos::lower
