#include "parse_test_support.h"

using gos::test::codes;
using gos::test::Parsed;

TEST_CASE("a bracket whose closer is swallowed by a malformed token is not reported beside it") {
  CHECK(codes("println!(\"unterminated)") == "GP0018");
  CHECK(codes("fn f() { g(#[\"x]) }") == "GP0018");
  CHECK(codes("f(\"unterminated") == "GP0018 GP0003"); // two mistakes
}

TEST_CASE("one mistake gives one report") {
  CHECK(codes("fn f( { }\nfn g() { }") == "GP0001");
  CHECK(codes("fn f(a: ) { let x = 1 }\nfn g() { }") == "GP0001");
  CHECK(codes("let x = \nlet y = 2") == "GP0001");
  CHECK(codes("let x = 1 +\nlet y = 2") == "GP0001");
  CHECK(codes("f(a, b\nlet y = 2") == "GP0003");
  CHECK(codes("f(a, b]\nlet y = 2") == "GP0003");
  CHECK(codes("fn f() { f(a }\nfn g() { }") == "GP0003");
  CHECK(codes("fn f() {\n let x = 1\n") == "GP0003");
  CHECK(codes("struct S { a: , b: i64 }\nfn g() { }") == "GP0001");
  CHECK(codes("}\nfn g() { }") == "GP0001");
  CHECK(codes("fn f() { } }\nfn g() { }") == "GP0001");
  CHECK(codes("let a = 'ab'\nlet b = 1") == "GP0018");
  CHECK(codes("let a = \"x\nlet b = 1") == "GP0018");
  CHECK(codes("match x { 1 => , 2 => 3 }") == "GP0030");
  CHECK(codes("if { f() }") == "GP0002");
  CHECK(codes("x.") == "GP0002");
}

TEST_CASE("mistakes on different lines are all reported") {
  CHECK(codes("let = 1\nlet b = 2\nlet c = )\nlet d = 4") == "GP0001 GP0001");
  CHECK(codes("fn f() {\n let = 1\n g(1 2)\n}\nfn h() {\n 1 +\n}") == "GP0001 GP0001 GP0001");
  CHECK(codes("struct S {\n a i64\n b: i64\n c i64\n}") == "GP0001 GP0001");
}

TEST_CASE("what follows a mistake is still in the tree") {
  Parsed parsed("fn f(a: ) { }\nfn g() { let x = \n h() }\nstruct S { a: , b: i64 }");
  CHECK(parsed.file.module->items.size() == 3);
}

TEST_CASE("nesting has a limit and no effect on the stack") {
  const auto repeat = [](const char* text, int count) {
    std::string out;
    for (int i = 0; i < count; ++i)
      out += text;
    return out;
  };
  for (const char* open : {"(",        "[",         "#[",
                           "{",        "f(",        "a[",
                           "|x| ",     "if x {",    "match x { _ => ",
                           "loop {",   "return ",   "break ",
                           "f\"{",     "let x = {", "S { a: ",
                           "#{",       "{1: ",      "comptime {",
                           "fn f() {", "mod m {",   "||",
                           "<"}) {
    CAPTURE(open);
    const std::string reported = codes(repeat(open, 100000));
    CHECK(!reported.empty());
    CHECK(reported.size() < 40);
  }
  CHECK(codes(repeat("(", 300) + "1" + repeat(")", 300)) == "GP0017");
  CHECK(codes(repeat("(", 200) + "1" + repeat(")", 200)) == "");
  CHECK(codes("let x: " + repeat("Vec<", 300) + "i64" + repeat(">", 300)) == "GP0017");
  CHECK(codes("let x: " + repeat("Vec<", 200) + "i64" + repeat(">", 200)) == "");
  CHECK(codes("let x: " + repeat("&", 100000) + "i64") == "GP0017");
  CHECK(codes("let x: " + repeat("Fn() -> ", 100000) + "i64") == "GP0017");
  CHECK(codes("let " + repeat("(", 100000)) == "GP0017");
  CHECK(codes("let " + repeat("&", 100000) + "x = 1") == "GP0017");
  CHECK(codes("let " + repeat("x @ ", 100000) + "y = 1") == "GP0017");
  CHECK(codes("use " + repeat("a::{", 100000)) == "GP0017");
}

