// The dispatch loop and nothing else. Longer than other files on purpose: one function, so that the
// compiler keeps the program counter, the registers and the fuel in machine registers.
//
// Whatever can call out, allocate or fail goes through slow_paths.h, between SAVE and LOAD: the
// frame on top then holds the program counter (for traces and for runs inside this one), and
// Vm::steps_ the fuel.

#include "vm/frame.h"
#include "vm/slow_paths.h"
#include "vm/structural.h"
#include "vm/vm.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace gos::vm {

namespace {

// The costs of instructions that stand for more than themselves, in steps (heap.h says what bulk
// work costs).
constexpr int64_t kSlowSteps = 8;   // a call out of the loop
constexpr int64_t kObjectSteps = 8; // an object made here

constexpr int64_t kMinimum[8] = {INT8_MIN, INT16_MIN, INT32_MIN, INT64_MIN, 0, 0, 0, INT64_MIN};
constexpr int64_t kMaximum[8] = {INT8_MAX,  INT16_MAX,  INT32_MAX,  INT64_MAX,
                                 UINT8_MAX, UINT16_MAX, UINT32_MAX, INT64_MAX};

/// Truncates to the width and extends by its sign.
inline Value wrapTo(Value value, unsigned width) {
  const unsigned shift = 64 - (8u << (width & 3));
  return width < 4 ? Value(int64_t(value << shift) >> shift) : value << shift >> shift;
}

} // namespace

#define OP(name) op_##name:
#define NEXT()                                                                                     \
  do {                                                                                             \
    word = (pc++)->word;                                                                           \
    goto* kLabels[uint8_t(word)];                                                                  \
  } while (false)
#define A uint16_t(word >> 16)
#define B uint16_t(word >> 32)
#define C (word >> 48)
#define D uint8_t(word >> 8)
#define BX uint32_t(word >> 32)
#define SBX int32_t(word >> 32)
#define SB int16_t(word >> 32)
#define SC (int64_t(word) >> 48)
#define R(x) base[x]
#define INT(x) int64_t(base[x])
#define REAL(x) asReal(base[x])
#define SAVE() (fp->pc = pc, top_ = fp, steps_ = fuel)
#define LOAD() (fuel = steps_)
#define SLOW(call)                                                                                 \
  do {                                                                                             \
    fuel -= kSlowSteps;                                                                            \
    SAVE();                                                                                        \
    const bool goesOn = SlowPaths::call;                                                           \
    LOAD();                                                                                        \
    if (!goesOn) [[unlikely]]                                                                      \
      goto raised;                                                                                 \
    if (fuel < 0) [[unlikely]] /* one of these may be the work of a second */                      \
      goto sliceEnds;                                                                              \
  } while (false)
#define FAIL(reason)                                                                               \
  do {                                                                                             \
    failure = PanicReason::reason;                                                                 \
    goto raiseFailure;                                                                             \
  } while (false)
#define NEED(object)                                                                               \
  do {                                                                                             \
    if ((object) == nullptr) [[unlikely]]                                                          \
      goto raiseNull;                                                                              \
  } while (false)
#define CHECK_INDEX(vec, at)                                                                       \
  do {                                                                                             \
    if ((at) >= (vec)->length) [[unlikely]] {                                                      \
      indexLength = (vec)->length;                                                                 \
      indexValue = at;                                                                             \
      goto raiseIndex;                                                                             \
    }                                                                                              \
  } while (false)
/// Makes the object of a slot safe to change and reads it.
#define UNIQUE(slot)                                                                               \
  do {                                                                                             \
    NEED(asObject(slot));                                                                          \
    if (asObject(slot)->refs != 1) [[unlikely]]                                                    \
      SLOW(makeUnique(*this, slot));                                                               \
  } while (false)
#define ASSIGN(slot, value) heap_.assign(slot, value)
/// A jump back pays for the stretch of code that it repeats. It has been made when the fuel is
/// looked at.
#define JUMP_BACK(distance)                                                                        \
  do {                                                                                             \
    fuel -= 1 + (std::abs(int64_t(distance)) >> 3);                                                \
    pc += distance;                                                                                \
    if (fuel < 0) [[unlikely]] {                                                                   \
      jumped = distance;                                                                           \
      goto loopSliceEnds;                                                                          \
    }                                                                                              \
  } while (false)
