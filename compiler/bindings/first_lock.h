#pragma once
// The lock that a resolve begins with. Cargo asks crates.io for a crate that is put in place of one
// of there, unless a lock says already that a package takes it from elsewhere: so our own crates
// and the packages of this machine that depend on them are named beforehand, and nobody is asked
// who need not be. Bindings of a registry or of git are named as probe.h found them.

#include "compiler/bindings/lock.h"

namespace gos::bindings {

/// `before` (empty: no lock) with the packages of path and source bindings that it has not, as far
/// as their manifests say what they are, and with `found`. What is wrong in it Cargo leaves out.
std::string firstLock(llvm::StringRef before, llvm::ArrayRef<Binding> bindings,
                      llvm::ArrayRef<LockedPackage> found);

} // namespace gos::bindings
