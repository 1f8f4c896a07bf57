#pragma once
// The levels of `--comptime-io` and of `project.comptime-io`.

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace gos {

/// What a compile-time region may reach, the strictest first; zero is nothing at all.
enum class ComptimeIo : uint8_t { None, Confined, Full };

/// "none", "confined", "full".
llvm::StringRef spelling(ComptimeIo level);
/// Exactly one of the spellings; nothing is trimmed, folded or guessed (T065).
std::optional<ComptimeIo> comptimeIoFromSpelling(llvm::StringRef text);
/// The closed set, for messages and for the nearest word.
llvm::ArrayRef<llvm::StringRef> comptimeIoSpellings();

constexpr ComptimeIo stricter(ComptimeIo a, ComptimeIo b) {
  return a < b ? a : b;
}

} // namespace gos
