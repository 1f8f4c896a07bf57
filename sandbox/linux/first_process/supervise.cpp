// The rest of a run: reap, pass signals on, watch the mounts and the supervisor, and at the end,
// whoever brought it, kill what is left, reap it, and remove the private temp.

#include "sandbox/linux/first_process/first_process.h"
#include "sandbox/linux/first_process/network_counts.h"
#include "sandbox/linux/first_process/remove_tree.h"
#include "sandbox/linux/first_process/watch.h"

#include <fcntl.h>
#include <linux/time_types.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

namespace gos::sandbox {

namespace {

constexpr int kSigChild = 17, kSigKill = 9, kSigContinue = 18;
constexpr int kAnyChild = 0x40000000; // __WALL

class Supervision {
public:
  Supervision(const Plan& plan, const View& view, long command)
      : plan_(plan), view_(view), command_(command) {}

  [[noreturn]] void run() {
    const uint64_t mask = 1ull << (kSigChild - 1) | 1ull << (kSignalRenamed - 1);
    const long signals = raw::sys(__NR_signalfd4, -1, &mask, 8, O_CLOEXEC | O_NONBLOCK);
    if (signals < 0)
      end(/*tellSupervisor=*/true);
    reap(); // what ended before the descriptor was there
    while (!ended_) {
      struct pollfd entries[4] = {{(int)signals, POLLIN, 0},
                                  {kControlFd, POLLIN, 0},
                                  {kSupervisorFd, POLLIN, 0},
                                  {view_.mounts, POLLPRI, 0}};
      const struct __kernel_timespec often = {0, kLookEveryNanoseconds};
      const long ready = raw::sys(__NR_ppoll, entries, 4, view_.looksOften ? &often : 0, 0, 0);
      if (ready < 0)
        continue;
      // At every wake, not only when the time is up: children that end without a pause would put
      // that off for ever.
      bool renamed = view_.looksOften;
      if (entries[0].revents != 0) {
        struct signalfd_siginfo which[4];
        long got = 0;
        while ((got = raw::sys(__NR_read, signals, which, sizeof which)) > 0)
          for (long at = 0; at != got / (long)sizeof which[0]; ++at)
            renamed |= which[at].ssi_signo == kSignalRenamed;
        reap();
      }
      if (entries[2].revents != 0)
        end(/*tellSupervisor=*/false); // the supervisor is dead
      if (entries[3].revents != 0 || renamed)
        checkCovers();
      if (entries[1].revents != 0)
        obey();
    }
    end(/*tellSupervisor=*/true);
  }

private:
  void reap() {
    while (true) {
      int status = 0;
      const long id =
          raw::sys(__NR_wait4, -1, &status, WNOHANG | WUNTRACED | WCONTINUED | kAnyChild, 0);
      if (id <= 0)
        return;
      if (id != command_)
        continue;
      if (WIFSTOPPED(status)) {
        stopped_ = true;
        ++stops_;
        say(ControlKind::Stopped, WSTOPSIG(status));
      } else if (WIFCONTINUED(status)) {
        stopped_ = false;
        say(ControlKind::Continued, 0);
      } else {
        ended_ = true;
        status_ = status;
        return; // the others are killed first, then reaped
      }
    }
  }

  void say(ControlKind kind, int status, uint32_t index = 0) {
    ControlMessage message{};
    message.kind = kind;
    message.status = status;
    message.index = index;
    tell(message);
  }

  void obey() {
    ControlMessage message{};
    const long got =
        raw::retry(__NR_recvfrom, kControlFd, &message, sizeof message, MSG_DONTWAIT, 0, 0);
    if (got == 0) {
      // The supervisor let go of the run: Run was destroyed, or its process replaced itself.
      end(/*tellSupervisor=*/false);
    }
    if (got != (long)sizeof message)
      return;
    if (message.kind == ControlKind::Signal)
      raw::sys(__NR_kill, command_, message.status);
    else if (message.kind == ControlKind::Resume)
      resume(message.index);
    else if (message.kind == ControlKind::Kill)
      raw::sys(__NR_kill, command_, kSigKill);
  }

  /// A shell that goes on with a job tells the command itself, and it may have been stopped anew by
  /// the time that the supervisor has woken and asks: that stop stays.
  void resume(uint32_t stops) {
    reap();
    if (!ended_ && stopped_ && stops == stops_)
      raw::sys(__NR_kill, command_, kSigContinue);
  }

  void checkCovers() {
    const long lost = lostCover(plan_, view_);
    if (lost < 0)
      return;
    // Stop everything first: what the cover hid is open from now on.
    killAll();
    say(ControlKind::CoverLost, 0, (uint32_t)lost);
    raw::sys(__NR_wait4, command_, &status_, kAnyChild, 0);
    end(/*tellSupervisor=*/true);
  }

