#include "sandbox/beneath.h"

#include "sandbox/beneath_walk.h"
#include "sandbox/sys_error.h"

#include "sandbox/policy/presets.h"

#include "llvm/ADT/STLExtras.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gos {

namespace {
/// What the kernel takes for a whole path, the NUL included.
constexpr size_t kMaxPath = 4096;
constexpr unsigned kMaxRetries = 8;
constexpr int kOpenForReading = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;

/// Reads stay readable: O_NONBLOCK was there only so that opening a FIFO could not hang.
void clearNonBlocking(int fd) {
  if (const int flags = ::fcntl(fd, F_GETFL); flags >= 0)
    ::fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
}

int openBeneath(int root, const char* path, uint64_t flags) {
  struct open_how how = {};
  how.flags = flags;
  // Without any link the path that was asked for is the path that was opened, so the policy can be
  // asked before anything is touched; what goes through a link takes the walk, which records it.
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS;
  return int(::syscall(SYS_openat2, root, path, &how, sizeof how));
}

/// A text that goes only downwards, as components joined by single slashes.
struct Downward {
  std::string path;
  bool mustBeDirectory = false; // "in.txt/" and "in.txt/." name no file
};

std::optional<Downward> downward(llvm::StringRef text) {
  Downward result;
  while (!text.empty()) {
    auto [component, tail] = text.split('/');
    const bool slashFollows = component.size() != text.size();
    text = tail;
    if (component == "..")
      return std::nullopt;
    if (component == ".") {
      result.mustBeDirectory = true;
    } else if (!component.empty()) {
      result.path = joinBeneath(result.path, component);
      result.mustBeDirectory = slashFollows;
    }
  }
  return result;
}

/// The fast road. None: the walk has to decide.
std::optional<Arrival> openFast(const Root& root, llvm::StringRef written, llvm::StringRef text,
                                Want want, FollowLast followLast,
                                llvm::function_ref<bool(Resolution&)> judge) {
  std::optional<Downward> down = downward(text);
  if (!down)
    return std::nullopt;
  Arrival arrival;
  Resolution& resolution = arrival.resolution;
  resolution.written = written.str();
  resolution.path = down->path.empty() ? "." : down->path;
  if (!judge(resolution))
    return arrival;

  uint64_t flags = kOpenForReading;
  if (want == Want::Query)
    flags = O_PATH | O_CLOEXEC;
  if (want == Want::Query && followLast == FollowLast::No && !down->mustBeDirectory)
    flags |= O_NOFOLLOW;
  if (want == Want::Directory || down->mustBeDirectory)
    flags |= O_DIRECTORY;
  int opened = -1;
  for (unsigned retries = 0; retries != kMaxRetries; ++retries) {
    opened =
        retryInterrupted([&] { return openBeneath(root.fd(), resolution.path.c_str(), flags); });
    if (opened >= 0 || errno != EAGAIN)
      break;
  }
  UniqueFd fd(opened);
  if (!fd) {
    switch (const int number = errno) {
    case ENOENT:
      resolution.outcome = Outcome::Absent;
      return arrival;
    case ENXIO: // a socket
      fail(resolution, failureOf(number), number);
      return arrival;
    default:
      // A link, a rename in flight, a kernel or a filter without openat2; and of a plain error the
      // walk can say at which component it happened.
      return std::nullopt;
    }
  }
  if (::fstat(fd.get(), &arrival.status) != 0) {
    fail(resolution, Failure::System, errno);
    return arrival;
  }
  if (want == Want::File && S_ISDIR(arrival.status.st_mode)) {
    fail(resolution, Failure::IsADirectory, EISDIR);
    return arrival;
  }
  if (want == Want::File && !S_ISREG(arrival.status.st_mode)) {
    fail(resolution, Failure::NotRegular);
    return arrival;
  }
  if (want != Want::Query)
    arrival.fd = std::move(fd);
  resolution.outcome = Outcome::Found;
  return arrival;
}

/// An absolute spelling without `.` and doubled slashes; empty if it has `..`, which only the file
/// system can take away.
std::string tidyAbsolute(llvm::StringRef path) {
  std::string tidy;
  for (llvm::StringRef left = path; !left.empty();) {
    auto [component, tail] = left.split('/');
    left = tail;
    if (component == "..")
      return {};
    if (!component.empty() && component != ".")
      tidy += "/" + component.str();
  }
  return tidy.empty() ? "/" : tidy;
}

/// What is left of `path` after the components of `root`; both absolute.
std::optional<std::string> takeOff(llvm::StringRef path, llvm::StringRef root) {
  llvm::StringRef expected = root.drop_front();
  llvm::StringRef left = path.drop_front();
  while (!expected.empty()) {
    auto [wanted, expectedTail] = expected.split('/');
    llvm::StringRef component;
    do {
      if (left.empty())
        return std::nullopt;
      std::tie(component, left) = left.split('/');
    } while (component.empty() || component == ".");
    if (component != wanted)
      return std::nullopt;
    expected = expectedTail;
  }
  left = left.ltrim('/');
  return left.empty() ? "." : left.str();
}
} // namespace

