// The coverage of the catalogue: every number stands in coverage.def once, every file it names has
// the test, and docs/coverage.md is up to date. `coverage_test --write` rewrites the page.

#define DOCTEST_CONFIG_IMPLEMENT
#include "tests/meta/source_tree.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

namespace gos::meta {
namespace {

using llvm::StringRef;

constexpr int kThreats = 140, kCases = 83;

struct Row {
  std::string number;
  std::string file; // of a test; empty if it waits
  int issue = 0;    // 0: after this round
  std::string what;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
#define GOS_THREAT(number, file) {#number, file, 0, ""},
#define GOS_WAITS(number, issue, what) {#number, "", issue, what},
#define GOS_AFTER(number, what) {#number, "", 0, what},
#define GOS_CASE(number, issue, what) {#number, "", issue, what},
#include "tests/threats/coverage.def"
  };
  return all;
}

/// The sentence of the first TEST_CASE that begins with the number, or with several and this among
/// them.
std::string testOf(const Row& row) {
  const std::string text = readFile(row.file);
  StringRef rest = text;
  for (size_t at; (at = rest.find("TEST_CASE(")) != StringRef::npos;) {
    rest = rest.substr(at + StringRef("TEST_CASE(").size()).ltrim();
    if (!rest.consume_front("\""))
      continue;
    StringRef sentence = rest;
    bool found = false;
    const auto isNumber = [](StringRef word) {
      return word.size() == 4 && (word[0] == 'T' || word[0] == 'B') &&
             llvm::all_of(word.drop_front(), llvm::isDigit);
    };
    while (isNumber(sentence.take_front(4)) && sentence.substr(4).starts_with(" ")) {
      found |= sentence.take_front(4) == StringRef(row.number);
      sentence = sentence.drop_front(5);
    }
    if (!found)
      continue;
    // A sentence may go on in the next line's string.
    std::string whole;
    while (true) {
      auto [part, after] = sentence.split('"');
      whole += part.str();
      after = after.ltrim();
      if (!after.consume_front("\""))
        return whole;
      sentence = after;
    }
  }
  return "";
}

std::string page() {
  std::ostringstream out;
  size_t shown = 0;
  std::map<int, size_t> waiting;
  for (const Row& row : rows())
    if (row.file.empty())
      ++waiting[row.issue];
    else
      ++shown;
  out << "# Coverage of the catalogue\n\n"
         "Made from `tests/threats/coverage.def` by `coverage_test --write`; a test keeps it up to date. T-numbers are\n"
         "attacks, B-numbers what honest builds need.\n\n"
      << shown << " are shown by tests";
  for (const auto& [issue, count] : waiting)
    if (issue)
      out << "; " << count << " come with issue " << issue;
  if (waiting.count(0))
    out << "; " << waiting[0] << " come after the issues of this round";
  out << ".\n\n| number | shown by | or waits for |\n|---|---|---|\n";
  for (const Row& row : rows()) {
    out << "| " << row.number << " | ";
    if (!row.file.empty())
      out << "`" << row.file << "`: " << testOf(row) << " | |\n";
    else if (row.issue)
      out << "| issue " << row.issue << ": " << row.what << " |\n";
    else
      out << "| after this round: " << row.what << " |\n";
  }
  return out.str();
}

TEST_CASE("coverage: every number of the catalogue stands in the table once, in order") {
  std::map<std::string, int> count;
  for (const Row& row : rows())
    ++count[row.number];
  auto name = [](char letter, int number) {
    char text[8];
    std::snprintf(text, sizeof text, "%c%03d", letter, number);
    return std::string(text);
  };
  for (int i = 1; i <= kThreats; ++i)
    CHECK_MESSAGE(count[name('T', i)] == 1,
                  name('T', i) << " stands there " << count[name('T', i)] << " times");
  for (int i = 1; i <= kCases; ++i)
    CHECK_MESSAGE(count[name('B', i)] == 1,
                  name('B', i) << " stands there " << count[name('B', i)] << " times");
  CHECK(rows().size() == size_t(kThreats + kCases));
}

TEST_CASE("coverage: every file that is named holds the test") {
  for (const Row& row : rows())
    if (!row.file.empty())
      CHECK_MESSAGE(!testOf(row).empty(),
                    row.file << " has no TEST_CASE beginning with " << row.number);
}

/// Beside the file of the table: attacks that goroutines can try once more.
bool hasSecondFile(llvm::StringRef number, llvm::StringRef path) {
  return path == "tests/threats/goroutines_test.cpp" &&
         (number == "T033" || number == "T044" || number == "T056" || number == "T076");
}

TEST_CASE("coverage: every numbered test of the threats stands in the table") {
  for (const File& file : filesOf({"tests/threats"}, {"_test.cpp"})) {
    StringRef rest = file.text;
    for (size_t at; (at = rest.find("TEST_CASE(")) != StringRef::npos;) {
      rest = rest.substr(at + StringRef("TEST_CASE(").size()).ltrim();
      if (!rest.consume_front("\"") || !rest.starts_with("T"))
        continue;
      const std::string number = rest.take_front(4).str();
      bool known = hasSecondFile(number, file.path);
      for (const Row& row : rows())
        known |= row.number == number && row.file == file.path;
      CHECK_MESSAGE(known, file.path << " shows " << number << ", which the table has elsewhere");
    }
  }
}

/// Is there a test of this name: a program, a file, or what ctest calls it?
bool isTest(StringRef name) {
  static const std::vector<File> files = filesOf({"tests"}, {".cpp", "CMakeLists.txt"});
  if (StringRef folder = name; folder.consume_front("unit_")) {
    const std::string beneath = "tests/unit/" + folder.str() + "/";
    return llvm::any_of(
        files, [&](const File& file) { return StringRef(file.path).starts_with(beneath); });
  }
  if (StringRef file = name; file.consume_front("sandbox_") && isTest(file))
    return true;
  return llvm::any_of(files, [&](const File& file) {
    const StringRef path = file.path;
    return path.ends_with(("/" + name).str()) || path.ends_with(("/" + name + ".cpp").str()) ||
           (path.ends_with("CMakeLists.txt") && hasWord(file.text, name));
  });
}

/// What the last cell of a row names: T- and B-numbers, with what is between `B044-B048`, and names
/// of tests in backticks.
std::vector<std::string> testsNamedIn(StringRef cell) {
  std::vector<std::string> named;
  const auto isNumber = [](StringRef word) {
    return word.size() == 4 && (word[0] == 'T' || word[0] == 'B') &&
           llvm::all_of(word.drop_front(), llvm::isDigit);
  };
  for (size_t at = 0; at + 4 <= cell.size(); ++at) {
    const StringRef first = cell.substr(at, 4);
    if (!isNumber(first) || (at != 0 && llvm::isAlnum(cell[at - 1])))
      continue;
    int low = 0, high = 0;
    first.drop_front().getAsInteger(10, low);
    const StringRef last = cell.substr(at + 5, 4);
    if (cell.substr(at + 4).starts_with("-") && isNumber(last))
      last.drop_front().getAsInteger(10, high);
    for (int number = low; number <= std::max(low, high); ++number) {
      char text[8];
      std::snprintf(text, sizeof text, "%c%03d", first[0], number);
      named.emplace_back(text);
    }
    at += high == 0 ? 3 : 8;
  }
  for (StringRef rest = cell; rest.contains('`');) {
    const auto [word, after] = rest.split('`').second.split('`');
    if (word.contains('_'))
      named.push_back(word.str());
    rest = after;
  }
  return named;
}

TEST_CASE("security: every test that a row of SECURITY.md names is there") {
  const std::string text = readFile("SECURITY.md");
  size_t found = 0;
  for (StringRef rest = text; !rest.empty();) {
    const auto [line, after] = rest.split('\n');
    rest = after;
    if (!line.starts_with("| ") || line.count('|') < 4)
      continue;
    for (const std::string& name : testsNamedIn(line.drop_back().rsplit('|').second)) {
      const bool isNumber = name.size() == 4 && llvm::isDigit(name[3]);
      const bool known =
          isNumber ? llvm::any_of(rows(), [&](const Row& row) { return row.number == name; })
                   : isTest(name);
      CHECK_MESSAGE(known, name << ": " << line.str());
      ++found;
    }
  }
  CHECK(found > 200);
  CHECK(testsNamedIn(" B044-B046, `cases_first`, `strace` ") ==
        std::vector<std::string>{"B044", "B045", "B046", "cases_first"});
  CHECK(!isTest("cases_nothing"));
  CHECK(isTest("cases_first"));
}

TEST_CASE("coverage: docs/coverage.md is up to date") {
  CHECK_MESSAGE(readFile("docs/coverage.md") == page(), "run coverage_test --write");
}

} // namespace
} // namespace gos::meta

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (llvm::StringRef(argv[i]) == "--write") {
      std::ofstream(GOS_SOURCE_DIR "/docs/coverage.md", std::ios::binary | std::ios::trunc)
          << gos::meta::page();
      return 0;
    }
  doctest::Context context(argc, argv);
  const int result = context.run();
  if (result == 0)
    std::printf("%s", gos::meta::page().c_str());
  return result;
}
