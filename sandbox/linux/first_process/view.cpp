// The view: a root of our own on which stands what is granted and nothing else. Sources are opened
// by their canonical path without following a link, and must be the objects that the policy was
// compiled for; targets are resolved beneath the new root without following a link either, so that
// nobody who can rename things meanwhile decides what is mounted, or where (compare
// CVE-2021-30465).

#include "sandbox/linux/first_process/ahead.h"
#include "sandbox/linux/first_process/file_systems.h"
#include "sandbox/linux/first_process/first_process.h"
#include "sandbox/linux/first_process/watch.h"

#include <fcntl.h>
#include <sys/stat.h>

namespace gos::sandbox {

namespace {

long openNoLinks(int directory, const char* path, uint64_t flags, uint64_t resolve) {
  raw::OpenHow how = {flags | O_CLOEXEC, 0,
                      resolve | raw::kResolveNoLinks | raw::kResolveNoMagicLinks};
  long fd = raw::sys(__NR_openat2, directory, path, &how, sizeof how);
  for (int again = 0; fd == -11 /* EAGAIN: a rename in flight */ && again != 16; ++again)
    fd = raw::sys(__NR_openat2, directory, path, &how, sizeof how);
  return fd;
}

long attributes(long mount, uint64_t set, bool recursive) {
  raw::MountAttributes change = {set, 0, 0, 0};
  return raw::sys(__NR_mount_setattr, mount, "",
                  raw::kAtEmptyPath | (recursive ? raw::kAtRecursive : 0), &change, sizeof change);
}

constexpr uint64_t kHoleAttributes =
    raw::kMountNoSuid | raw::kMountNoDevices | raw::kMountNoExecute | raw::kMountReadOnly;

/// An object of the new root on an entry of proc, both as seen from the new root. Nobody can rename
/// such an entry, so the path is enough, and the old call costs less than a mount that is nowhere
/// first.
long coverWith(const char* hole, const char* path) {
  const long result = raw::sys(__NR_mount, hole, path, 0, 4096 /* MS_BIND */, 0);
  if (result < 0)
    return result;
  raw::MountAttributes change = {kHoleAttributes, 0, 0, 0};
  return raw::sys(__NR_mount_setattr, raw::kAtFdCwd, path, raw::kAtNoFollow, &change,
                  sizeof change);
}

class Builder {
public:
  Builder(const Plan& plan, View& view, Ahead& ahead)
      : plan_(plan), view_(view), ahead_(ahead), root_(view.root) {}

  Failure build() {
    if (root_ < 0)
      return failed(Stage::NewRoot, -22); // begun for another plan
    if (Failure failure = openMounts(plan_, view_))
      return failure;
    long result = raw::sys(__NR_fchdir, root_); // short paths of the new root from here on
    if (result < 0)
      return failed(Stage::NewRoot, result);
    if (!ahead_.whole)
      if (Failure failure = buildReadOnly())
        return failure;
    for (uint32_t index = 0; index != plan_.header().stepCount; ++index) {
      if (ahead_.whole ? ahead_.stands[index] : standsAlready(plan_.steps()[index]))
        continue;
      if (Failure failure = step(plan_.steps()[index], index))
        return failure;
      if (index % 64 == 63)
        closeSpent();
    }
    closeSpent();
    dropHoles();
    result = attributes(root_, raw::kMountReadOnly, false);
    if (result < 0)
      return failed(Stage::RootReadOnly, result);
    return enter();
  }

private:
  /// Of a root of our own: what is made, and what is bound read-only. Nothing above it is mounted,
  /// so it can come before all the others, and one call makes all of it read-only.
  static bool standsAlready(const LaunchStep& step) {
    if ((step.flags & kStepOwnParent) == 0)
      return false;
    if (step.kind == StepKind::Bind)
      return (step.flags & (kStepExact | kStepReadOnly | kStepDevices)) ==
             (kStepExact | kStepReadOnly);
    return step.kind == StepKind::MakeDirectory || step.kind == StepKind::MakeFile ||
           step.kind == StepKind::MakeLink;
  }
  Failure buildReadOnly() {
    const LaunchStep* steps = plan_.steps();
    const uint32_t count = plan_.header().stepCount;
    uint32_t first = count; // of the binds
    for (uint32_t index = 0; index != count; ++index) {
      if (!standsAlready(steps[index]))
        continue;
      if (steps[index].kind == StepKind::Bind && first == count)
        first = index;
      if (Failure failure = step(steps[index], index))
        return failure;
    }
    if (first == count)
      return {};
    long result = attributes(root_, raw::kMountNoSuid | raw::kMountNoDevices | raw::kMountReadOnly,
                             /*recursive=*/true);
    if (result < 0)
      return failed(Stage::BindAttributes, result, first);
    // The root itself once everything stands on it.
    raw::MountAttributes change = {0, raw::kMountReadOnly, 0, 0};
    result = raw::sys(__NR_mount_setattr, root_, "", raw::kAtEmptyPath, &change, sizeof change);
    return result < 0 ? failed(Stage::NewRoot, result) : Failure{};
  }

