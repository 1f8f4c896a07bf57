#pragma once
// A value is one untagged 64-bit slot; what it means is known from the layout of the register,
// field or element that holds it. Integers are carried in 64 bits, extended by the sign of their
// type; f64 as its bits; f32 as the bits of the double it was rounded to; bool is 0 or 1; char is a
// scalar value; () is 0; a unit enum is its variant index. A reference is an owned pointer to an
// Object, or 0 while the value is borrowed elsewhere.

#include <bit>
#include <cstdint>

namespace gos::vm {

struct Object;

using Value = uint64_t;

inline Value fromInteger(int64_t value) {
  return uint64_t(value);
}
inline int64_t asInteger(Value value) {
  return int64_t(value);
}
inline Value fromReal(double value) {
  return std::bit_cast<uint64_t>(value);
}
inline double asReal(Value value) {
  return std::bit_cast<double>(value);
}
inline Value fromObject(const Object* object) {
  return reinterpret_cast<uintptr_t>(object);
}
inline Object* asObject(Value value) {
  return reinterpret_cast<Object*>(uintptr_t(value));
}

} // namespace gos::vm
