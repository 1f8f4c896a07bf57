#include "tests/unit/check/check_helper.h"

using namespace gos::test;

TEST_CASE("inference flows from later uses") {
  CHECK(codesIn("let mut v = #[]\nv.push(1u8)\nlet x: u8 = v[0]") == "");
  CHECK(codesIn("let mut m = {}\nlet old = m.insert(\"a\", 1)\nlet n: i64 = m.get_or(\"a\", 0)") ==
        "");
  CHECK(codesIn("let x = None\nlet y: Option<String> = x") == "");
  CHECK(codesIn("let v = #[]") == "GT0044");
  CHECK(codesIn("let x = None") == "GT0044");
  CHECK(codesIn("let n = 300\nlet b: u8 = n") == "GT0009");
  CHECK(codesIn("let f = |x| x + 1\nprintln!(\"{}\", f(2))") == "");
  CHECK(codesIn("let f = |x| x.len()\nprintln!(\"{}\", f(\"ab\"))") == "");
  CHECK(codesIn("let xs = #[1, 2].map(|x| x * 2).filter(|x| x > 2)\nlet n: i64 = xs[0]") == "");
  CHECK(codesIn("let s: i64 = #[1, 2].iter().map(|x| x + 1).sum()") == "");
  CHECK(codesIn("let v: Vec<u8> = #[1, 2, 256]") == "GT0009");
  CHECK(codesIn("let x: i8 = -128\nlet y: i8 = -129") == "GT0009");
}

TEST_CASE("mismatches are reported once") {
  CHECK(codesIn("let x: i64 = \"a\"") == "GT0001");
  CHECK(codesIn("let x: i64 = 1.5") == "GT0001");
  CHECK(codesIn("let x = 1i32 + 2i64") == "GT0001");
  CHECK(codesIn("let x = \"a\" + 1") == "GT0003");
  CHECK(codesIn("let x = true + 1") == "GT0003");
  CHECK(codesIn("let x = if true { 1 } else { \"a\" }") == "GT0001");
  CHECK(codesIn("if 1 { }") == "GT0001");
  CHECK(codesIn("let x = missing + 1\nlet y = x.foo()\nlet z: String = y") == "GR0001");
  CHECK(codesIn("let x = #[1, \"a\"]") == "GT0001");
  CHECK(codesIn("let x = -\"a\"") == "GT0003");
  CHECK(codesIn("let x = !1.5") == "GT0003");
  CHECK(codesIn("let x = 1 < \"a\"") == "GT0001");
  CHECK(codesIn("let f = |x: i64| x\nlet b = f == f") == "GT0003");
}

TEST_CASE("calls") {
  CHECK(codesOf("fn f(a: i64) {}\nfn main() { f() }") == "GT0018");
  CHECK(codesOf("fn f(a: i64) {}\nfn main() { f(1, 2) }") == "GT0018");
  CHECK(codesOf("fn f(a: i64, b: i64 = 2) {}\nfn main() {\n f(1)\n f(b: 1, a: 2)\n}") == "");
  CHECK(codesOf("fn f(a: i64, b: i64 = 2) {}\nfn main() { f(b: 1) }") == "GR0015");
  CHECK(codesOf("fn f(a: i64) {}\nfn main() { f(c: 1) }") == "GR0013");
  CHECK(codesOf("fn f(a: i64, b: i64) {}\nfn main() { f(a: 1, 2) }") == "GR0013");
  CHECK(codesOf("fn f(a: i64 = g()) {}\nfn g() -> i64 { 1 }\nfn main() {}") == "GR0014");
  CHECK(codesIn("let x = 1\nx()") == "GT0022");
  CHECK(codesIn("let x = 1.foo()") == "GT0002");
  CHECK(codesIn("let x = \"1\".parse()") == "GT0080");
  CHECK(codesIn("let x = 1.wrapping_add(2)") == "GT0087");
  CHECK(codesOf("struct P { x: i64 }\nfn main() { let p = P { x: 1 }\n println!(\"{}\", p.y) }") ==
        "GT0006");
  CHECK(codesIn("let t = (1, 2)\nprintln!(\"{}\", t.2)") == "GT0023");
  CHECK(codesIn("let x = 5\nprintln!(\"{}\", x[0])") == "GT0021");
}

