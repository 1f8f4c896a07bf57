#pragma once
// Proofs that were found good, in the user's cache: `bwr/proof` beneath XDG_CACHE_HOME or ~/.cache.
// What is stored is trusted only if it is ours, nobody else can write it, and no link led to it; a
// command of ours never can, since every policy denies the directory. Where nothing can be stored,
// each process proves for itself.

#include "sandbox/linux/self_proof.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace gos::sandbox {

/// What a proof depends on, as a hash: boot, kernel, this program and the parts embedded in it, the
/// user and the namespaces he is in. Empty where it cannot be told.
std::string proofKey();
std::optional<ProvenLevel> storedProof(llvm::StringRef key, SandboxLevel level);
void storeProof(llvm::StringRef key, SandboxLevel level, ProvenLevel proven);

/// The same in a given directory instead of the user's cache, for tests.
std::optional<ProvenLevel> storedProofIn(llvm::StringRef cache, llvm::StringRef key,
                                         SandboxLevel level);
bool storeProofIn(llvm::StringRef cache, llvm::StringRef key, SandboxLevel level,
                  ProvenLevel proven);

} // namespace gos::sandbox
