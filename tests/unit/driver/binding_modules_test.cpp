// Modules of Rust bindings in a program: how they are named, what the checker says of misuse, what
// a call becomes, and what a compile-time region may not do. The library is the fake one of
// tests/support; Cargo has no part in it.

#include "compiler/bindings/declarations.h"
#include "compiler/driver/binding_modules.h"
#include "compiler/fold/fold.h"
#include "compiler/lower/lowering.h"
#include "compiler/parse/parse.h"
#include "stdlib/builtins.h"
#include "tests/support/fake_library.h"
#include "vm/disassembler.h"
#include "vm/vm.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>

using namespace gos;
using bindings::ModuleSignature;
using bindings::Signatures;

namespace {

Signatures fakeSignatures() {
  Signatures signatures;
  ModuleSignature shapes;
  shapes.path = "other::shapes";
  shapes.crate = "fake-stats";
  shapes.structs = {{"Point", {{"x", "f64"}, {"y", "f64"}}, "A place."}, {"Nothing", {}, ""}};
  ModuleSignature fast;
  fast.path = "stats::fast";
  fast.crate = "fake-stats";
  fast.documentation = "Numbers, fast.";
  fast.opaques = {{"Counter", "Counts on its own."}};
  fast.functions = {
      {"add", "fake_add", {{"left", "i64"}, {"right", "i64"}}, "i64", "The sum.\nOf two."},
      {"same", "fake_echo", {{"values", "Vec<f64>"}}, "Vec<f64>", ""},
      {"mirror", "fake_mirror", {{"point", "Point"}}, "Point", ""},
      {"nothing", "fake_nothing", {{"it", "Nothing"}}, "Nothing", ""},
      {"table",
       "fake_table",
       {{"rows", "HashMap<String, Vec<i64>>"}},
       "HashMap<String, Vec<i64>>",
       ""},
      {"maybe", "fake_maybe", {{"it", "Option<(i64, String)>"}}, "Option<(i64, String)>", ""},
      {"outcome", "fake_outcome", {{"it", "Result<(), String>"}}, "Result<(), String>", ""},
      {"counter", "fake_counter", {}, "Counter", ""},
      {"number", "fake_handle", {{"counter", "&mut Counter"}}, "i64", ""},
      {"released", "fake_released", {}, "i64", ""},
      {"script", "fake_script", {{"bytes", "Vec<u8>"}}, "i64", ""},
  };
  signatures.modules = {shapes, fast};
  return signatures;
}

struct Outcome {
  std::string output;
  std::string panic;
  std::string diagnostics;
  std::string code; // of the module, disassembled
};

class Program {
public:
  explicit Program(Signatures signatures = fakeSignatures()) : signatures_(std::move(signatures)) {
    Package root;
    root.moduleName = "main";
    root.manifest.emplace();
    RustBinding binding;
    binding.key = "fake-stats";
    root.manifest->bindings.push_back(binding);
    project.packages.push_back(root);
  }

  Project project;
  std::vector<std::pair<std::vector<std::string>, std::string>> files; // module path, text
  ComptimeIo level = ComptimeIo::Confined;
  bool isLoaded = false; // afterwards: has anything loaded the library?

