#include "sandbox/bwr/help.h"

#include "llvm/ADT/STLExtras.h"

namespace gos::bwr {

namespace {
constexpr Example kExamples[] = {
    {"bwr cargo build", "build without network, with sources read-only and only target/ writable"},
    {"bwr --network client cargo fetch", "download what the build needs first"},
    {"bwr --level strict -- ./downloaded-tool input.txt",
     "run a stranger's program; it sees this directory and the system, nothing of yours"},
    {"bwr --ro ~/data --deny ~/data/keys -- python3 analyse.py",
     "grant a directory with a hole in it"},
    {"bwr --explain npm ci", "show what `npm ci` would see, and run nothing"},
};
constexpr ExitCode kExitCodes[] = {
    {"the command's", "it ran; 128 + n if it died of signal n"},
    {"2", "wrong usage"},
    {"64", "this host cannot give the level; nothing was run"},
    {"126", "the policy cannot be kept, or the command is not executable; nothing was run"},
    {"127", "the command was not found; nothing was run"},
};

/// Breaks a text between words.
void printWrapped(llvm::raw_ostream& out, llvm::StringRef text, unsigned indent, unsigned width) {
  unsigned column = indent;
  bool first = true;
  while (!text.empty()) {
    auto [word, rest] = text.split(' ');
    if (!first && column + 1 + word.size() > width) {
      out << '\n';
      out.indent(indent);
      column = indent;
      first = true;
    }
    if (!first) {
      out << ' ';
      ++column;
    }
    out << word;
    column += unsigned(word.size());
    first = false;
    text = rest;
  }
  out << '\n';
}
} // namespace

llvm::ArrayRef<Example> examples() {
  return kExamples;
}
llvm::ArrayRef<ExitCode> exitCodes() {
  return kExitCodes;
}

std::string usageOf(const OptionRow& row) {
  switch (row.form) {
  case ArgumentForm::None:
    return row.spelling.str();
  case ArgumentForm::Required:
    return (row.spelling + " " + row.argument).str();
  case ArgumentForm::Optional:
    return (row.spelling + "[=" + row.argument + "]").str();
  }
  return {};
}

void printHelp(llvm::raw_ostream& out) {
  out << "bwr " GOS_VERSION ": run a command with restrictions\n\n"
         "usage: bwr [OPTION...] [--] COMMAND [ARG...]\n\n"
         "The command sees the system read-only and this directory, has no network, no "
         "credentials\n"
         "and a private /tmp. Nothing of it is left when it ends.\n";
  for (OptionGroup group : optionGroups()) {
    out << '\n' << title(group) << ":\n";
    for (const OptionRow& row : optionRows()) {
      if (row.group != group)
        continue;
      const std::string usage = usageOf(row);
      out << "  " << usage;
      out.indent(unsigned(usage.size() < 21 ? 21 - usage.size() : 1));
      printWrapped(out, row.summary, 23, 90);
    }
  }
  out << "\nexamples:\n";
  for (const Example& example : kExamples) {
    out << "  " << example.command << "\n      ";
    printWrapped(out, example.meaning, 6, 90);
  }
  out << "\nexit code:\n";
  for (const ExitCode& row : kExitCodes) {
    out << "  " << row.code;
    out.indent(unsigned(15 - row.code.size()));
    printWrapped(out, row.meaning, 17, 90);
  }
  out << "\nA profile knows what a build tool reads and writes; it is chosen by the command's "
         "name.\n"
         "bwr --list-profiles lists them, bwr --show-profile NAME prints one. Options end at the\n"
         "first word that is none, or at --.\n";
}

// ---- manual page --------------------------------------------------------------------------------

namespace {
/// Text for troff: no line begins a request, no dash becomes a hyphen.
std::string troff(llvm::StringRef text) {
  std::string result;
  for (char c : text) {
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else if (c == '`')
      continue;
    else
      result += c;
  }
  if (!result.empty() && (result.front() == '.' || result.front() == '\''))
    result = "\\&" + result;
  return result;
}
} // namespace

void printManPage(llvm::raw_ostream& out) {
  out << ".TH BWR 1 \"\" \"bwr " GOS_VERSION "\" \"User Commands\"\n"
         ".SH NAME\nbwr \\- run a command with restrictions\n"
         ".SH SYNOPSIS\n.B bwr\n[\\fIOPTION\\fR...] [\\fB\\-\\-\\fR] \\fICOMMAND\\fR "
         "[\\fIARG\\fR...]\n"
         ".SH DESCRIPTION\n"
         "Runs a command so that it sees the system read\\-only and the current directory, and "
         "nothing else of its user: no credentials, no sockets of agents, no network, a private "
         "/tmp. When the run ends nothing of it is left, no process, mount or directory.\n.PP\n"
         "A level is a guarantee. A host that cannot give it says what is missing, and nothing is "
         "run.\n"
         ".SH OPTIONS\nOptions end at the first word that is none, or at \\-\\-. A value stands in "
         "the same word after = or in the next one.\n";
  for (OptionGroup group : optionGroups()) {
    out << ".SS " << troff(title(group)) << '\n';
    for (const OptionRow& row : optionRows()) {
      if (row.group != group)
        continue;
      out << ".TP\n\\fB" << troff(row.spelling) << "\\fR";
      if (row.form == ArgumentForm::Required)
        out << " \\fI" << troff(row.argument) << "\\fR";
      if (row.form == ArgumentForm::Optional)
        out << "[=\\fI" << troff(row.argument) << "\\fR]";
      out << '\n' << troff(row.summary) << '\n';
    }
  }
  out << ".SH LEVELS\n"
         ".TP\n\\fBnone\\fR\nno sandbox\n"
         ".TP\n\\fBbasic\\fR\nfiltered environment, private temp directory, no inherited "
         "descriptors, the whole process tree ends with the run; files and network are not "
         "bounded\n"
         ".TP\n\\fBstandard\\fR\nand a view of the file system that holds only what is granted, "
         "and "
         "no network unless asked for\n"
         ".TP\n\\fBstrict\\fR\nand a process table of its own and a reduced kernel surface\n"
         ".SH PROFILES\n"
         "A profile is a TOML file that says what a build tool reads, writes and needs of the "
         "environment, for the step that fetches and the step that builds. The one for a command "
         "is "
         "chosen by its name where the tool is found in a trusted directory. "
         "\\fB\\-\\-show\\-profile\\fR prints one; a copy in "
         "\\fI~/.config/bwr/profiles/NAME.toml\\fR takes its place.\n"
         ".SH EXIT STATUS\n";
  for (const ExitCode& row : kExitCodes)
    out << ".TP\n\\fB" << troff(row.code) << "\\fR\n" << troff(row.meaning) << '\n';
  out << ".SH EXAMPLES\n";
  for (const Example& example : kExamples)
    out << ".TP\n\\fB" << troff(example.command) << "\\fR\n" << troff(example.meaning) << '\n';
  out << ".SH FILES\n"
         ".TP\n\\fI~/.config/bwr/profiles/\\fR\nprofiles of the user; XDG_CONFIG_HOME moves it\n"
         ".TP\n\\fI~/.cache/bwr\\-projects/\\fR\nprivate caches, one directory for each project; "
         "XDG_CACHE_HOME moves it\n";
}

} // namespace gos::bwr
