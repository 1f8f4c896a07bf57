// The order of a start, written once: namespaces, maps, empty root, loopback, plan, view, ruleset,
// capabilities, command. What comes before the plan runs while the supervisor compiles it.
// The command's own part (session, directory, limits, no-new-privileges, Landlock, filter, execve)
// is in command.cpp.

#include "sandbox/linux/first_process/ahead.h"
#include "sandbox/linux/first_process/first_process.h"

#include <fcntl.h>
#include <linux/if.h>
#include <linux/prctl.h>
#include <linux/sockios.h>
#include <linux/time_types.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>

// What a compiler may call without being asked.
extern "C" {
void* memcpy(void* to, const void* from, size_t size) {
  for (size_t at = 0; at != size; ++at)
    ((char*)to)[at] = ((const char*)from)[at];
  return to;
}
void* memset(void* to, int value, size_t size) {
  for (size_t at = 0; at != size; ++at)
    ((char*)to)[at] = (char)value;
  return to;
}
}

namespace gos::sandbox {

long callerFileMode = 022;

void tell(const ControlMessage& message) {
  raw::retry(__NR_sendto, kControlFd, &message, sizeof message, MSG_NOSIGNAL, 0, 0);
}

namespace {

[[noreturn]] void fail(const Failure& failure) {
  ControlMessage message{};
  message.kind = ControlKind::Failed;
  message.stage = failure.stage;
  message.error = failure.error;
  message.index = failure.index;
  tell(message);
  raw::quit(1);
}

Failure readPlan(Plan& plan) {
  // The size is the header's first page; the whole is mapped private, so that offsets can be made
  // pointers in place without changing the sealed memory.
  const long size = raw::sys(__NR_lseek, kPlanFd, 0, 2 /* SEEK_END */);
  if (size < (long)sizeof(LaunchHeader))
    return failed(Stage::ReadPlan, size < 0 ? size : -22);
  const long base = raw::sys(__NR_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, kPlanFd, 0);
  if (base < 0 && base > -4096)
    return failed(Stage::ReadPlan, base);
  plan.base = (char*)base;
  if (plan.header().magic != kLaunchMagic || plan.header().size != (uint64_t)size)
    return failed(Stage::ReadPlan, -22);
  return {};
}

/// The next message, which has to be of this kind: a supervisor that gave up knows why.
ControlMessage await(ControlKind kind) {
  ControlMessage message{};
  const long got = raw::retry(__NR_recvfrom, kControlFd, &message, sizeof message, 0, 0, 0);
  if (got != (long)sizeof message || message.kind != kind)
    raw::quit(1);
  return message;
}

/// Namespaces that could not be made together: which of them is missing here?
Failure missingNamespace(int flags, long result) {
  struct Row {
    int flag;
    Stage stage;
  };
  static constexpr Row kNamespaces[] = {{0x00020000, Stage::MountNamespace},
                                        {0x40000000, Stage::NetworkNamespace},
                                        {0x08000000, Stage::IpcNamespace},
                                        {0x04000000, Stage::UtsNamespace},
                                        {0x02000000, Stage::CgroupNamespace}};
  for (const Row& row : kNamespaces)
    if (flags & row.flag)
      if (const long alone = raw::sys(__NR_unshare, row.flag); alone < 0)
        return failed(row.stage, alone);
  return failed(Stage::Clone, result);
}

/// Waits until the plan is written. With it comes the private temp, which gets its numbers.
Failure awaitPlan() {
  ControlMessage message{};
  int temporary[2];
  alignas(8) char control[CMSG_SPACE(sizeof temporary)] = {};
  struct iovec part = {&message, sizeof message};
  struct msghdr envelope = {};
  envelope.msg_iov = &part;
  envelope.msg_iovlen = 1;
  envelope.msg_control = control;
  envelope.msg_controllen = sizeof control;
  const long got = raw::retry(__NR_recvmsg, kControlFd, &envelope, MSG_CMSG_CLOEXEC);
  if (got != (long)sizeof message || message.kind != ControlKind::PlanWritten)
    raw::quit(1);
  const struct cmsghdr* header = (const struct cmsghdr*)control;
  if (envelope.msg_controllen == 0)
    return {};
  if (envelope.msg_controllen < sizeof control || header->cmsg_type != SCM_RIGHTS ||
      header->cmsg_len != CMSG_LEN(sizeof temporary))
    return failed(Stage::ReadPlan, -22);
  __builtin_memcpy(temporary, CMSG_DATA(header), sizeof temporary);
  for (int which = 0; which != 2; ++which) {
    const long result = raw::sys(__NR_dup3, temporary[which], kTempParentFd + which, O_CLOEXEC);
    if (result < 0)
      return failed(Stage::ReadPlan, result);
    raw::sys(__NR_close, temporary[which]);
  }
  return {};
}

Failure raiseLoopback() {
  const long socket = raw::sys(__NR_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0)
    return failed(Stage::Loopback, socket);
  struct ifreq request = {};
  request.ifr_name[0] = 'l';
  request.ifr_name[1] = 'o';
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  const long result = raw::sys(__NR_ioctl, socket, SIOCSIFFLAGS, &request);
  raw::sys(__NR_close, socket);
  return result < 0 ? failed(Stage::Loopback, result) : Failure{};
}

} // namespace

[[noreturn]] void firstProcess(long count, char* const* paths) {
  raw::sys(__NR_prctl, PR_SET_NAME, "bwr-first");
  // Until the command runs nobody here can listen for the end of the supervisor: this process waits
  // for its vfork child. Then the kernel ends it, by the thread that waits in `start`.
  raw::sys(__NR_prctl, PR_SET_PDEATHSIG, 9 /* SIGKILL */, 0, 0, 0);
  struct pollfd supervisor = {kSupervisorFd, POLLIN, 0};
  const struct __kernel_timespec now = {0, 0};
  if (raw::sys(__NR_ppoll, &supervisor, 1, &now, 0, 0) != 0)
    raw::quit(1);
  callerFileMode = raw::sys(__NR_umask, 0); // inherited; nobody else's is touched
  raw::sys(__NR_close_range, kPlanFd, kFirstFreeFd - 1, 1u << 2 /* CLOSE_RANGE_CLOEXEC */);

  // What does not need the plan, while the supervisor compiles it.
  const ControlMessage begin = await(ControlKind::Begin);
  if (begin.status != 0)
    if (const long result = raw::sys(__NR_unshare, begin.status); result < 0)
      fail(missingNamespace(begin.status, result));
  if (begin.flags & kWaitForMaps)
    await(ControlKind::MapsWritten);
  View view;
  if (begin.flags & kOwnRoot)
    if (Failure failure = makeRoot(view))
      fail(failure);
  if (begin.flags & kRaiseLoopback)
    if (Failure failure = raiseLoopback())
      fail(failure);
  static Ahead ahead;
  if (begin.flags & kRaiseAhead)
    raiseAhead(view, paths, count, (begin.flags & kOwnProcesses) != 0, ahead);

  Plan plan;
  if (Failure failure = awaitPlan())
    fail(failure);
  if (Failure failure = readPlan(plan))
    fail(failure);
  if (plan.has(kBuildView))
    if (Failure failure = buildView(plan, view, ahead))
      fail(failure);
  // What a policy grants is nobody else's to read from a command line.
  for (long at = 0; at != count; ++at)
    for (char* byte = paths[at]; *byte != '\0'; ++byte)
      *byte = '\0';
  int ruleset = -1;
  if (plan.has(kUseLandlock))
    if (Failure failure = makeRuleset(plan, view, ruleset))
      fail(failure);
  if (!plan.has(kOwnPidNamespace)) {
    const long result = raw::sys(__NR_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    if (result < 0)
      fail(failed(Stage::Subreaper, result));
  }
  if (plan.has(kDropCapabilities))
    if (Failure failure = dropCapabilities(plan))
      fail(failure);
  raw::sys(__NR_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);

  long command = 0;
  if (Failure failure = startCommand(plan, ruleset, command))
    fail(failure);
  if (ruleset >= 0)
    raw::sys(__NR_close, ruleset);
  // The streams are the command's alone: a pipe ends when the command's side is closed.
  for (int stream = 0; stream != 3; ++stream)
    raw::sys(__NR_close, stream);
  raw::sys(__NR_prctl, PR_SET_PDEATHSIG, 0, 0, 0, 0);
  ControlMessage started{};
  started.kind = ControlKind::Started;
  started.flags = ahead.whole ? uint32_t(kStoodAhead) : 0;
  tell(started);
  supervise(plan, view, command);
}

} // namespace gos::sandbox

#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n  xor %ebp, %ebp\n  mov %rsp, %rdi\n  and $-16, %rsp\n  call "
        "firstProcessEntry\n  "
        "hlt\n");
#elif defined(__aarch64__)
__asm__(
    ".globl _start\n_start:\n  mov x29, #0\n  mov x30, #0\n  mov x0, sp\n  bl firstProcessEntry\n");
#endif
extern "C" [[noreturn]] __attribute__((used)) void firstProcessEntry(const long* stack) {
  // The count of arguments and the arguments, of which the first is the name.
  gos::sandbox::firstProcess(stack[0] - 1, (char* const*)(stack + 2));
}