  Outcome run(llvm::StringRef source) {
    Outcome outcome;
    SourceMap sources;
    Engine engine(sources);
    ast::Context context;
    check::ProgramInput input{context, sources, &check::standardLibrary()};
    const UniqueFd image = test::fakeLibrary();
    const auto library =
        stdlib::ForeignLibrary::create(image.get(), driver::foreignOffers(signatures_));
    auto program = compile(source, input, engine, *library);
    isLoaded = library->isLoaded();
    for (const Diagnostic& each : engine.diagnostics()) {
      outcome.diagnostics += (spelling(each.code) + " " + each.message + "\n").str();
      for (const auto& note : each.notes)
        outcome.diagnostics += "  " + note + "\n";
    }
    if (!program || engine.hasErrors())
      return outcome;
    auto module = lower::lower(*program, {}, engine);
    if (!module) {
      outcome.diagnostics += llvm::toString(module.takeError());
      return outcome;
    }
    outcome.code = vm::disassemble(*module);
    // As a fold at level full, which keeps what is printed.
    ComptimePolicy policy = policyAt(ComptimeIo::Full);
    vm::VmOptions options;
    options.policy = &policy;
    options.regionPackage = 1;
    options.foreign = library.get();
    auto machine = vm::Vm::create(*module, stdlib::nativeTable(), std::move(options));
    if (!machine) {
      outcome.diagnostics += "refused: " + llvm::toString(machine.takeError());
      return outcome;
    }
    vm::Value result = 0;
    vm::Trap trap = (*machine)->run(module->entry, result);
    outcome.output = (*machine)->capturedOutput().str();
    if (trap)
      outcome.panic = trap->message;
    isLoaded = library->isLoaded();
    return outcome;
  }
  std::string output(llvm::StringRef source) {
    const Outcome outcome = run(source);
    return outcome.diagnostics + outcome.output +
           (outcome.panic.empty() ? "" : "panic: " + outcome.panic);
  }

private:
  static ComptimePolicy policyAt(ComptimeIo level) {
    ComptimePolicy policy;
    policy.commandLine = level;
    policy.packages.emplace_back();
    policy.packages[0].level = ComptimeIo::Full;
    return policy;
  }

  std::optional<check::Program> compile(llvm::StringRef source, check::ProgramInput& input,
                                        Engine& engine, stdlib::ForeignLibrary& library) {
    resolve::Package package;
    package.name = "main";
    const auto add = [&](std::vector<std::string> path, llvm::StringRef text, bool isEntry) {
      auto file = input.sources.addCopy(isEntry ? "main.gos" : path.back() + ".gos", text);
      REQUIRE(bool(file));
      parse::ParseOptions options;
      options.isEntry = isEntry;
      resolve::SourceModule module;
      module.path = std::move(path);
      module.file = parse::parseFile(*file, input.sources, input.context, engine, options);
      module.file.module->package = 1;
      package.modules.push_back(module);
    };
    add({}, source, true);
    for (const auto& [path, text] : files)
      add(path, text, false);
    for (const PackageDependency& each : project.packages[0].dependencies)
      package.dependencies.push_back({each.moduleName, each.key, each.package + 1});
    input.packages.push_back(package);
    if (engine.hasErrors() || !driver::addBindingModules(project, signatures_, input, engine))
      return std::nullopt;
    const ComptimePolicy policy = policyAt(level);
    fold::FoldContext fold{input, policy, stdlib::nativeTable(), engine, {}, 0, 0};
    fold.foreign = &library;
    for (;;) {
      std::optional<check::Program> program = check::check(input, engine);
      if (engine.hasErrors())
        return std::nullopt;
      switch (fold::foldRound(fold, *program)) {
      case fold::FoldOutcome::Nothing:
        return program;
      case fold::FoldOutcome::Failed:
        return std::nullopt;
      case fold::FoldOutcome::Spliced:
        break;
      }
    }
  }

  Signatures signatures_;
};

std::string output(llvm::StringRef source) {
  return Program().output(source);
}

} // namespace

TEST_CASE("a module is used by its name, by a part of it, and by its whole path") {
  CHECK(output("use stats::fast\nprintln!(\"{}\", fast::add(40, 2))") == "42\n");
  CHECK(output("use stats::fast::add\nprintln!(\"{}\", add(40, 2))") == "42\n");
  CHECK(output("use stats\nprintln!(\"{}\", stats::fast::add(40, 2))") == "42\n");
  CHECK(output("println!(\"{}\", stats::fast::add(40, 2))") == "42\n");
  CHECK(output("use stats::fast::{add, same}\nprintln!(\"{} {:?}\", add(left: 1, right: 2), "
               "same(#[1.5]))") == "3 #[1.5]\n");
}

