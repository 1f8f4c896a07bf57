#include "sandbox/linux/temporary.h"

#include "sandbox/linux/first_process/remove_tree.h"
#include "sandbox/policy/host/host_paths.h"
#include "sandbox/sys_error.h"

#include "llvm/ADT/StringExtras.h"

#include <atomic>
#include <cerrno>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

namespace gos::sandbox {

namespace {
constexpr llvm::StringLiteral kPrefix = "bwr-run-";
/// A crowded temp is not searched through at every start.
constexpr int kMostSwept = 512;
constexpr int64_t kSweepEvery = 1000; // milliseconds

bool isOurs(int directory) {
  struct stat status{};
  return ::fstat(directory, &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid();
}

/// Removes what is ours, carries our prefix and is locked by nobody.
void sweep(int parent) {
  const int copy = ::openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* entries = copy < 0 ? nullptr : ::fdopendir(copy);
  if (entries == nullptr) {
    if (copy >= 0)
      ::close(copy);
    return;
  }
  for (int seen = 0; seen != kMostSwept; ++seen) {
    const dirent* entry = ::readdir(entries);
    if (entry == nullptr)
      break;
    llvm::StringRef name = entry->d_name;
    const bool early = name.consume_front(".");
    if (!name.starts_with(kPrefix))
      continue;
    UniqueFd left(::openat(parent, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!left || !isOurs(left.get()) || ::flock(left.get(), LOCK_EX | LOCK_NB) != 0)
      continue;
    // A run that has made its directory and not locked it yet has not named it either: see create.
    // Under its first name it is left alone until no start can still be at that point.
    struct stat status{};
    if (early && (::fstat(left.get(), &status) != 0 || status.st_mtime + 60 > ::time(nullptr)))
      continue;
    TreeRemover remover;
    if (remover.empty(left.get()))
      ::unlinkat(parent, entry->d_name, AT_REMOVEDIR);
  }
  ::closedir(entries);
}
} // namespace

llvm::Expected<TemporaryDirectory> TemporaryDirectory::create() {
  int lastError = ENOENT;
  std::string where = "/var/tmp";
  for (const char* base : {"/var/tmp", "/tmp"}) {
    TemporaryDirectory made;
    made.parent_ = UniqueFd(::open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!made.parent_) {
      if (lastError != ENOSPC)
        lastError = errno;
      continue;
    }
    bool swept = false;
    for (int again = 0; again != 16; ++again) {
      unsigned char random[12];
      if (::getrandom(random, sizeof random, 0) != ssize_t(sizeof random))
        return sysError("getrandom", "", errno);
      const std::string name =
          (kPrefix + llvm::toHex(llvm::ArrayRef<uint8_t>(random), /*LowerCase=*/true)).str();
      // Made under another name, locked, then renamed: the sweep of another run can't see it
      // unlocked.
      const std::string early = "." + name;
      if (::mkdirat(made.parent_.get(), early.c_str(), 0700) != 0) {
        lastError = errno;
        where = base;
        if (lastError == EEXIST)
          continue;
        if (swept)
          break;
        sweep(made.parent_.get()); // what crashed runs have left may be what fills it
        swept = true;
        continue;
      }
      made.directory_ = UniqueFd(::openat(made.parent_.get(), early.c_str(),
                                          O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!made.directory_ || !isOurs(made.directory_.get()) ||
          ::flock(made.directory_.get(), LOCK_EX | LOCK_NB) != 0 ||
          ::renameat2(made.parent_.get(), early.c_str(), made.parent_.get(), name.c_str(),
                      RENAME_NOREPLACE) != 0) {
        lastError = errno;
        ::unlinkat(made.parent_.get(), early.c_str(), AT_REMOVEDIR);
        made.directory_.reset();
        continue;
      }
      TreeRemover::open(made.directory_.get()); // whatever the umask
      made.name_ = name;
      const std::string real = realPathOf(base);
      made.path_ = (real.empty() ? base : real) + ("/" + name);
      return made;
    }
  }
  // Room for bytes and none for names: `df` shows nothing wrong.
  struct statvfs space{};
  if (lastError == ENOSPC && ::statvfs(where.c_str(), &space) == 0 && space.f_files != 0 &&
      space.f_favail == 0)
    return sysError("make the private temp: no inode is left (df -i) in", where, lastError);
  return sysError("make the private temp", where, lastError);
}

void TemporaryDirectory::removeLeftovers() const {
  // A program that starts one run after the other does not look after each.
  static std::atomic<int64_t> nextLook = 0; // milliseconds of the monotonic clock
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t milliseconds = int64_t(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
  int64_t due = nextLook;
  if (parent_ && milliseconds >= due &&
      nextLook.compare_exchange_strong(due, milliseconds + kSweepEvery))
    sweep(parent_.get());
}

bool TemporaryDirectory::remove() {
  if (!directory_)
    return true;
  TreeRemover remover;
  const bool empty = remover.empty(directory_.get());
  const bool gone = ::unlinkat(parent_.get(), name_.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT;
  directory_.reset();
  return empty && gone;
}

} // namespace gos::sandbox
