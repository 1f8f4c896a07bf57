#include "sandbox/bwr/evidence.h"

#include "sandbox/sys_error.h"
#include "sandbox/unique_fd.h"

#include "llvm/ADT/STLExtras.h"

#include <chrono>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gos::bwr {

namespace {
/// More than a tool says of one mistake; the beginning of it is what counts.
constexpr size_t kMostText = size_t(1) << 18;
/// A check looks into caches and lock files. One that takes longer waits for something.
constexpr std::chrono::seconds kLongestCheck(20);

/// A tool keeps a few; more are the command's.
constexpr size_t kMostLogs = 1000;

double changedAt(const struct stat& status) {
  return double(status.st_mtim.tv_sec) + double(status.st_mtim.tv_nsec) / 1e9;
}

std::string readFrom(int fd) {
  std::string text(kMostText, '\0');
  size_t size = 0;
  while (size != text.size()) {
    const ssize_t got = retryInterrupted(
        [&] { return ::pread(fd, text.data() + size, text.size() - size, off_t(size)); });
    if (got <= 0)
      break;
    size += size_t(got);
  }
  text.resize(size);
  return text;
}

/// Waits for the end of a run; what has not ended by then is killed.
bool failedInTime(sandbox::Run& run) {
  const auto until = std::chrono::steady_clock::now() + kLongestCheck;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    pollfd entry = {run.descriptor(), POLLIN, 0};
    if (left.count() <= 0 || ::poll(&entry, 1, int(left.count())) == 0)
      return false; // destroying the run ends it
    llvm::Expected<sandbox::Run::Event> event = run.take();
    if (!event) {
      llvm::consumeError(event.takeError());
      return false;
    }
    if (*event == sandbox::Run::Event::Ended)
      return run.result().code != 0 && run.result().signal == 0;
  }
}
} // namespace

bool holdsAny(llvm::StringRef text, llvm::ArrayRef<std::string> words) {
  return llvm::any_of(words, [&](const std::string& word) { return text.contains(word); });
}

std::string logText(const std::string& path, double since) {
  if (path.empty())
    return {};
  UniqueFd place(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  struct stat status{};
  if (!place || ::fstat(place.get(), &status) != 0)
    return {};
  if (!S_ISDIR(status.st_mode))
    return S_ISREG(status.st_mode) && changedAt(status) >= since ? readFrom(place.get())
                                                                 : std::string();
  UniqueFd newest;
  double latest = since;
  DIR* directory = ::fdopendir(::fcntl(place.get(), F_DUPFD_CLOEXEC, 3));
  if (directory == nullptr)
    return {};
  size_t seen = 0;
  while (const dirent* entry = ::readdir(directory)) {
    if (++seen > kMostLogs)
      break;
    UniqueFd file(::openat(place.get(), entry->d_name,
                           O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    if (file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
        changedAt(status) >= latest) {
      latest = changedAt(status);
      newest = std::move(file);
    }
  }
  ::closedir(directory);
  return newest ? readFrom(newest.get()) : std::string();
}

std::string checkText(const Policy& policy, const sandbox::RunOptions& step,
                      const std::vector<std::string>& check) {
  const UniqueFd messages(::memfd_create("bwr-check", MFD_CLOEXEC));
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (check.empty() || !messages || !null)
    return {};
  sandbox::RunOptions options;
  options.program = step.program;
  options.arguments = check;
  options.environment = step.environment;
  options.standardInput = options.standardOutput = null.get();
  options.standardError = messages.get();
  options.newSession = true;
  options.adoptsOrphans = step.adoptsOrphans;
  llvm::Expected<std::unique_ptr<sandbox::Run>> run = sandbox::start(policy, options);
  if (!run) {
    llvm::consumeError(run.takeError());
    return {};
  }
  return failedInTime(**run) ? readFrom(messages.get()) : std::string();
}

std::string networkNote(const NetworkHint& hint, const Policy& policy,
                        const sandbox::RunOptions& step, const sandbox::RunResult& result) {
  if (hint.text.empty() || result.code == 0 || result.signal != 0)
    return {};
  if (result.networkRefused)
    return hint.text + hint.withNetwork;
  const bool said =
      holdsAny(logText(hint.log, hint.since), hint.words) ||
      (!hint.check.empty() && holdsAny(checkText(policy, step, hint.check), hint.words));
  return said ? hint.text : std::string();
}

} // namespace gos::bwr
