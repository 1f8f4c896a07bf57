// without [--user] CASE COMMAND [ARGUMENT...]: executes a command on a host that lacks something. A
// filter answers the calls of the case with an errno; calls that are told apart by a text in memory
// are judged by this process, which stays as their listener. `--user` becomes nobody first.

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

struct Row {
  const char* name;
  int call;
  int argument; // -1: whatever the arguments are
  unsigned mask;
  unsigned value; // refused if (argument & mask) == value
  int error;
  const char* text; // refused only if the text at argument `textAt` ends so
  int textAt;
};

constexpr unsigned kNewUser = 0x10000000, kNewNet = 0x40000000, kNewPid = 0x20000000,
                   kNewMount = 0x00020000, kNewIpc = 0x08000000, kNewUts = 0x04000000,
                   kNewCgroup = 0x02000000;
const Row kRows[] = {
    {"nothing", -1, -1, 0, 0, 0, nullptr, 0},
    {"user-namespace", SYS_clone, 0, kNewUser, kNewUser, EPERM, nullptr, 0},
    {"user-namespace", SYS_unshare, 0, kNewUser, kNewUser, EPERM, nullptr, 0},
    {"user-namespace", SYS_clone3, -1, 0, 0, ENOSYS, nullptr, 0},
    {"user-namespace-limit", SYS_clone, 0, kNewUser, kNewUser, ENOSPC, nullptr, 0},
    {"pid-namespace", SYS_clone, 0, kNewPid, kNewPid, ENOSPC, nullptr, 0},
    {"mount-namespace", SYS_unshare, 0, kNewMount, kNewMount, ENOSPC, nullptr, 0},
    {"ipc-namespace", SYS_unshare, 0, kNewIpc, kNewIpc, ENOSPC, nullptr, 0},
    {"uts-namespace", SYS_unshare, 0, kNewUts, kNewUts, ENOSPC, nullptr, 0},
    {"cgroup-namespace", SYS_unshare, 0, kNewCgroup, kNewCgroup, ENOSPC, nullptr, 0},
    {"network-namespace", SYS_unshare, 0, kNewNet, kNewNet, ENOSPC, nullptr, 0},
    {"user-map", SYS_openat, -1, 0, 0, EPERM, "/uid_map", 1},
    {"first-mount", 442 /* mount_setattr */, -1, 0, 0, EPERM, nullptr, 0},
    {"new-root", 430 /* fsopen */, -1, 0, 0, EPERM, nullptr, 0},
    {"move-mount", 429, -1, 0, 0, EPERM, nullptr, 0},
    {"old-mounts", 442, -1, 0, 0, ENOSYS, nullptr, 0},
    {"pivot-root", SYS_pivot_root, -1, 0, 0, EPERM, nullptr, 0},
    {"proc-mount", 430, -1, 0, 0, EPERM, "proc", 0},
    {"loopback", SYS_ioctl, 1, 0xffffffff, 0x8914 /* SIOCSIFFLAGS */, EPERM, nullptr, 0},
    {"landlock", 444, -1, 0, 0, ENOSYS, nullptr, 0},
    {"landlock-at-boot", 444, -1, 0, 0, EOPNOTSUPP, nullptr, 0},
    {"landlock-rule", 445, -1, 0, 0, EPERM, nullptr, 0},
    {"seccomp", SYS_seccomp, -1, 0, 0, EINVAL, nullptr, 0},
    {"memfd", SYS_memfd_create, -1, 0, 0, ENOSYS, nullptr, 0},
    {"close-range", 436, -1, 0, 0, ENOSYS, nullptr, 0},
    {"pidfd", 434, -1, 0, 0, ENOSYS, nullptr, 0},
    {"subreaper", SYS_prctl, 0, 0xffffffff, PR_SET_CHILD_SUBREAPER, EINVAL, nullptr, 0},
    {"no-new-privileges", SYS_prctl, 0, 0xffffffff, PR_SET_NO_NEW_PRIVS, EINVAL, nullptr, 0},
};

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::_Exit(99);
}

void load(std::vector<sock_filter>& program, size_t offset) {
  program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, unsigned(offset)));
}

