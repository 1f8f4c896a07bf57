#include "vm/heap.h"

#include "vm/foreign.h"
#include "vm/heap_storage.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace gos::vm {

namespace {

constexpr uint64_t kLargestInline = 448;      // bytes that a string or vector keeps in the object
constexpr size_t kMapped = size_t(128) << 10; // blocks from here on are pages of their own
constexpr size_t kMoved = size_t(64) << 20; // above the largest threshold that malloc gives itself
constexpr uint64_t kSlack = 24;             // bytes of room in a copy of text

ObjectKind objectKind(LayoutKind kind) {
  switch (kind) {
  case LayoutKind::Vec:
    return ObjectKind::Vec;
  case LayoutKind::Map:
  case LayoutKind::Set:
    return ObjectKind::Map;
  case LayoutKind::Struct:
    return ObjectKind::Struct;
  case LayoutKind::Enum:
    return ObjectKind::Enum;
  case LayoutKind::Closure:
    return ObjectKind::Closure;
  case LayoutKind::Cell:
    return ObjectKind::Cell;
  case LayoutKind::Handle:
    return ObjectKind::Handle;
  case LayoutKind::Int:
  case LayoutKind::Float:
  case LayoutKind::String:
    break;
  }
  return ObjectKind::String;
}

// A dead object waits in a list that is threaded through its own first six bytes: count, kind and
// flags are no longer needed, and pointers of user space have 47 bits. So releasing a list of any
// length needs neither stack nor memory.
void setLink(Object* object, Object* next) {
  const uint64_t bits = reinterpret_cast<uintptr_t>(next);
  std::memcpy(static_cast<void*>(object), &bits, 6);
}
Object* link(const Object* object) {
  uint64_t bits = 0;
  std::memcpy(&bits, object, 6);
  return reinterpret_cast<Object*>(uintptr_t(bits));
}

} // namespace

Heap::Heap(const std::vector<LayoutInfo>& layouts,
           const std::vector<std::vector<uint16_t>>& captureReferences, uint64_t limit,
           int64_t& steps)
    : layouts_(layouts), captureReferences_(captureReferences), steps_(steps), limit_(limit) {
  large_.next = large_.previous = &large_;
}

Heap::~Heap() {
  releaseEverything();
}

void Heap::releaseEverything() {
  releaseHandles();
  while (large_.next != &large_) {
    LargeBlock* block = large_.next;
    large_.next = block->next;
    std::free(block);
  }
  large_.previous = &large_;
  for (void* chunk : chunks_)
    std::free(chunk);
  chunks_.clear();
  free_.fill(nullptr);
  chunkNext_ = chunkEnd_ = nullptr;
  used_ = 0;
  refused_ = false;
}

void Heap::reset(uint64_t limit) {
  releaseEverything();
  limit_ = limit;
}

// ---- memory
// ---------------------------------------------------------------------------------------

void* Heap::allocateLarge(size_t size) {
  if (size > limit_ - used_)
    return nullptr;
  chargeSteps(size < kMapped ? 32 : 1024);
  auto* block = static_cast<LargeBlock*>(std::malloc(size + sizeof(LargeBlock)));
  if (block == nullptr) {
    noteRefusal();
    return nullptr;
  }
  block->size = size;
  block->previous = &large_;
  block->next = large_.next;
  large_.next->previous = block;
  large_.next = block;
  used_ += size;
  return block + 1;
}

void Heap::deallocateLarge(void* memory) {
  LargeBlock* block = static_cast<LargeBlock*>(memory) - 1;
  used_ -= block->size;
  block->previous->next = block->next;
  block->next->previous = block->previous;
  std::free(block);
}

void* Heap::refill(size_t which) {
  const size_t size = which * kGranule;
  if (size_t(chunkEnd_ - chunkNext_) < size) {
    // What is left of the old chunk serves the class it just fits.
    const size_t left = size_t(chunkEnd_ - chunkNext_) / kGranule;
    if (left != 0) {
      auto* rest = reinterpret_cast<FreeBlock*>(chunkNext_);
      rest->next = free_[left];
      free_[left] = rest;
    }
    auto* chunk = static_cast<char*>(std::malloc(kChunk));
    if (chunk == nullptr) {
      noteRefusal();
      chunkNext_ = chunkEnd_ = nullptr;
      return nullptr;
    }
    chunks_.push_back(chunk);
    chunkNext_ = chunk;
    chunkEnd_ = chunk + kChunk;
  }
  void* block = chunkNext_;
  chunkNext_ += size;
  used_ += size;
  return block;
}

