#pragma once
// The acts, the scene and the mutants of mutation_test.cpp, which alone includes this.

#include "sandbox/command/command_policy.h"
#include "sandbox/linux/features.h"
#include "sandbox/linux/landlock_abi.h"
#include "sandbox/linux/probe_script.h"
#include "sandbox/linux/proof_scene.h"
#include "sandbox/linux/spawn.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <grp.h>
#include <iostream>
#include <linux/capability.h>
#include <map>
#include <netinet/in.h>
#include <optional>
#include <pwd.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace gos;
using namespace gos::sandbox;

// ---- acts
// ------------------------------------------------------------------------------------------

struct ActEntry {
  std::string words;
  bool guard = false;    // it has to be refused; else it has to work
  bool anyOther = false; // of a guard: any answer but the refusal means that it got through
};

class Acts {
public:
  explicit Acts(const ProofScene& scene, const HostFacts& facts) : scene_(scene) {
    system(facts);
    granted();
    outside();
    readOnly("read");
    readOnly("work/sub/held");
    holes();
    temporary();
    network();
    processes();
    namespaces();
    kernel();
  }
  const ProbeScript& script() const { return script_; }
  const std::vector<ActEntry>& entries() const { return entries_; }

private:
  using Argument = ProbeScript::Argument;
  static constexpr int kRefusals[] = {EROFS, EACCES, EPERM, ENOENT, EBUSY, EXDEV};

  Argument at(llvm::StringRef name) {
    return script_.text(name.starts_with("/") ? name.str() : scene_.at(name));
  }
  void begin(std::string words, bool isGuard, bool anyOther = false) {
    script_.beginAct();
    entries_.push_back({std::move(words), isGuard, anyOther});
  }
  void honest(const std::string& words, long number, ProbeScript::Arguments arguments) {
    begin(words, false);
    script_.works(number, arguments);
  }
  void guard(const std::string& words, long number, ProbeScript::Arguments arguments) {
    begin(words, true);
    script_.refused(number, arguments, kRefusals);
  }
  void guard(const std::string& words, long number, ProbeScript::Arguments arguments, int error) {
    begin(words, true, /*anyOther=*/true);
    script_.refused(number, arguments, {error});
  }
  void undo(long number, ProbeScript::Arguments arguments) { script_.attempt(number, arguments); }

public:
  /// A file that is the path, or lies beneath it: one that can be read, is no program that runs,
  /// and that nobody minds to be opened. Empty if there is none.
  static std::string someFile(const std::string& path) {
    std::error_code none;
    const std::string top = path == "/usr" ? "/usr/share/doc" : path;
    const auto fits = [&](const std::filesystem::path& file) {
      struct stat status{};
      return ::lstat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
             (status.st_mode & 0444) != 0 && (::geteuid() != 0 || (status.st_mode & 0200) != 0);
    };
    if (fits(top))
      return top;
    if (!std::filesystem::is_directory(top, none) || std::filesystem::is_symlink(top, none))
      return {};
    for (auto entry = std::filesystem::recursive_directory_iterator(top, none);
         entry != std::filesystem::recursive_directory_iterator(); entry.increment(none))
      if (!none && entry.depth() <= 6 && fits(entry->path()))
        return entry->path().string();
    return {};
  }

private:
  // ---- what every command needs