  /// The path beneath the new root; the root itself is ".".
  static const char* beneath(const char* path) { return path[1] == '\0' ? "." : path + 1; }

  long target(const char* path) {
    return openNoLinks((int)root_, beneath(path), O_PATH | O_NOFOLLOW, raw::kResolveBeneath);
  }

  /// Where something will stand: made if it is not there.
  long place(const LaunchStep& step) {
    const char* path = plan_.text(step.path);
    long fd = target(path);
    if (fd != -raw::kErrorAbsent)
      return fd;
    const long made = (step.flags & kStepFile)
                          ? raw::sys(__NR_mknodat, root_, beneath(path), S_IFREG | 0644, 0)
                          : raw::sys(__NR_mkdirat, root_, beneath(path), 0755);
    return made < 0 ? made : target(path);
  }

  /// In a root of our own nobody can exchange a directory, and the path is enough.
  long attachInOwnRoot(long mount, const LaunchStep& step) {
    const char* path = beneath(plan_.text(step.path));
    const long made = (step.flags & kStepFile)
                          ? raw::sys(__NR_mknodat, root_, path, S_IFREG | 0644, 0)
                          : raw::sys(__NR_mkdirat, root_, path, 0755);
    if (made < 0 && made != -raw::kErrorExists)
      return made;
    return raw::sys(__NR_move_mount, mount, "", root_, path, raw::kMoveFromEmpty);
  }
  long attachWhereOthersWrite(long mount, const LaunchStep& step) {
    const long where = place(step);
    if (where < 0)
      return where;
    return raw::sys(__NR_move_mount, mount, "", where, "", raw::kMoveFromEmpty | raw::kMoveToEmpty);
  }
  Failure attach(long mount, const LaunchStep& step, Stage stage, uint32_t index) {
    const long result = (step.flags & kStepOwnParent) ? attachInOwnRoot(mount, step)
                                                      : attachWhereOthersWrite(mount, step);
    return result < 0 ? failed(stage, result, index) : Failure{};
  }

  /// Descriptors of steps are closed together: one call each costs more than the steps.
  void closeSpent() {
    const long kept = view_.lastKept > root_ ? view_.lastKept : root_;
    raw::sys(__NR_close_range, kept + 1, ~0u, 0);
  }

  Failure step(const LaunchStep& step, uint32_t index) {
    const char* path = plan_.text(step.path);
    switch (step.kind) {
    case StepKind::MakeDirectory: {
      const long result = raw::sys(__NR_mkdirat, root_, beneath(path), step.mode);
      return result < 0 && result != -raw::kErrorExists
                 ? failed(Stage::ViewDirectory, result, index)
                 : Failure{};
    }
    case StepKind::MakeFile:
      return makeFile(step, index);
    case StepKind::MakeLink: {
      const long result = raw::sys(__NR_symlinkat, plan_.text(step.text), root_, beneath(path));
      return result < 0 && result != -raw::kErrorExists ? failed(Stage::ViewLink, result, index)
                                                        : Failure{};
    }
    case StepKind::Bind:
      return bind(step, index);
    case StepKind::Cover:
      return cover(step, index);
    case StepKind::Mask:
      return mask(step, index);
    case StepKind::Proc:
      return fresh(file_systems::processes((step.flags & kStepReadOnly) != 0), step, Stage::OwnProc,
                   index);
    case StepKind::DevicePts:
      return fresh(file_systems::terminals(), step, Stage::DevicePts, index);
    case StepKind::SharedMemory:
      return fresh(file_systems::sharedMemory(), step, Stage::SharedMemory, index);
    }
    return failed(Stage::ReadPlan, -22, index);
  }

