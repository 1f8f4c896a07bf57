#include "compiler/testing/report.h"

#include <doctest/doctest.h>

namespace gos::testing {
namespace {

Test named(const char* name) {
  Test test;
  test.name = test.bareName = name;
  test.file = "a.gos";
  test.line = 3;
  return test;
}
Outcome failedBecause(const std::string& reason, const std::string& output) {
  Outcome outcome;
  outcome.reason = reason;
  outcome.output.text = output;
  outcome.milliseconds = 12;
  return outcome;
}
Outcome passed() {
  Outcome outcome;
  outcome.verdict = Verdict::Passed;
  outcome.assertions = 2;
  outcome.milliseconds = 1234;
  return outcome;
}

template <class Make> std::string shown(Make make, const Outcome& second) {
  std::string text;
  llvm::raw_string_ostream out(text);
  auto report = make(out);
  report->file("a.gos");
  report->test(named("one"), passed());
  report->test(named("two"), second);
  Summary summary;
  summary.passed = summary.failed = 1;
  summary.assertions = 2;
  summary.files = 1;
  report->finish(summary);
  return text;
}

TEST_CASE("the text has a header, a line a test and a summary") {
  const std::string text =
      shown([](llvm::raw_ostream& out) { return textReport(out, Colour::Off, false); },
            failedBecause("panic: no", "said\n"));
  CHECK(text == "=== a.gos ===\n"
                "  PASS one (2 assertions, 1234ms)\n"
                "  FAIL two (12ms): panic: no\n"
                "    stdout:\n"
                "    | said\n"
                "test: 1 passed, 1 failed, 2 assertion(s), 0 ignored, 0 skipped, 0 doc-test(s), "
                "across 1 file(s), 0 with no tests\n");
}

TEST_CASE("quiet text has the failures alone") {
  const std::string text =
      shown([](llvm::raw_ostream& out) { return textReport(out, Colour::Off, true); },
            failedBecause("panic: no", ""));
  CHECK(text == "=== a.gos ===\n  FAIL two (12ms): panic: no\n");
}

TEST_CASE("T077 no control byte and no bidirectional control of a test reaches the terminal") {
  const std::string evil = "\x1b]0;x\x07\r\xe2\x80\xae\x80\n  PASS forged (1 assertions, 1ms)\n";
  const std::string text =
      shown([](llvm::raw_ostream& out) { return textReport(out, Colour::Off, false); },
            failedBecause(evil, evil));
  for (char c : text)
    CHECK((c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f)));
  CHECK(text.find("\xe2\x80\xae") == std::string::npos);
  // T080: a line of the test does not pass for one of ours.
  CHECK(text.find("\n  PASS forged") == std::string::npos);
}

TEST_CASE("JUnit is XML whatever a test prints") {
  const std::string evil = "<a b=\"c\">&]]>\x01\x1b\xff\xef\xbf\xbe";
  const std::string text =
      shown([](llvm::raw_ostream& out) { return junitReport(out); }, failedBecause(evil, evil));
  CHECK(text.find("<testsuites name=\"gos test\" tests=\"2\" failures=\"1\"") != std::string::npos);
  CHECK(text.find("time=\"1.234\"/>") != std::string::npos);
  CHECK(text.find("&lt;a b=&quot;c&quot;&gt;&amp;]]&gt;\\x01\\x1b\\xff") != std::string::npos);
  for (char c : text)
    CHECK((c == '\n' || static_cast<unsigned char>(c) >= 0x20));
  CHECK(text.find("\xef\xbf\xbe") == std::string::npos);
  CHECK(text.find('\xff') == std::string::npos);
}

TEST_CASE("JSON is one object a line") {
  const std::string text = shown([](llvm::raw_ostream& out) { return jsonReport(out); },
                                 failedBecause("\"\n\x1b", "\xff"));
  size_t lines = 0;
  for (char c : text) {
    lines += c == '\n';
    CHECK((c == '\n' || static_cast<unsigned char>(c) >= 0x20));
  }
  CHECK(lines == 4);
  CHECK(text.find("\"verdict\":\"failed\"") != std::string::npos);
}

} // namespace
} // namespace gos::testing
