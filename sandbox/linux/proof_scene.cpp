#include "sandbox/linux/proof_scene.h"

#include "sandbox/sys_error.h"

#include "llvm/ADT/StringExtras.h"

#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace gos::sandbox {

namespace {

/// Binds to a free port that no kernel hands out by itself (32768 and above): in a network of its
/// own a connection that is given the very port that it asks for would reach itself.
bool bindBelowEphemeral(int socket, sockaddr_in& address) {
  for (int again = 0; again != 64; ++again) {
    uint16_t random = 0;
    if (::getrandom(&random, sizeof random, 0) != ssize_t(sizeof random))
      return false;
    address.sin_port = htons(uint16_t(16384 + random % 16384));
    if (::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0)
      return true;
    if (errno != EADDRINUSE && errno != EACCES)
      return false;
  }
  return false;
}

llvm::Error makeDirectory(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) != 0)
    return sysError("mkdir", path, errno);
  return llvm::Error::success();
}
llvm::Error makeFile(const std::string& path, mode_t mode = 0644) {
  UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!file || ::write(file.get(), "canary\n", 7) != 7)
    return sysError("open", path, errno);
  return llvm::Error::success();
}

UniqueFd localListener(const sockaddr_un& address, socklen_t size) {
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket && (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
                 ::listen(socket.get(), 16) != 0))
    socket.reset();
  return socket;
}

} // namespace

ProofScene::ProofScene(ProofScene&& other) noexcept
    : fixture_(std::move(other.fixture_)), temporary_(std::move(other.temporary_)),
      tcp_(std::move(other.tcp_)), abstract_(std::move(other.abstract_)),
      socket_(std::move(other.socket_)), abstractName_(std::move(other.abstractName_)),
      tcpPort_(other.tcpPort_), sharedMemoryKey_(other.sharedMemoryKey_),
      sharedMemory_(std::exchange(other.sharedMemory_, -1)), hasIpv6_(other.hasIpv6_) {}

ProofScene::~ProofScene() {
  if (sharedMemory_ >= 0)
    ::shmctl(sharedMemory_, IPC_RMID, nullptr);
}

llvm::Expected<ProofScene> ProofScene::create(bool outside) {
  ProofScene scene;
  for (TemporaryDirectory* each : {&scene.fixture_, &scene.temporary_}) {
    llvm::Expected<TemporaryDirectory> made = TemporaryDirectory::create();
    if (!made)
      return made.takeError();
    *each = std::move(*made);
  }
  if (llvm::Error error = scene.makeTree())
    return error;
  if (outside)
    if (llvm::Error error = scene.makeOutside())
      return error;
  return scene;
}

llvm::Error ProofScene::makeTree() {
  for (const char* name :
       {"work", "work/a", "work/b", "work/sub", "work/sub/held", "work/sub/held/dir", "work/hole",
        "read", "read/dir", "outside", "outside/dir"})
    if (llvm::Error error = makeDirectory(at(name)))
      return error;
  for (const char* name : {"work/file", "work/a/file", "work/sub/held/file", "work/hole/secret",
                           "work/hole-file", "read/file", "outside/secret"})
    if (llvm::Error error = makeFile(at(name)))
      return error;
  return makeFile(at("outside/program"), 0755);
}

llvm::Error ProofScene::makeOutside() {
  tcp_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (!tcp_ || !bindBelowEphemeral(tcp_.get(), address) || ::listen(tcp_.get(), 16) != 0 ||
      ::getsockname(tcp_.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return sysError("listen", "", errno);
  tcpPort_ = ntohs(address.sin_port);

  uint64_t random[2];
  if (::getrandom(random, sizeof random, 0) != ssize_t(sizeof random))
    return sysError("getrandom", "", errno);
  abstractName_ = "bwr-proof-" + llvm::utohexstr(random[0]);
  sockaddr_un local{};
  local.sun_family = AF_UNIX;
  std::memcpy(local.sun_path + 1, abstractName_.data(), abstractName_.size());
  abstract_ =
      localListener(local, socklen_t(offsetof(sockaddr_un, sun_path) + 1 + abstractName_.size()));
  if (!abstract_)
    return sysError("listen", "", errno);
  const std::string path = at("outside/socket");
  sockaddr_un named{};
  named.sun_family = AF_UNIX;
  if (path.size() >= sizeof named.sun_path)
    return sysError("bind", path, ENAMETOOLONG);
  std::memcpy(named.sun_path, path.data(), path.size());
  socket_ = localListener(named, sizeof named);
  if (!socket_)
    return sysError("listen", path, errno);

  sharedMemoryKey_ = int(random[1] & 0x7fffffff) | 1;
  sharedMemory_ = ::shmget(sharedMemoryKey_, 4096, IPC_CREAT | IPC_EXCL | 0600);
  if (sharedMemory_ < 0)
    sharedMemoryKey_ = 0; // the host has none, so there is nothing to reach

  UniqueFd six(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 loopback{};
  loopback.sin6_family = AF_INET6;
  loopback.sin6_addr = in6addr_loopback;
  hasIpv6_ = six && ::bind(six.get(), reinterpret_cast<sockaddr*>(&loopback), sizeof loopback) == 0;
  return llvm::Error::success();
}

Policy ProofScene::policy(SandboxLevel level, NetworkMode network) const {
  Policy policy = Policy().withLevel(level).withNetwork(network).withTemp(TempMode::Private);
  if (!hasFileSystemPolicy(level))
    return policy.withNetwork(NetworkMode::Open);
  return policy.readWrite(at("work"), Origin::User)
      .readOnly(at("work/sub/held"), Origin::User)
      .readOnly(at("read"), Origin::User)
      .deny(at("work/hole"), Origin::User)
      .deny(at("work/hole-file"), Origin::User)
      .withWorkingDirectory(at("work"));
}

} // namespace gos::sandbox
