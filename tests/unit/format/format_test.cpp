// The layout, case by case: what a program looks like afterwards.

#include "compiler/format/format.h"

#include <doctest/doctest.h>

#include <string>

namespace {

using gos::format::formatText;
using gos::format::Outcome;

std::string laidOut(const std::string& text) {
  const auto result = formatText(text);
  CHECK_MESSAGE(result.outcome == Outcome::Formatted, text << "\n" << result.why);
  return result.text;
}

} // namespace

TEST_CASE("spaces stand where the style puts them") {
  CHECK(laidOut("fn  f( a:i64,b :i64 )->i64{a+b*-1}\n") ==
        "fn f(a: i64, b: i64) -> i64 { a + b * -1 }\n");
  CHECK(laidOut("let x=#[ 1,2 ] [0]\n") == "let x = #[1, 2][0]\n");
  CHECK(laidOut("let m={ \"a\" :1 }\nlet s=#{ 1 }\n") == "let m = { \"a\": 1 }\nlet s = #{1}\n");
  CHECK(laidOut("let p = Point{x:1,y}\n") == "let p = Point { x: 1, y }\n");
  CHECK(laidOut("let f=|a:i64 , b|a+b\nlet g=||1\n") ==
        "let f = |a: i64, b| a + b\nlet g = || 1\n");
  CHECK(laidOut("let v : Vec < Vec<i64> > =#[]\n") == "let v: Vec<Vec<i64>> = #[]\n");
  CHECK(laidOut("for i in 0 ..= 9{print!( i )}\n") == "for i in 0..=9 { print!(i) }\n");
  CHECK(laidOut("let r = & & x\nlet s = &mut  y\n") == "let r = & &x\nlet s = &mut y\n");
  CHECK(laidOut("a,b=b,a\n") == "a, b = b, a\n");
}

TEST_CASE("a block keeps to its line or to its lines, as it is written") {
  CHECK(laidOut("fn f() { g() }\n") == "fn f() { g() }\n");
  CHECK(laidOut("fn f() {\ng() }\n") == "fn f() {\n    g()\n}\n");
  CHECK(laidOut("fn f() { let a = 1; a }\n") == "fn f() { let a = 1; a }\n");
  CHECK(laidOut("fn f() {\n\n\n  a()\n\n\n\n  b(); c()\n\n}\n") ==
        "fn f() {\n    a()\n\n    b()\n    c()\n}\n");
}

TEST_CASE("what is too long for a line is broken, and its commas are newlines then") {
  const std::string name(40, 'x');
  CHECK(laidOut("call(" + name + ", " + name + ", " + name + ")\n") ==
        "call(\n    " + name + "\n    " + name + "\n    " + name + "\n)\n");
  CHECK(laidOut("let a = " + name + " + " + name + " + " + name + "\n") ==
        "let a = " + name + " +\n    " + name + " +\n    " + name + "\n");
  CHECK(laidOut("let a = xs.map(|x| " + name + ").filter(|y| " + name + ").count(" + name +
                ")\n") == "let a = xs.map(|x| " + name + ")\n    .filter(|y| " + name +
                              ")\n    .count(" + name + ")\n");
}

TEST_CASE("a comma stays where the next line would be read as going on") {
  CHECK(laidOut("f(\n  a\n  , || b\n)\n") == "f(\n    a,\n    || b\n)\n");
  CHECK(laidOut("let t = (\n a,\n -b\n)\n") == "let t = (\n    a,\n    -b\n)\n");
  CHECK(laidOut("let t = (a,)\n") == "let t = (a,)\n");
}

TEST_CASE("parentheses cling to the one expression in them") {
  CHECK(laidOut("let a = (b\n - c) * 2\n") == "let a = (b -\n    c) * 2\n");
  CHECK(laidOut("let a = ( b-c )\n") == "let a = (b - c)\n");
}

TEST_CASE("parentheses hug a last argument that has lines of its own") {
  CHECK(laidOut("each(xs, |x| {\n  use_it(x)\n})\n") == "each(xs, |x| {\n    use_it(x)\n})\n");
  CHECK(laidOut("xs.filter(|b| rules.all(|rule| {\n let t = rule\n t(b)\n }))\n") ==
        "xs.filter(|b| rules.all(|rule| {\n    let t = rule\n    t(b)\n}))\n");
  CHECK(laidOut("push(Point {\n x: 1,\n y: 2,\n})\n") == "push(Point {\n    x: 1\n    y: 2\n})\n");
}

TEST_CASE("the rows of a table stay") {
  CHECK(laidOut("let t = #[\n 1,2,3,\n   4,5,6,\n]\n") ==
        "let t = #[\n    1, 2, 3\n    4, 5, 6\n]\n");
}

TEST_CASE("arms of a match have a line each and no comma") {
  CHECK(laidOut("match x {\n  1|2=>a,\n  _ if b=>{c}, }\n") ==
        "match x {\n    1 | 2 => a\n    _ if b => { c }\n}\n");
  CHECK(laidOut("let y = match x { A => 1, B => 2 }\n") == "let y = match x { A => 1, B => 2 }\n");
}

TEST_CASE("cohorts and the arms of a select are laid out as blocks and arms are") {
  CHECK(laidOut("let r = cohort( timeout :5 ){\nspawn(||f())\n}\n") ==
        "let r = cohort(timeout: 5) {\n    spawn(|| f())\n}\n");
  CHECK(
      laidOut("cohort{\nselect{\n Some( v )=rx.recv()=>{f(v)},\n tx.send(1)=>g(),\n "
              "default=>h()\n}\n}\n") ==
      "cohort {\n    select {\n        Some(v) = rx.recv() => { f(v) }\n        tx.send(1) => g()\n"
      "        default => h()\n    }\n}\n");
}

