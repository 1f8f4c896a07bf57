// Calls: functions, methods, closures, constructors, natives; `&mut` arguments and their cells.
#include "compiler/lower/function_lowering.h"

namespace gos::lower {

using namespace ast;
using llvm::cast;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;
using types::Kind;

Selected FunctionLowering::select(const Target& target) {
  auto* function = dyn_cast_or_null<FunctionItem>(target.item);
  if (!function)
    return {};
  llvm::ArrayRef<Type*> args = module_.instantiate(target.typeArgs, environment_);
  Type* self = target.selfType ? concrete(target.selfType) : nullptr;
  return module_.program().select(function, args, self);
}

Environment FunctionLowering::calleeEnvironment(const Selected& selected) {
  return Environment{selected.typeArgs, selected.self, 0, {}};
}

std::string FunctionLowering::spellingOf(const Expr* callee) {
  if (auto* path = dyn_cast<PathExpr>(callee)) {
    std::string text;
    for (const PathSegment& segment : path->path.segments) {
      if (!text.empty())
        text += "::";
      text += segment.ident.name.text();
    }
    return text;
  }
  if (auto* call = dyn_cast<MethodCallExpr>(callee)) {
    std::string text = spellingOf(call->receiver);
    return text.empty() ? call->name.name.text().str() : text + "." + call->name.name.text().str();
  }
  if (auto* field = dyn_cast<FieldExpr>(callee)) {
    std::string text = spellingOf(field->object);
    return text.empty() ? text : text + "." + field->name.name.text().str();
  }
  return {};
}

// ---- what is called
// -------------------------------------------------------------------------------------

void FunctionLowering::intoCall(const CallExpr* expr, Register dest) {
  const Expr* callee = actual(expr->callee);
  // Where generated text names the function, that text spells the call.
  SpanScope span(code_, callee == expr->callee ? code_.span() : callee->span);
  llvm::SmallVector<const Expr*, 8> written, ordered(expr->ordered.begin(), expr->ordered.end());
  for (const Argument& argument : expr->arguments)
    written.push_back(argument.value);
  if (ordered.empty())
    ordered = written;
  if (expr->isTypeInfo) {
    // Reflection: the pairs are known.
    LayoutId layout = registers_.layout(dest), text = layouts().string();
    LayoutId pair = this->layout(layout).element;
    Register pairs = acquire(layout);
    code_.op(Opcode::NewVec, pairs, layout, 0u);
    for (const auto& [name, type] : expr->reflected) {
      llvm::SmallVector<Operand, 2> fields;
      for (llvm::StringRef part : {name, type}) {
        Register reg = acquire(text);
        intoString(part, reg);
        fields.push_back(temporary(reg));
      }
      Register made = acquire(pair);
      construct(pair, 0, fields, made);
      Operand element = temporary(made);
      pushElement(pairs, element);
    }
    Operand result = temporary(pairs);
    moveInto(dest, result);
    return;
  }
  if (auto* path = dyn_cast<PathExpr>(callee)) {
    const Target& target = path->target;
    if (target.kind == TargetKind::Function) {
      callFunction(select(target), written, ordered, spellingOf(callee), dest);
      return;
    }
    if (target.kind == TargetKind::Struct || target.kind == TargetKind::Variant) {
      LayoutId layout = registers_.layout(dest);
      uint32_t variant = target.kind == TargetKind::Variant ? target.index : 0;
      llvm::SmallVector<LayoutId, 8> wanted;
      if (this->layout(layout).variants.size() > variant)
        wanted.assign(this->layout(layout).variants[variant].fields.begin(),
                      this->layout(layout).variants[variant].fields.end());
      llvm::SmallVector<Operand, 8> values;
      operands(ordered, values, wanted);
      construct(layout, variant, values, dest);
      return;
    }
  }
  callClosure(callee, written, ordered, dest);
}

void FunctionLowering::intoMethodCall(const MethodCallExpr* expr, Register dest) {
  if (expr->identity) { // `.into()` between a newtype and its representation
    Operand value = operand(expr->receiver);
    moveInto(dest, value);
    return;
  }
  llvm::SmallVector<const Expr*, 8> written, ordered;
  for (const Argument& argument : expr->arguments)
    written.push_back(argument.value);
  if (!expr->ordered.empty() || expr->rangeApart)
    ordered.assign(expr->ordered.begin(), expr->ordered.end());
  else
    ordered = written;
  if (expr->rangeApart)
    written = ordered; // the range itself is never made
  if (expr->fieldCall) {
    // The callee is a field that holds a closure.
    Type* object = valueType(expr->receiver);
    llvm::SmallVector<Type*, 8> fields = module_.fieldTypes(object, 0);
    if (expr->fieldIndex >= fields.size())
      return;
    Type* type = fields[expr->fieldIndex];
    Register closure = acquire(layoutOf(type));
    intoField(expr->receiver, expr->fieldIndex, closure);
    llvm::SmallVector<CallArgument, 8> args(ordered.size());
    for (size_t i = 0; i != ordered.size(); ++i) {
      args[i].expr = ordered[i];
      args[i].parameter =
          i < type->parameters().size() ? type->parameters()[i] : module_.types().unit();
    }
    evaluateArguments(args, written);
    openArguments(args, false);
    llvm::SmallVector<Operand, 8> values;
    for (CallArgument& arg : args)
      values.push_back(arg.value);
    arguments(values);
    code_.op(Opcode::CallClosure, dest, closure, uint32_t(args.size()));
    closeArguments(args, false);
    code_.op(Opcode::Release, closure);
    release(closure);
    return;
  }
  if (expr->target.kind != TargetKind::Function)
    return;
  written.insert(written.begin(), expr->receiver);
  ordered.insert(ordered.begin(), expr->receiver);
  callFunction(select(expr->target), written, ordered, spellingOf(expr), dest);
}

void FunctionLowering::callFunction(const Selected& selected, llvm::ArrayRef<const Expr*> written,
                                    llvm::ArrayRef<const Expr*> ordered, llvm::StringRef spelling,
                                    Register dest) {
  if (!selected.function) {
    module_.notYet(code_.span(), "this call");
    return;
  }
  if (selected.isStructural) {
    structuralCall(selected, ordered, dest);
    return;
  }
  if (selected.function->builtin >= 0 &&
      intrinsic(module_.builtinPath(selected.function), selected, ordered, dest))
    return;
  if (std::optional<Selected> inner = forwarded(selected)) {
    callFunction(*inner, written, ordered, spelling, dest);
    return;
  }
  const check::Signature& signature = module_.program().signature(selected.function);
  Environment environment = calleeEnvironment(selected);
  llvm::SmallVector<CallArgument, 8> args(ordered.size());
  for (size_t i = 0; i != ordered.size(); ++i) {
    args[i].expr = ordered[i];
    args[i].parameter = i < signature.parameters.size()
                            ? module_.instantiate(signature.parameters[i], environment)
                            : module_.types().unit();
  }
  evaluateArguments(args, written);
  callSelected(selected, args, spelling, dest);
}

/// A library function that only hands its parameters on, in order, to another (`math::sqrt(x)` is
/// `x.sqrt()`): the other one is called instead.
std::optional<Selected> FunctionLowering::forwarded(const Selected& selected) {
  FunctionItem* function = selected.function;
  if (function->builtin >= 0 || !function->body || module_.packageOf(function) != 0 ||
      !function->body->statements.empty() || !function->body->tail)
    return std::nullopt;
  if (!module_.program().ensureChecked(function))
    return std::nullopt;
  const Expr* body = actual(function->body->tail);
  llvm::SmallVector<const Expr*, 4> args;
  const Target* target = nullptr;
  if (auto* call = dyn_cast<MethodCallExpr>(body); call && !call->fieldCall && !call->identity) {
    args.push_back(call->receiver);
    args.append(call->ordered.begin(), call->ordered.end());
    target = &call->target;
  } else if (auto* plain = dyn_cast<CallExpr>(body); plain && !plain->isTypeInfo) {
    args.append(plain->ordered.begin(), plain->ordered.end());
    if (auto* path = dyn_cast<PathExpr>(actual(plain->callee)))
      target = &path->target;
  }
  if (!target || target->kind != TargetKind::Function || !target->item ||
      args.size() != function->parameters.size())
    return std::nullopt;
  for (size_t i = 0; i != args.size(); ++i) {
    auto* path = dyn_cast<PathExpr>(args[i]);
    auto* binding = dyn_cast<BindingPattern>(function->parameters[i].pattern);
    if (!path || !binding || path->target.kind != TargetKind::Variable ||
        path->target.variable != binding->variable)
      return std::nullopt;
  }
  auto* item = dyn_cast<FunctionItem>(target->item);
  if (!item)
    return std::nullopt;
  Environment environment = calleeEnvironment(selected);
  Type* self = target->selfType ? module_.instantiate(target->selfType, environment) : nullptr;
  Selected inner =
      module_.program().select(item, module_.instantiate(target->typeArgs, environment), self);
  if (!inner.function || inner.isStructural)
    return std::nullopt;
  // The same parameters, so that what is passed needs nothing more than it did.
  const check::Signature& outer = module_.program().signature(function);
  const check::Signature& other = module_.program().signature(inner.function);
  if (outer.parameters.size() != other.parameters.size())
    return std::nullopt;
  Environment innerEnvironment = calleeEnvironment(inner);
  for (size_t i = 0; i != outer.parameters.size(); ++i)
    if (module_.instantiate(outer.parameters[i], environment) !=
        module_.instantiate(other.parameters[i], innerEnvironment))
      return std::nullopt;
  if (module_.instantiate(outer.result, environment) !=
      module_.instantiate(other.result, innerEnvironment))
    return std::nullopt;
  return inner;
}

void FunctionLowering::callSelected(const Selected& selected,
                                    llvm::MutableArrayRef<CallArgument> args,
                                    llvm::StringRef spelling, Register dest) {
  const check::Signature& signature = module_.program().signature(selected.function);
  Environment environment = calleeEnvironment(selected);
  Type* resultType = signature.result ? module_.instantiate(signature.result, environment)
                                      : module_.types().unit();
  LayoutId result = layoutOf(resultType);
  const ast::ForeignFunction* foreign = selected.function->foreign;
  bool native = selected.function->builtin >= 0 || foreign;
  openArguments(args, native);
  llvm::SmallVector<Operand, 8> values;
  for (CallArgument& arg : args)
    values.push_back(arg.value);

  Register target = dest;
  bool other = registers_.layout(dest) != result;
  if (other)
    target = acquire(result);
  if (native) {
    llvm::SmallVector<LayoutId, 8> parameters;
    llvm::SmallVector<bool, 8> inOut;
    for (CallArgument& arg : args) {
      parameters.push_back(arg.want);
      inOut.push_back(arg.isInOut);
    }
    uint32_t import =
        foreign ? module_.foreign(*foreign, parameters, inOut, result)
                : module_.native(module_.builtinPath(selected.function), parameters, inOut, result);
    arguments(values);
    code_.spelling(spelling);
    code_.op(Opcode::CallNative, target, import);
  } else {
    vm::FunctionId function = module_.function(selected);
    arguments(values);
    // The library is transparent: what it reaches is reported in the words of the call that entered
    // it.
    if (module_.packageOf(selected.function) == 0)
      code_.spelling(spelling);
    code_.op(Opcode::Call, target, function);
  }
  closeArguments(args, native);
  if (resultType->is(Kind::Never)) {
    code_.op(Opcode::PanicCode, {}, 0u, {}, uint32_t(vm::PanicReason::Unreachable));
  } else if (other) {
    Operand value = temporary(target);
    moveInto(dest, value);
  }
}

void FunctionLowering::callWithOperands(const Selected& selected,
                                        llvm::MutableArrayRef<Operand> operands, Register dest) {
  if (!selected.function)
    return;
  const check::Signature& signature = module_.program().signature(selected.function);
  Environment environment = calleeEnvironment(selected);
  llvm::SmallVector<CallArgument, 4> args(operands.size());
  for (size_t i = 0; i != operands.size(); ++i) {
    Type* parameter = i < signature.parameters.size()
                          ? module_.instantiate(signature.parameters[i], environment)
                          : module_.types().unit();
    args[i].parameter = parameter;
    args[i].want = layoutOf(parameter->withoutReferences());
    args[i].value = operands[i];
    if (parameter->isMutableRef()) { // a cell, handed through by a thunk
      args[i].isInOut = true;
      args[i].place.root = Place::Root::Cell;
      args[i].place.reg = operands[i].reg;
      args[i].place.rootType = parameter->withoutReferences();
      args[i].place.rootLayout = args[i].want;
    } else {
      args[i].value = converted(operands[i], args[i].want);
    }
  }
  callSelected(selected, args, {}, dest);
}

Operand FunctionLowering::methodResult(const Target& target, llvm::ArrayRef<const Expr*> exprs,
                                       LayoutId layout) {
  Register dest = acquire(layout);
  callFunction(select(target), exprs, exprs, {}, dest);
  return temporary(dest);
}

void FunctionLowering::callClosure(const Expr* callee, llvm::ArrayRef<const Expr*> written,
                                   llvm::ArrayRef<const Expr*> ordered, Register dest) {
  Type* type = valueType(callee);
  if (!type->is(Kind::Fn))
    return;
  Operand closure = operand(callee);
  closure.lastUse = false;
  protect(closure, written);
  llvm::SmallVector<CallArgument, 8> args(ordered.size());
  for (size_t i = 0; i != ordered.size(); ++i) {
    args[i].expr = ordered[i];
    args[i].parameter =
        i < type->parameters().size() ? type->parameters()[i] : module_.types().unit();
  }
  evaluateArguments(args, written);
  openArguments(args, false);
  llvm::SmallVector<Operand, 8> values;
  for (CallArgument& arg : args)
    values.push_back(arg.value);
  Register reg = inRegister(closure);
  LayoutId result = layoutOf(type->result());
  bool other = result != registers_.layout(dest);
  Register target = other ? acquire(result) : dest;
  arguments(values);
  code_.op(Opcode::CallClosure, target, reg, uint32_t(args.size()));
  closeArguments(args, false);
  drop(closure);
  if (other) {
    Operand value = temporary(target);
    moveInto(dest, value);
  }
}

// ---- arguments
// ------------------------------------------------------------------------------------------

void FunctionLowering::evaluateArguments(llvm::MutableArrayRef<CallArgument> args,
                                         llvm::ArrayRef<const Expr*> written) {
  auto evaluate = [&](CallArgument& arg, llvm::ArrayRef<const Expr*> later) {
    arg.want = layoutOf(arg.parameter->withoutReferences());
    if (arg.parameter->isMutableRef()) {
      arg.isInOut = true;
      arg.place = place(arg.expr);
      for (PlaceStep& step : arg.place.steps) {
        protect(step.index, later);
        protect(step.high, later);
      }
      if (auto* root = rootVariable(arg.expr)) {
        // It is read when the place is opened: no later argument may take it.
        auto found = facts_.lastUse.find(root);
        if (found != facts_.lastUse.end())
          for (const Expr* expr : later)
            if (expr->span.contains(found->second->span)) {
              facts_.lastUse.erase(found);
              break;
            }
      }
      return;
    }
    arg.value = operandAs(arg.expr, arg.want);
    protect(arg.value, later);
  };
  llvm::SmallVector<bool, 8> done(args.size(), false);
  for (size_t w = 0; w != written.size(); ++w)
    for (size_t i = 0; i != args.size(); ++i)
      if (!done[i] && args[i].expr == written[w]) {
        evaluate(args[i], written.drop_front(w + 1));
        done[i] = true;
        break;
      }
  for (size_t i = 0; i != args.size(); ++i)
    if (!done[i])
      evaluate(args[i], {}); // a default
}

/// Everything has been evaluated: takes the values of `&mut` arguments out of their places.
void FunctionLowering::openArguments(llvm::MutableArrayRef<CallArgument> args, bool native) {
  // What other arguments read of a variable that is taken now, they keep.
  for (CallArgument& arg : args)
    if (arg.isInOut && arg.place.root == Place::Root::Register)
      for (CallArgument& other : args)
        if (!other.isInOut && other.value.isLocal() && other.value.reg == arg.place.reg) {
          other.value.lastUse = false;
          other.value = copied(other.value);
        }
  checkWindows(args);
  for (CallArgument& arg : args) {
    if (!arg.isInOut)
      continue;
    Place& place = arg.place;
    if (!place.steps.empty() && place.steps.back().kind == PlaceStep::Kind::Window) {
      // A copy of the part: what it is a part of stays, since there may be other windows onto it.
      arg.isWindow = true;
      Operand part = loadPlace(place);
      arg.open.reg = part.reg;
      arg.opened = true;
    }
    bool sameLayout = place.layout() == arg.want;
    LayoutId cellLayout = native ? LayoutId{} : layouts().cellOf(arg.want);
    if (!native && sameLayout && place.steps.empty()) {
      if (place.root == Place::Root::Cell) {
        arg.sharesCell = true;
        Operand cell;
        cell.kind = Operand::Kind::Local;
        cell.reg = place.reg;
        cell.layout = cellLayout;
        arg.value = cell;
        continue;
      }
      if (place.cached) { // a parameter handed on: its value goes back into the cell for the call
        arg.sharesCell = true;
        flush(*place.cached);
        Operand cell;
        cell.kind = Operand::Kind::Local;
        cell.reg = place.cached->cell;
        cell.layout = cellLayout;
        arg.value = cell;
        continue;
      }
    }
    if (!arg.isWindow)
      arg.open = openPlace(place);
    arg.opened = true;
    Register value = arg.open.reg;
    if (!sameLayout) { // an array where a slice is wanted
      arg.retyped = acquire(arg.want);
      code_.op(Opcode::Retype, arg.retyped, value);
      code_.op(Opcode::Release, value);
      value = arg.retyped;
    }
    if (native) {
      Operand taken_ = temporary(value);
      taken_.kind = Operand::Kind::Local; // the register stays ours: the value comes back to it
      taken_.lastUse = true;
      taken_.variable = nullptr;
      arg.value = taken_;
      continue;
    }
    arg.cell = acquire(cellLayout);
    code_.op(isReference(arg.want) ? Opcode::NewCellTake : Opcode::NewCellScalar, arg.cell, value);
    Operand cell;
    cell.kind = Operand::Kind::Local;
    cell.reg = arg.cell;
    cell.layout = cellLayout;
    arg.value = cell;
  }
}

void FunctionLowering::closeArguments(llvm::MutableArrayRef<CallArgument> args, bool native) {
  if (native) // directly after the call
    for (size_t i = 0; i != args.size(); ++i)
      if (args[i].opened && isReference(args[i].want))
        code_.op(Opcode::FetchArg,
                 args[i].retyped != Register::None ? args[i].retyped : args[i].open.reg,
                 uint32_t(i));
  for (size_t i = args.size(); i-- > 0;) {
    CallArgument& arg = args[i];
    if (!arg.isInOut)
      continue;
    if (arg.sharesCell) {
      if (arg.place.cached)
        reload(*arg.place.cached);
      dropPlace(arg.place);
      continue;
    }
    if (!arg.opened)
      continue;
    Register value = arg.retyped != Register::None ? arg.retyped : arg.open.reg;
    if (!native) {
      code_.op(isReference(arg.want) ? Opcode::CellTake : Opcode::CellGet, value, arg.cell);
      code_.op(Opcode::Release, arg.cell);
      release(arg.cell);
    }
    if (arg.retyped != Register::None) {
      code_.op(Opcode::Retype, arg.open.reg, value);
      code_.op(Opcode::Release, value);
      release(arg.retyped);
    }
    if (arg.isWindow) {
      storePlace(arg.place, temporary(arg.open.reg));
    } else {
      closePlace(arg.place, arg.open);
    }
  }
}

/// Windows onto one place may be passed together when they have no element in common.
void FunctionLowering::checkWindows(llvm::MutableArrayRef<CallArgument> args) {
  llvm::SmallVector<CallArgument*, 4> windows; // few, however many arguments there are
  for (CallArgument& arg : args)
    if (arg.isInOut && !arg.place.steps.empty() &&
        arg.place.steps.back().kind == PlaceStep::Kind::Window)
      windows.push_back(&arg);
  for (size_t i = 0; i != windows.size(); ++i)
    for (size_t k = i + 1; k != windows.size(); ++k) {
      if (windows[i]->place.reg != windows[k]->place.reg ||
          windows[i]->place.root != windows[k]->place.root)
        continue;
      PlaceStep *a = &windows[i]->place.steps.back(), *b = &windows[k]->place.steps.back();
      Label apart = code_.makeLabel();
      Register aLow = inRegister(a->index), aHigh = inRegister(a->high);
      Register bLow = inRegister(b->index), bHigh = inRegister(b->high);
      code_.jump(Opcode::JumpLeI64, apart, aHigh, bLow);
      code_.jump(Opcode::JumpLeI64, apart, bHigh, aLow);
      code_.jump(Opcode::JumpLeI64, apart, aHigh, aLow);
      code_.jump(Opcode::JumpLeI64, apart, bHigh, bLow);
      code_.op(Opcode::PanicCode, {}, 0u, {}, uint32_t(vm::PanicReason::OverlappingWindows));
      code_.bind(apart);
    }
}

void FunctionLowering::nativeCall(llvm::StringRef path, llvm::MutableArrayRef<Operand> operands,
                                  LayoutId result, Register dest, llvm::StringRef spelling) {
  llvm::SmallVector<LayoutId, 4> parameters;
  llvm::SmallVector<bool, 4> inOut;
  for (Operand& operand : operands) {
    parameters.push_back(operand.layout);
    inOut.push_back(false);
  }
  uint32_t import = module_.native(path, parameters, inOut, result);
  arguments(operands);
  code_.spelling(spelling);
  code_.op(Opcode::CallNative, dest, import);
}

} // namespace gos::lower
