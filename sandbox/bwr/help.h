#pragma once
// The texts made from options.def: help, manual page, completions.

#include "sandbox/bwr/options.h"

#include "llvm/Support/raw_ostream.h"

namespace gos::bwr {

/// An example of the help and of the manual page.
struct Example {
  llvm::StringRef command;
  llvm::StringRef meaning;
};
llvm::ArrayRef<Example> examples();
/// An exit code of bwr itself, and when.
struct ExitCode {
  llvm::StringRef code;
  llvm::StringRef meaning;
};
llvm::ArrayRef<ExitCode> exitCodes();

void printHelp(llvm::raw_ostream& out);
/// In troff, for `man -l`.
void printManPage(llvm::raw_ostream& out);
void printCompletions(llvm::raw_ostream& out, Shell shell);

/// `--ro PATH`, `--json[=FILE]`.
std::string usageOf(const OptionRow& row);

} // namespace gos::bwr