  Failure fresh(long mount, const LaunchStep& step, Stage stage, uint32_t index) {
    return mount < 0 ? failed(stage, mount, index) : attach(mount, step, stage, index);
  }

  Failure makeFile(const LaunchStep& step, uint32_t index) {
    long fd = raw::sys(__NR_openat, root_, beneath(plan_.text(step.path)),
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, step.mode);
    if (fd == -raw::kErrorExists && step.textSize == 0)
      return {};
    if (fd < 0)
      return failed(Stage::ViewFile, fd, index);
    const char* text = plan_.text(step.text);
    uint32_t done = 0;
    while (done != step.textSize) {
      const long wrote = raw::retry(__NR_write, fd, text + done, step.textSize - done);
      if (wrote <= 0) {
        raw::sys(__NR_close, fd);
        return failed(Stage::ViewFile, wrote == 0 ? -5 : wrote, index);
      }
      done += (uint32_t)wrote;
    }
    raw::sys(__NR_close, fd);
    return {};
  }

  /// The host object as a detached mount. Where the policy was compiled for one object, any road to
  /// it is as good as another, since what is opened is compared; where the run has made the object
  /// itself, no link is followed.
  long openSource(const LaunchStep& step) {
    const int flags = raw::kOpenTreeClone | raw::kCloseOnExec | raw::kAtRecursive;
    if (step.flags & kStepExact)
      return raw::sys(__NR_open_tree, raw::kAtFdCwd, plan_.text(step.source),
                      flags | raw::kAtNoFollow);
    const long source = openNoLinks(raw::kAtFdCwd, plan_.text(step.source), O_PATH | O_NOFOLLOW, 0);
    return source < 0 ? source : raw::sys(__NR_open_tree, source, "", flags | raw::kAtEmptyPath);
  }

  static bool isAboutThePath(long error) {
    return error == -raw::kErrorAbsent || error == -13 /* EACCES */ || error == -20 /* ENOTDIR */ ||
           error == -40 /* ELOOP */ || error == -36 /* ENAMETOOLONG */;
  }

  /// The same in a root of our own, with the old calls: they need no namespace for a mount that is
  /// nowhere yet, which costs more than all the rest of a bind. The object is compared after it is
  /// mounted, and nothing of the run is there to use it before.
  Failure bindInOwnRoot(const LaunchStep& step, uint32_t index) {
    const char* path = beneath(plan_.text(step.path));
    const long made = (step.flags & kStepFile)
                          ? raw::sys(__NR_mknodat, raw::kAtFdCwd, path, S_IFREG | 0644, 0)
                          : raw::sys(__NR_mkdirat, raw::kAtFdCwd, path, 0755);
    if (made < 0 && made != -raw::kErrorExists)
      return failed(Stage::BindAttach, made, index);
    long result = raw::sys(__NR_mount, plan_.text(step.source), path, 0,
                           4096 | 16384 /* MS_BIND | MS_REC */, 0);
    if (result < 0) {
      if ((step.flags & kStepOptional) && result == -raw::kErrorAbsent)
        return {};
      return failed(isAboutThePath(result) ? Stage::BindOpen : Stage::BindClone, result, index);
    }
    struct stat status;
    result = raw::sys(__NR_newfstatat, raw::kAtFdCwd, path, &status, raw::kAtNoFollow);
    if (result < 0)
      return failed(Stage::BindOpen, result, index);
    if (status.st_dev != step.device || status.st_ino != step.inode)
      return failed(Stage::BindChanged, -116 /* ESTALE */, index);
    if (ahead_.whole || !standsAlready(step)) { // those of buildReadOnly get theirs together
      raw::MountAttributes change = {attributesOf(step), 0, 0, 0};
      result = raw::sys(__NR_mount_setattr, raw::kAtFdCwd, path,
                        raw::kAtRecursive | raw::kAtNoFollow, &change, sizeof change);
      if (result < 0)
        return failed(Stage::BindAttributes, result, index);
    }
    if (step.flags & kStepWatch)
      watch(index, status.st_dev, status.st_ino);
    return {};
  }
  static uint64_t attributesOf(const LaunchStep& step) {
    return raw::kMountNoSuid | ((step.flags & kStepDevices) ? 0 : raw::kMountNoDevices) |
           ((step.flags & kStepReadOnly) ? raw::kMountReadOnly : 0);
  }

