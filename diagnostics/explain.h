#pragma once
// The long text of each code: explain/CODE.md, embedded when the tool is built.
//
// The words behind the fence of an example say how it is run: `gossamer` is checked as `main.gos`,
// `gossamer run --comptime-io=none` gives the command, its options and perhaps its operand, `toml`
// is a manifest; `sh` and `text` are for people. In an example of several files a line `// file:
// src/util.gos` begins each; `// file: name -> target` is a link, `// file: name/` a directory.
// With a `project.toml` among them the project is what is checked.
//
// A page whose example cannot be shown has the line "no example: REASON" instead.

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

/// Why a page has no example; empty when it has one.
llvm::StringRef noExampleReason(llvm::StringRef page);

} // namespace gos
