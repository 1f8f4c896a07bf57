// std::os::fd: waiting for descriptors by number. Whose they are is the program's affair.

#include "sandbox/sys_error.h"
#include "stdlib/host_state.h"
#include "stdlib/support.h"
#include "vm/scheduler.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <poll.h>

namespace gos::stdlib {

using vm::Scheduler;

Trap awaitDescriptor(Arguments& arguments, int fd, short events, Deadline deadline,
                     vm::WaitKind kind) {
  Vm& vm = arguments.vm();
  Scheduler& scheduler = vm.scheduler();
  pollfd now{fd, events, 0};
  if (retryInterrupted([&] { return ::poll(&now, 1, 0); }) != 0) // an error is told by what follows
    return arguments.returnBoolean(true);
  if (scheduler.isCancelled() || (deadline && *deadline <= std::chrono::steady_clock::now()))
    return arguments.returnBoolean(false);
  if (scheduler.mayBlock()) {
    scheduler.awaitDescriptor(fd, events, deadline, kind);
    return {};
  }
  // A run within a run, or a hook: nobody else goes on there anyway.
  if (!vm.inFold())
    hostOf(vm).flush();
  Interrupt interrupt;
  const Interrupt::Ended ended = interrupt.wait(fd, events, deadline);
  return waitingIsOver() ? trapOfEnding()
                         : arguments.returnBoolean(ended == Interrupt::Ended::Ready);
}

namespace bodies {

namespace {

Trap await(Arguments& arguments, short events) {
  const int64_t fd = arguments.integer(0);
  const int64_t ms = arguments.integer(1);
  if (fd < 0 || fd > INT_MAX || ::fcntl(int(fd), F_GETFD) == -1)
    return Trap::panic("descriptor " + std::to_string(fd) + " is not open");
  LibraryHost& host = hostOf(arguments.vm());
  // What was read ahead of the program is there to be read.
  if (fd == STDIN_FILENO && events == POLLIN && host.input()->hasNow())
    return arguments.returnBoolean(true);
  Deadline deadline;
  if (ms >= 0)
    deadline = std::chrono::steady_clock::now() +
               std::chrono::milliseconds(std::min<int64_t>(ms, int64_t(1) << 40));
  return awaitDescriptor(arguments, int(fd), events, deadline);
}

} // namespace

Trap FdWaitReadable(Arguments& arguments) {
  return await(arguments, POLLIN);
}
Trap FdWaitWritable(Arguments& arguments) {
  return await(arguments, POLLOUT);
}

} // namespace bodies
} // namespace gos::stdlib
