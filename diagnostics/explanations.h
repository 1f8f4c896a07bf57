#pragma once
// What the build makes of the folder explain/: a table in read-only memory.

#include "diagnostics/code.h"

#include "llvm/ADT/ArrayRef.h"

namespace gos {

struct ExplanationPage {
  Code code;
  const char* text;
  size_t size;
};

llvm::ArrayRef<ExplanationPage> explanationPages();

} // namespace gos
