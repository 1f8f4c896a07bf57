#include "compiler/ast/clone.h"
#include "parse_test_support.h"

using gos::test::Parsed;

namespace {

std::string printed(const gos::ast::Expr* expr) {
  std::string out;
  llvm::raw_string_ostream stream(out);
  gos::ast::print(stream, expr);
  return out;
}
const gos::ast::BlockExpr* bodyOf(const Parsed& parsed) {
  return llvm::cast<gos::ast::FunctionItem>(parsed.file.module->items[0])->body;
}

} // namespace

TEST_CASE("a copy prints as its original does") {
  Parsed parsed("fn f(x: i64) {\n"
                "  let mut a, b = #[1, 2], {1: f\"{x:>3}\"}\n"
                "  'l: for (i, _) in 0..=x { if let Some(y) = g(n: i)? && y > 0 { break 'l } else "
                "if z { continue } else { return } }\n"
                "  match a[1..] { [p, ..q] if p == -1 => q.len::<i64>(), E::V { w, .. } | E::U(w) "
                "=> w as u8, 1..=5 => [0; 3], _ => S { x, ..s } }\n"
                "  a.0, b.c += 1, 2\n"
                "  println!(\"{} {x}\", -a)\n"
                "  let c: Vec<(A, &mut B, [C; 3], Fn(D) -> !)> = v |> |k: i64| k + 1 |> h\n"
                "  comptime { #{1, (2,)} }\n"
                "  while matches!(x, Some(_)) { loop { } }\n"
                "}");
  REQUIRE(parsed.codes() == "");
  gos::ast::Cloner cloner(parsed.context);
  CHECK(printed(cloner.clone(bodyOf(parsed))) == printed(bodyOf(parsed)));
}

TEST_CASE("variables get twins, and names may be replaced") {
  Parsed parsed("fn f() { let a = name\n a + name }");
  gos::ast::Context& context = parsed.context;
  const gos::ast::Name name = context.names.intern("name");
  const auto replace = [&](const gos::ast::PathExpr& path) -> gos::ast::Expr* {
    if (path.path.segments.size() != 1 || path.path.segments[0].ident.name != name)
      return nullptr;
    auto* literal = context.make<gos::ast::StringExpr>(path.span);
    literal->value = "x";
    return literal;
  };
  gos::ast::Cloner cloner(context, replace);
  const auto* original = bodyOf(parsed);
  const auto* copy = cloner.clone(original);
  CHECK(printed(copy) == "{ let a = \"x\"; (+ a \"x\") }");
  const auto variableOf = [](const gos::ast::BlockExpr* block) {
    const auto* let = llvm::cast<gos::ast::LetStmt>(block->statements[0]);
    return llvm::cast<gos::ast::BindingPattern>(let->pattern)->variable;
  };
  CHECK(variableOf(copy) != variableOf(original));
  CHECK(cloner.variable(variableOf(original)) == variableOf(copy));
}

TEST_CASE("arguments of a template are shared with its pieces in the copy too") {
  Parsed parsed("fn f() { println!(\"{}\", g()) }");
  gos::ast::Cloner cloner(parsed.context);
  const auto* copy = cloner.clone(bodyOf(parsed));
  const auto* call = llvm::cast<gos::ast::KnownCallExpr>(copy->tail);
  CHECK(call->pieces[0].value == call->arguments[0]);
}
