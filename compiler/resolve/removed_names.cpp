#include "compiler/resolve/removed_names.h"

namespace gos::resolve {

llvm::StringRef nameNow(llvm::StringRef removed) {
#define GOS_REMOVED_NAME(old, now)                                                                 \
  if (removed == old)                                                                              \
    return now;
#include "compiler/resolve/removed_names.def"
  return {};
}

} // namespace gos::resolve
