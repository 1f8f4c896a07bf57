// bwr: runs a command with restrictions.

#include "sandbox/bwr/program.h"

#include "llvm/ADT/SmallVector.h"

#include <csignal>
#include <malloc.h>
#include <new>
#include <unistd.h>

namespace {
void onLimit(int) {}

/// Under a limit of the address space or of data: an end that is told, and not taken for one of the
/// command.
[[noreturn]] void onNoMemory() {
  static constexpr char kText[] =
      "bwr: no memory is left to start a run\ntry: ulimit -d unlimited -v unlimited\n";
  (void)!::write(2, kText, sizeof kText - 1);
  ::_exit(126);
}
} // namespace

int main(int argc, char** argv) {
  // A limit of the size of files is an error that is told, not a death. A handler and not "ignore",
  // which the command would inherit.
  if (struct sigaction before{};
      ::sigaction(SIGXFSZ, nullptr, &before) == 0 && before.sa_handler == SIG_DFL)
    ::signal(SIGXFSZ, onLimit);
  std::set_new_handler(onNoMemory);
  // One growth of the heap and none back: a start is a few hundred kilobytes, and a millisecond.
  ::mallopt(M_TOP_PAD, 1 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 64 << 20);
  llvm::SmallVector<llvm::StringRef> arguments;
  for (int index = 1; index < argc; ++index)
    arguments.push_back(argv[index]);
  return gos::bwr::runProgram(arguments);
}
