#pragma once
// A unit of `gos test`: one program with its tests, compiled, and what became of the doc-tests that
// do not compile.

#include "compiler/driver/pipeline.h"
#include "compiler/testing/coverage.h"
#include "compiler/testing/selection.h"
#include "compiler/testing/test.h"

#include "llvm/ADT/StringMap.h"

#include <memory>
#include <string>
#include <vector>

namespace gos::driver {

struct TestUnit {
  /// Of a test that has no function to run: it is not asked for, or does not compile.
  static constexpr uint32_t kNoEntry = ~0u;

  std::string path;
  std::unique_ptr<Compilation> compilation;
  std::vector<std::string> files;   // of the unit's own package, in order
  std::vector<testing::Test> tests; // in order of the files; doc-tests behind the others of a file
  std::vector<uint32_t> entries;    // by test: in Module::regions
  llvm::StringMap<std::string> brokenDocTests; // diagnostics, by key
  std::string module;                          // serialised
  testing::UnitCoverage coverage;              // if that is asked for
  bool loaded = false;
  bool foldFailed = false;
  bool readsReport = false; // one of the reports would be written over what it reads

  static std::string keyOf(const testing::Test& test) { return test.file + "\n" + test.name; }
  /// "at src/lib.gos:3:5", a line; generated text is shown where it stands.
  std::string placeText(Span span) const;
};

/// Is it one of those that the command line asks for?
bool wantsTest(const Options& options, testing::Selection& selection, const testing::Test& test);

/// What is wrong with it stands in the engine of its compilation. `reports` are the places that
/// this command is about to write.
TestUnit loadTestUnit(const std::string& path, const Options& options,
                      testing::Selection& selection,
                      llvm::ArrayRef<const executable::Place*> reports);

} // namespace gos::driver
