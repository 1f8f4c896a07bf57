#pragma once
// What a command line says about the sandbox around the build of Rust bindings. Plain data: the
// driver fills it, this folder alone acts on it.

#include "sandbox/policy/policy.h"

#include <optional>
#include <string>
#include <vector>

namespace gos {

/// How the build of Rust bindings is confined: the flags as they were written.
struct SandboxFlags {
  std::optional<SandboxLevel> level;            // of --sandbox; the bare flag is Standard
  bool network = false;                         // --sandbox-network: the build phase reaches it too
  std::vector<std::string> readWrite, readOnly; // paths as the user spelt them
  bool explain = false;                         // print the policy of both phases, build nothing
};

} // namespace gos
