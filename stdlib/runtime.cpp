// std::runtime, and the small modules whose work is done elsewhere: sandbox, ffi, term.

#include "stdlib/support.h"

#include <unistd.h>

namespace gos::stdlib::bodies {

/// Memory is counted: there is nothing to collect but cycles, which this runtime does not look for.
Trap RuntimeCollectCycles(Arguments& arguments) { return arguments.returnUnit(); }
Trap RuntimeCycleCollection(Arguments& arguments) { return arguments.returnBoolean(false); }

// The sandbox of commands is not built yet; each of these says so.
Trap SandboxCheck(Arguments& arguments) {
  return arguments.returnString("`sandbox::Policy::check` is not built yet: this version runs no command under a policy");
}
Trap SandboxRun(Arguments& arguments) {
  return arguments.returnString("`sandbox::run` is not built yet: this version runs no command under a policy");
}
Trap SandboxMaxLevel(Arguments& arguments) { return arguments.returnString("none"); }
Trap SandboxPlatform(Arguments& arguments) {
#if defined(__linux__)
  return arguments.returnString("linux");
#elif defined(__APPLE__)
  return arguments.returnString("macos");
#else
  return arguments.returnString("unknown");
#endif
}
Trap SandboxNotes(Arguments& arguments) {
  return arguments.returnStrings({std::string("running commands under a policy is not built yet")});
}
Trap SandboxCapabilitiesJson(Arguments& arguments) { return arguments.returnString("{\"max_level\":\"none\"}"); }

Trap FfiLastErrno(Arguments& arguments) { return arguments.returnInteger(errno); }
Trap TermIsTerminal(Arguments& arguments) {
  const int64_t fd = arguments.integer(0);
  return arguments.returnBoolean(fd >= 0 && fd <= 2 && ::isatty(int(fd)) == 1);
}

} // namespace gos::stdlib::bodies
