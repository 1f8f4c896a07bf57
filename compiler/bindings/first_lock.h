#pragma once
// The lock that a resolve begins with. Cargo asks crates.io for a crate that is put in place of one
// of there, unless a lock says already that a package takes it from elsewhere: so our own crates
// and the packages of this machine that depend on them are named beforehand, and nobody is asked
// who need not be. A package of a registry or of git cannot be named before it is fetched.

#include "compiler/bindings/workspace.h"

namespace gos::bindings {

/// `before` (empty: no lock) with the packages of path and source bindings that it has not, as far
/// as their manifests say what they are. What is wrong in it Cargo leaves out.
std::string firstLock(llvm::StringRef before, llvm::ArrayRef<Binding> bindings);

} // namespace gos::bindings
