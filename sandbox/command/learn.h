#pragma once
// What a run used, as a profile for `bwr --profile`. Text that somebody reads and puts in place;
// nothing of it counts before that. What was refused is in it as comments only: a hostile build
// that asks for things on purpose would otherwise write its own grants.

#include "sandbox/policy/policy.h"
#include "sandbox/unique_fd.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace gos::sandbox {

/// A path that the run used. Canonical.
struct UsedPath {
  std::string path;
  Access access = Access::ReadOnly;
  std::string grant; // the path of the rule that allowed it: nothing wider is learned
  /// A directory that was asked about and not opened: what is used beneath it is enough for that.
  bool looked = false;
};

struct Learned {
  std::vector<UsedPath> used;
  bool workdirRead = false, workdirWritten = false;
  NetworkMode network = NetworkMode::None;
  std::vector<std::string> refused; // flags, as a report gives them, or a path with advice
  uint64_t forgotten = 0;           // distinct paths beyond the most that are kept
};

struct LearnedNames {
  std::string home, workdir; // written as `~` and, where no project is above it, `${project}`
  std::vector<std::string> command;
  /// The project that the run was in and the files that mark it, where a profile knew them.
  std::string project = {};
  std::vector<std::string> projectMarkers = {};
};

/// Neighbours become their directory where there are several, never above the grant that allowed
/// them; what another one covers is left out.
std::vector<UsedPath> collapsed(std::vector<UsedPath> used);
/// The profile. `notes` gets what could not be written into it, one sentence each.
std::string learnedProfile(const Learned& learned, const LearnedNames& names,
                           std::vector<std::string>& notes);

/// The place of the profile. Its directory is opened before the run, so that nothing the run makes
/// leads the file elsewhere; an existing file is an error then, and also when the run made one.
class LearnedFile {
public:
  static llvm::Expected<LearnedFile> create(llvm::StringRef path);
  /// All of it or nothing.
  llvm::Error write(llvm::StringRef text) const;

private:
  UniqueFd directory_;
  std::string path_, name_;
};

} // namespace gos::sandbox
