#include "sandbox/command/placeholders.h"

#include "sandbox/sys_error.h"

#include <cerrno>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

/// The directory that was judged, and none that a link has led to since.
UniqueFd openParent(llvm::StringRef path) {
  const std::string parent = path.rsplit('/').first.str();
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  return UniqueFd(int(
      ::syscall(SYS_openat2, AT_FDCWD, parent.empty() ? "/" : parent.c_str(), &how, sizeof how)));
}
std::string nameOf(llvm::StringRef path) {
  return path.rsplit('/').second.str();
}

/// Makes a directory with our mark, or finds one. 0, or errno; EEXIST: it is somebody else's.
int holdDirectory(int parent, const std::string& name) {
  const bool fresh = ::mkdirat(parent, name.c_str(), 0755) == 0;
  if (!fresh && errno != EEXIST)
    return errno;
  const UniqueFd directory(
      ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  char value = 0;
  if (fresh) {
    if (directory)
      ::fsetxattr(directory.get(), kDirectoryMark, "1", 1, 0);
    return 0;
  }
  return directory && ::fgetxattr(directory.get(), kDirectoryMark, &value, 1) == 1 ? 0 : EEXIST;
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
    UniqueFd parent = openParent(entry.path);
    if (!parent)
      return sysError("make a placeholder for", entry.path, errno);
    const std::string name = nameOf(entry.path);
    if (entry.directory) {
      const int error = holdDirectory(parent.get(), name);
      if (error == EEXIST)
        continue; // somebody made it meanwhile: it is theirs
      if (error != 0)
        return sysError("make a placeholder for", entry.path, error);
      made.held_.push_back({std::move(parent), name, true, {}});
      continue;
    }
    for (int again = 0;; ++again) {
      // The last user of the old one may remove it between our two looks: then it is made anew.
      UniqueFd file(::openat(parent.get(), name.c_str(),
                             O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400));
      const bool fresh = file.valid();
      if (!fresh && errno == EEXIST)
        file = UniqueFd(::openat(parent.get(), name.c_str(),
                                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
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
          ::fstatat(parent.get(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0 ||
          held.st_ino != named.st_ino || held.st_dev != named.st_dev) {
        if (again != 16)
          continue;
        return sysError("hold the placeholder", entry.path, EAGAIN);
      }
      // Made by somebody else in between, and not a placeholder: it exists now, and the cover takes
      // it.
      if (isMarked(held))
        made.held_.push_back({std::move(parent), name, false, std::move(file)});
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
      ::unlinkat(held.parent.get(), held.name.c_str(),
                 AT_REMOVEDIR); // stays if somebody has put something into it
      continue;
    }
    // Alone with it? Then no other run's cover stands on it.
    if (::flock(held.fd.get(), LOCK_EX | LOCK_NB) != 0)
      continue;
    struct stat ours{}, named{};
    if (::fstat(held.fd.get(), &ours) == 0 && isMarked(ours) &&
        ::fstatat(held.parent.get(), held.name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
        ours.st_ino == named.st_ino && ours.st_dev == named.st_dev)
      ::unlinkat(held.parent.get(), held.name.c_str(), 0);
  }
}

} // namespace gos::sandbox
