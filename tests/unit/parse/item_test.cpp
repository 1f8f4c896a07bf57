#include "parse_test_support.h"

using gos::test::codes;
using gos::test::moduleCodes;
using gos::test::Parsed;
using gos::test::tree;

TEST_CASE("functions") {
  CHECK(tree("fn f() { }") == "fn f() {}");
  CHECK(tree("pub fn f<T: A + B, U>(mut x: T, (a, b): (U, U) , n: i64 = -3) -> T where U: C<X = "
             "i64> { x }") ==
        "pub fn f<T: A + B, U>(mut x: T, (a, b): (U, U), n: i64 = (- 3)) -> T where U: C<X = i64> "
        "{ x }");
  CHECK(tree("fn f<F: Fn(i64) -> i64>(g: F) { }") == "fn f<F: Fn<Fn(i64) -> i64>>(g: F) {}");
  CHECK(tree("fn f<'a, const N: usize>(x: &'a [i64; N]) { }") ==
        "fn f<const N: usize>(x: &[i64; N]) {}");
  CHECK(tree("fn f(x: i64)\n{ }") == "fn f(x: i64) {}");
  CHECK(codes("fn f(x) { }") == "GP0001");
  CHECK(codes("fn f(n: i64 = g()) { }") == "GR0014");
  CHECK(codes("fn (x: i64) { }") == "GP0001");
  CHECK(codes("fn f(x: fn(i64) -> i64) { }") == "GP0044");
  CHECK(codes("fn f(x: FnMut(i64)) { }") == "GP0044");
  CHECK(codes("fn f(x: dyn T) { }") == "GP0061");
  CHECK(codes("fn f(x: *const u8) { }") == "GP0001");
}

TEST_CASE("structs and enums") {
  CHECK(tree("struct U") == "struct U");
  CHECK(tree("struct P<T> { pub x: T, pub(package) y: i64 }") ==
        "struct P<T> { pub x: T, pub(package) y: i64 }");
  CHECK(tree("struct T(pub i64, String)") == "struct T(pub i64, String)");
  CHECK(tree("struct E {}") == "struct E {  }");
  CHECK(tree("#[derive(Debug, Eq)]\nenum E { A, B(i64, T), C { x: i64 } }") ==
        "#[derive(Debug, Eq)] enum E { A, B(i64, T), C { x: i64 } }");
  CHECK(tree("packed enum E: u16 { A, #[default] B }") == "packed enum E: u16 { A, #[default] B }");
  CHECK(tree("struct S<T>(T) where T: A") == "struct S<T>(T) where T: A");
  CHECK(codes("enum E: i8 { A }") == "GP0050");
  CHECK(codes("enum E: u65 { A }") == "GP0050");
  CHECK(codes("enum E { A = 1 }") == "GP0061");
  CHECK(codes("pub(crate) struct S") == "GP0038");
}

TEST_CASE("traits and impls") {
  CHECK(tree("trait T: A + B { fn f(&self) -> i64\n fn g(&mut self) { }\n type Item: C = i64\n "
             "const N: i64 = 3\n fn h() }") ==
        "trait T: A + B { fn f(&self) -> i64 fn g(&mut self) {} type Item: C = i64 const N: i64 = "
        "3 fn h() }");
  CHECK(tree("impl<T: A> Tr<T> for S<T> where T: B { type Item = T\n pub fn f(self) { } }") ==
        "impl<T: A> Tr<T> for S<T> where T: B { type Item = T pub fn f(self) {} }");
  CHECK(tree("impl S { const A: i64 = 1\n fn new(mut self, x: i64) -> Self { Self { x } } }") ==
        "impl S { const A: i64 = 1 fn new(mut self, x: i64) -> Self { (new Self x) } }");
  CHECK(tree("impl S { comptime fn f() { } }") == "impl S { comptime fn f() {} }");
  CHECK(codes("impl S { fn f() }") == "GP0001");
  CHECK(codes("impl S { let x = 1 }") == "GP0001");
}

TEST_CASE("aliases, constants and statics") {
  CHECK(tree("type A<T> = Vec<T>") == "type A<T> = Vec<T>");
  CHECK(tree("newtype Id = i64") == "newtype Id = i64");
  CHECK(tree("const A: i64 = 1 + 2") == "const A: i64 = (+ 1 2)");
  CHECK(tree("static mut A: Vec<i64> = #[]") == "static mut A: Vec<i64> = (vec)");
  CHECK(tree("const M: Map<i64, Vec<i64>>= {}") == "const M: Map<i64, Vec<i64>> = (map)");
  CHECK(codes("const A = 1") == "GP0034");
  CHECK(codes("static A = 1") == "GP0034");
  CHECK(codes("type A = new i64") == "GP0047");
}

