#include "manifest/toml_reader.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

// The header-only form, without exceptions; the system's shared library is built with them.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_UNRELEASED_FEATURES 0
#if __has_include(<toml++/impl/preprocessor.hpp>)
#include <toml++/impl/preprocessor.hpp>
#else
#include <toml++/impl/preprocessor.h>
#endif
// Its parser asserts what a hostile text can break ("[=]"), and turns the assertion into an
// assumption of the optimiser in release builds. Each is followed by the code that reports the error,
// which runs when nothing is assumed.
#undef TOML_ASSERT
#undef TOML_ASSERT_ASSUME
#undef TOML_ASSUME
#define TOML_ASSERT(expr) static_assert(true)
#define TOML_ASSERT_ASSUME(expr) static_assert(true)
#define TOML_ASSUME(expr) static_assert(true)
#include <toml++/toml.h>

namespace gos {

namespace {
/// Trees are walked and destroyed recursively, here and in toml++.
constexpr unsigned kMaxNesting = 64;
constexpr unsigned kMaxDotsInLine = 512;

/// Turns toml++'s line and column, both from 1 and the column in code points, into spans.
class Places {
public:
  explicit Places(const SourceFile& file) : file_(file) {
    const llvm::StringRef text = file.content();
    lineStarts_.push_back(0);
    for (size_t at = text.find('\n'); at != llvm::StringRef::npos; at = text.find('\n', at + 1))
      lineStarts_.push_back(at + 1);
  }

  size_t offset(toml::source_position position) const {
    const llvm::StringRef text = file_.content();
    if (position.line == 0)
      return 0;
    const size_t line = std::min<size_t>(position.line - 1, lineStarts_.size() - 1);
    size_t at = lineStarts_[line];
    const size_t end = line + 1 < lineStarts_.size() ? lineStarts_[line + 1] - 1 : text.size();
    for (size_t column = 1; column < position.column && at < end; ++column) {
      ++at;
      while (at < end && (uint8_t(text[at]) & 0xC0) == 0x80)
        ++at;
    }
    return at;
  }

  Span span(const toml::source_region& region) const {
    const size_t begin = offset(region.begin);
    const size_t end = std::max(begin + (begin < file_.size() ? 1 : 0), offset(region.end));
    return {uint32_t(file_.base + begin), uint32_t(file_.base + end)};
  }

private:
  const SourceFile& file_;
  std::vector<size_t> lineStarts_;
};

/// Where a dotted key would nest deeper than a stack is: each dot is a level for toml++, which
/// has a limit for brackets only. Dots in strings and comments don't count.
std::optional<size_t> findDeepKey(llvm::StringRef text) {
  unsigned dots = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n') {
      dots = 0;
    } else if (c == '.') {
      if (++dots > kMaxDotsInLine)
        return at;
    } else if (c == '#') {
      at = std::min(text.find('\n', at), text.size()) - 1;
    } else if (c == '"' || c == '\'') {
      const bool basic = c == '"';
      const llvm::StringRef triple = basic ? "\"\"\"" : "'''";
      const bool multiLine = text.substr(at).starts_with(triple);
      const llvm::StringRef closing = multiLine ? triple : triple.take_front(1);
      for (at += closing.size(); at < text.size() && !text.substr(at).starts_with(closing); ++at) {
        if (basic && text[at] == '\\')
          ++at;
        else if (!multiLine && text[at] == '\n')
          break;
      }
      at += closing.size() - 1;
    }
  }
  return std::nullopt;
}

class Converter {
public:
  Converter(const Places& places, Engine& engine) : places_(places), engine_(engine) {}

  TomlValue convert(const toml::node& node, unsigned depth) {
    TomlValue value;
    value.span = places_.span(node.source());
    if (depth == kMaxNesting) {
      if (!failed_)
        engine_.report(value.span, diag::TomlSyntax, "it is nested too deeply");
      failed_ = true;
      return value;
    }
    switch (node.type()) {
    case toml::node_type::none:
    case toml::node_type::table:
      value.kind = TomlValue::Kind::Table;
      for (auto&& [key, child] : *node.as_table())
        value.entries.push_back(
            {std::string(key.str()), places_.span(key.source()), convert(child, depth + 1)});
      // toml++ keeps keys sorted; people wrote them in an order.
      llvm::stable_sort(value.entries, [](const TomlEntry& a, const TomlEntry& b) {
        return a.keySpan.begin < b.keySpan.begin;
      });
      break;
    case toml::node_type::array:
      value.kind = TomlValue::Kind::Array;
      for (const toml::node& child : *node.as_array())
        value.items.push_back(convert(child, depth + 1));
      break;
    case toml::node_type::string:
      value.kind = TomlValue::Kind::Text;
      value.text = node.as_string()->get();
      break;
    case toml::node_type::integer:
      value.kind = TomlValue::Kind::Integer;
      value.integer = node.as_integer()->get();
      break;
    case toml::node_type::floating_point:
      value.kind = TomlValue::Kind::Float;
      break;
    case toml::node_type::boolean:
      value.kind = TomlValue::Kind::Boolean;
      value.boolean = node.as_boolean()->get();
      break;
    case toml::node_type::date:
    case toml::node_type::time:
    case toml::node_type::date_time:
      value.kind = TomlValue::Kind::Time;
      break;
    }
    return value;
  }

  bool failed() const { return failed_; }

private:
  const Places& places_;
  Engine& engine_;
  bool failed_ = false;
};

void reportParseError(const toml::parse_error& error, const Places& places, Engine& engine) {
  const Span span = places.span(error.source());
  llvm::StringRef text(error.description().data(), error.description().size());
  // "Error while parsing key-value pair: cannot redefine existing string 'id'"
  if (const size_t at = text.find("cannot redefine existing"); at != llvm::StringRef::npos) {
    llvm::StringRef name = text.substr(at).split('\'').second.rsplit('\'').first;
    engine.report(span, diag::DuplicateKey, name);
    return;
  }
  std::string words = text.str();
  if (text.consume_front("Error while "))
    words = text.str();
  engine.report(span, diag::TomlSyntax, words);
}
} // namespace

const TomlEntry* TomlValue::find(llvm::StringRef key) const {
  for (const TomlEntry& entry : entries)
    if (entry.key == key)
      return &entry;
  return nullptr;
}

llvm::StringRef words(TomlValue::Kind kind) {
  switch (kind) {
  case TomlValue::Kind::Text:
    return "a string";
  case TomlValue::Kind::Integer:
    return "an integer";
  case TomlValue::Kind::Float:
    return "a float";
  case TomlValue::Kind::Boolean:
    return "a boolean";
  case TomlValue::Kind::Time:
    return "a date or time";
  case TomlValue::Kind::Array:
    return "an array";
  case TomlValue::Kind::Table:
    return "a table";
  }
  return {};
}

std::optional<TomlValue> readToml(FileId file, Engine& engine) {
  const SourceFile& source = engine.sources().file(file);
  const llvm::StringRef text = source.content();
  if (std::optional<size_t> deep = findDeepKey(text)) {
    engine.report(Span{uint32_t(source.base + *deep), uint32_t(source.base + *deep + 1)},
                  diag::TomlSyntax, "a key is nested too deeply");
    return std::nullopt;
  }
  const Places places(source);
  toml::parse_result result = toml::parse(std::string_view(text.data(), text.size()));
  if (!result) {
    reportParseError(result.error(), places, engine);
    return std::nullopt;
  }
  Converter converter(places, engine);
  TomlValue value = converter.convert(result.table(), 0);
  if (converter.failed())
    return std::nullopt;
  return value;
}

} // namespace gos
