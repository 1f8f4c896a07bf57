#include "sandbox/linux/spawn.h"

#include "sandbox/linux/first_process_image.h"
#include "sandbox/linux/post_fork.h"
#include "sandbox/linux/view.h"
#include "sandbox/policy/policy.h"
#include "sandbox/sys_error.h"
#include "sandbox/vfork_call.h"

#include "llvm/Support/FormatVariadic.h"

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLONE_NEWCGROUP
#define CLONE_NEWCGROUP 0x02000000
#endif

namespace gos::sandbox {

char LaunchFailure::ID = 0;

llvm::StringRef stageWords(Stage stage) {
  static constexpr llvm::StringRef kWords[] = {
#define GOS_STAGE(name, primitive, words) words,
#include "sandbox/linux/stages.def"
  };
  return kWords[size_t(stage)];
}

llvm::StringRef stagePrimitive(Stage stage) {
  static constexpr llvm::StringRef kPrimitives[] = {
#define GOS_STAGE(name, primitive, words) primitive,
#include "sandbox/linux/stages.def"
  };
  return kPrimitives[size_t(stage)];
}

void LaunchFailure::log(llvm::raw_ostream& out) const {
  out << "cannot " << stageWords(stage_) << ": " << errnoText(number_);
}
std::error_code LaunchFailure::convertToErrorCode() const {
  return std::error_code(number_, std::generic_category());
}

namespace {
llvm::Error failure(Stage stage, int number, uint32_t index = 0) {
  return llvm::make_error<LaunchFailure>(stage, number, index);
}

/// A descriptor clear of the numbers that a start assigns.
UniqueFd raised(int fd) {
  UniqueFd made(::fcntl(fd, F_DUPFD_CLOEXEC, 64));
  if (!made && errno == EINVAL) // there are no such numbers
    errno = EMFILE;
  return made;
}

/// Can a file of so many bytes be written? Asked before, since the kernel ends a process that
/// tries.
bool fitsFileLimit(size_t size) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || size <= limit.rlim_cur)
    return true;
  errno = EFBIG;
  return false;
}

llvm::Expected<UniqueFd> planFile() {
  UniqueFd made(::memfd_create("bwr-plan", MFD_CLOEXEC));
  if (!made)
    return failure(Stage::ReadPlan, errno);
  UniqueFd file = raised(made.get());
  if (!file)
    return failure(Stage::ReadPlan, errno);
  return file;
}

int cloneFlags(uint32_t namespaces) {
  int flags = 0;
  flags |= (namespaces & kUserNamespace) ? CLONE_NEWUSER : 0;
  flags |= (namespaces & kMountNamespace) ? CLONE_NEWNS : 0;
  flags |= (namespaces & kNetworkNamespace) ? CLONE_NEWNET : 0;
  flags |= (namespaces & kIpcNamespace) ? CLONE_NEWIPC : 0;
  flags |= (namespaces & kPidNamespace) ? CLONE_NEWPID : 0;
  flags |= (namespaces & kUtsNamespace) ? CLONE_NEWUTS : 0;
  flags |= (namespaces & kCgroupNamespace) ? CLONE_NEWCGROUP : 0;
  return flags;
}

void endAtOnce(void*) {
  ::_exit(0);
}
/// A clone with both namespaces was refused: is it the one of users, or that of processes?
Stage missingNamespace(int cloned) {
  if ((cloned & CLONE_NEWPID) == 0)
    return Stage::Clone;
  if ((cloned & CLONE_NEWUSER) == 0)
    return Stage::PidNamespace;
  const int id = vforkCall(endAtOnce, nullptr, CLONE_NEWUSER);
  if (id < 0)
    return Stage::Clone;
  (void)retryInterrupted([&] { return ::waitpid(id, nullptr, __WALL); });
  return Stage::PidNamespace;
}

bool writeFile(const std::string& path, llvm::StringRef text) {
  UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file && retryInterrupted([&] { return ::write(file.get(), text.data(), text.size()); }) ==
                     ssize_t(text.size());
}

