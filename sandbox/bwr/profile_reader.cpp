#include "manifest/toml_reader.h"
#include "sandbox/bwr/expand.h"
#include "sandbox/bwr/profile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace gos::bwr {

using llvm::StringRef;

namespace {
enum class Table : uint8_t {
#define GOS_PROFILE_TABLE(id, words) id,
#include "sandbox/bwr/profile_keys.def"
};
enum class Key : uint8_t {
#define GOS_PROFILE_KEY(table, id, spelling, type, need) table##id,
#include "sandbox/bwr/profile_keys.def"
};
enum class Type : uint8_t {
  Word,
  WordList,
  FileWordList,
  PathList,
  NameList,
  Settings,
  AccessWord,
  NetworkWord,
  Bool,
  Toolchains,
  Phases
};
enum class Need : uint8_t { Optional, Required };
struct KeyRow {
  Table table;
  Key key;
  StringRef spelling;
  Type type;
  Need need;
};
constexpr KeyRow kKeys[] = {
#define GOS_PROFILE_KEY(table, id, spelling, type, need)                                           \
  {Table::table, Key::table##id, spelling, Type::type, Need::need},
#include "sandbox/bwr/profile_keys.def"
};
constexpr StringRef kTableWords[] = {
#define GOS_PROFILE_TABLE(id, words) words,
#include "sandbox/bwr/profile_keys.def"
};
constexpr StringRef kPhases[] = {"fetch", "build", "edit"};
constexpr StringRef kGrantWords[] = {"read-only", "read-write"};

std::string quotedList(llvm::ArrayRef<StringRef> words) {
  std::string text;
  for (StringRef word : words)
    text += (text.empty() ? "`" : ", `") + word.str() + "`";
  return text;
}

/// A value that passed the check of its row.
struct Checked {
  std::string text;
  std::vector<std::string> list;
  std::vector<EnvSetting> settings;
  size_t word = 0;
  bool boolean = false;
};

class ProfileReader {
public:
  ProfileReader(Engine& engine, Profile& profile) : engine_(engine), profile_(profile) {}

  bool read(const TomlValue& root) {
    readTable(Table::Profile, root, root.span,
              [&](Key key, const Checked& value, const TomlEntry& entry) {
                storeProfile(key, value, entry);
              });
    if (!failed_ && profile_.phase(PhaseKind::Build) == nullptr) {
      engine_.report(root.span, diag::MissingKey, "phase.build", kTableWords[0]);
      failed_ = true;
    }
    return !failed_;
  }

private:
  using Store = llvm::function_ref<void(Key, const Checked&, const TomlEntry&)>;

  void readTable(Table table, const TomlValue& value, Span place, Store store) {
    for (const TomlEntry& entry : value.entries) {
      const KeyRow* row = llvm::find_if(kKeys, [&](const KeyRow& each) {
        return each.table == table && each.spelling == entry.key;
      });
      if (row == std::end(kKeys)) {
        reportUnknown(table, entry);
        continue;
      }
      Checked checked;
      if (check(*row, entry, checked))
        store(row->key, checked, entry);
    }
    for (const KeyRow& row : kKeys)
      if (row.table == table && row.need == Need::Required && value.find(row.spelling) == nullptr) {
        engine_.report(place, diag::MissingKey, row.spelling, kTableWords[size_t(table)]);
        failed_ = true;
      }
  }

  void reportUnknown(Table table, const TomlEntry& entry) {
    failed_ = true;
    llvm::SmallVector<StringRef> names;
    for (const KeyRow& row : kKeys)
      if (row.table == table)
        names.push_back(row.spelling);
    Diagnostic& report =
        engine_.report(entry.keySpan, diag::UnknownKey, entry.key, kTableWords[size_t(table)]);
    if (const StringRef meant = nearest(entry.key, names); !meant.empty())
      report.help("did you mean `" + meant.str() + "`?")
          .suggest(entry.keySpan, meant.str(), "the nearest key");
  }

  bool bad(const TomlValue& value, StringRef key, const std::string& expected) {
    failed_ = true;
    if (value.kind == TomlValue::Kind::Text)
      engine_.report(value.span, diag::WrongKeyType, key, "`" + value.text + "`", expected);
    else
      engine_.report(value.span, diag::WrongKeyType, key, words(value.kind), expected);
    return false;
  }

  bool check(const KeyRow& row, const TomlEntry& entry, Checked& checked) {
    const TomlValue& value = entry.value;
    switch (row.type) {
    case Type::Word:
      if (value.kind != TomlValue::Kind::Text || value.text.empty() || hasControl(value.text))
        return bad(value, entry.key, "a text of one line");
      checked.text = value.text;
      return true;
    case Type::Bool:
      if (value.kind != TomlValue::Kind::Boolean)
        return bad(value, entry.key, "`true` or `false`");
      checked.boolean = value.boolean;
      return true;
    case Type::WordList:
      return checkList(entry, "a list of words", checked,
                       [](StringRef word) { return !word.empty() && !hasControl(word); });
    case Type::FileWordList:
      return checkList(entry, "a list of texts `FILE WORD`, with FILE relative and without `..`",
                       checked, isFileWord);
    case Type::PathList:
      return checkList(entry,
                       "a list of paths that begin with `/`, `~/` or `${NAME}`, without `..`",
                       checked, isPathPattern);
    case Type::NameList:
      return checkNames(entry, checked);
    case Type::Settings:
      return checkSettings(entry, checked);
    case Type::AccessWord:
      return checkWord(entry, kGrantWords, checked);
    case Type::NetworkWord:
      return checkWord(entry, networkModeSpellings(), checked);
    case Type::Toolchains:
      if (value.kind == TomlValue::Kind::Array &&
          llvm::all_of(value.items,
                       [](const TomlValue& item) { return item.kind == TomlValue::Kind::Table; }))
        return true;
      return bad(value, entry.key, "an array of tables, `[[toolchain]]`");
    case Type::Phases:
      if (value.kind == TomlValue::Kind::Table)
        return true;
      return bad(value, entry.key, "a table, `[phase.build]`");
    }
    return false;
  }

  static bool hasControl(StringRef text) {
    return llvm::any_of(text, [](char c) { return uint8_t(c) < 0x20 || c == 0x7f; });
  }

  static bool isFileWord(StringRef text) {
    const auto [file, word] = text.split(' ');
    llvm::SmallVector<StringRef> parts;
    file.split(parts, '/');
    return !hasControl(text) && !word.empty() && !word.contains(' ') &&
           llvm::all_of(
               parts, [](StringRef part) { return !part.empty() && part != "." && part != ".."; });
  }

  bool checkList(const TomlEntry& entry, const std::string& expected, Checked& checked,
                 llvm::function_ref<bool(StringRef)> good) {
    if (entry.value.kind != TomlValue::Kind::Array)
      return bad(entry.value, entry.key, expected);
    bool all = true;
    for (const TomlValue& item : entry.value.items) {
      if (item.kind != TomlValue::Kind::Text || !good(item.text))
        all = bad(item, entry.key, expected);
      checked.list.push_back(item.text);
    }
    return all;
  }

  bool checkName(StringRef name, Span span) {
    const StringRef problem = environmentNameProblem(name);
    if (problem.empty())
      return true;
    failed_ = true;
    engine_.report(span, diag::WrongKeyType, name, "not passed on", problem);
    return false;
  }

  bool checkNames(const TomlEntry& entry, Checked& checked) {
    if (!checkList(entry, "a list of environment variables", checked,
                   [](StringRef name) { return !name.empty(); }))
      return false;
    bool all = true;
    for (const TomlValue& item : entry.value.items)
      all &= checkName(item.text, item.span);
    return all;
  }

  bool checkSettings(const TomlEntry& entry, Checked& checked) {
    if (entry.value.kind != TomlValue::Kind::Table)
      return bad(entry.value, entry.key, "a table of environment variables and their values");
    bool all = true;
    for (const TomlEntry& setting : entry.value.entries) {
      all &= checkName(setting.key, setting.keySpan);
      if (setting.value.kind != TomlValue::Kind::Text ||
          StringRef(setting.value.text).contains('\0') || !isPattern(setting.value.text))
        all = bad(setting.value, setting.key, "a text, with variables as `${NAME}`");
      checked.settings.push_back({setting.key, setting.value.text});
    }
    return all;
  }

  bool checkWord(const TomlEntry& entry, llvm::ArrayRef<StringRef> choices, Checked& checked) {
    if (entry.value.kind != TomlValue::Kind::Text)
      return bad(entry.value, entry.key, "one of " + quotedList(choices));
    const auto found = llvm::find(choices, StringRef(entry.value.text));
    if (found == choices.end()) {
      failed_ = true;
      engine_.report(entry.value.span, diag::UnknownWord, entry.value.text, entry.key,
                     quotedList(choices));
      return false;
    }
    checked.word = size_t(found - choices.begin());
    return true;
  }

  void storeProfile(Key key, const Checked& value, const TomlEntry& entry) {
    switch (key) {
    case Key::ProfileSummary:
      profile_.summary = value.text;
      return;
    case Key::ProfileCommands:
      profile_.commands = value.list;
      return;
    case Key::ProfileProject:
      profile_.project = value.list;
      return;
    case Key::ProfileProjectClimbs:
      profile_.projectClimbs = value.boolean;
      return;
    case Key::ProfileValueOptions:
      profile_.valueOptions = value.list;
      return;
    case Key::ProfileFetchCommand:
      profile_.fetchCommand = value.text;
      return;
    case Key::ProfileToolchain:
      for (const TomlValue& item : entry.value.items)
        readToolchain(item);
      return;
    case Key::ProfilePhase:
      for (const TomlEntry& item : entry.value.entries)
        readPhase(item);
      return;
    case Key::ToolchainName:
    case Key::ToolchainFoundIn:
    case Key::ToolchainReadOnly:
    case Key::ToolchainPass:
    case Key::ToolchainSet:
    case Key::PhaseSubcommands:
    case Key::PhaseNetwork:
    case Key::PhaseProject:
    case Key::PhaseReadOnly:
    case Key::PhaseReadWrite:
    case Key::PhaseCreate:
    case Key::PhaseCreateFiles:
    case Key::PhaseExpects:
    case Key::PhaseInstalled:
    case Key::PhaseDeclared:
    case Key::PhaseOfflineWords:
    case Key::PhaseOfflineCheck:
    case Key::PhaseOfflineLog:
    case Key::PhaseNamedPrograms:
    case Key::PhasePass:
    case Key::PhaseSet:
    case Key::PhaseSetOffline:
      return; // of the other tables
    }
  }

  void readToolchain(const TomlValue& item) {
    Toolchain& made = profile_.toolchains.emplace_back();
    readTable(Table::Toolchain, item, item.span,
              [&](Key key, const Checked& value, const TomlEntry&) {
                if (key == Key::ToolchainName)
                  made.name = value.text;
                else if (key == Key::ToolchainFoundIn)
                  made.foundIn = value.list;
                else if (key == Key::ToolchainReadOnly)
                  made.readOnly = value.list;
                else if (key == Key::ToolchainPass)
                  made.pass = value.list;
                else if (key == Key::ToolchainSet)
                  made.set = value.settings;
              });
  }

  void readPhase(const TomlEntry& entry) {
    const auto* kind = llvm::find(kPhases, StringRef(entry.key));
    if (kind == std::end(kPhases)) {
      failed_ = true;
      engine_.report(entry.keySpan, diag::UnknownWord, entry.key, "phase", quotedList(kPhases));
      return;
    }
    if (entry.value.kind != TomlValue::Kind::Table) {
      bad(entry.value, entry.key, "a table, `[phase." + entry.key + "]`");
      return;
    }
    Phase& made = profile_.phases.emplace_back();
    made.kind = PhaseKind(kind - kPhases);
    readTable(
        Table::Phase, entry.value, entry.keySpan,
        [&](Key key, const Checked& value, const TomlEntry&) { storePhase(made, key, value); });
  }

  static void storePhase(Phase& phase, Key key, const Checked& value) {
    if (key == Key::PhaseSubcommands)
      phase.subcommands = value.list;
    else if (key == Key::PhaseNetwork)
      phase.network = NetworkMode(value.word);
    else if (key == Key::PhaseProject)
      phase.project = value.word == 0 ? Access::ReadOnly : Access::ReadWrite;
    else if (key == Key::PhaseReadOnly)
      phase.readOnly = value.list;
    else if (key == Key::PhaseReadWrite)
      phase.readWrite = value.list;
    else if (key == Key::PhaseCreate)
      phase.create = value.list;
    else if (key == Key::PhaseCreateFiles)
      phase.createFiles = value.list;
    else if (key == Key::PhaseExpects)
      phase.expects = value.list;
    else if (key == Key::PhaseInstalled)
      phase.installed = value.list;
    else if (key == Key::PhaseDeclared)
      phase.declared = value.list;
    else if (key == Key::PhaseOfflineWords)
      phase.offlineWords = value.list;
    else if (key == Key::PhaseOfflineCheck)
      phase.offlineCheck = value.list;
    else if (key == Key::PhaseOfflineLog)
      phase.offlineLog = value.list;
    else if (key == Key::PhaseNamedPrograms)
      phase.namedPrograms = value.list;
    else if (key == Key::PhasePass)
      phase.pass = value.list;
    else if (key == Key::PhaseSet)
      phase.set = value.settings;
    else if (key == Key::PhaseSetOffline)
      phase.setOffline = value.settings;
  }

  Engine& engine_;
  Profile& profile_;
  bool failed_ = false;
};

/// Do the words of a pattern stand in the arguments? `positional` are those that are no options.
bool matches(StringRef pattern, llvm::ArrayRef<StringRef> positional,
             llvm::ArrayRef<std::string> arguments) {
  llvm::SmallVector<StringRef> patternWords;
  pattern.split(patternWords, ' ', -1, false);
  size_t next = 0;
  for (StringRef word : patternWords) {
    if (word.starts_with("-")) {
      // `--only-binary` is also given by `--only-binary=:all:`.
      const bool given = llvm::any_of(arguments, [&](const std::string& argument) {
        return argument == word ||
               (!word.contains('=') && StringRef(argument).starts_with((word + "=").str()));
      });
      if (!given)
        return false;
    } else if (next == positional.size() || positional[next++] != word) {
      return false;
    }
  }
  // A pattern of options alone is for a tool without a subcommand (`yarn --ignore-scripts`).
  return !patternWords.empty() && (next != 0 || positional.empty());
}
} // namespace

llvm::StringRef spelling(PhaseKind kind) {
  return kPhases[size_t(kind)];
}

const Phase* Profile::phase(PhaseKind kind) const {
  for (const Phase& each : phases)
    if (each.kind == kind)
      return &each;
  return nullptr;
}

const Phase* Profile::phaseFor(llvm::ArrayRef<std::string> arguments) const {
  llvm::SmallVector<StringRef> positional;
  for (size_t index = 0; index < arguments.size(); ++index) {
    const StringRef word = arguments[index];
    if (word == "--")
      break;
    if (word.starts_with("-")) {
      if (llvm::is_contained(valueOptions, word))
        ++index;
    } else if (!word.starts_with("+")) { // cargo +nightly build
      positional.push_back(word);
    }
  }
  for (const Phase& each : phases)
    for (const std::string& pattern : each.subcommands)
      if (matches(pattern, positional, arguments))
        return &each;
  return phase(PhaseKind::Build);
}

std::optional<Profile> readProfile(llvm::StringRef name, FileId file, Engine& engine) {
  std::optional<TomlValue> root = readToml(file, engine);
  if (!root)
    return std::nullopt;
  Profile profile;
  profile.name = name.str();
  if (!ProfileReader(engine, profile).read(*root))
    return std::nullopt;
  return profile;
}

} // namespace gos::bwr
