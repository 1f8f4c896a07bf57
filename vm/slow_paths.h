#pragma once
// What the loop calls out to, kept out of it so that it stays small: failing, allocating, copying,
// text. Each answers whether the program goes on; if not, Vm::pending_ holds the trap. Private to
// the VM.

#include "vm/frame.h"
#include "vm/vm.h"

namespace gos::vm {

struct SlowPaths {
  using Raised = bool; // always false: for `return raise(..)`

  // ---- failing ----
  static Raised raise(Vm& vm, Trap trap);
  static Raised raiseReason(Vm& vm, PanicReason reason);
  static Raised raiseText(Vm& vm, Value string);
  static Raised raiseNull(Vm& vm);
  static Raised raiseIndex(Vm& vm, uint64_t length, uint64_t index);
  static Raised raiseHeap(Vm& vm);
  static Raised raiseSteps(Vm& vm);
  static Raised raiseDepth(Vm& vm);

  // ---- turns of goroutines ----
  enum class OutOfFuel : uint8_t { GoOn, Switch, Raised };
  /// The slice is used up, or all steps are.
  static OutOfFuel outOfFuel(Vm& vm);
  /// The trap is raised, traced and unwound: does somebody else go on?
  static bool survive(Vm& vm);
  static void releaseArguments(Vm& vm, const RuntimeFunction& callee, Value* outgoing);

  /// Marks a place of Vm::watchLines and puts back the instruction that stands there.
  static void placeReached(Vm& vm, const Instruction* at);

  // ---- calls ----
  static bool nativeCall(Vm& vm, uint32_t import, Value* outgoing, Value& destination);

  /// Fills a constant or static by its own initialiser, the first time it is asked for.
  static bool initialiseGlobal(Vm& vm, uint32_t global);
  static bool initialiseOne(Vm& vm, uint32_t global);

  // ---- objects; arguments in the outgoing slots are taken over ----
  static bool makeUnique(Vm& vm, Value& slot);
  static bool newStruct(Vm& vm, LayoutId layout, uint16_t variant, bool isEnum, Value* outgoing,
                        Value& destination);
  static bool newVec(Vm& vm, LayoutId layout, uint32_t count, const Value* outgoing,
                     Value& destination);
  static bool newVecRepeat(Vm& vm, LayoutId layout, int64_t count, Value element,
                           Value& destination);
  static bool vecSlice(Vm& vm, LayoutId layout, const VecObject* source, int64_t from, int64_t to,
                       Value& destination);
  static bool vecPush(Vm& vm, Value& slot, Value value);
  static bool newCell(Vm& vm, LayoutId layout, Value content, Value& destination);
  static bool newClosure(Vm& vm, LayoutId layout, uint32_t function, const Value* outgoing,
                         Value& destination);

  // ---- text ----
  static bool stringConcat(Vm& vm, Value left, Value right, Value& destination);
  static bool stringAppend(Vm& vm, Value& slot, Value text);
  static bool stringAppendChar(Vm& vm, Value& slot, Value scalar);
  static bool stringCharAt(Vm& vm, Value string, uint64_t at, Value& destination);
  static bool format(Vm& vm, Value& slot, Value value, LayoutId layout, uint32_t spec);

  // ---- structure ----
  static bool equal(Vm& vm, Value left, Value right, LayoutId layout, Value& destination);
  static bool compare(Vm& vm, Value left, Value right, LayoutId layout, Value& destination);
  static bool stringsEqual(Value left, Value right);
  /// What comparing them costs.
  static uint64_t equalitySteps(Value left, Value right);

  // ---- numbers ----
  static Value floatToInteger(double value, IntWidth width);
  static double remainder(double left, double right);
  static int64_t compareScalars(Value left, Value right, unsigned how);
};

} // namespace gos::vm
