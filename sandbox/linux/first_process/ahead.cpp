// What nearly every plan begins with, put up while the supervisor still compiles this one. Nothing
// here decides anything: the plan does, and where it has not each of these parts exactly as it
// stands, all of them are thrown away and the view is built from the plan alone (`agrees`).

#include "sandbox/linux/first_process/ahead.h"

#include "sandbox/linux/first_process/file_systems.h"

#include <fcntl.h>
#include <sys/stat.h>

namespace gos::sandbox {

namespace {

constexpr uint32_t kLongestPath = 256;

const char* beneath(const char* path) {
  return path + 1;
}

uint32_t hashOf(const char* text, uint32_t size) {
  uint32_t hash = 2166136261u; // FNV-1a
  for (uint32_t at = 0; at != size; ++at)
    hash = (hash ^ (unsigned char)text[at]) * 16777619u;
  return hash;
}
uint32_t hashOf(const char* text) {
  return hashOf(text, (uint32_t)raw::length(text));
}

bool isPathOf(const AheadPart& part, const char* text) {
  for (uint32_t at = 0; at != part.pathSize; ++at)
    if (text[at] != part.path[at])
      return false;
  return text[part.pathSize] == '\0';
}

bool isAtOrBeneath(const char* path, const AheadPart& part) {
  for (uint32_t at = 0; at != part.pathSize; ++at)
    if (path[at] != part.path[at])
      return false;
  return path[part.pathSize] == '\0' || path[part.pathSize] == '/';
}

class Raiser {
public:
  Raiser(View& view, Ahead& ahead) : root_(view.root), view_(view), ahead_(ahead) {}

  /// False where anything was not as expected; who then builds the view meets it again, and says
  /// what it is.
  bool raise(const char* const* paths, long count, bool ownProcesses) {
    if (raw::sys(__NR_fchdir, root_) < 0)
      return false;
    for (long at = 0; at != count; ++at)
      if (!granted(paths[at]))
        return false;
    // One call makes all of it read-only; the root itself once everything stands on it.
    if (!attributes("", raw::kMountNoSuid | raw::kMountNoDevices | raw::kMountReadOnly, 0,
                    raw::kAtEmptyPath | raw::kAtRecursive) ||
        !attributes("", 0, raw::kMountReadOnly, raw::kAtEmptyPath))
      return false;
    return devices() && mount(AheadKind::DevicePts, "/dev/pts", file_systems::terminals()) &&
           mount(AheadKind::SharedMemory, "/dev/shm", file_systems::sharedMemory()) &&
           (!ownProcesses || processes());
  }

private:
  AheadPart* record(AheadKind kind, const char* path, uint32_t size) {
    if (ahead_.count == kMostAhead)
      return nullptr;
    AheadPart& part = ahead_.parts[ahead_.count++];
    part.kind = kind;
    part.path = path;
    part.pathSize = size;
    part.hash = hashOf(path, size);
    return &part;
  }
  AheadPart* record(AheadKind kind, const char* path) {
    return record(kind, path, (uint32_t)raw::length(path));
  }

  bool attributes(const char* path, uint64_t set, uint64_t clear, int flags) {
    raw::MountAttributes change = {set, clear, 0, 0};
    return raw::sys(__NR_mount_setattr, root_, path, flags, &change, sizeof change) >= 0;
  }

  /// A name for a mount to stand on.
  static bool isMade(long result) { return result >= 0 || result == -raw::kErrorExists; }

  bool directory(const char* path, uint32_t size) {
    char name[kLongestPath];
    if (size >= sizeof name)
      return false;
    for (uint32_t at = 0; at != size; ++at)
      name[at] = path[at];
    name[size] = '\0';
    const long made = raw::sys(__NR_mkdirat, root_, beneath(name), 0755);
    return made < 0 ? isMade(made) : record(AheadKind::Directory, path, size) != nullptr;
  }
  /// The directories above a path. Most have the one that was made last in common.
  bool parents(const char* path) {
    for (uint32_t end = 1; path[end] != '\0'; ++end) {
      if (path[end] != '/')
        continue;
      if (end == lastSize_) {
        bool known = true;
        for (uint32_t at = 0; known && at != end; ++at)
          known = path[at] == last_[at];
        if (known)
          continue;
      }
      if (!directory(path, end))
        return false;
      last_ = path;
      lastSize_ = end;
    }
    return true;
  }

