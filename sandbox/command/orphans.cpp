#include "sandbox/command/orphans.h"

#include "sandbox/sys_error.h"
#include "sandbox/unique_fd.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gos::sandbox {

bool adoptOrphans() {
  siginfo_t none{};
  if (::waitid(P_ALL, 0, &none, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 || errno != ECHILD)
    return false;
  return ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
}

namespace {
/// SIGKILL to the children there are. A child that is not reaped keeps its id, so that no stranger
/// is hit. False if they cannot be found.
bool killChildren() {
  const std::string path = "/proc/self/task/" + std::to_string(::getpid()) + "/children";
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file)
    return false;
  char buffer[4096];
  pid_t number = 0;
  ssize_t got;
  while ((got = retryInterrupted([&] { return ::read(file.get(), buffer, sizeof buffer); })) > 0)
    for (ssize_t at = 0; at != got; ++at) {
      if (buffer[at] >= '0' && buffer[at] <= '9') {
        number = number * 10 + (buffer[at] - '0');
        continue;
      }
      if (number > 0)
        ::kill(number, SIGKILL);
      number = 0;
    }
  if (number > 0)
    ::kill(number, SIGKILL);
  return true;
}
} // namespace

uint32_t killOrphans() {
  uint32_t killed = 0;
  siginfo_t info{};
  while (true) {
    // What has ended already is reaped without a count.
    info.si_pid = 0;
    while (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | __WALL) == 0 && info.si_pid != 0)
      info.si_pid = 0;
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0 || !killChildren())
      return killed;
    if (retryInterrupted([&] { return ::waitid(P_ALL, 0, &info, WEXITED | __WALL); }) != 0)
      return killed;
    ++killed;
  }
}

} // namespace gos::sandbox
