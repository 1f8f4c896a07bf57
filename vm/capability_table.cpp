#include "vm/capability_table.h"

namespace gos::vm {

CapabilityTable::CapabilityTable(const ComptimePolicy& policy, uint32_t regionPackage,
                                 size_t packageCount) {
  const uint32_t region = policyPackage(regionPackage).value_or(kNoPackage);
  rows_.resize(packageCount, Row{});
  for (size_t package = 0; package < packageCount; ++package) {
    const uint32_t calling = policyPackage(uint32_t(package)).value_or(kNoPackage);
    const Policy judged = policy.policyFor(region, calling);
    for (size_t i = 0; i < capabilityCount(); ++i)
      rows_[package][i] = decideClass(judged, capabilityAt(i));
  }
}

} // namespace gos::vm
