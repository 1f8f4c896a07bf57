#include "sandbox/linux/proof_acts.h"

#include "sandbox/linux/landlock_abi.h"

#include "llvm/Support/FormatVariadic.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

namespace gos::sandbox {

namespace {

constexpr unsigned bit(ProofRun run) {
  return 1u << unsigned(run);
}
constexpr unsigned kWhole = bit(ProofRun::Whole), kClient = bit(ProofRun::Client),
                   kMounts = bit(ProofRun::Mounts), kLandlock = bit(ProofRun::Landlock),
                   kFilter = bit(ProofRun::Filter), kNamespaces = bit(ProofRun::Namespaces);

/// PTRACE_SEIZE with no option: it stops nobody.
constexpr int kSeize = 0x4206;
/// A signal that is only checked.
constexpr int kNoSignal = 0;
constexpr int kVsock = 40, kPacket = 17;

class ActWriter {
public:
  ActWriter(const ProofScene& scene, const ChildPlan& plan, NetworkMode network, ProofRun run)
      : scene_(scene), plan_(plan), network_(network), run_(run) {}

  ProofScript write() {
    everyLevel();
    if (hasFileSystemPolicy(plan_.level)) {
      outside();
      readOnly();
      holes();
      view();
      grants();
      network();
      processes();
      namespaces();
      capabilities();
      kernel();
    }
    return std::move(result_);
  }

private:
  bool strict() const { return plan_.level == SandboxLevel::Strict; }
  bool pidNamespace() const { return (plan_.namespaces & kPidNamespace) != 0; }
  bool alone(ProofRun run) const { return run_ == run; }
  bool hasScopes() const { return plan_.landlock.scopes != 0; }
  ProbeScript& script() { return result_.script; }

  /// Does the act belong to this run? Then the calls that follow are its.
  bool begin(Promise promise, std::string words, unsigned runs) {
    if (run_ == ProofRun::None)
      runs = (runs & kWhole) != 0 ? bit(ProofRun::None) : 0;
    if ((runs & bit(run_)) == 0)
      return false;
    script().beginAct();
    ProofAct act;
    act.promise = promise;
    act.words = std::move(words);
    act.run = run_;
    result_.acts.push_back(std::move(act));
    return true;
  }
  ProbeScript::Argument path(llvm::StringRef name) { return script().text(scene_.at(name)); }

  // ---- what every level promises
  // ------------------------------------------------------------------

  void everyLevel() {
    const unsigned each = kWhole | kClient;
    if (begin(Promise::Descriptors, "find a descriptor besides the streams", each)) {
      script().equals(0, kProbeDescriptors, {});
      for (int stream = 0; stream != 3; ++stream)
        script().works(SYS_fcntl, {stream, F_GETFD});
    }
    if (begin(Promise::Privileges, "gain privileges by executing a program", each | kFilter))
      script().equals(1, SYS_prctl, {PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0});
    if (::geteuid() != 0 && begin(Promise::Privileges, "become root", kWhole))
      script().refused(SYS_setresuid, {0, 0, 0}, {EPERM, EINVAL});
    const bool view = !plan_.keepRoot;
    const std::string temporary = view ? "/tmp" : plan_.temporaryDirectory;
    if (begin(Promise::Temporary, "use the temporary directory", kWhole)) {
      ProbeScript::Argument made = script().text(temporary + "/gos-proof");
      script().works(SYS_mkdirat, {AT_FDCWD, made, 0700});
      script().works(SYS_unlinkat, {AT_FDCWD, made, AT_REMOVEDIR});
      ProbeScript::Argument status = script().buffer(sizeof(struct stat));
      script().word(SYS_newfstatat, {AT_FDCWD, script().text(temporary), status, 0}, status,
                    offsetof(struct stat, st_mode), 4, 07777, 0700);
    }
    if (view && begin(Promise::Temporary, "find the host's temporary files", kWhole | kMounts))
      script().refused(SYS_newfstatat,
                       {AT_FDCWD, script().text(plan_.temporaryDirectory),
                        script().buffer(sizeof(struct stat)), 0},
                       {ENOENT});
    if (begin(Promise::TreeEnds, "outlive the run in a session of its own", kWhole))
      script().works(kProbeSurvivor, {});
  }

  // ---- files
  // --------------------------------------------------------------------------------------

