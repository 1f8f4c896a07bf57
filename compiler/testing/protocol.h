#pragma once
// The record of a worker as bytes: a mark, a length, the fields. The parent reads it from a process
// that ran somebody's test (and whatever that started), so reading is total and bounded.

#include "compiler/testing/test.h"

#include "llvm/ADT/StringRef.h"

namespace gos::testing {

/// A longer record is none.
inline constexpr size_t kMaxRecordBytes = 256 << 10;

/// Texts and the trace are cut so that the record fits.
std::string encode(const TestResult& result);
/// None for anything but exactly one whole record.
std::optional<TestResult> decode(llvm::StringRef bytes);

} // namespace gos::testing