void* Heap::reallocate(void* memory, size_t oldSize, size_t newSize) {
  if (!kPlainMalloc && oldSize > kLargestSmall && newSize > kLargestSmall) {
    if (newSize > oldSize && newSize - oldSize > limit_ - used_)
      return nullptr;
    // From kMoved on only the map of the pages changes.
    chargeSteps(newSize < kMapped ? 32 : 1024);
    chargeBytes(oldSize < kMoved ? oldSize : oldSize / 64);
    LargeBlock* block = static_cast<LargeBlock*>(memory) - 1;
    auto* moved = static_cast<LargeBlock*>(std::realloc(block, newSize + sizeof(LargeBlock)));
    if (moved == nullptr) {
      noteRefusal();
      return nullptr;
    }
    moved->size = newSize;
    moved->previous->next = moved;
    moved->next->previous = moved;
    used_ += newSize - oldSize;
    return moved + 1;
  }
  void* fresh = allocate(newSize);
  if (fresh == nullptr)
    return nullptr;
  chargeBytes(std::min(oldSize, newSize));
  std::memcpy(fresh, memory, std::min(oldSize, newSize));
  deallocate(memory, oldSize);
  return fresh;
}

// ---- making
// -----------------------------------------------------------------------------------------

StringObject* Heap::newStringWithCapacity(uint64_t capacity, LayoutId layout) {
  if (capacity > kLargestCount)
    return nullptr;
  const uint32_t inlineBytes = capacity <= kLargestInline ? uint32_t(capacity + 7) & ~7u : 0;
  auto* string = static_cast<StringObject*>(allocate(sizeof(StringObject) + inlineBytes));
  if (string == nullptr)
    return nullptr;
  string->refs = 1;
  string->kind = ObjectKind::String;
  string->flags = 0;
  string->tag = 0;
  string->layout = layout;
  string->extra = inlineBytes;
  string->length = 0;
  string->scalars = 0;
  string->cursorScalar = string->cursorByte = 0;
  chargeSteps(kObjectSteps);
  if (capacity <= kLargestInline) {
    string->capacity = inlineBytes;
    string->data = string->inlineText();
    return string;
  }
  string->capacity = capacity;
  string->data = static_cast<char*>(allocate(capacity));
  if (string->data == nullptr) {
    deallocate(string, sizeof(StringObject));
    return nullptr;
  }
  return string;
}

StringObject* Heap::newString(llvm::StringRef text, LayoutId layout) {
  StringObject* string = newStringWithCapacity(text.size(), layout);
  if (string == nullptr)
    return nullptr;
  if (!text.empty())
    std::memcpy(string->data, text.data(), text.size());
  string->length = text.size();
  string->scalars = text.empty() ? 0 : -1;
  chargeBytes(text.size());
  return string;
}

VecObject* Heap::newVec(LayoutId layout, uint64_t capacity) {
  if (capacity > kLargestCount)
    return nullptr;
  const uint64_t bytes = (capacity * elementSize(info(layout)) + 7) & ~uint64_t(7);
  const uint32_t inlineBytes = bytes <= kLargestInline ? uint32_t(bytes) : 0;
  auto* vec = static_cast<VecObject*>(allocate(sizeof(VecObject) + inlineBytes));
  if (vec == nullptr)
    return nullptr;
  vec->refs = 1;
  vec->kind = ObjectKind::Vec;
  vec->flags = 0;
  vec->tag = 0;
  vec->layout = layout;
  vec->extra = inlineBytes;
  vec->length = 0;
  vec->headroom = 0;
  chargeSteps(kObjectSteps);
  if (bytes <= kLargestInline) {
    vec->capacity = bytes / elementSize(info(layout));
    vec->slots = static_cast<uint64_t*>(vec->inlineBuffer());
    return vec;
  }
  vec->capacity = capacity;
  vec->slots = static_cast<uint64_t*>(allocate(capacity * elementSize(info(layout))));
  if (vec->slots == nullptr) {
    deallocate(vec, sizeof(VecObject));
    return nullptr;
  }
  return vec;
}

