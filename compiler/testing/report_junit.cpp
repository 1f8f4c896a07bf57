// JUnit XML, as CI systems read it: one suite a file. Written at the end, since a suite begins with
// its counts.

#include "compiler/testing/report.h"

#include "diagnostics/escape.h"

#include "llvm/Support/Format.h"

#include <vector>

namespace gos::testing {
namespace {

using llvm::StringRef;

struct Case {
  Test test;
  Outcome outcome;
};
struct Suite {
  std::string name;
  bool isNotLoaded = false;
  std::vector<Case> cases;
};

class JunitReport final : public Report {
public:
  explicit JunitReport(llvm::raw_ostream& out) : out_(out) {}

  void file(StringRef name) override { suites_.push_back({name.str(), false, {}}); }
  void test(const Test& test, const Outcome& outcome) override {
    if (suites_.empty())
      file(test.file);
    suites_.back().cases.push_back({test, outcome});
  }
  void notLoaded(StringRef name) override { suites_.push_back({name.str(), true, {}}); }

  void finish(const Summary& summary) override {
    out_ << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"gos test\" tests=\""
         << summary.passed + summary.failed + summary.ignored + summary.skipped + summary.notLoaded
         << "\" failures=\"" << summary.failed << "\" errors=\"" << summary.notLoaded
         << "\" skipped=\"" << summary.ignored + summary.skipped << "\" time=\"";
    seconds(summary.milliseconds);
    out_ << "\">\n";
    for (const Suite& suite : suites_)
      write(suite);
    out_ << "</testsuites>\n";
    out_.flush();
  }

private:
  void write(const Suite& suite) {
    uint64_t failures = 0, skipped = 0, milliseconds = 0;
    for (const Case& each : suite.cases) {
      failures += each.outcome.verdict == Verdict::Failed;
      skipped +=
          each.outcome.verdict == Verdict::Ignored || each.outcome.verdict == Verdict::Skipped;
      milliseconds += each.outcome.milliseconds;
    }
    const std::string name = escapeForXml(escapeForText(suite.name));
    out_ << "  <testsuite name=\"" << name << "\" tests=\""
         << suite.cases.size() + suite.isNotLoaded << "\" failures=\"" << failures << "\" errors=\""
         << unsigned(suite.isNotLoaded) << "\" skipped=\"" << skipped << "\" time=\"";
    seconds(milliseconds);
    out_ << "\">\n";
    if (suite.isNotLoaded)
      out_ << "    <testcase name=\"load\" classname=\"" << name
           << "\" time=\"0.000\">\n      <error message=\"the file did not load\"/>\n"
              "    </testcase>\n";
    for (const Case& each : suite.cases)
      write(each, name);
    out_ << "  </testsuite>\n";
  }

  void write(const Case& each, const std::string& file) {
    const Outcome& outcome = each.outcome;
    out_ << "    <testcase name=\"" << escapeForXml(escapeForText(each.test.name))
         << "\" classname=\"" << file << "\" line=\"" << each.test.line << "\" assertions=\""
         << outcome.assertions << "\" time=\"";
    seconds(outcome.milliseconds);
    const std::string reason = escapeForXml(escapeForText(outcome.reason));
    switch (outcome.verdict) {
    case Verdict::Passed:
      out_ << "\"/>\n";
      return;
    case Verdict::Ignored:
    case Verdict::Skipped:
      out_ << "\">\n      <skipped message=\"" << reason << "\"/>\n";
      break;
    case Verdict::Failed:
      out_ << "\">\n      <failure message=\"" << reason << "\">"
           << escapeForXml(escapeForTextBlock(outcome.details)) << "</failure>\n";
      stream("system-out", outcome.output);
      stream("system-err", outcome.error);
      break;
    }
    out_ << "    </testcase>\n";
  }

  void stream(StringRef element, const Captured& captured) {
    if (captured.text.empty())
      return;
    out_ << "      <" << element << '>' << escapeForXml(escapeForTextBlock(captured.text)) << "</"
         << element << ">\n";
  }

  void seconds(uint64_t milliseconds) {
    out_ << milliseconds / 1000 << '.' << llvm::format("%03u", unsigned(milliseconds % 1000));
  }

  llvm::raw_ostream& out_;
  std::vector<Suite> suites_;
};

} // namespace

std::string escapeForXml(StringRef text) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i != text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    default: // every other character of the text
      // U+FFFE and U+FFFF are no characters of XML.
      if (c == 0xef && text.substr(i).starts_with("\xef\xbf\xbe")) {
        result += "\\u{fffe}";
        i += 2;
      } else if (c == 0xef && text.substr(i).starts_with("\xef\xbf\xbf")) {
        result += "\\u{ffff}";
        i += 2;
      } else if (c < 0x20 && c != '\n' && c != '\t') {
        result += '?'; // whoever calls has escaped these
      } else {
        result += char(c);
      }
    }
  }
  return result;
}

std::unique_ptr<Report> junitReport(llvm::raw_ostream& out) {
  return std::make_unique<JunitReport>(out);
}

} // namespace gos::testing
