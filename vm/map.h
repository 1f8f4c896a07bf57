#pragma once
// The operations of Map and Set. Keys are compared structurally, by the key layout; a key type with
// hooks of its own calls the guest, so each operation answers a Trap. The map must be unique where
// it is changed; keys and values that are borrowed stay the caller's, owned ones are taken over,
// also when the operation traps.

#include "vm/object.h"
#include "vm/trap.h"

#include "llvm/ADT/ArrayRef.h"

namespace gos::vm {

class Vm;

/// The entry of the key, or null. The entry is valid until the map changes.
Trap mapFind(Vm& vm, MapObject* map, Value key, MapEntry*& entry);
/// Adds or replaces. `value` is 0 for a set. When `replaced` is given it receives the old value,
/// owned by the caller (0 if there was none) and `wasPresent` says which; else the old value is
/// released. Takes over key and value.
Trap mapInsert(Vm& vm, MapObject* map, Value key, Value value, bool& wasPresent,
               Value* replaced = nullptr);
/// Removes the key (borrowed). When `removedValue` is given it receives the value, owned by the
/// caller.
Trap mapRemove(Vm& vm, MapObject* map, Value key, bool& wasPresent, Value* removedValue = nullptr);
/// Removes an entry that mapFind or mapOrder answered, e.g. for `pop_first`; key and value are
/// released.
void mapRemoveEntry(Vm& vm, MapObject* map, MapEntry* entry);
/// Entry numbers in key order; every number is of a live entry. Made when asked for, kept until the
/// map changes.
Trap mapOrder(Vm& vm, MapObject* map, llvm::ArrayRef<uint32_t>& order);
/// Removes all.
void mapClear(Vm& vm, MapObject* map);
/// Room for `count` entries in all.
Trap mapReserve(Vm& vm, MapObject* map, uint64_t count);

} // namespace gos::vm