TEST_CASE("constructors") {
  CHECK(codesOf("struct P { x: i64, y: i64 }\nfn main() { let p = P { x: 1 } }") == "GT0035");
  CHECK(codesOf("struct P { x: i64 }\nfn main() { let p = P { x: 1, x: 2 } }") == "GT0036");
  CHECK(codesOf("struct P { x: i64 }\nfn main() { let p = P { z: 1, x: 1 } }") == "GT0006");
  CHECK(codesOf("struct P { x: i64 }\nfn main() { let p = P(1) }") == "GT0034");
  CHECK(codesOf("struct P(i64)\nfn main() { let p = P(1, 2) }") == "GT0037");
  CHECK(codesOf("enum E { A }\nfn main() { let e = E::B }") == "GT0019");
  CHECK(codesOf("enum E { A }\nenum F { A }\nfn main() { let e = A }") == "GR0009");
  CHECK(codesOf("enum E { A }\nenum F { A }\nfn main() { let e: F = A }") == "");
  CHECK(codesOf("struct P { x: i64 }\nfn main() { let p = P { x: 1 }\n let q = P { ..p } }") == "");
}

TEST_CASE("discarded values") {
  CHECK(codesOf("fn f() -> Result<i64, String> { Ok(1) }\nfn main() {\n f()\n let _ = f()\n}") ==
        "GT0007");
  CHECK(codesOf("#[must_use]\nfn f() -> i64 { 1 }\nfn main() {\n f()\n let x = f()\n}") ==
        "GT0064");
  CHECK(
      codesOf(
          "fn f() -> Result<i64, String> { Ok(1) }\nfn main() {\n if true { f() }\n println!(\"\")\n}") ==
      "GT0007");
  CHECK(
      codesOf(
          "fn f() -> Result<i64, String> { Ok(1) }\nfn main() {\n for i in 0..2 { f() }\n println!(\"\")\n}") ==
      "GT0007");
  CHECK(
      codesOf(
          "#[allow(unused_result)]\nfn main() {\n f()\n println!(\"\")\n}\nfn f() -> Result<i64, String> { Ok(1) }") ==
      "");
}

TEST_CASE("returns and tails") {
  CHECK(codesOf("fn f() { 1 }\nfn main() {}") == "GT0074");
  CHECK(codesOf("fn f() -> i64 { }\nfn main() {}") == "GT0001");
  CHECK(codesOf("fn f() -> i64 { return 1 }\nfn main() {}") == "");
  CHECK(codesOf("fn f() -> i64 { loop {} }\nfn main() {}") == "");
  CHECK(
      codesOf("fn f(b: bool) -> i64 { if b { return 1 } else { panic!(\"x\") } }\nfn main() {}") ==
      "");
  CHECK(codesOf("fn f() -> i64 { return \"a\" }\nfn main() {}") == "GT0001");
  CHECK(codesOf("fn f() -> i64 { let x = 1\n x + 1\n}\nfn main() {}") == "");
}

