#pragma once
// What the loop knows of a function and of a call. Private to the VM.

#include "vm/module.h"
#include "vm/value.h"

namespace gos::vm {

struct alignas(64) RuntimeFunction {
  const Instruction* code = nullptr;
  const Function* source = nullptr;              // null: the boundary of a run
  const uint16_t* referenceParameters = nullptr; // parameters and captures that are references
  const LayoutId* registerLayouts = nullptr;
  uint32_t registers = 0;
  uint32_t frameSize = 0;      // registers and outgoing slots
  uint32_t referenceBegin = 0; // local reference registers
  uint32_t referenceEnd = 0;
  uint16_t referenceParameterCount = 0;
  uint16_t parameterCount = 0; // without captures
  uint16_t captureCount = 0;
  uint32_t steps = 1; // what a call costs: by the code and the registers that it may go through
};
static_assert(sizeof(RuntimeFunction) == 64);

/// A call in progress. The frames of all nested runs stand on one stack; a boundary frame separates
/// two runs. Its one register receives the result, as if the boundary's `Call` had been compiled.
struct Frame {
  const Instruction* pc; // the next instruction
  const RuntimeFunction* function;
  Value* base;
  Value* outgoing; // base + registers
};

/// Ends a run: the opcode after the table, which no verified module contains.
inline constexpr unsigned kHaltOpcode = kOpcodeCount;
/// Ends a goroutine, in the same way.
inline constexpr unsigned kGoroutineEndOpcode = kOpcodeCount + 1;
/// Stands at a place that has not been reached yet (Vm::watchLines), in the loaded code alone.
inline constexpr unsigned kWatchedOpcode = kOpcodeCount + 2;
static_assert(kWatchedOpcode <= 255);

/// Slots that an allocating instruction finds in operand D; this many or more: look the layout up.
inline constexpr uint8_t kManySlots = 255;

} // namespace gos::vm
