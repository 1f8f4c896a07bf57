#include "sandbox/bwr/options.h"

#include "diagnostics/engine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstring>

namespace gos::bwr {

using llvm::StringRef;

namespace {
constexpr OptionRow kRows[] = {
#define GOS_BWR_OPTION(id, spelling, argument, form, repeat, group, complete, summary)             \
  {OptionId::id,   spelling,           argument,           ArgumentForm::form,                     \
   Repeat::repeat, OptionGroup::group, Complete::complete, summary},
#include "sandbox/bwr/options.def"
};
constexpr StringRef kTitles[] = {
#define GOS_BWR_GROUP(id, title) title,
#include "sandbox/bwr/options.def"
};
constexpr OptionGroup kGroups[] = {
#define GOS_BWR_GROUP(id, title) OptionGroup::id,
#include "sandbox/bwr/options.def"
};
constexpr StringRef kPlatforms[] = {"linux", "macos", "windows"};
constexpr StringRef kColours[] = {"auto", "always", "never"};
constexpr StringRef kShells[] = {"bash", "zsh", "fish"};

std::string code(StringRef text) {
  return "`" + text.str() + "`";
}

std::string listed(llvm::ArrayRef<StringRef> words) {
  std::string text;
  for (size_t index = 0; index != words.size(); ++index)
    text += (index == 0 ? "" : index + 1 == words.size() ? " or " : ", ") + words[index].str();
  return text;
}

std::optional<size_t> indexOf(llvm::ArrayRef<StringRef> words, StringRef word) {
  for (size_t index = 0; index != words.size(); ++index)
    if (words[index] == word)
      return index;
  return std::nullopt;
}

/// Reads the words from left to right; the first mistake ends it.
class CommandLineReader {
public:
  explicit CommandLineReader(llvm::ArrayRef<StringRef> arguments) : arguments_(arguments) {}

  ParsedCommandLine read() {
    while (next_ < arguments_.size()) {
      const StringRef word = arguments_[next_];
      if (word == "--") {
        ++next_;
        break;
      }
      // A lone `-` is no option; whoever writes it means a command of that name.
      if (!word.starts_with("-") || word == "-")
        break;
      ++next_;
      if (!readOption(word)) {
        findJson();
        return std::move(result_);
      }
    }
    for (; next_ < arguments_.size(); ++next_)
      options_.command.push_back(arguments_[next_].str());
    if (finish())
      result_.options = std::move(options_);
    return std::move(result_);
  }

private:
  bool refuse(std::string error, std::string hint) {
    result_.error = std::move(error);
    result_.hint = std::move(hint);
    return false;
  }

  /// After a mistake the rest is not understood, but how to say so is: whoever reads objects asked
  /// for one. Past a word that may be the command a file is not believed: it would be emptied.
  void findJson() {
    bool commandBegan = false;
    for (; next_ < arguments_.size() && arguments_[next_] != "--"; ++next_) {
      const StringRef word = arguments_[next_];
      commandBegan |= !word.starts_with("-");
      if (word == "--json") {
        result_.json = true;
      } else if (word.size() > strlen("--json=") && word.starts_with("--json=") && !commandBegan &&
                 !result_.json) {
        result_.json = true;
        result_.jsonFile = word.drop_front(strlen("--json=")).str();
      }
    }
  }

  bool readOption(StringRef word) {
    if (word == "-h")
      word = "--help";
    const auto [name, inlineValue] = word.split('=');
    const bool hasInline = word.contains('=');
    const OptionRow* row = nullptr;
    llvm::SmallVector<StringRef> spellings;
    for (const OptionRow& candidate : kRows) {
      spellings.push_back(candidate.spelling);
      if (candidate.spelling == name)
        row = &candidate;
    }
    if (row == nullptr) {
      const StringRef meant = nearest(name, spellings);
      return refuse("no option " + code(name),
                    !meant.empty()
                        ? "bwr " + meant.str() + (hasInline ? "=" + inlineValue.str() : "")
                        : "bwr --help");
    }
    const uint32_t bit = uint32_t(1) << unsigned(row->id);
    if (row->repeat == Repeat::Once && (seen_ & bit) != 0)
      return refuse("option " + code(name) + " is given twice", "give it once");
    seen_ |= bit;
    StringRef value = inlineValue;
    switch (row->form) {
    case ArgumentForm::None:
      if (hasInline)
        return refuse("option " + code(name) + " takes no value", "bwr " + name.str());
      break;
    case ArgumentForm::Optional:
      if (hasInline && value.empty())
        return refuse("option " + code(name) + " has an empty value",
                      "bwr " + (name + "=" + row->argument).str());
      break;
    case ArgumentForm::Required:
      if (!hasInline) {
        if (next_ == arguments_.size())
          return refuse("option " + code(name) + " needs a value",
                        "bwr " + (name + " " + row->argument).str());
        value = arguments_[next_++];
      }
      if (value.empty())
        return refuse("option " + code(name) + " has an empty value",
                      "bwr " + (name + " " + row->argument).str());
      break;
    }
    return apply(*row, value, hasInline);
  }

  bool action(OptionId id, Action action) {
    if (instead_ && options_.action != action)
      return refuse("options " + code(spellingOf(*instead_)) + " and " + code(spellingOf(id)) +
                        " are given together",
                    "ask one thing at a time");
    instead_ = id;
    options_.action = action;
    return true;
  }

  static StringRef spellingOf(OptionId id) { return kRows[size_t(id)].spelling; }

  bool path(const OptionRow& row, Access access, StringRef value) {
    options_.paths.push_back({access, value.str(), (row.spelling + " " + value).str()});
    return true;
  }

