// Tries one act and says what happened: `probe ACT [OPERAND...]`. Exit code 0 and "ok" if the act
// worked, 1 and "refused NAME" (an errno by name) if it did not. Static, so that it runs in any
// view. A case runs it without bwr first, where it has to say "ok".

#include <arpa/inet.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>

namespace {

/// Prints the verdict of a call: -1 with errno is a refusal.
int verdict(long result) {
  if (result >= 0) {
    std::puts("ok");
    return 0;
  }
  std::printf("refused %s\n", ::strerrorname_np(errno));
  return 1;
}

int connectTo(sockaddr* address, socklen_t size, int family, int type, int protocol = 0) {
  const int fd = ::socket(family, type, protocol);
  if (fd < 0)
    return verdict(-1);
  return verdict(::connect(fd, address, size));
}

/// The address of a local socket: a file's, or an abstract one.
struct Local {
  sockaddr_un name{};
  socklen_t size = sizeof name;
  Local(const char* text, bool abstract) {
    name.sun_family = AF_UNIX;
    std::strncpy(name.sun_path + abstract, text, sizeof name.sun_path - 2);
    if (abstract)
      size = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + std::strlen(text));
  }
  sockaddr* address() const { return reinterpret_cast<sockaddr*>(const_cast<sockaddr_un*>(&name)); }
};

struct Act {
  const char* name;
  int (*run)(char** operands);
};

