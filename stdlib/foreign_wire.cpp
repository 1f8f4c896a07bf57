#include "stdlib/foreign_wire.h"

#include "vm/map.h"
#include "vm/object.h"
#include "vm/text.h"

#include "llvm/Support/Endian.h"

#include <cstring>

namespace gos::stdlib {

using llvm::StringRef;
using vm::KnownVariant;
using vm::Layout;
using vm::LayoutId;
using vm::LayoutKind;
using vm::ScalarKind;
using vm::Trap;
using vm::Value;
using vm::Vm;

namespace {

constexpr uint64_t kMostEmpty = uint64_t(1) << 20; // elements that take no byte

/// The bytes of a scalar of the interface.
unsigned scalarSize(const Layout& layout) {
  switch (layout.scalar) {
  case ScalarKind::Bool:
    return 1;
  case ScalarKind::Char:
    return 4;
  case ScalarKind::Unit:
  case ScalarKind::UnitEnum:
    return 0;
  case ScalarKind::Integer:
  case ScalarKind::F64:
  case ScalarKind::F32:
    break;
  }
  return 8;
}

uint8_t* putNumber(uint8_t* out, uint64_t number) {
  llvm::support::endian::write64le(out, number);
  return out + 8;
}

/// The byte that says which variant: None, Ok are 0; Some, Err are 1.
uint8_t wireTag(const Vm& vm, LayoutId layout, uint16_t variant) {
  const auto& known = vm.info(layout).known;
  return variant == known[size_t(KnownVariant::Some)] ||
         variant == known[size_t(KnownVariant::Err)];
}

Trap borrowed() {
  return Trap::borrowed("value is used while it is borrowed elsewhere");
}

} // namespace

// ---- writing: recursion is as deep as the types are, which is bounded (vm::kForeignDepth)
// ------------

Trap wireSize(Vm& vm, Value value, LayoutId id, uint64_t& size) {
  const Layout& layout = vm.layout(id);
  if (layout.isReference() && value == 0)
    return borrowed();
  const auto fields = [&](const vm::VariantLayout& variant) -> Trap {
    const vm::StructObject* object = vm::asStruct(value);
    for (size_t i = 0; i < variant.fields.size(); ++i)
      if (Trap trap = wireSize(vm, object->slots()[i], variant.fields[i], size))
        return trap;
    return {};
  };
  switch (layout.kind) {
  case LayoutKind::Int:
  case LayoutKind::Float:
    size += scalarSize(layout);
    return {};
  case LayoutKind::String:
    size += 8 + vm::asString(value)->length;
    return {};
  case LayoutKind::Handle:
    size += 8;
    return {};
  case LayoutKind::Vec: {
    const vm::VecObject* vec = vm::asVec(value);
    size += 8;
    const Layout& element = vm.layout(layout.element);
    if (layout.byteStorage) {
      size += vec->length;
    } else if (!element.isReference()) {
      size += vec->length * scalarSize(element);
      vm.heap().chargeSteps(vec->length / 2);
    } else {
      vm.heap().chargeSteps(vec->length * 4);
      for (uint64_t i = 0; i < vec->length; ++i)
        if (Trap trap = wireSize(vm, vec->slots[i], layout.element, size))
          return trap;
    }
    return {};
  }
  case LayoutKind::Map: {
    const vm::MapObject* map = vm::asMap(value);
    size += 8;
    vm.heap().chargeSteps(uint64_t(map->used) * 8);
    for (uint32_t i = 0; i < map->used; ++i) {
      if (map->entries[i].live == 0)
        continue;
      if (Trap trap = wireSize(vm, map->entries[i].key, layout.element, size))
        return trap;
      if (Trap trap = wireSize(vm, map->entries[i].value, layout.value, size))
        return trap;
    }
    return {};
  }
  case LayoutKind::Struct:
    return fields(layout.variants[0]);
  case LayoutKind::Enum:
    size += 1;
    return fields(layout.variants[vm::asStruct(value)->tag]);
  case LayoutKind::Set:
  case LayoutKind::Closure:
  case LayoutKind::Cell:
    break;
  }
  return Trap::make(vm::TrapKind::Refused, "a value of type `" + layout.name + "` cannot cross");
}

uint8_t* wireWrite(Vm& vm, Value value, LayoutId id, uint8_t* out) {
  const Layout& layout = vm.layout(id);
  const auto bytes = [&](const void* from, uint64_t count) {
    if (count != 0)
      std::memcpy(out, from, count);
    out += count;
  };
  const auto fields = [&](const vm::VariantLayout& variant) {
    const vm::StructObject* object = vm::asStruct(value);
    for (size_t i = 0; i < variant.fields.size(); ++i)
      out = wireWrite(vm, object->slots()[i], variant.fields[i], out);
  };
  switch (layout.kind) {
  case LayoutKind::Int:
  case LayoutKind::Float:
    switch (scalarSize(layout)) {
    case 0:
      return out;
    case 1:
      *out = value != 0;
      return out + 1;
    case 4:
      llvm::support::endian::write32le(out, uint32_t(value));
      return out + 4;
    default: // of a size, not of a table: the rest is a word
      return putNumber(out, value);
    }
  case LayoutKind::String: {
    const vm::StringObject* string = vm::asString(value);
    out = putNumber(out, string->length);
    bytes(string->data, string->length);
    return out;
  }
  case LayoutKind::Handle:
    return putNumber(out, vm::asHandle(value)->handle);
  case LayoutKind::Vec: {
    const vm::VecObject* vec = vm::asVec(value);
    out = putNumber(out, vec->length);
    if (layout.byteStorage) {
      bytes(vec->bytes, vec->length);
      return out;
    }
    for (uint64_t i = 0; i < vec->length; ++i)
      out = wireWrite(vm, vec->slots[i], layout.element, out);
    return out;
  }
  case LayoutKind::Map: {
    const vm::MapObject* map = vm::asMap(value);
    out = putNumber(out, map->live);
    for (uint32_t i = 0; i < map->used; ++i) {
      if (map->entries[i].live == 0)
        continue;
      out = wireWrite(vm, map->entries[i].key, layout.element, out);
      out = wireWrite(vm, map->entries[i].value, layout.value, out);
    }
    return out;
  }
  case LayoutKind::Struct:
    fields(layout.variants[0]);
    return out;
  case LayoutKind::Enum: {
    const uint16_t tag = vm::asStruct(value)->tag;
    *out++ = wireTag(vm, id, tag);
    fields(layout.variants[tag]);
    return out;
  }
  case LayoutKind::Set:
  case LayoutKind::Closure:
  case LayoutKind::Cell:
    break;
  }
  return out;
}

// ---- reading
// ------------------------------------------------------------------------------------------

namespace {

class WireReader {
public:
  WireReader(Vm& vm, StringRef bytes, llvm::DenseSet<uint64_t>& live)
      : vm_(vm), left_(bytes), live_(live) {}

