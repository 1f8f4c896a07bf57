// Calls of the library with the value they work on at the end, as an older form of it had them
// (GR0021).

#include "compiler/check/checker.h"

namespace gos::check {

/// Could the argument be meant for the parameter? Told from how it is written, before anything is
/// checked.
Checker::Answer Checker::resembles(Expr* argument, Type* parameter) {
  argument = folded(argument);
  parameter = parameter->withoutReferences();
  if (parameter->is(Kind::Param) || parameter->is(Kind::Projection) || parameter->is(Kind::Error))
    return Answer::Unknown;
  auto answer = [](bool fits) { return fits ? Answer::Yes : Answer::No; };
  switch (argument->kind) {
  case ExprKind::Closure:
    return answer(parameter->is(Kind::Fn) &&
                  parameter->parameters().size() == cast<ClosureExpr>(argument)->parameters.size());
  case ExprKind::Int:
    return answer(parameter->isNumeric());
  case ExprKind::Float:
    return answer(parameter->isFloat());
  case ExprKind::Bool:
    return answer(parameter->is(Kind::Bool));
  case ExprKind::Char:
    return answer(parameter->is(Kind::Char));
  case ExprKind::String:
  case ExprKind::FString:
    return answer(parameter->is(Kind::String));
  case ExprKind::Array:
  case ExprKind::Repeat:
    return answer(parameter->isSequence());
  case ExprKind::Map:
  case ExprKind::Set:
    return parameter->is(Kind::Fn) ? Answer::No : Answer::Unknown;
  case ExprKind::Range:
    return answer(parameter->is(Kind::Range));
  case ExprKind::Borrow:
    return resembles(cast<BorrowExpr>(argument)->operand, parameter);
  case ExprKind::Path: {
    const Path& path = cast<PathExpr>(argument)->path;
    auto local = path.segments.size() == 1 && !path.qualifier
                     ? localTop_.find(path.segments[0].ident.name)
                     : localTop_.end();
    if (local == localTop_.end() || local->second < 0)
      return Answer::Unknown;
    Type* type =
        shallow(shallow(locals_[size_t(local->second)].variable->type)->withoutReferences());
    if (type->is(Kind::Infer) && type->inferKind == InferKind::General)
      return Answer::Unknown;
    return answer(couldMatch(parameter, type));
  }
  default:
    return Answer::Unknown;
  }
}

bool Checker::isDataLast(CallExpr* call, FunctionItem* function,
                         ArrayRef<FunctionItem*> overloads) {
  size_t count = call->arguments.size();
  if (!function->parentModule || function->parentModule->package != 0 || count < 2 ||
      infoOf(function)->context.owner || body_->package == 0)
    return false;
  for (const Argument& argument : call->arguments)
    if (argument.label.name)
      return false;
  if (overloads.empty())
    overloads = function;
  bool moved = false;
  for (FunctionItem* each : overloads) {
    ArrayRef<Type*> parameters = functionInfo(each).signature.parameters;
    if (parameters.size() != count)
      continue;
    bool asWritten = true, lastFirst = true, sure = false;
    for (size_t i = 0; i < count; ++i) {
      asWritten &= resembles(call->arguments[i].value, parameters[i]) != Answer::No;
      Answer one = resembles(call->arguments[i].value, parameters[i + 1 == count ? 0 : i + 1]);
      lastFirst &= one != Answer::No;
      sure |= one == Answer::Yes;
    }
    if (asWritten)
      return false;
    moved |= lastFirst && sure;
  }
  if (!moved)
    return false;
  Span first = call->arguments[0].value->span, last = call->arguments[count - 1].value->span;
  std::string text = input_.sources.text(last).str();
  for (size_t i = 0; i + 1 < count; ++i)
    text += ", " + input_.sources.text(call->arguments[i].value->span).str();
  engine_.report(last, diag::StdDataLast, function->name.name.text())
      .suggest(first.to(last), text, "put it first");
  return true;
}

} // namespace gos::check
