#include "compiler/testing/test.h"

#include "sandbox/sys_error.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <csignal>
#include <cstring>

namespace gos::testing {
namespace {

using llvm::StringRef;

/// A reason stands on one line: "left == right; left: 1; right: 2".
std::string oneLine(StringRef text) {
  std::string line;
  while (!text.empty()) {
    auto [head, tail] = text.split('\n');
    head = head.trim();
    if (!head.empty())
      line += (line.empty() ? "" : "; ") + head.str();
    text = tail;
  }
  return line;
}

std::string signalName(int number) {
  const char* name = ::sigabbrev_np(number);
  return name ? "SIG" + std::string(name) : "signal " + llvm::utostr(unsigned(number));
}

std::string duration(uint64_t milliseconds) {
  return milliseconds % 1000 == 0 ? llvm::utostr(milliseconds / 1000) + "s"
                                  : llvm::utostr(milliseconds) + "ms";
}

/// Why a process that gave no record did not.
std::string endWithoutResult(const Run& run) {
  switch (run.end) {
  case ProcessEnd::TimedOut:
    return "no end after " + duration(run.limitMilliseconds);
  case ProcessEnd::Signalled:
    return "killed by " + signalName(run.code);
  case ProcessEnd::NotStarted:
    return "could not be started: " + errnoText(run.code);
  case ProcessEnd::Exited:
    break;
  }
  return "ended without a result (exit code " + llvm::itostr(run.code) + ")";
}

} // namespace

Outcome judge(const Test& test, const Run& run) {
  Outcome outcome;
  outcome.milliseconds = run.milliseconds;
  llvm::SmallVector<std::string, 3> reasons;
  // A record beside a violent end is not believed: the process did not come to its own end.
  const bool hasRecord = run.result && run.end == ProcessEnd::Exited && run.code == 0;
  if (!hasRecord) {
    reasons.push_back(endWithoutResult(run));
  } else {
    const TestResult& result = *run.result;
    outcome.assertions = result.assertions;
    switch (result.ending) {
    case Ending::Returned:
      break;
    case Ending::ReturnedErr:
      reasons.push_back("returned Err: " + oneLine(result.message));
      break;
    case Ending::Panicked:
      reasons.push_back("panic: " + oneLine(result.message));
      break;
    case Ending::Exited:
      reasons.push_back("called `process::exit(" + llvm::itostr(result.exitCode) + ")`");
      break;
    case Ending::Trapped:
      reasons.push_back(result.code + ": " + oneLine(result.message));
      break;
    }
    if (result.failedChecks != 0)
      reasons.push_back(llvm::utostr(result.failedChecks) + " assertion(s) failed - " +
                        oneLine(result.firstFailure));
    if (reasons.empty() && result.assertions == 0 && !test.answersResult && !test.isDocTest)
      reasons.push_back("made no assertions");
  }
  outcome.verdict = reasons.empty() ? Verdict::Passed : Verdict::Failed;
  outcome.reason = llvm::join(reasons, " · ");
  if (outcome.verdict == Verdict::Failed) {
    outcome.output = run.output;
    outcome.error = run.error;
  }
  return outcome;
}

} // namespace gos::testing
