// The manifest reader meets any bytes: a value or reports, never a crash.

#include "manifest/manifest.h"

#include <cstdlib>

using namespace gos;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  SourceMap sources;
  Engine engine(sources);
  const FileId id = llvm::cantFail(
      sources.addCopy("project.toml", llvm::StringRef(reinterpret_cast<const char*>(data), size)));
  const auto manifest = readManifest(id, engine);
  if (!manifest && !engine.hasErrors())
    abort(); // refused without a word
  return 0;
}
