#pragma once
// A file that an option names for a report of this command: `--junit-out`, `--coverage`.
//
// It is judged before anything runs, as the place of `gos build -o` is: no directory, no source, no
// manifest, nothing that may not be written. Links are followed, devices and pipes are written
// into, and of a file that is there everything but its text stays (replace_file.h).

#include "compiler/executable/place.h"

#include <optional>
#include <string>

namespace gos::driver {

class ReportFile {
public:
  /// None after a message on standard error.
  static std::optional<ReportFile> find(llvm::StringRef path);

  const executable::Place& place() const { return place_; }
  /// Would one of them take the place of the other?
  bool isSame(const ReportFile& other) const;
  /// False after a message on standard error; the file is then as it was.
  bool write(llvm::StringRef text) const;

private:
  bool refuse(const executable::Refusal& refusal) const;
  bool replace(int fd, llvm::StringRef text) const;

  executable::Place place_;
};

} // namespace gos::driver
