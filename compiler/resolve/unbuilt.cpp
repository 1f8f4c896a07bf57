#include "compiler/resolve/unbuilt.h"

#include <utility>

namespace gos::resolve {
namespace {

using Row = std::pair<llvm::StringRef, llvm::StringRef>;

constexpr Row kNames[] = {
#define GOS_UNBUILT_NAME(spelling, feature) {spelling, feature},
#include "compiler/resolve/unbuilt.def"
};
constexpr Row kModules[] = {
#define GOS_UNBUILT_MODULE(path, feature) {path, feature},
#include "compiler/resolve/unbuilt.def"
};

llvm::StringRef find(const Row* begin, const Row* end, llvm::StringRef key) {
  for (const Row* row = begin; row != end; ++row)
    if (row->first == key)
      return row->second;
  return {};
}

} // namespace

llvm::StringRef unbuiltName(llvm::StringRef name) {
  return find(std::begin(kNames), std::end(kNames), name);
}
llvm::StringRef unbuiltModule(llvm::StringRef path) {
  return find(std::begin(kModules), std::end(kModules), path);
}

} // namespace gos::resolve
