#include "sandbox/bwr/expand.h"

#include "sandbox/command/command_policy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace gos::bwr {

using llvm::StringRef;

namespace {
constexpr unsigned kMaxNesting = 8;

bool isName(StringRef name) {
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// The offset of the `}` that closes a `${` whose inside begins `text`.
std::optional<size_t> closingBrace(StringRef text) {
  unsigned depth = 0;
  for (size_t at = 0; at != text.size(); ++at) {
    if (text[at] == '{')
      ++depth;
    else if (text[at] == '}' && depth-- == 0)
      return at;
  }
  return std::nullopt;
}

std::optional<std::string> valueOf(StringRef name, const Names& names) {
  const auto known = [](const std::string& value) {
    return value.empty() ? std::nullopt : std::optional(value);
  };
  if (name == "home")
    return known(names.home);
  if (name == "project")
    return known(names.project);
  if (name == "workdir")
    return known(names.workdir);
  if (name == "private")
    return known(names.privateDirectory);
  if (name == "temp")
    return known(names.temp);
  const char* value = sandbox::environmentValue(names.environment, name);
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

/// Walks a pattern; `names` null only checks it.
bool walk(StringRef pattern, const Names* names, std::string& out, bool& complete, unsigned depth) {
  if (depth == kMaxNesting)
    return false;
  if (pattern == "~" || pattern.starts_with("~/")) {
    if (names != nullptr) {
      complete &= !names->home.empty();
      out += names->home;
    }
    pattern = pattern.drop_front();
  }
  while (!pattern.empty()) {
    const size_t at = pattern.find("${");
    out += pattern.take_front(at).str();
    if (at == StringRef::npos)
      return true;
    pattern = pattern.drop_front(at + 2);
    const std::optional<size_t> end = closingBrace(pattern);
    if (!end)
      return false;
    const StringRef inside = pattern.take_front(*end);
    pattern = pattern.drop_front(*end + 1);
    const auto [name, fallback] = inside.split(":-");
    const bool hasFallback = inside.contains(":-");
    if (!isName(name))
      return false;
    std::optional<std::string> value = names != nullptr ? valueOf(name, *names) : std::nullopt;
    std::string other;
    bool otherComplete = true;
    if (hasFallback && !walk(fallback, names, other, otherComplete, depth + 1))
      return false;
    if (value)
      out += *value;
    else if (hasFallback && otherComplete)
      out += other;
    else
      complete = false;
  }
  return true;
}
} // namespace

bool isPattern(StringRef pattern) {
  std::string out;
  bool complete = true;
  return walk(pattern, nullptr, out, complete, 0);
}

bool isPathPattern(StringRef pattern) {
  if (!isPattern(pattern) || pattern.contains('\0'))
    return false;
  for (StringRef component : llvm::split(pattern, '/'))
    if (component == "..")
      return false;
  return pattern.starts_with("/") || pattern == "~" || pattern.starts_with("~/") ||
         pattern.starts_with("${");
}

std::optional<std::string> expand(StringRef pattern, const Names& names) {
  std::string out;
  bool complete = true;
  if (!walk(pattern, &names, out, complete, 0) || !complete)
    return std::nullopt;
  return out;
}

std::optional<std::string> expandPath(StringRef pattern, const Names& names) {
  const std::optional<std::string> text = expand(pattern, names);
  if (!text || !StringRef(*text).starts_with("/") || StringRef(*text).contains('\0'))
    return std::nullopt;
  std::string tidy;
  for (StringRef component : llvm::split(StringRef(*text), '/')) {
    if (component == "..")
      return std::nullopt;
    if (!component.empty() && component != ".")
      tidy += "/" + component.str();
  }
  return tidy.empty() ? "/" : tidy;
}

bool isInsideProject(StringRef pattern, const Names& names) {
  const std::optional<std::string> path = expandPath(pattern, names);
  if (!path)
    return false;
  return (!names.project.empty() && isAtOrBeneath(*path, names.project)) ||
         (!names.workdir.empty() && isAtOrBeneath(*path, names.workdir));
}

} // namespace gos::bwr
