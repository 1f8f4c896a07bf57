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