TEST_CASE("writing") {
  CHECK(codesIn("let x = 1\nx = 2") == "GT0030");
  CHECK(codesIn("let mut x = 1\nx = 2\nx += 1") == "");
  CHECK(codesIn("let v = #[1]\nv.push(2)") == "GT0032");
  CHECK(codesIn("let v = #[1]\nv[0] = 2") == "GT0030");
  CHECK(codesIn("1 = 2") == "GT0078");
  CHECK(codesOf("fn f(x: &mut i64) { *x = 1 }\nfn main() { let a = 1\n f(&mut a) }") == "GT0032");
  CHECK(codesOf("fn f(x: &mut i64) { *x = 1 }\nfn main() { let mut a = 1\n f(a) }") == "GT0046");
  CHECK(
      codesOf("fn f(x: &mut i64) { g(x)\n *x += 1 }\nfn g(x: &mut i64) { *x = 2 }\nfn main() {}") ==
      "");
  CHECK(codesOf("fn f(x: i64) {}\nfn g(x: &mut i64) { f(x) }\nfn main() {}") == "GT0082");
  CHECK(codesOf(
            "fn f(x: &mut i64, y: &mut i64) {}\nfn main() { let mut a = 1\n f(&mut a, &mut a) }") ==
        "GT0053");
  CHECK(codesOf("struct S { x: i64 }\nimpl S { fn f(&self) { self.x = 1 } }\nfn main() {}") ==
        "GT0031");
  CHECK(
      codesOf(
          "struct S { x: i64 }\nimpl S { fn f(&mut self) { self.x = 1 } }\nfn main() { let s = S { x: 1 }\n s.f() }") ==
      "GT0032");
  CHECK(codesIn("let x = 1\nprintln!(\"{}\", *x)") == "GT0083");
  CHECK(codesIn("let mut m = {\"a\": 1}\nm[\"a\"] = 2") == "GT0021");
  CHECK(codesIn("let mut a, mut b = 1, 2\na, b = b, a\na, _ = 3, 4\na += 1") == "");
  CHECK(codesIn("let x: i64\nif true { x = 1 } else { x = 2 }\nprintln!(\"{}\", x)") == "");
  CHECK(codesIn("let mut xs = [1, 2, 3]\nxs.push(4)") == "GT0050");
}

TEST_CASE("closures capture by kind") {
  CHECK(codesIn("let mut n = 0\nlet f = || { n += 1 }") == "GT0114");
  CHECK(codesIn("let mut v: Vec<i64> = #[]\nlet f = || { v.push(1) }\nf()") == "");
  CHECK(codesIn("let n = 1\nlet f = |x| x + n\nprintln!(\"{}\", f(1))") == "");
  CHECK(codesIn("let mut n = 0\n5 |> |x| { n += x }\nprintln!(\"{}\", n)") == "");
  CHECK(codesIn("loop { let f = || { break } }") == "GR0017");
  CHECK(codesIn("let f = |x| x.name") == "GT0092");
  CHECK(codesOf("fn f(v: &mut Vec<i64>) { let g = || { v.push(1) }\n g() }\nfn main() {}") ==
        "GT0052");
  CHECK(codesOf("fn f(v: &mut Vec<i64>) { #[1].for_each(|x| v.push(x)) }\nfn main() {}") == "");
}

TEST_CASE("a closure with a name captures what the call has borrowed") {
  const auto codes = [](llvm::StringRef body) {
    return codesOf(("fn grow(list: &mut Vec<i64>, f: Fn() -> i64) { list.push(f()) }\nfn main() { "
                    "let mut xs = #[1]\nlet mut ys = #[2]\n" +
                    body + " }")
                       .str());
  };
  CHECK(codes("let f = || xs.len()\ngrow(&mut xs, f)") == "GT0043");
  CHECK(codes("let f = || xs.len()\ngrow(&mut ys, f)") == "");
  CHECK(codes("let f = || ys.len()\nxs.retain(f)") == "GT0001");
  CHECK(codes("let f = |x| x < xs.len()\nxs.retain(f)") == "GT0043");
  CHECK(codes("let f = |x| x < ys.len()\nxs.retain(f)") == "");
  CHECK(codes("let f = |v: &mut Vec<i64>| v.push(xs.len())\nf(&mut xs)") == "GT0043");
  CHECK(codes("let f = |v: &mut Vec<i64>| v.push(xs.len())\nf(&mut ys)") == "");
}

