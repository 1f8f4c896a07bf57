// from_json and to_json: a document read straight into a value of any layout, with the path of what
// does not fit.
//
// The layout decides what is wanted where, so the reader descends by layout, to a limited depth.
// Unknown members are passed over.

#include "stdlib/json_scanner.h"
#include "stdlib/json_shapes.h"
#include "stdlib/json_text.h"
#include "stdlib/numbers.h"

#include "vm/map.h"
#include "vm/text.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

namespace gos::stdlib {

namespace {

/// Levels of the descent. Fewer than a document may have: a level of a value takes room on the
/// stack.
constexpr size_t kDeepestTyped = 256;

/// A value under construction: given back unless it is taken.
class Owned {
public:
  Owned(Vm& vm, LayoutId layout) : vm_(vm), layout_(layout) {}
  Owned(Owned&& other) noexcept : vm_(other.vm_), layout_(other.layout_), value_(other.take()) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (value_ != 0)
      vm_.releaseValue(value_, layout_);
  }
  Value& slot() { return value_; }
  Value take() { return std::exchange(value_, 0); }

private:
  Vm& vm_;
  LayoutId layout_;
  Value value_ = 0;
};

class Decoder {
public:
  Decoder(Vm& vm, StringRef source) : vm_(vm), scanner_(source) {}

  /// Makes a value of the layout. False: `fault` says why.
  bool value(LayoutId id, size_t depth, Value& out) {
    if (depth > kDeepestTyped)
      return fail("values are nested too deep");
    if ((fault.trap = vm_.charge(16)))
      return false;
    scanner_.skipBlanks();
    const Layout& layout = vm_.layout(id);
    switch (layout.kind) {
    case LayoutKind::Int:
      return scalar(layout, out);
    case LayoutKind::Float:
      return real(layout, out);
    case LayoutKind::String: {
      std::string text;
      return string("a string", text) && keep(vm::fromObject(vm_.heap().newString(text, id)), out);
    }
    case LayoutKind::Vec:
      return sequence(id, layout, depth, out);
    case LayoutKind::Set:
      return set(id, layout, depth, out);
    case LayoutKind::Map:
      return map(id, layout, depth, out);
    case LayoutKind::Struct:
      return structure(id, layout, depth, out);
    case LayoutKind::Enum:
      return enumeration(id, layout, depth, out);
    case LayoutKind::Closure:
    case LayoutKind::Cell:
    case LayoutKind::Handle:
      return fail("a value of type `" + layout.name + "` has no JSON form");
    }
    return false;
  }

  bool end() {
    fault.message = endJson(scanner_);
    return fault.message.empty();
  }

  JsonFault fault;

private:
  // ---- what went wrong
  // ------------------------------------------------------------------------------

  bool fail(const std::string& what) {
    constexpr size_t kMostParts = 12; // of the path, the innermost
    std::string path = path_.size() > kMostParts ? ".." : "";
    for (const std::string& part : llvm::ArrayRef(path_).take_back(kMostParts))
      path += part;
    fault.message =
        path.empty() ? scanner_.fault(what)
                     : "`" + (path_.size() > kMostParts ? path : StringRef(path).ltrim('.').str()) +
                           "`: " + scanner_.fault(what);
    return false;
  }
  /// The words of the text at hand, for "found".
  std::string found() const {
    switch (scanner_.peek()) {
    case '{':
      return "an object";
    case '[':
      return "an array";
    case '"':
      return "a string";
    case 't':
    case 'f':
      return "a boolean";
    case 'n':
      return "null";
    case '\0':
      return "the end";
    default:
      return "a number";
    }
  }
  bool misfit(const std::string& wanted) {
    return fail("expected " + wanted + ", found " + found());
  }
  bool full() {
    fault.trap = vm_.heapTrap();
    return false;
  }
  bool keep(Value value, Value& out) {
    out = value;
    return value != 0 || full();
  }

  // ---- scalars
  // ----------------------------------------------------------------------------------------

  bool string(const std::string& wanted, std::string& text) {
    if (scanner_.peek() != '"')
      return misfit(wanted);
    scanner_.take('"');
    return scanner_.takeString(text) || fail("the string is not well formed");
  }

