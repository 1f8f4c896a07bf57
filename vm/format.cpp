#include "vm/format.h"

#include "vm/map.h"
#include "vm/structural.h"
#include "vm/vm.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace gos::vm {

namespace {

/// An object whose children are being written.
struct Level {
  Object* object;
  LayoutId layout;
  uint64_t at;
  uint64_t end;
  const uint32_t* order; // maps and sets
  llvm::StringRef close;
};

/// Writes one value. Containers stand on a stack of their own, so that depth costs no C stack.
class Writer {
public:
  Writer(Vm& vm, const FormatSpec& spec, TextBuffer& out)
      : vm_(vm), spec_(spec), out_(out), isDebug_(spec.kind == FormatSpec::Kind::Debug) {}

  Trap write(Value value, LayoutId layout) {
    if (Trap trap = visit(value, layout, /*nested=*/false))
      return trap;
    while (!stack_.empty())
      if (Trap trap = advance())
        return trap;
    return {};
  }

private:
  Trap put(llvm::StringRef text) { return out_.append(text) ? Trap{} : vm_.heapTrap(); }

  Trap hook(FunctionId function, Value value, LayoutId layout) {
    Value text = 0;
    if (Trap trap = vm_.call(function, {vm_.retainValue(value, layout)}, text))
      return trap;
    if (text == 0)
      return Trap::borrowed("`fmt` answers a value that is borrowed elsewhere");
    const bool fits = out_.append(asString(text)->text());
    vm_.heap().release(asObject(text));
    return fits ? Trap{} : vm_.heapTrap();
  }

  Trap integer(Value value, const Layout& layout) {
    switch (spec_.kind) {
    case FormatSpec::Kind::Display:
    case FormatSpec::Kind::Debug:
      break;
    case FormatSpec::Kind::LowerHex:
      return put(radixText(value, layout.width, 16, false));
    case FormatSpec::Kind::UpperHex:
      return put(radixText(value, layout.width, 16, true));
    case FormatSpec::Kind::Binary:
      return put(radixText(value, layout.width, 2, false));
    case FormatSpec::Kind::Octal:
      return put(radixText(value, layout.width, 8, false));
    }
    return put(integerText(asInteger(value), layout.width));
  }

  Trap real(double value, bool isSingle) {
    if (spec_.precision < 0)
      return put(floatText(value, isDebug_ ? FloatText::Debug : FloatText::Display, isSingle));
    const std::string text = floatFixed(value, uint32_t(spec_.precision));
    if (Trap trap = put(text))
      return trap;
    const bool isFinite =
        !llvm::StringRef(text).ends_with("f") && !llvm::StringRef(text).ends_with("N");
    if (spec_.precision > 1100 && isFinite &&
        !out_.appendRepeated("0", uint64_t(spec_.precision) - 1100))
      return vm_.heapTrap();
    return {};
  }

  Trap scalar(Value value, const Layout& layout, bool nested) {
    switch (layout.scalar) {
    case ScalarKind::Integer:
      return layout.kind == LayoutKind::Float ? real(asReal(value), false) : integer(value, layout);
    case ScalarKind::Bool:
      return put(value != 0 ? "true" : "false");
    case ScalarKind::Char: {
      const auto character = uint32_t(std::min<Value>(value, 0x110000));
      if (nested || isDebug_)
        return put(quotedScalar(character));
      char bytes[4];
      return put({bytes, encodeScalar(character, bytes)});
    }
    case ScalarKind::Unit:
      return put("()");
    case ScalarKind::UnitEnum:
      return put(value < layout.variants.size() ? llvm::StringRef(layout.variants[value].name)
                                                : "?");
    case ScalarKind::F64:
    case ScalarKind::F32:
      if (layout.kind != LayoutKind::Float)
        return integer(value, layout);
      return real(asReal(value), layout.scalar == ScalarKind::F32);
    }
    return {};
  }

  /// Writes a scalar, text or what a hook answers; opens a container.
  Trap visit(Value value, LayoutId id, bool nested) {
    const Layout& layout = vm_.layout(id);
    const FunctionId custom = isDebug_ ? layout.debug : layout.display;
    if (layout.isReference() && value == 0)
      return Trap::borrowed("value is used while it is borrowed elsewhere");
    if (custom != FunctionId::None)
      return hook(custom, value, id);
    switch (layout.kind) {
    case LayoutKind::Int:
    case LayoutKind::Float:
      return scalar(value, layout, nested);
    case LayoutKind::String:
      if (!nested && !isDebug_)
        return put(asString(value)->text());
      vm_.heap().chargeText(asString(value)->length);
      return appendQuoted(asString(value)->text(), out_) ? Trap{} : vm_.heapTrap();
    case LayoutKind::Vec: {
      VecObject* vec = asVec(value);
      const bool isFixed =
          layout.sequence == SequenceKind::Array || layout.sequence == SequenceKind::Slice;
      stack_.push_back({vec, id, 0, vec->length, nullptr, "]"});
      return put(isFixed ? "[" : "#[");
    }
    case LayoutKind::Map:
    case LayoutKind::Set: {
      MapObject* map = asMap(value);
      llvm::ArrayRef<uint32_t> order;
      if (Trap trap = mapOrder(vm_, map, order))
        return trap;
      // Keys and values of a map take turns.
      const uint64_t steps = layout.kind == LayoutKind::Map ? order.size() * 2 : order.size();
      stack_.push_back({map, id, 0, steps, order.data(), "}"});
      return put(layout.kind == LayoutKind::Map ? "{" : "#{");
    }
    case LayoutKind::Struct:
    case LayoutKind::Enum: {
      StructObject* object = asStruct(value);
      const uint16_t tag = layout.kind == LayoutKind::Enum ? object->tag : 0;
      if (tag >= layout.variants.size())
        return put("?");
      return open(object, id, layout.variants[tag]);
    }
    case LayoutKind::Closure:
      return put("<function>");
    case LayoutKind::Cell:
      return put("<cell>");
    case LayoutKind::Handle:
      return put(layout.name + "(..)");
    }
    return {};
  }