/// "first first count" for each range of ids that this process itself has: the identity.
std::string identityMap(const char* path) {
  std::string map;
  UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC));
  char buffer[4096];
  const ssize_t got =
      file ? retryInterrupted([&] { return ::read(file.get(), buffer, sizeof buffer); }) : -1;
  llvm::StringRef rest(buffer, got > 0 ? size_t(got) : 0);
  while (!rest.empty()) {
    auto [line, tail] = rest.split('\n');
    rest = tail;
    llvm::SmallVector<llvm::StringRef, 3> fields;
    line.split(fields, ' ', -1, /*KeepEmpty=*/false);
    if (fields.size() == 3)
      map += (fields[0] + " " + fields[0] + " " + fields[2] + "\n").str();
  }
  return map;
}

/// The user and group maps of a new user namespace: the identity for root, one id for a user.
llvm::Error writeMaps(int child) {
  const std::string proc = "/proc/" + std::to_string(child) + "/";
  if (::geteuid() == 0) {
    const std::string users = identityMap("/proc/self/uid_map"),
                      groups = identityMap("/proc/self/gid_map");
    if (!users.empty() && !groups.empty() && writeFile(proc + "uid_map", users) &&
        writeFile(proc + "gid_map", groups))
      return llvm::Error::success();
  }
  // Without a privilege of ours only our own ids can be mapped, and only once setgroups is shut.
  const std::string user = llvm::formatv("{0} {0} 1\n", ::geteuid()),
                    group = llvm::formatv("{0} {0} 1\n", ::getegid());
  if (!writeFile(proc + "setgroups", "deny") || !writeFile(proc + "uid_map", user) ||
      !writeFile(proc + "gid_map", group))
    return failure(Stage::UserMap, errno);
  return llvm::Error::success();
}
} // namespace

Beginning beginningOf(const ChildPlan& plan) {
  return {plan.namespaces, !plan.keepRoot, plan.raiseLoopback};
}

llvm::Expected<Child> Child::launch(const ChildPlan& plan, const LaunchInput& input) {
  llvm::Expected<Child> child = begin(beginningOf(plan), input.streams, aheadOf(plan));
  if (!child)
    return child.takeError();
  if (llvm::Error error = child->give(plan, input))
    return error;
  return child;
}

std::vector<std::string> aheadOf(const ChildPlan& plan) {
  std::vector<std::string> paths;
  llvm::SmallVector<llvm::StringRef> others; // mounts; nothing beneath them is put up ahead
  for (const ViewStep& step : plan.view) {
    if (!isMount(step.kind))
      continue;
    const bool likely = step.kind == ViewStep::Kind::Bind && step.readOnly && !step.devices &&
                        step.source == step.path;
    if (likely && llvm::none_of(others, [&](llvm::StringRef other) {
          return isAtOrBeneath(step.path, other);
        }))
      paths.push_back(step.path);
    others.push_back(step.path);
  }
  return paths;
}

