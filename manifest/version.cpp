#include "manifest/version.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace gos {

namespace {
bool isNumeric(llvm::StringRef text) {
  return !text.empty() && llvm::all_of(text, llvm::isDigit);
}

bool isIdentifier(llvm::StringRef text) {
  return !text.empty() && llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '-'; });
}

/// A number without leading zeros that fits.
bool parseNumber(llvm::StringRef text, uint64_t& number) {
  if (!isNumeric(text) || (text.size() > 1 && text.front() == '0'))
    return false;
  return !text.getAsInteger(10, number);
}

int compareNumbers(uint64_t a, uint64_t b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

int compareIdentifiers(llvm::StringRef a, llvm::StringRef b) {
  const bool aNumeric = isNumeric(a), bNumeric = isNumeric(b);
  if (aNumeric != bNumeric)
    return aNumeric ? -1 : 1;
  // Numbers of any length: without leading zeros the longer one is the larger.
  if (aNumeric && a.size() != b.size())
    return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}
} // namespace

std::optional<Version> Version::parse(llvm::StringRef text) {
  Version version;
  auto [withoutBuild, build] = text.split('+');
  if (withoutBuild.size() != text.size()) {
    for (llvm::StringRef part : llvm::split(build, '.'))
      if (!isIdentifier(part))
        return std::nullopt;
    version.build = build.str();
  }
  auto [core, preRelease] = withoutBuild.split('-');
  if (core.size() != withoutBuild.size())
    for (llvm::StringRef part : llvm::split(preRelease, '.')) {
      if (!isIdentifier(part) || (isNumeric(part) && part.size() > 1 && part.front() == '0'))
        return std::nullopt;
      version.preRelease.push_back(part.str());
    }
  llvm::SmallVector<llvm::StringRef, 4> numbers;
  core.split(numbers, '.');
  if (numbers.size() != 3 || !parseNumber(numbers[0], version.major) ||
      !parseNumber(numbers[1], version.minor) || !parseNumber(numbers[2], version.patch))
    return std::nullopt;
  return version;
}

std::string Version::text() const {
  std::string result = llvm::utostr(major) + "." + llvm::utostr(minor) + "." + llvm::utostr(patch);
  if (!preRelease.empty())
    result += "-" + llvm::join(preRelease, ".");
  if (!build.empty())
    result += "+" + build;
  return result;
}

int compare(const Version& a, const Version& b) {
  if (int order = compareNumbers(a.major, b.major))
    return order;
  if (int order = compareNumbers(a.minor, b.minor))
    return order;
  if (int order = compareNumbers(a.patch, b.patch))
    return order;
  // A pre-release comes before its release.
  if (a.preRelease.empty() || b.preRelease.empty())
    return compareNumbers(a.preRelease.empty(), b.preRelease.empty());
  const size_t common = std::min(a.preRelease.size(), b.preRelease.size());
  for (size_t index = 0; index != common; ++index)
    if (int order = compareIdentifiers(a.preRelease[index], b.preRelease[index]))
      return order;
  return compareNumbers(a.preRelease.size(), b.preRelease.size());
}

std::optional<VersionRequirement> VersionRequirement::parse(llvm::StringRef text) {
  VersionRequirement requirement;
  if (text.consume_front("^"))
    requirement.kind = Kind::Floor;
  else
    text.consume_front("=");
  auto version = Version::parse(text);
  if (!version)
    return std::nullopt;
  requirement.version = std::move(*version);
  return requirement;
}

bool VersionRequirement::admits(const Version& candidate) const {
  const int order = compare(candidate, version);
  return kind == Kind::Exact ? order == 0 : order >= 0;
}

std::string VersionRequirement::text() const {
  return (kind == Kind::Floor ? "^" : "") + version.text();
}

} // namespace gos
