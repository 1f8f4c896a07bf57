// The documents: every example in them is run, every command in them exists.
//
// A fence says what stands in it: `gossamer` (checks clean), `gossamer error=GX0010` (gives exactly
// that code), `gossamer run` (runs clean), each with options and with `file=hello.gos` for a name
// that later commands use; `toml` (a manifest); `console` (`$ gos ...` and `$ bwr ...` lines and
// what they print, `...` for any rest); `sh file=build.sh` (a file that later commands use); `sh`,
// `text` and `toml bwr` (a profile) (not run). Outside of fences an indented `gos ...` line is a
// command: it succeeds, or `# refused: CODE` behind it says how it fails.

#include "tests/meta/source_tree.h"
#include "tests/threats/support.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>

namespace gos::meta {
namespace {

using llvm::SmallVector;
using llvm::StringRef;

struct Block {
  size_t line = 0;
  std::string info; // empty: an indented command
  std::string text;
};

std::vector<Block> blocksOf(StringRef document) {
  std::vector<Block> blocks;
  bool isOpen = false, afterBlank = true;
  size_t number = 0;
  while (!document.empty()) {
    auto [line, rest] = document.split('\n');
    document = rest;
    ++number;
    StringRef words = line;
    if (words.consume_front("```")) {
      isOpen = !isOpen;
      if (isOpen)
        blocks.push_back({number, words.trim().str().empty() ? "?" : words.trim().str(), ""});
      afterBlank = true;
      continue;
    }
    if (isOpen) {
      blocks.back().text += (line + "\n").str();
      continue;
    }
    // A line indented by four is code behind a blank line or another one.
    const bool isCode = afterBlank && line.starts_with("    ");
    StringRef command = line.ltrim();
    command.consume_front("build/release/bin/");
    if (isCode && command.starts_with("gos "))
      blocks.push_back({number, "", command.str()});
    afterBlank = line.trim().empty() || isCode;
  }
  return blocks;
}

/// Every code of a run: `error[GT0018]`.
std::vector<std::string> codesOf(StringRef err) {
  std::vector<std::string> codes;
  for (StringRef word : {"error[", "warning["})
    for (size_t at = err.find(word); at != StringRef::npos; at = err.find(word, at + 1))
      codes.push_back(err.substr(at + word.size(), 6).str());
  return codes;
}

/// One document with the files that its examples have written.
class Document {
public:
  explicit Document(const File& file) : file_(file) {}

  void run() {
    for (const Block& block : blocksOf(file_.text)) {
      CAPTURE(file_.path);
      CAPTURE(block.line);
      CAPTURE(block.text);
      SmallVector<StringRef> words;
      StringRef(block.info).split(words, ' ', -1, false);
      if (words.empty())
        runCommand(block.text);
      else if (words[0] == "gossamer")
        runProgram(block, llvm::ArrayRef(words).drop_front());
      else if (block.info == "toml")
        runManifest(block);
      else if (words[0] == "console")
        runConsole(block);
      else if (words.size() == 2 && words[0] == "sh" && words[1].consume_front("file="))
        tree_.write(words[1].str(), block.text);
      else
        CHECK_MESSAGE((block.info == "sh" || block.info == "text" || block.info == "toml bwr"),
                      "the fence `" << block.info << "` does not say what stands in it");
    }
  }

  size_t programs = 0, commands = 0;

private:
  threats::Outcome gos(std::vector<std::string> arguments, const std::string& directory) {
    threats::Launch launch;
    launch.directory = directory;
    launch.environment = {{"HOME", tree_.home()}};
    launch.arguments = std::move(arguments);
    threats::Outcome outcome = threats::launch(launch);
    CHECK(!outcome.timedOut);
    CHECK(outcome.signal == 0);
    return outcome;
  }

