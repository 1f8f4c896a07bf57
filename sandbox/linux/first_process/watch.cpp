#include "sandbox/linux/first_process/watch.h"

#include <fcntl.h>
#include <linux/time_types.h>
#include <poll.h>
#include <sys/stat.h>

namespace gos::sandbox {

namespace {

constexpr uint32_t kLongestPath = 4096;

/// Is `path` beneath `directory`?
bool isBeneath(const char* path, const char* directory) {
  while (*directory != '\0')
    if (*path++ != *directory++)
      return false;
  return *path == '/';
}

/// As `stat` has it.
uint64_t makeDevice(uint64_t major, uint64_t minor) {
  return (major & 0xfffff000) << 32 | (major & 0xfff) << 8 | (minor & 0xffffff00) << 12 |
         (minor & 0xff);
}

class Directories {
public:
  Directories(const Plan& plan, View& view) : plan_(plan), view_(view) {}

  /// Every directory that leads from the widest grant to the entry: none of them is ours.
  void above(const char* path) {
    const uint32_t begin = grantAbove(path);
    for (uint32_t end = begin; begin != 0 && path[end] != '\0'; ++end)
      if (path[end] == '/')
        watch(path, end);
  }

private:
  /// The length of the path of the grant in our own root that the entry is in; 0: the entry is
  /// ours.
  uint32_t grantAbove(const char* path) const {
    const LaunchStep* steps = plan_.steps();
    for (uint32_t index = 0; index != plan_.header().stepCount; ++index)
      if (steps[index].kind == StepKind::Bind && (steps[index].flags & kStepOwnParent) &&
          isBeneath(path, plan_.text(steps[index].path)))
        return (uint32_t)raw::length(plan_.text(steps[index].path));
    return 0;
  }

  void watch(const char* path, uint32_t size) {
    char name[kLongestPath];
    if (size >= sizeof name || count_ == kMostWatchedDirectories) {
      view_.looksOften = true;
      return;
    }
    for (uint32_t at = 0; at != size; ++at)
      name[at] = path[at];
    name[size] = '\0';
    raw::OpenHow how = {O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0,
                        raw::kResolveNoLinks | raw::kResolveNoMagicLinks};
    const long directory = raw::sys(__NR_openat2, raw::kAtFdCwd, name, &how, sizeof how);
    struct stat status;
    if (directory < 0 || raw::sys(__NR_newfstatat, directory, "", &status, raw::kAtEmptyPath) < 0) {
      view_.looksOften = true; // it cannot be read, or there is no descriptor left
      return;
    }
    for (uint32_t at = 0; at != count_; ++at)
      if (seen_[at].device == status.st_dev && seen_[at].inode == status.st_ino) {
        raw::sys(__NR_close, directory);
        return;
      }
    // Within a directory it is a rename, out of one a deletion. Each tells until it is closed.
    constexpr unsigned long kRenames = DN_RENAME | DN_DELETE | DN_MULTISHOT;
    if (raw::sys(__NR_fcntl, directory, F_NOTIFY, kRenames) < 0) {
      raw::sys(__NR_close, directory);
      view_.looksOften = true;
      return;
    }
    seen_[count_++] = {status.st_dev, status.st_ino};
    view_.keep((int)directory);
  }

  const Plan& plan_;
  View& view_;
  struct Seen {
    uint64_t device, inode;
  } seen_[kMostWatchedDirectories];
  uint32_t count_ = 0;
};

/// Is the path of the step still the root of its mount? An object alone proves nothing: another
/// name can be given to it, and a number of an inode to another one. `mount` gets the id the first
/// time.
bool stands(const Plan& plan, const Watched& entry, uint64_t& mount) {
  constexpr unsigned kUniqueMountId = 0x4000, kMountId = 0x1000; // Linux 6.8, 5.8
  constexpr uint64_t kIsMountRoot = 0x2000;
  struct statx status = {};
  const long result = raw::sys(__NR_statx, raw::kAtFdCwd, plan.text(plan.steps()[entry.step].path),
                               raw::kAtNoFollow, STATX_INO | kUniqueMountId | kMountId, &status);
  if (result < 0 || status.stx_ino != entry.inode ||
      makeDevice(status.stx_dev_major, status.stx_dev_minor) != entry.device)
    return false;
  if ((status.stx_attributes & status.stx_attributes_mask & kIsMountRoot) == 0)
    return false;
  if (mount == 0)
    mount = status.stx_mnt_id;
  return status.stx_mnt_id == mount;
}

} // namespace

Failure openMounts(const Plan& plan, View& view) {
  const LaunchStep* steps = plan.steps();
  for (uint32_t index = 0; index != plan.header().stepCount; ++index)
    if (steps[index].flags & kStepWatch) {
      const long mounts =
          raw::sys(__NR_openat, raw::kAtFdCwd, "/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
      if (mounts < 0)
        return failed(Stage::Watch, mounts, index);
      view.mounts = (int)mounts;
      view.keep(view.mounts);
      return {};
    }
  return {};
}

Failure beginWatch(const Plan& plan, View& view) {
  if (view.mounts < 0)
    return {};
  Directories directories(plan, view);
  for (uint32_t at = 0; at != view.watchedCount; ++at)
    directories.above(plan.text(plan.steps()[view.watched[at].step].path));
  // Forget what our own mounts have signalled, then look.
  struct pollfd entry = {view.mounts, POLLPRI, 0};
  const struct __kernel_timespec none = {0, 0};
  raw::sys(__NR_ppoll, &entry, 1, &none, 0, 0);
  for (uint32_t at = 0; at != view.watchedCount; ++at)
    if (!stands(plan, view.watched[at], view.watched[at].mount))
      return failed(Stage::BindChanged, -116 /* ESTALE */, view.watched[at].step);
  return {};
}

long lostCover(const Plan& plan, const View& view) {
  for (uint32_t at = 0; at != view.watchedCount; ++at)
    if (!stands(plan, view.watched[at], view.watched[at].mount))
      return view.watched[at].step;
  return -1;
}

} // namespace gos::sandbox
