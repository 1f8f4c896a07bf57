#pragma once
// Owns every text that a diagnostic can point into: files, and text that a fold generated.

#include "diagnostics/span.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>
#include <vector>

namespace gos {

/// A line and a column, both from 1; the column counts Unicode scalars.
struct LineColumn {
  uint32_t line = 1;
  uint32_t column = 1;
};

/// May a snippet of this text be shown? Text that came from a read is shown by place only (T078).
enum class Snippets { Shown, Hidden };

struct SourceFile {
  std::string name; // as it is shown to the user; may hold any byte, renderers escape it
  std::unique_ptr<llvm::MemoryBuffer> text; // NUL-terminated; a leading BOM is already dropped
  uint32_t base = 0;                        // offset of its first byte in the shared space
  uint32_t package = 0;                     // the package that spells it (PackageId of the program)
  Span parent;                              // for generated text: the call that it replaces
  Snippets snippets = Snippets::Shown;
  /// For generated text: some of the code that made it is not of `package` (ruling 2 of the fold:
  /// a region in such text has no I/O).
  bool foreign = false;
  mutable std::vector<uint32_t> lineStarts; // made when first asked for

  uint32_t size() const { return uint32_t(text->getBufferSize()); }
  llvm::StringRef content() const { return text->getBuffer(); }
};

class SourceMap {
public:
  SourceMap() = default;
  SourceMap(const SourceMap&) = delete;
  SourceMap& operator=(const SourceMap&) = delete;

  /// Adds a text; an error when the 4 GiB of offset space are used up.
  llvm::Expected<FileId> add(std::string name, std::unique_ptr<llvm::MemoryBuffer> text);
  llvm::Expected<FileId> addCopy(std::string name, llvm::StringRef text);

  SourceFile& file(FileId id) { return *files_[uint32_t(id)]; }
  const SourceFile& file(FileId id) const { return *files_[uint32_t(id)]; }
  size_t fileCount() const { return files_.size(); }

  /// The file an offset lies in; FileId::None for a span without a place.
  FileId fileOf(Span span) const;
  /// The bytes of a span.
  llvm::StringRef text(Span span) const;
  /// Total over any offset, so a renderer never has to check.
  LineColumn locate(FileId file, uint32_t offsetInFile) const;
  LineColumn locate(Span span) const;
  /// The text of a line, from 1, without its terminator.
  llvm::StringRef line(FileId file, uint32_t line) const;

private:
  std::vector<std::unique_ptr<SourceFile>> files_;
  uint32_t next_ = 1; // offset 0 is "no place"
};

} // namespace gos
