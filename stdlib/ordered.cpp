// Positions in key order of BTreeMap and BTreeSet: what `range` is made of. A set is a map without
// values.

#include "stdlib/support.h"

#include "vm/map.h"
#include "vm/structural.h"

namespace gos::stdlib::bodies {

/// intrinsics::tree_search: the position of the first key that is not before the given one, or with
/// `after` of the first that is behind it. Binary search; the order is that of the key type, which
/// may be code of the program.
Trap TreeSearch(Arguments& arguments) {
  Vm& vm = arguments.vm();
  const vm::MapObject* map = arguments.map(0);
  const LayoutId key = arguments.layout(0).element;
  const bool after = arguments.boolean(2);
  ArrayRef<uint32_t> order;
  if (Trap trap = vm::mapOrder(vm, arguments.map(0), order))
    return trap;
  uint64_t low = 0;
  uint64_t high = order.size();
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    int relation = 0;
    if (Trap trap = vm::compareValues(vm, map->entries[order[middle]].key, arguments.slot(1), key,
                                      relation))
      return trap;
    // A `cmp` of the program may have asked for the order itself, which lies in the map and stays
    // as it is.
    if (relation < 0 || (after && relation == 0))
      low = middle + 1;
    else
      high = middle;
  }
  return arguments.returnInteger(int64_t(low));
}
Trap TreeSearchSet(Arguments& arguments) {
  return TreeSearch(arguments);
}

Trap TreeKeyAt(Arguments& arguments) {
  return MapKeyAt(arguments);
}
Trap TreeValueAt(Arguments& arguments) {
  return MapValueAt(arguments);
}
Trap TreeItemAt(Arguments& arguments) {
  return SetItemAt(arguments);
}

} // namespace gos::stdlib::bodies
