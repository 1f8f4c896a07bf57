// What a command could do to the process that ends its run, and to those outside that share a group
// or a terminal with it.

#include "harness.h"

#include "doctest/doctest.h"

using namespace gos::cases;

namespace {

/// Each act on a process whose id is in $1. Nobody may be given a processor that this host keeps
/// from us, nor a priority that is higher than ours.
const std::vector<std::string>& acts() {
  static const std::vector<std::string> all = {
      "taskset -p $(taskset -p $$ | sed 's/.*: //') $1", "renice -n 19 -p $1", "chrt -i -p 0 $1",
      "ionice -c 3 -p $1", "prlimit --pid $1 --cpu=100:100"};
  return all;
}
std::string on(const std::string& act, const std::string& process) {
  return "set -- " + process + "; " + act + " >/dev/null 2>&1";
}

} // namespace

TEST_CASE("T111 the process that ends a run is not put to sleep by its command") {
  for (const char* tool : {"taskset", "renice", "chrt", "ionice", "prlimit"})
    if (!installed(tool))
      return skip("T111", std::string(tool) + " is not installed");
  for (As who : identities())
    for (const std::string& level : confining())
      for (const std::string& act : acts()) {
        CAPTURE(name(who));
        CAPTURE(level);
        CAPTURE(act);
        const Room room(who);
        // The control: on a child of its own it works, here and there.
        const std::string child = "sleep 60 & " + on(act, "$!") + "; code=$?; kill $!; exit $code";
        CHECK(room.shell(child).code == 0);
        CHECK(room.bwrShell(level, {}, child).code == 0);
        CHECK(room.bwrShell(level, {}, on(act, "1")).code != 0);
      }
}

TEST_CASE("the group of a command is outside too: its priority stays") {
  for (As who : identities())
    for (const std::string& level : confining())
      for (const char* act :
           {"renice -n 19 -g 0", "ionice -c 3 -P 0", "renice -n 19 -u $(id -u)"}) {
        CAPTURE(name(who));
        CAPTURE(level);
        CAPTURE(act);
        const Room room(who);
        // In a session of its own, so that the control is nobody else's.
        CHECK(room.plain({"setsid", "-w", "sh", "-c", "renice -n 19 -g 0 >/dev/null"}).code == 0);
        CHECK(room.bwrShell(level, {}, std::string(act) + " >/dev/null 2>&1").code != 0);
        CHECK(room.bwrShell(level, {}, "nice -n 5 true && renice -n 19 -p $$ >/dev/null").code ==
              0);
      }
}

TEST_CASE("a command does not keep the terminal for itself") {
  if (!installed("perl"))
    return skip("TIOCEXCL", "perl is not installed");
  const std::string exclusive = "perl -e 'exit(ioctl(STDIN, 0x540c, 0) ? 0 : 7)'";
  for (As who : identities())
    for (const std::string& level : confining()) {
      CAPTURE(name(who));
      CAPTURE(level);
      const Room room(who);
      How how;
      how.terminal = true;
      CHECK(room.shell(exclusive, how).code == 0);
      CHECK(room.bwrShell(level, {}, exclusive, how).code == 7);
    }
}

TEST_CASE("submodules without number leave no guard out: all of the repository is closed") {
  for (As who : identities())
    for (const std::string& level : confining()) {
      CAPTURE(name(who));
      CAPTURE(level);
      const Room room(who);
      room.makeDirectory(".git/hooks");
      room.write(".git/config", "");
      room.makeDirectory(".git/modules/zlib/hooks");
      room.write(".git/modules/zlib/config", "");
      const std::string plant = "{ echo x >> .git/modules/zlib/config; } 2>/dev/null";
      CHECK(room.bwrShell(level, {}, plant).code != 0);
      REQUIRE(room.bwrShell(level, {},
                            "i=0; while [ $i -lt 300 ]; do mkdir -p .git/modules/a$i/hooks; : > "
                            ".git/modules/a$i/config; i=$((i+1)); done")
                  .code == 0);
      CHECK(room.bwrShell(level, {}, plant).code != 0);
      CHECK(room.bwrShell(level, {}, "{ echo x >> .git/modules/a7/config; } 2>/dev/null").code !=
            0);
      CHECK(room.shell(plant).code == 0);
    }
}

TEST_CASE("a limit that leaves bwr no memory is told, and is no code of the command") {
  const Room room(identities().back());
  const Outcome outcome = room.plain({"prlimit", "--data=1000000:1000000", bwrPath(), "--level",
                                      "basic", "--", "sh", "-c", "exit 9"});
  CHECK((outcome.code == 126 || outcome.code == 9));
  if (outcome.code == 126)
    CHECK(outcome.err.find("no memory is left") != std::string::npos);
}