TEST_CASE("values of every kind cross and come back") {
  CHECK(output("use stats::fast\nprintln!(\"{:?}\", fast::same(#[1.0, -2.5]))") ==
        "#[1.0, -2.5]\n");
  CHECK(output("use stats::fast\nuse other::shapes::Point\n"
               "println!(\"{:?}\", fast::mirror(Point { x: 1.0, y: 2.0 }))") ==
        "Point { x: 1.0, y: 2.0 }\n");
  CHECK(output("use stats::fast\nuse std::collections::Map\nlet mut m: Map<String, Vec<i64>> = "
               "Map::new()\n"
               "m.insert(\"a\", #[1, 2])\nprintln!(\"{:?}\", fast::table(m))") ==
        "{\"a\": #[1, 2]}\n");
  CHECK(output("use stats::fast\nprintln!(\"{:?} {:?}\", fast::maybe(Some((1, \"x\"))), "
               "fast::maybe(None))") == "Some((1, \"x\")) None\n");
  CHECK(output("use stats::fast\nprintln!(\"{:?} {:?}\", fast::outcome(Ok(())), "
               "fast::outcome(Err(\"no\")))") == "Ok(()) Err(\"no\")\n");
}

TEST_CASE("a function of a binding is a value") {
  CHECK(output("use stats::fast\nfn twice(f: Fn(i64, i64) -> i64) -> i64 { f(f(1, 2), 3) }\n"
               "println!(\"{}\", twice(fast::add))") == "6\n");
  CHECK(output("use stats::fast\nlet f = fast::add\nprintln!(\"{}\", f(1, 2))") == "3\n");
}

TEST_CASE("a value that stays in Rust is held and let go of") {
  CHECK(output("use stats::fast\nuse stats::fast::Counter\nfn keep(c: Counter) -> i64 { "
               "fast::number(c) }\n"
               "let before = fast::released()\n"
               "{ let c = fast::counter()\nlet d = c\nprintln!(\"{:?} {} {}\", c, d == c, keep(d) "
               "== fast::number(c)) }\n"
               "println!(\"{}\", fast::released() - before)") == "Counter(..) true true\n1\n");
  CHECK(output("use stats::fast\nlet all = #[fast::counter(), fast::counter()]\n"
               "println!(\"{:?} {}\", all, all[0] == all[1])") ==
        "#[Counter(..), Counter(..)] false\n");
}

TEST_CASE("a value that stays in Rust is not made, ordered, defaulted or written as JSON") {
  struct Row {
    const char* code;
    const char* statement;
  };
  for (const Row& row :
       {Row{"GT0065", "let d = Counter { handle: 1 }"}, Row{"GT0065", "let d = Counter { }"},
        Row{"GT0065", "println!(\"{}\", c.handle)"}, Row{"GT0065", "let d = Counter { ..c }"},
        Row{"GT0065", "match c { Counter { handle } => println!(\"{}\", handle) }"},
        Row{"GT0003", "println!(\"{}\", c < c)"}, Row{"GT0017", "let mut all = #[c]\nall.sort()"},
        Row{"GT0017", "let d: Counter = Default::default()"},
        Row{"GT0017", "println!(\"{:?}\", to_json(c))"},
        Row{"GT0017", "println!(\"{}\", from_json::<Counter>(\"1\").is_ok())"},
        Row{"GR0012", "for (name, kind) in typeInfo::<Counter>() { println!(\"{}\", name) }"}}) {
    CAPTURE(row.statement);
    const Outcome outcome = Program().run(
        std::string("use stats::fast\nuse stats::fast::Counter\nlet c = fast::counter()\n") +
        row.statement);
    CAPTURE(outcome.diagnostics);
    CHECK(llvm::StringRef(outcome.diagnostics).starts_with(row.code));
    CHECK(outcome.output.empty());
  }
}

TEST_CASE("a value that stays in Rust is a key, is cloned, and gets methods in the program") {
  CHECK(
      output("use stats::fast\nuse stats::fast::Counter\nuse std::collections::Map\n"
             "let c = fast::counter()\nlet mut m: Map<Counter, i64> = Map::new()\nm.insert(c, 1)\n"
             "println!(\"{:?} {} {}\", m, m[c], c.clone() == c)") == "{Counter(..): 1} 1 true\n");
  CHECK(output("use stats::fast\nuse stats::fast::Counter\nimpl Counter { fn mine(&self) -> i64 { "
               "fast::number(self) } }\n"
               "let c = fast::counter()\nprintln!(\"{}\", c.mine() == fast::number(c))") ==
        "true\n");
}

