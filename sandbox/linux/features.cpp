#include "sandbox/linux/features.h"

#include <cerrno>
#include <sys/syscall.h>
#include <unistd.h>

namespace gos::sandbox {

int landlockAbi(int* error) {
  const long abi = ::syscall(444 /* landlock_create_ruleset */, nullptr, 0,
                             1 /* LANDLOCK_CREATE_RULESET_VERSION */);
  if (abi >= 0)
    return int(abi);
  if (error != nullptr)
    *error = errno;
  return 0;
}

} // namespace gos::sandbox
namespace gos::sandbox {
std::string primitiveFix(llvm::StringRef, int) {
  return "";
}
} // namespace gos::sandbox
