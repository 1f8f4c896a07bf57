#include "vm/slow_paths.h"

#include "vm/format.h"
#include "vm/structural.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

namespace gos::vm {

namespace {
constexpr size_t kTaken = 256; // bytes of text that are worth taking over
} // namespace

// ---- failing
// ----------------------------------------------------------------------------------------

bool SlowPaths::raise(Vm& vm, Trap trap) {
  vm.pending_ = std::move(trap);
  return false;
}

bool SlowPaths::raiseReason(Vm& vm, PanicReason reason) {
  switch (reason) {
  case PanicReason::Unreachable:
    return raise(vm, Trap::panic("internal error: entered unreachable code"));
  case PanicReason::Todo:
    return raise(vm, Trap::panic("not yet implemented"));
  case PanicReason::Unimplemented:
    return raise(vm, Trap::panic("not implemented"));
  case PanicReason::NoArm:
    return raise(vm, Trap::make(TrapKind::NoArm, "no arm of the `match` applied"));
  case PanicReason::DivideByZero:
    return raise(vm, Trap::panic("attempt to divide by zero"));
  case PanicReason::RemainderByZero:
    return raise(vm, Trap::panic("attempt to calculate the remainder with a divisor of zero"));
  case PanicReason::AddOverflow:
    return raise(vm, Trap::panic("attempt to add with overflow"));
  case PanicReason::SubtractOverflow:
    return raise(vm, Trap::panic("attempt to subtract with overflow"));
  case PanicReason::MultiplyOverflow:
    return raise(vm, Trap::panic("attempt to multiply with overflow"));
  case PanicReason::OverlappingWindows:
    return raise(vm, Trap::panic("windows of one place overlap"));
  case PanicReason::UnwrapNone:
    return raise(vm, Trap::panic("called `unwrap` on a `None` value"));
  case PanicReason::Borrowed:
    return raiseNull(vm);
  }
  return raise(vm, Trap::panic("panic"));
}

bool SlowPaths::raiseText(Vm& vm, Value string) {
  if (string == 0)
    return raiseNull(vm);
  return raise(vm, Trap::panic(asString(string)->text().str()));
}

bool SlowPaths::raiseNull(Vm& vm) {
  return raise(vm, Trap::borrowed("value is used while it is borrowed elsewhere"));
}

bool SlowPaths::raiseIndex(Vm& vm, uint64_t length, uint64_t index) {
  return raise(vm, Trap::panic("vec index out of bounds: the len is " + llvm::utostr(length) +
                               " but the index is " + llvm::itostr(int64_t(index))));
}

bool SlowPaths::raiseHeap(Vm& vm) {
  return raise(vm, vm.heapTrap());
}
bool SlowPaths::raiseSteps(Vm& vm) {
  return raise(vm, Trap::budget("steps", uint64_t(vm.stepsLimit_)));
}
bool SlowPaths::raiseDepth(Vm& vm) {
  return raise(vm, vm.depthTrap());
}

void SlowPaths::releaseArguments(Vm& vm, const RuntimeFunction& callee, Value* outgoing) {
  for (uint16_t i = 0; i < callee.referenceParameterCount; ++i) {
    const uint16_t slot = callee.referenceParameters[i];
    if (slot < callee.parameterCount)
      vm.heap_.release(asObject(outgoing[slot]));
  }
}

// ---- turns of goroutines
// ------------------------------------------------------------------------------

SlowPaths::OutOfFuel SlowPaths::outOfFuel(Vm& vm) {
  if (!vm.refill()) {
    raiseSteps(vm);
    return OutOfFuel::Raised;
  }
  if (vm.sliceGoesOn_ || !vm.scheduler_)
    return OutOfFuel::GoOn;
  // The library is never interrupted: what it does to a lock or a queue is done in one piece. Nor
  // is a run within a run, which stands on the C stack.
  if (vm.nesting_ != 1 || vm.top_->function->source->transparent)
    return OutOfFuel::GoOn;
  if (vm.scheduler_->endSlice())
    return OutOfFuel::Switch;
  vm.startSlice(); // nobody else can go on
  return OutOfFuel::GoOn;
}

bool SlowPaths::survive(Vm& vm) {
  if (!vm.scheduler_ || vm.nesting_ != 1 || vm.scheduler_->currentIsMain())
    return false;
  switch (vm.pending_->kind) {
  case TrapKind::Panic:
  case TrapKind::Incompatible:
  case TrapKind::NoArm:
  case TrapKind::Depth:
    vm.scheduler_->failCurrent(std::move(vm.pending_));
    return true;
  case TrapKind::None:
  case TrapKind::Budget:
  case TrapKind::Denied:
  case TrapKind::Exit:
  case TrapKind::Refused:
    break; // these end all of the program
  }
  vm.scheduler_->abandon(*vm.pending_);
  return false;
}

// ---- calls
// ------------------------------------------------------------------------------------------

bool SlowPaths::nativeCall(Vm& vm, uint32_t import, Value* outgoing, Value& destination) {
  Value result = 0;
  if (Trap trap = vm.callNative(import, outgoing, result))
    return raise(vm, std::move(trap));
  if (vm.blocked_) [[unlikely]] {
    vm.blocked_ = false;
    return false; // without a trap: somebody else's turn
  }
  if (vm.imports_[import].resultIsReference)
    vm.heap_.assign(destination, result);
  else
    destination = result;
  return true;
}

// ---- objects
// ----------------------------------------------------------------------------------------

namespace {

/// Instructions that neither fail, nor branch, nor do anything that could be seen.
bool isHarmless(Opcode op) {
  return op == Opcode::CellGet || op == Opcode::CellGetRef || op == Opcode::LoadInt ||
         op == Opcode::LoadConstant || op == Opcode::LoadString || op == Opcode::Move;
}

/// The first constant that an initialiser asks for, before it does anything else, and that is not
/// there yet; or none.
std::optional<uint32_t> askedFirst(const Function& initialiser,
                                   llvm::function_ref<bool(uint32_t)> isMissing) {
  for (const Instruction instruction : initialiser.code) {
    if (instruction.op() == Opcode::LoadGlobal) {
      if (isMissing(instruction.bx()))
        return instruction.bx();
    } else if (!isHarmless(instruction.op())) {
      break;
    }
  }
  return std::nullopt;
}

} // namespace

bool SlowPaths::initialiseGlobal(Vm& vm, uint32_t global) {
  // Constants that begin with others, which begin with others: the first one first, so that a chain
  // of any length takes no stack. Nobody can see the difference, since each would have asked for
  // the other before all else.
  llvm::SmallVector<uint32_t> open{global};
  llvm::DenseSet<uint32_t> seen{global};
  while (!open.empty()) {
    const FunctionId initialiser = vm.module_.globals[open.back()].initialiser;
    std::optional<uint32_t> first;
    if (initialiser != FunctionId::None &&
        !(vm.knownGlobals_ && vm.knownGlobals_->contains(open.back())))
      first = askedFirst(vm.module_.functions[index(initialiser)], [&](uint32_t each) {
        return vm.globalReady_[each] == kGlobalUnset && !seen.contains(each) &&
               !(vm.knownGlobals_ && vm.knownGlobals_->contains(each));
      });
    if (first) {
      seen.insert(*first);
      open.push_back(*first);
    } else if (const uint32_t next = open.pop_back_val();
               vm.globalReady_[next] != kGlobalReady && !initialiseOne(vm, next)) {
      return false;
    }
  }
  return true;
}

bool SlowPaths::initialiseOne(Vm& vm, uint32_t global) {
  uint8_t& state = vm.globalReady_[global];
  if (state ==
      kGlobalRunning) // through a function; the checker sees only what an initialiser names itself
    return raise(
        vm, Trap::panic("constant `" + vm.module_.globals[global].name + "` refers to itself"));
  if (vm.knownGlobals_ != nullptr)
    if (const auto known = vm.knownGlobals_->find(global); known != vm.knownGlobals_->end()) {
      Value& content = asCell(vm.globals_[global])->content;
      if (known->second.isText) {
        StringObject* string = vm.heap_.newString(known->second.text);
        if (string == nullptr)
          return raiseHeap(vm);
        content = fromObject(string);
      } else {
        content = known->second.bits;
      }
      vm.knownGlobalsRead_.push_back(global);
      state = kGlobalReady;
      return true;
    }
  const FunctionId initialiser = vm.module_.globals[global].initialiser;
  if (initialiser == FunctionId::None) {
    state = kGlobalReady;
    return true;
  }
  state = kGlobalRunning;
  Value value = 0;
  if (Trap trap = vm.call(initialiser, {}, value))
    return raise(vm, std::move(trap));
  state = kGlobalReady;
  Value& content = asCell(vm.globals_[global])->content;
  if (vm.isReference(vm.module_.functions[index(initialiser)].result))
    vm.heap_.assign(content, value);
  else
    content = value;
  return true;
}

bool SlowPaths::makeUnique(Vm& vm, Value& slot) {
  return vm.heap_.makeUnique(slot) || raiseHeap(vm);
}

bool SlowPaths::newStruct(Vm& vm, LayoutId layout, uint16_t variant, bool isEnum, Value* outgoing,
                          Value& destination) {
  StructObject* object = isEnum ? vm.heap_.newEnum(layout, variant) : vm.heap_.newStruct(layout);
  const VariantInfo& shape = vm.info(layout).variants[variant];
  if (object == nullptr) {
    for (uint16_t slot : shape.references)
      vm.heap_.release(asObject(outgoing[slot]));
    return raiseHeap(vm);
  }
  std::copy_n(outgoing, shape.slotCount, object->slots());
  vm.heap_.assign(destination, fromObject(object));
  return true;
}

bool SlowPaths::newVec(Vm& vm, LayoutId layout, uint32_t count, const Value* outgoing,
                       Value& destination) {
  VecObject* vec = vm.heap_.newVec(layout, count);
  const LayoutInfo& shape = vm.info(layout);
  if (vec == nullptr) {
    for (uint32_t i = 0; i < count; ++i)
      vm.heap_.releaseValue(outgoing[i], shape.elementIsReference);
    return raiseHeap(vm);
  }
  if (shape.byteStorage)
    for (uint32_t i = 0; i < count; ++i)
      vec->bytes[i] = uint8_t(outgoing[i]);
  else
    std::copy_n(outgoing, count, vec->slots);
  vec->length = count;
  vm.heap_.assign(destination, fromObject(vec));
  return true;
}

bool SlowPaths::newVecRepeat(Vm& vm, LayoutId layout, int64_t count, Value element,
                             Value& destination) {
  if (count < 0) {
    vm.heap_.releaseValue(element, vm.info(layout).elementIsReference);
    return raise(vm, Trap::panic("attempt to repeat an element " + llvm::itostr(count) + " times"));
  }
  VecObject* vec = vm.heap_.newVecOf(layout, uint64_t(count), element);
  if (vec == nullptr)
    return raiseHeap(vm);
  vm.heap_.assign(destination, fromObject(vec));
  return true;
}

bool SlowPaths::vecSlice(Vm& vm, LayoutId layout, const VecObject* source, int64_t from, int64_t to,
                         Value& destination) {
  if (source == nullptr)
    return raiseNull(vm);
  const auto length = int64_t(source->length);
  const int64_t begin = std::clamp<int64_t>(from, 0, length);
  const int64_t end = std::clamp<int64_t>(to, begin, length);
  const auto count = uint64_t(end - begin);
  VecObject* vec = vm.heap_.newVec(layout, count);
  if (vec == nullptr)
    return raiseHeap(vm);
  const LayoutInfo& shape = vm.info(layout);
  if (shape.byteStorage)
    std::copy_n(source->bytes + begin, count, vec->bytes);
  else
    std::copy_n(source->slots + begin, count, vec->slots);
  vm.heap_.chargeElements(count, shape);
  vec->length = count;
  if (shape.elementIsReference)
    for (uint64_t i = 0; i < count; ++i)
      retain(asObject(vec->slots[i]));
  vm.heap_.assign(destination, fromObject(vec));
  return true;
}

bool SlowPaths::vecPush(Vm& vm, Value& slot, Value value) {
  const bool isReference = slot != 0 && vm.heap_.elementIsReference(asVec(slot));
  if (slot == 0) // the element is lost with the place; it leaks nothing that the heap does not own
    return raiseNull(vm);
  if (!vm.heap_.makeUnique(slot)) {
    vm.heap_.releaseValue(value, isReference);
    return raiseHeap(vm);
  }
  return vm.heap_.push(asVec(slot), value) || raiseHeap(vm);
}

bool SlowPaths::newCell(Vm& vm, LayoutId layout, Value content, Value& destination) {
  CellObject* cell = vm.heap_.newCell(layout, content);
  if (cell == nullptr) {
    vm.heap_.releaseValue(content, vm.info(layout).elementIsReference);
    return raiseHeap(vm);
  }
  vm.heap_.assign(destination, fromObject(cell));
  return true;
}

bool SlowPaths::newClosure(Vm& vm, LayoutId layout, uint32_t function, const Value* outgoing,
                           Value& destination) {
  const uint32_t captures = vm.functions_[function].captureCount;
  ClosureObject* closure = vm.heap_.newClosure(layout, FunctionId(function), captures);
  if (closure == nullptr) {
    for (uint16_t slot : vm.captureReferences_[function])
      vm.heap_.release(asObject(outgoing[slot]));
    return raiseHeap(vm);
  }
  std::copy_n(outgoing, captures, closure->captures());
  vm.heap_.assign(destination, fromObject(closure));
  return true;
}

// ---- text
// -------------------------------------------------------------------------------------------

bool SlowPaths::stringConcat(Vm& vm, Value left, Value right, Value& destination) {
  if (left == 0 || right == 0)
    return raiseNull(vm);
  const StringObject* a = asString(left);
  const StringObject* b = asString(right);
  StringObject* result = vm.heap_.newStringWithCapacity(a->length + b->length, a->layout);
  if (result == nullptr)
    return raiseHeap(vm);
  std::memcpy(result->data, a->data, a->length);
  std::memcpy(result->data + a->length, b->data, b->length);
  result->length = a->length + b->length;
  result->scalars =
      a->scalars >= 0 && b->scalars >= 0 && !startsInside(b->text()) ? a->scalars + b->scalars : -1;
  vm.heap_.chargeBytes(result->length);
  vm.heap_.assign(destination, fromObject(result));
  return true;
}

bool SlowPaths::stringAppend(Vm& vm, Value& slot, Value text) {
  if (slot == 0 || text == 0)
    return raiseNull(vm);
  if (!vm.heap_.makeUnique(slot))
    return raiseHeap(vm);
  // `text` is held by its own register; when that is the same one the object is unique and `append`
  // copes.
  return vm.heap_.append(asString(slot), asString(text == slot ? slot : text)->text()) ||
         raiseHeap(vm);
}

bool SlowPaths::stringAppendChar(Vm& vm, Value& slot, Value scalar) {
  if (slot == 0)
    return raiseNull(vm);
  if (!vm.heap_.makeUnique(slot))
    return raiseHeap(vm);
  return vm.heap_.appendScalar(asString(slot), uint32_t(std::min<Value>(scalar, 0x110000))) ||
         raiseHeap(vm);
}

bool SlowPaths::stringCharAt(Vm& vm, Value string, uint64_t at, Value& destination) {
  if (string == 0)
    return raiseNull(vm);
  StringObject* object = asString(string);
  const auto count = uint64_t(vm.heap_.scalarCount(object));
  if (at >= count)
    return raise(vm, Trap::panic("string index out of bounds: the len is " + llvm::utostr(count) +
                                 " but the index is " + llvm::itostr(int64_t(at))));
  const uint64_t offset = vm.heap_.byteOffset(object, at);
  if (offset >= object->length)
    return raiseNull(vm);
  unsigned length = 0;
  destination = decodeScalar(object->text(), offset, length);
  return true;
}

bool SlowPaths::format(Vm& vm, Value& slot, Value value, LayoutId layout, uint32_t spec) {
  if (slot == 0)
    return raiseNull(vm);
  const FormatSpec& formatSpec = vm.module_.formats[spec];
  const Layout& shape = vm.layout(layout);
  // The commonest case without a detour: text as it is.
  if (shape.kind == LayoutKind::String && formatSpec == FormatSpec{} &&
      shape.display == FunctionId::None)
    return stringAppend(vm, slot, value);
  // The next: an integer in decimal.
  if (shape.kind == LayoutKind::Int && shape.scalar == ScalarKind::Integer &&
      formatSpec == FormatSpec{} && shape.display == FunctionId::None) {
    char digits[24];
    const std::to_chars_result end =
        isSigned(shape.width) ? std::to_chars(digits, digits + sizeof(digits), asInteger(value))
                              : std::to_chars(digits, digits + sizeof(digits), value);
    if (!vm.heap_.makeUnique(slot))
      return raiseHeap(vm);
    return vm.heap_.append(asString(slot), {digits, size_t(end.ptr - digits)}) || raiseHeap(vm);
  }
  TextBuffer text(vm.heap_);
  if (Trap trap = formatValue(vm, value, layout, formatSpec, text))
    return raise(vm, std::move(trap));
  if (!vm.heap_.makeUnique(slot))
    return raiseHeap(vm);
  if (asString(slot)->length == 0 &&
      text.size() > kTaken) { // nothing stood there: the text itself, not a copy
    vm.heap_.assign(slot, fromObject(text.finish(asString(slot)->layout)));
    return slot != 0 || raiseHeap(vm);
  }
  return vm.heap_.append(asString(slot), text.text()) || raiseHeap(vm);
}

// ---- structure
// --------------------------------------------------------------------------------------

bool SlowPaths::equal(Vm& vm, Value left, Value right, LayoutId layout, Value& destination) {
  bool result = false;
  if (Trap trap = valuesEqual(vm, left, right, layout, FloatEquality::Ieee, result))
    return raise(vm, std::move(trap));
  destination = result;
  return true;
}

bool SlowPaths::compare(Vm& vm, Value left, Value right, LayoutId layout, Value& destination) {
  int order = 0;
  if (Trap trap = compareValues(vm, left, right, layout, order))
    return raise(vm, std::move(trap));
  destination = fromInteger(order);
  return true;
}

bool SlowPaths::stringsEqual(Value left, Value right) {
  return left == right || asString(left)->text() == asString(right)->text();
}

uint64_t SlowPaths::equalitySteps(Value left, Value right) {
  const uint64_t length = asString(left)->length;
  return left == right || length != asString(right)->length ? 0 : length / 16;
}

// ---- numbers
// ----------------------------------------------------------------------------------------

Value SlowPaths::floatToInteger(double value, IntWidth width) {
  if (std::isnan(value))
    return 0;
  const double whole = std::trunc(value);
  const unsigned bits = 8u << (unsigned(width) & 3);
  if (isSigned(width)) {
    const double limit = std::ldexp(1.0, int(bits) - 1);
    if (whole >= limit)
      return fromInteger(int64_t((uint64_t(1) << (bits - 1)) - 1));
    if (whole < -limit)
      return fromInteger(-int64_t((uint64_t(1) << (bits - 1)) - 1) - 1);
    return fromInteger(int64_t(whole));
  }
  if (whole <= 0)
    return 0;
  if (whole >= std::ldexp(1.0, int(bits)))
    return bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  return uint64_t(whole);
}

double SlowPaths::remainder(double left, double right) {
  return std::fmod(left, right);
}

int64_t SlowPaths::compareScalars(Value left, Value right, unsigned how) {
  if (how == 0)
    return (asInteger(left) > asInteger(right)) - (asInteger(left) < asInteger(right));
  if (how == 1)
    return (left > right) - (left < right);
  return compareTotal(asReal(left), asReal(right));
}

} // namespace gos::vm
