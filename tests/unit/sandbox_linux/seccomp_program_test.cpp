// The finished programs, run by the machine of filter_machine.cpp: every row in every filter,
// unknown numbers, other architectures, arguments with high bits; and the machine itself.

#include "sandbox/linux/filter_table.h"
#include "sandbox/linux/seccomp_filter.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <string>
#include <vector>

using namespace gos;
using namespace gos::sandbox;

namespace {

using Arguments = std::vector<uint64_t>;
constexpr uint64_t kHigh = 0xdeadbeef00000000;

std::vector<FilterChoice> choices() {
  std::vector<FilterChoice> all;
  for (SandboxLevel level : {SandboxLevel::Standard, SandboxLevel::Strict})
    for (NetworkMode network : {NetworkMode::None, NetworkMode::Client, NetworkMode::Open})
      for (bool notifies : {false, true})
        all.push_back({level, network, notifies});
  return all;
}
std::string nameOf(FilterChoice choice) {
  return (spelling(choice.level) + " " + spelling(choice.network) +
          (choice.notifies ? " notifies" : ""))
      .str();
}
int number(llvm::StringRef name) {
  for (const SystemCallRow& row : systemCallRows())
    if (row.name == name)
      return row.number;
  return -1;
}
uint32_t answer(FilterChoice choice, int call, Arguments arguments = Arguments(6, 0)) {
  return evaluateFilter(filterProgram(choice), kArchitecture, call, arguments);
}
uint32_t errorOf(int error) {
  return kActionError | uint32_t(error);
}

/// A call whose answer depends on an argument, written from the kernel's headers.
struct Case {
  const char* call;
  unsigned argument;
  uint64_t value;
  int standard; // errno, 0: allowed
  int strict;
};
constexpr Case kCases[] = {
    {"prlimit64", 0, 0, 0, 0},         // own
    {"prlimit64", 0, 1, EPERM, EPERM}, // the first process
    {"setpriority", 0, 0, 0, 0},       // PRIO_PROCESS
    {"setpriority", 0, 1, EPERM, EPERM},
    {"setpriority", 0, 2, EPERM, EPERM},
    {"ioprio_set", 0, 1, 0, 0}, // IOPRIO_WHO_PROCESS
    {"ioprio_set", 0, 2, EPERM, EPERM},
    {"ioprio_set", 0, 3, EPERM, EPERM},
    {"ioctl", 1, 0x540c, EPERM, EPERM}, // TIOCEXCL
    {"ioctl", 1, 0x5412, EPERM, EPERM}, // TIOCSTI
    {"ioctl", 1, 0x541c, EPERM, EPERM}, // TIOCLINUX
    {"ioctl", 1, 0x5423, 0, EPERM},     // TIOCSETD
    {"ioctl", 1, 0x5413, 0, 0},         // TIOCGWINSZ
    {"ioctl", 1, 0x5401, 0, 0},         // TCGETS
    {"ioctl", 1, 0x541b, 0, 0},         // FIONREAD
    {"ioctl", 1, 0x40049409, 0, 0},     // FICLONE
    {"ioctl", 1, 0x8912, 0, 0},         // SIOCGIFCONF
    {"socket", 0, 1, 0, 0},             // AF_UNIX
    {"socket", 0, 2, 0, 0},             // AF_INET
    {"socket", 0, 10, 0, 0},            // AF_INET6
    {"socket", 0, 16, 0, 0},            // AF_NETLINK
    {"socket", 0, 0, EAFNOSUPPORT, EAFNOSUPPORT},
    {"socket", 0, 3, EAFNOSUPPORT, EAFNOSUPPORT},  // AF_AX25
    {"socket", 0, 9, EAFNOSUPPORT, EAFNOSUPPORT},  // AF_X25
    {"socket", 0, 17, EAFNOSUPPORT, EAFNOSUPPORT}, // AF_PACKET
    {"socket", 0, 21, EAFNOSUPPORT, EAFNOSUPPORT}, // AF_RDS
    {"socket", 0, 29, EAFNOSUPPORT, EAFNOSUPPORT}, // AF_CAN
    {"socket", 0, 30, EAFNOSUPPORT, EAFNOSUPPORT}, // AF_TIPC
    {"socket", 0, 31, EAFNOSUPPORT, EAFNOSUPPORT}, // AF_BLUETOOTH
    {"socket", 0, 38, EAFNOSUPPORT, EAFNOSUPPORT}, // AF_ALG
    {"socket", 0, 40, EAFNOSUPPORT, EAFNOSUPPORT}, // AF_VSOCK
    {"socket", 0, 44, EAFNOSUPPORT, EAFNOSUPPORT}, // AF_XDP
    {"socket", 0, 0x80000001, EAFNOSUPPORT, EAFNOSUPPORT},
    {"socketpair", 0, 1, 0, 0},
    {"socketpair", 0, 30, EAFNOSUPPORT, EAFNOSUPPORT},
    {"clone", 0, 0x11, 0, 0},               // SIGCHLD
    {"clone", 0, 0x3d0f00, 0, 0},           // what libc starts a thread with
    {"clone", 0, 0x4111, 0, 0},             // CLONE_VM | CLONE_VFORK | SIGCHLD
    {"clone", 0, 0x10000011, EPERM, EPERM}, // CLONE_NEWUSER
    {"clone", 0, 0x50000011, EPERM, EPERM}, // and CLONE_NEWNET
    {"clone", 0, 0x00020011, 0, EPERM},     // CLONE_NEWNS
    {"clone", 0, 0x02000011, 0, EPERM},     // CLONE_NEWCGROUP
    {"clone", 0, 0x04000011, 0, EPERM},     // CLONE_NEWUTS
    {"clone", 0, 0x08000011, 0, EPERM},     // CLONE_NEWIPC
    {"clone", 0, 0x20000011, 0, EPERM},     // CLONE_NEWPID
    {"clone", 0, 0x40000011, 0, EPERM},     // CLONE_NEWNET
    {"unshare", 0, 0, 0, 0},
    {"unshare", 0, 0x40600, 0, 0}, // CLONE_FS | CLONE_FILES | CLONE_SYSVSEM
    {"unshare", 0, 0x10000000, EPERM, EPERM},
    {"unshare", 0, 0x10020000, EPERM, EPERM},
    {"unshare", 0, 0x00000080, 0, EPERM}, // CLONE_NEWTIME
    {"unshare", 0, 0x00020000, 0, EPERM},
    {"unshare", 0, 0x02000000, 0, EPERM},
    {"unshare", 0, 0x04000000, 0, EPERM},
    {"unshare", 0, 0x08000000, 0, EPERM},
    {"unshare", 0, 0x20000000, 0, EPERM},
    {"unshare", 0, 0x40000000, 0, EPERM},
    {"unshare", 0, 0x80000000, 0, EPERM}, // a flag of a kernel to come
    {"personality", 0, 0, 0, 0},
    {"personality", 0, 0xffffffff, 0, 0},    // the query
    {"personality", 0, 0x0040000, 0, EPERM}, // ADDR_NO_RANDOMIZE
    {"personality", 0, 0x0400000, 0, EPERM}, // READ_IMPLIES_EXEC
    {"personality", 0, 8, 0, EPERM},         // PER_LINUX32
    {"perf_event_open", 1, 0, 0, EPERM},
    {"perf_event_open", 1, 0xffffffff, EPERM, EPERM}, // every process of a CPU
    {"perf_event_open", 4, 4, EPERM, EPERM},          // PERF_FLAG_PID_CGROUP
    {"perf_event_open", 4, 8, 0, EPERM},              // PERF_FLAG_FD_CLOEXEC
};

} // namespace

