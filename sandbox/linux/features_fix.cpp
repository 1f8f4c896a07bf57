// From the errno of a step and from what a host shows to one sentence on what to do. It only
// explains: whether something works is found out by doing it (builds.md 4.3, 4.4).

#include "sandbox/linux/features.h"

#include "sandbox/sys_error.h"
#include "sandbox/unique_fd.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gos::sandbox {

namespace {

class ThisHost final : public HostHints {
public:
  std::string file(llvm::StringRef path) const override {
    UniqueFd fd(::open(path.str().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    char buffer[8192];
    const ssize_t got =
        fd ? retryInterrupted([&] { return ::read(fd.get(), buffer, sizeof buffer); }) : -1;
    return got < 0 ? std::string() : llvm::StringRef(buffer, size_t(got)).rtrim("\n").str();
  }
  bool exists(llvm::StringRef path) const override {
    struct stat status{};
    return ::lstat(path.str().c_str(), &status) == 0;
  }
  bool isRoot() const override { return ::geteuid() == 0; }
};

/// A field of /proc/self/status.
std::string statusField(const HostHints& hints, llvm::StringRef name) {
  const std::string text = hints.file("/proc/self/status");
  for (llvm::StringRef line : llvm::split(text, '\n'))
    if (line.consume_front(name) && line.consume_front(":"))
      return line.trim().str();
  return {};
}

bool isFiltered(const HostHints& hints) {
  return statusField(hints, "Seccomp") == "2";
}

/// docker-default and its like; our own and unconfined ones are none.
std::string appArmorProfile(const HostHints& hints) {
  std::string text = hints.file("/proc/self/attr/apparmor/current");
  if (text.empty())
    text = hints.file("/proc/self/attr/current");
  const llvm::StringRef name = llvm::StringRef(text).split(' ').first;
  return llvm::StringRef(text).contains("(enforce)") ? name.str() : std::string();
}

/// The name of the container that this process is in, as far as it shows.
llvm::StringRef container(const HostHints& hints) {
  if (hints.exists("/run/.containerenv"))
    return "Podman";
  if (hints.exists("/.dockerenv"))
    return "Docker";
  if (hints.exists("/var/run/secrets/kubernetes.io"))
    return "Kubernetes";
  if (!hints.file("/run/systemd/container").empty())
    return "the container manager";
  return {};
}

/// A namespace as its limit is called: of `pid namespace` that is `max_pid_namespaces`.
llvm::StringRef limitName(llvm::StringRef primitive) {
  if (primitive == "mount view")
    return "mnt";
  const auto [name, rest] = primitive.split(' ');
  return rest != "namespace" ? llvm::StringRef() : name == "network" ? "net" : name;
}

/// The limit that is 0; the primitive's own first.
std::string zeroLimit(const HostHints& hints, llvm::StringRef primitive) {
  for (llvm::StringRef name :
       {limitName(primitive), llvm::StringRef("user"), llvm::StringRef("mnt"),
        llvm::StringRef("net"), llvm::StringRef("pid"), llvm::StringRef("ipc"),
        llvm::StringRef("uts"), llvm::StringRef("cgroup")}) {
    const std::string limit = llvm::formatv("max_{0}_namespaces", name);
    if (!name.empty() && hints.file("/proc/sys/user/" + limit) == "0")
      return "user." + limit;
  }
  return {};
}

std::string openContainer(llvm::StringRef name, llvm::StringRef instead = "basic") {
  if (name == "Kubernetes")
    return llvm::formatv(
        "this runs in Kubernetes, which refuses it: set `seccompProfile: Unconfined`, "
        "`appArmorProfile: Unconfined` and `procMount: Unmasked` for the container "
        "(this weakens it), or use level `{0}`",
        instead);
  if (name == "the container manager")
    return llvm::formatv("the container around this refuses it: let it allow nested namespaces and "
                         "mounts (this weakens it), or use level `{0}`",
                         instead);
  return llvm::formatv(
      "this runs in {0}, which refuses it: start the container with `--security-opt "
      "seccomp=unconfined --security-opt {1} --security-opt {2}` (this weakens it), "
      "or use level `{3}`",
      name, name == "Podman" ? "label=disable" : "apparmor=unconfined",
      name == "Podman" ? "unmask=ALL" : "systempaths=unconfined", instead);
}

/// What keeps namespaces and mounts away, whichever of their steps it was.
std::string namespaceFix(int error, const HostHints& hints, llvm::StringRef primitive) {
  const bool isMount = primitive == "mount view";
  const std::string limit = zeroLimit(hints, primitive);
  if (error == ENOSPC || error == EUSERS) {
    if (!limit.empty())
      return llvm::formatv("`sysctl {0}` is 0: set it to 15000", limit);
    const llvm::StringRef name = limitName(primitive);
    return llvm::formatv("a limit on namespaces is reached: raise the `sysctl "
                         "user.max_{0}_namespaces`, or nest fewer than 32 sandboxes",
                         name.empty() || name == "user" ? "*" : name);
  }
  if (const llvm::StringRef name = limitName(primitive);
      !name.empty() && (error == EINVAL || error == ENOSYS)) {
    const std::string file = ("/proc/self/ns/" + name).str();
    if (hints.file(file).empty() && !hints.exists(file))
      return llvm::formatv("use a kernel with {0}", name == "cgroup" ? "CONFIG_CGROUPS"
                                                    : name == "mnt"
                                                        ? "mount namespaces"
                                                        : "CONFIG_" + name.upper() + "_NS");
  }
  if (!limit.empty())
    return llvm::formatv("`sysctl {0}` is 0: set it to 15000", limit);
  if (hints.file("/proc/sys/kernel/unprivileged_userns_clone") == "0" && !hints.isRoot())
    return "`sysctl kernel.unprivileged_userns_clone` is 0: set it to 1";
  if (hints.file("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1" &&
      !hints.isRoot())
    return "AppArmor restricts user namespaces here: install a profile with `userns,` for the path "
           "of "
           "this program, or set `sysctl kernel.apparmor_restrict_unprivileged_userns=0`";
  // Namespaces are given and mounts are not, by no filter and no profile: so it is inside Landlock.
  if (isMount && error == EPERM && !isFiltered(hints) && appArmorProfile(hints).empty() &&
      hints.file("/sys/fs/selinux/enforce") != "1")
    return "nothing can be mounted inside a Landlock layer, and another sandbox seems to have made "
           "one around this process: start it outside of that, or use level `basic`";
  if (const llvm::StringRef name = container(hints); !name.empty())
    return openContainer(name);
  if (isFiltered(hints))
    return llvm::formatv(
        "{0} refused by the surrounding sandbox: its system call filter would have to allow "
        "`clone` and `unshare` with namespaces, `mount` and `pivot_root`; or use level `{1}`",
        limitName(primitive).empty() || isMount ? "mounts of a view are"
                                                : (primitive + "s are").str(),
        primitive == "pid namespace" || primitive == "uts namespace" ||
                primitive == "cgroup namespace"
            ? "standard"
            : "basic");
  if (const std::string profile = appArmorProfile(hints); !profile.empty())
    return llvm::formatv(
        "the AppArmor profile `{0}` confines this process: let it allow `userns,` and "
        "`mount,`, or use level `basic`",
        profile);
  if (hints.file("/sys/fs/selinux/enforce") == "1")
    return "SELinux may refuse it: look for `user_namespace create` in the audit log and allow it "
           "with "
           "a policy module";
  return {};
}

std::string landlockFix(int error, const HostHints& hints) {
  if (error == EOPNOTSUPP) {
    const std::string modules = hints.file("/sys/kernel/security/lsm");
    return llvm::formatv("Landlock is built into this kernel and not enabled: boot it with "
                         "`lsm=landlock,{0}`",
                         modules.empty() ? "..." : modules);
  }
  if (error == ENOSYS || error == EPERM) {
    if (const llvm::StringRef name = container(hints); !name.empty() && isFiltered(hints))
      return llvm::formatv(
          "update {0} so that its system call filter knows Landlock, or use a kernel "
          "with CONFIG_SECURITY_LANDLOCK",
          name);
    if (isFiltered(hints))
      return "the surrounding sandbox may refuse the Landlock calls: let its filter allow them, or "
             "use "
             "a kernel with CONFIG_SECURITY_LANDLOCK (Linux 6.2 or newer)";
    return "use a kernel with CONFIG_SECURITY_LANDLOCK, Linux 6.2 or newer";
  }
  if (error == E2BIG)
    return "this process is inside 16 Landlock layers, and the kernel allows no more: nest fewer "
           "sandboxes";
  return {};
}

} // namespace

const HostHints& hostHints() {
  static const ThisHost* const host = new ThisHost;
  return *host;
}

std::string primitiveFix(llvm::StringRef primitive, int error) {
  return primitiveFix(primitive, error, hostHints());
}

std::string primitiveFix(llvm::StringRef primitive, int error, const HostHints& hints) {
  struct Row {
    Primitive primitive;
    llvm::StringRef words, fix;
  };
  static constexpr Row kRows[] = {
#define GOS_PRIMITIVE(name, words, basic, standard, strict, gives, fix)                            \
  {Primitive::name, words, fix},
#include "sandbox/linux/primitives.def"
  };
  if (primitive == "/proc")
    return "nothing is mounted at /proc here: mount -t proc proc /proc";
  for (const Row& row : kRows) {
    if (row.words != primitive)
      continue;
    std::string found;
    switch (row.primitive) {
    case Primitive::UserNamespace:
    case Primitive::PidNamespace:
    case Primitive::MountView:
    case Primitive::NetworkNamespace:
    case Primitive::IpcNamespace:
    case Primitive::UtsNamespace:
    case Primitive::CgroupNamespace:
      found = namespaceFix(error, hints, primitive);
      break;
    case Primitive::MountAttributes:
      if (error != ENOSYS)
        found = namespaceFix(error, hints, primitive);
      break;
    case Primitive::OwnProc:
      if (const llvm::StringRef name = container(hints); !name.empty())
        found = "/proc is masked: " + openContainer(name, "standard");
      else
        found =
            "/proc is masked by the container or sandbox around this: let it unmask /proc, or use "
            "level `standard`";
      break;
    case Primitive::Landlock:
    case Primitive::Scopes:
      found = landlockFix(error, hints);
      break;
    case Primitive::MemfdExecution:
      if (hints.file("/proc/sys/vm/memfd_noexec") == "2")
        found = "`sysctl vm.memfd_noexec` is 2: set it to 1 or 0";
      else if (isFiltered(hints))
        found =
            "the surrounding sandbox refuses it: let its filter allow `memfd_create`, `execveat` "
            "and `close_range`";
      break;
    case Primitive::PidFd:
    case Primitive::Subreaper:
    case Primitive::MountWatch:
    case Primitive::Capabilities:
    case Primitive::NoNewPrivileges:
      break;
    case Primitive::SeccompFilter:
    case Primitive::Notification:
    case Primitive::Terminal:
      if (isFiltered(hints))
        found = "the surrounding sandbox refuses it: let its filter allow the call `seccomp`";
      break;
    }
    return found.empty() ? row.fix.str() : found;
  }
  return {};
}

std::vector<std::string> hostNotes(const HostHints& hints) {
  struct Setting {
    const char* path;
    const char* name;
    const char* values[4]; // what each value means; null: nothing to say
  };
  static constexpr Setting kSettings[] = {
      {"/proc/sys/kernel/yama/ptrace_scope",
       "kernel.yama.ptrace_scope",
       {nullptr, "debuggers see only their own children", "debuggers need a capability",
        "no process can be traced"}},
      {"/proc/sys/kernel/io_uring_disabled",
       "kernel.io_uring_disabled",
       {"io_uring is refused inside all the same", "io_uring needs a group",
        "io_uring is off for everyone", nullptr}},
      {"/proc/sys/dev/tty/legacy_tiocsti",
       "dev.tty.legacy_tiocsti",
       {nullptr, "text can be pushed into terminals outside of a sandbox", nullptr, nullptr}},
      {"/proc/sys/vm/memfd_noexec",
       "vm.memfd_noexec",
       {nullptr, "files in memory are not executable unless asked for",
        "files in memory are never executable", nullptr}},
      {"/proc/sys/fs/protected_symlinks",
       "fs.protected_symlinks",
       {"links in shared directories are followed for everyone", nullptr, nullptr, nullptr}},
      {"/proc/sys/fs/protected_hardlinks",
       "fs.protected_hardlinks",
       {"files of others can be linked to", nullptr, nullptr, nullptr}},
  };
  std::vector<std::string> notes;
  for (const Setting& setting : kSettings) {
    unsigned value = 0;
    if (llvm::StringRef(hints.file(setting.path)).getAsInteger(10, value) || value > 3 ||
        setting.values[value] == nullptr)
      continue;
    notes.push_back(llvm::formatv("`{0}` is {1}: {2}", setting.name, value, setting.values[value]));
  }
  if (const llvm::StringRef name = container(hints); !name.empty())
    notes.push_back(llvm::formatv("this runs inside a container ({0})", name));
  if (isFiltered(hints))
    notes.push_back("this process is under a system call filter already");
  if (hints.isRoot())
    notes.push_back(
        "this runs as root: inside a sandbox every id is mapped to itself and no capability "
        "is left");
  return notes;
}

} // namespace gos::sandbox
