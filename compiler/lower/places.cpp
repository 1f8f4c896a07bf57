// Places: reading and writing through fields, elements, references. A write through several steps
// takes the values on the way out of their containers, changes the innermost, and puts them back,
// so that none is shared meanwhile.
#include "compiler/lower/function_lowering.h"

namespace gos::lower {

using namespace ast;
using llvm::cast;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;
using llvm::isa;
using types::Kind;

bool FunctionLowering::isPlace(const Expr* written) {
  const Expr* expr = actual(written);
  switch (expr->kind) {
  case ExprKind::Path: {
    const Target& target = cast<PathExpr>(expr)->target;
    return target.kind == TargetKind::Variable || target.kind == TargetKind::Static;
  }
  case ExprKind::Field:
    return isPlace(cast<FieldExpr>(expr)->object);
  case ExprKind::TupleField:
    return isPlace(cast<TupleFieldExpr>(expr)->object);
  case ExprKind::Index:
    return cast<IndexExpr>(expr)->method.kind == TargetKind::None &&
           isPlace(cast<IndexExpr>(expr)->object);
  default: // a temporary value
    return false;
  }
}

Place FunctionLowering::place(const Expr* written) {
  const Expr* expr = actual(written);
  SpanScope span(code_, expr->span);
  auto step = [&](Place base, PlaceStep made) {
    made.type = valueType(expr);
    made.layout = layoutOf(made.type);
    made.span = expr->span;
    base.steps.push_back(made);
    base.cached = nullptr;
    return base;
  };
  switch (expr->kind) {
  case ExprKind::Path: {
    auto* path = cast<PathExpr>(expr);
    Place result;
    if (path->target.kind == TargetKind::Variable) {
      const Local* local = find(path->target.variable);
      if (!local)
        break;
      result.rootType = local->type;
      result.rootLayout = local->layout;
      if (local->storage == Local::Storage::Cell) {
        result.root = Place::Root::Cell;
        result.reg = local->cell;
      } else {
        result.reg = local->value;
        if (local->storage == Local::Storage::CachedCell)
          result.cached = local;
      }
      return result;
    }
    if (path->target.kind == TargetKind::Static) {
      result.root = Place::Root::Cell;
      result.rootType = valueType(expr);
      result.rootLayout = layoutOf(result.rootType);
      result.reg = globalCell(path->target.item,
                              Environment{{}, nullptr, module_.packageOf(path->target.item), {}},
                              result.rootLayout);
      return result;
    }
    break;
  }
  case ExprKind::Field:
  case ExprKind::TupleField: {
    const Expr* object = expr->kind == ExprKind::Field ? cast<FieldExpr>(expr)->object
                                                       : cast<TupleFieldExpr>(expr)->object;
    PlaceStep made;
    made.kind = PlaceStep::Kind::Field;
    made.field = expr->kind == ExprKind::Field ? cast<FieldExpr>(expr)->index
                                               : cast<TupleFieldExpr>(expr)->index;
    return step(place(object), made);
  }
  case ExprKind::Index: {
    auto* index = cast<IndexExpr>(expr);
    if (index->method.kind != TargetKind::None) {
      module_.notYet(expr->span, "changing what `Index` answers");
      break;
    }
    Type* object = valueType(index->object);
    if (object->is(Kind::String))
      break;
    if (object->is(Kind::Map) || object->is(Kind::BTreeMap)) {
      // The value of a key that must be there.
      Place map = place(index->object);
      PlaceStep entry;
      entry.kind = PlaceStep::Kind::MapEntry;
      entry.mustExist = true;
      entry.index = operandAs(index->index, layoutOf(object->args[0]));
      return step(std::move(map), entry);
    }
    Place base = place(index->object);
    for (PlaceStep& before : base.steps) {
      protect(before.index, {index->index});
      protect(before.high, {index->index});
    }
    PlaceStep made;
    LayoutId integer = layouts().integer();
    if (auto* range = dyn_cast<RangeExpr>(actual(index->index))) {
      made.kind = PlaceStep::Kind::Window;
      made.index = range->low ? operand(range->low) : immediate(0, integer);
      if (range->low && range->high)
        protect(made.index, {range->high});
      made.high = range->high ? operand(range->high) : immediate(INT64_MAX, integer);
      if (range->inclusive && range->high) {
        Register next = acquire(integer);
        code_.op(Opcode::AddImmI64, next, inRegister(made.high), 1);
        drop(made.high);
        made.high = temporary(next);
      }
      return step(std::move(base), made);
    }
    made.kind = PlaceStep::Kind::Element;
    made.index = operand(index->index);
    return step(std::move(base), made);
  }
  case ExprKind::MethodCall: {
    // What `or_insert` answers can be changed in place.
    auto* call = cast<MethodCallExpr>(expr);
    auto* item = call->target.kind == TargetKind::Function
                     ? dyn_cast_or_null<FunctionItem>(call->target.item)
                     : nullptr;
    if (!item || item->builtin < 0 || !module_.builtinPath(item).ends_with("Map::or_insert") ||
        call->ordered.size() != 2)
      break;
    Type* map = valueType(call->receiver);
    Place base = place(call->receiver);
    PlaceStep made;
    made.kind = PlaceStep::Kind::MapEntry;
    made.index = operandAs(call->ordered[0], layoutOf(map->args[0]));
    protect(made.index, {call->ordered[1]});
    made.high = operandAs(call->ordered[1], layoutOf(map->args[1]));
    return step(std::move(base), made);
  }
  default: // a value
    break;
  }
  // A temporary may be borrowed for the length of one call.
  Place result;
  result.rootType = valueType(expr);
  result.rootLayout = layoutOf(result.rootType);
  Operand value = operand(expr);
  value.lastUse = false;
  if (isUnit(result.rootLayout)) {
    result.reg = acquire(result.rootLayout);
    result.ownsRegister = true;
    return result;
  }
  value = value.isTemporary() ? value : copied(value);
  result.reg = inRegister(value);
  result.ownsRegister = value.isTemporary();
  return result;
}

void FunctionLowering::dropPlace(Place& place) {
  for (PlaceStep& step : place.steps) {
    drop(step.index);
    drop(step.high);
  }
  if (place.ownsRegister) {
    if (isReference(place.rootLayout))
      code_.op(Opcode::Release, place.reg);
    release(place.reg);
    place.ownsRegister = false;
  }
}

// ---- one step
// -----------------------------------------------------------------------------------------

void FunctionLowering::loadStep(Register container, PlaceStep& step, Register dest) {
  bool reference = isReference(step.layout);
  switch (step.kind) {
  case PlaceStep::Kind::Field:
    if (!isUnit(step.layout))
      code_.op(reference ? Opcode::GetFieldRef : Opcode::GetField, dest, container, step.field);
    return;
  case PlaceStep::Kind::Element:
    code_.op(reference                                ? Opcode::VecGetRef
             : hasBytes(registers_.layout(container)) ? Opcode::VecGetByte
                                                      : Opcode::VecGet,
             dest, container, inRegister(step.index));
    return;
  case PlaceStep::Kind::Window: {
    Register low = inRegister(step.index), high = inRegister(step.high);
    registers_.wantLow(high);
    Register source = container;
    Register retyped = Register::None;
    if (registers_.layout(container) != step.layout) {
      retyped = acquire(step.layout);
      code_.op(Opcode::Retype, retyped, container);
      source = retyped;
    }
    code_.op(Opcode::VecSlice, dest, source, low, high);
    if (retyped != Register::None) {
      code_.op(Opcode::Release, retyped);
      release(retyped);
    }
    return;
  }
  case PlaceStep::Kind::MapEntry: {
    // The value is removed from the map while it is changed; a missing one is the default.
    LayoutId keyLayout = layout(registers_.layout(container)).element;
    Operand key = step.index;
    key.lastUse = false;
    if (key.isTemporary() && isReference(key.layout)) {
      // The key is needed again to put the value back.
      Register copy = acquire(key.layout);
      code_.op(Opcode::MoveRef, copy, key.reg);
      key = temporary(copy);
    } else if (key.isTemporary()) {
      key.kind = Operand::Kind::Local;
      key.variable = nullptr;
    }
    Type* optionType =
        module_.types().nominal(Kind::Enum, module_.program().lang.option, {step.type});
    LayoutId option = layoutOf(optionType);
    Register found = acquire(option);
    uint32_t import = module_.native("Map::remove", {registers_.layout(container), keyLayout},
                                     {true, false}, option);
    Operand held = temporary(container);
    code_.noteOutgoing(2);
    code_.op(Opcode::ArgTake, 0u, held.reg);
    argument(1, key);
    code_.op(Opcode::CallNative, found, import);
    code_.op(Opcode::FetchArg, container, 0u);
    Label missing = code_.makeLabel(), end = code_.makeLabel();
    uint32_t some = module_.program().lang.some;
    code_.jump(Opcode::JumpTagNe, missing, found, some);
    if (!isUnit(step.layout))
      code_.op(reference ? Opcode::GetPayloadRef : Opcode::GetPayload, dest, found, some, 0u);
    code_.op(Opcode::Release, found);
    code_.jump(end);
    code_.bind(missing);
    if (step.mustExist) { // panics as reading it does
      Operand map;
      map.kind = Operand::Kind::Local;
      map.reg = container;
      map.layout = registers_.layout(container);
      Operand wanted = step.index;
      wanted.lastUse = false;
      if (wanted.isTemporary()) {
        wanted.kind = Operand::Kind::Local;
        wanted.variable = nullptr;
      }
      Operand args[] = {map, wanted};
      nativeCall("intrinsics::map_index", args, step.layout, dest, {});
    } else {
      Operand fallback = step.high;
      if (fallback.isTemporary()) {
        fallback.kind = Operand::Kind::Local; // stays the step's
        fallback.variable = nullptr;
        fallback.lastUse = false;
      }
      moveInto(dest, fallback);
    }
    code_.bind(end);
    if (step.high.isTemporary() && isReference(step.high.layout))
      code_.op(Opcode::Release, step.high.reg);
    release(found);
    return;
  }
  }
}

void FunctionLowering::storeStep(Register container, PlaceStep& step, Operand& value) {
  bool reference = isReference(step.layout);
  if (reference)
    value = converted(value, step.layout);
  switch (step.kind) {
  case PlaceStep::Kind::Field:
    if (isUnit(step.layout)) {
      drop(value);
    } else if (reference) {
      code_.op(Opcode::SetFieldTake, container, step.field, owned(value));
      taken(value);
    } else {
      code_.op(Opcode::SetField, container, step.field, inRegister(value));
      drop(value);
    }
    return;
  case PlaceStep::Kind::Element: {
    Register index = inRegister(step.index);
    if (reference) {
      code_.op(Opcode::VecSetTake, container, index, owned(value));
      taken(value);
    } else {
      Register reg = inRegister(value);
      code_.op(hasBytes(registers_.layout(container)) ? Opcode::VecSetByte : Opcode::VecSet,
               container, index, reg);
      drop(value);
    }
    return;
  }
  case PlaceStep::Kind::Window: {
    // Element by element; the window cannot have changed its length.
    LayoutId integer = layouts().integer();
    LayoutId element = layout(step.layout).element;
    Register window = owned(value);
    Register at = acquire(integer), from = acquire(integer), length = acquire(integer),
             zero = acquire(integer);
    code_.op(Opcode::LoadInt, zero, 0);
    code_.op(Opcode::Move, from, inRegister(step.index));
    Label positive = code_.makeLabel(), end = code_.makeLabel(), again = code_.makeLabel();
    code_.jump(Opcode::JumpGeImm, positive, from, 0);
    code_.op(Opcode::Move, from, zero);
    code_.bind(positive);
    code_.op(Opcode::VecLen, length, window);
    code_.op(Opcode::LoadInt, at, 0);
    code_.jump(Opcode::JumpLeI64, end, length, at);
    code_.bind(again);
    Register item = acquire(element);
    bool bytes = hasBytes(step.layout);
    code_.op(isReference(element) ? Opcode::VecGetRef
             : bytes              ? Opcode::VecGetByte
                                  : Opcode::VecGet,
             item, window, at);
    code_.op(isReference(element) ? Opcode::VecSetTake
             : bytes              ? Opcode::VecSetByte
                                  : Opcode::VecSet,
             container, from, item);
    code_.op(Opcode::AddImmI64, from, from, 1);
    code_.jump(Opcode::ForLoopI64, again, at, length);
    code_.bind(end);
    release(item);
    release(zero);
    release(length);
    release(from);
    release(at);
    code_.op(Opcode::Release, window);
    taken(value);
    return;
  }
  case PlaceStep::Kind::MapEntry: {
    LayoutId keyLayout = layout(registers_.layout(container)).element;
    LayoutId valueLayout = layout(registers_.layout(container)).value;
    Type* optionType =
        module_.types().nominal(Kind::Enum, module_.program().lang.option, {step.type});
    LayoutId option = layoutOf(optionType);
    Register old = acquire(option);
    uint32_t import =
        module_.native("Map::insert", {registers_.layout(container), keyLayout, valueLayout},
                       {true, false, false}, option);
    Operand key = step.index;
    if (!key.isTemporary())
      key.lastUse = false;
    Operand args[] = {key, value};
    for (Operand& arg : args)
      if (arg.isImmediate() && (arg.value < INT32_MIN || arg.value > INT32_MAX))
        inRegister(arg);
    code_.noteOutgoing(3);
    code_.op(Opcode::ArgTake, 0u, container);
    if (key.isTemporary()) {
      argument(1, args[0]);
      step.index.kind = Operand::Kind::Immediate;
    } else {
      argument(1, args[0]);
    }
    argument(2, args[1]);
    code_.op(Opcode::CallNative, old, import);
    code_.op(Opcode::FetchArg, container, 0u);
    code_.op(Opcode::Release, old);
    release(old);
    value.kind = Operand::Kind::Immediate;
    return;
  }
  }
}

/// Takes the value out of its container.
Register FunctionLowering::takeStep(Register container, PlaceStep& step) {
  Register reg = acquire(step.layout);
  if (!isReference(step.layout)) {
    loadStep(container, step, reg);
    return reg;
  }
  switch (step.kind) {
  case PlaceStep::Kind::Field:
    code_.op(Opcode::TakeField, reg, container, step.field);
    break;
  case PlaceStep::Kind::Element:
    code_.op(Opcode::VecTake, reg, container, inRegister(step.index));
    break;
  case PlaceStep::Kind::Window:
  case PlaceStep::Kind::MapEntry:
    loadStep(container, step, reg);
    break;
  }
  return reg;
}

void FunctionLowering::putStep(Register container, PlaceStep& step, Register value) {
  Operand operand = temporary(value);
  storeStep(container, step, operand);
}

// ---- whole places
// -------------------------------------------------------------------------------------

OpenPlace FunctionLowering::openParent(Place& place) {
  OpenPlace open;
  Register at = place.reg;
  if (place.root == Place::Root::Cell) {
    at = acquire(place.rootLayout);
    code_.op(isReference(place.rootLayout) ? Opcode::CellTake : Opcode::CellGet, at, place.reg);
  }
  open.path.push_back(at);
  for (size_t i = 0; i + 1 < place.steps.size(); ++i) {
    at = takeStep(at, place.steps[i]);
    open.path.push_back(at);
  }
  open.reg = at;
  return open;
}

void FunctionLowering::closeParent(Place& place, OpenPlace& open) {
  for (size_t i = open.path.size(); i-- > 1;)
    putStep(open.path[i - 1], place.steps[i - 1], open.path[i]);
  if (place.root == Place::Root::Cell) {
    bool reference = isReference(place.rootLayout);
    code_.op(reference ? Opcode::CellSetTake : Opcode::CellSet, place.reg, open.path[0]);
    release(open.path[0]);
  }
  dropPlace(place);
}

OpenPlace FunctionLowering::openPlace(Place& place) {
  OpenPlace open = openParent(place);
  if (place.steps.empty()) {
    open.isRoot = true;
    return open;
  }
  open.reg = takeStep(open.path.back(), place.steps.back());
  return open;
}

void FunctionLowering::closePlace(Place& place, OpenPlace& open) {
  if (!place.steps.empty())
    putStep(open.path.back(), place.steps.back(), open.reg);
  closeParent(place, open);
}

void FunctionLowering::storePlace(Place& place, Operand value) {
  if (place.steps.empty()) {
    if (place.root == Place::Root::Cell) {
      if (isReference(place.rootLayout)) {
        value = converted(value, place.rootLayout);
        code_.op(Opcode::CellSetTake, place.reg, owned(value));
        taken(value);
      } else if (isUnit(place.rootLayout)) {
        drop(value);
      } else {
        code_.op(Opcode::CellSet, place.reg, inRegister(value));
        drop(value);
      }
    } else {
      moveInto(place.reg, value);
    }
    dropPlace(place);
    return;
  }
  PlaceStep& last = place.steps.back();
  bool scalar = !isReference(last.layout) && !isUnit(last.layout);
  // An element of a vector in a cell.
  if (scalar && place.root == Place::Root::Cell && place.steps.size() == 1 &&
      last.kind == PlaceStep::Kind::Element) {
    Register index = inRegister(last.index), reg = inRegister(value);
    code_.op(hasBytes(place.rootLayout) ? Opcode::CellVecSetByte : Opcode::CellVecSet, place.reg,
             index, reg);
    drop(value);
    dropPlace(place);
    return;
  }
  if (scalar && place.endsInElementField()) {
    PlaceStep& element = place.steps[place.steps.size() - 2];
    if (layout(element.layout).kind == vm::LayoutKind::Struct) {
      // Open down to the vector, then one fused store.
      Place vector = place;
      vector.steps.pop_back();
      OpenPlace open = openParent(vector);
      Register index = inRegister(vector.steps.back().index), reg = inRegister(value);
      code_.op(Opcode::VecSetField, open.reg, index, reg, last.field);
      drop(value);
      closeParent(vector, open);
      return;
    }
  }
  OpenPlace open = openParent(place);
  storeStep(open.reg, last, value);
  closeParent(place, open);
}

/// The value of a place that stays as it is: a copy.
Operand FunctionLowering::loadPlace(Place& place) {
  bool rootReference = isReference(place.rootLayout);
  if (place.steps.empty()) {
    Register reg = acquire(place.rootLayout);
    if (place.root == Place::Root::Cell)
      code_.op(rootReference ? Opcode::CellGetRef : Opcode::CellGet, reg, place.reg);
    else
      code_.op(rootReference ? Opcode::MoveRef : Opcode::Move, reg, place.reg);
    return temporary(reg);
  }
  PlaceStep& last = place.steps.back();
  bool scalar = !isReference(last.layout);
  if (scalar && place.root == Place::Root::Cell && place.steps.size() == 1 &&
      last.kind == PlaceStep::Kind::Element) {
    Register reg = acquire(last.layout);
    code_.op(hasBytes(place.rootLayout) ? Opcode::CellVecGetByte : Opcode::CellVecGet, reg,
             place.reg, inRegister(last.index));
    return temporary(reg);
  }
  Register at = place.reg;
  bool ours = false;
  if (place.root == Place::Root::Cell) {
    at = acquire(place.rootLayout);
    code_.op(Opcode::CellGetRef, at, place.reg);
    ours = true;
  }
  for (size_t i = 0; i != place.steps.size(); ++i) {
    PlaceStep& step = place.steps[i];
    Register next;
    if (i + 2 == place.steps.size() && scalar && place.endsInElementField() &&
        layout(step.layout).kind == vm::LayoutKind::Struct) {
      next = acquire(last.layout);
      code_.op(Opcode::VecGetField, next, at, inRegister(step.index), last.field);
      ++i;
    } else {
      next = acquire(step.layout);
      loadStep(at, step, next);
    }
    if (ours) {
      code_.op(Opcode::Release, at);
      release(at);
    }
    at = next;
    ours = isReference(registers_.layout(at));
  }
  return temporary(at);
}

} // namespace gos::lower
