// Probing: each primitive alone, in a child that a start would use, with what has to work and what
// has to fail. A probe is a plan and a script.

#include "sandbox/linux/features.h"

#include "sandbox/linux/landlock_abi.h"
#include "sandbox/linux/probe_script.h"
#include "sandbox/linux/proof_scene.h"
#include "sandbox/linux/seccomp_filter.h"
#include "sandbox/linux/self_proof.h"
#include "sandbox/linux/spawn.h"
#include "sandbox/linux/unavailable.h"
#include "sandbox/sys_error.h"

#include "llvm/Support/FormatVariadic.h"

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/capability.h>
#include <mutex>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

namespace gos::sandbox {

int landlockAbi(int* error) {
  const long abi = ::syscall(444 /* landlock_create_ruleset */, nullptr, 0,
                             1 /* LANDLOCK_CREATE_RULESET_VERSION */);
  if (abi >= 0)
    return int(abi);
  if (error != nullptr)
    *error = errno;
  return 0;
}

namespace {

struct PrimitiveRow {
  Primitive primitive;
  llvm::StringRef words;
  bool basic, standard, strict;
  llvm::StringRef gives;
};
constexpr PrimitiveRow kRows[] = {
#define GOS_PRIMITIVE(name, words, basic, standard, strict, gives, fix)                            \
  {Primitive::name, words, basic, standard, strict, gives},
#include "sandbox/linux/primitives.def"
};

constexpr int kAnswer = 55; // ENOANO: no call fails with it by itself

/// A probe of one primitive.
struct Probe {
  ChildPlan plan;
  ProbeScript script;
  std::vector<std::string> acts; // words of each act
  int input = -1;

  void act(std::string words) {
    script.beginAct();
    acts.push_back(std::move(words));
  }
};

/// No lock at all: a probe adds the one that it is about.
ChildPlan barePlan() {
  ChildPlan plan;
  plan.level = SandboxLevel::None;
  plan.keepRoot = true;
  plan.dropCapabilities = plan.noNewPrivileges = false;
  return plan;
}

class Prober {
public:
  explicit Prober(const ProofScene& scene) : scene_(scene) {}

  PrimitiveState probe(const PrimitiveRow& row) {
    PrimitiveState state;
    state.primitive = row.primitive;
    state.name = row.words.str();
    Probe probe;
    probe.plan = barePlan();
    UniqueFd terminal;
    std::string impossible = prepare(row.primitive, probe, terminal, state);
    if (!impossible.empty()) {
      state.reason = std::move(impossible);
    } else {
      ProbeLaunch launch;
      launch.input = probe.input;
      launch.answerNotified = kAnswer;
      llvm::Expected<ProbeEnd> end = launchProbe(probe.plan, probe.script, launch);
      if (probe.input >= 0)
        ::close(probe.input);
      if (end)
        judge(*end, probe, terminal, state);
      else
        llvm::handleAllErrors(
            end.takeError(),
            [&](const LaunchFailure& failure) {
              // The user namespace was made; the view names what came after it.
              if (row.primitive == Primitive::UserNamespace &&
                  failure.stage() == Stage::MountNamespace)
                return;
              state.error = failure.number();
              state.reason = llvm::formatv("cannot {0}: {1}", stageWords(failure.stage()),
                                           errnoText(failure.number()));
              // A start that fails elsewhere says nothing about what the probe was for.
              if (const llvm::StringRef other = stagePrimitive(failure.stage());
                  !other.empty() && other != row.words)
                state.blockedBy = other.str();
            },
            [&](const llvm::ErrorInfoBase& other) { state.reason = other.message(); });
    }
    state.works = state.reason.empty();
    if (!state.works)
      state.fix = primitiveFix(state.blockedBy.empty() ? state.name : state.blockedBy, state.error);
    return state;
  }

private:
  ProbeScript::Argument text(Probe& probe, llvm::StringRef name) {
    return probe.script.text(scene_.at(name));
  }

