#include "sandbox/command/placeholders.h"

#include "sandbox/sys_error.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace gos::sandbox {

namespace {
/// The modification time that marks a file as ours: nothing else has it. 2001-09-09 and some
/// nanoseconds.
constexpr timespec kMark = {1000000000, 246813579};

bool isMarked(const struct stat& status) {
  return S_ISREG(status.st_mode) && status.st_size == 0 && status.st_uid == ::geteuid() &&
         status.st_mtim.tv_sec == kMark.tv_sec && status.st_mtim.tv_nsec == kMark.tv_nsec;
}
/// A directory keeps no time of its own; where the file system has no such attributes, one that a
/// crash leaves is simply an empty directory.
constexpr char kDirectoryMark[] = "user.bwr.placeholder";

bool isMarkedDirectory(const std::string& path) {
  char value = 0;
  return ::lgetxattr(path.c_str(), kDirectoryMark, &value, 1) == 1;
}
} // namespace

std::vector<Placeholder> Placeholders::existing(llvm::StringRef deniedPath) {
  std::vector<Placeholder> found;
  struct stat status{};
  if (::lstat(deniedPath.str().c_str(), &status) == 0 && isMarked(status))
    found.push_back({deniedPath.str(), false});
  for (llvm::StringRef above = deniedPath.rsplit('/').first;
       !above.empty() && isMarkedDirectory(above.str()); above = above.rsplit('/').first)
    found.insert(found.begin(), {above.str(), true});
  return found;
}

llvm::Expected<Placeholders> Placeholders::create(llvm::ArrayRef<Placeholder> wanted) {
  Placeholders made;
  for (const Placeholder& entry : wanted) {
    if (entry.directory) {
      if (::mkdir(entry.path.c_str(), 0755) == 0)
        ::setxattr(entry.path.c_str(), kDirectoryMark, "1", 1, 0);
      else if (errno != EEXIST)
        return sysError("make a placeholder for", entry.path, errno);
      else if (!isMarkedDirectory(entry.path))
        continue; // somebody made it meanwhile: it is theirs
      made.held_.push_back({entry.path, true, {}});
      continue;
    }
    for (int again = 0;; ++again) {
      // The last user of the old one may remove it between our two looks: then it is made anew.
      UniqueFd file(
          ::open(entry.path.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400));
      const bool fresh = file.valid();
      if (!fresh && errno == EEXIST)
        file = UniqueFd(
            ::open(entry.path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
      if (!file && errno == ENOENT && again != 16)
        continue;
      if (!file)
        return sysError("make a placeholder for", entry.path, errno);
      if (fresh) {
        const timespec times[2] = {kMark, kMark};
        ::futimens(file.get(), times);
      }
      struct stat held{}, named{};
      if (::flock(file.get(), LOCK_SH | LOCK_NB) != 0 || ::fstat(file.get(), &held) != 0 ||
          ::lstat(entry.path.c_str(), &named) != 0 || held.st_ino != named.st_ino ||
          held.st_dev != named.st_dev) {
        if (again != 16)
          continue;
        return sysError("hold the placeholder", entry.path, EAGAIN);
      }
      // Made by somebody else in between, and not a placeholder: it exists now, and the cover takes
      // it.
      if (isMarked(held))
        made.held_.push_back({entry.path, false, std::move(file)});
      break;
    }
  }
  return made;
}

void Placeholders::remove() {
  while (!held_.empty()) {
    Held held = std::move(held_.back());
    held_.pop_back();
    if (held.directory) {
      ::rmdir(held.path.c_str()); // stays if somebody has put something into it
      continue;
    }
    // Alone with it? Then no other run's cover stands on it.
    if (::flock(held.fd.get(), LOCK_EX | LOCK_NB) != 0)
      continue;
    struct stat ours{}, named{};
    if (::fstat(held.fd.get(), &ours) == 0 && isMarked(ours) &&
        ::lstat(held.path.c_str(), &named) == 0 && ours.st_ino == named.st_ino &&
        ours.st_dev == named.st_dev)
      ::unlink(held.path.c_str());
  }
}

} // namespace gos::sandbox