  bool integer(const Layout& layout, StringRef digits, Value& out) {
    const IntegerRange range = rangeOf(layout.width);
    int64_t whole = 0;
    uint64_t natural = 0;
    if (!digits.starts_with("-") && parseUnsigned(digits, 10, natural) == NumberFault::None &&
        natural <= range.most) {
      out = Value(natural);
      return true;
    }
    if (parseSigned(digits, 10, whole) == NumberFault::None && whole >= range.least &&
        (whole < 0 || uint64_t(whole) <= range.most)) {
      out = vm::fromInteger(whole);
      return true;
    }
    return fail("`" + digits.take_front(40).str() + "` does not fit `" + layout.name + "`");
  }

  bool scalar(const Layout& layout, Value& out) {
    switch (layout.scalar) {
    case vm::ScalarKind::Integer: {
      StringRef number;
      bool integral = false;
      const std::string what = found();
      if (what != "a number")
        return misfit("an integer");
      if (!scanner_.takeNumber(number, integral))
        return fail("a value is expected");
      return integral ? integer(layout, number, out)
                      : fail("expected an integer, found `" + number.take_front(40).str() + "`");
    }
    case vm::ScalarKind::Bool:
      out = 1;
      if (scanner_.takeWord("true"))
        return true;
      out = 0;
      return scanner_.takeWord("false") || misfit("a boolean");
    case vm::ScalarKind::Char: {
      std::string text;
      return string("a string of one character", text) && character(text, out);
    }
    case vm::ScalarKind::Unit:
      out = 0;
      return scanner_.takeWord("null") || misfit("null");
    case vm::ScalarKind::UnitEnum: {
      std::string text;
      return string("the name of a variant of `" + layout.name + "`", text) &&
             variantNamed(layout, text, out);
    }
    case vm::ScalarKind::F64:
    case vm::ScalarKind::F32:
      break;
    }
    return fail("a value of type `" + layout.name + "` has no JSON form");
  }

  bool character(StringRef text, Value& out) {
    unsigned length = 0;
    out = text.empty() ? 0 : vm::decodeScalar(text, 0, length);
    return (!text.empty() && length == text.size()) || fail("expected a string of one character");
  }

  bool variantNamed(const Layout& layout, StringRef name, Value& out) {
    for (size_t i = 0; i < layout.variants.size(); ++i)
      if (layout.variants[i].name == name) {
        out = Value(i);
        return true;
      }
    return fail("`" + layout.name + "` has no variant `" + name.take_front(80).str() + "`");
  }

  bool real(const Layout& layout, Value& out) {
    StringRef number;
    bool integral = false;
    if (found() != "a number")
      return misfit("a number");
    if (!scanner_.takeNumber(number, integral))
      return fail("a value is expected");
    double value = 0;
    if (parseReal(number, value) != NumberFault::None)
      return fail("the number is out of range");
    if (layout.scalar == vm::ScalarKind::F32)
      value = double(float(value));
    if (!std::isfinite(value))
      return fail("the number is out of range");
    out = vm::fromReal(value);
    return true;
  }

  // ---- containers
  // -------------------------------------------------------------------------------------

  /// The elements of an array, each read by `each(number)`.
  template <class Each> bool elements(Each each) {
    if (!scanner_.take('['))
      return misfit("an array");
    scanner_.skipBlanks();
    if (scanner_.take(']'))
      return true;
    for (size_t number = 0;; ++number) {
      path_.push_back("[" + std::to_string(number) + "]");
      if (!each(number))
        return false;
      path_.pop_back();
      scanner_.skipBlanks();
      if (scanner_.take(']'))
        return true;
      if (!scanner_.take(','))
        return fail(scanner_.atEnd() ? "the document ends too early" : "a `,` or `]` is expected");
    }
  }