llvm::Expected<Child> Child::begin(const Beginning& beginning, const int (&streams)[3],
                                   llvm::ArrayRef<std::string> ahead) {
  // Maps are written there, and at the end the last processes are found there.
  if (::access("/proc/self/task", F_OK) != 0)
    return failure(Stage::ProcessFiles, errno);
  if (!fitsFileLimit(firstProcessImage().size()))
    return failure(Stage::ExecuteFirst, errno);
  llvm::Expected<int> program = firstProcessFile();
  if (!program) {
    const int number = errno == EINVAL ? EMFILE : errno; // of the number it asks for
    llvm::consumeError(program.takeError());
    return failure(Stage::ExecuteFirst, number);
  }
  // Everything is made before the clone: nothing may fail in between but what the kernel refuses.
  llvm::Expected<UniqueFd> file = planFile();
  if (!file)
    return file.takeError();
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
    return failure(Stage::Clone, errno);
  Child child;
  child.beginning_ = beginning;
  child.control_ = UniqueFd(sockets[0]);
  UniqueFd theirs(sockets[1]);
  UniqueFd theirControl = raised(theirs.get());
  if (!theirControl)
    return failure(Stage::Clone, errno);
  theirs.reset();
  UniqueFd self(int(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  if (!self)
    return failure(Stage::Supervisor, errno);
  UniqueFd supervisor = raised(self.get());
  if (!supervisor)
    return failure(Stage::Supervisor, errno);
  UniqueFd copies[3];
  for (int stream = 0; stream != 3; ++stream) {
    copies[stream] = raised(streams[stream]);
    if (!copies[stream] && errno == EMFILE)
      return failure(Stage::ExecuteFirst, EMFILE);
    if (!copies[stream]) // closed: nothing of ours may get its number
      copies[stream] = UniqueFd([&] {
        UniqueFd null(::open("/dev/null", (stream == 0 ? O_RDONLY : O_WRONLY) | O_CLOEXEC));
        return null ? ::fcntl(null.get(), F_DUPFD_CLOEXEC, 64) : -1;
      }());
    if (!copies[stream])
      return failure(Stage::ExecuteFirst, errno);
  }

  // The clone makes what only a clone can make. The first process makes the others itself, while
  // this one goes on.
  const int flags = cloneFlags(beginning.namespaces);
  const int cloned = flags & (CLONE_NEWUSER | CLONE_NEWPID);
  const bool mapped = (beginning.namespaces & kUserNamespace) != 0;
  ControlMessage message{};
  message.kind = ControlKind::Begin;
  message.status = flags & ~cloned;
  message.flags = (mapped ? uint32_t(kWaitForMaps) : 0) |
                  (beginning.ownRoot ? uint32_t(kOwnRoot) : 0) |
                  (beginning.raiseLoopback ? uint32_t(kRaiseLoopback) : 0) |
                  (beginning.ownRoot ? uint32_t(kRaiseAhead) : 0) |
                  (flags & CLONE_NEWPID ? uint32_t(kOwnProcesses) : 0);
  if (::send(child.control_.get(), &message, sizeof message, MSG_NOSIGNAL) !=
      ssize_t(sizeof message))
    return failure(Stage::Clone, errno);

  PostFork work{};
  // The numbers of the private temp are kept for it by something that is there anyway.
  const int sources[8] = {copies[0].get(),    copies[1].get(),  copies[2].get(),  file->get(),
                          theirControl.get(), supervisor.get(), supervisor.get(), supervisor.get()};
  for (int number = 0; number != 8; ++number)
    work.sources[number] = sources[number];
  work.program = *program;
  std::vector<const char*> arguments = {"bwr-first"};
  for (const std::string& path : ahead)
    if (isCanonicalPath(path))
      arguments.push_back(path.c_str());
  arguments.push_back(nullptr);
  work.arguments = arguments.data();
  work.keepCapabilities = mapped;

  int pidFd = -1;
  const int id = vforkCall(postFork, &work, CLONE_PIDFD | SIGCHLD | uint32_t(cloned), &pidFd);
  if (id < 0)
    return failure(missingNamespace(cloned), -id);
  child.pidFd_ = UniqueFd(pidFd);
  child.id_ = id;
  child.plan_ = std::move(*file);
  theirControl.reset();
  if (work.failedStage != 0) {
    child.finish();
    return failure(Stage(work.failedStage), work.failedError);
  }
  if (mapped) {
    if (llvm::Error error = writeMaps(id)) {
      // One that has given up meanwhile has no maps to write, and has said why.
      if (const Received said = child.receive(/*wait=*/false);
          said.message && said.message->kind == ControlKind::Failed) {
        llvm::consumeError(std::move(error));
        error = failure(said.message->stage, said.message->error, said.message->index);
      }
      child.finish();
      return error;
    }
    child.send(ControlKind::MapsWritten);
  }
  return child;
}

llvm::Error Child::give(const ChildPlan& plan, const LaunchInput& input) {
  sigset_t current;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &current);
  uint64_t mask = 0;
  for (int signal = 1; signal <= 64; ++signal)
    if (::sigismember(&current, signal) == 1)
      mask |= uint64_t(1) << (signal - 1);
  llvm::Expected<std::string> bytes = serialise(plan, input.temporaryName, mask, input.probePlan);
  if (!bytes)
    return bytes.takeError();
  if (!fitsFileLimit(bytes->size()))
    return failure(Stage::ReadPlan, errno);
  for (llvm::StringRef rest = *bytes; !rest.empty();) {
    const ssize_t wrote =
        retryInterrupted([&] { return ::write(plan_.get(), rest.data(), rest.size()); });
    if (wrote <= 0)
      return failure(Stage::ReadPlan, errno);
    rest = rest.drop_front(size_t(wrote));
  }
  plan_.reset();

  ControlMessage message{};
  message.kind = ControlKind::PlanWritten;
  const int temporary[2] = {input.temporaryParent, input.temporary};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof temporary)] = {};
  iovec part = {&message, sizeof message};
  msghdr envelope{};
  envelope.msg_iov = &part;
  envelope.msg_iovlen = 1;
  if (input.temporary >= 0) {
    envelope.msg_control = control;
    envelope.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&envelope);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof temporary);
    ::memcpy(CMSG_DATA(header), temporary, sizeof temporary);
  }
  // A first process that is gone has said why, or is found to be gone by whoever asks next.
  if (retryInterrupted([&] { return ::sendmsg(control_.get(), &envelope, MSG_NOSIGNAL); }) < 0 &&
      errno != EPIPE && errno != ECONNRESET)
    return failure(Stage::ReadPlan, errno);
  return llvm::Error::success();
}

