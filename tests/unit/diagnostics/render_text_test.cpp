#include "diagnostics/render.h"

#include <doctest/doctest.h>

using namespace gos;

namespace {

/// One file and an engine; places are given by the text that stands there.
struct Report {
  explicit Report(llvm::StringRef text, std::string name = "a.gos")
      : file(llvm::cantFail(sources.addCopy(std::move(name), text))) {}

  /// The `which`-th place (from 0) where `text` stands in `in`.
  Span at(llvm::StringRef text, size_t which = 0, FileId in = FileId::None) const {
    const SourceFile& source = sources.file(in == FileId::None ? file : in);
    size_t found = source.content().find(text);
    for (; which; --which)
      found = source.content().find(text, found + 1);
    REQUIRE(found != llvm::StringRef::npos);
    const uint32_t begin = source.base + uint32_t(found);
    return {begin, begin + uint32_t(text.size())};
  }

  std::string text(Colour colour = Colour::Off) const {
    std::string result;
    llvm::raw_string_ostream out(result);
    for (const Diagnostic& diagnostic : engine.diagnostics())
      renderText(out, diagnostic, sources, colour);
    return "\n" + result;
  }

  SourceMap sources;
  FileId file;
  Engine engine{sources};
};

} // namespace

TEST_CASE("a label stands under its text with its message") {
  Report r("fn f() {}\nfn main() { f(1) }\n");
  r.engine.report(r.at("(1)"), diag::CallArity, "f", 0, 1).primary("one too many");
  CHECK(r.text() == R"(
error[GT0018]: `f` takes 0 arguments; 1 given
 --> a.gos:2:14
  |
2 | fn main() { f(1) }
  |              ^^^ one too many
)");
}

TEST_CASE("a diagnostic without a place is a line, with its remarks") {
  Report r("");
  r.engine.report(diag::FileMissing, "x.gos").note("looked here").help("write it");
  CHECK(r.text() == R"(
error[GJ0015]: cannot read `x.gos`: no such file
  = note: looked here
  = help: write it
)");
}

TEST_CASE("notes, helps and suggestions follow the source") {
  Report r("prinln(1)\n");
  r.engine.report(r.at("prinln"), diag::UnresolvedName, "function", "prinln")
      .note("first line\nsecond line\n")
      .help("look at it")
      .suggest(r.at("prinln"), "println", "did you mean");
  CHECK(r.text() == R"(
error[GR0001]: cannot find function `prinln` in this scope
 --> a.gos:1:1
  |
1 | prinln(1)
  | ^^^^^^
  |
  = note: first line
  |       second line
  = help: look at it
  = help: did you mean: `println`
)");
}

TEST_CASE("several labels on one line hang beneath each other") {
  Report r("let total = left + right\n");
  r.engine.report(r.at("+"), diag::NoSuchOperator, "+", "`i64` and `String`")
      .label(r.at("left"), "this is `i64`")
      .label(r.at("right"), "this is `String`");
  CHECK(r.text() == R"(
error[GT0003]: operator `+` is not defined for `i64` and `String`
 --> a.gos:1:18
  |
1 | let total = left + right
  |             ---- ^ ----- this is `String`
  |             |
  |             this is `i64`
)");
  Report s("f(a, b)\n");
  s.engine.report(s.at("f(a, b)"), diag::NotYet, "call")
      .primary("all of it")
      .label(s.at("a"), "first")
      .label(s.at("b"), "second");
  CHECK(s.text() == R"(
error[GN0001]: not supported yet: call
 --> a.gos:1:1
  |
1 | f(a, b)
  | ^^^^^^^
  | | |  |
  | | |  second
  | | first
  | all of it
)");
}

TEST_CASE("lines between labels are shown when few and dots when many") {
  Report r("one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n");
  r.engine.report(r.at("three"), diag::NotYet, "x")
      .label(r.at("one"), "here")
      .label(r.at("ten"), "and there");
  CHECK(r.text() == R"(
error[GN0001]: not supported yet: x
  --> a.gos:3:1
   |
 1 | one
   | --- here
 2 | two
 3 | three
   | ^^^^^
...
10 | ten
   | --- and there
)");
}

TEST_CASE("a span over several lines is an arc") {
  Report r("fn f() {\n    let x = match y {\n        1 => 2\n    }\n}\n");
  r.engine.report(r.at("match y {\n        1 => 2\n    }"), diag::NonExhaustive, "0")
      .primary("`0` is not covered")
      .label(r.at("y {"), "this value");
  CHECK(r.text() == R"(
error[GM0001]: match does not cover `0`
 --> a.gos:2:13
  |
2 |       let x = match y {
  |                     --- this value
  |  _____________^
3 | |         1 => 2
4 | |     }
  | |_____^ `0` is not covered
)");
}