  void outside() {
    const unsigned locks = kWhole | kClient | kMounts | kLandlock;
    const int refused = alone(ProofRun::Landlock) ? EACCES : ENOENT;
    const int errors[] = {refused};
    if (begin(Promise::Outside, "read a file", locks))
      script().refused(SYS_openat, {AT_FDCWD, path("outside/secret"), O_RDONLY}, errors);
    if (begin(Promise::Outside, "write to a file", locks))
      script().refused(SYS_openat, {AT_FDCWD, path("outside/secret"), O_WRONLY}, errors);
    if (begin(Promise::Outside, "truncate a file", locks))
      script().refused(SYS_truncate, {path("outside/secret"), 0}, errors);
    if (begin(Promise::Outside, "execute a program", locks)) {
      ProbeScript::Argument none = script().buffer(16);
      script().refused(SYS_execve, {path("outside/program"), none, none}, errors);
    }
    makeEachKind(Promise::Outside, "outside/dir/new", locks, errors);
    if (begin(Promise::Outside, "look at a file", kWhole | kClient | kMounts))
      script().refused(SYS_newfstatat,
                       {AT_FDCWD, path("outside/secret"), script().buffer(sizeof(struct stat)), 0},
                       errors);
    if (begin(Promise::Outside, "change the mode of a file", kWhole | kMounts))
      script().refused(SYS_fchmodat, {AT_FDCWD, path("outside/secret"), 0600}, errors);
    if (begin(Promise::Outside, "remove a file", locks))
      script().refused(SYS_unlinkat, {AT_FDCWD, path("outside/secret"), 0}, errors);
    if (begin(Promise::Outside, "remove a directory", locks))
      script().refused(SYS_unlinkat, {AT_FDCWD, path("outside/dir"), AT_REMOVEDIR}, errors);
    if (begin(Promise::Outside, "make a directory at `/`", kWhole | kMounts)) {
      static constexpr int kRefused[] = {EROFS, EACCES};
      ProbeScript::Argument made = script().text("/gos-proof");
      script().refused(SYS_mkdirat, {AT_FDCWD, made, 0755},
                       llvm::ArrayRef<int>(kRefused).take_front(alone(ProofRun::Mounts) ? 1 : 2));
      script().attempt(SYS_unlinkat, {AT_FDCWD, made, AT_REMOVEDIR});
    }
    if (begin(Promise::Outside, "connect to a socket by its path", kWhole | kClient | kMounts)) {
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      const std::string name = scene_.at("outside/socket");
      std::memcpy(address.sun_path, name.data(),
                  std::min(name.size(), sizeof address.sun_path - 1));
      ProbeScript::Argument socket = script().must(SYS_socket, {AF_UNIX, SOCK_STREAM, 0});
      script().refused(SYS_connect,
                       {socket, script().bytes(&address, sizeof address), sizeof address}, errors);
      script().attempt(SYS_close, {socket});
    }
  }

  /// Makes an object of every kind at a name. Character device 0:0 needs no capability.
  void makeEachKind(Promise promise, llvm::StringRef name, unsigned runs,
                    llvm::ArrayRef<int> errors) {
    struct Kind {
      const char* words;
      mode_t mode;
    };
    for (const Kind& kind : {Kind{"make a file", S_IFREG}, Kind{"make a socket", S_IFSOCK},
                             Kind{"make a pipe", S_IFIFO}, Kind{"make a character device", S_IFCHR},
                             Kind{"make a block device", S_IFBLK}})
      if (begin(promise, kind.words, runs)) {
        script().refused(SYS_mknodat, {AT_FDCWD, path(name), kind.mode | 0600, 0}, errors);
        script().attempt(SYS_unlinkat, {AT_FDCWD, path(name), 0});
      }
    if (begin(promise, "make a directory", runs)) {
      script().refused(SYS_mkdirat, {AT_FDCWD, path(name), 0755}, errors);
      script().attempt(SYS_unlinkat, {AT_FDCWD, path(name), AT_REMOVEDIR});
    }
    if (begin(promise, "make a link", runs)) {
      script().refused(SYS_symlinkat, {script().text("/"), AT_FDCWD, path(name)}, errors);
      script().attempt(SYS_unlinkat, {AT_FDCWD, path(name), 0});
    }
  }

