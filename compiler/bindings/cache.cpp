#include "compiler/bindings/cache.h"

#include "sandbox/beneath.h"
#include "sandbox/command/command_policy.h"
#include "sandbox/policy/host/host_paths.h"
#include "sandbox/sys_error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gos::bindings {

char CacheError::ID = 0;

namespace {

llvm::Error failure(std::string text, std::string remedy) {
  return llvm::make_error<CacheError>(std::move(text), std::move(remedy));
}
llvm::Error failure(llvm::StringRef what, llvm::StringRef path, int number) {
  return failure(("cannot " + what + " `" + path + "`: ").str() + errnoText(number),
                 number == ENOSPC || number == EDQUOT
                     ? "make room, or let XDG_CACHE_HOME name a directory on another disk"
                     : "let XDG_CACHE_HOME name a directory that you can write to");
}

/// Opens a directory beneath another, making it if it is missing; ours and nobody else's.
llvm::Expected<UniqueFd> openOwn(int parent, const std::string& name, llvm::StringRef shown) {
  if (::mkdirat(parent, name.c_str(), 0700) != 0 && errno != EEXIST)
    return failure("make", shown, errno);
  UniqueFd fd(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd)
    return failure("open", shown, errno);
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0)
    return failure("open", shown, errno);
  if (status.st_uid != ::geteuid())
    return failure(("`" + shown + "` belongs to another user").str(),
                   "remove it, or let XDG_CACHE_HOME name a directory of yours");
  if ((status.st_mode & 022) != 0)
    return failure(("`" + shown + "` can be written by others").str(),
                   ("chmod 700 " + shown + ", after a look at what is in it").str());
  return fd;
}

/// Makes the directories of an absolute path; the user's own, so links may lead.
llvm::Error makePath(const std::string& path) {
  for (size_t at = 1; at != std::string::npos;) {
    at = path.find('/', at);
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST)
      return failure("make", part, errno);
    if (at != std::string::npos)
      ++at;
  }
  return llvm::Error::success();
}

} // namespace

