// The filters in the kernel: each refused call is made in a child that has the filter, and in one
// that is the same but for it (T113, T116, T117; B060 to B064). A refusal counts where the control
// run shows another answer.

#include "sandbox/linux/filter_table.h"
#include "sandbox/linux/seccomp_filter.h"

#include "seccomp_process.h"

#include <array>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>

using namespace gos;
using namespace gos::sandbox;
using namespace gos::sandbox::test;

namespace {

constexpr FilterChoice kStandard{SandboxLevel::Standard, NetworkMode::None, false};
constexpr FilterChoice kStrict{SandboxLevel::Strict, NetworkMode::None, false};
constexpr FilterChoice kClient{SandboxLevel::Standard, NetworkMode::Client, false};

int number(llvm::StringRef name) {
  for (const SystemCallRow& row : systemCallRows())
    if (row.name == name)
      return row.number;
  return -1;
}

using Arguments = std::array<uint64_t, 6>;
std::function<long()> call(int at, Arguments a = {}) {
  return [=] { return syscall(at, a[0], a[1], a[2], a[3], a[4], a[5]); };
}

/// All bits set: no address, no descriptor, no flag that exists. As root it damages nothing: each
/// call stops at the first argument it looks at, with EFAULT, EINVAL or EBADF.
constexpr Arguments kNonsense = {~0ul, ~0ul, ~0ul, ~0ul, ~0ul, ~0ul};

} // namespace

TEST_CASE("the kernel refuses each refused call, and would have answered otherwise") {
  for (FilterChoice choice : {kStandard, kStrict})
    for (Who who : everyone()) {
      size_t shown = 0, privileged = 0, absent = 0;
      for (const SystemCallRow& row : systemCallRows()) {
        const FilterVerdict verdict =
            choice.level == SandboxLevel::Strict ? row.strict : row.standard;
        if (row.number < 0 ||
            (verdict != FilterVerdict::NotPermitted && verdict != FilterVerdict::NotBuilt))
          continue;
        const std::string at = (spelling(choice.level) + " " + nameOf(who) + " " + row.name).str();
        const int wanted = verdict == FilterVerdict::NotPermitted ? EPERM : ENOSYS;
        const Outcome confined = act(who, filterProgram(choice), call(row.number, kNonsense));
        CHECK_MESSAGE(confined.finished, at);
        CHECK_MESSAGE(confined.result == -1, at);
        CHECK_MESSAGE(confined.error == wanted, at);
        const Outcome control = act(who, {}, call(row.number, kNonsense));
        CHECK_MESSAGE(control.finished, at);
        if (control.error != wanted || control.result != -1) {
          ++shown;
          continue;
        }
        // The kernel's own answer is the same: it lacks the call, or asks for a capability first.
        if (wanted == ENOSYS) {
          ++absent;
          continue;
        }
        ++privileged;
        if (who == Who::Root)
          skip(at, "the kernel refuses it to root too");
      }
      MESSAGE(spelling(choice.level).str()
              << " as " << nameOf(who) << ": " << shown << " refusals differ from the control run, "
              << privileged << " need privilege anyway, " << absent << " this kernel lacks");
      CHECK(shown >= (choice.level == SandboxLevel::Strict ? 10 : 5));
    }
}

TEST_CASE("the kernel refuses by argument, in the width of the type") {
  struct Case {
    const char* name;
    Arguments arguments;
    FilterChoice choice;
    int error;
  };
  constexpr uint64_t kBit = uint64_t(1) << 32;
  const Case cases[] = {
      {"setpriority", {1 | kBit, 0, 0}, kStandard, EPERM},
      {"setpriority", {2, 0, 0}, kStandard, EPERM},
      {"ioctl", {~0ul, 0x540c, 0}, kStandard, EPERM},
      {"ioctl", {~0ul, 0x5412, 0}, kStandard, EPERM},
      {"ioctl", {~0ul, 0x5412 | kBit, 0}, kStandard, EPERM},
      {"ioctl", {~0ul, 0x541c, 0}, kStandard, EPERM},
      {"ioctl", {~0ul, 0x541c | kBit << 31, 0}, kStrict, EPERM},
      {"ioctl", {~0ul, 0x5423, 0}, kStrict, EPERM},
      {"unshare", {0x10000000}, kStandard, EPERM},
      {"unshare", {0x10000000}, kStrict, EPERM},
      {"personality", {0x0040000}, kStrict, EPERM},
      {"personality", {0x0040000 | kBit}, kStrict, EPERM},
      {"perf_event_open", {~0ul, 0xffffffff, 0, ~0ul, 0}, kStandard, EPERM},
      {"perf_event_open", {~0ul, 0, 0, ~0ul, 0}, kStrict, EPERM},
  };
  for (const Case& each : cases)
    for (Who who : everyone()) {
      const std::string at =
          std::string(each.name) + " " + spelling(each.choice.level).str() + " " + nameOf(who);
      const Outcome confined =
          act(who, filterProgram(each.choice), call(number(each.name), each.arguments));
      CHECK_MESSAGE(confined.result == -1, at);
      CHECK_MESSAGE(confined.error == each.error, at);
      const Outcome control = act(who, {}, call(number(each.name), each.arguments));
      CHECK_MESSAGE(control.finished, at);
      if (control.result == -1 && control.error == each.error)
        skip(at, "the kernel refuses it without a filter too");
    }
}

