#include "tests/unit/vm/machine.h"

#include "vm/format.h"
#include "vm/map.h"

#include <cmath>

using namespace gos::vm;
using namespace gos::vm::test;

namespace {

std::string quoted(llvm::StringRef text) {
  TextBuffer out(1 << 20);
  CHECK(appendQuoted(text, out));
  return out.text().str();
}

struct FormatFixture {
  FormatFixture() {
    builder.addFunction("f", {kInt}, 0, kInt, {abx(Op::LoadInt, 0, 0), abc(Op::Return, 0)});
    machine = std::make_unique<Machine>(builder);
  }
  Vm& vm() { return machine->vm(); }
  std::string show(Value value, LayoutId layout, FormatSpec spec = {}) {
    TextBuffer out(1 << 20);
    Trap trap = formatValue(vm(), value, layout, spec, out);
    return trap ? "trap: " + trap->message : out.text().str();
  }
  std::string debug(Value value, LayoutId layout) {
    FormatSpec spec;
    spec.kind = FormatSpec::Kind::Debug;
    return show(value, layout, spec);
  }
  Value text(llvm::StringRef value) { return fromObject(vm().heap().newString(value)); }
  Value ints(std::vector<int64_t> values, LayoutId layout = kVecInt) {
    VecObject* vec = vm().heap().newVec(layout, 0);
    for (int64_t value : values)
      vm().heap().push(vec, uint64_t(value));
    return fromObject(vec);
  }
  Value pair(int64_t count, llvm::StringRef label, LayoutId layout = kPair) {
    StructObject* object = vm().heap().newStruct(layout);
    object->slots()[0] = uint64_t(count);
    object->slots()[1] = text(label);
    return fromObject(object);
  }
  ModuleBuilder builder;
  std::unique_ptr<Machine> machine;
};

FormatSpec width(int32_t value, FormatSpec::Align align = FormatSpec::Align::Default,
                 bool zero = false, uint32_t fill = ' ') {
  FormatSpec spec;
  spec.width = value;
  spec.align = align;
  spec.zero = zero;
  spec.fill = fill;
  return spec;
}
FormatSpec precision(int32_t value) {
  FormatSpec spec;
  spec.precision = value;
  return spec;
}
FormatSpec kind(FormatSpec::Kind value) {
  FormatSpec spec;
  spec.kind = value;
  return spec;
}

} // namespace

TEST_CASE("a float shows the shortest text that reads back") {
  CHECK(floatText(1, FloatText::Display) == "1");
  CHECK(floatText(1, FloatText::Debug) == "1.0");
  CHECK(floatText(0.1, FloatText::Display) == "0.1");
  CHECK(floatText(-2.5, FloatText::Debug) == "-2.5");
  CHECK(floatText(0.1 + 0.2, FloatText::Display) == "0.30000000000000004");
  CHECK(floatText(1e21, FloatText::Display) == "1000000000000000000000");
  CHECK(floatText(1e21, FloatText::Debug) == "1000000000000000000000.0");
  CHECK(floatText(1.5e-7, FloatText::Display) == "0.00000015");
  CHECK(floatText(123456.789, FloatText::Display) == "123456.789");
  CHECK(floatText(100, FloatText::Display) == "100");
  CHECK(floatText(-0.0, FloatText::Display) == "-0");
  CHECK(floatText(0, FloatText::Debug) == "0.0");
  CHECK(floatText(INFINITY, FloatText::Display) == "inf");
  CHECK(floatText(-INFINITY, FloatText::Debug) == "-inf");
  CHECK(floatText(NAN, FloatText::Debug) == "NaN");
  CHECK(floatText(double(0.1f), FloatText::Display, true) == "0.1");
  CHECK(floatText(5e-324, FloatText::Display).size() == 326);
  CHECK(floatFixed(3.14159, 2) == "3.14");
  CHECK(floatFixed(2.5, 0) == "2");
  CHECK(floatFixed(-1, 3) == "-1.000");
}

TEST_CASE("integers show in every radix at their width") {
  CHECK(integerText(-5, IntWidth::I8) == "-5");
  CHECK(integerText(-1, IntWidth::U64) == "18446744073709551615");
  CHECK(radixText(255, IntWidth::I64, 16, false) == "ff");
  CHECK(radixText(255, IntWidth::I64, 16, true) == "FF");
  CHECK(radixText(uint64_t(-1), IntWidth::I8, 2, false) == "11111111");
  CHECK(radixText(8, IntWidth::U8, 8, false) == "10");
}

TEST_CASE("text is quoted with escapes") {
  CHECK(quoted("a\"b\\\n\t\x01\x7f") == "\"a\\\"b\\\\\\n\\t\\u{1}\\u{7f}\"");
  CHECK(quoted("it's ä") == "\"it's ä\"");
  CHECK(quoted("\xe2\x80\xae") == "\"\\u{202e}\"");
  CHECK(quotedScalar('\'') == "'\\''");
  CHECK(quotedScalar('"') == "'\"'");
}

