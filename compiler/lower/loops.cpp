// `for` over ranges, sequences, maps, sets, text and iterators.
#include "compiler/lower/function_lowering.h"

namespace gos::lower {

using namespace ast;
using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;
using types::Kind;

void FunctionLowering::forLoop(const ForExpr* expr) {
  if (expr->unrolled) {
    forUnrolled(expr);
    return;
  }
  const Expr* iterable = actual(expr->iterable);
  Type* type = valueType(iterable);
  if (forPeeled(expr, iterable))
    return;
  if (auto* range = dyn_cast<RangeExpr>(iterable)) {
    forRange(expr, range);
    return;
  }
  switch (type->kind) {
  case Kind::Range:
    forStoredRange(expr, iterable);
    return;
  case Kind::Vec:
  case Kind::Array:
  case Kind::Slice:
  case Kind::Deque:
  case Kind::Queue:
  case Kind::Stack:
    forSequence(expr, iterable, expr->pattern, nullptr);
    return;
  case Kind::Map:
  case Kind::BTreeMap:
    forMap(expr, iterable);
    return;
  case Kind::Set:
  case Kind::BTreeSet:
    forSet(expr, iterable);
    return;
  case Kind::String:
    forString(expr, iterable, expr->pattern, nullptr);
    return;
  default: // a type with `next`
    forIterator(expr);
    return;
  }
}

void FunctionLowering::forUnrolled(const ForExpr* expr) {
  Label end = code_.makeLabel();
  for (const BlockExpr* body : expr->unrolledBodies) {
    Label next = code_.makeLabel();
    Loop loop{expr, end, next, Destination::discard(), scopes_.size()};
    loop.isCounted = true;
    loops_.push_back(loop);
    block(body, Destination::discard());
    loops_.pop_back();
    code_.bind(next);
  }
  code_.bind(end);
}

bool FunctionLowering::writesVariable(const Expr* expr, const Variable* variable) {
  auto isRoot = [&](const Expr* place) { return rootVariable(place) == variable; };
  if (auto* assign = dyn_cast<AssignExpr>(expr)) {
    for (const Expr* target : assign->targets)
      if (isRoot(target))
        return true;
  } else if (auto* borrow = dyn_cast<BorrowExpr>(expr)) {
    if (borrow->mutability == Mutability::Mutable && isRoot(borrow->operand))
      return true;
  } else if (auto* call = dyn_cast<MethodCallExpr>(expr)) {
    if (isRoot(call->receiver)) {
      auto* item = llvm::dyn_cast_or_null<FunctionItem>(call->target.item);
      if (!item)
        return true;
      const check::Signature& signature = module_.program().signature(item);
      if (!signature.parameters.empty() && signature.parameters[0]->isMutableRef())
        return true;
    }
    for (const Argument& argument : call->arguments)
      if (variable->type && variable->type->isMutableRef() && isRoot(argument.value))
        return true;
  } else if (auto* plain = dyn_cast<CallExpr>(expr)) {
    for (const Argument& argument : plain->arguments)
      if (variable->type && variable->type->isMutableRef() && isRoot(argument.value))
        return true;
  }
  bool result = false;
  forEachChild(expr,
               [&](const Expr* child) { result = result || writesVariable(child, variable); });
  return result;
}

Operand FunctionLowering::snapshot(const ForExpr* expr, const Expr* iterable) {
  Operand value = operand(iterable);
  if (!value.isLocal())
    return value;
  value.lastUse = false;
  const Variable* variable = value.variable;
  bool changes = variable &&
                 (variable->isMutable || (variable->type && variable->type->isMutableRef())) &&
                 writesVariable(expr->body, variable);
  return changes ? copied(value) : value;
}

bool FunctionLowering::bindsCounter(const Pattern* pattern) {
  if (!isSimpleBinding(pattern))
    return false;
  const Variable* variable = cast<BindingPattern>(pattern)->variable;
  return !variable->isMutable && !needsCell(variable);
}

void FunctionLowering::countedLoop(const ForExpr* expr, Register counter, Register limit, Label end,
                                   bool mayWrap, llvm::function_ref<void()> bind) {
  Label body = code_.makeLabel(), next = code_.makeLabel();
  code_.bind(body);
  Loop loop{expr, end, next, Destination::discard(), scopes_.size()};
  loop.isCounted = true;
  loops_.push_back(loop);
  pushScope();
  bind();
  block(expr->body, Destination::discard());
  popScope();
  loops_.pop_back();
  code_.bind(next);
  code_.jump(Opcode::ForLoopI64, body, counter, limit);
  if (mayWrap) {
    // The signed test above fails early when the limit is past 2^63 or has wrapped around.
    code_.jump(Opcode::JumpEqInt, end, counter, limit);
    code_.jump(Opcode::LoopJump, body);
  }
  code_.bind(end);
}

void FunctionLowering::forRange(const ForExpr* expr, const RangeExpr* range) {
  Type* type = expr->elementType ? concrete(expr->elementType) : valueType(range)->element();
  LayoutId layout = layoutOf(type);
  bool wide = type->is(Kind::U64) || type->is(Kind::Usize);
  bool is64 = wide || type->is(Kind::I64) || type->is(Kind::Isize);
  Register counter = acquire(layout);
  std::optional<int64_t> lowKnown = range->low ? constantInteger(range->low) : 0;
  if (lowKnown)
    loadConstant(counter, uint64_t(*lowKnown));
  else
    into(range->low, counter);
  Operand high = range->high ? operand(range->high) : immediate(wide ? -1 : INT64_MAX, layout);
  high.layout = high.isImmediate() ? layout : high.layout;
  if (high.isLocal() && high.variable && (high.variable->isMutable || range->inclusive))
    high = copied(high);
  Label end = code_.makeLabel();
  bool mayWrap = wide;
  if (range->inclusive && range->high) {
    if (high.isImmediate() && high.value != INT64_MAX && !wide) {
      ++high.value;
    } else {
      Register last = inRegister(high);
      code_.jump(wide ? Opcode::JumpLtU64 : Opcode::JumpLtI64, end, last, counter);
      Register limit = acquire(layout);
      if (is64) {
        code_.op(Opcode::WrapAdd, limit, last, hoistedConstant(1, layout));
        mayWrap = true;
      } else {
        code_.op(Opcode::AddImmI64, limit, last, 1);
      }
      drop(high);
      high = temporary(limit);
    }
  }
  Register limit;
  bool ownsLimit = false;
  if (high.isImmediate()) {
    if (!(lowKnown && !wide && *lowKnown < high.value)) {
      if (!wide && lowKnown) { // never runs
        code_.jump(end);
      }
    }
    limit = hoistedConstant(uint64_t(high.value), layout);
    if (!lowKnown || wide)
      code_.jump(wide ? Opcode::JumpLeU64 : Opcode::JumpLeI64, end, limit, counter);
  } else {
    limit = high.reg;
    ownsLimit = high.isTemporary();
    if (!(range->inclusive))
      code_.jump(wide ? Opcode::JumpLeU64 : Opcode::JumpLeI64, end, limit, counter);
  }
  pushScope();
  bool direct = bindsCounter(expr->pattern);
  if (direct) {
    Local& local =
        declare(cast<BindingPattern>(expr->pattern)->variable, type, Local::Storage::Register);
    local.value = counter;
    live_[counter] = 1;
  }
  countedLoop(expr, counter, limit, end, mayWrap, [&] {
    if (direct || isa<WildcardPattern>(expr->pattern))
      return;
    Operand current;
    current.kind = Operand::Kind::Local;
    current.reg = counter;
    current.layout = layout;
    bindPattern(expr->pattern, type, copied(current));
  });
  popScope();
  if (!direct)
    release(counter);
  if (ownsLimit)
    release(limit);
}

/// `(a..b).rev()`
void FunctionLowering::forRangeDown(const ForExpr* expr, const RangeExpr* range) {
  Type* type = expr->elementType ? concrete(expr->elementType) : valueType(range)->element();
  LayoutId layout = layoutOf(type);
  bool wide = type->is(Kind::U64) || type->is(Kind::Usize);
  Operand low = range->low ? operand(range->low) : immediate(0, layout);
  protect(low, {range->high});
  if (low.isLocal())
    low = copied(low);
  Register bound = inRegister(low);
  Register counter = acquire(layout);
  into(range->high, counter);
  if (range->inclusive)
    code_.op(Opcode::WrapAdd, counter, counter, hoistedConstant(1, layout));
  Label top = code_.makeLabel(), end = code_.makeLabel(), next = code_.makeLabel();
  code_.bind(top);
  code_.jump(wide ? Opcode::JumpLeU64 : Opcode::JumpLeI64, end, counter, bound);
  code_.op(Opcode::WrapSub, counter, counter, hoistedConstant(1, layout));
  Loop loop{expr, end, next, Destination::discard(), scopes_.size()};
  loop.isCounted = true;
  loops_.push_back(loop);
  pushScope();
  if (!isa<WildcardPattern>(expr->pattern)) {
    Operand current;
    current.kind = Operand::Kind::Local;
    current.reg = counter;
    current.layout = layout;
    bindPattern(expr->pattern, type, copied(current));
  }
  block(expr->body, Destination::discard());
  popScope();
  loops_.pop_back();
  code_.bind(next);
  code_.jump(Opcode::LoopJump, top);
  code_.bind(end);
  release(counter);
  drop(low);
}

void FunctionLowering::forStoredRange(const ForExpr* expr, const Expr* iterable) {
  Operand range = operand(iterable);
  Register reg = inRegister(range);
  Type* type = expr->elementType ? concrete(expr->elementType) : module_.types().i64();
  LayoutId layout = layoutOf(type);
  Register counter = acquire(layout), limit = acquire(layout);
  code_.op(Opcode::GetField, counter, reg, 0u);
  code_.op(Opcode::GetField, limit, reg, 1u);
  drop(range);
  Label end = code_.makeLabel();
  code_.jump(Opcode::JumpLeI64, end, limit, counter);
  countedLoop(expr, counter, limit, end, false, [&] {
    if (isa<WildcardPattern>(expr->pattern))
      return;
    Operand current;
    current.kind = Operand::Kind::Local;
    current.reg = counter;
    current.layout = layout;
    bindPattern(expr->pattern, type, copied(current));
  });
  release(limit);
  release(counter);
}

void FunctionLowering::forSequence(const ForExpr* expr, const Expr* iterable,
                                   const Pattern* element, const Pattern* counterPattern) {
  Type* type = valueType(iterable);
  Type* elementType = type->element();
  LayoutId elementLayout = layoutOf(elementType), integer = layouts().integer();
  Operand sequence = snapshot(expr, iterable);
  if (!isReference(sequence.layout))
    return;
  Register vec = inRegister(sequence);
  bool bytes = hasBytes(sequence.layout);
  Register counter = acquire(integer), length = acquire(integer);
  code_.op(Opcode::VecLen, length, vec);
  code_.op(Opcode::LoadInt, counter, 0);
  Label end = code_.makeLabel();
  code_.jump(Opcode::JumpLeI64, end, length, counter);
  pushScope();
  bool direct = counterPattern && bindsCounter(counterPattern);
  if (direct) {
    Local& local = declare(cast<BindingPattern>(counterPattern)->variable, module_.types().i64(),
                           Local::Storage::Register);
    local.value = counter;
    live_[counter] = 1;
  }
  countedLoop(expr, counter, length, end, false, [&] {
    if (counterPattern && !direct && !isa<WildcardPattern>(counterPattern)) {
      Operand current;
      current.kind = Operand::Kind::Local;
      current.reg = counter;
      current.layout = integer;
      bindPattern(counterPattern, module_.types().i64(), copied(current));
    }
    if (isa<WildcardPattern>(element))
      return;
    if (isUnit(elementLayout)) {
      bindPattern(element, elementType, immediate(0, elementLayout));
      return;
    }
    Register item = acquire(elementLayout);
    code_.op(isReference(elementLayout) ? Opcode::VecGetRef
             : bytes                    ? Opcode::VecGetByte
                                        : Opcode::VecGet,
             item, vec, counter);
    bindPattern(element, elementType, temporary(item));
  });
  popScope();
  if (!direct)
    release(counter);
  release(length);
  drop(sequence);
}

/// The loop over a map or a set: `entry(path, layout)` calls the builtin that answers what stands
/// at the place reached.
void FunctionLowering::forEntries(
    const ForExpr* expr, const Expr* iterable, llvm::StringRef lengthPath,
    llvm::function_ref<void(llvm::function_ref<Operand(llvm::StringRef, LayoutId)>)> body) {
  LayoutId integer = layouts().integer();
  Operand container = snapshot(expr, iterable);
  Operand shared = container;
  shared.kind = Operand::Kind::Local;
  shared.variable = nullptr;
  shared.lastUse = false;
  Register counter = acquire(integer), length = acquire(integer);
  Operand one[] = {shared};
  nativeCall(lengthPath, one, integer, length, {});
  code_.op(Opcode::LoadInt, counter, 0);
  Label end = code_.makeLabel();
  code_.jump(Opcode::JumpLeI64, end, length, counter);
  countedLoop(expr, counter, length, end, false, [&] {
    body([&](llvm::StringRef path, LayoutId layout) {
      if (isUnit(layout))
        return immediate(0, layout);
      Register reg = acquire(layout);
      Operand position;
      position.kind = Operand::Kind::Local;
      position.reg = counter;
      position.layout = integer;
      Operand args[] = {shared, position};
      nativeCall(path, args, layout, reg, {});
      return temporary(reg);
    });
  });
  release(length);
  release(counter);
  drop(container);
}

void FunctionLowering::forMap(const ForExpr* expr, const Expr* iterable) {
  Type* type = valueType(iterable);
  LayoutId keyLayout = layoutOf(type->args[0]), valueLayout = layoutOf(type->args[1]);
  auto* tuple = dyn_cast<TuplePattern>(expr->pattern);
  forEntries(expr, iterable, "Map::len", [&](auto entry) {
    if (isa<WildcardPattern>(expr->pattern))
      return;
    if (tuple && tuple->elements.size() == 2 && !isa<RestPattern>(tuple->elements[0]) &&
        !isa<RestPattern>(tuple->elements[1])) {
      if (!isa<WildcardPattern>(tuple->elements[0]))
        bindPattern(tuple->elements[0], type->args[0], entry("intrinsics::map_key_at", keyLayout));
      if (!isa<WildcardPattern>(tuple->elements[1]))
        bindPattern(tuple->elements[1], type->args[1],
                    entry("intrinsics::map_value_at", valueLayout));
      return;
    }
    llvm::SmallVector<Operand, 2> fields{entry("intrinsics::map_key_at", keyLayout),
                                         entry("intrinsics::map_value_at", valueLayout)};
    Type* pair = module_.types().tuple({type->args[0], type->args[1]});
    Register made = acquire(layoutOf(pair));
    construct(layoutOf(pair), 0, fields, made);
    bindPattern(expr->pattern, pair, temporary(made));
  });
}

void FunctionLowering::forSet(const ForExpr* expr, const Expr* iterable) {
  Type* type = valueType(iterable);
  forEntries(expr, iterable, "Set::len", [&](auto entry) {
    if (!isa<WildcardPattern>(expr->pattern))
      bindPattern(expr->pattern, type->element(),
                  entry("intrinsics::set_item_at", layoutOf(type->element())));
  });
}

void FunctionLowering::forString(const ForExpr* expr, const Expr* iterable, const Pattern* element,
                                 const Pattern* counterPattern) {
  LayoutId integer = layouts().integer();
  Type* character = module_.types().scalar(Kind::Char);
  Operand text = snapshot(expr, iterable);
  Register reg = inRegister(text);
  Operand shared = text;
  shared.kind = Operand::Kind::Local;
  shared.variable = nullptr;
  shared.lastUse = false;
  Register counter = acquire(integer), length = acquire(integer);
  Operand one[] = {shared};
  nativeCall("String::len", one, integer, length, {});
  code_.op(Opcode::LoadInt, counter, 0);
  Label end = code_.makeLabel();
  code_.jump(Opcode::JumpLeI64, end, length, counter);
  countedLoop(expr, counter, length, end, false, [&] {
    if (counterPattern && !isa<WildcardPattern>(counterPattern)) {
      Operand current;
      current.kind = Operand::Kind::Local;
      current.reg = counter;
      current.layout = integer;
      bindPattern(counterPattern, module_.types().i64(), copied(current));
    }
    if (isa<WildcardPattern>(element))
      return;
    Register item = acquire(layoutOf(character));
    code_.op(Opcode::StringCharAt, item, reg, counter);
    bindPattern(element, character, temporary(item));
  });
  release(length);
  release(counter);
  drop(text);
}

void FunctionLowering::forIterator(const ForExpr* expr) {
  Type* type = valueType(expr->iterable);
  check::LangItems& lang = module_.program().lang;
  Operand iterator = operand(expr->iterable);
  iterator.lastUse = false;
  bool cursor = type->is(Kind::Struct) && type->item == lang.iterator;
  Selected next;
  LayoutId option;
  Type* elementType = expr->elementType ? concrete(expr->elementType) : nullptr;
  if (!elementType && cursor)
    elementType = type->args[0];
  if (!elementType || !lang.option) {
    module_.notYet(expr->iterable->span, "iterating this");
    return;
  }
  option = layoutOf(module_.types().nominal(Kind::Enum, lang.option, {elementType}));
  Register state;
  if (cursor) {
    // The library's cursor is a closure in a struct.
    Type* step = module_.fieldTypes(type, 0)[0];
    state = acquire(layoutOf(step));
    code_.op(Opcode::GetFieldRef, state, inRegister(iterator), 0u);
    drop(iterator);
  } else {
    if (expr->next.kind == TargetKind::Function)
      next = select(expr->next);
    else if (auto found = module_.program().method(type, "next"))
      next = *found;
    if (!next.function) {
      module_.notYet(expr->iterable->span, "iterating this");
      return;
    }
    state = acquire(layouts().cellOf(layoutOf(type)));
    if (isReference(iterator.layout)) {
      code_.op(Opcode::NewCellTake, state, owned(iterator));
      taken(iterator);
    } else {
      code_.op(Opcode::NewCellScalar, state, inRegister(iterator));
      drop(iterator);
    }
  }
  Register item = acquire(option);
  Label top = code_.makeLabel(), end = code_.makeLabel(), done = code_.makeLabel();
  code_.bind(top);
  if (cursor) {
    code_.op(Opcode::CallClosure, item, state, 0u);
  } else {
    vm::FunctionId function = module_.function(next);
    Operand cell;
    cell.kind = Operand::Kind::Local;
    cell.reg = state;
    cell.layout = registers_.layout(state);
    Operand args[] = {cell};
    arguments(args);
    code_.op(Opcode::Call, item, function);
  }
  code_.jump(Opcode::JumpTagNe, done, item, lang.some);
  loops_.push_back({expr, end, top, Destination::discard(), scopes_.size()});
  pushScope();
  LayoutId elementLayout = layoutOf(elementType);
  if (isUnit(elementLayout)) {
    bindPattern(expr->pattern, elementType, immediate(0, elementLayout));
  } else {
    Register value = acquire(elementLayout);
    code_.op(isReference(elementLayout) ? Opcode::GetPayloadRef : Opcode::GetPayload, value, item,
             lang.some, 0u);
    code_.op(Opcode::Release, item);
    bindPattern(expr->pattern, elementType, temporary(value));
  }
  block(expr->body, Destination::discard());
  popScope();
  code_.jump(Opcode::LoopJump, top);
  loops_.pop_back();
  code_.bind(done);
  code_.op(Opcode::Release, item);
  code_.bind(end);
  code_.op(Opcode::Release, state);
  release(item);
  release(state);
}

bool FunctionLowering::forPeeled(const ForExpr* expr, const Expr* iterable) {
  auto* call = dyn_cast<MethodCallExpr>(iterable);
  if (!call || !call->arguments.empty() || call->target.kind != TargetKind::Function ||
      !call->target.item || module_.packageOf(call->target.item) != 0)
    return false;
  llvm::StringRef name = call->name.name.text();
  const Expr* receiver = actual(call->receiver);
  Type* type = valueType(receiver);
  auto isLibraryCall = [&](const Expr* e, llvm::StringRef method) {
    auto* inner = dyn_cast<MethodCallExpr>(e);
    return inner && inner->arguments.empty() && inner->name.name.text() == method &&
                   inner->target.kind == TargetKind::Function && inner->target.item &&
                   module_.packageOf(inner->target.item) == 0
               ? actual(inner->receiver)
               : nullptr;
  };
  if (name == "iter") {
    if (type->isSequence()) {
      forSequence(expr, receiver, expr->pattern, nullptr);
      return true;
    }
    if (type->is(Kind::Map) || type->is(Kind::BTreeMap)) {
      forMap(expr, receiver);
      return true;
    }
    if (type->is(Kind::Set) || type->is(Kind::BTreeSet)) {
      forSet(expr, receiver);
      return true;
    }
    return false;
  }
  if (name == "chars" && type->is(Kind::String)) {
    forString(expr, receiver, expr->pattern, nullptr);
    return true;
  }
  if (name == "rev") {
    auto* range = dyn_cast<RangeExpr>(receiver);
    if (!range || !range->high)
      return false;
    forRangeDown(expr, range);
    return true;
  }
  if (name == "enumerate") {
    auto* tuple = dyn_cast<TuplePattern>(expr->pattern);
    if (!tuple || tuple->elements.size() != 2 || isa<RestPattern>(tuple->elements[0]) ||
        isa<RestPattern>(tuple->elements[1]))
      return false;
    if (type->isSequence()) {
      forSequence(expr, receiver, tuple->elements[1], tuple->elements[0]);
      return true;
    }
    if (const Expr* inner = isLibraryCall(receiver, "iter");
        inner && valueType(inner)->isSequence()) {
      forSequence(expr, inner, tuple->elements[1], tuple->elements[0]);
      return true;
    }
    if (const Expr* inner = isLibraryCall(receiver, "chars");
        inner && valueType(inner)->is(Kind::String)) {
      forString(expr, inner, tuple->elements[1], tuple->elements[0]);
      return true;
    }
  }
  return false;
}

} // namespace gos::lower