StructObject* Heap::newSlots(ObjectKind kind, LayoutId layout, uint16_t tag, uint32_t count) {
  auto* object = static_cast<StructObject*>(allocate(sizeof(Object) + count * sizeof(uint64_t)));
  if (object == nullptr)
    return nullptr;
  object->refs = 1;
  object->kind = kind;
  object->flags = 0;
  object->tag = tag;
  object->layout = layout;
  object->extra = count;
  chargeSteps(kObjectSteps + count / 2);
  if (count != 0)
    std::memset(object->slots(), 0, count * sizeof(uint64_t));
  return object;
}

StructObject* Heap::newStruct(LayoutId layout) {
  const LayoutInfo& shape = info(layout);
  return newSlots(ObjectKind::Struct, layout, 0,
                  shape.variants.empty() ? 0 : shape.variants[0].slotCount);
}

StructObject* Heap::newEnum(LayoutId layout, uint16_t variant) {
  const LayoutInfo& shape = info(layout);
  if (variant >= shape.variants.size())
    return nullptr;
  return newSlots(ObjectKind::Enum, layout, variant, shape.variants[variant].slotCount);
}

ClosureObject* Heap::newClosure(LayoutId layout, FunctionId function, uint32_t captures) {
  auto* closure =
      static_cast<ClosureObject*>(allocate(sizeof(ClosureObject) + captures * sizeof(uint64_t)));
  if (closure == nullptr)
    return nullptr;
  closure->refs = 1;
  closure->kind = ObjectKind::Closure;
  closure->flags = 0;
  closure->tag = 0;
  closure->layout = layout;
  closure->extra = captures;
  closure->function = function;
  closure->padding = 0;
  chargeSteps(kObjectSteps + captures / 2);
  if (captures != 0)
    std::memset(closure->captures(), 0, captures * sizeof(uint64_t));
  return closure;
}

CellObject* Heap::newCell(LayoutId layout, Value content) {
  auto* cell = static_cast<CellObject*>(allocate(sizeof(CellObject)));
  if (cell == nullptr)
    return nullptr;
  cell->refs = 1;
  cell->kind = ObjectKind::Cell;
  cell->flags = 0;
  cell->tag = 0;
  cell->layout = layout;
  cell->extra = 0;
  cell->content = content;
  chargeSteps(kObjectSteps);
  return cell;
}

MapObject* Heap::newMap(LayoutId layout) {
  auto* map = static_cast<MapObject*>(allocate(sizeof(MapObject)));
  if (map == nullptr)
    return nullptr;
  std::memset(static_cast<void*>(map), 0, sizeof(MapObject));
  map->refs = 1;
  map->kind = ObjectKind::Map;
  map->layout = layout;
  chargeSteps(kObjectSteps);
  return map;
}

HandleObject* Heap::newHandle(LayoutId layout, uint64_t handle) {
  auto* object = static_cast<HandleObject*>(allocate(sizeof(HandleObject)));
  if (object == nullptr) {
    if (foreign_ != nullptr)
      foreign_->release(handle);
    return nullptr;
  }
  object->refs = 1;
  object->kind = ObjectKind::Handle;
  object->flags = 0;
  object->tag = 0;
  object->layout = layout;
  object->extra = 0;
  object->handle = handle;
  object->previous = nullptr;
  object->next = handles_;
  if (handles_ != nullptr)
    handles_->previous = object;
  handles_ = object;
  chargeSteps(kObjectSteps);
  return object;
}

/// What is still held when everything goes, by a count that stopped (kImmortal) or by the program
/// itself.
void Heap::releaseHandles() {
  for (HandleObject* object = handles_; object != nullptr; object = object->next)
    if (foreign_ != nullptr)
      foreign_->release(object->handle);
  handles_ = nullptr;
}

// ---- letting go
// -----------------------------------------------------------------------------------