  /// The members of an object, each read by `each(name)` from behind its `:`.
  template <class Each> bool members(Each each) {
    if (!scanner_.take('{'))
      return misfit("an object");
    scanner_.skipBlanks();
    if (scanner_.take('}'))
      return true;
    while (true) {
      scanner_.skipBlanks();
      std::string name;
      if (!scanner_.take('"') || !scanner_.takeString(name))
        return fail("a member needs a name in quotes");
      scanner_.skipBlanks();
      if (!scanner_.take(':'))
        return fail("a `:` is missing");
      path_.push_back("." + StringRef(name).take_front(80).str());
      if (!each(name))
        return false;
      path_.pop_back();
      scanner_.skipBlanks();
      if (scanner_.take('}'))
        return true;
      if (!scanner_.take(','))
        return fail(scanner_.atEnd() ? "the document ends too early" : "a `,` or `}` is expected");
    }
  }

  bool passOver(size_t depth) {
    IgnoreJson nothing;
    std::string message = readJsonValue(scanner_, nothing, depth);
    fault.message = std::move(message);
    return fault.message.empty();
  }

  /// `[T; 3]` says its length in its name alone.
  static bool lengthOf(const Layout& layout, uint64_t& length) {
    const StringRef digits = StringRef(layout.name).rsplit(';').second.rtrim(']').trim();
    return !digits.getAsInteger(10, length);
  }

  bool sequence(LayoutId id, const Layout& layout, size_t depth, Value& out) {
    uint64_t length = 0;
    const bool fixed = layout.sequence == vm::SequenceKind::Array;
    const bool open =
        layout.sequence == vm::SequenceKind::Vec || layout.sequence == vm::SequenceKind::Deque ||
        layout.sequence == vm::SequenceKind::Queue || layout.sequence == vm::SequenceKind::Stack;
    if ((!fixed && !open) || (fixed && !lengthOf(layout, length)))
      return fail("a value of type `" + layout.name + "` is not read from JSON");
    Owned made(vm_, id);
    if (!keep(vm::fromObject(vm_.heap().newVec(id, 4)), made.slot()))
      return false;
    const bool done = elements([&](size_t) {
      Value element = 0;
      return value(layout.element, depth + 1, element) &&
             (vm_.heap().push(vm::asVec(made.slot()), element) || full());
    });
    if (!done)
      return false;
    if (fixed && vm::asVec(made.slot())->length != length)
      return fail("expected " + std::to_string(length) + " elements, found " +
                  std::to_string(vm::asVec(made.slot())->length));
    out = made.take();
    return true;
  }

  bool set(LayoutId id, const Layout& layout, size_t depth, Value& out) {
    Owned made(vm_, id);
    if (!keep(vm::fromObject(vm_.heap().newMap(id)), made.slot()))
      return false;
    const bool done = elements([&](size_t) {
      Value element = 0;
      bool present = false;
      if (!value(layout.element, depth + 1, element))
        return false;
      fault.trap = vm::mapInsert(vm_, vm::asMap(made.slot()), element, 0, present);
      return !fault.trap;
    });
    if (done)
      out = made.take();
    return done;
  }

  /// The name of a member as a key: text, a character, a boolean, a number or a variant.
  bool key(LayoutId id, StringRef name, Value& out) {
    const Layout& layout = vm_.layout(id);
    if (layout.kind == LayoutKind::String)
      return keep(vm::fromObject(vm_.heap().newString(name, id)), out);
    if (layout.kind == LayoutKind::Int)
      switch (layout.scalar) {
      case vm::ScalarKind::Integer: {
        StringRef digits = name;
        digits.consume_front("-");
        if (digits.empty() || !llvm::all_of(digits, llvm::isDigit))
          return fail("expected an integer as the name of the member");
        return integer(layout, name, out);
      }
      case vm::ScalarKind::Bool:
        out = name == "true";
        return name == "true" || name == "false" ||
               fail("expected `true` or `false` as the name of the member");
      case vm::ScalarKind::Char:
        return character(name, out);
      case vm::ScalarKind::UnitEnum:
        return variantNamed(layout, name, out);
      case vm::ScalarKind::Unit:
      case vm::ScalarKind::F64:
      case vm::ScalarKind::F32:
        break;
      }
    return fail("a map with keys of type `" + layout.name + "` is not read from JSON");
  }

