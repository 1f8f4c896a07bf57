#include "vm/heap_storage.h"

#include <algorithm>
#include <cstring>

namespace gos::vm {

// ---- strings
// ----------------------------------------------------------------------------------------

bool Heap::reserveString(StringObject* string, uint64_t capacity) {
  if (capacity <= string->capacity)
    return true;
  if (capacity > kLargestCount)
    return false;
  const bool isInline = string->data == string->inlineText();
  const uint64_t grown =
      std::max(capacity, string->capacity < 4096 ? string->capacity * 2 + 16
                                                 : string->capacity + string->capacity / 2);
  // Where the generous size does not fit, most of what is left; else each byte would move the text
  // once more.
  for (unsigned attempt = 0; attempt < kAttempts; ++attempt) {
    const uint64_t wanted = attempt == 0 ? grown : retrySize(attempt, capacity, 1);
    if (wanted < capacity)
      continue;
    if (isInline) {
      chargeBytes(string->length);
      auto* buffer = static_cast<char*>(allocate(wanted));
      if (buffer == nullptr)
        continue;
      std::memcpy(buffer, string->data, string->length);
      string->data = buffer;
    } else {
      auto* buffer = static_cast<char*>(reallocate(string->data, string->capacity, wanted));
      if (buffer == nullptr)
        continue;
      string->data = buffer;
    }
    string->capacity = wanted;
    return true;
  }
  return false;
}

bool Heap::append(StringObject* string, llvm::StringRef text) {
  if (text.empty())
    return true;
  if (text.size() > string->capacity - string->length) {
    // The text may be this very string's.
    const bool isSelf = text.data() >= string->data && text.data() < string->data + string->length;
    const size_t offset = isSelf ? size_t(text.data() - string->data) : 0;
    if (text.size() > kLargestCount || !reserveString(string, string->length + text.size()))
      return false;
    if (isSelf)
      text = {string->data + offset, text.size()};
  }
  std::memmove(string->data + string->length, text.data(), text.size());
  chargeBytes(text.size());
  // A short piece is counted right away, so that a text made piece by piece is never counted as a
  // whole; one that does not begin with a scalar might complete the last one.
  const bool countsAlone = string->scalars >= 0 && text.size() <= 64 && !startsInside(text);
  string->scalars = countsAlone ? string->scalars + int64_t(countScalars(text)) : -1;
  string->length += text.size();
  return true;
}

bool Heap::appendScalar(StringObject* string, uint32_t scalar) {
  char bytes[4];
  const unsigned count = encodeScalar(scalar, bytes);
  if (count > string->capacity - string->length && !reserveString(string, string->length + count))
    return false;
  std::memcpy(string->data + string->length, bytes, count);
  string->length += count;
  if (string->scalars >= 0)
    ++string->scalars;
  return true;
}

// ---- vectors
// ----------------------------------------------------------------------------------------

bool Heap::makeRoom(VecObject* vec, uint64_t atFront, uint64_t atBack) {
  const size_t size = elementSize(info(vec->layout));
  const uint64_t needed = atFront + vec->length + atBack;
  if (atFront > kLargestCount || atBack > kLargestCount || needed > kLargestCount)
    return false;
  uint8_t* buffer = vec->bytes - vec->headroom * size;
  const uint64_t whole = vec->headroom + vec->capacity;
  const bool isInline = isInlineBuffer(vec, buffer);
  // A queue that gives back at the front what it takes at the back needs no more room: slide.
  if (whole >= needed + needed / 2 + 4 && vec->headroom > atFront) {
    chargeBytes(vec->length * size);
    std::memmove(buffer + atFront * size, vec->bytes, vec->length * size);
    vec->bytes = buffer + atFront * size;
    vec->headroom = atFront;
    vec->capacity = whole - atFront;
    return true;
  }
  const uint64_t minimum = std::max<uint64_t>(needed, size == 1 ? 16 : 4);
  const uint64_t grown =
      std::max(minimum, vec->length < 4096 ? vec->length * 2 : vec->length + vec->length / 2);
  // As for strings: most of what is left, where the generous size does not fit.
  for (unsigned attempt = 0; attempt < kAttempts; ++attempt) {
    const uint64_t wanted = attempt == 0 ? grown : retrySize(attempt, minimum, size);
    if (wanted < minimum)
      continue;
    // What is spare goes to the side that asked for it.
    const uint64_t front = atFront == 0 ? 0 : atFront + (wanted - needed) / 2;
    if (!isInline && vec->headroom == 0 && front == 0) {
      void* moved = reallocate(buffer, whole * size, wanted * size);
      if (moved == nullptr)
        continue;
      vec->bytes = static_cast<uint8_t*>(moved);
      vec->capacity = wanted;
      return true;
    }
    auto* fresh = static_cast<uint8_t*>(allocate(wanted * size));
    if (fresh == nullptr)
      continue;
    chargeBytes(vec->length * size);
    if (vec->length != 0)
      std::memcpy(fresh + front * size, vec->bytes, vec->length * size);
    if (!isInline)
      deallocate(buffer, whole * size);
    vec->bytes = fresh + front * size;
    vec->headroom = front;
    vec->capacity = wanted - front;
    return true;
  }
  return false;
}

bool Heap::reserveVec(VecObject* vec, uint64_t capacity) {
  if (capacity <= vec->capacity)
    return true;
  return capacity <= kLargestCount && makeRoom(vec, 0, capacity - vec->length);
}

VecObject* Heap::newVecOf(LayoutId layout, uint64_t count, Value element) {
  const LayoutInfo& shape = info(layout);
  VecObject* vec = newVec(layout, count);
  if (vec == nullptr) {
    releaseValue(element, shape.elementIsReference);
    return nullptr;
  }
  vec->length = count;
  chargeElements(count, shape);
  if (shape.byteStorage) {
    std::memset(vec->bytes, int(uint8_t(element)), size_t(count));
    return vec;
  }
  std::fill_n(vec->slots, count, element);
  if (shape.elementIsReference) {
    for (uint64_t i = 1; i < count; ++i)
      retain(asObject(element));
    if (count == 0)
      release(asObject(element));
  }
  return vec;
}

bool Heap::push(VecObject* vec, Value value) {
  const LayoutInfo& shape = info(vec->layout);
  if (vec->length == vec->capacity && !makeRoom(vec, 0, 1)) {
    releaseValue(value, shape.elementIsReference);
    return false;
  }
  if (shape.byteStorage)
    vec->bytes[vec->length++] = uint8_t(value);
  else
    vec->slots[vec->length++] = value;
  return true;
}

bool Heap::pushFront(VecObject* vec, Value value) {
  const LayoutInfo& shape = info(vec->layout);
  if (vec->headroom == 0 && !makeRoom(vec, 1, 0)) {
    releaseValue(value, shape.elementIsReference);
    return false;
  }
  --vec->headroom;
  ++vec->capacity;
  ++vec->length;
  if (shape.byteStorage)
    *--vec->bytes = uint8_t(value);
  else
    *--vec->slots = value;
  return true;
}

Value Heap::popFront(VecObject* vec) {
  const Value value = element(vec, 0);
  if (info(vec->layout).byteStorage)
    ++vec->bytes;
  else
    ++vec->slots;
  ++vec->headroom;
  --vec->capacity;
  --vec->length;
  return value;
}

Value Heap::popBack(VecObject* vec) {
  const Value value = element(vec, vec->length - 1);
  --vec->length;
  return value;
}

void Heap::truncate(VecObject* vec, uint64_t length) {
  if (length >= vec->length)
    return;
  const uint64_t old = vec->length;
  vec->length = length;
  if (info(vec->layout).elementIsReference)
    for (uint64_t i = length; i < old; ++i)
      release(asObject(vec->slots[i]));
}

bool Heap::insertAt(VecObject* vec, uint64_t at, Value value) {
  if (!push(vec, value))
    return false;
  const LayoutInfo& shape = info(vec->layout);
  const uint64_t behind = vec->length - 1 - at;
  chargeBytes(behind * elementSize(info(vec->layout)));
  if (shape.byteStorage) {
    std::memmove(vec->bytes + at + 1, vec->bytes + at, behind);
    vec->bytes[at] = uint8_t(value);
  } else {
    std::memmove(vec->slots + at + 1, vec->slots + at, behind * sizeof(uint64_t));
    vec->slots[at] = value;
  }
  return true;
}

Value Heap::removeAt(VecObject* vec, uint64_t at) {
  const Value value = element(vec, at);
  const uint64_t behind = vec->length - 1 - at;
  chargeBytes(behind * elementSize(info(vec->layout)));
  if (info(vec->layout).byteStorage)
    std::memmove(vec->bytes + at, vec->bytes + at + 1, behind);
  else
    std::memmove(vec->slots + at, vec->slots + at + 1, behind * sizeof(uint64_t));
  --vec->length;
  return value;
}

} // namespace gos::vm
