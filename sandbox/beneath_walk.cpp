#include "sandbox/beneath_walk.h"

#include "sandbox/sys_error.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

namespace gos {

namespace {
constexpr unsigned kMaxLinks = 40;
/// Each level is a descriptor; honest trees are far from it.
constexpr size_t kMaxDepth = 512;
/// A tree that changes under this many attempts is being changed on purpose.
constexpr unsigned kMaxAttempts = 16;
constexpr int kOpenForReading = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
} // namespace

FileFacts factsOf(const struct stat& status, dev_t rootDevice) {
  FileFacts facts;
  if (S_ISREG(status.st_mode))
    facts.kind = FileKind::File;
  else if (S_ISDIR(status.st_mode))
    facts.kind = FileKind::Directory;
  else if (S_ISLNK(status.st_mode))
    facts.kind = FileKind::Link;
  if (facts.kind == FileKind::File || facts.kind == FileKind::Link)
    facts.size = uint64_t(status.st_size);
  facts.hardLinks = uint64_t(status.st_nlink);
  facts.otherDevice = status.st_dev != rootDevice;
  facts.modifiedSeconds = status.st_mtime;
  facts.mode = uint32_t(status.st_mode);
  return facts;
}

void fail(Resolution& resolution, Failure failure, int errorNumber) {
  resolution.outcome = Outcome::Failed;
  resolution.failure = failure;
  resolution.errorNumber = errorNumber;
}

Failure failureOf(int errorNumber) {
  switch (errorNumber) {
  case ENOTDIR:
    return Failure::NotADirectory;
  case ENAMETOOLONG:
    return Failure::TooLong;
  case EACCES:
  case EPERM:
    return Failure::PermissionDenied;
  case ENXIO:
  case ENODEV:
    return Failure::NotRegular;
  default:
    return Failure::System;
  }
}

std::string joinBeneath(llvm::StringRef directory, llvm::StringRef name) {
  if (directory.empty() || directory == ".")
    return name.str();
  return (directory + "/" + name).str();
}

Arrival Walk::run(llvm::StringRef written, llvm::StringRef text) {
  Arrival arrival;
  for (unsigned attempts = 0; attempts != kMaxAttempts; ++attempts) {
    arrival = Arrival();
    arrival.resolution.written = written.str();
    if (attempt(arrival, text) == Step::Done)
      return arrival;
  }
  arrival = Arrival();
  arrival.resolution.written = written.str();
  fail(arrival.resolution, Failure::Changed);
  return arrival;
}

Walk::Step Walk::attempt(Arrival& arrival, llvm::StringRef text) {
  stack_.clear();
  openLinks_.clear();
  pending_ = text.str();
  at_ = 0;
  linkCount_ = 0;
  while (true) {
    at_ = std::min(pending_.find_first_not_of('/', at_), pending_.size());
    while (!openLinks_.empty() && pending_.size() - at_ <= openLinks_.back().rest)
      openLinks_.pop_back();
    if (at_ == pending_.size())
      return finishAtDirectory(arrival);
    const size_t end = std::min(pending_.find('/', at_), pending_.size());
    const std::string name = pending_.substr(at_, end - at_);
    if (name == "..") {
      // The kernel is not asked: where `..` of a directory is now, a rename may have changed.
      if (stack_.empty())
        return outside(arrival);
      stack_.pop_back();
      at_ = end;
      continue;
    }
    at_ = end;
    if (name == ".")
      continue;
    const Step step = enter(arrival, name);
    if (step != Step::Go)
      return step;
  }
}

Walk::Step Walk::enter(Arrival& arrival, llvm::StringRef name) {
  const std::string component = name.str();
  UniqueFd fd(retryInterrupted(
      [&] { return ::openat(top(), component.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC); }));
  if (!fd) {
    const int number = errno;
    if (number == ENOENT)
      return stopAt(arrival, name, Outcome::Absent, Failure::None, 0);
    return stopAt(arrival, name, Outcome::Failed, failureOf(number), number);
  }
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0)
    return refuse(arrival, Failure::System, errno);
  if (S_ISLNK(status.st_mode)) {
    if (followLast_ == FollowLast::No && want_ == Want::Query && rest().empty()) {
      arrival.status = status;
      return finishAtLeaf(arrival, std::move(fd), name);
    }
    return follow(arrival, std::move(fd), name);
  }
  if (S_ISDIR(status.st_mode)) {
    if (stack_.size() == kMaxDepth)
      return stopAt(arrival, name, Outcome::Failed, Failure::TooLong, 0);
    stack_.push_back({std::move(fd), component});
    return Step::Go;
  }
  if (!rest().empty())
    return stopAt(arrival, name, Outcome::Failed, Failure::NotADirectory, ENOTDIR);
  arrival.status = status;
  return finishAtLeaf(arrival, std::move(fd), name);
}

