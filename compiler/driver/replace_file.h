#pragma once
// A new text for a file of the user's, of which everything else stays: owner, mode, extended
// attributes and other names. Whatever fails on the way, one of the two texts is whole.

#include "llvm/ADT/StringRef.h"

#include <string>
#include <sys/stat.h>

namespace gos::driver {

struct Replacement {
  enum class Outcome : uint8_t {
    Done,
    ReadOnly,         // the file may not be written: nothing was done
    ChangedMeanwhile, // somebody else wrote it since it was read: nothing was done
    Failed,           // with `number`; the file is as it was
    Displaced,        // with `number`; the file is damaged, and its text is in `copy`
  };
  Outcome outcome = Outcome::Failed;
  int number = 0;   // errno
  std::string copy; // the path of a file
};

/// Puts `text` in the place of `old`, which was read from `fd`, opened at `path` (no link) when its
/// status was `before`.
Replacement replaceFile(const std::string& path, int fd, const struct stat& before,
                        llvm::StringRef old, llvm::StringRef text);

/// Everything that can be read; false with errno set.
bool readAll(int fd, std::string& text);

} // namespace gos::driver
