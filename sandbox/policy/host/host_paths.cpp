#include "sandbox/policy/host/host_paths.h"

#include "sandbox/policy/presets.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gos {

namespace {
void addHome(std::vector<std::string>& homes, llvm::StringRef path) {
  if (!path.starts_with("/") || path.contains('\0'))
    return;
  const std::string spelled = absoluteSpelling(path);
  for (const std::string& form : {spelled, realPathOf(path.str())})
    if (isCanonicalPath(form) && form != "/" && !llvm::is_contained(homes, form))
      homes.push_back(form);
}

/// /etc/passwd as it is: asking the name service could start daemons and take seconds.
void addPasswordHomes(HomeDirectories& homes) {
  auto text = llvm::MemoryBuffer::getFile("/etc/passwd", /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  if (!text)
    return;
  const unsigned self = ::getuid();
  for (llvm::StringRef line : llvm::split((*text)->getBuffer(), '\n')) {
    llvm::SmallVector<llvm::StringRef, 8> fields;
    line.split(fields, ':');
    unsigned id = 0;
    if (fields.size() < 6 || fields[2].getAsInteger(10, id))
      continue;
    if (id == self)
      addHome(homes.own, fields[5]);
    // Service accounts have homes such as /bin and /var/www, where honest trees lie.
    if (id == self || id == 0 || (id >= 1000 && id < 60000))
      addHome(homes.everyone, fields[5]);
  }
}
} // namespace

namespace {
/// A canonical path without links is real as it is, or fails as `realpath` would: one call where
/// that makes one for each directory. Nothing: `realpath` has to be asked.
std::optional<int> errorWithoutLinks(const std::string& path) {
#ifdef SYS_openat2
  if (!isCanonicalPath(path))
    return std::nullopt;
  struct {
    uint64_t flags = O_PATH | O_CLOEXEC, mode = 0, resolve = 0x04; // RESOLVE_NO_SYMLINKS
  } how;
  const int fd = int(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how));
  if (fd < 0)
    return errno == ENOENT || errno == ENOTDIR ? std::optional(errno) : std::nullopt;
  ::close(fd);
  return 0;
#else
  return std::nullopt;
#endif
}
} // namespace

std::string realPathOf(const std::string& path) {
  if (const std::optional<int> error = errorWithoutLinks(path)) {
    errno = *error;
    return *error == 0 ? path : std::string();
  }
  char* real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr)
    return {};
  std::string result = real;
  ::free(real);
  return result;
}

std::string absoluteSpelling(llvm::StringRef path) {
  std::string absolute = path.str();
  if (!path.starts_with("/")) {
    char* cwd = ::getcwd(nullptr, 0);
    if (cwd == nullptr)
      return {};
    absolute = std::string(cwd) + "/" + absolute;
    ::free(cwd);
  }
  std::string tidy;
  for (llvm::StringRef component : llvm::split(llvm::StringRef(absolute), '/')) {
    if (component == "..")
      return {};
    if (!component.empty() && component != ".")
      tidy += "/" + component.str();
  }
  return tidy.empty() ? "/" : tidy;
}

bool isSharedTemp(const std::string& directory) {
  struct stat status{};
  if (::stat(directory.c_str(), &status) != 0)
    return false;
  return (status.st_mode & S_ISVTX) != 0 && (status.st_mode & S_IWOTH) != 0;
}

HomeDirectories homeDirectories() {
  HomeDirectories homes;
  if (const char* home = ::getenv("HOME")) {
    addHome(homes.own, home);
    homes.everyone = homes.own;
  }
  addPasswordHomes(homes);
  return homes;
}

std::vector<std::string> ownHomes() {
  return homeDirectories().own;
}

std::vector<std::string> allHomes() {
  return homeDirectories().everyone;
}

std::vector<std::string> hostDenials(llvm::ArrayRef<std::string> homes) {
  std::vector<std::string> denials = shippedDenials(homes);
  for (const Relocation& row : relocations()) {
    const char* value = ::getenv(row.variable.str().c_str());
    if (value == nullptr)
      continue;
    // KUBECONFIG is a list; a path with a colon in it is denied in pieces, which hurts nobody.
    for (llvm::StringRef piece : llvm::split(llvm::StringRef(value), ':')) {
      if (!piece.starts_with("/"))
        continue;
      std::string path = absoluteSpelling(piece);
      if (!row.suffix.empty() && path != "/")
        path += "/" + row.suffix.str();
      if (isCanonicalPath(path) && path != "/")
        denials.push_back(std::move(path));
    }
  }
  // Paths are judged after links are resolved, so a link to where a dotfile manager keeps them
  // counts under both names.
  for (size_t index = 0, count = denials.size(); index != count; ++index) {
    std::string real = realPathOf(denials[index]);
    if (!real.empty() && real != "/" && real != denials[index])
      denials.push_back(std::move(real));
  }
  llvm::sort(denials);
  denials.erase(std::unique(denials.begin(), denials.end()), denials.end());
  return denials;
}

} // namespace gos
