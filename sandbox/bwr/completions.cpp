// Completions for three shells, from options.def. After the first word that is no option a shell
// completes the command as if bwr were not there.

#include "sandbox/bwr/help.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace gos::bwr {

using llvm::StringRef;

namespace {
bool takesNextWord(const OptionRow& row) {
  return row.form == ArgumentForm::Required;
}

/// Options with a value of the same kind, joined for a `case`.
std::string patternOf(Complete complete) {
  std::string text;
  for (const OptionRow& row : optionRows())
    if (takesNextWord(row) && row.complete == complete)
      text += (text.empty() ? "" : "|") + row.spelling.str();
  return text;
}

std::string valuePattern() {
  std::string text;
  for (const OptionRow& row : optionRows())
    if (takesNextWord(row))
      text += (text.empty() ? "" : "|") + row.spelling.str();
  return text;
}

constexpr Complete kKinds[] = {Complete::Path,     Complete::Directory, Complete::Levels,
                               Complete::Networks, Complete::Platforms, Complete::Profiles,
                               Complete::Colours,  Complete::Shells,    Complete::Variables};
/// The first word of each line, without running the line through anything else.
constexpr StringRef kProfileWords =
    "$(bwr --list-profiles 2>/dev/null | while read -r name rest; do echo \"$name\"; done)";

void printBash(llvm::raw_ostream& out) {
  out << "# bash completion of bwr, printed by `bwr --completions bash`\n"
         "_bwr() {\n"
         "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i=1\n"
         "  COMPREPLY=()\n"
         "  while ((i < COMP_CWORD)); do\n"
         "    case ${COMP_WORDS[i]} in\n"
         "      --) ((i++)); break ;;\n"
         "      "
      << valuePattern()
      << ") if [[ ${COMP_WORDS[i+1]} == = ]]; then ((i += 3)); else ((i += 2)); fi ;;\n"
         "      -*) ((i++)) ;;\n"
         "      *) break ;;\n"
         "    esac\n"
         "  done\n"
         "  if ((i < COMP_CWORD)) || { ((i == COMP_CWORD)) && [[ $cur != -* ]] && [[ $prev == -- "
         "]]; "
         "}; then\n"
         "    if declare -F _command_offset >/dev/null; then _command_offset $i; return; fi\n"
         "    compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); "
         "return\n"
         "  fi\n"
         "  [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
         "  [[ $cur == = ]] && { cur=; prev=${COMP_WORDS[COMP_CWORD-1]}; [[ $prev == = ]] && "
         "prev=${COMP_WORDS[COMP_CWORD-2]}; }\n"
         "  case $prev in\n";
  for (Complete kind : kKinds) {
    const std::string pattern = patternOf(kind);
    if (pattern.empty())
      continue;
    // One name a line, whatever spaces are in it; as a name of a file the shell quotes it.
    const bool isName = kind == Complete::Path || kind == Complete::Directory;
    out << "    " << pattern << ") " << (isName ? "compopt -o filenames 2>/dev/null; " : "")
        << "mapfile -t COMPREPLY < <(compgen ";
    if (kind == Complete::Path)
      out << "-f";
    else if (kind == Complete::Directory)
      out << "-d";
    else if (kind == Complete::Variables)
      out << "-e";
    else if (kind == Complete::Profiles)
      out << "-W \"none " << kProfileWords << "\"";
    else
      out << "-W \"" << llvm::join(closedSet(kind), " ") << "\"";
    out << " -- \"$cur\"); return ;;\n";
  }
  out << "  esac\n"
         "  if [[ $cur == -* ]]; then\n    COMPREPLY=($(compgen -W \"";
  for (const OptionRow& row : optionRows())
    out << row.spelling << ' ';
  out << "--\" -- \"$cur\"))\n"
         "  else\n    COMPREPLY=($(compgen -c -- \"$cur\"))\n  fi\n"
         "}\n"
         "complete -o default -F _bwr bwr\n";
}

/// For the inside of single quotes in zsh's and fish's tables.
std::string quoted(StringRef text) {
  std::string result;
  for (char c : text) {
    if (c == '\'')
      result += "'\\''";
    else if (c == '[' || c == ']' || c == ':')
      result += std::string("\\") + c;
    else
      result += c;
  }
  return result;
}

void printZsh(llvm::raw_ostream& out) {
  out << "#compdef bwr\n# zsh completion of bwr, printed by `bwr --completions zsh`\n"
         "_bwr_profiles() {\n  local -a names\n  names=(none "
      << kProfileWords
      << ")\n  compadd -a names\n}\n"
         "_arguments -S -s \\\n";
  for (const OptionRow& row : optionRows()) {
    out << "  '";
    if (row.repeat == Repeat::Many)
      out << '*';
    out << row.spelling;
    if (row.form == ArgumentForm::Required)
      out << '=';
    if (row.form == ArgumentForm::Optional)
      out << "=-";
    out << '[' << quoted(row.summary) << ']';
    if (row.form != ArgumentForm::None) {
      out << (row.form == ArgumentForm::Optional ? "::" : ":") << quoted(row.argument) << ':';
      switch (row.complete) {
      case Complete::Path:
        out << "_files";
        break;
      case Complete::Directory:
        out << "_files -/";
        break;
      case Complete::Variables:
        out << "_parameters -g \"*export*\"";
        break;
      case Complete::Profiles:
        out << "_bwr_profiles";
        break;
      case Complete::Levels:
      case Complete::Networks:
      case Complete::Platforms:
      case Complete::Colours:
      case Complete::Shells:
        out << '(' << llvm::join(closedSet(row.complete), " ") << ')';
        break;
      case Complete::Nothing:
        break;
      }
    }
    out << "' \\\n";
  }
  out << "  '(-)1:command: _command_names -e' \\\n  '*::arguments: _normal'\n";
}

void printFish(llvm::raw_ostream& out) {
  out << "# fish completion of bwr, printed by `bwr --completions fish`\n"
         "function __bwr_profiles\n    bwr --list-profiles 2>/dev/null | string replace -r '\\s.*' "
         "''\n    echo none\nend\n"
         "complete -c bwr -n 'not __fish_seen_subcommand_from --' -a '(__fish_complete_subcommand "
         "--fcs-skip=1)'\n";
  for (const OptionRow& row : optionRows()) {
    out << "complete -c bwr -l " << row.spelling.drop_front(2);
    if (row.form == ArgumentForm::Required)
      out << " -r";
    switch (row.complete) {
    case Complete::Path:
      out << " -F";
      break;
    case Complete::Directory:
      out << " -f -a '(__fish_complete_directories)'";
      break;
    case Complete::Variables:
      out << " -f -a '(set -nx)'";
      break;
    case Complete::Profiles:
      out << " -f -a '(__bwr_profiles)'";
      break;
    case Complete::Levels:
    case Complete::Networks:
    case Complete::Platforms:
    case Complete::Colours:
    case Complete::Shells:
      out << " -f -a '" << llvm::join(closedSet(row.complete), " ") << '\'';
      break;
    case Complete::Nothing:
      break;
    }
    std::string summary;
    for (char c : row.summary)
      summary += c == '\'' ? std::string("\\'") : std::string(1, c);
    out << " -d '" << summary << "'\n";
  }
}
} // namespace

void printCompletions(llvm::raw_ostream& out, Shell shell) {
  switch (shell) {
  case Shell::Bash:
    return printBash(out);
  case Shell::Zsh:
    return printZsh(out);
  case Shell::Fish:
    return printFish(out);
  }
}

} // namespace gos::bwr
