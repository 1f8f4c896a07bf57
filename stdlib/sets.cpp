// Set and BTreeSet: the keys of a map without values.

#include "stdlib/support.h"

#include "vm/map.h"

namespace gos::stdlib {

namespace {

LayoutId elementOf(const Arguments& arguments) {
  return arguments.layout(0).element;
}

vm::SetObject* writable(Arguments& arguments) {
  Value& slot = arguments.slot(0);
  return arguments.vm().heap().makeUnique(slot) ? vm::asMap(slot) : nullptr;
}

/// Adds a copy of a borrowed element.
Trap addCopy(Vm& vm, vm::SetObject* set, Value value, LayoutId element) {
  if (vm.isReference(element) && value == 0)
    return Trap::borrowed("an element is borrowed elsewhere");
  bool present = false;
  return vm::mapInsert(vm, set, vm.retainValue(value, element), 0, present);
}

Trap has(Vm& vm, vm::SetObject* set, Value value, bool& found) {
  vm::MapEntry* entry = nullptr;
  Trap trap = vm::mapFind(vm, set, value, entry);
  found = entry != nullptr;
  return trap;
}

enum class Keep : uint8_t { All, Shared, Unshared };

/// Adds to `out` the elements of `from` by whether `other` has them.
Trap addWhere(Vm& vm, vm::SetObject* out, vm::SetObject* from, vm::SetObject* other, Keep keep,
              LayoutId element) {
  if (Trap trap = chargeEach(vm, uint64_t(from->used) * 16))
    return trap;
  for (uint32_t i = 0; i < from->used; ++i) {
    if (!from->entries[i].live)
      continue;
    bool shared = false;
    if (keep != Keep::All)
      if (Trap trap = has(vm, other, from->entries[i].key, shared))
        return trap;
    if (keep == Keep::All || shared == (keep == Keep::Shared))
      if (Trap trap = addCopy(vm, out, from->entries[i].key, element))
        return trap;
  }
  return {};
}

/// A set made of parts of the two arguments.
Trap combine(Arguments& arguments, Keep left, std::optional<Keep> right) {
  Vm& vm = arguments.vm();
  vm::SetObject* out = vm.heap().newMap(arguments.resultLayout());
  if (out == nullptr)
    return vm.heapTrap();
  Trap trap = addWhere(vm, out, arguments.map(0), arguments.map(1), left, elementOf(arguments));
  if (!trap && right)
    trap = addWhere(vm, out, arguments.map(1), arguments.map(0), *right, elementOf(arguments));
  if (trap) {
    vm.heap().release(out);
    return trap;
  }
  return arguments.returnOwned(vm::fromObject(out));
}

/// Do all elements of set `inner` answer `wanted` to being in set `outer`?
Trap everyElement(Arguments& arguments, size_t inner, size_t outer, bool wanted) {
  Vm& vm = arguments.vm();
  const vm::SetObject* set = arguments.map(inner);
  if (Trap trap = chargeEach(vm, uint64_t(set->used) * 8))
    return trap;
  for (uint32_t i = 0; i < set->used; ++i) {
    if (!set->entries[i].live)
      continue;
    bool found = false;
    if (Trap trap = has(vm, arguments.map(outer), set->entries[i].key, found))
      return trap;
    if (found != wanted)
      return arguments.returnBoolean(false);
  }
  return arguments.returnBoolean(true);
}

Trap elementAt(Arguments& arguments, uint64_t at, Value& out) {
  ArrayRef<uint32_t> order;
  if (Trap trap = vm::mapOrder(arguments.vm(), arguments.map(0), order))
    return trap;
  if (at >= order.size())
    return Trap::panic("set index out of bounds: the len is " + std::to_string(order.size()) +
                       " but the index is " + std::to_string(int64_t(at)));
  out = arguments.map(0)->entries[order[at]].key;
  if (arguments.vm().isReference(elementOf(arguments)) && out == 0)
    return Trap::borrowed("an element is borrowed elsewhere");
  out = arguments.vm().retainValue(out, elementOf(arguments));
  return {};
}

enum class End : uint8_t { First, Last };

Trap endOf(Arguments& arguments, End end, bool remove) {
  const uint32_t count = arguments.map(0)->live;
  if (count == 0)
    return arguments.returnNone();
  if (remove && writable(arguments) == nullptr)
    return arguments.vm().heapTrap();
  Value value = 0;
  if (Trap trap = elementAt(arguments, end == End::First ? 0 : count - 1, value))
    return trap;
  if (remove) {
    bool present = false;
    if (Trap trap = vm::mapRemove(arguments.vm(), arguments.map(0), value, present)) {
      arguments.vm().releaseValue(value, elementOf(arguments));
      return trap;
    }
  }
  return arguments.returnSomeOwned(value);
}

} // namespace

namespace bodies {

Trap SetNew(Arguments& arguments) {
  return arguments.returnOwned(
      vm::fromObject(arguments.vm().heap().newMap(arguments.resultLayout())));
}

Trap SetFrom(Arguments& arguments) {
  Vm& vm = arguments.vm();
  VecObject* items = arguments.vec(0);
  if (Trap trap = chargeEach(vm, items->length * 16))
    return trap;
  vm::SetObject* set = vm.heap().newMap(arguments.resultLayout());
  if (set == nullptr)
    return vm.heapTrap();
  const LayoutId element = vm.layout(arguments.resultLayout()).element;
  for (uint64_t i = 0; i < items->length; ++i)
    if (Trap trap = addCopy(vm, set, vm.heap().element(items, i), element)) {
      vm.heap().release(set);
      return trap;
    }
  return arguments.returnOwned(vm::fromObject(set));
}

/// True when the element is new.
Trap SetInsert(Arguments& arguments) {
  Vm& vm = arguments.vm();
  vm::SetObject* set = writable(arguments);
  if (set == nullptr)
    return vm.heapTrap();
  bool present = false;
  if (Trap trap = vm::mapInsert(vm, set, vm.retainValue(arguments.slot(1), elementOf(arguments)), 0,
                                present))
    return trap;
  return arguments.returnBoolean(!present);
}

Trap SetRemove(Arguments& arguments) {
  vm::SetObject* set = writable(arguments);
  if (set == nullptr)
    return arguments.vm().heapTrap();
  bool present = false;
  if (Trap trap = vm::mapRemove(arguments.vm(), set, arguments.slot(1), present))
    return trap;
  return arguments.returnBoolean(present);
}

Trap SetContains(Arguments& arguments) {
  bool found = false;
  if (Trap trap = has(arguments.vm(), arguments.map(0), arguments.slot(1), found))
    return trap;
  return arguments.returnBoolean(found);
}
Trap SetLen(Arguments& arguments) {
  return arguments.returnInteger(arguments.map(0)->live);
}
Trap SetIsEmpty(Arguments& arguments) {
  return arguments.returnBoolean(arguments.map(0)->live == 0);
}

Trap SetClear(Arguments& arguments) {
  vm::SetObject* set = writable(arguments);
  if (set == nullptr)
    return arguments.vm().heapTrap();
  vm::mapClear(arguments.vm(), set);
  return arguments.returnUnit();
}

Trap SetToVec(Arguments& arguments) {
  Vm& vm = arguments.vm();
  const uint32_t count = arguments.map(0)->live;
  if (Trap trap = chargeEach(vm, uint64_t(count) * 4))
    return trap;
  VecObject* out = vm.heap().newVec(arguments.resultLayout(), count);
  if (out == nullptr)
    return vm.heapTrap();
  for (uint32_t i = 0; i < count; ++i) {
    Value value = 0;
    Trap trap = elementAt(arguments, i, value);
    if (!trap && !vm.heap().push(out, value))
      trap = vm.heapTrap();
    if (trap) {
      vm.heap().release(out);
      return trap;
    }
  }
  return arguments.returnOwned(vm::fromObject(out));
}

Trap SetItemAt(Arguments& arguments) {
  Value value = 0;
  if (Trap trap = elementAt(arguments, uint64_t(arguments.integer(1)), value))
    return trap;
  return arguments.returnOwned(value);
}

Trap SetUnion(Arguments& arguments) {
  return combine(arguments, Keep::All, Keep::All);
}
Trap SetIntersection(Arguments& arguments) {
  return combine(arguments, Keep::Shared, std::nullopt);
}
Trap SetDifference(Arguments& arguments) {
  return combine(arguments, Keep::Unshared, std::nullopt);
}
Trap SetSymmetricDifference(Arguments& arguments) {
  return combine(arguments, Keep::Unshared, Keep::Unshared);
}
Trap SetIsSubset(Arguments& arguments) {
  return everyElement(arguments, 0, 1, true);
}
Trap SetIsSuperset(Arguments& arguments) {
  return everyElement(arguments, 1, 0, true);
}
Trap SetIsDisjoint(Arguments& arguments) {
  return everyElement(arguments, 0, 1, false);
}

#define GOS_SAME(name)                                                                             \
  Trap BTreeSet##name(Arguments& arguments) {                                                      \
    return Set##name(arguments);                                                                   \
  }
GOS_SAME(New)
GOS_SAME(From)
GOS_SAME(Insert)
GOS_SAME(Remove)
GOS_SAME(Contains)
GOS_SAME(Len)
GOS_SAME(IsEmpty)
GOS_SAME(Clear)
GOS_SAME(ToVec)
GOS_SAME(Union)
GOS_SAME(Intersection)
GOS_SAME(Difference)
GOS_SAME(SymmetricDifference)
GOS_SAME(IsSubset)
GOS_SAME(IsSuperset)
GOS_SAME(IsDisjoint)
#undef GOS_SAME
Trap BTreeSetFirst(Arguments& arguments) {
  return endOf(arguments, End::First, false);
}
Trap BTreeSetLast(Arguments& arguments) {
  return endOf(arguments, End::Last, false);
}
Trap BTreeSetPopFirst(Arguments& arguments) {
  return endOf(arguments, End::First, true);
}
Trap BTreeSetPopLast(Arguments& arguments) {
  return endOf(arguments, End::Last, true);
}

} // namespace bodies
} // namespace gos::stdlib