  /// SIGKILL to every process of the run but this one.
  void killAll() {
    if (plan_.has(kOwnPidNamespace)) {
      raw::sys(__NR_kill, -1, kSigKill);
      return;
    }
    // A subreaper: every orphan of the run becomes our child. Only children are killed, and a child
    // that is not reaped keeps its id, so no stranger can be hit.
    char path[] = "/proc/self/task/00000000000/children";
    const long self = raw::sys(__NR_gettid);
    char* digits = path + sizeof "/proc/self/task/" - 1;
    long number = self;
    int count = 0;
    char reversed[12];
    for (; number != 0; number /= 10)
      reversed[count++] = (char)('0' + number % 10);
    for (int at = 0; at != count; ++at)
      digits[at] = reversed[count - 1 - at];
    const char tail[] = "/children";
    for (size_t at = 0; at != sizeof tail; ++at)
      digits[count + at] = tail[at];
    const long file = raw::sys(__NR_openat, raw::kAtFdCwd, path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
      raw::sys(__NR_kill, command_, kSigKill);
      return;
    }
    char buffer[4096];
    long value = 0;
    bool any = false;
    while (true) {
      const long got = raw::retry(__NR_read, file, buffer, sizeof buffer);
      if (got <= 0)
        break;
      for (long at = 0; at != got; ++at)
        if (buffer[at] >= '0' && buffer[at] <= '9') {
          value = value * 10 + (buffer[at] - '0');
          any = true;
        } else if (any) {
          raw::sys(__NR_kill, value, kSigKill);
          value = 0;
          any = false;
        }
    }
    raw::sys(__NR_close, file);
  }

  /// What stands on the private temp goes, and with it what stands on that. Each call waits for a
  /// grace period of the kernel, and removing a directory on which something is still mounted, even
  /// in a tree that was detached as a whole, waits for one more.
  void unmountGrantsIn(const char* temp) {
    const LaunchStep* steps = plan_.steps();
    const char* gone = nullptr;
    for (uint32_t index = 0; index != plan_.header().stepCount; ++index) {
      const char* path = plan_.text(steps[index].path);
      if (!isBeneath(path, temp) || (gone != nullptr && isBeneath(path, gone)))
        continue;
      if (raw::sys(__NR_umount2, path, 2 | 8 /* MNT_DETACH | UMOUNT_NOFOLLOW */) >= 0)
        gone = path;
    }
  }
  /// Does `path` go on after `directory`, with or without its slash?
  static bool isBeneath(const char* path, const char* directory) {
    char last = '\0';
    for (; *directory != '\0'; ++path, ++directory) {
      if (*path != *directory)
        return false;
      last = *path;
    }
    return last == '/' ? *path != '\0' : *path == '/';
  }

  bool removeTemp() const {
    TreeRemover remover;
    TreeRemover::open(kTempFd);
    if (!remover.empty(kTempFd) ||
        raw::sys(__NR_unlinkat, kTempParentFd, plan_.text(plan_.header().temporaryName),
                 raw::kAtRemoveDirectory) < 0)
      return false;
    raw::sys(__NR_close, kTempFd); // the supervisor is the last to let go of it
    return true;
  }

  [[noreturn]] void end(bool tellSupervisor) {
    // Kill, then reap, until nothing is left: a child that is killed may leave children of its own
    // to us.
    uint32_t killed = 0;
    while (true) {
      // What has ended by itself is not "killed".
      long id = 0;
      int status = 0;
      while ((id = raw::sys(__NR_wait4, -1, &status, WNOHANG | kAnyChild, 0)) > 0)
        if (id == command_)
          status_ = status;
      if (id == -raw::kErrorNoChild)
        break;
      killAll();
      id = raw::retry(__NR_wait4, -1, &status, kAnyChild, 0);
      if (id < 0)
        break;
      if (id == command_)
        status_ = status;
      else
        ++killed;
      while ((id = raw::sys(__NR_wait4, -1, &status, WNOHANG | kAnyChild, 0)) > 0)
        if (id == command_)
          status_ = status;
        else
          ++killed;
    }
    const bool refusedNetwork =
        tellSupervisor && status_ != 0 && plan_.has(kOwnNetwork) && askedForNetwork();
    bool gone = true;
    if (plan_.has(kHasTemp)) {
      if (plan_.has(kGrantInTmp) || plan_.has(kGrantInVarTmp)) {
        // A grant is mounted inside the temp, and a mount point of this namespace cannot be
        // removed.
        constexpr uint32_t kSysAdmin = 1u << 21;
        if (setCapabilities(kSysAdmin, kSysAdmin) >= 0) {
          if (plan_.has(kGrantInTmp))
            unmountGrantsIn("/tmp/");
          if (plan_.has(kGrantInVarTmp))
            unmountGrantsIn("/var/tmp/");
        }
      }
      gone = removeTemp();
      if (!gone && (plan_.has(kGrantInTmp) || plan_.has(kGrantInVarTmp))) {
        // The command may have moved a directory that a grant stood in.
        if (plan_.has(kGrantInTmp))
          raw::sys(__NR_umount2, "/tmp", 2 /* MNT_DETACH */);
        if (plan_.has(kGrantInVarTmp))
          raw::sys(__NR_umount2, "/var/tmp", 2);
        gone = removeTemp();
      }
    }
    if (tellSupervisor) {
      struct rusage usage = {};
      raw::sys(__NR_getrusage, RUSAGE_CHILDREN, &usage);
      ControlMessage message{};
      message.kind = ControlKind::Ended;
      message.status = status_;
      message.killed = killed;
      message.flags =
          (gone ? uint32_t(kTempGone) : 0) | (refusedNetwork ? uint32_t(kNetworkRefused) : 0);
      message.cpuMicroseconds =
          (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
          (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
      message.peakBytes = (uint64_t)usage.ru_maxrss * 1024;
      tell(message);
    }
    raw::quit(0);
  }

  const Plan& plan_;
  const View& view_;
  const long command_;
  bool ended_ = false, stopped_ = false;
  uint32_t stops_ = 0; // as many as were told
  int status_ = 9;     // killed, unless something better is known
};

} // namespace

[[noreturn]] void supervise(const Plan& plan, const View& view, long command) {
  Supervision(plan, view, command).run();
}

} // namespace gos::sandbox
