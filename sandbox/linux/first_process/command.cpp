// The command's side of a start: the locks, from the least to the last, then execve. It runs in the
// memory of the first process (vfork semantics) and touches none of it but `failure`.

#include "sandbox/linux/first_process/first_process.h"
#include "sandbox/linux/landlock_abi.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

namespace gos::sandbox {

namespace {

/// Written by the command's process when a step fails, read by the first process once it goes on.
volatile int32_t failedStage;
volatile int32_t failedError;
/// Set before the command's process is made.
long firstProcessId;

[[noreturn]] void giveUp(Stage stage, long result) {
  failedStage = (int32_t)stage;
  failedError = (int32_t)-result;
  raw::quit(127);
}
void must(Stage stage, long result) {
  if (result < 0)
    giveUp(stage, result);
}

uint32_t permittedCapabilities() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  return raw::sys(__NR_capget, &header, data) < 0 ? 0 : data[0].permitted;
}

bool holdsNoCapability() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (raw::sys(__NR_capget, &header, data) < 0)
    return false;
  return (data[0].effective | data[0].permitted | data[0].inheritable | data[1].effective |
          data[1].permitted | data[1].inheritable) == 0;
}

/// Offsets become pointers, in the private copy of the plan.
char** pointers(const Plan& plan, uint32_t offset, uint32_t count) {
  uint64_t* entries = (uint64_t*)(plan.base + offset);
  for (uint32_t at = 0; at != count; ++at)
    entries[at] = (uint64_t)(plan.base + entries[at]);
  entries[count] = 0;
  return (char**)entries;
}

/// The listener of the filter goes to the supervisor before the first call that would wait for it.
long sendListener(int listener) {
  ControlMessage message{};
  message.kind = ControlKind::Listener;
  alignas(8) char control[CMSG_SPACE(sizeof(int))] = {};
  struct cmsghdr* header = (struct cmsghdr*)control;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  __builtin_memcpy(CMSG_DATA(header), &listener, sizeof listener);
  struct iovec part = {&message, sizeof message};
  struct msghdr envelope = {};
  envelope.msg_iov = &part;
  envelope.msg_iovlen = 1;
  envelope.msg_control = control;
  envelope.msg_controllen = sizeof control;
  return raw::sys(__NR_sendmsg, kControlFd, &envelope, MSG_NOSIGNAL);
}