TEST_CASE("types") {
  CHECK(tree("let x: (i64, [u8; 3], [T], &mut Vec<T>, Fn(A, B) -> C, !, (), (A,))") ==
        "let x: (i64, [u8; 3], [T], &mut Vec<T>, Fn(A, B) -> C, !, (), (A,))");
  CHECK(tree("let x: a::B<C>::D<E<F>>") == "let x: a::B<C>::D<E<F>>");
  CHECK(tree("let x: Vec<Vec<Vec<i64>>>= y") == "let x: Vec<Vec<Vec<i64>>> = y");
  CHECK(tree("let x: T::Item") == "let x: T::Item");
}

TEST_CASE("modules and their statements") {
  CHECK(tree("mod a\nmod b { use c::d\n fn f() { } }") == "mod a; mod b { use c::d fn f() {} }");
  CHECK(codes("mod a { f() }") == "GP0019");
  CHECK(moduleCodes("f()\ng()") == "GP0019");
  CHECK(codes("f()\nfn main() { }") == "GP0020");
}

TEST_CASE("use is flattened") {
  CHECK(tree("use a::b") == "use a::b");
  CHECK(tree("use a::b as c") == "use a::b as c");
  CHECK(tree("use a::{b, c as d, e::f, g::{h, self}}") ==
        "use a::b a::c as d a::e::f a::g::h a::g");
  CHECK(tree("use crate::a::super::b") == "use crate::a::super::b");
  CHECK(tree("use \"example.com/my-lib\"") == "use \"example.com/my-lib\" as my_lib");
  CHECK(tree("use \"example.com/lib\"::part::{X, Y}") ==
        "use \"example.com/lib\"::part::X \"example.com/lib\"::part::Y");
  CHECK(codes("use my-lib::x") == "GP0040");
  CHECK(codes("use a::*") == "GP0014");
  CHECK(codes("use a.b") == "GP0014");
  CHECK(codes("use 1") == "GP0014");
}

TEST_CASE("let") {
  CHECK(tree("let mut x: i64 = 1") == "let mut x: i64 = 1");
  CHECK(tree("let a, b = pair") == "let* (a, b) = pair");
  CHECK(tree("let mut x, mut y = 1, 2") == "let* (mut x, mut y) = (tuple 1 2)");
  CHECK(tree("let a, (b, c) = 1, (2, 3)") == "let* (a, (b, c)) = (tuple 1 (tuple 2 3))");
  CHECK(tree("let Some(x) = y else { return }") == "let Some(x) = y else { (return) }");
  CHECK(tree("let x") == "let x");
  CHECK(codes("let (a, b) = pair") == "GP0042");
}

TEST_CASE("patterns") {
  CHECK(tree("match x { _ => 0, 1 | 2 => 1, -3 => 2, \"a\" => 3, 'c' => 4, true => 5 }") ==
        "(match x [_ => 0] [1 | 2 => 1] [-3 => 2] [\"a\" => 3] [(char 99) => 4] [true => 5])");
  CHECK(
      tree(
          "match x { 1..5 => 0, 1..=5 => 1, ..5 => 2, ..=5 => 3, 5.. => 4, i64::MIN..=-1 => 5 }") ==
      "(match x [1..5 => 0] [1..=5 => 1] [_..5 => 2] [_..=5 => 3] [5.._ => 4] "
      "[i64::MIN..=(- 1) => 5])");
  CHECK(tree("match x { n @ 1..=9 => n, mut y => y }") ==
        "(match x [n @ 1..=9 => n] [mut y => y])");
  CHECK(
      tree("match x { E::V => 0, E::W(a, _) => 1, E::X { f, g: 1, mut h, .. } => 2, S {} => 3 }") ==
      "(match x [E::V => 0] [E::W(a, _) => 1] [E::X { f: f g: 1 h: mut h .. } => 2] [S { } => "
      "3])");
  CHECK(tree("match x { [] => 0, [a] => 1, [a, .., z] => 2, [a, ..rest] => 3 }") ==
        "(match x [[] => 0] [[a] => 1] [[a, .., z] => 2] [[a, ..rest] => 3])");
  CHECK(tree("match x { (a, b) => 0, (a,) => 1, (a) => 2, () => 3, &y => 4, &mut z => 5 }") ==
        "(match x [(a, b) => 0] [(a) => 1] [a => 2] [() => 3] [&y => 4] [&mut z => 5])");
  CHECK(tree("match x {\n A\n | B => 0\n _ => 1\n}") == "(match x [A | B => 0] [_ => 1])");
  CHECK(codes("match x { [a, .., .., b] => 0 }") == "GP0035");
  CHECK(codes("match x { 1..=  => 0 }") == "GP0026");
  CHECK(codes("match x { 1..LIMIT => 0 }") == "GP0059");
  CHECK(codes("match x { LIMIT.. => 0 }") == "GP0059");
}