  void readOnly() {
    const int onMounts[] = {EROFS};
    const int onBoth[] = {EROFS, EACCES};
    const int onLandlock[] = {EACCES};
    for (llvm::StringRef base : {"read", "work/sub/held"}) {
      const bool beneath = base != "read";
      const std::string where = beneath ? " beneath a read-write grant" : "";
      // Landlock adds rights up: what is narrower beneath a wider grant is the mount's alone.
      const unsigned locks = kWhole | kMounts | (beneath ? 0 : kLandlock);
      const llvm::ArrayRef<int> errors = alone(ProofRun::Mounts) ? llvm::ArrayRef<int>(onMounts)
                                         : alone(ProofRun::Landlock)
                                             ? llvm::ArrayRef<int>(onLandlock)
                                             : llvm::ArrayRef<int>(onBoth);
      const std::string file = (base + "/file").str(), directory = (base + "/dir").str(),
                        made = (base + "/new").str();
      const auto each = [&](const char* words, unsigned runs) {
        return begin(Promise::ReadOnly, words + where, runs);
      };
      if (each("write to a file", locks))
        script().refused(SYS_openat, {AT_FDCWD, path(file), O_WRONLY}, errors);
      if (each("truncate a file", locks))
        script().refused(SYS_truncate, {path(file), 0}, errors);
      if (each("create a file", locks))
        script().refused(SYS_openat, {AT_FDCWD, path(made), O_WRONLY | O_CREAT, 0600}, errors);
      if (each("remove a file", locks))
        script().refused(SYS_unlinkat, {AT_FDCWD, path(file), 0}, errors);
      if (each("remove a directory", locks))
        script().refused(SYS_unlinkat, {AT_FDCWD, path(directory), AT_REMOVEDIR}, errors);
      if (each("rename a file", locks))
        script().refused(SYS_renameat2, {AT_FDCWD, path(file), AT_FDCWD, path(made), 0}, errors);
      makeEachKind(Promise::ReadOnly, made, locks, errors);
      // What Landlock does not see.
      const unsigned mounts = kWhole | kMounts;
      if (each("change the mode of a file", mounts))
        script().refused(SYS_fchmodat, {AT_FDCWD, path(file), 0600}, onMounts);
      if (each("change the owner of a file", mounts))
        script().refused(SYS_fchownat, {AT_FDCWD, path(file), ::geteuid(), ::getegid(), 0},
                         onMounts);
      if (each("change the times of a file", mounts))
        script().refused(SYS_utimensat, {AT_FDCWD, path(file), 0, 0}, onMounts);
      if (each("change an attribute of a file", mounts))
        script().refused(SYS_setxattr,
                         {path(file), script().text("user.gos"), script().text("x"), 1, 0},
                         onMounts);
      if (each("link a file to where it could be written", mounts)) {
        script().refused(SYS_linkat, {AT_FDCWD, path(file), AT_FDCWD, path("work/linked"), 0},
                         {EXDEV});
        script().attempt(SYS_unlinkat, {AT_FDCWD, path("work/linked"), 0});
      }
    }
    // Device nodes and names that a grant of files does not bring.
    const int none[] = {EACCES};
    if (begin(Promise::Privileges, "make a character device in a grant", kWhole | kLandlock))
      script().refused(SYS_mknodat, {AT_FDCWD, path("work/device"), S_IFCHR | 0600, 0}, none);
    if (begin(Promise::Privileges, "make a block device in a grant", kWhole | kLandlock))
      script().refused(SYS_mknodat, {AT_FDCWD, path("work/device"), S_IFBLK | 0600, 0}, none);
    if (begin(Promise::Privileges, "make a node of a device of the host", kMounts))
      script().refused(SYS_mknodat, {AT_FDCWD, path("work/device"), S_IFCHR | 0600, makedev(1, 3)},
                       {EPERM, EACCES});
  }

