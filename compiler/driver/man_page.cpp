// The manual pages, from the rows of commands.def and the prose of the help.

#include "compiler/driver/rows.h"

#include "llvm/ADT/StringExtras.h"

namespace gos::driver {
namespace {

using llvm::StringRef;

/// A text for troff: nothing in it is a request or an escape.
std::string troff(StringRef text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool beginsLine = i == 0 || text[i - 1] == '\n';
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else if (beginsLine && (c == '.' || c == '\''))
      result += std::string("\\&") + c;
    else
      result += c;
  }
  return result;
}

void printOptions(llvm::raw_ostream& out, CommandId command) {
  out << ".SH OPTIONS\n";
  for (const OptionRow& option : optionRows()) {
    if (!(option.commands & bit(command)))
      continue;
    out << ".TP\n\\fB" << troff(optionWords(option)) << "\\fR\n" << troff(option.summary) << '\n';
    if (option.repeat == Many && option.id != OptionId::Help)
      out << "May be given more than once.\n";
  }
}

/// What the help says behind its table of options: sentences, `examples:`, `exit code:`.
void printProse(llvm::raw_ostream& out, CommandId command) {
  std::string help;
  llvm::raw_string_ostream stream(help);
  printHelp(stream, command);
  StringRef rest = StringRef(help).split("\noptions:\n").second;
  rest = rest.split("\n\n").second;
  while (!rest.empty()) {
    auto [part, behind] = rest.split("\n\n");
    rest = behind;
    if (part.consume_front("examples:\n")) {
      out << ".SH EXAMPLES\n.nf\n" << troff(part.rtrim()) << "\n.fi\n";
    } else if (part.consume_front("exit code:")) {
      out << ".SH EXIT STATUS\n" << troff(part.trim()) << '\n';
    } else {
      out << ".SH DESCRIPTION\n" << troff(part.rtrim()) << '\n';
    }
  }
}

} // namespace

void printManualPage(llvm::raw_ostream& out, std::optional<CommandId> command) {
  const StringRef version = GOS_VERSION;
  if (command && *command != CommandId::Help) {
    const CommandRow& row = commandRows()[unsigned(*command)];
    out << ".TH GOS-" << row.spelling.upper() << " 1 \"\" \"gos " << version
        << "\" \"User Commands\"\n"
        << ".SH NAME\ngos\\-" << row.spelling << " \\- " << troff(row.summary)
        << "\n.SH SYNOPSIS\n.B gos " << row.spelling << "\n[\\fIOPTION\\fR...] "
        << troff(row.operands) << '\n';
    printProse(out, *command);
    printOptions(out, *command);
    out << ".SH SEE ALSO\n\\fBgos\\fR(1)\n";
    return;
  }
  out << ".TH GOS 1 \"\" \"gos " << version << "\" \"User Commands\"\n"
      << ".SH NAME\ngos \\- the Gossamer toolchain\n"
         ".SH SYNOPSIS\n.B gos\n\\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIOPERAND\\fR]\n"
         ".SH DESCRIPTION\n"
         "Compiles and runs programs of Gossamer, and does not trust the code that it compiles: "
         "what "
         "runs while a file is checked is bounded, whoever wrote it.\n"
         ".SH COMMANDS\n";
  for (const CommandRow& row : commandRows())
    out << ".TP\n\\fB" << row.spelling << "\\fR " << troff(row.operands) << '\n'
        << troff(row.summary) << '\n';
  out << ".SH FILES\n.TP\n\\fIproject.toml\\fR\nthe manifest of a project\n"
         ".TP\n\\fI$XDG_CACHE_HOME/gossamer\\fR\nwhat Cargo built of Rust bindings\n"
         ".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nwithout colours, where \\-\\-color says nothing\n"
         ".SH EXIT STATUS\n"
         "0 without errors, 1 with diagnostics, 2 for wrong usage, 101 when a program panics; "
         "\\fBgos run\\fR has the program's own.\n"
         ".SH SEE ALSO\n";
  bool isFirst = true;
  for (const CommandRow& row : commandRows()) {
    if (row.id == CommandId::Help)
      continue;
    out << (isFirst ? "" : ",\n") << "\\fBgos\\-" << row.spelling << "\\fR(1)";
    isFirst = false;
  }
  out << '\n';
}

} // namespace gos::driver