void Heap::dropChild(Value value, Object*& dead) {
  Object* child = asObject(value);
  if (child == nullptr || int32_t(child->refs) <= 0 || --child->refs != 0)
    return;
  if (child->kind == ObjectKind::String) {
    freeStorage(child);
    return;
  }
  setLink(child, dead);
  dead = child;
}

void Heap::dropChildren(Object* object, Object*& dead) {
  switch (object->kind) {
  case ObjectKind::String:
    return;
  case ObjectKind::Vec: {
    auto* vec = static_cast<VecObject*>(object);
    if (info(vec->layout).elementIsReference)
      for (uint64_t i = 0; i < vec->length; ++i)
        dropChild(vec->slots[i], dead);
    return;
  }
  case ObjectKind::Map: {
    auto* map = static_cast<MapObject*>(object);
    const LayoutInfo& shape = info(map->layout);
    if (!shape.elementIsReference && !shape.valueIsReference)
      return;
    for (uint32_t i = 0; i < map->used; ++i) {
      if (map->entries[i].live == 0)
        continue;
      if (shape.elementIsReference)
        dropChild(map->entries[i].key, dead);
      if (shape.valueIsReference)
        dropChild(map->entries[i].value, dead);
    }
    return;
  }
  case ObjectKind::Struct:
  case ObjectKind::Enum: {
    auto* object2 = static_cast<StructObject*>(object);
    const LayoutInfo& shape = info(object2->layout);
    if (object2->tag < shape.variants.size())
      for (uint16_t slot : shape.variants[object2->tag].references)
        dropChild(object2->slots()[slot], dead);
    return;
  }
  case ObjectKind::Closure: {
    auto* closure = static_cast<ClosureObject*>(object);
    for (uint16_t slot : captureReferences_[index(closure->function)])
      dropChild(closure->captures()[slot], dead);
    return;
  }
  case ObjectKind::Cell: {
    auto* cell = static_cast<CellObject*>(object);
    if (info(cell->layout).elementIsReference)
      dropChild(cell->content, dead);
    return;
  }
  case ObjectKind::Handle:
    return;
  }
}

void Heap::freeStorage(Object* object) {
  switch (object->kind) {
  case ObjectKind::String: {
    auto* string = static_cast<StringObject*>(object);
    if (string->data != string->inlineText())
      deallocate(string->data, string->capacity);
    deallocate(string, sizeof(StringObject) + string->extra);
    return;
  }
  case ObjectKind::Vec: {
    auto* vec = static_cast<VecObject*>(object);
    const size_t size = elementSize(info(vec->layout));
    uint8_t* buffer = vec->bytes - vec->headroom * size;
    if (!isInlineBuffer(vec, buffer))
      deallocate(buffer, (vec->headroom + vec->capacity) * size);
    deallocate(vec, sizeof(VecObject) + vec->extra);
    return;
  }
  case ObjectKind::Map: {
    auto* map = static_cast<MapObject*>(object);
    if (map->entries != nullptr)
      deallocate(map->entries, size_t(map->capacity) * sizeof(MapEntry));
    if (map->buckets != nullptr)
      deallocate(map->buckets, size_t(map->bucketCount) * sizeof(uint64_t));
    if (map->order != nullptr)
      deallocate(map->order, size_t(map->orderCapacity) * sizeof(uint32_t));
    deallocate(map, sizeof(MapObject));
    return;
  }
  case ObjectKind::Struct:
  case ObjectKind::Enum:
    deallocate(object, sizeof(Object) + object->extra * sizeof(uint64_t));
    return;
  case ObjectKind::Closure:
    deallocate(object, sizeof(ClosureObject) + object->extra * sizeof(uint64_t));
    return;
  case ObjectKind::Cell:
    deallocate(object, sizeof(CellObject));
    return;
  case ObjectKind::Handle: {
    auto* handle = static_cast<HandleObject*>(object);
    (handle->previous != nullptr ? handle->previous->next : handles_) = handle->next;
    if (handle->next != nullptr)
      handle->next->previous = handle->previous;
    if (foreign_ != nullptr)
      foreign_->release(handle->handle);
    deallocate(handle, sizeof(HandleObject));
    return;
  }
  }
}