TEST_CASE("every comment stays where it is") {
  const std::string text = "// first\n"
                           "\n"
                           "use std::io // why\n"
                           "\n"
                           "/// About f.\n"
                           "fn f(\n"
                           "    a: i64 // of it\n"
                           "    // alone\n"
                           "    b: i64\n"
                           ") {\n"
                           "    // before\n"
                           "    g(a /* inside */, b)\n"
                           "    // after\n"
                           "}\n"
                           "// last\n";
  CHECK(laidOut(text) == text);
  CHECK(laidOut("f( // one\n a, // two\n b // three\n)\n") ==
        "f( // one\n    a // two\n    b // three\n)\n");
  CHECK(laidOut("let a = b + // why\n c\n") == "let a = b + // why\n    c\n");
  CHECK(laidOut("let a = x\n // why\n .f()\n .g() // so\n") ==
        "let a = x\n    // why\n    .f()\n    .g() // so\n");
  CHECK(laidOut("fn f() {\n // only\n}\n") == "fn f() {\n    // only\n}\n");
}

TEST_CASE("comments behind lines that follow each other begin at one column") {
  CHECK(laidOut("let a = 1 // one\nlet abc = 12 // two\n\nlet b = 2 // alone\n") ==
        "let a = 1    // one\nlet abc = 12 // two\n\nlet b = 2 // alone\n");
  const std::string far = "call(" + std::string(40, 'x') + ") // far\n";
  CHECK(laidOut("let a = 1 // near\n" + far) == "let a = 1 // near\n" + far);
}

TEST_CASE("items under a cfg that does not hold are laid out too") {
  CHECK(laidOut("#[cfg(windows)]\nfn  f( ){ }\n#[cfg(test)] mod t{ #[test] fn a(){} }\n") ==
        "#[cfg(windows)]\nfn f() {}\n#[cfg(test)]\nmod t {\n    #[test]\n    fn a() {}\n}\n");
}

TEST_CASE("line ends and a byte order mark are made regular, but not in a string") {
  CHECK(laidOut("\xEF\xBB\xBF"
                "let a = 1\r\nlet b = \"x\r\ny\" \r\n// c  \r\n") ==
        "let a = 1\nlet b = \"x\r\ny\"\n// c\n");
  CHECK(laidOut("#!/usr/bin/env gos\nf()\n") == "#!/usr/bin/env gos\nf()\n");
  CHECK(laidOut("") == "");
  CHECK(laidOut("\n\n") == "");
}

TEST_CASE("what is no program stays as it is") {
  CHECK(formatText("fn f( {").outcome == Outcome::SyntaxErrors);
  CHECK(formatText("let = 1;").outcome == Outcome::SyntaxErrors);
  CHECK(formatText("\xff\xfe").outcome == Outcome::SyntaxErrors);
}

TEST_CASE("nothing is too deep, too long or too wide to be answered") {
  const auto answers = [](const std::string& text) {
    const auto result = formatText(text);
    CHECK_MESSAGE(result.outcome != Outcome::Failed, result.why);
  };
  for (const size_t depth : {100, 250, 300, 5000}) {
    answers("let a = " + std::string(depth, '(') + "1" + std::string(depth, ')') + "\n");
    answers("let a = " + std::string(depth, '[') + "1" + std::string(depth, ']') + "\n");
    std::string sum = "1", chain = "x", blocks = "f()", choices = "if a { b }";
    for (size_t i = 0; i < depth; ++i) {
      sum += " + 1";
      chain += ".f()";
      blocks = "{ " + blocks + " }";
      choices += " else if a { b }";
    }
    answers("let a = " + sum + "\n");
    answers("let a = " + chain + "\n");
    answers("fn f() " + blocks + "\n");
    answers(choices + "\n");
  }
}

TEST_CASE("a piece of a file is forgotten when the next one is laid out") {
  const std::string item =
      "fn f(a: i64) -> i64 {\n    let x = #[a, 2, 3]\n    x.len() + a // both\n}\n";
  std::string many;
  for (unsigned i = 0; i < 200; ++i)
    many += item;
  const size_t one = formatText(item).largestPiece;
  CHECK(one > item.size());
  CHECK(formatText(many).largestPiece < 2 * one);
  // Of what is one piece, a table, every byte costs a few bytes.
  std::string table = "let t = #[\n";
  for (unsigned i = 0; i < 5000; ++i)
    table += std::to_string(i) + ",\n";
  table += "]\n";
  CHECK(formatText(table).largestPiece < 24 * table.size());
}

TEST_CASE("long lists, and long runs of what only looks like attributes, cost what they are long") {
  // Each of these was quadratic: a hang, not a failure.
  constexpr unsigned kMany = 30'000;
  std::string pairs = "let t = #[", vectors, comments;
  for (unsigned i = 0; i < kMany; ++i) {
    pairs += i == 0 ? "(1, 2)" : ", (1, 2)";
    vectors += "#[1]\n";
    comments += "f() // why\n";
  }
  pairs += "]\n";
  CHECK(laidOut(vectors) == vectors);
  CHECK(laidOut(comments) == comments);
  CHECK(laidOut(laidOut(pairs)).size() > pairs.size());
}

TEST_CASE("a difference is shown with three lines around it") {
  CHECK(gos::format::unifiedDiff("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nd\nX\nf\n") ==
        "@@ -2,5 +2,5 @@\n b\n c\n d\n-e\n+X\n f\n");
  CHECK(gos::format::unifiedDiff("a\n", "a\n").empty());
  CHECK(gos::format::unifiedDiff("", "a\n") == "@@ -0,0 +1,1 @@\n+a\n");
}