  void judge(const ProbeEnd& end, const Probe& probe, const UniqueFd& terminal,
             PrimitiveState& state) {
    for (size_t index = 0; index != probe.acts.size(); ++index) {
      const ProbeVerdict& verdict = end.verdicts[index];
      if (verdict.held())
        continue;
      state.error = verdict.error;
      state.reason = llvm::formatv("{0}: {1}", probe.acts[index],
                                   !verdict.reported    ? std::string("the child was gone")
                                   : verdict.error != 0 ? errnoText(verdict.error)
                                                        : std::string("it was let through"));
      return;
    }
    if (end.survivors)
      state.reason = "a process outlived the run";
    pollfd entry = {terminal.get(), POLLIN, 0};
    if (terminal && ::poll(&entry, 1, 0) == 1 && (entry.revents & POLLIN) != 0)
      state.reason = "text was pushed into a terminal";
  }

  /// Fills the probe; answers why it cannot even be tried, or nothing.
  std::string prepare(Primitive primitive, Probe& probe, UniqueFd& terminal,
                      PrimitiveState& state) {
    ChildPlan& plan = probe.plan;
    ProbeScript& script = probe.script;
    switch (primitive) {
    case Primitive::MemfdExecution:
      probe.act("run a program from memory");
      script.works(SYS_getpid, {});
      return {};
    case Primitive::PidFd: {
      UniqueFd self(int(::syscall(434 /* pidfd_open */, ::getpid(), 0)));
      pollfd entry = {self.get(), POLLIN, 0};
      if (!self) {
        state.error = errno;
        return llvm::formatv("cannot open a process: {0}", errnoText(errno));
      }
      if (::poll(&entry, 1, 0) != 0)
        return "a process that lives is taken for dead";
      probe.act("hold a process");
      script.works(SYS_getpid, {});
      return {};
    }
    case Primitive::Subreaper:
      probe.act("leave a process behind");
      script.works(kProbeSurvivor, {});
      return {};
    case Primitive::UserNamespace:
      plan.namespaces = kUserNamespace | kMountNamespace;
      probe.act("mount a file system in a user namespace");
      script.works(SYS_mount, {script.text("gos"), script.text("/"), script.text("tmpfs"), 0, 0});
      return {};
    case Primitive::PidNamespace:
      plan.namespaces = kUserNamespace | kPidNamespace;
      probe.act("be the child of process 1");
      script.equals(1, SYS_getppid, {});
      return {};
    case Primitive::MountView:
    case Primitive::MountAttributes:
    case Primitive::MountWatch:
      prepareView(primitive, probe);
      return {};
    case Primitive::OwnProc:
      prepareProc(probe);
      return {};
    case Primitive::NetworkNamespace:
      prepareNetwork(probe);
      return {};
    case Primitive::IpcNamespace:
      plan.namespaces = kUserNamespace | kIpcNamespace;
      probe.act("make a message queue of an ipc namespace");
      script.works(SYS_msgget, {0 /* IPC_PRIVATE */, 0600});
      return {};
    case Primitive::UtsNamespace:
      plan.namespaces = kUserNamespace | kUtsNamespace;
      probe.act("name the host of a uts namespace");
      script.works(SYS_sethostname, {script.text("gos"), 3});
      return {};
    case Primitive::CgroupNamespace:
      plan.namespaces = kUserNamespace | kCgroupNamespace;
      probe.act("be in a cgroup namespace");
      script.works(SYS_openat, {AT_FDCWD, script.text("/proc/self/cgroup"), O_RDONLY});
      return {};
    case Primitive::Landlock:
      return prepareLandlock(probe, state);
    case Primitive::Scopes:
      return prepareScopes(probe, state);
    case Primitive::Capabilities: {
      plan.dropCapabilities = true;
      probe.act("hold no capability");
      __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
      for (size_t offset = 0; offset != 24; offset += 8) {
        ProbeScript::Argument data = script.buffer(24);
        script.word(SYS_capget, {script.bytes(&header, sizeof header), data}, data, offset, 8,
                    ~uint64_t(0), 0);
      }
      return {};
    }
    case Primitive::NoNewPrivileges:
      plan.noNewPrivileges = true;
      probe.act("give up new privileges");
      script.equals(1, SYS_prctl, {PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0});
      script.refused(SYS_prctl, {PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0}, {EINVAL});
      return {};
    case Primitive::SeccompFilter:
      if (!useFilter(plan))
        return "there is no filter for this CPU";
      probe.act("refuse a call");
      script.refused(SYS_keyctl, {0, -3, 0}, {EPERM});
      probe.act("allow a call");
      script.works(SYS_getppid, {});
      return {};
    case Primitive::Notification:
      plan.noNewPrivileges = true;
      plan.filterNotifies = true;
      plan.filter = {{0x20 /* BPF_LD | BPF_W | BPF_ABS */, 0, 0, 0},
                     {0x15 /* BPF_JMP | BPF_JEQ | BPF_K */, 0, 1, uint32_t(SYS_keyctl)},
                     {0x06 /* BPF_RET | BPF_K */, 0, 0, 0x7fc00000 /* user notification */},
                     {0x06, 0, 0, 0x7fff0000 /* allow */}};
      probe.act("be answered by a listener");
      script.refused(SYS_keyctl, {0, -3, 0}, {kAnswer});
      script.works(SYS_getppid, {});
      return {};
    case Primitive::Terminal:
      return prepareTerminal(probe, terminal);
    }
    return {};
  }

