#include "sandbox/linux/proof_store.h"

#include "sandbox/linux/first_process_image.h"
#include "sandbox/linux/seccomp_filter.h"
#include "sandbox/sys_error.h"
#include "sandbox/unique_fd.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/xxhash.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace gos::sandbox {

namespace {

constexpr llvm::StringLiteral kHeader = "bwr proof 1\n";
/// Each program that proves has a line; the oldest are dropped.
constexpr size_t kMostLines = 64;
constexpr size_t kMostBytes = 8192;

std::string readAll(int fd, size_t limit) {
  std::string text(limit, '\0');
  size_t size = 0;
  while (size != limit) {
    const ssize_t got =
        retryInterrupted([&] { return ::read(fd, text.data() + size, limit - size); });
    if (got <= 0)
      break;
    size += size_t(got);
  }
  text.resize(size);
  return text;
}

/// The user's cache directory, absolute; empty if there is none.
std::string cacheDirectory() {
  if (const char* named = std::getenv("XDG_CACHE_HOME"); named != nullptr && named[0] == '/')
    return named;
  if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/')
    return std::string(home) + "/.cache";
  return {};
}

bool isOursAlone(int fd, mode_t kind) {
  struct stat status{};
  return ::fstat(fd, &status) == 0 && (status.st_mode & S_IFMT) == kind &&
         status.st_uid == ::geteuid() && (status.st_mode & 022) == 0 &&
         (kind == S_IFDIR || status.st_nlink == 1);
}

UniqueFd openBeneath(int directory, const char* name, uint64_t flags, uint64_t mode = 0) {
  open_how how{};
  how.flags = flags | O_CLOEXEC | O_NOFOLLOW;
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return UniqueFd(int(
      retryInterrupted([&] { return ::syscall(SYS_openat2, directory, name, &how, sizeof how); })));
}

/// The directory of ours in the cache. The way to the cache may lead over links; from there on
/// nothing is followed.
UniqueFd openDirectory(llvm::StringRef cache, bool make) {
  if (cache.empty())
    return UniqueFd();
  UniqueFd base(::open(cache.str().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat status{};
  if (!base && make && errno == ENOENT && ::mkdir(cache.str().c_str(), 0700) == 0)
    base = UniqueFd(::open(cache.str().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!base || ::fstat(base.get(), &status) != 0 || status.st_uid != ::geteuid())
    return UniqueFd(); // somebody else's home: nothing of ours is left there
  UniqueFd directory = openBeneath(base.get(), "bwr", O_RDONLY | O_DIRECTORY);
  if (!directory && make && errno == ENOENT && ::mkdirat(base.get(), "bwr", 0700) == 0)
    directory = openBeneath(base.get(), "bwr", O_RDONLY | O_DIRECTORY);
  if (!directory || !isOursAlone(directory.get(), S_IFDIR))
    return UniqueFd();
  return directory;
}

/// The lines of a file that can be trusted, without the header.
std::string readLines(int directory) {
  UniqueFd file = openBeneath(directory, "proof", O_RDONLY | O_NONBLOCK);
  if (!file || !isOursAlone(file.get(), S_IFREG))
    return {};
  const std::string text = readAll(file.get(), kMostBytes);
  llvm::StringRef lines = text;
  if (!lines.consume_front(kHeader) || !lines.ends_with("\n"))
    return {};
  return lines.str();
}

std::string lineOf(llvm::StringRef key, SandboxLevel level) {
  return llvm::formatv("{0} {1}", key, spelling(level)).str();
}

void add(llvm::SHA256& hash, llvm::StringRef part) {
  const uint64_t size = part.size();
  hash.update(llvm::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t*>(&size), sizeof size));
  hash.update(part);
}

/// What is compiled into this program, which may be a library that is exchanged under it. Quick: it
/// is asked at the first start of each process, and nobody profits from making two parts collide.
std::string embeddedHash() {
  std::string hashes = llvm::utohexstr(llvm::xxh3_64bits(firstProcessImage()));
  for (SandboxLevel level : {SandboxLevel::Standard, SandboxLevel::Strict})
    for (NetworkMode network : {NetworkMode::None, NetworkMode::Client, NetworkMode::Open}) {
      const llvm::ArrayRef<FilterInstruction> filter = filterProgram({level, network, false});
      hashes += " " + llvm::utohexstr(llvm::xxh3_64bits(
                          llvm::StringRef(reinterpret_cast<const char*>(filter.data()),
                                          filter.size() * sizeof(FilterInstruction))));
    }
  return hashes;
}

/// A filter around this process may refuse a call, or say that it was made: what was proven without
/// it, or within another one, says nothing here. Their number, "0" where there is none; empty where
/// that cannot be read.
std::string surroundingFilters() {
  if (::prctl(PR_GET_SECCOMP) == 0)
    return "0";
  UniqueFd status(::open("/proc/self/status", O_RDONLY | O_CLOEXEC));
  const std::string text = status ? readAll(status.get(), 65536) : std::string();
  const llvm::StringRef after = llvm::StringRef(text).split("\nSeccomp_filters:").second;
  return after.split('\n').first.trim().str();
}

} // namespace

std::string proofKey() {
  UniqueFd boot(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  utsname system{};
  struct stat program{}, user{}, processes{};
  if (!boot || ::uname(&system) != 0 || ::stat("/proc/self/exe", &program) != 0 ||
      ::stat("/proc/self/ns/user", &user) != 0 || ::stat("/proc/self/ns/pid", &processes) != 0)
    return {};
  const std::string bootId = readAll(boot.get(), 64);
  if (bootId.empty())
    return {};
  const std::string filters = surroundingFilters();
  if (filters.empty())
    return {};
  llvm::SHA256 hash;
  add(hash, "bwr self-proof 2");
  add(hash, filters);
  add(hash, bootId);
  add(hash, system.release);
  add(hash, system.version);
  add(hash, embeddedHash());
  add(hash, llvm::formatv("{0} {1} {2} {3} {4}", program.st_dev, program.st_ino, program.st_size,
                          program.st_mtim.tv_sec, program.st_mtim.tv_nsec)
                .str());
  add(hash,
      llvm::formatv("{0} {1} {2} {3}", ::geteuid(), ::getegid(), user.st_ino, processes.st_ino)
          .str());
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

std::optional<ProvenLevel> storedProofIn(llvm::StringRef cache, llvm::StringRef key,
                                         SandboxLevel level) {
  if (key.empty())
    return std::nullopt;
  UniqueFd directory = openDirectory(cache, /*make=*/false);
  if (!directory)
    return std::nullopt;
  const std::string text = readLines(directory.get());
  const std::string wanted = lineOf(key, level);
  for (llvm::StringRef line : llvm::split(text, '\n')) {
    if (!line.consume_front(wanted))
      continue;
    if (line == " pid")
      return ProvenLevel{true};
    if (line == " nopid" && level == SandboxLevel::Standard)
      return ProvenLevel{false};
  }
  return std::nullopt;
}

bool storeProofIn(llvm::StringRef cache, llvm::StringRef key, SandboxLevel level,
                  ProvenLevel proven) {
  if (key.empty())
    return false;
  UniqueFd directory = openDirectory(cache, /*make=*/true);
  if (!directory)
    return false;
  const std::string mine = lineOf(key, level);
  std::string text = (kHeader + mine + (proven.pidNamespace ? " pid\n" : " nopid\n")).str();
  size_t lines = 1;
  const std::string before = readLines(directory.get());
  for (llvm::StringRef line : llvm::split(before, '\n')) {
    if (line.empty() || line.starts_with(mine) || lines == kMostLines ||
        text.size() + line.size() + 1 > kMostBytes)
      continue;
    text += (line + "\n").str();
    ++lines;
  }
  // A new file takes the place of the old one at once; two that do so lose one line, which is
  // proven again.
  uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != ssize_t(sizeof random))
    return false;
  const std::string name = ".proof-" + llvm::utohexstr(random);
  UniqueFd file = openBeneath(directory.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (!file)
    return false;
  const bool wrote = retryInterrupted([&] {
                       return ::write(file.get(), text.data(), text.size());
                     }) == ssize_t(text.size());
  if (wrote && ::renameat(directory.get(), name.c_str(), directory.get(), "proof") == 0)
    return true;
  ::unlinkat(directory.get(), name.c_str(), 0);
  return false;
}

std::optional<ProvenLevel> storedProof(llvm::StringRef key, SandboxLevel level) {
  return storedProofIn(cacheDirectory(), key, level);
}
void storeProof(llvm::StringRef key, SandboxLevel level, ProvenLevel proven) {
  (void)storeProofIn(cacheDirectory(), key, level, proven);
}

} // namespace gos::sandbox
