// The code that hot programs get: one wrong turn here costs every loop.
#include "tests/unit/lower/lower_support.h"

#include <doctest/doctest.h>

using namespace gos::lower::test;

TEST_CASE("a recursive function has no needless moves") {
  CHECK(codeOf(R"(
fn fib(n: i64) -> i64 {
    if n < 2 { return n }
    fib(n - 1) + fib(n - 2)
}
fn main() { println!("{}", fib(5)) }
)",
               "fib") == "JumpGeImm r0 #2 ->2\n"
                         "Return r0\n"
                         "AddImmI64 r3 r0 #-1\n"
                         "ArgScalar #0 r3\n"
                         "Call r2 #1\n"
                         "AddImmI64 r4 r0 #-2\n"
                         "ArgScalar #0 r4\n"
                         "Call r3 #1\n"
                         "AddI64 r1 r2 r3\n"
                         "Return r1\n");
}

TEST_CASE("a counted loop is one instruction a turn besides its body") {
  CHECK(codeOf(R"(
fn sum(n: i64) -> i64 {
    let mut total = 0
    for i in 0..n { total += i }
    total
}
fn main() { println!("{}", sum(5)) }
)",
               "sum") == "LoadInt r1 #0\n"
                         "LoadInt r2 #0\n"
                         "JumpLeI64 r0 r2 ->5\n"
                         "AddI64 r1 r1 r2\n"
                         "ForLoopI64 r2 r0 ->3\n"
                         "Return r1\n");
}

TEST_CASE("a field of an element is read and written without holding the element") {
  std::string code = codeOf(R"(
struct P { x: f64, y: f64 }
fn push(ps: &mut Vec<P>, i: i64) { ps[i].x += ps[i].y }
fn main() {
    let mut ps = #[P { x: 1.0, y: 2.0 }]
    push(&mut ps, 0)
    println!("{:?}", ps)
}
)",
                            "push");
  CHECK(code == "CellTake r4 r0\n"
                "VecGetField r2 r4 r1 #1\n"
                "VecGetField r3 r4 r1 #0\n"
                "AddF64 r3 r3 r2\n"
                "VecSetField r4 r1 r3 #0\n"
                "CellSetTake r0 r4\n"
                "ReturnUnit\n");
}

TEST_CASE("a match on many variants is a switch") {
  std::string code = codeOf(R"(
enum Op { A, B(i64), C, D(i64, i64), E }
fn cost(op: Op) -> i64 {
    match op { Op::A => 1, Op::B(n) => n, Op::C => 3, Op::D(a, b) => a + b, Op::E => 5 }
}
fn main() { println!("{}", cost(Op::B(2))) }
)",
                            "cost");
  CHECK(code.find("GetTag") == 0);
  CHECK(code.find("Switch") != std::string::npos);
  CHECK(code.find("JumpTagNe") == std::string::npos);
}

TEST_CASE("the last use of a variable hands its value over") {
  std::string code = codeOf(R"(
fn grow(v: Vec<i64>) -> Vec<i64> { let mut w = v
    w.push(1)
    w }
fn main() {
    let mut v = #[0]
    for _ in 0..3 { v = grow(v) }
    println!("{:?}", v)
}
)",
                            "main");
  CHECK(code.find("ArgRef") == std::string::npos);
}

TEST_CASE("a tuple that a match takes apart is not built") {
  std::string code = codeOf(R"(
fn pick(a: i64, b: bool) -> i64 { match (a, b) { (0, true) => 1, (_, false) => 2, _ => 3 } }
fn main() { println!("{}", pick(0, true)) }
)",
                            "pick");
  CHECK(code.find("NewStruct") == std::string::npos);
}

TEST_CASE("a library function that only forwards is called through") {
  std::string code = codeOf(R"(
use std::math
fn root(x: f64) -> f64 { math::sqrt(x) }
fn main() { println!("{}", root(4.0)) }
)",
                            "root");
  CHECK(code == "SqrtF64 r1 r0\nReturn r1\n");
}

TEST_CASE("a jump that does not reach is widened") {
  std::string body;
  for (int i = 0; i < 9000; ++i)
    body += "        total = total * 3 % 1000003 + i\n";
  std::string source = "fn work(n: i64) -> i64 {\n    let mut total = 1\n    for i in 0..n {\n     "
                       "   if i == 1 { continue }\n" +
                       body + "    }\n    total\n}\nfn main() { println!(\"{}\", work(3) >= 0) }\n";
  CHECK(output(source) == "true\n");
}

TEST_CASE(
    "a function belongs to the package whose source spells it, a library function as a value too") {
  const char* source = R"(
use std::fs
fn outer() -> i64 {
    fn inner() -> i64 { 1 }
    let each = || inner()
    each()
}
mod m { pub fn deep() -> i64 { 2 } }
struct S {}
impl S { fn method(&self) -> i64 { 3 } }
fn twice(f: Fn(String) -> bool) -> bool { f("a") && f("b") }
fn main() { println!("{} {} {} {}", outer(), m::deep(), S {}.method(), twice(fs::exists)) }
)";
  for (const char* name :
       {"main", "outer", "inner", "closure in outer", "deep", "S::method", "twice", "exists"})
    CHECK_MESSAGE(packageOf(source, name) == 1, name);
  CHECK(packageOf("fn main() { println!(\"{}\", Some(1).unwrap()) }", "Option::unwrap") == 0);
}
