#include "sandbox/linux/probe_script.h"

#include "sandbox/linux/spawn.h"
#include "sandbox/sys_error.h"

#include <cassert>
#include <cstring>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>

namespace gos::sandbox {

ProbeScript::Argument ProbeScript::text(llvm::StringRef text) {
  const std::string copy = text.str();
  return bytes(copy.c_str(), copy.size() + 1);
}

ProbeScript::Argument ProbeScript::bytes(const void* data, size_t size) {
  memory_.resize((memory_.size() + 15) / 16 * 16);
  const size_t offset = memory_.size();
  if (data != nullptr)
    memory_.append(static_cast<const char*>(data), size);
  else
    memory_.append(size, '\0');
  return {ProbeArgument::Memory, offset};
}

ProbeCall& ProbeScript::add(long number, ProbeJudge judge, Arguments arguments) {
  assert(acts_ != 0 && arguments.size() <= 6);
  ProbeCall call{};
  call.number = int32_t(number);
  call.act = uint32_t(acts_ - 1);
  call.judge = judge;
  size_t at = 0;
  for (const Argument& argument : arguments) {
    call.kinds[at] = argument.kind;
    call.arguments[at++] = argument.value;
  }
  calls_.push_back(call);
  return calls_.back();
}

ProbeScript::Argument ProbeScript::must(long number, Arguments arguments) {
  add(number, ProbeJudge::Must, arguments);
  return answer();
}
void ProbeScript::attempt(long number, Arguments arguments) {
  add(number, ProbeJudge::Nothing, arguments);
}
void ProbeScript::refused(long number, Arguments arguments, llvm::ArrayRef<int> errors) {
  ProbeCall& call = add(number, ProbeJudge::Refused, arguments);
  assert(!errors.empty() && errors.size() <= size_t(kProbeErrors));
  for (int error : errors)
    call.errors[call.errorCount++] = error;
}
ProbeScript::Argument ProbeScript::works(long number, Arguments arguments) {
  add(number, ProbeJudge::Works, arguments);
  return answer();
}
void ProbeScript::equals(uint64_t value, long number, Arguments arguments) {
  add(number, ProbeJudge::Equals, arguments).value = value;
}
void ProbeScript::word(long number, Arguments arguments, Argument buffer, size_t offset,
                       unsigned bytes, uint64_t mask, uint64_t value, bool differs) {
  ProbeCall& call = add(number, differs ? ProbeJudge::Differs : ProbeJudge::Word, arguments);
  call.look = uint32_t(buffer.value + offset);
  call.bytes = uint8_t(bytes);
  call.mask = mask;
  call.value = value & mask;
}

std::string ProbeScript::finish() const {
  ProbePlan plan{};
  plan.callCount = uint32_t(calls_.size());
  plan.calls = 16;
  const size_t memory = (plan.calls + calls_.size() * sizeof(ProbeCall) + 15) / 16 * 16;
  std::vector<ProbeCall> calls = calls_;
  for (ProbeCall& call : calls) {
    for (int at = 0; at != 6; ++at)
      if (call.kinds[at] == ProbeArgument::Memory)
        call.arguments[at] += memory;
    call.look += uint32_t(memory);
  }
  std::string script(memory, '\0');
  std::memcpy(script.data(), &plan, sizeof plan);
  if (!calls.empty())
    std::memcpy(script.data() + plan.calls, calls.data(), calls.size() * sizeof(ProbeCall));
  return script + memory_;
}

namespace {

/// Answers everything that the listener brings until the control socket has something to say.
void answerNotifications(int listener, int control, int error) {
  while (true) {
    pollfd entries[2] = {{listener, POLLIN, 0}, {control, POLLIN, 0}};
    if (retryInterrupted([&] { return ::poll(entries, 2, -1); }) < 0 || entries[1].revents != 0 ||
        (entries[0].revents & POLLIN) == 0)
      return;
    seccomp_notif request{};
    if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) != 0)
      return;
    seccomp_notif_resp response{};
    response.id = request.id;
    response.error = -error;
    ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
  }
}

} // namespace

llvm::Expected<ProbeEnd> launchProbe(const ChildPlan& plan, const ProbeScript& script,
                                     const ProbeLaunch& launch) {
  UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  int ends[2];
  if (!null)
    return sysError("open", "/dev/null", errno);
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return sysError("pipe", "", errno);
  UniqueFd reading(ends[0]), writing(ends[1]);

  LaunchInput input;
  input.streams[0] = launch.input >= 0 ? launch.input : null.get();
  input.streams[1] = writing.get(); // held open by whatever outlives the run
  input.streams[2] = null.get();
  input.probePlan = script.finish();
  if (launch.temporary != nullptr) {
    input.temporaryParent = launch.temporary->parent();
    input.temporary = launch.temporary->directory();
    input.temporaryName = launch.temporary->name();
  }
  llvm::Expected<Child> child = Child::launch(plan, input);
  if (!child)
    return child.takeError();
  writing.reset();

  ProbeEnd end;
  end.verdicts.resize(script.actCount());
  UniqueFd listener;
  while (true) {
    if (listener)
      answerNotifications(listener.get(), child->control(), launch.answerNotified);
    Child::Received received = child->receive(/*wait=*/true);
    if (received.gone || !received.message)
      break;
    const ControlMessage& message = *received.message;
    if (message.kind == ControlKind::Failed)
      return llvm::make_error<LaunchFailure>(message.stage, message.error, message.index);
    if (message.kind == ControlKind::Listener)
      listener = std::move(received.descriptor);
    if (message.kind == ControlKind::ProbeResult && message.index < end.verdicts.size())
      end.verdicts[message.index] = {true, ProbeStatus(message.status), message.error};
    if (message.kind == ControlKind::Ended)
      break;
  }
  child->finish();
  pollfd entry = {reading.get(), POLLIN, 0};
  end.survivors = retryInterrupted([&] { return ::poll(&entry, 1, 0); }) == 0;
  return end;
}

} // namespace gos::sandbox
