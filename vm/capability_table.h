#pragma once
// The fold's policy, compiled for the gate: for each package of the module and each class one
// verdict. Zero is Deny: a table that was not filled, a package outside it and a fold without a
// policy deny everything but Pure.
//
// Package ids are the module's: 0 is the library, which has no policy and is transparent; package p
// > 0 is ComptimePolicy::packages[p - 1].

#include "sandbox/policy/comptime_policy.h"
#include "sandbox/policy/decide.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace gos::vm {

inline constexpr uint32_t kNoPackage = 0xffffffffu;

/// The package in the policy that a package of a module stands for.
constexpr std::optional<uint32_t> policyPackage(uint32_t modulePackage) {
  if (modulePackage == 0 || modulePackage == kNoPackage)
    return std::nullopt;
  return modulePackage - 1;
}

class CapabilityTable {
public:
  using Row = std::array<ClassVerdict, capabilityCount()>;

  /// Denies all.
  CapabilityTable() = default;
  CapabilityTable(const ComptimePolicy& policy, uint32_t regionPackage, size_t packageCount);

  ClassVerdict verdict(uint32_t modulePackage, Capability capability) const {
    if (modulePackage >= rows_.size())
      return capability == Capability::Pure ? ClassVerdict::Allow : ClassVerdict::Deny;
    return rows_[modulePackage][size_t(capability)];
  }

private:
  std::vector<Row> rows_;
};

} // namespace gos::vm
