#include "manifest/manifest_tables.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace gos::keys {

namespace {
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

bool hasControl(llvm::StringRef text) {
  return llvm::any_of(text, [](char c) { return uint8_t(c) < 0x20 || c == 0x7F; });
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
} // namespace

llvm::ArrayRef<TableRow> topTables() {
  return kTables;
}

bool isModuleName(llvm::StringRef text) {
  return !text.empty() && !llvm::isDigit(text.front()) && text != "_" &&
         llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

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

void TableReader::read(Table table, const TomlEntry& entry, llvm::StringRef name,
                       llvm::function_ref<void(Key, const Checked&, Span)> store) {
  const size_t failuresBefore = failures_;
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
    fail();
    engine_.report(entry.keySpan, diag::MissingKey, row.spelling, name);
  }
  lastTableGood_ = failures_ == failuresBefore;
}

bool TableReader::check(const KeyRow& row, const TomlEntry& entry, Checked& value) {
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
      fail();
      engine_.report(given.span, diag::BadPackageId, given.text, problem);
      return false;
    }
    value.text = given.text;
    return true;
  case Type::InsidePath:
    if (given.kind != TomlValue::Kind::Text)
      return wrongType(entry, "a path inside the package");
    if (!staysInside(given.text)) {
      fail();
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

bool TableReader::checkWord(const TomlEntry& entry, llvm::ArrayRef<llvm::StringRef> words,
                            llvm::function_ref<bool(llvm::StringRef)> parse) {
  if (entry.value.kind != TomlValue::Kind::Text)
    return wrongType(entry, "one of " + quotedList(words));
  if (parse(entry.value.text))
    return true;
  fail();
  Diagnostic& report = engine_.report(entry.value.span, diag::UnknownWord, entry.value.text,
                                      entry.key, quotedList(words));
  if (llvm::StringRef word = meant(entry.value.text, words); !word.empty())
    report.help("did you mean `" + word.str() + "`?")
        .suggest(entry.value.span, "\"" + word.str() + "\"", "the nearest word");
  return false;
}

bool TableReader::checkRequirement(llvm::StringRef key, const TomlValue& given, Checked& value) {
  if (given.kind != TomlValue::Kind::Text)
    return wrongType(key, given, "a version requirement such as `\"^1.2.3\"`");
  auto requirement = VersionRequirement::parse(given.text);
  if (!requirement)
    return bad(given, "a version requirement: `1.2.3` or `=1.2.3` for exactly that version, "
                      "`^1.2.3` for that or a later one");
  value.requirement = std::move(*requirement);
  return true;
}

bool TableReader::checkText(Type type, llvm::StringRef key, const TomlValue& given,
                            Checked& value) {
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

bool TableReader::checkList(llvm::StringRef key, const TomlValue& given, Checked& value) {
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

void TableReader::checkSources(const TomlEntry& entry, llvm::StringRef name,
                               llvm::ArrayRef<llvm::StringRef> sources,
                               llvm::ArrayRef<llvm::StringRef> alternatives) {
  const bool any = atMostOne(entry, sources);
  atMostOne(entry, {"tag", "branch", "rev"});
  for (llvm::StringRef reference : {"tag", "branch", "rev"})
    requireWith(entry, name, reference, "git");
  const bool other = llvm::any_of(
      alternatives, [&](llvm::StringRef key) { return entry.value.find(key) != nullptr; });
  // A key that was not understood may have been the source.
  if (any || other || !lastTableGood_)
    return;
  fail();
  std::string all;
  for (llvm::StringRef source : sources)
    all += (all.empty() ? "" : "`, `") + source.str();
  for (llvm::StringRef source : alternatives)
    all += "`, `" + source.str();
  const size_t last = all.rfind("`, `");
  all.replace(last, 4, "` or `");
  engine_.report(entry.keySpan, diag::MissingKey, all, name);
}

bool TableReader::atMostOne(const TomlEntry& entry, llvm::ArrayRef<llvm::StringRef> keys) {
  const TomlEntry* first = nullptr;
  for (llvm::StringRef key : keys) {
    const TomlEntry* found = entry.value.find(key);
    if (found && first) {
      fail();
      engine_.report(found->keySpan, diag::ConflictingKeys, first->key, found->key)
          .label(first->keySpan, "given here too");
    }
    if (found && !first)
      first = found;
  }
  return first != nullptr;
}

void TableReader::requireWith(const TomlEntry& entry, llvm::StringRef name, llvm::StringRef key,
                              llvm::StringRef needed) {
  const TomlEntry* found = entry.value.find(key);
  if (!found || entry.value.find(needed))
    return;
  fail();
  engine_.report(found->keySpan, diag::MissingKey, needed, name)
      .primary("`" + key.str() + "` needs `" + needed.str() + "`");
}

bool TableReader::wrongType(llvm::StringRef key, const TomlValue& given, llvm::StringRef expected) {
  fail();
  engine_.report(given.span, diag::WrongKeyType, key, words(given.kind), expected);
  return false;
}

bool TableReader::bad(const TomlValue& given, llvm::StringRef expected) {
  fail();
  engine_.report(given.span, diag::BadVersion, given.text, expected);
  return false;
}

void TableReader::reportUnknownTop(const TomlEntry& entry) {
  fail();
  if (reportWrongTable(entry, "the top of the manifest"))
    return;
  llvm::SmallVector<llvm::StringRef, 8> names;
  for (const TableRow& row : kTables)
    names.push_back(row.spelling);
  offer(engine_.report(entry.keySpan, diag::UnknownKey, entry.key, "the manifest"), entry, names);
}

void TableReader::reportUnknown(Table table, const TomlEntry& entry, llvm::StringRef name) {
  fail();
  llvm::SmallVector<llvm::StringRef, 16> names;
  for (const KeyRow& row : kKeys)
    if (row.table == table)
      names.push_back(row.spelling);
  const bool isTop = table == Table::Project || table == Table::Workspace;
  if (isTop && reportWrongTable(entry, name))
    return;
  offer(engine_.report(entry.keySpan, diag::UnknownKey, entry.key, name), entry, names);
}

bool TableReader::reportWrongTable(const TomlEntry& entry, llvm::StringRef name) {
  for (const KeyRow& row : kKeys)
    if (row.spelling == entry.key &&
        (row.table == Table::Project || row.table == Table::Workspace)) {
      engine_.report(entry.keySpan, diag::KeyInWrongTable, entry.key, name, wordsOf(row.table));
      return true;
    }
  return false;
}

void TableReader::offer(Diagnostic& report, const TomlEntry& entry,
                        llvm::ArrayRef<llvm::StringRef> names) {
  if (llvm::StringRef name = meantKey(entry.key, names); !name.empty())
    report.help("did you mean `" + name.str() + "`?")
        .suggest(entry.keySpan, name.str(), "the nearest key");
  else
    report.help("known are " + quotedList(names));
}

} // namespace gos::keys
