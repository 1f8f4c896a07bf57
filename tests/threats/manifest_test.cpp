// Section 5 of the catalogue: manifest and command line.

#include "tests/threats/support.h"

#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

namespace gos::threats {
namespace {

using llvm::StringRef;

constexpr const char* kProject = "[project]\nid = \"example.com/app\"\nversion = \"1.0.0\"\n";

Act readInside() {
  return {.uses = {"fs"},
          .body = "fs::read_to_string(\"in.txt\").unwrap()",
          .call = "fs::read_to_string"};
}
Act writeNew() {
  return {.uses = {"fs"},
          .body = "fs::write(\"new\", \"x\").unwrap()\n    \"wrote\"",
          .call = "fs::write",
          .klass = "filesystem write"};
}

/// A project in R that reads its own file.
void makeProject(const Tree& tree, StringRef extra = "") {
  tree.write("project.toml", kProject + extra.str());
  tree.write("src/in.txt", "inside");
  tree.write("src/main.gos", program(readInside()));
}
Where project() {
  Where where;
  where.operand = ".";
  return where;
}

TEST_CASE("T063 the strictest of workspace, package and command line holds") {
  Tree tree;
  tree.write("project.toml", std::string(kProject) + "comptime-io = \"none\"\n");
  tree.write("src/main.gos", "fn main() {}\n");
  tree.write("sub/src/in.txt", "inside");
  tree.write("sub/src/main.gos", program(readInside()));
  Where sub;
  sub.operand = "sub/src/main.gos";
  // A manifest above that is no workspace does not count; the nearest one sets the root.
  for (StringRef level : {"", "comptime-io = \"confined\"\n"}) {
    tree.write("sub/project.toml",
               "[project]\nid = \"example.com/sub\"\nversion = \"1.0.0\"\n" + level.str());
    expectProgramAllowed(tree, Level::Confined, "inside", sub);
  }
  // A workspace that lists it tightens.
  for (StringRef member : {"sub", "s*", "./sub"}) {
    tree.write("project.toml", std::string(kProject) +
                                   "comptime-io = \"none\"\n\n[workspace]\nmembers = [\"" +
                                   member.str() + "\"]\n");
    for (StringRef level : {"", "comptime-io = \"confined\"\n", "comptime-io = \"full\"\n"}) {
      tree.write("sub/project.toml",
                 "[project]\nid = \"example.com/sub\"\nversion = \"1.0.0\"\n" + level.str());
      for (const char* flag : {"--comptime-io=confined", "--comptime-io=full"}) {
        INFO("member " << member.str() << ", " << level.str() << flag);
        const Outcome outcome = launch([&] {
          Where where = sub;
          where.options = {flag};
          return command(tree, "check", std::nullopt, where);
        }());
        checkOutcome(outcome, tree);
        CHECK(outcome.exitCode == 1);
        CHECK_MESSAGE(StringRef(outcome.err).contains("GX0010"), outcome.err);
        CHECK_MESSAGE(StringRef(outcome.err).contains("--comptime-io=none"), outcome.err);
      }
    }
  }
  // It never loosens: a workspace that says full leaves none in force.
  tree.write("project.toml", std::string(kProject) +
                                 "comptime-io = \"full\"\n\n[workspace]\nmembers = [\"sub\"]\n");
  tree.write("sub/project.toml",
             "[project]\nid = \"example.com/sub\"\nversion = \"1.0.0\"\ncomptime-io = \"none\"\n");
  const Outcome outcome = launch(command(tree, "check", Level::Confined, sub));
  CHECK(StringRef(outcome.err).contains("GX0010"));
  // A pattern and a link that leave the workspace.
  tree.write("project.toml",
             std::string(kProject) + "\n[workspace]\nmembers = [\"../" + tree.marker() + "\"]\n");
  const Outcome pattern = launch(command(tree, "check", Level::Confined, sub));
  checkOutcome(pattern, tree);
  CHECK_MESSAGE(pattern.exitCode == 1, pattern.err);
  tree.write("project.toml", std::string(kProject) + "\n[workspace]\nmembers = [\"away\"]\n");
  tree.link("away", tree.outside());
  const Outcome link = launch(command(tree, "check", Level::Confined, sub));
  checkOutcome(link, tree);
  CHECK_MESSAGE(link.exitCode == 1, link.err);
  CHECK_MESSAGE(StringRef(link.err).contains("GJ0025"), link.err);
}

TEST_CASE("T064 a manifest that asks for full gets confined and is told so") {
  Tree tree;
  makeProject(tree, "comptime-io = \"full\"\n");
  tree.write("src/main.gos", program(writeNew()));
  Where where = project();
  where.passLevel = false;
  const Outcome outcome = launch(command(tree, "check", std::nullopt, where));
  checkOutcome(outcome, tree);
  CHECK(outcome.exitCode == 1);
  CHECK_MESSAGE(StringRef(outcome.err).contains("GX0010"), outcome.err);
  CHECK_MESSAGE(StringRef(outcome.err).contains("warning[GJ0023]"), outcome.err);
  CHECK_MESSAGE(StringRef(outcome.err).contains("--comptime-io=full"), outcome.err);
  CHECK(!tree.exists("src/new"));
  // It is a warning: what confined allows is allowed.
  tree.write("src/main.gos", program(readInside()));
  CHECK(launch(command(tree, "run", std::nullopt, where)).out == "inside\n");
  // And what was asked for is granted where the user grants it.
  tree.write("src/main.gos", program(writeNew()));
  expectProgramAllowed(tree, Level::Full, "wrote", project());
}

TEST_CASE("T065 an unknown level is an error that lists the words, never a default") {
  Tree tree;
  const char* values[] = {"\"nonee\"",
                          "\"NONE\"",
                          "\" none\"",
                          "\"none \"",
                          "\"\"",
                          "true",
                          "0",
                          "[\"none\"]",
                          "{ level = \"none\" }",
                          "\"none\\u0000\"",
                          "none"};
  for (StringRef key : {"comptime-io", "sandbox"})
    for (const char* value : values) {
      makeProject(tree, (key + " = " + value + "\n").str());
      INFO(key.str() << " = " << std::string(value));
      Where where = project();
      where.options = {"--message-format=json"};
      const Outcome outcome = launch(command(tree, "check", std::nullopt, where));
      checkOutcome(outcome, tree);
      CHECK_MESSAGE(outcome.exitCode == 1, outcome.err);
      const auto diagnostics = parseDiagnostics(outcome.err);
      REQUIRE(!diagnostics.empty());
      CHECK(diagnostics.size() == 1);
      CHECK(StringRef(diagnostics[0].code).starts_with("GJ"));
      const JsonLabel* primary = diagnostics[0].primary();
      REQUIRE(primary);
      CHECK(StringRef(primary->file).ends_with("project.toml"));
      CHECK(primary->line == 4);
      if (StringRef(value).starts_with("\"") && !StringRef(value).contains("u0000"))
        CHECK_MESSAGE(
            (StringRef(diagnostics[0].all()).contains(key == "sandbox" ? "standard" : "confined")),
            diagnostics[0].all());
    }
  makeProject(tree);
  for (const char* word :
       {"nonee", "NONE", " none", "none ", "", "true", "0", "Full", "confined,full"})
    expectUsageError(tree, {"check", std::string("--comptime-io=") + word, "."},
                     "none, confined, full");
  expectUsageError(tree, {"check", "--comptime-io"}, "--comptime-io");
}

TEST_CASE("T066 doubles and look-alikes are errors") {
  Tree tree;
  const char* manifests[] = {
      "[project]\nid = \"example.com/app\"\nversion = \"1.0.0\"\ncomptime-io = \"none\"\ncomptime-io = \"full\"\n",
      "[project]\nid = \"example.com/app\"\nversion = \"1.0.0\"\n[project]\ncomptime-io = \"full\"\n",
      "project.comptime-io = \"full\"\n[project]\nid = \"example.com/app\"\nversion = \"1.0.0\"\ncomptime-io = \"none\"\n",
      "[project]\nid = \"example.com/app\"\nversion = \"1.0.0\"\ncomptime_io = \"none\"\n",
      "[project]\nid = \"example.com/app\"\nversion = \"1.0.0\"\ncomptimeIo = \"none\"\n",
      "[project]\nid = \"example.com/app\"\nversion = \"1.0.0\"\nComptime-io = \"none\"\n",
      "[project]\nid = \"example.com/app\"\nversion = \"1.0.0\"\n\"comptime-i\xd0\xbe\" = \"none\"\n",
      "[project]\nid = \"example.com/app\"\nversion = \"1.0.0\"\n\"comptime-io \" = \"none\"\n",
      "comptime-io = \"none\"\n[project]\nid = \"example.com/app\"\nversion = \"1.0.0\"\n",
      "[project]\nid = \"example.com/app\"\nversion = \"1.0.0\"\n[dependencies]\ncomptime-io = \"none\"\n",
      "[project]\nid = \"example.com/app\"\nversion = \"1.0.0\"\n[workspace]\nmembers = []\ncomptime-io = \"none\"\n",
      "[Project]\nid = \"example.com/app\"\nversion = \"1.0.0\"\ncomptime-io = \"none\"\n",
      "[[project]]\nid = \"example.com/app\"\nversion = \"1.0.0\"\ncomptime-io = \"none\"\n",
  };
  for (const char* manifest : manifests) {
    makeProject(tree);
    tree.write("project.toml", manifest);
    INFO("manifest:\n" << std::string(manifest));
    Where where = project();
    where.options = {"--message-format=json"};
    const Outcome outcome = launch(command(tree, "check", std::nullopt, where));
    checkOutcome(outcome, tree);
    CHECK_MESSAGE(outcome.exitCode == 1, outcome.err);
    const auto diagnostics = parseDiagnostics(outcome.err);
    REQUIRE(!diagnostics.empty());
    CHECK(StringRef(diagnostics[0].code).starts_with("GJ"));
    CHECK(diagnostics[0].primary() != nullptr);
  }
  // The control; `enforce-format` and the forms of a reference are keys as well.
  makeProject(tree, "comptime-io = \"confined\"\nenforce-format = true\n");
  expectProgramAllowed(tree, Level::Confined, "inside", project());
  makeProject(
      tree,
      "\n[dependencies]\n\"example.com/x\" = { git = \"https://example.com/x\", tag = \"1\", branch = \"main\" }\n");
  CHECK_MESSAGE(
      StringRef(launch(command(tree, "check", Level::Confined, project())).err).contains("GJ0028"),
      "two references of one source");
}

TEST_CASE("T067 a manifest names nothing outside of its package") {
  Tree tree;
  for (StringRef line :
       {"output = \"../../.bashrc\"", "output = \"/tmp/out\"", "entry = \"/etc/passwd\"",
        "entry = \"../MARKER/canary.txt\"", "entry = \"src/../../MARKER/canary.txt\"",
        "output = \"\"", "entry = \"\"", "entry = \"src/main.gos\\u0000x\""}) {
    std::string text = line.str();
    for (size_t at; (at = text.find("MARKER")) != std::string::npos;)
      text.replace(at, 6, tree.marker());
    makeProject(tree, text + "\n");
    const std::string before = tree.snapshot();
    Where where = project();
    where.options = {"--message-format=json"};
    INFO("line: " << text);
    Outcome outcome;
    if (canTrace()) {
      const Traced run = traced(command(tree, "check", std::nullopt, where));
      outcome = run.outcome;
      checkNoSideEffect(run.calls, tree);
    } else {
      outcome = launch(command(tree, "check", std::nullopt, where));
    }
    checkOutcome(outcome, tree);
    CHECK_MESSAGE(outcome.exitCode == 1, outcome.err);
    const auto diagnostics = parseDiagnostics(outcome.err);
    REQUIRE(!diagnostics.empty());
    CHECK_MESSAGE(StringRef(diagnostics[0].code).starts_with("GJ"), diagnostics[0].all());
    CHECK(tree.snapshot() == before);
  }
  // An entry behind a link, and a manifest that is one.
  makeProject(tree, "entry = \"src/out.gos\"\n");
  tree.link("src/out.gos", tree.canary());
  expectProgramError(tree, Level::Confined, "GJ0014", "out.gos", project());
  makeProject(tree);
  tree.write(tree.out("project.toml"), std::string(kProject) + "# " + tree.token() + "\nbroken");
  tree.link("project.toml", tree.out("project.toml"));
  expectProgramError(tree, Level::Confined, "GJ0013", "project.toml", project());
  // It can't grant paths, variables or the network.
  for (StringRef line : {"comptime-read = [\"/etc\"]", "sandbox-rw = [\"/\"]",
                         "sandbox-network = true", "comptime-env = [\"HOME\"]"}) {
    tree.link("project.toml", "gone");
    std::remove(tree.in("project.toml").c_str());
    makeProject(tree, (line + "\n").str());
    expectProgramError(tree, Level::Confined, "GJ0001", line.split(' ').first, project());
  }
}

TEST_CASE("T068 a flag given twice is wrong usage, in both orders") {
  Tree tree;
  makeProject(tree);
  expectUsageError(tree, {"check", "--comptime-io=none", "--comptime-io=full", "."}, "twice");
  expectUsageError(tree, {"check", "--comptime-io=full", "--comptime-io=none", "."}, "twice");
  expectUsageError(tree, {"check", "--comptime-io", "full", ".", "--comptime-io=none"}, "twice");
  expectUsageError(tree, {"run", "--comptime-io=full", "--comptime-io=full", "."}, "twice");
  expectUsageError(tree, {"check", "--comptime-io=", "."}, "none, confined, full");
  expectUsageError(tree, {"check", "--comptime-io=full,none", "."}, "none, confined, full");
  expectUsageError(tree, {"check", "--comptime-steps=1", "--comptime-steps=100", "."}, "twice");
  expectUsageError(tree, {"check", "--message-format=json", "--message-format=text", "."}, "twice");
}

TEST_CASE("T069 policy is never taken for data, nor data for policy") {
  Tree tree;
  tree.write("main.gos", program(writeNew()));
  // Before the command: an error, not another meaning.
  expectUsageError(tree, {"--comptime-io", "none", "check", "main.gos"}, "--comptime-io");
  expectUsageError(tree, {"--comptime-io=full", "check", "main.gos"}, "--comptime-io");
  // Behind the file of `check`: counts.
  const Outcome behind = launch([&] {
    Launch call = command(tree, "check", std::nullopt, {});
    call.arguments = {"check", "main.gos", "--comptime-io=none"};
    return call;
  }());
  CHECK(behind.exitCode == 1);
  CHECK_MESSAGE(StringRef(behind.err).contains("--comptime-io=none"), behind.err);
  // After `--`: a name.
  expectUsageError(tree, {"check", "main.gos", "--", "--comptime-io=full"}, "");
  CHECK(!tree.exists("new"));
  // Behind the file of `run`: the program's.
  tree.write(
      "main.gos",
      "use std::env\nuse std::fs\n\nconst ANSWER: bool = comptime { fs::exists(\"main.gos\") }\n\n"
      "fn main() { println!(\"{} {}\", ANSWER, env::args().join(\" \")) }\n");
  Launch run = command(tree, "run", std::nullopt, {});
  run.arguments = {"run", "main.gos", "--comptime-io=none", "--comptime-io=full", "--help"};
  const Outcome ran = launch(run);
  CHECK_MESSAGE(ran.exitCode == 0, ran.err);
  CHECK_MESSAGE(StringRef(ran.out).contains("--comptime-io=none --comptime-io=full --help"),
                ran.out);
  // No variable loosens.
  tree.write("main.gos", program(writeNew()));
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"GOS_COMPTIME_IO", "full"},
                                                        {"GOSFLAGS", "--comptime-io=full"},
                                                        {"GOS_FLAGS", "--comptime-io=full"},
                                                        {"GOS_SANDBOX", "none"},
                                                        {"GOSSAMER_COMPTIME_IO", "full"},
                                                        {"COMPTIME_IO", "full"}}) {
    Where where;
    where.environment = {{name, value}};
    where.passLevel = false;
    expectProgramDenied(tree, Level::Confined, writeNew(), where);
  }
}