  bool useFilter(ChildPlan& plan) {
    const llvm::ArrayRef<FilterInstruction> filter =
        filterProgram({SandboxLevel::Standard, NetworkMode::None, false});
    plan.filter.assign(filter.begin(), filter.end());
    plan.noNewPrivileges = true;
    return !filter.empty();
  }

  ViewStep step(ViewStep::Kind kind, std::string path) {
    ViewStep made;
    made.kind = kind;
    made.path = std::move(path);
    return made;
  }

  void prepareView(Primitive primitive, Probe& probe) {
    ChildPlan& plan = probe.plan;
    ProbeScript& script = probe.script;
    plan.namespaces = kUserNamespace | kMountNamespace;
    plan.keepRoot = false;
    plan.command.workingDirectory = "/";
    ViewStep bind = step(ViewStep::Kind::Bind, "/granted");
    bind.source = scene_.at("read");
    bind.readOnly = primitive != Primitive::MountWatch;
    plan.view = {step(ViewStep::Kind::MakeDirectory, "/made"), bind};
    if (primitive == Primitive::MountView) {
      probe.act("read what is granted");
      script.works(SYS_openat, {AT_FDCWD, script.text("/granted/file"), O_RDONLY});
      probe.act("find what is not granted");
      script.refused(SYS_newfstatat,
                     {AT_FDCWD, text(probe, "outside"), script.buffer(sizeof(struct stat)), 0},
                     {ENOENT});
      probe.act("write to the root of a view");
      script.refused(SYS_mkdirat, {AT_FDCWD, script.text("/made/new"), 0755}, {EROFS});
      probe.act("write to a read-only bind");
      script.refused(SYS_mkdirat, {AT_FDCWD, script.text("/granted/new"), 0755}, {EROFS});
    }
    if (primitive == Primitive::MountAttributes) {
      probe.act("change a file beneath a read-only bind");
      script.refused(SYS_fchmodat, {AT_FDCWD, script.text("/granted/dir"), 0700}, {EROFS});
      tryRecursion(probe);
    }
    if (primitive == Primitive::MountWatch) {
      ViewStep cover = step(ViewStep::Kind::Cover, "/granted/file");
      cover.node = NodeKind::File;
      plan.dropCapabilities = true;
      plan.view.push_back(cover);
      probe.act("open what is covered");
      script.refused(SYS_openat, {AT_FDCWD, script.text("/granted/file"), O_RDONLY}, {EACCES});
    }
  }

