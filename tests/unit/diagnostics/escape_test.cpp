#include "diagnostics/escape.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

#include <doctest/doctest.h>

using namespace gos;

namespace {

std::string encoded(uint32_t scalar) {
  char buffer[4];
  char* end = buffer;
  REQUIRE(llvm::ConvertCodePointToUTF8(scalar, end));
  return {buffer, end};
}

std::string visible(uint32_t scalar) {
  return "\\u{" + llvm::utohexstr(scalar, /*LowerCase=*/true) + "}";
}

} // namespace

TEST_CASE("T077: every C0 control and DEL becomes visible") {
  for (int byte = 0; byte < 0x20; ++byte) {
    const std::string escaped = escapeForText(std::string(1, char(byte)));
    INFO(byte);
    CHECK(escaped.size() >= 2);
    CHECK(escaped[0] == '\\');
    for (char out : escaped)
      CHECK(uint8_t(out) >= 0x20);
  }
  CHECK(escapeForText("\n\t\r") == "\\n\\t\\r");
  CHECK(escapeForText(llvm::StringRef("\0", 1)) == "\\x00");
  CHECK(escapeForText("\x1b]0;x\x07") == "\\x1b]0;x\\x07");
  CHECK(escapeForText("\x7f") == "\\x7f");
}

TEST_CASE("T077: every C1 control becomes visible") {
  for (uint32_t scalar = 0x80; scalar < 0xA0; ++scalar)
    CHECK(escapeForText(encoded(scalar)) == visible(scalar));
  CHECK(escapeForText("\u00a0") == "\u00a0");
}

TEST_CASE("T077: bidirectional controls, tags and invisible characters become visible") {
  std::vector<uint32_t> scalars = {0x061C, 0x200B, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202B,
                                   0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069, 0xFEFF};
  for (uint32_t tag = 0xE0000; tag < 0xE0080; ++tag)
    scalars.push_back(tag);
  for (uint32_t scalar : scalars)
    CHECK(escapeForText("a" + encoded(scalar) + "b") == "a" + visible(scalar) + "b");
}

TEST_CASE("every other character of Unicode stays as it is") {
  CHECK(escapeForText(
            "caf\u00e9 \u65e5\u672c \u05e9\u05dc\u05d5\u05dd \U0001F468\u200D\U0001F469 \\ \"") ==
        "caf\u00e9 \u65e5\u672c \u05e9\u05dc\u05d5\u05dd \U0001F468\u200D\U0001F469 \\ \"");
  for (int byte = 0x20; byte < 0x7F; ++byte)
    CHECK(escapeForText(std::string(1, char(byte))) == std::string(1, char(byte)));
}

TEST_CASE("bytes that are not UTF-8 are shown one by one") {
  CHECK(escapeForText("a\xff\xfe") == "a\\xff\\xfe");
  CHECK(escapeForText("\xc3") == "\\xc3");
  CHECK(escapeForText("\xc0\xaf") == "\\xc0\\xaf");                   // overlong
  CHECK(escapeForText("\xed\xa0\x80") == "\\xed\\xa0\\x80");          // surrogate
  CHECK(escapeForText("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80"); // past U+10FFFF
  CHECK(escapeForText("\xe2\x82z") == "\\xe2\\x82z");                 // cut off
}

TEST_CASE("a block keeps its lines and tabs, and nothing else") {
  CHECK(escapeForTextBlock("a\n\tb\r\x1b[2J") == "a\n\tb\\r\\x1b[2J");
}

TEST_CASE("T080: commands that CI runners look for within a line are broken up") {
  CHECK(escapeForText("x ##[group]y") == "x #\\x23[group]y");
  CHECK(escapeForText("##vso[task.setvariable]") == "#\\x23vso[task.setvariable]");
  CHECK(escapeForText("##teamcity[x]") == "#\\x23teamcity[x]");
  CHECK(escapeForText("###[x]") == "##\\x23[x]");
  CHECK(escapeForText("## heading [1]") == "## heading [1]");
  CHECK(escapeForText("##") == "##");
}

TEST_CASE("what is too long to be quoted is cut between two characters") {
  CHECK(bounded("short") == "short");
  const std::string full(4096, 'x');
  CHECK(bounded(full) == full);
  std::string wide(4094, 'x');
  for (int i = 0; i < 10; ++i)
    wide += "\xf0\x9f\x99\x82";
  CHECK(bounded(wide) == std::string(4094, 'x') + "... (40 bytes more)");
  CHECK(bounded(std::string(5000, '\x80')).size() < 5000); // no text at all
}

TEST_CASE("any bytes come out as printable UTF-8") {
  uint32_t state = 1;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (int i = 0; i < 40; ++i) {
      state = state * 1664525 + 1013904223;
      bytes += char(state >> 24);
    }
    const std::string once = escapeForText(bytes);
    for (char byte : once)
      CHECK((uint8_t(byte) >= 0x20 && byte != 0x7F));
    CHECK(escapeForText(once) == once);
  }
}
