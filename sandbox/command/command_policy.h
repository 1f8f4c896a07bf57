#pragma once
// The shipped policy of commands: what every command may see of a system, what is denied under every
// home, and which part of a working directory stays read-only. `bwr`, builds and std::sandbox start
// from this value and add to it.

#include "sandbox/policy/policy.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace gos::sandbox {

/// What the shipped policy is filled with; `hostFacts()` asks this host.
struct HostFacts {
  std::string workingDirectory;    // canonical; empty if it was removed
  std::vector<std::string> homes;  // canonical, this user's
  std::vector<std::string> everyHome; // and those of other people
  std::vector<std::string> denials; // credentials.def for these homes, relocations, daemon sockets
};
HostFacts hostFacts();

/// The shipped policy for a command in `directory` (canonical): the base view read-only, the
/// working directory read-write with its guards read-only, shipped denials, no network, private
/// temp, level standard. A directory that must not be assumed (`/`, a home, beneath a denial)
/// is an error whose text says which flag to give.
llvm::Expected<Policy> commandPolicy(const HostFacts& facts, llvm::StringRef directory);
/// The same without the working directory's grant: for `--workdir` and policies that start empty.
Policy baseViewPolicy(const HostFacts& facts);

/// A path a user wrote, as the policy wants it: absolute, links followed where the object exists.
/// `missing` is set when it does not; the answer then is the canonical directory plus the rest.
llvm::Expected<std::string> canonicalPath(llvm::StringRef written, bool& missing);

} // namespace gos::sandbox