TEST_CASE("a long arc leaves its middle out, and arcs nest") {
  std::string text = "{\n  (\n";
  for (int i = 0; i < 6; ++i)
    text += "    item\n";
  Report r(text + "  )\n}\n");
  const llvm::StringRef all = r.sources.file(r.file).content();
  const uint32_t base = r.sources.file(r.file).base;
  r.engine.report({base, base + uint32_t(all.size())}, diag::NotYet, "x")
      .primary("outer")
      .label({base + 4, base + uint32_t(all.find(')')) + 1}, "inner");
  CHECK(r.text() == R"(
error[GN0001]: not supported yet: x
  --> a.gos:1:1
   |
 1 |    {
   |  __^
 2 | |    (
   | | ___-
...  ||
 9 | ||   )
   | ||___- inner
10 | |  }
   | |__^ outer
)");
}

TEST_CASE("labels in other files follow under their own place") {
  Report r("f(1)\n");
  const FileId other = llvm::cantFail(r.sources.addCopy("src/other.gos", "\n\nfn f() {}\n"));
  r.engine.report(r.at("f(1)"), diag::CallArity, "f", 0, 1)
      .label(r.at("f()", 0, other), "declared here");
  CHECK(r.text() == R"(
error[GT0018]: `f` takes 0 arguments; 1 given
 --> a.gos:1:1
  |
1 | f(1)
  | ^^^^
  |
 ::: src/other.gos:3:4
  |
3 | fn f() {}
  |    --- declared here
)");
}

TEST_CASE("generated text says where it was generated") {
  Report r("let a = codegen!(make())\n");
  const FileId made = llvm::cantFail(r.sources.addCopy("<generated>", "1 + nothing"));
  r.sources.file(made).parent = r.at("codegen!(make())");
  r.engine.report(r.at("nothing", 0, made), diag::UnresolvedName, "value", "nothing");
  CHECK(r.text() == R"(
error[GR0001]: cannot find value `nothing` in this scope
 --> <generated>:1:5
  |
1 | 1 + nothing
  |     ^^^^^^^
  |
 ::: a.gos:1:9
  |
1 | let a = codegen!(make())
  |         ---------------- generated here
)");
}

TEST_CASE("T078: text that came from a read is shown by place, never by content") {
  Report r("let a = codegen!(read())\n");
  const FileId made = llvm::cantFail(r.sources.addCopy("<generated>", "hunter2 is secret"));
  r.sources.file(made).parent = r.at("codegen!(read())");
  r.sources.file(made).snippets = Snippets::Hidden;
  r.engine.report(r.at("hunter2", 0, made), diag::UnresolvedName, "value", "hunter2")
      .primary("no hunter2")
      .note("hunter2?")
      .help("hunter3?")
      .suggest(r.at("hunter2", 0, made), "hunter4", "hunter5");
  CHECK(r.text() == R"(
error[GR0001]: cannot find ... `...` in this scope
 --> <generated>:1:1
  |
 ::: a.gos:1:9
  |
1 | let a = codegen!(read())
  |         ---------------- generated here
  |
  = note: the text was made from a file that was read, so it is not shown
)");
  std::string json;
  llvm::raw_string_ostream out(json);
  renderJson(out, r.engine.diagnostics()[0], r.sources);
  CHECK(json.find("hunter") == std::string::npos);
  CHECK(json.find("generated here") != std::string::npos);
}

TEST_CASE("carets stand right under tabs, wide and combining characters") {
  Report r("\tx = \u65e5\u672c + e\u0301e + bad\n");
  r.engine.report(r.at("bad"), diag::NotYet, "bad").label(r.at("\u65e5\u672c"), "");
  CHECK(r.text() == "\nerror[GN0001]: not supported yet: bad\n"
                    " --> a.gos:1:17\n"
                    "  |\n"
                    "1 |     x = \u65e5\u672c + e\u0301e + bad\n"
                    "  |         ----        ^^^\n");
}

TEST_CASE("T077: controls in source are visible and carets stay in their column") {
  Report r("a\x1b[31m\u202e bad\xff\n");
  r.engine.report(r.at("bad"), diag::NotYet, "bad");
  CHECK(r.text() == "\nerror[GN0001]: not supported yet: bad\n"
                    " --> a.gos:1:9\n"
                    "  |\n"
                    "1 | a\\x1b[31m\\u{202e} bad\\xff\n"
                    "  |                   ^^^\n");
}

