// The private temp, of which nothing is left whatever the command did to it.

#include "harness.h"

#include "tests/support/leftovers.h"

#include "doctest/doctest.h"

using namespace gos::cases;

namespace {
/// Moves the directories that the grant of the project stands in, and puts others in their place:
/// the project lies beneath /var/tmp, so its grant stands on the temp.
std::string moving(const Room& room) {
  return "mv '" + room.top() + "' /var/tmp/moved && mkdir -p '" + room.top() + "/deep/er'";
}
} // namespace

TEST_CASE("a temp goes also when the command has moved the directories that a grant stands in") {
  for (As who : identities())
    for (const std::string& level : confining()) {
      CAPTURE(name(who));
      CAPTURE(level);
      const Room room(who);
      room.write("mine", "kept");
      const gos::tests::Leftovers left;
      const Outcome outcome =
          room.bwrShell(level, {}, moving(room) + " && cat /var/tmp/moved/p/mine && ls /var/tmp");
      CHECK(outcome.code == 0);
      CHECK(outcome.out.find("kept") == 0);
      CHECK(outcome.out.find("moved") != std::string::npos);
      CHECK(left.allGo());
      CHECK(room.read("mine") == "kept");
      CHECK(!room.exists("../../moved"));
    }
}

TEST_CASE("and when the supervisor was killed meanwhile: the first process removes it") {
  for (As who : identities())
    for (const std::string& level : confining()) {
      CAPTURE(name(who));
      CAPTURE(level);
      const Room room(who);
      room.write("mine", "kept");
      const gos::tests::Leftovers left;
      const Outcome outcome = room.shell(
          "looked='" + kLookedAfter + "'\n" + bwrPath() + " --level " + level +
          " -- sh -c \"${looked}" + moving(room) +
          " && : > /var/tmp/moved/p/there && sleep 300\" & run=$!\n"
          "until [ -e there ]; do kill -0 $run || exit 99; sleep 0.02; done; kill -9 $run; wait");
      CHECK(outcome.code == 0);
      CHECK(left.allGo());
      CHECK(room.read("mine") == "kept");
    }
}
