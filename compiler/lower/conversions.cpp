// `?` and `as`.
#include "compiler/lower/function_lowering.h"

namespace gos::lower {

using namespace ast;
using llvm::cast;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;
using llvm::isa;
using types::Kind;

// ---- `?`
// ------------------------------------------------------------------------------------------------

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
      code_.op(isReference(errorLayout) ? Opcode::GetPayloadRef : Opcode::GetPayload, payloadReg,
               reg, bad, 0u);
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
    code_.op(isReference(payload) ? Opcode::GetPayloadRef : Opcode::GetPayload, dest, reg, good,
             0u);
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
    fields.push_back(item->fields[i].name.name.text() == "message" ? message
                                                                   : defaultValue(types[i]));
  Register made = acquire(layout);
  construct(layout, 0, fields, made);
  return temporary(made);
}

// ---- casts
// ----------------------------------------------------------------------------------------------

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
