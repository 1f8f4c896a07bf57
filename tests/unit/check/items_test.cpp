#include "tests/unit/check/check_helper.h"

using namespace gos::test;

TEST_CASE("a clean program reports nothing") {
  CHECK(codesOf("struct P { x: i64 }\nfn main() { println!(\"{}\", P { x: 1 }) }") == "");
}

TEST_CASE("duplicate declarations are reported once each") {
  CHECK(codesOf("struct A\nstruct A\nfn main() {}") == "GR0003");
  CHECK(codesOf("fn f() {}\nfn f() {}\nfn main() {}") == "GR0003");
  CHECK(codesOf("fn f(a: i64, a: i64) {}\nfn main() {}") == "GR0003");
  CHECK(codesOf("struct A { x: i64, x: i64 }\nfn main() {}") == "GR0003");
  CHECK(codesOf("enum E { A, A }\nfn main() {}") == "GR0003");
  CHECK(codesOf("fn println() {}\nfn main() {}") == "GR0020");
  CHECK(codesOf("struct A\nimpl A { fn f(&self) {}\nfn f(&self) {} }\nfn main() {}") == "GR0003");
}

TEST_CASE("names that nothing declares") {
  CHECK(codesIn("println!(\"{}\", missing)") == "GR0001");
  CHECK(codesOf("fn f(x: Missing) {}\nfn main() {}") == "GR0001");
  CHECK(codesIn("missing()") == "GR0001");
  CHECK(codesIn("let x = mod1::f()") == "GR0001");
  CHECK(codesOf("use nothing::here\nfn main() {}") == "GR0005");
  CHECK(codesOf("use std::nothing\nfn main() {}") == "GR0005");
  CHECK(codesOf("use std::fs::nothing\nfn main() {}") == "GR0007");
  CHECK(codesOf("use std::json\nfn main() {}") == "GR0005");
  CHECK(codesOf("use std::fs\nuse std::fs\nfn main() {}") == "GR0004");
  CHECK(codesIn("let x = fs::exists(\"a\")") == "GR0011");
  CHECK(codesOf("use std::collections::HashMap\nfn main() {}") == "GR0006");
  CHECK(codesOf("fn f(x: HashMap<i64, i64>) {}\nfn main() {}") == "GR0006");
  CHECK(codesOf("fn f(x: Box<i64>) {}\nfn main() {}") == "GT0079");
  CHECK(codesOf("fn f(x: i128) {}\nfn main() {}") == "GT0014");
  CHECK(codesOf("use std::intrinsics\nfn main() {}") == "GR0005");
  CHECK(codesIn("let x = intrinsics::debug_text(1)") != "");
}

TEST_CASE("wrong kinds of names") {
  CHECK(codesOf("use std::fs\nfn main() { let x = fs }") == "GR0002");
  CHECK(codesOf("fn f() {}\nfn g(x: f) {}\nfn main() {}") == "GR0001");
  CHECK(codesIn("let f = println") == "GR0018");
  CHECK(codesOf("trait T { fn f(&self) }\nfn g(x: T) {}\nfn main() {}") == "GT0071");
}

TEST_CASE("modules and visibility") {
  CHECK(codesOf("use util::helper\nfn main() { helper() }", {{"util", "pub fn helper() {}"}}) ==
        "");
  CHECK(codesOf("fn main() { util::helper() }", {{"util", "pub fn helper() {}"}}) == "");
  CHECK(codesOf("fn main() { util::helper() }", {{"util", "fn helper() {}"}}) == "GR0008");
  CHECK(codesOf("fn main() { deep::nest::f() }",
                {{"deep::nest", "pub fn f() { super::super::g() }"}}) == "GR0001");
  CHECK(codesOf("fn g() {}\nfn main() { deep::nest::f() }",
                {{"deep::nest", "pub fn f() { super::super::g()\ncrate::g() }"}}) == "");
  CHECK(
      codesOf(
          "mod a { pub struct S { x: i64 }\n impl S { pub fn new() -> S { S { x: 1 } }\n fn hidden(&self) {} } }\n"
          "fn main() {\n let s = a::S::new()\n println!(\"{}\", s.x)\n}") == "GT0065");
  CHECK(
      codesOf(
          "mod a { pub struct S { x: i64 }\n impl S { pub fn new() -> S { S { x: 1 } }\n fn hidden(&self) {} } }\n"
          "fn main() {\n let s = a::S::new()\n s.hidden()\n}") == "GT0063");
  CHECK(codesOf("mod a { pub struct S { x: i64 } }\nfn main() { let s = a::S { x: 1 } }") ==
        "GT0065");
  CHECK(codesOf("mod a { fn f() {} }\nfn main() { a::f() }") == "GR0008");
  CHECK(codesOf("mod a { pub(package) fn f() {} }\nuse a::f\nfn main() { f() }") == "");
  CHECK(codesOf("fn main() { helper() }", {{"util", "pub fn helper() {}"}}) == "GR0011");
  CHECK(codesOf("mod util\nfn main() {}") == "GR0010");
  CHECK(codesOf("use a::b as c\nfn main() { c::f() }", {{"a::b", "pub fn f() {}"}}) == "");
}

TEST_CASE("imports that lead back to themselves end") {
  CHECK(codesOf("use a::x\nfn main() {}", {{"a", "use crate::x"}}) != "");
}