#define BINARY(expression)                                                                         \
  do {                                                                                             \
    const Value left = R(B);                                                                       \
    const Value right = R(C);                                                                      \
    R(A) = Value(expression);                                                                      \
    NEXT();                                                                                        \
  } while (false)
#define REAL_BINARY(expression)                                                                    \
  do {                                                                                             \
    const double left = REAL(B);                                                                   \
    const double right = REAL(C);                                                                  \
    R(A) = fromReal(expression);                                                                   \
    NEXT();                                                                                        \
  } while (false)
#define REAL_TEST(expression)                                                                      \
  do {                                                                                             \
    const double left = REAL(B);                                                                   \
    const double right = REAL(C);                                                                  \
    R(A) = (expression);                                                                           \
    NEXT();                                                                                        \
  } while (false)
#define CHECKED(type, builtin, reason)                                                             \
  do {                                                                                             \
    type sum;                                                                                      \
    if (builtin(type(R(B)), type(R(C)), &sum)) [[unlikely]]                                        \
      FAIL(reason);                                                                                \
    R(A) = Value(sum);                                                                             \
    NEXT();                                                                                        \
  } while (false)
#define JUMP_TEST(condition)                                                                       \
  do {                                                                                             \
    if (condition)                                                                                 \
      pc += SC;                                                                                    \
    NEXT();                                                                                        \
  } while (false)