TEST_CASE("what an iterator holds does not outlive the reference in it") {
  const auto codes = [](llvm::StringRef body, llvm::StringRef result) {
    return codesOf(
        ("fn f(v: &mut Vec<i64>) -> " + result + " { " + body + " }\nfn main() {}").str());
  };
  const std::string lazy = "(0..3).map(|x| { v.push(x); x })";
  CHECK(codes(lazy, "Iterator<i64>") == "GT0052");
  CHECK(codes(lazy + ".sum()", "i64") == "");
  CHECK(codes("let it = " + lazy + "\nlet same = it\nsame", "Iterator<i64>") == "GT0052");
  CHECK(codes("let it = " + lazy + "\nit.collect()", "Vec<i64>") == "");
  CHECK(codes("#[" + lazy + "]", "Vec<Iterator<i64>>") == "GT0052");
  CHECK(codes("(1, Some(" + lazy + ")).1", "Option<Iterator<i64>>") == "GT0052");
  CHECK(codes("#[1].map(|y| (0..y).map(|x| { v.push(x); x }))", "Vec<Iterator<i64>>") == "GT0052");
  CHECK(codes("#[1].map(|y| " + lazy + ".sum() + y)", "Vec<i64>") == "");
}

TEST_CASE("patterns and exhaustiveness") {
  CHECK(codesIn("match Some(1) { Some(x) => println!(\"{}\", x) }") == "GM0001");
  CHECK(codesIn("match 3 { 0 => {}\n 1..=9 => {} }") == "GM0001");
  CHECK(codesIn("match true { true => {}\n false => {} }") == "");
  CHECK(codesIn("match (true, Some(1)) { (true, _) => {}\n (false, None) => {} }") == "GM0001");
  CHECK(
      codesIn(
          "match #[1] { [] => {}\n [x] => println!(\"{}\", x)\n [x, ..] => println!(\"{}\", x) }") ==
      "");
  CHECK(codesIn("match #[1] { [] => {}\n [x] => println!(\"{}\", x) }") == "GM0001");
  CHECK(codesIn("match Some(1) { Some(n) if n > 1 => {}\n None => {} }") == "GM0001");
  CHECK(codesIn("let Some(x) = Some(1)") == "GP0037");
  CHECK(codesIn("let Some(x) = Some(1) else { return }\nprintln!(\"{}\", x)") == "");
  CHECK(codesIn("let Some(x) = Some(1) else { }") == "GT0047");
  CHECK(codesIn("match 1 { \"a\" => {}\n _ => {} }") == "GT0001");
  CHECK(codesIn("match Some(1) { Ok(x) => {}\n _ => {} }") == "GT0001");
  CHECK(codesOf("enum E { A, B, C }\nfn main() { match E::A { A => {}\n B | C => {} } }") == "");
  CHECK(codesOf("enum E { A, B, C }\nfn main() { match E::A { A => {}\n B => {} } }") == "GM0001");
  CHECK(
      codesOf(
          "struct P { x: i64, y: i64 }\nfn main() { match (P { x: 1, y: 2 }) { P { x: 0, .. } => {}\n P { x, y } => println!(\"{}\", x + y) } }") ==
      "");
  CHECK(codesOf("struct P(i64, i64)\nfn main() { let a, b = P(1, 2) }") == "GT0033");
  CHECK(codesIn("match 1 { x | y => {} }") != "");
}

TEST_CASE("the question mark") {
  CHECK(codesIn("let x = Some(1)?") == "GT0045");
  CHECK(codesOf("fn f() -> Option<i64> { let x = Some(1)?\n Some(x) }\nfn main() {}") == "");
  CHECK(codesOf("fn f() -> Result<i64, String> { let x = Some(1)?\n Ok(x) }\nfn main() {}") ==
        "GT0045");
  CHECK(
      codesOf(
          "struct A\nstruct B\nfn g() -> Result<i64, A> { Ok(1) }\nfn f() -> Result<i64, B> { Ok(g()?) }\nfn main() {}") ==
      "GT0066");
  CHECK(
      codesOf(
          "struct A\nstruct B\nimpl From<A> for B { fn from(value: A) -> B { B } }\n"
          "fn g() -> Result<i64, A> { Ok(1) }\nfn f() -> Result<i64, B> { Ok(g()?) }\nfn main() {}") ==
      "");
  CHECK(
      codesOf(
          "use std::errors\nfn g() -> Result<i64, String> { Ok(1) }\nfn f() -> Result<i64, errors::Error> { Ok(g()?) }\nfn main() {}") ==
      "");
}

