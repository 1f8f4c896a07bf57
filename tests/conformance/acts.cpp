// acts batch FILE: tries acts and says how each ended. A line of FILE is an act and its names,
// divided by tabs; a line of the output is "ok", "refused NAME" with the errno, or "not undone
// NAME". Each act is undone. Static, so that it runs in any view.

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace {

/// Makes the four bytes that each file of a tree holds.
int makeFile(const char* path) {
  const int fd = ::open(path, O_WRONLY | O_CREAT | O_EXCL, 0755);
  if (fd < 0 || ::write(fd, "text", 4) != 4 || ::fchmod(fd, 0755) != 0)
    return -1;
  return ::close(fd);
}

struct Act {
  const char* name;
  int (*run)(char** names);
  int (*undo)(char** names); // after an act that worked; null: there is nothing to undo
};
const Act kActs[] = {
    {"read",
     [](char** n) {
       char byte;
       const int fd = ::open(n[0], O_RDONLY);
       return fd < 0 ? -1 : int(::read(fd, &byte, 1));
     },
     nullptr},
    {"list", [](char** n) { return ::open(n[0], O_RDONLY | O_DIRECTORY); }, nullptr},
    {"open-write", [](char** n) { return ::open(n[0], O_WRONLY); }, nullptr},
    {"access-write", [](char** n) { return ::access(n[0], W_OK); }, nullptr},
    {"truncate", [](char** n) { return ::truncate(n[0], 4); }, nullptr},
    {"chmod", [](char** n) { return ::chmod(n[0], 0755); }, nullptr},
    {"utime",
     [](char** n) {
       const timeval times[2] = {};
       return ::utimes(n[0], times);
     },
     nullptr},
    {"setxattr", [](char** n) { return ::setxattr(n[0], "user.gos", "1", 1, 0); },
     [](char** n) { return ::removexattr(n[0], "user.gos"); }},
    // What a file of four letters answers that may be executed.
    {"execute",
     [](char** n) {
       ::execl(n[0], n[0], nullptr);
       return errno == ENOEXEC ? 0 : -1;
     },
     nullptr},
    {"create", [](char** n) { return ::open(n[0], O_WRONLY | O_CREAT | O_EXCL, 0644); },
     [](char** n) { return ::unlink(n[0]); }},
    {"mkdir", [](char** n) { return ::mkdir(n[0], 0755); }, [](char** n) { return ::rmdir(n[0]); }},
    {"symlink", [](char** n) { return ::symlink("/", n[0]); },
     [](char** n) { return ::unlink(n[0]); }},
    {"unlink", [](char** n) { return ::unlink(n[0]); }, [](char** n) { return makeFile(n[0]); }},
    {"rename", [](char** n) { return ::rename(n[0], n[1]); },
     [](char** n) { return ::rename(n[1], n[0]); }},
    {"link", [](char** n) { return ::link(n[0], n[1]); }, [](char** n) { return ::unlink(n[1]); }},
};

int tryLine(char* line) {
  char* rest = line;
  const char* name = ::strsep(&rest, "\t");
  char* names[2] = {};
  for (int at = 0; at != 2 && rest != nullptr; ++at)
    names[at] = ::strsep(&rest, "\t");
  for (const Act& act : kActs) {
    if (std::strcmp(act.name, name) != 0)
      continue;
    if (act.run(names) < 0)
      return std::printf("refused %s\n", ::strerrorname_np(errno));
    if (act.undo != nullptr && act.undo(names) < 0)
      return std::printf("not undone %s\n", ::strerrorname_np(errno));
    return std::printf("ok\n");
  }
  return -1;
}

} // namespace

int main(int count, char** words) {
  FILE* file =
      count == 3 && std::strcmp(words[1], "batch") == 0 ? std::fopen(words[2], "r") : nullptr;
  if (file == nullptr)
    return 2;
  char* line = nullptr;
  size_t space = 0;
  for (ssize_t size; (size = ::getline(&line, &space, file)) > 0;) {
    if (line[size - 1] == '\n')
      line[size - 1] = '\0';
    if (tryLine(line) < 0)
      return 2;
    ::close_range(unsigned(::fileno(file)) + 1, ~0u, 0); // what the acts left open
  }
  return 0;
}
