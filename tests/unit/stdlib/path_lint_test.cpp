// Every path that the library names goes through host_files.cpp. A body that called the kernel
// itself would pass by the root of a fold, so the sources are searched for the names of such calls.

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <doctest/doctest.h>

#include <string>

using llvm::StringRef;

namespace {

constexpr StringRef kDoor = "host_files.cpp";

constexpr StringRef kPathCalls[] = {"open",
                                    "openat",
                                    "openat2",
                                    "creat",
                                    "fopen",
                                    "freopen",
                                    "opendir",
                                    "stat",
                                    "lstat",
                                    "fstatat",
                                    "statx",
                                    "access",
                                    "faccessat",
                                    "readlink",
                                    "readlinkat",
                                    "realpath",
                                    "rename",
                                    "renameat",
                                    "renameat2",
                                    "unlink",
                                    "unlinkat",
                                    "rmdir",
                                    "mkdir",
                                    "mkdirat",
                                    "mknod",
                                    "mkfifo",
                                    "link",
                                    "linkat",
                                    "symlink",
                                    "symlinkat",
                                    "chmod",
                                    "fchmodat",
                                    "chown",
                                    "lchown",
                                    "truncate",
                                    "utime",
                                    "utimensat",
                                    "mkstemp",
                                    "mkostemp",
                                    "mkdtemp",
                                    "chdir",
                                    "chroot",
                                    "scandir",
                                    "ftw",
                                    "nftw",
                                    "glob",
                                    "remove",
                                    "tmpfile",
                                    "inotify_add_watch"};

/// The offset of a call `::name(` of the C library; our own functions are never written with a
/// leading `::`.
size_t findCall(StringRef text, StringRef name) {
  size_t from = 0;
  while (true) {
    const size_t at = text.find(("::" + name + "(").str(), from);
    if (at == StringRef::npos)
      return StringRef::npos;
    const char before = at == 0 ? ' ' : text[at - 1];
    if (!llvm::isAlnum(before) && before != '_' && before != '>')
      return at;
    from = at + 1;
  }
}

} // namespace

TEST_CASE("no body names a path to the kernel but the one door") {
  std::error_code error;
  unsigned files = 0;
  for (llvm::sys::fs::directory_iterator at(GOS_SOURCE_DIR "/stdlib", error), end;
       at != end && !error; at.increment(error)) {
    const StringRef name = llvm::sys::path::filename(at->path());
    if (!name.ends_with(".cpp") && !name.ends_with(".h"))
      continue;
    auto buffer = llvm::MemoryBuffer::getFile(at->path());
    REQUIRE(buffer);
    ++files;
    const StringRef text = (*buffer)->getBuffer();
    for (StringRef header : {"<fstream>", "<filesystem>", "<dirent.h>", "llvm/Support/FileSystem.h",
                             "llvm/Support/MemoryBuffer.h"})
      CHECK_MESSAGE((name == kDoor || !text.contains(header)), name.str(), " includes ",
                    header.str());
    if (name == kDoor)
      continue;
    for (StringRef call : kPathCalls)
      CHECK_MESSAGE(findCall(text, call) == StringRef::npos, name.str(), " calls ", call.str());
    // Without the `::` they would be found by overload: none of the headers that declare them may
    // be called bare.
    for (StringRef bare :
         {"fopen(", "opendir(", "realpath(", "mkdtemp(", "lstat(", "unlinkat(", "openat("})
      CHECK_MESSAGE(!text.contains(bare), name.str(), " calls ", bare.str());
  }
  CHECK(files > 20);
}

TEST_CASE("the search finds what it looks for") {
  CHECK(findCall("  fd = ::open(path, 0);", "open") != StringRef::npos);
  CHECK(findCall("FileResult HostFiles::open(path)", "open") == StringRef::npos);
}
