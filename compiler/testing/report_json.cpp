// One JSON object a line: `file`, `test` and `summary` events.

#include "compiler/testing/report.h"

#include "diagnostics/json_writer.h"

namespace gos::testing {
namespace {

using llvm::StringRef;

StringRef spelling(Verdict verdict) {
  switch (verdict) {
  case Verdict::Passed:
    return "passed";
  case Verdict::Failed:
    return "failed";
  case Verdict::Ignored:
    return "ignored";
  case Verdict::Skipped:
    break;
  }
  return "skipped";
}

class JsonReport final : public Report {
public:
  explicit JsonReport(llvm::raw_ostream& out) : out_(out) {}

  void file(StringRef name) override {
    JsonWriter json;
    json.beginObject();
    json.member("event", "file");
    json.member("file", name);
    end(json);
  }

  void test(const Test& test, const Outcome& outcome) override {
    JsonWriter json;
    json.beginObject();
    json.member("event", "test");
    json.member("file", test.file);
    json.member("name", test.name);
    json.member("line", uint64_t(test.line));
    json.key("doc_test");
    json.boolean(test.isDocTest);
    json.member("verdict", spelling(outcome.verdict));
    json.member("assertions", outcome.assertions);
    json.member("milliseconds", outcome.milliseconds);
    if (!outcome.reason.empty())
      json.member("reason", outcome.reason);
    if (!outcome.details.empty())
      json.member("details", outcome.details);
    if (outcome.verdict == Verdict::Failed) {
      json.member("stdout", outcome.output.text);
      json.member("stderr", outcome.error.text);
    }
    end(json);
  }

  void notLoaded(StringRef name) override {
    JsonWriter json;
    json.beginObject();
    json.member("event", "not_loaded");
    json.member("file", name);
    end(json);
  }

  void finish(const Summary& summary) override {
    JsonWriter json;
    json.beginObject();
    json.member("event", "summary");
    json.member("passed", summary.passed);
    json.member("failed", summary.failed);
    json.member("assertions", summary.assertions);
    json.member("ignored", summary.ignored);
    json.member("skipped", summary.skipped);
    json.member("doc_tests", summary.docTests);
    json.member("files", summary.files);
    json.member("files_without_tests", summary.filesWithoutTests);
    json.member("files_not_loaded", summary.notLoaded);
    json.member("milliseconds", summary.milliseconds);
    end(json);
  }

private:
  void end(JsonWriter& json) {
    json.endObject();
    out_ << json.finish() << '\n';
    out_.flush();
  }

  llvm::raw_ostream& out_;
};

} // namespace

std::unique_ptr<Report> jsonReport(llvm::raw_ostream& out) {
  return std::make_unique<JsonReport>(out);
}

} // namespace gos::testing
