// Section 3 of the language: newlines, semicolons, list separators, braces.

#include "parse_test_support.h"

using gos::test::codes;
using gos::test::tree;

TEST_CASE("statements are separated by a newline, a brace or a semicolon") {
  CHECK(tree("a()\nb()") == "(call a); (call b)");
  CHECK(tree("a(); b()") == "(call a); (call b)");
  CHECK(tree("if x { } b()") == "(if x {}); (call b)");
  CHECK(tree("loop { } while x { } for i in y { } match z { } b()") ==
        "(loop {}); (while x {}); (for i y {}); (match z); (call b)");
  CHECK(tree("fn f() { } b()") == "fn f() {}; (call b)");
  CHECK(codes("a() b()") == "GP0001");
  CHECK(codes("let a = 1 let b = 2") == "GP0001");
  CHECK(codes("let a = match x { _ => 1 } b()") == "GP0001");
}

TEST_CASE("a semicolon stands between statements of one line only") {
  CHECK(codes("a();\nb()") == "GP0001");
  CHECK(codes("fn f() { a(); }") == "GP0001");
  CHECK(codes("a();") == "GP0001");
  CHECK(codes("use a::b;\nuse c::d;\n") == "GP0001 GP0001");
  CHECK(codes("a();; b()") == "GP0001");
  CHECK(codes("mod x;") == "GP0043");
}

TEST_CASE("a dot or a question mark continues on the next line") {
  CHECK(tree("a\n  .b()\n  .c") == "(field (.b a) c)");
  CHECK(tree("a()\n  ?") == "(? (call a))");
}

TEST_CASE("a call or an index never attaches across a newline") {
  CHECK(tree("a\n(b)") == "a; b");
  CHECK(tree("a\n[b]") == "a; (array b)");
  CHECK(tree("let x = (a\n(b))") == "let x = (tuple a b)");
}

TEST_CASE("& * - and a lone | begin a new statement") {
  CHECK(tree("a\n& b") == "a; (& b)");
  CHECK(tree("a\n* b") == "a; (* b)");
  CHECK(tree("a\n- b") == "a; (- b)");
  CHECK(tree("a\n|x| b") == "a; (|x| b)");
  CHECK(tree("f(\n a\n -b\n)") == "(call f a (- b))");
  CHECK(tree("#[\n a\n *b\n &c\n]") == "(vec a (* b) (& c))");
  CHECK(tree("let x = {1: a\n -b: c}") == "let x = (map 1: a (- b): c)");
}

TEST_CASE("inside parentheses a sum may break anywhere") {
  CHECK(tree("let b = (total\n - cut)") == "let b = (- total cut)");
  CHECK(tree("let b = (x\n * y\n & z)") == "let b = (& (* x y) z)");
  CHECK(tree("let b = (f(x\n -y)\n - z)") == "let b = (- (call f x (- y)) z)");
  CHECK(tree("let a = total -\n cut") == "let a = (- total cut)");
}

TEST_CASE("every other operator continues on the next line") {
  for (const char* op : {"+", "/", "%", "+%", "-%", "*%", "<<", ">>", "^", "&&", "==", "!=", "<",
                         "<=", ">", ">=", "||"})
    CHECK(tree(std::string("a\n ") + op + " b") == std::string("(") + op + " a b)");
  CHECK(tree("a\n |> b") == "(|> a b)");
  CHECK(tree("a\n as i64") == "(as a i64)");
  CHECK(tree("a\n = b") == "(= a <- b)");
  CHECK(tree("a\n += b") == "(+= a <- b)");
  CHECK(tree("a\n .. b") == "(.. a b)");
  CHECK(tree("a\n ..= b") == "(..= a b)");
}

TEST_CASE("after .. a newline ends the range") {
  CHECK(tree("let a = 1..\nb()") == "let a = (.. 1 _); (call b)");
  CHECK(tree("x[a..]") == "(index x (.. a _))");
  CHECK(tree("x[..b]") == "(index x (.. _ b))");
  CHECK(tree("x[..]") == "(index x (.. _ _))");
  CHECK(codes("let a = 1..=\nb()") == "GP0026");
}

TEST_CASE("in an arm's body a line that reads as a range pattern begins the next arm") {
  CHECK(tree("match x {\n 1 => a\n ..5 => b\n ..=9 if c => d\n _ => e\n}") ==
        "(match x [1 => a] [_..5 => b] [_..=9 if c => d] [_ => e])");
  CHECK(tree("match x {\n 1 => a\n ..b\n _ => e\n}") == "(match x [1 => (.. a b)] [_ => e])");
}

TEST_CASE("lists are separated by commas or newlines") {
  CHECK(tree("f(a, b,)") == "(call f a b)");
  CHECK(tree("f(\n a\n b\n)") == "(call f a b)");
  CHECK(tree("f(\n a,\n b,\n)") == "(call f a b)");
  CHECK(tree("fn f(\n a: i64\n b: i64\n) { }") == "fn f(a: i64, b: i64) {}");
  CHECK(tree("fn f<\n A\n B\n>() { }") == "fn f<A, B>() {}");
  CHECK(tree("struct S {\n a: i64\n b: i64\n}") == "struct S { a: i64, b: i64 }");
  CHECK(tree("enum E {\n A\n B(\n i64\n u8\n )\n}") == "enum E { A, B(i64, u8) }");
  CHECK(tree("S {\n a: 1\n b\n}") == "(new S a: 1 b)");
  CHECK(tree("(\n a\n b\n)") == "(tuple a b)");
  CHECK(tree("[\n 1\n 2\n]") == "(array 1 2)");
  CHECK(tree("#{\n 1\n 2\n}") == "(set 1 2)");
  CHECK(tree("let m = {\n 1: 2\n 3: 4\n}") == "let m = (map 1: 2 3: 4)");
  CHECK(tree("use a::{\n b\n c\n}") == "use a::b a::c");
  CHECK(tree("let x: (\n i64\n u8\n) = y") == "let x: (i64, u8) = y");
  CHECK(codes("f(a b)") == "GP0001");
  CHECK(codes("struct S { a: i64 b: i64 }") == "GP0001");
}

