#include "tests/unit/stdlib/machine.h"

#include "stdlib/numbers.h"
#include "stdlib/unicode.h"

#include <cmath>

using namespace gos;
using namespace gos::stdlib;
using namespace gos::stdlib::test;

TEST_CASE("text counts in scalars and in bytes") {
  CHECK(once("String::len", {"String"}, "i64", {"h\u00e9llo"}).text == "5");
  CHECK(once("String::byte_len", {"String"}, "i64", {"h\u00e9llo"}).text == "6");
  CHECK(once("String::find", {"String", "String"}, "Option<i64>", {"\u00e9\u00e9x", "x"}).text ==
        "Some(2)");
  CHECK(once("String::byte_find", {"String", "char"}, "Option<i64>", {"\u00e9\u00e9x", 'x'}).text ==
        "Some(4)");
  CHECK(once("String::byte_at", {"String", "i64"}, "i64", {"abc", 7}).text == "0");
  CHECK(once("String::byte_at", {"String", "i64"}, "i64", {"abc", -1}).text == "0");
  CHECK(once("String::char_index", {"String", "i64"}, "Option<i64>", {"\u00e9x", 1}).text ==
        "None");
  CHECK(once("String::byte_offset", {"String", "i64"}, "Option<i64>", {"\u00e9x", 2}).text ==
        "Some(3)");
}

TEST_CASE("a byte range clamps and snaps outward") {
  CHECK(once("String::substring", {"String", "i64", "i64"}, "String", {"h\u00e9llo", 2, 3}).text ==
        "\"\u00e9\"");
  CHECK(once("String::substring", {"String", "i64", "i64"}, "String", {"abc", -5, 99}).text ==
        "\"abc\"");
  CHECK(once("String::substring", {"String", "i64", "i64"}, "String", {"abc", 2, 1}).text ==
        "\"\"");
  CHECK(once("String::slice", {"String", "i64", "i64"}, "Result<String, errors::Error>",
             {"h\u00e9", 0, 2})
            .text.find("Err") == 0);
}

TEST_CASE("splitting and stripping") {
  CHECK(once("String::split", {"String", "String"}, "Vec<String>", {"a,b,", ","}).text ==
        "#[\"a\", \"b\", \"\"]");
  CHECK(once("String::splitn", {"String", "i64", "char"}, "Vec<String>", {"a,b,c", 2, ','}).text ==
        "#[\"a\", \"b,c\"]");
  CHECK(once("String::split_once", {"String", "String"}, "Option<(String, String)>", {"k=v=w", "="})
            .text == "Some((\"k\", \"v=w\"))");
  CHECK(
      once("String::rsplit_once", {"String", "String"}, "Option<(String, String)>", {"k=v=w", "="})
          .text == "Some((\"k=v\", \"w\"))");
  CHECK(once("String::split_whitespace", {"String"}, "Vec<String>", {"  a\t\u3000b \n"}).text ==
        "#[\"a\", \"b\"]");
  CHECK(once("String::lines", {"String"}, "Vec<String>", {"a\r\nb\n\nc"}).text ==
        "#[\"a\", \"b\", \"\", \"c\"]");
  CHECK(once("String::trim", {"String"}, "String", {"\u00a0 x \u2003"}).text == "\"x\"");
  CHECK(once("String::trim_matches", {"String", "String"}, "String", {"--x-+", "+-"}).text ==
        "\"x\"");
  CHECK(once("String::strip_prefix", {"String", "char"}, "Option<String>", {"xab", 'x'}).text ==
        "Some(\"ab\")");
}

TEST_CASE("replacing, counting, padding") {
  CHECK(
      once("String::replace", {"String", "String", "String"}, "String", {"aXbX", "X", "--"}).text ==
      "\"a--b--\"");
  CHECK(
      once("String::replacen", {"String", "char", "String", "i64"}, "String", {"aXbX", 'X', "-", 1})
          .text == "\"a-bX\"");
  CHECK(once("String::count", {"String", "String"}, "i64", {"aaaa", "aa"}).text == "2");
  CHECK(once("String::pad_left", {"String", "i64", "char"}, "String", {"\u00e9", 3, '*'}).text ==
        "\"**\u00e9\"");
  CHECK(once("String::center", {"String", "i64", "char"}, "String", {"ab", 5, '.'}).text ==
        "\".ab..\"");
}