  void holes() {
    const unsigned locks = kWhole | kClient | kMounts;
    if (begin(Promise::Holes, "list a denied directory", locks))
      script().refused(SYS_openat, {AT_FDCWD, path("work/hole"), O_RDONLY | O_DIRECTORY}, {EACCES});
    if (begin(Promise::Holes, "read a file of a denied directory", locks))
      script().refused(SYS_openat, {AT_FDCWD, path("work/hole/secret"), O_RDONLY}, {EACCES});
    if (begin(Promise::Holes, "read a denied file", locks))
      script().refused(SYS_openat, {AT_FDCWD, path("work/hole-file"), O_RDONLY}, {EACCES});
    if (begin(Promise::Holes, "write to a denied file", locks))
      script().refused(SYS_openat, {AT_FDCWD, path("work/hole-file"), O_WRONLY}, {EACCES, EROFS});
    if (begin(Promise::Holes, "open a cover for everyone", locks))
      script().refused(SYS_fchmodat, {AT_FDCWD, path("work/hole"), 0777}, {EROFS});
    if (begin(Promise::Holes, "remove a denied file", locks))
      script().refused(SYS_unlinkat, {AT_FDCWD, path("work/hole-file"), 0}, {EBUSY});
    if (begin(Promise::Holes, "take a cover away", locks))
      script().refused(SYS_umount2, {path("work/hole"), MNT_DETACH}, {EPERM});
    if (begin(Promise::Holes, "mount over a grant", locks))
      script().refused(
          SYS_mount, {script().text("gos"), path("work/a"), script().text("tmpfs"), 0, 0}, {EPERM});
  }

  // ---- the view, step by step
  // ---------------------------------------------------------------------

  void view() {
    if (begin(Promise::View, "change the root of the view", kWhole | kClient | kMounts))
      mountFlags("/", ST_RDONLY | ST_NOSUID | ST_NODEV);
    for (size_t index = 0; index != plan_.view.size(); ++index) {
      const ViewStep& step = plan_.view[index];
      if (!begin(Promise::View,
                 llvm::formatv("find `{0}` as another thing than was compiled ({1})", step.path,
                               spelling(step.kind)),
                 kWhole | kMounts))
        continue;
      tryStep(step);
      if (standsInWritable(index)) {
        // Its name must not come free: something else could be made there.
        const std::string away = step.path + "-away";
        script().refused(SYS_renameat2,
                         {AT_FDCWD, script().text(step.path), AT_FDCWD, script().text(away), 0},
                         {EBUSY});
      }
    }
  }

  static constexpr uint64_t ST_RDONLY = 1, ST_NOSUID = 2, ST_NODEV = 4;

  void mountFlags(llvm::StringRef where, uint64_t flags) {
    ProbeScript::Argument buffer = script().buffer(sizeof(struct statfs));
    script().word(SYS_statfs, {script().text(where), buffer}, buffer,
                  offsetof(struct statfs, f_flags), 8, ST_RDONLY | ST_NOSUID | ST_NODEV, flags);
  }
  void fileSystem(llvm::StringRef where, uint64_t type) {
    ProbeScript::Argument buffer = script().buffer(sizeof(struct statfs));
    script().word(SYS_statfs, {script().text(where), buffer}, buffer,
                  offsetof(struct statfs, f_type), 8, ~uint64_t(0), type);
  }
  void statusWord(llvm::StringRef where, size_t offset, unsigned bytes, uint64_t mask,
                  uint64_t value) {
    ProbeScript::Argument buffer = script().buffer(sizeof(struct stat));
    script().word(SYS_newfstatat, {AT_FDCWD, script().text(where), buffer, AT_SYMLINK_NOFOLLOW},
                  buffer, offset, bytes, mask, value);
  }
  void kindOf(llvm::StringRef where, mode_t kind) {
    statusWord(where, offsetof(struct stat, st_mode), 4, S_IFMT, kind);
  }