TEST_CASE("scalars show by their kind") {
  FormatFixture f;
  CHECK(f.show(uint64_t(-7), kInt) == "-7");
  CHECK(f.show(1, kBool) == "true");
  CHECK(f.show(0, kUnit) == "()");
  CHECK(f.show('x', kChar) == "x");
  CHECK(f.debug('x', kChar) == "'x'");
  CHECK(f.show(1, kColour) == "Green");
  CHECK(f.show(9, kColour) == "?"); // out of range: total all the same
  CHECK(f.show(0xffffffffff, kChar) == "\xef\xbf\xbd");
  CHECK(f.show(fromReal(2), kFloat) == "2");
  CHECK(f.debug(fromReal(2), kFloat) == "2.0");
}

TEST_CASE("containers mirror their literals, and text inside is quoted") {
  FormatFixture f;
  CHECK(f.show(f.ints({1, 2}), kVecInt) == "#[1, 2]");
  CHECK(f.show(f.ints({}), kVecInt) == "#[]");
  CHECK(f.show(f.pair(1, "a"), kPair) == "Pair { count: 1, label: \"a\" }");
  CHECK(f.show(f.pair(1, "a", kTuple), kTuple) == "(1, \"a\")");
  VecObject* strings = f.vm().heap().newVec(kVecString, 0);
  f.vm().heap().push(strings, f.text("x\n"));
  CHECK(f.show(fromObject(strings), kVecString) == "#[\"x\\n\"]");
  StructObject* some = f.vm().heap().newEnum(kOption, 1);
  some->slots()[0] = f.text("v");
  CHECK(f.show(fromObject(some), kOption) == "Some(\"v\")");
  CHECK(f.show(f.vm().unitVariant(kOption, 0), kOption) == "None");
  MapObject* map = f.vm().heap().newMap(kMapStringInt);
  bool present = false;
  for (auto [key, value] : {std::pair("b", 2), std::pair("a", 1)})
    REQUIRE_FALSE(bool(mapInsert(f.vm(), map, f.text(key), uint64_t(value), present)));
  CHECK(f.show(fromObject(map), kMapStringInt) == "{\"a\": 1, \"b\": 2}");
  MapObject* set = f.vm().heap().newMap(kSetInt);
  for (int64_t value : {3, -1, 2})
    REQUIRE_FALSE(bool(mapInsert(f.vm(), set, uint64_t(value), 0, present)));
  CHECK(f.show(fromObject(set), kSetInt) == "#{-1, 2, 3}");
}

TEST_CASE("width, fill, alignment, zeros and precision") {
  FormatFixture f;
  CHECK(f.show(42, kInt, width(5)) == "   42");
  CHECK(f.show(f.text("ab"), kString, width(5)) == "ab   ");
  CHECK(f.show(f.text("ab"), kString, width(5, FormatSpec::Align::Right, false, '*')) == "***ab");
  CHECK(f.show(f.text("ab"), kString, width(5, FormatSpec::Align::Centre, false, '-')) == "-ab--");
  CHECK(f.show(uint64_t(-42), kInt, width(6, FormatSpec::Align::Default, true)) == "-00042");
  CHECK(f.show(fromReal(1.5), kFloat, width(6, FormatSpec::Align::Default, true)) == "0001.5");
  CHECK(f.show(fromReal(NAN), kFloat, width(6, FormatSpec::Align::Default, true)) == "   NaN");
  CHECK(f.show(f.text("é"), kString, width(3)) == "é  ");
  CHECK(f.show(fromReal(3.14159), kFloat, precision(2)) == "3.14");
  CHECK(f.show(fromReal(1), kFloat, precision(1200)).size() == 1202);
  CHECK(f.show(f.text("größer"), kString, precision(3)) == "grö");
  CHECK(f.show(255, kInt, kind(FormatSpec::Kind::LowerHex)) == "ff");
  CHECK(f.show(5, kInt, kind(FormatSpec::Kind::Binary)) == "101");
  CHECK(f.show(f.ints({10, 11}), kVecInt, kind(FormatSpec::Kind::UpperHex)) == "#[A, B]");
  CHECK(f.show(f.ints({1}), kVecInt, width(6)) == "#[1]  ");
}

TEST_CASE("a value as deep as the heap shows without a deep stack") {
  FormatFixture f;
  Value list = f.vm().unitVariant(kList, 0);
  for (int i = 0; i < 10'000; ++i) {
    StructObject* link = f.vm().heap().newEnum(kList, 1);
    link->slots()[0] = 1;
    link->slots()[1] = list;
    list = fromObject(link);
  }
  const std::string text = f.show(list, kList);
  CHECK(text.size() == 10'000 * 9 + 3);
  CHECK(llvm::StringRef(text).starts_with("Cons(1, Cons(1, "));
  f.vm().heap().release(asObject(list));
}

TEST_CASE("a null inside a value is met with a trap") {
  FormatFixture f;
  StructObject* object = f.vm().heap().newStruct(kPair);
  CHECK(f.show(fromObject(object), kPair) == "trap: value is used while it is borrowed elsewhere");
}