TEST_CASE("a namespace is not made by clone") {
  const auto clone = [](uint64_t flags) {
    return [flags] {
      const long child = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
      if (child == 0)
        _exit(0);
      if (child > 0)
        waitpid(pid_t(child), nullptr, 0);
      return child > 0 ? 1L : child;
    };
  };
  for (Who who : everyone()) {
    CHECK(act(who, filterProgram(kStandard), clone(0)).result == 1);
    CHECK(act(who, filterProgram(kStrict), clone(0)).result == 1);
    for (FilterChoice choice : {kStandard, kStrict}) {
      const Outcome confined = act(who, filterProgram(choice), clone(0x10000000));
      CHECK(confined.error == EPERM);
    }
    if (act(who, {}, clone(0x10000000)).error == EPERM)
      skip("clone with CLONE_NEWUSER", "this host has no user namespaces");
  }
  if (geteuid() == 0)
    for (uint64_t flag : {0x20000u, 0x2000000u, 0x4000000u, 0x8000000u, 0x20000000u, 0x40000000u}) {
      CHECK(act(Who::Root, filterProgram(kStrict), clone(flag)).error == EPERM);
      if (act(Who::Root, {}, clone(flag)).error == EPERM)
        skip("clone with a namespace flag", "root may not either");
    }
}

TEST_CASE("only socket families that a namespace holds are left") {
  const auto socket = [](uint64_t family, uint64_t type = SOCK_DGRAM) {
    return [=] { return syscall(SYS_socket, family, type, uint64_t(0)) >= 0 ? 0L : -1L; };
  };
  constexpr uint64_t kHigh = uint64_t(7) << 40;
  for (FilterChoice choice : {kStandard, kStrict})
    for (Who who : everyone()) {
      for (uint64_t family : {uint64_t(AF_UNIX), uint64_t(AF_INET), uint64_t(AF_INET) | kHigh,
                              uint64_t(AF_NETLINK)}) {
        CHECK(act(who, {}, socket(family)).result == 0);
        CHECK(act(who, filterProgram(choice), socket(family)).result == 0);
      }
      CHECK(act(who, filterProgram(choice), socket(AF_INET6)).error ==
            act(who, {}, socket(AF_INET6)).error);
      size_t shown = 0;
      for (uint64_t family : {uint64_t(AF_VSOCK), uint64_t(AF_PACKET), uint64_t(AF_ALG),
                              uint64_t(AF_BLUETOOTH), uint64_t(AF_CAN), uint64_t(AF_TIPC),
                              uint64_t(AF_VSOCK) | kHigh, uint64_t(AF_PACKET) | kHigh}) {
        CHECK(act(who, filterProgram(choice), socket(family)).error == EAFNOSUPPORT);
        shown += act(who, {}, socket(family)).error != EAFNOSUPPORT;
      }
      if (shown == 0)
        skip("refused socket families", "this kernel has none of them");
      const auto pair = [] {
        int fds[2];
        return long(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds)); // what cargo's job server uses
      };
      CHECK(act(who, filterProgram(choice), pair).result == 0);
    }
}

TEST_CASE("a client accepts nothing, on a local socket neither") {
  const auto serve = [] {
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    if (fd < 0 || bind(fd, reinterpret_cast<sockaddr*>(&name), sizeof(sa_family_t)) !=
                      0) // a name of the kernel's choice
      return -2L;
    return long(listen(fd, 1));
  };
  const auto serveTcp = [] {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd < 0 ? -2L : long(listen(fd, 1)); // without bind: Landlock does not see it
  };
  for (SandboxLevel level : {SandboxLevel::Standard, SandboxLevel::Strict})
    for (Who who : everyone())
      for (const std::function<long()>& body :
           {std::function<long()>(serve), std::function<long()>(serveTcp)}) {
        CHECK(act(who, {}, body).result == 0);
        CHECK(act(who, filterProgram({level, NetworkMode::None, false}), body).result == 0);
        CHECK(act(who, filterProgram({level, NetworkMode::Open, false}), body).result == 0);
        const Outcome client = act(who, filterProgram({level, NetworkMode::Client, false}), body);
        CHECK(client.result == -1);
        CHECK(client.error == EPERM);
      }
  CHECK(act(Who::User, filterProgram(kClient), call(number("accept4"), kNonsense)).error == EPERM);
  CHECK(act(Who::User, {}, call(number("accept4"), kNonsense)).error == EBADF);
}