  /// A command line of `bwr`, in a home of its own that holds a key.
  threats::Outcome bwr(std::vector<std::string> arguments) {
    threats::Launch launch;
    launch.program = GOS_BWR;
    launch.directory = tree_.root();
    launch.environment = {{"HOME", tree_.home()}};
    launch.arguments = std::move(arguments);
    threats::Outcome outcome = threats::launch(launch);
    CHECK(!outcome.timedOut);
    return outcome;
  }

  void runProgram(const Block& block, llvm::ArrayRef<StringRef> words) {
    ++programs;
    std::string name = "main.gos", wanted, verb = "check";
    std::vector<std::string> options;
    for (StringRef word : words) {
      if (word.consume_front("file="))
        name = word.str();
      else if (word.consume_front("error="))
        wanted = word.str();
      else if (word == "run" || word == "check")
        verb = word.str();
      else if (word.starts_with("--"))
        options.push_back(word.str());
      else
        FAIL_CHECK("`" << word.str() << "` behind `gossamer` means nothing");
    }
    tree_.write(name, block.text);
    std::vector<std::string> arguments = {verb};
    llvm::append_range(arguments, options);
    arguments.push_back(name);
    expect(gos(arguments, tree_.root()), wanted);
  }

  void expect(const threats::Outcome& outcome, const std::string& wanted) {
    CAPTURE(outcome.err);
    std::vector<std::string> codes = codesOf(outcome.err);
    CHECK(outcome.exitCode == (wanted.empty() ? 0 : 1));
    CHECK(codes ==
          (wanted.empty() ? std::vector<std::string>() : std::vector<std::string>{wanted}));
  }

  void runManifest(const Block& block) {
    ++programs;
    threats::Tree tree;
    tree.write("project.toml", block.text);
    tree.write("src/main.gos", "fn main() {}\n");
    // Dependencies lead to packages that the document only names.
    SmallVector<StringRef> lines;
    StringRef(block.text).split(lines, '\n');
    for (StringRef line : lines) {
      auto [key, value] = line.split(" = { path = \"");
      key = key.trim('"');
      const std::string path = value.split('"').first.str();
      if (path.empty())
        continue;
      const std::string id = key.contains('/') ? key.str() : "example.com/" + key.str();
      tree.write(path + "/project.toml", "[project]\nid = \"" + id + "\"\nversion = \"1.0.0\"\n");
      tree.write(path + "/src/lib.gos", "pub fn nothing() {}\n");
    }
    threats::Launch launch;
    launch.directory = tree.root();
    launch.environment = {{"HOME", tree.home()}};
    launch.arguments = {"check"};
    expect(threats::launch(launch), "");
  }

  /// Commands about the examples of the project run at its top, the others beside the document's
  /// own files.
  std::string directoryFor(llvm::ArrayRef<std::string> arguments) const {
    const bool isExample = llvm::any_of(arguments, [](const std::string& word) {
      return StringRef(word).starts_with("examples/");
    });
    return isExample ? GOS_SOURCE_DIR : tree_.root();
  }

  static std::vector<std::string> wordsOf(StringRef command) {
    SmallVector<StringRef> words;
    command.split(words, ' ', -1, false);
    std::vector<std::string> arguments;
    for (StringRef word : llvm::drop_begin(words))
      arguments.push_back(word.str());
    return arguments;
  }

  void runCommand(StringRef line) {
    ++commands;
    auto [command, remark] = line.split('#');
    remark = remark.trim();
    std::string wanted;
    if (remark.consume_front("refused: "))
      wanted = remark.take_front(6).str();
    const std::vector<std::string> arguments = wordsOf(command);
    expect(gos(arguments, directoryFor(arguments)), wanted);
  }

