#include "tests/threats/support.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gos::threats {

namespace {

constexpr size_t kMostOutput = size_t(64) << 20;

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    read = ends[0];
    write = ends[1];
  }
  ~Pipe() {
    closeRead();
    closeWrite();
  }
  void closeRead() { closeEnd(read); }
  void closeWrite() { closeEnd(write); }
  static void closeEnd(int& fd) {
    if (fd >= 0)
      ::close(fd);
    fd = -1;
  }
};

std::string gosProgram() {
  const char* other = std::getenv("GOS_PROGRAM");
  return other && *other ? other : GOS_PROGRAM;
}

/// Nothing of the user's environment, so that a test means the same everywhere.
std::vector<std::string> cleanEnvironment(const Launch& launch) {
  std::vector<std::string> environment;
  auto given = [&](llvm::StringRef name) {
    for (const auto& [key, value] : launch.environment)
      if (key == name)
        return true;
    return false;
  };
  auto fallback = [&](llvm::StringRef name, llvm::StringRef value) {
    if (!given(name))
      environment.push_back((name + "=" + value).str());
  };
  fallback("PATH", "/usr/local/bin:/usr/bin:/bin");
  fallback("HOME", "/nonexistent");
  fallback("LANG", "C.UTF-8");
  for (const char* name : {"ASAN_OPTIONS", "TSAN_OPTIONS"})
    if (const char* options = std::getenv(name))
      fallback(name, options);
  for (const auto& [key, value] : launch.environment)
    environment.push_back(key + "=" + value);
  return environment;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts)
    result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// Is there a process of the group that has not ended? One that nobody has reaped has.
bool groupLives(pid_t group) {
  if (::kill(-group, 0) != 0)
    return false;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator("/proc", error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    std::string line;
    std::getline(std::ifstream(entry->path() / "stat"), line);
    char state = 0;
    int parent = 0, itsGroup = 0;
    const size_t name = line.rfind(") ");
    if (name != std::string::npos &&
        std::sscanf(line.c_str() + name + 2, "%c %d %d", &state, &parent, &itsGroup) == 3 &&
        itsGroup == group && state != 'Z' && state != 'X')
      return true;
  }
  return false;
}

int& skipCount() {
  static int count = 0;
  return count;
}

} // namespace

llvm::StringRef spelling(Level level) {
  switch (level) {
  case Level::None:
    return "none";
  case Level::Confined:
    return "confined";
  case Level::Full:
    return "full";
  }
  return {};
}

bool fullRun() {
  const char* full = std::getenv("GOS_FULL");
  return full && *full && llvm::StringRef(full) != "0";
}

void skipPart(llvm::StringRef what, llvm::StringRef why) {
  ++skipCount();
  std::printf("skipped part %d: %s: %s\n", skipCount(), what.str().c_str(), why.str().c_str());
  const char* required = std::getenv("GOS_REQUIRE_SANDBOX");
  if (required && llvm::StringRef(required) == "1")
    FAIL_CHECK("skipped although GOS_REQUIRE_SANDBOX=1: " << what.str() << ": " << why.str());
}

Outcome launch(const Launch& launch) {
  Outcome outcome;
  Pipe in, out, err;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.read, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write, 1);
  posix_spawn_file_actions_adddup2(&actions, err.write, 2);
  for (const auto& [own, number] : launch.descriptors)
    posix_spawn_file_actions_adddup2(&actions, own, number);
  if (!launch.directory.empty())
    posix_spawn_file_actions_addchdir_np(&actions, launch.directory.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);

  std::vector<std::string> arguments = {launch.program.empty() ? gosProgram() : launch.program};
  arguments.insert(arguments.end(), launch.arguments.begin(), launch.arguments.end());
  std::vector<std::string> environment = cleanEnvironment(launch);
  const auto start = std::chrono::steady_clock::now();
  pid_t child = -1;
  const int error = posix_spawnp(&child, arguments[0].c_str(), &actions, &attributes,
                                 pointers(arguments).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  REQUIRE_MESSAGE(error == 0, "cannot start " << arguments[0] << ": " << std::strerror(error));
  in.closeRead();
  out.closeWrite();
  err.closeWrite();

#ifdef GOS_SANITIZED
  const int limitMs = launch.timeLimitMs * 6;
#else
  const int limitMs = launch.timeLimitMs;
#endif
  auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  ::signal(SIGPIPE, SIG_IGN);
  fcntl(in.write, F_SETFL, O_NONBLOCK);
  size_t written = 0;
  while (out.read >= 0 || err.read >= 0) {
    if (in.write >= 0 && written == launch.input.size() && !launch.inputStaysOpen)
      in.closeWrite();
    pollfd waits[3] = {{out.read, POLLIN, 0}, {err.read, POLLIN, 0}, {-1, POLLOUT, 0}};
    if (in.write >= 0 && written < launch.input.size())
      waits[2].fd = in.write;
    const int left = limitMs - int(elapsed() * 1000);
    if (left <= 0) {
      outcome.timedOut = true;
      ::kill(-child, SIGKILL);
      break;
    }
    if (::poll(waits, 3, left) <= 0)
      continue;
    auto drain = [](int& fd, short events, std::string& into) {
      if (fd < 0 || !events)
        return;
      char buffer[65536];
      const ssize_t got = ::read(fd, buffer, sizeof buffer);
      if (got > 0 && into.size() < kMostOutput)
        into.append(buffer, size_t(got));
      else if (got <= 0)
        Pipe::closeEnd(fd);
    };
    drain(out.read, waits[0].revents, outcome.out);
    drain(err.read, waits[1].revents, outcome.err);
    if (waits[2].revents) {
      const ssize_t put =
          ::write(in.write, launch.input.data() + written, launch.input.size() - written);
      if (put > 0)
        written += size_t(put);
      else
        in.closeWrite();
    }
  }
  // The streams are closed: the process ends, or is made to.
  int status = 0;
  rusage usage{};
  for (;;) {
    const pid_t ended = wait4(child, &status, WNOHANG, &usage);
    if (ended == child)
      break;
    if (elapsed() * 1000 > limitMs) {
      outcome.timedOut = true;
      ::kill(-child, SIGKILL);
    }
    usleep(200);
  }
  outcome.seconds = elapsed();
#ifndef GOS_SANITIZED // whose shadow is larger than any bound
  outcome.peakKiB = usage.ru_maxrss;
#endif
  if (WIFEXITED(status))
    outcome.exitCode = WEXITSTATUS(status);
  else
    outcome.signal = WTERMSIG(status);
  outcome.groupGone = !groupLives(child);
  if (!outcome.groupGone)
    ::kill(-child, SIGKILL);
  return outcome;
}

