#pragma once
// From source text to what a program prints, with the real library, through the real verifier.

#include "vm/module.h"

#include <string>

namespace gos::lower::test {

struct Outcome {
  std::string output;
  std::string panic;       // message of the trap; empty if it ended well
  std::string diagnostics; // codes and messages, one a line; then nothing was run
  std::string refused;     // what the verifier said
};

/// The module of a program that is one file, not verified yet; it must be well formed.
vm::Module compiled(llvm::StringRef source);
/// Parses, checks, lowers, verifies and runs a program that is one file.
Outcome run(llvm::StringRef source);
/// The output; what went wrong instead, if something did.
std::string output(llvm::StringRef source);
/// The code of one function, as the disassembler shows it: opcodes and operands, no line numbers.
std::string codeOf(llvm::StringRef source, llvm::StringRef function);

/// The package of a function: 0 is the library, 1 the program; -1 if there is no such function.
int packageOf(llvm::StringRef source, llvm::StringRef function);

} // namespace gos::lower::test