TEST_CASE("every filter has a program that the kernel takes, and none below standard") {
  for (FilterChoice choice : choices()) {
    const size_t size = filterProgram(choice).size();
    MESSAGE(nameOf(choice) << ": " << size << " instructions");
    CHECK(size > 0);
    CHECK(size <= 4096);
  }
  for (SandboxLevel level : {SandboxLevel::None, SandboxLevel::Basic})
    CHECK(filterProgram({level, NetworkMode::None, false}).empty());
}

TEST_CASE("every row has its verdict in every filter") {
  for (FilterChoice choice : choices())
    for (const SystemCallRow& row : systemCallRows()) {
      if (row.number < 0)
        continue;
      FilterVerdict verdict = choice.level == SandboxLevel::Strict ? row.strict : row.standard;
      if (choice.network == NetworkMode::Client && row.client != FilterVerdict::Allow)
        verdict = row.client;
      // Arguments that no rule speaks of: an address in every register.
      for (uint64_t value : {uint64_t(0), uint64_t(0x00007f0012340fe0)}) {
        const uint32_t found = answer(choice, row.number, Arguments(6, value));
        const std::string at = nameOf(choice) + " " + row.name.str();
        if (verdict == FilterVerdict::Allow && !(choice.notifies && row.reported))
          CHECK_MESSAGE(found == kActionAllow, at);
        else if (verdict == FilterVerdict::NotPermitted)
          CHECK_MESSAGE(found == (choice.notifies ? kActionNotify : errorOf(EPERM)), at);
        else if (verdict == FilterVerdict::NotBuilt)
          CHECK_MESSAGE(
              found == (choice.notifies && row.name != "clone3" ? kActionNotify : errorOf(ENOSYS)),
              at);
      }
    }
}

