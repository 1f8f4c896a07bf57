#pragma once
// The one policy model: what a region, a build or a command may reach, as a plain value.
//
// `Policy{}` grants nothing. A policy is built by functions that return a new one, is judged by
// `decide` (decide.h) and by nothing else, and holds no host state: paths in it are canonical
// already (absolute, no `.`, no `..`, no doubled or trailing slash), which is the caller's work.
// What cannot be expressed or contradicts itself is a problem of the policy; a policy with a
// problem denies everything.

#include "sandbox/policy/capability.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace gos {

/// How strong the sandbox around a process is; a guarantee, never a wish.
enum class SandboxLevel : uint8_t { None, Basic, Standard, Strict };
enum class Access : uint8_t { Deny, ReadOnly, ReadWrite };
enum class NetworkMode : uint8_t { None, Client, Open };
enum class TempMode : uint8_t { Private, Inherit };
/// Who wrote a rule; a later one is stronger where two rules stand at one path.
enum class Origin : uint8_t { Shipped, Profile, Manifest, User };

llvm::StringRef spelling(SandboxLevel level);
llvm::StringRef spelling(Access access);
llvm::StringRef spelling(NetworkMode mode);
llvm::StringRef spelling(TempMode mode);
llvm::StringRef spelling(Origin origin);
std::optional<SandboxLevel> sandboxLevelFromSpelling(llvm::StringRef text);
std::optional<Access> accessFromSpelling(llvm::StringRef text);
std::optional<NetworkMode> networkModeFromSpelling(llvm::StringRef text);
std::optional<TempMode> tempModeFromSpelling(llvm::StringRef text);
llvm::ArrayRef<llvm::StringRef> sandboxLevelSpellings();
llvm::ArrayRef<llvm::StringRef> networkModeSpellings();
llvm::ArrayRef<llvm::StringRef> tempModeSpellings();

constexpr SandboxLevel stricter(SandboxLevel a, SandboxLevel b) {
  return a < b ? b : a;
}
/// Does the level bound the file system and the network at all?
constexpr bool hasFileSystemPolicy(SandboxLevel level) {
  return level >= SandboxLevel::Standard;
}

/// Absolute, no `.` and `..`, no doubled or trailing slash, no NUL.
bool isCanonicalPath(llvm::StringRef path);
/// Is `path` the directory itself or beneath it? Both canonical; by components, never by prefix.
inline bool isAtOrBeneath(llvm::StringRef path, llvm::StringRef directory) {
  // Asked for every pair of rules at each start, so the byte that rules most pairs out comes first.
  const size_t size = directory.size();
  if (size == 1)
    return path.starts_with("/") && directory.front() == '/';
  return path.size() >= size && (path.size() == size || path[size] == '/') &&
         path.take_front(size) == directory;
}
/// Why a name cannot be an environment variable that a policy passes, or empty. `*`, `A=B`, the
/// empty name and names that make programs load code are refused (T029, T130).
llvm::StringRef environmentNameProblem(llvm::StringRef name);

struct PathRule {
  std::string path; // canonical
  Access access = Access::Deny;
  Origin origin = Origin::Shipped;
  std::string writtenAs; // the user's spelling, `--sandbox-ro ~/src`; empty where there is none

  friend bool operator==(const PathRule&, const PathRule&) = default;
};

struct EnvSetting {
  std::string name;
  std::string value;

  friend bool operator==(const EnvSetting&, const EnvSetting&) = default;
};

class Policy {
public:
  /// Grants nothing, at the strictest level.
  Policy() = default;

  // ---- builders: each answers a new policy ----------------------------------------------------
  [[nodiscard]] Policy withLevel(SandboxLevel level) const;
  [[nodiscard]] Policy withRule(PathRule rule) const;
  [[nodiscard]] Policy withRules(std::vector<PathRule> rules) const;
  [[nodiscard]] Policy readWrite(llvm::StringRef path, Origin origin,
                                 llvm::StringRef writtenAs = {}) const;
  [[nodiscard]] Policy readOnly(llvm::StringRef path, Origin origin,
                                llvm::StringRef writtenAs = {}) const;
  [[nodiscard]] Policy deny(llvm::StringRef path, Origin origin,
                            llvm::StringRef writtenAs = {}) const;
  [[nodiscard]] Policy withNetwork(NetworkMode mode) const;
  [[nodiscard]] Policy allowEnv(llvm::StringRef name) const;
  [[nodiscard]] Policy allowEnv(llvm::ArrayRef<llvm::StringRef> names) const;
  [[nodiscard]] Policy allowAllEnv() const;
  [[nodiscard]] Policy setEnv(llvm::StringRef name, llvm::StringRef value) const;
  [[nodiscard]] Policy withTemp(TempMode mode) const;
  [[nodiscard]] Policy withWorkingDirectory(llvm::StringRef path) const;
  [[nodiscard]] Policy withCapabilities(CapabilitySet set) const;
  // The same from a word that somebody wrote: an unknown one becomes a problem, never a fallback.
  [[nodiscard]] Policy withLevelNamed(llvm::StringRef word) const;
  [[nodiscard]] Policy withNetworkNamed(llvm::StringRef word) const;
  [[nodiscard]] Policy withTempNamed(llvm::StringRef word) const;

  // ---- what it holds ----------------------------------------------------------------------------
  SandboxLevel level() const { return level_; }
  llvm::ArrayRef<PathRule> rules() const { return rules_; }
  NetworkMode network() const { return network_; }
  llvm::ArrayRef<std::string> passedEnv() const { return passedEnv_; }
  bool passesAllEnv() const { return passesAllEnv_; }
  llvm::ArrayRef<EnvSetting> setEnv() const { return setEnv_; }
  TempMode temp() const { return temp_; }
  llvm::StringRef workingDirectory() const { return workingDirectory_; }
  /// The classes that an evaluator inside our own process grants; a child process has no use for
  /// it.
  CapabilitySet capabilities() const { return capabilities_; }

  /// What the builders could not accept: unknown words, paths that are not canonical, bad names.
  llvm::ArrayRef<std::string> problems() const { return problems_; }
  /// The builders' problems and the contradictions between rules: a grant that a denial covers, two
  /// user rules at one path, a narrowing user rule at a level that enforces none. Success if none.
  llvm::Error check() const;

  friend bool operator==(const Policy&, const Policy&) = default;

private:
  SandboxLevel level_ = SandboxLevel::Strict;
  NetworkMode network_ = NetworkMode::None;
  TempMode temp_ = TempMode::Private;
  bool passesAllEnv_ = false;
  CapabilitySet capabilities_;
  std::vector<PathRule> rules_;
  std::vector<std::string> passedEnv_;
  std::vector<EnvSetting> setEnv_;
  std::string workingDirectory_;
  std::vector<std::string> problems_;
};

/// The policy for people, one rule a line; deterministic.
std::string toText(const Policy& policy);

} // namespace gos
