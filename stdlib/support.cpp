#include "stdlib/support.h"

#include "vm/text.h"

#include <algorithm>
#include <cstring>

namespace gos::stdlib {

using vm::StructObject;

NeedleText::NeedleText(const Arguments& arguments, size_t i) {
  if (arguments.layout(i).kind == LayoutKind::String) {
    text_ = arguments.string(i);
    return;
  }
  text_ = StringRef(buffer_, vm::encodeScalar(uint32_t(arguments.integer(i)), buffer_));
}

StringRef bytesOf(const Arguments& arguments, size_t i) {
  const VecObject* vec = arguments.vec(i);
  if (vec == nullptr || vec->length == 0)
    return {};
  return {reinterpret_cast<const char*>(vec->bytes), size_t(vec->length)};
}

StringRef contentsOf(const Arguments& arguments, size_t i) {
  return arguments.layout(i).kind == LayoutKind::String ? arguments.string(i)
                                                        : bytesOf(arguments, i);
}

std::vector<std::string> stringsOf(const Arguments& arguments, size_t i) {
  std::vector<std::string> out;
  const VecObject* vec = arguments.vec(i);
  if (vec == nullptr)
    return out;
  out.reserve(vec->length);
  for (uint64_t at = 0; at < vec->length; ++at)
    if (const vm::StringObject* string = vm::asString(vec->slots[at]))
      out.push_back(string->text().str());
    else
      out.emplace_back();
  return out;
}

int64_t handleOf(const Arguments& arguments, size_t i) {
  const StructObject* object = vm::asStruct(arguments.slot(i));
  return object == nullptr ? -1 : vm::asInteger(object->slots()[0]);
}

Value Builder::string(LayoutId layout, StringRef text) {
  return vm::fromObject(vm_.heap().newString(text, layout));
}

Value Builder::bytes(LayoutId layout, StringRef content) {
  VecObject* vec = vm_.heap().newVec(layout, content.size());
  if (vec == nullptr)
    return 0;
  if (!content.empty())
    std::memcpy(vec->bytes, content.data(), content.size());
  vec->length = content.size();
  vm_.heap().chargeBytes(content.size());
  return vm::fromObject(vec);
}

Value Builder::strings(LayoutId layout, ArrayRef<std::string> items) {
  VecObject* vec = vm_.heap().newVec(layout, items.size());
  if (vec == nullptr)
    return 0;
  for (const std::string& item : items) {
    const Value text = string(element(layout), item);
    if (text == 0 || !vm_.heap().push(vec, text)) {
      vm_.heap().release(vec);
      return 0;
    }
  }
  return vm::fromObject(vec);
}

Value Builder::fill(StructObject* object, ArrayRef<LayoutId> layouts, ArrayRef<Value> fields) {
  bool complete = object != nullptr;
  for (size_t i = 0; i < fields.size(); ++i)
    complete = complete && (fields[i] != 0 || !vm_.isReference(layouts[i]));
  if (!complete) {
    for (size_t i = 0; i < fields.size(); ++i)
      vm_.releaseValue(fields[i], layouts[i]);
    vm_.heap().release(object);
    return 0;
  }
  for (size_t i = 0; i < fields.size(); ++i)
    object->slots()[i] = fields[i];
  return vm::fromObject(object);
}

Value Builder::structure(LayoutId layout, ArrayRef<Value> fields) {
  return fill(vm_.heap().newStruct(layout), vm_.layout(layout).variants[0].fields, fields);
}

Value Builder::variant(LayoutId layout, uint16_t tag, ArrayRef<Value> fields) {
  if (fields.empty())
    return vm_.unitVariant(layout, tag);
  return fill(vm_.heap().newEnum(layout, tag), vm_.layout(layout).variants[tag].fields, fields);
}

LayoutId payloadOf(const Vm& vm, LayoutId layout, StringRef variant) {
  for (const vm::VariantLayout& each : vm.layout(layout).variants)
    if (each.name == variant && each.fields.size() == 1)
      return each.fields[0];
  return layout; // checkImport has seen to it that there is one
}

Trap takeElement(Vm& vm, VecObject* vec, LayoutId element, uint64_t at, Value& out) {
  out = vm.heap().element(vec, at);
  if (!vm.isReference(element))
    return {};
  if (out == 0)
    return Trap::borrowed("an element is borrowed elsewhere");
  vm::retained(out);
  return {};
}

Value copyPart(Vm& vm, VecObject* vec, uint64_t from, uint64_t to, LayoutId layout) {
  VecObject* out = vm.heap().newVec(layout, to - from);
  if (out == nullptr)
    return 0;
  if (!appendPart(vm, out, vec, from, to)) {
    vm.heap().release(out);
    return 0;
  }
  return vm::fromObject(out);
}

bool appendPart(Vm& vm, VecObject* target, VecObject* source, uint64_t from, uint64_t to) {
  const uint64_t count = to - from;
  if (count > (uint64_t(1) << 48))
    return false;
  const uint64_t needed = target->length + count;
  vm.heap().chargeElements(count, vm.heap().info(source->layout));
  if (needed > target->capacity &&
      !vm.heap().reserveVec(target, std::max(needed, target->capacity * 2)) &&
      !vm.heap().reserveVec(target, needed))
    return false;
  if (vm.heap().info(source->layout).byteStorage) {
    if (count != 0)
      std::memcpy(target->bytes + target->length, source->bytes + from, count);
  } else {
    const bool reference = vm.heap().elementIsReference(source);
    for (uint64_t i = 0; i < count; ++i) {
      const Value value = source->slots[from + i];
      target->slots[target->length + i] = reference ? vm::retained(value) : value;
    }
  }
  target->length += count;
  return true;
}

Trap returnElement(Arguments& arguments, VecObject* vec, LayoutId element, uint64_t at) {
  Value value = 0;
  if (Trap trap = takeElement(arguments.vm(), vec, element, at, value))
    return trap;
  return arguments.returnSomeOwned(value);
}

size_t findFirst(StringRef text, StringRef needle) {
  if (needle.empty())
    return 0;
  const void* at = ::memmem(text.data(), text.size(), needle.data(), needle.size());
  return at == nullptr ? StringRef::npos : size_t(static_cast<const char*>(at) - text.data());
}

} // namespace gos::stdlib
