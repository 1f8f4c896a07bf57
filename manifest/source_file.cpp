#include "manifest/source_file.h"

#include "sandbox/policy/policy.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gos {

namespace {
constexpr unsigned kMaxLinks = 40;
constexpr int kOpenForReading = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;

class Descriptor {
public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0)
      ::close(fd_);
  }
  int get() const { return fd_; }

private:
  int fd_;
};

/// Opens a path without links beneath a directory, whatever happens to the tree meanwhile.
int openPlain(const std::string& directory, const std::string& path) {
  Descriptor root(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (root.get() < 0)
    return -1;
  struct open_how how = {};
  how.flags = kOpenForReading;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS;
  const int fd = int(::syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof how));
  if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
    return fd;
  // No openat2 here: component by component, following nothing.
  int at = ::fcntl(root.get(), F_DUPFD_CLOEXEC, 3);
  for (llvm::StringRef left = path; at >= 0 && !left.empty();) {
    auto [name, tail] = left.split('/');
    left = tail;
    Descriptor parent(at);
    const int flags =
        tail.empty() ? kOpenForReading | O_NOFOLLOW : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    at = ::openat(parent.get(), name.str().c_str(), flags);
  }
  return at;
}

std::string errnoWords(int number) {
  const char* words = ::strerrordesc_np(number);
  std::string text = words ? words : "error " + llvm::utostr(unsigned(number));
  if (text.size() > 1 && llvm::isLower(text[1]))
    text[0] = llvm::toLower(text[0]);
  return text;
}

SourceText problem(SourceProblem kind, std::string words = {}) {
  SourceText text;
  text.problem = kind;
  text.words = std::move(words);
  return text;
}

/// Reads a descriptor to its end. Never mapped: a file that is cut short would be a signal.
SourceText readDescriptor(int fd, uint64_t size, uint64_t cap, llvm::StringRef name) {
  auto fill = [&](char* into, size_t room, size_t& got) {
    got = 0;
    while (got != room) {
      const ssize_t count = ::read(fd, into + got, room - got);
      if (count < 0 && errno == EINTR)
        continue;
      if (count < 0)
        return false;
      if (count == 0)
        break;
      got += size_t(count);
    }
    return true;
  };
  auto buffer = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(size_t(size), name);
  if (!buffer)
    return problem(SourceProblem::Other, "not enough memory");
  size_t got = 0;
  if (!fill(buffer->getBufferStart(), size_t(size), got))
    return problemOf(errno);
  char more = 0;
  size_t extra = 0;
  if (got == size && !fill(&more, 1, extra))
    return problemOf(errno);
  SourceText text;
  if (got == size && extra == 0) {
    text.buffer = std::move(buffer);
    return text;
  }
  // The file changed its size meanwhile: what was read is what counts.
  std::string bytes(buffer->getBufferStart(), got);
  if (extra != 0) {
    bytes.push_back(more);
    while (bytes.size() <= cap) {
      const size_t filled = bytes.size();
      bytes.resize(filled + (size_t(1) << 20));
      if (!fill(bytes.data() + filled, size_t(1) << 20, got))
        return problemOf(errno);
      bytes.resize(filled + got);
      if (got != size_t(1) << 20)
        break;
    }
    if (bytes.size() > cap)
      return problem(SourceProblem::TooLarge);
  }
  text.buffer = llvm::MemoryBuffer::getMemBufferCopy(bytes, name);
  return text;
}
} // namespace

SourceText problemOf(int number) {
  switch (number) {
  case ENOENT:
  case ENOTDIR:
    return problem(SourceProblem::Missing);
  case EACCES:
  case EPERM:
    return problem(SourceProblem::NotPermitted);
  case ENXIO:
  case ENODEV:
    return problem(SourceProblem::NotRegular);
  case ELOOP:
    return problem(SourceProblem::Other, "it goes through too many symbolic links");
  default:
    return problem(SourceProblem::Other, errnoWords(number));
  }
}

