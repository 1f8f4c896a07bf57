// `place = value`, `place op= value`, lists of both.
#include "compiler/lower/function_lowering.h"

namespace gos::lower {

using namespace ast;
using llvm::cast;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;
using llvm::isa;
using types::Kind;

// ---- assignment
// ---------------------------------------------------------------------------------------

static bool isDiscard(const Expr* target) {
  auto* path = dyn_cast<PathExpr>(target);
  return path && path->target.kind == TargetKind::None && path->path.segments.size() == 1 &&
         path->path.segments[0].ident.name.text() == "_";
}

/// May an expression be computed straight into this variable? Not when it is not written in one
/// step: then a part of the right side might still read it.
bool FunctionLowering::writesInPlace(Register dest) {
  return live_.count(dest) != 0;
}

void FunctionLowering::assign(const Expr* target, const Expr* value) {
  if (isDiscard(target)) {
    discard(value);
    return;
  }
  const Expr* where = actual(target);
  if (auto* path = dyn_cast<PathExpr>(where); path && path->target.kind == TargetKind::Variable) {
    const Local* local = find(path->target.variable);
    if (local && local->storage != Local::Storage::Cell && !isUnit(local->layout)) {
      // Every way through an expression writes its destination last.
      into(value, local->value);
      return;
    }
  }
  Operand result = operand(value);
  if (isNever(value))
    return;
  protect(result, {target});
  Place where_ = place(target);
  storePlace(where_, result);
}

void FunctionLowering::assignOperand(const Expr* target, Operand value) {
  if (isDiscard(target)) {
    drop(value);
    return;
  }
  Place where = place(target);
  storePlace(where, value);
}

void FunctionLowering::compound(BinaryOp op, const Expr* target, const Expr* value,
                                const Target* method) {
  const Expr* where = actual(target);
  Type* type = valueType(where);
  LayoutId layout = layoutOf(type);
  if (type->is(Kind::String) && op == BinaryOp::Add) {
    Operand text = operand(value);
    protect(text, {target});
    Place destination = place(where);
    OpenPlace open = openPlace(destination);
    code_.op(Opcode::StringAppend, open.reg, inRegister(text));
    drop(text);
    closePlace(destination, open);
    return;
  }
  bool isBuiltin = type->isNumeric() || type->is(Kind::Bool);
  if (!isBuiltin || (method && method->kind == TargetKind::Function && !type->isNumeric())) {
    if (!method || method->kind != TargetKind::Function) {
      module_.notYet(target->span, "this operator at this type");
      return;
    }
    Operand right = operand(value);
    protect(right, {target});
    Place destination = place(where);
    llvm::SmallVector<Operand, 2> values{loadPlace(destination), right};
    Register result = acquire(layout);
    callWithOperands(select(*method), values, result);
    storePlace(destination, temporary(result));
    return;
  }
  if (auto* path = dyn_cast<PathExpr>(where); path && path->target.kind == TargetKind::Variable) {
    const Local* local = find(path->target.variable);
    if (local && local->storage != Local::Storage::Cell) {
      Operand right = operand(value);
      Operand left;
      left.kind = Operand::Kind::Local;
      left.reg = local->value;
      left.layout = local->layout;
      arithmetic(op, type, left, right, valueType(value), local->value);
      return;
    }
  }
  Operand right = operand(value);
  protect(right, {target});
  Place destination = place(where);
  size_t count = destination.steps.size();
  bool isEntry = llvm::any_of(
      destination.steps, [](const PlaceStep& s) { return s.kind == PlaceStep::Kind::MapEntry; });
  bool isShort = !isEntry && (count <= 1 || (count == 2 && destination.endsInElementField()));
  if (isShort) {
    Operand left = loadPlace(destination);
    Register result = left.reg;
    Operand held = left;
    held.kind = Operand::Kind::Local;
    held.variable = nullptr;
    arithmetic(op, type, held, right, valueType(value), result);
    storePlace(destination, left);
    return;
  }
  // Deep: go down once.
  OpenPlace open = openParent(destination);
  Register current = acquire(layout);
  loadStep(open.reg, destination.steps.back(), current);
  Operand held = temporary(current);
  held.kind = Operand::Kind::Local;
  held.variable = nullptr;
  arithmetic(op, type, held, right, valueType(value), current);
  Operand result = temporary(current);
  storeStep(open.reg, destination.steps.back(), result);
  closeParent(destination, open);
}

void FunctionLowering::intoAssign(const AssignExpr* expr) {
  auto method = [&](size_t i) { return i < expr->methods.size() ? &expr->methods[i] : nullptr; };
  if (expr->targets.size() == 1 && expr->values.size() == 1) {
    if (expr->compound)
      compound(expr->op, expr->targets[0], expr->values[0], method(0));
    else
      assign(expr->targets[0], expr->values[0]);
    return;
  }
  // Several: the right side is complete before the first write.
  llvm::SmallVector<Operand, 4> values;
  if (expr->values.size() == expr->targets.size()) {
    for (size_t i = 0; i != expr->values.size(); ++i) {
      Operand value = operand(expr->values[i]);
      if (value.isLocal()) {
        value.lastUse = false;
        value = copied(value);
      }
      values.push_back(value);
    }
  } else { // a tuple
    Operand tuple = operand(expr->values[0]);
    Register reg = inRegister(tuple);
    if (layout(tuple.layout).kind == vm::LayoutKind::Struct) {
      std::vector<LayoutId> fields = layout(tuple.layout).variants[0].fields;
      for (size_t i = 0; i != fields.size(); ++i) {
        if (isUnit(fields[i])) {
          values.push_back(immediate(0, fields[i]));
          continue;
        }
        Register field = acquire(fields[i]);
        code_.op(isReference(fields[i]) ? Opcode::GetFieldRef : Opcode::GetField, field, reg,
                 uint32_t(i));
        values.push_back(temporary(field));
      }
    }
    drop(tuple);
  }
  for (size_t i = 0; i != expr->targets.size() && i != values.size(); ++i) {
    if (!expr->compound) {
      assignOperand(expr->targets[i], values[i]);
      continue;
    }
    const Expr* where = actual(expr->targets[i]);
    Type* type = valueType(where);
    Place destination = place(where);
    Operand left = loadPlace(destination);
    Register result = acquire(layoutOf(type));
    if (type->isNumeric()) {
      arithmetic(expr->op, type, left, values[i], type, result);
    } else if (type->is(Kind::String)) {
      code_.op(Opcode::StringConcat, result, inRegister(left), inRegister(values[i]));
      drop(values[i]);
      drop(left);
    } else if (const Target* target = method(i)) {
      llvm::SmallVector<Operand, 2> both{left, values[i]};
      callWithOperands(select(*target), both, result);
    }
    storePlace(destination, temporary(result));
  }
}

} // namespace gos::lower
