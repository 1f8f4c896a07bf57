#pragma once
// The tests of parsed files, in source order. Before the check, since each `#[test_case]` becomes a
// function of its own that the check has to see.

#include "compiler/check/check.h"
#include "compiler/testing/test.h"
#include "diagnostics/engine.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <vector>

namespace gos::testing {

/// The tests of the root package. Adds a function for each `#[test_case]`; attributes that make no
/// sense are reported (GP0013).
std::vector<Test> findTests(check::ProgramInput& input, Engine& engine);

/// After the check: what each function answers. One that answers neither nothing nor a Result is
/// reported.
void settleResults(std::vector<Test>& tests, check::Program& program, Engine& engine);

/// "500ms", "2s", "1m" in milliseconds.
std::optional<uint64_t> parseDuration(llvm::StringRef text);

} // namespace gos::testing
