#include "compiler/testing/report.h"

#include "diagnostics/escape.h"

namespace gos::testing {
namespace {

using llvm::StringRef;

class TextReport final : public Report {
public:
  TextReport(llvm::raw_ostream& out, Colour colour, bool failuresOnly)
      : out_(out), colour_(colour), failuresOnly_(failuresOnly) {}

  void file(StringRef name) override {
    header_ = "=== " + escapeForText(name) + " ===\n";
    if (!failuresOnly_)
      takeHeader();
  }

  void test(const Test& test, const Outcome& outcome) override {
    if (failuresOnly_ && outcome.verdict != Verdict::Failed)
      return;
    takeHeader();
    const std::string name = escapeForText(test.name);
    switch (outcome.verdict) {
    case Verdict::Passed:
      word("PASS", "\x1b[32m");
      out_ << ' ' << name << " (" << outcome.assertions << " assertions, " << outcome.milliseconds
           << "ms)\n";
      break;
    case Verdict::Failed:
      word("FAIL", "\x1b[31m");
      out_ << ' ' << name << " (" << outcome.milliseconds
           << "ms): " << escapeForText(outcome.reason) << '\n';
      lines("    ", outcome.details);
      captured("stdout", outcome.output);
      captured("stderr", outcome.error);
      break;
    case Verdict::Ignored:
      unrun("IGNORED", name, outcome);
      break;
    case Verdict::Skipped:
      unrun("SKIPPED", name, outcome);
      break;
    }
    out_.flush();
  }

  void notLoaded(StringRef name) override {
    file(name);
    takeHeader();
    word("FAIL", "\x1b[31m");
    out_ << " the file did not load\n";
  }

  void finish(const Summary& summary) override {
    if (failuresOnly_)
      return;
    out_ << "test: " << summary.passed << " passed, " << summary.failed << " failed, "
         << summary.assertions << " assertion(s), " << summary.ignored << " ignored, "
         << summary.skipped << " skipped, " << summary.docTests << " doc-test(s), across "
         << summary.files << " file(s), " << summary.filesWithoutTests << " with no tests\n";
    if (summary.notLoaded)
      out_ << "test: " << summary.notLoaded << " file(s) did not load\n";
    out_.flush();
  }

private:
  void takeHeader() {
    out_ << header_;
    header_.clear();
  }

  void word(StringRef text, StringRef colour) {
    out_ << "  ";
    if (colour_ == Colour::On)
      out_ << colour << text << "\x1b[0m";
    else
      out_ << text;
  }

  void unrun(StringRef text, StringRef name, const Outcome& outcome) {
    word(text, "\x1b[33m");
    out_ << ' ' << name;
    if (!outcome.reason.empty())
      out_ << ": " << escapeForText(outcome.reason);
    out_ << '\n';
  }

  /// Each foreign line carries a prefix, so none can pass for one of ours (T080).
  void lines(StringRef prefix, StringRef text) {
    while (!text.empty()) {
      auto [line, rest] = text.split('\n');
      text = rest;
      out_ << prefix << escapeForText(line) << '\n';
    }
  }

  void captured(StringRef name, const Captured& stream) {
    if (stream.text.empty() && stream.omitted == 0)
      return;
    out_ << "    " << name << ":\n";
    lines("    | ", stream.text);
    if (stream.omitted)
      out_ << "    (and " << stream.omitted << " more bytes)\n";
  }

  llvm::raw_ostream& out_;
  Colour colour_;
  bool failuresOnly_;
  std::string header_;
};

} // namespace

std::unique_ptr<Report> textReport(llvm::raw_ostream& out, Colour colour, bool failuresOnly) {
  return std::make_unique<TextReport>(out, colour, failuresOnly);
}

} // namespace gos::testing