  bool granted(const char* path) {
    if (path[0] != '/' || path[1] == '\0')
      return false;
    // What is there already; and through a link nothing is made, which could lead to the host.
    for (uint32_t at = 0; at != ahead_.count; ++at)
      if (ahead_.parts[at].kind != AheadKind::Directory && isAtOrBeneath(path, ahead_.parts[at]))
        return true;
    struct stat status;
    const long looked = raw::sys(__NR_newfstatat, raw::kAtFdCwd, path, &status, raw::kAtNoFollow);
    if (looked == -raw::kErrorAbsent)
      return true;
    if (looked < 0 || !parents(path))
      return false;
    if (S_ISLNK(status.st_mode)) {
      char text[kLongestPath];
      const long size = raw::sys(__NR_readlinkat, raw::kAtFdCwd, path, text, sizeof text);
      if (size <= 0 || size == (long)sizeof text)
        return false;
      text[size] = '\0';
      return link(path, text);
    }
    return S_ISDIR(status.st_mode) || S_ISREG(status.st_mode)
               ? bind(AheadKind::Bind, path, S_ISDIR(status.st_mode))
               : true; // left to the plan
  }

  bool link(const char* path, const char* text) {
    AheadPart* part = record(AheadKind::Link, path);
    if (part == nullptr)
      return false;
    return raw::sys(__NR_symlinkat, text, root_, beneath(path)) >= 0;
  }

  bool bind(AheadKind kind, const char* path, bool directory) {
    AheadPart* part = record(kind, path);
    if (part == nullptr)
      return false;
    part->isFile = !directory;
    const long made = directory ? raw::sys(__NR_mkdirat, root_, beneath(path), 0755)
                                : raw::sys(__NR_mknodat, root_, beneath(path), S_IFREG | 0644, 0);
    struct stat status;
    // The working directory is the new root: a short path leads there, one from `/` to the host's.
    if (!isMade(made) ||
        raw::sys(__NR_mount, path, beneath(path), 0, 4096 | 16384 /* MS_BIND | MS_REC */, 0) < 0 ||
        raw::sys(__NR_newfstatat, root_, beneath(path), &status, raw::kAtNoFollow) < 0)
      return false;
    part->device = status.st_dev;
    part->inode = status.st_ino;
    return true;
  }

  bool devices() {
    static constexpr const char* kDevices[] = {
#define GOS_VIEW_DEVICE(path) path,
#include "sandbox/linux/every_view.def"
    };
    static constexpr const char* kLinks[][2] = {
#define GOS_VIEW_DEVICE_LINK(path, to) {path, to},
#include "sandbox/linux/every_view.def"
    };
    if (!directory("/dev", 4))
      return false;
    for (const char* path : kDevices) {
      struct stat status;
      if (raw::sys(__NR_newfstatat, raw::kAtFdCwd, path, &status, raw::kAtNoFollow) < 0 ||
          !S_ISCHR(status.st_mode))
        continue;
      if (!bind(AheadKind::Device, path, false) ||
          !attributes(beneath(path), raw::kMountNoSuid, 0, raw::kAtNoFollow))
        return false;
    }
    for (const auto& row : kLinks)
      if (!link(row[0], row[1]))
        return false;
    return true;
  }

  bool mount(AheadKind kind, const char* path, long mounted) {
    if (mounted < 0 || record(kind, path) == nullptr ||
        !isMade(raw::sys(__NR_mkdirat, root_, beneath(path), 0755)))
      return false;
    return raw::sys(__NR_move_mount, mounted, "", root_, beneath(path), raw::kMoveFromEmpty) >= 0;
  }

