#pragma once
// What `gos test` speaks of: a test, how its process ended, and the verdict. Plain data, shared by
// discovery, runner and reports.

#include "diagnostics/span.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gos::ast {
struct FunctionItem;
}

namespace gos::testing {

/// One entry of the harness: a `#[test]` function, one `#[test_case]` of it, or a doc-test.
struct Test {
  std::string name;     // from the root of its unit: "tests::doubles", "parse[1, \"a\"]"
  std::string bareName; // without the modules
  std::string file;     // as it is shown
  uint32_t line = 0;
  Span span;       // of the function's name; of a doc-test's first line
  std::string why; // of `#[ignore("..")]` and `#[skip("..")]`; may be empty
  bool isIgnored = false;
  bool isSkipped = false; // never run, whatever the command line says
  bool isDocTest = false;
  bool answersResult = false; // declared `-> Result<..>`: needs no assertion when it answers Ok
  std::optional<uint64_t> timeoutMilliseconds;
  ast::FunctionItem* function = nullptr; // without parameters
};

// ---- what a worker tells ------------------------------------------------------------------------

/// How the function came to its end.
enum class Ending : uint8_t { Returned, ReturnedErr, Panicked, Exited, Trapped };

struct Frame {
  std::string function;
  Span span;
};

/// The record a worker writes. It comes from a process that ran the test, so nothing in it is
/// trusted: it is decoded totally, bounded, and escaped wherever it is shown.
struct TestResult {
  Ending ending = Ending::Returned;
  uint64_t assertions = 0;
  uint64_t failedChecks = 0;
  std::string firstFailure;  // of the recorded checks
  std::string message;       // of a panic, a trap, an Err
  std::string code;          // of a trap: "GX0008"
  int64_t exitCode = 0;      // of process::exit
  uint64_t milliseconds = 0; // from the start of its process
  std::vector<Frame> trace;  // innermost first
};

// ---- what the runner saw ------------------------------------------------------------------------

enum class ProcessEnd : uint8_t { Exited, Signalled, TimedOut, NotStarted };

/// What a test printed, up to a bound.
struct Captured {
  std::string text;
  uint64_t omitted = 0; // bytes past the bound
};

struct Run {
  ProcessEnd end = ProcessEnd::NotStarted;
  int code = 0; // exit code, signal or errno, as `end` says
  std::optional<TestResult> result;
  Captured output, error;
  std::string reached; // a byte a place of the module, if that was asked for
  uint64_t milliseconds = 0;
  uint64_t limitMilliseconds = 0;
};

// ---- the verdict --------------------------------------------------------------------------------

enum class Verdict : uint8_t { Passed, Failed, Ignored, Skipped };

struct Outcome {
  Verdict verdict = Verdict::Failed;
  std::string reason;  // of a failure, one line; of an ignored or skipped test its why
  std::string details; // further lines: the place of a panic, diagnostics of a doc-test
  uint64_t assertions = 0;
  uint64_t milliseconds = 0;
  Captured output, error; // of a failure
};

/// Fails on a panic, a returned Err, a failed recorded check, an end without a result, and on
/// making no assertion at all, unless the test is declared to answer a Result and answered Ok.
Outcome judge(const Test& test, const Run& run);

} // namespace gos::testing