TEST_CASE("case follows Unicode and no locale") {
  CHECK(toUpper("stra\u00dfe") == "STRASSE");
  CHECK(toLower("\u039f\u0394\u039f\u03a3") == "\u03bf\u03b4\u03bf\u03c2"); // final sigma
  CHECK(toTitle("hELLO w\u00d6RLD") == "Hello W\u00f6rld");
  CHECK(simpleUpper(0xe9) == 0xc9);
  CHECK(simpleLower(0x0100) == 0x0101);
  CHECK(simpleUpper(0x0101) == 0x0100);
  CHECK(simpleUpper('z') == 'Z');
  CHECK(isAlphabetic(0x4e2d));
  CHECK_FALSE(isAlphabetic('1'));
  CHECK(isNumeric(0x0663));
  CHECK(isUppercase(0x00c9));
  CHECK(isWhitespace(0x3000));
  CHECK(once("String::equal_fold", {"String", "String"}, "bool", {"Stra\u00dfe", "STRASSE"}).text ==
        "true");
}

TEST_CASE("a huge count is a budget trap, not an allocation") {
  vm::VmOptions options = Machine::program();
  options.heapBytes = 1 << 20;
  Machine machine(std::move(options));
  const size_t repeat = machine.native("String::repeat", {"String", "i64"}, "String");
  const size_t pad = machine.native("String::pad_left", {"String", "i64", "char"}, "String");
  const size_t capacity = machine.native("Vec::with_capacity", {"i64"}, "Vec<i64>");
  CHECK(machine.call(repeat, {machine.text("x"), uint64_t(1) << 40}).trap == vm::TrapKind::Budget);
  CHECK(machine.call(pad, {machine.text("x"), uint64_t(1) << 62, '.'}).trap ==
        vm::TrapKind::Budget);
  CHECK(machine.call(capacity, {uint64_t(1) << 62}).trap == vm::TrapKind::Budget);
  CHECK(machine.call(repeat, {machine.text("ab"), 3}).text == "\"ababab\"");
}

TEST_CASE("numbers are read strictly") {
  int64_t value = 0;
  CHECK(parseSigned("-9223372036854775808", 10, value) == NumberFault::None);
  CHECK(value == INT64_MIN);
  CHECK(parseSigned("9223372036854775808", 10, value) == NumberFault::TooLarge);
  CHECK(parseSigned("12x", 10, value) == NumberFault::Invalid);
  CHECK(parseSigned(" 1", 10, value) == NumberFault::Invalid);
  CHECK(parseSigned("-", 10, value) == NumberFault::Invalid);
  CHECK(parseSigned("zz", 36, value) == NumberFault::None);
  CHECK(value == 1295);
  double real = 0;
  CHECK(parseReal("1e400", real) == NumberFault::None);
  CHECK(std::isinf(real));
  CHECK(parseReal("1e-400", real) == NumberFault::None);
  CHECK(real == 0);
  CHECK(parseReal("0x10", real) == NumberFault::Invalid);
  CHECK(parseReal("1.5.2", real) == NumberFault::Invalid);
  CHECK(parseReal("-2.5", real) == NumberFault::None);
  CHECK(real == -2.5);
  CHECK(once("strconv::parse_i64_radix", {"String", "i64"}, "Result<i64, ParseError>", {"ff", 99})
            .text.find("Err") == 0);
  CHECK(once("strconv::unquote", {"String"}, "Result<String, ParseError>", {"\"a\\n\\u{e9}\""})
            .text == "Ok(\"a\\n\u00e9\")");
}

TEST_CASE("integers know their width") {
  CHECK(once("Int::pow", {"i64", "i64"}, "i64", {2, 62}).text == "4611686018427387904");
  CHECK(once("Int::pow", {"i8", "i64"}, "i8", {2, 7}).trap == vm::TrapKind::Panic);
  CHECK(once("Int::pow", {"i64", "i64"}, "i64", {-1, INT64_MAX}).text == "-1");
  CHECK(once("Int::pow", {"i64", "i64"}, "i64", {3, -1}).trap == vm::TrapKind::Panic);
  CHECK(once("Int::abs", {"i8"}, "i8", {-128}).trap == vm::TrapKind::Panic);
  CHECK(once("Int::leading_zeros", {"u8"}, "i64", {1}).text == "7");
}

TEST_CASE("changing a text in place leaves other holders alone") {
  Machine machine;
  const size_t push = machine.native("String::push_str", {"&mut String", "String"}, "()");
  const size_t truncate = machine.native("String::truncate", {"&mut String", "i64"}, "()");
  const vm::Value text = machine.text("ab");
  vm::retained(text);
  CHECK(machine.call(push, {text, machine.text("cd")}).changed == "\"abcd\"");
  CHECK(vm::asString(text)->text() == "ab");
  machine.vm().heap().release(vm::asObject(text));
  CHECK(machine.call(truncate, {machine.text("\u00e9\u00e9"), 3}).changed == "\"\u00e9\"");
}
