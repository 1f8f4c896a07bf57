#include "compiler/driver/options.h"

#include "compiler/driver/rows.h"
#include "diagnostics/escape.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

namespace gos::driver {
namespace {

using llvm::StringRef;

/// What compiles Rust bindings where a project has them.
constexpr CommandSet kBinds = bit(CommandId::Check) | bit(CommandId::Build) | bit(CommandId::Run) |
                              bit(CommandId::Test) | bit(CommandId::Doc) | bit(CommandId::Repl);
constexpr CommandSet kFolds = kBinds | bit(CommandId::Disassemble);
constexpr CommandSet kDiagnoses = kFolds | bit(CommandId::Parse) | bit(CommandId::Fmt);
constexpr CommandSet kExplains = bit(CommandId::Explain);
constexpr CommandSet kAll = ~0u;

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
    if (name == "--output")
      name = "-o";
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
    uint64_t mask = uint64_t(1) << unsigned(option->id);
    if (option->repeat == Once && (seen_ & mask))
      return refuse(("`" + name + "` is given twice").str(), "give it once");
    seen_ |= mask;
    if (option->value.empty()) {
      if (hasInline)
        return refuse(("`" + name + "` takes no value").str(), "");
      return apply(option->id, "");
    }
    StringRef value = inlineValue;
    if (!hasInline && option->value.starts_with("["))
      return apply(option->id, "");
    if (hasInline && value.empty() && option->value.starts_with("["))
      return refuse(("`" + name + "=` has no value").str(),
                    ("write `" + name + "` or `" + name + "=LEVEL`").str());
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
    case OptionId::Sandbox:
      options_.sandbox.level =
          value.empty() ? SandboxLevel::Standard : sandboxLevelFromSpelling(value);
      return options_.sandbox.level || closedSet("--sandbox", value, sandboxLevelSpellings());
    case OptionId::SandboxNetwork:
      options_.sandbox.network = true;
      return true;
    case OptionId::SandboxRw:
      return path("--sandbox-rw", value, options_.sandbox.readWrite.emplace_back());
    case OptionId::SandboxRo:
      return path("--sandbox-ro", value, options_.sandbox.readOnly.emplace_back());
    case OptionId::SandboxExplain:
      options_.sandbox.explain = true;
      return true;
    case OptionId::NoBuild:
      options_.noBuild = true;
      return true;
    case OptionId::Output:
      return path("-o", value, options_.output);
    case OptionId::TestRun:
      options_.test.run = value.str();
      return true;
    case OptionId::TestExact:
      options_.test.exact.push_back(value.str());
      return true;
    case OptionId::TestList:
      options_.test.list = true;
      return true;
    case OptionId::TestFailFast:
      options_.test.failFast = true;
      return true;
    case OptionId::TestIncludeIgnored:
      options_.test.includeIgnored = true;
      return true;
    case OptionId::TestIgnored:
      options_.test.onlyIgnored = true;
      return true;
    case OptionId::TestShuffle:
      options_.test.shuffle = true;
      return true;
    case OptionId::TestSeed: {
      uint64_t seed = 0;
      if (value.getAsInteger(10, seed))
        return refuse("`--seed` takes a number; found " + quoted(value), "");
      options_.test.seed = seed;
      return true;
    }
    case OptionId::TestTimeout:
      return duration("--timeout", value, options_.test.timeoutMilliseconds);
    case OptionId::TestParallel: {
      uint64_t many = 0;
      if (!count("--parallel", value, false, many))
        return false;
      options_.test.parallel = unsigned(std::min<uint64_t>(many, 1024));
      return true;
    }
    case OptionId::TestFormat:
      if (value == "text")
        options_.test.format = TestFlags::Format::Text;
      else if (value == "junit")
        options_.test.format = TestFlags::Format::Junit;
      else if (value == "json")
        options_.test.format = TestFlags::Format::Json;
      else
        return closedSet("--format", value, {"text", "junit", "json"});
      return true;
    case OptionId::TestJunitOut:
      return path("--junit-out", value, options_.test.junitOut);
    case OptionId::TestCoverage:
      return path("--coverage", value, options_.test.coverage);
    case OptionId::TestRace:
      options_.test.race = true;
      return true;
    case OptionId::TestFuzz:
      return refuse("`--fuzz` is not built yet: what a `#[fuzz]` function is given is not settled",
                    "write the inputs as `#[test_case(..)]`, or loop over them in a `#[test]`");
    case OptionId::DocMarkdown:
      options_.docMarkdown = true;
      return true;
    case OptionId::DocHtml:
      return path("--html", value, options_.docHtml);
    case OptionId::FmtCheck:
      options_.fmtCheck = true;
      return true;
    case OptionId::NewTemplate:
      if (value == "bin")
        options_.projectTemplate = ProjectTemplate::Program;
      else if (value == "lib")
        options_.projectTemplate = ProjectTemplate::Library;
      else if (value == "binding")
        options_.projectTemplate = ProjectTemplate::Binding;
      else
        return closedSet("--template", value, {"bin", "lib", "binding"});
      return true;
    case OptionId::NewName:
      if (value.empty())
        return refuse("the name of `--name` is empty", seeHelp());
      options_.projectName = value.str();
      return true;
    case OptionId::CleanAll:
      options_.cleanAll = true;
      return true;
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
    case OptionId::Man:
      options_.wantsManual = true;
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

