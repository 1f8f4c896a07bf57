#include "compiler/lex/lexer.h"
#include "compiler/lex/numbers.h"
#include "compiler/lex/strings.h"

#include "llvm/ADT/SmallString.h"

#include <doctest/doctest.h>

#include <string>

using namespace gos;
using lex::TokenKind;

namespace {

struct Lexed {
  SourceMap sources;
  Engine engine{sources};
  FileId file;
  lex::TokenBuffer tokens;

  explicit Lexed(llvm::StringRef text) : file(llvm::cantFail(sources.addCopy("test.gos", text))) {
    tokens = lex::lexFile(sources.file(file), engine);
  }
  /// Tokens by description and text, a `|` in front of those that begin a line.
  std::string list() const {
    std::string out;
    for (size_t i = 0; i + lex::kEndPadding < tokens.size(); ++i) {
      if (i != 0)
        out += ' ';
      if (i != 0 && tokens[i].newlineBefore)
        out += "/ ";
      const std::string text = sources.text(tokens[i].span()).str();
      if (lex::isPunctuation(tokens[i].kind) || lex::isKeyword(tokens[i].kind))
        out += text;
      else
        out += lex::describe(tokens[i].kind).str() + ":" + text;
    }
    return out;
  }
  std::string codes() const {
    std::string out;
    for (const Diagnostic& diagnostic : engine.diagnostics())
      out += (out.empty() ? "" : " ") + spelling(diagnostic.code).str();
    return out;
  }
  std::string value(size_t index = 0) {
    const lex::StringBody body = lex::bodyOf(sources.file(file), tokens[index], engine);
    llvm::SmallString<64> out;
    lex::appendText(body, body.begin, body.end, lex::Braces::Data, out, engine);
    return out.str().str();
  }
};

std::string lexed(llvm::StringRef text) {
  Lexed result(text);
  CHECK(result.codes() == "");
  return result.list();
}
std::string codesOf(llvm::StringRef text) {
  return Lexed(text).codes();
}
std::string stringOf(llvm::StringRef text) {
  Lexed result(text);
  const std::string value = result.value();
  CHECK(result.codes() == "");
  return value;
}

} // namespace

TEST_CASE("the longest punctuation wins") {
  CHECK(lexed("+ += +% +%= - -= -> -% -%= * *= *% *%=") ==
        "+ += +% +%= - -= -> -% -%= * *= *% *%=");
  CHECK(lexed("< << <= <<= > >> >= >>= = == => ! !=") == "< << <= <<= > >> >= >>= = == => ! !=");
  CHECK(lexed("& && &= | || |= |> ^ ^= . .. ..= ... : :: ? # @ $") ==
        "& && &= | || |= |> ^ ^= . .. ..= ... : :: ? # @ $");
  CHECK(lexed("a|>b") == "identifier:a |> identifier:b");
}

TEST_CASE("only LF is a newline") {
  CHECK(lexed("a\nb") == "identifier:a / identifier:b");
  CHECK(lexed("a\rb") == "identifier:a identifier:b");
  CHECK(lexed("a // x\nb") == "identifier:a / identifier:b");
  CHECK(lexed("a /* x\n */ b") == "identifier:a / identifier:b");
  CHECK(lexed("a /* x */ b") == "identifier:a identifier:b");
}

TEST_CASE("block comments do not nest") {
  CHECK(lexed("/* /* */ a") == "identifier:a");
  CHECK(codesOf("a /* b") == "GP0018");
}

TEST_CASE("a hashbang is a comment unless it is an attribute") {
  CHECK(lexed("#!/usr/bin/env gos\na") == "identifier:a");
  CHECK(lexed("#![allow(x)]") == "# ! [ identifier:allow ( identifier:x ) ]");
}

TEST_CASE("keywords, words and Unicode identifiers") {
  CHECK(lexed("fn Self self fns café _x _ große") ==
        "fn Self self identifier:fns identifier:café identifier:_x identifier:_ identifier:große");
  Lexed words("comptime defer Fn new macro_rules _ comptimes");
  CHECK(words.tokens[0].word == lex::Word::Comptime);
  CHECK(words.tokens[1].word == lex::Word::Defer);
  CHECK(words.tokens[2].word == lex::Word::FnTrait);
  CHECK(words.tokens[3].word == lex::Word::New);
  CHECK(words.tokens[4].word == lex::Word::MacroRules);
  CHECK(words.tokens[5].word == lex::Word::Underscore);
  CHECK(words.tokens[6].word == lex::Word::None);
}

TEST_CASE("every keyword and word is found") {
#define GOS_KEYWORD(value, spelling) CHECK(Lexed(spelling).tokens[0].kind == TokenKind::value);
#define GOS_WORD(value, spelling) CHECK(Lexed(spelling).tokens[0].word == lex::Word::value);
#define GOS_PUNCTUATION(value, spelling) CHECK(Lexed(spelling).tokens[0].kind == TokenKind::value);
#include "compiler/lex/token_kinds.def"
}

