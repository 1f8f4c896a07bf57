#pragma once
// The long text of each code: explain/CODE.md, embedded when the tool is built.

#include "diagnostics/code.h"

#include <vector>

namespace gos {

/// The page of a code, in Markdown; empty where there is none.
llvm::StringRef explanation(Code code);

/// A fenced example of a page.
struct ExplanationExample {
  enum class Kind : uint8_t { Broken, Fixed };
  Kind kind;
  /// The words behind the fence: `gossamer`, `gossamer check --comptime-io=none`, `toml`, ...
  llvm::StringRef info;
  llvm::StringRef text;
};

/// The examples under "## Broken" and "## Fixed", in the order of the page.
std::vector<ExplanationExample> explanationExamples(llvm::StringRef page);

} // namespace gos