TEST_CASE("text forms") {
  CHECK(codesIn("let f = |x: i64| x\nprintln!(\"{}\", f)") == "GT0062");
  CHECK(codesIn("println!(\"{}\", #[1].iter())") == "GT0041");
  CHECK(codesIn("println!(\"{:x}\", \"a\")") == "GT0062");
  CHECK(codesOf("fn f<T>(x: T) { println!(\"{}\", x) }\nfn main() { f(1) }") == "GT0062");
  CHECK(codesOf("fn f<T: Display>(x: T) { println!(\"{}\", x) }\nfn main() { f(1) }") == "");
  CHECK(codesOf("struct W<T> { x: T }\nfn main() { println!(\"{:?}\", W { x: 1 }) }") == "GT0062");
  CHECK(
      codesOf(
          "#[derive(Debug)]\nstruct W<T> { x: T }\nfn main() { println!(\"{:?}\", W { x: 1 }) }") ==
      "");
}

TEST_CASE("generics and bounds") {
  CHECK(codesOf("trait T { fn f(&self) }\nfn g<X: T>(x: X) { x.f() }\nfn main() { g(1) }") ==
        "GT0017");
  CHECK(codesOf("fn g<X>(x: X) { x.f() }\nfn main() {}") == "GT0056");
  CHECK(codesOf("fn g<X>(x: X) -> X { x + x }\nfn main() {}") == "GT0003");
  CHECK(codesOf("fn g<X: Add>(x: X) -> X { x + x }\nfn main() { println!(\"{}\", g(1) + g(2)) }") ==
        "");
  CHECK(codesOf("fn g<X>() {}\nfn main() { g() }") == "GT0044");
  CHECK(codesOf("fn g<X>() {}\nfn main() { g::<i64>() }") == "");
  CHECK(codesOf(
            "trait A { fn a(&self) }\ntrait B: A { }\nfn g<X: B>(x: X) { x.a() }\nfn main() {}") ==
        "GT0020");
  CHECK(
      codesOf(
          "struct S<T> { x: T }\nimpl<T: Display> S<T> { fn show(&self) -> String { format!(\"{}\", self.x) } }\n"
          "fn main() { println!(\"{}\", S { x: 1 }.show()) }") == "");
  CHECK(
      codesOf(
          "fn max<T: Ord>(a: T, b: T) -> T { if a > b { a } else { b } }\nfn main() { println!(\"{}\", max(\"a\", \"b\")) }") ==
      "");
  CHECK(codesOf("fn g<T>(a: T, b: T) -> bool { a == b }\nfn main() {}") == "GT0003");
}

TEST_CASE("casts") {
  CHECK(codesIn("let x = 300 as u8\nlet y = 'a' as i64\nlet z = true as u8\nlet w = 1.5 as i64") ==
        "");
  CHECK(codesIn("let x = \"a\" as i64") == "GT0005");
  CHECK(codesIn("let x = 1.5 as bool") == "GT0005");
}

TEST_CASE("conversions") {
  CHECK(
      codesOf(
          "newtype Id = i64\nfn main() { let a: Id = 5.into()\n let b: i64 = a.into()\n println!(\"{}\", b) }") ==
      "");
  CHECK(codesOf("newtype Id = i64\nfn main() { let a: Id = 5 }") == "GT0001");
  CHECK(codesOf("newtype Id = i64\nfn f(a: Id) -> Id { a + a }\nfn main() {}") == "GT0003");
  CHECK(codesIn("let x = 5.into()") == "GT0066");
  CHECK(codesIn("let x: Vec<i64> = [1, 2].into()") == "");
}

