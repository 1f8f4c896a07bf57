#include "compiler/testing/test.h"

#include <doctest/doctest.h>

#include <csignal>

namespace gos::testing {
namespace {

Run finished(TestResult result) {
  Run run;
  run.end = ProcessEnd::Exited;
  run.result = std::move(result);
  return run;
}
TestResult asserted(uint64_t count) {
  TestResult result;
  result.assertions = count;
  return result;
}

TEST_CASE("a test that asserted and returned passes") {
  const Outcome outcome = judge({}, finished(asserted(2)));
  CHECK(outcome.verdict == Verdict::Passed);
  CHECK(outcome.assertions == 2);
  CHECK(outcome.reason.empty());
}

TEST_CASE("a test that asserted nothing fails, unless it answered Ok or is a doc-test") {
  CHECK(judge({}, finished({})).reason == "made no assertions");
  Test test;
  test.answersResult = true;
  CHECK(judge(test, finished({})).verdict == Verdict::Passed);
  Test doc;
  doc.isDocTest = true;
  CHECK(judge(doc, finished({})).verdict == Verdict::Passed);
}

TEST_CASE("each way to fail is told, and several are joined") {
  TestResult result = asserted(1);
  result.ending = Ending::Panicked;
  result.message = "assertion failed: left == right\n  left: 1\n right: 2";
  CHECK(judge({}, finished(result)).reason ==
        "panic: assertion failed: left == right; left: 1; right: 2");
  result.ending = Ending::ReturnedErr;
  result.message = "bad";
  result.failedChecks = 2;
  result.firstFailure = "first";
  CHECK(judge({}, finished(result)).reason == "returned Err: bad · 2 assertion(s) failed - first");
  result.ending = Ending::Exited;
  result.exitCode = 3;
  result.failedChecks = 0;
  CHECK(judge({}, finished(result)).reason == "called `process::exit(3)`");
  result.ending = Ending::Trapped;
  result.code = "GX0008";
  result.message = "too deep";
  CHECK(judge({}, finished(result)).reason == "GX0008: too deep");
}

TEST_CASE("a failed check fails a test that answers Ok") {
  Test test;
  test.answersResult = true;
  TestResult result = asserted(1);
  result.failedChecks = 1;
  result.firstFailure = "no";
  CHECK(judge(test, finished(result)).reason == "1 assertion(s) failed - no");
}

TEST_CASE("a process that did not come to its own end is not believed") {
  Run run = finished(asserted(5));
  run.end = ProcessEnd::Signalled;
  run.code = SIGSEGV;
  CHECK(judge({}, run).reason == "killed by SIGSEGV");
  run.end = ProcessEnd::TimedOut;
  run.limitMilliseconds = 2000;
  CHECK(judge({}, run).reason == "no end after 2s");
  run.limitMilliseconds = 1500;
  CHECK(judge({}, run).reason == "no end after 1500ms");
  run.end = ProcessEnd::Exited;
  run.code = 3;
  CHECK(judge({}, run).reason == "ended without a result (exit code 3)");
  run.code = 0;
  run.result.reset();
  CHECK(judge({}, run).reason == "ended without a result (exit code 0)");
  CHECK(judge({}, run).assertions == 0);
}

TEST_CASE("what a test printed is kept of a failure alone") {
  Run run = finished(asserted(1));
  run.output.text = "x";
  CHECK(judge({}, run).output.text.empty());
  run.result->ending = Ending::Panicked;
  CHECK(judge({}, run).output.text == "x");
}

} // namespace
} // namespace gos::testing
