// What may be written, given a value and borrowed, and when.

#include "tests/unit/check/check_helper.h"

using namespace gos::test;

TEST_CASE("a write to a value that nothing keeps is reported") {
  CHECK(codesIn("let mut o = Some(#[1])\no.unwrap().push(2)") == "GT0078");
  CHECK(codesIn("let mut v = #[#[1]]\nv[0][0..1].push(2)") == "GT0078");
  CHECK(codesIn("let mut v = #[#[1]]\nlet r = 0..1\nv[r].push(#[2])") == "GT0078");
  CHECK(codesIn("#[1].push(2)") == "GT0078");
  CHECK(codesIn("\"a\".push_str(\"b\")") == "GT0078");
  CHECK(codesIn("let mut a = #[1]\n{ a }.push(2)") == "GT0078");
  CHECK(codesIn("let mut a = #[1]\n(if true { a } else { #[] }).push(2)") == "GT0078");
  CHECK(codesOf("fn f() -> Vec<i64> { #[] }\nfn main() { f().push(1) }") == "GT0078");
  CHECK(
      codesOf("struct S { x: i64, v: Vec<i64> }\nfn f() -> S { S { x: 1, v: #[] } }\nfn main() {\n"
              "f().x = 2\nf().v.push(1)\nf().v[0] = 1\n}") == "GT0078 GT0078 GT0078");
  // An element that an impl of Index answers is a value of its own.
  const char* grid =
      "struct G { rows: Vec<Vec<i64>> }\n"
      "impl Index<i64> for G { fn index(&self, i: i64) -> Vec<i64> { self.rows[i] } }\n"
      "fn f(v: &mut Vec<i64>) { v.push(1) }\n";
  CHECK(codesOf(std::string(grid) +
                "fn main() { let mut g = G { rows: #[#[]] }\n g[0].push(1) }") == "GT0078");
  CHECK(codesOf(std::string(grid) +
                "fn main() { let mut g = G { rows: #[#[]] }\n f(&mut g[0]) }") == "GT0078");
  // Dropping the answer as well leaves nothing of the call.
  CHECK(codesOf("fn f() -> Vec<i64> { #[1] }\nfn main() {\nf().pop()\nprintln!(\"\")\n}") ==
        "GT0078");
}

TEST_CASE("a call on a value of its own is made for its answer, one on a place for its effect") {
  CHECK(codesIn("println!(\"{:?}\", #[1, 2].pop())") == "");
  CHECK(
      codesIn("println!(\"{:?}\", #[1, 2].iter().next())\n\"ab\".chars().next()\nprintln!(\"\")") ==
      "");
  CHECK(codesIn("#[1].iter().map(|x| x + 1).for_each(|x| println!(\"{}\", x))") == "");
  CHECK(
      codesOf(
          "fn f() -> Vec<i64> { #[] }\nfn g(v: &mut Vec<i64>) { v.push(1) }\nfn main() { g(&mut f()) }") ==
      "");
  CHECK(codesIn("let mut v = #[#[1]]\nv[0].push(2)\nlet mut m = {\"a\": #[1]}\nm[\"a\"].push(2)") ==
        "");
  CHECK(
      codesIn(
          "let mut m: Map<String, Vec<i64>> = {}\nm.or_insert(\"a\", #[]).push(1)\nm.or_insert(\"a\", #[])[0] = 2") ==
      "");
  CHECK(
      codesOf(
          "fn f() -> Map<String, Vec<i64>> { Map::new() }\nfn main() { f().or_insert(\"a\", #[]).push(1) }") ==
      "GT0078");
  CHECK(codesIn("let mut t = (#[1], 2)\nt.0.push(2)\nlet mut s = [#[1]]\ns[0][0] = 2") == "");
  CHECK(
      codesOf(
          "fn f(v: &mut Vec<Vec<i64>>) { v[0].push(1)\n (*v).push(#[])\n let r = &mut v[0]\n r.push(1) }\nfn main() {}") ==
      "");
}

TEST_CASE("a variable declared without a value gets one, once on every way") {
  CHECK(codesIn("let x: i64\nx = 1\nprintln!(\"{}\", x)") == "");
  CHECK(codesIn("let x: i64\nx = 1\nx = 2\nprintln!(\"{}\", x)") == "GT0030");
  CHECK(codesIn("let x: i64\nif true { x = 1 }\nx = 2") == "GT0030");
  CHECK(codesIn("let x: i64\nfor i in 0..3 { x = i }") == "GT0030");
  CHECK(codesIn("let x: i64\nloop {\n x = 1\n if x > 0 { break }\n}\nprintln!(\"{}\", x)") ==
        "GT0030");
  CHECK(codesIn("let x: i64\nloop {\n x = 1\n break\n}\nprintln!(\"{}\", x)") == "");
  CHECK(codesIn("for i in 0..3 {\n let x: i64\n x = i\n println!(\"{}\", x)\n}") == "");
  CHECK(
      codesIn(
          "let x: i64\nmatch 1 { 0 => { x = 1 }\n 1 => { x = 2 }\n _ => return }\nprintln!(\"{}\", x)") ==
      "");
  CHECK(codesIn("let mut x: i64\nx = 1\nx += 2\nfor i in 0..3 { x = i }\nprintln!(\"{}\", x)") ==
        "");
  CHECK(codesIn("let x: i64\nx += 1") == "GT0030");
}

