// Vec, and what arrays and slices share with it.

#include "stdlib/support.h"

#include "vm/format.h"
#include "vm/structural.h"

#include <algorithm>
#include <cstring>

namespace gos::stdlib {

namespace {

/// To come to a comparison and back; what it looks at is charged where it is done.
constexpr uint64_t kCompareSteps = 12;

LayoutId elementOf(const Arguments& arguments, size_t i = 0) {
  return arguments.layout(i).element;
}
uint64_t lengthOf(const Arguments& arguments, size_t i = 0) {
  return arguments.vec(i)->length;
}

/// The vector in an in-out slot, safe to change; null when the heap is full.
VecObject* writable(Arguments& arguments) {
  Value& slot = arguments.slot(0);
  return arguments.vm().heap().makeUnique(slot) ? vm::asVec(slot) : nullptr;
}

std::string outOfBounds(StringRef what, int64_t index, uint64_t length) {
  return (what + ": the index is " + llvm::Twine(index) + " but the len is " + llvm::Twine(length))
      .str();
}

/// Calls `found(index)` for each element equal to argument 1 until it answers false.
template <class Found> Trap eachEqual(Arguments& arguments, Found found) {
  Vm& vm = arguments.vm();
  const LayoutId element = elementOf(arguments);
  VecObject* vec = arguments.vec(0);
  for (uint64_t i = 0; i < vec->length; ++i) {
    bool equal = false;
    if (Trap trap = vm.charge(kCompareSteps))
      return trap;
    if (Trap trap = vm::valuesEqual(vm, vm.heap().element(vec, i), arguments.slot(1), element,
                                    vm::FloatEquality::Ieee, equal))
      return trap;
    if (equal && !found(i))
      break;
  }
  return {};
}

Trap returnPart(Arguments& arguments, uint64_t from, uint64_t to) {
  return arguments.returnOwned(
      copyPart(arguments.vm(), arguments.vec(0), from, to, arguments.resultLayout()));
}

/// Clamps a count to the length.
uint64_t clamped(int64_t n, uint64_t length) {
  return n <= 0 ? 0 : std::min(uint64_t(n), length);
}

Trap extremum(Arguments& arguments, int wanted) {
  Vm& vm = arguments.vm();
  const LayoutId element = elementOf(arguments);
  VecObject* vec = arguments.vec(0);
  if (vec->length == 0)
    return arguments.returnNone();
  uint64_t best = 0;
  for (uint64_t i = 1; i < vec->length; ++i) {
    int order = 0;
    if (Trap trap = vm.charge(kCompareSteps))
      return trap;
    if (Trap trap = vm::compareValues(vm, vm.heap().element(vec, i), vm.heap().element(vec, best),
                                      element, order))
      return trap;
    // Of equal elements the first is the least, the last the greatest.
    if (wanted < 0 ? order < 0 : order >= 0)
      best = i;
  }
  return returnElement(arguments, vec, element, best);
}

enum class Total : uint8_t { Sum, Product };

bool fitsWidth(int64_t value, vm::IntWidth width) {
  switch (width) {
  case vm::IntWidth::I8:
    return value == int8_t(value);
  case vm::IntWidth::I16:
    return value == int16_t(value);
  case vm::IntWidth::I32:
    return value == int32_t(value);
  case vm::IntWidth::U8:
    return value == uint8_t(value);
  case vm::IntWidth::U16:
    return value == uint16_t(value);
  case vm::IntWidth::U32:
    return value == int64_t(uint32_t(value));
  case vm::IntWidth::I64:
  case vm::IntWidth::U64:
    return true;
  }
  return true;
}

Trap total(Arguments& arguments, Total which) {
  Vm& vm = arguments.vm();
  const Layout& element = vm.layout(elementOf(arguments));
  VecObject* vec = arguments.vec(0);
  if (Trap trap = chargeBulk(vm, vec->length * 2))
    return trap;
  if (element.kind == LayoutKind::Float) {
    double sum = which == Total::Sum ? 0.0 : 1.0;
    for (uint64_t i = 0; i < vec->length; ++i) {
      const double value = vm::asReal(vec->slots[i]);
      sum = which == Total::Sum ? sum + value : sum * value;
      if (element.scalar == vm::ScalarKind::F32)
        sum = double(float(sum));
    }
    return arguments.returnReal(sum);
  }
  int64_t sum = which == Total::Sum ? 0 : 1;
  const bool wideUnsigned = element.width == vm::IntWidth::U64;
  for (uint64_t i = 0; i < vec->length; ++i) {
    const int64_t value = vm::asInteger(vm.heap().element(vec, i));
    bool failed = false;
    if (wideUnsigned) {
      uint64_t result = 0;
      failed = which == Total::Sum
                   ? __builtin_add_overflow(uint64_t(sum), uint64_t(value), &result)
                   : __builtin_mul_overflow(uint64_t(sum), uint64_t(value), &result);
      sum = int64_t(result);
    } else {
      failed = which == Total::Sum ? __builtin_add_overflow(sum, value, &sum)
                                   : __builtin_mul_overflow(sum, value, &sum);
      failed = failed || !fitsWidth(sum, element.width);
    }
    if (failed)
      return Trap::panic(which == Total::Sum ? "attempt to add with overflow"
                                             : "attempt to multiply with overflow");
  }
  return arguments.returnInteger(sum);
}

} // namespace

namespace bodies {

// ---- reading ------------------------------------------------------------------------------------

Trap SliceLen(Arguments& arguments) {
  return arguments.returnInteger(int64_t(lengthOf(arguments)));
}
Trap SliceIsEmpty(Arguments& arguments) {
  return arguments.returnBoolean(lengthOf(arguments) == 0);
}

Trap SliceGet(Arguments& arguments) {
  const uint64_t at = uint64_t(arguments.integer(1));
  if (at >= lengthOf(arguments))
    return arguments.returnNone();
  return returnElement(arguments, arguments.vec(0), elementOf(arguments), at);
}
Trap SliceFirst(Arguments& arguments) {
  if (lengthOf(arguments) == 0)
    return arguments.returnNone();
  return returnElement(arguments, arguments.vec(0), elementOf(arguments), 0);
}
Trap SliceLast(Arguments& arguments) {
  if (lengthOf(arguments) == 0)
    return arguments.returnNone();
  return returnElement(arguments, arguments.vec(0), elementOf(arguments), lengthOf(arguments) - 1);
}

Trap SliceContains(Arguments& arguments) {
  bool any = false;
  if (Trap trap = eachEqual(arguments, [&](uint64_t) { return !(any = true); }))
    return trap;
  return arguments.returnBoolean(any);
}
Trap SliceIndexOf(Arguments& arguments) {
  int64_t index = -1;
  if (Trap trap = eachEqual(arguments, [&](uint64_t i) {
        index = int64_t(i);
        return false;
      }))
    return trap;
  return index < 0 ? arguments.returnNone() : arguments.returnSomeInteger(index);
}
Trap SliceCountOf(Arguments& arguments) {
  int64_t count = 0;
  if (Trap trap = eachEqual(arguments, [&](uint64_t) { return ++count > 0; }))
    return trap;
  return arguments.returnInteger(count);
}

Trap SliceSlice(Arguments& arguments) {
  const int64_t start = arguments.integer(1);
  const int64_t end = arguments.integer(2);
  const uint64_t length = lengthOf(arguments);
  if (start < 0 || end < start || uint64_t(end) > length)
    return arguments.returnErr("the range " + std::to_string(start) + ".." + std::to_string(end) +
                               " is outside a sequence of " + std::to_string(length));
  Vm& vm = arguments.vm();
  const LayoutId part = payloadOf(vm, arguments.resultLayout(), "Ok");
  const Value copy = copyPart(vm, arguments.vec(0), uint64_t(start), uint64_t(end), part);
  return copy == 0 ? vm.heapTrap() : arguments.returnOkOwned(copy);
}

/// intrinsics::vec_part: the bounds are clamped.
Trap VecPart(Arguments& arguments) {
  const uint64_t length = lengthOf(arguments);
  const uint64_t from = clamped(arguments.integer(1), length);
  return returnPart(arguments, from, std::max(from, clamped(arguments.integer(2), length)));
}

Trap SliceJoin(Arguments& arguments) {
  Vm& vm = arguments.vm();
  const LayoutId element = elementOf(arguments);
  VecObject* vec = arguments.vec(0);
  if (Trap trap = chargeEach(vm, vec->length * 8))
    return trap;
  vm::TextBuffer out(vm.heap());
  for (uint64_t i = 0; i < vec->length; ++i) {
    if (i != 0)
      out.append(arguments.string(1));
    if (Trap trap = vm::formatDisplay(vm, vm.heap().element(vec, i), element, out))
      return trap;
    if (out.overflowed())
      return vm.heapTrap();
  }
  return arguments.returnText(out);
}

Trap SliceToVec(Arguments& arguments) {
  return returnPart(arguments, 0, lengthOf(arguments));
}

// ---- in place -----------------------------------------------------------------------------------

Trap SliceReverse(Arguments& arguments) {
  if (Trap trap = chargeBulk(arguments.vm(), lengthOf(arguments) * 2))
    return trap;
  VecObject* vec = writable(arguments);
  if (vec == nullptr)
    return arguments.vm().heapTrap();
  if (arguments.vm().heap().info(vec->layout).byteStorage)
    std::reverse(vec->bytes, vec->bytes + vec->length);
  else
    std::reverse(vec->slots, vec->slots + vec->length);
  return arguments.returnUnit();
}

Trap SliceSwap(Arguments& arguments) {
  const uint64_t i = uint64_t(arguments.integer(1));
  const uint64_t j = uint64_t(arguments.integer(2));
  const uint64_t length = lengthOf(arguments);
  if (i >= length || j >= length)
    return Trap::panic("vec index out of bounds: the len is " + std::to_string(length) +
                       " but the index is " +
                       std::to_string(arguments.integer(i >= length ? 1 : 2)));
  VecObject* vec = writable(arguments);
  if (vec == nullptr)
    return arguments.vm().heapTrap();
  if (arguments.vm().heap().info(vec->layout).byteStorage)
    std::swap(vec->bytes[i], vec->bytes[j]);
  else
    std::swap(vec->slots[i], vec->slots[j]);
  return arguments.returnUnit();
}

Trap SliceFill(Arguments& arguments) {
  VecObject* vec = writable(arguments);
  if (vec == nullptr)
    return arguments.vm().heapTrap();
  Vm& vm = arguments.vm();
  vm.heap().chargeElements(vec->length, vm.heap().info(vec->layout));
  if (vm.heap().info(vec->layout).byteStorage) {
    std::fill(vec->bytes, vec->bytes + vec->length, uint8_t(arguments.slot(1)));
    return arguments.returnUnit();
  }
  const LayoutId element = elementOf(arguments);
  for (uint64_t i = 0; i < vec->length; ++i) {
    const Value old = vec->slots[i];
    vec->slots[i] = vm.retainValue(arguments.slot(1), element);
    vm.releaseValue(old, element);
  }
  return arguments.returnUnit();
}

Trap SliceCopyWithin(Arguments& arguments) {
  const int64_t start = arguments.integer(1);
  const int64_t end = arguments.integer(2);
  const int64_t to = arguments.integer(3);
  const uint64_t length = lengthOf(arguments);
  if (start < 0 || end < start || uint64_t(end) > length || to < 0 ||
      uint64_t(to) + uint64_t(end - start) > length)
    return Trap::panic(outOfBounds("copy_within", std::max(end, to), length));
  Vm& vm = arguments.vm();
  Value part =
      copyPart(vm, arguments.vec(0), uint64_t(start), uint64_t(end), arguments.layoutId(0));
  VecObject* vec = part == 0 ? nullptr : writable(arguments);
  if (vec == nullptr) {
    vm.releaseValue(part, arguments.layoutId(0));
    return vm.heapTrap();
  }
  VecObject* copy = vm::asVec(part);
  vm.heap().chargeElements(copy->length, vm.heap().info(vec->layout));
  if (vm.heap().info(vec->layout).byteStorage) {
    if (copy->length != 0)
      std::memcpy(vec->bytes + to, copy->bytes, copy->length);
  } else {
    for (uint64_t i = 0; i < copy->length; ++i)
      std::swap(vec->slots[uint64_t(to) + i], copy->slots[i]); // what was there goes with the copy
  }
  vm.heap().release(copy);
  return arguments.returnUnit();
}

Trap SliceCopyFromSlice(Arguments& arguments) {
  const uint64_t length = lengthOf(arguments);
  if (lengthOf(arguments, 1) != length)
    return Trap::panic("copy_from_slice: the lengths are " + std::to_string(length) + " and " +
                       std::to_string(lengthOf(arguments, 1)));
  if (arguments.slot(0) == arguments.slot(1))
    return arguments.returnUnit();
  VecObject* vec = writable(arguments);
  if (vec == nullptr)
    return arguments.vm().heapTrap();
  Vm& vm = arguments.vm();
  vm.heap().chargeElements(length, vm.heap().info(vec->layout));
  VecObject* from = arguments.vec(1);
  if (vm.heap().info(vec->layout).byteStorage) {
    if (length != 0)
      std::memcpy(vec->bytes, from->bytes, length);
    return arguments.returnUnit();
  }
  const LayoutId element = elementOf(arguments);
  for (uint64_t i = 0; i < length; ++i) {
    const Value old = vec->slots[i];
    vec->slots[i] = vm.retainValue(from->slots[i], element);
    vm.releaseValue(old, element);
  }
  return arguments.returnUnit();
}

// ---- Vec alone ----------------------------------------------------------------------------------

Trap VecNew(Arguments& arguments) {
  return arguments.returnOwned(
      vm::fromObject(arguments.vm().heap().newVec(arguments.resultLayout(), 0)));
}

Trap VecWithCapacity(Arguments& arguments) {
  const int64_t wanted = std::max<int64_t>(arguments.integer(0), 0);
  Vm& vm = arguments.vm();
  if (uint64_t(wanted) > vm.heap().available()) // an element is a byte or more
    return vm.heapTrap();
  return arguments.returnOwned(
      vm::fromObject(vm.heap().newVec(arguments.resultLayout(), uint64_t(wanted))));
}

Trap VecFrom(Arguments& arguments) {
  return returnPart(arguments, 0, lengthOf(arguments));
}

Trap VecPush(Arguments& arguments) {
  VecObject* vec = writable(arguments);
  Vm& vm = arguments.vm();
  if (vec == nullptr ||
      !vm.heap().push(vec, vm.retainValue(arguments.slot(1), arguments.layoutId(1))))
    return vm.heapTrap();
  return arguments.returnUnit();
}

Trap VecPop(Arguments& arguments) {
  if (lengthOf(arguments) == 0)
    return arguments.returnNone();
  VecObject* vec = writable(arguments);
  if (vec == nullptr)
    return arguments.vm().heapTrap();
  return arguments.returnSomeOwned(arguments.vm().heap().popBack(vec));
}

Trap VecInsert(Arguments& arguments) {
  const uint64_t at = uint64_t(arguments.integer(1));
  if (at > lengthOf(arguments))
    return arguments.returnErr(outOfBounds("insert", arguments.integer(1), lengthOf(arguments)));
  VecObject* vec = writable(arguments);
  Vm& vm = arguments.vm();
  if (vec == nullptr ||
      !vm.heap().insertAt(vec, at, vm.retainValue(arguments.slot(2), arguments.layoutId(2))))
    return vm.heapTrap();
  return arguments.returnOkUnit();
}

Trap VecRemove(Arguments& arguments) {
  const uint64_t at = uint64_t(arguments.integer(1));
  if (at >= lengthOf(arguments))
    return arguments.returnErr(outOfBounds("remove", arguments.integer(1), lengthOf(arguments)));
  VecObject* vec = writable(arguments);
  if (vec == nullptr)
    return arguments.vm().heapTrap();
  return arguments.returnOkOwned(arguments.vm().heap().removeAt(vec, at));
}

Trap VecClear(Arguments& arguments) {
  VecObject* vec = writable(arguments);
  if (vec == nullptr)
    return arguments.vm().heapTrap();
  arguments.vm().heap().truncate(vec, 0);
  return arguments.returnUnit();
}

Trap VecTruncate(Arguments& arguments) {
  VecObject* vec = writable(arguments);
  if (vec == nullptr)
    return arguments.vm().heapTrap();
  arguments.vm().heap().truncate(vec, clamped(arguments.integer(1), vec->length));
  return arguments.returnUnit();
}

Trap VecExtend(Arguments& arguments) {
  Vm& vm = arguments.vm();
  const uint64_t count = lengthOf(arguments, 1);
  VecObject* vec = writable(arguments);
  if (vec == nullptr || !appendPart(vm, vec, arguments.vec(1), 0, count))
    return vm.heapTrap();
  return arguments.returnUnit();
}
Trap VecExtendFromSlice(Arguments& arguments) {
  return VecExtend(arguments);
}

Trap VecReserve(Arguments& arguments) {
  const int64_t more = std::max<int64_t>(arguments.integer(1), 0);
  Vm& vm = arguments.vm();
  if (uint64_t(more) > vm.heap().available())
    return vm.heapTrap();
  VecObject* vec = writable(arguments);
  if (vec == nullptr || !vm.heap().reserveVec(vec, vec->length + uint64_t(more)))
    return vm.heapTrap();
  return arguments.returnUnit();
}
Trap VecReserveExact(Arguments& arguments) {
  return VecReserve(arguments);
}
Trap VecCapacity(Arguments& arguments) {
  return arguments.returnInteger(int64_t(arguments.vec(0)->capacity));
}

Trap VecDedup(Arguments& arguments) {
  Vm& vm = arguments.vm();
  VecObject* vec = arguments.vec(0);
  if (Trap trap = chargeEach(vm, vec->length * 8))
    return trap;
  VecObject* out = vm.heap().newVec(arguments.resultLayout(), vec->length);
  if (out == nullptr)
    return vm.heapTrap();
  const LayoutId element = elementOf(arguments);
  for (uint64_t i = 0; i < vec->length; ++i) {
    bool equal = false;
    Trap trap;
    if (i != 0)
      trap = vm::valuesEqual(vm, vm.heap().element(vec, i - 1), vm.heap().element(vec, i), element,
                             vm::FloatEquality::Ieee, equal);
    if (!trap && !equal && !appendPart(vm, out, vec, i, i + 1))
      trap = vm.heapTrap();
    if (trap) {
      vm.heap().release(out);
      return trap;
    }
  }
  return arguments.returnOwned(vm::fromObject(out));
}

Trap VecTake(Arguments& arguments) {
  return returnPart(arguments, 0, clamped(arguments.integer(1), lengthOf(arguments)));
}
Trap VecSkip(Arguments& arguments) {
  return returnPart(arguments, clamped(arguments.integer(1), lengthOf(arguments)),
                    lengthOf(arguments));
}

Trap VecChain(Arguments& arguments) {
  Vm& vm = arguments.vm();
  const Value out =
      copyPart(vm, arguments.vec(0), 0, lengthOf(arguments), arguments.resultLayout());
  if (out == 0 || !appendPart(vm, vm::asVec(out), arguments.vec(1), 0, lengthOf(arguments, 1))) {
    vm.releaseValue(out, arguments.resultLayout());
    return vm.heapTrap();
  }
  return arguments.returnOwned(out);
}

Trap VecRev(Arguments& arguments) {
  Vm& vm = arguments.vm();
  const Value out =
      copyPart(vm, arguments.vec(0), 0, lengthOf(arguments), arguments.resultLayout());
  if (out == 0)
    return vm.heapTrap();
  VecObject* vec = vm::asVec(out);
  vm.heap().chargeElements(vec->length, vm.heap().info(vec->layout));
  if (vm.heap().info(vec->layout).byteStorage)
    std::reverse(vec->bytes, vec->bytes + vec->length);
  else
    std::reverse(vec->slots, vec->slots + vec->length);
  return arguments.returnOwned(out);
}

Trap VecSum(Arguments& arguments) {
  return total(arguments, Total::Sum);
}
Trap VecProduct(Arguments& arguments) {
  return total(arguments, Total::Product);
}
Trap VecMin(Arguments& arguments) {
  return extremum(arguments, -1);
}
Trap VecMax(Arguments& arguments) {
  return extremum(arguments, 1);
}

// A Vec's own rows, so that `Vec::len(xs)` is found where people look.
#define GOS_SAME(name)                                                                             \
  Trap Vec##name(Arguments& arguments) {                                                           \
    return Slice##name(arguments);                                                                 \
  }
GOS_SAME(Len)
GOS_SAME(IsEmpty)
GOS_SAME(Get)
GOS_SAME(First)
GOS_SAME(Last)
GOS_SAME(Contains)
GOS_SAME(IndexOf)
GOS_SAME(CountOf)
GOS_SAME(Slice)
GOS_SAME(Join)
GOS_SAME(ToVec)
GOS_SAME(Reverse)
GOS_SAME(Swap)
GOS_SAME(Fill)
GOS_SAME(CopyWithin)
GOS_SAME(CopyFromSlice)
#undef GOS_SAME

} // namespace bodies
} // namespace gos::stdlib
