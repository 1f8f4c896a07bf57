// Section 4 of the catalogue: gate bypass by language feature. The act is `fs::write("x", b)`
// unless an entry says otherwise: denied at none and confined, done at full.

#include "tests/threats/support.h"

#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <unistd.h>

namespace gos::threats {
namespace {

using llvm::StringRef;

/// A program whose region `body` writes `x` in some disguise.
struct Disguise {
  std::string name;
  std::string items;
  std::string body;
  std::string call = "fs::write";
  std::string spelledAs;
};

/// Denied below full, done at full: the file is there then.
void expectWriteGated(const Tree& tree, const Disguise& disguise,
                      const std::vector<std::string>& uses = {"fs"}) {
  INFO("disguise: " << disguise.name);
  std::remove(tree.in("x").c_str());
  const Act act{.uses = uses,
                .items = disguise.items,
                .body = disguise.body,
                .call = disguise.call,
                .spelledAs = disguise.spelledAs,
                .klass = "filesystem write"};
  expectDeniedBelowFull(tree, act);
  CHECK(!tree.exists("x"));
  tree.write("main.gos", program(act));
  const Outcome full = launch(command(tree, "check", Level::Full, {}));
  CHECK_MESSAGE(full.exitCode == 0, full.err);
  CHECK_MESSAGE(tree.exists("x"), "the control did not write");
  std::remove(tree.in("x").c_str());
}

TEST_CASE("T044 a closure is judged when it is called, by a fold or by the program") {
  Tree tree;
  expectWriteGated(
      tree,
      {.name = "returned by a function",
       .items =
           "fn make() -> Fn() -> String { || { fs::write(\"x\", \"b\").unwrap()\n \"wrote\" } }",
       .body = "let f = make()\n    f()"});
  expectWriteGated(
      tree,
      {.name = "in a struct",
       .items =
           "struct Holder { act: Fn(String) -> String }\n"
           "fn hold() -> Holder { Holder { act: |p| { fs::write(p, \"b\").unwrap()\n \"wrote\" } } }",
       .body = "let holder = hold()\n    let act = holder.act\n    act(\"x\")"});
  expectWriteGated(
      tree,
      {.name = "in a vector",
       .body =
           "let acts: Vec<Fn() -> String> = #[|| { fs::write(\"x\", \"b\").unwrap()\n \"wrote\" }]\n"
           "    let act = acts[0]\n    act()"});
  // Made beside a fold, called by the running program: never asked.
  tree.write(
      "main.gos",
      "use std::fs\n\nfn make() -> Fn() -> String { || { fs::write(\"x\", \"b\").unwrap()\n \"wrote\" } }\n\n"
      "const KEPT: String = comptime { let f = make()\n let _ = f\n \"kept\" }\n\n"
      "fn main() {\n    let f = make()\n    println!(\"{} {}\", KEPT, f())\n}\n");
  for (Level level : kAllLevels) {
    expectProgramAllowed(tree, level, "kept wrote");
    CHECK(tree.exists("x"));
    std::remove(tree.in("x").c_str());
  }
}

TEST_CASE("T046 the act in a callback, a hook or an operator is a call like any other") {
  Tree tree;
  const std::string write = "fs::write(\"x\", \"b\").unwrap()";
  const Disguise disguises[] = {
      {.name = "comparator",
       .body = "let mut v = #[3, 1, 2]\n    v.sort_by(|a, b| { " + write +
               "\n a - b })\n    format!(\"{:?}\", v)"},
      {.name = "sort_by_key",
       .body = "let mut v = #[3, 1, 2]\n    v.sort_by_key(|a| { " + write +
               "\n a })\n    format!(\"{:?}\", v)"},
      {.name = "map",
       .body = "let v = #[1, 2].map(|a| { " + write + "\n a })\n    format!(\"{:?}\", v)"},
      {.name = "filter_map",
       .body =
           "let v = #[1, 2].filter_map(|a| { " + write + "\n Some(a) })\n    format!(\"{:?}\", v)"},
      {.name = "fold",
       .body =
           "let v = #[1, 2].fold(0, |a, b| { " + write + "\n a + b })\n    format!(\"{:?}\", v)"},
      {.name = "for_each", .body = "#[1, 2].for_each(|a| { " + write + " })\n    \"done\""},
      {.name = "and_then of an option",
       .body =
           "let o = Some(1).and_then(|a| { " + write + "\n Some(a) })\n    format!(\"{:?}\", o)"},
      {.name = "unwrap_or_else",
       .body = "let o: Option<i64> = None\n    let v = o.unwrap_or_else(|| { " + write +
               "\n 1 })\n    v.to_string()"},
      {.name = "walk_dir",
       .body = "let mut n = #[0]\n    n.for_each(|e| { " + write + " })\n    \"done\""},
      {.name = "Display through format!",
       .items =
           "struct S {}\nimpl Display for S { fn fmt(&self) -> String { " + write + "\n \"s\" } }",
       .body = "format!(\"{}\", S {})"},
      {.name = "Display through to_string",
       .items =
           "struct S {}\nimpl Display for S { fn fmt(&self) -> String { " + write + "\n \"s\" } }",
       .body = "S {}.to_string()"},
      {.name = "Debug inside a container",
       .items =
           "struct S {}\nimpl Debug for S { fn fmt(&self) -> String { " + write + "\n \"s\" } }",
       .body = "format!(\"{:?}\", #[S {}])"},
      {.name = "an f-string",
       .items =
           "struct S {}\nimpl Display for S { fn fmt(&self) -> String { " + write + "\n \"s\" } }",
       .body = "let s = S {}\n    f\"{s}\""},
      {.name = "Ord through sort",
       .items = "struct S { n: i64 }\nimpl Ord for S { fn cmp(&self, other: S) -> i64 { " + write +
                "\n self.n - other.n } }",
       .body = "let mut v = #[S { n: 2 }, S { n: 1 }]\n    v.sort()\n    v.len().to_string()"},
      {.name = "PartialEq through ==",
       .items = "struct S { n: i64 }\nimpl PartialEq for S { fn eq(&self, other: S) -> bool { " +
                write + "\n true } }",
       .body = "(S { n: 1 } == S { n: 2 }).to_string()"},
      {.name = "PartialEq through contains",
       .items = "struct S { n: i64 }\nimpl PartialEq for S { fn eq(&self, other: S) -> bool { " +
                write + "\n true } }",
       .body = "#[S { n: 1 }].contains(S { n: 2 }).to_string()"},
      {.name = "Index through x[i]",
       .items = "struct S { n: i64 }\nimpl Index<i64> for S { fn index(&self, i: i64) -> i64 { " +
                write + "\n i } }",
       .body = "let s = S { n: 1 }\n    let v = s[3]\n    v.to_string()"},
      {.name = "Iterator::next through for",
       .items = "struct S { n: i64 }\nimpl S { fn next(&mut self) -> Option<i64> { " + write +
                "\n self.n = self.n + 1\n if self.n > 2 { None } else { Some(self.n) } } }",
       .body =
           "let mut total = 0\n    let items = S { n: 0 }\n    for i in items { total = total + i }\n    total.to_string()"},
      {.name = "an operator",
       .items = "struct S { n: i64 }\nimpl Add for S { fn add(self, other: S) -> S { " + write +
                "\n S { n: self.n + other.n } } }",
       .body = "let s = S { n: 1 } + S { n: 2 }\n    s.n.to_string()"},
  };
  for (const Disguise& disguise : disguises)
    expectWriteGated(tree, disguise);
}

TEST_CASE("T047 a stored or lazy act is judged where its body is entered") {
  Tree tree;
  tree.write("in.txt", "inside");
  // Kept in a field, a map, a tuple.
  expectWriteGated(
      tree,
      {.name = "a closure in a tuple",
       .body =
           "let pair = (1, |p: String| { fs::write(p, \"b\").unwrap()\n \"wrote\" })\n    let act = pair.1\n    act(\"x\")"});
  expectWriteGated(
      tree,
      {.name = "a closure in a map",
       .body =
           "let acts: Map<String, Fn(String) -> String> = {\"w\": |p| { fs::write(p, \"b\").unwrap()\n \"wrote\" }}\n"
           "    let act = acts.get(\"w\").unwrap()\n    act(\"x\")"});
  // A builtin as a value, with a fixed list of parameters: named in one place, called in another.
  const Act stored{
      .uses = {"fs"},
      .items = "struct Tools { remove: Fn(String) -> Result<(), io::Error> }",
      .body =
          "let tools = Tools { remove: fs::remove_file }\n    let act = tools.remove\n    act(\"in.txt\").unwrap()\n    \"removed\"",
      .call = "fs::remove_file",
      .klass = "filesystem write"};
  Act withIo = stored;
  withIo.uses = {"fs", "io"};
  for (Level level : kBelowFull) {
    tree.write("main.gos", program(withIo));
    const Outcome outcome = launch(command(tree, "check", level, {}));
    checkOutcome(outcome, tree);
    CHECK_MESSAGE(StringRef(outcome.err).contains("GX0010"), outcome.err);
    CHECK(tree.exists("in.txt"));
  }
  CHECK(launch(command(tree, "check", Level::Full, {})).exitCode == 0);
  CHECK_MESSAGE(!tree.exists("in.txt"), "the control did not remove");
  // An iterator built in one function and drained in another; the read is inside, so that only the
  // drain shows.
  const std::string lazy =
      "fn build(paths: Vec<String>) -> Iterator<String> { paths.iter().map(|p| fs::read_to_string(p).unwrap()) }\n"
      "fn drain(items: Iterator<String>) -> String { items.collect().join(\",\") }";
  tree.write("in.txt", "inside");
  expectAllowed(tree, Level::None,
                {.uses = {"fs"},
                 .items = lazy,
                 .body = "let items = build(#[\"in.txt\"])\n    let _ = items\n    \"undrained\""},
                "undrained");
  expectDenied(tree, Level::None,
               {.uses = {"fs"},
                .items = lazy,
                .body = "drain(build(#[\"in.txt\"]))",
                .call = "fs::read_to_string"});
  expectAllowed(tree, Level::Confined,
                {.uses = {"fs"}, .items = lazy, .body = "drain(build(#[\"in.txt\", \"in.txt\"]))"},
                "inside,inside");
  expectDenied(tree, Level::Confined,
               {.uses = {"fs"},
                .items = lazy,
                .body = "drain(build(#[\"in.txt\", \"" + tree.relativeCanary() + "\"]))",
                .call = "fs::read_to_string"});
}

TEST_CASE("T048 dispatch and distance change nothing") {
  Tree tree;
  const std::string write = "fs::write(\"x\", \"b\").unwrap()";
  const Disguise disguises[] = {
      {.name = "generic call",
       .items = "fn call<T>(f: Fn(String) -> T) -> T { f(\"x\") }",
       .body = "call(|p| { fs::write(p, \"b\").unwrap()\n \"wrote\" })"},
      {.name = "trait method",
       .items =
           "trait Act { fn act(&self) -> String }\nstruct S {}\nimpl Act for S { fn act(&self) -> String { " +
           write +
           "\n \"wrote\" } }\n"
           "fn run<T: Act>(t: T) -> String { t.act() }",
       .body = "run(S {})"},
      {.name = "default method",
       .items = "trait Act { fn act(&self) -> String { " + write +
                "\n \"wrote\" } }\nstruct S {}\nimpl Act for S {}",
       .body = "S {}.act()"},
      {.name = "associated function",
       .items = "struct S {}\nimpl S { fn act() -> String { " + write + "\n \"wrote\" } }",
       .body = "S::act()"},
      {.name = "From through into",
       .items = "struct S { n: i64 }\nimpl From<i64> for S { fn from(value: i64) -> S { " + write +
                "\n S { n: value } } }",
       .body = "S::from(3).n.to_string()"},
      {.name = "recursion",
       .items = "fn deep(n: i64) -> String { if n == 0 { " + write +
                "\n \"wrote\" } else { deep(n - 1) } }",
       .body = "deep(50)"},
      {.name = "an inline module",
       .items = "mod inner { use std::fs\n pub fn act() -> String { " + write + "\n \"wrote\" } }",
       .body = "inner::act()"},
      {.name = "a nested function",
       .body = "fn inner() -> String { " + write + "\n \"wrote\" }\n    inner()"},
  };
  for (const Disguise& disguise : disguises)
    expectWriteGated(tree, disguise);
  // Another file of the package.
  tree.write("p/project.toml", "[project]\nid = \"example.com/app\"\nversion = \"1.0.0\"\n");
  tree.write(
      "p/src/far/away.gos",
      "use std::fs\n\npub fn act() -> String {\n    fs::write(\"x\", \"b\").unwrap()\n    \"wrote\"\n}\n");
  tree.write(
      "p/src/main.gos",
      "const ANSWER: String = comptime { far::away::act() }\n\nfn main() { println!(\"{}\", ANSWER) }\n");
  Where where;
  where.operand = "p";
  where.file = "far/away.gos";
  for (Level level : kBelowFull)
    expectProgramDenied(tree, level, {.call = "fs::write", .klass = "filesystem write"}, where);
  expectProgramAllowed(tree, Level::Full, "wrote", where);
  CHECK(tree.exists("p/src/x"));
}

TEST_CASE("T049 one verdict in every spelling, and the report has the user's") {
  Tree tree;
  tree.write("in.txt", "inside");
  struct Spelling {
    const char* use;
    const char* body;
    const char* call;
    const char* spelled;
  };
  constexpr Spelling kSpellings[] = {
      {"use std::fs\n", "fs::read_to_string(\"in.txt\").unwrap()", "fs::read_to_string",
       "fs::read_to_string"},
      {"", "std::fs::read_to_string(\"in.txt\").unwrap()", "std::fs::read_to_string",
       "std::fs::read_to_string"},
      {"use std::fs as q\n", "q::read_to_string(\"in.txt\").unwrap()", "q::read_to_string",
       "q::read_to_string"},
      {"use std::fs::{read_to_string as r}\n", "r(\"in.txt\").unwrap()", "r(", "r"},
      {"use std::fs::read_to_string\n", "read_to_string(\"in.txt\").unwrap()", "read_to_string",
       "read_to_string"},
      {"use std::{fs}\n", "fs::read_to_string(path: \"in.txt\").unwrap()", "fs::read_to_string",
       "fs::read_to_string"},
      {"use std::fs\n", "let answer = \"in.txt\" |> fs::read_to_string\n    answer.unwrap()",
       "fs::read_to_string", "fs::read_to_string"},
      {"use std::fs\n", "let answer = \"in.txt\" |> |v| fs::read_to_string(v)\n    answer.unwrap()",
       "fs::read_to_string", "fs::read_to_string"},
      {"use std::fs\n", "let answer = \"in.txt\" |> fs::read_to_string()\n    answer.unwrap()",
       "fs::read_to_string", "fs::read_to_string"},
  };
  for (const Spelling& spelling : kSpellings) {
    INFO(std::string(spelling.use) << std::string(spelling.body));
    Act act{.items = spelling.use,
            .body = spelling.body,
            .call = spelling.call,
            .spelledAs = spelling.spelled};
    if (StringRef(spelling.spelled) != "fs::read_to_string")
      act.detail = "fs::read_to_string"; // the canonical name
    expectReadAllowed(tree, act, "inside");
  }
  // The method forms.
  for (StringRef body :
       {"let file = fs::File::open(\"in.txt\").unwrap()\n    file.read_to_string().unwrap()",
        "let file = fs::open(\"in.txt\").unwrap()\n    fs::File::read_to_string(file).unwrap()"}) {
    expectAllowed(tree, Level::Confined, {.uses = {"fs"}, .body = body.str()}, "inside");
    tree.write("main.gos", program({.uses = {"fs"}, .body = body.str()}));
    CHECK(StringRef(launch(command(tree, "check", Level::None, {})).err).contains("GX0010"));
  }
  // A re-export by a package.
  tree.write("p/project.toml",
             "[project]\nid = \"example.com/app\"\nversion = \"1.0.0\"\n\n[dependencies]\n"
             "\"example.com/tools\" = { path = \"../tools\" }\n");
  tree.write("tools/project.toml", "[project]\nid = \"example.com/tools\"\nversion = \"1.0.0\"\n");
  tree.write(
      "tools/src/lib.gos",
      "use std::fs\n\npub fn put(path: String) -> String {\n    fs::write(path, \"b\").unwrap()\n    \"wrote\"\n}\n");
  tree.write(
      "p/src/main.gos",
      "use \"example.com/tools\"::{put as harmless}\n\nconst ANSWER: String = comptime { harmless(\"x\") }\n\n"
      "fn main() { println!(\"{}\", ANSWER) }\n");
  Where where;
  where.operand = "p";
  for (Level level : kBelowFull)
    expectProgramDenied(tree, level, {.call = "fs::write", .klass = "filesystem write"}, where);
}

TEST_CASE("T050 internal names resolve for nobody, and a name alone gives no class") {
  Tree tree;
  for (StringRef name : {"__gos_fs_read(\"in.txt\")", "intrinsics::fs_open_with(\"x\", 18)",
                         "std::intrinsics::entropy()", "intrinsics::sandbox_run(#[\"id\"])",
                         "FsReadToString(\"in.txt\")", "core::fs::write(\"x\", \"b\")"})
    for (Level level : {Level::Confined, Level::Full}) {
      // Typed, and through codegen!.
      for (const std::string& text :
           {"fn main() { let _ = " + name.str() + " }\n",
            "use std::intrinsics\n\nfn main() { let _ = " + name.str() + " }\n",
            "fn main() { let _ = codegen!(\"" +
                [&] {
                  std::string escaped;
                  for (char c : name)
                    escaped += c == '"' ? "\\\"" : std::string(1, c);
                  return escaped;
                }() +
                "\") }\n"}) {
        tree.write("main.gos", text);
        INFO("program: " << text);
        const Outcome outcome = launch(command(tree, "check", level, {}));
        checkOutcome(outcome, tree);
        CHECK_MESSAGE(outcome.exitCode == 1, outcome.err);
        CHECK_MESSAGE(StringRef(outcome.err).contains("error[GR"), outcome.err);
        CHECK(!tree.exists("x"));
      }
    }
  // The user's own names compute.
  const Act own{.items =
                    "fn write(path: String, text: String) -> String { path + text }\n"
                    "mod fs { pub fn read_to_string(path: String) -> String { path + \"!\" } }",
                .body = "write(\"a\", \"b\") + fs::read_to_string(\"c\")"};
  for (Level level : kAllLevels)
    expectAllowed(tree, level, own, "abc!");
  // Re-exporting the builtin under a harmless name.
  expectWriteGated(
      tree,
      {.name = "an alias in a module of one's own",
       .items =
           "mod math { use std::fs\n pub fn add(p: String) -> String { fs::write(p, \"b\").unwrap()\n \"wrote\" } }",
       .body = "math::add(\"x\")"});
}

TEST_CASE("T051 generated code is gated like written code") {
  Tree tree;
  // (a) A run-time write in generated text: allowed, done by the running program.
  tree.write(
      "main.gos",
      "use std::fs\n\ncomptime fn emit() -> String { \"fs::write(\\\"x\\\", \\\"b\\\").is_ok()\" }\n\n"
      "fn main() { println!(\"{}\", codegen!(emit())) }\n");
  for (Level level : kAllLevels) {
    const Outcome check = launch(command(tree, "check", level, {}));
    CHECK_MESSAGE(check.exitCode == 0, check.err);
    CHECK(!tree.exists("x"));
    expectProgramAllowed(tree, level, "true");
    CHECK(tree.exists("x"));
    std::remove(tree.in("x").c_str());
  }
  // (b) A region in generated text.
  tree.write(
      "main.gos",
      "use std::fs\n\ncomptime fn emit() -> String { \"comptime { fs::write(\\\"x\\\", \\\"b\\\").is_ok() }\" }\n\n"
      "fn main() { println!(\"{}\", codegen!(emit())) }\n");
  for (Level level : kBelowFull) {
    expectProgramDenied(tree, level, {.call = "fs::write", .klass = "filesystem write"});
    CHECK(!tree.exists("x"));
  }
  expectProgramAllowed(tree, Level::Full, "true");
  std::remove(tree.in("x").c_str());
  // What makes the text is gated as ever.
  tree.write(
      "main.gos",
      "use std::fs\n\ncomptime fn emit() -> String { fs::write(\"x\", \"b\").unwrap()\n \"1\" }\n\n"
      "fn main() { println!(\"{}\", codegen!(emit())) }\n");
  for (Level level : kBelowFull)
    expectProgramDenied(tree, level, {.call = "fs::write", .klass = "filesystem write"});
  // (c) Text like an attribute, a flag, a manifest key has no effect on the policy.
  for (StringRef text : {"#![comptime_io(full)] 1", "--comptime-io=full",
                         "comptime-io = \\\"full\\\"", "[project]", "#[allow(all)] 1"}) {
    tree.write("main.gos",
               ("use std::fs\n\nfn main() {\n    let _ = codegen!(\"" + text +
                "\")\n    println!(\"{}\", comptime { fs::write(\"x\", \"b\").is_ok() })\n}\n")
                   .str());
    const Outcome outcome = launch(command(tree, "check", Level::Confined, {}));
    checkOutcome(outcome, tree);
    CHECK_MESSAGE(outcome.exitCode == 1, outcome.err);
    CHECK(!tree.exists("x"));
  }
}

TEST_CASE("T051 text that another package made has no rights of the package it stands in") {
  Tree tree;
  tree.write("project.toml",
             "[project]\nid = \"example.com/app\"\nversion = \"1.0.0\"\n\n[dependencies]\n"
             "\"example.com/words\" = { path = \"words\" }\n");
  tree.write("words/project.toml", "[project]\nid = \"example.com/words\"\nversion = \"1.0.0\"\n");
  tree.write("src/secret.txt", "user secret");
  tree.write(
      "words/src/lib.gos",
      "pub fn emit() -> String { \"comptime { fs::read_to_string(\\\"secret.txt\\\").unwrap() }\" }\n");
  Where where;
  where.operand = ".";
  // Directly, through a constant, and through a constant that an earlier round has made a literal.
  for (StringRef text :
       {"codegen!(words::emit())", "codegen!(TEXT)", "codegen!(\"codegen!(TEXT)\")"}) {
    tree.write(
        "src/main.gos",
        ("use std::fs\nuse \"example.com/words\"\n\nconst TEXT: String = comptime { words::emit() }\n\n"
         "fn main() { println!(\"{}\", " +
         text + ") }\n")
            .str());
    INFO("text: " << text.str());
    for (Level level : kAllLevels) {
      const Outcome outcome = launch(command(tree, "run", level, where));
      checkOutcome(outcome, tree);
      CHECK_MESSAGE(outcome.exitCode == 1, outcome.out << outcome.err);
      CHECK_MESSAGE(StringRef(outcome.err).contains("GX0010"), outcome.err);
      CHECK(!StringRef(outcome.out).contains("user secret"));
    }
  }
  // Text of the package in an ordinary function; a later round reaches it from a region of one's
  // own.
  tree.write("words/src/lib.gos",
             "pub fn emit() -> String { \"fs::read_to_string(\\\"secret.txt\\\").unwrap()\" }\n"
             "pub fn value() -> String { \"fs::read_to_string\" }\n");
  for (StringRef body :
       {"codegen!(words::emit())", "codegen!(words::value())(\"secret.txt\").unwrap()"}) {
    tree.write("src/main.gos",
               ("use std::fs\nuse \"example.com/words\"\n\nfn mine() -> String { " + body +
                " }\n\nfn main() { println!(\"{}\", codegen!(\"comptime { mine() }\")) }\n")
                   .str());
    INFO("body: " << body.str());
    for (Level level : kAllLevels) {
      const Outcome outcome = launch(command(tree, "run", level, where));
      checkOutcome(outcome, tree);
      CHECK_MESSAGE(outcome.exitCode == 1, outcome.out << outcome.err);
      CHECK_MESSAGE(StringRef(outcome.err).contains("GX0010"), outcome.err);
      CHECK(!StringRef(outcome.out).contains("user secret"));
    }
  }
  // The control: text of one's own.
  tree.write(
      "src/main.gos",
      "use std::fs\n\nconst TEXT: String = comptime { \"comptime { fs::read_to_string(\\\"secret.txt\\\").unwrap() }\" }\n\n"
      "fn main() { println!(\"{}\", codegen!(\"codegen!(TEXT)\")) }\n");
  expectProgramAllowed(tree, Level::Confined, "user secret", where);
}

TEST_CASE("T052 stages keep level and root, and end") {
  Tree tree;
  tree.write("in.txt", "inside");
  // Three deep: text that holds a region that makes text that holds a region.
  auto staged = [](StringRef inner) {
    std::string text = inner.str();
    for (int i = 0; i < 3; ++i) {
      std::string escaped;
      for (char c : "codegen!(comptime { " + std::string(1, '"') + [&] {
             std::string once;
             for (char d : text)
               once += (d == '"' || d == '\\') ? std::string("\\") + d : std::string(1, d);
             return once;
           }() + "\" })")
        escaped += c;
      text = escaped;
    }
    return "use std::fs\n\nfn main() { println!(\"{}\", " + text + ") }\n";
  };
  tree.write("main.gos", staged("comptime { fs::read_to_string(\"in.txt\").unwrap() }"));
  expectProgramAllowed(tree, Level::Confined, "inside");
  expectProgramDenied(tree, Level::None, {.call = "fs::read_to_string"});
  tree.write("main.gos",
             staged("comptime { fs::read_to_string(\"" + tree.relativeCanary() + "\").unwrap() }"));
  expectProgramDenied(tree, Level::Confined, {.call = "fs::read_to_string"});
  expectProgramAllowed(tree, Level::Full, tree.token());
  // Text that generates itself is ended.
  tree.write(
      "main.gos",
      "comptime fn again() -> String { \"codegen!(again())\" }\n\nfn main() { println!(\"{}\", codegen!(again())) }\n");
  const Outcome outcome = launch(command(tree, "check", Level::Confined, {}));
  checkOutcome(outcome, tree);
  CHECK_MESSAGE(outcome.exitCode == 1, outcome.err);
  CHECK_MESSAGE(
      (StringRef(outcome.err).contains("GC0007") || StringRef(outcome.err).contains("GX0009")),
      outcome.err);
}

TEST_CASE("T053 the running program is never asked, and no mark of the fold is left") {
  Tree tree;
  tree.write(
      "main.gos",
      "use std::fs\n\nfn put(really: bool) -> String {\n    if really { fs::write(\"x\", \"b\").unwrap() }\n    \"wrote\"\n}\n\n"
      "const ANSWER: String = comptime { put(false) }\n\nfn main() { println!(\"{} {}\", ANSWER, put(true)) }\n");
  for (Level level : kAllLevels) {
    expectProgramAllowed(tree, level, "wrote wrote");
    CHECK(tree.readAll("x") == "b");
    std::remove(tree.in("x").c_str());
  }
  // The bytecode of the program is the same, whatever level its folds had.
  tree.write(
      "main.gos",
      "use std::fs\n\nconst ANSWER: i64 = comptime { 6 * 7 }\n\nfn main() {\n    fs::write(\"x\", \"b\").unwrap()\n"
      "    println!(\"{}\", ANSWER)\n}\n");
  const Outcome none = launch(command(tree, "disassemble", Level::None, {}));
  const Outcome full = launch(command(tree, "disassemble", Level::Full, {}));
  CHECK_MESSAGE(none.exitCode == 0, none.err);
  CHECK(none.out == full.out);
  CHECK(StringRef(none.out).contains("fs::write"));
  // With the same call in a region it is refused there and not in the program.
  tree.write("main.gos", "use std::fs\n\nfn put() -> bool { fs::write(\"x\", \"b\").is_ok() }\n\n"
                         "fn main() { println!(\"{} {}\", comptime { put() }, put()) }\n");
  expectProgramDenied(tree, Level::Confined, {.call = "fs::write", .klass = "filesystem write"});
}

TEST_CASE("T054 every way into a fold installs the policy") {
  Tree tree;
  const std::string act = "fs::write(\"x\", \"b\").is_ok()";
  struct Entry {
    const char* name;
    std::string text;
  };
  const Entry entries[] = {
      {"a block in an expression", "fn main() { println!(\"{}\", comptime { " + act + " }) }\n"},
      {"a const", "const A: bool = comptime { " + act + " }\nfn main() { println!(\"{}\", A) }\n"},
      {"a const that nothing uses", "const A: bool = comptime { " + act + " }\nfn main() {}\n"},
      {"a static",
       "static A: bool = comptime { " + act + " }\nfn main() { println!(\"{}\", A) }\n"},
      {"a comptime fn",
       "comptime fn put() -> bool { " + act + " }\nfn main() { println!(\"{}\", put()) }\n"},
      {"a comptime argument",
       "fn put(p: String) -> i64 { fs::write(p, \"b\").unwrap()\n 1 }\nfn scaled(comptime k: i64, x: i64) -> i64 { k * x }\n"
       "fn main() { println!(\"{}\", scaled(put(\"x\"), 2)) }\n"},
      {"an array length",
       "fn put(p: String) -> i64 { fs::write(p, \"b\").unwrap()\n 3 }\nfn main() {\n    let a: [i64; comptime { put(\"x\") }] = [0, 0, 0]\n"
       "    println!(\"{:?}\", a)\n}\n"},
      {"a method", "struct S {}\nimpl S { fn get(self) -> bool { comptime { " + act +
                       " } } }\nfn main() { println!(\"{}\", S {}.get()) }\n"},
      {"a default method",
       "trait T { fn get(&self) -> bool { comptime { " + act +
           " } } }\nstruct S {}\nimpl T for S {}\nfn main() { println!(\"{}\", S {}.get()) }\n"},
      {"a closure",
       "fn main() {\n    let f = || comptime { " + act + " }\n    println!(\"{}\", f())\n}\n"},
      {"an inline module", "mod m { use std::fs\n pub const A: bool = comptime { " + act +
                               " } }\nfn main() { println!(\"{}\", m::A) }\n"},
      {"a function nobody calls",
       "fn unused() -> bool { comptime { " + act + " } }\nfn main() {}\n"},
      {"a bare statement", "println!(\"{}\", comptime { " + act + " })\n"},
      {"an argument of a region",
       "fn main() { println!(\"{}\", comptime { let a = comptime { " + act + " }\n a }) }\n"},
      {"codegen!",
       "fn put() -> String { fs::write(\"x\", \"b\").unwrap()\n \"1\" }\nfn main() { println!(\"{}\", codegen!(put())) }\n"},
  };
  for (const Entry& entry : entries) {
    INFO("way: " << std::string(entry.name));
    tree.write("main.gos", "use std::fs\n\n" + entry.text);
    for (Level level : kBelowFull) {
      expectProgramDenied(tree, level, {.call = "fs::write", .klass = "filesystem write"});
      CHECK(!tree.exists("x"));
    }
    const Outcome full = launch(command(tree, "check", Level::Full, {}));
    CHECK_MESSAGE(full.exitCode == 0, full.err);
    CHECK_MESSAGE(tree.exists("x"), "the control did not write");
    std::remove(tree.in("x").c_str());
  }
}

TEST_CASE("T055 no verdict is remembered for another call, and nothing unreached is refused") {
  Tree tree;
  // One call site, ten thousand times harmless, then not.
  expectWriteGated(
      tree,
      {.name = "one call site",
       .items = "fn call(f: Fn(i64) -> i64, n: i64) -> i64 { f(n) }",
       .body =
           "let mut total = 0\n    let mut acts: Vec<Fn(i64) -> i64> = #[|n| n + 1]\n"
           "    acts.push(|n| { fs::write(\"x\", \"b\").unwrap()\n n })\n"
           "    for i in 0..10001 {\n        let act = if i == 10000 { acts[1] } else { acts[0] }\n"
           "        total = total + call(act, i)\n    }\n    total.to_string()"});
  // The same site reads inside, then outside.
  tree.write("in.txt", "inside");
  expectDenied(
      tree, Level::Confined,
      {.uses = {"fs"},
       .body =
           "let mut last = \"\"\n    for i in 0..2000 {\n        let path = if i == 1999 { \"" +
           tree.relativeCanary() +
           "\" } else { \"in.txt\" }\n        last = fs::read_to_string(path).unwrap()\n    }\n    last",
       .call = "fs::read_to_string"});
  // What does not run is not refused, and has no effect.
  for (
      StringRef body :
      {"if false { fs::write(\"x\", \"b\").unwrap() }\n    \"done\"",
       "let f = || fs::write(\"x\", \"b\")\n    let _ = f\n    \"done\"",
       "let skip = true\n    if !skip && fs::write(\"x\", \"b\").is_ok() { \"wrote\" } else { \"done\" }",
       "for i in 0..0 { fs::write(\"x\", \"b\").unwrap() }\n    \"done\"",
       "match 1 {\n        2 => { fs::write(\"x\", \"b\").unwrap()\n \"wrote\" }\n        _ => \"done\"\n    }"})
    for (Level level : kAllLevels) {
      expectAllowed(tree, level, {.uses = {"fs"}, .body = body.str()}, "done");
      CHECK(!tree.exists("x"));
    }
}

TEST_CASE("T056 after a denial nothing more of the fold runs") {
  Tree tree;
  tree.write("in.txt", "inside");
  const Act act{
      .uses = {"fs"},
      .body =
          "println!(\"printed before\")\n    let _ = fs::write(\"x\", \"b\")\n    println!(\"printed after\")\n"
          "    fs::read_to_string(\"in.txt\").unwrap()",
      .call = "fs::write",
      .klass = "filesystem write"};
  tree.write("main.gos", program(act));
  Traced run;
  const Launch check = command(tree, "check", Level::Confined, {});
  if (canTrace()) {
    run = traced(check);
    for (const SystemCall& call : run.calls)
      CHECK_MESSAGE((call.name == "read" || !StringRef(call.text).contains("in.txt")), call.text);
  } else {
    run.outcome = launch(check);
  }
  checkOutcome(run.outcome, tree);
  CHECK(run.outcome.exitCode == 1);
  const StringRef err = run.outcome.err;
  CHECK_MESSAGE(err.contains("GX0010"), err.str());
  CHECK_MESSAGE(err.contains("printed: printed before"), err.str());
  CHECK_MESSAGE(!err.contains("printed: printed after"), err.str());
  // No handler of the language sees it.
  for (
      StringRef body :
      {"fs::write(\"x\", \"b\").unwrap_or(())\n    \"went on\"",
       "match fs::write(\"x\", \"b\") {\n        Ok(_) => \"went on\"\n        Err(_) => \"went on\"\n    }",
       "if let Ok(_) = fs::write(\"x\", \"b\") { \"went on\" } else { \"went on\" }"})
    expectDenied(
        tree, Level::Confined,
        {.uses = {"fs"}, .body = body.str(), .call = "fs::write", .klass = "filesystem write"});
  // No later region either.
  tree.write(
      "main.gos",
      "use std::fs\n\nconst A: bool = comptime { fs::write(\"x\", \"b\").is_ok() }\n"
      "const B: String = comptime { println!(\"a second region\")\n fs::read_to_string(\"in.txt\").unwrap() }\n\n"
      "fn main() { println!(\"{} {}\", A, B) }\n");
  const Outcome two = launch(command(tree, "check", Level::Confined, {}));
  CHECK(two.exitCode == 1);
  CHECK_MESSAGE(!StringRef(two.err).contains("a second region\n"), two.err);
}

TEST_CASE("T057 a dependency's call is reported with the way to it") {
  Tree tree;
  tree.write("project.toml",
             "[project]\nid = \"example.com/app\"\nversion = \"1.0.0\"\n\n[dependencies]\n"
             "\"example.com/tools\" = { path = \"tools\" }\n");
  tree.write("tools/project.toml", "[project]\nid = \"example.com/tools\"\nversion = \"1.0.0\"\n");
  tree.write(
      "tools/src/lib.gos",
      "use std::fs\n\nfn inner(path: String) -> String {\n    fs::write(path, \"b\").unwrap()\n    \"wrote\"\n}\n\n"
      "pub fn act(path: String) -> String { inner(path) }\n\n"
      "pub fn unused() -> bool { true }\n");
  tree.write(
      "src/main.gos",
      "use \"example.com/tools\"\n\nfn middle() -> String { tools::act(\"x\") }\n\n"
      "const ANSWER: String = comptime { middle() }\n\nfn main() { println!(\"{}\", ANSWER) }\n");
  Where where;
  where.operand = ".";
  where.file = "tools/src/lib.gos";
  for (StringRef detail : {"act", "middle", "example.com/tools", "src/main.gos"}) {
    Act act{.call = "fs::write", .klass = "filesystem write"};
    act.detail = detail.str();
    for (Level level : kBelowFull)
      expectProgramDenied(tree, level, act, where);
  }
  CHECK(!tree.exists("tools/src/x"));
  expectProgramAllowed(tree, Level::Full, "wrote", where);
}

TEST_CASE("T058 every command that folds folds gated, and the others fold nothing") {
  Tree tree;
  const Act act{.uses = {"fs"},
                .body = "fs::write(\"x\", \"b\").unwrap()\n    \"wrote\"",
                .call = "fs::write",
                .klass = "filesystem write"};
  tree.write("main.gos", program(act));
  for (StringRef verb : {"check", "run", "disassemble"})
    for (Level level : kBelowFull) {
      const Outcome outcome = launch(command(tree, verb, level, {}));
      checkOutcome(outcome, tree);
      CHECK(outcome.exitCode == 1);
      CHECK_MESSAGE(StringRef(outcome.err).contains("GX0010"), outcome.err);
      CHECK(outcome.out.empty());
      CHECK(!tree.exists("x"));
    }
  for (StringRef verb : {"parse", "fmt", "clean", "explain", "help", "--version"}) {
    Launch call;
    call.directory = tree.root();
    call.arguments = {verb.str()};
    if (verb == "parse" || verb == "fmt" || verb == "clean")
      call.arguments.push_back("main.gos");
    const Outcome outcome = launch(call);
    CHECK(outcome.exitCode == 0);
    CHECK(!tree.exists("x"));
  }
  // The control.
  for (StringRef verb : {"check", "run", "disassemble"}) {
    CHECK(launch(command(tree, verb, Level::Full, {})).exitCode == 0);
    CHECK(tree.exists("x"));
    std::remove(tree.in("x").c_str());
  }
}

TEST_CASE("T059 a fold ends under the policy it began with") {
  Tree tree;
  const std::string head = "[project]\nid = \"example.com/app\"\nversion = \"1.0.0\"\n";
  tree.write("project.toml", head + "comptime-io = \"full\"\n");
  tree.write("src/in.txt", "inside");
  Where where;
  where.operand = ".";
  // A region that rewrites the manifest changes nothing for the next one.
  tree.write(
      "src/main.gos",
      "use std::fs\n\nconst A: bool = comptime { fs::write(\"../project.toml\", \"[project]\\nid = \\\"example.com/app\\\"\\n"
      "version = \\\"1.0.0\\\"\\ncomptime-io = \\\"none\\\"\\n\").is_ok() }\n"
      "const B: String = comptime { fs::read_to_string(\"in.txt\").unwrap() }\n\nfn main() { println!(\"{} {}\", A, B) }\n");
  const Outcome full = launch(command(tree, "check", Level::Full, where));
  CHECK_MESSAGE(full.exitCode == 0, full.err);
  CHECK(StringRef(tree.readAll("project.toml")).contains("none"));
  // Rewritten by a partner all the time: one level or the other, never a third thing.
  tree.write(
      "src/main.gos",
      program(
          {.uses = {"fs"},
           .body =
               "for i in 0..2000 { let _ = fs::read_to_string(\"in.txt\").unwrap() }\n    \"read\""}));
  tree.write("none.toml", head + "comptime-io = \"none\"\n");
  tree.write("full.toml", head + "comptime-io = \"full\"\n");
  std::atomic<bool> stop = false;
  std::thread partner([&] {
    for (int i = 0; !stop; ++i) {
      tree.write("next.toml", tree.readAll(i % 2 ? "none.toml" : "full.toml"));
      (void)::rename(tree.in("next.toml").c_str(), tree.in("project.toml").c_str());
    }
  });
  const int rounds = fullRun() ? 200 : 30;
  for (int round = 0; round < rounds; ++round) {
    const Outcome outcome = launch(command(tree, "check", Level::Confined, where));
    checkOutcome(outcome, tree);
    const StringRef err = outcome.err;
    const bool allowed = outcome.exitCode == 0;
    const bool denied =
        outcome.exitCode == 1 && err.contains("GX0010") && err.contains("--comptime-io=none");
    CHECK_MESSAGE((allowed || denied), outcome.err);
  }
  stop = true;
  partner.join();
}

} // namespace
} // namespace gos::threats