TEST_CASE("a variable declared without a value is not read before it has one") {
  CHECK(codesIn("let x: i64\nprintln!(\"{}\", x)") == "GT0044");
  CHECK(codesIn("let x: i64\nif true { x = 1 }\nprintln!(\"{}\", x)") == "GT0044");
  CHECK(codesIn("let x: i64\nif true { x = 1 } else { panic!(\"no\") }\nprintln!(\"{}\", x)") ==
        "");
  CHECK(codesIn("let x: i64\nif true { x = 1 } else { return }\nprintln!(\"{}\", x)") == "");
  CHECK(codesIn("let x: i64\nwhile true { x = 1\n break }\nprintln!(\"{}\", x)") == "GT0044");
  CHECK(codesIn("let v: Vec<i64>\nv.push(1)") != "");
  CHECK(codesIn("let mut v: Vec<i64>\nv.push(1)") == "GT0044");
  CHECK(codesIn("let x: i64\nlet f = || x\nx = 1\nprintln!(\"{}\", f())") == "GT0044");
  CHECK(codesIn("let x: i64\nlet ok = true && { x = 1\n true }\nprintln!(\"{}\", x)") == "GT0044");
}

TEST_CASE("an iterator that was used up is not used again") {
  CHECK(
      codesIn("let it = #[1].iter()\nprintln!(\"{}\", it.count())\nprintln!(\"{}\", it.count())") ==
      "GT0042");
  CHECK(
      codesIn(
          "let mut it = #[1].iter()\nfor x in it { println!(\"{}\", x) }\nprintln!(\"{:?}\", it.next())") ==
      "GT0042");
  CHECK(
      codesIn(
          "let it = #[1].iter()\nlet twice = it.map(|x| x * 2)\nprintln!(\"{}\", it.count() + twice.count())") ==
      "GT0042");
  CHECK(codesIn("let it = #[1].iter()\nfor i in 0..2 { println!(\"{}\", it.count()) }") ==
        "GT0042");
  CHECK(
      codesIn(
          "let it = #[1].iter()\nif true { println!(\"{}\", it.count()) }\nprintln!(\"{}\", it.count())") ==
      "GT0042");
  CHECK(codesOf(
            "use std::iter\nfn main() {\nlet it = #[1].iter()\nprintln!(\"{}\", iter::count(it))\n"
            "println!(\"{}\", iter::count(it))\n}") == "GT0042");
}

TEST_CASE("an iterator goes on where it stopped, and a new one may take its name") {
  CHECK(
      codesIn(
          "let mut it = #[1, 2].iter()\nlet a = it.next()\nlet b = it.next()\nprintln!(\"{:?} {:?}\", a, b)") ==
      "");
  CHECK(
      codesIn(
          "let mut it = #[1, 2].iter()\nfor x in it { if x == 1 { break } }\nprintln!(\"{:?}\", it.next())") ==
      "");
  CHECK(
      codesIn(
          "let mut it = #[1].iter()\nprintln!(\"{}\", it.count())\nit = #[2].iter()\nprintln!(\"{}\", it.count())") ==
      "");
  CHECK(codesIn("for v in #[#[1], #[2]] {\n let it = v.iter()\n println!(\"{}\", it.count())\n}") ==
        "");
  CHECK(
      codesIn(
          "let it = #[1].iter()\nif true { println!(\"{}\", it.count()) } else { println!(\"{}\", it.sum()) }") ==
      "");
}

TEST_CASE("a call that borrows with `&mut` does not see the same place again") {
  const char* items =
      "struct S { v: Vec<i64> }\nimpl S {\n fn put(&mut self, n: i64) { self.v.push(n) }\n"
      " fn see(&mut self, o: &S) { self.v = o.v }\n fn by(&mut self, o: S) { self.v = o.v }\n"
      " fn give(&self, o: &mut S) { o.v = self.v } }\n"
      "fn g(a: &mut Vec<i64>, b: &Vec<i64>) { a.push(b.len()) }\n"
      "fn h(a: &mut Vec<i64>, b: Vec<i64>) { a.push(b.len()) }\n";
  auto in = [&](const char* body) {
    return codesOf(items + ("fn main() {\nlet mut s = S { v: #[] }\nlet mut v = #[1]\n" +
                            std::string(body) + "\n}"));
  };
  CHECK(in("g(&mut v, &v)") == "GT0043");
  CHECK(in("g(&mut v, v)") == "GT0043");
  CHECK(in("s.see(&s)") == "GT0043");
  CHECK(in("s.see(s)") == "GT0043");
  CHECK(in("s.give(&mut s)") == "GT0043");
  CHECK(in("g(&mut s.v, &s.v)") == "GT0043");
  CHECK(in("v.retain(|x| v.len() > x)") == "GT0043");
  // Copies are made before the call begins.
  CHECK(
      in("h(&mut v, v)\ns.by(s)\ns.put(s.v.len())\nv.push(v.len())\nv.push(v[0])\ng(&mut v, &s.v)") ==
      "");
  CHECK(in("let n = v.len()\nv.retain(|x| n > x)") == "");
}
