#include "sandbox/linux/first_process_image.h"

#include "sandbox/sys_error.h"

#include <fcntl.h>
#include <linux/memfd.h>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        ".globl gosFirstProcessImage\n"
        "gosFirstProcessImage:\n"
        ".incbin \"" GOS_FIRST_PROCESS "\"\n"
        ".globl gosFirstProcessImageEnd\n"
        "gosFirstProcessImageEnd:\n"
        ".byte 0\n"
        ".popsection\n");
extern "C" {
extern const char gosFirstProcessImage[];
extern const char gosFirstProcessImageEnd[];
}

namespace gos::sandbox {

llvm::StringRef firstProcessImage() {
  return {gosFirstProcessImage, size_t(gosFirstProcessImageEnd - gosFirstProcessImage)};
}

namespace {
constexpr unsigned kMemfdExecutable = 0x0010; // MFD_EXEC, Linux 6.3

llvm::Expected<UniqueFd> makeFile() {
  // Older kernels refuse the flag and do not need it.
  int fd = ::memfd_create("bwr-first", MFD_CLOEXEC | MFD_ALLOW_SEALING | kMemfdExecutable);
  if (fd < 0 && errno == EINVAL)
    fd = ::memfd_create("bwr-first", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0)
    return sysError("memfd_create", "", errno);
  UniqueFd file(::fcntl(fd, F_DUPFD_CLOEXEC, 64)); // clear of the numbers a start assigns
  ::close(fd);
  if (!file)
    return sysError("fcntl", "", errno);
  llvm::StringRef rest = firstProcessImage();
  while (!rest.empty()) {
    const ssize_t wrote =
        retryInterrupted([&] { return ::write(file.get(), rest.data(), rest.size()); });
    if (wrote <= 0)
      return sysError("write", "", errno);
    rest = rest.drop_front(size_t(wrote));
  }
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) !=
      0)
    return sysError("fcntl", "", errno);
  return file;
}
} // namespace

llvm::Expected<int> firstProcessFile() {
  // One for the life of the process, never closed: starts in other threads may be using it.
  static std::mutex mutex;
  static int kept = -1;
  const std::lock_guard<std::mutex> lock(mutex);
  if (kept < 0) {
    llvm::Expected<UniqueFd> file = makeFile();
    if (!file)
      return file.takeError();
    kept = file->release();
  }
  return kept;
}

} // namespace gos::sandbox