  Trap open(StructObject* object, LayoutId id, const VariantLayout& variant) {
    if (Trap trap = put(variant.name))
      return trap;
    const size_t count = std::min<size_t>(variant.fields.size(), object->extra);
    if (count == 0)
      return variant.name.empty() ? put("()") : Trap{};
    const bool isNamed = variant.shape == VariantShape::Named;
    const bool isSingleTuple = variant.name.empty() && count == 1 && !isNamed;
    stack_.push_back({object, id, 0, count, nullptr, isNamed ? " }" : isSingleTuple ? ",)" : ")"});
    return put(isNamed ? " { " : "(");
  }

  /// The next child of the container on top, or its closing bracket.
  Trap advance() {
    Level& top = stack_.back();
    const uint64_t at = top.at++;
    if (at == top.end) {
      const llvm::StringRef close = top.close;
      stack_.pop_back();
      return put(close);
    }
    const Level level = top; // a visit may move the stack
    const Layout& layout = vm_.layout(level.layout);
    if (at != 0)
      if (Trap trap = put(layout.kind == LayoutKind::Map && at % 2 == 1 ? ": " : ", "))
        return trap;
    switch (layout.kind) {
    case LayoutKind::Vec: {
      const auto* vec = static_cast<const VecObject*>(level.object);
      return visit(layout.byteStorage ? vec->bytes[at] : vec->slots[at], layout.element, true);
    }
    case LayoutKind::Set:
      return visit(static_cast<const MapObject*>(level.object)->entries[level.order[at]].key,
                   layout.element, true);
    case LayoutKind::Map: {
      const MapEntry& entry =
          static_cast<const MapObject*>(level.object)->entries[level.order[at / 2]];
      return at % 2 == 0 ? visit(entry.key, layout.element, true)
                         : visit(entry.value, layout.value, true);
    }
    case LayoutKind::Struct:
    case LayoutKind::Enum: {
      const auto* object = static_cast<const StructObject*>(level.object);
      const VariantLayout& variant =
          layout.variants[layout.kind == LayoutKind::Enum ? object->tag : 0];
      if (variant.shape == VariantShape::Named && at < variant.fieldNames.size())
        if (Trap trap = put(variant.fieldNames[at] + ": "))
          return trap;
      return visit(object->slots()[at], variant.fields[at], true);
    }
    case LayoutKind::Int:
    case LayoutKind::Float:
    case LayoutKind::String:
    case LayoutKind::Closure:
    case LayoutKind::Cell:
    case LayoutKind::Handle:
      break; // never opened
    }
    return {};
  }

  Vm& vm_;
  const FormatSpec& spec_;
  TextBuffer& out_;
  bool isDebug_;
  llvm::SmallVector<Level, 8> stack_;
};

/// The first `count` scalar values.
llvm::StringRef takeScalars(llvm::StringRef text, uint64_t count) {
  size_t at = 0;
  for (; count > 0 && at < text.size(); --count) {
    unsigned length = 0;
    decodeScalar(text, at, length);
    at += length;
  }
  return text.take_front(at);
}

} // namespace

Trap formatValue(Vm& vm, Value value, LayoutId id, const FormatSpec& spec, TextBuffer& out) {
  const Layout& layout = vm.layout(id);
  const bool isDebug = spec.kind == FormatSpec::Kind::Debug;
  const bool hasHook = (isDebug ? layout.debug : layout.display) != FunctionId::None;
  const bool isText = layout.kind == LayoutKind::String || hasHook;
  const bool cuts = isText && spec.precision >= 0;
  if (!vm.enterNested())
    return vm.depthTrap();
  Trap trap;
  if (spec.width <= 0 && !cuts) {
    trap = Writer(vm, spec, out).write(value, id);
  } else {
    TextBuffer whole(vm.heap());
    FormatSpec inner = spec;
    if (cuts) // cut first, quote then
      inner.kind =
          layout.kind == LayoutKind::String && !hasHook ? FormatSpec::Kind::Display : spec.kind;
    trap = Writer(vm, inner, whole).write(value, id);
    if (!trap) {
      vm.heap().chargeText(whole.size());
      llvm::StringRef text =
          cuts ? takeScalars(whole.text(), uint64_t(spec.precision)) : whole.text();
      TextBuffer quoted(vm.heap());
      if (cuts && inner.kind != spec.kind) {
        if (!appendQuoted(text, quoted))
          trap = vm.heapTrap();
        text = quoted.text();
      }
      const bool isNumber =
          !hasHook && (layout.kind == LayoutKind::Float ||
                       (layout.kind == LayoutKind::Int && layout.scalar == ScalarKind::Integer));
      if (!trap && !padText(text, spec, isNumber, out))
        trap = vm.heapTrap();
    }
  }
  vm.leaveNested();
  return trap;
}

Trap formatDisplay(Vm& vm, Value value, LayoutId layout, TextBuffer& out) {
  return formatValue(vm, value, layout, FormatSpec{}, out);
}

Trap formatDebug(Vm& vm, Value value, LayoutId layout, TextBuffer& out) {
  FormatSpec spec;
  spec.kind = FormatSpec::Kind::Debug;
  return formatValue(vm, value, layout, spec, out);
}

} // namespace gos::vm