  /// A bind that is not recursive leaves what is mounted beneath it as it was.
  void tryRecursion(Probe& probe) {
    struct stat devices{}, inner{};
    for (const char* name : {"shm", "pts", "mqueue"}) {
      if (::stat("/dev", &devices) != 0 ||
          ::lstat((std::string("/dev/") + name).c_str(), &inner) != 0 || !S_ISDIR(inner.st_mode) ||
          inner.st_dev == devices.st_dev)
        continue;
      ViewStep tree = step(ViewStep::Kind::Bind, "/devices");
      tree.source = "/dev";
      probe.plan.view.push_back(tree);
      probe.act("make a mount beneath a bind read-only");
      ProbeScript& script = probe.script;
      ProbeScript::Argument buffer = script.buffer(sizeof(struct statfs));
      script.word(SYS_statfs, {script.text(std::string("/devices/") + name), buffer}, buffer,
                  offsetof(struct statfs, f_flags), 8, 1, 1);
      return;
    }
  }

  void prepareProc(Probe& probe) {
    ProbeScript& script = probe.script;
    probe.plan.namespaces = kUserNamespace | kMountNamespace | kPidNamespace;
    probe.plan.keepRoot = false;
    probe.plan.command.workingDirectory = "/";
    probe.plan.view = {step(ViewStep::Kind::Proc, "/proc")};
    probe.act("read the own status");
    script.works(SYS_openat, {AT_FDCWD, script.text("/proc/self/status"), O_RDONLY});
    probe.act("write to a read-only /proc");
    ProbeScript::Argument buffer = script.buffer(sizeof(struct statfs));
    script.word(SYS_statfs, {script.text("/proc"), buffer}, buffer,
                offsetof(struct statfs, f_flags), 8, 1, 1);
    if (const pid_t self = ::getpid(); self > 4) {
      probe.act("find a process of the host");
      script.refused(SYS_newfstatat,
                     {AT_FDCWD, script.text(llvm::formatv("/proc/{0}", self).str()),
                      script.buffer(sizeof(struct stat)), 0},
                     {ENOENT});
    }
  }

  void prepareNetwork(Probe& probe) {
    ProbeScript& script = probe.script;
    probe.plan.namespaces = kUserNamespace | kNetworkNamespace;
    probe.plan.raiseLoopback = true;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    talkToItself(probe, AF_INET, script.bytes(&address, sizeof address), sizeof address);
    if (scene_.hasIpv6()) {
      sockaddr_in6 six{};
      six.sin6_family = AF_INET6;
      six.sin6_addr = in6addr_loopback;
      talkToItself(probe, AF_INET6, script.bytes(&six, sizeof six), sizeof six);
    }
    probe.act("connect to a port of the host");
    address.sin_port = htons(scene_.tcpPort());
    ProbeScript::Argument socket = script.must(SYS_socket, {AF_INET, SOCK_STREAM, 0});
    script.refused(SYS_connect, {socket, script.bytes(&address, sizeof address), sizeof address},
                   {ECONNREFUSED});
  }

  void talkToItself(Probe& probe, int family, ProbeScript::Argument address, uint32_t size) {
    ProbeScript& script = probe.script;
    probe.act(family == AF_INET ? "connect over 127.0.0.1" : "connect over ::1");
    const uint64_t length = size;
    ProbeScript::Argument sizeAt = script.bytes(&length, sizeof length);
    ProbeScript::Argument server = script.must(SYS_socket, {family, SOCK_STREAM, 0});
    script.works(SYS_bind, {server, address, size});
    script.works(SYS_listen, {server, 1});
    script.works(SYS_getsockname, {server, address, sizeAt});
    ProbeScript::Argument client = script.must(SYS_socket, {family, SOCK_STREAM, 0});
    script.works(SYS_connect, {client, address, size});
    script.works(SYS_accept4, {server, 0, 0, 0});
  }

