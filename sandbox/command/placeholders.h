#pragma once
// Stand-ins for names that a user's denial covers and that do not exist: an empty file or directory
// that the cover is mounted on, so that the name cannot be made. Runs that deny the same name share
// it (a shared lock on the file counts them); the last one removes it, or, after a crash, the next.

#include "sandbox/linux/plan.h"
#include "sandbox/unique_fd.h"

#include "llvm/Support/Error.h"

#include <vector>

namespace gos::sandbox {

class Placeholders {
public:
  Placeholders() = default;
  Placeholders(Placeholders&&) = default;
  Placeholders& operator=(Placeholders&&) = default;
  ~Placeholders() { remove(); }

  static llvm::Expected<Placeholders> create(llvm::ArrayRef<Placeholder> wanted);
  /// The stand-ins that other runs hold, or a crash left, for a denied path and the directories
  /// above it: to be shared, and removed by the last.
  static std::vector<Placeholder> existing(llvm::StringRef deniedPath);
  /// Gives the names back; those that others still use stay.
  void remove();

private:
  struct Held {
    UniqueFd parent; // O_PATH: names are given back where they were made
    std::string name;
    bool directory = false;
    UniqueFd fd; // with a shared lock
  };
  std::vector<Held> held_;
};

} // namespace gos::sandbox
