#pragma once
// The shipped policy of commands: what every command may see of a system, what is denied under
// every home, and which part of a working directory stays read-only. `bwr`, builds and std::sandbox
// start from this value, add to it, and complete it at last (completeCommandPolicy).

#include "sandbox/policy/policy.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace gos::sandbox {

/// What the shipped policy is filled with; `hostFacts()` asks this host.
struct HostFacts {
  std::string workingDirectory;       // canonical; empty if it was removed
  std::vector<std::string> homes;     // canonical, this user's
  std::vector<std::string> everyHome; // and those of other people
  std::vector<std::string> denials; // credentials.def for these homes, relocations, daemon sockets
  std::vector<std::string> basePaths;   // those of base_view.def that exist here
  std::vector<std::string> environment; // NAME=VALUE
};
HostFacts hostFacts();
/// The value of a variable in `environment`, as getenv finds it: null if there is none.
const char* environmentValue(llvm::ArrayRef<std::string> environment, llvm::StringRef name);

/// Why nothing was assumed, with what to type instead.
class PolicyError : public llvm::ErrorInfo<PolicyError> {
public:
  static char ID;
  explicit PolicyError(std::string text, std::string remedy = {})
      : text_(std::move(text)), remedy_(std::move(remedy)) {}
  /// One sentence, paths as raw bytes.
  llvm::StringRef text() const { return text_; }
  llvm::StringRef remedy() const { return remedy_; }
  void log(llvm::raw_ostream& out) const override;
  std::error_code convertToErrorCode() const override;

private:
  std::string text_, remedy_;
};

/// What keeps a directory from being taken for a working directory that a command may write to.
enum class DirectoryProblem : uint8_t {
  None,
  Removed,    // it has no name any more
  Root,       // `/`
  Home,       // a home directory itself
  AboveHome,  // a directory that holds homes
  Denied,     // at or beneath a denial
  SharedTemp, // open to everyone: at standard and above the private temp stands there
};
struct DirectoryVerdict {
  DirectoryProblem problem = DirectoryProblem::None;
  std::string denial; // of Denied: the path of the rule
};
DirectoryVerdict judgeDirectory(const HostFacts& facts, llvm::StringRef directory);
/// The verdict as the error of commandPolicy.
llvm::Error directoryError(const DirectoryVerdict& verdict, llvm::StringRef directory);

/// The shipped policy for a command in `directory` (canonical): the base view read-only, the
/// working directory read-write with its guards read-only, shipped denials, no network, private
/// temp, level standard. A directory that must not be assumed (`/`, a home, beneath a denial)
/// is an error whose text says which flag to give (PolicyError).
llvm::Expected<Policy> commandPolicy(const HostFacts& facts, llvm::StringRef directory);
/// The same without the working directory's grant: for `--workdir` and policies that start empty.
Policy baseViewPolicy(const HostFacts& facts);

/// The guards of base_view.def beneath a directory, those of the modules of its repository
/// included.
struct Guards {
  std::vector<std::string> existing; // canonical, beneath the directory
  std::vector<std::string> missing;  // as they would be called
};
Guards guardsOf(llvm::StringRef directory);

/// What depends on the rest of a policy, added when that is settled: name service, proxies and
/// certificates where there is a network; the denials of every home and the sockets of every shared
/// temp directory that a grant reaches. Adding it twice changes nothing.
Policy completeCommandPolicy(const Policy& policy, const HostFacts& facts);

/// A path a user wrote, as the policy wants it: absolute, links followed where the object exists.
/// `missing` is set when it does not; the answer then is the canonical directory plus the rest.
llvm::Expected<std::string> canonicalPath(llvm::StringRef written, bool& missing);
/// The same, relative to a canonical directory instead of the process's own.
llvm::Expected<std::string> canonicalPathIn(llvm::StringRef directory, llvm::StringRef written,
                                            bool& missing);

} // namespace gos::sandbox
