#pragma once
// What the two phases may reach (architecture.md section 4). The fetch has the network and runs no
// code of the project; the build runs all of it, reads sources and registry, and writes its target
// directory and nothing else.

#include "compiler/bindings/cache.h"
#include "compiler/bindings/flags.h"
#include "compiler/bindings/toolchain.h"
#include "compiler/bindings/user_cargo.h"
#include "compiler/bindings/workspace.h"
#include "sandbox/command/command_policy.h"

namespace gos::bindings {

enum class Phase : uint8_t {
  Query,        // `cargo --version`
  OfflineFetch, // resolving from what was fetched before
  Fetch,        // with the network
  Build
};
llvm::StringRef spelling(Phase phase);

/// Everything that the policies of one build depend on.
struct BuildFacts {
  sandbox::HostFacts host;
  const Project* project = nullptr;
  std::vector<std::string> programDirectories; // of all packages, canonical
  std::vector<Binding> bindings;
  SandboxFlags flags;
  SandboxLevel level = SandboxLevel::None; // the stricter of flag and manifests
  Toolchain toolchain;
  UserCargo user;
  BuildVariables variables;
};

/// The stricter of the flag and every manifest's floor.
SandboxLevel effectiveLevel(const Project& project, const SandboxFlags& flags);
/// Beneath the cache, the target directory of a level: what was built under a weaker one is not
/// built upon.
std::string targetName(SandboxLevel level);

/// The policy of a phase. An error is a grant of the user that names nothing, or a package whose
/// directory is not granted unasked.
llvm::Expected<Policy> policyOf(Phase phase, const BuildFacts& facts, const Cache& cache);
/// Reports bindings that a build could not read under the policy. True if there is none.
bool checkReadable(const BuildFacts& facts, const Policy& build, Engine& engine);

} // namespace gos::bindings