  bool apply(const OptionRow& row, StringRef value, bool hasValue) {
    size_t index = 0;
    if (const auto words = closedSet(row.complete); !words.empty()) {
      const auto found = indexOf(words, value);
      if (!found) {
        const StringRef meant = nearest(value, words);
        return refuse("option " + code(row.spelling) + " takes " + listed(words) + "; found " +
                          code(value),
                      // Of no near word none is offered: the first is the weakest.
                      meant.empty() ? "bwr --help" : "bwr " + (row.spelling + " " + meant).str());
      }
      index = *found;
    }
    switch (row.id) {
    case OptionId::Level:
      options_.level = SandboxLevel(index);
      return true;
    case OptionId::Profile:
      options_.profile = value.str();
      return true;
    case OptionId::Network:
      options_.network = NetworkMode(index);
      options_.networkGiven = true;
      return true;
    case OptionId::Workdir:
      options_.workdir = value.str();
      return true;
    case OptionId::ReadOnly:
      return path(row, Access::ReadOnly, value);
    case OptionId::ReadWrite:
      return path(row, Access::ReadWrite, value);
    case OptionId::Deny:
      return path(row, Access::Deny, value);
    case OptionId::Env:
      if (value.contains('='))
        return refuse("option `--env` takes the name of a variable; found " + code(value),
                      "bwr --setenv " + value.str());
      options_.passEnv.push_back(value.str());
      return true;
    case OptionId::SetEnv: {
      const auto [name, text] = value.split('=');
      if (!value.contains('=') || name.empty())
        return refuse("option `--setenv` takes NAME=VALUE; found " + code(value),
                      value.contains('=') ? "bwr --setenv NAME=VALUE" : "bwr --env " + value.str());
      options_.setEnv.push_back({name.str(), text.str()});
      return true;
    }
    case OptionId::Explain:
      return action(row.id, Action::Explain);
    case OptionId::Platform:
      options_.platform = Platform(index);
      platformGiven_ = true;
      return true;
    case OptionId::Report:
      options_.report = true;
      return true;
    case OptionId::Learn:
      options_.learn = value.str();
      return true;
    case OptionId::Json:
      options_.json = result_.json = true;
      if (hasValue)
        options_.jsonFile = result_.jsonFile = value.str();
      return true;
    case OptionId::Colour:
      options_.colour = ColourWhen(index);
      return true;
    case OptionId::Capabilities:
      return action(row.id, Action::Capabilities);
    case OptionId::SelfTest:
      return action(row.id, Action::SelfTest);
    case OptionId::ListProfiles:
      return action(row.id, Action::ListProfiles);
    case OptionId::ShowProfile:
      options_.showProfile = value.str();
      return action(row.id, Action::ShowProfile);
    case OptionId::Completions:
      options_.shell = Shell(index);
      return action(row.id, Action::Completions);
    case OptionId::Man:
      return action(row.id, Action::Man);
    case OptionId::Version:
      return action(row.id, Action::Version);
    case OptionId::Help:
      help_ = true;
      return true;
    }
    return false;
  }

  bool finish() {
    if (help_) { // whatever else is there, somebody asks for help
      options_.action = Action::Help;
      return true;
    }
    if (platformGiven_ && options_.action != Action::Explain)
      return refuse("option `--platform` stands without `--explain`",
                    "bwr --explain --platform linux -- COMMAND");
    if (options_.action == Action::Explain) {
      if (options_.report || options_.learn)
        return refuse("options `--explain` and `" +
                          std::string(options_.report ? "--report" : "--learn") +
                          "` are given together, and --explain runs nothing",
                      "ask one thing at a time");
      return true; // of no command it explains the policy alone
    }
    if (options_.action == Action::Run) {
      if (options_.command.empty())
        return refuse("no command is given", "bwr -- COMMAND [ARG...], or bwr --help");
      if (options_.command.front().empty())
        return refuse("the name of the command is empty", "bwr -- COMMAND [ARG...]");
      return true;
    }
    if (!options_.command.empty())
      return refuse("option " + code(spellingOf(*instead_)) + " runs no command; found " +
                        code(options_.command.front()),
                    "bwr " + spellingOf(*instead_).str());
    return true;
  }

  llvm::ArrayRef<StringRef> arguments_;
  size_t next_ = 0;
  uint32_t seen_ = 0;
  bool help_ = false, platformGiven_ = false;
  std::optional<OptionId> instead_; // the option that asks for something else than a run
  Options options_;
  ParsedCommandLine result_;
};
static_assert(std::size(kRows) <= 32, "seen_ has a bit for each option");
} // namespace

llvm::ArrayRef<OptionRow> optionRows() {
  return kRows;
}
llvm::StringRef title(OptionGroup group) {
  return kTitles[size_t(group)];
}
llvm::ArrayRef<OptionGroup> optionGroups() {
  return kGroups;
}

llvm::ArrayRef<StringRef> closedSet(Complete complete) {
  switch (complete) {
  case Complete::Levels:
    return sandboxLevelSpellings();
  case Complete::Networks:
    return networkModeSpellings();
  case Complete::Platforms:
    return kPlatforms;
  case Complete::Colours:
    return kColours;
  case Complete::Shells:
    return kShells;
  case Complete::Nothing:
  case Complete::Path:
  case Complete::Directory:
  case Complete::Profiles:
  case Complete::Variables:
    return {};
  }
  return {};
}

ParsedCommandLine parseCommandLine(llvm::ArrayRef<StringRef> arguments) {
  return CommandLineReader(arguments).read();
}

} // namespace gos::bwr
