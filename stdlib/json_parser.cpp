// Makes values of `encoding::json::Value` while reading.

#include "stdlib/json_scanner.h"
#include "stdlib/json_text.h"

#include "vm/map.h"

#include <vector>

namespace gos::stdlib {

namespace {

/// Makes values. What is open is owned here until it is closed into what is around it.
class Maker : public JsonListener {
public:
  Maker(Vm& vm, LayoutId layout) : vm_(vm), layout_(layout), tags_(jsonTags(vm.layout(layout))) {}
  ~Maker() override {
    for (Open& each : open_) {
      vm_.heap().release(vm::asObject(each.container));
      vm_.heap().release(vm::asObject(each.key));
    }
    vm_.releaseValue(result_, layout_);
  }

  bool null() override { return add(vm_.unitVariant(layout_, tags_.null)); }
  bool boolean(bool value) override { return addScalar(tags_.boolean, Value(value)); }
  bool integer(int64_t value) override { return addScalar(tags_.integer, vm::fromInteger(value)); }
  bool real(double value) override { return addScalar(tags_.real, vm::fromReal(value)); }
  bool string(StringRef text) override {
    Builder builder(vm_);
    return addScalar(tags_.text, builder.string(fieldOf(tags_.text), text));
  }
  bool key(StringRef text) override {
    const LayoutId map = fieldOf(tags_.object);
    open_.back().key = vm::fromObject(vm_.heap().newString(text, vm_.layout(map).element));
    return open_.back().key != 0 || full();
  }
  bool open(bool isObject) override {
    if ((trap_ = vm_.charge(32)))
      return false;
    Open opened;
    opened.isObject = isObject;
    const LayoutId layout = fieldOf(isObject ? tags_.object : tags_.array);
    opened.container = isObject ? vm::fromObject(vm_.heap().newMap(layout))
                                : vm::fromObject(vm_.heap().newVec(layout, 4));
    if (opened.container == 0)
      return full();
    open_.push_back(opened);
    return true;
  }
  bool close() override {
    const Open closed = open_.back();
    open_.pop_back();
    return addScalar(closed.isObject ? tags_.object : tags_.array, closed.container);
  }

  Trap takeTrap() { return std::move(trap_); }
  Value takeResult() { return std::exchange(result_, 0); }

private:
  struct Open {
    bool isObject = false;
    Value container = 0;
    Value key = 0;
  };

  LayoutId fieldOf(uint16_t tag) const { return vm_.layout(layout_).variants[tag].fields[0]; }
  bool full() {
    trap_ = vm_.heapTrap();
    return false;
  }
  bool addScalar(uint16_t tag, Value payload) {
    const Value fields[] = {payload};
    return add(Builder(vm_).variant(layout_, tag, fields));
  }
  /// Puts a finished value where it belongs; takes it over.
  bool add(Value value) {
    if (value == 0)
      return full();
    if (open_.empty()) {
      result_ = value;
      return true;
    }
    Open& around = open_.back();
    if (!around.isObject)
      return vm_.heap().push(vm::asVec(around.container), value) || full();
    bool present = false;
    trap_ = vm::mapInsert(vm_, vm::asMap(around.container), std::exchange(around.key, 0), value,
                          present);
    return !trap_;
  }

  Vm& vm_;
  LayoutId layout_;
  JsonTags tags_;
  std::vector<Open> open_;
  Value result_ = 0;
  Trap trap_;
};

} // namespace

JsonFault readJson(Vm& vm, JsonScanner& scanner, LayoutId layout, size_t depth, Value& out) {
  JsonFault fault;
  Maker maker(vm, layout);
  fault.message = readJsonValue(scanner, maker, depth);
  fault.trap = maker.takeTrap();
  if (!fault.failed())
    out = maker.takeResult();
  return fault;
}

JsonFault parseJson(Vm& vm, StringRef source, LayoutId layout, Value& out) {
  JsonFault fault;
  if ((fault.trap = chargeJson(vm, source)))
    return fault;
  const vm::Scratch scratch(vm.heap(), source.size());
  if (!scratch) {
    fault.trap = vm.heapTrap();
    return fault;
  }
  JsonScanner scanner(source);
  Value value = 0;
  fault = readJson(vm, scanner, layout, 0, value);
  if (fault.failed())
    return fault;
  fault.message = endJson(scanner);
  if (fault.failed())
    vm.releaseValue(value, layout);
  else
    out = value;
  return fault;
}

bool isValidJson(StringRef source) {
  JsonScanner scanner(source);
  IgnoreJson nothing;
  return readJsonValue(scanner, nothing).empty() && endJson(scanner).empty();
}

} // namespace gos::stdlib