Trap Vm::interpret(bool raised) {
  static const void* const kLabels[] = {
#define GOS_OP(name, format) &&op_##name,
#include "vm/opcodes.def"
      &&op_Halt,
      &&op_GoroutineEnd,
      &&op_Watched,
  };
  static_assert(sizeof(kLabels) / sizeof(kLabels[0]) == kWatchedOpcode + 1);

  Frame* fp = top_;
  const Instruction* pc = fp->pc;
  Value* base = fp->base;
  int64_t fuel = steps_;
  uint64_t word;
  const RuntimeFunction* callee;
  PanicReason failure;
  int64_t jumped;
  uint64_t indexLength;
  uint64_t indexValue;

  if (raised) [[unlikely]]
    goto raisedElsewhere;
  NEXT();

  // ---- moves and constants ----
  OP(Move) {
    R(A) = R(B);
    NEXT();
  }
  OP(MoveRef)
  OP(Retype) {
    ASSIGN(R(A), retained(R(B)));
    NEXT();
  }
  OP(TakeRef) {
    const Value value = R(B);
    R(B) = 0;
    ASSIGN(R(A), value);
    NEXT();
  }
  OP(Release) {
    ASSIGN(R(A), 0);
    NEXT();
  }
  OP(LoadInt) {
    R(A) = Value(int64_t(SBX));
    NEXT();
  }
  OP(LoadConstant) {
    R(A) = module_.constants[BX];
    NEXT();
  }
  OP(LoadString) {
    ASSIGN(R(A), constantObjects_[BX]);
    NEXT();
  }

  // ---- integers ----
  OP(AddI64) CHECKED(int64_t, __builtin_add_overflow, AddOverflow);
  OP(SubI64) CHECKED(int64_t, __builtin_sub_overflow, SubtractOverflow);
  OP(MulI64) CHECKED(int64_t, __builtin_mul_overflow, MultiplyOverflow);
  OP(AddU64) CHECKED(uint64_t, __builtin_add_overflow, AddOverflow);
  OP(SubU64) CHECKED(uint64_t, __builtin_sub_overflow, SubtractOverflow);
  OP(MulU64) CHECKED(uint64_t, __builtin_mul_overflow, MultiplyOverflow);
  OP(AddImmI64) {
    int64_t sum;
    if (__builtin_add_overflow(INT(B), int64_t(SC), &sum)) [[unlikely]]
      goto raiseAddImm;
    R(A) = Value(sum);
    NEXT();
  }
  OP(MulImmI64) {
    int64_t product;
    if (__builtin_mul_overflow(INT(B), int64_t(SC), &product)) [[unlikely]]
      FAIL(MultiplyOverflow);
    R(A) = Value(product);
    NEXT();
  }
  OP(DivI64) {
    const int64_t divisor = INT(C);
    if (divisor == 0) [[unlikely]]
      FAIL(DivideByZero);
    const int64_t dividend = INT(B);
    if (((uint64_t(dividend) | uint64_t(divisor)) >> 32) == 0) // see RemI64
      R(A) = uint32_t(dividend) / uint32_t(divisor);
    else
      R(A) = divisor == -1 ? 0 - Value(dividend) : Value(dividend / divisor);
    NEXT();
  }
  OP(RemI64) {
    const int64_t divisor = INT(C);
    if (divisor == 0) [[unlikely]]
      FAIL(RemainderByZero);
    // A 32-bit division takes a fraction of the time of a 64-bit one.
    const int64_t dividend = INT(B);
    if (((uint64_t(dividend) | uint64_t(divisor)) >> 32) == 0)
      R(A) = uint32_t(dividend) % uint32_t(divisor);
    else
      R(A) = divisor == -1 ? 0 : Value(dividend % divisor);
    NEXT();
  }
  OP(DivU64) {
    if (R(C) == 0) [[unlikely]]
      FAIL(DivideByZero);
    R(A) = R(B) / R(C);
    NEXT();
  }
  OP(RemU64) {
    if (R(C) == 0) [[unlikely]]
      FAIL(RemainderByZero);
    R(A) = R(B) % R(C);
    NEXT();
  }
  OP(WrapAdd) BINARY(left + right);
  OP(WrapSub) BINARY(left - right);
  OP(WrapMul) BINARY(left * right);
  OP(Negate) {
    R(A) = 0 - R(B);
    NEXT();
  }
  OP(BitAnd) BINARY(left & right);
  OP(BitOr) BINARY(left | right);
  OP(BitXor) BINARY(left ^ right);
  OP(BitNot) {
    R(A) = ~R(B);
    NEXT();
  }
  OP(BitAndImm) {
    R(A) = R(B) & C;
    NEXT();
  }
  OP(ShiftLeft) BINARY(left << (right & 63));
  OP(ShiftRightSigned) BINARY(int64_t(left) >> (right & 63));
  OP(ShiftRightUnsigned) BINARY(left >> (right & 63));
  OP(CheckRange) {
    const unsigned width = D & 7;
    const int64_t value = INT(A);
    if (value < kMinimum[width] || value > kMaximum[width]) [[unlikely]]
      goto raiseRange;
    NEXT();
  }
  OP(Wrap) {
    R(A) = wrapTo(R(B), D & 7);
    NEXT();
  }
  OP(BoolNot) {
    R(A) = R(B) == 0;
    NEXT();
  }

  // ---- floats ----
  OP(AddF64) REAL_BINARY(left + right);
  OP(SubF64) REAL_BINARY(left - right);
  OP(MulF64) REAL_BINARY(left * right);
  OP(DivF64) REAL_BINARY(left / right);
  OP(RemF64) REAL_BINARY(SlowPaths::remainder(left, right));
  OP(NegateF64) {
    R(A) = R(B) ^ (uint64_t(1) << 63);
    NEXT();
  }
  OP(RoundF32) {
    R(A) = fromReal(double(float(REAL(B))));
    NEXT();
  }
  OP(SqrtF64) {
    R(A) = fromReal(std::sqrt(REAL(B)));
    NEXT();
  }

  // ---- conversions ----
  OP(IntToFloat) {
    R(A) = fromReal(double(INT(B)));
    NEXT();
  }
  OP(UnsignedToFloat) {
    R(A) = fromReal(double(R(B)));
    NEXT();
  }
  OP(FloatToInt) {
    R(A) = SlowPaths::floatToInteger(REAL(B), IntWidth(D & 7));
    NEXT();
  }

  // ---- comparisons ----
  OP(EqInt) BINARY(left == right);
  OP(NeInt) BINARY(left != right);
  OP(LtI64) BINARY(int64_t(left) < int64_t(right));
  OP(LeI64) BINARY(int64_t(left) <= int64_t(right));
  OP(LtU64) BINARY(left < right);
  OP(LeU64) BINARY(left <= right);
  OP(EqF64) REAL_TEST(left == right);
  OP(NeF64) REAL_TEST(left != right);
  OP(LtF64) REAL_TEST(left < right);
  OP(LeF64) REAL_TEST(left <= right);
  OP(EqString) {
    const Value left = R(B);
    const Value right = R(C);
    NEED(asObject(left));
    NEED(asObject(right));
    fuel -= int64_t(SlowPaths::equalitySteps(left, right));
    if (fuel < 0) [[unlikely]]
      goto sliceEndsBefore;
    R(A) = SlowPaths::stringsEqual(left, right);
    NEXT();
  }
  OP(EqValue) {
    SLOW(equal(*this, R(B), R(C), fp->function->registerLayouts[B], R(A)));
    NEXT();
  }
  OP(CompareValue) {
    SLOW(compare(*this, R(B), R(C), fp->function->registerLayouts[B], R(A)));
    NEXT();
  }
  OP(CompareScalar) {
    R(A) = Value(SlowPaths::compareScalars(R(B), R(C), D));
    NEXT();
  }

  // ---- jumps ----
  OP(Jump) {
    pc += SBX;
    NEXT();
  }
  OP(LoopJump) {
    JUMP_BACK(SBX);
    NEXT();
  }
  OP(JumpIf) {
    if (R(A) != 0)
      pc += SBX;
    NEXT();
  }
  OP(JumpIfNot) {
    if (R(A) == 0)
      pc += SBX;
    NEXT();
  }
  OP(JumpEqInt) JUMP_TEST(R(A) == R(B));
  OP(JumpNeInt) JUMP_TEST(R(A) != R(B));
  OP(JumpLtI64) JUMP_TEST(INT(A) < INT(B));
  OP(JumpLeI64) JUMP_TEST(INT(A) <= INT(B));
  OP(JumpLtU64) JUMP_TEST(R(A) < R(B));
  OP(JumpLeU64) JUMP_TEST(R(A) <= R(B));
  OP(JumpLtF64) JUMP_TEST(REAL(A) < REAL(B));
  OP(JumpLeF64) JUMP_TEST(REAL(A) <= REAL(B));
  OP(JumpNotLtF64) JUMP_TEST(!(REAL(A) < REAL(B)));
  OP(JumpNotLeF64) JUMP_TEST(!(REAL(A) <= REAL(B)));
  OP(JumpEqImm) JUMP_TEST(INT(A) == SB);
  OP(JumpNeImm) JUMP_TEST(INT(A) != SB);
  OP(JumpLtImm) JUMP_TEST(INT(A) < SB);
  OP(JumpLeImm) JUMP_TEST(INT(A) <= SB);
  OP(JumpGtImm) JUMP_TEST(INT(A) > SB);
  OP(JumpGeImm) JUMP_TEST(INT(A) >= SB);
  OP(ForLoopI64) {
    const Value next = R(A) + 1;
    R(A) = next;
    if (int64_t(next) < INT(B))
      JUMP_BACK(SC);
    NEXT();
  }
  OP(Switch) {
    pc += std::min<uint64_t>(R(A), BX);
    NEXT();
  }

  // ---- calls; outgoing slots were turned into registers by Vm::patch ----
  OP(ArgScalar) // patched to Move
  OP(ArgInt)    // patched to LoadInt
  OP(ArgRef) {
    R(A) = retained(R(B));
    NEXT();
  }
  OP(ArgTake) {
    R(A) = R(B);
    R(B) = 0;
    NEXT();
  }
  OP(Call) {
    callee = &functions_[BX];
    Value* const registers = fp->outgoing;
    fuel -= callee->steps;
    if (fuel < 0) [[unlikely]]
      goto sliceEndsBefore;
    if (fp + 1 >= frameLimit_ || registers + callee->frameSize >= stackLimit_) [[unlikely]]
      goto callTooDeep;
    fp->pc = pc;
    ++fp;
    pc = callee->code;
    base = registers;
    fp->function = callee;
    fp->base = registers;
    fp->outgoing = registers + callee->registers;
    for (uint32_t i = callee->referenceBegin; i < callee->referenceEnd; ++i)
      registers[i] = 0;
    NEXT();
  }
  OP(CallClosure) {
    const ClosureObject* const closure = asClosure(R(B));
    if (closure == nullptr) [[unlikely]] {
      // The arguments stay in the outgoing slots; the heap goes with the run.
      goto raiseNull;
    }
    callee = &functions_[index(closure->function)];
    Value* const registers = fp->outgoing;
    fuel -= callee->steps;
    if (fuel < 0) [[unlikely]]
      goto sliceEndsBefore;
    if (fp + 1 >= frameLimit_ || registers + callee->frameSize >= stackLimit_) [[unlikely]]
      goto callTooDeep;
    const uint64_t* const captures = const_cast<ClosureObject*>(closure)->captures();
    Value* const captured = registers + callee->parameterCount;
    for (uint32_t i = 0; i < callee->captureCount; ++i)
      captured[i] = captures[i];
    for (uint32_t i = callee->referenceParameterCount; i > 0; --i) {
      const uint16_t slot = callee->referenceParameters[i - 1];
      if (slot < callee->parameterCount)
        break;
      retain(asObject(registers[slot]));
    }
    fp->pc = pc;
    ++fp;
    pc = callee->code;
    base = registers;
    fp->function = callee;
    fp->base = registers;
    fp->outgoing = registers + callee->registers;
    for (uint32_t i = callee->referenceBegin; i < callee->referenceEnd; ++i)
      registers[i] = 0;
    NEXT();
  }
  OP(CallNative) {
    SLOW(nativeCall(*this, BX, fp->outgoing, R(A)));
    NEXT();
  }
  OP(FetchArg) {
    const Value value = R(B);
    R(B) = 0;
    ASSIGN(R(A), value);
    NEXT();
  }
  OP(Return) {
    const Value value = R(A);
    --fp;
    pc = fp->pc;
    base = fp->base;
    base[pc[-1].a()] = value;
    NEXT();
  }
  OP(ReturnUnit) {
    indexValue = 0;
    goto returnScalar;
  }
  OP(ReturnScalar) {
    indexValue = R(A);
  returnScalar:
    callee = fp->function;
    for (uint32_t i = 0; i < callee->referenceParameterCount; ++i)
      heap_.release(asObject(base[callee->referenceParameters[i]]));
    for (uint32_t i = callee->referenceBegin; i < callee->referenceEnd; ++i)
      heap_.release(asObject(base[i]));
    --fp;
    pc = fp->pc;
    base = fp->base;
    base[pc[-1].a()] = indexValue;
    NEXT();
  }
  OP(ReturnRef) {
    const Value value = R(A);
    R(A) = 0;
    callee = fp->function;
    for (uint32_t i = 0; i < callee->referenceParameterCount; ++i)
      heap_.release(asObject(base[callee->referenceParameters[i]]));
    for (uint32_t i = callee->referenceBegin; i < callee->referenceEnd; ++i)
      heap_.release(asObject(base[i]));
    --fp;
    pc = fp->pc;
    base = fp->base;
    ASSIGN(base[pc[-1].a()], value);
    NEXT();
  }
  OP(Panic) {
    SLOW(raiseText(*this, R(A)));
    NEXT();
  }
  OP(PanicCode) {
    SLOW(raiseReason(*this, PanicReason(D)));
    NEXT();
  }

  // ---- structs, tuples ----
  OP(NewStruct) {
    const unsigned count = D;
    if (count != kManySlots) [[likely]] {
      fuel -= kObjectSteps;
      auto* object =
          static_cast<StructObject*>(heap_.allocate(sizeof(Object) + count * sizeof(Value)));
      if (object != nullptr) [[likely]] {
        object->refs = 1;
        object->kind = ObjectKind::Struct;
        object->flags = 0;
        object->tag = 0;
        object->layout = LayoutId(BX);
        object->extra = count;
        const Value* const outgoing = fp->outgoing;
        for (unsigned i = 0; i < count; ++i)
          object->slots()[i] = outgoing[i];
        ASSIGN(R(A), fromObject(object));
        NEXT();
      }
    }
    SLOW(newStruct(*this, LayoutId(BX), 0, false, fp->outgoing, R(A)));
    NEXT();
  }
  OP(GetField) {
    const StructObject* const object = asStruct(R(B));
    NEED(object);
    R(A) = object->slots()[C];
    NEXT();
  }
  OP(GetFieldRef) {
    const StructObject* const object = asStruct(R(B));
    NEED(object);
    ASSIGN(R(A), retained(object->slots()[C]));
    NEXT();
  }
  OP(SetField) {
    UNIQUE(R(A));
    asStruct(R(A))->slots()[B] = R(C);
    NEXT();
  }
  OP(SetFieldTake) {
    UNIQUE(R(A));
    StructObject* const object = asStruct(R(A));
    const Value value = R(C);
    R(C) = 0;
    ASSIGN(object->slots()[B], value);
    NEXT();
  }
  OP(TakeField) {
    UNIQUE(R(B));
    Value& slot = asStruct(R(B))->slots()[C];
    const Value value = slot;
    slot = 0;
    ASSIGN(R(A), value);
    NEXT();
  }

  // ---- enums ----
  OP(NewEnum) {
    const unsigned count = D;
    if (count != kManySlots) [[likely]] {
      fuel -= kObjectSteps;
      auto* object =
          static_cast<StructObject*>(heap_.allocate(sizeof(Object) + count * sizeof(Value)));
      if (object != nullptr) [[likely]] {
        object->refs = 1;
        object->kind = ObjectKind::Enum;
        object->flags = 0;
        object->tag = uint16_t(C);
        object->layout = LayoutId(B);
        object->extra = count;
        const Value* const outgoing = fp->outgoing;
        for (unsigned i = 0; i < count; ++i)
          object->slots()[i] = outgoing[i];
        ASSIGN(R(A), fromObject(object));
        NEXT();
      }
    }
    SLOW(newStruct(*this, LayoutId(B), uint16_t(C), true, fp->outgoing, R(A)));
    NEXT();
  }
  OP(NewUnitVariant) { // patched to LoadString
    NEXT();
  }
  OP(GetTag) {
    const Object* const object = asObject(R(B));
    NEED(object);
    R(A) = object->tag;
    NEXT();
  }
  OP(GetPayload) {
    const StructObject* const object = asStruct(R(B));
    NEED(object);
    if (object->tag != C) [[unlikely]]
      FAIL(NoArm);
    R(A) = object->slots()[D];
    NEXT();
  }
  OP(GetPayloadRef) {
    const StructObject* const object = asStruct(R(B));
    NEED(object);
    if (object->tag != C) [[unlikely]]
      FAIL(NoArm);
    ASSIGN(R(A), retained(object->slots()[D]));
    NEXT();
  }
  OP(JumpTagNe) {
    const Object* const object = asObject(R(A));
    NEED(object);
    if (object->tag != B)
      pc += SC;
    NEXT();
  }

  // ---- vectors and arrays ----
  OP(NewVec) {
    SLOW(newVec(*this, LayoutId(B), uint32_t(C), fp->outgoing, R(A)));
    NEXT();
  }
  OP(NewVecRepeat) {
    SLOW(newVecRepeat(*this, LayoutId(C), INT(B), fp->outgoing[0], R(A)));
    NEXT();
  }
  OP(VecLen) {
    const VecObject* const vec = asVec(R(B));
    NEED(vec);
    R(A) = vec->length;
    NEXT();
  }
  OP(VecGet) {
    const VecObject* const vec = asVec(R(B));
    const uint64_t at = R(C);
    NEED(vec);
    CHECK_INDEX(vec, at);
    R(A) = vec->slots[at];
    NEXT();
  }
  OP(VecGetByte) {
    const VecObject* const vec = asVec(R(B));
    const uint64_t at = R(C);
    NEED(vec);
    CHECK_INDEX(vec, at);
    R(A) = vec->bytes[at];
    NEXT();
  }
  OP(VecGetRef) {
    const VecObject* const vec = asVec(R(B));
    const uint64_t at = R(C);
    NEED(vec);
    CHECK_INDEX(vec, at);
    ASSIGN(R(A), retained(vec->slots[at]));
    NEXT();
  }
  OP(VecGetField) {
    const VecObject* const vec = asVec(R(B));
    const uint64_t at = R(C);
    NEED(vec);
    CHECK_INDEX(vec, at);
    const StructObject* const object = asStruct(vec->slots[at]);
    NEED(object);
    R(A) = object->slots()[D];
    NEXT();
  }
  OP(VecSet) {
    UNIQUE(R(A));
    VecObject* const vec = asVec(R(A));
    const uint64_t at = R(B);
    CHECK_INDEX(vec, at);
    vec->slots[at] = R(C);
    NEXT();
  }
  OP(VecSetByte) {
    UNIQUE(R(A));
    VecObject* const vec = asVec(R(A));
    const uint64_t at = R(B);
    CHECK_INDEX(vec, at);
    vec->bytes[at] = uint8_t(R(C));
    NEXT();
  }
  OP(VecSetTake) {
    UNIQUE(R(A));
    VecObject* const vec = asVec(R(A));
    const uint64_t at = R(B);
    CHECK_INDEX(vec, at);
    const Value value = R(C);
    R(C) = 0;
    ASSIGN(vec->slots[at], value);
    NEXT();
  }
  OP(VecSetField) {
    UNIQUE(R(A));
    VecObject* const vec = asVec(R(A));
    const uint64_t at = R(B);
    CHECK_INDEX(vec, at);
    UNIQUE(vec->slots[at]);
    asStruct(vec->slots[at])->slots()[D] = R(C);
    NEXT();
  }
  OP(VecTake) {
    UNIQUE(R(B));
    VecObject* const vec = asVec(R(B));
    const uint64_t at = R(C);
    CHECK_INDEX(vec, at);
    const Value value = vec->slots[at];
    vec->slots[at] = 0;
    ASSIGN(R(A), value);
    NEXT();
  }
  OP(VecPush) {
    VecObject* const vec = asVec(R(A));
    NEED(vec);
    if (vec->refs == 1 && vec->length < vec->capacity) [[likely]] {
      vec->slots[vec->length++] = R(B);
      NEXT();
    }
    SLOW(vecPush(*this, R(A), R(B)));
    NEXT();
  }
  OP(VecPushByte) {
    VecObject* const vec = asVec(R(A));
    NEED(vec);
    if (vec->refs == 1 && vec->length < vec->capacity) [[likely]] {
      vec->bytes[vec->length++] = uint8_t(R(B));
      NEXT();
    }
    SLOW(vecPush(*this, R(A), R(B)));
    NEXT();
  }
  OP(VecPushTake) {
    VecObject* const vec = asVec(R(A));
    NEED(vec);
    const Value value = R(B);
    R(B) = 0;
    if (A == B) [[unlikely]] // a vector cannot go into itself
      goto raiseNull;
    if (vec->refs == 1 && vec->length < vec->capacity) [[likely]] {
      vec->slots[vec->length++] = value;
      NEXT();
    }
    SLOW(vecPush(*this, R(A), value));
    NEXT();
  }
  OP(VecSlice) {
    SLOW(vecSlice(*this, fp->function->registerLayouts[A], asVec(R(B)), INT(C), INT(D), R(A)));
    NEXT();
  }

  // ---- strings ----
  OP(StringConcat) {
    SLOW(stringConcat(*this, R(B), R(C), R(A)));
    NEXT();
  }
  OP(StringAppend) {
    SLOW(stringAppend(*this, R(A), R(B)));
    NEXT();
  }
  OP(StringAppendChar) {
    StringObject* const string = asString(R(A));
    const Value scalar = R(B);
    if (string != nullptr && string->refs == 1 && string->length < string->capacity &&
        scalar < 0x80) [[likely]] {
      string->data[string->length++] = char(scalar);
      string->scalars += string->scalars >= 0;
      NEXT();
    }
    SLOW(stringAppendChar(*this, R(A), scalar));
    NEXT();
  }
  OP(StringCharAt) {
    const StringObject* const string = asString(R(B));
    const uint64_t at = R(C);
    if (string != nullptr && string->scalars == int64_t(string->length) && at < string->length)
        [[likely]] {
      R(A) = uint8_t(string->data[at]);
      NEXT();
    }
    SLOW(stringCharAt(*this, R(B), at, R(A)));
    NEXT();
  }
  OP(FormatScalar)
  OP(FormatValue) {
    SLOW(format(*this, R(A), R(B), fp->function->registerLayouts[B], uint32_t(C)));
    NEXT();
  }

  // ---- cells ----
  OP(NewCellScalar) {
    SLOW(newCell(*this, fp->function->registerLayouts[A], R(B), R(A)));
    NEXT();
  }
  OP(NewCellTake) {
    const Value value = R(B);
    R(B) = 0;
    SLOW(newCell(*this, fp->function->registerLayouts[A], value, R(A)));
    NEXT();
  }
  OP(CellGet) {
    const CellObject* const cell = asCell(R(B));
    NEED(cell);
    R(A) = cell->content;
    NEXT();
  }
  OP(CellGetRef) {
    const CellObject* const cell = asCell(R(B));
    NEED(cell);
    ASSIGN(R(A), retained(cell->content));
    NEXT();
  }
  OP(CellTake) {
    CellObject* const cell = asCell(R(B));
    NEED(cell);
    const Value value = cell->content;
    cell->content = 0;
    ASSIGN(R(A), value);
    NEXT();
  }
  OP(CellSet) {
    CellObject* const cell = asCell(R(A));
    NEED(cell);
    cell->content = R(B);
    NEXT();
  }
  OP(CellSetTake) {
    CellObject* const cell = asCell(R(A));
    NEED(cell);
    const Value value = R(B);
    R(B) = 0;
    ASSIGN(cell->content, value);
    NEXT();
  }
  OP(LoadGlobal) {
    if (globalReady_[BX] != kGlobalReady) [[unlikely]]
      SLOW(initialiseGlobal(*this, BX));
    ASSIGN(R(A), globals_[BX]);
    NEXT();
  }
  OP(CellVecGet) {
    const CellObject* const cell = asCell(R(B));
    NEED(cell);
    const VecObject* const vec = asVec(cell->content);
    const uint64_t at = R(C);
    NEED(vec);
    CHECK_INDEX(vec, at);
    R(A) = vec->slots[at];
    NEXT();
  }
  OP(CellVecGetByte) {
    const CellObject* const cell = asCell(R(B));
    NEED(cell);
    const VecObject* const vec = asVec(cell->content);
    const uint64_t at = R(C);
    NEED(vec);
    CHECK_INDEX(vec, at);
    R(A) = vec->bytes[at];
    NEXT();
  }
  OP(CellVecSet) {
    CellObject* const cell = asCell(R(A));
    NEED(cell);
    UNIQUE(cell->content);
    VecObject* const vec = asVec(cell->content);
    const uint64_t at = R(B);
    CHECK_INDEX(vec, at);
    vec->slots[at] = R(C);
    NEXT();
  }
  OP(CellVecSetByte) {
    CellObject* const cell = asCell(R(A));
    NEED(cell);
    UNIQUE(cell->content);
    VecObject* const vec = asVec(cell->content);
    const uint64_t at = R(B);
    CHECK_INDEX(vec, at);
    vec->bytes[at] = uint8_t(R(C));
    NEXT();
  }
  OP(CellVecLen) {
    const CellObject* const cell = asCell(R(B));
    NEED(cell);
    const VecObject* const vec = asVec(cell->content);
    NEED(vec);
    R(A) = vec->length;
    NEXT();
  }

  // ---- closures ----
  OP(NewClosure) {
    SLOW(newClosure(*this, fp->function->registerLayouts[A], BX, fp->outgoing, R(A)));
    NEXT();
  }

  // ---- leaving ----
op_Halt:
  top_ = fp;
  steps_ = fuel;
  return {};

op_Watched: // puts the instruction in its place, which is then the next one
  --pc;
  SlowPaths::placeReached(*this, pc);
  NEXT();

op_GoroutineEnd:
  top_ = fp;
  steps_ = fuel;
  scheduler_->endCurrent();
  goto switchGoroutine;

  // A slice ends before an instruction, which is then done again, arguments and all; behind one; or
  // behind a jump back.
sliceEndsBefore:
  --pc;
  jumped = -1;
  goto sliceEndsAt;
loopSliceEnds:
  jumped = jumped >= 0 ? 0 : jumped;
  goto sliceEndsAt;
sliceEnds:
  jumped = 0;
sliceEndsAt:
  SAVE();
  switch (SlowPaths::outOfFuel(*this)) {
  case SlowPaths::OutOfFuel::GoOn:
    LOAD();
    NEXT();
  case SlowPaths::OutOfFuel::Switch:
    goto switchGoroutine;
  case SlowPaths::OutOfFuel::Raised:
    fp->pc -= jumped; // where it was spent, for the trace
    goto raised;
  }
switchGoroutine:
  if (!scheduler_->switchAway())
    goto raisedElsewhere;
  fp = top_;
  pc = fp->pc;
  base = fp->base;
  fuel = steps_;
  NEXT();

callTooDeep:
  SAVE();
  SlowPaths::releaseArguments(*this, *callee, fp->outgoing);
  SlowPaths::raiseDepth(*this);
  goto raised;
raiseNull:
  SAVE();
  SlowPaths::raiseNull(*this);
  goto raised;
raiseIndex:
  SAVE();
  SlowPaths::raiseIndex(*this, indexLength, indexValue);
  goto raised;
raiseAddImm:
  failure = D == 1 ? PanicReason::SubtractOverflow : PanicReason::AddOverflow;
  goto raiseFailure;
raiseRange:
  failure = C == uint64_t(ArithmeticWord::Add)        ? PanicReason::AddOverflow
            : C == uint64_t(ArithmeticWord::Subtract) ? PanicReason::SubtractOverflow
                                                      : PanicReason::MultiplyOverflow;
raiseFailure:
  SAVE();
  SlowPaths::raiseReason(*this, failure);
raised:
  if (!pending_) // a native that waits
    goto switchGoroutine;
raisedElsewhere:
  if (!pending_->traced)
    takeTrace(*pending_);
  unwind();
  if (SlowPaths::survive(*this))
    goto switchGoroutine;
  return std::move(pending_);
}

} // namespace gos::vm
