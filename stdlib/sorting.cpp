// Sorting: a stable merge sort over a private copy of the elements, because a comparison may call
// the guest, which may trap, and must not see a half-sorted sequence.

#include "stdlib/support.h"

#include "vm/structural.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <vector>

namespace gos::stdlib {

namespace {

/// Merges runs bottom-up. `before(a, b, result)` answers a trap; result is true when b must stand
/// before a.
template <class Item, class Before> Trap mergeSort(std::vector<Item>& items, Before before) {
  constexpr size_t kRun = 8;
  const size_t count = items.size();
  for (size_t low = 0; low < count; low += kRun) { // short runs by insertion
    const size_t high = std::min(low + kRun, count);
    for (size_t i = low + 1; i < high; ++i)
      for (size_t j = i; j > low; --j) {
        bool swap = false;
        if (Trap trap = before(items[j - 1], items[j], swap))
          return trap;
        if (!swap)
          break;
        std::swap(items[j - 1], items[j]);
      }
  }
  std::vector<Item> merged(count);
  for (size_t width = kRun; width < count; width *= 2) {
    for (size_t low = 0; low < count; low += 2 * width) {
      const size_t middle = std::min(low + width, count);
      const size_t high = std::min(low + 2 * width, count);
      size_t left = low;
      size_t right = middle;
      for (size_t at = low; at < high; ++at) {
        bool takeRight = left == middle;
        if (left < middle && right < high)
          if (Trap trap = before(items[left], items[right], takeRight))
            return trap;
        merged[at] = takeRight ? items[right++] : items[left++];
      }
    }
    items.swap(merged);
  }
  return {};
}

/// The elements of argument 0, borrowed while its vector is not touched.
std::vector<Value> elementsOf(const Arguments& arguments) {
  VecObject* vec = arguments.vec(0);
  std::vector<Value> out(vec->length);
  for (uint64_t i = 0; i < vec->length; ++i)
    out[i] = arguments.vm().heap().element(vec, i);
  return out;
}

/// The work of a sort beside that of its comparisons.
Trap chargeSort(Vm& vm, uint64_t length) {
  unsigned rounds = 1;
  while ((uint64_t(1) << rounds) < length)
    ++rounds;
  return chargeEach(vm, length * rounds);
}

/// The bytes of a sort's copies: of the elements, of what they are merged into, and of a list of
/// indices.
uint64_t scratchOf(uint64_t length) {
  return length * 3 * sizeof(Value);
}

Trap storeOrdered(Arguments& arguments, ArrayRef<Value> ordered) {
  Value& slot = arguments.slot(0);
  if (!arguments.vm().heap().makeUnique(slot))
    return arguments.vm().heapTrap();
  VecObject* vec = vm::asVec(slot); // the same elements, each held once: only their order changes
  if (arguments.vm().heap().info(vec->layout).byteStorage)
    for (uint64_t i = 0; i < vec->length; ++i)
      vec->bytes[i] = uint8_t(ordered[i]);
  else
    std::copy(ordered.begin(), ordered.end(), vec->slots);
  return arguments.returnUnit();
}

/// Elements whose order no guest code decides, so that comparing cannot trap.
enum class PlainOrder : uint8_t { None, Signed, Scalar, Text };

PlainOrder plainOrder(const Layout& element, ArrayRef<Value> items) {
  if (element.compare != vm::FunctionId::None)
    return PlainOrder::None;
  if (element.kind == LayoutKind::Int && vm::isSigned(element.width))
    return PlainOrder::Signed;
  if (!element.isReference())
    return PlainOrder::Scalar;
  // A text that is borrowed elsewhere traps, on the slow way.
  const bool isText = element.kind == LayoutKind::String && !llvm::is_contained(items, Value(0));
  return isText ? PlainOrder::Text : PlainOrder::None;
}

/// Sorts `items` stably; `value` answers the element of an item.
template <class Item, class ValueOf>
void sortPlainly(Vm& vm, std::vector<Item>& items, PlainOrder order, const Layout& element,
                 ValueOf value) {
  uint64_t work = 0;
  switch (order) {
  case PlainOrder::None:
    return;
  case PlainOrder::Signed:
    std::stable_sort(items.begin(), items.end(), [&](Item a, Item b) {
      return vm::asInteger(value(a)) < vm::asInteger(value(b));
    });
    return;
  case PlainOrder::Scalar:
    std::stable_sort(items.begin(), items.end(), [&](Item a, Item b) {
      return vm::compareScalars(value(a), value(b), element) < 0;
    });
    return;
  case PlainOrder::Text:
    std::stable_sort(items.begin(), items.end(), [&](Item a, Item b) {
      const StringRef left = vm::asString(value(a))->text();
      const StringRef right = vm::asString(value(b))->text();
      work += 8 + std::min(left.size(), right.size()) / 16;
      return left < right;
    });
    vm.heap().chargeSteps(work);
    return;
  }
}

Trap sortByOrder(Arguments& arguments) {
  Vm& vm = arguments.vm();
  const LayoutId id = arguments.layout(0).element;
  const Layout& element = vm.layout(id);
  if (Trap trap = chargeSort(vm, arguments.vec(0)->length))
    return trap;
  const vm::Scratch scratch(vm.heap(), scratchOf(arguments.vec(0)->length));
  if (!scratch)
    return vm.heapTrap();
  std::vector<Value> items = elementsOf(arguments);
  if (const PlainOrder order = plainOrder(element, items); order != PlainOrder::None) {
    sortPlainly(vm, items, order, element, [](Value item) { return item; });
    return storeOrdered(arguments, items);
  }
  Trap trap = mergeSort(items, [&](Value a, Value b, bool& swap) -> Trap {
    int order = 0;
    Trap failed = vm::compareValues(vm, b, a, id, order);
    swap = order < 0;
    return failed;
  });
  return trap ? std::move(trap) : storeOrdered(arguments, items);
}

Trap sortByCallback(Arguments& arguments) {
  Vm& vm = arguments.vm();
  const LayoutId element = arguments.layout(0).element;
  const Value compare = arguments.slot(1);
  if (compare == 0)
    return Trap::borrowed("the comparison is borrowed elsewhere");
  if (Trap trap = chargeSort(vm, arguments.vec(0)->length))
    return trap;
  const vm::Scratch scratch(vm.heap(), scratchOf(arguments.vec(0)->length));
  if (!scratch)
    return vm.heapTrap();
  std::vector<Value> items = elementsOf(arguments);
  Trap trap = mergeSort(items, [&](Value a, Value b, bool& swap) -> Trap {
    const Value pair[] = {vm.retainValue(b, element), vm.retainValue(a, element)};
    Value order = 0;
    Trap failed = vm.callClosure(compare, pair, order);
    swap = !failed && vm::asInteger(order) < 0;
    return failed;
  });
  return trap ? std::move(trap) : storeOrdered(arguments, items);
}

} // namespace

namespace bodies {

Trap SliceSort(Arguments& arguments) {
  return sortByOrder(arguments);
}
Trap VecSort(Arguments& arguments) {
  return sortByOrder(arguments);
}
Trap SliceSortBy(Arguments& arguments) {
  return sortByCallback(arguments);
}
Trap VecSortBy(Arguments& arguments) {
  return sortByCallback(arguments);
}

/// intrinsics::sorted_order: the indices of the keys in order.
Trap SortedOrder(Arguments& arguments) {
  Vm& vm = arguments.vm();
  const LayoutId key = arguments.layout(0).element;
  if (Trap trap = chargeSort(vm, arguments.vec(0)->length))
    return trap;
  const vm::Scratch scratch(vm.heap(), scratchOf(arguments.vec(0)->length));
  if (!scratch)
    return vm.heapTrap();
  const std::vector<Value> keys = elementsOf(arguments);
  std::vector<uint64_t> order(keys.size());
  for (uint64_t i = 0; i < order.size(); ++i)
    order[i] = i;
  if (const PlainOrder plain = plainOrder(vm.layout(key), keys); plain != PlainOrder::None)
    sortPlainly(vm, order, plain, vm.layout(key), [&](uint64_t at) { return keys[at]; });
  else if (Trap trap = mergeSort(order, [&](uint64_t a, uint64_t b, bool& swap) -> Trap {
             int relation = 0;
             Trap failed = vm::compareValues(vm, keys[b], keys[a], key, relation);
             swap = relation < 0;
             return failed;
           }))
    return trap;
  VecObject* out = vm.heap().newVec(arguments.resultLayout(), order.size());
  if (out == nullptr)
    return vm.heapTrap();
  std::copy(order.begin(), order.end(), out->slots);
  out->length = order.size();
  return arguments.returnOwned(vm::fromObject(out));
}

} // namespace bodies
} // namespace gos::stdlib