llvm::StringRef phrase(Failure failure) {
  switch (failure) {
  case Failure::None:
    return "no failure";
  case Failure::InvalidPath:
    return "is not a valid path";
  case Failure::TooLong:
    return "is too long or too deep";
  case Failure::NotADirectory:
    return "is not a directory";
  case Failure::IsADirectory:
    return "is a directory";
  case Failure::NotRegular:
    return "is not a regular file";
  case Failure::TooManyLinks:
    return "goes through too many symbolic links";
  case Failure::PermissionDenied:
    return "permission denied";
  case Failure::Changed:
    return "changed while it was being opened";
  case Failure::TooLarge:
    return "is too large";
  case Failure::System:
    return "cannot be opened";
  }
  return {};
}

// ---- the root -----------------------------------------------------------------------------------

llvm::Expected<Root> Root::open(llvm::StringRef directory, llvm::StringRef spelling) {
  const std::string given = directory.str();
  if (given.empty() || directory.contains('\0'))
    return sysError("open root", directory, EINVAL);
  Root root;
  root.fd_ = UniqueFd(
      retryInterrupted([&] { return ::open(given.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC); }));
  if (!root.fd_)
    return sysError("open root", directory, errno);
  struct stat status{};
  if (::fstat(root.fd_.get(), &status) != 0)
    return sysError("look at root", directory, errno);
  root.device_ = status.st_dev;
  root.inode_ = status.st_ino;

  char* real = ::realpath(given.c_str(), nullptr);
  if (real == nullptr)
    return sysError("find the real path of", directory, errno);
  root.realPath_ = real;
  ::free(real);
  // The name may stand for something else by now; it is only used to compare strings with, but a
  // wrong one would take strangers' paths for ours.
  struct stat again{};
  if (::lstat(root.realPath_.c_str(), &again) != 0 || again.st_dev != status.st_dev ||
      again.st_ino != status.st_ino)
    return sysError("open root", directory, ESTALE);

  std::string absolute = given;
  if (spelling.starts_with("/") && !spelling.contains('\0')) {
    if (::stat(spelling.str().c_str(), &again) == 0 && again.st_dev == status.st_dev &&
        again.st_ino == status.st_ino)
      absolute = spelling.str();
  }
  if (absolute.front() != '/') {
    char* cwd = ::getcwd(nullptr, 0);
    if (cwd == nullptr)
      return sysError("find the working directory for", directory, errno);
    absolute = std::string(cwd) + "/" + given;
    ::free(cwd);
  }
  root.spelling_ = tidyAbsolute(absolute);
  if (root.spelling_.empty())
    root.spelling_ = root.realPath_;
  root.policy_ = comptimePolicy(ComptimeIo::Confined, root.realPath_);
  return root;
}

std::optional<std::string> Root::beneathRoot(llvm::StringRef absolute) const {
  if (!absolute.starts_with("/"))
    return std::nullopt;
  if (auto inside = takeOff(absolute, realPath_))
    return inside;
  return takeOff(absolute, spelling_);
}

bool Root::judge(Resolution& resolution, Operation operation) const {
  std::string whole = realPath_;
  if (resolution.path != ".") {
    if (whole != "/")
      whole += '/';
    whole += resolution.path;
  }
  const Verdict verdict = decide(policy_, whole, operation);
  if (verdict.allowed)
    return true;
  resolution.outcome = Outcome::Refused;
  resolution.failure = Failure::None;
  resolution.errorNumber = 0;
  resolution.rule = verdict.rule ? policy_.rules()[*verdict.rule].path : std::string();
  return false;
}

Arrival Root::resolve(llvm::StringRef base, llvm::StringRef path, Want want,
                      FollowLast followLast) const {
  Arrival arrival;
  arrival.resolution.written = path.str();
  if (path.empty() || path.contains('\0')) {
    fail(arrival.resolution, Failure::InvalidPath, path.empty() ? ENOENT : EINVAL);
    return arrival;
  }
  std::string text = path.str();
  if (path.front() == '/') {
    std::optional<std::string> inside = beneathRoot(path);
    if (!inside) {
      // Refused as text: no system call hears of it.
      arrival.resolution.outcome = Outcome::Outside;
      return arrival;
    }
    text = std::move(*inside);
  } else if (!base.empty()) {
    text = (base + "/" + path).str();
  }
  if (text.size() >= kMaxPath) {
    fail(arrival.resolution, Failure::TooLong, ENAMETOOLONG);
    return arrival;
  }
  std::optional<Arrival> fast;
  if (road_ == Road::FastThenWalk)
    fast = openFast(*this, path, text, want, followLast,
                    [&](Resolution& resolution) { return judge(resolution, operationOf(want)); });
  arrival = fast ? std::move(*fast) : Walk(*this, want, followLast).run(path, text);
  if (arrival.fd)
    clearNonBlocking(arrival.fd.get());
  return arrival;
}