  void tryStep(const ViewStep& step) {
    switch (step.kind) {
    case ViewStep::Kind::MakeDirectory:
      kindOf(step.path, S_IFDIR);
      return;
    case ViewStep::Kind::MakeFile:
      kindOf(step.path, S_IFREG);
      statusWord(step.path, offsetof(struct stat, st_size), 8, ~uint64_t(0), step.text.size());
      return;
    case ViewStep::Kind::MakeLink:
      kindOf(step.path, S_IFLNK);
      statusWord(step.path, offsetof(struct stat, st_size), 8, ~uint64_t(0), step.text.size());
      return;
    case ViewStep::Kind::Bind:
      tryBind(step);
      return;
    case ViewStep::Kind::Cover:
      statusWord(step.path, offsetof(struct stat, st_mode), 4, 0777, 0);
      mountFlags(step.path, ST_RDONLY | ST_NOSUID | ST_NODEV);
      return;
    case ViewStep::Kind::Mask:
      statusWord(step.path, offsetof(struct stat, st_size), 8, ~uint64_t(0), 0);
      fileSystem(step.path, 0x01021994 /* TMPFS_MAGIC */);
      mountFlags(step.path, ST_RDONLY | ST_NOSUID | ST_NODEV);
      return;
    case ViewStep::Kind::Proc:
      fileSystem(step.path, 0x9fa0 /* PROC_SUPER_MAGIC */);
      mountFlags(step.path, ST_NOSUID | ST_NODEV | (step.readOnly ? ST_RDONLY : 0));
      return;
    case ViewStep::Kind::DevicePts:
      fileSystem(step.path, 0x1cd1 /* DEVPTS_SUPER_MAGIC */);
      mountFlags(step.path, ST_NOSUID);
      return;
    case ViewStep::Kind::SharedMemory:
      fileSystem(step.path, 0x01021994 /* TMPFS_MAGIC */);
      mountFlags(step.path, ST_NOSUID | ST_NODEV);
      return;
    }
  }

  void tryBind(const ViewStep& step) {
    struct stat status{};
    struct statfs host{};
    if (::lstat(step.source.c_str(), &status) != 0 || ::statfs(step.source.c_str(), &host) != 0) {
      script().must(SYS_getpid, {}); // gone since it was compiled: the start says so
      return;
    }
    statusWord(step.path, offsetof(struct stat, st_ino), 8, ~uint64_t(0), status.st_ino);
    statusWord(step.path, offsetof(struct stat, st_dev), 8, ~uint64_t(0), status.st_dev);
    // What the host's own mount refuses stays refused.
    const uint64_t kept = uint64_t(host.f_flags) & (ST_RDONLY | ST_NODEV);
    mountFlags(step.path,
               kept | ST_NOSUID | (step.devices ? 0 : ST_NODEV) | (step.readOnly ? ST_RDONLY : 0));
  }

  /// Does the step stand in a directory that the command may write to?
  bool standsInWritable(size_t index) const {
    const ViewStep& step = plan_.view[index];
    if (step.kind != ViewStep::Kind::Bind && step.kind != ViewStep::Kind::Cover)
      return false;
    const ViewStep* above = nullptr;
    for (size_t other = 0; other != index; ++other) {
      const ViewStep& mount = plan_.view[other];
      if ((mount.kind == ViewStep::Kind::Bind || mount.kind == ViewStep::Kind::Proc) &&
          mount.path != step.path && isAtOrBeneath(step.path, mount.path))
        above = &mount;
    }
    return above != nullptr && above->kind == ViewStep::Kind::Bind && !above->readOnly;
  }

  void grants() {
    const unsigned locks = kWhole | kClient | kLandlock;
    if (begin(Promise::Grants, "read a file that is granted", locks))
      script().works(SYS_openat, {AT_FDCWD, path("read/file"), O_RDONLY | O_CLOEXEC});
    if (begin(Promise::Grants, "write to a file that is granted", locks))
      script().works(SYS_openat, {AT_FDCWD, path("work/file"), O_WRONLY | O_TRUNC | O_CLOEXEC});
    if (begin(Promise::Grants, "create and remove a file in a grant", locks)) {
      script().works(SYS_openat,
                     {AT_FDCWD, path("work/new"), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600});
      script().works(SYS_fchmodat, {AT_FDCWD, path("work/new"), 0755});
      script().works(SYS_unlinkat, {AT_FDCWD, path("work/new"), 0});
    }
    if (begin(Promise::Grants, "rename between directories of a grant", locks))
      script().works(SYS_renameat2,
                     {AT_FDCWD, path("work/a/file"), AT_FDCWD, path("work/b/file"), 0});
    if (begin(Promise::Grants, "write to `/dev/null`", kWhole | kClient))
      script().works(SYS_openat, {AT_FDCWD, script().text("/dev/null"), O_RDWR | O_CLOEXEC});
    if (begin(Promise::Grants, "make a file in `/dev/shm`", kWhole)) {
      ProbeScript::Argument made = script().text("/dev/shm/gos-proof");
      script().works(SYS_openat, {AT_FDCWD, made, O_RDWR | O_CREAT | O_CLOEXEC, 0600});
      script().attempt(SYS_unlinkat, {AT_FDCWD, made, 0});
    }
  }

