// std::encoding::json: the bodies, and the writer.

#include "stdlib/json_text.h"

#include "vm/map.h"
#include "vm/text.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

namespace gos::stdlib {

JsonTags jsonTags(const Layout& value) {
  JsonTags tags;
  for (size_t i = 0; i < value.variants.size(); ++i) {
    const StringRef name = value.variants[i].name;
    uint16_t* tag = name == "Null"     ? &tags.null
                    : name == "Bool"   ? &tags.boolean
                    : name == "Int"    ? &tags.integer
                    : name == "Float"  ? &tags.real
                    : name == "String" ? &tags.text
                    : name == "Array"  ? &tags.array
                    : name == "Object" ? &tags.object
                                       : nullptr;
    if (tag != nullptr)
      *tag = uint16_t(i);
  }
  return tags;
}

bool isJsonValue(const Layout& layout) {
  constexpr StringRef kNames[] = {"Null", "Bool", "Int", "Float", "String", "Array", "Object"};
  if (layout.kind != LayoutKind::Enum || layout.variants.size() != std::size(kNames))
    return false;
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (layout.variants[i].name != kNames[i] ||
        layout.variants[i].fields.size() != (i == 0 ? 0u : 1u))
      return false;
  return true;
}

namespace {

constexpr unsigned kDeepest = 1000;

class Writer {
public:
  Writer(Vm& vm, JsonStyle style, vm::TextBuffer& out)
      : vm_(vm), pretty_(style == JsonStyle::Pretty), out_(out) {}

  Trap write(Value value, LayoutId id, unsigned depth) {
    if (depth > kDeepest)
      return Trap::panic("the value is nested too deep for JSON");
    if (out_.overflowed())
      return vm_.heapTrap();
    if (Trap trap = vm_.charge(32))
      return trap;
    const Layout& layout = vm_.layout(id);
    if (vm_.isReference(id) && value == 0)
      return Trap::borrowed("a part of the value is borrowed elsewhere");
    switch (layout.kind) {
    case LayoutKind::Int:
      return writeScalar(value, id, layout);
    case LayoutKind::Float:
      return writeReal(vm::asReal(value), layout.scalar == vm::ScalarKind::F32);
    case LayoutKind::String:
      writeText(vm::asString(value)->text());
      return {};
    case LayoutKind::Vec:
      return writeSequence(value, layout, depth);
    case LayoutKind::Map:
    case LayoutKind::Set:
      return writeMap(value, layout, depth);
    case LayoutKind::Struct:
      return writeFields(layout.variants[0], vm::asStruct(value), depth);
    case LayoutKind::Enum:
      return writeEnum(value, layout, depth);
    case LayoutKind::Closure:
    case LayoutKind::Cell:
    case LayoutKind::Handle:
      return Trap::panic("a value of type `" + layout.name + "` has no JSON form");
    }
    return {};
  }

private:
  void put(StringRef text) { out_.append(text); }

  void writeText(StringRef text) {
    constexpr size_t kBlock = 1024; // bytes that are escaped at once
    vm_.heap().chargeText(text.size() * 4);
    std::string quoted = "\"";
    for (char c : text) {
      if (quoted.size() >= kBlock) {
        put(quoted);
        quoted.clear();
      }
      switch (c) {
      case '"':
        quoted += "\\\"";
        break;
      case '\\':
        quoted += "\\\\";
        break;
      case '\n':
        quoted += "\\n";
        break;
      case '\r':
        quoted += "\\r";
        break;
      case '\t':
        quoted += "\\t";
        break;
      case '\b':
        quoted += "\\b";
        break;
      case '\f':
        quoted += "\\f";
        break;
      default:
        if (uint8_t(c) < 0x20)
          quoted += "\\u00" + llvm::utohexstr(uint8_t(c), true, 2);
        else
          quoted += c;
      }
    }
    quoted += '"';
    put(quoted);
  }

  Trap writeScalar(Value value, LayoutId id, const Layout& layout) {
    if (layout.scalar == vm::ScalarKind::Unit) {
      put("null");
      return {};
    }
    if (layout.scalar == vm::ScalarKind::Char) {
      char buffer[4];
      writeText({buffer, vm::encodeScalar(uint32_t(value), buffer)});
    } else if (layout.scalar == vm::ScalarKind::UnitEnum) {
      writeText(value < layout.variants.size() ? StringRef(layout.variants[value].name)
                                               : StringRef());
    } else {
      return vm::formatDisplay(vm_, value, id, out_);
    }
    return {};
  }

  Trap writeReal(double value, bool isSingle) {
    // JSON has no word for what is not finite.
    put(std::isfinite(value) ? vm::floatText(value, vm::FloatText::Debug, isSingle)
                             : std::string("null"));
    return {};
  }

  void open(char bracket) {
    put({&bracket, 1});
    ++indent_;
  }
  void between(bool first) {
    if (!first)
      put(",");
    if (pretty_) {
      put("\n");
      out_.appendRepeated("  ", indent_);
    }
  }
  void close(char bracket, bool empty) {
    --indent_;
    if (pretty_ && !empty) {
      put("\n");
      out_.appendRepeated("  ", indent_);
    }
    put({&bracket, 1});
  }
  void colon() { put(pretty_ ? ": " : ":"); }

  Trap writeSequence(Value value, const Layout& layout, unsigned depth) {
    VecObject* vec = vm::asVec(value);
    open('[');
    for (uint64_t i = 0; i < vec->length; ++i) {
      between(i == 0);
      if (Trap trap = write(vm_.heap().element(vec, i), layout.element, depth + 1))
        return trap;
    }
    close(']', vec->length == 0);
    return {};
  }