TEST_CASE("numbers end where they should") {
  CHECK(lexed("1..5") == "integer:1 .. integer:5");
  CHECK(lexed("x.0.1") == "identifier:x . float:0.1");
  CHECK(lexed("1.foo()") == "integer:1 . identifier:foo ( )");
  CHECK(lexed("1e5 1.5e-3 0xFFu8 0b1010 0o17 1_000 2f64") ==
        "float:1e5 float:1.5e-3 integer:0xFFu8 integer:0b1010 integer:0o17 integer:1_000 "
        "integer:2f64");
  CHECK(codesOf("0x") == "GP0018");
  CHECK(codesOf("0b12") == "GP0018");
  CHECK(codesOf("0o8") == "GP0018");
  CHECK(codesOf("1_.5") == "GP0018");
  CHECK(codesOf("1_e5") == "GP0018");
  CHECK(codesOf("0x_1") == "GP0018");
}

TEST_CASE("numbers mean what they say") {
  CHECK(lex::decodeNumber("18446744073709551615").integer == UINT64_MAX);
  CHECK(lex::decodeNumber("18446744073709551616").tooLarge);
  CHECK(lex::decodeNumber("0xFF_FFu32").integer == 0xFFFF);
  CHECK(lex::decodeNumber("0xFF_FFu32").suffix == "u32");
  CHECK(lex::decodeNumber("0b1010").integer == 10);
  CHECK(lex::decodeNumber("1_000.25e1").floating == 10002.5);
  CHECK(lex::decodeNumber("1e400").floating == __builtin_inf());
  CHECK(lex::decodeNumber("1e-400").floating == 0.0);
  CHECK(lex::decodeNumber("1else").suffix == "else");
}

TEST_CASE("a quote opens a label or a character") {
  CHECK(lexed("'outer: loop") == "label:'outer : loop");
  CHECK(lexed("'a' 'é' '\\n' '\\'' '\\u{1F600}' '1' ' '") ==
        "character:'a' character:'é' character:'\\n' character:'\\'' character:'\\u{1F600}' "
        "character:'1' character:' '");
  CHECK(lexed("b'A' b'\\n'") == "byte:b'A' byte:b'\\n'");
  CHECK(codesOf("''") == "GP0018");
  CHECK(codesOf("'ab'") == "GP0018");
  CHECK(codesOf("'12'") == "GP0018");
  CHECK(codesOf("'\n") == "GP0018");
  CHECK(codesOf("b''") == "GP0018");
}

