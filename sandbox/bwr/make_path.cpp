#include "sandbox/bwr/make_path.h"

#include "sandbox/sys_error.h"
#include "sandbox/unique_fd.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gos::bwr {

llvm::Error makePath(const std::string& canonical, bool directory, unsigned mode) {
  llvm::SmallVector<llvm::StringRef> components;
  llvm::StringRef(canonical).split(components, '/', -1, /*KeepEmpty=*/false);
  UniqueFd at(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (size_t index = 0; index != components.size(); ++index) {
    const std::string name = components[index].str();
    if (index + 1 == components.size() && !directory) {
      const UniqueFd file(::openat(at.get(), name.c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                   mode & 0666));
      if (!file && errno != EEXIST)
        return sysError("make", canonical, errno);
      return llvm::Error::success();
    }
    UniqueFd next(::openat(at.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next && errno == ENOENT) {
      if (::mkdirat(at.get(), name.c_str(), mode) != 0 && errno != EEXIST)
        return sysError("make", canonical, errno);
      next =
          UniqueFd(::openat(at.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    }
    if (!next)
      return sysError("make", canonical, errno);
    at = std::move(next);
  }
  return llvm::Error::success();
}

void removeIfEmpty(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0)
    ::unlink(path.c_str());
}

} // namespace gos::bwr