  /// A key that is no text is written as the text of its value.
  Trap writeKey(Value key, LayoutId id) {
    if (vm_.layout(id).kind == LayoutKind::String && key != 0) {
      writeText(vm::asString(key)->text());
      return {};
    }
    vm::TextBuffer text(vm_.heap());
    Trap trap = vm::formatDisplay(vm_, key, id, text);
    writeText(text.text());
    return trap;
  }

  Trap writeMap(Value value, const Layout& layout, unsigned depth) {
    vm::MapObject* map = vm::asMap(value);
    ArrayRef<uint32_t> order;
    if (Trap trap = vm::mapOrder(vm_, map, order))
      return trap;
    const bool isMap = layout.kind == LayoutKind::Map;
    open(isMap ? '{' : '[');
    // Writing may call a `Display` of the guest, which may ask for the order again: keep our own.
    const vm::Scratch scratch(vm_.heap(), order.size() * sizeof(uint32_t));
    if (!scratch)
      return vm_.heapTrap();
    const std::vector<uint32_t> numbers(order.begin(), order.end());
    for (size_t i = 0; i < numbers.size(); ++i) {
      between(i == 0);
      const vm::MapEntry entry = map->entries[numbers[i]];
      Trap trap =
          isMap ? writeKey(entry.key, layout.element) : write(entry.key, layout.element, depth + 1);
      if (!trap && isMap) {
        colon();
        trap = write(entry.value, layout.value, depth + 1);
      }
      if (trap)
        return trap;
    }
    close(isMap ? '}' : ']', numbers.empty());
    return {};
  }

  /// Named fields as an object, one positional field as itself, more as an array.
  Trap writeFields(const vm::VariantLayout& variant, const vm::StructObject* object,
                   unsigned depth) {
    const bool named = variant.shape == vm::VariantShape::Named &&
                       variant.fieldNames.size() == variant.fields.size();
    if (!named && variant.fields.size() == 1)
      return write(object->slots()[0], variant.fields[0], depth + 1);
    const bool told = named && variant.codecs.size() == variant.fields.size();
    bool isFirst = true;
    open(named ? '{' : '[');
    for (size_t i = 0; i < variant.fields.size(); ++i) {
      if (told && variant.codecs[i].isSkipped)
        continue;
      between(std::exchange(isFirst, false));
      if (named) {
        writeText(told && !variant.codecs[i].member.empty() ? variant.codecs[i].member
                                                            : variant.fieldNames[i]);
        colon();
      }
      if (Trap trap = write(object->slots()[i], variant.fields[i], depth + 1))
        return trap;
    }
    close(named ? '}' : ']', isFirst);
    return {};
  }

  Trap writeEnum(Value value, const Layout& layout, unsigned depth) {
    const vm::StructObject* object = vm::asStruct(value);
    const vm::VariantLayout& variant = layout.variants[object->tag];
    if (isJsonValue(layout)) {
      if (!variant.fields.empty())
        return write(object->slots()[0], variant.fields[0], depth + 1);
      put("null");
      return {};
    }
    const bool isOption = layout.variants.size() == 2 && layout.variants[0].name == "None" &&
                          layout.variants[1].name == "Some";
    if (isOption) {
      if (!variant.fields.empty())
        return write(object->slots()[0], variant.fields[0], depth + 1);
      put("null");
      return {};
    }
    if (variant.fields.empty()) {
      writeText(variant.name);
      return {};
    }
    open('{');
    between(true);
    writeText(variant.name);
    colon();
    if (Trap trap = writeFields(variant, object, depth + 1))
      return trap;
    close('}', false);
    return {};
  }

  Vm& vm_;
  bool pretty_;
  unsigned indent_ = 0; // brackets that are open
  vm::TextBuffer& out_;
};

Trap returnJson(Arguments& arguments, JsonStyle style) {
  vm::TextBuffer out(arguments.vm().heap());
  if (Trap trap = writeJson(arguments.vm(), arguments.slot(0), arguments.layoutId(0), style, out))
    return trap;
  return arguments.returnText(out);
}

} // namespace

Trap writeJson(Vm& vm, Value value, LayoutId layout, JsonStyle style, vm::TextBuffer& out) {
  Trap trap = Writer(vm, style, out).write(value, layout, 0);
  if (!trap && out.overflowed())
    return vm.heapTrap();
  return trap;
}

namespace bodies {

Trap JsonParse(Arguments& arguments) {
  Value value = 0;
  Vm& vm = arguments.vm();
  JsonFault fault =
      parseJson(vm, arguments.string(0), payloadOf(vm, arguments.resultLayout(), "Ok"), value);
  if (fault.trap)
    return std::move(fault.trap);
  return fault.message.empty() ? arguments.returnOkOwned(value)
                               : arguments.returnErr("invalid JSON: " + fault.message);
}

Trap JsonRender(Arguments& arguments) {
  return returnJson(arguments, JsonStyle::Compact);
}
Trap JsonEncode(Arguments& arguments) {
  return returnJson(arguments, JsonStyle::Compact);
}
Trap JsonEncodePretty(Arguments& arguments) {
  return returnJson(arguments, JsonStyle::Pretty);
}

Trap JsonValid(Arguments& arguments) {
  if (Trap trap = chargeJson(arguments.vm(), arguments.string(0)))
    return trap;
  const vm::Scratch scratch(arguments.vm().heap(), arguments.string(0).size());
  if (!scratch)
    return arguments.vm().heapTrap();
  return arguments.returnBoolean(isValidJson(arguments.string(0)));
}

} // namespace bodies
} // namespace gos::stdlib
