// gos-runtime: what every built program begins with. It finds the program behind its own bytes,
// checks that it is whole, and runs it. Without one, or with one that was damaged, it runs nothing.

#include "diagnostics/escape.h"
#include "sandbox/sys_error.h"
#include "sandbox/unique_fd.h"
#include "stdlib/foreign.h"
#include "stdlib/program/out_of_memory.h"
#include "stdlib/program/payload.h"
#include "stdlib/program/program.h"
#include "stdlib/program/source_lines.h"

#include "llvm/Support/raw_ostream.h"

#include <fcntl.h>
#include <linux/memfd.h>
#include <malloc.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

namespace gos::program {
namespace {

/// 0, 1 and 2 are always open, so that no file of the program ever gets their number.
void fillStandardDescriptors() {
  for (int fd = 0; fd < 3; ++fd)
    if (::fcntl(fd, F_GETFD) == -1)
      (void)::open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
}

/// The heap of a program grows in large steps, as under `gos run`.
void tuneAllocator() {
#ifndef GOS_SANITIZED
  ::mallopt(M_TOP_PAD, 32 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
  ::mallopt(M_MMAP_THRESHOLD, 256 << 20);
#endif
}

/// The file that is being executed: by the kernel's own link where there is a /proc, whatever the
/// file is called by now; else by the name it was started with.
UniqueFd openSelf() {
  UniqueFd self(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  if (self)
    return self;
  const auto* name = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  return UniqueFd(name ? ::open(name, O_RDONLY | O_CLOEXEC) : -1);
}

/// The library of the bindings as a file that nobody can change any more.
llvm::Expected<UniqueFd> sealedFile(llvm::StringRef bytes) {
  UniqueFd file(::memfd_create("bindings", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file)
    return sysError("memfd_create", "", errno);
  while (!bytes.empty()) {
    const ssize_t wrote =
        retryInterrupted([&] { return ::write(file.get(), bytes.data(), bytes.size()); });
    if (wrote <= 0)
      return sysError("write", "", errno);
    bytes = bytes.drop_front(size_t(wrote));
  }
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) !=
      0)
    return sysError("fcntl", "", errno);
  return file;
}

int refuse(llvm::StringRef speaker, const llvm::Twine& why) {
  llvm::errs() << escapeForText(speaker) << ": error: " << why << '\n';
  return kExitFailed;
}

int runSelf(int argc, char** argv) {
  const std::string speaker = argc > 0 ? argv[0] : "gos-runtime";
  const auto damaged = [&](llvm::Error error) {
    return refuse(speaker, "this program is damaged: " + llvm::toString(std::move(error)) +
                               "; build it again");
  };
  UniqueFd self = openSelf();
  if (!self)
    return refuse(speaker, "the file of this program cannot be read: " + errnoText(errno));
  llvm::Expected<LoadedPayload> loaded = readPayload(self.get());
  if (!loaded)
    return damaged(loaded.takeError());
  self.reset();
  const Payload& payload = loaded->payload;
  llvm::Expected<vm::Module> module = vm::deserialise(payload.module);
  if (!module)
    return damaged(module.takeError());
  std::unique_ptr<stdlib::ForeignLibrary> library; // outlives the run
  ProgramOptions options;
  options.name = speaker;
  options.speaker = speaker;
  options.arguments.assign(argv + (argc > 0 ? 1 : 0), argv + argc);
  // Read only when a trace is printed.
  options.placeOf = [&payload, lines = std::optional<SourceLines>()](Span span) mutable {
    if (!lines) {
      llvm::Expected<SourceLines> parsed = SourceLines::parse(payload.lines);
      if (!parsed)
        llvm::consumeError(parsed.takeError());
      lines = parsed ? std::move(*parsed) : SourceLines();
    }
    return lines->placeOf(span);
  };
  if (!payload.library.empty()) {
    llvm::Expected<UniqueFd> image = sealedFile(payload.library);
    if (!image)
      return refuse(speaker, llvm::toString(image.takeError()));
    // Loaded when the first of its functions is called.
    library = stdlib::ForeignLibrary::create(image->get());
    options.foreign = library.get();
  }
  return runProgram(*module, std::move(options));
}

} // namespace
} // namespace gos::program

int main(int argc, char** argv) {
  gos::program::fillStandardDescriptors();
  gos::program::tuneAllocator();
  gos::program::reportOutOfMemory(argc > 0 ? argv[0] : "gos-runtime", gos::program::kExitFailed);
  const int code = gos::program::runSelf(argc, argv);
  // Where standard error takes nothing there is nobody left to tell.
  llvm::errs().clear_error();
  return code;
}
