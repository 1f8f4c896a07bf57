#pragma once
// Reading one table of a manifest by its rows in keys.def: which keys it may hold, which it needs
// and what their values have to be. manifest.cpp says what becomes of the values.

#include "manifest/manifest.h"
#include "manifest/toml_reader.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace gos::keys {

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

/// The tables that may stand at the top of a manifest.
llvm::ArrayRef<TableRow> topTables();

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
    result.reserve(list.size());
    for (const Spanned<std::string>& item : list)
      result.push_back(item.value);
    return result;
  }
};

/// Why a text is no package id, or empty.
llvm::StringRef packageIdProblem(llvm::StringRef id);
bool isModuleName(llvm::StringRef text);

/// Reads tables and reports; remembers whether anything was wrong.
class TableReader {
public:
  explicit TableReader(Engine& engine) : engine_(engine) {}

  bool failed() const { return failures_ != 0; }
  size_t failures() const { return failures_; }
  void fail() { ++failures_; }

  /// Reads a table by its rows: unknown keys, types, required keys. `name` is how messages call it.
  void read(Table table, const TomlEntry& entry, llvm::StringRef name,
            llvm::function_ref<void(Key, const Checked&, Span)> store);
  /// A key at the top of the manifest that is no table.
  void reportUnknownTop(const TomlEntry& entry);

  // One value; each answers whether it is good, and has reported if not.
  bool checkText(Type type, llvm::StringRef key, const TomlValue& given, Checked& value);
  bool checkList(llvm::StringRef key, const TomlValue& given, Checked& value);
  bool checkRequirement(llvm::StringRef key, const TomlValue& given, Checked& value);
  bool wrongType(llvm::StringRef key, const TomlValue& given, llvm::StringRef expected);
  bool wrongType(const TomlEntry& entry, llvm::StringRef expected) {
    return wrongType(entry.key, entry.value, expected);
  }

  // Relations between the keys of one entry.
  /// Exactly one of `sources`, or one of `alternatives`; a tag, branch or revision only with git,
  /// and at most one of them.
  void checkSources(const TomlEntry& entry, llvm::StringRef name,
                    llvm::ArrayRef<llvm::StringRef> sources,
                    llvm::ArrayRef<llvm::StringRef> alternatives);
  /// `key` stands only where `needed` does.
  void requireWith(const TomlEntry& entry, llvm::StringRef name, llvm::StringRef key,
                   llvm::StringRef needed);

private:
  bool check(const KeyRow& row, const TomlEntry& entry, Checked& value);
  bool checkWord(const TomlEntry& entry, llvm::ArrayRef<llvm::StringRef> words,
                 llvm::function_ref<bool(llvm::StringRef)> parse);
  bool bad(const TomlValue& given, llvm::StringRef expected);
  /// Is one of them there?
  bool atMostOne(const TomlEntry& entry, llvm::ArrayRef<llvm::StringRef> keys);
  void reportUnknown(Table table, const TomlEntry& entry, llvm::StringRef name);
  /// A key, rightly spelt, that belongs in [project] or [workspace].
  bool reportWrongTable(const TomlEntry& entry, llvm::StringRef name);
  void offer(Diagnostic& report, const TomlEntry& entry, llvm::ArrayRef<llvm::StringRef> names);

  Engine& engine_;
  size_t failures_ = 0;
  bool lastTableGood_ = true; // of the last read()
};

} // namespace gos::keys
