#pragma once
// What lives on the heap. Every object starts with the same 16 bytes; it is counted, and changed in
// place only while its count is one (copy on write). An object's layout id says which of its slots
// are references; it is set by the VM alone and always in range. Values are judged by the layout of
// the place that holds them, not by the object's (a newtype shares the object of its
// representation).

#include "vm/module.h"
#include "vm/value.h"

#include <cstddef>

namespace gos::vm {

enum class ObjectKind : uint8_t { String, Vec, Map, Struct, Enum, Closure, Cell, Handle };

/// A count at or above this never changes: constants, and an object counted past 2^31 (it then
/// leaks, safely).
inline constexpr uint32_t kImmortal = 0x80000000u;

struct Object {
  uint32_t refs;
  ObjectKind kind;
  uint8_t flags;
  uint16_t tag; // Enum: the variant
  LayoutId layout;
  uint32_t extra; // Struct, Enum, Closure: number of slots

  bool unique() const { return refs == 1; }
};
static_assert(sizeof(Object) == 16);

/// Text: UTF-8 by construction, but every reader is total over any bytes.
struct StringObject : Object {
  uint64_t length;   // bytes
  uint64_t capacity; // bytes behind `data`
  int64_t scalars;   // cached number of scalar values; -1 if not known. Equal to length: all ASCII
  uint32_t cursorScalar; // a known pair of positions, for indexing in order through text that is
                         // not ASCII
  uint32_t cursorByte;
  char* data; // `inlineText()` or a buffer of its own

  char* inlineText() { return reinterpret_cast<char*>(this + 1); }
  llvm::StringRef text() const { return {data, size_t(length)}; }
};
static_assert(sizeof(StringObject) == 56);

/// Vec, array, slice, deque, queue, stack, heap. With byte storage (u8, bool) an element is a byte.
struct VecObject : Object {
  uint64_t length;
  uint64_t capacity; // elements from the first one on
  uint64_t headroom; // free elements before the first one: what `pop_front` left
  union {
    uint64_t* slots;
    uint8_t* bytes;
  };

  void* inlineBuffer() { return this + 1; }
};
static_assert(sizeof(VecObject) == 48);

struct StructObject : Object { // structs, tuples and enums
  uint64_t* slots() { return reinterpret_cast<uint64_t*>(this + 1); }
  const uint64_t* slots() const { return reinterpret_cast<const uint64_t*>(this + 1); }
};
using EnumObject = StructObject;

struct ClosureObject : Object {
  FunctionId function;
  uint32_t padding;
  uint64_t* captures() { return reinterpret_cast<uint64_t*>(this + 1); }
};
static_assert(sizeof(ClosureObject) == 24);

/// One slot shared on purpose.
struct CellObject : Object {
  uint64_t content;
};

/// A value that a foreign library keeps. It stands in the heap's list of all of them, so that none
/// is forgotten.
struct HandleObject : Object {
  uint64_t handle; // never 0
  HandleObject* previous;
  HandleObject* next;
};
static_assert(sizeof(HandleObject) == 40);

struct MapEntry {
  uint64_t key;
  uint64_t value; // 0 in a set
  uint32_t hash;
  uint32_t live; // 0: removed
};

/// Map and Set: dense entries in order of insertion, an open-addressing index over them, and the
/// order of the keys, made when it is asked for. Use vm/map.h.
struct MapObject : Object {
  MapEntry* entries;
  uint64_t* buckets;    // hash in the upper half, entry number + 1 in the lower; 0 is empty
  uint32_t* order;      // entry numbers in key order; covers entries [0, orderedUsed)
  uint32_t used;        // entries written, removed ones included
  uint32_t live;        // entries that count: the length of the map
  uint32_t capacity;    // of entries
  uint32_t bucketCount; // power of two, or 0
  uint32_t orderCount;  // numbers from `orderBegin` on, some may be of removed entries
  uint32_t orderCapacity;
  uint32_t orderedUsed;
  uint32_t orderBegin; // numbers before it belong to entries removed at the front
};
using SetObject = MapObject;

inline StringObject* asString(Value value) {
  return static_cast<StringObject*>(asObject(value));
}
inline VecObject* asVec(Value value) {
  return static_cast<VecObject*>(asObject(value));
}
inline MapObject* asMap(Value value) {
  return static_cast<MapObject*>(asObject(value));
}
inline StructObject* asStruct(Value value) {
  return static_cast<StructObject*>(asObject(value));
}
inline ClosureObject* asClosure(Value value) {
  return static_cast<ClosureObject*>(asObject(value));
}
inline CellObject* asCell(Value value) {
  return static_cast<CellObject*>(asObject(value));
}
inline HandleObject* asHandle(Value value) {
  return static_cast<HandleObject*>(asObject(value));
}

/// Counts one more holder. Null is allowed.
inline void retain(Object* object) {
  if (object != nullptr && int32_t(object->refs) >= 0)
    ++object->refs;
}
inline Value retained(Value value) {
  retain(asObject(value));
  return value;
}

} // namespace gos::vm