TEST_CASE("T080: no foreign line begins a line of the report") {
  Report r("x\n", "a\n::error::b.gos");
  r.engine.report(r.at("x"), diag::Panic, "boom\n::error::c\nerror[GX0010]: no")
      .primary("d\n::error::e")
      .note("out\n::set-output name=f::g\n##[error]h\n\n::error::i")
      .help("j\rk");
  CHECK(r.text() == R"(
error[GX0005]: panic: boom\n::error::c\nerror[GX0010]: no
 --> a\n::error::b.gos:1:1
  |
1 | x
  | ^ d\n::error::e
  |
  = note: out
  |       ::set-output name=f::g
  |       #\x23[error]h
  |
  |       ::error::i
  = help: j\rk
)");
}

TEST_CASE("a huge line is cut around the caret") {
  Report r(std::string(100000, 'a') + "bad" + std::string(100000, 'c'));
  r.engine.report(r.at("bad"), diag::NotYet, "bad");
  const std::string text = r.text();
  CHECK(text.size() < 1000);
  CHECK(text.find("..." + std::string(80, 'a') + "bad" + std::string(157, 'c') + "...\n") !=
        std::string::npos);
  CHECK(text.find("\n  | " + std::string(83, ' ') + "^^^\n") != std::string::npos);
  // NOLINTNEXTLINE(bugprone-string-constructor): it is meant to be large
  Report whole(std::string(50000000, 'x'));
  whole.engine.report(whole.at("x"), diag::NotYet, "x").primary(std::string(1 << 20, 'y'));
  CHECK(whole.text().size() < 3000000);
}

TEST_CASE("a place at the end of a line, a file or an empty file has a caret") {
  Report r("ab");
  const uint32_t base = r.sources.file(r.file).base;
  r.engine.report({base + 2, base + 2}, diag::UnexpectedEnd, "`}`");
  CHECK(r.text() == R"(
error[GP0002]: expected `}`, found the end of the file
 --> a.gos:1:3
  |
1 | ab
  |   ^
)");
  Report empty("");
  const uint32_t start = empty.sources.file(empty.file).base;
  empty.engine.report({start, start}, diag::UnexpectedEnd, "an item");
  CHECK(empty.text() == R"(
error[GP0002]: expected an item, found the end of the file
 --> a.gos:1:1
  |
1 |
  | ^
)");
}

TEST_CASE("colour comes only when asked for") {
  Report r("x\n");
  r.engine.report(r.at("x"), diag::NotYet, "x");
  CHECK(r.text().find('\x1b') == std::string::npos);
  CHECK(r.text(Colour::On).find("\x1b[1;31merror[GN0001]\x1b[0m") != std::string::npos);
}

TEST_CASE("any labels over any bytes render without a crash") {
  uint32_t state = 7;
  const auto random = [&](uint32_t below) {
    state = state * 1664525 + 1013904223;
    return (state >> 8) % below;
  };
  const char* pieces[] = {"a",      "\n",     "\t",  "\r\n",    "\xff",
                          "\u65e5", "\u202e", "##[", "e\u0301", "\xe2\x82"};
  for (int round = 0; round < 1500; ++round) {
    std::string text;
    const uint32_t length = random(60) * (round % 10 == 0 ? 20 : 1);
    for (uint32_t i = 0; i < length; ++i)
      text += pieces[random(10)];
    Report r(text);
    const uint32_t base = r.sources.file(r.file).base, size = r.sources.file(r.file).size();
    const auto span = [&] {
      const uint32_t begin = base + random(size + 2);
      return Span{begin, begin + random(size + 4)};
    };
    Diagnostic& diagnostic = r.engine.report(span(), diag::NotYet, "x").primary("primary");
    for (uint32_t i = random(7); i; --i)
      diagnostic.label(span(), random(3) ? "message" : "");
    const std::string out = r.text(Colour::On);
    CHECK(out.find("error[GN0001]") != std::string::npos);
    CHECK(out.find('\t') == std::string::npos);
  }
}

TEST_CASE("the closing line counts what was found") {
  SourceMap sources;
  Engine engine(sources);
  const auto closing = [&] {
    std::string text;
    llvm::raw_string_ostream out(text);
    renderAll(out, engine, MessageFormat::Text, Colour::Off);
    return llvm::StringRef(text).rtrim('\n').rsplit('\n').second.str();
  };
  CHECK(closing() == "");
  engine.report(diag::FileMissing, "a");
  CHECK(closing() == "1 error");
  engine.report(diag::UnknownAttribute, "a");
  engine.report(diag::FileMissing, "b");
  CHECK(closing() == "2 errors, 1 warning");
  engine.setLimit(2);
  engine.report(diag::FileMissing, "c");
  CHECK(closing() == "3 errors, 1 warning; 1 error is not shown");
}