Child::Received Child::receive(bool wait) {
  Received received;
  ControlMessage message{};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  iovec part = {&message, sizeof message};
  msghdr envelope{};
  envelope.msg_iov = &part;
  envelope.msg_iovlen = 1;
  envelope.msg_control = control;
  envelope.msg_controllen = sizeof control;
  const auto read = [&] {
    return ::recvmsg(control_.get(), &envelope, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
  };
  ssize_t got = retryInterrupted(read);
  // A first process that failed before it read all that was sent to it: that is told once, and what
  // it has said itself comes after it.
  if (got < 0 && errno == ECONNRESET)
    got = retryInterrupted(read);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
    return received;
  if (got != ssize_t(sizeof message)) {
    received.gone = true;
    return received;
  }
  for (cmsghdr* header = CMSG_FIRSTHDR(&envelope); header != nullptr;
       header = CMSG_NXTHDR(&envelope, header))
    if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
      int fd = -1;
      ::memcpy(&fd, CMSG_DATA(header), sizeof fd);
      received.descriptor = UniqueFd(fd);
    }
  received.message = message;
  return received;
}

void Child::send(ControlKind kind, int status, uint32_t index) {
  ControlMessage message{};
  message.kind = kind;
  message.status = status;
  message.index = index;
  (void)retryInterrupted(
      [&] { return ::send(control_.get(), &message, sizeof message, MSG_NOSIGNAL); });
}

void Child::letGo() {
  control_.reset(); // its end tells the first process that nobody waits for the run any more
}

void Child::finish() {
  if (!pidFd_)
    return;
  letGo();
  pollfd entry = {pidFd_.get(), POLLIN, 0};
  // Five seconds is far more than killing and cleaning takes, but on a host that stood still as a
  // whole they are over at once, and a first process that was stopped does nothing in them: it is
  // woken and given more. One that is stuck in the kernel is killed, and with it everything in its
  // pid namespace; without one, what it has not come to kill would stay.
  constexpr int kTries = 3;
  for (int tries = 0; retryInterrupted([&] { return ::poll(&entry, 1, 5000); }) == 0; ++tries)
    (void)::syscall(SYS_pidfd_send_signal, pidFd_.get(), tries < kTries ? SIGCONT : SIGKILL,
                    nullptr, 0);
  siginfo_t info{};
  (void)retryInterrupted([&] {
    return ::waitid(idtype_t(3 /* P_PIDFD */), id_t(pidFd_.get()), &info, WEXITED | __WALL);
  });
  pidFd_.reset();
}

} // namespace gos::sandbox