/// Returns the listener, or -1 where nothing is told apart by a text.
int install(const std::vector<Row>& rows) {
  std::vector<sock_filter> program;
  bool notifies = false;
  for (const Row& row : rows) {
    const unsigned answer =
        row.text != nullptr ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ERRNO | unsigned(row.error);
    notifies |= row.text != nullptr;
    load(program, offsetof(seccomp_data, nr));
    const bool judged = row.argument >= 0;
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, unsigned(row.call), 0,
                               static_cast<unsigned char>(judged ? 4 : 1)));
    if (judged) {
      load(program, offsetof(seccomp_data, args) + size_t(row.argument) * 8);
      program.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, row.mask));
      program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, row.value, 0, 1));
    }
    program.push_back(BPF_STMT(BPF_RET | BPF_K, answer));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter = {static_cast<unsigned short>(program.size()), program.data()};
  const long listener = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                  notifies ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0, &filter);
  if (listener < 0)
    fail("seccomp");
  return notifies ? int(listener) : -1;
}

std::string textOf(pid_t process, unsigned long long address) {
  char name[64];
  std::snprintf(name, sizeof name, "/proc/%d/mem", int(process));
  const int memory = ::open(name, O_RDONLY | O_CLOEXEC);
  char text[4096];
  const ssize_t got = memory < 0 ? -1 : ::pread(memory, text, sizeof text, off_t(address));
  if (memory >= 0)
    ::close(memory);
  return got <= 0 ? std::string() : std::string(text, ::strnlen(text, size_t(got)));
}

bool endsWith(const std::string& text, const char* end) {
  const size_t size = std::strlen(end);
  return text.size() >= size && text.compare(text.size() - size, size, end) == 0;
}

/// Judges calls until the command has ended; answers its status.
int listen(int listener, const std::vector<Row>& rows, pid_t command) {
  while (true) {
    pollfd entry = {listener, POLLIN, 0};
    const int ready = ::poll(&entry, 1, 20);
    if (ready > 0 && (entry.revents & POLLIN) != 0) {
      seccomp_notif request{};
      if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) == 0) {
        seccomp_notif_resp response{};
        response.id = request.id;
        response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        for (const Row& row : rows)
          if (row.text != nullptr && row.call == request.data.nr &&
              endsWith(textOf(pid_t(request.pid), request.data.args[row.textAt]), row.text)) {
            response.flags = 0;
            response.error = -row.error;
          }
        ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
      }
    }
    int status = 0;
    if (::waitpid(command, &status, WNOHANG) == command)
      return status;
  }
}

} // namespace

int main(int argc, char** argv) {
  int at = 1;
  if (at < argc && std::strcmp(argv[at], "--user") == 0) {
    ++at;
    if (::geteuid() == 0 &&
        (::setgroups(0, nullptr) != 0 || ::setresgid(65534, 65534, 65534) != 0 ||
         ::setresuid(65534, 65534, 65534) != 0))
      fail("setresuid");
    // The change made the process one that nobody may look at, itself included.
    ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  }
  if (at + 1 >= argc) {
    std::fprintf(stderr, "usage: without [--user] CASE COMMAND [ARGUMENT...]\n");
    return 2;
  }
  std::vector<Row> rows;
  bool known = false;
  for (const Row& row : kRows)
    if (std::strcmp(row.name, argv[at]) == 0) {
      known = true;
      if (row.call >= 0)
        rows.push_back(row);
    }
  if (!known) {
    std::fprintf(stderr, "without: no case `%s`\n", argv[at]);
    return 2;
  }
  char** command = argv + at + 1;
  bool notifies = false;
  for (const Row& row : rows)
    notifies |= row.text != nullptr;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    fail("prctl");
  if (!notifies) {
    if (!rows.empty())
      install(rows);
    ::execv(command[0], command);
    fail("execv");
  }
  // The listener is for this process: the child hands it over and waits until it is served.
  int pair[2];
  if (::pipe(pair) != 0)
    fail("pipe");
  const pid_t child = ::fork();
  if (child < 0)
    fail("fork");
  if (child == 0) {
    const int listener = install(rows);
    if (::write(pair[1], &listener, sizeof listener) != ssize_t(sizeof listener))
      fail("write");
    // close-on-exec would take it away before it was fetched; a command that opens nothing first
    // waits for the listener by itself.
    ::fcntl(listener, F_SETFD, 0);
    ::execv(command[0], command);
    fail("execv");
  }
  int number = -1;
  if (::read(pair[0], &number, sizeof number) != ssize_t(sizeof number))
    fail("read");
  const int pidfd = int(::syscall(434 /* pidfd_open */, child, 0));
  const int listener = int(::syscall(438 /* pidfd_getfd */, pidfd, number, 0));
  if (listener < 0)
    fail("pidfd_getfd");
  const int status = listen(listener, rows, child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