TEST_CASE("strings of every form end at their own quote") {
  CHECK(lexed(R"("a\"b" r"a\" r#"a"b"# b"x" br#"y"# """a"b""" f"{a["x"]}" c)") ==
        R"(string:"a\"b" string:r"a\" string:r#"a"b"# byte string:b"x" byte string:br#"y"# )"
        R"(string:"""a"b""" interpolated string:f"{a["x"]}" identifier:c)");
  CHECK(lexed("r#x") == "identifier:r # identifier:x");
  CHECK(codesOf("\"abc") == "GP0018");
  CHECK(codesOf("r#\"abc\"") == "GP0018");
  CHECK(codesOf("\"\"\"abc\"") == "GP0018");
  CHECK(codesOf("f\"abc") == "GP0018");
  CHECK(codesOf("\\\"a\\\" + 1") == "GP0018"); // escaped quotes outside of a string
  CHECK(Lexed("`").engine.diagnostics().front().message ==
        "malformed token: character U+0060 has no meaning here");
}

TEST_CASE("the string that lost its quote is reported, not the last one of the file") {
  Lexed result("p(\"hello)\np(\"wörld \u00a7\")\nlet x = 1\np(\"{y}\")\n");
  REQUIRE(result.codes() == "GP0018");
  CHECK(result.sources.locate(result.engine.diagnostics().front().labels.front().span).line == 1);
  CHECK(result.list() ==
        "identifier:p ( malformed token:\"hello) / identifier:p ( string:\"wörld \u00a7\" ) / let "
        "identifier:x = integer:1 / identifier:p ( string:\"{y}\" )");
  // A text over lines that is closed stays one.
  Lexed closed("a(\"one\nlines\", f\"hello)\nb(\"x\")\n");
  CHECK(closed.codes() == "GP0018");
  CHECK(closed.list() == "identifier:a ( string:\"one\nlines\" , malformed token:f\"hello) / "
                         "identifier:b ( string:\"x\" )");
}

TEST_CASE("an unterminated string costs its line and no more") {
  Lexed result("let a = 'x\nlet b = \"y\nlet c = 3");
  CHECK(result.codes() == "GP0018");
  CHECK(result.list() ==
        "let identifier:a = label:'x / let identifier:b = malformed token:\"y / let identifier:c "
        "= integer:3");
}

TEST_CASE("placeholders of an f-string are skipped as units") {
  CHECK(lexed("f\"{f\"{x}\"} {'}'} {r\"}\"} {a::b} {g(\"}\", [1]):>4}\" z") ==
        "interpolated string:f\"{f\"{x}\"} {'}'} {r\"}\"} {a::b} {g(\"}\", [1]):>4}\" "
        "identifier:z");
  CHECK(lexed("f\"{{}}\" z") == "interpolated string:f\"{{}}\" identifier:z");
  CHECK(lexed("f\"{x\" z") == "interpolated string:f\"{x\" identifier:z");
  CHECK(lexed("f\"\"\"{a\n}\"\"\" z") == "interpolated string:f\"\"\"{a\n}\"\"\" identifier:z");
}

TEST_CASE("f-strings are cut into pieces") {
  Lexed result("f\"a{x}b{y:>4}c{{{s[\":\"]}\"");
  llvm::SmallVector<lex::FStringPart, 4> parts;
  lex::cutFString(result.sources.file(result.file), result.tokens[0], parts, result.engine);
  REQUIRE(parts.size() == 4);
  CHECK(result.sources.text(parts[0].text) == "a");
  CHECK(result.sources.text(parts[0].expr) == "x");
  CHECK(result.sources.text(parts[1].expr) == "y");
  CHECK(result.sources.text(parts[1].spec) == ">4");
  CHECK(result.sources.text(parts[2].text) == "c{{");
  CHECK(result.sources.text(parts[2].expr) == "s[\":\"]");
  CHECK(!parts[3].hasPlaceholder);
}

TEST_CASE("escapes are decoded") {
  CHECK(stringOf(R"("a\n\t\r\\\'\"\x41\u{e9}\u{1F600}")") == "a\n\t\r\\'\"A\u00e9\U0001F600");
  CHECK(stringOf("\"a\nb\"") == "a\nb");
  CHECK(stringOf(R"(r#"a\n"b"#)") == "a\\n\"b");
  CHECK(stringOf(R"(b"\xff\x00a")") == std::string("\xff\0a", 3));
  CHECK(stringOf(R"("\0")") == std::string("\0", 1));
}

TEST_CASE("bad escapes are reported one by one") {
  const auto codes = [](llvm::StringRef text) {
    Lexed result(text);
    result.value();
    return result.codes();
  };
  CHECK(codes(R"("\q")") == "GP0018");
  CHECK(codes(R"("\x4")") == "GP0018");
  CHECK(codes(R"("\u{}")") == "GP0018");
  CHECK(codes(R"("\u{1234567}")") == "GP0018");
  CHECK(codes(R"("\u{d800}")") == "GT0010");
  CHECK(codes(R"("\u{110000}")") == "GT0010");
  CHECK(codes(R"("\x80")") == "GT0010");
  CHECK(codes(R"("\q \w")") == "GP0018 GP0018");
  CHECK(codes("b\"é\"") == "GP0018");
  CHECK(codes("\"\xff\xfe\"") == "GP0018");
}

TEST_CASE("triple-quoted strings lose their margin") {
  CHECK(stringOf("\"\"\"x \"y\" z\"\"\"") == "x \"y\" z");
  CHECK(stringOf("\"\"\"\n    a\n      b\n    \"\"\"") == "a\n  b");
  CHECK(stringOf("\"\"\"\n    a\n      b\n  \"\"\"") == "  a\n    b");
  CHECK(stringOf("\"\"\"\n    a\n    b\"\"\"") == "a\nb");
  CHECK(stringOf("\"\"\"\n    a\n\n   \n    b\n    \"\"\"") == "a\n\n\nb");
  CHECK(stringOf("\"\"\"\n\ta\n    b\n\"\"\"") == "\ta\n    b");
  CHECK(stringOf("\"\"\"\n    a\\n\n    \"\"\"") == "a\n");
  CHECK(stringOf("\"\"\"\n\"\"\"") == "");
  CHECK(stringOf("\"\"\"\n\n\"\"\"") == "");
  CHECK(stringOf("\"\"\"\n\na\n\"\"\"") == "\na");
  Lexed result("\"\"\"x\n y\"\"\"");
  result.value();
  CHECK(result.codes() == "GP0033");
}

TEST_CASE("any byte is a token or a report") {
  for (int c = 0; c < 256; ++c) {
    const char text[] = {char(c), 'a', char(c)};
    Lexed result(llvm::StringRef(text, 3));
    uint32_t end = 1;
    for (const lex::Token& token : result.tokens) {
      CHECK(token.begin >= end);
      end = token.end;
    }
  }
  CHECK(codesOf("\xff\xfe\xfd") == "GP0018");
  CHECK(codesOf("a \x01\x01 b") == "GP0018");
  CHECK(codesOf("\u00a0") == "GP0018");
}

TEST_CASE("a range of a file is lexed in the file's own offsets") {
  Lexed whole("abc def ghi");
  const lex::TokenBuffer part = lex::lexRange(whole.sources.file(whole.file), 4, 7, whole.engine);
  REQUIRE(part.size() == 1 + lex::kEndPadding);
  CHECK(whole.sources.text(part[0].span()) == "def");
}

TEST_CASE("nested f-strings and broken placeholders cost linear time") {
  std::string deep;
  for (int i = 0; i < 20000; ++i)
    deep += "f\"{";
  Lexed nested(deep);
  CHECK(nested.tokens.size() > 1);
  Lexed broken("f\"" + std::string(200000, '{') + "a{b" + "\"");
  CHECK(broken.tokens.size() >= 1);
}
