#include "compiler/bindings/crate_sources.h"

namespace gos::bindings {

namespace {
constexpr CrateFile kFiles[] = {
// sizeof, not a search for a zero byte: a file is bytes.
#define GOS_CRATE_FILE(path, bytes) {path, llvm::StringRef(bytes, sizeof(bytes) - 1)},
#include "bindings/crate_files.inc"
#undef GOS_CRATE_FILE
};
} // namespace

llvm::ArrayRef<CrateFile> crateSources() {
  return kFiles;
}

llvm::StringRef crateVersion() {
  for (const CrateFile& file : crateSources())
    if (file.path == "gossamer-binding/Cargo.toml")
      return file.content.split("\nversion = \"").second.split('"').first;
  return "";
}

} // namespace gos::bindings
