#pragma once
// The private temp of a run: a new directory on disk, mode 0700, with a name nobody can guess,
// beneath a directory that is held by descriptor. It is locked (flock) while anything of the run
// lives; one that is ours and not locked is what a crash left, and the next run removes it.

#include "sandbox/unique_fd.h"

#include "llvm/Support/Error.h"

#include <string>

namespace gos::sandbox {

class TemporaryDirectory {
public:
  TemporaryDirectory() = default;
  TemporaryDirectory(TemporaryDirectory&&) = default;
  TemporaryDirectory& operator=(TemporaryDirectory&&) = default;
  ~TemporaryDirectory() { remove(); }

  /// Beneath /var/tmp, or /tmp where that cannot be written.
  static llvm::Expected<TemporaryDirectory> create();

  explicit operator bool() const { return directory_.valid(); }
  const std::string& path() const { return path_; } // canonical
  const std::string& name() const { return name_; }
  int parent() const { return parent_.get(); }
  int directory() const { return directory_.get(); }
  /// Removes what crashes left beside it. Called when the run has ended: a start does not wait for
  /// it, and no command of the run is there to exchange what is removed. At most once a second in a
  /// process.
  void removeLeftovers() const;
  /// Empties and removes it, unless that has been done. True if it is gone.
  bool remove();

private:
  UniqueFd parent_, directory_;
  std::string path_, name_;
};

} // namespace gos::sandbox
