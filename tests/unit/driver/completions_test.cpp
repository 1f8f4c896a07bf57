// The completions and the manual pages: complete, and read by those they are for.

#include "compiler/driver/rows.h"
#include "tests/support/child_process.h"
#include "tests/support/room.h"

#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

#include <string>
#include <unistd.h>

using namespace gos::driver;
using gos::test::ChildResult;

namespace {

ChildResult run(std::vector<std::string> arguments, const std::string& input = "") {
  gos::test::ChildRequest request;
  request.arguments = std::move(arguments);
  request.input = input;
  return gos::test::runChild(request);
}

bool installed(const char* program) {
  return run({"/bin/sh", "-c", std::string("command -v ") + program + " >/dev/null"}).exitedWith(0);
}

std::string manual(std::optional<CommandId> command) {
  std::string text;
  llvm::raw_string_ostream out(text);
  printManualPage(out, command);
  return text;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("every command and every option is in the completions of every shell") {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const auto script = completionsFor(shell);
    REQUIRE(script);
    for (const CommandRow& row : commandRows())
      CHECK_MESSAGE(holds(*script, row.spelling.str()), shell << " " << row.spelling.str());
    for (const OptionRow& row : optionRows()) {
      const std::string name = row.spelling.ltrim('-').str();
      CHECK_MESSAGE(holds(*script, name), shell << " " << name);
    }
  }
  CHECK(!completionsFor("tcsh"));
}

TEST_CASE("the words that are offered for an option are those that it takes") {
  for (const OptionRow& row : optionRows()) {
    const auto words = wordsOf(row.id);
    if (words.empty())
      continue;
    for (const CommandRow& command : commandRows()) {
      if (!(row.commands & bit(command.id)))
        continue;
      const auto accepts = [&](const std::string& word) {
        const std::string option = row.spelling.str() + "=" + word;
        const std::string operand = command.id == CommandId::Explain ? "GP0001" : "a.gos";
        return parseCommandLine({command.spelling, option, operand}).options.has_value();
      };
      for (llvm::StringRef word : words)
        CHECK_MESSAGE(accepts(word.str()), row.spelling.str() << "=" << word.str());
      CHECK_MESSAGE(!accepts("nonsense"), row.spelling.str());
    }
  }
}

TEST_CASE("bash completes commands, options, values and files") {
  if (!installed("bash")) {
    MESSAGE("skipped: bash is not installed");
    return;
  }
  const std::string script = *completionsFor("bash");
  const auto completed = [&](const std::string& words) {
    return run({"bash", "--norc", "-c",
                script + "\nCOMP_WORDS=(" + words +
                    "); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _gos; IFS='|'; echo "
                    "\"${COMPREPLY[*]}\""})
        .out;
  };
  CHECK(completed("gos chec") == "check\n");
  CHECK(completed("gos fmt --ch") == "--check\n");
  CHECK(completed("gos build --sandbox = str") == "strict\n");
  CHECK(completed("gos new --template bi") == "bin|binding\n");
  CHECK(completed("gos completions z") == "zsh\n");
  const gos::test::Room room;
  room.write("a b/main program.gos", "").write("a b/main page.txt", "").write("a b/made/x", "");
  const std::string begun = " '" + room.path("a b/ma") + "'", directory = room.path("a b/made");
  CHECK(completed("gos check" + begun) ==
        room.path("a b/main program.gos") + "|" + directory + "\n");
  CHECK(completed("gos new" + begun) == directory + "\n");
}

TEST_CASE("zsh and fish read their scripts") {
  if (installed("zsh"))
    CHECK(run({"zsh", "-f", "-n", "/dev/stdin"}, *completionsFor("zsh")).exitedWith(0));
  else
    MESSAGE("skipped: zsh is not installed");
  if (installed("fish")) {
    const ChildResult asked =
        run({"fish", "--no-config", "-c",
             *completionsFor("fish") + "\ncomplete -C 'gos new --template '"});
    CHECK(holds(asked.out, "binding"));
    CHECK(holds(
        run({"fish", "--no-config", "-c", *completionsFor("fish") + "\ncomplete -C 'gos fm'"}).out,
        "fmt"));
  } else {
    MESSAGE("skipped: fish is not installed");
  }
}

TEST_CASE("every command has a manual page with each of its options") {
  const std::string all = manual(std::nullopt);
  for (const CommandRow& row : commandRows()) {
    CHECK(holds(all, "\\fB" + row.spelling.str() + "\\fR"));
    if (row.id == CommandId::Help)
      continue;
    const std::string page = manual(row.id);
    CHECK(holds(page, ".SH NAME\ngos\\-" + row.spelling.str() + " \\- "));
    for (const OptionRow& option : optionRows()) {
      std::string name = option.spelling.str();
      for (size_t at = 0; (at = name.find('-', at)) != std::string::npos; at += 2)
        name.replace(at, 1, "\\-");
      CHECK(holds(page, "\\fB" + name) == ((option.commands & bit(row.id)) != 0));
    }
    CHECK_MESSAGE(holds(page, ".SH OPTIONS"), row.spelling.str());
  }
}

TEST_CASE("groff has nothing to say about the manual pages") {
  if (!installed("groff")) {
    MESSAGE("skipped: groff is not installed");
    return;
  }
  for (const CommandRow& row : commandRows()) {
    const auto page = row.id == CommandId::Help ? manual(std::nullopt) : manual(row.id);
    const ChildResult result = run({"groff", "-man", "-ww", "-z", "-Tutf8"}, page);
    CHECK_MESSAGE(result.exitedWith(0), row.spelling.str());
    CHECK_MESSAGE(result.err.empty(), row.spelling.str() << ": " << result.err);
  }
}