TEST_CASE("T071 the narrowest remedy comes first, and full comes last") {
  Tree tree;
  Where where;
  where.environment = {{"SECRET", tree.token()}};
  Act variable{.uses = {"env"},
               .body = "env::var(\"SECRET\").unwrap_or(\"unset\")",
               .call = "env::var",
               .klass = "environment read"};
  tree.write("main.gos", program(variable));
  where.options = {"--message-format=json"};
  auto helps = [&](Level level) {
    const auto diagnostics = parseDiagnostics(launch(command(tree, "check", level, where)).err);
    REQUIRE(diagnostics.size() == 1);
    return diagnostics[0].helps;
  };
  auto first = helps(Level::Confined);
  REQUIRE(first.size() >= 2);
  CHECK_MESSAGE(StringRef(first[0]).contains("--comptime-env SECRET"), first[0]);
  CHECK(StringRef(first.back()).contains("--comptime-io=full"));
  // A read that leaves the root: a file inside is the narrow way.
  tree.write("main.gos",
             program({.uses = {"fs"},
                      .body = "fs::read_to_string(\"" + tree.relativeCanary() + "\").unwrap()"}));
  first = helps(Level::Confined);
  REQUIRE(first.size() >= 2);
  CHECK(!StringRef(first[0]).contains("full"));
  // At none a read inside needs confined and no more.
  tree.write("in.txt", "inside");
  tree.write("main.gos", program(readInside()));
  first = helps(Level::None);
  REQUIRE(first.size() >= 2);
  CHECK_MESSAGE(StringRef(first[0]).contains("--comptime-io=confined"), first[0]);
  // Nothing offers to change a policy by itself.
  const Outcome json = launch(command(tree, "check", Level::None, where));
  CHECK(StringRef(json.err).contains("\"suggestions\":[]"));
}

} // namespace
} // namespace gos::threats
