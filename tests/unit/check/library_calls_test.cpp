// Calls of the library, numbers that have no type yet, and heaps.

#include "tests/unit/check/check_helper.h"

using namespace gos::test;

TEST_CASE("a number without a type gets its default when a method needs it") {
  CHECK(codesIn("let a = 1.5\nprintln!(\"{}\", a.to_bits())") == "");
  CHECK(codesIn("println!(\"{}\", 1.5.to_bits() >> 52)") == "");
  CHECK(codesIn("let n = 3\nprintln!(\"{} {}\", n.pow(2), n.to_string())") == "");
  CHECK(codesIn("let a = 1.5\nlet bits = a.to_bits()\nlet b: u64 = bits") == "");
  CHECK(
      codesIn("let a = 1.5\nlet bits = a.to_bits()\nlet b: f64 = a\nprintln!(\"{}\", bits + 1)") ==
      "");
  CHECK(codesIn("let a = 1.5\nlet bits: u64 = a.to_bits()\nlet b: f32 = a") ==
        "GT0002"); // the number is an f32
  CHECK(codesIn("let a = 1.5\nprintln!(\"{}\", a.no_such_method())") == "GT0002");
}

TEST_CASE("the value that a library function works on comes first") {
  auto in = [](const char* body) {
    return codesOf("use std::{iter, strings}\nfn double(x: i64) -> i64 { x * 2 }\nfn main() {\n"
                   "let xs = #[1, 2]\nlet text = \"ab\"\n" +
                   std::string(body) + "\n}");
  };
  CHECK(in("println!(\"{:?}\", iter::map(|x| x + 1, xs))") == "GR0021");
  CHECK(in("println!(\"{:?}\", iter::map(double, xs))") == "GR0021");
  CHECK(in("println!(\"{:?}\", iter::map(|x| x + 1, #[1, 2]))") == "GR0021");
  CHECK(in("println!(\"{:?}\", iter::fold(0, |a, x| a + x, xs))") == "GR0021");
  CHECK(in("println!(\"{}\", iter::any(|x| x > 1, 0..3))") == "GR0021");
  CHECK(in("println!(\"{}\", strings::repeat(3, text))") == "GR0021");
  CHECK(
      in("println!(\"{:?}\", iter::map(xs, |x| x + 1))\nprintln!(\"{:?}\", iter::map(xs, double))") ==
      "");
  CHECK(
      in("println!(\"{}\", iter::fold(xs, 0, |a, x| a + x))\nprintln!(\"{}\", strings::repeat(text, 3))") ==
      "");
  CHECK(in("println!(\"{}\", strings::repeat(text, text))") == "GT0001"); // in no order
  CHECK(codesOf("fn map(xs: Vec<i64>, f: Fn(i64) -> i64) {}\nfn main() { map(|x| x, #[1]) }") !=
        "GR0021");
}

TEST_CASE("a heap refuses what it cannot order by structure") {
  const char* task =
      "struct Task { cost: i64 }\nimpl Ord for Task { fn cmp(&self, other: Self) -> i64 { other.cost - self.cost } }\n"
      "struct Plain { cost: i64 }\nstruct Holder { task: Task }\nenum Step { Work(Task), Rest }\n";
  auto in = [&](const char* body) {
    return codesOf(task + ("fn main() {\n" + std::string(body) + "\n}"));
  };
  CHECK(in("let mut h: MaxHeap<Task> = MaxHeap::new()\nh.push(Task { cost: 1 })") == "GT0085");
  CHECK(in("let mut h = MinHeap::new()\nh.push(Task { cost: 1 })") == "GT0085");
  CHECK(in("let mut h = MinHeap::new()\nh.push((1, Task { cost: 1 }))") == "GT0085");
  CHECK(in("let mut h = MinHeap::new()\nh.push(Holder { task: Task { cost: 1 } })") == "GT0085");
  CHECK(in("let mut h = MinHeap::new()\nh.push(Step::Rest)") == "GT0085");
  CHECK(in("let mut h = MaxHeap::new()\nh.push(Plain { cost: 1 })\nh.push(Plain { cost: 2 })") ==
        "");
  CHECK(codesOf(task + std::string("fn f(h: MaxHeap<Task>) {}\nfn main() {}")) == "GT0085");
  CHECK(codesOf(task + std::string("struct Q { heap: MaxHeap<Task> }\nfn main() {}")) == "GT0085");
  CHECK(in("let mut h = MaxHeap::new()\nh.push(1u64)") == "GT0068");
  CHECK(
      in("let mut m: BTreeMap<Task, i64> = BTreeMap::new()\nm.insert(Task { cost: 1 }, 1)\nprintln!(\"\")") ==
      "");
}

TEST_CASE("a whole path of the library needs no import") {
  CHECK(codesIn("println!(\"{}\", std::math::sqrt(4.0))") == "");
  CHECK(codesIn("let x: Result<String, std::io::Error> = std::fs::read_to_string(\"a\")") == "");
  CHECK(codesIn("let v = std::encoding::json::parse(\"1\")") == "");
  CHECK(codesIn("println!(\"{:?}\", #[4.0].map(std::math::sqrt))") == "");
  CHECK(codesIn("std::nothing::at_all()") == "GR0005");
  CHECK(codesIn("std::math::nothing()") == "GR0007");
  CHECK(codesIn("std::intrinsics::nothing()") == "GR0005");
}
