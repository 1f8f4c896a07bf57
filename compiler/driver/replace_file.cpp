#include "compiler/driver/replace_file.h"

#include "compiler/executable/place.h"
#include "sandbox/unique_fd.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <vector>

namespace gos::driver {

namespace {

using llvm::StringRef;
using Outcome = Replacement::Outcome;

constexpr unsigned kTemporaryNames = 16;

bool writeAll(int fd, StringRef text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0) {
      if (errno == EINTR)
        continue;
      return false;
    }
    text = text.drop_front(size_t(count));
  }
  return true;
}

bool isUnchanged(const struct stat& now, const struct stat& before) {
  return now.st_dev == before.st_dev && now.st_ino == before.st_ino &&
         now.st_size == before.st_size && now.st_mtim.tv_sec == before.st_mtim.tv_sec &&
         now.st_mtim.tv_nsec == before.st_mtim.tv_nsec;
}

// ---- extended attributes ----------------------------------------------------------------------

using Names = std::vector<std::string>;

/// False with errno set; a file system without attributes has none.
bool attributeNames(int fd, Names& names) {
  for (;;) {
    const ssize_t size = ::flistxattr(fd, nullptr, 0);
    if (size < 0)
      return errno == ENOTSUP;
    std::string list(size_t(size), '\0');
    const ssize_t got = ::flistxattr(fd, list.data(), list.size());
    if (got < 0) {
      if (errno == ERANGE)
        continue; // there are more of them now
      return false;
    }
    llvm::SmallVector<StringRef, 8> parts;
    StringRef(list.data(), size_t(got)).split(parts, '\0', -1, /*KeepEmpty=*/false);
    for (StringRef part : parts)
      names.push_back(part.str());
    return true;
  }
}

bool attribute(int fd, const std::string& name, std::string& value) {
  for (;;) {
    const ssize_t size = ::fgetxattr(fd, name.c_str(), nullptr, 0);
    if (size < 0)
      return false;
    value.resize(size_t(size));
    const ssize_t got = ::fgetxattr(fd, name.c_str(), value.data(), value.size());
    if (got >= 0) {
      value.resize(size_t(got));
      return true;
    }
    if (errno != ERANGE)
      return false;
  }
}

/// Gives `to` the attributes of `from`, access lists among them, and no others.
bool copyAttributes(int from, int to) {
  Names wanted, found;
  if (!attributeNames(from, wanted) || !attributeNames(to, found))
    return false;
  for (const std::string& name : found)
    if (std::find(wanted.begin(), wanted.end(), name) == wanted.end() &&
        ::fremovexattr(to, name.c_str()) != 0)
      return false;
  for (const std::string& name : wanted) {
    std::string value, present;
    if (!attribute(from, name, value))
      return false;
    // Some may be set by nobody but the kernel, which has set them.
    if (attribute(to, name, present) && present == value)
      continue;
    if (::fsetxattr(to, name.c_str(), value.data(), value.size(), 0) != 0)
      return false;
  }
  return true;
}

/// Makes a new file, seen by nobody else yet, the old one's equal; false where it may not.
bool takeAfter(int to, int from, const struct stat& status) {
  struct stat own;
  if (::fstat(to, &own) != 0)
    return false;
  if ((own.st_uid != status.st_uid || own.st_gid != status.st_gid) &&
      ::fchown(to, status.st_uid, status.st_gid) != 0)
    return false;
  return copyAttributes(from, to) && ::fchmod(to, status.st_mode & 07777) == 0;
}

// ---- the two ways -----------------------------------------------------------------------------

/// A file beside the one that is replaced; it goes away unless it is kept.
class Beside {
public:
  explicit Beside(const std::string& path) {
    StringRef directory = llvm::sys::path::parent_path(path);
    directory_ = directory.empty() ? "." : directory.str();
    for (unsigned i = 0; i < kTemporaryNames && !fd_; ++i) {
      uint64_t number = 0;
      if (::getrandom(&number, sizeof number, 0) != ssize_t(sizeof number))
        return;
      path_ = directory_ + "/.gos-fmt-" + llvm::utohexstr(number, true);
      fd_.reset(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
      if (!fd_ && errno != EEXIST)
        return;
    }
  }
  ~Beside() {
    const int number = errno;
    if (fd_ && !isKept_)
      ::unlink(path_.c_str());
    errno = number;
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  explicit operator bool() const { return bool(fd_); }
  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }
  void keep() { isKept_ = true; }
  /// Writes down what the directory holds.
  void syncDirectory() const {
    const UniqueFd directory(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory)
      (void)::fsync(directory.get());
  }

private:
  std::string directory_, path_;
  UniqueFd fd_;
  bool isKept_ = false;
};

Replacement failed(int number) {
  return {Outcome::Failed, number, {}};
}

/// A reader sees the old file or the new one.
Replacement rename(const std::string& path, Beside& beside, const struct stat& before,
                   StringRef text) {
  if (!writeAll(beside.fd(), text) || ::fsync(beside.fd()) != 0)
    return failed(errno);
  struct stat now;
  if (::lstat(path.c_str(), &now) != 0)
    return failed(errno);
  if (!isUnchanged(now, before))
    return {Outcome::ChangedMeanwhile, 0, {}};
  if (::rename(beside.path().c_str(), path.c_str()) != 0)
    return failed(errno);
  beside.keep();
  beside.syncDirectory();
  return {Outcome::Done, 0, {}};
}

bool overwrite(int fd, StringRef text) {
  return ::lseek(fd, 0, SEEK_SET) == 0 && writeAll(fd, text) &&
         ::ftruncate(fd, off_t(text.size())) == 0 && ::fsync(fd) == 0;
}

/// For a file that has other names, or something that a new one cannot be given: its old text
/// stands beside it until the new one is written down.
Replacement writeInPlace(const std::string& path, const struct stat& before, StringRef old,
                         StringRef text) {
  Beside copy(path);
  if (!copy || !writeAll(copy.fd(), old) || ::fsync(copy.fd()) != 0)
    return failed(errno);
  copy.syncDirectory();
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat now;
  if (!fd || ::fstat(fd.get(), &now) != 0)
    return failed(errno);
  if (!isUnchanged(now, before))
    return {Outcome::ChangedMeanwhile, 0, {}};
  if (overwrite(fd.get(), text))
    return {Outcome::Done, 0, {}};
  const int number = errno;
  if (overwrite(fd.get(), old))
    return failed(number);
  copy.keep();
  return {Outcome::Displaced, number, copy.path()};
}

} // namespace

bool readAll(int fd, std::string& text) {
  constexpr size_t kPiece = 64 << 10;
  struct stat status;
  if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
    text.reserve(size_t(status.st_size) + 1);
  std::vector<char> buffer(kPiece);
  for (;;) {
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count == 0)
      return true;
    if (count > 0)
      text.append(buffer.data(), size_t(count));
    else if (errno != EINTR)
      return false;
  }
}

Replacement replaceFile(const std::string& path, int fd, const struct stat& before, StringRef old,
                        StringRef text) {
  if (executable::isReadOnly(AT_FDCWD, path, before))
    return {Outcome::ReadOnly, 0, {}};
  if (before.st_nlink == 1) {
    Beside beside(path);
    if (!beside)
      return failed(errno);
    if (takeAfter(beside.fd(), fd, before))
      return rename(path, beside, before, text);
  }
  return writeInPlace(path, before, old, text);
}

} // namespace gos::driver