TEST_CASE("mistakes at a call are the ordinary ones") {
  CHECK(llvm::StringRef(output("use stats::fast\nfast::add(1)")).starts_with("GT0018"));
  CHECK(llvm::StringRef(output("use stats::fast\nfast::add(1, \"x\")")).starts_with("GT0"));
  CHECK(llvm::StringRef(output("use stats::fast\nfast::adds(1, 2)")).starts_with("GR0"));
  CHECK(llvm::StringRef(output("use stats::slow")).starts_with("GR0"));
  CHECK(llvm::StringRef(output("use statz::fast")).starts_with("GR0"));
}

TEST_CASE("a panic of the library and an answer that is broken end the program") {
  CHECK(output("use stats::fast\nfast::script(#[1u8, 104u8, 105u8])") ==
        "panic: hi (in the Rust function `stats::fast::script`)");
  CHECK(
      output("use stats::fast\nlet n = fast::script(#[0u8, 1u8])") ==
      "panic: the answer of the Rust function `stats::fast::script` is broken: it ends too early");
}

TEST_CASE("a call is an import that names symbol and signature") {
  const Outcome outcome = Program().run("use stats::fast\nprintln!(\"{}\", fast::add(1, 2))");
  CHECK(llvm::StringRef(outcome.code)
            .contains(
                "rust:stats::fast::add(i64, i64) -> i64  ; symbol fake_add, fn(i64, i64) -> i64"));
}

TEST_CASE("T040 a compile-time region calls no binding below full, and loads nothing") {
  const char* source =
      "use stats::fast\nconst N: i64 = comptime { fast::add(1, 2) }\nprintln!(\"{}\", N)";
  for (ComptimeIo level : {ComptimeIo::None, ComptimeIo::Confined}) {
    Program program;
    program.level = level;
    const Outcome outcome = program.run(source);
    CAPTURE(outcome.diagnostics);
    CHECK(
        llvm::StringRef(outcome.diagnostics)
            .starts_with(("GX0010 `fast::add` needs foreign function call, which `--comptime-io=" +
                          spelling(level) + "` does not allow here")
                             .str()));
    CHECK(llvm::StringRef(outcome.diagnostics)
              .contains("`fast::add` is the Rust function `stats::fast::add`"));
    CHECK(!program.isLoaded);
  }
  Program program;
  program.level = ComptimeIo::Full;
  CHECK(program.output(source) == "3\n");
}

TEST_CASE("T040 a binding is denied as a value, through a function and in a container") {
  for (const char* region : {"comptime { let f = fast::add\nf(1, 2) }", "comptime { through() }",
                             "comptime { let all = #[fast::add]\nlet g = all[0]\ng(1, 2) }",
                             "comptime { let g = |a: i64| fast::add(a, 2)\ng(1) }"}) {
    Program program;
    const Outcome outcome =
        program.run(std::string("use stats::fast\nfn through() -> i64 { fast::add(1, 2) }\n"
                                "const N: i64 = ") +
                    region + "\nprintln!(\"{}\", N)");
    CAPTURE(region);
    CAPTURE(outcome.diagnostics);
    CHECK(llvm::StringRef(outcome.diagnostics).contains("needs foreign function call"));
    CHECK(!program.isLoaded);
  }
}

TEST_CASE("a program that only names a binding in code that a region does not reach folds") {
  Program program;
  CHECK(program.output(
            "use stats::fast\nfn f(run: bool) -> i64 { if run { fast::add(1, 2) } else { 5 } }\n"
            "const N: i64 = comptime { f(false) }\nprintln!(\"{}\", N)") == "5\n");
}

