#include "sandbox/policy/comptime_io.h"

namespace gos {

namespace {
constexpr llvm::StringRef kSpellings[] = {"none", "confined", "full"};
} // namespace

llvm::StringRef spelling(ComptimeIo level) {
  return kSpellings[size_t(level)];
}

std::optional<ComptimeIo> comptimeIoFromSpelling(llvm::StringRef text) {
  for (size_t index = 0; index != std::size(kSpellings); ++index)
    if (kSpellings[index] == text)
      return ComptimeIo(index);
  return std::nullopt;
}

llvm::ArrayRef<llvm::StringRef> comptimeIoSpellings() {
  return kSpellings;
}

} // namespace gos