  /// An owned value. False: what was made is let go of, `fault` says why or is empty for want of
  /// memory.
  bool value(LayoutId id, Value& out) {
    const Layout& layout = vm_.layout(id);
    switch (layout.kind) {
    case LayoutKind::Int:
    case LayoutKind::Float:
      return scalar(layout, out);
    case LayoutKind::String:
      return string(id, out);
    case LayoutKind::Handle:
      return handle(id, layout, out);
    case LayoutKind::Vec:
      return layout.byteStorage ? byteVec(id, layout, out) : vec(id, layout, out);
    case LayoutKind::Map:
      return map(id, layout, out);
    case LayoutKind::Struct: {
      vm::StructObject* object = vm_.heap().newStruct(id);
      return fields(object, layout.variants[0], out);
    }
    case LayoutKind::Enum:
      return variant(id, layout, out);
    case LayoutKind::Set:
    case LayoutKind::Closure:
    case LayoutKind::Cell:
      break;
    }
    return wrong("it holds a `" + layout.name + "`, which cannot cross");
  }

  size_t left() const { return left_.size(); }
  std::string fault;

private:
  bool wrong(const llvm::Twine& what) {
    fault = what.str();
    return false;
  }

  bool take(size_t count, StringRef& out) {
    if (count > left_.size())
      return wrong("it ends too early");
    out = left_.take_front(count);
    left_ = left_.drop_front(count);
    return true;
  }

