#pragma once
// Doc-tests: fenced code in documentation, as functions of the module whose comment holds it.

#include "compiler/check/check.h"
#include "compiler/testing/test.h"
#include "diagnostics/engine.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

#include <string>
#include <vector>

namespace gos::testing {

struct DocTests {
  std::vector<Test> tests;
  llvm::DenseMap<uint32_t, uint32_t> byFile; // FileId of a test's text -> index of `tests`
};

/// The doc-tests of the root package, without changing anything.
std::vector<Test> findDocTests(const check::ProgramInput& input);

/// Adds a function for each doc-test of the root package whose name is not in `without`. What does
/// not parse is reported with spans in the texts of `byFile`.
DocTests addDocTests(check::ProgramInput& input, const llvm::StringSet<>& without, Engine& engine);

/// The doc-test that a diagnostic is about, and its text: none if it is about something else.
std::optional<uint32_t> docTestOf(const DocTests& tests, const SourceMap& sources, Span span);

} // namespace gos::testing
