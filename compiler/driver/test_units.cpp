#include "compiler/driver/test_units.h"

#include "compiler/driver/command.h"
#include "manifest/package_root.h"
#include "sandbox/policy/host/host_paths.h"

#include "llvm/ADT/STLExtras.h"

#include <cerrno>
#include <dirent.h>
#include <sys/stat.h>

namespace gos::driver {
namespace {

using llvm::StringRef;

constexpr unsigned kMaxDirectories = 128; // inside each other

std::string within(StringRef directory, StringRef name) {
  if (directory == ".")
    return name.str();
  return (directory + (directory.ends_with("/") ? "" : "/") + name).str();
}

class Finder {
public:
  llvm::Error addPackage(const std::string& path) {
    units.push_back(path);
    const std::string tests = within(path, "tests");
    struct stat status{};
    if (::lstat(tests.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
      return llvm::Error::success();
    return addFiles(tests, 0);
  }

  /// Files of a directory and those beneath; a package inside is a package.
  llvm::Error addFiles(const std::string& directory, unsigned depth) {
    if (depth > kMaxDirectories)
      return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                     "directories are nested too deeply");
    DIR* stream = ::opendir(directory.c_str());
    if (stream == nullptr)
      return llvm::createStringError(llvm::inconvertibleErrorCode(), "cannot read %s: %s",
                                     quoted(directory).c_str(), systemWords(errno).c_str());
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(stream))
      if (entry->d_name[0] != '.')
        names.push_back(entry->d_name);
    ::closedir(stream);
    llvm::sort(names);
    for (const std::string& name : names) {
      const std::string path = within(directory, name);
      struct stat status{};
      if (::lstat(path.c_str(), &status) != 0)
        continue; // gone meanwhile
      if (S_ISREG(status.st_mode) && StringRef(name).ends_with(".gos"))
        units.push_back(path);
      if (!S_ISDIR(status.st_mode))
        continue;
      llvm::Error fault =
          ManifestStore::exists(path) ? addPackage(path) : addFiles(path, depth + 1);
      if (fault)
        return fault;
    }
    return llvm::Error::success();
  }

  std::vector<std::string> units;
};

} // namespace

llvm::Expected<std::vector<std::string>> findTestUnits(StringRef path) {
  const std::string given = path.str();
  struct stat status{};
  if (StringRef(given).contains('\0') || ::stat(given.c_str(), &status) != 0 ||
      !S_ISDIR(status.st_mode))
    return std::vector<std::string>{given}; // a file; what is wrong with it, its compilation says
  int number = 0;
  const std::string real = realPathOf(given);
  const std::string root = real.empty() ? "" : nearestManifestDirectory(real, number);
  if (real.empty() || number != 0)
    return std::vector<std::string>{given};
  Finder finder;
  llvm::Error fault = root.empty()   ? finder.addFiles(given, 0)
                      : root == real ? finder.addPackage(given)
                                     : finder.addPackage(root);
  if (fault)
    return fault;
  return std::move(finder.units);
}

} // namespace gos::driver