  Failure bind(const LaunchStep& step, uint32_t index) {
    if ((step.flags & kStepOwnParent) && (step.flags & kStepExact))
      return bindInOwnRoot(step, index);
    const long tree = openSource(step);
    if (tree < 0) {
      if ((step.flags & kStepOptional) && tree == -raw::kErrorAbsent)
        return {};
      return failed(isAboutThePath(tree) ? Stage::BindOpen : Stage::BindClone, tree, index);
    }
    struct stat status;
    long result = raw::sys(__NR_newfstatat, tree, "", &status, raw::kAtEmptyPath);
    if (result < 0)
      return failed(Stage::BindOpen, result, index);
    if ((step.flags & kStepExact) && (status.st_dev != step.device || status.st_ino != step.inode))
      return failed(Stage::BindChanged, -116 /* ESTALE */, index);
    result = attributes(tree, attributesOf(step), true);
    if (result < 0)
      return failed(Stage::BindAttributes, result, index);
    if (step.flags & kStepWatch)
      watch(index, status.st_dev, status.st_ino);
    return attach(tree, step, Stage::BindAttach, index);
  }

  // ---- holes ------------------------------------------------------------------------------------
  // A cover is a bind of an object that nobody may open: mode 000, owned by the one id that the map
  // has, and no capability is left to override it. Its names are removed before the command starts.

  Failure mask(const LaunchStep& step, uint32_t index) {
    const bool file = (step.flags & kStepFile) != 0;
    if (Failure failure = makeHole(view_, file ? kEmptyFile : kEmptyDirectory, index))
      return failure;
    const long result =
        coverWith(kHoleNames[file ? kEmptyFile : kEmptyDirectory], beneath(plan_.text(step.path)));
    return result < 0 && !(result == -raw::kErrorAbsent && (step.flags & kStepOptional))
               ? failed(Stage::Cover, result, index)
               : Failure{};
  }

  Failure cover(const LaunchStep& step, uint32_t index) {
    const bool file = (step.flags & kStepFile) != 0;
    const Hole which = file ? kHoleFile : kHoleDirectory;
    const char* name = kHoleNames[which];
    if (Failure failure = makeHole(view_, which, index))
      return failure;
    const long where = target(plan_.text(step.path));
    if (where < 0) {
      if ((step.flags & kStepOptional) && where == -raw::kErrorAbsent)
        return {};
      return failed(Stage::Cover, where, index);
    }
    const long hole = openNoLinks((int)root_, name, O_PATH | O_NOFOLLOW, raw::kResolveBeneath);
    if (hole < 0)
      return failed(Stage::Cover, hole, index);
    struct stat status;
    raw::sys(__NR_newfstatat, hole, "", &status, raw::kAtEmptyPath);
    const long tree = raw::sys(__NR_open_tree, hole, "",
                               raw::kOpenTreeClone | raw::kCloseOnExec | raw::kAtEmptyPath);
    if (tree < 0)
      return failed(Stage::Cover, tree, index);
    long result = attributes(tree, kHoleAttributes, false);
    if (result >= 0)
      result =
          raw::sys(__NR_move_mount, tree, "", where, "", raw::kMoveFromEmpty | raw::kMoveToEmpty);
    if (result < 0)
      return failed(Stage::Cover, result, index);
    if (step.flags & kStepWatch)
      watch(index, status.st_dev, status.st_ino);
    return {};
  }

