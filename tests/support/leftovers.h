#pragma once
// Private temps that no run holds any more. Those of runs that other tests have going are locked;
// but others may be just made, taken down or killed too, so a look alone tells nothing.

#include "tests/support/eventually.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/file.h>
#include <unistd.h>
#include <vector>

namespace gos::tests {

class Leftovers {
public:
  /// What lies there by now is somebody else's.
  Leftovers() : before_(now()) {}

  /// Has each that has come since been gone once? What is ours would stay; what others have left
  /// goes with their next run. `meanwhile` happens before each look but the first.
  template <class Meanwhile> bool allGo(Meanwhile meanwhile) const {
    std::vector<std::string> left = now();
    llvm::erase_if(left,
                   [&](const std::string& path) { return llvm::is_contained(before_, path); });
    return eventually([&] {
      if (left.empty())
        return true;
      meanwhile();
      const std::vector<std::string> there = now();
      llvm::erase_if(left,
                     [&](const std::string& path) { return !llvm::is_contained(there, path); });
      return left.empty();
    });
  }
  bool allGo() const {
    return allGo([] {});
  }

private:
  static std::vector<std::string> now() {
    std::vector<std::string> found;
    std::error_code error;
    for (const char* base : {"/var/tmp", "/tmp"})
      for (auto entry = std::filesystem::directory_iterator(base, error);
           !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        if (!llvm::StringRef(entry->path().filename().string()).starts_with("bwr-run-"))
          continue;
        const int fd =
            ::open(entry->path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
          continue;
        if (::flock(fd, LOCK_SH | LOCK_NB) == 0)
          found.push_back(entry->path().string());
        ::close(fd);
      }
    return found;
  }

  std::vector<std::string> before_;
};

} // namespace gos::tests
