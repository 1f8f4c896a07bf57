#pragma once
// What the commands share: where they print, and the exit codes.

#include "compiler/driver/options.h"
#include "diagnostics/render.h"

#include "llvm/Support/raw_ostream.h"

namespace gos::driver {

inline constexpr int kExitClean = 0;
inline constexpr int kExitDiagnostics = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitPanic = 101;

/// Colour of what goes to `fd`: as asked, or on when it is a terminal (and NO_COLOR is not set).
Colour colourFor(ColourWhen when, int fd);

/// Is it a terminal on which a line can be drawn over?
bool drawsOver(int fd);

/// Renders everything an engine holds to standard error.
void printDiagnostics(Engine& engine, const Options& options);

/// "no space left on device": an errno in the words of our messages.
std::string systemWords(int number);

/// Instead of any command with --sandbox-explain.
int runSandboxExplain(const Options& options);
int runCheck(const Options& options);
int runRun(const Options& options);
int runBuild(const Options& options);
int runTest(const Options& options);
int runDoc(const Options& options);
int runRepl(const Options& options);
int runNew(const Options& options);
int runFmt(const Options& options);
int runClean(const Options& options);
int runCompletions(const Options& options);
int runExplain(const Options& options);
int runParse(const Options& options);
int runDisassemble(const Options& options);

} // namespace gos::driver
