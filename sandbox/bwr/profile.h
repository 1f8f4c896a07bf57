#pragma once
// A profile: what a build tool reads, writes and needs of the environment, as a value. Paths in it
// are patterns still (expand.h).

#include "diagnostics/engine.h"
#include "sandbox/policy/policy.h"

#include <optional>
#include <string>
#include <vector>

namespace gos::bwr {

/// What a subcommand of the tool does: downloads, builds and tests, or changes the sources.
enum class PhaseKind : uint8_t { Fetch, Build, Edit };
llvm::StringRef spelling(PhaseKind kind);

struct Toolchain {
  std::string name;
  std::vector<std::string> foundIn, readOnly;
  std::vector<std::string> pass;
  std::vector<EnvSetting> set;
};

struct Phase {
  PhaseKind kind = PhaseKind::Build;
  std::vector<std::string> subcommands;
  NetworkMode network = NetworkMode::None;
  std::optional<Access> project;
  std::vector<std::string> readOnly, readWrite, create, createFiles, expects;
  std::vector<std::string> installed, declared; // the latter "FILE WORD"
  std::vector<std::string> offlineWords, offlineCheck, offlineLog;
  std::vector<std::string> namedPrograms; // "FILE WORD"
  std::vector<std::string> pass;
  std::vector<EnvSetting> set, setOffline;
};

struct Profile {
  std::string name;
  std::string file; // of the user's; empty for a shipped one
  std::string summary;
  std::vector<std::string> commands, project, valueOptions;
  bool projectClimbs = false;
  std::string fetchCommand;
  std::vector<Toolchain> toolchains;
  std::vector<Phase> phases;

  const Phase* phase(PhaseKind kind) const;
  /// The phase of a command line of the tool; `arguments` without the tool itself. Null if the
  /// profile says nothing about it.
  const Phase* phaseFor(llvm::ArrayRef<std::string> arguments) const;
};

/// Reads a profile; what is wrong is reported at its place.
std::optional<Profile> readProfile(llvm::StringRef name, FileId file, Engine& engine);

} // namespace gos::bwr
