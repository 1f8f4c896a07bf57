// Arithmetic, comparison, logic, and conditions as jumps.
#include "compiler/lower/function_lowering.h"

namespace gos::lower {

using namespace ast;
using llvm::cast;
using llvm::dyn_cast;
using types::Kind;

static bool isComparison(BinaryOp op) {
  switch (op) {
  case BinaryOp::Eq:
  case BinaryOp::Ne:
  case BinaryOp::Lt:
  case BinaryOp::Le:
  case BinaryOp::Gt:
  case BinaryOp::Ge:
    return true;
  default: // arithmetic and logic
    return false;
  }
}

static bool isWideUnsigned(Type* type) {
  return type->is(Kind::U64) || type->is(Kind::Usize);
}
static bool fitsImmediate(int64_t value) {
  return value >= -0x8000 && value <= 0x7fff;
}

// ---- unary
// --------------------------------------------------------------------------------------------

void FunctionLowering::intoUnary(const UnaryExpr* expr, Register dest) {
  LayoutId layout = registers_.layout(dest);
  Type* type = valueType(expr->operand);
  if (expr->method.kind == TargetKind::Function &&
      (isReference(layoutOf(type)) || type->isNominal())) {
    Operand result = methodResult(expr->method, {expr->operand}, layout);
    moveInto(dest, result);
    return;
  }
  if (expr->op == UnaryOp::Deref) {
    into(expr->operand, dest);
    return;
  }
  Operand value = operand(expr->operand);
  Register reg = inRegister(value);
  if (expr->op == UnaryOp::Negate) {
    if (type->isFloat()) {
      code_.op(Opcode::NegateF64, dest, reg);
    } else {
      code_.op(Opcode::Negate, dest, reg);
      if (type->isInteger() && type->bits() < 64)
        code_.op(Opcode::Wrap, dest, dest, {}, uint32_t(widthOf(type)));
    }
  } else if (type->is(Kind::Bool)) {
    code_.op(Opcode::BoolNot, dest, reg);
  } else {
    code_.op(Opcode::BitNot, dest, reg);
    if (type->isInteger() && type->bits() < 64)
      code_.op(Opcode::Wrap, dest, dest, {}, uint32_t(widthOf(type)));
  }
  drop(value);
}

// ---- binary
// -------------------------------------------------------------------------------------------

void FunctionLowering::intoBinary(const BinaryExpr* expr, Register dest) {
  BinaryOp op = expr->op;
  Type* type = valueType(expr->left);
  if (op == BinaryOp::And || op == BinaryOp::Or) {
    // The right side runs only when the left has not decided.
    Label decided = code_.makeLabel(), end = code_.makeLabel();
    branch(expr->left, decided, op == BinaryOp::Or);
    into(expr->right, dest);
    code_.jump(end);
    code_.bind(decided);
    code_.op(Opcode::LoadInt, dest, op == BinaryOp::Or ? 1 : 0);
    code_.bind(end);
    return;
  }
  if (isComparison(op)) {
    llvm::SmallVector<Operand, 2> values;
    operands({expr->left, expr->right}, values);
    comparison(op, type, values[0], values[1], dest);
    return;
  }
  if (type->is(Kind::String) && op == BinaryOp::Add) {
    concat(expr, dest);
    return;
  }
  if (expr->method.kind == TargetKind::Function && !type->isNumeric()) {
    Operand result = methodResult(expr->method, {expr->left, expr->right}, registers_.layout(dest));
    moveInto(dest, result);
    return;
  }
  if (!type->isNumeric() && !type->is(Kind::Bool)) {
    // A method of a bound, at a type that the operator is built into (`T: Add` at String is done
    // above).
    module_.notYet(expr->span, "this operator at this type");
    return;
  }
  if (expr->method.kind == TargetKind::Function) {
    // Numbers on the left; on the right perhaps a type of the user's (`impl Mul<V> for f64`).
    Selected selected = select(expr->method);
    if (!selected.isStructural && selected.function && selected.function->body) {
      Operand result =
          methodResult(expr->method, {expr->left, expr->right}, registers_.layout(dest));
      moveInto(dest, result);
      return;
    }
  }
  llvm::SmallVector<Operand, 2> values;
  operands({expr->left, expr->right}, values);
  arithmetic(op, type, values[0], values[1], valueType(expr->right), dest);
}

/// A chain of `+` appends to one text.
void FunctionLowering::concat(const BinaryExpr* expr, Register dest) {
  llvm::SmallVector<const Expr*, 8> parts;
  const Expr* at = expr;
  for (;;) {
    auto* binary = dyn_cast<BinaryExpr>(actual(at));
    if (!binary || binary->op != BinaryOp::Add || !valueType(binary->left)->is(Kind::String)) {
      parts.push_back(at);
      break;
    }
    parts.push_back(binary->right);
    at = binary->left;
  }
  std::reverse(parts.begin(), parts.end());
  auto append = [&](Register text, const Expr* part) {
    if (const Expr* shown = asText(part)) {
      appendValue(text, operand(shown), FormatSpec{});
      return;
    }
    Operand value = operand(part);
    code_.op(Opcode::StringAppend, text, inRegister(value));
    drop(value);
  };
  if (parts.size() == 2 && !asText(parts[0]) && !asText(parts[1])) {
    llvm::SmallVector<Operand, 2> values;
    operands(parts, values);
    bool ours = (values[0].isTemporary() && !values[0].isConstant) ||
                (values[0].isLocal() && values[0].lastUse);
    if (!ours) {
      code_.op(Opcode::StringConcat, dest, inRegister(values[0]), inRegister(values[1]));
      drop(values[1]);
      drop(values[0]);
      return;
    }
    Operand grown = copied(values[0]); // ours: it grows in place
    code_.op(Opcode::StringAppend, grown.reg, inRegister(values[1]));
    drop(values[1]);
    moveInto(dest, grown);
    return;
  }
  Operand text;
  if (asText(parts[0])) {
    text = temporary(acquire(layouts().string()));
    intoString({}, text.reg);
    append(text.reg, parts[0]);
  } else {
    text = operand(parts[0]);
    protect(text, llvm::ArrayRef(parts).drop_front());
    text.isConstant = false;
    text = copied(text);
  }
  for (const Expr* part : llvm::ArrayRef(parts).drop_front())
    append(text.reg, part);
  moveInto(dest, text);
}

/// `x.to_string()`, where x is not text already: it can be written straight into a text. Answers x.
const Expr* FunctionLowering::asText(const Expr* written) {
  auto* call = dyn_cast<MethodCallExpr>(actual(written));
  if (!call || call->target.kind != TargetKind::Function || !call->arguments.empty())
    return nullptr;
  auto* item = llvm::dyn_cast_or_null<FunctionItem>(call->target.item);
  if (!item || item->builtin < 0 || module_.builtinPath(item) != "Any::to_string")
    return nullptr;
  Type* type = valueType(call->receiver);
  return type->is(Kind::String) || type->is(Kind::Fn) ? nullptr : call->receiver;
}

/// After a 64-bit operation at a narrower type: it must fit.
void FunctionLowering::narrow(BinaryOp op, Type* type, Register reg) {
  if (type->bits() == 64)
    return;
  uint32_t word = op == BinaryOp::Add   ? uint32_t(vm::ArithmeticWord::Add)
                  : op == BinaryOp::Sub ? uint32_t(vm::ArithmeticWord::Subtract)
                                        : uint32_t(vm::ArithmeticWord::Multiply);
  code_.op(Opcode::CheckRange, reg, {}, word, uint32_t(widthOf(type)));
}

void FunctionLowering::arithmetic(BinaryOp op, Type* type, Operand left, Operand right,
                                  Type* rightType, Register dest) {
  (void)rightType;
  auto binary = [&](Opcode code) {
    Register a = inRegister(left), b = inRegister(right);
    code_.op(code, dest, a, b);
    drop(right);
    drop(left);
  };
  if (type->isFloat()) {
    switch (op) {
    case BinaryOp::Add:
      binary(Opcode::AddF64);
      break;
    case BinaryOp::Sub:
      binary(Opcode::SubF64);
      break;
    case BinaryOp::Mul:
      binary(Opcode::MulF64);
      break;
    case BinaryOp::Div:
      binary(Opcode::DivF64);
      break;
    case BinaryOp::Rem:
      binary(Opcode::RemF64);
      break;
    default: // the checker allows no other
      drop(right);
      drop(left);
      return;
    }
    if (type->is(Kind::F32))
      code_.op(Opcode::RoundF32, dest, dest);
    return;
  }
  bool isBool = type->is(Kind::Bool);
  bool wide = isWideUnsigned(type);
  bool isNarrow = !isBool && type->isInteger() && type->bits() < 64;
  auto wrap = [&] {
    if (isNarrow)
      code_.op(Opcode::Wrap, dest, dest, {}, uint32_t(widthOf(type)));
  };
  auto withImmediate = [&](Opcode code, Operand& value, int64_t immediate, uint32_t d = 0) {
    Register a = inRegister(value);
    code_.op(code, dest, a, int32_t(immediate), d);
    drop(value);
  };
  switch (op) {
  case BinaryOp::Add:
    if (!wide && right.isImmediate() && fitsImmediate(right.value))
      withImmediate(Opcode::AddImmI64, left, right.value);
    else if (!wide && left.isImmediate() && fitsImmediate(left.value))
      withImmediate(Opcode::AddImmI64, right, left.value);
    else
      binary(wide ? Opcode::AddU64 : Opcode::AddI64);
    if (isNarrow)
      narrow(op, type, dest);
    return;
  case BinaryOp::Sub:
    if (!wide && right.isImmediate() && fitsImmediate(-right.value) && right.value != INT64_MIN)
      withImmediate(Opcode::AddImmI64, left, -right.value, 1);
    else
      binary(wide ? Opcode::SubU64 : Opcode::SubI64);
    if (isNarrow)
      narrow(op, type, dest);
    return;
  case BinaryOp::Mul:
    if (!wide && right.isImmediate() && fitsImmediate(right.value))
      withImmediate(Opcode::MulImmI64, left, right.value);
    else if (!wide && left.isImmediate() && fitsImmediate(left.value))
      withImmediate(Opcode::MulImmI64, right, left.value);
    else
      binary(wide ? Opcode::MulU64 : Opcode::MulI64);
    if (isNarrow)
      narrow(op, type, dest);
    return;
  case BinaryOp::Div:
    binary(wide ? Opcode::DivU64 : Opcode::DivI64);
    if (isNarrow && type->isSigned())
      wrap(); // MIN / -1
    return;
  case BinaryOp::Rem:
    binary(wide ? Opcode::RemU64 : Opcode::RemI64);
    return;
  case BinaryOp::WrapAdd:
    binary(Opcode::WrapAdd);
    wrap();
    return;
  case BinaryOp::WrapSub:
    binary(Opcode::WrapSub);
    wrap();
    return;
  case BinaryOp::WrapMul:
    binary(Opcode::WrapMul);
    wrap();
    return;
  case BinaryOp::BitAnd:
    if (right.isImmediate() && right.value >= 0 && right.value <= 0xffff) {
      withImmediate(Opcode::BitAndImm, left, right.value);
      return;
    }
    binary(Opcode::BitAnd);
    return;
  case BinaryOp::BitOr:
    binary(Opcode::BitOr);
    return;
  case BinaryOp::BitXor:
    binary(Opcode::BitXor);
    return;
  case BinaryOp::Shl:
    binary(Opcode::ShiftLeft);
    wrap();
    return;
  case BinaryOp::Shr:
    binary(type->isSigned() ? Opcode::ShiftRightSigned : Opcode::ShiftRightUnsigned);
    return;
  case BinaryOp::Eq:
  case BinaryOp::Ne:
  case BinaryOp::Lt:
  case BinaryOp::Le:
  case BinaryOp::Gt:
  case BinaryOp::Ge:
    comparison(op, type, left, right, dest);
    return;
  case BinaryOp::And:
  case BinaryOp::Or: // never reach here as values
    drop(right);
    drop(left);
    return;
  }
}

// ---- comparisons
// --------------------------------------------------------------------------------------

void FunctionLowering::equalInto(Type* type, Operand left, Operand right, Register dest) {
  LayoutId layout = layoutOf(type);
  const vm::Layout& shape = this->layout(layout);
  if (!isReference(layout) && shape.equals != vm::FunctionId::None) {
    vm::FunctionId hook = shape.equals;
    llvm::SmallVector<Operand, 2> values{left, right};
    arguments(values);
    code_.op(Opcode::Call, dest, hook);
    return;
  }
  if (isUnit(layout)) {
    drop(right);
    drop(left);
    code_.op(Opcode::LoadInt, dest, 1);
    return;
  }
  Opcode op = Opcode::EqInt;
  if (type->isFloat())
    op = Opcode::EqF64;
  else if (isReference(layout))
    op = shape.kind == vm::LayoutKind::String && shape.equals == vm::FunctionId::None
             ? Opcode::EqString
             : Opcode::EqValue;
  if (isReference(layout)) {
    left = converted(left, layout);
    right = converted(right, layout);
  }
  Register a = inRegister(left), b = inRegister(right);
  code_.op(op, dest, a, b);
  drop(right);
  drop(left);
}

void FunctionLowering::compareInto(Type* type, Operand left, Operand right, Register dest) {
  LayoutId layout = layoutOf(type);
  const vm::Layout& shape = this->layout(layout);
  if (isUnit(layout)) {
    drop(right);
    drop(left);
    code_.op(Opcode::LoadInt, dest, 0);
    return;
  }
  if (isReference(layout)) {
    left = converted(left, layout);
    right = converted(right, layout);
    Register a = inRegister(left), b = inRegister(right);
    code_.op(Opcode::CompareValue, dest, a, b);
    drop(right);
    drop(left);
    return;
  }
  if (shape.compare != vm::FunctionId::None) {
    vm::FunctionId hook = shape.compare;
    llvm::SmallVector<Operand, 2> values{left, right};
    arguments(values);
    code_.op(Opcode::Call, dest, hook);
    return;
  }
  uint32_t order = type->isFloat() ? 2 : isWideUnsigned(type) ? 1 : 0;
  Register a = inRegister(left), b = inRegister(right);
  code_.op(Opcode::CompareScalar, dest, a, b, order);
  drop(right);
  drop(left);
}

void FunctionLowering::comparison(BinaryOp op, Type* type, Operand left, Operand right,
                                  Register dest) {
  if (op == BinaryOp::Eq || op == BinaryOp::Ne) {
    LayoutId layout = layoutOf(type);
    bool plain = !isReference(layout) && this->layout(layout).equals == vm::FunctionId::None &&
                 !isUnit(layout);
    if (plain && op == BinaryOp::Ne) {
      Register a = inRegister(left), b = inRegister(right);
      code_.op(type->isFloat() ? Opcode::NeF64 : Opcode::NeInt, dest, a, b);
      drop(right);
      drop(left);
      return;
    }
    equalInto(type, left, right, dest);
    if (op == BinaryOp::Ne)
      code_.op(Opcode::BoolNot, dest, dest);
    return;
  }
  bool swapped = op == BinaryOp::Gt || op == BinaryOp::Ge;
  bool orEqual = op == BinaryOp::Le || op == BinaryOp::Ge;
  LayoutId layout = layoutOf(type);
  if (isReference(layout) || this->layout(layout).compare != vm::FunctionId::None ||
      isUnit(layout)) {
    Register order = acquire(layouts().integer());
    compareInto(type, left, right, order);
    Register zero = hoistedConstant(0, layouts().integer());
    Opcode code = orEqual ? Opcode::LeI64 : Opcode::LtI64;
    code_.op(code, dest, swapped ? zero : order, swapped ? order : zero);
    release(order);
    return;
  }
  Opcode code;
  if (type->isFloat())
    code = orEqual ? Opcode::LeF64 : Opcode::LtF64;
  else if (isWideUnsigned(type))
    code = orEqual ? Opcode::LeU64 : Opcode::LtU64;
  else
    code = orEqual ? Opcode::LeI64 : Opcode::LtI64;
  Register a = inRegister(left), b = inRegister(right);
  code_.op(code, dest, swapped ? b : a, swapped ? a : b);
  drop(right);
  drop(left);
}

// ---- conditions
// ---------------------------------------------------------------------------------------

void FunctionLowering::branch(const Expr* written, Label target, bool when) {
  const Expr* expr = actual(written);
  SpanScope span(code_, expr->span);
  if (isNever(expr)) {
    discard(expr);
    return;
  }
  if (auto known = constantInteger(expr)) {
    if ((*known != 0) == when)
      code_.jump(target);
    return;
  }
  if (auto* unary = dyn_cast<UnaryExpr>(expr); unary && unary->op == UnaryOp::Not) {
    branch(unary->operand, target, !when);
    return;
  }
  if (auto* call = dyn_cast<KnownCallExpr>(expr);
      call && call->which == KnownCall::Matches && call->pattern) {
    Label no = code_.makeLabel(), failed = code_.makeLabel();
    size_t mark = patternTemporaries_.size();
    pushScope();
    Subject subject = subjectOf(call->arguments[0], {call->pattern});
    holdSubject(subject);
    matchPattern(call->pattern, subject, failed);
    succeedPattern(mark, subject);
    popScope();
    code_.jump(when ? target : no);
    code_.bind(failed);
    failPattern(mark);
    if (!when)
      code_.jump(target);
    code_.bind(no);
    return;
  }
  if (auto* binary = dyn_cast<BinaryExpr>(expr)) {
    if (binary->op == BinaryOp::And || binary->op == BinaryOp::Or) {
      // `a && b` fails when either fails; holds when both hold.
      bool decisive = binary->op == BinaryOp::Or; // the value of one side that decides
      if (when == decisive) {
        branch(binary->left, target, when);
        branch(binary->right, target, when);
      } else {
        Label skip = code_.makeLabel();
        branch(binary->left, skip, decisive);
        branch(binary->right, target, when);
        code_.bind(skip);
      }
      return;
    }
    if (isComparison(binary->op)) {
      llvm::SmallVector<Operand, 2> values;
      operands({binary->left, binary->right}, values);
      branchOn(binary->op, valueType(binary->left), values[0], values[1], target, when);
      return;
    }
  }
  Operand value = operand(expr);
  Register reg = inRegister(value);
  code_.jump(when ? Opcode::JumpIf : Opcode::JumpIfNot, target, reg);
  drop(value);
}

static BinaryOp inverted(BinaryOp op) {
  switch (op) {
  case BinaryOp::Eq:
    return BinaryOp::Ne;
  case BinaryOp::Ne:
    return BinaryOp::Eq;
  case BinaryOp::Lt:
    return BinaryOp::Ge;
  case BinaryOp::Ge:
    return BinaryOp::Lt;
  case BinaryOp::Gt:
    return BinaryOp::Le;
  case BinaryOp::Le:
    return BinaryOp::Gt;
  default: // not a comparison
    return op;
  }
}
static BinaryOp mirrored(BinaryOp op) {
  switch (op) {
  case BinaryOp::Lt:
    return BinaryOp::Gt;
  case BinaryOp::Gt:
    return BinaryOp::Lt;
  case BinaryOp::Le:
    return BinaryOp::Ge;
  case BinaryOp::Ge:
    return BinaryOp::Le;
  default: // symmetric
    return op;
  }
}

namespace {
/// The jumps that decide a comparison of integers.
struct ComparisonJump {
  Opcode withImmediate;
  Opcode ofRegisters;
  bool isMirrored = false; // the operands of `ofRegisters` change places
};
} // namespace

static ComparisonJump jumpOf(BinaryOp op, bool isWideUnsigned) {
  const Opcode less = isWideUnsigned ? Opcode::JumpLtU64 : Opcode::JumpLtI64;
  const Opcode lessOrEqual = isWideUnsigned ? Opcode::JumpLeU64 : Opcode::JumpLeI64;
  switch (op) {
  case BinaryOp::Ne:
    return {Opcode::JumpNeImm, Opcode::JumpNeInt};
  case BinaryOp::Lt:
    return {Opcode::JumpLtImm, less};
  case BinaryOp::Le:
    return {Opcode::JumpLeImm, lessOrEqual};
  case BinaryOp::Gt:
    return {Opcode::JumpGtImm, less, true};
  case BinaryOp::Ge:
    return {Opcode::JumpGeImm, lessOrEqual, true};
  default: // Eq; comparisons only
    return {Opcode::JumpEqImm, Opcode::JumpEqInt};
  }
}

void FunctionLowering::branchOn(BinaryOp op, Type* type, Operand& left, Operand& right,
                                Label target, bool when) {
  LayoutId layout = layoutOf(type);
  const vm::Layout& shape = this->layout(layout);
  bool isEquality = op == BinaryOp::Eq || op == BinaryOp::Ne;
  bool plain = !isReference(layout) && !isUnit(layout) &&
               (isEquality ? shape.equals : shape.compare) == vm::FunctionId::None;
  auto finish = [&] {
    drop(right);
    drop(left);
  };
  if (!plain) {
    if (!isEquality) {
      Register order = acquire(layouts().integer());
      compareInto(type, left, right, order);
      Operand result = temporary(order), zero = immediate(0, layouts().integer());
      branchOn(op, module_.types().i64(), result, zero, target, when);
      return;
    }
    Register result = acquire(layouts().boolean());
    equalInto(type, left, right, result);
    code_.jump((op == BinaryOp::Eq) == when ? Opcode::JumpIf : Opcode::JumpIfNot, target, result);
    release(result);
    return;
  }
  if (type->isFloat()) {
    Register a = inRegister(left), b = inRegister(right);
    if (isEquality) {
      Register result = acquire(layouts().boolean());
      code_.op(op == BinaryOp::Eq ? Opcode::EqF64 : Opcode::NeF64, result, a, b);
      code_.jump(when ? Opcode::JumpIf : Opcode::JumpIfNot, target, result);
      release(result);
    } else {
      bool swapped = op == BinaryOp::Gt || op == BinaryOp::Ge;
      bool orEqual = op == BinaryOp::Le || op == BinaryOp::Ge;
      Opcode code = when ? (orEqual ? Opcode::JumpLeF64 : Opcode::JumpLtF64)
                         : (orEqual ? Opcode::JumpNotLeF64 : Opcode::JumpNotLtF64);
      code_.jump(code, target, swapped ? b : a, swapped ? a : b);
    }
    finish();
    return;
  }
  if (!when)
    op = inverted(op);
  bool wide = isWideUnsigned(type);
  if (left.isImmediate() && !right.isImmediate()) {
    std::swap(left, right);
    op = mirrored(op);
  }
  if (right.isImmediate() && fitsImmediate(right.value) && (!wide || isEquality)) {
    Register a = inRegister(left);
    code_.jump(jumpOf(op, wide).withImmediate, target, a, int32_t(right.value));
    finish();
    return;
  }
  Register a = inRegister(left), b = inRegister(right);
  const ComparisonJump jump = jumpOf(op, wide);
  if (jump.isMirrored)
    std::swap(a, b);
  code_.jump(jump.ofRegisters, target, a, b);
  finish();
}

} // namespace gos::lower
