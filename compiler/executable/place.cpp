#include "compiler/executable/place.h"

#include "sandbox/sys_error.h"

#include "llvm/ADT/STLExtras.h"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace gos::executable {
namespace {

using llvm::StringRef;

constexpr StringRef kSourceEndings[] = {".gos", ".rs"};
constexpr StringRef kManifests[] = {"project.toml", "project.lock", "bindings.lock", "Cargo.toml",
                                    "Cargo.lock"};

/// Splits the path and opens the directory.
std::optional<Refusal> openDirectory(StringRef path, Place& place) {
  const size_t slash = path.rfind('/');
  const std::string parent = slash == StringRef::npos ? "."
                             : slash == 0             ? "/"
                                                      : path.take_front(slash).str();
  place.path = path.str();
  place.name = (slash == StringRef::npos ? path : path.drop_front(slash + 1)).str();
  if (place.name.empty())
    return Refusal{"it is the name of a directory", "name a file in it"};
  place.directory.reset(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!place.directory)
    return Refusal{errnoText(errno), errno == ENOENT ? "make its directory first" : ""};
  return std::nullopt;
}

/// 0, or the number of the error.
int writeFully(int fd, StringRef bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = retryInterrupted([&] { return ::write(fd, bytes.data(), bytes.size()); });
    if (wrote <= 0)
      return wrote == 0 ? EIO : errno;
    bytes = bytes.drop_front(size_t(wrote));
  }
  return 0;
}

int writeAll(int fd, llvm::ArrayRef<StringRef> pieces) {
  int error = 0;
  for (StringRef piece : pieces)
    if (error == 0)
      error = writeFully(fd, piece);
  return error;
}

/// A new file in the directory of the place: without a name where the file system can, so that who
/// is interrupted leaves nothing behind.
class NewFile {
public:
  NewFile(const Place& place, mode_t mode) : place_(place), mode_(mode) {
    fd_.reset(::openat(directory(), ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode_));
    if (!fd_)
      openNamed();
  }
  ~NewFile() {
    if (!name_.empty())
      ::unlinkat(directory(), name_.c_str(), 0);
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  int fd() const { return fd_.get(); }

  /// 0, or the number of the error.
  int publish() {
    if (name_.empty() && !giveName()) {
      // Without a /proc a file cannot be given a name later: the bytes go to one that has it.
      return ENOTSUP;
    }
    if (::renameat(directory(), name_.c_str(), directory(), place_.name.c_str()) != 0)
      return errno;
    name_.clear();
    return 0;
  }
  /// Starts again with a file that has a name from the first.
  bool openNamed() {
    fd_.reset();
    forEachName([&](const std::string& name) {
      fd_.reset(::openat(directory(), name.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_));
      return bool(fd_);
    });
    return bool(fd_);
  }

private:
  int directory() const { return place_.directory.get(); }

  bool giveName() {
    const std::string link = "/proc/self/fd/" + std::to_string(fd_.get());
    return forEachName([&](const std::string& name) {
      return ::linkat(AT_FDCWD, link.c_str(), directory(), name.c_str(), AT_SYMLINK_FOLLOW) == 0;
    });
  }
  /// Names that nobody else is likely to use, until one is free.
  template <class Try> bool forEachName(Try attempt) {
    for (unsigned number = 0; number != 100; ++number) {
      const std::string name =
          ".gos-build." + std::to_string(::getpid()) + "." + std::to_string(number);
      if (attempt(name)) {
        name_ = name;
        return true;
      }
      if (errno != EEXIST)
        return false;
    }
    return false;
  }

  const Place& place_;
  const mode_t mode_;
  UniqueFd fd_;
  std::string name_; // empty while the file has none
};

} // namespace

std::optional<Refusal> findPlace(StringRef option, StringRef usualName, Place& place) {
  place.shown = option.str();
  if (option.contains('\0'))
    return Refusal{"there is a NUL byte in its name", ""};
  if (option.empty())
    return Refusal{"it has no name", ""};
  if (option == "-") {
    place.shown = "standard output";
    place.stream = place.standardOutput = place.exists = true;
    return std::nullopt;
  }
  struct stat status{};
  std::string path = option.str();
  const bool isDirectory = ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  if (isDirectory || option.ends_with("/")) {
    if (usualName.empty())
      return Refusal{"it is a directory", "name a file in it"};
    // The directory is the user's choice, the name is not: no link and no stream is looked for.
    path += (option.ends_with("/") ? "" : "/") + usualName.str();
    place.shown = path;
    place.nameBy = ChosenBy::Project;
    return openDirectory(path, place);
  }
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISCHR(status.st_mode) || S_ISFIFO(status.st_mode)) {
      place.path = path;
      place.stream = place.exists = true;
      return std::nullopt;
    }
    // A link is followed by hand, so that what it means is replaced and not the link.
    struct stat own{};
    if (::lstat(path.c_str(), &own) == 0 && S_ISLNK(own.st_mode)) {
      char* real = ::realpath(path.c_str(), nullptr);
      if (!real)
        return Refusal{errnoText(errno), ""};
      path = real;
      ::free(real);
    }
  } else if (::lstat(path.c_str(), &status) == 0) {
    return Refusal{"it is a link that leads nowhere", ""};
  }
  return openDirectory(path, place);
}

std::optional<Refusal> judgePlace(Place& place) {
  const StringRef name = place.name;
  if (llvm::is_contained(kManifests, name))
    return Refusal{"it has the name of a manifest", ""};
  if (llvm::any_of(kSourceEndings, [&](StringRef ending) { return name.ends_with(ending); }))
    return Refusal{"it has the name of a source", ""};
  struct stat status{};
  if (::fstatat(place.directory.get(), place.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    place.exists = false;
    return errno == ENOENT ? std::nullopt : std::optional(Refusal{errnoText(errno), ""});
  }
  place.exists = true;
  if (S_ISDIR(status.st_mode))
    return Refusal{"it is a directory", "choose another name"};
  if (!S_ISREG(status.st_mode))
    return Refusal{S_ISLNK(status.st_mode) ? "it is a link" : "it is not a regular file", ""};
  return std::nullopt;
}

bool isPlace(const Place& place, const struct stat& status) {
  struct stat own{};
  return !place.stream &&
         ::fstatat(place.directory.get(), place.name.c_str(), &own, AT_SYMLINK_NOFOLLOW) == 0 &&
         own.st_dev == status.st_dev && own.st_ino == status.st_ino;
}

bool isReadOnly(int directory, const std::string& name, const struct stat& status) {
  if (::geteuid() == 0 && (status.st_mode & S_IWUSR) == 0)
    return true;
  return ::faccessat(directory, name.c_str(), W_OK, AT_EACCESS) != 0 &&
         (errno == EACCES || errno == EROFS || errno == EPERM);
}

Refusal readOnly(StringRef shown) {
  return {"it may not be written", "remove `" + shown.str() + "`, or choose another name"};
}

int writePlace(const Place& place, llvm::ArrayRef<StringRef> pieces, mode_t mode) {
  if (place.stream) {
    UniqueFd stream(place.standardOutput
                        ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
                        : ::open(place.path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    return stream ? writeAll(stream.get(), pieces) : errno;
  }
  NewFile file(place, mode);
  if (file.fd() < 0)
    return errno;
  int error = writeAll(file.fd(), pieces);
  if (!error)
    error = file.publish();
  if (error == ENOTSUP) {
    if (!file.openNamed())
      return errno;
    error = writeAll(file.fd(), pieces);
    if (!error)
      error = file.publish();
  }
  return error;
}

} // namespace gos::executable
