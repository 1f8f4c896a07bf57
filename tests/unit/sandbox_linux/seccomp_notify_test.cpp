// A filter that notifies, with a listener: what arrives, how `filterError` answers it, and what
// happens when the listener is gone.

#include "sandbox/linux/seccomp_filter.h"

#include "seccomp_process.h"

#include <fcntl.h>
#include <poll.h>
#include <set>
#include <string>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

using namespace gos;
using namespace gos::sandbox;
using namespace gos::sandbox::test;

namespace {

int number(llvm::StringRef name) {
  for (const SystemCallRow& row : systemCallRows())
    if (row.name == name)
      return row.number;
  return -1;
}

/// The listener travels as it does in a start: after the filter is in force, by `sendmsg`.
bool sendFd(int socket, int fd) {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  __builtin_memcpy(CMSG_DATA(header), &fd, sizeof fd);
  return sendmsg(socket, &message, 0) == 1;
}
int receiveFd(int socket) {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&message))
    return -1;
  int fd = -1;
  __builtin_memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  return fd;
}

/// Serves a listener until the last process of the filter is gone; the numbers that arrived.
std::multiset<int> serve(int listener, FilterChoice choice) {
  std::multiset<int> seen;
  for (;;) {
    pollfd wait{listener, POLLIN, 0};
    if (poll(&wait, 1, -1) < 0 || (wait.revents & (POLLHUP | POLLERR)) || !(wait.revents & POLLIN))
      return seen;
    seccomp_notif request{};
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) != 0)
      continue; // the caller died
    seen.insert(request.data.nr);
    uint64_t arguments[6];
    std::copy(std::begin(request.data.args), std::end(request.data.args), arguments);
    const int error = filterError(choice, request.data.nr, arguments);
    seccomp_notif_resp response{};
    response.id = request.id;
    response.error = -error;
    response.flags = error == 0 ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0;
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
  }
}

} // namespace

TEST_CASE("a listener sees refusals, names and addresses, and answers as the level does") {
  for (SandboxLevel level : {SandboxLevel::Standard, SandboxLevel::Strict}) {
    const FilterChoice choice{level, NetworkMode::Client, true};
    int pair[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const long listener = install(filterProgram(choice), SECCOMP_FILTER_FLAG_NEW_LISTENER);
      if (listener < 0 || !sendFd(pair[1], int(listener)))
        _exit(90);
      close(int(listener));
      const auto refused = [](long result, int error) { return result == -1 && errno == error; };
      if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
        _exit(1);
      if (!refused(unlink("/no/such/name"), ENOENT)) // goes on; the kernel answers
        _exit(2);
      if (!refused(syscall(SYS_add_key, 0, 0, 0, 0, 0), EPERM))
        _exit(3);
      if (!refused(syscall(number("clone3"), 0, 0), ENOSYS))
        _exit(4);
      if (!refused(syscall(number("io_uring_setup"), 8, 0), ENOSYS))
        _exit(5);
      if (!refused(syscall(SYS_listen, -1, 1), EPERM))
        _exit(6);
      if (!refused(syscall(SYS_ioctl, -1, 0x5412ul | 1ul << 32, 0), EPERM))
        _exit(7);
      if (!refused(syscall(SYS_socket, 40, SOCK_STREAM, 0), EAFNOSUPPORT))
        _exit(8);
      if (!refused(syscall(SYS_unshare, 0x10000000), EPERM))
        _exit(9);
      if (!refused(syscall(9999), ENOSYS))
        _exit(10);
      struct stat status;
      if (fstat(0, &status) != 0 && errno != EBADF)
        _exit(11);
      if (syscall(SYS_getpid) != getpid())
        _exit(12);
      execl("/bin/true", "true", nullptr);
      _exit(13);
    }
    close(pair[1]);
    const int listener = receiveFd(pair[0]);
    REQUIRE(listener >= 0);
    const std::multiset<int> seen = serve(listener, choice);
    close(listener);
    close(pair[0]);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    for (const char* name :
         {"openat", "execve", "add_key", "io_uring_setup", "listen", "ioctl", "socket", "unshare"})
      CHECK_MESSAGE(seen.count(number(name)) >= 1, name);
    CHECK(seen.count(number("unlink") < 0 ? number("unlinkat") : number("unlink")) == 1);
    CHECK(seen.count(9999) == (level == SandboxLevel::Strict ? 1 : 0));
    for (const char* name :
         {"clone3", "getpid", "read", "write", "close", "sendmsg", "fstat", "mmap", "exit_group"})
      CHECK_MESSAGE(seen.count(number(name)) == 0, name);
  }
}

TEST_CASE("without its listener a filter serves nothing that it would report") {
  const FilterChoice choice{SandboxLevel::Standard, NetworkMode::None, true};
  const Outcome outcome = act(Who::User, {}, [&] {
    const long listener = install(filterProgram(choice), SECCOMP_FILTER_FLAG_NEW_LISTENER);
    if (listener < 0)
      return -2L;
    close(int(listener));
    return long(open("/dev/null", O_RDONLY | O_CLOEXEC));
  });
  CHECK(outcome.result == -1);
  CHECK(outcome.error == ENOSYS);
}
