#include "compiler/driver/command.h"

#include <cstdlib>
#include <unistd.h>

namespace gos::driver {

Colour colourFor(ColourWhen when, int fd) {
  switch (when) {
  case ColourWhen::Always: return Colour::On;
  case ColourWhen::Never: return Colour::Off;
  case ColourWhen::Auto: break;
  }
  const char* refused = std::getenv("NO_COLOR");
  if (refused && *refused)
    return Colour::Off;
  const char* terminal = std::getenv("TERM");
  if (terminal && llvm::StringRef(terminal) == "dumb")
    return Colour::Off;
  return isatty(fd) ? Colour::On : Colour::Off;
}

void printDiagnostics(Engine& engine, const Options& options) {
  engine.sort();
  llvm::raw_fd_ostream out(STDERR_FILENO, /*shouldClose=*/false, /*unbuffered=*/false);
  renderAll(out, engine, options.messageFormat, colourFor(options.colour, STDERR_FILENO));
}

} // namespace gos::driver
