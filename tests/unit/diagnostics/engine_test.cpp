#include "diagnostics/engine.h"

#include "diagnostics/escape.h"
#include "diagnostics/presentation.h"

#include <doctest/doctest.h>
#include <set>

using namespace gos;

namespace {

struct Fixture {
  SourceMap sources;
  FileId file = llvm::cantFail(sources.addCopy("a.gos", "let x = 1\nlet y = 2\n"));
  Engine engine{sources};

  Span at(uint32_t begin, uint32_t end) const {
    const uint32_t base = sources.file(file).base;
    return {base + begin, base + end};
  }
};

} // namespace

TEST_CASE("a report fills the message with its arguments") {
  Fixture f;
  Diagnostic& report = f.engine.report(f.at(0, 3), diag::CallArity, "f", 1, 2);
  CHECK(report.message == "`f` takes 1 arguments; 2 given");
  CHECK(report.code == Code::GT0018);
  CHECK(report.severity == Severity::Error);
  REQUIRE(report.labels.size() == 1);
  CHECK(report.labels[0].primary);
  CHECK(f.engine.errorCount() == 1);
}

TEST_CASE("a message keeps its sentence however long what it quotes is") {
  Fixture f;
  const std::string name(100'000, 'x');
  Diagnostic& report = f.engine.report(f.at(0, 3), diag::CallArity, name, 1, 2);
  const llvm::StringRef message = report.message;
  CHECK(message.size() < 5000);
  CHECK(message.ends_with("x... (95904 bytes more)` takes 1 arguments; 2 given"));
  report.label(f.at(4, 5), name);
  CHECK(presented(report, f.sources).labels[1].message.size() < 5000);
}

TEST_CASE("a report without a place has no label") {
  Fixture f;
  CHECK(f.engine.report(diag::FileMissing, "a.gos").labels.empty());
}

TEST_CASE("braces of a message and of an argument stay as they are") {
  CHECK(fillTemplate("a { } {0} {1} {9} {x} {", {"{1}", "two"}) == "a { } {1} two {9} {x} {");
  CHECK(fillTemplate("", {}) == "");
  CHECK(fillTemplate("{0}{0}", {"a"}) == "aa");
  CHECK(fillTemplate("{99999999999999999999}", {"a"}) == "{99999999999999999999}");
}

TEST_CASE("T075: past the limit errors are counted and not kept") {
  Fixture f;
  f.engine.setLimit(3);
  for (uint32_t i = 0; i < 100000; ++i)
    f.engine.report(f.at(i % 10, i % 10 + 1), diag::NotYet, "x").note("kept or dropped");
  CHECK(f.engine.diagnostics().size() == 3);
  CHECK(f.engine.errorCount() == 100000);
  CHECK(f.engine.suppressed() == 99997);
}

TEST_CASE("many warnings and notes do not hide an error") {
  Fixture f;
  f.engine.setLimit(2);
  for (int i = 0; i < 10; ++i) {
    f.engine.report(f.at(0, 1), diag::UnknownAttribute, "x");
    f.engine.report(f.at(0, 1), diag::RegionOutput);
  }
  f.engine.report(f.at(0, 1), diag::NotYet, "x");
  CHECK(f.engine.diagnostics().size() == 3);
  CHECK(f.engine.diagnostics().back().code == Code::GN0001);
  CHECK(f.engine.warningCount() == 10);
  CHECK(f.engine.suppressed() == 0);
}

TEST_CASE("rolling back takes back what was reported since the mark") {
  Fixture f;
  f.engine.setLimit(2);
  f.engine.report(f.at(0, 1), diag::NotYet, "kept");
  const Engine::Mark mark = f.engine.mark();
  for (int i = 0; i < 5; ++i)
    f.engine.report(f.at(0, 1), diag::NotYet, "tried");
  f.engine.report(f.at(0, 1), diag::UnknownAttribute, "tried");
  f.engine.rollBack(mark);
  CHECK(f.engine.diagnostics().size() == 1);
  CHECK(f.engine.errorCount() == 1);
  CHECK(f.engine.warningCount() == 0);
  CHECK(f.engine.suppressed() == 0);
}

TEST_CASE("sorting goes by place, keeps the order of equals and drops repetitions") {
  Fixture f;
  f.engine.report(f.at(10, 11), diag::NotYet, "later");
  f.engine.report(f.at(0, 1), diag::NotYet, "b");
  f.engine.report(f.at(0, 1), diag::NotYet, "a");
  f.engine.report(f.at(0, 1), diag::NotYet, "b");
  f.engine.report(diag::FileMissing, "no place");
  f.engine.sort();
  const auto& sorted = f.engine.diagnostics();
  REQUIRE(sorted.size() == 4);
  CHECK(sorted[0].code == Code::GJ0015);
  CHECK(sorted[1].message == "not supported yet: b");
  CHECK(sorted[2].message == "not supported yet: a");
  CHECK(sorted[3].message == "not supported yet: later");
  CHECK(f.engine.errorCount() == 4);
}

TEST_CASE("the nearest word is a typing mistake away") {
  const llvm::StringRef words[] = {"confined", "full", "none", "println", "push", "x"};
  CHECK(nearest("confind", words) == "confined");
  CHECK(nearest("nonee", words) == "none");
  CHECK(nearest("NONE", words) == "none");
  CHECK(nearest("fulll", words) == "full");
  CHECK(nearest("prinltn", words) == "println"); // neighbours swapped
  CHECK(nearest("pusj", words) == "push");
  CHECK(nearest("completely", words) == "");
  CHECK(nearest("y", words) == "");
  CHECK(nearest("X", words) == "x");
  CHECK(nearest("", words) == "");
  CHECK(nearest("none", {}) == "");
  CHECK(nearest(std::string(1 << 20, 'a'), words) == "");
}

TEST_CASE("of several near words the nearest wins, then the first") {
  const llvm::StringRef words[] = {"filters", "filter", "falter"};
  CHECK(nearest("filtr", words) == "filter");
  const llvm::StringRef equals[] = {"cat", "car"};
  CHECK(nearest("cab", equals) == "cat");
}

TEST_CASE("the table of codes agrees with itself") {
  std::set<llvm::StringRef> titles;
  for (size_t index = 0; index < codeCount(); ++index) {
    const Code code = codeAt(index);
    INFO(spelling(code).str());
    CHECK(codeFromSpelling(spelling(code)) == code);
    CHECK(codeFromSpelling(spelling(code).lower()) == code);
    CHECK(titles.insert(title(code)).second);
    CHECK(spelling(code).size() == 6);
    CHECK_FALSE(messageTemplate(code).empty());
    CHECK_FALSE(messageTemplate(code).ends_with("."));
    const bool sameFamily =
        index && spelling(codeAt(index - 1)).take_front(2) == spelling(code).take_front(2);
    if (sameFamily)
      CHECK(spelling(codeAt(index - 1)) < spelling(code));
  }
  CHECK(codeFromSpelling("GT9999") == std::nullopt);
  CHECK(codeFromSpelling("") == std::nullopt);
  CHECK(isRetired(Code::GP0046));
  CHECK_FALSE(isRetired(Code::GT0018));
  CHECK(title(Code::GT0018) == "CallArity");
}

namespace {

template <class> struct ArgumentCount;
template <class... Args> struct ArgumentCount<Diag<Args...>> {
  static constexpr size_t value = sizeof...(Args);
};

struct Declared {
  const char* code;
  const char* message;
  size_t arguments;
};

using llvm::StringRef; // as codes.def spells it

const Declared kDeclared[] = {
#define GOS_DIAG(code, name, severity, message, ...)                                               \
  {#code, message, ArgumentCount<Diag<__VA_ARGS__>>::value},
#include "diagnostics/codes.def"
};

} // namespace

TEST_CASE("every message uses exactly the arguments that its row declares") {
  for (const Declared& row : kDeclared)
    for (size_t index = 0; index < 8; ++index) {
      INFO(row.code);
      const std::string hole = "{" + std::to_string(index) + "}";
      CHECK(llvm::StringRef(row.message).contains(hole) == (index < row.arguments));
    }
}
