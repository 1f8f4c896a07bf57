// Section 6 of the catalogue: exhaustion.

#include "tests/threats/support.h"

#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

namespace gos::threats {
namespace {

using llvm::StringRef;

/// GX0009 of the counter, at the region, from every command, twice the same.
void expectExhausted(const Tree& tree, const Act& act, StringRef counter,
                     const std::vector<std::string>& options, long peakKiB = 1'500'000) {
  tree.write("main.gos", program(act));
  INFO("program:\n" << program(act));
  for (Level level : kAllLevels) {
    Where where;
    where.options = options;
    const Outcome text = launch(command(tree, "check", level, where));
    checkOutcome(text, tree);
    CHECK_MESSAGE(text.exitCode == 1, StringRef(text.err).take_front(2000).str());
    CHECK_MESSAGE(StringRef(text.err).contains("error[GX0009]"),
                  StringRef(text.err).take_front(2000).str());
#ifdef GOS_SANITIZED // objects are larger there and cost more steps: either counter may be the
                     // first
    const bool named = StringRef(text.err).contains(("`" + counter + "`").str()) ||
                       StringRef(text.err).contains("`steps`");
#else
    const bool named = StringRef(text.err).contains(("`" + counter + "`").str());
#endif
    CHECK_MESSAGE(named, StringRef(text.err).take_front(2000).str());
    CHECK_MESSAGE(text.peakKiB < peakKiB, "peak " << text.peakKiB << " KiB");
    CHECK_MESSAGE(text.err.size() < 64 * 1024, text.err.size() << " bytes of message");
    const Outcome again = launch(command(tree, "check", level, where));
    CHECK(again.err == text.err);
    where.options.push_back("--message-format=json");
    const auto diagnostics = parseDiagnostics(launch(command(tree, "check", level, where)).err);
    REQUIRE(!diagnostics.empty());
    CHECK(diagnostics.back().code == "GX0009");
    REQUIRE(diagnostics.back().primary());
    CHECK(diagnostics.back().primary()->line >= 1);
  }
}

TEST_CASE("T072 an endless loop uses up its steps") {
  Tree tree;
  const std::vector<std::string> few = {"--comptime-steps=200000"};
  expectExhausted(tree, {.body = "loop {}\n    \"never\""}, "steps", few);
  expectExhausted(tree, {.body = "let mut i = 0\n    while true { i = i +% 1 }\n    \"never\""},
                  "steps", few);
  expectExhausted(tree, {.body = "let mut n = 0\n    for i in 0.. { n = i }\n    n.to_string()"},
                  "steps", few);
  expectExhausted(
      tree,
      {.items = "struct S {}\nimpl S { fn next(&mut self) -> Option<i64> { Some(1) } }",
       .body =
           "let mut n = 0\n    let items = S {}\n    for i in items { n = i }\n    n.to_string()"},
      "steps", few);
  expectExhausted(
      tree,
      {.items =
           "fn spin(n: i64) -> i64 {\n    let mut i = 0\n    while i < 1000000 { i = i + 1 }\n    spin(n)\n}",
       .body = "spin(1).to_string()"},
      "steps", few);
  // With the default budget it ends as well, and a source file can't raise it.
  tree.write("main.gos", program({.body = "loop {}\n    \"never\""}));
  const Outcome outcome = launch(command(tree, "check", Level::Confined, {}));
  checkOutcome(outcome, tree);
  CHECK_MESSAGE(StringRef(outcome.err).contains("GX0009"), outcome.err);
  tree.write(
      "p/project.toml",
      "[project]\nid = \"example.com/app\"\nversion = \"1.0.0\"\ncomptime-steps = 99999999999\n");
  tree.write("p/src/main.gos", "fn main() {}\n");
  Where where;
  where.operand = "p";
  const Outcome raised = launch(command(tree, "check", Level::Confined, where));
  CHECK_MESSAGE(StringRef(raised.err).contains("GJ0001"), raised.err);
  // The control: a bounded loop within its budget, and one that the command line allows.
  Where more;
  more.options = {"--comptime-steps=10000000"};
  expectAllowed(tree, Level::None,
                {.body = "let mut i = 0\n    while i < 1000000 { i = i + 1 }\n    i.to_string()"},
                "1000000", more);
}

TEST_CASE("T073 memory is judged before it is taken") {
  Tree tree;
  const std::vector<std::string> little = {"--comptime-memory=64M"};
  const long cap = 300'000;
  expectExhausted(tree,
                  {.body = "let mut v: Vec<i64> = #[]\n    loop { v.push(1) }\n    \"never\""},
                  "heap", little, cap);
  expectExhausted(
      tree,
      {.body =
           "let mut v: Vec<Vec<i64>> = #[#[1]]\n    loop {\n        let copy = v.clone()\n        for item in copy { v.push(item) }\n    }\n    \"never\""},
      "heap", little, cap);
  expectExhausted(tree, {.body = "let mut s = \"x\"\n    loop { s = s + s }\n    \"never\""},
                  "heap", little, cap);
  expectExhausted(tree, {.body = "\"x\".repeat(1 << 40).len().to_string()"}, "heap", little, cap);
  expectExhausted(tree, {.body = "let v = #[0; 1 << 40]\n    v.len().to_string()"}, "heap", little,
                  cap);
  expectExhausted(
      tree, {.body = "let v: Vec<i64> = Vec::with_capacity(1 << 50)\n    v.len().to_string()"},
      "heap", little, cap);
  expectExhausted(tree, {.body = "let s = String::with_capacity(1 << 50)\n    s.len().to_string()"},
                  "heap", little, cap);
  expectExhausted(
      tree, {.body = "let mut v: Vec<i64> = #[]\n    v.reserve(1 << 60)\n    v.len().to_string()"},
      "heap", little, cap);
  expectExhausted(tree, {.body = "\"x\".pad_left(1 << 45, ' ').len().to_string()"}, "heap", little,
                  cap);
  expectExhausted(
      tree,
      {.body =
           "let mut m: Map<i64, String> = {}\n    let mut i = 0\n    loop {\n        m.insert(i, \"value\" + i.to_string())\n        i = i + 1\n    }\n    \"never\""},
      "heap", little, cap);
  // A width that large is no width.
  expectError(tree, Level::None, {.body = "format!(\"{:1000000000000}\", 1).len().to_string()"},
              "GP0021", "too large");
  expectExhausted(tree, {.body = "(0..(1 << 50)).to_vec().len().to_string()"}, "heap", little, cap);
  // Sizes that overflow when they are multiplied.
  for (StringRef body :
       {"let v: Vec<i64> = Vec::with_capacity(9223372036854775807)\n    v.len().to_string()",
        "\"xyz\".repeat(9223372036854775807).len().to_string()",
        "let v = #[0; 9223372036854775807]\n    v.len().to_string()",
        "\"x\".repeat(-1).len().to_string()", "let v = #[0; -1]\n    v.len().to_string()"}) {
    tree.write("main.gos", program({.body = body.str()}));
    INFO("body: " << body.str());
    const Outcome outcome = launch(command(tree, "check", Level::None, {}));
    checkOutcome(outcome, tree);
    CHECK(outcome.peakKiB < cap);
  }
  // The control.
  expectAllowed(tree, Level::None, {.body = "\"x\".repeat(1000000).len().to_string()"}, "1000000");
}

TEST_CASE("T074 depth ends in a diagnostic and never in a stack overflow") {
  Tree tree;
  expectExhausted(tree,
                  {.items = "fn deep(n: i64) -> i64 { if n == 0 { 0 } else { 1 + deep(n - 1) } }",
                   .body = "deep(10000000).to_string()"},
                  "depth", {});
  expectExhausted(
      tree,
      {.items = "fn ping(n: i64) -> i64 { pong(n + 1) }\nfn pong(n: i64) -> i64 { ping(n + 1) }",
       .body = "ping(0).to_string()"},
      "depth", {});
  // A hook that comes back to itself.
  tree.write(
      "main.gos",
      program(
          {.items =
               "struct S { n: i64 }\nimpl Display for S { fn fmt(&self) -> String { format!(\"{}\", S { n: self.n + 1 }) } }",
           .body = "format!(\"{}\", S { n: 0 })"}));
  const Outcome hook = launch(command(tree, "check", Level::None, {}));
  checkOutcome(hook, tree);
  CHECK_MESSAGE(StringRef(hook.err).contains("GX0009"), StringRef(hook.err).take_front(2000).str());
  // A million links released at once, compared, shown.
  const std::string list = "enum List { Nil, Cons(i64, List) }";
  const std::string build =
      "let mut list = List::Nil\n    for i in 0..1000000 { list = List::Cons(i, list) }\n    ";
  expectAllowed(
      tree, Level::None,
      {.items = list, .body = build + "list = List::Nil\n    let _ = list\n    \"released\""},
      "released");
  for (StringRef use :
       {"let copy = list\n    (copy == list).to_string()",
        "format!(\"{:?}\", list).len().to_string()", "list.clone()\n    \"cloned\""}) {
    tree.write("main.gos", program({.items = list, .body = build + use.str()}));
    const Outcome outcome = launch(command(tree, "check", Level::None, {}));
    checkOutcome(outcome, tree);
    CHECK_MESSAGE((outcome.exitCode == 0 || outcome.exitCode == 1), outcome.err);
  }
  // JSON nested deep, from a file and made.
  expectAllowed(tree, Level::None,
                {.uses = {"encoding::json"},
                 .body = "json::parse(\"[\".repeat(1000000)).is_ok().to_string()"},
                "false");
  // Source that is nested deep: each bracket, each construct.
  auto nested = [&](StringRef open, StringRef middle, StringRef close, size_t times) {
    std::string text = "fn main() {\n    let x = ";
    for (size_t i = 0; i < times; ++i)
      text += open;
    text += middle;
    for (size_t i = 0; i < times; ++i)
      text += close;
    return text + "\n}\n";
  };
  struct Shape {
    const char *open, *middle, *close;
  };
  constexpr Shape kShapes[] = {{"(", "1", ")"},
                               {"[", "1", "]"},
                               {"#[", "1", "]"},
                               {"{", "1", "}"},
                               {"-", "1", ""},
                               {"!", "true", ""},
                               {"f(", "1", ")"},
                               {"if true { ", "1", " } else { 2 }"},
                               {"|a| ", "1", ""},
                               {"1 + (", "1", ")"},
                               {"f\"{", "1", "}\""},
                               {"match 1 { _ => ", "1", " }"},
                               {"comptime { ", "1", " }"},
                               {"codegen!(", "\"1\"", ")"},
                               {"(", "", ""},
                               {"{", "", ""},
                               {"&", "y", ""},
                               {"loop { ", "break", " }"},
                               {"1 |> ", "f", ""},
                               {"a.b(", "1", ")"},
                               {"1 + ", "1", ""},
                               {"x.f", "", ""},
                               {"x[0]", "", ""},
                               {"x?", "", ""}};
  for (const Shape& shape : kShapes)
    for (size_t times : {size_t(10'000), size_t(200'000)}) {
      tree.write("main.gos", nested(shape.open, shape.middle, shape.close, times));
      INFO("shape: " << std::string(shape.open) << std::string(shape.middle)
                     << std::string(shape.close) << " times " << times);
      for (StringRef verb : {"check", "parse"}) {
        const Outcome outcome = launch(command(tree, verb, std::nullopt, {}));
        CHECK_MESSAGE(!outcome.timedOut, "time limit");
        CHECK_MESSAGE(outcome.signal == 0, "signal " << outcome.signal);
        CHECK((outcome.exitCode == 0 || outcome.exitCode == 1));
        CHECK_MESSAGE(outcome.err.size() < 200 * 1024, outcome.err.size() << " bytes of messages");
      }
    }
  // Types nested deep.
  for (StringRef middle : {"i64", ""}) {
    std::string type;
    for (int i = 0; i < 20'000; ++i)
      type += "Vec<";
    type += middle;
    for (int i = 0; i < 20'000; ++i)
      type += ">";
    tree.write("main.gos", "fn f(x: " + type + ") {}\nfn main() {}\n");
    const Outcome outcome = launch(command(tree, "check", std::nullopt, {}));
    checkOutcome(outcome, tree);
    CHECK(outcome.exitCode == 1);
  }
  // A generic that makes itself larger with each call.
  tree.write(
      "main.gos",
      "fn grow<T>(n: i64, x: T) -> i64 { if n == 0 { 0 } else { grow(n - 1, #[x]) } }\nfn main() { println!(\"{}\", grow(3, 1)) }\n");
  const Outcome grow = launch(command(tree, "check", std::nullopt, {}));
  checkOutcome(grow, tree);
  const Outcome growRun = launch(command(tree, "run", std::nullopt, {}));
  checkOutcome(growRun, tree);
  CHECK(growRun.peakKiB < 4'000'000);
}

TEST_CASE("T075 results, prints, diagnostics and generated text are capped") {
  Tree tree;
  // A result of a gigabyte.
  tree.write("main.gos", program({.body = "\"x\".repeat(1 << 30)"}));
  Where roomy;
  roomy.options = {"--comptime-memory=3G"};
  const Outcome result = launch(command(tree, "check", Level::None, roomy));
  checkOutcome(result, tree);
  CHECK_MESSAGE(result.exitCode == 1, result.err);
  CHECK_MESSAGE(
      (StringRef(result.err).contains("GC0005") || StringRef(result.err).contains("GX0009")),
      result.err);
  CHECK(result.err.size() < 64 * 1024);
  Where small;
  small.options = {"--comptime-result=1K"};
  expectError(tree, Level::None, {.body = "\"x\".repeat(2000)"}, "GC0005", "2000", small);
  expectAllowed(tree, Level::None, {.body = "\"x\".repeat(1000).len().to_string()"}, "1000", small);
  // A hundred thousand mistakes.
  std::string mistakes = "fn main() {\n";
  for (int i = 0; i < 100'000; ++i)
    mistakes += "    no_such_name_" + std::to_string(i) + "()\n";
  tree.write("main.gos", mistakes + "}\n");
  const Outcome many = launch(command(tree, "check", std::nullopt, {}));
  checkOutcome(many, tree);
  CHECK(many.exitCode == 1);
  CHECK_MESSAGE(many.err.size() < 256 * 1024, many.err.size() << " bytes");
  CHECK_MESSAGE(StringRef(many.err).contains("not shown"),
                StringRef(many.err).take_back(500).str());
  // A great many tiny regions: linear, each on its own budget.
  std::string regions = "fn main() {\n    let mut n = 0\n";
  const int count = fullRun() ? 1'000'000 : 50'000;
  for (int i = 0; i < count; ++i)
    regions += "    n = n + comptime { " + std::to_string(i % 10) + " }\n";
  tree.write("main.gos", regions + "    println!(\"{}\", n)\n}\n");
  Launch tiny = command(tree, "check", Level::None, {});
  const Outcome folded = launch(tiny);
  CHECK(!folded.timedOut);
  CHECK_MESSAGE(folded.exitCode == 0, StringRef(folded.err).take_front(2000).str());
  // Generated text that holds itself: the rounds end, and so does the text that doubles.
  for (StringRef text : {"codegen!(again())", "codegen!(again()) + codegen!(again())"}) {
    tree.write("main.gos", ("comptime fn again() -> String { \"" + text +
                            "\" }\n\nfn main() { println!(\"{}\", codegen!(again())) }\n")
                               .str());
    const Outcome outcome = launch(command(tree, "check", Level::Confined, {}));
    checkOutcome(outcome, tree);
    CHECK_MESSAGE(outcome.exitCode == 1, StringRef(outcome.err).take_front(2000).str());
    CHECK(outcome.peakKiB < 2'000'000);
    CHECK(outcome.err.size() < 256 * 1024);
  }
}

TEST_CASE("T076 descriptors have a quota and are given back") {
  Tree tree;
  for (int i = 0; i < 50; ++i)
    tree.write("f" + std::to_string(i), "x");
  // Far more than the process may have open: a quota and an error, not a crash.
  const std::string open =
      "let mut files: Vec<fs::File> = #[]\n    for i in 0..100000 { files.push(fs::open(\"f\" + (i % 50).to_string()).unwrap()) }\n"
      "    files.len().to_string()";
  tree.write("main.gos", program({.uses = {"fs"}, .body = open}));
  for (Level level : {Level::Confined, Level::Full}) {
    const Outcome outcome = launch(command(tree, "check", level, {}));
    checkOutcome(outcome, tree);
    CHECK_MESSAGE(outcome.exitCode == 1, outcome.err);
  }
  // Each region gives back what it opened: hundreds of regions, each holding more than a few.
  std::string regions =
      "use std::fs\n\nfn hold() -> i64 {\n    let mut files: Vec<fs::File> = #[]\n"
      "    for i in 0..100 { files.push(fs::open(\"f\" + (i % 50).to_string()).unwrap()) }\n    files.len()\n}\n\nfn main() {\n    let mut n = 0\n";
  for (int i = 0; i < 400; ++i)
    regions += "    n = n + comptime { hold() }\n";
  tree.write("main.gos", regions + "    println!(\"{}\", n)\n}\n");
  expectProgramAllowed(tree, Level::Confined, "40000");
  // A region at full sees no more open at its end than at its beginning.
  tree.write(
      "main.gos",
      "use std::fs\n\nfn count() -> i64 { fs::read_dir(\"/proc/self/fd\").unwrap().len() }\n\n"
      "fn hold() -> i64 {\n    let mut files: Vec<fs::File> = #[]\n    for i in 0..40 { files.push(fs::open(\"f1\").unwrap()) }\n    files.len()\n}\n\n"
      "const BEFORE: i64 = comptime { count() }\nconst HELD: i64 = comptime { hold() }\nconst AFTER: i64 = comptime { count() }\n\n"
      "fn main() { println!(\"{} {}\", HELD, AFTER - BEFORE) }\n");
  expectProgramAllowed(tree, Level::Full, "40 0");
}

} // namespace
} // namespace gos::threats
