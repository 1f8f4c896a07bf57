#pragma once
// Equality, order and hash of values, by layout: scalars by value, text by code point, structs
// field by field, sequences lexicographically, enums by variant and then payload. None of them
// recurses on the C stack over the depth of a value. A layout's hook replaces the structural
// behaviour of it, also inside containers.

#include "vm/module.h"
#include "vm/trap.h"
#include "vm/value.h"

namespace gos::vm {

class Vm;

/// Floats: `==` of the language is IEEE; keys and sorting use the total order.
enum class FloatEquality : uint8_t { Ieee, Total };

/// The values are borrowed. Null inside (a value that is borrowed elsewhere) traps GX0001.
Trap valuesEqual(Vm& vm, Value left, Value right, LayoutId layout, FloatEquality floats,
                 bool& equal);
/// -1, 0, 1. Floats in total order; maps and sets by their entries in key order.
Trap compareValues(Vm& vm, Value left, Value right, LayoutId layout, int& order);
/// Equal values (total order of floats) have equal hashes; the seed is fixed.
Trap hashValue(Vm& vm, Value value, LayoutId layout, uint32_t& hash);

/// Scalars alone, by the layout's kind, width and scalar kind.
int compareScalars(Value left, Value right, const Layout& layout);
/// The order of all floats: -NaN, -inf, ..., -0, +0, ..., +inf, NaN.
int compareTotal(double left, double right);
/// Does the integer width carry a sign?
constexpr bool isSigned(IntWidth width) {
  return width <= IntWidth::I64;
}
uint32_t hashBytes(llvm::StringRef bytes);

} // namespace gos::vm
