#include "sandbox/linux/post_fork.h"

#include "sandbox/linux/first_process/raw.h"
#include "sandbox/linux/launch_plan.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/prctl.h>

namespace gos::sandbox {

namespace {
[[noreturn]] void giveUp(PostFork& work, Stage stage, long result) noexcept {
  work.failedStage = int32_t(stage);
  work.failedError = int32_t(-result);
  raw::quit(1);
}
} // namespace

void postFork(void* argument) noexcept {
  PostFork& work = *static_cast<PostFork*>(argument);
  // Every source has a number above these, so no step takes one away that a later step needs.
  for (int number = 0; number != kFirstFreeFd; ++number) {
    if (work.sources[number] < 0) {
      raw::sys(__NR_close, number);
      continue;
    }
    const long result = raw::sys(__NR_dup3, work.sources[number], number, 0);
    if (result < 0)
      giveUp(work, Stage::ExecuteFirst, result);
  }
  long result = raw::sys(__NR_close_range, kFirstFreeFd, ~0u, CLOSE_RANGE_CLOEXEC);
  if (result < 0)
    giveUp(work, Stage::ExecuteFirst, result);
  if (work.keepCapabilities) {
    // execve of a process whose user is not mapped to 0 drops every capability that is not ambient.
    __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[2] = {};
    result = raw::sys(__NR_capget, &header, data);
    if (result < 0)
      giveUp(work, Stage::Capabilities, result);
    const uint32_t wanted = 1u << CAP_SYS_ADMIN | 1u << CAP_NET_ADMIN | 1u << CAP_SETPCAP |
                            1u << CAP_DAC_READ_SEARCH | 1u << CAP_DAC_OVERRIDE |
                            1u << CAP_SYS_CHROOT;
    data[0].inheritable = data[0].permitted & wanted;
    data[1].inheritable = 0;
    result = raw::sys(__NR_capset, &header, data);
    for (int capability = 0; result >= 0 && capability != 32; ++capability)
      if (data[0].inheritable & (1u << capability))
        result = raw::sys(__NR_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0);
    if (result < 0)
      giveUp(work, Stage::Capabilities, result);
  }
  const char* const environment[] = {nullptr};
  result =
      raw::sys(__NR_execveat, work.program, "", work.arguments, environment, raw::kAtEmptyPath);
  giveUp(work, Stage::ExecuteFirst, result);
}

} // namespace gos::sandbox
