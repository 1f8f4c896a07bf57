#pragma once
// What a layout is to the typed reader of JSON.

#include "vm/vm.h"

namespace gos::stdlib {

using vm::Layout;
using vm::LayoutId;
using vm::LayoutKind;
using vm::Vm;

/// Is this json::Value, down to the layouts of its payloads? Names alone would let a type of the
/// program pass for it.
bool isWholeJsonValue(const Vm& vm, LayoutId id);
/// An enum of None and Some(T).
bool isOptionLayout(const Layout& layout);

struct IntegerRange {
  int64_t least;
  uint64_t most;
};
IntegerRange rangeOf(vm::IntWidth width);

} // namespace gos::stdlib