  // ---- network
  // ------------------------------------------------------------------------------------

  void network() {
    if (run_ == ProofRun::Client || network_ == NetworkMode::Client) {
      clientNetwork();
      return;
    }
    const unsigned locks = kWhole | kNamespaces;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(scene_.tcpPort());
    if (begin(Promise::Network, "connect to a TCP port of the host", locks)) {
      ProbeScript::Argument socket = script().must(SYS_socket, {AF_INET, SOCK_STREAM, 0});
      script().refused(SYS_connect,
                       {socket, script().bytes(&address, sizeof address), sizeof address},
                       {ECONNREFUSED});
    }
    if (begin(Promise::Network, "send a datagram to another host", locks)) {
      address.sin_addr.s_addr = htonl(0xc0000201); // 192.0.2.1, a network of documentation
      ProbeScript::Argument socket = script().must(SYS_socket, {AF_INET, SOCK_DGRAM, 0});
      script().refused(SYS_connect,
                       {socket, script().bytes(&address, sizeof address), sizeof address},
                       {ENETUNREACH});
    }
    if (begin(Promise::Network, "connect to an abstract local socket",
              locks | (hasScopes() ? kLandlock : 0))) {
      sockaddr_un local{};
      local.sun_family = AF_UNIX;
      std::memcpy(local.sun_path + 1, scene_.abstractName().data(), scene_.abstractName().size());
      ProbeScript::Argument socket = script().must(SYS_socket, {AF_UNIX, SOCK_STREAM, 0});
      script().refused(SYS_connect,
                       {socket, script().bytes(&local, sizeof local),
                        offsetof(sockaddr_un, sun_path) + 1 + scene_.abstractName().size()},
                       {alone(ProofRun::Landlock) ? EPERM : ECONNREFUSED});
    }
    if (begin(Promise::Loopback, "connect to itself over 127.0.0.1", locks)) {
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      address.sin_port = 0;
      talkToItself(AF_INET, script().bytes(&address, sizeof address), sizeof address);
    }
    if (scene_.hasIpv6() && begin(Promise::Loopback, "connect to itself over ::1", locks)) {
      sockaddr_in6 six{};
      six.sin6_family = AF_INET6;
      six.sin6_addr = in6addr_loopback;
      talkToItself(AF_INET6, script().bytes(&six, sizeof six), sizeof six);
    }
  }

  void talkToItself(int family, ProbeScript::Argument address, uint32_t size) {
    const uint64_t length = size;
    ProbeScript::Argument sizeAt = script().bytes(&length, sizeof length);
    ProbeScript::Argument server = script().must(SYS_socket, {family, SOCK_STREAM, 0});
    script().works(SYS_bind, {server, address, size});
    script().works(SYS_listen, {server, 1});
    script().works(SYS_getsockname, {server, address, sizeAt});
    ProbeScript::Argument client = script().must(SYS_socket, {family, SOCK_STREAM, 0});
    script().works(SYS_connect, {client, address, size});
    script().works(SYS_accept4, {server, 0, 0, 0});
  }

  void clientNetwork() {
    if (begin(Promise::Client, "listen on a local socket", kClient)) {
      sockaddr_un none{};
      none.sun_family = AF_UNIX;
      ProbeScript::Argument socket = script().must(SYS_socket, {AF_UNIX, SOCK_STREAM, 0});
      script().works(SYS_bind, {socket, script().bytes(&none, sizeof none), sizeof(sa_family_t)});
      script().refused(SYS_listen, {socket, 1}, {EPERM});
    }
    if (begin(Promise::Client, "accept a connection", kClient)) {
      script().refused(SYS_accept, {-1, 0, 0}, {EPERM});
      script().refused(SYS_accept4, {-1, 0, 0, 0}, {EPERM});
    }
    if (begin(Promise::Client, "bind a TCP port", kClient)) {
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      ProbeScript::Argument socket = script().must(SYS_socket, {AF_INET, SOCK_STREAM, 0});
      script().refused(SYS_bind, {socket, script().bytes(&address, sizeof address), sizeof address},
                       {EACCES});
    }
    if (hasScopes() && begin(Promise::Client, "connect to an abstract local socket", kClient)) {
      sockaddr_un local{};
      local.sun_family = AF_UNIX;
      std::memcpy(local.sun_path + 1, scene_.abstractName().data(), scene_.abstractName().size());
      ProbeScript::Argument socket = script().must(SYS_socket, {AF_UNIX, SOCK_STREAM, 0});
      script().refused(SYS_connect,
                       {socket, script().bytes(&local, sizeof local),
                        offsetof(sockaddr_un, sun_path) + 1 + scene_.abstractName().size()},
                       {EPERM});
    }
  }

