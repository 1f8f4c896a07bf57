// A library that speaks the wire format of Rust bindings (stdlib/rust/README.md), well and badly,
// for the tests of what calls it. Its answers are what a test tells it to answer.

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

struct Buffer {
  uint8_t* data;
  size_t length;
  size_t capacity;
};

uint64_t released = 0, lastReleased = 0, nextHandle = 1;

uint32_t answer(Buffer* out, const void* bytes, size_t length, uint32_t status = 0) {
  out->data = static_cast<uint8_t*>(std::malloc(length + 1));
  if (length != 0)
    std::memcpy(out->data, bytes, length);
  out->length = length;
  out->capacity = length + 1;
  return status;
}
uint32_t number(Buffer* out, uint64_t value) {
  return answer(out, &value, sizeof value);
}
uint64_t numberAt(const uint8_t* arguments, size_t at) {
  uint64_t value = 0;
  std::memcpy(&value, arguments + at, sizeof value);
  return value;
}

} // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void gossamer_binding_abi_1() {}
EXPORT void gossamer_binding_free_1(Buffer* buffer) {
  std::free(buffer->data);
  *buffer = {};
}
EXPORT void gossamer_binding_release_1(uint64_t handle) {
  ++released;
  lastReleased = handle;
}

/// T -> T: the bytes of the arguments are the answer.
EXPORT uint32_t fake_echo(const uint8_t* arguments, size_t length, Buffer* out) {
  return answer(out, arguments, length);
}

/// The same under more names: a library has no two functions of one symbol.
#define ECHO(name)                                                                                 \
  EXPORT uint32_t fake_##name(const uint8_t* arguments, size_t length, Buffer* out) {              \
    return answer(out, arguments, length);                                                         \
  }
ECHO(mirror)
ECHO(nothing)
ECHO(table)
ECHO(maybe)
ECHO(outcome)

/// Vec<u8> -> anything: the first byte is the status, the rest the answer.
EXPORT uint32_t fake_script(const uint8_t* arguments, size_t length, Buffer* out) {
  if (length < 9)
    return answer(out, nullptr, 0, 2);
  return answer(out, arguments + 9, length - 9, arguments[8]);
}

/// () -> i64: a length without bytes.
EXPORT uint32_t fake_null(const uint8_t*, size_t, Buffer* out) {
  out->data = nullptr;
  out->length = 100;
  return 0;
}

/// fn(i64, i64) -> i64
EXPORT uint32_t fake_add(const uint8_t* arguments, size_t length, Buffer* out) {
  if (length != 16)
    return answer(out, nullptr, 0, 2);
  return number(out, numberAt(arguments, 0) + numberAt(arguments, 8));
}

/// () -> Counter, fn(Counter) -> i64, () -> i64
EXPORT uint32_t fake_counter(const uint8_t*, size_t, Buffer* out) {
  return number(out, nextHandle++);
}
EXPORT uint32_t fake_handle(const uint8_t* arguments, size_t, Buffer* out) {
  return number(out, numberAt(arguments, 0));
}
EXPORT uint32_t fake_released(const uint8_t*, size_t, Buffer* out) {
  return number(out, released);
}
EXPORT uint64_t fake_count_released() {
  return released;
}
