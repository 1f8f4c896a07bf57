#pragma once
// A command line on this host: the policy that is asked for, and how its command is started.

#include "sandbox/bwr/evidence.h"
#include "sandbox/bwr/options.h"
#include "sandbox/bwr/profile_set.h"
#include "sandbox/command/command_policy.h"
#include "sandbox/command/runner.h"

namespace gos::bwr {

struct Request {
  Policy policy;
  sandbox::RunOptions run;
  std::string home;    // canonical; empty if there is none
  std::string profile; // its name, or empty
  std::string phase;
  std::string project; // where a profile found one, with what marks it
  std::vector<std::string> projectMarkers;
  std::vector<std::string> notes;     // for --explain
  std::vector<std::string> madeFiles; // empty ones, to be removed if they still are
  /// What a run that fails is told; already one sentence each.
  std::vector<std::string> hints;
  std::vector<MissingFile> missing;
  NetworkHint network;
};

/// Does asking only look, or is the run to follow?
enum class Purpose : uint8_t { Explain, Run };

/// The user's profiles and those that come with bwr, for these facts.
ProfileSet profileSet(const sandbox::HostFacts& facts);

/// Puts together shipped policy, profile and flags. Errors are PolicyError, RunError, ProfileError.
llvm::Expected<Request> makeRequest(const Options& options, const sandbox::HostFacts& facts,
                                    Purpose purpose);

} // namespace gos::bwr
