#pragma once
// A verified module run as a program: what `gos run` and every built executable do with one, so
// that both print, answer and end alike.

#include "vm/foreign.h"
#include "vm/module.h"

#include "llvm/ADT/StringRef.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gos::program {

inline constexpr int kExitClean = 0;
inline constexpr int kExitFailed = 1; // `main` answered Err, or there was nothing to run
inline constexpr int kExitPanic = 101;

/// Where a call of a stack trace was written.
struct Place {
  std::string file;
  uint32_t line = 1;
  uint32_t column = 1;
};

struct ProgramOptions {
  std::string name;                   // what the program learns as its own name
  std::vector<std::string> arguments; // without the name
  std::string speaker = "gos";        // who says that a module cannot be run
  /// Asked for a stack trace only; none for code that has no place.
  std::function<std::optional<Place>(Span)> placeOf;
  /// The library of Rust bindings, which outlives the run; null for a program without any.
  vm::ForeignLinker* foreign = nullptr;
};

/// Runs `module.entry` to its end: hooks, output, the report of a panic or of an Err that `main`
/// answered. The answer is the exit code.
int runProgram(const vm::Module& module, ProgramOptions options);

} // namespace gos::program