  bool map(LayoutId id, const Layout& layout, size_t depth, Value& out) {
    Owned made(vm_, id);
    if (!keep(vm::fromObject(vm_.heap().newMap(id)), made.slot()))
      return false;
    const bool done = members([&](StringRef name) {
      Owned own(vm_, layout.element);
      Value content = 0;
      bool present = false;
      if (!key(layout.element, name, own.slot()) || !value(layout.value, depth + 1, content))
        return false;
      fault.trap = vm::mapInsert(vm_, vm::asMap(made.slot()), own.take(), content, present);
      return !fault.trap;
    });
    if (done)
      out = made.take();
    return done;
  }

  // ---- structs and enums
  // ------------------------------------------------------------------------------

  /// Fills the fields of an object whose slots are zero. The shapes are those the writer gives.
  bool fields(vm::StructObject* object, const vm::VariantLayout& variant, const std::string& type,
              size_t depth) {
    const bool named = variant.shape == vm::VariantShape::Named &&
                       variant.fieldNames.size() == variant.fields.size();
    const size_t count = variant.fields.size();
    if (!named && count == 1)
      return value(variant.fields[0], depth + 1, object->slots()[0]);
    std::vector<bool> given(count);
    if (!named) {
      size_t elementsRead = 0;
      const bool done = elements([&](size_t number) {
        if (number >= count)
          return fail("expected " + std::to_string(count) + " elements, found more");
        elementsRead = number + 1;
        return value(variant.fields[number], depth + 1, object->slots()[number]);
      });
      return done &&
             (elementsRead == count || fail("expected " + std::to_string(count) +
                                            " elements, found " + std::to_string(elementsRead)));
    }
    const bool told = variant.codecs.size() == count;
    const auto memberOf = [&](size_t i) -> StringRef {
      return told && !variant.codecs[i].member.empty() ? variant.codecs[i].member
                                                       : variant.fieldNames[i];
    };
    const bool done = members([&](StringRef name) {
      for (size_t i = 0; i < count; ++i)
        if (memberOf(i) == name && !(told && variant.codecs[i].isSkipped)) {
          if (given[i])
            return fail("the member is there twice");
          given[i] = true;
          return value(variant.fields[i], depth + 1, object->slots()[i]);
        }
      return passOver(depth + 1);
    });
    if (!done)
      return false;
    for (size_t i = 0; i < count; ++i) {
      if (given[i])
        continue;
      if (told && (variant.codecs[i].isSkipped || variant.codecs[i].isDefaulted)) {
        if (!zero(variant.fields[i], depth + 1, object->slots()[i]))
          return false;
        continue;
      }
      if (!isOptionLayout(vm_.layout(variant.fields[i])))
        return fail("`" + type + "` needs a member `" + memberOf(i).str() + "`");
      object->slots()[i] = vm_.unitVariant(variant.fields[i], 0);
    }
    return true;
  }

  /// The zero value of a layout (language.md section 6.4); the checker has seen that there is one.
  bool zero(LayoutId id, size_t depth, Value& out) {
    const Layout& layout = vm_.layout(id);
    if (depth > kDeepestTyped)
      return fail("values are nested too deep");
    if ((fault.trap = vm_.charge(16)))
      return false;
    switch (layout.kind) {
    case LayoutKind::Int:
    case LayoutKind::Float:
      out = 0;
      return true;
    case LayoutKind::String:
      return keep(vm::fromObject(vm_.heap().newString("", id)), out);
    case LayoutKind::Vec: {
      uint64_t length = 0;
      if (layout.sequence == vm::SequenceKind::Array && !lengthOf(layout, length))
        break;
      // One element is made, and stands in all places: each copies it before it is written to.
      Owned element(vm_, layout.element);
      if (length != 0 && !zero(layout.element, depth + 1, element.slot()))
        return false;
      return keep(vm::fromObject(vm_.heap().newVecOf(id, length, element.take())), out);
    }
    case LayoutKind::Set:
    case LayoutKind::Map:
      return keep(vm::fromObject(vm_.heap().newMap(id)), out);
    case LayoutKind::Struct: {
      Owned made(vm_, id);
      if (layout.variants.size() != 1 ||
          !keep(vm::fromObject(vm_.heap().newStruct(id)), made.slot()))
        break;
      const std::vector<LayoutId>& parts = layout.variants[0].fields;
      for (size_t i = 0; i < parts.size(); ++i)
        if (!zero(parts[i], depth + 1, vm::asStruct(made.slot())->slots()[i]))
          return false;
      out = made.take();
      return true;
    }
    case LayoutKind::Enum:
      if (layout.variants.empty() || !layout.variants[0].fields.empty())
        break;
      out = vm_.unitVariant(id, 0);
      return true;
    case LayoutKind::Closure:
    case LayoutKind::Cell:
    case LayoutKind::Handle:
      break;
    }
    return fail("a value of type `" + layout.name + "` has no zero value");
  }