OpenedFile Root::openFile(llvm::StringRef base, llvm::StringRef path) const {
  Arrival arrival = resolve(base, path, Want::File, FollowLast::Yes);
  OpenedFile file;
  if (arrival.resolution.found())
    file.facts = factsOf(arrival.status, device_);
  file.resolution = std::move(arrival.resolution);
  file.fd = std::move(arrival.fd);
  return file;
}

OpenedDirectory Root::openDirectory(llvm::StringRef base, llvm::StringRef path) const {
  Arrival arrival = resolve(base, path, Want::Directory, FollowLast::Yes);
  OpenedDirectory directory;
  if (arrival.resolution.found())
    directory.facts = factsOf(arrival.status, device_);
  directory.resolution = std::move(arrival.resolution);
  directory.fd = std::move(arrival.fd);
  return directory;
}

Queried Root::query(llvm::StringRef base, llvm::StringRef path, FollowLast follow) const {
  Arrival arrival = resolve(base, path, Want::Query, follow);
  Queried queried;
  if (arrival.resolution.found())
    queried.facts = factsOf(arrival.status, device_);
  queried.resolution = std::move(arrival.resolution);
  return queried;
}

// ---- listings -----------------------------------------------------------------------------------

Listing Root::list(llvm::StringRef base, llvm::StringRef path, size_t maxEntries) const {
  return listOpened(openDirectory(base, path), maxEntries);
}

Listing Root::listOpened(const OpenedDirectory& directory, size_t maxEntries) const {
  Listing listing;
  listing.resolution = directory.resolution;
  if (!directory.resolution.found())
    return listing;
  // A descriptor of its own: the position of a listing is shared by copies of a descriptor.
  UniqueFd fd(retryInterrupted(
      [&] { return ::openat(directory.fd.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!fd) {
    fail(listing.resolution, failureOf(errno), errno);
    return listing;
  }
  DIR* stream = ::fdopendir(fd.get());
  if (stream == nullptr) {
    fail(listing.resolution, Failure::System, errno);
    return listing;
  }
  const int streamFd = fd.release(); // the stream owns it
  while (true) {
    errno = 0;
    const struct dirent* entry = ::readdir(stream);
    if (entry == nullptr) {
      if (errno != 0)
        fail(listing.resolution, Failure::System, errno);
      break;
    }
    const llvm::StringRef name = entry->d_name;
    if (name == "." || name == "..")
      continue;
    if (listing.entries.size() == maxEntries) {
      fail(listing.resolution, Failure::TooLarge);
      break;
    }
    struct stat status{};
    if (::fstatat(streamFd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
      continue; // gone meanwhile
    DirectoryEntry made{name.str(), factsOf(status, device_)};
    Resolution place;
    place.path = joinBeneath(directory.resolution.path, name);
    // Of what a denial covers the name is in the listing, as it is in a mount view, and no more.
    if (!judge(place, Operation::Query))
      made.facts.size = 0;
    listing.entries.push_back(std::move(made));
  }
  ::closedir(stream);
  if (!listing.resolution.found())
    listing.entries.clear();
  llvm::sort(listing.entries, [](const DirectoryEntry& a, const DirectoryEntry& b) {
    return a.name < b.name; // char_traits compares as unsigned bytes
  });
  return listing;
}

OpenedDirectory Root::openChildDirectory(const OpenedDirectory& parent,
                                         llvm::StringRef name) const {
  OpenedDirectory child;
  Resolution& resolution = child.resolution;
  resolution.written = name.str();
  if (!parent.resolution.found()) {
    resolution = parent.resolution;
    return child;
  }
  if (name.empty() || name == "." || name == ".." || name.contains('/') || name.contains('\0')) {
    fail(resolution, Failure::InvalidPath, EINVAL);
    return child;
  }
  resolution.path = joinBeneath(parent.resolution.path, name);
  if (!judge(resolution, Operation::List))
    return child;
  const std::string component = name.str();
  UniqueFd fd(retryInterrupted([&] {
    return ::openat(parent.fd.get(), component.c_str(), kOpenForReading | O_DIRECTORY | O_NOFOLLOW);
  }));
  if (!fd) {
    const int number = errno;
    if (number == ENOENT)
      resolution.outcome = Outcome::Absent;
    else // ELOOP: it is a link by now
      fail(resolution, number == ELOOP ? Failure::NotADirectory : failureOf(number), number);
    return child;
  }
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) {
    fail(resolution, Failure::System, errno);
    return child;
  }
  clearNonBlocking(fd.get());
  child.facts = factsOf(status, device_);
  child.fd = std::move(fd);
  resolution.outcome = Outcome::Found;
  return child;
}

} // namespace gos
