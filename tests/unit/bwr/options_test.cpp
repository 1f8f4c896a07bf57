#include "sandbox/bwr/options.h"

#include <doctest/doctest.h>

namespace gos::bwr {
namespace {

using llvm::StringRef;

ParsedCommandLine parse(std::initializer_list<StringRef> words) {
  return parseCommandLine(llvm::ArrayRef<StringRef>(words.begin(), words.size()));
}
Options good(std::initializer_list<StringRef> words) {
  ParsedCommandLine line = parse(words);
  REQUIRE_MESSAGE(line.options.has_value(), line.error);
  return *line.options;
}
std::vector<std::string> list(std::initializer_list<const char*> words) {
  return std::vector<std::string>(words.begin(), words.end());
}

TEST_CASE("a command without options runs at level standard without network") {
  const Options options = good({"cargo", "build", "--release"});
  CHECK(options.action == Action::Run);
  CHECK(options.level == SandboxLevel::Standard);
  CHECK(options.network == NetworkMode::None);
  CHECK(!options.profile);
  CHECK(options.command == list({"cargo", "build", "--release"}));
}

TEST_CASE("options end at the first word that is none, or at two dashes") {
  CHECK(good({"true", "--level", "strict"}).level == SandboxLevel::Standard);
  CHECK(good({"--", "--level"}).command == list({"--level"}));
  CHECK(good({"--level", "strict", "--", "--", "x"}).command == list({"--", "x"}));
  CHECK(good({"-"}).command == list({"-"}));
  CHECK(good({"true", "--"}).command == list({"true", "--"}));
}

TEST_CASE("a value stands in the same word or in the next one") {
  CHECK(good({"--level=strict", "true"}).level == SandboxLevel::Strict);
  CHECK(good({"--level", "basic", "true"}).level == SandboxLevel::Basic);
  CHECK(good({"--setenv", "A=B=C", "true"}).setEnv[0].value == "B=C");
  CHECK(good({"--setenv=A=", "true"}).setEnv[0].value == "");
  CHECK(good({"--ro=a=b", "true"}).paths[0].path == "a=b");
  // A value may look like an option: `--ro -x` grants `-x`.
  CHECK(good({"--ro", "-x", "true"}).paths[0].path == "-x");
}

TEST_CASE("a value that may be left out is never the next word") {
  CHECK(good({"--json", "true"}).command == list({"true"}));
  CHECK(!good({"--json", "true"}).jsonFile);
  CHECK(good({"--json=out", "true"}).jsonFile == "out");
  CHECK(!parse({"--json=", "true"}).options);
}

TEST_CASE("grants and denials keep their order and their spelling") {
  const Options options = good({"--ro", "a", "--rw=b", "--deny", "c\n", "--ro", "d", "true"});
  REQUIRE(options.paths.size() == 4);
  CHECK(options.paths[0].writtenAs == "--ro a");
  CHECK(options.paths[1].access == Access::ReadWrite);
  CHECK(options.paths[1].writtenAs == "--rw b");
  CHECK(options.paths[2].access == Access::Deny);
  CHECK(options.paths[2].path == "c\n");
}

TEST_CASE("an option that is given twice and cannot repeat is wrong usage") {
  for (StringRef option :
       {"--level", "--network", "--profile", "--workdir", "--learn", "--color"}) {
    const StringRef value = option == "--level"     ? "strict"
                            : option == "--network" ? "none"
                            : option == "--color"   ? "never"
                                                    : "x";
    CAPTURE(option.str());
    CHECK(parse({option, value, "true"}).options);
    const ParsedCommandLine twice = parse({option, value, option, value, "true"});
    CHECK(!twice.options);
    CHECK(twice.error == "option `" + option.str() + "` is given twice");
  }
  CHECK(!parse({"--report", "--report", "true"}).options);
}

TEST_CASE("an unknown option is wrong usage, with the nearest one to type") {
  CHECK(parse({"--levle", "strict", "true"}).hint == "bwr --level");
  CHECK(parse({"--netwrok=open", "true"}).hint == "bwr --network=open");
  CHECK(parse({"--frobnicate", "true"}).hint == "bwr --help");
  CHECK(parse({"-x", "true"}).error == "no option `-x`");
}

TEST_CASE("a word outside a closed set is wrong usage that lists the words") {
  const ParsedCommandLine level = parse({"--level", "Strict", "true"});
  CHECK(level.error == "option `--level` takes none, basic, standard or strict; found `Strict`");
  CHECK(level.hint == "bwr --level strict");
  // Of no near word none is offered; least of all the weakest.
  CHECK(parse({"--level", "q", "true"}).hint == "bwr --help");
  CHECK(!parse({"--network", "off", "true"}).options);
  CHECK(!parse({"--network", "", "true"}).options);
  CHECK(!parse({"--color", "yes", "true"}).options);
  CHECK(!parse({"--completions", "tcsh"}).options);
}

TEST_CASE("a missing value, an empty one and one too many are wrong usage") {
  CHECK(parse({"--level"}).hint == "bwr --level LEVEL");
  CHECK(!parse({"--ro", "", "true"}).options);
  CHECK(!parse({"--report=yes", "true"}).options);
  CHECK(!parse({"--env", "A=B", "true"}).options);
  CHECK(parse({"--env", "A=B", "true"}).hint == "bwr --setenv A=B");
  CHECK(parse({"--setenv", "A", "true"}).hint == "bwr --env A");
  CHECK(!parse({"--setenv", "=B", "true"}).options);
}

TEST_CASE("no command, and an empty one, are wrong usage") {
  CHECK(!parse({}).options);
  CHECK(!parse({"--"}).options);
  CHECK(!parse({"--level", "strict"}).options);
  CHECK(!parse({""}).options);
}

TEST_CASE("what is asked instead of a run takes no command, and one thing at a time") {
  CHECK(good({"--capabilities"}).action == Action::Capabilities);
  CHECK(good({"--capabilities", "--json"}).json);
  CHECK(!parse({"--capabilities", "true"}).options);
  CHECK(!parse({"--capabilities", "--self-test"}).options);
  CHECK(good({"--show-profile", "go"}).showProfile == "go");
  CHECK(good({"--completions", "fish"}).shell == Shell::Fish);
  CHECK(good({"--version"}).action == Action::Version);
}

TEST_CASE("help wins over everything that is well spelt") {
  CHECK(good({"--help"}).action == Action::Help);
  CHECK(good({"-h"}).action == Action::Help);
  CHECK(good({"--level", "strict", "--help"}).action == Action::Help);
  CHECK(good({"--explain", "--help", "true"}).action == Action::Help);
  CHECK(good({"true", "--help"}).action == Action::Run);
}

TEST_CASE("a platform stands with --explain alone, and --explain beside no report") {
  CHECK(good({"--explain", "--platform", "macos", "true"}).platform == Platform::Macos);
  CHECK(good({"--explain"}).action == Action::Explain);
  CHECK(!parse({"--platform", "linux", "true"}).options);
  CHECK(!parse({"--explain", "--report", "true"}).options);
  CHECK(!parse({"--explain", "--learn", "f", "true"}).options);
}

TEST_CASE("a mistake after --json is known to be wanted as an object") {
  CHECK(parse({"--json", "--level", "q", "true"}).json);
  CHECK(parse({"--json=f", "--level", "q", "true"}).jsonFile == "f");
  CHECK(parse({"--level", "q", "--json", "true"}).json); // wherever it stands before the command
}

TEST_CASE("every option is read from its own row") {
  for (const OptionRow& row : optionRows()) {
    CAPTURE(row.spelling.str());
    CHECK(row.spelling.starts_with("--"));
    CHECK(!row.summary.empty());
    CHECK(!row.summary.ends_with("."));
    CHECK((row.form == ArgumentForm::None) == row.argument.empty());
    const auto words = closedSet(row.complete);
    const std::string value = row.form != ArgumentForm::Required ? ""
                              : !words.empty()                   ? words[0].str()
                              : row.id == OptionId::SetEnv       ? "A=B"
                                                                 : "x";
    llvm::SmallVector<StringRef> line;
    if (row.id == OptionId::Platform)
      line.push_back("--explain");
    line.push_back(row.spelling);
    if (!value.empty())
      line.push_back(value);
    if (row.group != OptionGroup::Instead)
      line.push_back("true");
    const ParsedCommandLine parsed = parseCommandLine(line);
    CHECK_MESSAGE(parsed.options.has_value(), parsed.error);
  }
}

} // namespace
} // namespace gos::bwr
