#pragma once
// Addresses of this machine and of inner networks that a project would have a fetch ask (T095). The
// network of a fetch is the user's; what stands written in manifests and in the lock is judged
// before Cargo starts.

#include "compiler/bindings/policies.h"

namespace gos::bindings {

/// "host:port" of an address, lower case and without a user, or empty; the port only where one is
/// written. `git+`, `registry+` and `sparse+` in front do not count.
std::string authorityOf(llvm::StringRef url);
/// Is this a host, with or without a port, of this machine, of an inner network, or one that only a
/// reader of odd numbers would not take for one?
bool isInner(llvm::StringRef authority);

/// Where an address leads, by its text.
enum class Aim : uint8_t {
  Nowhere, // a path of this machine
  Outside,
  Inner,
  Unclear // its readers do not agree about the host
};
Aim aimOf(llvm::StringRef url);

/// Are such addresses refused? From `standard` on, unless the user gave the network.
bool refusesInner(const BuildFacts& facts);

struct InnerAddress {
  std::string place; // what names it: a manifest, `bindings.lock`
  std::string url;
  const Binding* binding = nullptr; // whose entry it is, if it stands in project.toml
  std::string problem;              // what is wrong, in words
};
/// What the project names and the user's own Cargo configuration does not, and each manifest that
/// Cargo would read and that cannot be judged.
std::vector<InnerAddress> innerAddresses(const BuildFacts& facts, llvm::StringRef lock);

} // namespace gos::bindings
