#include "stdlib/builtins.h"

#include "stdlib/bodies.h"
#include "stdlib/import_check.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace gos::stdlib {

using llvm::ArrayRef;
using llvm::StringRef;

namespace {

/// One row as written, with its path cut into parts while compiling.
struct Entry {
  std::string_view path;
  std::string_view signature;
  Capability capability{};
  BuiltinId id{};
  vm::NativeBody body = nullptr;
  std::string_view module;
  std::string_view type;
  std::string_view name;
};

constexpr bool isTypeName(std::string_view word) {
  if (!word.empty() && word[0] >= 'A' && word[0] <= 'Z')
    return true;
  constexpr std::string_view kScalars[] = {"i8",  "i16", "i32",   "i64", "isize", "u8",   "u16",
                                           "u32", "u64", "usize", "f32", "f64",   "bool", "char"};
  for (std::string_view scalar : kScalars)
    if (word == scalar)
      return true;
  return false;
}

constexpr Entry makeEntry(std::string_view path, std::string_view signature, Capability capability,
                          BuiltinId id, vm::NativeBody body) {
  Entry entry{path, signature, capability, id, body, "core", {}, path};
  const size_t last = path.rfind("::");
  if (last == std::string_view::npos)
    return entry;
  entry.name = path.substr(last + 2);
  const std::string_view owner = path.substr(0, last);
  const size_t before = owner.rfind("::");
  const std::string_view word = before == std::string_view::npos ? owner : owner.substr(before + 2);
  if (!isTypeName(word)) {
    entry.module = owner;
    return entry;
  }
  entry.type = word;
  if (before != std::string_view::npos)
    entry.module = owner.substr(0, before);
  return entry;
}

constexpr size_t kRowCount = 0
#define GOS_BUILTIN(id, path, signature, capability) +1
#include "stdlib/builtins.def"
    ;

/// Sorted by path while compiling.
constexpr std::array<Entry, kRowCount> sortedEntries() {
  std::array<Entry, kRowCount> entries{
#define GOS_BUILTIN(id, path, signature, capability)                                               \
  makeEntry(path, signature, Capability::capability, BuiltinId::id, &bodies::id),
#include "stdlib/builtins.def"
  };
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.path < b.path; });
  return entries;
}

constexpr std::array<Entry, kRowCount> kEntries = sortedEntries();

constexpr bool pathsAreUnique() {
  for (size_t i = 1; i < kEntries.size(); ++i)
    if (kEntries[i - 1].path == kEntries[i].path)
      return false;
  return true;
}
static_assert(pathsAreUnique(), "two rows of builtins.def have one path");

constexpr StringRef ref(std::string_view text) {
  return {text.data(), text.size()};
}

struct PreludeModule {
  std::string_view name;
  std::string_view source;
};
constexpr PreludeModule kPrelude[] = {
#define GOS_PRELUDE_MODULE(name, source) {name, source},
#include "stdlib/prelude_sources.inc"
#undef GOS_PRELUDE_MODULE
};

constexpr std::array<BuiltinRow, kRowCount> rowsOfEntries() {
  return []<size_t... I>(std::index_sequence<I...>) {
    return std::array<BuiltinRow, kRowCount>{
        BuiltinRow{ref(kEntries[I].path), ref(kEntries[I].module), ref(kEntries[I].type),
                   ref(kEntries[I].name), ref(kEntries[I].signature), kEntries[I].capability,
                   kEntries[I].id}...};
  }(std::make_index_sequence<kRowCount>{});
}
constexpr std::array<BuiltinRow, kRowCount> kRows = rowsOfEntries();

constexpr std::array<vm::Native, kRowCount> nativesOfEntries() {
  return []<size_t... I>(std::index_sequence<I...>) {
    return std::array<vm::Native, kRowCount>{
        vm::Native{ref(kEntries[I].path), ref(kEntries[I].signature), kEntries[I].capability,
                   kEntries[I].body}...};
  }(std::make_index_sequence<kRowCount>{});
}
constexpr std::array<vm::Native, kRowCount> kNatives = nativesOfEntries();

/// The rows grouped by module, then type; a group is a run. Made at the first use.
struct Groups {
  std::vector<BuiltinRow> rows;
};
bool groupBefore(const BuiltinRow& a, const BuiltinRow& b) {
  if (int order = a.module.compare(b.module))
    return order < 0;
  if (int order = a.type.compare(b.type))
    return order < 0;
  return a.name < b.name;
}
ArrayRef<BuiltinRow> groupedRows() {
  static const Groups kGroups = [] {
    Groups groups;
    groups.rows.assign(kRows.begin(), kRows.end());
    std::sort(groups.rows.begin(), groups.rows.end(), groupBefore);
    return groups;
  }();
  return kGroups.rows;
}

template <class Key, class Less> ArrayRef<BuiltinRow> runOf(const Key& key, Less compare) {
  ArrayRef<BuiltinRow> rows = groupedRows();
  const auto* begin = std::partition_point(
      rows.begin(), rows.end(), [&](const BuiltinRow& row) { return compare(row, key) < 0; });
  const auto* end = std::partition_point(
      begin, rows.end(), [&](const BuiltinRow& row) { return compare(row, key) <= 0; });
  return {begin, end};
}

struct TypeKey {
  StringRef module;
  StringRef type;
};
int compareType(const BuiltinRow& row, const TypeKey& key) {
  const int order = row.module.compare(key.module);
  return order != 0 ? order : row.type.compare(key.type);
}

} // namespace

ArrayRef<BuiltinRow> builtinRows() {
  return kRows;
}

const BuiltinRow* findBuiltin(StringRef path) {
  const auto* row = std::partition_point(kRows.begin(), kRows.end(),
                                         [&](const BuiltinRow& r) { return r.path < path; });
  return row != kRows.end() && row->path == path ? row : nullptr;
}

ArrayRef<BuiltinRow> rowsOfModule(StringRef module) {
  return runOf(module,
               [](const BuiltinRow& row, StringRef key) { return row.module.compare(key); });
}

ArrayRef<BuiltinRow> rowsOfType(StringRef module, StringRef type) {
  return runOf(TypeKey{module, type}, compareType);
}

const BuiltinRow* findMethod(StringRef module, StringRef type, StringRef name) {
  ArrayRef<BuiltinRow> rows = rowsOfType(module, type);
  const auto* row = std::partition_point(rows.begin(), rows.end(),
                                         [&](const BuiltinRow& r) { return r.name < name; });
  return row != rows.end() && row->name == name ? row : nullptr;
}

const BuiltinRow* findFunction(StringRef module, StringRef name) {
  return findMethod(module, StringRef(), name);
}

StringRef preludeSource(StringRef module) {
  for (const PreludeModule& candidate : kPrelude)
    if (ref(candidate.name) == module)
      return ref(candidate.source);
  return {};
}

ArrayRef<StringRef> moduleNames() {
  static const std::vector<StringRef> kNames = [] {
    std::vector<StringRef> names;
    for (const PreludeModule& module : kPrelude)
      names.push_back(ref(module.name));
    for (const BuiltinRow& row : kRows)
      names.push_back(row.module);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }();
  return kNames;
}

bool hasModule(StringRef module) {
  return !preludeSource(module).empty() || !rowsOfModule(module).empty();
}

const vm::NativeTable& nativeTable() {
  static const vm::NativeTable kTable(kNatives, &checkImport);
  return kTable;
}

} // namespace gos::stdlib
