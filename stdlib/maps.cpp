// Map and BTreeMap: one kind of object, iterated in key order.

#include "stdlib/support.h"

#include "vm/format.h"
#include "vm/map.h"

namespace gos::stdlib {

namespace {

LayoutId keyLayout(const Arguments& arguments) {
  return arguments.layout(0).element;
}
LayoutId valueLayout(const Arguments& arguments) {
  return arguments.layout(0).value;
}

vm::MapObject* writable(Arguments& arguments) {
  Value& slot = arguments.slot(0);
  return arguments.vm().heap().makeUnique(slot) ? vm::asMap(slot) : nullptr;
}

/// A copy of a key or value that lies in a map; traps when it is borrowed elsewhere.
Trap copyOf(const Vm& vm, Value value, LayoutId layout, Value& out) {
  if (vm.isReference(layout) && value == 0)
    return Trap::borrowed("a value of the map is borrowed elsewhere");
  out = vm.retainValue(value, layout);
  return {};
}

Trap returnSome(Arguments& arguments, Value value, LayoutId layout) {
  Value copy = 0;
  if (Trap trap = copyOf(arguments.vm(), value, layout, copy))
    return trap;
  return arguments.returnSomeOwned(copy);
}

Trap returnCopy(Arguments& arguments, Value value, LayoutId layout) {
  Value copy = 0;
  if (Trap trap = copyOf(arguments.vm(), value, layout, copy))
    return trap;
  return arguments.returnOwned(copy);
}

/// Inserts copies of borrowed values.
Trap insertCopies(Vm& vm, vm::MapObject* map, Value key, LayoutId keyId, Value value,
                  LayoutId valueId) {
  Value ownKey = 0;
  Value ownValue = 0;
  if (Trap trap = copyOf(vm, key, keyId, ownKey))
    return trap;
  if (Trap trap = copyOf(vm, value, valueId, ownValue)) {
    vm.releaseValue(ownKey, keyId);
    return trap;
  }
  bool present = false;
  return vm::mapInsert(vm, map, ownKey, ownValue, present);
}

Trap find(Arguments& arguments, vm::MapEntry*& entry) {
  return vm::mapFind(arguments.vm(), arguments.map(0), arguments.slot(1), entry);
}

enum class End : uint8_t { First, Last };

/// The entry at an end of the key order; null for an empty map.
Trap entryAt(Arguments& arguments, End end, vm::MapEntry*& entry) {
  entry = nullptr;
  ArrayRef<uint32_t> order;
  if (Trap trap = vm::mapOrder(arguments.vm(), arguments.map(0), order))
    return trap;
  if (!order.empty())
    entry = &arguments.map(0)->entries[end == End::First ? order.front() : order.back()];
  return {};
}

Trap returnPair(Arguments& arguments, const vm::MapEntry& entry) {
  Vm& vm = arguments.vm();
  Value key = 0;
  Value value = 0;
  if (Trap trap = copyOf(vm, entry.key, keyLayout(arguments), key))
    return trap;
  if (Trap trap = copyOf(vm, entry.value, valueLayout(arguments), value)) {
    vm.releaseValue(key, keyLayout(arguments));
    return trap;
  }
  Builder builder(vm);
  const Value fields[] = {key, value};
  const Value pair = builder.structure(payloadOf(vm, arguments.resultLayout(), "Some"), fields);
  return pair == 0 ? vm.heapTrap() : arguments.returnSomeOwned(pair);
}

Trap endOf(Arguments& arguments, End end) {
  vm::MapEntry* entry = nullptr;
  if (Trap trap = entryAt(arguments, end, entry))
    return trap;
  return entry == nullptr ? arguments.returnNone() : returnPair(arguments, *entry);
}

Trap popEnd(Arguments& arguments, End end) {
  if (writable(arguments) == nullptr)
    return arguments.vm().heapTrap();
  vm::MapEntry* entry = nullptr;
  if (Trap trap = entryAt(arguments, end, entry))
    return trap;
  if (entry == nullptr)
    return arguments.returnNone();
  if (Trap trap = returnPair(arguments, *entry))
    return trap;
  vm::mapRemoveEntry(arguments.vm(), arguments.map(0), entry);
  return {};
}

enum class Half : uint8_t { Keys, Values };

Trap column(Arguments& arguments, Half half) {
  Vm& vm = arguments.vm();
  vm::MapObject* map = arguments.map(0);
  if (Trap trap = chargeEach(vm, uint64_t(map->live) * 2))
    return trap;
  ArrayRef<uint32_t> order;
  if (Trap trap = vm::mapOrder(vm, map, order))
    return trap;
  VecObject* out = vm.heap().newVec(arguments.resultLayout(), order.size());
  if (out == nullptr)
    return vm.heapTrap();
  const LayoutId layout = half == Half::Keys ? keyLayout(arguments) : valueLayout(arguments);
  for (uint32_t number : order) {
    const vm::MapEntry& entry = map->entries[number];
    Value copy = 0;
    Trap trap = copyOf(vm, half == Half::Keys ? entry.key : entry.value, layout, copy);
    if (!trap && !vm.heap().push(out, copy))
      trap = vm.heapTrap();
    if (trap) {
      vm.heap().release(out);
      return trap;
    }
  }
  return arguments.returnOwned(vm::fromObject(out));
}

Trap entryInOrder(Arguments& arguments, const vm::MapEntry*& entry) {
  ArrayRef<uint32_t> order;
  if (Trap trap = vm::mapOrder(arguments.vm(), arguments.map(0), order))
    return trap;
  const uint64_t at = uint64_t(arguments.integer(1));
  if (at >= order.size())
    return Trap::panic("map index out of bounds: the len is " + std::to_string(order.size()) +
                       " but the index is " + std::to_string(arguments.integer(1)));
  entry = &arguments.map(0)->entries[order[at]];
  return {};
}

} // namespace

namespace bodies {

Trap MapNew(Arguments& arguments) {
  return arguments.returnOwned(
      vm::fromObject(arguments.vm().heap().newMap(arguments.resultLayout())));
}

Trap MapFrom(Arguments& arguments) {
  Vm& vm = arguments.vm();
  VecObject* entries = arguments.vec(0);
  if (Trap trap = chargeEach(vm, entries->length * 16))
    return trap;
  vm::MapObject* map = vm.heap().newMap(arguments.resultLayout());
  if (map == nullptr)
    return vm.heapTrap();
  const Layout& layout = vm.layout(arguments.resultLayout());
  for (uint64_t i = 0; i < entries->length; ++i) {
    const vm::StructObject* pair = vm::asStruct(entries->slots[i]);
    Trap trap = pair == nullptr ? Trap::borrowed("an element is borrowed elsewhere")
                                : insertCopies(vm, map, pair->slots()[0], layout.element,
                                               pair->slots()[1], layout.value);
    if (trap) {
      vm.heap().release(map);
      return trap;
    }
  }
  return arguments.returnOwned(vm::fromObject(map));
}

Trap MapInsert(Arguments& arguments) {
  Vm& vm = arguments.vm();
  vm::MapObject* map = writable(arguments);
  if (map == nullptr)
    return vm.heapTrap();
  bool present = false;
  Value replaced = 0;
  if (Trap trap = vm::mapInsert(vm, map, vm.retainValue(arguments.slot(1), keyLayout(arguments)),
                                vm.retainValue(arguments.slot(2), valueLayout(arguments)), present,
                                &replaced))
    return trap;
  return present ? arguments.returnSomeOwned(replaced) : arguments.returnNone();
}

Trap MapGet(Arguments& arguments) {
  vm::MapEntry* entry = nullptr;
  if (Trap trap = find(arguments, entry))
    return trap;
  return entry == nullptr ? arguments.returnNone()
                          : returnSome(arguments, entry->value, valueLayout(arguments));
}

Trap MapGetOr(Arguments& arguments) {
  vm::MapEntry* entry = nullptr;
  if (Trap trap = find(arguments, entry))
    return trap;
  return returnCopy(arguments, entry == nullptr ? arguments.slot(2) : entry->value,
                    valueLayout(arguments));
}

/// The value of the key, after `default` was put where there was none.
Trap MapOrInsert(Arguments& arguments) {
  vm::MapEntry* entry = nullptr;
  if (Trap trap = find(arguments, entry))
    return trap;
  if (entry != nullptr)
    return returnCopy(arguments, entry->value, valueLayout(arguments));
  Vm& vm = arguments.vm();
  vm::MapObject* map = writable(arguments);
  if (map == nullptr)
    return vm.heapTrap();
  if (Trap trap = insertCopies(vm, map, arguments.slot(1), keyLayout(arguments), arguments.slot(2),
                               valueLayout(arguments)))
    return trap;
  return returnCopy(arguments, arguments.slot(2), valueLayout(arguments));
}

Trap MapInc(Arguments& arguments) {
  Vm& vm = arguments.vm();
  vm::MapObject* map = writable(arguments);
  if (map == nullptr)
    return vm.heapTrap();
  vm::MapEntry* entry = nullptr;
  if (Trap trap = find(arguments, entry))
    return trap;
  const int64_t by = arguments.integer(2);
  if (entry == nullptr) {
    bool present = false;
    if (Trap trap = vm::mapInsert(vm, map, vm.retainValue(arguments.slot(1), keyLayout(arguments)),
                                  vm::fromInteger(by), present))
      return trap;
    return arguments.returnUnit();
  }
  int64_t sum = 0;
  if (__builtin_add_overflow(vm::asInteger(entry->value), by, &sum))
    return Trap::panic("attempt to add with overflow");
  entry->value = vm::fromInteger(sum);
  return arguments.returnUnit();
}

Trap MapRemove(Arguments& arguments) {
  Vm& vm = arguments.vm();
  vm::MapObject* map = writable(arguments);
  if (map == nullptr)
    return vm.heapTrap();
  bool present = false;
  Value removed = 0;
  if (Trap trap = vm::mapRemove(vm, map, arguments.slot(1), present, &removed))
    return trap;
  return present ? arguments.returnSomeOwned(removed) : arguments.returnNone();
}
Trap MapPop(Arguments& arguments) {
  return MapRemove(arguments);
}

Trap MapContainsKey(Arguments& arguments) {
  vm::MapEntry* entry = nullptr;
  if (Trap trap = find(arguments, entry))
    return trap;
  return arguments.returnBoolean(entry != nullptr);
}
Trap MapContains(Arguments& arguments) {
  return MapContainsKey(arguments);
}
Trap MapLen(Arguments& arguments) {
  return arguments.returnInteger(arguments.map(0)->live);
}
Trap MapIsEmpty(Arguments& arguments) {
  return arguments.returnBoolean(arguments.map(0)->live == 0);
}

Trap MapClear(Arguments& arguments) {
  vm::MapObject* map = writable(arguments);
  if (map == nullptr)
    return arguments.vm().heapTrap();
  vm::mapClear(arguments.vm(), map);
  return arguments.returnUnit();
}

Trap MapKeys(Arguments& arguments) {
  return column(arguments, Half::Keys);
}
Trap MapValues(Arguments& arguments) {
  return column(arguments, Half::Values);
}

/// `m[k]`: a missing key panics.
Trap MapIndex(Arguments& arguments) {
  vm::MapEntry* entry = nullptr;
  if (Trap trap = find(arguments, entry))
    return trap;
  if (entry != nullptr)
    return returnCopy(arguments, entry->value, valueLayout(arguments));
  vm::TextBuffer key(arguments.vm().heap());
  if (Trap trap = vm::formatDebug(arguments.vm(), arguments.slot(1), keyLayout(arguments), key))
    return trap;
  return Trap::panic("the map has no key " + key.text().str());
}

Trap MapKeyAt(Arguments& arguments) {
  const vm::MapEntry* entry = nullptr;
  if (Trap trap = entryInOrder(arguments, entry))
    return trap;
  return returnCopy(arguments, entry->key, keyLayout(arguments));
}
Trap MapValueAt(Arguments& arguments) {
  const vm::MapEntry* entry = nullptr;
  if (Trap trap = entryInOrder(arguments, entry))
    return trap;
  return returnCopy(arguments, entry->value, valueLayout(arguments));
}

#define GOS_SAME(name)                                                                             \
  Trap BTreeMap##name(Arguments& arguments) {                                                      \
    return Map##name(arguments);                                                                   \
  }
GOS_SAME(New)
GOS_SAME(From)
GOS_SAME(Insert)
GOS_SAME(Get)
GOS_SAME(GetOr)
GOS_SAME(OrInsert)
GOS_SAME(Inc)
GOS_SAME(Remove)
GOS_SAME(Pop)
GOS_SAME(ContainsKey)
GOS_SAME(Contains)
GOS_SAME(Len)
GOS_SAME(IsEmpty)
GOS_SAME(Clear)
GOS_SAME(Keys)
GOS_SAME(Values)
#undef GOS_SAME
Trap BTreeMapFirstKeyValue(Arguments& arguments) {
  return endOf(arguments, End::First);
}
Trap BTreeMapLastKeyValue(Arguments& arguments) {
  return endOf(arguments, End::Last);
}
Trap BTreeMapPopFirst(Arguments& arguments) {
  return popEnd(arguments, End::First);
}
Trap BTreeMapPopLast(Arguments& arguments) {
  return popEnd(arguments, End::Last);
}

} // namespace bodies
} // namespace gos::stdlib
