#include "sandbox/linux/notify.h"

#include "sandbox/sys_error.h"
#include "sandbox/unique_fd.h"
#include "sandbox/vfork_call.h"

#include "llvm/ADT/StringMap.h"

#include <array>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS // Linux 6.6
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

namespace gos::sandbox {

namespace {

constexpr CallPath kCallPaths[] = {
#define GOS_CALL_PATH(call, act, directory, path, flags)                                           \
  {#call, PathAct::act, directory, path, flags},
#include "sandbox/linux/call_paths.def"
};

constexpr size_t kMostPathBytes = 4096; // PATH_MAX: no longer name is a name
constexpr uint64_t kAtNoFollow = 0x100, kAtFollow = 0x400, kAtEmptyPath = 0x1000;
/// PIDFD_THREAD: the caller may be any thread of its process.
constexpr unsigned kPidFdThread = O_EXCL;

/// Bytes of the caller's memory, as many as there are; -1 if there are none.
ssize_t readMemory(uint32_t process, uint64_t address, char* into, size_t size) {
  iovec local{into, size};
  iovec remote{reinterpret_cast<void*>(address), size};
  const ssize_t got = ::process_vm_readv(pid_t(process), &local, 1, &remote, 1, 0);
  if (got >= 0 || (errno != ENOSYS && errno != EPERM))
    return got;
  // A filter around us that knows one way to memory and not the other.
  UniqueFd memory(
      ::open(("/proc/" + std::to_string(process) + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
  return memory ? ::pread(memory.get(), into, size, off_t(address)) : -1;
}

/// A text of the caller up to its NUL. Read page by page: what follows the page that a name ends on
/// may not be there. False if it cannot be read or is too long to be a name.
bool readText(uint32_t process, uint64_t address, std::string& text) {
  constexpr uint64_t kPage = 4096;
  std::array<char, kMostPathBytes> buffer;
  size_t done = 0;
  while (done < buffer.size()) {
    const uint64_t at = address + done;
    // Most names are short.
    const size_t most = std::min<size_t>(done == 0 ? 256 : kPage, buffer.size() - done);
    const size_t wanted = std::min<uint64_t>(kPage - at % kPage, most);
    const ssize_t got = readMemory(process, at, buffer.data() + done, wanted);
    if (got <= 0)
      return false;
    if (const void* end = std::memchr(buffer.data() + done, 0, size_t(got))) {
      text.append(buffer.data(), size_t(static_cast<const char*>(end) - buffer.data()));
      return true;
    }
    if (size_t(got) != wanted)
      return false;
    done += size_t(got);
  }
  return false;
}

/// What a link in /proc says; only names in the file system begin with a slash.
bool readLink(const char* link, std::string& text) {
  std::array<char, kMostPathBytes> buffer;
  const ssize_t size = ::readlink(link, buffer.data(), buffer.size());
  if (size <= 0 || size_t(size) == buffer.size() || buffer[0] != '/')
    return false;
  llvm::StringRef name(buffer.data(), size_t(size));
  name.consume_back(" (deleted)");
  text.append(name.begin(), name.end());
  return true;
}

/// The number of a call -> its rows; the rows of a call are neighbours.
class PathRows {
public:
  PathRows() {
    llvm::StringMap<int> numbers;
    for (const SystemCallRow& row : systemCallRows())
      numbers[row.name] = row.number;
    for (size_t at = 0; at != std::size(kCallPaths); ++at) {
      const auto found = numbers.find(kCallPaths[at].call);
      if (found == numbers.end() || found->second < 0)
        continue;
      const size_t number = size_t(found->second);
      if (first_.size() <= number)
        first_.resize(number + 1, -1);
      if (first_[number] < 0)
        first_[number] = int16_t(at);
    }
  }
  llvm::ArrayRef<CallPath> of(int number) const {
    if (number < 0 || size_t(number) >= first_.size() || first_[size_t(number)] < 0)
      return {};
    const CallPath* begin = kCallPaths + first_[size_t(number)];
    const CallPath* end = begin;
    while (end != std::end(kCallPaths) && end->call == begin->call)
      ++end;
    return {begin, end};
  }

private:
  std::vector<int16_t> first_;
};

/// Fills in what the act says about its name.
void describeAct(uint64_t flags, SeenPath& path) {
  switch (path.act) {
  case PathAct::Look:
    path.follows = (flags & kAtNoFollow) == 0;
    return;
  case PathAct::LookLink:
    path.follows = false;
    return;
  case PathAct::Open:
  case PathAct::OpenStructured:
    readOpenFlags(flags, path);
    return;
  case PathAct::Create:
    readOpenFlags(O_CREAT | O_WRONLY | O_TRUNC, path);
    return;
  case PathAct::Execute:
    path.operation = Operation::Execute;
    path.follows = (flags & kAtNoFollow) == 0;
    return;
  case PathAct::MakeDirectory:
  case PathAct::Make:
  case PathAct::LinkTo:
    path.exclusive = true;
    [[fallthrough]];
  case PathAct::RenameTo:
    path.operation = Operation::Write;
    path.follows = false;
    path.creates = true;
    return;
  case PathAct::Remove:
  case PathAct::RenameFrom:
  case PathAct::ChangeLink:
    path.operation = Operation::Write;
    path.follows = false;
    return;
  case PathAct::LinkFrom: // a second name for what may not be written would let it be written
    path.operation = Operation::Write;
    path.follows = (flags & kAtFollow) != 0;
    return;
  case PathAct::Change:
    path.operation = Operation::Write;
    path.follows = (flags & kAtNoFollow) == 0;
    return;
  case PathAct::Connect:
    path.operation = Operation::Read;
    return;
  }
}

class Server final : public NotificationServer {
public:
  Server(int listener, FilterChoice choice) : listener_(listener), choice_(choice) {
    for (const SystemCallRow& row : systemCallRows()) {
      if (row.name == "connect")
        connect_ = row.number;
      else if (row.name == "bind")
        bind_ = row.number;
      else if (row.name == "sendto")
        sendTo_ = row.number;
      const bool isClient = choice.network == NetworkMode::Client;
      const FilterVerdict verdict = isClient && row.client != FilterVerdict::Allow ? row.client
                                    : choice.level == SandboxLevel::Strict         ? row.strict
                                                                                   : row.standard;
      if (row.number < 0 || verdict != FilterVerdict::Allow)
        continue;
      if (allowed_.size() <= size_t(row.number))
        allowed_.resize(size_t(row.number) + 1);
      allowed_[size_t(row.number)] = true;
    }
  }

  llvm::Error prepare() {
    seccomp_notif_sizes sizes{};
    if (::syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0)
      return sysError("ask for", "the size of notifications", errno);
    // A newer kernel writes more than this header knows.
    request_.resize(std::max<size_t>(sizes.seccomp_notif, sizeof(seccomp_notif)) / 8 + 1);
    response_.resize(std::max<size_t>(sizes.seccomp_notif_resp, sizeof(seccomp_notif_resp)) / 8 +
                     1);
    // Caller and supervisor take turns on one CPU: ten times as quick. Older kernels go without.
    (void)::ioctl(listener_, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
    return llvm::Error::success();
  }

  State serve(short events, llvm::function_ref<void(const SeenCall&)> seen) override {
    // A call that has been waiting is counted by the kernel until it is taken, also when its
    // process has died meanwhile: this does not wait.
    if ((events & POLLIN) == 0)
      return State::Gone;
    serveOne(seen);
    return State::Alive;
  }

private:
  /// A call that the level allows whatever its arguments are: nearly all that arrive.
  bool isAllowed(int number) const {
    return number >= 0 && size_t(number) < allowed_.size() && allowed_[size_t(number)];
  }

  void serveOne(llvm::function_ref<void(const SeenCall&)> seen) {
    auto* request = reinterpret_cast<seccomp_notif*>(request_.data());
    std::fill(request_.begin(), request_.end(), 0); // the kernel insists
    if (::ioctl(listener_, SECCOMP_IOCTL_NOTIF_RECV, request) != 0)
      return; // the caller is gone
    std::array<uint64_t, 6> arguments;
    for (size_t at = 0; at != arguments.size(); ++at)
      arguments[at] = request->data.args[at];
    SeenCall call;
    call.number = request->data.nr;
    call.process = request->pid;
    call.arguments = arguments;
    call.refusal = isAllowed(call.number) ? 0 : filterError(choice_, call.number, arguments);
    if (call.refusal == 0)
      readNames(call);
    // While its cookie is valid the caller stands still, so what was read was its own and its
    // number is not another's yet. It is looked at before it goes on: a rename would have moved the
    // name.
    const uint64_t id = request->id;
    if (::ioctl(listener_, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0)
      seen(call);
    std::fill(response_.begin(), response_.end(), 0);
    auto* response = reinterpret_cast<seccomp_notif_resp*>(response_.data());
    response->id = id;
    response->error = -call.refusal;
    response->flags = call.refusal == 0 ? uint32_t(SECCOMP_USER_NOTIF_FLAG_CONTINUE) : 0;
    (void)::ioctl(listener_, SECCOMP_IOCTL_NOTIF_SEND, response);
  }

  void readNames(SeenCall& call) {
    size_t count = 0;
    for (const CallPath& row : rows_.of(call.number)) {
      SeenPath& path = paths_[count];
      path = SeenPath{};
      path.act = row.act;
      std::string& text = texts_[count];
      text.clear();
      if (!readName(call, row, path, text)) {
        call.unread = true;
        continue;
      }
      if (text.empty())
        continue; // no name was given, or the descriptor is no file
      path.path = text;
      if (++count == paths_.size())
        break;
    }
    if (call.number == connect_ || call.number == bind_)
      readAddress(call, call.arguments[1], call.arguments[2], count);
    else if (call.number == sendTo_)
      readAddress(call, call.arguments[4], call.arguments[5], count);
    call.paths = llvm::ArrayRef(paths_.data(), count);
  }

  /// False if the name cannot be known.
  bool readName(const SeenCall& call, const CallPath& row, SeenPath& path, std::string& text) {
    const auto argument = [&](int at) { return call.arguments[size_t(at)]; };
    uint64_t flags = row.flags < 0 ? 0 : argument(row.flags);
    if (row.act == PathAct::OpenStructured) {
      uint64_t structured = 0;
      if (readMemory(call.process, flags, reinterpret_cast<char*>(&structured),
                     sizeof structured) != ssize_t(sizeof structured))
        return false;
      flags = structured;
    }
    describeAct(flags, path);
    if (row.path < 0 || argument(row.path) == 0)
      return row.directory < 0 || readDescriptor(call.process, argument(row.directory), text);
    std::string& name = name_;
    name.clear();
    if (!readText(call.process, argument(row.path), name))
      return false;
    if (!name.empty() && name[0] == '/') {
      text = name;
      return true;
    }
    const bool isEmptyPath =
        name.empty() && (flags & kAtEmptyPath) != 0 && row.flags >= 0 && row.act != PathAct::Open;
    if (name.empty() && !isEmptyPath)
      return true; // ENOENT, whoever asks
    const uint64_t directory = row.directory < 0 ? uint64_t(AT_FDCWD) : argument(row.directory);
    if (!readDescriptor(call.process, directory, text))
      return false;
    if (!text.empty() && !name.empty())
      text += "/" + name;
    return true;
  }

  /// The name of a descriptor or of the working directory; empty for what has no name.
  static bool readDescriptor(uint32_t process, uint64_t descriptor, std::string& text) {
    char link[64];
    const int fd = int(uint32_t(descriptor));
    if (fd == AT_FDCWD)
      std::snprintf(link, sizeof link, "/proc/%u/cwd", process);
    else if (fd >= 0)
      std::snprintf(link, sizeof link, "/proc/%u/fd/%d", process, fd);
    else
      return true;
    return readLink(link, text) || fd != AT_FDCWD;
  }

  void readAddress(SeenCall& call, uint64_t pointer, uint64_t length, size_t& count) {
    const size_t size = std::min<uint64_t>(uint32_t(length), address_.size());
    if (pointer == 0 || size < sizeof(sa_family_t))
      return;
    if (readMemory(call.process, pointer, address_.data(), size) != ssize_t(size)) {
      call.unread = true;
      return;
    }
    sa_family_t family;
    std::memcpy(&family, address_.data(), sizeof family);
    constexpr size_t kName = offsetof(sockaddr_un, sun_path);
    const bool isNamed = family == AF_UNIX && size > kName && address_[kName] != '\0';
    if (!isNamed) {
      call.address = llvm::StringRef(address_.data(), size);
      if (call.number == bind_ && (family == AF_INET || family == AF_INET6))
        call.socketType = socketType(call.process, int(uint32_t(call.arguments[0])));
      return;
    }
    if (count == paths_.size())
      return;
    SeenPath& path = paths_[count];
    path = SeenPath{};
    path.act = call.number == bind_ ? PathAct::Make : PathAct::Connect;
    describeAct(0, path);
    std::string& text = texts_[count];
    text.clear();
    const llvm::StringRef name =
        llvm::StringRef(address_.data() + kName, size - kName).split('\0').first;
    if (!name.starts_with("/")) {
      if (!readDescriptor(call.process, uint64_t(AT_FDCWD), text)) {
        call.unread = true;
        return;
      }
      text += "/";
    }
    text.append(name.begin(), name.end());
    path.path = text;
    ++count;
  }

  /// Of the caller's socket, by a copy of its descriptor.
  static int socketType(uint32_t process, int descriptor) {
    UniqueFd caller(int(::syscall(SYS_pidfd_open, process, kPidFdThread)));
    if (!caller)
      caller = UniqueFd(int(::syscall(SYS_pidfd_open, process, 0)));
    if (!caller)
      return 0;
    UniqueFd socket(int(::syscall(SYS_pidfd_getfd, caller.get(), descriptor, 0)));
    int type = 0;
    socklen_t size = sizeof type;
    if (!socket || ::getsockopt(socket.get(), SOL_SOCKET, SO_TYPE, &type, &size) != 0)
      return 0;
    return type;
  }

  int listener_;
  FilterChoice choice_;
  int connect_ = -1, bind_ = -1, sendTo_ = -1;
  const PathRows rows_;
  std::vector<bool> allowed_;
  std::vector<uint64_t> request_, response_;
  std::array<SeenPath, 3> paths_;
  std::array<std::string, 3> texts_;
  std::string name_;
  std::array<char, sizeof(sockaddr_storage)> address_;
};

/// In the memory of the supervisor, with a stack of its own: raw calls, and nothing written.
void tryListener(void*) {
  sock_filter allow = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
  const sock_fprog program = {1, &allow};
  if (::syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    ::_exit(255);
  const long listener =
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  ::_exit(listener >= 0 ? 0 : errno & 0xff);
}

} // namespace

llvm::ArrayRef<CallPath> callPaths() {
  return kCallPaths;
}

void readOpenFlags(uint64_t flags, SeenPath& path) {
  const bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_TRUNC | O_CREAT)) != 0 ||
                      (flags & O_TMPFILE) == O_TMPFILE;
  path.follows = (flags & O_NOFOLLOW) == 0;
  path.operation = Operation::Read;
  if ((flags & O_PATH) != 0) {
    path.operation = Operation::Query;
    return;
  }
  if (writes)
    path.operation = Operation::Write;
  else if ((flags & O_DIRECTORY) != 0)
    path.operation = Operation::List;
  path.creates = (flags & O_CREAT) != 0;
  path.exclusive = path.creates && (flags & O_EXCL) != 0;
  if (path.exclusive)
    path.follows = false;
}

llvm::Expected<std::unique_ptr<NotificationServer>>
NotificationServer::create(int listener, FilterChoice choice) {
  auto server = std::make_unique<Server>(listener, choice);
  if (llvm::Error error = server->prepare())
    return error;
  return std::unique_ptr<NotificationServer>(std::move(server));
}

int listenerError() {
  const int child = vforkCall(tryListener, nullptr, SIGCHLD);
  if (child < 0)
    return -child;
  int status = 0;
  if (retryInterrupted([&] { return ::waitpid(child, &status, __WALL); }) != child)
    return errno;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
}

std::string processName(uint32_t process) {
  UniqueFd file(
      ::open(("/proc/" + std::to_string(process) + "/comm").c_str(), O_RDONLY | O_CLOEXEC));
  char name[64];
  const ssize_t size = file ? ::read(file.get(), name, sizeof name) : -1;
  return size <= 0 ? std::string() : llvm::StringRef(name, size_t(size)).rtrim('\n').str();
}

} // namespace gos::sandbox
