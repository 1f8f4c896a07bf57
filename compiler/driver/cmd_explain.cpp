// gos explain [CODE]: the long text of a diagnostic, or the list of all codes.

#include "compiler/driver/command.h"
#include "diagnostics/code.h"
#include "diagnostics/escape.h"
#include "diagnostics/explain.h"

#include "llvm/ADT/SmallVector.h"

#include <string>
#include <unistd.h>

namespace gos::driver {
namespace {

using llvm::StringRef;

/// A page for people: headings in bold and fences as indented code, when colours are on.
void printPage(llvm::raw_ostream& out, StringRef page, Colour colour) {
  bool code = false;
  const bool bold = colour == Colour::On;
  while (!page.empty()) {
    auto [line, rest] = page.split('\n');
    page = rest;
    if (line.starts_with("```")) {
      code = !code;
      continue;
    }
    if (code)
      out << "    " << line << '\n';
    else if (line.starts_with("#"))
      out << (bold ? "\x1b[1m" : "") << line.ltrim("#").ltrim() << (bold ? "\x1b[0m" : "") << '\n';
    else
      out << line << '\n';
  }
}

/// The heading of its page; of a code without one the message, with dots for what is known only
/// where it is reported.
std::string titleOf(Code code) {
  StringRef heading = explanation(code).split('\n').first;
  if (heading.consume_front("# ") && heading.consume_front(spelling(code)) &&
      heading.consume_front(": "))
    return heading.str();
  std::string text;
  bool inside = false;
  for (char c : messageTemplate(code)) {
    if (c == '{')
      text += "...";
    inside = c == '{' || (inside && c != '}');
    if (!inside && c != '}')
      text += c;
  }
  return text;
}

void listCodes(llvm::raw_ostream& out) {
  for (size_t i = 0; i < codeCount(); ++i) {
    Code code = codeAt(i);
    if (!isRetired(code))
      out << spelling(code) << "  " << titleOf(code) << '\n';
  }
}

} // namespace

int runExplain(const Options& options) {
  if (options.operands.empty()) {
    listCodes(llvm::outs());
    return kExitClean;
  }
  StringRef word = options.operands.front();
  std::string upper = word.upper();
  auto code = codeFromSpelling(upper);
  if (!code) {
    llvm::SmallVector<StringRef> all;
    for (size_t i = 0; i < codeCount(); ++i)
      all.push_back(spelling(codeAt(i)));
    llvm::errs() << "gos: error: no diagnostic has the code `" << escapeForText(word) << "`\n";
    StringRef best = nearest(upper, all);
    if (!best.empty())
      llvm::errs() << "  did you mean `" << best << "`?\n";
    else
      llvm::errs() << "  run `gos explain` for the list of codes\n";
    return kExitUsage;
  }
  if (isRetired(*code)) {
    llvm::outs() << spelling(*code) << ": this code is reported no more\n\n" << explanation(*code);
    return kExitClean;
  }
  StringRef page = explanation(*code);
  if (page.empty()) {
    llvm::outs() << spelling(*code) << ": " << titleOf(*code) << '\n';
    return kExitClean;
  }
  printPage(llvm::outs(), page, colourFor(options.colour, STDOUT_FILENO));
  return kExitClean;
}

} // namespace gos::driver
