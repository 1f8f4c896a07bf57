#pragma once
// Private temps that no run holds any more. Those of runs that other tests have going are locked.

#include "llvm/ADT/StringRef.h"

#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/file.h>
#include <unistd.h>
#include <vector>

namespace gos::tests {

inline std::vector<std::string> leftovers() {
  std::vector<std::string> found;
  for (const char* base : {"/var/tmp", "/tmp"})
    for (const auto& entry : std::filesystem::directory_iterator(base)) {
      if (!llvm::StringRef(entry.path().filename().string()).starts_with("bwr-run-"))
        continue;
      const int fd = ::open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (fd < 0)
        continue;
      if (::flock(fd, LOCK_SH | LOCK_NB) == 0)
        found.push_back(entry.path().string());
      ::close(fd);
    }
  return found;
}

/// Waits for what other runs are just taking down.
inline bool nothingLeft() {
  for (int wait = 0; wait != 100 && !leftovers().empty(); ++wait)
    ::usleep(50000);
  return leftovers().empty();
}

} // namespace gos::tests
