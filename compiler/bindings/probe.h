#pragma once
// Which version of a crate a registry offers, and which commit a repository: asked before the
// resolve, so that the lock it begins with can say that these crates depend on our own
// `gossamer-binding`. Cargo asks no index about what a lock and a `[patch]` settle.
//
// The question is a workspace of its own without dependencies, whose patches name the crates. Cargo
// looks up a patch and follows nothing of it, and writes what it found to the lock as unused.

#include "compiler/bindings/lock.h"

namespace gos::bindings {

/// The bindings that a lock does not know yet and that lie on no disk.
std::vector<const Binding*> unknownCrates(llvm::StringRef lock, llvm::ArrayRef<Binding> bindings);

/// The manifest of the question; `pins` are the versions that are chosen already, empty: none.
std::string probeManifest(llvm::ArrayRef<const Binding*> crates, llvm::ArrayRef<std::string> pins);

/// Where Cargo found several versions of a crate: the crate, and the newest of them.
struct Ambiguous {
  std::string crate, newest;
};
std::optional<Ambiguous> ambiguousCrate(llvm::ArrayRef<std::string> complaint);

/// What the lock of the question answers; total over any bytes.
std::vector<LockedPackage> probeAnswer(llvm::StringRef lock);

} // namespace gos::bindings