  void dropHoles() {
    for (int which = 0; which != 4; ++which)
      if (view_.holes[which])
        raw::sys(__NR_unlinkat, root_, kHoleNames[which],
                 which % 2 == 0 ? raw::kAtRemoveDirectory : 0);
  }

  void watch(uint32_t index, uint64_t device, uint64_t inode) {
    if (view_.watched == nullptr) {
      const long memory = raw::sys(__NR_mmap, 0, kMostWatched * sizeof(Watched), 3, 0x22, -1, 0);
      if (memory < 0 && memory > -4096)
        raw::quit(1);
      view_.watched = (Watched*)memory;
    }
    if (view_.watchedCount == kMostWatched)
      raw::quit(1); // the plan's maker has refused more; nothing runs unwatched
    view_.watched[view_.watchedCount++] = {index, device, inode, 0};
  }

  Failure enter() {
    long result = raw::sys(__NR_fchdir, root_);
    if (result >= 0)
      result = raw::sys(__NR_pivot_root, ".", ".");
    if (result >= 0)
      result = raw::sys(__NR_umount2, ".", 2 /* MNT_DETACH */);
    if (result >= 0)
      result = raw::sys(__NR_chdir, "/");
    raw::sys(__NR_close, root_);
    if (result < 0)
      return failed(Stage::PivotRoot, result);
    return beginWatch(plan_, view_);
  }

  const Plan& plan_;
  View& view_;
  Ahead& ahead_;
  const long root_;
};

} // namespace

Failure makeHole(View& view, Hole which, uint32_t index) {
  if (view.holes[which])
    return {};
  const bool file = which == kHoleFile || which == kEmptyFile;
  const uint32_t mode = which == kEmptyFile ? 0444 : which == kEmptyDirectory ? 0555 : 0;
  const long result = file ? raw::sys(__NR_mknodat, view.root, kHoleNames[which], S_IFREG | mode, 0)
                           : raw::sys(__NR_mkdirat, view.root, kHoleNames[which], mode);
  if (result < 0)
    return failed(Stage::Cover, result, index);
  view.holes[which] = true;
  return {};
}

long maskEntry(const char* path) {
  return coverWith(kHoleNames[kEmptyFile], path + 1);
}

Failure makeRoot(View& view) {
  raw::MountAttributes makePrivate = {0, 0, 1ull << 18 /* MS_PRIVATE */, 0};
  long result = raw::sys(__NR_mount_setattr, raw::kAtFdCwd, "/", raw::kAtRecursive, &makePrivate,
                         sizeof makePrivate);
  if (result < 0)
    return failed(Stage::PrivateMounts, result);
  const long root = file_systems::emptyRoot();
  if (root < 0)
    return failed(Stage::NewRoot, root);
  // It covers the old root of this namespace; paths of this process still start beneath the cover.
  result = raw::sys(__NR_move_mount, root, "", raw::kAtFdCwd, "/", raw::kMoveFromEmpty);
  if (result < 0)
    return failed(Stage::NewRoot, result);
  view.root = (int)root;
  return {};
}

Failure buildView(const Plan& plan, View& view, Ahead& ahead) {
  if (ahead.raised && !agrees(view.root, plan, ahead)) {
    // All of it goes, with the root that it stands on.
    long result = raw::sys(__NR_fchdir, view.root);
    if (result >= 0)
      result = raw::sys(__NR_umount2, ".", 2 /* MNT_DETACH */);
    if (result >= 0)
      result = raw::sys(__NR_chdir, "/");
    if (result < 0)
      return failed(Stage::NewRoot, result);
    raw::sys(__NR_close, view.root);
    view = View();
    ahead.whole = false;
    if (Failure failure = makeRoot(view))
      return failure;
  }
  return Builder(plan, view, ahead).build();
}

} // namespace gos::sandbox
