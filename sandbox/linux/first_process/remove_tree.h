#pragma once
// Removing a tree that hostile code has filled. Nothing is followed; the depth costs neither stack
// nor descriptors, because a directory that is found below is moved up first; a directory of mode
// 000 is opened up; what cannot be removed is left and said. Freestanding: the first process does
// this when a run ends, the supervisor when the first process could not.

#include "sandbox/linux/first_process/raw.h"

#include <fcntl.h>
#include <sys/stat.h>

namespace gos::sandbox {

struct DirectoryEntry {
  uint64_t inode;
  int64_t offset;
  uint16_t size;
  uint8_t kind; // 4: a directory, 0: ask
  char name[1];
};

class TreeRemover {
public:
  /// Empties the directory of this descriptor. True if nothing is left in it.
  bool empty(int root) {
    root_ = root;
    while (true) {
      const uint64_t before = removed_;
      const Pass pass = clear(root, /*isRoot=*/true);
      if (pass == Pass::Empty)
        return true;
      if (removed_ == before)
        return false; // nothing moves any more
    }
  }

  /// Lets its owner into a directory. Asked first, since a change is written to the disk.
  static void open(int directory) {
    struct stat status;
    if (raw::sys(__NR_newfstatat, directory, "", &status, raw::kAtEmptyPath) < 0 ||
        (status.st_mode & 07777) != 0700)
      raw::sys(__NR_fchmod, directory, 0700);
  }

private:
  enum class Pass { Empty, Left };

  /// The same for one that cannot be opened yet. By descriptor: whoever can rename in the directory
  /// could put a link in its place.
  static void letIn(int parent, const char* name) {
    constexpr long kChangeMode = 452; // fchmodat2, Linux 6.6; of every architecture
    const long found =
        raw::sys(__NR_openat, parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (found < 0)
      return;
    if (raw::sys(kChangeMode, found, "", 0700, raw::kAtEmptyPath) == -38 /* ENOSYS */) {
      char path[32] = "/proc/self/fd/";
      int end = 14;
      for (long part = 1000000; part != 0; part /= 10)
        if (found >= part || part == 1)
          path[end++] = (char)('0' + found / part % 10);
      path[end] = '\0';
      raw::sys(__NR_fchmodat, raw::kAtFdCwd, path, 0700);
    }
    raw::sys(__NR_close, found);
  }

  Pass clear(int directory, bool isRoot) {
    raw::sys(__NR_lseek, directory, 0, 0);
    Pass pass = Pass::Empty;
    char buffer[8192];
    while (true) {
      const long got = raw::sys(__NR_getdents64, directory, buffer, sizeof buffer);
      if (got == -raw::kErrorAbsent)
        return Pass::Empty; // the directory itself was removed
      if (got <= 0)
        return got < 0 ? Pass::Left : pass;
      for (long at = 0; at < got;) {
        const DirectoryEntry* entry = (const DirectoryEntry*)(buffer + at);
        at += entry->size;
        const char* name = entry->name;
        if (name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0')))
          continue;
        pass = Pass::Left;
        if (isRoot)
          removeFromRoot(name);
        else
          removeBelow(directory, name);
      }
    }
  }

  bool unlink(int directory, const char* name, int flags) {
    const bool done = raw::sys(__NR_unlinkat, directory, name, flags) >= 0;
    removed_ += done;
    return done;
  }

  void removeFromRoot(const char* name) {
    if (unlink(root_, name, 0) || unlink(root_, name, raw::kAtRemoveDirectory))
      return;
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    long directory = raw::sys(__NR_openat, root_, name, flags);
    if (directory < 0) {
      letIn(root_, name);
      directory = raw::sys(__NR_openat, root_, name, flags);
    } else {
      open((int)directory);
    }
    if (directory < 0)
      return;
    clear((int)directory, /*isRoot=*/false);
    raw::sys(__NR_close, directory);
    unlink(root_, name, raw::kAtRemoveDirectory);
  }

  void removeBelow(int directory, const char* name) {
    if (unlink(directory, name, 0) || unlink(directory, name, raw::kAtRemoveDirectory))
      return;
    // A directory with something in it: up it goes, under a name that nothing has.
    char up[24] = ".up-";
    for (int again = 0; again != 64; ++again) {
      uint64_t number = counter_++;
      for (int digit = 4; digit != 20; ++digit, number >>= 4)
        up[digit] = "0123456789abcdef"[number & 15];
      up[20] = '\0';
      long moved = raw::sys(__NR_renameat2, directory, name, root_, up, 1 /* RENAME_NOREPLACE */);
      if (moved == -13 /* EACCES: its own `..` cannot be written */) {
        letIn(directory, name);
        moved = raw::sys(__NR_renameat2, directory, name, root_, up, 1);
      }
      if (moved >= 0)
        ++removed_; // one level less is progress
      if (moved != -raw::kErrorExists)
        return;
    }
  }

  int root_ = -1;
  uint64_t removed_ = 0;
  uint64_t counter_ = 0;
};

} // namespace gos::sandbox
