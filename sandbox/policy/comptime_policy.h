#pragma once
// The policy of one compilation's folds: plain values, printable, and serialisable so that a fold
// is a function of a module and a policy. Made by the driver from the command line and the project.

#include "sandbox/policy/presets.h"

namespace gos {

/// Where a level came from, for GX0010.
enum class LevelOrigin : uint8_t { Default, CommandLine, Manifest };

/// What one package brings to the judgement of a call.
struct PackagePolicy {
  std::string name; // for messages
  /// The package's own level. Full where the package asks for nothing: it does not tighten.
  ComptimeIo level = ComptimeIo::None;
  LevelOrigin origin = LevelOrigin::Default;
  std::string manifest; // as shown to the user, when origin is Manifest
  uint32_t line = 0;

  bool hasRoot = false;
  std::string root;         // canonical: the real path of the package root
  std::string rootSpelling; // absolute: the path that led there, may go through links
  std::string base;         // beneath the root, e.g. "src"; empty is the root itself
  std::string whyNoRoot;    // "`/tmp` is a shared temporary directory"

  friend bool operator==(const PackagePolicy&, const PackagePolicy&) = default;
};

/// What bounds a fold besides its policy. Exhaustion is GX0009 and ends the fold.
struct Budgets {
  uint64_t steps = 500'000'000;              // of each region; a step is about a nanosecond of work
  uint64_t heapBytes = uint64_t(512) << 20;  // live bytes
  uint64_t depth = 10'000;                   // nested calls
  uint64_t resultBytes = uint64_t(16) << 20; // of one region's value or generated text
  uint64_t readBytes = uint64_t(256) << 20;  // of all files that one region reads
  uint64_t outputBytes = uint64_t(64) << 10; // of captured output that is shown

  friend bool operator==(const Budgets&, const Budgets&) = default;
};

/// The level in force for a call, and who set it.
struct EffectiveLevel {
  ComptimeIo level = ComptimeIo::None;
  LevelOrigin origin = LevelOrigin::Default;
  uint32_t package = 0; // whose manifest, when origin is Manifest
};

struct ComptimePolicy {
  ComptimeIo commandLine = ComptimeIo::Confined;
  bool fromCommandLine = false;          // was --comptime-io given?
  std::vector<PackagePolicy> packages;   // index = package id; 0 is the package being compiled
  std::vector<std::string> permittedEnv; // --comptime-env
  std::vector<std::string> denials;      // shipped denials, canonical
  Budgets budgets;

  /// Ruling 1 and 2: the strictest of the command line, the package that holds the region and the
  /// package whose source spells the call. An unknown package is None.
  EffectiveLevel levelFor(uint32_t regionPackage, uint32_t callingPackage) const;
  /// The policy that a call is judged by: the level above, the root of the calling package.
  Policy policyFor(uint32_t regionPackage, uint32_t callingPackage) const;
  /// "the command line", "`project.toml`, line 4", "the default".
  std::string describe(const EffectiveLevel& level) const;

  friend bool operator==(const ComptimePolicy&, const ComptimePolicy&) = default;
};

/// Every field, one a line; deterministic.
std::string toText(const ComptimePolicy& policy);

/// A versioned byte form. Reading takes nothing on trust: every length, word and path is checked.
std::string serialize(const ComptimePolicy& policy);
llvm::Expected<ComptimePolicy> deserializeComptimePolicy(llvm::StringRef bytes);

} // namespace gos
