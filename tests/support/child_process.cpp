#include "tests/support/child_process.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace gos::test {
namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  int read = -1;
  int write = -1;
  ~Pipe() {
    closeEnd(read);
    closeEnd(write);
  }
  bool open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      return false;
    read = ends[0];
    write = ends[1];
    return true;
  }
  static void closeEnd(int& end) {
    if (end >= 0)
      close(end);
    end = -1;
  }
};

/// Feeds the input and drains both streams until all are closed; answers how that ended.
ChildResult::End converse(const ChildRequest& request, Pipe& input, Pipe& output, Pipe& error,
                          ChildResult& result) {
  const auto deadline = Clock::now() + request.limit;
  size_t written = 0;
  if (request.input.empty())
    Pipe::closeEnd(input.write);
  while (output.read >= 0 || error.read >= 0) {
    pollfd polled[3] = {
        {input.write, POLLOUT, 0}, {output.read, POLLIN, 0}, {error.read, POLLIN, 0}};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0)
      return ChildResult::End::TimedOut;
    if (poll(polled, 3, int(std::min<long>(left.count(), 1000))) < 0 && errno != EINTR)
      return ChildResult::End::NotStarted;
    if (input.write >= 0 && polled[0].revents != 0) {
      const ssize_t n =
          write(input.write, request.input.data() + written, request.input.size() - written);
      if (n > 0)
        written += size_t(n);
      if ((n < 0 && errno != EAGAIN && errno != EINTR) || written == request.input.size())
        Pipe::closeEnd(input.write);
    }
    const auto drain = [&](int& end, short events, std::string& text) {
      if (end < 0 || events == 0)
        return;
      char buffer[65536];
      const ssize_t n = read(end, buffer, sizeof buffer);
      if (n > 0)
        text.append(buffer, size_t(n));
      else if (n == 0 || errno != EINTR)
        Pipe::closeEnd(end);
    };
    drain(output.read, polled[1].revents, result.out);
    drain(error.read, polled[2].revents, result.err);
    if (result.out.size() > request.outputLimit || result.err.size() > request.outputLimit)
      return ChildResult::End::TooMuchOutput;
  }
  return ChildResult::End::Exited;
}

} // namespace

ChildResult runChild(const ChildRequest& request) {
  ChildResult result;
  // A child that does not read its input must not end this process.
  signal(SIGPIPE, SIG_IGN);
  Pipe input, output, error;
  if (!input.open() || !output.open() || !error.open()) {
    result.code = errno;
    return result;
  }
  fcntl(input.write, F_SETFL, O_NONBLOCK);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.read, 0);
  posix_spawn_file_actions_adddup2(&actions, output.write, 1);
  posix_spawn_file_actions_adddup2(&actions, error.write, 2);
  if (!request.directory.empty())
    posix_spawn_file_actions_addchdir_np(&actions, request.directory.c_str());

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);

  std::vector<char*> argv;
  for (const std::string& argument : request.arguments)
    argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t child = -1;
  const int failure = posix_spawnp(&child, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failure != 0) {
    result.code = failure;
    return result;
  }
  Pipe::closeEnd(input.read);
  Pipe::closeEnd(output.write);
  Pipe::closeEnd(error.write);

  result.end = converse(request, input, output, error, result);
  if (result.end != ChildResult::End::Exited)
    kill(-child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (result.end == ChildResult::End::Exited) {
    if (WIFSIGNALED(status)) {
      result.end = ChildResult::End::Signalled;
      result.code = WTERMSIG(status);
    } else {
      result.code = WEXITSTATUS(status);
    }
  }
  return result;
}

std::string describeEnd(const ChildResult& result, const ChildRequest& request) {
  switch (result.end) {
  case ChildResult::End::Exited:
    return "exit code " + std::to_string(result.code);
  case ChildResult::End::Signalled:
    return "killed by signal " + std::to_string(result.code);
  case ChildResult::End::TimedOut:
    return "no end after " + std::to_string(request.limit.count()) + " s";
  case ChildResult::End::TooMuchOutput:
    return "more output than " + std::to_string(request.outputLimit) + " bytes";
  case ChildResult::End::NotStarted:
    return std::string("not started: ") + std::strerror(result.code);
  }
  return "";
}

bool readFile(const std::string& path, std::string& text) {
  FILE* file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr)
    return false;
  text.clear();
  char buffer[65536];
  size_t n = 0;
  while ((n = std::fread(buffer, 1, sizeof buffer, file)) > 0)
    text.append(buffer, n);
  std::fclose(file);
  return true;
}

std::vector<std::string> splitLines(const std::string& text) {
  std::vector<std::string> lines;
  size_t start = 0;
  while (start < text.size()) {
    const size_t end = std::min(text.find('\n', start), text.size());
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

std::string lineDiff(const std::string& wanted, const std::string& found) {
  if (wanted == found)
    return "";
  std::vector<std::string> a = splitLines(wanted);
  std::vector<std::string> b = splitLines(found);
  // A last newline is content: without it equal lines could hide the difference.
  if (a == b)
    return wanted.size() < found.size() ? "  + (a newline at the end)\n"
                                        : "  - (a newline at the end)\n";
  size_t head = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head])
    ++head;
  size_t tail = 0;
  while (tail < a.size() - head && tail < b.size() - head &&
         a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  constexpr size_t kContext = 3;
  constexpr size_t kMost = 40;
  std::string text;
  for (size_t i = head - std::min(head, kContext); i < head; ++i)
    text += "    " + a[i] + "\n";
  const auto part = [&](const std::vector<std::string>& lines, const char* mark) {
    const size_t end = lines.size() - tail;
    for (size_t i = head; i < end; ++i) {
      if (i - head == kMost) {
        text += std::string("  ") + mark + " ... " + std::to_string(end - i) + " more lines\n";
        break;
      }
      text += std::string("  ") + mark + " " + lines[i] + "\n";
    }
  };
  part(a, "-");
  part(b, "+");
  for (size_t i = a.size() - tail; i < std::min(a.size(), a.size() - tail + kContext); ++i)
    text += "    " + a[i] + "\n";
  return text;
}

} // namespace gos::test