  void system(const HostFacts& facts) {
    std::vector<std::string> paths = facts.basePaths;
    // Of the control groups a command may see its own alone, and then by mounts of their own.
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator("/sys/fs/cgroup", none))
      if (entry.is_directory(none) && !entry.is_symlink(none))
        paths.push_back(entry.path().string());
    for (const std::string& path : paths) {
      if (const std::string file = someFile(path); !file.empty()) {
        honest("read " + file + " (" + path + ")", SYS_openat,
               {AT_FDCWD, at(file), O_RDONLY | O_CLOEXEC});
        guard("write " + file + " (" + path + ")", SYS_openat,
              {AT_FDCWD, at(file), O_WRONLY | O_CLOEXEC});
      }
      honest("look at " + path, SYS_newfstatat,
             {AT_FDCWD, at(path), script_.buffer(sizeof(struct stat)), 0});
      honest("open " + path, SYS_openat, {AT_FDCWD, at(path), O_RDONLY | O_CLOEXEC});
      guard("be told that " + path + " can be written", SYS_faccessat, {AT_FDCWD, at(path), W_OK});
    }
    for (const char* path : {"/bin/sh", "/lib64/ld-linux-x86-64.so.2", "/etc/passwd", "/etc/group",
                             "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
                             "/dev/fd/0", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/ptmx",
                             "/proc/self/stat", "/dev", "/dev/pts", "/dev/shm", "/proc"})
      if (::access(path, F_OK) == 0)
        honest(std::string("open ") + path, SYS_openat,
               {AT_FDCWD, at(path),
                (llvm::StringRef(path) == "/dev/stdout" || llvm::StringRef(path) == "/dev/stderr"
                     ? O_WRONLY
                     : O_RDONLY) |
                    O_CLOEXEC | O_NOCTTY | O_NONBLOCK});
    for (const char* path : {"/dev/null", "/dev/zero", "/dev/full"})
      honest(std::string("write to ") + path, SYS_openat,
             {AT_FDCWD, at(path), O_WRONLY | O_CLOEXEC});
    if (::access("/dev/tty", F_OK) == 0)
      honest("look at /dev/tty", SYS_newfstatat,
             {AT_FDCWD, at("/dev/tty"), script_.buffer(sizeof(struct stat)), 0});
    for (const char* link : {"/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr"})
      honest(std::string("read the link ") + link, SYS_readlinkat,
             {AT_FDCWD, at(link), script_.buffer(64), 64});
    // Where no lock stands it is made outside, where another run of these acts may be.
    const std::string own = "/gos-act-" + std::to_string(::getpid());
    for (const char* directory : {"/dev/shm", "/tmp", "/var/tmp"}) {
      const std::string name = directory + own;
      honest(std::string("make a file in ") + directory, SYS_openat,
             {AT_FDCWD, at(name), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600});
      undo(SYS_unlinkat, {AT_FDCWD, at(name), 0});
    }
    honest("ask a terminal for its kind", SYS_readlinkat,
           {AT_FDCWD, at("/proc/self/exe"), script_.buffer(256), 256});
    for (const char* name : {"/proc/kcore", "/proc/keys", "/proc/kmsg", "/proc/timer_list"})
      if (::access(name, F_OK) == 0) {
        begin(std::string("read ") + name, false);
        Argument fd =
            script_.works(SYS_openat, {AT_FDCWD, at(name), O_RDONLY | O_CLOEXEC | O_NONBLOCK});
        script_.equals(0, SYS_read, {fd, script_.buffer(16), 16});
      }
    if (::geteuid() == 0)
      guard("be told that /proc/sys/kernel/panic can be written", SYS_faccessat,
            {AT_FDCWD, at("/proc/sys/kernel/panic"), W_OK});
    guard("write /proc/self/comm", SYS_openat,
          {AT_FDCWD, at("/proc/self/comm"), O_WRONLY | O_CLOEXEC});
    guard("make a directory at /", SYS_mkdirat, {AT_FDCWD, at(own), 0755});
    undo(SYS_unlinkat, {AT_FDCWD, at(own), AT_REMOVEDIR});
  }

  /// Each right by an act that needs it, on a file or a directory of the scene.
  void granted() {
    honest("read work/file", SYS_openat, {AT_FDCWD, at("work/file"), O_RDONLY | O_CLOEXEC});
    honest("write work/file", SYS_openat, {AT_FDCWD, at("work/file"), O_WRONLY | O_CLOEXEC});
    honest("truncate work/file", SYS_truncate, {at("work/file"), 7});
    honest("list work", SYS_openat, {AT_FDCWD, at("work"), O_RDONLY | O_DIRECTORY | O_CLOEXEC});
    honest("rename between directories", SYS_renameat2,
           {AT_FDCWD, at("work/a/file"), AT_FDCWD, at("work/b/file"), 0});
    undo(SYS_renameat2, {AT_FDCWD, at("work/b/file"), AT_FDCWD, at("work/a/file"), 0});
    for (auto [words, mode] :
         {std::pair{"file", S_IFREG}, {"socket", S_IFSOCK}, {"pipe", S_IFIFO}}) {
      begin(std::string("make and remove a ") + words, false);
      script_.works(SYS_mknodat, {AT_FDCWD, at("work/new"), mode | 0600, 0});
      script_.works(SYS_unlinkat, {AT_FDCWD, at("work/new"), 0});
    }
    begin("make and remove a directory", false);
    script_.works(SYS_mkdirat, {AT_FDCWD, at("work/new"), 0755});
    script_.works(SYS_unlinkat, {AT_FDCWD, at("work/new"), AT_REMOVEDIR});
    begin("make and remove a link", false);
    script_.works(SYS_symlinkat, {at("/"), AT_FDCWD, at("work/new")});
    script_.works(SYS_unlinkat, {AT_FDCWD, at("work/new"), 0});
    // A file that no kernel can execute: that is what it answers once the file may be executed.
    for (const char* program : {"work/program", "read/program"}) {
      begin(std::string("execute ") + program, false);
      script_.refused(SYS_execve, {at(program), script_.buffer(16), script_.buffer(16)}, {ENOEXEC});
    }
    honest("read read/file", SYS_openat, {AT_FDCWD, at("read/file"), O_RDONLY | O_CLOEXEC});
    honest("list read/dir", SYS_openat,
           {AT_FDCWD, at("read/dir"), O_RDONLY | O_DIRECTORY | O_CLOEXEC});
    honest("read work/sub/held/file", SYS_openat,
           {AT_FDCWD, at("work/sub/held/file"), O_RDONLY | O_CLOEXEC});
    honest("make a file beside what is narrower", SYS_openat,
           {AT_FDCWD, at("work/sub/new"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600});
    undo(SYS_unlinkat, {AT_FDCWD, at("work/sub/new"), 0});
    honest("make a file in a directory that leads to a hole", SYS_openat,
           {AT_FDCWD, at("work/deep/new"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600});
    undo(SYS_unlinkat, {AT_FDCWD, at("work/deep/new"), 0});
    honest("make a file beside a hole", SYS_openat,
           {AT_FDCWD, at("work/deep/er/new"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600});
    undo(SYS_unlinkat, {AT_FDCWD, at("work/deep/er/new"), 0});
    begin("make a device", true);
    script_.refused(SYS_mknodat, {AT_FDCWD, at("work/new"), S_IFCHR | 0600, 0}, kRefusals);
    undo(SYS_unlinkat, {AT_FDCWD, at("work/new"), 0});
    begin("make a block device", true);
    script_.refused(SYS_mknodat, {AT_FDCWD, at("work/new"), S_IFBLK | 0600, 0}, kRefusals);
    undo(SYS_unlinkat, {AT_FDCWD, at("work/new"), 0});
  }

  // ---- what is refused

  void changes(const std::string& base) {
    const auto name = [&](const char* rest) { return at(base + "/" + rest); };
    guard("write " + base + "/file", SYS_openat, {AT_FDCWD, name("file"), O_WRONLY | O_CLOEXEC});
    guard("truncate " + base + "/file", SYS_truncate, {name("file"), 7});
    guard("remove " + base + "/file", SYS_unlinkat, {AT_FDCWD, name("file"), 0});
    undo(SYS_mknodat, {AT_FDCWD, name("file"), S_IFREG | 0644, 0});
    undo(SYS_truncate, {name("file"), 7});
    guard("remove " + base + "/dir", SYS_unlinkat, {AT_FDCWD, name("dir"), AT_REMOVEDIR});
    undo(SYS_mkdirat, {AT_FDCWD, name("dir"), 0755});
    guard("rename " + base + "/file", SYS_renameat2,
          {AT_FDCWD, name("file"), AT_FDCWD, name("moved"), 0});
    undo(SYS_renameat2, {AT_FDCWD, name("moved"), AT_FDCWD, name("file"), 0});
    for (auto [words, mode] : {std::pair{"file", S_IFREG},
                               {"socket", S_IFSOCK},
                               {"pipe", S_IFIFO},
                               {"character device", S_IFCHR},
                               {"block device", S_IFBLK}}) {
      guard(std::string("make a ") + words + " in " + base + "/dir", SYS_mknodat,
            {AT_FDCWD, name("dir/new"), mode | 0600, 0});
      undo(SYS_unlinkat, {AT_FDCWD, name("dir/new"), 0});
    }
    guard("make a directory in " + base + "/dir", SYS_mkdirat, {AT_FDCWD, name("dir/new"), 0755});
    undo(SYS_unlinkat, {AT_FDCWD, name("dir/new"), AT_REMOVEDIR});
    guard("make a link in " + base + "/dir", SYS_symlinkat, {at("/"), AT_FDCWD, name("dir/new")});
    undo(SYS_unlinkat, {AT_FDCWD, name("dir/new"), 0});
    guard("change the mode of " + base + "/file", SYS_fchmodat, {AT_FDCWD, name("file"), 0644});
    guard("change the times of " + base + "/file", SYS_utimensat, {AT_FDCWD, name("file"), 0, 0});
    guard("set an attribute of " + base + "/file", SYS_setxattr,
          {name("file"), script_.text("user.gos"), script_.text("x"), 1, 0});
    guard("take " + base + "/file over into work", SYS_renameat2,
          {AT_FDCWD, name("file"), AT_FDCWD, at("work/moved"), 0});
    undo(SYS_renameat2, {AT_FDCWD, at("work/moved"), AT_FDCWD, name("file"), 0});
    guard("link " + base + "/file into work", SYS_linkat,
          {AT_FDCWD, name("file"), AT_FDCWD, at("work/linked"), 0});
    undo(SYS_unlinkat, {AT_FDCWD, at("work/linked"), 0});
  }

  void outside() {
    guard("look at outside/secret", SYS_newfstatat,
          {AT_FDCWD, at("outside/secret"), script_.buffer(sizeof(struct stat)), 0});
    guard("read outside/file", SYS_openat, {AT_FDCWD, at("outside/file"), O_RDONLY | O_CLOEXEC});
    guard("list outside/dir", SYS_openat,
          {AT_FDCWD, at("outside/dir"), O_RDONLY | O_DIRECTORY | O_CLOEXEC});
    begin("execute outside/program", true, true);
    script_.refused(SYS_execve, {at("outside/program"), script_.buffer(16), script_.buffer(16)},
                    {ENOENT, EACCES});
    changes("outside");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = scene_.at("outside/socket");
    std::memcpy(address.sun_path, name.data(), std::min(name.size(), sizeof address.sun_path - 1));
    begin("connect to outside/socket", true);
    Argument socket = script_.must(SYS_socket, {AF_UNIX, SOCK_STREAM, 0});
    script_.refused(SYS_connect, {socket, script_.bytes(&address, sizeof address), sizeof address},
                    kRefusals);
  }

  void readOnly(const std::string& base) { changes(base); }

  void holes() {
    for (const char* hole : {"work/hole", "work/deep/er/hole"}) {
      guard(std::string("list ") + hole, SYS_openat,
            {AT_FDCWD, at(hole), O_RDONLY | O_DIRECTORY | O_CLOEXEC});
      guard(std::string("read ") + hole + "/secret", SYS_openat,
            {AT_FDCWD, at(std::string(hole) + "/secret"), O_RDONLY | O_CLOEXEC});
      guard(std::string("open up ") + hole, SYS_fchmodat, {AT_FDCWD, at(hole), 0755});
    }
    guard("read work/hole-file", SYS_openat,
          {AT_FDCWD, at("work/hole-file"), O_RDONLY | O_CLOEXEC});
    guard("write work/hole-file", SYS_openat,
          {AT_FDCWD, at("work/hole-file"), O_WRONLY | O_CLOEXEC});
    for (const char* name : {"work/hole", "work/hole-file", "work/deep", "work/deep/er",
                             "work/deep/er/hole", "work/sub", "work/sub/held"}) {
      const std::string away = std::string(name) + "-away";
      guard(std::string("rename ") + name, SYS_renameat2,
            {AT_FDCWD, at(name), AT_FDCWD, at(away), 0});
      undo(SYS_renameat2, {AT_FDCWD, at(away), AT_FDCWD, at(name), 0});
    }
  }

  void temporary() {
    guard("find the private temp under its name outside", SYS_newfstatat,
          {AT_FDCWD, at(scene_.temporary().path()), script_.buffer(sizeof(struct stat)), 0});
  }

  void network() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(scene_.tcpPort());
    begin("connect to a port of the host", true);
    Argument socket = script_.must(SYS_socket, {AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0});
    script_.refused(SYS_connect, {socket, script_.bytes(&address, sizeof address), sizeof address},
                    {ECONNREFUSED, ENETUNREACH});
    sockaddr_un local{};
    local.sun_family = AF_UNIX;
    std::memcpy(local.sun_path + 1, scene_.abstractName().data(), scene_.abstractName().size());
    begin("connect to an abstract socket of the host", true);
    socket = script_.must(SYS_socket, {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0});
    script_.refused(SYS_connect,
                    {socket, script_.bytes(&local, sizeof local),
                     offsetof(sockaddr_un, sun_path) + 1 + scene_.abstractName().size()},
                    {ECONNREFUSED, EPERM});
    begin("talk to itself over 127.0.0.1", false);
    address.sin_port = 0;
    Argument own = script_.bytes(&address, sizeof address);
    const uint64_t length = sizeof address;
    Argument size = script_.bytes(&length, sizeof length);
    Argument server = script_.must(SYS_socket, {AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0});
    script_.works(SYS_bind, {server, own, sizeof address});
    script_.works(SYS_listen, {server, 1});
    script_.works(SYS_getsockname, {server, own, size});
    Argument client = script_.must(SYS_socket, {AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0});
    script_.works(SYS_connect, {client, own, sizeof address});
  }

  void processes() {
    const pid_t self = ::getpid();
    begin("signal a process outside", true);
    script_.refused(SYS_kill, {self, 0}, {ESRCH, EPERM});
    begin("look at a process outside", true);
    script_.refused(
        SYS_newfstatat,
        {AT_FDCWD, at("/proc/" + std::to_string(self)), script_.buffer(sizeof(struct stat)), 0},
        {ENOENT});
    begin("read the environment of a process outside", true);
    script_.refused(
        SYS_openat,
        {AT_FDCWD, at("/proc/" + std::to_string(self) + "/environ"), O_RDONLY | O_CLOEXEC},
        {ENOENT, EACCES});
    if (scene_.sharedMemoryKey() != 0) {
      begin("attach shared memory of the user", true);
      script_.refused(SYS_shmget, {scene_.sharedMemoryKey(), 0, 0}, {ENOENT});
    }
  }

  void namespaces() {
    for (const char* space : {"user", "mnt", "net", "ipc", "pid", "uts", "cgroup"}) {
      const std::string file = std::string("/proc/self/ns/") + space;
      struct stat status{};
      if (::stat(file.c_str(), &status) != 0)
        continue;
      begin(std::string("share the ") + space + " namespace", true);
      Argument buffer = script_.buffer(sizeof(struct stat));
      script_.word(SYS_newfstatat, {AT_FDCWD, at(file), buffer, 0}, buffer,
                   offsetof(struct stat, st_ino), 8, ~uint64_t(0), status.st_ino, /*differs=*/true);
    }
  }

  void kernel() {
    begin("gain a privilege by executing", true);
    script_.equals(1, SYS_prctl, {PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0});
    begin("hold a capability", true);
    __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    Argument data = script_.buffer(24);
    script_.word(SYS_capget, {script_.bytes(&header, sizeof header), data}, data, 0, 8,
                 ~uint64_t(0), 0);
    guard("set up an io_uring", 425, {8, 0}, ENOSYS);
    guard("read a keyring", SYS_keyctl, {0, -3, 0}, EPERM);
    guard("push text into a terminal", SYS_ioctl, {-1, 0x5412, 0}, EPERM);
    guard("load a program into the kernel", SYS_bpf, {9999, 0, 0}, EPERM);
    guard("open a file by its handle", SYS_open_by_handle_at, {-1, 1, 0}, EPERM);
    // The last two: what follows would be done by somebody else.
    guard("take a cover away", SYS_umount2, {at("work/hole"), MNT_DETACH}, EPERM);
    guard("make a user namespace", SYS_unshare, {0x10000000}, EPERM);
  }

  const ProofScene& scene_;
  ProbeScript script_;
  std::vector<ActEntry> entries_;
};
constexpr int Acts::kRefusals[];

// ---- plans
// -----------------------------------------------------------------------------------------

enum class Lock { All, Mounts, Landlock, Filter, Namespaces, None };
inline const char* name(Lock lock) {
  switch (lock) {
  case Lock::All:
    return "all locks";
  case Lock::Mounts:
    return "mounts alone";
  case Lock::Landlock:
    return "Landlock alone";
  case Lock::Filter:
    return "filter alone";
  case Lock::Namespaces:
    return "namespaces alone";
  case Lock::None:
    return "no lock";
  }
  return "";
}

/// The scene of the self-proof and more: a hole two directories down, programs, spare files.
struct Theatre {
  ProofScene scene;
  HostFacts facts;

  static std::optional<Theatre> create() {
    llvm::Expected<ProofScene> made = ProofScene::create();
    if (!made) {
      FAIL_CHECK(llvm::toString(made.takeError()));
      return std::nullopt;
    }
    Theatre theatre{std::move(*made), hostFacts()};
    for (const char* directory : {"work/deep", "work/deep/er", "work/deep/er/hole"})
      ::mkdir(theatre.scene.at(directory).c_str(), 0755);
    for (auto [file, mode] : {std::pair{"work/deep/er/hole/secret", 0644},
                              {"work/program", 0755},
                              {"read/program", 0755},
                              {"outside/file", 0644}}) {
      const int fd = ::open(theatre.scene.at(file).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, mode);
      CHECK(::write(fd, "canary\n", 7) == 7);
      ::close(fd);
    }
    return std::optional<Theatre>(std::move(theatre));
  }

  Policy policy(SandboxLevel level) const {
    Policy policy =
        scene.policy(level, NetworkMode::None).deny(scene.at("work/deep/er/hole"), Origin::User);
    for (const std::string& path : facts.basePaths)
      policy = policy.readOnly(path, Origin::Shipped);
    return policy;
  }

  llvm::Expected<ChildPlan> compile(SandboxLevel level, Lock lock) const {
    HostLimits limits;
    limits.landlockAbi = landlockAbi();
    limits.userId = ::geteuid();
    limits.groupId = ::getegid();
    llvm::Expected<ChildPlan> plan =
        compilePlan(policy(level), hostTree(), limits, {}, scene.temporary().path());
    if (plan)
      reduce(*plan, lock);
    return plan;
  }

  static void reduce(ChildPlan& plan, Lock lock) {
    const auto keepRoot = [&] {
      plan.keepRoot = true;
      plan.view.clear();
    };
    switch (lock) {
    case Lock::All:
      return;
    case Lock::Mounts:
      plan.landlock = {};
      plan.filter.clear();
      plan.namespaces &= kUserNamespace | kMountNamespace | kPidNamespace;
      plan.raiseLoopback = false;
      return;
    case Lock::Landlock: {
      // On the host's tree what is bound has its source's name.
      std::vector<LandlockRule> rules;
      for (const LandlockRule& rule : plan.landlock.rules)
        for (const ViewStep& step : plan.view)
          if (step.path == rule.path &&
              (step.kind == ViewStep::Kind::Bind || step.kind == ViewStep::Kind::Proc) &&
              step.source != plan.temporaryDirectory) {
            rules.push_back(rule);
            break;
          }
      rules.insert(rules.begin(), {"/", kLandlockReadDirectory, false});
      plan.landlock.rules = std::move(rules);
      keepRoot();
      plan.filter.clear();
      plan.namespaces = 0;
      plan.raiseLoopback = false;
      return;
    }
    case Lock::Filter:
      keepRoot();
      plan.landlock = {};
      plan.namespaces = 0;
      plan.raiseLoopback = false;
      return;
    case Lock::Namespaces:
      keepRoot();
      plan.landlock = {};
      plan.filter.clear();
      return;
    case Lock::None:
      keepRoot();
      plan.landlock = {};
      plan.filter.clear();
      plan.namespaces =
          kUserNamespace | kMountNamespace; // what is mounted is mounted for nobody else
      plan.raiseLoopback = false;
      plan.dropCapabilities = plan.noNewPrivileges = false;
      return;
    }
  }
};

// ---- mutants
// ---------------------------------------------------------------------------------------

enum class Effect {
  Weakens, // an act gets through that was refused, or nothing starts
  Breaks,  // an act fails that worked, or nothing starts
  Either,
};

struct Mutant {
  std::string words;
  Effect effect;
  std::function<void(ChildPlan&)> change; // of the plan as it is compiled for the lock
};

inline bool isBeneathWritable(const ChildPlan& plan, size_t index) {
  for (size_t other = 0; other != index; ++other) {
    const ViewStep& grant = plan.view[other];
    if (grant.kind == ViewStep::Kind::Bind && !grant.readOnly &&
        grant.path != plan.view[index].path && isAtOrBeneath(plan.view[index].path, grant.path) &&
        grant.source == grant.path)
      return true;
  }
  return false;
}

inline std::vector<Mutant> mutantsOf(const ChildPlan& plan) {
  std::vector<Mutant> all;
  for (size_t index = 0; index != plan.view.size(); ++index) {
    const ViewStep& step = plan.view[index];
    const std::string named = (spelling(step.kind) + " " + step.path).str();
    const bool narrows = step.kind == ViewStep::Kind::Cover ||
                         (step.kind == ViewStep::Kind::Bind && isBeneathWritable(plan, index));
    all.push_back(
        {"without " + named,
         narrows                             ? Effect::Weakens
         : step.kind == ViewStep::Kind::Mask ? Effect::Either
                                             : Effect::Breaks,
         [index](ChildPlan& each) { each.view.erase(each.view.begin() + ptrdiff_t(index)); }});
    if (step.readOnly && (step.kind == ViewStep::Kind::Bind || step.kind == ViewStep::Kind::Proc))
      all.push_back({"read-write " + named, Effect::Weakens,
                     [index](ChildPlan& each) { each.view[index].readOnly = false; }});
    if (!step.readOnly && step.kind == ViewStep::Kind::Bind && step.node != NodeKind::Device)
      all.push_back({"read-only " + named, Effect::Breaks,
                     [index](ChildPlan& each) { each.view[index].readOnly = true; }});
  }
  for (size_t index = 0; index != plan.landlock.rules.size(); ++index) {
    const LandlockRule& rule = plan.landlock.rules[index];
    all.push_back({"without the rule of " + rule.path, Effect::Breaks, [index](ChildPlan& each) {
                     each.landlock.rules.erase(each.landlock.rules.begin() + ptrdiff_t(index));
                   }});
    const bool file = (rule.rights & kLandlockReadDirectory) == 0;
    const uint64_t most =
        file ? kLandlockExecute | kLandlockReadFile | kLandlockWriteFile | kLandlockTruncate
             : ~uint64_t(0);
    if (((plan.landlock.handledFileSystem & most) & ~rule.rights) != 0)
      all.push_back({"everything by the rule of " + rule.path, Effect::Weakens,
                     [index, most](ChildPlan& each) {
                       each.landlock.rules[index].rights =
                           (each.landlock.handledFileSystem & most) |
                           each.landlock.rules[index].rights;
                     }});
  }
  if (plan.landlock.enabled) {
    struct Right {
      const char* name;
      uint64_t bit;
    };
    for (const Right& right : {
#define GOS_RIGHT(name, bit, abi) Right{#name, uint64_t(1) << bit},
#include "sandbox/rights.def"
         })
      if ((plan.landlock.handledFileSystem & right.bit) != 0)
        // What is not handled is allowed, but for this one: it is refused.
        all.push_back({std::string("right ") + right.name + " not handled",
                       right.bit == kLandlockRefer ? Effect::Breaks : Effect::Weakens,
                       [bit = right.bit](ChildPlan& each) {
                         each.landlock.handledFileSystem &= ~bit;
                         for (LandlockRule& rule : each.landlock.rules)
                           rule.rights &= ~bit;
                         llvm::erase_if(each.landlock.rules,
                                        [](const LandlockRule& rule) { return rule.rights == 0; });
                       }});
    for (const Right& scope : {Right{"abstract sockets", kLandlockScopeAbstract},
                               Right{"signals", kLandlockScopeSignal}})
      if ((plan.landlock.scopes & scope.bit) != 0)
        all.push_back({std::string("scope of ") + scope.name + " not handled", Effect::Weakens,
                       [bit = scope.bit](ChildPlan& each) { each.landlock.scopes &= ~bit; }});
    all.push_back({"no Landlock", Effect::Weakens, [](ChildPlan& each) { each.landlock = {}; }});
  }
  if (!plan.filter.empty()) {
    all.push_back({"a filter that allows everything", Effect::Weakens, [](ChildPlan& each) {
                     each.filter = {{0x06 /* BPF_RET | BPF_K */, 0, 0, 0x7fff0000 /* allow */}};
                   }});
    all.push_back({"no filter", Effect::Weakens, [](ChildPlan& each) { each.filter.clear(); }});
  }
  struct Space {
    const char* name;
    uint32_t bit;
  };
  // Only ever one of them: a view that is built neither in a mount namespace nor in a user
  // namespace of its own would be the host's.
  for (const Space& space : {Space{"user", kUserNamespace}, Space{"mount", kMountNamespace},
                             Space{"network", kNetworkNamespace}, Space{"ipc", kIpcNamespace},
                             Space{"pid", kPidNamespace}, Space{"uts", kUtsNamespace},
                             Space{"cgroup", kCgroupNamespace}})
    if ((plan.namespaces & space.bit) != 0)
      all.push_back({std::string("no ") + space.name + " namespace", Effect::Weakens,
                     [bit = space.bit](ChildPlan& each) { each.namespaces &= ~bit; }});
  if (plan.raiseLoopback)
    all.push_back(
        {"loopback down", Effect::Breaks, [](ChildPlan& each) { each.raiseLoopback = false; }});
  if (plan.dropCapabilities && plan.namespaces != 0)
    all.push_back({"capabilities kept", Effect::Weakens,
                   [](ChildPlan& each) { each.dropCapabilities = false; }});
  if (plan.noNewPrivileges)
    all.push_back({"new privileges allowed", Effect::Weakens,
                   [](ChildPlan& each) { each.noNewPrivileges = false; }});
  return all;
}

/// Mutants that change no act, with the reason: which lock stands behind it, or why there is
/// nothing to try. `words` may end in `*`.
struct Equivalent {
  Lock lock;
  const char* words;
  const char* reason;
};
const Equivalent kEquivalent[] = {
    {Lock::All, "without the rule of $S/read",
     "the scene lies in the private temp, whose rule covers it"},
    {Lock::All, "without the rule of $S/work",
     "the scene lies in the private temp, whose rule covers it"},
    {Lock::All, "without the rule of /dev/tty", "there is no terminal that could be opened"},
    {Lock::Landlock, "without the rule of /dev/tty", "there is no terminal that could be opened"},
    {Lock::All, "read-write bind /sys/fs/cgroup/*",
     "its own mode refuses a change of the directory, and Landlock of what is in it"},
    {Lock::Landlock, "everything by the rule of /dev/*",
     "a device is neither executed nor truncated"},
    {Lock::Landlock, "right Execute not handled",
     "what may not be read is not executed either, and what may be read may be executed"},
    {Lock::Landlock, "right ReadDirectory not handled",
     "the rule of the root lets every directory be listed: the view has no others"},
    {Lock::Landlock, "right MakeBlockDevice not handled",
     "a block device needs a capability, and there is none"},
    {Lock::Landlock, "right DeviceControl not handled",
     "what may not be controlled is not opened either"},
    {Lock::All, "everything by the rule of *",
     "the bind is read-only, and what is not bound is not there"},
    {Lock::All, "right *",
     "the view has nothing outside the grants, and read-only binds refuse the rest"},
    {Lock::All, "scope of *", "the network and pid namespaces hold what the scopes hold"},
    {Lock::All, "no Landlock",
     "the view and the namespaces refuse each act by themselves: the inner lock is the second one"},
};

inline const Equivalent* equivalent(Lock lock, llvm::StringRef words) {
  // A rule of what has nothing in it: on this host there is nothing to try.
  static const Equivalent kEmpty = {Lock::All, "*", "the directory holds no file, or is a link"};
  if (lock == Lock::All || lock == Lock::Landlock)
    for (llvm::StringRef prefix : {"without the rule of ", "everything by the rule of "})
      if (llvm::StringRef path = words;
          path.consume_front(prefix) && path.starts_with("/") && Acts::someFile(path.str()).empty())
        return &kEmpty;
  for (const Equivalent& each : kEquivalent) {
    llvm::StringRef pattern = each.words;
    if (each.lock == lock &&
        (pattern.consume_back("*") ? words.starts_with(pattern) : words == pattern))
      return &each;
  }
  return nullptr;
}

struct Seen {
  std::vector<ProbeVerdict> verdicts;
  std::string failure; // nothing started
};

inline Seen tryPlan(const Theatre& theatre, const ChildPlan& plan, const ProbeScript& script,
                    Lock lock) {
  ProbeLaunch launch;
  TemporaryDirectory temporary;
  if (lock == Lock::All || lock == Lock::Mounts)
    launch.temporary = const_cast<TemporaryDirectory*>(&theatre.scene.temporary());
  llvm::Expected<ProbeEnd> end = launchProbe(plan, script, launch);
  if (!end)
    return {{}, llvm::toString(end.takeError())};
  return {std::move(end->verdicts), {}};
}

/// What a mutant does to the acts; empty: nothing.
struct Change {
  std::string weakened, broken; // the first act of each
  std::string failure;          // nothing starts
  bool is(Effect effect) const {
    return !failure.empty() || (effect != Effect::Breaks && !weakened.empty()) ||
           (effect != Effect::Weakens && !broken.empty());
  }
};
inline Change compare(const std::vector<ActEntry>& acts, const Seen& before, const Seen& after) {
  Change change;
  change.failure = after.failure;
  for (size_t at = 0; at != after.verdicts.size(); ++at) {
    const ProbeVerdict& now = after.verdicts[at];
    if (!before.verdicts[at].held() || now.held())
      continue;
    const bool through = now.reported && now.status == ProbeStatus::LetThrough &&
                         (now.error == 0 || acts[at].anyOther);
    if (acts[at].guard && through && change.weakened.empty())
      change.weakened = acts[at].words;
    if (!acts[at].guard && change.broken.empty())
      change.broken = acts[at].words;
  }
  return change;
}

/// A run of the plan for a lock, with one thing changed, over a fresh scene.
struct Trial {
  std::vector<ActEntry> acts;
  std::vector<Mutant> mutants; // of the unchanged plan, the scene's own directory as `$S`
  Seen seen;
};
inline std::optional<Trial> tryOnce(SandboxLevel level, Lock lock, const Mutant* mutant) {
  std::optional<Theatre> theatre = Theatre::create();
  if (!theatre)
    return std::nullopt;
  llvm::Expected<ChildPlan> plan = theatre->compile(level, lock);
  if (!plan) {
    FAIL_CHECK(llvm::toString(plan.takeError()));
    return std::nullopt;
  }
  Trial trial;
  if (mutant == nullptr) {
    trial.mutants = mutantsOf(*plan);
    const std::string top = theatre->scene.at("");
    for (Mutant& each : trial.mutants)
      if (size_t at = each.words.find(top); at != std::string::npos)
        each.words.replace(at, top.size(), "$S/");
  } else {
    mutant->change(*plan);
  }
  const Acts acts(theatre->scene, theatre->facts);
  trial.acts = acts.entries();
  trial.seen = tryPlan(*theatre, *plan, acts.script(), lock);
  return trial;
}
