#pragma once
// The classes of act that a builtin may be, and sets of them. A class is what the gate asks about.

#include "sandbox/policy/comptime_io.h"

#include "llvm/ADT/StringRef.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace gos {

/// What a builtin does to the world, in one word. There is no default: a builtin names its class.
enum class Capability : uint8_t {
#define GOS_CAPABILITY(name, reportName, lowest) name,
#include "sandbox/policy/capabilities.def"
};

/// The number of rows of capabilities.def.
constexpr size_t capabilityCount() {
  return 0
#define GOS_CAPABILITY(name, reportName, lowest) +1
#include "sandbox/policy/capabilities.def"
      ;
}

/// "EnvRead": the spelling of the row.
llvm::StringRef spelling(Capability capability);
/// "environment read": the name that a report uses.
llvm::StringRef reportName(Capability capability);
/// The least level that allows the class at all.
ComptimeIo lowestLevel(Capability capability);
std::optional<Capability> capabilityFromSpelling(llvm::StringRef text);
/// All classes in the order of the table.
inline Capability capabilityAt(size_t index) {
  return Capability(index);
}

/// A set of classes; empty grants nothing.
class CapabilitySet {
public:
  constexpr CapabilitySet() = default;

  constexpr bool contains(Capability capability) const { return (bits_ & bit(capability)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr CapabilitySet with(Capability capability) const {
    CapabilitySet set = *this;
    set.bits_ |= bit(capability);
    return set;
  }
  constexpr CapabilitySet without(Capability capability) const {
    CapabilitySet set = *this;
    set.bits_ &= ~bit(capability);
    return set;
  }
  constexpr uint32_t bits() const { return bits_; }
  friend constexpr bool operator==(CapabilitySet a, CapabilitySet b) { return a.bits_ == b.bits_; }

private:
  static constexpr uint32_t bit(Capability capability) { return 1u << unsigned(capability); }
  uint32_t bits_ = 0;
};

static_assert(capabilityCount() <= 32, "a set of classes is 32 bits");

/// The classes that a level allows, in whatever bounds.
CapabilitySet capabilitiesAt(ComptimeIo level);

} // namespace gos
