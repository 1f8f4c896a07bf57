#pragma once
// Number literals (language.md 2.6): where one ends, whether it is well formed, what it means.

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace gos::lex {

/// A number as it is scanned.
struct NumberShape {
  const char* end = nullptr;
  bool isFloat = false;
  const char* fault = nullptr; // why it is malformed; null when it is not
};
/// Scans the number that begins with the digit at `at`; the text ends in a NUL at `end`.
NumberShape scanNumber(const char* at, const char* end);

/// The meaning of a well-formed number's text.
struct NumberValue {
  uint64_t integer = 0;
  double floating = 0;
  bool isFloat = false;
  bool tooLarge = false;  // an integer of more than 64 bits
  llvm::StringRef suffix; // as written; any run of identifier characters
};
NumberValue decodeNumber(llvm::StringRef text);

} // namespace gos::lex