  bool number(uint64_t& out) {
    StringRef bytes;
    if (!take(8, bytes))
      return false;
    out = llvm::support::endian::read64le(bytes.data());
    return true;
  }

  /// A count of elements that take at least `least` bytes each.
  bool count(uint64_t least, uint64_t& out) {
    if (!number(out))
      return false;
    if (out > (least == 0 ? kMostEmpty : left_.size() / least))
      return wrong("a count of " + llvm::Twine(out) + " is more than it holds");
    return true;
  }

  bool scalar(const Layout& layout, Value& out) {
    const unsigned size = scalarSize(layout);
    StringRef bytes;
    if (!take(size, bytes))
      return false;
    if (layout.scalar == ScalarKind::Bool) {
      out = uint8_t(bytes[0]);
      return out <= 1 || wrong("a `bool` is " + llvm::Twine(out));
    }
    if (layout.scalar == ScalarKind::Char) {
      out = llvm::support::endian::read32le(bytes.data());
      const bool isScalar = out <= 0x10ffff && (out < 0xd800 || out > 0xdfff);
      return isScalar || wrong("a `char` is no scalar value");
    }
    out = size == 0 ? 0 : llvm::support::endian::read64le(bytes.data());
    return true;
  }

  bool string(LayoutId id, Value& out) {
    uint64_t length = 0;
    StringRef bytes;
    if (!count(1, length) || !take(length, bytes))
      return false;
    vm_.heap().chargeText(length);
    if (!vm::isValidUtf8(bytes))
      return wrong("a text is not UTF-8");
    out = vm::fromObject(vm_.heap().newString(bytes, id));
    return out != 0;
  }

  bool handle(LayoutId id, const Layout& layout, Value& out) {
    uint64_t handle = 0;
    if (!number(handle))
      return false;
    if (handle == 0 || handle >= ~uint64_t(1)) // the last two are no keys of a DenseSet
      return wrong("a handle of `" + layout.name + "` is " + llvm::Twine(handle));
    if (!live_.insert(handle).second)
      return wrong("a handle of `" + layout.name + "` was given before");
    out = vm::fromObject(vm_.heap().newHandle(id, handle));
    return out != 0;
  }

  bool byteVec(LayoutId id, const Layout& layout, Value& out) {
    uint64_t length = 0;
    StringRef bytes;
    if (!count(1, length) || !take(length, bytes))
      return false;
    if (vm_.layout(layout.element).scalar == ScalarKind::Bool)
      for (char each : bytes)
        if (uint8_t(each) > 1)
          return wrong("a `bool` is " + llvm::Twine(unsigned(uint8_t(each))));
    vm::VecObject* vec = vm_.heap().newVec(id, length);
    if (vec == nullptr)
      return false;
    if (length != 0)
      std::memcpy(vec->bytes, bytes.data(), length);
    vec->length = length;
    vm_.heap().chargeBytes(length);
    out = vm::fromObject(vec);
    return true;
  }

  bool vec(LayoutId id, const Layout& layout, Value& out) {
    uint64_t length = 0;
    if (!count(least(layout.element, 0), length))
      return false;
    vm::VecObject* vec = vm_.heap().newVec(id, length);
    if (vec == nullptr)
      return false;
    vm_.heap().chargeElements(length, vm_.info(id));
    for (uint64_t i = 0; i < length; ++i) {
      Value element = 0;
      if (!value(layout.element, element)) {
        vm_.heap().release(vec);
        return false;
      }
      vec->slots[i] = element;
      vec->length = i + 1;
    }
    out = vm::fromObject(vec);
    return true;
  }

