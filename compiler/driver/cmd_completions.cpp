// gos completions: scripts for three shells, from the rows of commands.def.

#include "compiler/driver/command.h"
#include "compiler/driver/rows.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace gos::driver {
namespace {

using llvm::StringRef;

constexpr StringRef kLevels[] = {"none", "basic", "standard", "strict"};
constexpr StringRef kMessageFormats[] = {"text", "json"};
constexpr StringRef kColours[] = {"auto", "always", "never"};
constexpr StringRef kTestFormats[] = {"text", "junit", "json"};
constexpr StringRef kTemplates[] = {"bin", "lib", "binding"};
constexpr StringRef kShells[] = {"bash", "zsh", "fish"};

/// What a shell offers where no option is meant.
enum class Operand : uint8_t { Files, Directories, Shells, Commands, Nothing };

Operand operandOf(CommandId command) {
  switch (command) {
  case CommandId::Check:
  case CommandId::Build:
  case CommandId::Run:
  case CommandId::Test:
  case CommandId::Doc:
  case CommandId::Repl:
  case CommandId::Fmt:
  case CommandId::Parse:
  case CommandId::Disassemble:
    return Operand::Files;
  case CommandId::New:
  case CommandId::Clean:
    return Operand::Directories;
  case CommandId::Completions:
    return Operand::Shells;
  case CommandId::Help:
    return Operand::Commands;
  case CommandId::Explain:
    return Operand::Nothing;
  }
  return Operand::Nothing;
}

bool takesFile(const OptionRow& option) {
  return option.value == "PATH" || option.value == "FILE";
}
bool takesDirectory(const OptionRow& option) {
  return option.value == "DIR";
}
bool isOptional(const OptionRow& option) {
  return option.value.starts_with("[");
}

std::string commandWords() {
  std::string words;
  for (const CommandRow& row : commandRows())
    words += (words.empty() ? "" : " ") + row.spelling.str();
  return words;
}

std::string optionsOf(CommandId command) {
  std::string words;
  for (const OptionRow& option : optionRows())
    if (option.commands & bit(command))
      words += (words.empty() ? "" : " ") + option.spelling.str();
  return words;
}

/// Names of files, one a line, whatever spaces are in them; the shell quotes what it inserts.
std::string names(llvm::StringRef commands) {
  return ("compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(" + commands + ")").str();
}

std::string bash() {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "# bash completion of gos, printed by `gos completions bash`\n"
         "_gos() {\n"
         "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} "
         "command=${COMP_WORDS[1]}\n"
         "  COMPREPLY=()\n"
         "  if ((COMP_CWORD == 1)); then\n"
         "    COMPREPLY=($(compgen -W \""
      << commandWords()
      << " --help --version\" -- \"$cur\")); return\n  fi\n"
         "  [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
         "  [[ $cur == = ]] && cur=\n"
         "  case $prev in\n";
  for (const OptionRow& option : optionRows()) {
    if (const auto words = wordsOf(option.id); !words.empty())
      out << "    " << option.spelling << ") COMPREPLY=($(compgen -W \"" << llvm::join(words, " ")
          << "\" -- \"$cur\")); return ;;\n";
    else if (takesFile(option))
      out << "    " << option.spelling << ") " << names("compgen -f -- \"$cur\"")
          << "; return ;;\n";
    else if (takesDirectory(option))
      out << "    " << option.spelling << ") " << names("compgen -d -- \"$cur\"")
          << "; return ;;\n";
    else if (option.id == OptionId::ComptimeEnv)
      out << "    " << option.spelling << ") COMPREPLY=($(compgen -e -- \"$cur\")); return ;;\n";
  }
  out << "  esac\n  case $command in\n";
  for (const CommandRow& row : commandRows()) {
    out << "    " << row.spelling << ")\n      if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W \""
        << optionsOf(row.id) << "\" -- \"$cur\")); return; fi\n";
    switch (operandOf(row.id)) {
    case Operand::Files:
      out << "      " << names("compgen -f -X '!*.gos' -- \"$cur\"; compgen -d -- \"$cur\"")
          << " ;;\n";
      break;
    case Operand::Directories:
      out << "      " << names("compgen -d -- \"$cur\"") << " ;;\n";
      break;
    case Operand::Shells:
      out << "      COMPREPLY=($(compgen -W \"" << llvm::join(llvm::ArrayRef(kShells), " ")
          << "\" -- \"$cur\")) ;;\n";
      break;
    case Operand::Commands:
      out << "      COMPREPLY=($(compgen -W \"" << commandWords() << "\" -- \"$cur\")) ;;\n";
      break;
    case Operand::Nothing:
      out << "      ;;\n";
      break;
    }
  }
  out << "  esac\n}\ncomplete -o filenames -F _gos gos\n";
  return text;
}

/// For the inside of single quotes in a specification of zsh.
std::string zshQuoted(StringRef text) {
  std::string result;
  for (char c : text) {
    if (c == '\'')
      result += "'\\''";
    else if (c == '[' || c == ']' || c == ':' || c == '\\')
      result += std::string("\\") + c;
    else
      result += c;
  }
  return result;
}

std::string zsh() {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "#compdef gos\n# zsh completion of gos, printed by `gos completions zsh`\n"
         "_gos() {\n  local -a commands\n  commands=(\n";
  for (const CommandRow& row : commandRows())
    out << "    '" << row.spelling << ':' << zshQuoted(row.summary) << "'\n";
  out << "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
         "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n";
  for (const CommandRow& row : commandRows()) {
    out << "    " << row.spelling << ")\n      _arguments -s \\\n";
    for (const OptionRow& option : optionRows()) {
      if (!(option.commands & bit(row.id)))
        continue;
      out << "        '" << (option.repeat == Many ? "*" : "") << option.spelling;
      if (!option.value.empty())
        out << (isOptional(option) ? "=-" : option.spelling.starts_with("--") ? "=" : "");
      out << '[' << zshQuoted(option.summary) << ']';
      if (!option.value.empty()) {
        out << (isOptional(option) ? "::" : ":") << zshQuoted(option.value.trim("[]")) << ':';
        if (const auto words = wordsOf(option.id); !words.empty())
          out << '(' << llvm::join(words, " ") << ')';
        else if (takesFile(option))
          out << "_files";
        else if (takesDirectory(option))
          out << "_files -/";
        else if (option.id == OptionId::ComptimeEnv)
          out << "_parameters -g \"*export*\"";
      }
      out << "' \\\n";
    }
    switch (operandOf(row.id)) {
    case Operand::Files:
      out << "        '*:file:_files -g \"*.gos(-.)\"'";
      break;
    case Operand::Directories:
      out << "        '*:directory:_files -/'";
      break;
    case Operand::Shells:
      out << "        '1:shell:(" << llvm::join(llvm::ArrayRef(kShells), " ") << ")'";
      break;
    case Operand::Commands:
      out << "        '1:command:(" << commandWords() << ")'";
      break;
    case Operand::Nothing:
      out << "        '1:code: '";
      break;
    }
    out << "\n      ;;\n";
  }
  out << "  esac\n}\nif [[ $funcstack[1] == _gos ]]; then _gos \"$@\"; else compdef _gos gos; fi\n";
  return text;
}

/// For the inside of single quotes of fish.
std::string fishQuoted(StringRef text) {
  std::string result;
  for (char c : text)
    result += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return result;
}

std::string fish() {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "# fish completion of gos, printed by `gos completions fish`\ncomplete -c gos -f\n";
  for (const CommandRow& row : commandRows())
    out << "complete -c gos -n __fish_use_subcommand -a " << row.spelling << " -d '"
        << fishQuoted(row.summary) << "'\n";
  for (const CommandRow& row : commandRows()) {
    const std::string here =
        ("complete -c gos -n '__fish_seen_subcommand_from " + row.spelling + "'").str();
    for (const OptionRow& option : optionRows()) {
      if (!(option.commands & bit(row.id)))
        continue;
      StringRef name = option.spelling;
      out << here << (name.consume_front("--") ? " -l " : " -s ") << name.ltrim('-');
      if (!option.value.empty() && !isOptional(option))
        out << " -r";
      if (const auto words = wordsOf(option.id); !words.empty())
        out << " -a '" << llvm::join(words, " ") << '\'';
      else if (takesFile(option))
        out << " -F";
      else if (takesDirectory(option))
        out << " -a '(__fish_complete_directories)'";
      else if (option.id == OptionId::ComptimeEnv)
        out << " -a '(set -nx)'";
      out << " -d '" << fishQuoted(option.summary) << "'\n";
    }
    switch (operandOf(row.id)) {
    case Operand::Files:
      out << here << " -a '(__fish_complete_suffix .gos)'\n";
      break;
    case Operand::Directories:
      out << here << " -a '(__fish_complete_directories)'\n";
      break;
    case Operand::Shells:
      out << here << " -a '" << llvm::join(llvm::ArrayRef(kShells), " ") << "'\n";
      break;
    case Operand::Commands:
      out << here << " -a '" << commandWords() << "'\n";
      break;
    case Operand::Nothing:
      break;
    }
  }
  return text;
}

} // namespace

llvm::ArrayRef<StringRef> wordsOf(OptionId option) {
  switch (option) {
  case OptionId::ComptimeIo:
    return comptimeIoSpellings();
  case OptionId::Sandbox:
    return kLevels;
  case OptionId::MessageFormat:
    return kMessageFormats;
  case OptionId::Colour:
    return kColours;
  case OptionId::TestFormat:
    return kTestFormats;
  case OptionId::NewTemplate:
    return kTemplates;
  default: // every other option takes any value, or none
    return {};
  }
}

std::optional<std::string> completionsFor(StringRef shell) {
  if (shell == "bash")
    return bash();
  if (shell == "zsh")
    return zsh();
  if (shell == "fish")
    return fish();
  return std::nullopt;
}

int runCompletions(const Options& options) {
  const std::string& shell = options.operands.front();
  const std::optional<std::string> script = completionsFor(shell);
  if (!script) {
    llvm::errs() << "gos: error: no completions for " << quoted(shell)
                 << "\n  there are some for bash, zsh and fish\n";
    return kExitUsage;
  }
  llvm::outs() << *script;
  return kExitClean;
}

} // namespace gos::driver
