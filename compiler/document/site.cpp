// Writing the site. The pages are made beside the directory and take its place in one step, so that
// a reader never meets half of them; what we did not make is never removed.

#include "compiler/document/render.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errno.h"

#include <cerrno>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE (1 << 1)
#endif
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE (1 << 0)
#endif

namespace gos::document {
namespace {

using llvm::StringRef;

/// In every directory that this file made.
constexpr const char* kMarker = ".gos-doc";
constexpr StringRef kMarkerText = "Made by `gos doc --html`, which replaces this directory.\n";

llvm::Error failed(const llvm::Twine& what, int number) {
  return llvm::createStringError(std::error_code(number, std::generic_category()),
                                 what + ": " + llvm::sys::StrError(number));
}

struct Descriptor {
  int fd = -1;
  explicit Descriptor(int number) : fd(number) {}
  ~Descriptor() {
    if (fd >= 0)
      ::close(fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
};

bool isDots(StringRef name) {
  return name == "." || name == "..";
}

/// The plain files of a directory. A directory within is not ours.
llvm::Expected<std::vector<std::string>> entriesOf(int directory, const llvm::Twine& name) {
  const int again = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* stream = again < 0 ? nullptr : ::fdopendir(again);
  if (!stream) {
    const int number = errno;
    if (again >= 0)
      ::close(again);
    return failed("cannot list " + name, number);
  }
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(stream))
    if (!isDots(entry->d_name))
      names.push_back(entry->d_name);
  ::closedir(stream);
  return names;
}

llvm::Error writeFile(int directory, const char* name, StringRef content) {
  Descriptor file(
      ::openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (file.fd < 0)
    return failed(llvm::Twine("cannot create `") + name + "`", errno);
  while (!content.empty()) {
    const ssize_t written = ::write(file.fd, content.data(), content.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return failed(llvm::Twine("cannot write `") + name + "`", errno);
    content = content.drop_front(size_t(written));
  }
  return llvm::Error::success();
}

/// Removes a flat directory of ours, as far as it goes.
void removeFlat(int parent, const char* name) {
  {
    Descriptor directory(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (directory.fd < 0)
      return;
    auto names = entriesOf(directory.fd, name);
    if (!names) {
      llvm::consumeError(names.takeError());
      return;
    }
    for (const std::string& each : *names)
      ::unlinkat(directory.fd, each.c_str(), 0);
  }
  ::unlinkat(parent, name, AT_REMOVEDIR);
}

} // namespace

llvm::Error writeSite(StringRef path, llvm::ArrayRef<Page> pages) {
  while (path.size() > 1 && path.ends_with("/"))
    path = path.drop_back();
  const auto cut = path.rfind('/');
  const std::string parentName = cut == StringRef::npos ? "."
                                 : cut == 0             ? "/"
                                                        : path.take_front(cut).str();
  const std::string name = (cut == StringRef::npos ? path : path.drop_front(cut + 1)).str();
  if (name.empty() || isDots(name))
    return llvm::createStringError(std::make_error_code(std::errc::invalid_argument),
                                   "`" + path + "` has no name of its own; name a new directory");
  Descriptor parent(::open(parentName.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.fd < 0)
    return failed("cannot open `" + parentName + "`", errno);

  struct stat status = {};
  bool exists = ::fstatat(parent.fd, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists) {
    Descriptor old(
        ::openat(parent.fd, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (old.fd < 0)
      return llvm::createStringError(std::make_error_code(std::errc::not_a_directory),
                                     "`" + path + "` is no directory; name a new one");
    auto names = entriesOf(old.fd, "`" + path + "`");
    if (!names)
      return names.takeError();
    if (!names->empty() && !llvm::is_contained(*names, kMarker))
      return llvm::createStringError(
          std::make_error_code(std::errc::directory_not_empty),
          "`" + path +
              "` holds files that `gos doc` did not make; name a new or an empty directory");
    for (const std::string& each : *names) {
      struct stat inside = {};
      if (::fstatat(old.fd, each.c_str(), &inside, AT_SYMLINK_NOFOLLOW) == 0 &&
          S_ISDIR(inside.st_mode))
        return llvm::createStringError(std::make_error_code(std::errc::directory_not_empty),
                                       "`" + path + "` holds the directory `" + each +
                                           "`, which `gos doc` did not make; move it away");
    }
  }

  // Beside it, so that the last step is a rename.
  const std::string fresh = "." + name + ".gos-doc-" + llvm::utostr(unsigned(::getpid()));
  removeFlat(parent.fd, fresh.c_str());
  if (::mkdirat(parent.fd, fresh.c_str(), 0777) != 0)
    return failed("cannot make a directory in `" + parentName + "`", errno);
  llvm::Error error = llvm::Error::success();
  {
    Descriptor directory(
        ::openat(parent.fd, fresh.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (directory.fd < 0)
      error = failed("cannot open what was just made in `" + parentName + "`", errno);
    else
      error = writeFile(directory.fd, kMarker, kMarkerText);
    for (const Page& page : pages) {
      if (error)
        break;
      error = writeFile(directory.fd, page.name.c_str(), page.content);
    }
  }
  if (!error) {
    const unsigned how = exists ? RENAME_EXCHANGE : RENAME_NOREPLACE;
    if (::renameat2(parent.fd, fresh.c_str(), parent.fd, name.c_str(), how) != 0)
      error = failed("cannot put the pages in place of `" + path + "`", errno);
  }
  // Now the old pages have this name, or the new ones that did not make it.
  if (error || exists)
    removeFlat(parent.fd, fresh.c_str());
  return error;
}

} // namespace gos::document
