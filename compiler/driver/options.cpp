#include "compiler/driver/options.h"

#include "diagnostics/escape.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

namespace gos::driver {
namespace {

using llvm::StringRef;

using CommandSet = unsigned;
constexpr CommandSet bit(CommandId id) {
  return 1u << unsigned(id);
}
constexpr CommandSet kFolds =
    bit(CommandId::Check) | bit(CommandId::Run) | bit(CommandId::Disassemble);
constexpr CommandSet kDiagnoses = kFolds | bit(CommandId::Parse);
constexpr CommandSet kExplains = bit(CommandId::Explain);
constexpr CommandSet kAll = ~0u;

enum Repeat : uint8_t { Once, Many };

struct CommandRow {
  CommandId id;
  StringRef spelling, operands, summary;
};
struct OptionRow {
  OptionId id;
  StringRef spelling, value;
  CommandSet commands;
  Repeat repeat;
  StringRef summary;
};

const CommandRow kCommands[] = {
#define GOS_COMMAND(id, spelling, operands, summary) {CommandId::id, spelling, operands, summary},
#include "compiler/driver/commands.def"
};
const OptionRow kOptions[] = {
#define GOS_OPTION(id, spelling, value, commands, repeat, summary)                                 \
  {OptionId::id, spelling, value, commands, repeat, summary},
#include "compiler/driver/commands.def"
};

const CommandRow& row(CommandId id) {
  return kCommands[unsigned(id)];
}

std::string didYouMean(StringRef word, llvm::ArrayRef<StringRef> candidates) {
  StringRef best = nearest(word, candidates);
  return best.empty() ? std::string() : ("did you mean `" + best + "`?").str();
}

/// Digits with an optional K, M or G (powers of 1024) where `sizes`; zero and overflow are refused.
std::optional<uint64_t> parseCount(StringRef text, bool sizes) {
  unsigned shift = 0;
  if (sizes && !text.empty()) {
    switch (text.back()) {
    case 'K':
      shift = 10;
      break;
    case 'M':
      shift = 20;
      break;
    case 'G':
      shift = 30;
      break;
    }
    if (shift)
      text = text.drop_back();
  }
  uint64_t value = 0;
  if (text.empty() || !llvm::all_of(text, llvm::isDigit) || text.getAsInteger(10, value) ||
      value == 0)
    return std::nullopt;
  if (value > (uint64_t(1) << 62) >> shift)
    return std::nullopt;
  return value << shift;
}

class CommandLineReader {
public:
  explicit CommandLineReader(llvm::ArrayRef<StringRef> arguments) : arguments_(arguments) {}

  ParsedCommandLine read() {
    if (arguments_.empty())
      return fail("no command given", "run `gos --help` for the list of commands");
    StringRef first = arguments_.front();
    if (first == "--version" || first == "-V") {
      if (arguments_.size() > 1)
        return fail("`--version` stands alone", "");
      result_.version = true;
      return std::move(result_);
    }
    if (first == "--help" || first == "-h") {
      options_.command = CommandId::Help;
      result_.options = options_;
      return std::move(result_);
    }
    if (first.starts_with("-"))
      return fail("found option " + quoted(first.split('=').first) + " before the command",
                  "options stand after the command: gos COMMAND [OPTION...]");
    auto command = commandFromSpelling(first);
    if (!command)
      return fail("no command " + quoted(first), hintForCommand(first));
    options_.command = *command;
    next_ = 1;
    while (next_ < arguments_.size()) {
      StringRef argument = arguments_[next_++];
      if (argument == "--") {
        if (!takeRest())
          return std::move(result_);
        break;
      }
      if (argument.starts_with("-") && argument != "-") {
        if (!readOption(argument))
          return std::move(result_);
        continue;
      }
      options_.operands.push_back(argument.str());
      if (options_.command == CommandId::Run) {
        // Everything after FILE is the program's.
        if (next_ < arguments_.size() && arguments_[next_] == "--")
          ++next_;
        for (; next_ < arguments_.size(); ++next_)
          options_.arguments.push_back(arguments_[next_].str());
      }
    }
    return finish();
  }

private:
  ParsedCommandLine fail(std::string error, std::string hint) {
    result_.options.reset();
    result_.error = std::move(error);
    result_.hint = std::move(hint);
    return std::move(result_);
  }
  bool refuse(std::string error, std::string hint) {
    result_.options.reset();
    result_.error = std::move(error);
    result_.hint = std::move(hint);
    return false;
  }
  std::string seeHelp() const {
    return ("run `gos help " + row(options_.command).spelling + "` for its options").str();
  }