  bool path(StringRef option, StringRef value, std::string& into) {
    if (value.empty())
      return refuse(("the path of `" + option + "` is empty").str(), seeHelp());
    into = value.str();
    return true;
  }

  /// A whole number with its unit, `500ms`, `2s`, `5m`; in milliseconds.
  bool duration(StringRef option, StringRef value, uint64_t& into) {
    uint64_t unit = 0;
    StringRef digits = value;
    if (digits.consume_back("ms"))
      unit = 1;
    else if (digits.consume_back("s"))
      unit = 1000;
    else if (digits.consume_back("m"))
      unit = 60'000;
    auto parsed = unit ? parseCount(digits, false) : std::nullopt;
    if (!parsed || *parsed > (uint64_t(1) << 40))
      return refuse(("`" + option + "` takes a number with a unit; found ").str() + quoted(value),
                    "for instance 500ms, 2s or 5m");
    into = *parsed * unit;
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
      StringRef operands = row(options_.command).operands;
      bool needsOne = !operands.starts_with("[");
      if (given == 0 && needsOne)
        return fail(("`gos " + command + "` needs " + operandWords(options_.command)).str(),
                    seeHelp());
      if (given > 1 && !operands.contains("...]"))
        return fail(("`gos " + command + "` takes one operand; found also ").str() +
                        quoted(options_.operands[1]),
                    seeHelp());
      if (given == 1 && options_.operands[0].empty())
        return fail("the name of the file is empty", seeHelp());
    }
    result_.options = std::move(options_);
    return std::move(result_);
  }

  static StringRef operandWords(CommandId command) {
    switch (command) {
    case CommandId::New:
      return "the name of a directory to make";
    case CommandId::Completions:
      return "the name of a shell: bash, zsh or fish";
    default: // every other command that needs an operand
      return "a file or a directory";
    }
  }

