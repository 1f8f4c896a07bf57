// The tables: every row is used, explained and shown.

#include "tests/meta/source_tree.h"
#include "tests/threats/support.h"

#include "diagnostics/code.h"
#include "diagnostics/explain.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

namespace gos::meta {
namespace {

using llvm::StringRef;

const std::vector<File>& implementation() {
  static const std::vector<File> all =
      filesOf({"diagnostics", "manifest", "sandbox", "vm", "stdlib", "compiler"}, {".cpp", ".h"});
  return all;
}

// ---- codes.def
// ---------------------------------------------------------------------------------------

/// A page that has no example says why, in a line of its own; what cannot be shown yet need not be
/// reported yet.
bool saysWhyNoExample(StringRef page) {
  return page.contains("\nno example: ");
}

/// Reported, as a typed diagnostic or, by a program that fails, as the text of its code.
bool isReported(Code code) {
  const std::string use = ("diag::" + title(code)).str();
  const std::string text = ("\"" + spelling(code) + "\"").str();
  return llvm::any_of(implementation(), [&](const File& file) {
    const StringRef source = file.text;
    if (source.contains(text))
      return true;
    for (size_t at = source.find(use); at != StringRef::npos; at = source.find(use, at + 1)) {
      const char next = at + use.size() < source.size() ? source[at + use.size()] : ' ';
      if (!llvm::isAlnum(next) && next != '_')
        return true;
    }
    return false;
  });
}

TEST_CASE("tables: every diagnostic is reported somewhere") {
  for (size_t i = 0; i < codeCount(); ++i) {
    const Code code = codeAt(i);
    if (!isRetired(code) && !saysWhyNoExample(explanation(code)))
      CHECK_MESSAGE(isReported(code), spelling(code).str()
                                          << " " << title(code).str() << " is reported nowhere");
  }
}

TEST_CASE(
    "tables: every diagnostic has a page with a broken and a fixed example, or a reason why not") {
  for (size_t i = 0; i < codeCount(); ++i) {
    const Code code = codeAt(i);
    if (isRetired(code))
      continue;
    const StringRef page = explanation(code);
    CHECK_MESSAGE(!page.empty(), spelling(code).str()
                                     << " has no page explain/" << spelling(code).str() << ".md");
    if (page.empty())
      continue;
    CHECK_MESSAGE(page.starts_with(("# " + spelling(code) + ": ").str()), spelling(code).str());
    const auto examples = explanationExamples(page);
    const bool broken = llvm::any_of(
        examples, [](const auto& each) { return each.kind == ExplanationExample::Kind::Broken; });
    const bool fixed = llvm::any_of(
        examples, [](const auto& each) { return each.kind == ExplanationExample::Kind::Fixed; });
    if (saysWhyNoExample(page))
      CHECK_MESSAGE(!broken, spelling(code).str() << " has an example: drop the reason why not");
    else
      CHECK_MESSAGE((broken && fixed), spelling(code).str() << " lacks an example");
  }
}

// ---- the examples
// ------------------------------------------------------------------------------------------

/// Runs an example as its fence says: `gossamer [check|run] [options]`, `toml`, `sh` (not run),
/// `text` (not run). Several files: a line `// file: src/util.gos` begins each.
std::optional<threats::Outcome> runExample(const ExplanationExample& example, std::string& how) {
  llvm::SmallVector<StringRef> words;
  example.info.split(words, ' ', -1, false);
  if (words.empty() || (words[0] != "gossamer" && words[0] != "toml"))
    return std::nullopt;
  threats::Tree tree;
  std::string operand = "main.gos";
  if (words[0] == "toml") {
    tree.write("project.toml", example.text);
    tree.write("src/main.gos", "fn main() {}\n");
    operand = ".";
  } else if (example.text.starts_with("// file: ")) {
    StringRef rest = example.text;
    while (rest.consume_front("// file: ")) {
      auto [name, tail] = rest.split('\n');
      const size_t next = tail.find("// file: ");
      const std::string path = name.trim().str();
      if (StringRef(path).contains(" -> "))
        tree.link(StringRef(path).split(" -> ").first, StringRef(path).split(" -> ").second);
      else if (StringRef(path).ends_with("/"))
        tree.directory(path);
      else
        tree.write(path, tail.take_front(next));
      rest = next == StringRef::npos ? StringRef() : tail.substr(next);
    }
    if (tree.exists("project.toml"))
      operand = ".";
  } else {
    tree.write("main.gos", example.text);
  }
  threats::Launch launch;
  launch.directory = tree.root();
  launch.environment = {{"HOME", tree.home()}};
  StringRef verb = "check";
  size_t from = 1;
  if (words.size() > 1 && (words[1] == "check" || words[1] == "run")) {
    verb = words[1];
    from = 2;
  }
  launch.arguments = {verb.str()};
  for (size_t i = from; i < words.size(); ++i)
    if (words[i].starts_with("--"))
      launch.arguments.push_back(words[i].str());
    else
      operand = words[i].str();
  launch.arguments.push_back(operand);
  how = llvm::join(launch.arguments, " ");
  return threats::launch(launch);
}

/// Every code of a run: `error[GT0018]`.
std::vector<std::string> codesOf(StringRef err) {
  std::vector<std::string> codes;
  for (StringRef word : {"error[", "warning[", "note["})
    for (size_t at = err.find(word); at != StringRef::npos; at = err.find(word, at + 1))
      codes.push_back(err.substr(at + word.size(), 6).str());
  return codes;
}

TEST_CASE("tables: the broken example of a page gives exactly its code, the fixed one is clean") {
  size_t ran = 0;
  for (size_t i = 0; i < codeCount(); ++i) {
    const Code code = codeAt(i);
    for (const ExplanationExample& example : explanationExamples(explanation(code))) {
      std::string how;
      const auto outcome = runExample(example, how);
      if (!outcome)
        continue;
      ++ran;
      INFO(spelling(code).str() << ": gos " << how << "\n"
                                << example.text.str() << "\n"
                                << outcome->err);
      CHECK(!outcome->timedOut);
      CHECK(outcome->signal == 0);
      auto codes = codesOf(outcome->err);
      if (example.kind == ExplanationExample::Kind::Broken) {
        CHECK_MESSAGE(!codes.empty(), "no diagnostic");
        for (const std::string& found : codes)
          CHECK_MESSAGE(found == spelling(code).str(), "gives " << found);
      } else {
        CHECK_MESSAGE(codes.empty(), "the fixed example is not clean");
        if (severityOf(code) == Severity::Error && !StringRef(example.info).contains("run"))
          CHECK(outcome->exitCode == 0);
      }
    }
  }
  CHECK_MESSAGE(ran > 0, "no example ran");
  MESSAGE(ran << " examples ran");
}

// ---- the other tables
// ----------------------------------------------------------------------------------------

TEST_CASE("tables: every opcode is emitted, run and verified") {
  const std::vector<File> lower = filesOf({"compiler/lower"}, {".cpp", ".h", ".def"});
  const std::vector<File> vm = filesOf({"vm"}, {".cpp", ".h"});
#define GOS_OP(name, format)                                                                       \
  {                                                                                                \
    const bool emitted =                                                                           \
        llvm::any_of(lower, [](const File& file) { return hasWord(file.text, #name); });           \
    CHECK_MESSAGE(emitted, "nothing emits " #name);                                                \
    CHECK_MESSAGE(llvm::any_of(vm, [](const File& file) { return hasWord(file.text, #name); }),    \
                  "the VM never names " #name);                                                    \
  }
#include "vm/opcodes.def"
}

TEST_CASE("tables: every capability has builtins, and every builtin a body") {
  const std::vector<File> bodies = filesOf({"stdlib"}, {".cpp"});
  const std::string table = readFile("stdlib/builtins.def");
#define GOS_CAPABILITY(name, reportName, lowest)                                                   \
  CHECK_MESSAGE(StringRef(table).contains(", " #name ")"), "no builtin is of class " #name);
#include "sandbox/policy/capabilities.def"
  // Rows made by a macro of the table have their bodies made by one as well; the linker sees to
  // those.
  StringRef rest = table;
  while (!rest.empty()) {
    auto [line, tail] = rest.split('\n');
    rest = tail;
    if (!line.consume_front("GOS_BUILTIN("))
      continue;
    const StringRef id = line.split(',').first;
    CHECK_MESSAGE(
        llvm::any_of(bodies, [&](const File& file) { return StringRef(file.text).contains(id); }),
        "no body is named after " << id.str());
  }
}

TEST_CASE("tables: every key of a manifest and every option is tested") {
  const std::vector<File> tests = filesOf({"tests"}, {".cpp", ".gos", ".expect", ".toml"});
#define GOS_MANIFEST_KEY(table, name, key, type, need)                                             \
  CHECK_MESSAGE(llvm::any_of(tests, [](const File& file) { return hasWord(file.text, key); }),     \
                "no test gives `" key "` of " #table);
#include "manifest/keys.def"
#define GOS_OPTION(id, option, value, commands, repeat, summary)                                   \
  CHECK_MESSAGE(                                                                                   \
      llvm::any_of(tests, [](const File& file) { return StringRef(file.text).contains(option); }), \
      "no test gives " option);
#include "compiler/driver/commands.def"
}

TEST_CASE("tables: the page of every fence has a kind that the test knows") {
  for (const File& page : filesOf({"diagnostics/explain"}, {".md"}))
    for (const ExplanationExample& example : explanationExamples(page.text)) {
      const StringRef kind = example.info.split(' ').first;
      CHECK_MESSAGE((kind == "gossamer" || kind == "toml" || kind == "sh" || kind == "text"),
                    page.path << ": " << example.info.str());
    }
}

} // namespace
} // namespace gos::meta