  bool takeRest() {
    for (; next_ < arguments_.size(); ++next_)
      options_.operands.push_back(arguments_[next_].str());
    if (options_.command == CommandId::Run && options_.operands.size() > 1) {
      auto first = options_.operands.begin() + 1;
      options_.arguments.assign(first, options_.operands.end());
      options_.operands.erase(first, options_.operands.end());
    }
    return true;
  }

  bool readOption(StringRef argument) {
    auto [name, inlineValue] = argument.split('=');
    bool hasInline = argument.contains('=');
    if (name == "-h")
      name = "--help";
    const OptionRow* option = nullptr;
    llvm::SmallVector<StringRef> here;
    for (const OptionRow& candidate : kOptions) {
      if (candidate.commands & bit(options_.command))
        here.push_back(candidate.spelling);
      if (candidate.spelling == name)
        option = &candidate;
    }
    if (!option) {
      std::string hint = didYouMean(name, here);
      return refuse("no option " + quoted(name), hint.empty() ? seeHelp() : hint);
    }
    if (!(option->commands & bit(options_.command)))
      return refuse(
          ("`gos " + row(options_.command).spelling + "` has no option `" + name + "`").str(),
          seeHelp());
    unsigned mask = 1u << unsigned(option->id);
    if (option->repeat == Once && (seen_ & mask))
      return refuse(("`" + name + "` is given twice").str(), "give it once");
    seen_ |= mask;
    if (option->value.empty()) {
      if (hasInline)
        return refuse(("`" + name + "` takes no value").str(), "");
      return apply(option->id, "");
    }
    StringRef value = inlineValue;
    if (!hasInline) {
      if (next_ >= arguments_.size())
        return refuse(("`" + name + "` needs a value").str(),
                      ("write `" + name + "=" + option->value + "`").str());
      value = arguments_[next_++];
    }
    return apply(option->id, value);
  }

  bool closedSet(StringRef option, StringRef value, llvm::ArrayRef<StringRef> words) {
    std::string hint = didYouMean(value, words);
    return refuse(("`" + option + "` is ").str() + llvm::join(words, ", ") + "; found " +
                      quoted(value),
                  hint);
  }

  bool apply(OptionId id, StringRef value) {
    switch (id) {
    case OptionId::ComptimeIo: {
      options_.comptimeIo = comptimeIoFromSpelling(value);
      return options_.comptimeIo || closedSet("--comptime-io", value, comptimeIoSpellings());
    }
    case OptionId::ComptimeEnv:
      if (!isVariableName(value))
        return refuse("`--comptime-env` takes the name of one variable; found " + quoted(value),
                      "letters, digits and `_`, for instance `--comptime-env=HOME`");
      if (StringRef problem = environmentNameProblem(value); !problem.empty())
        return refuse("`--comptime-env` cannot permit " + quoted(value) + ": " + problem.str(), "");
      if (!llvm::is_contained(options_.comptimeEnv, value))
        options_.comptimeEnv.push_back(value.str());
      return true;
    case OptionId::ComptimeSteps:
      return count("--comptime-steps", value, false, options_.budgets.steps);
    case OptionId::ComptimeMemory:
      return count("--comptime-memory", value, true, options_.budgets.heapBytes);
    case OptionId::ComptimeDepth:
      return count("--comptime-depth", value, false, options_.budgets.depth);
    case OptionId::ComptimeResult:
      return count("--comptime-result", value, true, options_.budgets.resultBytes);
    case OptionId::MessageFormat:
      if (value == "text")
        options_.messageFormat = MessageFormat::Text;
      else if (value == "json")
        options_.messageFormat = MessageFormat::Json;
      else
        return closedSet("--message-format", value, {"text", "json"});
      return true;
    case OptionId::Colour:
      if (value == "auto")
        options_.colour = ColourWhen::Auto;
      else if (value == "always")
        options_.colour = ColourWhen::Always;
      else if (value == "never")
        options_.colour = ColourWhen::Never;
      else
        return closedSet("--color", value, {"auto", "always", "never"});
      return true;
    case OptionId::Quiet:
      options_.quiet = true;
      return true;
    case OptionId::Help:
      options_.wantsHelp = true;
      return true;
    }
    return false;
  }

  bool count(StringRef option, StringRef value, bool sizes, uint64_t& into) {
    auto parsed = parseCount(value, sizes);
    if (!parsed)
      return refuse(("`" + option + "` takes a positive number" +
                     (sizes ? ", with K, M or G if you like" : "") + "; found ")
                            .str() +
                        quoted(value),
                    "");
    into = *parsed;
    return true;
  }

  static bool isVariableName(StringRef name) {
    return !name.empty() && !llvm::isDigit(name.front()) &&
           llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  }