TEST_CASE("arguments are compared in the width that the kernel uses") {
  for (FilterChoice choice : choices())
    for (const Case& each : kCases) {
      const int call = number(each.call);
      REQUIRE(call >= 0);
      const int error = choice.level == SandboxLevel::Strict ? each.strict : each.standard;
      const uint32_t wanted = error == 0        ? kActionAllow
                              : choice.notifies ? kActionNotify
                                                : errorOf(error);
      for (uint64_t high : {uint64_t(0), uint64_t(1) << 32, kHigh, uint64_t(0xffffffff00000000)}) {
        Arguments arguments(6, 0);
        arguments[each.argument] = each.value | high;
        CHECK_MESSAGE(answer(choice, call, arguments) == wanted,
                      nameOf(choice) << " " << each.call << " " << each.value << " high " << high);
        CHECK(filterError(choice, call, arguments) == error);
      }
    }
}

TEST_CASE("every rule of the table is shown by a case") {
  for (const RuleRow& rule : ruleRows()) {
    if (rule.kind == RuleKind::ReportUnless)
      continue;
    bool shown = false;
    for (const Case& each : kCases) {
      bool member = false;
      for (const CallRow& row : callRows())
        member |= row.group == rule.group && row.name == each.call;
      shown |= member && each.argument == rule.argument && (each.value & rule.mask) == rule.value;
    }
    CHECK_MESSAGE(shown, groupRow(rule.group).name.str());
  }
}

TEST_CASE("numbers without a row are not built at strict") {
  for (FilterChoice choice : choices()) {
    if (choice.level != SandboxLevel::Strict)
      continue;
    size_t unknown = 0;
    for (int call = 0; call < 10000; ++call)
      if (systemCallName(call).empty()) {
        ++unknown;
        CHECK(answer(choice, call) == (choice.notifies ? kActionNotify : errorOf(ENOSYS)));
        CHECK(filterError(choice, call, Arguments(6, 0)) == ENOSYS);
      }
    CHECK(unknown > 9000);
  }
  CHECK(answer({SandboxLevel::Standard, NetworkMode::None, false}, 9999) == kActionAllow);
}

#ifdef __x86_64__
TEST_CASE("numbers of the x32 table are never served") {
  for (FilterChoice choice : choices()) {
    for (uint32_t call = 0; call < 600; ++call)
      CHECK(answer(choice, int(call | 0x40000000)) == errorOf(ENOSYS));
    for (uint32_t call : {0x7fffffffu, 0x80000000u, 0xc0000000u, 0xffffffffu})
      CHECK(answer(choice, int(call)) == errorOf(ENOSYS));
  }
}
#endif

TEST_CASE("a call of another architecture kills the process, whatever its number") {
  for (FilterChoice choice : choices())
    for (uint32_t architecture :
         {0x40000003u /* i386 */, 0x40000028u /* arm */, 0xc00000b7u, 0xc000003eu, 0u, 0xffffffffu})
      for (int call = 0; call < 600; ++call)
        if (architecture != kArchitecture)
          CHECK(evaluateFilter(filterProgram(choice), architecture, call, Arguments(6, 0)) ==
                kActionKillProcess);
}

TEST_CASE("a filter that notifies refuses and allows what the plain one does") {
  for (FilterChoice choice : choices()) {
    if (!choice.notifies)
      continue;
    FilterChoice plain = choice;
    plain.notifies = false;
    for (int call = 0; call < 600; ++call)
      for (uint64_t value : {uint64_t(0), uint64_t(1), ~uint64_t(0)}) {
        const Arguments arguments(6, value);
        const uint32_t found = answer(choice, call, arguments),
                       without = answer(plain, call, arguments);
        const int error = filterError(choice, call, arguments);
        CHECK(without == (error == 0 ? kActionAllow : errorOf(error)));
        CHECK((found == kActionNotify || found == without));
      }
  }
}