  bool processes() {
    static constexpr const char* kMasks[] = {
#define GOS_VIEW_PROC_MASK(path) path,
#include "sandbox/linux/every_view.def"
    };
    if (!mount(AheadKind::Proc, "/proc", file_systems::processes(/*readOnly=*/true)))
      return false;
    Failure failure = makeHole(view_, kEmptyFile, 0);
    if (failure)
      return false;
    for (const char* path : kMasks) {
      const long covered = maskEntry(path);
      if (covered == -raw::kErrorAbsent)
        continue;
      if (covered < 0 || record(AheadKind::Mask, path) == nullptr)
        return false;
    }
    return true;
  }

  const int root_;
  View& view_;
  Ahead& ahead_;
  const char* last_ = nullptr;
  uint32_t lastSize_ = 0;
};

bool linkSays(int root, const AheadPart& part, const char* text, uint32_t size) {
  char says[kLongestPath];
  if (size >= sizeof says ||
      raw::sys(__NR_readlinkat, root, beneath(part.path), says, sizeof says) != (long)size)
    return false;
  for (uint32_t at = 0; at != size; ++at)
    if (says[at] != text[at])
      return false;
  return true;
}

bool isThisPart(int root, const Plan& plan, const LaunchStep& step, const AheadPart& part) {
  constexpr uint16_t kAll =
      kStepReadOnly | kStepDevices | kStepFile | kStepWatch | kStepExact | kStepOwnParent;
  const uint16_t flags = step.flags & kAll;
  const uint16_t file = part.isFile ? kStepFile : 0;
  const bool isObject = step.device == part.device && step.inode == part.inode &&
                        isPathOf(part, plan.text(step.source));
  switch (part.kind) {
  case AheadKind::Directory:
    return step.kind == StepKind::MakeDirectory && (flags & kStepOwnParent) && step.mode == 0755;
  case AheadKind::Bind:
    return step.kind == StepKind::Bind && isObject &&
           flags == (kStepOwnParent | kStepExact | kStepReadOnly | file);
  case AheadKind::Device:
    return step.kind == StepKind::Bind && isObject &&
           flags == (kStepOwnParent | kStepExact | kStepDevices | file);
  case AheadKind::Link:
    return step.kind == StepKind::MakeLink && (flags & kStepOwnParent) &&
           linkSays(root, part, plan.text(step.text), step.textSize);
  case AheadKind::DevicePts:
    return step.kind == StepKind::DevicePts && (flags & kStepOwnParent);
  case AheadKind::SharedMemory:
    return step.kind == StepKind::SharedMemory && (flags & kStepOwnParent);
  case AheadKind::Proc:
    return step.kind == StepKind::Proc && (flags & kStepOwnParent) && (flags & kStepReadOnly);
  case AheadKind::Mask:
    return step.kind == StepKind::Mask && (flags & kStepFile);
  }
  return false;
}

} // namespace

void raiseAhead(View& view, const char* const* paths, long count, bool ownProcesses, Ahead& ahead) {
  ahead.raised = true;
  ahead.whole = Raiser(view, ahead).raise(paths, count, ownProcesses);
  raw::sys(__NR_close_range, view.root + 1, ~0u, 0);
}

bool agrees(int root, const Plan& plan, Ahead& ahead) {
  const uint32_t count = plan.header().stepCount;
  if (!ahead.whole || count > kMostStepsAhead)
    return false;
  const LaunchStep* steps = plan.steps();
  for (uint32_t index = 0; index != count; ++index)
    ahead.hashes[index] = hashOf(plan.text(steps[index].path));
  for (uint32_t at = 0; at != ahead.count; ++at) {
    const AheadPart& part = ahead.parts[at];
    bool found = false;
    for (uint32_t index = 0; !found && index != count; ++index)
      if (ahead.hashes[index] == part.hash && isPathOf(part, plan.text(steps[index].path))) {
        if (!isThisPart(root, plan, steps[index], part))
          return false;
        ahead.stands[index] = true;
        found = true;
      }
    if (!found)
      return false;
  }
  return true;
}

} // namespace gos::sandbox