TEST_CASE("the user's source cannot say that a function is foreign") {
  const Outcome outcome = Program().run("#[foreign(\"fake_add\")]\nfn mine(a: i64, b: i64) -> i64\n"
                                        "println!(\"{}\", mine(1, 2))");
  CHECK(outcome.output.empty());
  CHECK(!outcome.diagnostics.empty());
  CHECK(!llvm::StringRef(outcome.code).contains("fake_add"));
}

TEST_CASE(
    "a module that has the name of something of the package is refused at the manifest's key") {
  {
    Program program;
    program.files.push_back({{"stats"}, "pub fn f() -> i64 { 1 }"});
    CHECK(llvm::StringRef(program.output("println!(\"x\")"))
              .starts_with("GJ0043 Rust binding `fake-stats` is not valid: its module "
                           "`stats::fast` begins with the "
                           "name of the module `stats` of the package"));
  }
  {
    Program program;
    CHECK(llvm::StringRef(program.output("mod stats { pub fn f() -> i64 { 1 } }\nprintln!(\"x\")"))
              .starts_with("GJ0043 Rust binding `fake-stats` is not valid: its module "
                           "`stats::fast` begins with the "
                           "name of `stats` of the package"));
  }
  {
    Program program;
    program.project.packages[0].dependencies.push_back({"stats", "example.com/stats", 0, {}});
    CHECK(llvm::StringRef(program.output("println!(\"x\")"))
              .starts_with("GJ0043 Rust binding `fake-stats` is not valid: its module "
                           "`stats::fast` begins with the "
                           "name of the dependency `example.com/stats`"));
  }
}

TEST_CASE("a package that names no crate of it does not see a module") {
  Program program;
  program.project.packages[0].manifest->bindings.clear();
  CHECK(llvm::StringRef(program.output("use stats::fast")).starts_with("GR0"));
}

TEST_CASE("the crate's name may be written with `-` or `_`, and what no manifest names is seen by "
          "all with bindings") {
  const char* source = "use stats::fast\nprintln!(\"{}\", fast::add(40, 2))";
  Program program;
  program.project.packages[0].manifest->bindings[0].key = "fake_stats";
  CHECK(program.output(source) == "42\n");
  Program beneath;
  beneath.project.packages[0].manifest->bindings[0].key = "another";
  CHECK(beneath.output(source) == "42\n");
}

TEST_CASE("declarations are Gossamer source") {
  const auto declarations = bindings::declarationsOf(fakeSignatures());
  REQUIRE(declarations.size() == 2);
  CHECK(declarations[0].path == "other::shapes");
  CHECK(declarations[0].text ==
        "/// A place.\npub struct Point {\n    pub x: f64,\n    pub y: f64,\n}\n\n"
        "pub struct Nothing\n\n");
  const llvm::StringRef text = declarations[1].text;
  CHECK(text.starts_with(
      "/// Numbers, fast.\n\nuse other::shapes::Nothing\nuse other::shapes::Point\n"));
  CHECK(text.contains("/// Counts on its own.\npub struct Counter { handle: i64 }\n"));
  CHECK(text.contains("/// The sum.\n/// Of two.\npub fn add(left: i64, right: i64) -> i64\n"));
  CHECK(text.contains("pub fn table(rows: Map<String, Vec<i64>>) -> Map<String, Vec<i64>>\n"));
  CHECK(text.contains("pub fn number(counter: Counter) -> i64\n"));
  CHECK(text.contains("pub fn counter() -> Counter\n"));
}

TEST_CASE("T077 documentation cannot leave its comment or turn the text around") {
  Signatures signatures = fakeSignatures();
  signatures.modules[1].functions[0].documentation = "first\r\nfn evil() { }\n\xe2\x80\xae"
                                                     "back\x1b[31m\n\xff ok";
  const auto declarations = bindings::declarationsOf(signatures);
  CHECK(llvm::StringRef(declarations[1].text)
            .contains("/// first\n/// fn evil() { }\n/// back[31m\n///  ok\npub fn add("));
  CHECK(Program(signatures).output("use stats::fast\nprintln!(\"{}\", fast::add(1, 2))") == "3\n");
}
