#include "diagnostics/code.h"

#include <cassert>

namespace gos {

namespace {

struct Row {
  const char* spelling;
  const char* title;
  const char* message; // for a retired code: why
  Severity severity;
  bool retired;
};

constexpr Row kRows[] = {
#define GOS_DIAG(code, name, severity, message, ...)                                               \
  {#code, #name, message, Severity::severity, false},
#define GOS_RETIRED(code, name, reason) {#code, #name, reason, Severity::Error, true},
#include "diagnostics/codes.def"
};

const Row& rowOf(Code code) {
  assert(size_t(code) < std::size(kRows) && "a code is a row of the table");
  return kRows[size_t(code)];
}

} // namespace

llvm::StringRef spelling(Code code) {
  return rowOf(code).spelling;
}
llvm::StringRef title(Code code) {
  return rowOf(code).title;
}
Severity severityOf(Code code) {
  return rowOf(code).severity;
}
bool isRetired(Code code) {
  return rowOf(code).retired;
}
llvm::StringRef messageTemplate(Code code) {
  return rowOf(code).message;
}

std::optional<Code> codeFromSpelling(llvm::StringRef text) {
  for (size_t index = 0; index < std::size(kRows); ++index)
    if (text.equals_insensitive(kRows[index].spelling))
      return Code(index);
  return std::nullopt;
}

size_t codeCount() {
  return std::size(kRows);
}
Code codeAt(size_t index) {
  return Code(index);
}

} // namespace gos
