#include "compiler/repl/editor.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gos::repl {
namespace {

using llvm::StringRef;

constexpr size_t kMostLines = 2000;
constexpr size_t kMostBytes = size_t(1) << 20;

/// Lines of an entry are joined by a character that no line of source holds.
constexpr char kJoin = '\x1f';

bool makeDirectories(const std::string& path) {
  for (size_t at = 1; at <= path.size(); ++at)
    if (at == path.size() || path[at] == '/')
      if (::mkdir(path.substr(0, at).c_str(), 0700) != 0 && errno != EEXIST)
        return false;
  return true;
}

bool writeWhole(int fd, StringRef text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    text = text.drop_front(size_t(written));
  }
  return true;
}

/// Only a plain file of our own: a name that leads elsewhere is left alone.
int openHistory(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  struct stat status = {};
  if (fd >= 0 &&
      (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != ::geteuid())) {
    ::close(fd);
    return -1;
  }
  return fd;
}

} // namespace

void History::load() {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  std::string directory;
  if (state && state[0] == '/')
    directory = std::string(state) + "/gossamer";
  else if (home && home[0] == '/')
    directory = std::string(home) + "/.local/state/gossamer";
  if (directory.empty() || !makeDirectories(directory))
    return;
  path_ = directory + "/repl_history";
  const int fd = openHistory(path_, O_RDONLY);
  if (fd < 0)
    return;
  std::string text(kMostBytes, '\0');
  size_t size = 0;
  for (ssize_t got;
       size < text.size() && (got = ::read(fd, text.data() + size, text.size() - size)) > 0;)
    size += size_t(got);
  ::close(fd);
  StringRef rest(text.data(), size);
  while (!rest.empty()) {
    auto [line, tail] = rest.split('\n');
    rest = tail;
    if (line.empty())
      continue;
    std::string entry = line.str();
    std::replace(entry.begin(), entry.end(), kJoin, '\n');
    lines_.push_back(std::move(entry));
  }
  if (lines_.size() <= kMostLines && size < kMostBytes / 2)
    return;
  // Too long: the newer half takes its place.
  lines_.erase(lines_.begin(), lines_.begin() + std::ptrdiff_t(lines_.size() / 2));
  const std::string fresh = path_ + "." + std::to_string(::getpid());
  const int out = openHistory(fresh, O_WRONLY | O_CREAT | O_EXCL);
  if (out < 0)
    return;
  bool fine = true;
  for (std::string entry : lines_) {
    std::replace(entry.begin(), entry.end(), '\n', kJoin);
    fine = fine && writeWhole(out, entry + "\n");
  }
  ::close(out);
  if (!fine || ::rename(fresh.c_str(), path_.c_str()) != 0)
    ::unlink(fresh.c_str());
}

void History::add(StringRef text) {
  text = text.trim("\n");
  if (text.trim().empty() || (!lines_.empty() && lines_.back() == text))
    return;
  lines_.push_back(text.str());
  if (path_.empty())
    return;
  std::string entry = text.str();
  std::replace(entry.begin(), entry.end(), '\n', kJoin);
  const int fd = openHistory(path_, O_WRONLY | O_CREAT | O_APPEND);
  if (fd < 0)
    return;
  writeWhole(fd, entry + "\n"); // a history that cannot be written is no reason to stop
  ::close(fd);
}

} // namespace gos::repl
