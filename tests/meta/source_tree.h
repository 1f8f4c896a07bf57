#pragma once
// The files of the project, for tests over them.

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace gos::meta {

struct File {
  std::string path; // from the root: "vm/heap.cpp"
  std::string text;
};

/// Every file beneath these folders with one of these endings, sorted by path; build directories
/// are left out.
std::vector<File> filesOf(const std::vector<std::string>& folders,
                          const std::vector<std::string>& endings);
std::string readFile(llvm::StringRef path);
/// Whole words of a text.
bool hasWord(llvm::StringRef text, llvm::StringRef word);

} // namespace gos::meta