  llvm::ArrayRef<StringRef> arguments_;
  size_t next_ = 0;
  uint64_t seen_ = 0;
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
      rows.push_back({optionWords(option), option.summary});
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
  case CommandId::Test:
    out << "\nA project is one program with all its files; each file beneath its tests/ is a program of\n"
           "its own that uses the project by name. A file, and each file of a directory without a\n"
           "project.toml, is a program too. `#[cfg(test)]` holds.\n"
           "Every `#[test] fn` runs in a process of its own, in the directory of its project. It fails\n"
           "on a panic, a returned Err, a failed check, or if it asserts nothing. Code in documentation\n"
           "runs as well. Tests are not confined; compile-time regions are.\n"
           "--coverage counts for each line the tests that came to it; tests themselves, and what only\n"
           "compile-time regions run, are not counted. Goroutines share no memory, so --race looks for\n"
           "what depends on their order: it runs a test under eight orders, whose seed is printed, and\n"
           "names the seed of one that fails.\n"
           "\nexamples:\n"
           "  gos test\n"
           "  gos test --run='^parser::' --fail-fast\n"
           "  gos test --junit-out=report.xml examples/lookup_table\n"
           "  gos test --coverage=lines.info && genhtml -o site lines.info\n"
           "  gos test --race --seed=7\n"
           "\nexit code: 0 all passed, 1 a test failed or a file did not load, 2 wrong usage\n";
    break;
  case CommandId::New:
    out << "\nThe last part of DIR names the project, unless --name does. DIR must not exist, or be empty; it\n"
           "may hold a `.git`. `gos new .` starts one in the working directory.\n"
           "\nexamples:\n"
           "  gos new hello\n"
           "  git init hello && cd hello && gos new .\n"
           "  gos new --template=lib shapes\n"
           "  gos new --template=binding fast_stats\n"
           "\nexit code: 0 made, 1 it cannot be made, 2 wrong usage\n";
    break;
  case CommandId::Fmt:
    out << "\nWithout FILE or DIR the project of the working directory; of a directory every `.gos` file\n"
           "beneath it, links and hidden directories left out; `-` is standard input, laid out to standard\n"
           "output. A file that is not a program stays as it is, and its diagnostics are shown.\n"
           "\nexamples:\n"
           "  gos fmt\n"
           "  gos fmt --check src tests\n"
           "  gos fmt - < draft.gos\n"
           "\nexit code: 0, 1 a file would change (--check) or could not be laid out, 2 wrong usage\n";
    break;
  case CommandId::Clean:
    out << "\nRemoves the executable that `gos build` wrote for the project of DIR, or of the working\n"
           "directory, and what Cargo built of its Rust bindings. With --all what Cargo built for every\n"
           "project of yours. What `gos` did not make stays.\n"
           "\nexamples:\n"
           "  gos clean\n"
           "  gos clean --all\n"
           "\nexit code: 0, 1 something could not be removed, 2 wrong usage\n";
    break;
  case CommandId::Completions:
    out << "\nexamples:\n"
           "  gos completions bash > ~/.local/share/bash-completion/completions/gos\n"
           "  gos completions zsh > ~/.zfunc/_gos\n"
           "  gos completions fish > ~/.config/fish/completions/gos.fish\n"
           "\nexit code: 0, or 2 for a shell that is not known\n";
    break;
  case CommandId::Explain:
    out << "\nexamples:\n  gos explain GX0010\n  gos explain\n"
           "\nexit code: 0, or 2 for a code that does not exist\n";
    break;
  case CommandId::Build:
    out << "\nThe executable needs neither gos nor the sources: runtime, program and Rust bindings are\n"
           "in it. Without FILE or DIR the project of the working directory is built.\n"
           "A project goes to `project.output` in its own directory, or to a file there with the last\n"
           "part of its id as name; a FILE to the working directory, with its name without `.gos`.\n"
           "A build that fails leaves the executable that was there.\n"
           "The executable is not confined, and neither are the bindings in it.\n"
           "\nexamples:\n"
           "  gos build\n"
           "  gos build hello.gos && ./hello\n"
           "  gos build --sandbox -o bin/app examples/lookup_table\n"
           "\nexit code: 0 built or up to date, 1 diagnostics, 2 wrong usage\n";
    break;
  case CommandId::Doc:
    out << "\nComments directly above an item document it, one at the top of a file its module. Of a program\n"
           "everything is shown, of a library what is `pub`. Nothing of the program runs.\n"
           "--html replaces a directory that it made before, or an empty one; no other.\n"
           "\nexamples:\n"
           "  gos doc\n"
           "  gos doc std\n"
           "  gos doc std::fs::read_to_string\n"
           "  gos doc --html=site examples/lookup_table\n"
           "\nexit code: 0 shown, 1 diagnostics or an unknown name, 2 wrong usage\n";
    break;
  case CommandId::Repl:
    out << "\nLines are statements, items and expressions; the value of an expression is shown with its type.\n"
           "What the files of the project declare is in scope; its `main` does not run. `:help` shows the\n"
           "rest. Lines run unconfined, their compile-time regions under the policy of `gos check`.\n"
           "Without a terminal lines are read as they come, and only results are printed.\n"
           "\nexamples:\n"
           "  gos repl\n"
           "  gos repl examples/lookup_table\n"
           "  echo '6 * 7' | gos repl\n"
           "\nexit code: the program's own if a line ends it; 0, or 1 if a line of a pipe failed; 2 wrong usage\n";
    break;
  case CommandId::Parse:
  case CommandId::Disassemble:
  case CommandId::Help:
    break;
  }
}

} // namespace

llvm::ArrayRef<CommandRow> commandRows() {
  return kCommands;
}

llvm::ArrayRef<OptionRow> optionRows() {
  return kOptions;
}

std::string optionWords(const OptionRow& option) {
  StringRef value = option.value;
  if (value.empty())
    return option.spelling.str();
  if (value.consume_front("["))
    return (option.spelling + "[=" + value).str();
  return (option.spelling + (option.spelling.starts_with("--") ? "=" : " ") + value).str();
}

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