TEST_CASE("attributes") {
  Parsed parsed("#![allow(a)]\n#[cfg(all(unix, not(test)))]\n#[rename = \"x\"]\nfn f() { }");
  CHECK(parsed.codes() == "");
  CHECK(parsed.file.module->innerAttributes.size() == 1);
  const auto& attributes = parsed.file.module->items[0]->attributes;
  REQUIRE(attributes.size() == 2);
  CHECK(parsed.sources.text(attributes[0].argumentSpan) == "all(unix, not(test))");
  CHECK(attributes[1].value != nullptr);
  CHECK(codes("#[1]\nfn f() { }") == "GP0013");
  CHECK(codes("#[a b]\nfn f() { }") == "GP0013");
  CHECK(codes("#[a = b]\nfn f() { }") == "GP0013");
}

TEST_CASE("cfg leaves out what does not hold") {
  CHECK(tree("#[cfg(test)]\nmod t { fn f() { } }\nfn g() { }") == "fn g() {}");
  CHECK(tree("#[cfg(not(test))]\nfn f() { }") == "#[cfg(not)] fn f() {}");
  CHECK(tree("#[cfg(any(windows, unix))]\nstruct S") == "#[cfg(any)] struct S");
  CHECK(tree("#[cfg(all(unix, target_os = \"plan9\"))]\nstruct S") == "");
  CHECK(tree("fn f() {\n #[cfg(test)]\n fn g() { }\n 1\n}") == "fn f() { 1 }");
  CHECK(tree("impl S {\n #[cfg(test)]\n fn g() { }\n fn h() { }\n}") == "impl S { fn h() {} }");
  CHECK(codes("#[cfg]\nfn f() { }") == "GP0013");
  CHECK(codes("#[cfg()]\nfn f() { }") == "GP0013");
  CHECK(codes("#[cfg(feature = \"x\")]\nfn f() { }") == "GP0013");
  CHECK(codes("#[cfg(unix windows)]\nfn f() { }") == "GP0013");
  CHECK(codes("#[cfg(not(unix, test))]\nfn f() { }") == "GP0013");
}

TEST_CASE("comments above an item document it") {
  Parsed parsed(
      "// one\n\n// two\n// three\n#[inline]\nfn f() { }\nstruct S { // no\n}\nfn g() { }");
  const auto items = parsed.file.module->items;
  CHECK(parsed.sources.text(items[0]->documentation) == "// two\n// three");
  CHECK(!items[1]->documentation.valid());
  CHECK(!items[2]->documentation.valid());
}

TEST_CASE("signatures of the library's table") {
  gos::SourceMap sources;
  gos::Engine engine(sources);
  gos::ast::Context context;
  const auto parsed = [&](llvm::StringRef text) {
    const std::string file = ("xx" + text + "yy").str();
    const gos::FileId id = llvm::cantFail(sources.addCopy("table", file));
    const auto* function =
        gos::parse::parseSignature(id, 2, uint32_t(file.size() - 2), sources, context, engine);
    std::string out;
    llvm::raw_string_ostream stream(out);
    if (function)
      gos::ast::print(stream, function);
    return out;
  };
  CHECK(parsed("fn<T>(self: &mut Vec<T>, value: T) -> Option<T>") ==
        "fn <T>(self: &mut Vec<T>, value: T) -> Option<T>");
  CHECK(parsed("fn(&str) -> Result<String, io::Error>") ==
        "fn (_: &str) -> Result<String, io::Error>");
  CHECK(parsed("fn(text: String, at: i64 = 0)") == "fn (text: String, at: i64 = 0)");
  CHECK(parsed("fn<K: Hash>(&self, k: K) -> bool") == "fn <K: Hash>(&self, k: K) -> bool");
  CHECK(!engine.hasErrors());
  CHECK(parsed("fn(") == "");
  CHECK(engine.errorCount() == 1);
}

TEST_CASE("bare statements of the entry file form main") {
  Parsed parsed("let x = 1\nfn f() { }\nprintln(x)");
  CHECK(parsed.codes() == "");
  const auto* main = gos::parse::makeImplicitMain(parsed.file, parsed.context);
  REQUIRE(main);
  CHECK(main->implicitMain);
  CHECK(main->body->statements.size() == 2);
  CHECK(!gos::parse::makeImplicitMain(Parsed("fn f() { }").file, parsed.context));
}
