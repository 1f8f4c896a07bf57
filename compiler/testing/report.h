#pragma once
// What `gos test` prints: a report is told of files and tests in their order and writes them as
// text, JUnit XML or JSON lines. Everything that came from a test is escaped.

#include "compiler/testing/test.h"
#include "diagnostics/render.h"

#include "llvm/Support/raw_ostream.h"

#include <memory>

namespace gos::testing {

struct Summary {
  uint64_t passed = 0, failed = 0, assertions = 0, ignored = 0, skipped = 0, docTests = 0;
  uint64_t files = 0, filesWithoutTests = 0, notLoaded = 0;
  uint64_t milliseconds = 0;
};

class Report {
public:
  virtual ~Report() = default;
  virtual void file(llvm::StringRef name) = 0;
  virtual void test(const Test& test, const Outcome& outcome) = 0;
  /// A file that did not load: its diagnostics have been printed.
  virtual void notLoaded(llvm::StringRef name) = 0;
  virtual void finish(const Summary& summary) = 0;
};

/// `failuresOnly`: --quiet.
std::unique_ptr<Report> textReport(llvm::raw_ostream& out, Colour colour, bool failuresOnly);
std::unique_ptr<Report> junitReport(llvm::raw_ostream& out);
std::unique_ptr<Report> jsonReport(llvm::raw_ostream& out);

/// A text inside XML: no character that XML 1.0 does not have, nor one that would act.
std::string escapeForXml(llvm::StringRef text);

} // namespace gos::testing
