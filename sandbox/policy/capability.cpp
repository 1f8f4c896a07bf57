#include "sandbox/policy/capability.h"

namespace gos {

namespace {
struct Row {
  llvm::StringLiteral spelling;
  llvm::StringLiteral reportName;
  ComptimeIo lowest;
};
constexpr Row kRows[] = {
#define GOS_CAPABILITY(name, reportName, lowest) {#name, reportName, ComptimeIo::lowest},
#include "sandbox/policy/capabilities.def"
};
} // namespace

llvm::StringRef spelling(Capability capability) {
  return kRows[size_t(capability)].spelling;
}

llvm::StringRef reportName(Capability capability) {
  return kRows[size_t(capability)].reportName;
}

ComptimeIo lowestLevel(Capability capability) {
  return kRows[size_t(capability)].lowest;
}

std::optional<Capability> capabilityFromSpelling(llvm::StringRef text) {
  for (size_t index = 0; index != capabilityCount(); ++index)
    if (kRows[index].spelling == text)
      return Capability(index);
  return std::nullopt;
}

CapabilitySet capabilitiesAt(ComptimeIo level) {
  CapabilitySet set;
  for (size_t index = 0; index != capabilityCount(); ++index)
    if (kRows[index].lowest <= level)
      set = set.with(Capability(index));
  return set;
}

} // namespace gos
