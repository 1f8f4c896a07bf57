// Builtins that have an instruction of their own: see intrinsics.def.
#include "compiler/lower/function_lowering.h"

namespace gos::lower {

using namespace ast;
using llvm::dyn_cast;
using types::Kind;

namespace {
enum class Intrinsic : uint8_t {
#define GOS_INTRINSIC(name, path) name,
#include "compiler/lower/intrinsics.def"
};
std::optional<Intrinsic> findIntrinsic(llvm::StringRef path) {
  static constexpr llvm::StringLiteral kPaths[] = {
#define GOS_INTRINSIC(name, path) path,
#include "compiler/lower/intrinsics.def"
  };
  auto* end = std::end(kPaths);
  auto* found = std::lower_bound(std::begin(kPaths), end, path,
                                 [](llvm::StringRef a, llvm::StringRef b) { return a < b; });
  if (found == end || *found != path)
    return std::nullopt;
  return Intrinsic(found - std::begin(kPaths));
}
} // namespace

bool FunctionLowering::intrinsic(llvm::StringRef path, const Selected& selected,
                                 llvm::ArrayRef<const Expr*> args, Register dest) {
  (void)selected;
  std::optional<Intrinsic> which = findIntrinsic(path);
  if (!which)
    return false;
  auto into = [&](Operand value) { moveInto(dest, value); };
  // The cell of a variable that lives in one, so that its value need not be held.
  auto cellOf = [&](const Expr* expr) {
    auto* variable = dyn_cast<PathExpr>(actual(expr));
    const Local* local = variable && variable->target.kind == TargetKind::Variable
                             ? find(variable->target.variable)
                             : nullptr;
    return local && local->storage == Local::Storage::Cell ? local->cell : Register::None;
  };
  switch (*which) {
  case Intrinsic::Clone: {
    if (args.size() != 1)
      return false;
    Type* type = valueType(args[0]);
    if (auto hook = module_.program().hook(check::Hook::Clone, type); hook && !hook->isStructural)
      return false;
    into(operand(args[0]));
    return true;
  }
  case Intrinsic::ToText:
  case Intrinsic::TextFrom:
  case Intrinsic::DisplayText:
  case Intrinsic::DebugText: {
    if (args.size() != 1)
      return false;
    Type* type = valueType(args[0]);
    if (type->is(Kind::Fn))
      return false;
    if (type->is(Kind::String) && *which != Intrinsic::DebugText) {
      into(operand(args[0]));
      return true;
    }
    Operand value = operand(args[0]);
    bool fresh = !writesInPlace(dest);
    Register text = fresh ? dest : acquire(layouts().string());
    intoString({}, text);
    FormatSpec spec;
    if (*which == Intrinsic::DebugText)
      spec.kind = FormatSpec::Kind::Debug;
    appendValue(text, value, spec);
    if (!fresh)
      into(temporary(text));
    return true;
  }
  case Intrinsic::TextNew:
    intoString({}, dest);
    return true;
  case Intrinsic::VecNew: {
    LayoutId layout = registers_.layout(dest);
    code_.op(Opcode::NewVec, dest, layout, 0u);
    return true;
  }
  case Intrinsic::Sqrt:
  case Intrinsic::WidthF64Sqrt:
  case Intrinsic::WidthF32Sqrt: {
    Type* type = valueType(args[0]);
    if (!type->isFloat())
      return false;
    Operand value = operand(args[0]);
    code_.op(Opcode::SqrtF64, dest, inRegister(value));
    drop(value);
    if (type->is(Kind::F32))
      code_.op(Opcode::RoundF32, dest, dest);
    return true;
  }
  case Intrinsic::Length:
  case Intrinsic::VecLength:
  case Intrinsic::IsEmpty:
  case Intrinsic::VecIsEmpty: {
    bool isEmpty = *which == Intrinsic::IsEmpty || *which == Intrinsic::VecIsEmpty;
    Register length = isEmpty ? acquire(layouts().integer()) : dest;
    if (Register cell = cellOf(args[0]); cell != Register::None) {
      code_.op(Opcode::CellVecLen, length, cell);
    } else {
      Operand value = operand(args[0]);
      if (!isReference(value.layout))
        return false;
      code_.op(Opcode::VecLen, length, inRegister(value));
      drop(value);
    }
    if (isEmpty) {
      code_.op(Opcode::BoolNot, dest, length);
      release(length);
    }
    return true;
  }
  case Intrinsic::VecPush: {
    Place where = place(args[0]);
    for (PlaceStep& step : where.steps)
      protect(step.index, args.drop_front());
    LayoutId element = layout(where.layout()).element;
    Operand value = operandAs(args[1], element);
    if (isReference(element) && value.isLocal() && !value.lastUse)
      value = copied(value);
    OpenPlace open = openPlace(where);
    pushElement(open.reg, value);
    closePlace(where, open);
    return true;
  }
  case Intrinsic::PushText:
  case Intrinsic::PushChar:
  case Intrinsic::PushScalar: {
    Place where = place(args[0]);
    for (PlaceStep& step : where.steps)
      protect(step.index, args.drop_front());
    Operand value = operand(args[1]);
    OpenPlace open = openPlace(where);
    code_.op(*which == Intrinsic::PushText ? Opcode::StringAppend : Opcode::StringAppendChar,
             open.reg, inRegister(value));
    drop(value);
    closePlace(where, open);
    return true;
  }
  case Intrinsic::SwapElements:
  case Intrinsic::VecSwap: {
    Type* type = valueType(args[0]);
    if (!type->isSequence() || isReference(layoutOf(type->element())) ||
        isUnit(layoutOf(type->element())))
      return false;
    Place where = place(args[0]);
    if (!where.steps.empty() && where.steps.back().kind == PlaceStep::Kind::Window) {
      // Rare; the general way.
      for (PlaceStep& step : where.steps) {
        protect(step.index, args.drop_front());
        protect(step.high, args.drop_front());
      }
    }
    LayoutId element = layoutOf(type->element());
    bool bytes = hasBytes(where.layout());
    llvm::SmallVector<Operand, 2> positions;
    operands({args[1], args[2]}, positions);
    Register i = inRegister(positions[0]), k = inRegister(positions[1]);
    Register a = acquire(element), b = acquire(element);
    if (where.root == Place::Root::Cell && where.steps.empty()) {
      Opcode get = bytes ? Opcode::CellVecGetByte : Opcode::CellVecGet;
      Opcode set = bytes ? Opcode::CellVecSetByte : Opcode::CellVecSet;
      code_.op(get, a, where.reg, i);
      code_.op(get, b, where.reg, k);
      code_.op(set, where.reg, i, b);
      code_.op(set, where.reg, k, a);
      dropPlace(where);
    } else {
      OpenPlace open = openPlace(where);
      Opcode get = bytes ? Opcode::VecGetByte : Opcode::VecGet;
      Opcode set = bytes ? Opcode::VecSetByte : Opcode::VecSet;
      code_.op(get, a, open.reg, i);
      code_.op(get, b, open.reg, k);
      code_.op(set, open.reg, i, b);
      code_.op(set, open.reg, k, a);
      closePlace(where, open);
    }
    release(b);
    release(a);
    drop(positions[1]);
    drop(positions[0]);
    return true;
  }
  case Intrinsic::CompareValues:
  case Intrinsic::ValuesEqual: {
    if (args.size() != 2)
      return false;
    Type* type = valueType(args[0]);
    llvm::SmallVector<Operand, 2> values;
    operands(args, values);
    if (*which == Intrinsic::CompareValues)
      compareInto(type, values[0], values[1], dest);
    else
      equalInto(type, values[0], values[1], dest);
    return true;
  }
  case Intrinsic::RangeStart:
  case Intrinsic::RangeEnd: {
    Operand value = operand(args[0]);
    code_.op(Opcode::GetField, dest, inRegister(value), *which == Intrinsic::RangeStart ? 0u : 1u);
    drop(value);
    return true;
  }
  }
  return false;
}

} // namespace gos::lower
