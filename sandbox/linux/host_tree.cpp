// The tree of this host, as raw bytes. What is learned here is used again only together with device
// and inode: the start mounts the object that was seen, or nothing.

#include "sandbox/linux/plan.h"
#include "sandbox/policy/host/host_paths.h"
#include "sandbox/sys_error.h"
#include "sandbox/unique_fd.h"

#include "llvm/ADT/STLExtras.h"

#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gos::sandbox {

namespace {

NodeKind kindOf(mode_t mode) {
  if (S_ISREG(mode))
    return NodeKind::File;
  if (S_ISDIR(mode))
    return NodeKind::Directory;
  if (S_ISLNK(mode))
    return NodeKind::Link;
  if (S_ISCHR(mode) || S_ISBLK(mode))
    return NodeKind::Device;
  return NodeKind::Other;
}

/// The entry itself; nothing if a component above it is a link (openat2(2), Linux 5.6).
UniqueFd openWithoutLinks(const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  return UniqueFd(int(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
}

std::string linkTextOf(int link) {
  std::string text(256, '\0');
  while (true) {
    const ssize_t length = ::readlinkat(link, "", text.data(), text.size());
    if (length < 0)
      return {};
    if (size_t(length) < text.size()) {
      text.resize(size_t(length));
      return text;
    }
    text.resize(text.size() * 2);
  }
}

class KernelTree final : public HostTree {
public:
  Entry look(llvm::StringRef path) const override {
    Entry entry;
    if (path.contains('\0'))
      return entry;
    // The entry of exactly this path: a directory above it that was a directory when it was judged
    // may be a link by now, and what that leads to is another object.
    const UniqueFd named = openWithoutLinks(path.str());
    struct stat status{};
    if (!named || ::fstatat(named.get(), "", &status, AT_EMPTY_PATH) != 0)
      return entry;
    entry.kind = kindOf(status.st_mode);
    entry.object = {status.st_dev, status.st_ino};
    if (entry.kind == NodeKind::Link)
      entry.linkText = linkTextOf(named.get());
    return entry;
  }

  std::string real(llvm::StringRef path) const override {
    if (path.contains('\0'))
      return {};
    return realPathOf(path.str());
  }

  std::vector<std::string> list(llvm::StringRef path) const override {
    std::vector<std::string> names;
    if (path.contains('\0'))
      return names;
    UniqueFd fd(::open(path.str().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd)
      return names;
    DIR* directory = ::fdopendir(fd.get());
    if (directory == nullptr)
      return names;
    (void)fd.release();
    while (const dirent* entry = ::readdir(directory)) {
      const llvm::StringRef name = entry->d_name;
      if (name != "." && name != "..")
        names.push_back(name.str());
    }
    ::closedir(directory);
    llvm::sort(names);
    return names;
  }

  std::string text(llvm::StringRef path, size_t limit) const override {
    std::string bytes;
    if (path.contains('\0'))
      return bytes;
    UniqueFd fd(::open(path.str().c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    struct stat status{};
    if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode))
      return bytes;
    // Files of /proc have no size, and few have a page.
    const size_t size = status.st_size != 0 ? size_t(status.st_size) : 65536;
    limit = std::min(limit, size);
    size_t done = 0;
    while (done != limit) {
      if (done == bytes.size())
        bytes.resize(std::min(limit, done + 4096));
      const ssize_t count = retryInterrupted(
          [&] { return ::read(fd.get(), bytes.data() + done, bytes.size() - done); });
      if (count <= 0)
        break;
      done += size_t(count);
    }
    bytes.resize(done);
    return bytes;
  }
};

} // namespace

const HostTree& hostTree() {
  static const KernelTree tree{};
  return tree;
}

} // namespace gos::sandbox
