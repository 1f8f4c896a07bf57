#pragma once
// Landlock as the kernel defines it, with constants of our own: the headers of an old system lack
// the newer ones. Source: include/uapi/linux/landlock.h of Linux 7.1; the rights are rows of
// sandbox/rights.def. Freestanding: the first process includes this too.

#include <stdint.h>

namespace gos::sandbox {

#define GOS_RIGHT(name, bit, abi) constexpr uint64_t kLandlock##name = uint64_t(1) << bit;
#include "sandbox/rights.def"

/// Every file-system right that a kernel of this ABI knows.
constexpr uint64_t landlockFileSystemRights(int abi) {
  uint64_t all = 0;
#define GOS_RIGHT(name, bit, since) all |= abi >= since ? uint64_t(1) << bit : 0;
#include "sandbox/rights.def"
  return all;
}

constexpr uint64_t kLandlockBindTcp = 1u << 0;       // ABI 4
constexpr uint64_t kLandlockConnectTcp = 1u << 1;    // ABI 4
constexpr uint64_t kLandlockScopeAbstract = 1u << 0; // ABI 6
constexpr uint64_t kLandlockScopeSignal = 1u << 1;   // ABI 6
/// The least ABI of a level with a file-system policy: renames between directories need 2,
/// truncation needs 3.
constexpr int kLandlockLeastAbi = 3;

struct LandlockRulesetAttributes {
  uint64_t handledFileSystem;
  uint64_t handledNetwork;
  uint64_t scoped;
};
/// The size that a kernel of this ABI accepts for the structure above.
constexpr uint64_t landlockAttributesSize(int abi) {
  return abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
}
struct __attribute__((packed)) LandlockPathRule {
  uint64_t allowedAccess;
  int32_t parentFd;
};
constexpr uint32_t kLandlockRulePathBeneath = 1;

} // namespace gos::sandbox
