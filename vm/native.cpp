#include "vm/native.h"

#include "vm/format.h"

#include "vm/vm.h"

#include "llvm/ADT/STLExtras.h"

namespace gos::vm {

namespace {

/// The variant of an Option or a Result, or none.
std::optional<uint16_t> findVariant(const Vm& vm, LayoutId id, KnownVariant variant) {
  const uint16_t at = vm.info(id).known[size_t(variant)];
  return at == kNoVariant ? std::nullopt : std::optional(at);
}

/// A body and a layout that do not agree: checkImport let something by. Refused, never guessed.
Trap misfit(const NativeImport& import) {
  return Trap::make(TrapKind::Refused, "`" + import.name + "` is used at a type it cannot answer");
}

/// A value of a zero: numbers 0, empty text and containers, structs of zeros, an enum's first
/// variant if it has no payload. Null: no room, or no such value.
Value zeroValue(Vm& vm, LayoutId id, unsigned depth) {
  const Layout& layout = vm.layout(id);
  if (depth > 8)
    return 0;
  switch (layout.kind) {
  case LayoutKind::Int:
  case LayoutKind::Float:
    return 0;
  case LayoutKind::String:
    return fromObject(vm.heap().newString({}, id));
  case LayoutKind::Vec:
    return fromObject(vm.heap().newVec(id, 0));
  case LayoutKind::Map:
  case LayoutKind::Set:
    return fromObject(vm.heap().newMap(id));
  case LayoutKind::Struct: {
    StructObject* object = vm.heap().newStruct(id);
    if (object != nullptr)
      for (size_t i = 0; i < layout.variants[0].fields.size(); ++i)
        object->slots()[i] = zeroValue(vm, layout.variants[0].fields[i], depth + 1);
    return fromObject(object);
  }
  case LayoutKind::Enum: {
    // `None` wherever there is one, else the first variant without payload.
    for (llvm::StringRef wanted : {"None", ""})
      for (size_t i = 0; i < layout.variants.size(); ++i)
        if (layout.variants[i].fields.empty() &&
            (wanted.empty() || layout.variants[i].name == wanted))
          return vm.unitVariant(id, uint16_t(i));
    return 0;
  }
  case LayoutKind::Closure:
  case LayoutKind::Cell:
  case LayoutKind::Handle:
    return 0;
  }
  return 0;
}

/// The one field of a variant gets the (owned) value; of a reference, null means that there was no
/// room.
Trap makeVariant(Vm& vm, const NativeImport& import, KnownVariant known,
                 std::optional<Value> payload, Value& result) {
  const Layout& layout = vm.layout(import.result);
  const std::optional<uint16_t> variant = findVariant(vm, import.result, known);
  if (!variant || layout.variants[*variant].fields.size() != (payload ? 1u : 0u))
    return misfit(import);
  if (!payload) {
    result = vm.unitVariant(import.result, *variant);
    return {};
  }
  const LayoutId field = layout.variants[*variant].fields[0];
  if (vm.isReference(field) && *payload == 0)
    return vm.heapTrap();
  StructObject* object = vm.heap().newEnum(import.result, *variant);
  if (object == nullptr) {
    vm.releaseValue(*payload, field);
    return vm.heapTrap();
  }
  object->slots()[0] = *payload;
  result = fromObject(object);
  return {};
}

/// The layout of a variant's only field; none if there is no such variant or field.
std::optional<LayoutId> payloadLayout(Vm& vm, LayoutId id, KnownVariant known) {
  const Layout& layout = vm.layout(id);
  const std::optional<uint16_t> variant = findVariant(vm, id, known);
  if (!variant || layout.variants[*variant].fields.size() != 1)
    return std::nullopt;
  return layout.variants[*variant].fields[0];
}

bool isKind(Vm& vm, LayoutId id, LayoutKind kind) {
  return vm.layout(id).kind == kind;
}
bool isBytes(Vm& vm, LayoutId id) {
  return isKind(vm, id, LayoutKind::Vec) && vm.layout(id).byteStorage;
}

Value makeBytes(Vm& vm, LayoutId id, llvm::StringRef bytes) {
  VecObject* vec = vm.heap().newVec(id, bytes.size());
  if (vec == nullptr)
    return 0;
  if (!bytes.empty())
    memcpy(vec->bytes, bytes.data(), bytes.size());
  vec->length = bytes.size();
  vm.heap().chargeBytes(bytes.size());
  return fromObject(vec);
}

bool isStrings(Vm& vm, LayoutId id) {
  return isKind(vm, id, LayoutKind::Vec) && isKind(vm, vm.layout(id).element, LayoutKind::String);
}

Value makeStrings(Vm& vm, LayoutId id, llvm::ArrayRef<std::string> items) {
  VecObject* vec = vm.heap().newVec(id, items.size());
  if (vec == nullptr)
    return 0;
  for (const std::string& item : items) {
    StringObject* string = vm.heap().newString(item, vm.layout(id).element);
    if (string == nullptr || !vm.heap().push(vec, fromObject(string))) {
      vm.heap().release(vec);
      return 0;
    }
  }
  return fromObject(vec);
}

} // namespace

const Native* NativeTable::find(llvm::StringRef name) const {
  const auto* at =
      llvm::partition_point(natives_, [&](const Native& native) { return native.name < name; });
  return at != natives_.end() && at->name == name ? at : nullptr;
}

const Layout& Arguments::layout(size_t i) const {
  return vm_.layout(import_.parameters[i]);
}
double Arguments::real(size_t i) const {
  return asReal(slots_[i]);
}

llvm::StringRef Arguments::string(size_t i) const {
  const Object* object = asObject(slots_[i]);
  if (object == nullptr || object->kind != ObjectKind::String)
    return {};
  return static_cast<const StringObject*>(object)->text();
}

VecObject* Arguments::vec(size_t i) const {
  return asVec(slots_[i]);
}
MapObject* Arguments::map(size_t i) const {
  return asMap(slots_[i]);
}

Trap Arguments::returnUnit() {
  result_ = 0;
  return vm_.isReference(import_.result) ? misfit(import_) : Trap{};
}

Trap Arguments::returnInteger(int64_t value) {
  if (!isKind(vm_, import_.result, LayoutKind::Int))
    return misfit(import_);
  result_ = fromInteger(value);
  return {};
}

Trap Arguments::returnReal(double value) {
  if (!isKind(vm_, import_.result, LayoutKind::Float))
    return misfit(import_);
  result_ = fromReal(value);
  return {};
}

Trap Arguments::returnString(llvm::StringRef text) {
  if (!isKind(vm_, import_.result, LayoutKind::String))
    return misfit(import_);
  result_ = fromObject(vm_.heap().newString(text, import_.result));
  return result_ == 0 ? vm_.heapTrap() : Trap{};
}

Trap Arguments::returnText(TextBuffer& text) {
  if (!isKind(vm_, import_.result, LayoutKind::String))
    return misfit(import_);
  result_ = fromObject(text.finish(import_.result));
  return result_ == 0 ? vm_.heapTrap() : Trap{};
}

Trap Arguments::returnBytes(llvm::StringRef bytes) {
  if (!isBytes(vm_, import_.result))
    return misfit(import_);
  result_ = makeBytes(vm_, import_.result, bytes);
  return result_ == 0 ? vm_.heapTrap() : Trap{};
}

Trap Arguments::returnOwned(uint64_t value) {
  if (vm_.isReference(import_.result) && value == 0)
    return vm_.heapTrap();
  result_ = value;
  return {};
}

Trap Arguments::returnStrings(llvm::ArrayRef<std::string> items) {
  if (!isStrings(vm_, import_.result))
    return misfit(import_);
  result_ = makeStrings(vm_, import_.result, items);
  return result_ == 0 ? vm_.heapTrap() : Trap{};
}

Trap Arguments::returnNone() {
  return makeVariant(vm_, import_, KnownVariant::None, std::nullopt, result_);
}

Trap Arguments::returnSomeInteger(int64_t value) {
  const std::optional<LayoutId> payload = payloadLayout(vm_, import_.result, KnownVariant::Some);
  if (!payload || !isKind(vm_, *payload, LayoutKind::Int))
    return misfit(import_);
  return makeVariant(vm_, import_, KnownVariant::Some, fromInteger(value), result_);
}

Trap Arguments::returnSomeReal(double value) {
  const std::optional<LayoutId> payload = payloadLayout(vm_, import_.result, KnownVariant::Some);
  if (!payload || !isKind(vm_, *payload, LayoutKind::Float))
    return misfit(import_);
  return makeVariant(vm_, import_, KnownVariant::Some, fromReal(value), result_);
}

Trap Arguments::returnSomeString(llvm::StringRef text) {
  const std::optional<LayoutId> payload = payloadLayout(vm_, import_.result, KnownVariant::Some);
  if (!payload || !isKind(vm_, *payload, LayoutKind::String))
    return misfit(import_);
  return makeVariant(vm_, import_, KnownVariant::Some,
                     fromObject(vm_.heap().newString(text, *payload)), result_);
}

Trap Arguments::returnSomeOwned(uint64_t value) {
  return makeVariant(vm_, import_, KnownVariant::Some, value, result_);
}

Trap Arguments::returnOkUnit() {
  const std::optional<LayoutId> payload = payloadLayout(vm_, import_.result, KnownVariant::Ok);
  if (payload && isKind(vm_, *payload, LayoutKind::Int))
    return makeVariant(vm_, import_, KnownVariant::Ok, Value(0), result_);
  return makeVariant(vm_, import_, KnownVariant::Ok, std::nullopt, result_);
}

Trap Arguments::returnOkInteger(int64_t value) {
  const std::optional<LayoutId> payload = payloadLayout(vm_, import_.result, KnownVariant::Ok);
  if (!payload || !isKind(vm_, *payload, LayoutKind::Int))
    return misfit(import_);
  return makeVariant(vm_, import_, KnownVariant::Ok, fromInteger(value), result_);
}

Trap Arguments::returnOkReal(double value) {
  const std::optional<LayoutId> payload = payloadLayout(vm_, import_.result, KnownVariant::Ok);
  if (!payload || !isKind(vm_, *payload, LayoutKind::Float))
    return misfit(import_);
  return makeVariant(vm_, import_, KnownVariant::Ok, fromReal(value), result_);
}

Trap Arguments::returnOkString(llvm::StringRef text) {
  const std::optional<LayoutId> payload = payloadLayout(vm_, import_.result, KnownVariant::Ok);
  if (!payload || !isKind(vm_, *payload, LayoutKind::String))
    return misfit(import_);
  return makeVariant(vm_, import_, KnownVariant::Ok,
                     fromObject(vm_.heap().newString(text, *payload)), result_);
}

Trap Arguments::returnOkBytes(llvm::StringRef bytes) {
  const std::optional<LayoutId> payload = payloadLayout(vm_, import_.result, KnownVariant::Ok);
  if (!payload || !isBytes(vm_, *payload))
    return misfit(import_);
  return makeVariant(vm_, import_, KnownVariant::Ok, makeBytes(vm_, *payload, bytes), result_);
}

Trap Arguments::returnOkStrings(llvm::ArrayRef<std::string> items) {
  const std::optional<LayoutId> payload = payloadLayout(vm_, import_.result, KnownVariant::Ok);
  if (!payload || !isStrings(vm_, *payload))
    return misfit(import_);
  return makeVariant(vm_, import_, KnownVariant::Ok, makeStrings(vm_, *payload, items), result_);
}

Trap Arguments::returnOkOwned(uint64_t value) {
  return makeVariant(vm_, import_, KnownVariant::Ok, value, result_);
}

Trap Arguments::returnErr(llvm::StringRef message) {
  const std::optional<LayoutId> payload = payloadLayout(vm_, import_.result, KnownVariant::Err);
  if (!payload)
    return misfit(import_);
  if (isKind(vm_, *payload, LayoutKind::String))
    return makeVariant(vm_, import_, KnownVariant::Err,
                       fromObject(vm_.heap().newString(message, *payload)), result_);
  const Layout& error = vm_.layout(*payload);
  if (error.kind != LayoutKind::Struct || error.variants[0].fields.empty() ||
      !isKind(vm_, error.variants[0].fields[0], LayoutKind::String))
    return misfit(import_);
  StructObject* object = vm_.heap().newStruct(*payload);
  if (object == nullptr)
    return vm_.heapTrap();
  const std::vector<LayoutId>& fields = error.variants[0].fields;
  object->slots()[0] = fromObject(vm_.heap().newString(message, fields[0]));
  bool complete = object->slots()[0] != 0;
  for (size_t i = 1; i < fields.size(); ++i) {
    object->slots()[i] = zeroValue(vm_, fields[i], 0);
    complete = complete && (object->slots()[i] != 0 || !vm_.isReference(fields[i]));
  }
  if (!complete) {
    vm_.heap().release(object);
    return vm_.heapTrap();
  }
  return makeVariant(vm_, import_, KnownVariant::Err, fromObject(object), result_);
}

} // namespace gos::vm