UniqueFd openBeneath(int directory, const std::string& name, int flags) {
  open_how how{};
  // A FIFO in place of a file must not hold us up.
  flags |= O_CLOEXEC | O_NOFOLLOW | ((flags & O_PATH) != 0 ? 0 : O_NONBLOCK);
  how.flags = uint64_t(flags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const long opened = ::syscall(SYS_openat2, directory, name.c_str(), &how, sizeof how);
  if (opened >= 0 || errno != ENOSYS)
    return UniqueFd(int(opened));
  // An older kernel: component by component.
  UniqueFd at(::dup(directory));
  llvm::StringRef rest = name;
  while (true) {
    const auto [first, tail] = rest.split('/');
    if (first.empty() || first == "." || first == "..") {
      errno = EINVAL;
      return {};
    }
    const bool last = tail.empty();
    UniqueFd next(::openat(at.get(), first.str().c_str(),
                           last ? flags : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next || last)
      return next;
    at = std::move(next);
    rest = tail;
  }
}

llvm::Error replaceFile(int directory, const std::string& name, llvm::StringRef bytes,
                        unsigned mode) {
  const size_t slash = name.rfind('/');
  UniqueFd parent(
      slash == std::string::npos
          ? ::dup(directory)
          : openBeneath(directory, name.substr(0, slash), O_PATH | O_DIRECTORY).release());
  const std::string leaf = slash == std::string::npos ? name : name.substr(slash + 1);
  uint64_t random = 0;
  if (!parent || ::getrandom(&random, sizeof random, 0) != ssize_t(sizeof random))
    return sysError("open the directory of", name, errno);
  const std::string temporary = "." + leaf + "." + llvm::utohexstr(random, true);
  UniqueFd fd(::openat(parent.get(), temporary.c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!fd)
    return sysError("write", name, errno);
  int number = 0;
  for (llvm::StringRef rest = bytes; !rest.empty() && number == 0;) {
    const ssize_t wrote =
        retryInterrupted([&] { return ::write(fd.get(), rest.data(), rest.size()); });
    if (wrote < 0)
      number = errno;
    else
      rest = rest.substr(size_t(wrote));
  }
  if (number == 0 && ::renameat(parent.get(), temporary.c_str(), parent.get(), leaf.c_str()) != 0)
    number = errno;
  if (number == 0)
    return llvm::Error::success();
  ::unlinkat(parent.get(), temporary.c_str(), 0);
  return sysError("write", name, number);
}

std::string cacheRoot(llvm::ArrayRef<std::string> environment) {
  if (const char* named = sandbox::environmentValue(environment, "XDG_CACHE_HOME");
      named != nullptr && named[0] == '/')
    return named;
  const char* home = sandbox::environmentValue(environment, "HOME");
  return home != nullptr && home[0] == '/' ? std::string(home) + "/.cache" : std::string();
}

llvm::Expected<Cache> Cache::open(llvm::ArrayRef<std::string> environment,
                                  llvm::StringRef projectDirectory,
                                  llvm::ArrayRef<std::string> programDirectories) {
  const std::string written = cacheRoot(environment);
  if (written.empty())
    return failure("neither XDG_CACHE_HOME nor HOME is an absolute path",
                   "set XDG_CACHE_HOME to a directory of yours");
  // Asked before anything is made, since what is made must not lie in a source tree.
  bool missing = false;
  llvm::Expected<std::string> judged = sandbox::canonicalPath(written, missing);
  if (!judged)
    return failure(llvm::toString(judged.takeError()), "let XDG_CACHE_HOME name another directory");
  for (const std::string& directory : programDirectories)
    if (isAtOrBeneath(*judged, directory))
      return failure("`" + *judged + "` lies inside the project",
                     "let XDG_CACHE_HOME name a directory outside of it");
  if (llvm::Error error = makePath(written))
    return error;
  const std::string base = realPathOf(written);
  if (base.empty())
    return failure("open", written, errno);
  UniqueFd root(::open(base.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root)
    return failure("open", base, errno);

  Cache cache;
  llvm::Expected<UniqueFd> ours = openOwn(root.get(), "gossamer", base + "/gossamer");
  if (!ours)
    return ours.takeError();
  const std::string top = base + "/gossamer";
  llvm::Expected<UniqueFd> cargo = openOwn(ours->get(), "cargo", top + "/cargo");
  if (!cargo)
    return cargo.takeError();
  llvm::Expected<UniqueFd> all = openOwn(ours->get(), "bindings", top + "/bindings");
  if (!all)
    return all.takeError();
  const std::string key =
      llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(projectDirectory)), true)
          .substr(0, 24);
  llvm::Expected<UniqueFd> own = openOwn(all->get(), key, top + "/bindings/" + key);
  if (!own)
    return own.takeError();
  cache.cargoHome_ = top + "/cargo";
  cache.project_ = top + "/bindings/" + key;
  cache.cargoFd_ = std::move(*cargo);
  cache.fd_ = std::move(*own);
  return cache;
}

llvm::Error Cache::makeDirectory(const std::string& name) const {
  int at = fd_.get();
  UniqueFd held;
  std::string shown = project_;
  for (llvm::StringRef rest = name; !rest.empty();) {
    const auto [first, tail] = rest.split('/');
    shown += "/" + first.str();
    llvm::Expected<UniqueFd> next = openOwn(at, first.str(), shown);
    if (!next)
      return next.takeError();
    held = std::move(*next);
    at = held.get();
    rest = tail;
  }
  return llvm::Error::success();
}

static llvm::Error writeIn(int directory, llvm::StringRef shown, const std::string& name,
                           llvm::StringRef bytes, unsigned mode = 0600) {
  if (const UniqueFd fd = openBeneath(directory, name, O_RDONLY)) {
    const ReadBytes old = readAll(fd.get(), bytes.size() + 1);
    if (old.failure == Failure::None && old.bytes == bytes)
      return llvm::Error::success();
  }
  if (llvm::Error error = replaceFile(directory, name, bytes, mode)) {
    int number = EIO;
    llvm::handleAllErrors(
        std::move(error), [&](const SysError& system) { number = system.number(); },
        [](const llvm::ErrorInfoBase&) {});
    return failure("write", (shown + "/" + name).str(), number);
  }
  return llvm::Error::success();
}

llvm::Error Cache::write(const std::string& name, llvm::StringRef bytes) const {
  if (const size_t slash = name.rfind('/'); slash != std::string::npos)
    if (llvm::Error error = makeDirectory(name.substr(0, slash)))
      return error;
  return writeIn(fd_.get(), project_, name, bytes);
}

llvm::Error Cache::writeProgram(const std::string& name, llvm::StringRef bytes) const {
  return writeIn(fd_.get(), project_, name, bytes, 0700);
}

llvm::Error Cache::writeCargoConfig(llvm::StringRef bytes) const {
  for (const char* name : {"registry", "git"})
    if (llvm::Expected<UniqueFd> made = openOwn(cargoFd_.get(), name, cargoHome_ + "/" + name);
        !made)
      return made.takeError();
  // Cargo opens these; a build, to which all of it is read-only, could not make them.
  for (const char* name : {".package-cache", ".package-cache-mutate"})
    UniqueFd(::openat(cargoFd_.get(), name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  return writeIn(cargoFd_.get(), cargoHome_, "config.toml", bytes);
}

std::optional<std::string> Cache::read(const std::string& name, uint64_t cap) const {
  const UniqueFd fd = openBeneath(fd_.get(), name, O_RDONLY);
  struct stat status{};
  if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_uid != ::geteuid())
    return std::nullopt;
  ReadBytes bytes = readAll(fd.get(), cap);
  if (bytes.failure != Failure::None)
    return std::nullopt;
  return std::move(bytes.bytes);
}

void Cache::remove(const std::string& name) const {
  ::unlinkat(fd_.get(), name.c_str(), 0);
}

llvm::Error Cache::lock() {
  lock_ = UniqueFd(::openat(fd_.get(), "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock_ || retryInterrupted([&] { return ::flock(lock_.get(), LOCK_EX); }) != 0)
    return failure("lock", project_ + "/lock", errno);
  return llvm::Error::success();
}

} // namespace gos::bindings
