#pragma once
// TOML text as a tree of values with places. The only door to toml++; total over any bytes.

#include "diagnostics/engine.h"

#include <optional>
#include <string>
#include <vector>

namespace gos {

struct TomlEntry;

/// A value of a manifest, with the place it was written at.
struct TomlValue {
  enum class Kind : uint8_t { Text, Integer, Float, Boolean, Time, Array, Table };
  Kind kind = Kind::Table;
  Span span;
  std::string text; // of Text
  int64_t integer = 0;
  bool boolean = false;
  std::vector<TomlValue> items;   // of Array
  std::vector<TomlEntry> entries; // of Table, in source order

  /// The value of a key, or null.
  const TomlEntry* find(llvm::StringRef key) const;
};

struct TomlEntry {
  std::string key;
  Span keySpan;
  TomlValue value;
};

/// "a string", "an integer", ...: what a value is, for messages.
llvm::StringRef words(TomlValue::Kind kind);

/// Reads a file of the source map. Syntax errors and duplicate keys are reported at their place.
std::optional<TomlValue> readToml(FileId file, Engine& engine);

} // namespace gos
