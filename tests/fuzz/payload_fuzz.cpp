// What stands behind a runtime: the trailer, the table of places, and the way from a sealed payload
// to a module that is verified. Whatever the bytes are, the answer is a payload or an error.

#include "stdlib/builtins.h"
#include "stdlib/program/payload.h"
#include "stdlib/program/source_lines.h"
#include "vm/verifier.h"

using namespace gos;
using namespace gos::program;

namespace {

void readModule(llvm::StringRef bytes) {
  llvm::Expected<vm::Module> module = vm::deserialise(bytes);
  if (!module)
    return llvm::consumeError(module.takeError());
  llvm::consumeError(vm::verify(*module, stdlib::nativeTable()));
}

void readLines(llvm::StringRef bytes) {
  llvm::Expected<SourceLines> lines = SourceLines::parse(bytes);
  if (!lines)
    return llvm::consumeError(lines.takeError());
  for (uint32_t at : {0u, 1u, 1000u, 0xfffffffeu})
    (void)lines->placeOf({at, at + 1});
}

void readFile(llvm::StringRef file) {
  llvm::Expected<Payload> payload = parsePayload(file);
  if (!payload)
    return llvm::consumeError(payload.takeError());
  readModule(payload->module);
  readLines(payload->lines);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const llvm::StringRef bytes(reinterpret_cast<const char*>(data), size);
  readFile(bytes);
  readLines(bytes);
  // Past the checksum: the same bytes, sealed as each of the sections.
  const size_t middle = size / 2;
  const std::string sealed =
      sealPayload({bytes.take_front(middle), bytes.drop_front(middle), "fuzz", bytes});
  llvm::Expected<Payload> payload = parsePayload(sealed);
  if (!payload || payload->library != bytes)
    __builtin_trap();
  readModule(payload->module);
  readLines(payload->lines);
  return 0;
}
