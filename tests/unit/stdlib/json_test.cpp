// JSON against RFC 8259: what is a document and what is not, and the values that come of it.

#include "tests/unit/stdlib/machine.h"

#include "stdlib/json_text.h"

using namespace gos;
using namespace gos::stdlib;
using namespace gos::stdlib::test;

namespace {

struct Case {
  const char* text;
  const char* why;
};

std::string nested(size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

} // namespace

TEST_CASE("documents of RFC 8259 are accepted") {
  constexpr Case kDocuments[] = {
      {"null", "a scalar alone"},
      {" \t\r\n1 \t\r\n", "all four blanks"},
      {"0", "zero"},
      {"-0", "negative zero"},
      {"10", "a zero that does not lead"},
      {"0.5", "a zero before a fraction"},
      {"1E+2", "an exponent with a sign"},
      {"1e-999", "what is too small is zero"},
      {"1.7976931348623157e308", "the largest number"},
      {"9223372036854775807", "the largest integer"},
      {"18446744073709551616", "an integer beyond 64 bits"},
      {"\"\"", "an empty text"},
      {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\"", "every escape"},
      {"\"\\ud83d\\uDE00\"", "a pair of surrogates"},
      {"\"\x7f\"", "DEL, which is no control character here"},
      {"[]", "an empty array"},
      {"{}", "an empty object"},
      {"[[],{}]", "empty ones inside"},
      {"{\"a\":1,\"a\":2}", "a name twice"},
      {"{\"\":0}", "an empty name"},
  };
  for (const Case& each : kDocuments)
    CHECK_MESSAGE(isValidJson(each.text), each.why);
}

TEST_CASE("what RFC 8259 does not have is refused") {
  constexpr Case kMistakes[] = {
      {"", "nothing"},
      {" ", "blanks alone"},
      {"\xef\xbb\xbf"
       "1",
       "a byte order mark"},
      {"nul", "a word cut short"},
      {"nulls", "a word that goes on"},
      {"True", "a word in capitals"},
      {"01", "a leading zero"},
      {"-01", "a leading zero behind a sign"},
      {"-", "a sign alone"},
      {"+1", "a plus"},
      {".5", "no digit before the point"},
      {"1.", "no digit behind the point"},
      {"1.e2", "no digit behind the point, before an exponent"},
      {"1e", "no exponent"},
      {"1e+", "a sign of an exponent alone"},
      {"0x10", "a base"},
      {"1_000", "a separator"},
      {"NaN", "no number"},
      {"Infinity", "no number either"},
      {"1e999", "out of range"},
      {"-1e999", "out of range below"},
      {"[1e309]", "out of range inside"},
      {"\"", "an open text"},
      {"\"a", "an open text with content"},
      {"'a'", "single quotes"},
      {"\"\\x41\"", "an escape of another language"},
      {"\"\\", "an escape cut short"},
      {"\"\\u12\"", "four digits are three too few"},
      {"\"\\u+123\"", "a sign among the digits"},
      {"\"\\u-123\"", "another sign among the digits"},
      {"\"\\u12g4\"", "no digit"},
      {"\"\\ud800\"", "a high surrogate alone"},
      {"\"\\udc00\"", "a low surrogate alone"},
      {"\"\\ud800\\u0041\"", "a high surrogate and a letter"},
      {"\"\\ud800\\ud800\"", "two high surrogates"},
      {"\"\\udc00\\ud800\"", "a pair the wrong way round"},
      {"\"a\nb\"", "a newline in a text"},
      {"\"a\tb\"", "a tab in a text"},
      {"\"\x01\"", "a control character"},
      {"[1,]", "a comma behind the last element"},
      {"[,1]", "a comma before the first"},
      {"[1 2]", "no comma"},
      {"[1", "an open array"},
      {"]", "only closed"},
      {"[1}", "the wrong bracket"},
      {"{\"a\":1,}", "a comma behind the last member"},
      {"{a:1}", "a name without quotes"},
      {"{1:1}", "a number for a name"},
      {"{\"a\" 1}", "no colon"},
      {"{\"a\":}", "no value"},
      {"{\"a\"}", "a name alone"},
      {"{\"a\":1", "an open object"},
      {"1 2", "text behind the value"},
      {"[] []", "two values"},
      {"{}x", "text behind the value, without a blank"},
      {"/* */1", "a comment"},
      {"1\f", "a blank that is none"},
      {"1\xc2\xa0", "another blank that is none"},
  };
  for (const Case& each : kMistakes)
    CHECK_MESSAGE(!isValidJson(each.text), each.why);
}

TEST_CASE("a document may be a thousand levels deep and no deeper") {
  CHECK(isValidJson(nested(1000)));
  CHECK_FALSE(isValidJson(nested(1001)));
  CHECK_FALSE(isValidJson(nested(100000)));
}

TEST_CASE("a value of a type is read by its layout") {
  auto read = [](const char* type, const char* text) {
    return once("intrinsics::json_read", {"String"},
                std::string("Result<") + type + ", errors::Error>", {text})
        .text;
  };
  CHECK(read("i8", "-128") == "Ok(-128)");
  CHECK(read("i8", "-129").find("does not fit") != std::string::npos);
  CHECK(read("i8", "128").find("does not fit") != std::string::npos);
  CHECK(read("u8", "-1").find("does not fit") != std::string::npos);
  CHECK(read("u8", "-0") == "Ok(0)");
  CHECK(read("i64", "-9223372036854775808") == "Ok(-9223372036854775808)");
  CHECK(read("i64", "9223372036854775808").find("does not fit") != std::string::npos);
  CHECK(read("u64", "18446744073709551615") == "Ok(18446744073709551615)");
  CHECK(read("u64", "18446744073709551616").find("does not fit") != std::string::npos);
  CHECK(read("i64", "1e2").find("expected an integer") != std::string::npos);
  CHECK(read("f32", "1e39").find("out of range") != std::string::npos);
  CHECK(read("f64", "7") == "Ok(7.0)");
  CHECK(read("Vec<u8>", "[0, 255]") == "Ok(#[0, 255])");
  CHECK(read("Vec<u8>", "[256]").find("`[0]`") != std::string::npos);
  CHECK(read("Vec<bool>", "[true,false]") == "Ok(#[true, false])");
  CHECK(read("Option<i64>", "null") == "Ok(None)");
  CHECK(read("(i64, String)", "[1,\"a\"]") == "Ok((1, \"a\"))");
  CHECK(read("(i64, String)", "[1]").find("expected 2 elements, found 1") != std::string::npos);
  CHECK(read("String", "\"a\\u0000b\"") == "Ok(\"a\\0b\")");
  CHECK(read("Map<i64, String>", "{\"1\":\"a\",\"-2\":\"b\"}") == "Ok({-2: \"b\", 1: \"a\"})");
  CHECK(read("Map<i64, String>", "{\"+1\":\"a\"}").find("as the name of the member") !=
        std::string::npos);
  CHECK(read("Vec<i64>", "[1,2]x").find("goes on") != std::string::npos);
  CHECK(read("Vec<i64>", "[1,2").find("ends too early") != std::string::npos);
}

TEST_CASE("a half-read value is given back") {
  Machine machine;
  const size_t native = machine.native("intrinsics::json_read", {"String"},
                                       "Result<Vec<Map<String, Vec<String>>>, errors::Error>");
  machine.start();
  CHECK(machine.call(native, {machine.text("[{\"a\":[\"x\",\"y\"]},{\"b\":[\"z\",1]}]")})
            .text.find("`[1].b[1]`") != std::string::npos);
}
