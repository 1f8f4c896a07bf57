#pragma once
// Semantic versions, and the requirements that a manifest states on them.

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gos {

/// A version of SemVer 2.0.0. Build metadata is kept and never compared.
struct Version {
  uint64_t major = 0;
  uint64_t minor = 0;
  uint64_t patch = 0;
  std::vector<std::string> preRelease; // identifiers between the dots
  std::string build;

  static std::optional<Version> parse(llvm::StringRef text);
  std::string text() const;
};

/// Less than zero, zero or more, by the precedence of SemVer.
int compare(const Version& a, const Version& b);

/// "x.y.z" and "=x.y.z" mean exactly that version, "^x.y.z" that or a later one.
struct VersionRequirement {
  enum class Kind : uint8_t { Exact, Floor };
  Kind kind = Kind::Exact;
  Version version;

  static std::optional<VersionRequirement> parse(llvm::StringRef text);
  bool admits(const Version& candidate) const;
  std::string text() const;
};

} // namespace gos
