#include "compiler/driver/command.h"

#include "llvm/ADT/StringExtras.h"

#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace gos::driver {

namespace {
constexpr size_t kReportBuffer = 64 << 10;
}

Colour colourFor(ColourWhen when, int fd) {
  switch (when) {
  case ColourWhen::Always:
    return Colour::On;
  case ColourWhen::Never:
    return Colour::Off;
  case ColourWhen::Auto:
    break;
  }
  const char* refused = std::getenv("NO_COLOR");
  if (refused && *refused)
    return Colour::Off;
  return drawsOver(fd) ? Colour::On : Colour::Off;
}

bool drawsOver(int fd) {
  const char* terminal = std::getenv("TERM");
  return !(terminal && llvm::StringRef(terminal) == "dumb") && isatty(fd);
}

void printDiagnostics(Engine& engine, const Options& options) {
  engine.sort();
  llvm::raw_ostream& out = llvm::errs();
  out.SetBufferSize(kReportBuffer);
  renderAll(out, engine, options.messageFormat, colourFor(options.colour, STDERR_FILENO));
  out.SetUnbuffered(); // flushes; what fails is noted in the stream, and main reports it
}

std::string systemWords(int number) {
  const char* words = ::strerrordesc_np(number);
  std::string text = words ? words : "error " + llvm::utostr(unsigned(number));
  if (text.size() > 1 && llvm::isLower(text[1]))
    text[0] = llvm::toLower(text[0]);
  return text;
}

} // namespace gos::driver