TEST_CASE("a report sees names and addresses, not questions about descriptors") {
  const FilterChoice choice{SandboxLevel::Strict, NetworkMode::None, true};
  Arguments look(6, 0x7f0000001000); // AT_EMPTY_PATH is bit 12
  look[3] = 0;
  CHECK(answer(choice, number("newfstatat"), look) == kActionNotify);
  look[3] = 0x100; // AT_SYMLINK_NOFOLLOW
  CHECK(answer(choice, number("newfstatat"), look) == kActionNotify);
  look[3] = 0x1000;
  CHECK(answer(choice, number("newfstatat"), look) == kActionAllow);
  look[3] = 0x1100;
  CHECK(answer(choice, number("newfstatat"), look) == kActionAllow);
  look[2] = 0;
  CHECK(answer(choice, number("statx"), look) == kActionNotify);
  look[2] = 0x1000;
  CHECK(answer(choice, number("statx"), look) == kActionAllow);
  Arguments send(6, 0);
  CHECK(answer(choice, number("sendto"), send) == kActionAllow);
  send[4] = uint64_t(1) << 32;
  CHECK(answer(choice, number("sendto"), send) == kActionNotify);
  send[4] = 1;
  CHECK(answer(choice, number("sendto"), send) == kActionNotify);
  CHECK(answer(choice, number("openat")) == kActionNotify);
  // What passes the listener itself on has to go through unseen.
  for (const char* call :
       {"sendmsg", "write", "close", "close_range", "dup2", "exit_group", "prctl", "fcntl"})
    CHECK_MESSAGE(answer(choice, number(call)) == kActionAllow, call);
}

TEST_CASE("the description names every refused group, and is the same each time") {
  for (FilterChoice choice : choices()) {
    const std::string once = describeFilter(choice);
    CHECK(once == describeFilter(choice));
  }
  const std::string strict = describeFilter({SandboxLevel::Strict, NetworkMode::Client, false});
  CHECK(strict.find("listen accept accept4: EPERM") ==
        std::string::npos); // by number: accept, listen
  CHECK(strict.find("accept listen accept4: EPERM") != std::string::npos);
  CHECK(strict.find("clone3: ENOSYS") != std::string::npos);
  CHECK(strict.find("socket socketpair: EAFNOSUPPORT unless argument 0 & 0xffffffff = 0x1, or ") !=
        std::string::npos);
  CHECK(strict.find("ioctl: EPERM if argument 1 & 0xffffffff = 0x540c, or ") != std::string::npos);
  CHECK(strict.find("numbers without a row: ENOSYS") != std::string::npos);
  const std::string standard = describeFilter({SandboxLevel::Standard, NetworkMode::None, true});
  CHECK(standard.find("accept") == std::string::npos);
  CHECK(standard.find("clone: reported, then EPERM if argument 0 & 0x10000000 = 0x10000000 (") !=
        std::string::npos);
  CHECK(standard.find(
            "sendto: allowed, and reported unless argument 4 & 0xffffffffffffffff = 0x0 (") !=
        std::string::npos);
  CHECK(describeFilter({SandboxLevel::Basic, NetworkMode::None, false}) == "no filter\n");
}

TEST_CASE("the machine kills where a program is broken") {
  const auto run = [](std::vector<FilterInstruction> program) {
    return evaluateFilter(program, kArchitecture, 1, {7, 8});
  };
  CHECK(run({}) == kActionKillProcess);
  CHECK(run({{0x20, 0, 0, 64}}) == kActionKillProcess);                 // a load outside
  CHECK(run({{0x20, 0, 0, 2}, {0x16, 0, 0, 0}}) == kActionKillProcess); // not aligned
  CHECK(run({{0x05, 0, 0, 0xffffffff}, {0x06, 0, 0, kActionAllow}}) == kActionKillProcess);
  CHECK(run({{0x15, 9, 9, 0}, {0x06, 0, 0, kActionAllow}}) == kActionKillProcess); // past the end
  CHECK(run({{0x05, 0, 0, 1}, {0x06, 0, 0, 0}}) == kActionKillProcess);            // to the end
  CHECK(run({{0x02, 0, 0, 16}, {0x06, 0, 0, 0}}) == kActionKillProcess);           // memory outside
  CHECK(run({{0x8d, 0, 0, 0}, {0x06, 0, 0, 0}}) == kActionKillProcess);            // not a code
  CHECK(run({{0x20, 0, 0, 16}, {0x16, 0, 0, 0}}) == 7);
  CHECK(run({{0x20, 0, 0, 24}, {0x16, 0, 0, 0}}) == 8);
  CHECK(run({{0x20, 0, 0, 28}, {0x16, 0, 0, 0}}) == 0);
  CHECK(run({{0x20, 0, 0, 32}, {0x16, 0, 0, 0}}) == 0); // arguments that were not given
  CHECK(
      run({{0x00, 0, 0, 5}, {0x02, 0, 0, 3}, {0x00, 0, 0, 0}, {0x60, 0, 0, 3}, {0x16, 0, 0, 0}}) ==
      5);
}