  std::string prepareLandlock(Probe& probe, PrimitiveState& state) {
    const int abi = landlockAbi(&state.error);
    if (abi == 0)
      return llvm::formatv("cannot ask for Landlock: {0} ({1})", errnoText(state.error),
                           state.error == EOPNOTSUPP ? "it was not enabled at boot"
                           : state.error == ENOSYS   ? "it is not built in, or refused"
                                                     : "it is refused");
    if (abi < kLandlockLeastAbi)
      return llvm::formatv("Landlock ABI {0} does not control {1}; {2} is needed", abi,
                           abi < 2 ? "renames between directories" : "truncation",
                           kLandlockLeastAbi);
    ProbeScript& script = probe.script;
    enter(probe, abi);
    probe.plan.landlock.rules = {{scene_.at("work"), probe.plan.landlock.handledFileSystem, false}};
    probe.act("read what is granted");
    script.works(SYS_openat, {AT_FDCWD, text(probe, "work/file"), O_RDONLY});
    probe.act("read what is not granted");
    script.refused(SYS_openat, {AT_FDCWD, text(probe, "outside/secret"), O_RDONLY}, {EACCES});
    probe.act("truncate what is not granted");
    script.refused(SYS_truncate, {text(probe, "outside/secret"), 0}, {EACCES});
    probe.act("rename between directories");
    script.works(SYS_renameat2,
                 {AT_FDCWD, text(probe, "work/a/file"), AT_FDCWD, text(probe, "work/b/file"), 0});
    script.works(SYS_renameat2,
                 {AT_FDCWD, text(probe, "work/b/file"), AT_FDCWD, text(probe, "work/a/file"), 0});
    return {};
  }

  void enter(Probe& probe, int abi) {
    LandlockPlan& landlock = probe.plan.landlock;
    landlock.enabled = true;
    landlock.abi = abi;
    landlock.handledFileSystem = landlockFileSystemRights(abi);
    probe.plan.noNewPrivileges = true;
    probe.plan.command.workingDirectory = "/";
  }

  std::string prepareScopes(Probe& probe, PrimitiveState& state) {
    const int abi = landlockAbi(&state.error);
    if (abi < 6)
      return llvm::formatv("Landlock ABI {0} has no scopes; they came with ABI 6", abi);
    ProbeScript& script = probe.script;
    enter(probe, abi);
    probe.plan.landlock.scopes = kLandlockScopeAbstract | kLandlockScopeSignal;
    sockaddr_un local{};
    local.sun_family = AF_UNIX;
    std::memcpy(local.sun_path + 1, scene_.abstractName().data(), scene_.abstractName().size());
    probe.act("connect to an abstract socket of the host");
    ProbeScript::Argument socket = script.must(SYS_socket, {AF_UNIX, SOCK_STREAM, 0});
    script.refused(SYS_connect,
                   {socket, script.bytes(&local, sizeof local),
                    offsetof(sockaddr_un, sun_path) + 1 + scene_.abstractName().size()},
                   {EPERM});
    probe.act("signal a process of the host");
    script.refused(SYS_kill, {::getpid(), 0}, {EPERM});
    return {};
  }

  std::string prepareTerminal(Probe& probe, UniqueFd& terminal) {
    if (!useFilter(probe.plan))
      return "there is no filter for this CPU";
    terminal = UniqueFd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    char name[64];
    if (!terminal)
      return {}; // a host without terminals: nothing can be pushed into one
    if (::grantpt(terminal.get()) != 0 || ::unlockpt(terminal.get()) != 0 ||
        ::ptsname_r(terminal.get(), name, sizeof name) != 0)
      return llvm::formatv("cannot make a terminal: {0}", errnoText(errno));
    probe.input = ::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (probe.input < 0)
      return {}; // made in another mount namespace
    ProbeScript& script = probe.script;
    probe.plan.command.newSession = true;
    probe.act("push text into the own terminal");
    script.attempt(SYS_ioctl, {0, TIOCSCTTY, 0});
    script.refused(SYS_ioctl, {0, TIOCSTI, script.text("x")}, {EPERM});
    script.refused(SYS_ioctl, {0, int64_t(TIOCSTI) | (int64_t(1) << 32), script.text("x")},
                   {EPERM});
    return {};
  }