  bool map(LayoutId id, const Layout& layout, Value& out) {
    uint64_t length = 0;
    if (!count(least(layout.element, 0) + least(layout.value, 0), length))
      return false;
    if (length > UINT32_MAX / 4)
      return wrong("a map of " + llvm::Twine(length) + " keys is too large");
    vm::MapObject* map = vm_.heap().newMap(id);
    if (map == nullptr)
      return false;
    const auto fail = [&] {
      vm_.heap().release(map);
      return false;
    };
    for (uint64_t i = 0; i < length; ++i) {
      Value key = 0, mapped = 0;
      if (!value(layout.element, key))
        return fail();
      if (!value(layout.value, mapped)) {
        vm_.releaseValue(key, layout.element);
        return fail();
      }
      bool wasPresent = false;
      if (Trap trap = vm::mapInsert(vm_, map, key, mapped, wasPresent)) {
        if (trap->kind != vm::TrapKind::Budget)
          fault = trap->message;
        return fail();
      }
      if (wasPresent) {
        wrong("a key stands twice in a map");
        return fail();
      }
    }
    out = vm::fromObject(map);
    return true;
  }

  bool fields(vm::StructObject* object, const vm::VariantLayout& variant, Value& out) {
    if (object == nullptr)
      return false;
    for (size_t i = 0; i < variant.fields.size(); ++i)
      if (!value(variant.fields[i], object->slots()[i])) {
        object->slots()[i] = 0;
        vm_.heap().release(object);
        return false;
      }
    out = vm::fromObject(object);
    return true;
  }

  bool variant(LayoutId id, const Layout& layout, Value& out) {
    StringRef byte;
    if (!take(1, byte))
      return false;
    const auto tag = uint8_t(byte[0]);
    if (tag > 1)
      return wrong("the variant of `" + layout.name + "` is " + llvm::Twine(unsigned(tag)));
    const auto& known = vm_.info(id).known;
    const bool isOption = known[size_t(KnownVariant::Some)] != vm::kNoVariant;
    const KnownVariant which = isOption ? (tag != 0 ? KnownVariant::Some : KnownVariant::None)
                                        : (tag != 0 ? KnownVariant::Err : KnownVariant::Ok);
    const uint16_t at = known[size_t(which)];
    if (at >= layout.variants.size())
      return wrong("`" + layout.name + "` has no such variant");
    if (layout.variants[at].fields.empty()) {
      out = vm_.unitVariant(id, at);
      return out != 0;
    }
    return fields(vm_.heap().newEnum(id, at), layout.variants[at], out);
  }

  /// The fewest bytes that a value of the layout takes; counting stops at a few, which is enough to
  /// bound a count.
  uint64_t least(LayoutId id, unsigned depth) const {
    const Layout& layout = vm_.layout(id);
    switch (layout.kind) {
    case LayoutKind::Int:
    case LayoutKind::Float:
      return scalarSize(layout);
    case LayoutKind::Enum:
      return 1;
    case LayoutKind::Struct: {
      uint64_t sum = 0;
      // A wide or deep type is counted by its first fields alone: the bound is then weaker, never
      // wrong.
      for (LayoutId field :
           llvm::ArrayRef(layout.variants[0].fields).take_front(depth < 4 ? 4 : 0)) {
        sum += least(field, depth + 1);
        if (sum >= 8)
          break;
      }
      return sum;
    }
    case LayoutKind::String:
    case LayoutKind::Handle:
    case LayoutKind::Vec:
    case LayoutKind::Map:
    case LayoutKind::Set:
    case LayoutKind::Closure:
    case LayoutKind::Cell:
      break;
    }
    return 8;
  }

  Vm& vm_;
  StringRef left_;
  llvm::DenseSet<uint64_t>& live_;
};

} // namespace

bool wireRead(Vm& vm, StringRef bytes, LayoutId layout, llvm::DenseSet<uint64_t>& live,
              Value& value, std::string& fault) {
  WireReader reader(vm, bytes, live);
  value = 0;
  if (!reader.value(layout, value)) {
    fault = std::move(reader.fault);
    value = 0;
    return false;
  }
  if (reader.left() == 0)
    return true;
  vm.releaseValue(value, layout);
  value = 0;
  fault = std::to_string(reader.left()) + " bytes are left over";
  return false;
}

} // namespace gos::stdlib
