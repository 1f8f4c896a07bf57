// Deque, Queue, Stack and the heaps: all are vectors underneath; popping in front only moves a
// mark.

#include "stdlib/support.h"

#include "vm/structural.h"

namespace gos::stdlib {

namespace {

LayoutId elementOf(const Arguments& arguments) {
  return arguments.layout(0).element;
}

VecObject* writable(Arguments& arguments) {
  Value& slot = arguments.slot(0);
  return arguments.vm().heap().makeUnique(slot) ? vm::asVec(slot) : nullptr;
}

enum class End : uint8_t { Front, Back };

Trap pushTo(Arguments& arguments, End end) {
  Vm& vm = arguments.vm();
  VecObject* vec = writable(arguments);
  if (vec == nullptr)
    return vm.heapTrap();
  const Value value = vm.retainValue(arguments.slot(1), arguments.layoutId(1));
  const bool fits = end == End::Back ? vm.heap().push(vec, value) : vm.heap().pushFront(vec, value);
  return fits ? arguments.returnUnit() : vm.heapTrap();
}

Trap popFrom(Arguments& arguments, End end) {
  if (arguments.vec(0)->length == 0)
    return arguments.returnNone();
  VecObject* vec = writable(arguments);
  if (vec == nullptr)
    return arguments.vm().heapTrap();
  return arguments.returnSomeOwned(end == End::Back ? arguments.vm().heap().popBack(vec)
                                                    : arguments.vm().heap().popFront(vec));
}

Trap peekAt(Arguments& arguments, End end) {
  VecObject* vec = arguments.vec(0);
  if (vec->length == 0)
    return arguments.returnNone();
  return returnElement(arguments, vec, elementOf(arguments),
                       end == End::Back ? vec->length - 1 : 0);
}

/// A binary heap in a vector: the root is the greatest (sign 1) or least (sign -1). A comparison
/// may call the guest and trap: the vector then still holds every element, in some order.
class BinaryHeap {
public:
  BinaryHeap(Vm& vm, VecObject* vec, LayoutId element, int sign)
      : vm_(vm), vec_(vec), element_(element), sign_(sign) {}

  Trap siftUp(uint64_t at) {
    while (at != 0) {
      const uint64_t parent = (at - 1) / 2;
      bool above = false;
      if (Trap trap = isAbove(at, parent, above))
        return trap;
      if (!above)
        return {};
      swap(at, parent);
      at = parent;
    }
    return {};
  }

  Trap siftDown(uint64_t at, uint64_t length) {
    while (true) {
      uint64_t top = at;
      for (uint64_t child = 2 * at + 1; child <= 2 * at + 2 && child < length; ++child) {
        bool above = false;
        if (Trap trap = isAbove(child, top, above))
          return trap;
        if (above)
          top = child;
      }
      if (top == at)
        return {};
      swap(at, top);
      at = top;
    }
  }

  Trap build() {
    for (uint64_t at = vec_->length / 2; at-- > 0;)
      if (Trap trap = siftDown(at, vec_->length))
        return trap;
    return {};
  }

  void swap(uint64_t a, uint64_t b) {
    if (vm_.heap().info(vec_->layout).byteStorage)
      std::swap(vec_->bytes[a], vec_->bytes[b]);
    else
      std::swap(vec_->slots[a], vec_->slots[b]);
  }

private:
  Trap isAbove(uint64_t a, uint64_t b, bool& above) {
    int order = 0;
    vm_.heap().chargeSteps(12); // the way to the comparison
    Trap trap = vm::compareValues(vm_, vm_.heap().element(vec_, a), vm_.heap().element(vec_, b),
                                  element_, order);
    above = order * sign_ > 0;
    return trap;
  }