  ParsedCommandLine finish() {
    if (!options_.wantsHelp) {
      size_t given = options_.operands.size();
      StringRef command = row(options_.command).spelling;
      bool needsOne = options_.command == CommandId::Run || options_.command == CommandId::Parse ||
                      options_.command == CommandId::Disassemble;
      if (given == 0 && needsOne)
        return fail(("`gos " + command + "` needs a file or a directory").str(), seeHelp());
      if (given > 1)
        return fail(("`gos " + command + "` takes one operand; found also ").str() +
                        quoted(options_.operands[1]),
                    seeHelp());
      if (given == 1 && options_.operands[0].empty())
        return fail("the name of the file is empty", seeHelp());
    }
    result_.options = std::move(options_);
    return std::move(result_);
  }

  llvm::ArrayRef<StringRef> arguments_;
  size_t next_ = 0;
  unsigned seen_ = 0;
  Options options_;
  ParsedCommandLine result_;
};

void printRows(llvm::raw_ostream& out, llvm::ArrayRef<std::pair<std::string, StringRef>> rows) {
  size_t width = 0;
  for (const auto& row_ : rows)
    width = std::max(width, row_.first.size());
  for (const auto& row_ : rows) {
    out << "  " << row_.first;
    out.indent(unsigned(width - row_.first.size() + 2)) << row_.second << '\n';
  }
}

void printCommandHelp(llvm::raw_ostream& out, CommandId command) {
  const CommandRow& entry = row(command);
  out << "gos " << entry.spelling << ": " << entry.summary << "\n\nusage: gos " << entry.spelling
      << " [OPTION...] " << entry.operands << "\n\noptions:\n";
  llvm::SmallVector<std::pair<std::string, StringRef>> rows;
  for (const OptionRow& option : kOptions)
    if (option.commands & bit(command))
      rows.push_back({(option.spelling + (option.value.empty() ? "" : "=") + option.value).str(),
                      option.summary});
  printRows(out, rows);
  switch (command) {
  case CommandId::Check:
    out << "\nWithout FILE or DIR the project of the working directory is checked.\n"
           "Compile-time regions run somebody else's code; what they may reach is bounded by\n"
           "--comptime-io and by `comptime-io` in project.toml, whichever is stricter.\n"
           "\nexamples:\n"
           "  gos check\n"
           "  gos check --comptime-io=none src/main.gos\n"
           "  gos check --comptime-env=VERSION --message-format=json .\n"
           "\nexit code: 0 clean, 1 diagnostics, 2 wrong usage\n";
    break;
  case CommandId::Run:
    out << "\nEverything after FILE or DIR is an argument of the program.\n"
           "The running program is not confined; only its compile-time regions are.\n"
           "\nexamples:\n"
           "  gos run hello.gos\n"
           "  gos run examples/lookup_table -- 42\n"
           "\nexit code: the program's own; 1 diagnostics, 2 wrong usage, 101 panic\n";
    break;
  case CommandId::Explain:
    out << "\nexamples:\n  gos explain GX0010\n  gos explain\n"
           "\nexit code: 0, or 2 for a code that does not exist\n";
    break;
  case CommandId::Parse:
  case CommandId::Disassemble:
  case CommandId::Help:
    break;
  }
}

} // namespace

llvm::StringRef spelling(CommandId command) {
  return row(command).spelling;
}

std::optional<CommandId> commandFromSpelling(StringRef text) {
  for (const CommandRow& command : kCommands)
    if (command.spelling == text)
      return command.id;
  return std::nullopt;
}

std::string hintForCommand(StringRef text) {
  llvm::SmallVector<StringRef> names;
  for (const CommandRow& command : kCommands)
    names.push_back(command.spelling);
  std::string hint = didYouMean(text, names);
  return hint.empty() ? "run `gos --help` for the list of commands" : hint;
}

std::string quoted(StringRef text) {
  return "`" + escapeForText(text) + "`";
}

ParsedCommandLine parseCommandLine(llvm::ArrayRef<StringRef> arguments) {
  return CommandLineReader(arguments).read();
}

void printHelp(llvm::raw_ostream& out, std::optional<CommandId> command) {
  if (command && *command != CommandId::Help)
    return printCommandHelp(out, *command);
  out << "gos " GOS_VERSION
         ": the Gossamer toolchain\n\nusage: gos COMMAND [OPTION...] [OPERAND]\n\ncommands:\n";
  llvm::SmallVector<std::pair<std::string, StringRef>> rows;
  for (const CommandRow& entry : kCommands)
    rows.push_back({(entry.spelling + " " + entry.operands).str(), entry.summary});
  printRows(out, rows);
  out << "\n  gos --version            print the version\n"
         "  gos COMMAND --help       options and examples of a command\n";
}

} // namespace gos::driver