  bool structure(LayoutId id, const Layout& layout, size_t depth, Value& out) {
    if (layout.variants.size() != 1)
      return fail("a value of type `" + layout.name + "` is not read from JSON");
    Owned made(vm_, id);
    if (!keep(vm::fromObject(vm_.heap().newStruct(id)), made.slot()) ||
        !fields(vm::asStruct(made.slot()), layout.variants[0], layout.name, depth))
      return false;
    out = made.take();
    return true;
  }

  bool enumeration(LayoutId id, const Layout& layout, size_t depth, Value& out) {
    if (isWholeJsonValue(vm_, id)) {
      JsonFault inner = readJson(vm_, scanner_, id, depth, out);
      if (!inner.failed())
        return true;
      fault = std::move(inner);
      return false;
    }
    if (isOptionLayout(layout)) {
      if (scanner_.takeWord("null")) {
        out = vm_.unitVariant(id, 0);
        return true;
      }
      return payload(id, layout, 1, depth, out);
    }
    const std::string wanted = "a variant of `" + layout.name + "`";
    if (scanner_.peek() == '"') {
      std::string name;
      Value tag = 0;
      if (!string(wanted, name) || !variantNamed(layout, name, tag))
        return false;
      if (!layout.variants[tag].fields.empty())
        return fail("variant `" + name + "` of `" + layout.name + "` has a value: `{\"" + name +
                    "\": ..}`");
      out = vm_.unitVariant(id, uint16_t(tag));
      return true;
    }
    if (scanner_.peek() != '{')
      return misfit(wanted);
    Owned made(vm_, id);
    bool some = false;
    const bool done = members([&](StringRef name) {
      Value tag = 0;
      if (some)
        return fail("expected one member, the name of " + wanted);
      some = true;
      if (!variantNamed(layout, name, tag))
        return false;
      if (layout.variants[tag].fields.empty())
        return fail("variant `" + name.str() + "` of `" + layout.name +
                    "` has no value: write its name alone");
      return payload(id, layout, uint16_t(tag), depth + 1, made.slot());
    });
    if (!done)
      return false;
    if (!some)
      return fail("expected one member, the name of " + wanted);
    out = made.take();
    return true;
  }

  bool payload(LayoutId id, const Layout& layout, uint16_t tag, size_t depth, Value& out) {
    Owned made(vm_, id);
    if (!keep(vm::fromObject(vm_.heap().newEnum(id, tag)), made.slot()) ||
        !fields(vm::asStruct(made.slot()), layout.variants[tag], layout.name, depth))
      return false;
    out = made.take();
    return true;
  }

  Vm& vm_;
  JsonScanner scanner_;
  std::vector<std::string> path_;
};

} // namespace

namespace bodies {

/// intrinsics::json_write: to_json.
Trap JsonWrite(Arguments& arguments) {
  return JsonEncode(arguments);
}

/// intrinsics::json_read: from_json and decode::<T>.
Trap JsonRead(Arguments& arguments) {
  Vm& vm = arguments.vm();
  const StringRef source = arguments.string(0);
  if (Trap trap = chargeJson(vm, source))
    return trap;
  const vm::Scratch scratch(vm.heap(), source.size());
  if (!scratch)
    return vm.heapTrap();
  const LayoutId layout = payloadOf(vm, arguments.resultLayout(), "Ok");
  Decoder decoder(vm, source);
  Owned made(vm, layout);
  const bool done = decoder.value(layout, 0, made.slot()) && decoder.end();
  if (decoder.fault.trap)
    return std::move(decoder.fault.trap);
  if (!done)
    return arguments.returnErr("invalid JSON: " + decoder.fault.message);
  return arguments.returnOkOwned(made.take());
}

} // namespace bodies
} // namespace gos::stdlib
