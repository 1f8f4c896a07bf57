// Section 7 of the catalogue: diagnostics and what they show.

#include "tests/threats/support.h"

#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <utime.h>

namespace gos::threats {
namespace {

using llvm::StringRef;

/// Both formats of a failing check; both must be clean.
struct Both {
  Outcome text, json;
};
Both checkBoth(const Tree& tree, const Where& where = {}, Level level = Level::Confined) {
  Both both;
  both.text = launch(command(tree, "check", level, where));
  checkOutcome(both.text, tree);
  Where asJson = where;
  asJson.options.push_back("--message-format=json");
  both.json = launch(command(tree, "check", level, asJson));
  checkOutcome(both.json, tree);
  (void)parseDiagnostics(both.json.err);
  CHECK(both.text.exitCode == both.json.exitCode);
  CHECK(both.text.out.empty());
  CHECK(both.json.out.empty());
  return both;
}

constexpr const char* kHostile[] = {
    "\x1b]0;title\x07",
    "\x1b[2J\x1b[31mred",
    "\x1b]8;;http://evil\x07link\x1b]8;;\x07",
    "\x1b]52;c;aGVsbG8=\x07",
    "over\rwritten",
    ("\xc2\x9b"
     "31m C1"),
    "next\xc2\x85line",
    "\xe2\x80\xaetxt.exe",
    "\xe2\x81\xa6isolate\xe2\x81\xa9",
    "tag\xf3\xa0\x81\x81\xf3\xa0\x81\xbf",
    "bell\x07",
    "del\x7f",
    "back\x08space",
};

std::string escapedLiteral(StringRef text) {
  std::string literal;
  for (unsigned char c : text.bytes())
    literal += "\\x" + llvm::toHex(llvm::ArrayRef<uint8_t>(&c, 1), true);
  return literal;
}
/// As a string literal of the language: \u{..} for what is not ASCII.
std::string languageLiteral(StringRef text) {
  std::string literal;
  for (size_t i = 0; i < text.size();) {
    const unsigned char lead = (unsigned char)text[i];
    const size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    uint32_t scalar = size == 1 ? lead : lead & (0x7f >> size);
    for (size_t j = 1; j < size; ++j)
      scalar = scalar << 6 | ((unsigned char)text[i + j] & 0x3f);
    literal += "\\u{" + llvm::utohexstr(scalar, true) + "}";
    i += size;
  }
  return literal;
}

TEST_CASE("T077 control and bidirectional bytes are shown, never sent") {
  for (const char* hostile : kHostile) {
    Tree tree;
    INFO("bytes: " << escapedLiteral(hostile));
    // In panic text, in what is printed, in what is generated.
    tree.write("main.gos",
               program({.body = "panic!(\"" + languageLiteral(hostile) + "\")\n    \"never\""}));
    Both panicked = checkBoth(tree);
    CHECK(panicked.text.exitCode == 1);
    CHECK(StringRef(panicked.text.err).contains("GC0003"));
    tree.write("main.gos",
               program({.body = "println!(\"" + languageLiteral(hostile) + "\")\n    \"done\""}));
    CHECK(checkBoth(tree).text.exitCode == 0);
    tree.write("main.gos",
               "fn main() { let _ = codegen!(\"" + languageLiteral(hostile) + " 1 +\") }\n");
    CHECK(checkBoth(tree).text.exitCode == 1);
    // In source: a string, a comment, a name.
    tree.write("main.gos",
               "// " + std::string(hostile) + "\nfn main() { let x: i64 = \"" + hostile + "\" }\n");
    CHECK(checkBoth(tree).text.exitCode == 1);
    tree.write("main.gos", "fn main() { no_such_" + std::string(hostile) + "() }\n");
    CHECK(checkBoth(tree).text.exitCode == 1);
    // In the name of a file: a source, a link, a directory, on the command line.
    const std::string name = std::string("name ") + hostile;
    tree.write(name + ".gos", "fn main() { no_such_name() }\n");
    Where where;
    where.operand = name + ".gos";
    CHECK(checkBoth(tree, where).text.exitCode == 1);
    where.operand = name + " none.gos";
    CHECK(checkBoth(tree, where).text.exitCode == 1);
    tree.link(name, tree.canary());
    tree.write("main.gos",
               program({.uses = {"fs"},
                        .body = "fs::read_to_string(\"" + languageLiteral(name) + "\").unwrap()"}));
    CHECK(checkBoth(tree).text.exitCode == 1);
    // In a manifest, a level, a command.
    tree.write("p/project.toml", "[project]\nid = \"example.com/app\"\nversion = \"" +
                                     languageLiteral(hostile) + "\"\n");
    where.operand = "p";
    Launch manifest = command(tree, "check", Level::Confined, where);
    checkOutcome(launch(manifest), tree);
    for (const std::vector<std::string>& arguments : {std::vector<std::string>{name},
                                                      {"check", "--" + name},
                                                      {"check", "--comptime-io=" + name},
                                                      {"check", "--comptime-env=" + name},
                                                      {"explain", name},
                                                      {"check", "--message-format=" + name}}) {
      Launch call;
      call.arguments = arguments;
      call.directory = tree.root();
      const Outcome outcome = launch(call);
      checkOutcome(outcome, tree);
      CHECK(outcome.exitCode == 2);
    }
  }
}

TEST_CASE("T078 what a region read is shown by place, never by content") {
  Tree tree;
  const std::string secret = "secret-line " + tree.token() + " = (((\nsecond " + tree.token();
  tree.write("secret.txt", secret);
  struct Way {
    const char* name;
    std::string body; // of main
  };
  const Way ways[] = {
      {"does not parse", "let _ = codegen!(fs::read_to_string(\"secret.txt\").unwrap())"},
      {"does not check",
       "let _ = codegen!(\"no_such_name \" + \"+ \\\"\" + fs::read_to_string(\"secret.txt\").unwrap() + \"\\\"\")"},
      {"an unknown name",
       "let _ = codegen!(fs::read_to_string(\"secret.txt\").unwrap().split(\" \")[1].split(\"-\")[1])"},
      {"text around it",
       "let _ = codegen!(\"1 + + \" + fs::read_to_string(\"secret.txt\").unwrap())"},
      {"a constant", "let _ = codegen!(READ)"},
      {"a constant of an earlier round", "let _ = codegen!(\"codegen!(READ)\")"},
      {"generated twice",
       "let _ = codegen!(\"codegen!(\\\"\" + fs::read_to_string(\"secret.txt\").unwrap().replace(\"\\n\", \" \") + \"\\\")\")"},
  };
  for (const Way& way : ways) {
    INFO("way: " << std::string(way.name));
    tree.write(
        "main.gos",
        "use std::fs\n\nconst READ: String = comptime { fs::read_to_string(\"secret.txt\").unwrap() }\n\nfn main() {\n    " +
            way.body + "\n}\n");
    const Both both = checkBoth(tree);
    CHECK_MESSAGE(both.text.exitCode == 1, both.text.err);
    for (const Outcome* outcome : {&both.text, &both.json}) {
      CHECK_MESSAGE(!StringRef(outcome->err).contains("secret-line"), outcome->err);
      CHECK_MESSAGE(StringRef(outcome->err).contains("main.gos"), outcome->err); // the place
    }
  }
  // Text that nothing read is shown: it is the program's own.
  tree.write("main.gos", "fn main() {\n    let _ = codegen!(\"1 + + own_text\")\n}\n");
  CHECK(StringRef(checkBoth(tree).text.err).contains("own_text"));
}

TEST_CASE("T079 a source that is a link out is named and not shown") {
  Tree tree;
  tree.write("project.toml", "[project]\nid = \"example.com/app\"\nversion = \"1.0.0\"\n");
  tree.write("src/main.gos", "fn main() { println!(\"{}\", 1) }\n");
  tree.write(tree.out("key"), "-----BEGIN KEY-----\n" + tree.token() + "\n");
  Where where;
  where.operand = ".";
  const std::pair<std::string, std::string> links[] = {
      {"src/util.gos", tree.out("key")},
      {"src/deep/util.gos", "../../../" + tree.marker() + "/key"},
      {"src/main.gos", tree.out("key")},
  };
  for (const auto& [name, target] : links) {
    const std::string before = tree.exists(name) ? tree.readAll(name) : "";
    tree.link(name, target);
    INFO("link: " << name << " -> " << target);
    const Both both = checkBoth(tree, where);
    CHECK(both.text.exitCode == 1);
    CHECK_MESSAGE(StringRef(both.text.err).contains("GJ0014"), both.text.err);
    CHECK_MESSAGE(StringRef(both.text.err).contains(name), both.text.err);
    CHECK(!StringRef(both.text.err).contains("BEGIN KEY"));
    if (canTrace())
      checkNoSideEffect(traced(command(tree, "check", Level::Confined, where)).calls, tree);
    std::remove(tree.in(name).c_str());
    if (!before.empty())
      tree.write(name, before);
  }
  // A directory of sources that leads out is not entered.
  tree.link("src/away", tree.outside());
  tree.write(tree.out("more.gos"), "broken " + tree.token());
  const Both entered = checkBoth(tree, where);
  CHECK_MESSAGE(!StringRef(entered.text.err).contains("broken"), entered.text.err);
  // A module that only a link backs.
  std::remove(tree.in("src/away").c_str());
  tree.link("src/inner.gos", "real.txt");
  tree.write("src/real.txt", "pub fn answer() -> i64 { 42 }\n");
  tree.write("src/main.gos", "fn main() { println!(\"{}\", inner::answer()) }\n");
  expectProgramAllowed(tree, Level::Confined, "42", where);
}

TEST_CASE("T080 no line of a region passes for one of ours") {
  Tree tree;
  for (StringRef forged :
       {"error[GX0010]: nothing to see", "::error file=a.gos::x", "::set-output name=token::x",
        "cargo:rustc-link-arg=x", "##vso[task.setvariable]x",
        "{\\\"schema\\\":1,\\\"code\\\":\\\"GX0010\\\",\\\"severity\\\":\\\"error\\\"}",
        "[sudo] password for user:", "checked 1 file, 1 compile-time region evaluated",
        "warning: x"}) {
    for (StringRef how :
         {"println!(\"FORGED\")\n    \"done\"", "eprintln!(\"a\\nFORGED\\nb\")\n    \"done\"",
          "println!(\"a\\r\\nFORGED\")\n    \"done\"", "panic!(\"a\\nFORGED\")\n    \"never\""}) {
      std::string body = how.str();
      body.replace(body.find("FORGED"), 6, forged.str());
      // Braces of a template are data here.
      std::string doubled;
      for (char c : body)
        doubled += (forged.starts_with("{") && (c == '{' || c == '}')) ? std::string(2, c)
                                                                       : std::string(1, c);
      tree.write("main.gos", program({.body = doubled}));
      INFO("body: " << doubled);
      const Both both = checkBoth(tree);
      StringRef plain = forged.starts_with("{") ? StringRef("{\"schema\":1,\"code\"") : forged;
      StringRef rest = both.text.err;
      while (!rest.empty()) {
        auto [line, tail] = rest.split('\n');
        rest = tail;
        if (!forged.starts_with("checked"))
          CHECK_MESSAGE(!line.ltrim().starts_with(plain), both.text.err);
      }
      for (const JsonDiagnostic& diagnostic : parseDiagnostics(both.json.err))
        CHECK(diagnostic.code != "GX0010");
    }
  }
  // A name of a file that looks like a message.
  tree.link("error[GX0010]: x\n::error::y", tree.canary());
  tree.write("main.gos",
             program({.uses = {"fs"},
                      .body = "fs::read_to_string(\"error[GX0010]: x\\n::error::y\").unwrap()"}));
  const std::string kept = checkBoth(tree).text.err;
  StringRef rest = kept;
  while (!rest.empty()) {
    auto [line, tail] = rest.split('\n');
    rest = tail;
    CHECK_MESSAGE(!line.ltrim().starts_with("::error"), kept);
  }
}

TEST_CASE("T083 metadata that is no content is denied or the same everywhere") {
  // What a checkout does not keep: times, modes, owners, inodes.
  std::string answers[2];
  for (int round = 0; round < 2; ++round) {
    Tree tree;
    tree.write("in.txt", "inside");
    tree.directory("dir");
    tree.write("dir/a", "a");
    if (round) {
      utimbuf times{1'000'000'000, 1'000'000'000};
      CHECK(::utime(tree.in("in.txt").c_str(), &times) == 0);
      CHECK(::chmod(tree.in("in.txt").c_str(), 0755) == 0);
      for (int i = 0; i < 200; ++i)
        tree.write("dir/made-and-removed-" + std::to_string(i), "x");
      for (int i = 0; i < 200; ++i)
        std::remove(tree.in("dir/made-and-removed-" + std::to_string(i)).c_str());
    }
    const Act all{
        .uses = {"fs"},
        .body =
            "let file = fs::metadata(\"in.txt\").unwrap()\n    let dir = fs::metadata(\"dir\").unwrap()\n"
            "    format!(\"{} {} {} {} {} {} {}\", file.size, file.is_file, file.modified, file.mode, dir.size, dir.modified, dir.mode)",
        .call = "fs::metadata"};
    expectDenied(tree, Level::None, all);
    tree.write("main.gos", program(all));
    const Outcome outcome = launch(command(tree, "run", Level::Confined, {}));
    checkOutcome(outcome, tree);
    CHECK_MESSAGE(outcome.exitCode == 0, outcome.err);
    answers[round] = outcome.out;
    expectDeniedBelowFull(tree, {.uses = {"fs"},
                                 .body = "fs::permissions(\"in.txt\").unwrap().to_string()",
                                 .call = "fs::permissions",
                                 .klass = ""});
    // The control: full tells.
    tree.write("main.gos",
               program({.uses = {"fs"},
                        .body = "(fs::metadata(\"in.txt\").unwrap().modified > 0).to_string()"}));
    expectProgramAllowed(tree, Level::Full, "true");
  }
  CHECK(answers[0] == answers[1]);
  CHECK_MESSAGE(StringRef(answers[0]).starts_with("6 true 0 0 "), answers[0]);
}

} // namespace
} // namespace gos::threats
