#pragma once
// The heap of one Vm: counted allocation, reference counts, copy on write. Every byte is counted
// against a budget before it is allocated; what does not fit answers null, and the caller traps
// (Vm::heapTrap). Small blocks come from free lists over big chunks, large ones from malloc; all of
// it goes with the heap, whoever still holds a count.

#include "vm/object.h"
#include "vm/text.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace gos::vm {

class ForeignLinker;

/// The run-time digest of one variant: which slots are references.
struct VariantInfo {
  uint32_t slotCount = 0;
  std::vector<uint16_t> references;
};

enum class KnownVariant : uint8_t { None, Some, Ok, Err };
inline constexpr uint16_t kNoVariant = 0xffff;

/// The run-time digest of a Layout.
struct LayoutInfo {
  LayoutKind kind = LayoutKind::Int;
  bool isReference = false;
  bool byteStorage = false;
  bool elementIsReference = false; // Vec, Set, Cell; key of Map
  bool valueIsReference = false;   // value of Map
  bool plainEquality =
      false; // no hook, no float and no closure in it: the same object is equal to itself
  std::vector<VariantInfo> variants;
  /// Where the variants of Option and Result stand, by KnownVariant; kNoVariant if it has none of
  /// that name.
  std::array<uint16_t, 4> known = {kNoVariant, kNoVariant, kNoVariant, kNoVariant};
};

class Heap {
public:
  /// Both tables outlive the heap; the second says, by function, which captures are references.
  /// Copying in bulk is charged to `steps`, the Vm's counter, which the loop looks at.
  Heap(const std::vector<LayoutInfo>& layouts,
       const std::vector<std::vector<uint16_t>>& captureReferences, uint64_t limit, int64_t& steps);
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  /// Drops everything at once; nobody may hold an object of it any more.
  void reset(uint64_t limit);
  /// Whom to tell of handles that nobody holds any more; outlives the heap, or its next reset.
  void setForeign(ForeignLinker* foreign) { foreign_ = foreign; }

  /// The host gave no memory although the budget would have allowed it.
  void noteRefusal() { refused_ = true; }
  bool wasRefused() const { return refused_; }

  uint64_t used() const { return used_; }
  uint64_t limit() const { return limit_; }
  uint64_t available() const { return limit_ - used_; }
  const LayoutInfo& info(LayoutId id) const { return layouts_[index(id)]; }

  // ---- what work costs; one step is about a nanosecond
  // -------------------------------------------
  /// Work that is not of bytes. The loop and `callNative` look at the counter afterwards.
  void chargeSteps(uint64_t steps) { steps_ -= int64_t(std::min<uint64_t>(steps, kMostSteps)); }
  /// Bytes that are copied, filled or compared with others.
  void chargeBytes(uint64_t bytes) { chargeSteps(bytes / 16); }
  /// Bytes that are looked at one after another: decoded, hashed, searched.
  void chargeText(uint64_t bytes) { chargeSteps(bytes / 2); }
  /// Elements that are copied: each reference is counted where it lies.
  void chargeElements(uint64_t count, const LayoutInfo& sequence) {
    chargeSteps(sequence.byteStorage          ? count / 16
                : sequence.elementIsReference ? count * 4
                                              : count / 2);
  }

  /// The scalar values of a text, and where one begins: both may have to be looked for, which is
  /// charged.
  int64_t scalarCount(StringObject* string) {
    if (string->scalars < 0)
      chargeText(string->length);
    return vm::scalarCount(string);
  }
  uint64_t byteOffset(StringObject* string, uint64_t scalarIndex) {
    scalarCount(string);
    uint64_t walked = 0;
    const uint64_t offset = vm::byteOffset(string, scalarIndex, &walked);
    chargeSteps(walked);
    return offset;
  }

  // ---- memory that lives outside the objects, for the time of one call
  // ----------------------------
  bool reserveScratch(uint64_t bytes) { return bytes <= limit_ - used_ && (used_ += bytes, true); }
  void releaseScratch(uint64_t bytes) { used_ -= bytes; }

  // ---- making; the count is one; null when the budget does not allow it
  // --------------------------
  StringObject* newString(llvm::StringRef text, LayoutId layout = {});
  StringObject* newStringWithCapacity(uint64_t capacity, LayoutId layout = {});
  /// Empty, with room for `capacity` elements in the object itself.
  VecObject* newVec(LayoutId layout, uint64_t capacity);
  /// The element so often, which it takes over, also when there is no room.
  VecObject* newVecOf(LayoutId layout, uint64_t count, Value element);
  /// Slots are zero.
  StructObject* newStruct(LayoutId layout);
  StructObject* newEnum(LayoutId layout, uint16_t variant);
  ClosureObject* newClosure(LayoutId layout, FunctionId function, uint32_t captures);
  CellObject* newCell(LayoutId layout, Value content);
  MapObject* newMap(LayoutId layout);
  /// Takes over the handle, also when there is no room: then the library is told at once.
  HandleObject* newHandle(LayoutId layout, uint64_t handle);

  // ---- counting
  // -----------------------------------------------------------------------------------
  void release(Object* object) {
    if (object != nullptr && int32_t(object->refs) > 0 && --object->refs == 0)
      destroy(object);
  }
  void releaseValue(Value value, bool isReference) {
    if (isReference)
      release(asObject(value));
  }
  /// Writes an owned value over an owned one.
  void assign(Value& slot, Value value) {
    Object* old = asObject(slot);
    slot = value;
    release(old);
  }
  static void makeImmortal(Object* object) { object->refs = kImmortal; }

