#include "manifest/project.h"

#include "manifest/source_file.h"

#include "llvm/ADT/STLExtras.h"

#include <dirent.h>
#include <sys/stat.h>

namespace gos {

namespace {
/// A larger source is a mistake or an attack: the tree of one takes some twenty times its size.
constexpr uint64_t kMaxSource = uint64_t(64) << 20;

bool hasManifest(const std::string& directory) {
  struct stat status{};
  return ::lstat((directory + "/project.toml").c_str(), &status) == 0;
}
} // namespace

std::optional<FileId> readSource(const Package& package, llvm::StringRef path, SourceMap& sources,
                                 Engine& engine, Span usedAt) {
  const std::string shown = displayPath(package, path);
  SourceText text = readBeneath(package.directory, path, kMaxSource);
  if (text.problem == SourceProblem::Outside && !text.link.empty()) {
    engine.report(usedAt, diag::SourceOutsidePackage, shown, text.linkText)
        .note("the link is `" + displayPath(package, text.link) + "`");
    return std::nullopt;
  }
  if (text.problem != SourceProblem::None) {
    reportProblem(text, shown, kMaxSource, engine, usedAt);
    return std::nullopt;
  }
  llvm::Expected<FileId> file = sources.add(shown, std::move(text.buffer));
  if (!file) {
    llvm::consumeError(file.takeError());
    engine.report(usedAt, diag::SourcesTooLarge, size_t(UINT32_MAX));
    return std::nullopt;
  }
  SourceFile& source = sources.file(*file);
  source.package = package.index;
  if (const size_t at = findInvalidUtf8(source.content()); at != source.size()) {
    engine.report(Span{uint32_t(source.base + at), uint32_t(source.base + at + 1)}, diag::NotUtf8,
                  shown, at);
    return std::nullopt;
  }
  return *file;
}

std::vector<std::string> listSources(const Package& package, Engine& engine) {
  if (package.loneFile)
    return {package.entry};
  std::vector<std::string> files;
  std::vector<std::string> directories = {package.sourceDirectory};
  while (!directories.empty()) {
    const std::string directory = std::move(directories.back());
    directories.pop_back();
    const std::string full =
        directory.empty() ? package.directory : package.directory + "/" + directory;
    struct stat status{};
    if (::lstat(full.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
      continue;
    DIR* stream = ::opendir(full.c_str());
    if (stream == nullptr) {
      engine.report(diag::FileNotPermitted, displayPath(package, directory));
      continue;
    }
    while (const struct dirent* entry = ::readdir(stream)) {
      const llvm::StringRef name = entry->d_name;
      if (name.starts_with("."))
        continue;
      const std::string path = directory.empty() ? name.str() : directory + "/" + name.str();
      const std::string place = package.directory + "/" + path;
      if (::lstat(place.c_str(), &status) != 0)
        continue;
      if (S_ISDIR(status.st_mode) && !hasManifest(place))
        directories.push_back(path);
      else if (!S_ISDIR(status.st_mode) && name.ends_with(".gos"))
        files.push_back(path);
    }
    ::closedir(stream);
  }
  llvm::sort(files);
  return files;
}

} // namespace gos
