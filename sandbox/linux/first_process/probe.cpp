// The self-proof: acts tried behind the locks of a start, in the place of the command. What it does
// is written in the script; it decides nothing but whether an answer is the expected one.

#include "sandbox/linux/first_process/probe.h"

#include "sandbox/linux/first_process/first_process.h"

#include <fcntl.h>

namespace gos::sandbox {

namespace {

constexpr int kMostDescriptors = 4096;

long countDescriptors() {
  long count = 0;
  for (int fd = 3; fd != kMostDescriptors; ++fd)
    if (fd != kControlFd && raw::sys(__NR_fcntl, fd, F_GETFD) >= 0)
      ++count;
  return count;
}

long startSurvivor() {
  const long id = raw::sys(__NR_clone, 17 /* SIGCHLD */, 0, 0, 0, 0);
  if (id != 0)
    return id;
  raw::sys(__NR_close, kControlFd);
  raw::sys(__NR_setsid);
  const uint64_t all = ~0ull;
  raw::sys(__NR_rt_sigprocmask, 2 /* SIG_SETMASK */, &all, 0, 8);
  while (true)
    raw::sys(__NR_ppoll, 0, 0, 0, 0, 0);
}

class Script {
public:
  explicit Script(char* base)
      : base_(base), plan_(*(const ProbePlan*)base), calls_((ProbeCall*)(base + plan_.calls)) {}

  void run() {
    for (uint32_t index = 0; index != plan_.callCount;) {
      const uint32_t act = calls_[index].act;
      ProbeStatus status = ProbeStatus::Held;
      int error = 0;
      for (; index != plan_.callCount && calls_[index].act == act; ++index) {
        ProbeCall& call = calls_[index];
        // After the first that went wrong only the cleaning is left: others could wait for ever.
        if (status != ProbeStatus::Held && call.judge != ProbeJudge::Nothing)
          continue;
        const long result = perform(call);
        const bool good = judge(call, result);
        // The answer takes the place of the first argument: later calls find it there.
        call.arguments[0] = (uint64_t)result;
        if (call.judge != ProbeJudge::Nothing && call.judge != ProbeJudge::Must && result < 0 &&
            error == 0)
          error = (int)-result;
        if (good)
          continue;
        status = call.judge == ProbeJudge::Must ? ProbeStatus::NotTried : ProbeStatus::LetThrough;
        error = result < 0 ? (int)-result : 0;
      }
      ControlMessage message{};
      message.kind = ControlKind::ProbeResult;
      message.index = act;
      message.status = (int32_t)status;
      message.error = error;
      tell(message);
    }
  }

private:
  long perform(const ProbeCall& call) {
    long arguments[6];
    for (int at = 0; at != 6; ++at) {
      const uint64_t given = call.arguments[at];
      switch (call.kinds[at]) {
      case ProbeArgument::Value:
        arguments[at] = (long)given;
        break;
      case ProbeArgument::Memory:
        arguments[at] = (long)(base_ + given);
        break;
      case ProbeArgument::Result:
        arguments[at] = (long)calls_[given].arguments[0];
        break;
      }
    }
    if (call.number == kProbeDescriptors)
      return countDescriptors();
    if (call.number == kProbeSurvivor)
      return startSurvivor();
    return raw::call(call.number, arguments[0], arguments[1], arguments[2], arguments[3],
                     arguments[4], arguments[5]);
  }

  uint64_t word(const ProbeCall& call) const {
    const char* at = base_ + call.look;
    return (call.bytes == 8 ? *(const uint64_t*)at : *(const uint32_t*)at) & call.mask;
  }

  bool judge(const ProbeCall& call, long result) const {
    switch (call.judge) {
    case ProbeJudge::Nothing:
      return true;
    case ProbeJudge::Must:
    case ProbeJudge::Works:
      return result >= 0;
    case ProbeJudge::Refused:
      for (uint32_t at = 0; at != call.errorCount; ++at)
        if (result == -(long)call.errors[at])
          return true;
      return false;
    case ProbeJudge::Equals:
      return result == (long)call.value;
    case ProbeJudge::Word:
      return result >= 0 && word(call) == call.value;
    case ProbeJudge::Differs:
      return result >= 0 && word(call) != call.value;
    }
    return false;
  }

  char* const base_;
  const ProbePlan& plan_;
  ProbeCall* const calls_;
};

} // namespace

[[noreturn]] void runProbe(const Plan& plan) {
  Script(plan.base + plan.header().probe).run();
  raw::quit(0);
}

} // namespace gos::sandbox
