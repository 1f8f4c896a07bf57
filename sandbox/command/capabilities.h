#pragma once
// What this host can give, as text for people and as JSON for programs: `bwr --capabilities`, the C
// interface, std::sandbox. What it says was done, in throw-away children, when it was asked first.

#include "sandbox/command/explain.h"
#include "sandbox/linux/features.h"

#include <string>
#include <vector>

namespace gos::sandbox {

struct Capabilities {
  std::string platform;      // "linux"
  std::string osDescription; // "Debian GNU/Linux 12 (bookworm), Linux 6.18.44 x86_64"
  std::string fileSystem, network, processIsolation; // the strongest mechanism here, or "none"
  SandboxLevel maxLevel = SandboxLevel::None;
  int landlockAbi = 0;
  std::string landlockError; // without Landlock: "ENOSYS", "EOPNOTSUPP" or the errno's words
  std::vector<LevelState> levels;
  std::vector<PrimitiveState> primitives;
  std::vector<std::string> notes;
};

/// Probes and proves, once for the process.
const Capabilities& capabilities();
std::string capabilitiesText(const ExplainOptions& options);
/// One object, `"schema": 1`, on one line.
std::string capabilitiesJson();
/// The same of given values, for tests.
std::string capabilitiesText(const Capabilities& capabilities, const ExplainOptions& options);
std::string capabilitiesJson(const Capabilities& capabilities);

} // namespace gos::sandbox