TEST_CASE("chains are read by loops, and have a limit of their own") {
  const auto chain = [](const char* link, int count) {
    std::string out = "a";
    for (int i = 0; i < count; ++i)
      out += link;
    return out;
  };
  for (const char* link : {" + a", ".f()", "?", "[0]", "(1)", " as i64", " |> f", ".f", " && a"}) {
    CAPTURE(link);
    CHECK(codes(chain(link, 500)) == "");
    CHECK(codes(chain(link, 100000)) == "GP0017");
  }
  std::string prefix(100000, '-');
  CHECK(codes("let x = " + prefix + "1") == "GP0017");
  std::string elseIf = "if a { }";
  for (int i = 0; i < 500; ++i)
    elseIf += " else if a { }";
  CHECK(codes(elseIf) == "");
  for (int i = 0; i < 100000; ++i)
    elseIf += " else if a { }";
  CHECK(codes(elseIf) == "GP0017");
  // Siblings do not add up.
  std::string wide = "f(";
  for (int i = 0; i < 20000; ++i)
    wide += "a |> g, b.c.d + e as i64, if x { 1 } else { 2 }, ";
  CHECK(codes(wide + ")") == "");
  std::string many = "fn f() {\n";
  for (int i = 0; i < 20000; ++i)
    many += "if a { b() } else if c { d() }\nx = y |> f\n";
  CHECK(codes(many + "}") == "");
}

TEST_CASE("lookahead is remembered, so that repetition costs linear time") {
  for (const char* line :
       {"#[a]\n", "a<b,", "{a(", "f\"{", "f\"\"\"{\"\"\"", "x = {a(b, c): d}\n", "f(|| f("}) {
    std::string text;
    while (text.size() < 200000)
      text += line;
    CAPTURE(line);
    CHECK(Parsed(text).file.module != nullptr); // minutes when it is not
  }
}

TEST_CASE("garbage ends, and soon") {
  std::string soup;
  const char* const words[] = {"fn",    "{",    "(",   "]",        "let", "=",  "<",    "a", "\n",
                               "}",     "=>",   "|",   "#[",       "'a",  "\"", ",",    ";", "..",
                               "match", "f\"{", "::",  "-",        "if",  ")",  "impl", ">", "&",
                               "1",     ".",    "use", "comptime", "`",   "$"};
  uint32_t state = 12345;
  for (int round = 0; round < 300; ++round) {
    soup.clear();
    for (int i = 0; i < 400; ++i) {
      state = state * 1664525 + 1013904223;
      soup += words[(state >> 16) % std::size(words)];
      if (state & 0x100)
        soup += ' ';
    }
    Parsed parsed(soup, round % 2 == 0);
    CHECK(parsed.file.module != nullptr);
  }
}

TEST_CASE("spans cover what they name") {
  Parsed parsed("fn f() { let a = (b + c).d(e) }");
  const auto* function = llvm::cast<gos::ast::FunctionItem>(parsed.file.module->items[0]);
  const auto* let = llvm::cast<gos::ast::LetStmt>(function->body->statements[0]);
  CHECK(parsed.sources.text(function->span) == "fn f() { let a = (b + c).d(e) }");
  CHECK(parsed.sources.text(let->span) == "let a = (b + c).d(e)");
  CHECK(parsed.sources.text(let->value->span) == "(b + c).d(e)");
  const auto* call = llvm::cast<gos::ast::MethodCallExpr>(let->value);
  CHECK(parsed.sources.text(call->receiver->span) == "(b + c)");
  CHECK(parsed.sources.text(call->name.span) == "d");
}