TEST_CASE("an unknown number is not built, at strict by the filter") {
  CHECK(act(Who::User, filterProgram(kStrict), call(9999)).error == ENOSYS);
  CHECK(act(Who::User, filterProgram(kStandard), call(9999)).error == ENOSYS);
  CHECK(act(Who::User, filterProgram(kStrict), call(-1)).error == ENOSYS);
}

#if defined(__x86_64__)
TEST_CASE("the 32-bit entry is closed") {
  const auto enter = [] {
    long result = 20; // getpid of the i386 table
    asm volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    return result == getpid() ? 0L : -1L;
  };
  const Outcome control = act(Who::User, {}, enter);
  if (control.result != 0 || !control.finished)
    skip("int 0x80", "this kernel has no 32-bit entry");
  for (FilterChoice choice : {kStandard, kStrict}) {
    const Outcome confined = act(Who::User, filterProgram(choice), enter);
    CHECK(!confined.finished);
    CHECK(
        (confined.signal == SIGSYS || (control.signal != 0 && confined.signal == control.signal)));
  }
}

TEST_CASE("x32 numbers are not served") {
  for (FilterChoice choice : {kStandard, kStrict})
    for (int at : {39, 41, 56, 165, 520})
      CHECK(act(Who::User, filterProgram(choice), call(at | 0x40000000)).error == ENOSYS);
}
#endif

TEST_CASE("threads start, and a child inherits the filter") {
  for (FilterChoice choice : {kStandard, kStrict, kClient})
    for (Who who : everyone()) {
      CHECK(act(who, filterProgram(choice), [] {
              long sum = 0;
              std::thread one([&] { sum = 42; });
              one.join();
              return sum;
            }).result == 42);
      CHECK(act(who, filterProgram(choice), [] {
              const pid_t child = fork();
              if (child == 0)
                _exit(syscall(SYS_add_key, 0, 0, 0, 0, 0) == -1 && errno == EPERM ? 7 : 1);
              int status = 0;
              waitpid(child, &status, 0);
              return long(WEXITSTATUS(status));
            }).result == 7);
    }
}

TEST_CASE("metadata calls are left to the mounts") {
  // A build sets modes and times inside its grant; a filter that refuses these breaks all of them.
  for (FilterChoice choice : {kStandard, kStrict}) {
    CHECK(act(Who::User, filterProgram(choice), [] {
            const int fd = memfd_create("file", MFD_CLOEXEC);
            return long(fchmod(fd, 0600) | futimens(fd, nullptr));
          }).result == 0);
    CHECK(act(Who::User, filterProgram(choice), call(number("fchmodat2"), kNonsense)).error ==
          act(Who::User, {}, call(number("fchmodat2"), kNonsense)).error);
    CHECK(act(Who::User, filterProgram(choice), call(number("setxattrat"), kNonsense)).error ==
          act(Who::User, {}, call(number("setxattrat"), kNonsense)).error);
  }
}

TEST_CASE("ordinary programs run under each filter") {
  const char* const commands[] = {
      "test \"$(echo hello | cat)\" = hello",
      "for i in 1 2 3; do (sleep 0 & wait); done",
      "cd /tmp && d=$(mktemp -d) && touch $d/a && mv $d/a $d/b && ln $d/b $d/c && chmod 600 $d/c "
      "&& rm -r $d",
      "command -v strace >/dev/null || exit 0; strace -f -o /dev/null sh -c true",
      "command -v python3 >/dev/null || exit 0; "
      "python3 -c 'import threading, subprocess, socket; t = threading.Thread(target=print); "
      "t.start(); t.join(); "
      "subprocess.run([\"true\"], check=True); socket.socketpair()' >/dev/null",
      "command -v node >/dev/null || exit 0; "
      "node -e 'const r = require(\"child_process\").spawnSync(\"echo\", [\"hi\"]); "
      "process.exit(r.error || r.status ? 9 : 0)'",
      "command -v cc >/dev/null || exit 0; "
      "d=$(mktemp -d) && echo 'int main(void) { return 0; }' >$d/a.c && cc -o $d/a $d/a.c && $d/a "
      "&& rm -r $d",
      "command -v perl >/dev/null || exit 0; perl -e 'exit(system(\"true\"))'",
  };
  for (FilterChoice choice : {kStandard, kStrict, kClient})
    for (const char* command : commands) {
      const Outcome outcome = act(Who::User, filterProgram(choice), [command] {
        const pid_t child = fork();
        if (child == 0) {
          execl("/bin/sh", "sh", "-c", command, nullptr);
          _exit(127);
        }
        int status = 0;
        waitpid(child, &status, 0);
        return WIFEXITED(status) ? long(WEXITSTATUS(status)) : 1000L + WTERMSIG(status);
      });
      CHECK_MESSAGE(outcome.result == 0, spelling(choice.level).str() << ": " << command);
    }
}
