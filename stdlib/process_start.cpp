// The child runs in the memory of this process, while its other threads go on, until it executes
// its program: raw system calls on values that were made before, nothing that allocates or locks,
// and no function that a sanitizer would stand in front of. posix_spawn does the same, but cannot
// ask the kernel to end the child with its parent.

#include "stdlib/process_start.h"

#include "diagnostics/escape.h"
#include "sandbox/sys_error.h"
#include "sandbox/vfork_call.h"
#include "stdlib/signals.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gos::stdlib {

namespace {

using llvm::StringRef;

constexpr int kNoRoom = 127; // of a child that could not execute; nobody sees it

struct Start {
  const char* const* programs; // tried in order; null at the end
  char* const* arguments;
  char* const* environment;
  const char* directory; // null: as it is
  int sources[3];        // -1: the stream stays
  bool noInput;
  bool endsWithStarter;
  long parent;
  uint64_t ignored; // signals, although we have a handler
  volatile int error;
  volatile bool isDirectory = false; // that the error is about
};

/// As the kernel has it.
struct KernelAction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)();
  unsigned long mask;
};

/// The number of the error, or 0.
int prepare(Start& start) {
  // A handler of ours must not run in here when signals come again; what is ignored stays so, but
  // for SIGPIPE, which the tool ignores for itself.
  for (int number = 1; number < NSIG; ++number) {
    KernelAction action{};
    if (::syscall(SYS_rt_sigaction, number, nullptr, &action, sizeof action.mask) != 0)
      continue;
    if (action.handler == SIG_DFL || (action.handler == SIG_IGN && number != SIGPIPE))
      continue;
    const bool ignored = number < 64 && (start.ignored >> number & 1) != 0;
    action = {ignored ? SIG_IGN : SIG_DFL, 0, nullptr, 0};
    ::syscall(SYS_rt_sigaction, number, &action, nullptr, sizeof action.mask);
  }
  if (start.endsWithStarter) {
    ::syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (::syscall(SYS_getppid) != start.parent) // it ended before
      return ECANCELED;
  }
  if (start.noInput) {
    const long null = ::syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC, 0);
    if (null < 0 || (null != 0 && ::syscall(SYS_dup3, null, 0, 0) < 0))
      return errno;
    if (null == 0)
      ::syscall(SYS_fcntl, 0, F_SETFD, 0);
  }
  for (int stream = 0; stream != 3; ++stream) {
    const int source = start.sources[stream];
    if (source >= 0 && (source == stream ? ::syscall(SYS_fcntl, stream, F_SETFD, 0)
                                         : ::syscall(SYS_dup3, source, stream, 0)) < 0)
      return errno;
  }
  if (start.directory != nullptr && ::syscall(SYS_chdir, start.directory) != 0) {
    const int fault = errno;
    start.isDirectory = true;
    return fault;
  }
  const unsigned long none = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, sizeof none);
  return 0;
}

void inChild(void* argument) {
  Start& start = *static_cast<Start*>(argument);
  int fault = prepare(start);
  if (fault == 0) {
    // As execvp looks: what may not be executed is remembered, what is not there is passed over.
    bool refused = false;
    for (const char* const* program = start.programs; *program != nullptr; ++program) {
      ::syscall(SYS_execve, *program, start.arguments, start.environment);
      fault = errno;
      refused |= fault == EACCES;
      if (fault != EACCES && fault != ENOENT && fault != ENOTDIR && fault != ESTALE &&
          fault != ENODEV && fault != ETIMEDOUT)
        break;
    }
    if (refused && (fault == ENOENT || fault == ENOTDIR))
      fault = EACCES;
  }
  start.error = fault;
  for (;;)
    ::syscall(SYS_exit_group, kNoRoom);
}

/// Where the program may be: by the PATH of this process, unless it has a slash.
std::vector<std::string> placesOf(StringRef program) {
  if (program.contains('/'))
    return {program.str()};
  if (program.size() > NAME_MAX)
    return {};
  std::vector<std::string> places;
  const char* path = std::getenv("PATH");
  StringRef rest = path != nullptr ? path : "/bin:/usr/bin";
  for (bool more = true; more;) {
    more = rest.contains(':');
    auto [directory, tail] = rest.split(':');
    rest = tail;
    places.push_back(directory.empty() ? program.str() : (directory + "/" + program).str());
  }
  return places;
}

std::vector<char*> pointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

} // namespace

bool hasNul(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

std::string startChild(const ChildRequest& request, int& pid) {
  pid = -1;
  if (request.program.empty())
    return "cannot run a program without a name";
  if (!request.wellFormed || hasNul(request.directory))
    return "cannot run `" + escapeForText(StringRef(request.program).take_front(64)) +
           "`: an argument or a variable is not well formed";
  const auto failed = [&](int number) {
    return "cannot run `" + escapeForText(request.program) + "`: " + errnoText(number);
  };
  std::vector<std::string> places = placesOf(request.program);
  if (places.empty())
    return failed(ENAMETOOLONG);
  std::vector<std::string> words{request.program};
  words.insert(words.end(), request.arguments.begin(), request.arguments.end());
  std::vector<std::string> variables;
  variables.reserve(request.variables.size());
  for (const auto& [name, value] : request.variables)
    variables.push_back(name + "=" + value);
  const std::vector<char*> programs = pointersTo(places);
  const std::vector<char*> arguments = pointersTo(words);
  const std::vector<char*> environment = pointersTo(variables);
  Start start{programs.data(),
              arguments.data(),
              environment.data(),
              request.directory.empty() ? nullptr : request.directory.c_str(),
              {request.input, request.output, request.error},
              request.noInput,
              request.endsWithStarter,
              long(::getpid()),
              signalsIgnoredBefore(),
              0};
  const int child = vforkCall(inChild, &start, SIGCHLD);
  if (child < 0)
    return failed(-child);
  if (start.error != 0) {
    (void)retryInterrupted([&] { return ::waitpid(child, nullptr, 0); });
    if (start.isDirectory)
      return "cannot run `" + escapeForText(request.program) + "` in `" +
             escapeForText(request.directory) + "`: " + errnoText(start.error);
    return failed(start.error);
  }
  pid = child;
  return {};
}

} // namespace gos::stdlib
