#include "compiler/lower/function_lowering.h"

#include "stdlib/builtins.h"

#include <cassert>

namespace gos::lower {

using llvm::cast;
using llvm::dyn_cast;
using types::Kind;

FunctionLowering::FunctionLowering(ModuleLowering& module, const Instance& instance,
                                   vm::Function& out)
    : module_(module), instance_(instance), environment_(instance.environment), out_(out) {}

void FunctionLowering::lower() {
  out_.name = environment_.name;
  out_.package = environment_.package;
  out_.transparent = environment_.package == 0;
  out_.span = instance_.span;
  code_.setSpan(instance_.span);
  pushScope();
  switch (instance_.kind) {
  case Instance::Kind::Function:
    lowerFunction(instance_.function);
    break;
  case Instance::Kind::Closure:
    lowerClosure(instance_.closure);
    break;
  case Instance::Kind::Region:
  case Instance::Kind::Global:
    lowerValue(instance_.expr, instance_.type);
    break;
  case Instance::Kind::Thunk:
  case Instance::Kind::Constructor:
    lowerThunk();
    break;
  case Instance::Kind::Session:
    lowerSession(instance_.function);
    break;
  }
  finish();
}

void FunctionLowering::finish() {
  out_.result = resultLayout_;
  out_.parameterCount = uint16_t(registers_.parameterCount());
  if (!code_.finish(registers_, out_, module_.everyLine()))
    module_.notYet(instance_.span, "a function as large as this one");
}

Type* FunctionLowering::concrete(Type* type) {
  if (!type)
    return module_.types().unit();
  if (!type->has(Type::HasParam) && !type->has(Type::HasProjection))
    return type;
  Type*& slot = concrete_[type];
  if (!slot) {
    Type* made = module_.instantiate(type, environment_);
    return concrete_[type] = made;
  }
  return slot;
}

void FunctionLowering::lowerFunction(const ast::FunctionItem* function) {
  const check::Signature& signature =
      module_.program().signature(const_cast<ast::FunctionItem*>(function));
  resultType_ = concrete(signature.result);
  resultLayout_ = layoutOf(resultType_);
  llvm::SmallVector<const ast::Variable*, 8> variables;
  for (const ast::FunctionParameter& parameter : function->parameters)
    forEachBinding(parameter.pattern, [&](const ast::Variable* v) { variables.push_back(v); });
  facts_.gather(
      function->body, module_.program(), [&](Type* t) { return concrete(t)->withoutReferences(); },
      variables);

  llvm::SmallVector<std::pair<Type*, Register>, 8> parameters;
  for (Type* declared : signature.parameters) {
    Type* type = concrete(declared);
    LayoutId layout = layoutOf(type);
    parameters.push_back({type, registers_.makeParameter(layout, isReference(layout))});
  }
  for (size_t i = 0; i != function->parameters.size() && i != parameters.size(); ++i)
    bindParameter(function->parameters[i].pattern, parameters[i].first, parameters[i].second);
  emit(function->body, Destination::ret());
  if (!code_.isDead())
    emitReturn(unit());
}

/// A line of a session: earlier variables are found in their globals, its own are put there.
void FunctionLowering::lowerSession(const ast::FunctionItem* main) {
  const check::Signature& signature =
      module_.program().signature(const_cast<ast::FunctionItem*>(main));
  resultType_ = concrete(signature.result);
  resultLayout_ = layoutOf(resultType_);
  facts_.gather(main->body, module_.program(),
                [&](Type* t) { return concrete(t)->withoutReferences(); }, {});
  const SessionLine& session = *module_.session();
  for (const ast::Variable* variable : session.variables.take_front(session.earlierVariables)) {
    Local& local =
        declare(variable, concrete(variable->type)->withoutReferences(), Local::Storage::Cell);
    local.cell = registers_.make(layouts().cellOf(local.layout), true);
    code_.prologue(Opcode::LoadGlobal, local.cell, *module_.sessionGlobal(variable));
  }
  for (const ast::Stmt* each : main->body->statements.drop_front(session.firstStatement)) {
    if (code_.isDead())
      break;
    statement(each);
  }
  if (main->body->tail && !code_.isDead())
    emit(main->body->tail, Destination::ret());
  if (!code_.isDead())
    emitReturn(unit());
}

std::optional<uint32_t> FunctionLowering::sessionGlobal(const ast::Variable* variable) const {
  if (instance_.kind != Instance::Kind::Session)
    return std::nullopt;
  return module_.sessionGlobal(variable);
}

void FunctionLowering::lowerClosure(const ast::ClosureExpr* closure) {
  Type* type = valueType(closure);
  resultType_ = concrete(type->is(Kind::Fn) ? type->result() : module_.types().unit());
  resultLayout_ = layoutOf(resultType_);
  llvm::SmallVector<const ast::Variable*, 8> variables;
  for (const ast::ClosureParameter& parameter : closure->parameters)
    forEachBinding(parameter.pattern, [&](const ast::Variable* v) { variables.push_back(v); });
  for (const ast::Variable* variable : closure->captures)
    variables.push_back(variable);
  facts_.gather(
      closure->body, module_.program(), [&](Type* t) { return concrete(t)->withoutReferences(); },
      variables);

  llvm::SmallVector<std::pair<Type*, Register>, 8> parameters;
  for (Type* declared : type->parameters()) {
    Type* parameter = concrete(declared);
    LayoutId layout = layoutOf(parameter);
    parameters.push_back({parameter, registers_.makeParameter(layout, isReference(layout))});
  }
  struct Capture {
    const ast::Variable* variable;
    Register reg;
  };
  llvm::SmallVector<Capture, 8> captures;
  for (const ast::Variable* variable : closure->captures) {
    LayoutId layout = layoutOf(concrete(variable->type)->withoutReferences());
    if (capturedByCell(variable))
      layout = layouts().cellOf(layout);
    captures.push_back({variable, registers_.makeParameter(layout, isReference(layout))});
  }
  out_.captureCount = uint16_t(captures.size());
  for (const Capture& capture : captures) {
    Type* inner = concrete(capture.variable->type)->withoutReferences();
    bool byCell = capturedByCell(capture.variable);
    if (!byCell && needsCell(capture.variable)) {
      // A copy that is borrowed inside the closure.
      bindVariable(capture.variable, inner, copied(temporary(capture.reg)));
      continue;
    }
    Local& local =
        declare(capture.variable, inner, byCell ? Local::Storage::Cell : Local::Storage::Register);
    (byCell ? local.cell : local.value) = capture.reg;
    live_[capture.reg] = 1;
  }
  for (size_t i = 0; i != closure->parameters.size() && i != parameters.size(); ++i)
    bindParameter(closure->parameters[i].pattern, parameters[i].first, parameters[i].second);
  emit(closure->body, Destination::ret());
  if (!code_.isDead())
    emitReturn(unit());
}

void FunctionLowering::lowerValue(Expr* value, Type* type) {
  resultType_ = concrete(type);
  resultLayout_ = layoutOf(resultType_);
  facts_.gather(value, module_.program(), [&](Type* t) { return concrete(t)->withoutReferences(); },
                {});
  emit(value, Destination::ret());
  if (!code_.isDead())
    emitReturn(unit());
}

/// A closure value for a function that cannot be one itself: its parameters forwarded.
void FunctionLowering::lowerThunk() {
  Type* type = instance_.type;
  resultType_ = type->result();
  resultLayout_ = layoutOf(resultType_);
  llvm::SmallVector<Operand, 4> operands;
  for (Type* parameter : type->parameters()) {
    LayoutId layout = layoutOf(parameter);
    Register reg = registers_.makeParameter(layout, isReference(layout));
    Operand value;
    value.kind = Operand::Kind::Local;
    value.reg = reg;
    value.layout = layout;
    value.lastUse = true;
    operands.push_back(value);
  }
  Register dest = acquire(resultLayout_);
  if (instance_.kind == Instance::Kind::Constructor)
    construct(resultLayout_, instance_.variant, operands, dest);
  else
    callWithOperands(Selected{instance_.function, environment_.args, environment_.self}, operands,
                     dest);
  rawReturn(temporary(dest));
}

void FunctionLowering::bindParameter(const ast::Pattern* pattern, Type* type, Register reg) {
  const ast::BindingPattern* binding = dyn_cast<ast::BindingPattern>(pattern);
  bool simple = isSimpleBinding(pattern);
  Type* inner = type->withoutReferences();
  if (type->isMutableRef()) {
    if (!simple) {
      // `&mut (a, b)`: the pattern copies out of what the reference refers to.
      LayoutId layout = layoutOf(inner);
      Register value = acquire(layout);
      code_.op(isReference(layout) ? Opcode::CellGetRef : Opcode::CellGet, value, reg);
      bindPattern(pattern, inner, temporary(value));
      return;
    }
    const ast::Variable* variable = binding->variable;
    LayoutId layout = layoutOf(inner);
    // Taking the value out for the whole body makes every access a register access. Not when a
    // closure may reach the cell while the body runs.
    bool cache = isReference(layout) && !facts_.captured.contains(variable) &&
                 !facts_.borrowed.contains(variable);
    Local& local =
        declare(variable, inner, cache ? Local::Storage::CachedCell : Local::Storage::Cell);
    local.cell = reg;
    live_[reg] = 1;
    if (cache) {
      local.value = acquire(layout);
      live_[local.value] = 1;
      code_.op(Opcode::CellTake, local.value, reg);
      cachedParameters_.push_back(variable);
    }
    return;
  }
  if (simple && !needsCell(binding->variable)) {
    Local& local = declare(binding->variable, inner, Local::Storage::Register);
    local.value = reg;
    live_[reg] = 1;
    return;
  }
  Operand value;
  value.kind = Operand::Kind::Local;
  value.reg = reg;
  value.layout = registers_.layout(reg);
  value.lastUse = true;
  bindPattern(pattern, inner, value);
}

// ---- registers and operands
// -------------------------------------------------------------------------

void FunctionLowering::loadConstant(Register dest, uint64_t bits) {
  int64_t value = int64_t(bits);
  if (!layouts().isFloat(registers_.layout(dest)) && value >= INT32_MIN && value <= INT32_MAX)
    code_.op(Opcode::LoadInt, dest, int32_t(value));
  else
    code_.op(Opcode::LoadConstant, dest, module_.constant(bits));
}

Register FunctionLowering::hoistedConstant(uint64_t bits, LayoutId layout) {
  auto [found, isNew] = hoisted_.try_emplace({bits, layout}, Register::None);
  if (isNew) {
    Register reg = registers_.make(layout, false);
    found->second = reg;
    int64_t value = int64_t(bits);
    if (!layouts().isFloat(layout) && value >= INT32_MIN && value <= INT32_MAX)
      code_.prologue(Opcode::LoadInt, reg, int32_t(value));
    else
      code_.prologue(Opcode::LoadConstant, reg, module_.constant(bits));
  }
  return found->second;
}

Register FunctionLowering::inRegister(Operand& operand) {
  if (!operand.isImmediate())
    return operand.reg;
  if (isReference(operand.layout)) { // only in dead code
    Register reg = acquire(operand.layout);
    operand = temporary(reg);
    return reg;
  }
  uint64_t bits = uint64_t(operand.value);
  if (!loops_.empty()) {
    Register reg = hoistedConstant(bits, operand.layout);
    operand.kind = Operand::Kind::Local; // read only; nobody frees it
    operand.variable = nullptr;
    operand.reg = reg;
    return reg;
  }
  Register reg = acquire(operand.layout);
  loadConstant(reg, bits);
  operand = temporary(reg);
  return reg;
}

Register FunctionLowering::owned(Operand& operand) {
  if (operand.isTemporary() || (operand.isLocal() && operand.lastUse))
    return operand.reg;
  Register source = inRegister(operand);
  if (operand.isTemporary())
    return source;
  Register reg = acquire(operand.layout);
  code_.op(isReference(operand.layout) ? Opcode::MoveRef : Opcode::Move, reg, source);
  operand = temporary(reg);
  return reg;
}

void FunctionLowering::taken(Operand& operand) {
  if (operand.isTemporary())
    release(operand.reg);
  operand.kind = Operand::Kind::Immediate;
}

void FunctionLowering::drop(Operand& operand) {
  if (operand.isTemporary()) {
    if (isReference(operand.layout) && !operand.isConstant)
      code_.op(Opcode::Release, operand.reg);
    release(operand.reg);
  }
  operand.kind = Operand::Kind::Immediate;
}

void FunctionLowering::moveInto(Register dest, Operand& operand) {
  LayoutId want = registers_.layout(dest);
  if (isUnit(want) || (isReference(want) != isReference(operand.layout))) {
    drop(operand); // unit registers are never read; a mismatch of class is dead code
    return;
  }
  if (operand.isImmediate()) {
    loadConstant(dest, uint64_t(operand.value));
    return;
  }
  if (operand.reg == dest)
    return;
  if (!isReference(operand.layout)) {
    code_.op(Opcode::Move, dest, operand.reg);
    if (operand.isTemporary())
      release(operand.reg);
  } else if (operand.layout != want) {
    code_.op(Opcode::Retype, dest, operand.reg);
    if (operand.isLocal() && operand.lastUse)
      code_.op(Opcode::Release, operand.reg);
    drop(operand);
  } else if (operand.isTemporary()) {
    code_.op(Opcode::TakeRef, dest, operand.reg);
    release(operand.reg);
  } else if (operand.lastUse) {
    code_.op(Opcode::TakeRef, dest, operand.reg);
  } else {
    code_.op(Opcode::MoveRef, dest, operand.reg);
  }
  operand.kind = Operand::Kind::Immediate;
}

Operand FunctionLowering::copied(Operand operand) {
  if (operand.isTemporary() && !live_.count(operand.reg))
    return operand;
  Register reg = acquire(operand.layout);
  if (operand.isTemporary()) { // a parameter register handed in as a temporary
    code_.op(isReference(operand.layout) ? Opcode::TakeRef : Opcode::Move, reg, operand.reg);
    return temporary(reg);
  }
  moveInto(reg, operand);
  return temporary(reg);
}

Operand FunctionLowering::converted(Operand operand, LayoutId want) {
  if (operand.layout == want || !isReference(want) || !isReference(operand.layout))
    return operand;
  Register reg = acquire(want);
  code_.op(Opcode::Retype, reg, inRegister(operand));
  if (operand.isLocal() && operand.lastUse)
    code_.op(Opcode::Release, operand.reg);
  drop(operand);
  return temporary(reg);
}

// ---- scopes
// -----------------------------------------------------------------------------------------

void FunctionLowering::pushScope() {
  scopes_.emplace_back();
}

void FunctionLowering::runActions(Scope& scope) {
  for (size_t i = scope.actions.size(); i-- > 0;) {
    // An action's own control flow must not run it again.
    ExitAction action = scope.actions[i];
    ++runningActions_;
    if (action.deferred) {
      discard(action.deferred);
    } else {
      Place place = action.place;
      LayoutId layout = place.layout();
      Register value = acquire(layout);
      code_.op(isReference(layout) ? Opcode::CellTake : Opcode::CellGet, value, action.cell);
      storePlace(place, temporary(value));
    }
    --runningActions_;
  }
}

bool FunctionLowering::hasExitActions() const {
  if (!cachedParameters_.empty())
    return true;
  for (const Scope& scope : scopes_)
    if (!scope.actions.empty())
      return true;
  return false;
}

void FunctionLowering::leaveScopes(size_t depth, bool releaseLocals) {
  for (size_t i = scopes_.size(); i-- > depth;) {
    // What runs on the way out sees the scopes outside it as its own.
    std::vector<Scope> inner;
    if (!scopes_[i].actions.empty()) {
      Scope scope = scopes_[i];
      std::vector<ExitAction> actions = std::move(scopes_[i].actions);
      scopes_[i].actions.clear();
      runActions(scope);
      scopes_[i].actions = std::move(actions);
    }
    if (releaseLocals && i != 0)
      for (Register reg : scopes_[i].owned)
        code_.op(Opcode::Release, reg);
  }
}

void FunctionLowering::popScope() {
  if (!code_.isDead())
    runActions(scopes_.back());
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  for (Register reg : scope.owned)
    if (!scopes_.empty())
      code_.op(Opcode::Release, reg);
  for (const ast::Variable* variable : scope.variables) {
    auto found = locals_.find(variable);
    if (found == locals_.end())
      continue;
    const Local& local = found->second;
    for (Register reg : {local.value, local.cell})
      if (reg != Register::None && live_.erase(reg) && index(reg) >= registers_.parameterCount())
        release(reg);
    locals_.erase(found);
  }
}

const Local* FunctionLowering::find(const ast::Variable* variable) const {
  auto found = locals_.find(variable);
  return found == locals_.end() ? nullptr : &found->second;
}

Local& FunctionLowering::declare(const ast::Variable* variable, Type* type,
                                 Local::Storage storage) {
  // In an unrolled or deferred body the same variable is declared again.
  Local& local = locals_[variable];
  local = {};
  local.storage = storage;
  local.type = type;
  local.layout = layoutOf(type);
  scopes_.back().variables.push_back(variable);
  return local;
}

bool FunctionLowering::capturedByCell(const ast::Variable* variable) {
  return variable->capturedByReference || (variable->type && variable->type->isMutableRef());
}

bool FunctionLowering::needsCell(const ast::Variable* variable) const {
  return variable->capturedByReference || facts_.borrowed.contains(variable) ||
         sessionGlobal(variable).has_value();
}

void FunctionLowering::bindVariable(const ast::Variable* variable, Type* type, Operand value) {
  LayoutId layout = layoutOf(type);
  if (isReference(layout) && value.layout != layout)
    value = converted(value, layout);
  if (auto global = sessionGlobal(variable)) {
    const Local* known = find(variable);
    Register cell = known ? known->cell : acquire(layouts().cellOf(layout));
    if (!known)
      code_.op(Opcode::LoadGlobal, cell, *global);
    if (isReference(layout)) {
      code_.op(Opcode::CellSetTake, cell, owned(value));
      taken(value);
    } else {
      Operand scalar = value;
      scalar.layout = layout;
      code_.op(Opcode::CellSet, cell, inRegister(scalar));
      drop(scalar);
    }
    if (!known) {
      Local& local = declare(variable, type, Local::Storage::Cell);
      local.cell = cell;
      live_[cell] = 1;
      scopes_.back().owned.push_back(cell);
    }
    return;
  }
  if (rebinding_)
    if (const Local* local = find(variable)) {
      if (local->storage != Local::Storage::Cell) {
        moveInto(local->value, value);
      } else if (isReference(layout)) {
        code_.op(Opcode::NewCellTake, local->cell, owned(value));
        taken(value);
      } else {
        code_.op(Opcode::NewCellScalar, local->cell, inRegister(value));
        drop(value);
      }
      return;
    }
  if (needsCell(variable)) {
    Register cell = acquire(layouts().cellOf(layout));
    if (isReference(layout)) {
      code_.op(Opcode::NewCellTake, cell, owned(value));
      taken(value);
    } else {
      Operand scalar = value;
      scalar.layout = layout;
      code_.op(Opcode::NewCellScalar, cell, inRegister(scalar));
      drop(scalar);
    }
    Local& local = declare(variable, type, Local::Storage::Cell);
    local.cell = cell;
    live_[cell] = 1;
    scopes_.back().owned.push_back(cell);
    return;
  }
  Register reg;
  if (value.isTemporary() && value.layout == layout && !live_.count(value.reg)) {
    reg = value.reg; // the temporary becomes the variable
  } else {
    reg = acquire(layout);
    moveInto(reg, value);
  }
  Local& local = declare(variable, type, Local::Storage::Register);
  local.value = reg;
  live_[reg] = 1;
  if (isReference(layout))
    scopes_.back().owned.push_back(reg);
}

void FunctionLowering::flush(const Local& local) {
  code_.op(Opcode::CellSetTake, local.cell, local.value);
}
void FunctionLowering::reload(const Local& local) {
  code_.op(Opcode::CellTake, local.value, local.cell);
}

// ---- returning
// --------------------------------------------------------------------------------------

void FunctionLowering::rawReturn(Operand value) {
  LayoutId want = resultLayout_;
  if (isUnit(want)) {
    drop(value);
    code_.op(Opcode::ReturnUnit);
    return;
  }
  if (isReference(want)) {
    value = converted(value, want);
    // The frame goes: any register of it may be taken.
    code_.op(Opcode::ReturnRef, inRegister(value));
    if (value.isTemporary())
      release(value.reg);
    return;
  }
  Operand scalar = value;
  scalar.layout = scalar.isImmediate() ? want : scalar.layout;
  code_.op(Opcode::ReturnScalar, inRegister(scalar));
  if (scalar.isTemporary())
    release(scalar.reg);
}

void FunctionLowering::emitReturn(Operand value) {
  if (code_.isDead()) {
    drop(value);
    return;
  }
  if (hasExitActions()) {
    // What runs now must not change the value.
    if (value.isLocal() && !isUnit(value.layout)) {
      value.lastUse = false;
      value = copied(value);
    }
    leaveScopes(0, false);
    for (const ast::Variable* variable : cachedParameters_)
      if (const Local* local = find(variable))
        flush(*local);
  }
  rawReturn(value);
}

void FunctionLowering::returnValue(const Expr* value) {
  if (value)
    emit(value, Destination::ret());
  if (!code_.isDead())
    emitReturn(unit());
}

} // namespace gos::lower
