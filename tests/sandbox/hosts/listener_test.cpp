// A run without `--report` has no listener: the supervisor holds no notification of a filter, and
// the command waits for nobody (B071).

#include "tests/sandbox/each.h"
#include "tests/support/eventually.h"

#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

namespace gos::cases {
namespace {

/// Descriptors of a process that are listeners of a filter; -1: nobody may look. It may close one
/// while we do.
int listenersOf(int process) {
  std::error_code error;
  int count = 0;
  const std::string directory = "/proc/" + std::to_string(process) + "/fd";
  auto entry = std::filesystem::directory_iterator(directory, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string target = std::filesystem::read_symlink(entry->path(), error).string();
    if (error == std::errc::no_such_file_or_directory)
      error.clear();
    else if (!error)
      count += contains(target, "seccomp notify");
  }
  return error ? -1 : count;
}

struct Looked {
  int supervisor = -1;
  std::string filters; // the line of the command's own status
};
/// Looks at bwr while its command stands still.
Looked look(const Room& room, const std::string& level, const std::string& flag) {
  room.shell("rm -f ready go code");
  (void)room.shell(bwrPath() + " --level " + level + " " + flag +
                   " -- sh -c 'grep ^Seccomp /proc/self/status >ready.new; mv ready.new ready; "
                   "while [ ! -e go ]; do sleep 0.05; done' >/dev/null 2>&1 & echo $! >bwr; "
                   "while [ ! -s ready ] && kill -0 $!; do sleep 0.05; done");
  Looked looked;
  looked.filters = room.read("ready");
  const int process = std::atoi(room.read("bwr").c_str());
  REQUIRE(process > 1);
  looked.supervisor = listenersOf(process);
  room.write("go", "");
  CHECK(tests::ends(process));
  return looked;
}

} // namespace

TEST_CASE("B071 without `--report` nobody listens to a filter, and with it the supervisor does") {
  each(confining(), [](const Room& room, const std::string& level) {
    const Looked off = look(room, level, ""), on = look(room, level, "--report");
    if (off.supervisor < 0) {
      skip("B071 the listener", "this host lets nobody look at what a program of theirs holds");
      return;
    }
    CHECK(off.supervisor == 0);
    CHECK(on.supervisor == 1); // the control
    // One filter in either case: a report exchanges it, and adds none.
    CHECK_MESSAGE(contains(off.filters, "Seccomp:\t2\n"), off.filters);
    CHECK(off.filters == on.filters);
  });
}

} // namespace gos::cases
