// gos: one command line in, one exit code out.

#include "compiler/driver/command.h"
#include "compiler/driver/rows.h"
#include "compiler/testing/worker.h"
#include "stdlib/program/out_of_memory.h"

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

/// A compilation allocates and hardly frees: growing in large steps, without a mapping for each big
/// table, halves the time of checking a million lines.
void tuneAllocator() {
#ifndef GOS_SANITIZED
  mallopt(M_TOP_PAD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, 256 << 20);
#endif
}

} // namespace

static int dispatch(int argc, char** argv);

/// What a stream could not write (a full disk) is an error of the command and told on the other
/// one. A reader that went away ends the command without a word.
static int reportUnwritten(int code) {
  using namespace gos::driver;
  llvm::raw_fd_ostream* const streams[] = {&llvm::outs(), &llvm::errs()};
  const llvm::StringRef names[] = {"output", "error"};
  std::error_code errors[2];
  for (int i = 0; i < 2; ++i) {
    streams[i]->flush();
    errors[i] = streams[i]->error();
    streams[i]->clear_error();
  }
  for (int i = 0; i < 2; ++i) {
    if (!errors[i])
      continue;
    code = code == kExitClean ? kExitDiagnostics : code;
    if (errors[i] != std::errc::broken_pipe)
      *streams[1 - i] << "gos: error: cannot write to standard " << names[i] << ": "
                      << systemWords(errors[i].value()) << '\n';
  }
  for (llvm::raw_fd_ostream* stream : streams) {
    stream->flush();
    stream->clear_error(); // its destructor would abort; there is nobody left to tell
  }
  return code;
}

int main(int argc, char** argv) {
  fillStandardDescriptors();
  gos::program::reportOutOfMemory("gos", gos::driver::kExitDiagnostics);
  if (argc > 1 && argv[1] == gos::testing::kWorkerArgument)
    return reportUnwritten(gos::testing::runWorker(argc, argv));
  tuneAllocator();
  return reportUnwritten(dispatch(argc, argv));
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
  if (options.sandbox.explain)
    return runSandboxExplain(options);
  switch (options.command) {
  case CommandId::Check:
    return runCheck(options);
  case CommandId::Run:
    return runRun(options);
  case CommandId::Build:
    return runBuild(options);
  case CommandId::Test:
    return runTest(options);
  case CommandId::Doc:
    return runDoc(options);
  case CommandId::Repl:
    return runRepl(options);
  case CommandId::New:
    return runNew(options);
  case CommandId::Fmt:
    return runFmt(options);
  case CommandId::Clean:
    return runClean(options);
  case CommandId::Completions:
    return runCompletions(options);
  case CommandId::Explain:
    return runExplain(options);
  case CommandId::Parse:
    return runParse(options);
  case CommandId::Disassemble:
    return runDisassemble(options);
  case CommandId::Help:
    break;
  }
  if (options.operands.empty()) {
    options.wantsManual ? printManualPage(llvm::outs(), std::nullopt)
                        : printHelp(llvm::outs(), std::nullopt);
    return kExitClean;
  }
  auto about = commandFromSpelling(options.operands.front());
  if (!about) {
    llvm::errs() << "gos: error: no command " << quoted(options.operands.front()) << "\n  "
                 << hintForCommand(options.operands.front()) << '\n';
    return kExitUsage;
  }
  options.wantsManual ? printManualPage(llvm::outs(), about) : printHelp(llvm::outs(), about);
  return kExitClean;
}