TEST_CASE("loops") {
  CHECK(codesIn("break") == "GR0017");
  CHECK(codesIn("for x in 5 { }") == "GT0067");
  CHECK(codesIn("for x in Some(1) { }") == "GT0067");
  CHECK(codesIn("let x = loop { break 5 }\nlet y: i64 = x") == "");
  CHECK(codesIn("'a: for i in 0..3 { for j in 0..3 { continue 'a } }") == "");
  CHECK(codesIn("while true { break 'b }") == "GR0017");
}

TEST_CASE("named references keep their root until the end of the block") {
  CHECK(codesIn("let mut x = 1\nlet r = &mut x\n*r = 2\nprintln!(\"{}\", x)") == "GT0043");
  CHECK(codesIn("let mut x = 1\n{ let r = &mut x\n *r = 2 }\nprintln!(\"{}\", x)") == "");
  CHECK(codesIn("let mut x = 1\nlet r = &x\nx = 2\nprintln!(\"{}\", *r)") == "GT0043");
  CHECK(codesIn("let mut x = 1\nlet r = &x\nprintln!(\"{} {}\", *r, x)") == "");
  CHECK(codesIn("let mut xs = #[1]\nfor x in xs { xs.push(x) }\nprintln!(\"{}\", xs.len())") ==
        "GT0043");
  CHECK(
      codesIn(
          "let mut xs = #[1]\nfor i in 0..xs.len() { xs.push(i) }\nfor x in xs { println!(\"{}\", x) }\nxs.clear()") ==
      "");
}

TEST_CASE("a variant shares its name with a struct, or stands for the wrong type") {
  CHECK(codesOf("struct Circle { r: f64 }\nenum Shape { Circle(Circle), Empty }\n"
                "fn f(s: Shape) -> f64 { match s { Circle(c) => c.r\n Empty => 0.0 } }\n"
                "fn main() { println!(\"{}\", f(Shape::Circle(Circle { r: 1.0 }))) }") == "");
  CHECK(codesIn("match 5 { None => {}\n _ => {} }") == "GT0001");
}

TEST_CASE("what never comes back fits everywhere") {
  CHECK(codesIn("let x = todo!()") == "");
  CHECK(codesIn("let x: i64 = panic!(\"a\")") == "");
  CHECK(
      codesOf(
          "use std::process\nfn f(b: bool) -> i64 { if b { 1 } else { process::exit(2) } }\nfn main() {}") ==
      "");
}

TEST_CASE("two bounds that declare a method") {
  CHECK(
      codesOf(
          "trait A { fn f(&self) }\ntrait B { fn f(&self) }\nfn g<T: A + B>(x: T) { x.f() }\nfn main() {}") ==
      "GT0057");
}

TEST_CASE("a match that is too large to be judged counts as incomplete") {
  // Every pair of columns is decided by a row of its own, the last one closes the rest: 3^14 ways
  // to look at.
  std::string columns, types, arms;
  const int pairs = 14;
  for (int i = 0; i < pairs; ++i) {
    types += std::string(i ? ", " : "") + "bool, bool";
    for (const char* pair : {"true, true", "false, false"}) {
      arms += "(";
      for (int k = 0; k < pairs; ++k)
        arms += std::string(k ? ", " : "") + (k == i ? pair : "_, _");
      arms += ") => 1\n";
    }
  }
  std::string last;
  for (int k = 0; k + 1 < pairs; ++k)
    last += "_, _, ";
  std::string complete = arms + "(" + last + "true, false) => 2\n(" + last + "false, true) => 2\n";
  auto in = [&](const std::string& all) {
    return codesOf("fn f(t: (" + types + ")) -> i64 { match t {\n" + all + "} }\nfn main() {}");
  };
  CHECK(in(complete) == "GM0001");
  CHECK(in(complete + "_ => 3\n") == "");
  CHECK(in(complete + "other => 3\n") == "");
  CHECK(in(arms) == "GM0001");
}

