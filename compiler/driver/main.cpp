// gos: one command line in, one exit code out.

#include "compiler/driver/command.h"

#include "llvm/ADT/SmallVector.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

namespace {

/// 0, 1 and 2 are always open, so that no file of ours ever gets their number.
void fillStandardDescriptors() {
  for (int fd = 0; fd < 3; ++fd)
    if (fcntl(fd, F_GETFD) == -1)
      (void)open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
}

/// A compilation allocates and hardly frees: growing in large steps, without a mapping for each big table,
/// halves the time of checking a million lines.
void tuneAllocator() {
#ifndef GOS_SANITIZED
  mallopt(M_TOP_PAD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, 256 << 20);
#endif
}

} // namespace

static int dispatch(int argc, char** argv);

int main(int argc, char** argv) {
  using namespace gos::driver;
  fillStandardDescriptors();
  tuneAllocator();
  int code = dispatch(argc, argv);
  // What could not be written (a full disk, a closed pipe) is an error of the command, not a crash.
  llvm::outs().flush();
  if (llvm::outs().has_error()) {
    llvm::errs() << "gos: error: cannot write to standard output: " << llvm::outs().error().message() << '\n';
    llvm::outs().clear_error();
    code = code == kExitClean ? kExitDiagnostics : code;
  }
  llvm::errs().clear_error();
  return code;
}

static int dispatch(int argc, char** argv) {
  using namespace gos::driver;
  llvm::SmallVector<llvm::StringRef> arguments;
  for (int i = 1; i < argc; ++i)
    arguments.push_back(argv[i]);
  ParsedCommandLine line = parseCommandLine(arguments);
  if (line.version) {
    llvm::outs() << "gos " GOS_VERSION "\n";
    return kExitClean;
  }
  if (!line.options) {
    llvm::errs() << "gos: error: " << line.error << '\n';
    if (!line.hint.empty())
      llvm::errs() << "  " << line.hint << '\n';
    return kExitUsage;
  }
  const Options& options = *line.options;
  if (options.wantsHelp) {
    printHelp(llvm::outs(), options.command);
    return kExitClean;
  }
  switch (options.command) {
  case CommandId::Check: return runCheck(options);
  case CommandId::Run: return runRun(options);
  case CommandId::Explain: return runExplain(options);
  case CommandId::Parse: return runParse(options);
  case CommandId::Disassemble: return runDisassemble(options);
  case CommandId::Help: break;
  }
  if (options.operands.empty()) {
    printHelp(llvm::outs(), std::nullopt);
    return kExitClean;
  }
  auto about = commandFromSpelling(options.operands.front());
  if (!about) {
    llvm::errs() << "gos: error: no command of that name; run `gos --help` for the list\n";
    return kExitUsage;
  }
  printHelp(llvm::outs(), about);
  return kExitClean;
}