const Act kActs[] = {
    {"read",
     [](char** o) {
       const int fd = ::open(o[0], O_RDONLY);
       char byte;
       return verdict(fd < 0 ? -1 : ::read(fd, &byte, 1));
     }},
    {"list", [](char** o) { return verdict(::open(o[0], O_RDONLY | O_DIRECTORY)); }},
    {"stat",
     [](char** o) {
       struct stat status;
       return verdict(::lstat(o[0], &status));
     }},
    {"write",
     [](char** o) {
       const int fd = ::open(o[0], O_WRONLY);
       return verdict(fd < 0 ? -1 : ::write(fd, "!", 1));
     }},
    {"create", [](char** o) { return verdict(::open(o[0], O_WRONLY | O_CREAT | O_EXCL, 0644)); }},
    // opened for writing, nothing written
    {"open-write", [](char** o) { return verdict(::open(o[0], O_WRONLY)); }},
    // made and removed again
    {"create-remove",
     [](char** o) {
       const int made = verdict(::open(o[0], O_WRONLY | O_CREAT | O_EXCL, 0644));
       if (made == 0)
         ::unlink(o[0]);
       return made;
     }},
    {"truncate", [](char** o) { return verdict(::truncate(o[0], 0)); }},
    {"mkdir", [](char** o) { return verdict(::mkdir(o[0], 0755)); }},
    {"rmdir", [](char** o) { return verdict(::rmdir(o[0])); }},
    {"unlink", [](char** o) { return verdict(::unlink(o[0])); }},
    {"rename", [](char** o) { return verdict(::rename(o[0], o[1])); }},
    {"link", [](char** o) { return verdict(::link(o[0], o[1])); }},
    {"symlink", [](char** o) { return verdict(::symlink(o[0], o[1])); }},
    {"chmod", [](char** o) { return verdict(::chmod(o[0], 0600)); }},
    {"chmod-setid", [](char** o) { return verdict(::chmod(o[0], 04755)); }},
    {"utime",
     [](char** o) {
       const timeval times[2] = {};
       return verdict(::utimes(o[0], times));
     }},
    {"setxattr", [](char** o) { return verdict(::setxattr(o[0], "user.probe", "1", 1, 0)); }},
    {"access-write", [](char** o) { return verdict(::access(o[0], W_OK)); }},
    {"mknod", [](char** o) { return verdict(::mknod(o[0], S_IFCHR | 0666, 1 << 8 | 3)); }},
    {"execute",
     [](char** o) {
       ::execl(o[0], o[0], nullptr);
       return verdict(-1);
     }},
    // network: probe tcp ADDRESS PORT
    {"tcp",
     [](char** o) {
       sockaddr_in address{};
       address.sin_family = AF_INET;
       address.sin_port = htons(uint16_t(std::atoi(o[1])));
       ::inet_pton(AF_INET, o[0], &address.sin_addr);
       return connectTo(reinterpret_cast<sockaddr*>(&address), sizeof address, AF_INET,
                        SOCK_STREAM);
     }},
    {"mptcp",
     [](char** o) {
       sockaddr_in address{};
       address.sin_family = AF_INET;
       address.sin_port = htons(uint16_t(std::atoi(o[1])));
       ::inet_pton(AF_INET, o[0], &address.sin_addr);
       return connectTo(reinterpret_cast<sockaddr*>(&address), sizeof address, AF_INET, SOCK_STREAM,
                        262);
     }},
    {"udp",
     [](char** o) {
       sockaddr_in address{};
       address.sin_family = AF_INET;
       address.sin_port = htons(uint16_t(std::atoi(o[1])));
       ::inet_pton(AF_INET, o[0], &address.sin_addr);
       const int fd = ::socket(AF_INET, SOCK_DGRAM, 0);
       return verdict(
           ::sendto(fd, "x", 1, 0, reinterpret_cast<sockaddr*>(&address), sizeof address));
     }},
    {"fastopen",
     [](char** o) {
       sockaddr_in address{};
       address.sin_family = AF_INET;
       address.sin_port = htons(uint16_t(std::atoi(o[1])));
       ::inet_pton(AF_INET, o[0], &address.sin_addr);
       const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
       return verdict(::sendto(fd, "secret", 6, MSG_FASTOPEN, reinterpret_cast<sockaddr*>(&address),
                               sizeof address));
     }},
    {"listen",
     [](char**) {
       sockaddr_in address{};
       address.sin_family = AF_INET;
       address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
       const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
       if (fd < 0 || ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
         return verdict(-1);
       return verdict(::listen(fd, 1));
     }},
    {"unix",
     [](char** o) {
       Local name(o[0], false);
       return connectTo(name.address(), name.size, AF_UNIX, SOCK_STREAM);
     }},
    {"unix-datagram",
     [](char** o) {
       const Local name(o[0], false);
       const int fd = ::socket(AF_UNIX, SOCK_DGRAM, 0);
       return verdict(::sendto(fd, "x", 1, 0, name.address(), name.size));
     }},
    {"abstract",
     [](char** o) {
       Local name(o[0], true);
       return connectTo(name.address(), name.size, AF_UNIX, SOCK_STREAM);
     }},
    {"abstract-datagram",
     [](char** o) {
       const Local name(o[0], true);
       const int fd = ::socket(AF_UNIX, SOCK_DGRAM, 0);
       return verdict(::sendto(fd, "x", 1, 0, name.address(), name.size));
     }},
    // listens under an abstract name until it is killed
    {"abstract-hold",
     [](char** o) {
       const Local name(o[0], true);
       const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
       if (fd < 0 || ::bind(fd, name.address(), name.size) != 0 || ::listen(fd, 8) != 0)
         return verdict(-1);
       verdict(0);
       std::fflush(stdout);
       while (true)
         ::pause();
       return 0;
     }},
    {"socket",
     [](char** o) { return verdict(::socket(std::atoi(o[0]), std::atoi(o[1]), std::atoi(o[2]))); }},
    // processes
    {"signal", [](char** o) { return verdict(::kill(std::atoi(o[0]), 0)); }},
    {"ptrace",
     [](char** o) { return verdict(::ptrace(PTRACE_SEIZE, std::atoi(o[0]), nullptr, nullptr)); }},
    {"setuid-root", [](char**) { return verdict(::setuid(0)); }},
    {"setgroups", [](char**) { return verdict(::syscall(SYS_setgroups, 0, nullptr)); }},
    {"chroot", [](char** o) { return verdict(::chroot(o[0])); }},
    {"userns", [](char**) { return verdict(::unshare(CLONE_NEWUSER)); }},
    {"unshare", [](char** o) { return verdict(::unshare(int(std::strtol(o[0], nullptr, 0)))); }},
    {"mount", [](char** o) { return verdict(::mount("x", o[0], "tmpfs", 0, "")); }},
    {"umount", [](char** o) { return verdict(::umount2(o[0], MNT_DETACH)); }},
    {"tiocsti",
     [](char**) {
       char byte = 'x';
       return verdict(::ioctl(0, TIOCSTI, &byte));
     }},
    {"tiocsti-high",
     [](char**) {
       char byte = 'x';
       return verdict(::syscall(SYS_ioctl, 0, TIOCSTI | 1ul << 32, &byte));
     }},
    {"tioclinux",
     [](char**) {
       char byte = 2;
       return verdict(::ioctl(0, TIOCLINUX, &byte));
     }},
    {"no-new-privileges",
     [](char**) {
       return verdict(::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : (errno = EINVAL, -1));
     }},
    {"tgkill",
     [](char** o) { return verdict(::syscall(SYS_tgkill, std::atoi(o[0]), std::atoi(o[0]), 0)); }},
    // stays until it is killed, so that another probe has something to look at
    {"hold",
     [](char**) {
       std::puts("holds");
       std::fflush(stdout);
       while (true)
         ::pause();
       return 0;
     }},
    // reads from the memory of a `probe hold`, which has the same addresses
    {"memory-read",
     [](char** o) {
       static char here[8];
       const iovec local = {here, sizeof here}, remote = {here, sizeof here};
       return verdict(::process_vm_readv(std::atoi(o[0]), &local, 1, &remote, 1, 0));
     }},
    // takes a descriptor out of another process
    {"take-descriptor",
     [](char** o) {
       const long process = ::syscall(SYS_pidfd_open, std::atoi(o[0]), 0);
       return verdict(process < 0 ? process
                                  : ::syscall(SYS_pidfd_getfd, process, std::atoi(o[1]), 0));
     }},
    // privilege
    {"is-root", [](char**) { return verdict(::geteuid() == 0 ? 0 : (errno = EPERM, -1)); }},
    {"has-capability",
     [](char**) {
       struct {
         uint32_t version;
         int process;
       } header = {0x20080522, 0};
       uint32_t data[6] = {};
       if (::syscall(SYS_capget, &header, data) != 0)
         return verdict(-1);
       return verdict((data[0] | data[3]) != 0 ? 0 : (errno = EPERM, -1));
     }},
    // kernel surface
    {"clone-userns",
     [](char**) {
       const long child = ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
       if (child == 0)
         ::_exit(0);
       return verdict(child);
     }},
    {"io-uring",
     [](char**) {
       uint32_t parameters[30] = {};
       return verdict(::syscall(SYS_io_uring_setup, 4, parameters));
     }},
    {"bpf",
     [](char**) {
       uint32_t attributes[32] = {2 /* array */, 4, 8, 1};
       return verdict(::syscall(SYS_bpf, 0 /* map create */, attributes, sizeof attributes));
     }},
    {"perf",
     [](char**) {
       uint32_t attributes[32] = {1 /* software */, sizeof attributes};
       return verdict(
           ::syscall(SYS_perf_event_open, attributes, -1, 0, -1, 0)); // a whole processor
     }},
    {"perf-self",
     [](char**) {
       uint32_t attributes[32] = {1, sizeof attributes};
       attributes[10] = 1u << 5 | 1u << 6; // neither the kernel nor a hypervisor
       return verdict(::syscall(SYS_perf_event_open, attributes, 0, -1, -1, 0));
     }},
    {"file-handle",
     [](char** o) {
       struct {
         uint32_t bytes = 128;
         int kind;
         char data[128];
       } handle;
       int mount;
       const int root = ::open(o[0], O_RDONLY | O_DIRECTORY);
       if (::syscall(SYS_name_to_handle_at, AT_FDCWD, o[0], &handle, &mount, 0) != 0)
         return verdict(-1);
       return verdict(::syscall(SYS_open_by_handle_at, root, &handle, O_RDONLY));
     }},
    {"fsopen", [](char**) { return verdict(::syscall(SYS_fsopen, "tmpfs", 0)); }},
    {"open-tree",
     [](char** o) { return verdict(::syscall(SYS_open_tree, AT_FDCWD, o[0], 1 /* clone */)); }},
    {"setns",
     [](char** o) {
       const int space = ::open(o[0], O_RDONLY);
       return verdict(space < 0 ? -1 : ::syscall(SYS_setns, space, 0));
     }},
    {"fchmodat2", [](char** o) { return verdict(::syscall(452, AT_FDCWD, o[0], 0640, 0)); }},
    {"setxattrat",
     [](char** o) {
       struct {
         uint64_t value;
         uint32_t size, flags;
       } arguments = {reinterpret_cast<uint64_t>("1"), 1, 0};
       return verdict(
           ::syscall(463, AT_FDCWD, o[0], 0, "user.probe", &arguments, sizeof arguments));
     }},
    // shared memory and queues of others, by key and by name
    {"shm", [](char** o) { return verdict(::syscall(SYS_shmget, std::atoi(o[0]), 0, 0)); }},
    {"queue", [](char** o) { return verdict(::syscall(SYS_mq_open, o[0], O_RDONLY, 0, nullptr)); }},
#if defined(__x86_64__)
    // the 32-bit entry: probe call32 NUMBER
    {"call32",
     [](char** o) {
       int result = std::atoi(o[0]);
       asm volatile("int $0x80" : "+a"(result) : "b"(0), "c"(0), "d"(0), "S"(0), "D"(0) : "memory");
       errno = result < 0 ? -result : 0;
       return verdict(result < 0 ? -1 : result);
     }},
#endif
    // probe layers N PROGRAM [ARGUMENT...]: executes it beneath N layers of Landlock
    {"layers",
     [](char** o) {
       ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
       const uint64_t handled = 1ull << 11; // makes block devices
       for (int layer = std::atoi(o[0]); layer > 0; --layer) {
         const long ruleset = ::syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
         if (ruleset < 0 || ::syscall(SYS_landlock_restrict_self, ruleset, 0) != 0)
           return verdict(-1);
         ::close(int(ruleset));
       }
       ::execvp(o[1], o + 1);
       return verdict(-1);
     }},
    // any call by number: probe call NUMBER [ARG...]
    {"call",
     [](char** o) {
       long arguments[6] = {};
       for (int at = 0; at != 6 && o[1 + at] != nullptr; ++at)
         arguments[at] = std::strtol(o[1 + at], nullptr, 0);
       return verdict(::syscall(std::strtol(o[0], nullptr, 0), arguments[0], arguments[1],
                                arguments[2], arguments[3], arguments[4], arguments[5]));
     }},
};

} // namespace

