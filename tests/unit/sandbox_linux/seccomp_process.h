#pragma once
// One act in a child process, with or without a filter, as root or as an ordinary user: what the
// filter tests need to compare.

#include "sandbox/linux/seccomp_filter.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace gos::sandbox::test {

/// Who the child is. Root is possible only where the test runs as root.
enum class Who { Root, User };
inline std::vector<Who> everyone() {
  return geteuid() == 0 ? std::vector<Who>{Who::Root, Who::User} : std::vector<Who>{Who::User};
}
inline std::string nameOf(Who who) {
  return who == Who::Root ? "root" : "user";
}

struct Outcome {
  bool finished = false; // the act came back
  int signal = 0;        // what killed the child, if something did
  long result = 0;
  int error = 0; // errno of a result of -1, else 0
};

/// A part of a test that this host cannot show.
inline void skip(const std::string& what, const std::string& why) {
  const char* required = std::getenv("GOS_REQUIRE_SANDBOX");
  if (required && std::string(required) == "1")
    FAIL_CHECK("skipped although GOS_REQUIRE_SANDBOX=1: " << what << ": " << why);
  MESSAGE("skipped: " << what << ": " << why);
}

inline long install(llvm::ArrayRef<FilterInstruction> program, unsigned flags = 0) {
  static_assert(sizeof(FilterInstruction) == sizeof(sock_filter));
  const sock_fprog filter{
      static_cast<unsigned short>(program.size()),
      reinterpret_cast<sock_filter*>(const_cast<FilterInstruction*>(program.data()))};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return -1;
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
}

/// An empty program is the control run: all is the same but for the filter.
inline Outcome act(Who who, llvm::ArrayRef<FilterInstruction> program,
                   const std::function<long()>& body) {
  int pipe[2];
  REQUIRE(pipe2(pipe, O_CLOEXEC) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    setsid(); // no terminal to hang up
    if (who == Who::User && geteuid() == 0 &&
        (setgroups(0, nullptr) != 0 || setresgid(65534, 65534, 65534) != 0 ||
         setresuid(65534, 65534, 65534) != 0))
      _exit(90);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
      _exit(91);
    if (!program.empty() && install(program) != 0)
      _exit(92);
    errno = 0;
    Outcome outcome;
    outcome.result = body();
    outcome.error = outcome.result == -1 ? errno : 0;
    outcome.finished = true;
    if (write(pipe[1], &outcome, sizeof outcome) != ssize_t(sizeof outcome))
      _exit(93);
    _exit(0);
  }
  close(pipe[1]);
  Outcome outcome;
  if (read(pipe[0], &outcome, sizeof outcome) != ssize_t(sizeof outcome))
    outcome = {};
  close(pipe[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  if (WIFSIGNALED(status))
    outcome.signal = WTERMSIG(status);
  else
    REQUIRE_MESSAGE(WEXITSTATUS(status) == 0,
                    "the child could not be prepared: " << WEXITSTATUS(status));
  return outcome;
}

} // namespace gos::sandbox::test
