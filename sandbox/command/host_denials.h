#pragma once
// Looking up what credentials.def means on this host. Of this folder only.

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace gos::sandbox {

/// Is the entry itself there, whatever it is?
bool exists(const std::string& path);
/// The names in a directory that are wanted, sorted; at most `limit`, none if it cannot be read.
std::vector<std::string> namesIn(const std::string& directory, size_t limit,
                                 llvm::function_ref<bool(llvm::StringRef)> wanted);

/// The credentials beneath a home, and where existing ones are links to.
void addCredentials(const std::string& home, std::vector<std::string>& denials);
/// An absolute path and, where it is another one, what it leads to.
void addBothNames(llvm::StringRef path, std::vector<std::string>& denials);
/// The paths in the value of a variable that names a socket.
std::vector<std::string> socketPathsOf(llvm::StringRef value);

} // namespace gos::sandbox