TEST_CASE("parentheses are no tuple without a comma") {
  CHECK(tree("(\n a + b \n)") == "(+ a b)");
  CHECK(tree("(a,)") == "(tuple a)");
  CHECK(tree("()") == "(tuple)");
  CHECK(tree("(a)") == "a");
}

TEST_CASE("match arms need a separator only between expressions of one line") {
  CHECK(tree("match x { 1 => a, 2 => b }") == "(match x [1 => a] [2 => b])");
  CHECK(tree("match x { 1 => { a } 2 => b }") == "(match x [1 => { a }] [2 => b])");
  CHECK(tree("match x {\n 1 => a\n 2 => b\n}") == "(match x [1 => a] [2 => b])");
  CHECK(tree("match x {\n 1 => a,\n -2 => b,\n}") == "(match x [1 => a] [-2 => b])");
  CHECK(tree("match x {\n 1 => a\n -2 => b\n (3, 4) => c\n [5] => d\n &6 => e\n}") ==
        "(match x [1 => a] [-2 => b] [(3, 4) => c] [[5] => d] [&6 => e])");
  CHECK(codes("match x { 1 => a 2 => b }") == "GP0031");
}

TEST_CASE("empty braces are a block where a statement may begin and a map elsewhere") {
  CHECK(tree("{}") == "{}");
  CHECK(tree("let a = {}") == "let a = (map)");
  CHECK(tree("f({})") == "(call f (map))");
  CHECK(tree("a = {}") == "(= a <- (map))");
  CHECK(tree("match x { _ => {} }") == "(match x [_ => {}])");
  CHECK(tree("let f = || {}") == "let f = (|| {})");
  CHECK(tree("if a {} else {}") == "(if a {} else {})");
}

TEST_CASE("a colon in the first entry makes a map") {
  CHECK(tree("let a = {\"k\": 1}") == "let a = (map \"k\": 1)");
  CHECK(tree("let a = {f(x): 1, y: 2}") == "let a = (map (call f x): 1 y: 2)");
  CHECK(tree("let a = { b }") == "let a = { b }");
  CHECK(tree("let a = { a::b }") == "let a = { a::b }");
  CHECK(tree("let a = { let b: i64 = 1\n b }") == "let a = { let b: i64 = 1; b }");
  CHECK(tree("let a = { b()\n let c: i64 = 1\n c }") == "let a = { (call b); let c: i64 = 1; c }");
  CHECK(tree("let a = { b = |x: i64| x\n 1 }") == "let a = { (= b <- (|x: i64| x)); 1 }");
  CHECK(tree("let a = { f(|x: i64| x) }") == "let a = { (call f (|x: i64| x)) }");
  CHECK(tree("|| { S { a: 1 } }") == "(|| { (new S a: 1) })");
}

TEST_CASE("a line that begins #[ is an attribute when an item follows") {
  CHECK(tree("#[test]\nfn f() { }") == "#[test] fn f() {}");
  CHECK(tree("#[a]\n#[b(c)]\npub struct S") == "#[a] #[b(c)] pub struct S");
  CHECK(tree("#[1, 2]\n.len()") == "(.len (vec 1 2))");
  CHECK(tree("#[a]\nb()") == "(vec a); (call b)");
  CHECK(tree("fn main() {\n #[inline]\n comptime fn f() { }\n #[1]\n}") ==
        "fn main() { #[inline] comptime fn f() {}; (vec 1) }");
}

TEST_CASE("a construct in statement position goes on only where it can do nothing else") {
  CHECK(tree("match x { _ => y }.f()") == "(.f (match x [_ => y]))");
  CHECK(tree("if a { b } else { c }\n.f()") == "(.f (if a { b } else { c }))");
  CHECK(tree("if a { } -b") == "(if a {}); (- b)");
  CHECK(tree("if a { } (b)") == "(if a {}); b");
  CHECK(tree("if a { b } else { c } |> f") == "(|> (if a { b } else { c }) f)");
}

TEST_CASE("return and break take a value on their own line only") {
  CHECK(tree("fn f() { return\n x }") == "fn f() { (return); x }");
  CHECK(tree("fn f() { return x }") == "fn f() { (return x) }");
  CHECK(tree("loop { break\n 'a: loop { } }") == "(loop { (break); ('a loop {}) })");
}

TEST_CASE("a line that begins with an operator and is no value is pointed out") {
  CHECK(codes("fn f() {\n let a = total\n  - cut\n g(a)\n}") == "GL0056");
  CHECK(codes("fn f() -> i64 {\n let a = 1\n -a\n}") == "");
  CHECK(codes("fn f() {\n let a = g()\n *a = 1\n h()\n}") == "");
}
