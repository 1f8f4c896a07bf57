#pragma once
// What the rule for package roots has to know about this host. Looked up, never trusted: a variable
// can only make the rule stricter.

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace gos {

/// The real path, or empty.
std::string realPathOf(const std::string& path);
/// The absolute form of a path as it is spelled, links unresolved; empty if it holds `..`.
std::string absoluteSpelling(llvm::StringRef path);
/// Is a directory open to everyone to put files in (`/tmp` and its like)?
bool isSharedTemp(const std::string& directory);

/// Both of the lists below, from one reading of the password database.
struct HomeDirectories {
  std::vector<std::string> own;
  std::vector<std::string> everyone;
};
HomeDirectories homeDirectories();
/// Home directories that are this user's: `$HOME`, the password database's.
std::vector<std::string> ownHomes();
/// Those, and the homes of the people in the password database.
std::vector<std::string> allHomes();
/// The shipped denials for the user's homes, where relocation variables point, and where any of
/// these is a link to.
std::vector<std::string> hostDenials(llvm::ArrayRef<std::string> homes);

} // namespace gos