  // ---- processes
  // ----------------------------------------------------------------------------------

  void processes() {
    const pid_t self = ::getpid();
    // Numbers as low as these exist inside as well: this process is the first of a container.
    const bool numbered = self > 4;
    const unsigned separate = pidNamespace() && numbered ? kWhole | kClient | kNamespaces : 0;
    const unsigned refused = (!pidNamespace() ? kWhole | kClient : 0) | kLandlock;
    if (begin(Promise::Processes, "signal a process", separate | (hasScopes() ? refused : 0)))
      script().refused(SYS_kill, {self, kNoSignal}, outsideProcess());
    if (begin(Promise::Processes, "trace a process", separate | refused))
      script().refused(SYS_ptrace, {kSeize, self, 0, 0}, outsideProcess());
    const std::string proc = llvm::formatv("/proc/{0}", self);
    if (numbered && begin(Promise::Processes, "read the environment of a process",
                          kWhole | kClient | kLandlock))
      script().refused(SYS_openat, {AT_FDCWD, script().text(proc + "/environ"), O_RDONLY},
                       {pidNamespace() && !alone(ProofRun::Landlock) ? ENOENT : EACCES});
    if (pidNamespace() && numbered &&
        begin(Promise::ProcessIds, "see a process", kWhole | kClient | kMounts))
      script().refused(SYS_newfstatat,
                       {AT_FDCWD, script().text(proc), script().buffer(sizeof(struct stat)), 0},
                       {ENOENT});
    if (pidNamespace() && begin(Promise::Processes, "enter the root of the first process", kWhole))
      script().refused(SYS_openat,
                       {AT_FDCWD, script().text("/proc/1/root/tmp"), O_RDONLY | O_DIRECTORY},
                       {EACCES, EPERM});
    if (scene_.sharedMemoryKey() != 0 &&
        begin(Promise::SharedMemory, "attach shared memory of the user",
              kWhole | kClient | kNamespaces))
      script().refused(SYS_shmget, {scene_.sharedMemoryKey(), 0, 0}, {ENOENT});
  }

  llvm::ArrayRef<int> outsideProcess() const {
    static constexpr int kAbsent[] = {ESRCH};
    static constexpr int kRefused[] = {EPERM};
    return pidNamespace() && !alone(ProofRun::Landlock) ? llvm::ArrayRef<int>(kAbsent)
                                                        : llvm::ArrayRef<int>(kRefused);
  }

  void namespaces() {
    struct Row {
      uint32_t bit;
      const char* name;
      Promise promise;
    };
    for (const Row& row : {Row{kUserNamespace, "user", Promise::Capabilities},
                           Row{kMountNamespace, "mnt", Promise::View},
                           Row{kNetworkNamespace, "net", Promise::Network},
                           Row{kIpcNamespace, "ipc", Promise::SharedMemory},
                           Row{kPidNamespace, "pid", Promise::ProcessIds},
                           Row{kUtsNamespace, "uts", Promise::ReducedKernel},
                           Row{kCgroupNamespace, "cgroup", Promise::ReducedKernel}}) {
      const std::string file = llvm::formatv("/proc/self/ns/{0}", row.name);
      struct stat status{};
      if ((plan_.namespaces & row.bit) == 0 || ::stat(file.c_str(), &status) != 0 ||
          !begin(row.promise, llvm::formatv("share the {0} namespace", row.name),
                 kWhole | kClient | kNamespaces))
        continue;
      ProbeScript::Argument buffer = script().buffer(sizeof(struct stat));
      script().word(SYS_newfstatat, {AT_FDCWD, script().text(file), buffer, 0}, buffer,
                    offsetof(struct stat, st_ino), 8, ~uint64_t(0), status.st_ino,
                    /*differs=*/true);
    }
    if (pidNamespace() && begin(Promise::TreeEnds, "have another parent than the first process",
                                kWhole | kNamespaces))
      script().equals(1, SYS_getppid, {});
  }

