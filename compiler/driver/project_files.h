#pragma once
// The files of a new project on their way into its directory: all of them or none, and over nothing
// that is there.

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace gos::driver {

struct ProjectFile {
  std::string path, text; // directories on the way are made
};

/// Writes one file beneath a directory. False with errno set.
bool writeFile(const std::string& directory, const ProjectFile& file);

/// Puts the files of a draft into a directory that is there: what `moveInto` does, or `writeInto`
/// on a file system that cannot do it. False with errno set; then nothing of them is there.
bool putInto(const std::string& draft, const std::string& target,
             llvm::ArrayRef<ProjectFile> files);
bool moveInto(const std::string& draft, const std::string& target,
              llvm::ArrayRef<ProjectFile> files);
bool writeInto(const std::string& target, llvm::ArrayRef<ProjectFile> files);

/// Takes back what was written into a draft, and the draft.
void removeFiles(const std::string& directory, llvm::ArrayRef<ProjectFile> files);

} // namespace gos::driver
