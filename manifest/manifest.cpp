#include "manifest/manifest.h"

#include "manifest/toml_reader.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace gos {

namespace {
// ---- keys.def as data ---------------------------------------------------------------------------

/// A table of the manifest, or the table of one entry of it.
enum class Table : uint8_t {
#define GOS_MANIFEST_TABLE(name, spelling) name,
#define GOS_MANIFEST_ENTRY(name, words) name,
#include "manifest/keys.def"
};
enum class Key : uint8_t {
#define GOS_MANIFEST_KEY(table, name, spelling, type, need) table##name,
#include "manifest/keys.def"
};
enum class Type : uint8_t {
  Text,
  TextList,
  Bool,
  Version,
  Requirement,
  PackageId,
  InsidePath,
  AnyPath,
  Level,
  Sandbox,
  ModuleName,
  Url,
  Reference,
  CargoVersion,
  Hash,
};
enum class Need : uint8_t { Optional, Required };

struct TableRow {
  Table table;
  llvm::StringRef spelling;
};
struct KeyRow {
  Table table;
  Key key;
  llvm::StringRef spelling;
  Type type;
  Need need;
};
constexpr TableRow kTables[] = {
#define GOS_MANIFEST_TABLE(name, spelling) {Table::name, spelling},
#include "manifest/keys.def"
};
constexpr KeyRow kKeys[] = {
#define GOS_MANIFEST_KEY(table, name, spelling, type, need)                                        \
  {Table::table, Key::table##name, spelling, Type::type, Need::need},
#include "manifest/keys.def"
};

/// "`[project]`", "a dependency": how messages call a table.
std::string wordsOf(Table table) {
  switch (table) {
#define GOS_MANIFEST_TABLE(name, spelling)                                                         \
  case Table::name:                                                                                \
    return "`[" spelling "]`";
#define GOS_MANIFEST_ENTRY(name, words)                                                            \
  case Table::name:                                                                                \
    return words;
#include "manifest/keys.def"
  }
  return {};
}

// ---- texts --------------------------------------------------------------------------------------

bool hasControl(llvm::StringRef text) {
  return llvm::any_of(text, [](char c) { return uint8_t(c) < 0x20 || c == 0x7F; });
}

bool isModuleName(llvm::StringRef text) {
  return !text.empty() && !llvm::isDigit(text.front()) && text != "_" &&
         llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// Why a text is no package id, or empty.
llvm::StringRef packageIdProblem(llvm::StringRef id) {
  if (id.empty())
    return "it is empty";
  if (id.size() > 255)
    return "it is too long";
  for (llvm::StringRef segment : llvm::split(id, '/')) {
    if (segment.empty())
      return "a segment is empty";
    if (segment == "." || segment == "..")
      return "a segment is `.` or `..`";
    if (!llvm::all_of(segment,
                      [](char c) { return llvm::isAlnum(c) || c == '.' || c == '-' || c == '_'; }))
      return "segments are letters, digits, `.`, `-` and `_`";
  }
  return {};
}

std::string quotedList(llvm::ArrayRef<llvm::StringRef> words) {
  std::string text;
  for (llvm::StringRef word : words)
    text += (text.empty() ? "`" : ", `") + word.str() + "`";
  return text;
}

/// The word that somebody meant: in another case, with space around it, or misspelt.
llvm::StringRef meant(llvm::StringRef word, llvm::ArrayRef<llvm::StringRef> candidates) {
  const std::string tidy = word.trim().lower();
  for (llvm::StringRef candidate : candidates)
    if (candidate == tidy)
      return candidate;
  return nearest(tidy, candidates);
}

/// `comptime_io`, `comptimeIo`, `COMPTIME-IO`: letters alone.
std::string lettersOf(llvm::StringRef key) {
  std::string letters;
  for (char c : key)
    if (c != '-' && c != '_' && c != ' ' && c != '.')
      letters += llvm::toLower(c);
  return letters;
}

llvm::StringRef meantKey(llvm::StringRef key, llvm::ArrayRef<llvm::StringRef> candidates) {
  const std::string letters = lettersOf(key);
  for (llvm::StringRef candidate : candidates)
    if (lettersOf(candidate) == letters)
      return candidate;
  return nearest(key, candidates);
}

// ---- the reader ---------------------------------------------------------------------------------

/// A value that passed the check of its row, in the form of its type.
struct Checked {
  std::string text;
  std::vector<Spanned<std::string>> list;
  bool boolean = false;
  Version version;
  VersionRequirement requirement;
  ComptimeIo level = ComptimeIo::None;
  SandboxLevel sandbox = SandboxLevel::Strict;

  std::vector<std::string> texts() const {
    std::vector<std::string> result;
    for (const Spanned<std::string>& item : list)
      result.push_back(item.value);
    return result;
  }
};

class ManifestReader {
public:
  ManifestReader(FileId file, Engine& engine) : engine_(engine) { manifest_.file = file; }

  std::optional<Manifest> read(const TomlValue& top) {
    for (const TomlEntry& entry : top.entries)
      readTopEntry(entry);
    if (!manifest_.hasProject && !manifest_.workspaceMembers && !failed_) {
      failed_ = true;
      engine_.report(top.span, diag::MissingKey, "project", "the manifest")
          .help("begin with `[project]`, `id` and `version`");
    }
    checkModuleNames();
    if (failed_)
      return std::nullopt;
    return std::move(manifest_);
  }

private:
  void readTopEntry(const TomlEntry& entry) {
    const TableRow* row =
        llvm::find_if(kTables, [&](const TableRow& table) { return table.spelling == entry.key; });
    if (row == std::end(kTables)) {
      reportUnknownTop(entry);
      return;
    }
    if (entry.value.kind != TomlValue::Kind::Table) {
      wrongType(entry, "a table");
      return;
    }
    switch (row->table) {
    case Table::Project:
      readProject(entry);
      return;
    case Table::Dependencies:
      for (const TomlEntry& dependency : entry.value.entries)
        readDependency(dependency, manifest_.dependencies);
      return;
    case Table::Replace:
      for (const TomlEntry& dependency : entry.value.entries)
        readDependency(dependency, manifest_.replacements);
      return;
    case Table::Registries:
      readRegistries(entry.value);
      return;
    case Table::TrustedPublishers:
      readTrustedPublishers(entry.value);
      return;
    case Table::RustBindings:
      for (const TomlEntry& binding : entry.value.entries)
        readBinding(binding);
      return;
    case Table::Workspace:
      readWorkspace(entry);
      return;
    case Table::Dependency:
    case Table::Binding:
      return; // no tables of the top; kTables has none of them
    }
  }

  // ---- [project] and [workspace]
  // ------------------------------------------------------------------

  void readProject(const TomlEntry& table) {
    manifest_.hasProject = true;
    readTable(Table::Project, table, "`[project]`", [&](Key key, const Checked& value, Span span) {
      if (key == Key::ProjectId) {
        manifest_.id = value.text;
        manifest_.idSpan = span;
      } else if (key == Key::ProjectVersion) {
        manifest_.version = value.version;
      } else if (key == Key::ProjectAuthors) {
        manifest_.authors = value.texts();
      } else if (key == Key::ProjectLicense) {
        manifest_.license = value.text;
      } else if (key == Key::ProjectOutput) {
        manifest_.output = {value.text, span};
      } else if (key == Key::ProjectEntry) {
        manifest_.entry = {value.text, span};
      } else if (key == Key::ProjectFfi) {
        manifest_.ffi = value.boolean;
      } else if (key == Key::ProjectComptimeIo) {
        manifest_.comptimeIo = {value.level, span};
      } else if (key == Key::ProjectGossamerVersion) {
        manifest_.gossamerVersion = {value.requirement, span};
      } else if (key == Key::ProjectSandbox) {
        manifest_.sandbox = {value.sandbox, span};
      } else if (key == Key::ProjectEnforceFormat) {
        manifest_.enforceFormat = value.boolean;
      }
    });
  }

  void readWorkspace(const TomlEntry& table) {
    manifest_.workspaceMembers.emplace();
    readTable(Table::Workspace, table, "`[workspace]`", [&](Key, const Checked& value, Span) {
      for (const Spanned<std::string>& member : value.list) {
        if (!staysInside(member.value)) {
          failed_ = true;
          engine_.report(member.span, diag::WorkspaceMember, member.value,
                         "it leads outside the workspace");
        }
      }
      manifest_.workspaceMembers = value.list;
    });
  }

  // ---- [dependencies]
  // -----------------------------------------------------------------------------

  void readDependency(const TomlEntry& entry, std::vector<Dependency>& into) {
    Dependency dependency;
    dependency.key = entry.key;
    dependency.keySpan = entry.keySpan;
    if (llvm::StringRef problem = packageIdProblem(entry.key); !problem.empty()) {
      failed_ = true;
      engine_.report(entry.keySpan, diag::BadPackageId, entry.key, problem);
      return;
    }
    if (entry.value.kind == TomlValue::Kind::Text) {
      Checked value;
      if (!checkRequirement(entry.key, entry.value, value))
        return;
      dependency.requirement = value.requirement;
    } else if (entry.value.kind == TomlValue::Kind::Table) {
      if (!readDependencyTable(entry, dependency))
        return;
    } else {
      wrongType(entry, "a version requirement or a table");
      return;
    }
    if (dependency.moduleName.empty())
      dependency.moduleName = moduleNameOf(dependency.key);
    if (dependency.moduleName.empty()) {
      failed_ = true;
      engine_
          .report(entry.keySpan, diag::BadPackageId, entry.key,
                  "its last segment cannot be the name of a module")
          .help("name the module: `module = \"name\"`");
      return;
    }
    into.push_back(std::move(dependency));
  }

  bool readDependencyTable(const TomlEntry& entry, Dependency& dependency) {
    const std::string name = "dependency `" + entry.key + "`";
    const bool failedBefore = std::exchange(failed_, false);
    readTable(Table::Dependency, entry, name, [&](Key key, const Checked& value, Span span) {
      if (key == Key::DependencyPath) {
        dependency.source = Dependency::Source::Path;
        dependency.path = value.text;
        dependency.pathSpan = span;
      } else if (key == Key::DependencyGit) {
        dependency.source = Dependency::Source::Git;
        dependency.url = value.text;
      } else if (key == Key::DependencyUrl) {
        dependency.source = Dependency::Source::Url;
        dependency.url = value.text;
      } else if (key == Key::DependencyTag) {
        dependency.tag = value.text;
      } else if (key == Key::DependencyBranch) {
        dependency.branch = value.text;
      } else if (key == Key::DependencyRev) {
        dependency.revision = value.text;
      } else if (key == Key::DependencySha256) {
        dependency.sha256 = value.text;
      } else if (key == Key::DependencyVersion) {
        dependency.requirement = value.requirement;
      } else if (key == Key::DependencyModule) {
        dependency.moduleName = value.text;
      }
    });
    checkSources(entry, name, {"path", "git", "url"}, {"version"});
    requireWith(entry, name, "url", "sha256");
    const bool good = !failed_;
    failed_ |= failedBefore;
    return good;
  }

  // ---- [rust-bindings]
  // ----------------------------------------------------------------------------

  void readBinding(const TomlEntry& entry) {
    RustBinding binding;
    binding.key = entry.key;
    binding.keySpan = entry.keySpan;
    const bool plainName =
        !entry.key.empty() && llvm::isAlpha(entry.key.front()) &&
        llvm::all_of(entry.key, [](char c) { return llvm::isAlnum(c) || c == '-' || c == '_'; });
    if (!plainName) {
      failed_ = true;
      engine_.report(entry.keySpan, diag::BadPackageId, entry.key,
                     "a Cargo package is letters, digits, `-` and `_`");
      return;
    }
    if (entry.value.kind == TomlValue::Kind::Text) {
      Checked value;
      if (!checkText(Type::CargoVersion, entry.key, entry.value, value))
        return;
      binding.value = value.text;
    } else if (entry.value.kind == TomlValue::Kind::Table) {
      const std::string name = "binding `" + entry.key + "`";
      readTable(Table::Binding, entry, name, [&](Key key, const Checked& value, Span) {
        if (key == Key::BindingPath) {
          binding.source = RustBinding::Source::Path;
          binding.value = value.text;
        } else if (key == Key::BindingVersion) {
          binding.source = RustBinding::Source::Version;
          binding.value = value.text;
        } else if (key == Key::BindingGit) {
          binding.source = RustBinding::Source::Git;
          binding.value = value.text;
        } else if (key == Key::BindingSrc) {
          binding.source = RustBinding::Source::SourceFile;
          binding.value = value.text;
        } else if (key == Key::BindingTag) {
          binding.tag = value.text;
        } else if (key == Key::BindingBranch) {
          binding.branch = value.text;
        } else if (key == Key::BindingRev) {
          binding.revision = value.text;
        } else if (key == Key::BindingFeatures) {
          binding.features = value.texts();
        } else if (key == Key::BindingDefaultFeatures) {
          binding.defaultFeatures = value.boolean;
        }
      });
      checkSources(entry, name, {"path", "git", "version", "src"}, {});
    } else {
      wrongType(entry, "a version or a table");
      return;
    }
    manifest_.bindings.push_back(std::move(binding));
  }

  // ---- tables of free names
  // -----------------------------------------------------------------------

  void readRegistries(const TomlValue& table) {
    for (const TomlEntry& entry : table.entries) {
      Checked value;
      if (checkText(Type::Url, entry.key, entry.value, value))
        manifest_.registries.push_back({entry.key, value.text});
    }
  }

  void readTrustedPublishers(const TomlValue& table) {
    for (const TomlEntry& entry : table.entries) {
      Checked value;
      const bool good = entry.value.kind == TomlValue::Kind::Array
                            ? checkList(entry.key, entry.value, value)
                            : checkText(Type::Text, entry.key, entry.value, value);
      if (good)
        manifest_.trustedPublishers.push_back(entry.key);
    }
  }

  // ---- rows
  // ---------------------------------------------------------------------------------------

  /// Reads a table by the rows of keys.def: unknown keys, types, required keys.
  template <class Store>
  void readTable(Table table, const TomlEntry& entry, llvm::StringRef name, Store store) {
    for (const TomlEntry& item : entry.value.entries) {
      const KeyRow* row = llvm::find_if(kKeys, [&](const KeyRow& candidate) {
        return candidate.table == table && candidate.spelling == item.key;
      });
      if (row == std::end(kKeys)) {
        reportUnknown(table, item, name);
        continue;
      }
      Checked value;
      if (check(*row, item, value))
        store(row->key, value, item.value.span);
    }
    for (const KeyRow& row : kKeys) {
      if (row.table != table || row.need != Need::Required || entry.value.find(row.spelling))
        continue;
      failed_ = true;
      engine_.report(entry.keySpan, diag::MissingKey, row.spelling, name);
    }
  }

  bool check(const KeyRow& row, const TomlEntry& entry, Checked& value) {
    const TomlValue& given = entry.value;
    switch (row.type) {
    case Type::Bool:
      if (given.kind != TomlValue::Kind::Boolean)
        return wrongType(entry, "`true` or `false`");
      value.boolean = given.boolean;
      return true;
    case Type::TextList:
      return checkList(entry.key, given, value);
    case Type::Version: {
      if (given.kind != TomlValue::Kind::Text)
        return wrongType(entry, "a version such as `\"1.2.3\"`");
      auto version = Version::parse(given.text);
      if (!version)
        return bad(given, "a version of the form `1.2.3`");
      value.version = std::move(*version);
      return true;
    }
    case Type::Requirement:
      return checkRequirement(entry.key, given, value);
    case Type::Level:
      return checkWord(entry, comptimeIoSpellings(), [&](llvm::StringRef word) {
        auto level = comptimeIoFromSpelling(word);
        value.level = level.value_or(ComptimeIo::None);
        return level.has_value();
      });
    case Type::Sandbox:
      return checkWord(entry, sandboxLevelSpellings(), [&](llvm::StringRef word) {
        auto level = sandboxLevelFromSpelling(word);
        value.sandbox = level.value_or(SandboxLevel::Strict);
        return level.has_value();
      });
    case Type::PackageId:
      if (given.kind != TomlValue::Kind::Text)
        return wrongType(entry, "a string");
      if (llvm::StringRef problem = packageIdProblem(given.text); !problem.empty()) {
        failed_ = true;
        engine_.report(given.span, diag::BadPackageId, given.text, problem);
        return false;
      }
      value.text = given.text;
      return true;
    case Type::InsidePath:
      if (given.kind != TomlValue::Kind::Text)
        return wrongType(entry, "a path inside the package");
      if (!staysInside(given.text)) {
        failed_ = true;
        engine_.report(given.span, diag::PathOutsidePackage, given.text, entry.key)
            .help("give a path relative to the directory of `project.toml`, without `..`");
        return false;
      }
      value.text = given.text;
      return true;
    case Type::Text:
    case Type::AnyPath:
    case Type::ModuleName:
    case Type::Url:
    case Type::Reference:
    case Type::CargoVersion:
    case Type::Hash:
      return checkText(row.type, entry.key, given, value);
    }
    return false;
  }

  /// A word of a closed set; nothing is trimmed, folded or guessed.
  template <class Parse>
  bool checkWord(const TomlEntry& entry, llvm::ArrayRef<llvm::StringRef> words, Parse parse) {
    if (entry.value.kind != TomlValue::Kind::Text)
      return wrongType(entry, "one of " + quotedList(words));
    if (parse(entry.value.text))
      return true;
    failed_ = true;
    Diagnostic& report = engine_.report(entry.value.span, diag::UnknownWord, entry.value.text,
                                        entry.key, quotedList(words));
    if (llvm::StringRef word = meant(entry.value.text, words); !word.empty())
      report.help("did you mean `" + word.str() + "`?")
          .suggest(entry.value.span, "\"" + word.str() + "\"", "the nearest word");
    return false;
  }

  bool checkRequirement(llvm::StringRef key, const TomlValue& given, Checked& value) {
    if (given.kind != TomlValue::Kind::Text)
      return wrongType(key, given, "a version requirement such as `\"^1.2.3\"`");
    auto requirement = VersionRequirement::parse(given.text);
    if (!requirement)
      return bad(given, "a version requirement: `1.2.3` or `=1.2.3` for exactly that version, "
                        "`^1.2.3` for that or a later one");
    value.requirement = std::move(*requirement);
    return true;
  }

  bool checkText(Type type, llvm::StringRef key, const TomlValue& given, Checked& value) {
    if (given.kind != TomlValue::Kind::Text)
      return wrongType(key, given, "a string");
    const llvm::StringRef text = given.text;
    value.text = given.text;
    if (text.contains('\0'))
      return bad(given, "a text without NUL");
    if (type == Type::AnyPath && text.empty())
      return bad(given, "a path");
    if (type == Type::ModuleName && !isModuleName(text))
      return bad(given, "the name of a module");
    // What begins with a dash would be an option of the program that fetches.
    const bool word =
        !text.empty() && !text.starts_with("-") && !hasControl(text) && !text.contains(' ');
    if (type == Type::Url && !word)
      return bad(given, "a URL");
    if (type == Type::Reference && !word)
      return bad(given, "the name of a tag, branch or revision");
    if (type == Type::CargoVersion && (text.empty() || !llvm::all_of(text, [](char c) {
                                         return llvm::isAlnum(c) ||
                                                llvm::StringRef(".*^~=<>, +-").contains(c);
                                       })))
      return bad(given, "a version requirement of Cargo");
    if (type == Type::Hash && (text.size() != 64 || !llvm::all_of(text, llvm::isHexDigit)))
      return bad(given, "a SHA-256 of 64 hexadecimal digits");
    return true;
  }

  bool checkList(llvm::StringRef key, const TomlValue& given, Checked& value) {
    if (given.kind != TomlValue::Kind::Array)
      return wrongType(key, given, "an array of strings");
    for (const TomlValue& item : given.items) {
      if (item.kind != TomlValue::Kind::Text)
        return wrongType(key, item, "a string");
      if (llvm::StringRef(item.text).contains('\0'))
        return bad(item, "a text without NUL");
      value.list.push_back({item.text, item.span});
    }
    return true;
  }

  // ---- relations between keys
  // ---------------------------------------------------------------------

  /// Exactly one of `sources`, or one of `alternatives`; a tag, branch or revision only with git,
  /// and at most one of them.
  void checkSources(const TomlEntry& entry, llvm::StringRef name,
                    llvm::ArrayRef<llvm::StringRef> sources,
                    llvm::ArrayRef<llvm::StringRef> alternatives) {
    const bool any = atMostOne(entry, sources);
    atMostOne(entry, {"tag", "branch", "rev"});
    for (llvm::StringRef reference : {"tag", "branch", "rev"})
      requireWith(entry, name, reference, "git");
    const bool other = llvm::any_of(
        alternatives, [&](llvm::StringRef key) { return entry.value.find(key) != nullptr; });
    if (any || other || failed_)
      return;
    failed_ = true;
    std::string all;
    for (llvm::StringRef source : sources)
      all += (all.empty() ? "" : "`, `") + source.str();
    for (llvm::StringRef source : alternatives)
      all += "`, `" + source.str();
    const size_t last = all.rfind("`, `");
    all.replace(last, 4, "` or `");
    engine_.report(entry.keySpan, diag::MissingKey, all, name);
  }

  /// Is one of them there?
  bool atMostOne(const TomlEntry& entry, llvm::ArrayRef<llvm::StringRef> keys) {
    const TomlEntry* first = nullptr;
    for (llvm::StringRef key : keys) {
      const TomlEntry* found = entry.value.find(key);
      if (found && first) {
        failed_ = true;
        engine_.report(found->keySpan, diag::ConflictingKeys, first->key, found->key)
            .label(first->keySpan, "given here too");
      }
      if (found && !first)
        first = found;
    }
    return first != nullptr;
  }

  void requireWith(const TomlEntry& entry, llvm::StringRef name, llvm::StringRef key,
                   llvm::StringRef needed) {
    const TomlEntry* found = entry.value.find(key);
    if (!found || entry.value.find(needed))
      return;
    failed_ = true;
    engine_.report(found->keySpan, diag::MissingKey, needed, name)
        .primary("`" + key.str() + "` needs `" + needed.str() + "`");
  }

  void checkModuleNames() {
    llvm::StringMap<const Dependency*> seen;
    for (const Dependency& dependency : manifest_.dependencies) {
      auto [place, isNew] = seen.try_emplace(dependency.moduleName, &dependency);
      if (isNew)
        continue;
      failed_ = true;
      engine_.report(dependency.keySpan, diag::ConflictingKeys, place->second->key, dependency.key)
          .label(place->second->keySpan, "is module `" + dependency.moduleName + "` too")
          .help("give one of them another name: `module = \"name\"`");
    }
  }

  // ---- messages
  // -----------------------------------------------------------------------------------

  bool wrongType(llvm::StringRef key, const TomlValue& given, llvm::StringRef expected) {
    failed_ = true;
    engine_.report(given.span, diag::WrongKeyType, key, words(given.kind), expected);
    return false;
  }
  bool wrongType(const TomlEntry& entry, llvm::StringRef expected) {
    return wrongType(entry.key, entry.value, expected);
  }
  bool bad(const TomlValue& given, llvm::StringRef expected) {
    failed_ = true;
    engine_.report(given.span, diag::BadVersion, given.text, expected);
    return false;
  }

  void reportUnknownTop(const TomlEntry& entry) {
    failed_ = true;
    if (reportWrongTable(entry, "the top of the manifest"))
      return;
    llvm::SmallVector<llvm::StringRef, 8> names;
    for (const TableRow& row : kTables)
      names.push_back(row.spelling);
    offer(engine_.report(entry.keySpan, diag::UnknownKey, entry.key, "the manifest"), entry, names);
  }

  void reportUnknown(Table table, const TomlEntry& entry, llvm::StringRef name) {
    failed_ = true;
    llvm::SmallVector<llvm::StringRef, 16> names;
    for (const KeyRow& row : kKeys)
      if (row.table == table)
        names.push_back(row.spelling);
    const bool isTop = table == Table::Project || table == Table::Workspace;
    if (isTop && reportWrongTable(entry, name))
      return;
    offer(engine_.report(entry.keySpan, diag::UnknownKey, entry.key, name), entry, names);
  }

  /// A key, rightly spelt, that belongs in [project] or [workspace].
  bool reportWrongTable(const TomlEntry& entry, llvm::StringRef name) {
    for (const KeyRow& row : kKeys)
      if (row.spelling == entry.key &&
          (row.table == Table::Project || row.table == Table::Workspace)) {
        engine_.report(entry.keySpan, diag::KeyInWrongTable, entry.key, name, wordsOf(row.table));
        return true;
      }
    return false;
  }

  void offer(Diagnostic& report, const TomlEntry& entry, llvm::ArrayRef<llvm::StringRef> names) {
    if (llvm::StringRef name = meantKey(entry.key, names); !name.empty())
      report.help("did you mean `" + name.str() + "`?")
          .suggest(entry.keySpan, name.str(), "the nearest key");
    else
      report.help("known are " + quotedList(names));
  }

  Engine& engine_;
  Manifest manifest_;
  bool failed_ = false;
};
} // namespace

std::optional<Manifest> readManifest(FileId file, Engine& engine) {
  std::optional<TomlValue> top = readToml(file, engine);
  if (!top)
    return std::nullopt;
  return ManifestReader(file, engine).read(*top);
}

std::string moduleNameOf(llvm::StringRef idOrKey) {
  std::string name = idOrKey.rsplit('/').second.str();
  if (!idOrKey.contains('/'))
    name = idOrKey.str();
  std::replace(name.begin(), name.end(), '-', '_');
  return isModuleName(name) ? name : std::string();
}

bool staysInside(llvm::StringRef path) {
  if (path.empty() || path.contains('\0') || path.starts_with("/") || path.starts_with("\\"))
    return false;
  if (path.size() > 1 && llvm::isAlpha(path[0]) && path[1] == ':')
    return false;
  std::string slashes = path.str();
  std::replace(slashes.begin(), slashes.end(), '\\', '/');
  for (llvm::StringRef component : llvm::split(llvm::StringRef(slashes), '/'))
    if (component == "..")
      return false;
  return true;
}

} // namespace gos
