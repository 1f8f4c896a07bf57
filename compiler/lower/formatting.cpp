// Templates, f-strings and the compiler-known calls.
#include "compiler/lower/function_lowering.h"

namespace gos::lower {

using namespace ast;
using llvm::cast;
using llvm::dyn_cast;
using types::Kind;

bool FunctionLowering::isPlainSpec(const FormatSpec& spec) const {
  return spec.fill == ' ' && spec.align == FormatSpec::Align::Default && !spec.zero &&
         spec.width < 0 && spec.precision < 0 && spec.kind == FormatSpec::Kind::Display;
}

void FunctionLowering::appendText(Register text, llvm::StringRef piece) {
  if (piece.empty())
    return;
  Register constant = acquire(layouts().string());
  intoString(piece, constant);
  code_.op(Opcode::StringAppend, text, constant);
  release(constant); // shared: nothing to give back
}

void FunctionLowering::appendValue(Register text, Operand value, const FormatSpec& spec) {
  if (isUnit(value.layout)) {
    // Its register is never written: give it one with a value.
    Register reg = acquire(value.layout);
    code_.op(Opcode::LoadInt, reg, 0);
    code_.op(Opcode::FormatScalar, text, reg, module_.format(spec));
    release(reg);
    return;
  }
  if (isPlainSpec(spec) && layout(value.layout).kind == vm::LayoutKind::String &&
      layout(value.layout).display == vm::FunctionId::None) {
    code_.op(Opcode::StringAppend, text, inRegister(value));
  } else {
    Register reg = inRegister(value);
    code_.op(isReference(value.layout) ? Opcode::FormatValue : Opcode::FormatScalar, text, reg,
             module_.format(spec));
  }
  drop(value);
}

/// Builds the text of the pieces. `dest` is not read before the text is complete unless it is a
/// fresh register.
void FunctionLowering::formatInto(llvm::ArrayRef<FormatPiece> pieces, llvm::StringRef suffix,
                                  Register dest) {
  // Adjacent literal text is one piece.
  std::string pending;
  bool begun = false;
  Register text = writesInPlace(dest) ? acquire(layouts().string()) : dest;
  auto flushText = [&] {
    if (!begun) {
      intoString(pending, text);
      begun = true;
    } else {
      appendText(text, pending);
    }
    pending.clear();
  };
  for (const FormatPiece& piece : pieces) {
    pending += piece.text;
    if (!piece.value)
      continue;
    const Expr* value = actual(piece.value);
    if (auto* literal = dyn_cast<StringExpr>(value); literal && isPlainSpec(piece.spec)) {
      pending += literal->value;
      continue;
    }
    Operand shown = operand(value);
    if (isNever(value))
      return;
    flushText();
    appendValue(text, shown, piece.spec);
  }
  pending += suffix;
  if (!begun || !pending.empty())
    flushText();
  if (text != dest) {
    Operand result = temporary(text);
    moveInto(dest, result);
  }
}

void FunctionLowering::printText(Register text, llvm::StringRef path, llvm::StringRef spelling) {
  llvm::SmallVector<Operand, 1> values{temporary(text)};
  Register nothing = acquire(layouts().unit());
  nativeCall(path, values, layouts().unit(), nothing, spelling);
  release(nothing);
}

void FunctionLowering::knownCall(const KnownCallExpr* expr, Destination target) {
  std::string spelling = expr->name.name.text().str();
  if (expr->hasBang)
    spelling += "!";
  auto build = [&](llvm::StringRef suffix) {
    Register text = acquire(layouts().string());
    formatInto(expr->pieces, suffix, text);
    return text;
  };
  auto failWith = [&](vm::PanicReason reason) {
    if (expr->pieces.empty()) {
      code_.op(Opcode::PanicCode, {}, 0u, {}, uint32_t(reason));
      return;
    }
    Register text = build({});
    code_.op(Opcode::Panic, text);
    release(text);
  };
  switch (expr->which) {
  case KnownCall::Println:
    printText(build("\n"), "intrinsics::print", spelling);
    deliver(unit(), target);
    return;
  case KnownCall::Print:
    printText(build({}), "intrinsics::print", spelling);
    deliver(unit(), target);
    return;
  case KnownCall::Eprintln:
    printText(build("\n"), "intrinsics::eprint", spelling);
    deliver(unit(), target);
    return;
  case KnownCall::Eprint:
    printText(build({}), "intrinsics::eprint", spelling);
    deliver(unit(), target);
    return;
  case KnownCall::Format:
    if (target.kind == Destination::Kind::Into &&
        registers_.layout(target.reg) == layouts().string()) {
      formatInto(expr->pieces, {}, target.reg);
      return;
    }
    deliver(temporary(build({})), target);
    return;
  case KnownCall::Panic: {
    Register text = build({});
    code_.op(Opcode::Panic, text);
    release(text);
    return;
  }
  case KnownCall::Todo:
    failWith(vm::PanicReason::Todo);
    return;
  case KnownCall::Unimplemented:
    failWith(vm::PanicReason::Unimplemented);
    return;
  case KnownCall::Unreachable:
    failWith(vm::PanicReason::Unreachable);
    return;
  case KnownCall::Matches: {
    Label no = code_.makeLabel(), end = code_.makeLabel();
    if (target.kind != Destination::Kind::Into) {
      Register reg = acquire(layouts().boolean());
      knownCall(expr, Destination::into(reg));
      deliver(temporary(reg), target);
      return;
    }
    branch(expr, no, false);
    code_.op(Opcode::LoadInt, target.reg, 1);
    code_.jump(end);
    code_.bind(no);
    code_.op(Opcode::LoadInt, target.reg, 0);
    code_.bind(end);
    return;
  }
  case KnownCall::Dbg: {
    if (expr->arguments.empty()) {
      deliver(unit(), target);
      return;
    }
    Operand value = operand(expr->arguments[0]);
    if (!value.isImmediate())
      value = copied(value);
    Register text = acquire(layouts().string());
    intoString({}, text);
    FormatSpec spec;
    spec.kind = FormatSpec::Kind::Debug;
    Operand shown = value;
    if (!shown.isImmediate())
      shown.kind = Operand::Kind::Local; // still needed
    shown.lastUse = false;
    appendValue(text, shown, spec);
    appendText(text, "\n");
    printText(text, "intrinsics::eprint", spelling);
    deliver(value, target);
    return;
  }
  case KnownCall::Codegen:
    module_.reachUnmadeText(expr->span);
    return;
  }
}

} // namespace gos::lower
