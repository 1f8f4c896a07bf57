#include "stdlib/json_shapes.h"

#include "stdlib/json_text.h"

namespace gos::stdlib {

bool isWholeJsonValue(const Vm& vm, LayoutId id) {
  const Layout& layout = vm.layout(id);
  if (!isJsonValue(layout))
    return false;
  auto payload = [&](size_t variant) -> const Layout& {
    return vm.layout(layout.variants[variant].fields[0]);
  };
  const Layout& array = payload(5);
  const Layout& object = payload(6);
  return payload(1).kind == LayoutKind::Int && payload(1).scalar == vm::ScalarKind::Bool &&
         payload(2).kind == LayoutKind::Int && payload(2).scalar == vm::ScalarKind::Integer &&
         payload(2).width == vm::IntWidth::I64 && payload(3).kind == LayoutKind::Float &&
         payload(3).scalar == vm::ScalarKind::F64 && payload(4).kind == LayoutKind::String &&
         array.kind == LayoutKind::Vec && array.element == id && !array.byteStorage &&
         object.kind == LayoutKind::Map && object.value == id &&
         vm.layout(object.element).kind == LayoutKind::String;
}

bool isOptionLayout(const Layout& layout) {
  return layout.kind == LayoutKind::Enum && layout.variants.size() == 2 &&
         layout.variants[0].name == "None" && layout.variants[0].fields.empty() &&
         layout.variants[1].name == "Some" && layout.variants[1].fields.size() == 1;
}

IntegerRange rangeOf(vm::IntWidth width) {
  switch (width) {
  case vm::IntWidth::I8:
    return {INT8_MIN, INT8_MAX};
  case vm::IntWidth::I16:
    return {INT16_MIN, INT16_MAX};
  case vm::IntWidth::I32:
    return {INT32_MIN, INT32_MAX};
  case vm::IntWidth::I64:
    return {INT64_MIN, INT64_MAX};
  case vm::IntWidth::U8:
    return {0, UINT8_MAX};
  case vm::IntWidth::U16:
    return {0, UINT16_MAX};
  case vm::IntWidth::U32:
    return {0, UINT32_MAX};
  case vm::IntWidth::U64:
    return {0, UINT64_MAX};
  }
  return {0, 0};
}

} // namespace gos::stdlib
