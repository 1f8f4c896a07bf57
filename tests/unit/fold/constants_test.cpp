// Constants that are made of constants: how often each is computed, and what a region may know of
// another.

#include "compiler/check/check.h"
#include "compiler/fold/fold.h"
#include "compiler/parse/parse.h"
#include "stdlib/builtins.h"

#include <doctest/doctest.h>

#include <string>

using namespace gos;

namespace {

struct Folded {
  fold::FoldOutcome outcome = fold::FoldOutcome::Nothing;
  uint64_t steps = 0;
  std::string codes;
  std::string values; // of the constants, in order
};

std::string valueOf(const ast::Expr* expr) {
  if (auto* minus = llvm::dyn_cast<ast::UnaryExpr>(expr))
    return "-" + valueOf(minus->operand);
  if (auto* literal = llvm::dyn_cast<ast::IntExpr>(expr))
    return std::to_string(literal->value);
  if (auto* text = llvm::dyn_cast<ast::StringExpr>(expr))
    return text->value.str();
  return "?";
}

/// Checks and folds a program that is one file, without any capability.
Folded folded(llvm::StringRef source) {
  Folded result;
  ast::Context context;
  SourceMap sources;
  Engine engine(sources);
  check::ProgramInput input{context, sources, &check::standardLibrary()};
  FileId file = llvm::cantFail(sources.addCopy("main.gos", source));
  sources.file(file).package = 1;
  resolve::Package package;
  package.name = "main";
  resolve::SourceModule module;
  module.file = parse::parseFile(file, sources, context, engine, {.isEntry = true});
  module.file.module->package = 1;
  package.modules.push_back(std::move(module));
  input.packages.push_back(std::move(package));
  ComptimePolicy policy;
  policy.commandLine = ComptimeIo::None;
  policy.packages.emplace_back();
  fold::FoldContext fold{input, policy, stdlib::nativeTable(), engine, {}, 0, 0};
  do {
    check::Program program = check::check(input, engine);
    if (engine.hasErrors())
      break;
    result.outcome = fold::foldRound(fold, program);
    result.values.clear();
    for (ast::Item* item : program.constants)
      if (auto* constant = llvm::dyn_cast<ast::ConstItem>(item))
        result.values += valueOf(program.folded(constant->value)) + " ";
  } while (result.outcome == fold::FoldOutcome::Spliced);
  result.steps = fold.record.steps;
  for (const Diagnostic& diagnostic : engine.diagnostics())
    result.codes += (spelling(diagnostic.code) + " ").str();
  return result;
}

/// A chain of constants, each made of the one before; with `backwards` the last one stands first.
std::string chain(unsigned count, bool backwards, llvm::StringRef type, llvm::StringRef first,
                  llvm::StringRef next) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned number = backwards ? count - 1 - i : i;
    std::string value = number == 0 ? first.str() : "A" + std::to_string(number - 1) + next.str();
    text +=
        "const A" + std::to_string(number) + ": " + type.str() + " = comptime { " + value + " }\n";
  }
  return text + "fn main() { println!(\"{}\", A" + std::to_string(count - 1) + ") }\n";
}

} // namespace

TEST_CASE("twice as many constants, each made of the one before, are twice the work") {
  for (bool backwards : {false, true}) {
    CAPTURE(backwards);
    const Folded few = folded(chain(200, backwards, "i64", "1", " + 1"));
    const Folded many = folded(chain(400, backwards, "i64", "1", " + 1"));
    CHECK(few.outcome == fold::FoldOutcome::Nothing);
    CHECK(many.codes == "");
    REQUIRE(few.steps > 0);
    CHECK(many.steps < few.steps * 5 / 2);
  }
}

TEST_CASE("what a constant is made of is known in its type, text and negative numbers included") {
  CHECK(folded(chain(4, true, "i64", "-3", " * 2")).values == "-24 -12 -6 -3 ");
  CHECK(folded(chain(3, false, "String", "\"a\"", " + \"é\"")).values == "a aé aéé ");
  CHECK(folded(chain(3, false, "u8", "250", " +% 4")).values == "250 254 2 ");
}

TEST_CASE("a constant that panics is reported once, and not at those that are made of it") {
  const Folded result = folded("const A: i64 = comptime { B + 1 }\n"
                               "const B: i64 = comptime { panic!(\"no\") }\n"
                               "fn main() { println!(\"{}\", A) }\n");
  CHECK(result.outcome == fold::FoldOutcome::Failed);
  CHECK(result.codes == "GC0003 ");
}

TEST_CASE("constants through functions and calls of comptime functions are computed once") {
  auto source = [](unsigned count) {
    std::string text = "comptime fn next(n: i64) -> i64 { n + 1 }\nconst A0: i64 = next(0)\n";
    for (unsigned i = 1; i < count; ++i) {
      const std::string before = std::to_string(i - 1), own = std::to_string(i);
      text += "fn f" + own + "() -> i64 { A" + before + " }\nconst A" + own + ": i64 = next(f" +
              own + "())\n";
    }
    return text + "fn main() {}\n";
  };
  const Folded few = folded(source(50)), many = folded(source(100));
  CHECK(many.codes == "");
  CHECK(many.steps < few.steps * 5 / 2);
}