TEST_CASE("traits and impls are complete and fit") {
  CHECK(codesOf("trait T { fn f(&self) }\nstruct S\nimpl T for S {}\nfn main() {}") == "GT0058");
  CHECK(
      codesOf(
          "trait T { fn f(&self) }\nstruct S\nimpl T for S { fn f(&self) {}\nfn g(&self) {} }\nfn main() {}") ==
      "GT0072");
  CHECK(codesOf("trait T { type I }\nstruct S\nimpl T for S {}\nfn main() {}") == "GT0059");
  CHECK(codesOf("trait T { const N: i64 }\nstruct S\nimpl T for S {}\nfn main() {}") == "GT0059");
  CHECK(codesOf("trait T {}\nstruct S\nimpl T for S {}\nimpl T for S {}\nfn main() {}") ==
        "GT0073");
  CHECK(codesOf("struct S\nimpl Nothing for S {}\nfn main() {}") == "GT0070");
  CHECK(codesOf("fn f<T: Nothing>(x: T) {}\nfn main() {}") == "GT0011");
  CHECK(codesOf("trait A {}\ntrait B: A {}\nstruct S\nimpl B for S {}\nfn main() {}") == "GT0115");
  CHECK(codesOf("struct S\nimpl Hash for S {}\nfn main() {}") == "GT0084");
  CHECK(codesOf("trait T {}\nimpl<X> T for X {}\nfn main() {}") == "GT0095");
  CHECK(
      codesOf(
          "trait T { fn f(&self, x: i64) }\nstruct S\nimpl T for S { fn f(&self, x: u8) {} }\nfn main() {}") ==
      "GT0001");
  CHECK(codesOf("#[derive(Hash)]\nstruct S\nfn main() {}") == "GT0025");
}

TEST_CASE("types that contain themselves") {
  CHECK(codesOf("struct A { b: B }\nstruct B { a: A }\nfn main() {}") == "GT0024");
  CHECK(codesOf("struct A { next: Option<A> }\nfn main() {}") == "");
  CHECK(codesOf("enum L { Nil, Cons(i64, L) }\nfn main() {}") == "");
  CHECK(codesOf("type A = B\ntype B = A\nfn main() {}") == "GT0024");
  CHECK(codesOf("struct A { xs: Vec<A> }\nfn main() {}") == "");
}

TEST_CASE("references do not escape") {
  CHECK(codesOf("fn f(x: &mut i64) -> &mut i64 { x }\nfn main() {}") == "GT0052");
  CHECK(codesOf("struct S { x: &mut i64 }\nfn main() {}") == "GT0052");
  CHECK(codesOf("fn f(x: Vec<&mut i64>) {}\nfn main() {}") == "GT0052");
  CHECK(
      codesOf(
          "fn f(x: &i64, s: &String) -> i64 { *x + s.len() }\nfn main() { println!(\"{}\", f(&1, &\"a\")) }") ==
      "");
  CHECK(codesOf("struct S { xs: [i64] }\nfn main() {}") == "GT0049");
}

TEST_CASE("constants") {
  CHECK(codesOf("const A: i64 = B\nconst B: i64 = A\nfn main() {}") == "GC0008");
  CHECK(codesOf("fn f() -> i64 { 1 }\nconst A: i64 = f()\nfn main() {}") == "GC0009");
  CHECK(codesOf("const A: i64 = 1 + B * 2\nconst B: i64 = 3\nfn main() {}") == "");
  CHECK(codesOf("const A: i64 = \"x\"\nfn main() {}") == "GT0001");
  CHECK(codesOf("const N: i64 = 3\nfn f(xs: [i64; N]) {}\nfn main() { f([1, 2, 3]) }") == "");
  CHECK(codesOf("const N: i64 = 3\nfn f(xs: [i64; N]) {}\nfn main() { f([1, 2]) }") == "GT0001");
  CHECK(codesOf("fn f(n: i64) { let xs = [0; n] }\nfn main() {}") == "GT0051");
  CHECK(codesOf("static mut N: i64 = 1\nstatic M: i64 = 1\nfn main() {\n N = 2\n M = 2\n}") ==
        "GT0030");
}

TEST_CASE("const order follows what initialisers read") {
  auto checked =
      checkProgram("const A: i64 = B + 1\nconst B: i64 = C + 1\nconst C: i64 = 1\nfn main() {}");
  REQUIRE(checked->program.constants.size() == 3);
  CHECK(checked->program.constants[0]->name.name.text() == "C");
  CHECK(checked->program.constants[2]->name.name.text() == "A");
}

TEST_CASE("main is found, also the one made of statements") {
  CHECK(checkProgram("fn main() {}")->program.main != nullptr);
  CHECK(checkProgram("println!(\"a\")")->program.main != nullptr);
  CHECK(checkProgram("fn f() {}")->program.main == nullptr);
  CHECK(codesOf("fn main() -> i64 { 1 }") == "GT0001");
  CHECK(codesOf("fn main(x: i64) {}") == "GT0018");
  CHECK(codesOf("use std::fs\nlet text = fs::read_to_string(\"a\")?\nprintln!(\"{}\", text)") ==
        "");
}

TEST_CASE("configured items") {
  CHECK(codesOf("#[cfg(test)]\nmod tests { fn f() { missing() } }\nfn main() {}") == "");
  CHECK(codesOf("#[cfg(not(test))]\nfn f() { missing() }\nfn main() {}") == "GR0001");
  CHECK(
      codesOf(
          "#[cfg(all(unix, any(windows, target_os = \"linux\")))]\nfn f() {}\nfn main() { f() }") ==
      "");
  CHECK(
      codesOf(
          "#[cfg(windows)]\nfn f() -> i64 { 1 }\n#[cfg(unix)]\nfn f() -> i64 { 2 }\nfn main() { println!(\"{}\", f()) }") ==
      "");
}
