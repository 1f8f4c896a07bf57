// The reader of signatures meets any bytes, as a library and as the section alone: signatures or an
// error with words, never a crash.

#include "compiler/bindings/signatures.h"

#include <cstdlib>

using namespace gos::bindings;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const llvm::StringRef bytes(reinterpret_cast<const char*>(data), size);
  for (const bool isImage : {false, true}) {
    auto signatures = isImage ? readSignatures(bytes) : parseRecords(bytes);
    if (signatures) {
      for (const ModuleSignature& module : signatures->modules)
        if (llvm::StringRef(module.path).starts_with("std::") || module.path == "std")
          abort(); // a module of the language's own library
    } else if (llvm::toString(signatures.takeError()).empty()) {
      abort(); // refused without a word
    }
  }
  return 0;
}
