#pragma once
// Places that are named to be written: by the command line, or by a project.
//
// A place of the command line is the user's own choice: links are followed, devices and pipes are
// written into. It still is no directory, no source and no manifest. What a project chose, if only
// the last part of a path, is not trusted: see output.h.

#include "sandbox/unique_fd.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <sys/stat.h>

namespace gos::executable {

/// Who chose the name.
enum class ChosenBy : uint8_t { CommandLine, Project };

struct Place {
  std::string shown;  // as messages call it
  std::string path;   // to the name in the directory, links of the command line followed
  UniqueFd directory; // for the *at calls
  std::string name;   // in the directory
  ChosenBy nameBy = ChosenBy::CommandLine;
  bool exists = false;
  bool stream = false; // a device or a pipe of the command line: written into, never replaced
  bool standardOutput = false; // a stream too
};

/// Why a place is not written, and what to do instead.
struct Refusal {
  std::string why, help;
};

/// Finds what `option` names: `-` is standard output; a directory, there or named with a `/` at its
/// end, means `usualName` in it, which the project chose, and is refused where that is empty. What
/// stands there is not judged. None if it was found.
std::optional<Refusal> findPlace(llvm::StringRef option, llvm::StringRef usualName, Place& place);

/// May the name in the directory be written? Fills in `exists`. For any place that is no stream.
std::optional<Refusal> judgePlace(Place& place);

/// Is this what the place names now?
bool isPlace(const Place& place, const struct stat& status);

/// May a file not be written? For root, who may write anything, its mode says what its owner wants.
bool isReadOnly(int directory, const std::string& name, const struct stat& status);
/// What is said then.
Refusal readOnly(llvm::StringRef shown);

/// Puts the pieces in the place in one step, as a new file with this mode less the umask: whoever
/// looks sees the old file or the new one. Into a stream they are written. 0, or the error number.
int writePlace(const Place& place, llvm::ArrayRef<llvm::StringRef> pieces, mode_t mode);

} // namespace gos::executable