/// What shells ask before they read a file that the kernel does not execute: does its first line
/// hold a NUL? A program for another machine is not a script.
bool isBinary(const char* program) {
  char text[128];
  const long file =
      raw::sys(__NR_openat, raw::kAtFdCwd, program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  const long got = file < 0 ? 0 : raw::retry(__NR_read, file, text, sizeof text);
  raw::sys(__NR_close, file);
  for (long at = 0; at < got && text[at] != '\n'; ++at)
    if (text[at] == '\0')
      return true;
  return false;
}

[[noreturn]] void runCommand(const Plan& plan, int ruleset, char** arguments, char** environment,
                             char** shellArguments) {
  const LaunchHeader& header = plan.header();
  // Where no pid namespace ends it: without its first process the command has no janitor.
  must(Stage::Spawn, raw::sys(__NR_prctl, PR_SET_PDEATHSIG, 9 /* SIGKILL */, 0, 0, 0));
  if (raw::sys(__NR_getppid) != firstProcessId)
    raw::quit(1); // it died before that
  if (plan.has(kNewSession))
    must(Stage::Session, raw::sys(__NR_setsid));
  must(Stage::WorkingDirectory, raw::sys(__NR_chdir, plan.text(header.workingDirectory)));
  if (plan.has(kNoCoreDumps)) {
    const struct rlimit none = {0, 0};
    must(Stage::Limits, raw::sys(__NR_setrlimit, RLIMIT_CORE, &none));
  }
  raw::sys(__NR_umask, callerFileMode);
  if (plan.has(kNoNewPrivileges)) {
    must(Stage::NoNewPrivileges, raw::sys(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    if (raw::sys(__NR_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
      giveUp(Stage::Verify, -1);
  }
  if (plan.has(kDropCapabilities)) {
    must(Stage::Capabilities, setCapabilities(0, 0));
    if (!holdsNoCapability())
      giveUp(Stage::Verify, -1);
  }
  if (ruleset >= 0)
    must(Stage::LandlockRestrict, raw::sys(__NR_landlock_restrict_self, ruleset, 0));

  // Descriptors: 0, 1, 2 and nothing else, closed before the filter could have a say.
  if (plan.has(kFilterNotifies) || plan.has(kProbe)) {
    must(Stage::Execute, raw::sys(__NR_close_range, kPlanFd, kPlanFd, 0));
    must(Stage::Execute,
         raw::sys(__NR_close_range, kControlFd + 1, ~0u, 0)); // the control socket is close-on-exec
  } else {
    must(Stage::Execute, raw::sys(__NR_close_range, kPlanFd, ~0u, 0));
  }
  if (plan.has(kUseFilter)) {
    const struct sock_fprog program = {(unsigned short)header.filterCount,
                                       (struct sock_filter*)(plan.base + header.filter)};
    const unsigned flags = plan.has(kFilterNotifies) ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
    const long listener = raw::sys(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
    must(Stage::Filter, listener);
    if (plan.has(kFilterNotifies))
      must(Stage::Listener, sendListener((int)listener));
    if (plan.has(kFilterNotifies) && plan.has(kProbe)) // a descriptor that no command has
      raw::sys(__NR_close, listener);
  }
  if (plan.has(kProbe))
    runProbe(plan);
  must(Stage::Execute,
       raw::sys(__NR_rt_sigprocmask, 2 /* SIG_SETMASK */, &header.signalMask, 0, 8));
  const char* program = plan.text(header.program);
  long result = raw::sys(__NR_execve, program, arguments, environment);
  // A script without `#!` is run as a shell would run it.
  if (result == -raw::kErrorNotExecutable && !isBinary(program))
    result = raw::sys(__NR_execve, "/bin/sh", shellArguments, environment);
  giveUp(Stage::Execute, result);
}

} // namespace

Failure dropCapabilities(const Plan& plan) {
  raw::sys(__NR_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  // Without CAP_SETPCAP these are refused; then there was nothing to give up, as the check below
  // finds.
  for (int capability = 0; capability != 64; ++capability)
    if (raw::sys(__NR_prctl, PR_CAPBSET_DROP, capability, 0, 0, 0) < 0)
      break;
  raw::sys(__NR_prctl, PR_SET_SECUREBITS,
           SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
               SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED,
           0, 0, 0);
  // What stays is permitted and not effective, over the sandbox's own namespaces. Whoever holds
  // less may not schedule this process or change its priority (cap_safe_nice of the kernel): a
  // command that put it to sleep would outlive the end of the run. And at the end the private temp
  // has to be unmounted before it can be removed. The command has none of it.
  const bool unmounts = plan.has(kGrantInTmp) || plan.has(kGrantInVarTmp);
  const uint32_t keep = 1u << CAP_SYS_CHROOT | (unmounts ? 1u << CAP_SYS_ADMIN : 0);
  const long result = setCapabilities(0, keep & permittedCapabilities());
  return result < 0 ? failed(Stage::Capabilities, result) : Failure{};
}

long setCapabilities(uint32_t effective, uint32_t permitted) {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct data[2] = {{effective, permitted, 0}, {0, 0, 0}};
  return raw::sys(__NR_capset, &header, data);
}

Failure makeRuleset(const Plan& plan, const View& view, int& ruleset) {
  const LaunchHeader& header = plan.header();
  const LandlockRulesetAttributes handled = {header.landlockFileSystem, header.landlockNetwork,
                                             header.landlockScopes};
  const long fd = raw::sys(__NR_landlock_create_ruleset, &handled,
                           landlockAttributesSize(header.landlockAbi), 0);
  if (fd < 0)
    return failed(Stage::LandlockRuleset, fd);
  const long kept = fd > view.lastKept ? fd : view.lastKept;
  const LaunchRule* rules = plan.rules();
  for (uint32_t index = 0; index != header.ruleCount; ++index) {
    raw::OpenHow how = {O_PATH | O_NOFOLLOW | O_CLOEXEC, 0,
                        raw::kResolveNoLinks | raw::kResolveNoMagicLinks};
    const long object =
        raw::sys(__NR_openat2, raw::kAtFdCwd, plan.text(rules[index].path), &how, sizeof how);
    if (object < 0) {
      if (rules[index].optional != 0 && object == -raw::kErrorAbsent)
        continue;
      return failed(Stage::LandlockRule, object, index);
    }
    const LandlockPathRule rule = {rules[index].rights, (int32_t)object};
    const long result = raw::sys(__NR_landlock_add_rule, fd, kLandlockRulePathBeneath, &rule, 0);
    if (index % 64 == 63)
      raw::sys(__NR_close_range, kept + 1, ~0u, 0); // one call for many, as in view.cpp
    if (result < 0)
      return failed(Stage::LandlockRule, result, index);
  }
  raw::sys(__NR_close_range, kept + 1, ~0u, 0);
  // A terminal that is a stream may be opened again by name (/dev/stdout), with the rights that the
  // stream has and no others: it is the caller's, and lies outside the view.
  for (int stream = 0; stream != 3; ++stream) {
    char settings[64]; // struct termios of the kernel has 36 bytes
    if (raw::sys(__NR_ioctl, stream, 0x5401 /* TCGETS */, settings) < 0)
      continue;
    const long mode = raw::sys(__NR_fcntl, stream, F_GETFL) & O_ACCMODE;
    const uint64_t rights = (mode != O_WRONLY ? kLandlockReadFile : 0) |
                            (mode != O_RDONLY ? kLandlockWriteFile : 0) |
                            (header.landlockFileSystem & kLandlockDeviceControl);
    const LandlockPathRule rule = {rights, stream};
    const long result = raw::sys(__NR_landlock_add_rule, fd, kLandlockRulePathBeneath, &rule, 0);
    if (result < 0)
      return failed(Stage::LandlockRule, result, header.ruleCount);
  }
  ruleset = (int)fd;
  return {};
}

Failure startCommand(const Plan& plan, int ruleset, long& process) {
  const LaunchHeader& header = plan.header();
  char** arguments = pointers(plan, header.arguments, header.argumentCount);
  char** environment = pointers(plan, header.environment, header.environmentCount);
  char** shellArguments = pointers(plan, header.shellArguments, header.shellArgumentCount);
  // vfork: the command's process runs on this very stack until it executes or gives up. Nothing
  // returns in between, so what this frame holds is intact.
  firstProcessId = raw::sys(__NR_getpid);
  const long id = raw::sys(__NR_clone, CLONE_VM | CLONE_VFORK | 17 /* SIGCHLD */, 0, 0, 0, 0);
  if (id == 0)
    runCommand(plan, ruleset, arguments, environment, shellArguments);
  if (id < 0)
    return failed(Stage::Spawn, id);
  if (failedStage != 0) {
    Failure failure{(Stage)failedStage, failedError, 0};
    return failure;
  }
  process = id;
  return {};
}

} // namespace gos::sandbox