/// `probe batch FILE`: a line of FILE is an act and its operands, divided by tabs; a line of the
/// output is its verdict. For acts that leave the process as it was.
int runBatch(const char* path) {
  FILE* file = std::fopen(path, "r");
  if (file == nullptr)
    return 2;
  char* line = nullptr;
  size_t space = 0;
  ssize_t size;
  while ((size = ::getline(&line, &space, file)) > 0) {
    if (line[size - 1] == '\n')
      line[size - 1] = '\0';
    char* operands[4] = {};
    char* rest = line;
    const char* name = ::strsep(&rest, "\t");
    for (int at = 0; at != 3 && rest != nullptr; ++at)
      operands[at] = ::strsep(&rest, "\t");
    bool found = false;
    for (const Act& act : kActs)
      if (std::strcmp(act.name, name) == 0) {
        act.run(operands);
        found = true;
      }
    if (!found)
      return 2;
    ::close_range(4, ~0u, 0); // what the acts left open; 3 is FILE
  }
  return 0;
}

int main(int count, char** words) {
  if (count == 3 && std::strcmp(words[1], "batch") == 0)
    return runBatch(words[2]);
  if (count >= 2)
    for (const Act& act : kActs)
      if (std::strcmp(act.name, words[1]) == 0)
        return act.run(words + 2);
  std::fprintf(stderr, "usage: probe ACT [OPERAND...]; acts:");
  for (const Act& act : kActs)
    std::fprintf(stderr, " %s", act.name);
  std::fprintf(stderr, "\n");
  return 2;
}