void Heap::destroy(Object* object) {
  Object* dead = nullptr;
  dropChildren(object, dead);
  freeStorage(object);
  while (dead != nullptr) {
    Object* next = dead;
    dead = link(next);
    next->kind = objectKind(info(next->layout).kind);
    dropChildren(next, dead);
    freeStorage(next);
  }
}

// ---- copy on write
// ----------------------------------------------------------------------------------

bool Heap::copyForWriting(Value& slot) {
  Object* old = asObject(slot);
  Object* fresh = nullptr;
  switch (old->kind) {
  case ObjectKind::String: {
    auto* string = static_cast<StringObject*>(old);
    // Whoever asks is about to write, most often to append.
    StringObject* copy = newStringWithCapacity(string->length + kSlack, string->layout);
    if (copy == nullptr)
      return false;
    if (string->length != 0)
      std::memcpy(copy->data, string->data, string->length);
    copy->length = string->length;
    copy->scalars = string->scalars;
    chargeBytes(string->length);
    fresh = copy;
    break;
  }
  case ObjectKind::Vec: {
    auto* vec = static_cast<VecObject*>(old);
    VecObject* copy = newVec(vec->layout, vec->length);
    if (copy == nullptr)
      return false;
    if (vec->length != 0)
      std::memcpy(copy->bytes, vec->bytes, vec->length * elementSize(info(vec->layout)));
    copy->length = vec->length;
    chargeElements(vec->length, info(vec->layout));
    if (info(vec->layout).elementIsReference)
      for (uint64_t i = 0; i < copy->length; ++i)
        retain(asObject(copy->slots[i]));
    fresh = copy;
    break;
  }
  case ObjectKind::Map: {
    auto* map = static_cast<MapObject*>(old);
    MapObject* copy = newMap(map->layout);
    if (copy == nullptr)
      return false;
    if (map->capacity != 0) {
      copy->entries = static_cast<MapEntry*>(allocate(size_t(map->capacity) * sizeof(MapEntry)));
      copy->buckets = static_cast<uint64_t*>(allocate(size_t(map->bucketCount) * sizeof(uint64_t)));
      if (copy->entries != nullptr)
        copy->capacity = map->capacity;
      if (copy->buckets != nullptr)
        copy->bucketCount = map->bucketCount;
      if (copy->entries == nullptr || copy->buckets == nullptr) {
        freeStorage(copy);
        return false;
      }
      std::memcpy(copy->entries, map->entries, size_t(map->used) * sizeof(MapEntry));
      std::memcpy(copy->buckets, map->buckets, size_t(map->bucketCount) * sizeof(uint64_t));
      copy->used = map->used;
      copy->live = map->live;
      chargeBytes(size_t(map->used) * sizeof(MapEntry) +
                  size_t(map->bucketCount) * sizeof(uint64_t));
      chargeSteps(uint64_t(map->used) * 4);
    }
    const LayoutInfo& shape = info(map->layout);
    for (uint32_t i = 0; i < copy->used; ++i) {
      if (copy->entries[i].live == 0)
        continue;
      if (shape.elementIsReference)
        retain(asObject(copy->entries[i].key));
      if (shape.valueIsReference)
        retain(asObject(copy->entries[i].value));
    }
    fresh = copy;
    break;
  }
  case ObjectKind::Struct:
  case ObjectKind::Enum: {
    auto* object = static_cast<StructObject*>(old);
    StructObject* copy = newSlots(object->kind, object->layout, object->tag, object->extra);
    if (copy == nullptr)
      return false;
    std::memcpy(copy->slots(), object->slots(), object->extra * sizeof(uint64_t));
    const LayoutInfo& shape = info(object->layout);
    if (object->tag < shape.variants.size())
      for (uint16_t at : shape.variants[object->tag].references)
        retain(asObject(copy->slots()[at]));
    fresh = copy;
    break;
  }
  case ObjectKind::Closure:
  case ObjectKind::Cell:
  case ObjectKind::Handle:
    return true; // never changed in place, or shared on purpose
  }
  slot = fromObject(fresh);
  release(old);
  return true;
}

} // namespace gos::vm