InsidePath resolveInside(const std::string& directory, llvm::StringRef path) {
  InsidePath result;
  std::vector<std::string> names; // components that are known not to be links
  std::string pending = path.str();
  std::vector<std::pair<std::string, std::string>> links;
  std::vector<size_t>
      linkRests; // parallel to links: bytes of `pending` left when a link's text ends
  std::vector<size_t> openLinks;
  size_t at = 0;
  auto whole = [&] { return llvm::join(names, "/"); };
  while (true) {
    at = std::min(pending.find_first_not_of('/', at), pending.size());
    while (!openLinks.empty() && pending.size() - at <= linkRests[openLinks.back()])
      openLinks.pop_back();
    if (at == pending.size())
      break;
    const size_t end = std::min(pending.find('/', at), pending.size());
    const std::string name = pending.substr(at, end - at);
    at = end;
    if (name == ".")
      continue;
    if (name == "..") {
      if (names.empty()) {
        result.kind = InsidePath::Kind::Outside;
        if (!openLinks.empty())
          std::tie(result.link, result.linkText) = links[openLinks.back()];
        return result;
      }
      names.pop_back();
      continue;
    }
    names.push_back(name);
    const std::string full = directory + "/" + whole();
    struct stat status{};
    if (::lstat(full.c_str(), &status) != 0) {
      result.errorNumber = errno;
      result.kind = errno == ENOENT    ? InsidePath::Kind::Missing
                    : errno == ENOTDIR ? InsidePath::Kind::NotADirectory
                                       : InsidePath::Kind::Failed;
      return result;
    }
    if (!S_ISLNK(status.st_mode)) {
      if (!S_ISDIR(status.st_mode) && at != pending.size()) {
        result.kind = InsidePath::Kind::NotADirectory;
        result.errorNumber = ENOTDIR;
        return result;
      }
      continue;
    }
    char buffer[PATH_MAX];
    const ssize_t size = ::readlink(full.c_str(), buffer, sizeof buffer);
    if (size <= 0 || size_t(size) == sizeof buffer) {
      result.errorNumber = size < 0 ? errno : ENAMETOOLONG;
      return result;
    }
    std::string text(buffer, size_t(size));
    links.push_back({whole(), text});
    names.pop_back();
    if (links.size() > kMaxLinks) {
      result.kind = InsidePath::Kind::Loop;
      result.errorNumber = ELOOP;
      return result;
    }
    if (text.front() == '/') {
      if (!isAtOrBeneath(text, directory)) {
        result.kind = InsidePath::Kind::Outside;
        std::tie(result.link, result.linkText) = links.back();
        return result;
      }
      text = text.substr(directory == "/" ? 1 : directory.size());
      names.clear();
    }
    const std::string rest = pending.substr(at);
    openLinks.push_back(links.size() - 1);
    linkRests.push_back(rest.size());
    pending = text + rest;
    at = 0;
  }
  result.kind = InsidePath::Kind::Inside;
  result.path = names.empty() ? "." : whole();
  return result;
}

SourceText readBeneath(const std::string& directory, llvm::StringRef path, uint64_t cap) {
  if (path.empty() || path.contains('\0'))
    return problem(SourceProblem::Missing);
  if (path.starts_with("/"))
    return problem(SourceProblem::Outside);
  const InsidePath inside = resolveInside(directory, path);
  switch (inside.kind) {
  case InsidePath::Kind::Inside:
    break;
  case InsidePath::Kind::Outside: {
    SourceText text = problem(SourceProblem::Outside);
    text.link = inside.link;
    text.linkText = inside.linkText;
    return text;
  }
  case InsidePath::Kind::Missing:
    return problem(SourceProblem::Missing);
  case InsidePath::Kind::Loop:
    return problem(SourceProblem::Other, "it goes through too many symbolic links");
  case InsidePath::Kind::NotADirectory:
  case InsidePath::Kind::Failed:
    return problemOf(inside.errorNumber);
  }
  // Bound beneath the directory again: what was a file above may be a link by now.
  Descriptor fd(openPlain(directory, inside.path));
  if (fd.get() < 0) {
    if (errno == ELOOP || errno == EXDEV)
      return problem(SourceProblem::Other, "it changed while it was being opened");
    return problemOf(errno);
  }
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0)
    return problemOf(errno);
  if (S_ISDIR(status.st_mode))
    return problem(SourceProblem::IsDirectory);
  if (!S_ISREG(status.st_mode))
    return problem(SourceProblem::NotRegular);
  if (uint64_t(status.st_size) > cap)
    return problem(SourceProblem::TooLarge);
  return readDescriptor(fd.get(), uint64_t(status.st_size), cap, path);
}

void reportProblem(const SourceText& text, llvm::StringRef shown, uint64_t cap, Engine& engine,
                   Span usedAt) {
  switch (text.problem) {
  case SourceProblem::None:
    return;
  case SourceProblem::Missing:
    engine.report(usedAt, diag::FileMissing, shown);
    return;
  case SourceProblem::IsDirectory:
    engine.report(usedAt, diag::FileIsDirectory, shown);
    return;
  case SourceProblem::NotPermitted:
    engine.report(usedAt, diag::FileNotPermitted, shown);
    return;
  case SourceProblem::NotRegular:
    engine.report(usedAt, diag::FileNotRegular, shown);
    return;
  case SourceProblem::TooLarge:
    engine.report(usedAt, diag::FileTooLarge, shown, size_t(cap));
    return;
  case SourceProblem::Outside:
    engine.report(usedAt, diag::SourceOutsidePackage, shown,
                  text.link.empty() ? llvm::StringRef("..") : llvm::StringRef(text.linkText));
    return;
  case SourceProblem::Other:
    engine.report(usedAt, diag::FileUnreadable, shown, text.words);
    return;
  }
}

size_t findInvalidUtf8(llvm::StringRef text) {
  const auto* begin = reinterpret_cast<const llvm::UTF8*>(text.begin());
  const auto* end = reinterpret_cast<const llvm::UTF8*>(text.end());
  const llvm::UTF8* at = begin;
  while (at != end) {
    // Eight bytes of ASCII at a time: sources are that, mostly.
    uint64_t chunk = 0;
    if (end - at >= 8) {
      std::memcpy(&chunk, at, 8);
      if ((chunk & 0x8080808080808080u) == 0) {
        at += 8;
        continue;
      }
    }
    if (*at < 0x80) {
      ++at;
      continue;
    }
    if (!llvm::isLegalUTF8Sequence(at, end))
      return size_t(at - begin);
    at += llvm::getNumBytesForUTF8(*at);
  }
  return text.size();
}

} // namespace gos
