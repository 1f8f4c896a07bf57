// bwr: runs a command with restrictions.

#include "sandbox/bwr/program.h"

#include "llvm/ADT/SmallVector.h"

int main(int argc, char** argv) {
  llvm::SmallVector<llvm::StringRef> arguments;
  for (int index = 1; index < argc; ++index)
    arguments.push_back(argv[index]);
  return gos::bwr::runProgram(arguments);
}