  Vm& vm_;
  VecObject* vec_;
  LayoutId element_;
  int sign_;
};

Trap heapFrom(Arguments& arguments, int sign) {
  Vm& vm = arguments.vm();
  if (Trap trap = chargeEach(vm, arguments.vec(0)->length * 8))
    return trap;
  const Value copy =
      copyPart(vm, arguments.vec(0), 0, arguments.vec(0)->length, arguments.resultLayout());
  if (copy == 0)
    return vm.heapTrap();
  BinaryHeap heap(vm, vm::asVec(copy), vm.layout(arguments.resultLayout()).element, sign);
  if (Trap trap = heap.build()) {
    vm.releaseValue(copy, arguments.resultLayout());
    return trap;
  }
  return arguments.returnOwned(copy);
}

Trap heapPush(Arguments& arguments, int sign) {
  if (Trap trap = pushTo(arguments, End::Back))
    return trap;
  VecObject* vec = arguments.vec(0);
  return BinaryHeap(arguments.vm(), vec, elementOf(arguments), sign).siftUp(vec->length - 1);
}

Trap heapPop(Arguments& arguments, int sign) {
  if (arguments.vec(0)->length == 0)
    return arguments.returnNone();
  VecObject* vec = writable(arguments);
  if (vec == nullptr)
    return arguments.vm().heapTrap();
  BinaryHeap heap(arguments.vm(), vec, elementOf(arguments), sign);
  heap.swap(0, vec->length - 1);
  if (Trap trap = heap.siftDown(0, vec->length - 1))
    return trap;
  return arguments.returnSomeOwned(arguments.vm().heap().popBack(vec));
}

/// The elements of a heap in the order in which it would give them away.
Trap heapToVec(Arguments& arguments, int sign) {
  Vm& vm = arguments.vm();
  const uint64_t length = arguments.vec(0)->length;
  if (Trap trap = chargeEach(vm, length * 8))
    return trap;
  const Value copy = copyPart(vm, arguments.vec(0), 0, length, arguments.resultLayout());
  if (copy == 0)
    return vm.heapTrap();
  BinaryHeap heap(vm, vm::asVec(copy), elementOf(arguments), sign);
  for (uint64_t left = length; left > 1; --left) {
    heap.swap(0, left - 1);
    if (Trap trap = heap.siftDown(0, left - 1)) {
      vm.releaseValue(copy, arguments.resultLayout());
      return trap;
    }
  }
  for (uint64_t i = 0; i < length / 2; ++i)
    heap.swap(i, length - 1 - i);
  return arguments.returnOwned(copy);
}

Trap newEmpty(Arguments& arguments) {
  return arguments.returnOwned(
      vm::fromObject(arguments.vm().heap().newVec(arguments.resultLayout(), 0)));
}

Trap copied(Arguments& arguments) {
  Vm& vm = arguments.vm();
  return arguments.returnOwned(
      copyPart(vm, arguments.vec(0), 0, arguments.vec(0)->length, arguments.resultLayout()));
}

Trap clear(Arguments& arguments) {
  VecObject* vec = writable(arguments);
  if (vec == nullptr)
    return arguments.vm().heapTrap();
  arguments.vm().heap().truncate(vec, 0);
  return arguments.returnUnit();
}

} // namespace

namespace bodies {

#define GOS_QUEUE_BASICS(Type)                                                                     \
  Trap Type##New(Arguments& arguments) {                                                           \
    return newEmpty(arguments);                                                                    \
  }                                                                                                \
  Trap Type##Len(Arguments& arguments) {                                                           \
    return arguments.returnInteger(int64_t(arguments.vec(0)->length));                             \
  }                                                                                                \
  Trap Type##IsEmpty(Arguments& arguments) {                                                       \
    return arguments.returnBoolean(arguments.vec(0)->length == 0);                                 \
  }                                                                                                \
  Trap Type##Clear(Arguments& arguments) {                                                         \
    return clear(arguments);                                                                       \
  }
GOS_QUEUE_BASICS(Deque)
GOS_QUEUE_BASICS(Queue)
GOS_QUEUE_BASICS(Stack)
GOS_QUEUE_BASICS(MaxHeap)
GOS_QUEUE_BASICS(MinHeap)
#undef GOS_QUEUE_BASICS

Trap DequeFrom(Arguments& arguments) {
  return copied(arguments);
}
Trap DequeToVec(Arguments& arguments) {
  return copied(arguments);
}
Trap DequePushBack(Arguments& arguments) {
  return pushTo(arguments, End::Back);
}
Trap DequePushFront(Arguments& arguments) {
  return pushTo(arguments, End::Front);
}
Trap DequePopBack(Arguments& arguments) {
  return popFrom(arguments, End::Back);
}
Trap DequePopFront(Arguments& arguments) {
  return popFrom(arguments, End::Front);
}
Trap DequePeekBack(Arguments& arguments) {
  return peekAt(arguments, End::Back);
}
Trap DequePeekFront(Arguments& arguments) {
  return peekAt(arguments, End::Front);
}

Trap QueueFrom(Arguments& arguments) {
  return copied(arguments);
}
Trap QueueToVec(Arguments& arguments) {
  return copied(arguments);
}
Trap QueuePush(Arguments& arguments) {
  return pushTo(arguments, End::Back);
}
Trap QueuePop(Arguments& arguments) {
  return popFrom(arguments, End::Front);
}
Trap QueuePeek(Arguments& arguments) {
  return peekAt(arguments, End::Front);
}

Trap StackFrom(Arguments& arguments) {
  return copied(arguments);
}
Trap StackToVec(Arguments& arguments) {
  return copied(arguments);
}
Trap StackPush(Arguments& arguments) {
  return pushTo(arguments, End::Back);
}
Trap StackPop(Arguments& arguments) {
  return popFrom(arguments, End::Back);
}
Trap StackPeek(Arguments& arguments) {
  return peekAt(arguments, End::Back);
}

Trap MaxHeapFrom(Arguments& arguments) {
  return heapFrom(arguments, 1);
}
Trap MaxHeapToVec(Arguments& arguments) {
  return heapToVec(arguments, 1);
}
Trap MaxHeapPush(Arguments& arguments) {
  return heapPush(arguments, 1);
}
Trap MaxHeapPop(Arguments& arguments) {
  return heapPop(arguments, 1);
}
Trap MaxHeapPeek(Arguments& arguments) {
  return peekAt(arguments, End::Front);
}
Trap MinHeapFrom(Arguments& arguments) {
  return heapFrom(arguments, -1);
}
Trap MinHeapToVec(Arguments& arguments) {
  return heapToVec(arguments, -1);
}
Trap MinHeapPush(Arguments& arguments) {
  return heapPush(arguments, -1);
}
Trap MinHeapPop(Arguments& arguments) {
  return heapPop(arguments, -1);
}
Trap MinHeapPeek(Arguments& arguments) {
  return peekAt(arguments, End::Front);
}

} // namespace bodies
} // namespace gos::stdlib