// ---- system calls
// ---------------------------------------------------------------------------------

namespace {

/// "123  openat(AT_FDCWD, "x", O_RDONLY) = 3" -> a call; exits, signals and second halves are left
/// out.
std::optional<SystemCall> parseCall(llvm::StringRef line) {
  line = line.ltrim("0123456789").ltrim();
  if (line.starts_with("<... ")) {
    // The second half of a call that was interrupted: kept for its result and its text.
    line = line.drop_front(5);
    SystemCall call;
    call.name = line.split(' ').first.str();
    call.text = line.str();
    call.failed = line.contains(" = -1 ");
    return call;
  }
  if (line.starts_with("+++") || line.starts_with("---"))
    return std::nullopt;
  const size_t bracket = line.find('(');
  if (bracket == llvm::StringRef::npos)
    return std::nullopt;
  SystemCall call;
  call.name = line.take_front(bracket).str();
  call.text = line.str();
  call.failed = line.contains(" = -1 ");
  return call;
}

} // namespace

Traced traced(const Launch& what) {
  Traced result;
  char name[] = "/tmp/gos-trace-XXXXXX";
  const int fd = mkstemp(name);
  REQUIRE(fd >= 0);
  ::close(fd);
  Launch inner = what;
  inner.program = "strace";
  inner.arguments = {
      "-f",
      "-qq",
      "-s",
      "400",
      "-o",
      name,
      "-e",
      "trace=%file,%process,%network,%signal,read,pread64,readv,getdents64,ftruncate,fchmod,fchown,"
      "fsetxattr,flock,mount,umount2,memfd_create,fcntl",
      what.program.empty() ? gosProgram() : what.program};
  inner.arguments.insert(inner.arguments.end(), what.arguments.begin(), what.arguments.end());
  inner.environment.push_back(
      {"ASAN_OPTIONS", "detect_leaks=0"}); // its leak checker is a tracer itself
  inner.timeLimitMs *= 4;
  result.outcome = launch(inner);
  std::string text;
  if (std::FILE* file = std::fopen(name, "re")) {
    char buffer[65536];
    size_t got;
    while ((got = std::fread(buffer, 1, sizeof buffer, file)) > 0)
      text.append(buffer, got);
    std::fclose(file);
  }
  ::unlink(name);
  llvm::StringRef rest = text;
  while (!rest.empty()) {
    auto [line, tail] = rest.split('\n');
    rest = tail;
    if (auto call = parseCall(line))
      result.calls.push_back(std::move(*call));
  }
  return result;
}

bool canTrace() {
  static const int works = [] {
    const char* path = std::getenv("PATH");
    bool found = false;
    for (llvm::StringRef directory : llvm::split(path ? path : "", ':'))
      found |= ::access((directory + "/strace").str().c_str(), X_OK) == 0;
    if (!found) {
      skipPart("system-call traces", "strace is not installed");
      return 0;
    }
    Launch probe;
    probe.program = "/bin/true";
    const Traced trial = traced(probe);
    if (trial.outcome.exitCode == 0 && !trial.calls.empty())
      return 1;
    skipPart("system-call traces", "strace does not work here: " + trial.outcome.err);
    return 0;
  }();
  return works == 1;
}

} // namespace gos::threats
