// Closures, and functions as values.
#include "compiler/lower/function_lowering.h"

namespace gos::lower {

using namespace ast;
using types::Kind;

void FunctionLowering::intoClosure(const ClosureExpr* expr, Register dest) {
  llvm::SmallVector<Operand, 8> captures;
  for (const Variable* variable : expr->captures) {
    const Local* local = find(variable);
    if (!local) {
      module_.notYet(expr->span, ("capturing `" + variable->name.text() + "` here").str());
      return;
    }
    if (capturedByCell(variable)) {
      Operand cell;
      cell.kind = Operand::Kind::Local;
      cell.reg = local->cell;
      cell.layout = layouts().cellOf(local->layout);
      if (local->cell == Register::None) {
        module_.notYet(expr->span, ("capturing `" + variable->name.text() + "` here").str());
        return;
      }
      captures.push_back(cell);
      continue;
    }
    Operand value = variableOperand(variable, expr);
    value.lastUse = false;
    captures.push_back(value);
  }
  vm::FunctionId function = module_.closure(expr, environment_);
  arguments(captures);
  code_.op(Opcode::NewClosure, dest, function);
}

Operand FunctionLowering::functionValue(const Selected& selected, Type* type, Span span) {
  LayoutId layout = layoutOf(type);
  if (!selected.function || !type->is(Kind::Fn))
    return unit();
  Register reg = acquire(layout);
  bool direct = selected.function->builtin < 0 && selected.function->body && !selected.isStructural;
  // Library code is transparent to the gate: a library function as a value counts where it is
  // named, whoever calls it.
  if (module_.packageOf(selected.function) == 0 && environment_.package != 0)
    direct = false;
  if (direct) {
    const check::Signature& signature = module_.program().signature(selected.function);
    Environment environment = calleeEnvironment(selected);
    direct =
        signature.parameters.size() == type->parameters().size() &&
        layoutOf(module_.instantiate(signature.result, environment)) == layoutOf(type->result());
    for (size_t i = 0; direct && i != signature.parameters.size(); ++i)
      direct = layoutOf(module_.instantiate(signature.parameters[i], environment)) ==
               layoutOf(type->parameters()[i]);
  }
  vm::FunctionId function = direct ? module_.function(selected)
                                   : module_.thunk(selected, type, environment_.package, span);
  code_.op(Opcode::NewClosure, reg, function);
  return temporary(reg);
}

} // namespace gos::lower
