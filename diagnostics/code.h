#pragma once
// The codes of codes.def as an enum, and one typed constant a diagnostic: diag::CallArity knows
// how many arguments its message takes and of which types.

#include "llvm/ADT/StringRef.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace gos {

enum class Severity : uint8_t { Error, Warning, Note };

enum class Code : uint16_t {
#define GOS_DIAG(code, name, severity, message, ...) code,
#define GOS_RETIRED(code, name, why) code,
#include "diagnostics/codes.def"
};

/// "GT0018".
llvm::StringRef spelling(Code code);
/// "CallArity".
llvm::StringRef title(Code code);
Severity severityOf(Code code);
bool isRetired(Code code);
/// The message with its {0} placeholders.
llvm::StringRef messageTemplate(Code code);
std::optional<Code> codeFromSpelling(llvm::StringRef text);
/// All codes in the order of the table.
size_t codeCount();
Code codeAt(size_t index);

/// A declared diagnostic: what it says and the types of what it says it about.
template <class... Args> struct Diag {
  Code code;
};

namespace diag {
using llvm::StringRef;
#define GOS_DIAG(code, name, severity, message, ...)                                               \
  inline constexpr Diag<__VA_ARGS__> name{Code::code};
#define GOS_RETIRED(code, name, why)
#include "diagnostics/codes.def"
} // namespace diag

} // namespace gos
