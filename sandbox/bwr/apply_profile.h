#pragma once
// A profile on this host: its patterns as rules of a policy, its directories made.

#include "sandbox/bwr/expand.h"
#include "sandbox/bwr/profile.h"
#include "sandbox/command/command_lookup.h"
#include "sandbox/command/command_policy.h"

namespace gos::bwr {

struct ProfileInput {
  const sandbox::HostFacts* facts = nullptr;
  std::string home;                   // canonical; empty if there is none
  std::string workdir;                // canonical
  std::vector<std::string> arguments; // of the tool, without the tool itself
  std::optional<sandbox::FoundCommand> tool;
  SandboxLevel level = SandboxLevel::Standard;
  NetworkMode network = NetworkMode::None;
  bool make = false; // make what the profile wants made; otherwise only say so
};

struct AppliedProfile {
  const Phase* phase = nullptr;
  std::string project; // canonical
  std::vector<PathRule> rules;
  std::vector<std::string> passEnv;
  std::vector<EnvSetting> setEnv;
  std::vector<std::string> notes;     // what was left out, and why
  std::vector<std::string> madeFiles; // empty ones, to be removed if they still are
  bool isProject = false;             // one of the marker files is there
  std::vector<std::string> missing;   // of `expects`
  std::vector<std::string> installed; // any of them is enough
  std::string offlineLog;             // removed before a run that makes it anew; may be empty
};

/// Applies the phase that the arguments choose. An error is a directory that could not be made.
llvm::Expected<AppliedProfile> applyProfile(const Profile& profile, const ProfileInput& input);

/// May the profile be taken for this tool by its name alone? Only where the tool lies in a
/// directory of the system or in one where the profile says that its toolchain lies, never in the
/// working directory (T129).
bool isTrustedTool(const Profile& profile, const sandbox::FoundCommand& tool,
                   const ProfileInput& input);

/// The directory of the marker files at or above the working directory, which a home ends.
std::string findProject(const Profile& profile, const ProfileInput& input);

} // namespace gos::bwr