  void capabilities() {
    if (!begin(Promise::Capabilities, "hold a capability", kWhole | kClient | kMounts))
      return;
    __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    for (size_t offset = 0; offset != 24; offset += 8) {
      ProbeScript::Argument data = script().buffer(24);
      script().word(SYS_capget, {script().bytes(&header, sizeof header), data}, data, offset, 8,
                    ~uint64_t(0), 0);
    }
    script().equals(0, SYS_prctl, {PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0});
  }

  // ---- kernel interfaces
  // -------------------------------------------------------------------------- Each with arguments
  // that would fail in another way, or do nothing, if the filter let it through.

  void kernel() {
    const unsigned locks = kWhole | kClient | kFilter;
    const auto one = [&](Promise promise, const char* words, long number,
                         ProbeScript::Arguments arguments, int error) {
      if (begin(promise, words, locks))
        script().refused(number, arguments, {error});
    };
    one(Promise::Kernel, "set up an io_uring", 425, {8, 0}, ENOSYS);
    one(Promise::Kernel, "call clone3", 435, {0, 0}, ENOSYS);
    one(Promise::Kernel, "read a keyring", SYS_keyctl, {0, -3, 0}, EPERM);
    one(Promise::Kernel, "push text into a terminal", SYS_ioctl, {-1, 0x5412, 0}, EPERM);
    one(Promise::Kernel, "push text into a terminal, request with a high bit", SYS_ioctl,
        {-1, 0x5412 | (int64_t(1) << 32), 0}, EPERM);
    one(Promise::Kernel, "paste a selection into a terminal", SYS_ioctl, {-1, 0x541c, 0}, EPERM);
    one(Promise::Kernel, "make a socket of virtual machines", SYS_socket, {kVsock, SOCK_STREAM, 0},
        EAFNOSUPPORT);
    one(Promise::Kernel, "make a socket of raw packets", SYS_socket, {kPacket, SOCK_RAW, 0},
        EAFNOSUPPORT);
    one(Promise::Kernel, "load a program into the kernel", SYS_bpf, {9999, 0, 0}, EPERM);
    one(Promise::Kernel, "measure a whole CPU", SYS_perf_event_open, {0, -1, 0, -1, 0}, EPERM);
    // CLONE_FS together with a user namespace is EINVAL.
    one(Promise::Kernel, "start a process in a user namespace", SYS_clone,
        {0x10000000 | 0x200 | 17, 0, 0, 0, 0}, EPERM);
    if (strict()) {
      one(Promise::ReducedKernel, "mount", SYS_mount, {1, 1, 1, 0, 1}, EPERM);
      one(Promise::ReducedKernel, "open a mount tree", 428, {-1, 1, 0}, EPERM);
      one(Promise::ReducedKernel, "enter a namespace", SYS_setns, {-1, 0}, EPERM);
      one(Promise::ReducedKernel, "open a file by its handle", SYS_open_by_handle_at, {-1, 1, 0},
          EPERM);
      one(Promise::ReducedKernel, "switch off address randomisation", SYS_personality, {0x0040000},
          EPERM);
      one(Promise::ReducedKernel, "handle page faults", SYS_userfaultfd, {0x7f000001}, EPERM);
      one(Promise::ReducedKernel, "take a descriptor of a process", 438, {-1, 0, 0}, EPERM);
      one(Promise::ReducedKernel, "call what the table does not know", 9999, {}, ENOSYS);
      one(Promise::ReducedKernel, "make namespaces", SYS_unshare, {0x04000000}, EPERM);
    }
    // The last one: if it is let through, what comes after it is done by somebody else.
    one(Promise::Kernel, "make a user namespace", SYS_unshare, {0x10000000}, EPERM);
  }

  const ProofScene& scene_;
  const ChildPlan& plan_;
  const NetworkMode network_;
  const ProofRun run_;
  ProofScript result_;
};

} // namespace

ProofScript proofActs(const ProofScene& scene, const ChildPlan& plan, NetworkMode network,
                      ProofRun run) {
  return ActWriter(scene, plan, network, run).write();
}

} // namespace gos::sandbox
