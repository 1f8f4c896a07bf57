#include "tests/meta/source_tree.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace gos::meta {

namespace files = std::filesystem;

std::string readFile(llvm::StringRef path) {
  std::ifstream file(GOS_SOURCE_DIR "/" + path.str(), std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<File> filesOf(const std::vector<std::string>& folders,
                          const std::vector<std::string>& endings) {
  std::vector<File> result;
  const files::path root = GOS_SOURCE_DIR;
  for (const std::string& folder : folders) {
    std::error_code ignored;
    for (auto it = files::recursive_directory_iterator(root / folder, ignored);
         it != files::recursive_directory_iterator(); it.increment(ignored)) {
      if (!it->is_regular_file(ignored) || it->is_symlink(ignored))
        continue;
      const std::string path = files::relative(it->path(), root).string();
      if (std::none_of(endings.begin(), endings.end(), [&](const std::string& ending) {
            return llvm::StringRef(path).ends_with(ending);
          }))
        continue;
      result.push_back({path, readFile(path)});
    }
  }
  std::sort(result.begin(), result.end(),
            [](const File& a, const File& b) { return a.path < b.path; });
  return result;
}

bool hasWord(llvm::StringRef text, llvm::StringRef word) {
  auto part = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  for (size_t at = text.find(word); at != llvm::StringRef::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !part(text[at - 1]);
    const size_t end = at + word.size();
    if (begins && (end == text.size() || !part(text[end])))
      return true;
  }
  return false;
}

} // namespace gos::meta
