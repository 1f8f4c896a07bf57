#include "stdlib/program/descendants.h"

#include "sandbox/sys_error.h"
#include "sandbox/unique_fd.h"
#include "stdlib/process_children.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <csignal>
#include <dirent.h>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gos::program {
namespace {

using Clock = std::chrono::steady_clock;
using llvm::StringRef;

/// How long the kernel may take with one that was killed: it may hang in a device.
constexpr auto kLongestDeath = std::chrono::seconds(1);
constexpr unsigned kDeepest = 64;
/// Between two looks where no descriptor of a process can be had.
constexpr int kLookMs = 10;

std::optional<std::string> contentOf(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file)
    return std::nullopt;
  std::string text;
  char block[4096];
  for (;;) {
    const ssize_t got = retryInterrupted([&] { return ::read(file.get(), block, sizeof block); });
    if (got <= 0)
      return text;
    text.append(block, size_t(got));
  }
}

/// Those of each thread; none where the kernel does not tell.
std::vector<int> childrenOf(const std::string& process) {
  std::vector<int> found;
  const std::string tasks = "/proc/" + process + "/task";
  DIR* const threads = ::opendir(tasks.c_str());
  if (threads == nullptr)
    return found;
  while (const dirent* entry = ::readdir(threads)) {
    if (entry->d_name[0] == '.')
      continue;
    const std::optional<std::string> text = contentOf(tasks + "/" + entry->d_name + "/children");
    if (!text)
      continue;
    llvm::SmallVector<StringRef, 8> words;
    StringRef(*text).split(words, ' ', -1, /*KeepEmpty=*/false);
    for (StringRef word : words)
      if (int pid = 0; !word.trim().getAsInteger(10, pid) && pid > 1)
        found.push_back(pid);
  }
  ::closedir(threads);
  return found;
}

/// Of this process.
std::vector<int> childrenNow() {
  std::vector<int> found = stdlib::keptChildren();
  for (int pid : childrenOf("self"))
    if (!llvm::is_contained(found, pid))
      found.push_back(pid);
  return found;
}

/// The first process of a sandbox ends by itself when this process does, and has to clean up.
bool endsByItself(int pid) {
  return contentOf("/proc/" + std::to_string(pid) + "/comm") == "bwr-first\n";
}

/// Has it ended? It is reaped then, and is nobody's any more.
bool reaped(int pid) {
  if (stdlib::reapChild(pid))
    return true;
  siginfo_t facts{};
  return ::waitid(P_PID, id_t(pid), &facts, WEXITED | WNOHANG | WNOWAIT) != 0;
}

/// Signals everything beneath a process whose number is its own, once. The number of a descendant
/// is held while it is compared, so that no other process gets the signal.
void tellBeneath(int parent, int number, Told told, std::vector<int>& done, unsigned depth) {
  if (depth == kDeepest)
    return;
  const std::string name = std::to_string(parent);
  for (int pid : childrenOf(name)) {
    if (llvm::is_contained(done, pid))
      continue;
    const UniqueFd held(int(::syscall(SYS_pidfd_open, pid, 0)));
    if (!held || !llvm::is_contained(childrenOf(name), pid))
      continue;
    done.push_back(pid);
    if (told == Told::Nobody || ::getpgid(pid) != ::getpgrp())
      ::syscall(SYS_pidfd_send_signal, held.get(), number, nullptr, 0);
    tellBeneath(pid, number, told, done, depth + 1);
  }
}

void waitForOne(const std::vector<int>& children, Clock::time_point until) {
  std::vector<UniqueFd> held;
  std::vector<pollfd> entries;
  bool all = true;
  for (int pid : children) {
    held.emplace_back(int(::syscall(SYS_pidfd_open, pid, 0)));
    all &= held.back().valid();
    entries.push_back({held.back().get(), POLLIN, 0});
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  const int longest = int(std::clamp<int64_t>(left, 0, 60'000));
  (void)::poll(entries.data(), nfds_t(entries.size()), all ? longest : std::min(longest, kLookMs));
}

} // namespace

std::vector<int> childrenOfBefore() {
  siginfo_t facts{};
  if (::waitid(P_ALL, 0, &facts, WEXITED | WNOHANG | WNOWAIT) != 0)
    return {}; // the common case: there is none
  return childrenNow();
}

void endDescendants(int number, Told told, Clock::time_point deadline,
                    const std::vector<int>& others) {
  std::vector<int> done;
  bool isKilling = false;
  for (;;) {
    std::vector<int> left;
    for (int pid : childrenNow())
      if (!llvm::is_contained(others, pid) && !reaped(pid) && !endsByItself(pid))
        left.push_back(pid);
    if (left.empty())
      return;
    if (Clock::now() >= deadline) {
      if (isKilling)
        return;
      isKilling = true;
      deadline = Clock::now() + kLongestDeath;
    }
    // Their numbers are their own: nobody else reaps them.
    for (int pid : left) {
      if (isKilling) {
        ::kill(pid, SIGKILL); // what is beneath comes to us
        continue;
      }
      if (llvm::is_contained(done, pid))
        continue;
      done.push_back(pid);
      // From below, so that a parent does not end before its children are found.
      tellBeneath(pid, number, told, done, 0);
      if (told == Told::Nobody || ::getpgid(pid) != ::getpgrp())
        ::kill(pid, number);
    }
    waitForOne(left, deadline);
  }
}

} // namespace gos::program
