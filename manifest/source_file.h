#pragma once
// The compiler's own reads: manifests and sources, which a hostile tree may replace by a link to
// somebody's key so that a diagnostic quotes it (T079). A file is opened beneath the directory of
// its package; what leads out is refused by the link that does so, and not opened.

#include "diagnostics/engine.h"

#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace gos {

/// Why a file of a package could not be read.
enum class SourceProblem : uint8_t {
  None,
  Missing,
  IsDirectory,
  NotPermitted,
  NotRegular,
  TooLarge,
  Outside, // through the link below, or by `..`
  Other,   // see `words`
};

struct SourceText {
  SourceProblem problem = SourceProblem::None;
  std::string link, linkText; // Outside: the link beneath the directory, and its text
  std::string words;
  std::unique_ptr<llvm::MemoryBuffer> buffer; // NUL-terminated; null if there is a problem
};

/// Reads `path`, relative to the canonical `directory`, at most `cap` bytes.
SourceText readBeneath(const std::string& directory, llvm::StringRef path, uint64_t cap);

/// What an errno of looking a file up or reading it means.
SourceText problemOf(int number);
/// Reports what is wrong, with `shown` as the name of the file.
void reportProblem(const SourceText& text, llvm::StringRef shown, uint64_t cap, Engine& engine,
                   Span usedAt);

/// The offset of the first byte that is not UTF-8, or the size of the text.
size_t findInvalidUtf8(llvm::StringRef text);

/// Where a path beneath a canonical directory leads, by its own links only.
struct InsidePath {
  enum class Kind : uint8_t { Inside, Outside, Missing, Loop, NotADirectory, Failed };
  Kind kind = Kind::Failed;
  std::string path;           // Inside: canonical, beneath the directory
  std::string link, linkText; // Outside: the link that leads out; empty for `..`
  int errorNumber = 0;
};
InsidePath resolveInside(const std::string& directory, llvm::StringRef path);

} // namespace gos
