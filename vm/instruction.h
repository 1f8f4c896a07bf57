#pragma once
// One instruction is one 64-bit word: an 8-bit opcode, an 8-bit operand D and three 16-bit operands
// A, B, C. B and C together can be read as one 32-bit operand Bx. (Wider than the 32-bit words of
// older register machines: no function runs out of registers, and decoding is a shift.)

#include <cstdint>

namespace gos::vm {

enum class Opcode : uint8_t {
#define GOS_OP(name, format) name,
#include "vm/opcodes.def"
};

inline constexpr unsigned kOpcodeCount = 0
#define GOS_OP(name, format) +1
#include "vm/opcodes.def"
    ;

/// Operand D of PanicCode.
enum class PanicReason : uint8_t {
  Unreachable,     // "internal error: entered unreachable code"
  Todo,            // "not yet implemented"
  Unimplemented,   // "not implemented"
  NoArm,           // GX0006: no arm of the `match` applied
  DivideByZero,    // "attempt to divide by zero"
  RemainderByZero, // "attempt to calculate the remainder with a divisor of zero"
  AddOverflow,     // "attempt to add with overflow"
  SubtractOverflow,
  MultiplyOverflow,
  OverlappingWindows, // "windows of one place overlap"
  UnwrapNone,         // "called `unwrap` on a `None` value"
  Borrowed,           // GX0001: a value that is borrowed elsewhere
};
inline constexpr unsigned kPanicReasonCount = 12;
/// Operand C of CheckRange.
enum class ArithmeticWord : uint16_t { Add, Subtract, Multiply };
inline constexpr unsigned kArithmeticWordCount = 3;

struct Instruction {
  uint64_t word = 0;

  static Instruction abc(Opcode op, uint16_t a, uint16_t b = 0, uint16_t c = 0, uint8_t d = 0) {
    return {uint64_t(op) | uint64_t(d) << 8 | uint64_t(a) << 16 | uint64_t(b) << 32 |
            uint64_t(c) << 48};
  }
  static Instruction abx(Opcode op, uint16_t a, uint32_t bx, uint8_t d = 0) {
    return {uint64_t(op) | uint64_t(d) << 8 | uint64_t(a) << 16 | uint64_t(bx) << 32};
  }
  Opcode op() const { return Opcode(uint8_t(word)); }
  uint8_t d() const { return uint8_t(word >> 8); }
  uint16_t a() const { return uint16_t(word >> 16); }
  uint16_t b() const { return uint16_t(word >> 32); }
  uint16_t c() const { return uint16_t(word >> 48); }
  int16_t sc() const { return int16_t(word >> 48); }
  uint32_t bx() const { return uint32_t(word >> 32); }
  int32_t sbx() const { return int32_t(word >> 32); }
};
static_assert(sizeof(Instruction) == 8);

} // namespace gos::vm