  /// Makes the object in the slot safe to change: a shallow copy takes its place while others hold
  /// it. False: budget. The slot must not be null.
  bool makeUnique(Value& slot) { return asObject(slot)->refs == 1 || copyForWriting(slot); }

  // ---- strings and vectors; the object must be unique
  // -----------------------------------------------
  bool reserveString(StringObject* string, uint64_t capacity);
  bool append(StringObject* string, llvm::StringRef text);
  bool appendScalar(StringObject* string, uint32_t scalar);
  bool reserveVec(VecObject* vec, uint64_t capacity);
  /// Takes over the value, also when it fails.
  bool push(VecObject* vec, Value value);
  /// Makes room before the first element and puts the value there. Takes over the value, also when
  /// it fails.
  bool pushFront(VecObject* vec, Value value);
  /// The first element, owned by the caller; the length must not be zero.
  Value popFront(VecObject* vec);
  /// The last element, owned by the caller; the length must not be zero.
  Value popBack(VecObject* vec);
  /// Shortens to `length` and releases the rest.
  void truncate(VecObject* vec, uint64_t length);
  /// Inserts or removes in the middle; index at most the length (insert) or below it (remove).
  bool insertAt(VecObject* vec, uint64_t at, Value value);
  /// The removed element, owned by the caller.
  Value removeAt(VecObject* vec, uint64_t at);
  Value element(const VecObject* vec, uint64_t at) const {
    return info(vec->layout).byteStorage ? vec->bytes[at] : vec->slots[at];
  }
  bool elementIsReference(const VecObject* vec) const {
    return info(vec->layout).elementIsReference;
  }

  // ---- raw counted memory, for the arrays of maps
  // -----------------------------------------------------
  void* allocate(size_t size) {
    if (size > kLargestSmall || kPlainMalloc)
      return allocateLarge(size);
    const size_t which = (size + kGranule - 1) / kGranule;
    const size_t rounded = which * kGranule;
    if (rounded > limit_ - used_)
      return nullptr;
    FreeBlock* block = free_[which];
    if (block == nullptr)
      return refill(which);
    free_[which] = block->next;
    used_ += rounded;
    return block;
  }
  void deallocate(void* memory, size_t size) {
    if (size > kLargestSmall || kPlainMalloc) {
      deallocateLarge(memory);
      return;
    }
    const size_t which = (size + kGranule - 1) / kGranule;
    used_ -= which * kGranule;
    auto* block = static_cast<FreeBlock*>(memory);
    block->next = free_[which];
    free_[which] = block;
  }

private:
  static constexpr uint64_t kMostSteps = uint64_t(1) << 60;
  static constexpr uint64_t kObjectSteps = 8; // to make an object and to let it go
  struct FreeBlock {
    FreeBlock* next;
  };
  struct LargeBlock { // before each large block
    LargeBlock* previous;
    LargeBlock* next;
    size_t size;
    size_t padding;
  };
  static constexpr size_t kGranule = 16;
  static constexpr size_t kLargestSmall = 512;
  static constexpr size_t kChunk = size_t(256) << 10;
#ifdef GOS_SANITIZED
  static constexpr bool kPlainMalloc = true; // so that the sanitizer sees every object
#else
  static constexpr bool kPlainMalloc = false;
#endif

  /// What to try when the generous size did not fit: most of what is left, then just what is
  /// needed. Where it is the host that refuses nobody knows what is left: a little more, and no
  /// creeping up to the end element by element, each of which would move all; 0 for that.
  static constexpr unsigned kAttempts = 3;
  uint64_t retrySize(unsigned attempt, uint64_t needed, uint64_t elementBytes) const {
    if (!wasRefused())
      return attempt == 1 ? needed + available() / 4 * 3 / elementBytes : needed;
    return attempt == 1 ? needed + needed / 16 : needed * elementBytes < kChunk ? needed : 0;
  }
  void* allocateLarge(size_t size);
  void deallocateLarge(void* memory);
  void* refill(size_t which);
  /// A block of `newSize` with the first bytes of the old one, which is gone unless the answer is
  /// null.
  void* reallocate(void* memory, size_t oldSize, size_t newSize);

  void destroy(Object* object);
  bool copyForWriting(Value& slot);
  void dropChildren(Object* object, Object*& dead);
  void dropChild(Value value, Object*& dead);
  void freeStorage(Object* object);
  StructObject* newSlots(ObjectKind kind, LayoutId layout, uint16_t tag, uint32_t count);
  bool makeRoom(VecObject* vec, uint64_t atFront, uint64_t atBack);
  void releaseEverything();
  void releaseHandles();

  const std::vector<LayoutInfo>& layouts_;
  const std::vector<std::vector<uint16_t>>& captureReferences_;
  int64_t& steps_;
  uint64_t limit_;
  uint64_t used_ = 0;
  bool refused_ = false;
  std::array<FreeBlock*, kLargestSmall / kGranule + 1> free_{};
  char* chunkNext_ = nullptr;
  char* chunkEnd_ = nullptr;
  std::vector<void*> chunks_;
  LargeBlock large_{};
  HandleObject* handles_ = nullptr; // all that are alive
  ForeignLinker* foreign_ = nullptr;
};

/// Memory of C++ that is counted for as long as this lives: buffers beside the objects.
class Scratch {
public:
  Scratch(Heap& heap, uint64_t bytes)
      : heap_(heap), bytes_(heap.reserveScratch(bytes) ? bytes : 0), fits_(bytes_ == bytes) {}
  ~Scratch() { heap_.releaseScratch(bytes_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  explicit operator bool() const { return fits_; }

private:
  Heap& heap_;
  uint64_t bytes_;
  bool fits_;
};

} // namespace gos::vm