Walk::Step Walk::follow(Arrival& arrival, UniqueFd link, llvm::StringRef name) {
  if (++linkCount_ > kMaxLinks)
    return refuse(arrival, Failure::TooManyLinks, ELOOP);
  // A link inside a denied directory is read as little as a file there.
  Resolution place;
  place.path = joinBeneath(pathOfTop(), name);
  if (!root_.judge(place, Operation::Query)) {
    arrival.resolution.outcome = Outcome::Refused;
    arrival.resolution.path = place.path;
    arrival.resolution.rule = place.rule;
    return Step::Done;
  }
  char buffer[PATH_MAX];
  const ssize_t size = ::readlinkat(link.get(), "", buffer, sizeof buffer);
  if (size < 0)
    return refuse(arrival, Failure::System, errno);
  if (size == 0 || size_t(size) == sizeof buffer)
    return refuse(arrival, Failure::TooLong, ENAMETOOLONG);
  FollowedLink followed{place.path, std::string(buffer, size_t(size))};
  arrival.resolution.links.push_back(followed);

  std::string text = followed.text;
  if (text.front() == '/') {
    std::optional<std::string> inside = root_.beneathRoot(text);
    if (!inside) {
      openLinks_.push_back({0, std::move(followed)});
      return outside(arrival);
    }
    text = std::move(*inside);
    stack_.clear();
  }
  const std::string remaining = rest().str(); // empty, or begins with a slash
  openLinks_.push_back({remaining.size(), std::move(followed)});
  pending_ = text + remaining;
  at_ = 0;
  return Step::Go;
}

Walk::Step Walk::finishAtLeaf(Arrival& arrival, [[maybe_unused]] UniqueFd leaf,
                              llvm::StringRef name) {
  Resolution& resolution = arrival.resolution;
  resolution.path = joinBeneath(pathOfTop(), name);
  if (!root_.judge(resolution, operationOf(want_)))
    return Step::Done;
  if (want_ == Want::Query) {
    resolution.outcome = Outcome::Found;
    return Step::Done;
  }
  if (want_ == Want::Directory)
    return refuse(arrival, Failure::NotADirectory, ENOTDIR);
  // What is no regular file is not opened: opening a FIFO wakes its writer, a device acts.
  if (!S_ISREG(arrival.status.st_mode))
    return refuse(arrival, Failure::NotRegular);
  const std::string component = name.str();
  UniqueFd opened(retryInterrupted(
      [&] { return ::openat(top(), component.c_str(), kOpenForReading | O_NOFOLLOW); }));
  if (!opened) {
    const int number = errno;
    // The name stands for something else than a moment ago.
    if (number == ENOENT || number == ELOOP || number == ENXIO)
      return Step::Again;
    return refuse(arrival, failureOf(number), number);
  }
  struct stat status{};
  if (::fstat(opened.get(), &status) != 0)
    return refuse(arrival, Failure::System, errno);
  // `leaf` is still open, so its inode number can't have been given to another file.
  if (status.st_dev != arrival.status.st_dev || status.st_ino != arrival.status.st_ino)
    return Step::Again;
  arrival.status = status;
  arrival.fd = std::move(opened);
  resolution.outcome = Outcome::Found;
  return Step::Done;
}

Walk::Step Walk::finishAtDirectory(Arrival& arrival) {
  Resolution& resolution = arrival.resolution;
  resolution.path = pathOfTop();
  if (!root_.judge(resolution, operationOf(want_)))
    return Step::Done;
  if (want_ == Want::File)
    return refuse(arrival, Failure::IsADirectory, EISDIR);
  if (::fstat(top(), &arrival.status) != 0)
    return refuse(arrival, Failure::System, errno);
  if (want_ == Want::Directory) {
    // "." of a descriptor is that directory, whatever its name stands for by now.
    UniqueFd opened(retryInterrupted(
        [&] { return ::openat(top(), ".", kOpenForReading | O_DIRECTORY | O_NOFOLLOW); }));
    if (!opened) {
      const int number = errno;
      return refuse(arrival, failureOf(number), number);
    }
    arrival.fd = std::move(opened);
  }
  resolution.outcome = Outcome::Found;
  return Step::Done;
}

Walk::Step Walk::stopAt(Arrival& arrival, llvm::StringRef name, Outcome outcome, Failure failure,
                        int number) {
  if (restLeavesRoot(stack_.size() + 1))
    return outside(arrival);
  Resolution& resolution = arrival.resolution;
  resolution.path = joinBeneath(pathOfTop(), name);
  // An absence is recorded as the whole name that would have to appear; with `..` in the rest the
  // first missing name is the one that counts.
  if (outcome == Outcome::Absent) {
    std::string whole = resolution.path;
    bool plain = true;
    for (llvm::StringRef left = rest(); !left.empty();) {
      auto [component, tail] = left.split('/');
      left = tail;
      if (component == "..")
        plain = false;
      if (!component.empty() && component != ".")
        whole = joinBeneath(whole, component);
    }
    if (plain)
      resolution.path = whole;
  }
  if (!root_.judge(resolution, operationOf(want_)))
    return Step::Done;
  resolution.outcome = outcome;
  resolution.failure = failure;
  resolution.errorNumber = number;
  return Step::Done;
}

Walk::Step Walk::outside(Arrival& arrival) {
  Resolution& resolution = arrival.resolution;
  resolution.outcome = Outcome::Outside;
  resolution.path.clear();
  if (!openLinks_.empty())
    resolution.leadingOut = openLinks_.back().link;
  return Step::Done;
}

Walk::Step Walk::refuse(Arrival& arrival, Failure failure, int number) {
  fail(arrival.resolution, failure, number);
  return Step::Done;
}

std::string Walk::pathOfTop() const {
  std::string path;
  for (const Level& level : stack_)
    path = joinBeneath(path, level.name);
  return path.empty() ? "." : path;
}

bool Walk::restLeavesRoot(size_t depth) const {
  for (llvm::StringRef left = rest(); !left.empty();) {
    auto [component, tail] = left.split('/');
    left = tail;
    if (component == "..") {
      if (depth == 0)
        return true;
      --depth;
    } else if (!component.empty() && component != ".") {
      ++depth;
    }
  }
  return false;
}

} // namespace gos
