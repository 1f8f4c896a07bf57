#include "tests/unit/check/check_helper.h"

using namespace gos::test;
using gos::check::RegionKind;

TEST_CASE("outermost regions are collected, inner ones are not") {
  auto checked = checkProgram("comptime fn f(n: i64) -> i64 { comptime { n } + g(n) }\n"
                              "comptime fn g(n: i64) -> i64 { n }\n"
                              "fn scaled(comptime k: i64, x: i64) -> i64 { k * x }\n"
                              "const A: i64 = f(1)\n"
                              "fn main() {\n let x = comptime { f(2) + comptime { 1 } }\n"
                              " println!(\"{} {}\", x, scaled(A + 1, scaled(3, x)))\n}");
  REQUIRE(checked->program.regions.size() == 3);
  CHECK(checked->program.regions[0].kind == RegionKind::Call);
  CHECK(checked->program.regions[1].kind == RegionKind::Block);
  CHECK(checked->program.regions[2].kind == RegionKind::Argument);
}

TEST_CASE("a region does not see run-time bindings") {
  CHECK(codesIn("let x = 1\nlet y = comptime { x + 1 }") == "GC0004");
  CHECK(codesOf("comptime fn f(n: i64) -> i64 { n }\nfn main() { let x = 1\n let y = f(x) }") ==
        "GC0004");
  CHECK(codesOf("fn f(comptime n: i64) -> i64 { n }\nfn main() { let x = 1\n let y = f(x) }") ==
        "GC0004");
  CHECK(codesIn("let y = comptime { let x = 1\n x + 1 }") == "");
}

TEST_CASE("results must fold back") {
  CHECK(codesIn("let y = comptime { #[1, 2] }") == "GC0001");
  CHECK(codesIn("let y = comptime { (1, 2) }") == "GC0001");
  CHECK(codesIn("let y = codegen!(5)") == "GC0002");
}

TEST_CASE("codegen is silent until it is folded, and checked where it stands afterwards") {
  auto checked = checkProgram(
      "comptime fn f() -> String { \"1 + true\" }\nfn main() { let x: i64 = codegen!(f()) }");
  CHECK(checked->codes() == "");
  REQUIRE(checked->program.regions.size() == 1);
  gos::FileId file = llvm::cantFail(checked->sources.addCopy("generated", "1 + true"));
  checked->input->folded[checked->program.regions[0].node] =
      gos::parse::parseExpressionText(file, checked->sources, checked->context, checked->engine);
  checked->program = gos::check::check(*checked->input, checked->engine);
  CHECK(checked->codes() == "GT0003");
  CHECK(checked->program.regions.empty());
}

TEST_CASE("reflection unrolls and generic functions are instantiated") {
  const char* source = "struct P { x: i64, name: String }\n"
                       "fn show<T>(v: T) -> String {\n let mut out = \"\"\n"
                       " for (name, ty) in typeInfo::<T>() {\n"
                       "  match ty {\n   \"i64\" => { let n: i64 = field_of(v, name)\n out += "
                       "f\"{name}={n + 1}\" }\n"
                       "   \"String\" => { let s: String = field_of(v, name)\n out += s }\n   _ => "
                       "{}\n  }\n }\n out\n}\n"
                       "fn main() { println!(\"{}\", show(P { x: 1, name: \"a\" })) }";
  CHECK(codesOf(source) == "");
  CHECK(codesOf("fn main() { for (n, t) in typeInfo::<i64>() { } }") == "GR0012");
  auto checked = checkProgram(source);
  checked->program = gos::check::check(*checked->input, checked->engine);
  CHECK(checked->codes() == "");
}

TEST_CASE("a second round over the same tree answers the same") {
  auto checked = checkProgram("enum E { A(i64), B }\nimpl Display for E { fn fmt(&self) -> String "
                              "{ match self { A(x) => f\"{x}\"\n B => \"b\" } } }\n"
                              "fn main() { let xs = #[E::A(1), B]\n println!(\"{}\", xs.map(|x| "
                              "x.to_string()).join(\",\"))\n 5 |> |v| println!(\"{}\", v) }");
  CHECK(checked->codes() == "");
  for (int i = 0; i < 3; ++i)
    checked->program = gos::check::check(*checked->input, checked->engine);
  CHECK(checked->codes() == "");
}

TEST_CASE("a chain of constants may be as long as the source, and a cycle is one message") {
  std::string source = "const C0: i64 = 1\n";
  for (int at = 1; at != 20000; ++at)
    source += "const C" + std::to_string(at) + ": i64 = C" + std::to_string(at - 1) + " + 1\n";
  CHECK(codesIn(source + "fn main() { println!(\"{}\", C19999) }") == "");
  CHECK(codesIn("const A: i64 = B + 1\nconst B: i64 = A + 1\nfn main() { println!(\"{}\", A) }") ==
        "GC0008");
}
