#pragma once
// Numbers from text, strictly: the whole text, no blanks.

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace gos::stdlib {

enum class NumberFault : uint8_t { None, Empty, Invalid, TooLarge };

/// [+-] digits of the base (2 to 36), in the range of i64.
NumberFault parseSigned(llvm::StringRef text, unsigned base, int64_t& value);
NumberFault parseUnsigned(llvm::StringRef text, unsigned base, uint64_t& value);
/// Decimal with fraction and exponent, `inf`, `-inf`, `NaN`.
NumberFault parseReal(llvm::StringRef text, double& value);
/// "`12x` is not a number"
std::string faultText(NumberFault fault, llvm::StringRef text, llvm::StringRef wanted);

} // namespace gos::stdlib