  void runConsole(const Block& block) {
    StringRef rest = block.text;
    size_t ran = 0;
    while (rest.consume_front("$ ")) {
      auto [command, tail] = rest.split('\n');
      const size_t next = tail.starts_with("$ ") ? 0 : tail.find("\n$ ");
      const StringRef shown =
          next == 0 ? StringRef() : tail.take_front(next == StringRef::npos ? next : next + 1);
      rest = tail.drop_front(shown.size());
      command.consume_front("build/release/bin/");
      CAPTURE(command.str());
      const bool isBwr = command.starts_with("bwr ");
      const bool isKnown = isBwr || command.starts_with("gos ");
      REQUIRE(isKnown);
      ++ran;
      ++commands;
      const std::vector<std::string> arguments = wordsOf(command);
      const threats::Outcome outcome =
          isBwr ? bwr(arguments) : gos(arguments, directoryFor(arguments));
      if (isBwr && outcome.exitCode == 64) {
        std::printf("SKIP documents, bwr: this host cannot give the level: %s",
                    outcome.err.c_str());
        continue;
      }
      const std::string printed = outcome.out + outcome.err;
      StringRef start = shown;
      if (start.consume_back("...\n"))
        CHECK_MESSAGE(StringRef(printed).starts_with(start), printed);
      else
        CHECK(printed == shown.str());
    }
    CHECK(ran != 0);
    CHECK_MESSAGE(rest.empty(), "a `console` block begins with `$ `");
  }

  const File& file_;
  threats::Tree tree_;
};

std::vector<File> documents() {
  std::vector<File> all = filesOf({"docs", "examples"}, {".md"});
  for (const char* path : {"README.md", "CONTRIBUTING.md", "SECURITY.md"})
    all.push_back({path, readFile(path)});
  return all;
}

TEST_CASE("documents: every example does what the document says") {
  size_t programs = 0, commands = 0, files = 0;
  for (const File& file : documents()) {
    REQUIRE_MESSAGE(!file.text.empty(), file.path);
    Document document(file);
    document.run();
    programs += document.programs;
    commands += document.commands;
    ++files;
  }
  std::printf("documents: %zu files, %zu programs and manifests, %zu commands\n", files, programs,
              commands);
  // A reader that finds nothing would pass everything.
  CHECK(files >= 10);
  CHECK(programs >= 25);
  CHECK(commands >= 10);
}

TEST_CASE("documents: a block is found, with its fence and its place") {
  const std::vector<Block> blocks =
      blocksOf("text\n\n    gos check x\n    gos run x # remark\n\n```gossamer run\nlet x = 1\n"
               "```\n```\nnothing\n```\nand `    gos` in a line\n    gos no code\n");
  REQUIRE(blocks.size() == 4);
  CHECK(blocks[0].text == "gos check x");
  CHECK(blocks[1].line == 4);
  CHECK(blocks[2].info == "gossamer run");
  CHECK(blocks[2].text == "let x = 1\n");
  CHECK(blocks[3].info == "?");
}

TEST_CASE("documents: every command of ./dev that is named exists, and every one that exists is in "
          "its help") {
  const std::string dev = readFile("dev");
  size_t named = 0;
  const auto exists = [&](StringRef word) {
    return StringRef(dev).contains(("\ncmd_" + word + "() {").str());
  };
  for (const File& file : documents())
    for (StringRef rest = file.text; rest.contains("./dev ");) {
      rest = rest.split("./dev ").second;
      const StringRef word = rest.take_while(llvm::isAlpha);
      if (word.empty())
        continue;
      ++named;
      CHECK_MESSAGE(exists(word), file.path << " names ./dev " << word.str());
    }
  CHECK(named >= 5);
  const StringRef help = StringRef(dev).split("cat <<'TXT'\n").second.split("\nTXT\n").first;
  size_t shown = 0;
  for (StringRef rest = dev; rest.contains("\ncmd_");) {
    rest = rest.split("\ncmd_").second;
    const StringRef word = rest.take_while(llvm::isAlpha);
    ++shown;
    CHECK_MESSAGE(help.contains(("\n  " + word + " ").str()),
                  "./dev does not show `" << word.str() << "`");
  }
  CHECK(shown >= 5);
}

} // namespace
} // namespace gos::meta