  const ProofScene& scene_;
};

/// Without it nothing can be tried, and nothing is said of what would be there.
bool hasProcessFiles() {
  return ::access("/proc/self/task", F_OK) == 0;
}

std::vector<PrimitiveState> probeAll() {
  std::vector<PrimitiveState> states;
  if (!hasProcessFiles()) {
    for (const PrimitiveRow& row : kRows) {
      PrimitiveState state;
      state.primitive = row.primitive;
      state.name = row.words.str();
      state.error = errno;
      state.reason = "not tried, because /proc is not there: " + errnoText(state.error);
      state.fix = primitiveFix("/proc", state.error);
      states.push_back(std::move(state));
    }
    return states;
  }
  llvm::Expected<ProofScene> scene = ProofScene::create();
  if (!scene) {
    const std::string reason =
        "cannot make what the probes act on: " + llvm::toString(scene.takeError());
    for (const PrimitiveRow& row : kRows) {
      PrimitiveState state;
      state.primitive = row.primitive;
      state.name = row.words.str();
      state.reason = reason;
      states.push_back(std::move(state));
    }
    return states;
  }
  Prober prober(*scene);
  for (const PrimitiveRow& row : kRows)
    states.push_back(prober.probe(row));
  return states;
}

bool needs(SandboxLevel level, const PrimitiveRow& row) {
  switch (level) {
  case SandboxLevel::None:
    return false;
  case SandboxLevel::Basic:
    return row.basic;
  case SandboxLevel::Standard:
    return row.standard;
  case SandboxLevel::Strict:
    return row.strict;
  }
  return true;
}

LevelState levelState(SandboxLevel level) {
  LevelState state;
  state.level = level;
  state.available = true;
  if (level == SandboxLevel::None)
    return state;
  for (const PrimitiveState& each : primitives()) {
    const PrimitiveRow& row = kRows[size_t(each.primitive)];
    if (each.works || !needs(level, row))
      continue;
    state.available = false;
    state.blockedBy = !hasProcessFiles()       ? "/proc"
                      : each.blockedBy.empty() ? each.name
                                               : each.blockedBy;
    state.reason = each.reason;
    state.fix = each.fix;
    return state;
  }
  llvm::Expected<ProvenLevel> proven = proveOnce(level);
  if (!proven) {
    state.available = false;
    state.blockedBy = "self-proof";
    llvm::handleAllErrors(
        proven.takeError(),
        [&](const Unavailable& missing) {
          state.blockedBy = missing.primitive().str();
          state.reason = missing.text().str();
          state.fix = missing.fix().str();
        },
        [&](const llvm::ErrorInfoBase& other) { state.reason = other.message(); });
    return state;
  }
  for (const PrimitiveState& each : primitives()) {
    const PrimitiveRow& row = kRows[size_t(each.primitive)];
    const bool extra =
        hasFileSystemPolicy(level) && proven->pidNamespace &&
        (each.primitive == Primitive::PidNamespace || each.primitive == Primitive::OwnProc);
    const bool scopes = hasFileSystemPolicy(level) && each.primitive == Primitive::Scopes;
    // Only the proof of single locks needs it then.
    const bool instead = each.primitive == Primitive::Subreaper && proven->pidNamespace &&
                         hasFileSystemPolicy(level);
    if (each.works && !instead && (needs(level, row) || extra || scopes))
      state.mechanisms.push_back(row.gives.str());
  }
  return state;
}

} // namespace

bool needs(SandboxLevel level, Primitive primitive) {
  return needs(level, kRows[size_t(primitive)]);
}

const std::vector<PrimitiveState>& primitives() {
  static std::once_flag once;
  static const std::vector<PrimitiveState>* states = nullptr;
  std::call_once(once, [] { states = new std::vector<PrimitiveState>(probeAll()); });
  return *states;
}

std::vector<LevelState> levels() {
  std::vector<LevelState> all;
  for (SandboxLevel level :
       {SandboxLevel::None, SandboxLevel::Basic, SandboxLevel::Standard, SandboxLevel::Strict})
    all.push_back(levelState(level));
  return all;
}

} // namespace gos::sandbox
