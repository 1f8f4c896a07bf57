#pragma once
// What bwr says when it does not run a command: one message, what to type next, and an object for
// programs.

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace gos::bwr {

struct Failure {
  int code = 126;
  llvm::StringRef kind = "policy"; // usage, policy, not-found, not-executable, unavailable
  std::string text;                // raw bytes of the outside may be in it
  std::string remedy;              // what to do or to type; may be empty
  std::string primitive;           // of unavailable
  std::string details;             // already fit for a terminal: the reports of a broken profile
};

/// Any error of ours as a failure.
Failure failureOf(llvm::Error error);

/// `bwr: ...`, and a line `try: ...`.
void print(llvm::raw_ostream& out, const Failure& failure);

/// A line about what is worth knowing: `bwr: note: ...`.
void printNote(llvm::raw_ostream& out, llvm::StringRef text);

} // namespace gos::bwr
