#include "compiler/driver/project_files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace gos::driver {

using llvm::StringRef;

namespace {

/// The entries of a project's directory, the manifest last: with it the directory becomes a
/// project.
std::vector<std::string> topEntries(llvm::ArrayRef<ProjectFile> files) {
  std::vector<std::string> entries;
  for (const ProjectFile& file : files)
    if (const std::string top = StringRef(file.path).split('/').first.str();
        top != "project.toml" && !llvm::is_contained(entries, top))
      entries.push_back(top);
  entries.push_back("project.toml");
  return entries;
}

/// Some file systems, and old kernels, have no rename that replaces nothing.
bool lacksSuchRename(int number) {
  return number == EINVAL || number == ENOSYS || number == EOPNOTSUPP;
}

} // namespace

bool writeFile(const std::string& directory, const ProjectFile& file) {
  const StringRef path = file.path;
  StringRef text = file.text;
  for (size_t slash = path.find('/'); slash != StringRef::npos; slash = path.find('/', slash + 1))
    if (::mkdir((directory + "/" + path.take_front(slash)).str().c_str(), 0777) != 0 &&
        errno != EEXIST)
      return false;
  const int fd = ::open((directory + "/" + path).str().c_str(),
                        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd < 0)
    return false;
  bool written = true;
  while (written && !text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count >= 0)
      text = text.drop_front(size_t(count));
    else
      written = errno == EINTR;
  }
  const int number = errno;
  written &= ::close(fd) == 0;
  errno = number;
  return written;
}

bool writeInto(const std::string& target, llvm::ArrayRef<ProjectFile> files) {
  std::vector<std::string> made; // in order; a directory with a `/` at its end
  const auto makeAll = [&](bool manifest) {
    for (const ProjectFile& file : files) {
      const StringRef path = file.path;
      if ((path == "project.toml") != manifest)
        continue;
      for (size_t at = path.find('/'); at != StringRef::npos; at = path.find('/', at + 1)) {
        const std::string directory = target + "/" + path.take_front(at).str();
        if (llvm::is_contained(made, directory + "/"))
          continue;
        if (::mkdir(directory.c_str(), 0777) != 0)
          return false; // what has appeared there meanwhile is somebody else's
        made.push_back(directory + "/");
      }
      const std::string place = target + "/" + file.path;
      made.push_back(place); // half of it is taken back too
      if (!writeFile(target, file)) {
        if (errno == EEXIST)
          made.pop_back();
        return false;
      }
    }
    return true;
  };
  if (makeAll(/*manifest=*/false) && makeAll(/*manifest=*/true))
    return true;
  const int number = errno;
  for (const std::string& each : llvm::reverse(made))
    each.back() == '/' ? ::rmdir(each.c_str()) : ::unlink(each.c_str());
  errno = number;
  return false;
}

bool moveInto(const std::string& draft, const std::string& target,
              llvm::ArrayRef<ProjectFile> files) {
  const std::vector<std::string> entries = topEntries(files);
  for (size_t done = 0; done != entries.size(); ++done) {
    const std::string& name = entries[done];
    // Whatever has appeared there meanwhile stays.
    if (::renameat2(AT_FDCWD, (draft + "/" + name).c_str(), AT_FDCWD, (target + "/" + name).c_str(),
                    RENAME_NOREPLACE) == 0)
      continue;
    const int number = errno;
    while (done-- != 0)
      (void)::rename((target + "/" + entries[done]).c_str(), (draft + "/" + entries[done]).c_str());
    errno = number;
    return false;
  }
  return true;
}

bool putInto(const std::string& draft, const std::string& target,
             llvm::ArrayRef<ProjectFile> files) {
  if (moveInto(draft, target, files))
    return true;
  return lacksSuchRename(errno) && writeInto(target, files);
}

void removeFiles(const std::string& directory, llvm::ArrayRef<ProjectFile> files) {
  for (const ProjectFile& file : files)
    ::unlink((directory + "/" + file.path).c_str());
  for (StringRef made : {"rust/src", "rust", "src"})
    ::rmdir((directory + "/" + made).str().c_str());
  ::rmdir(directory.c_str());
}

} // namespace gos::driver
