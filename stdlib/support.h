#pragma once
// What the bodies share: reading arguments of more than one shape, building results, charging for
// work.

#include "stdlib/bodies.h"
#include "vm/vm.h"

#include <optional>
#include <string>

namespace gos::stdlib {

using llvm::ArrayRef;
using llvm::StringRef;
using vm::Arguments;
using vm::Layout;
using vm::LayoutId;
using vm::LayoutKind;
using vm::Trap;
using vm::Value;
using vm::VecObject;
using vm::Vm;

/// A `Needle`: text, or a char that is made text.
class NeedleText {
public:
  NeedleText(const Arguments& arguments, size_t i);
  StringRef text() const { return text_; }

private:
  char buffer_[4];
  StringRef text_;
};

/// `Contents`: the bytes of a String or a Vec<u8>.
StringRef contentsOf(const Arguments& arguments, size_t i);
/// The bytes of a Vec<u8>.
StringRef bytesOf(const Arguments& arguments, size_t i);
/// The texts of a Vec<String>.
std::vector<std::string> stringsOf(const Arguments& arguments, size_t i);
/// Field 0 of an opaque struct such as fs::File.
int64_t handleOf(const Arguments& arguments, size_t i);

// What a body's work costs, in steps of about a nanosecond. Making objects and copying bytes into
// them is charged by the heap, comparing and hashing by the VM; a body charges what it does itself,
// before it does it.

/// Bytes or elements that are passed over quickly: a search, a copy.
inline Trap chargeBulk(Vm& vm, uint64_t units) {
  return vm.charge(units / 4 + 1);
}
/// Bytes or elements that are each thought about: decoded, looked up, parsed.
inline Trap chargeEach(Vm& vm, uint64_t units) {
  return vm.charge(units * 2 + 1);
}
/// A search for `needle`: it is linear, but each place may be compared with a part of the needle.
inline Trap chargeSearch(Vm& vm, StringRef text, StringRef needle) {
  return needle.size() <= 16 ? chargeBulk(vm, text.size() + needle.size())
                             : chargeEach(vm, (text.size() + needle.size()) * 4);
}

/// Builds a value from the outside in: a struct, tuple or vector whose children are given one after
/// another. Answers null when the heap is full; what was given is released then.
class Builder {
public:
  explicit Builder(Vm& vm) : vm_(vm) {}
  Value string(LayoutId layout, StringRef text);
  Value bytes(LayoutId layout, StringRef content);
  Value strings(LayoutId layout, ArrayRef<std::string> items);
  /// Takes over the fields; of a reference field null means that the heap was full.
  Value structure(LayoutId layout, ArrayRef<Value> fields);
  Value variant(LayoutId layout, uint16_t tag, ArrayRef<Value> fields);
  LayoutId field(LayoutId layout, size_t index) const {
    return vm_.layout(layout).variants[0].fields[index];
  }
  LayoutId element(LayoutId layout) const { return vm_.layout(layout).element; }

private:
  Value fill(vm::StructObject* object, ArrayRef<LayoutId> layouts, ArrayRef<Value> fields);
  Vm& vm_;
};

/// The layout of the payload of a variant of an enum, by name; for Option and Result.
LayoutId payloadOf(const Vm& vm, LayoutId layout, StringRef variant);

/// An element, owned; traps when it is borrowed elsewhere.
Trap takeElement(Vm& vm, VecObject* vec, LayoutId element, uint64_t at, Value& out);
/// A new sequence of the elements [from, to) of `vec`.
Value copyPart(Vm& vm, VecObject* vec, uint64_t from, uint64_t to, LayoutId layout);
/// Appends the elements [from, to) of `source` to a unique vector; the two may be one.
bool appendPart(Vm& vm, VecObject* target, VecObject* source, uint64_t from, uint64_t to);

/// Option<T> of an owned element.
Trap returnElement(Arguments& arguments, VecObject* vec, LayoutId element, uint64_t at);

/// Where `needle` is, in linear time whatever the two look like: a region pays by the length of the
/// text.
size_t findFirst(StringRef text, StringRef needle);

/// Answers a String of at most `most` bytes that `make` writes into the given std::string, which
/// has room for them: both the buffer and the object that is made of it are counted before they are
/// allocated.
template <class Make> Trap returnMade(Arguments& arguments, uint64_t most, Make make) {
  const vm::Scratch scratch(arguments.vm().heap(), most);
  if (!scratch)
    return arguments.vm().heapTrap();
  std::string out;
  out.reserve(most);
  if (Trap trap = make(out))
    return trap;
  return arguments.returnString(out);
}

} // namespace gos::stdlib