TEST_CASE("slice patterns are judged at every length") {
  CHECK(codesIn("let a = [0; 10]\nmatch a { [1, ..] => {} }") == "GM0001");
  CHECK(codesIn("let a = [0; 10]\nmatch a { [x, ..] => println!(\"{}\", x) }") == "");
  CHECK(
      codesIn(
          "let a = [true; 10]\nmatch a { [true, ..] => {}\n [.., true] => {}\n [false, .., false] => {} }") ==
      "");
  CHECK(
      codesIn(
          "let v = #[true]\nmatch v { [true, true, true, ..] => {}\n [.., true, true, true] => {}\n"
          "[] => {}\n [_] => {}\n [_, _] => {}\n [_, _, _] => {}\n [false, ..] => {} }") ==
      "GM0001");
}

TEST_CASE("one mistake, one message") {
  CHECK(
      codesOf(
          "fn f<T: Foo>(a: T, b: T) -> bool { a == b }\nfn main() { println!(\"{}\", f(1, 2)) }") ==
      "GT0011");
  CHECK(codesOf("fn f<T>(a: T, b: T) -> T where T: Foo { a + b }\nfn main() {}") == "GT0011");
  CHECK(
      codesOf(
          "struct S<T: Foo> { x: T }\nfn main() { let s = S { x: 1 }\n println!(\"{}\", s.x) }") ==
      "GT0011");
  CHECK(
      codesOf(
          "struct S<T> { x: T }\nimpl<T: Foo> S<T> { fn f(&self, o: S<T>) -> bool { self.x == o.x }\n"
          "fn g(&self) { self.x.bar() } }\nfn main() { S { x: 1 }.g() }") == "GT0011");
  CHECK(codesOf("fn f(&x: i64) -> i64 { x }\nfn main() { println!(\"{}\", f(1)) }") == "GT0069");
  CHECK(codesOf("fn f(&mut x: &mut i64) -> i64 { x + 1 }\nfn main() {}") == "GT0069");
  CHECK(codesIn("let f = |&x: i64| x\nprintln!(\"{}\", f(1))") == "GT0048");
  CHECK(
      codesOf(
          "trait Hi { fn hi(&self) -> String }\nimpl<T> Hi for T { fn hi(&self) -> String { \"x\" } }\n"
          "fn g<T: Hi>(x: T) -> String { x.hi() }\nfn main() {\nlet t = 1.hi()\nprintln!(\"{}\", t + g(2))\n}") ==
      "GT0095");
  CHECK(
      codesOf(
          "struct P(i64, i64)\nfn main() { match (P(1, 2)) { (1, b) => println!(\"{}\", b) } }") ==
      "GT0033");
  CHECK(
      codesOf(
          "struct P(i64, i64)\nfn main() { match (P(1, 2)) { P(1, _) => {}\n (2, b) => println!(\"{}\", b) } }") ==
      "GT0033");
  CHECK(
      codesOf(
          "struct P(i64, i64)\nfn main() { match Some(P(1, 2)) { Some((1, b)) => println!(\"{}\", b)\n None => {} } }") ==
      "GT0033");
}

TEST_CASE("a suggestion is of the kind that the place wants") {
  CHECK(checkProgram("fn main() { println!(\"{}\", shl::statement(\"a\")) }")
            ->report()
            .find("did you mean") == std::string::npos);
  CHECK(checkProgram("fn main() { println!(\"{}\", Strng::new()) }")
            ->report()
            .find("did you mean `String`") != std::string::npos);
  CHECK(checkProgram("fn main() { println!(\"{}\", strngs::byte_len(\"a\")) }")
            ->report()
            .find("did you mean `strings`? it needs `use std::strings`") != std::string::npos);
}

TEST_CASE("a type inside a function may have a region in it") {
  CHECK(
      codesOf(
          "fn f() -> i64 {\nlet before = #[]\nstruct S { a: [i64; comptime { 2 + 1 }] }\nlet s = S { a: [1, 2, 3] }\n"
          "before.push(s.a[0])\nbefore[0]\n}\nfn main() {}") == "GT0032");
}
