// `standard` where the host gives no pid namespace: what a run leaves is ended by a subreaper and a
// janitor, and what is outside is refused by the other locks. The cases of the levels once more:
// B044, B045, B065, T109, T138.

#include "tests/sandbox/build_scene.h"
#include "tests/sandbox/each.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gos::cases {
namespace {

std::string own(int which) {
  static int count = 0;
  return "sleep " + std::to_string(4000000 + ::getpid()) + "." +
         std::to_string(which * 1000 + ++count);
}

std::string without() {
  static const std::string copy = bwrPath() + "-without";
  if (::access(copy.c_str(), X_OK) != 0)
    std::filesystem::copy_file(GOS_WITHOUT, copy);
  return copy;
}
/// The words before `-- COMMAND`, for a shell. bwr is executed in the place of `without`.
std::string prefix() {
  return without() + " pid-namespace " + bwrPath() + " --level standard";
}
Outcome run(const Room& room, const std::vector<std::string>& flags,
            const std::vector<std::string>& command, const How& how = {}) {
  std::vector<std::string> words = {without(), "pid-namespace", bwrPath(), "--level", "standard"};
  words.insert(words.end(), flags.begin(), flags.end());
  words.push_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return room.plain(words, how);
}
Outcome runShell(const Room& room, const std::string& script) {
  return run(room, {}, {"/bin/sh", "-c", script});
}

template <class Body> void eachIdentity(Body body) {
  for (As who : identities()) {
    const std::string identity = name(who);
    CAPTURE(identity);
    const Room room(who);
    body(room);
  }
}

/// The last line of what the probe says.
std::string said(const Outcome& outcome) {
  if (outcome.code >= 128)
    return "killed " + std::to_string(outcome.code - 128);
  const llvm::StringRef text = llvm::StringRef(outcome.out).rtrim();
  return (text.contains('\n') ? text.rsplit('\n').second : text).str() +
         (text.empty() ? outcome.err : "");
}

/// A `probe hold` of the one the case runs as, outside, with a secret in its environment.
class Bystander {
public:
  explicit Bystander(const Room& room) {
    const std::string text = own(65);
    const Outcome started =
        room.shell("GOSBOX_SECRET=k9-of-the-bystander setsid " + probePath() +
                   " hold >holds 2>&1 </dev/null & echo $!; while [ ! -s holds ]; do sleep 0.02; "
                   "done");
    id_ = std::atoi(started.out.c_str());
    REQUIRE(id_ > 1);
    REQUIRE(processesWith(probePath() + " hold") == std::vector<int>{id_});
  }
  ~Bystander() { ::kill(id_, SIGKILL); }
  std::string id() const { return std::to_string(id_); }
  bool lives(const Room& room) const {
    const std::string line = room.read("/proc/" + id() + "/stat");
    const size_t end = line.rfind(')');
    return end != std::string::npos && (line[end + 2] == 'S' || line[end + 2] == 'R');
  }

private:
  int id_ = 0;
};

} // namespace

TEST_CASE(
    "without a pid namespace `standard` runs in the caller's, and strict is refused by name") {
  eachIdentity([](const Room& room) {
    const std::string outside = room.shell("readlink /proc/self/ns/pid").out;
    CHECK(runShell(room, "readlink /proc/self/ns/pid").out == outside);
    // The control: with one it is another. In a room of its own: what was proven is remembered.
    const Room fresh(room.who());
    const Outcome separate = fresh.bwrShell("standard", {}, "readlink /proc/self/ns/pid");
    CHECK(llvm::StringRef(separate.out).starts_with("pid:["));
    CHECK(separate.out != outside);
    const Outcome strict =
        room.shell(without() + " pid-namespace " + bwrPath() + " --level strict -- touch ran");
    CHECK(strict.code == 64);
    CHECK_MESSAGE(contains(strict.err, "pid namespace"), strict.err);
    CHECK_FALSE(room.exists("ran"));
  });
}

TEST_CASE("B044 what is left in the background ends with the run without a pid namespace") {
  eachIdentity([](const Room& room) {
    const std::string text = own(44);
    const Outcome outcome = runShell(room, text + " & exit 3");
    CHECK_MESSAGE(outcome.code == 3, outcome.err);
    CHECK(processesWith(text).empty());
    // The control: without bwr it stays.
    CHECK(room.shell(text + " >/dev/null 2>&1 & exit 3").code == 3);
    const std::vector<int> left = processesWith(text);
    CHECK(left.size() == 1);
    for (int process : left)
      ::kill(process, SIGKILL);
  });
}

TEST_CASE("B045 whatever it does to stay ends without a pid namespace: sessions, ignored signals, "
          "stopped processes, hundreds that fork") {
  eachIdentity([](const Room& room) {
    const std::string text = own(45);
    // It ends when all of them sleep; whoever was stopped may not have come to it.
    const std::string script =
        "setsid sh -c 'setsid " + text + " & exit' & (trap '' TERM HUP INT; " + text + ") & (" +
        text + " & kill -STOP $!) & for i in $(seq 200); do (" + text + " &) & done; ";
    const Outcome outcome = runShell(
        room, script +
                  "until [ $(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep "
                  "-cxF " +
                  text.substr(text.find(' ') + 1) + ") -ge 202 ]; do sleep 0.05; done; exit 3");
    CHECK_MESSAGE(outcome.code == 3, outcome.err);
    CHECK(gone(text));
  });
}

TEST_CASE("B065 T111 processes outside are refused without a pid namespace") {
  eachIdentity([](const Room& room) {
    const Bystander other(room);
    const std::string proc = "/proc/" + other.id();
    const std::vector<std::vector<std::string>> acts = {
        {"signal", other.id()},
        {"tgkill", other.id()},
        {"ptrace", other.id()},
        {"memory-read", other.id()},
        {"take-descriptor", other.id(), "0"},
        {"call", "312", other.id(), other.id(), "0", "0", "0"}, // kcmp
        {"read", proc + "/environ"},
        {"read", proc + "/maps"},
        {"read", proc + "/mem"},
        {"list", proc + "/root/"},
        {"list", proc + "/cwd/"},
        // The numbers of its descriptors can be listed, as those of its process; not what is
        // behind.
        {"read", proc + "/fd/0"},
    };
    for (const std::vector<std::string>& act : acts) {
      std::vector<std::string> command = {probePath()};
      command.insert(command.end(), act.begin(), act.end());
      const std::string words = llvm::join(act, " ");
      CAPTURE(words);
      const std::string control = said(room.plain(command));
      if (control == "refused EPERM" && room.who() == As::User)
        skip("the control of `" + act[0] + "`",
             "this host lets nobody trace what is not their child");
      else if (act.back() != proc + "/mem") // nothing is mapped at 0
        CHECK(control == "ok");
      const std::string answer = said(run(room, {"--ro", probePath()}, command));
      CHECK_MESSAGE(llvm::StringRef(answer).starts_with("refused "), answer);
    }
    CHECK(other.lives(room));
    const std::string read = " 2>/dev/null | tr '\\0' '\\n'";
    CHECK(contains(room.shell("cat " + proc + "/environ" + read).out, "k9-of-the-bystander"));
    CHECK_FALSE(
        contains(runShell(room, "cat /proc/[0-9]*/environ" + read).out, "k9-of-the-bystander"));
    // Its own processes are its own.
    CHECK(runShell(room, "sleep 30 & kill $! && wait $!; echo $?").out == "143\n");
  });
}

TEST_CASE("T109 nothing that a build starts is there when it has ended without a pid namespace") {
  if (missesCargo("T109 without a pid namespace"))
    return;
  eachIdentity([](const Room& room) {
    const std::string seconds = uniqueSeconds(709 + int(room.who()));
    Scene scene(room);
    scene.buildWith([&](const std::string&, const std::vector<std::string>& flags, const How& how) {
      return run(room, flags, cargoBuild(), how);
    });
    const std::vector<Act> acts = {{"T109", {"survive", seconds}, {}}, {"T109", {"hop"}, {}}};
    Report report = scene.build(acts, "standard", {});
    judge(acts, report, "standard", {});
    CHECK(gone("sleep " + seconds));
    CHECK(gone(room.top()));
  });
}

TEST_CASE("T138 a supervisor that is killed leaves nothing without a pid namespace") {
  eachIdentity([](const Room& room) {
    const std::string text = own(138);
    const Leftovers left;
    (void)room.shell(prefix() + " -- sh -c '" + kLookedAfter + "touch $TMPDIR/mine; setsid " +
                     text + " & setsid sh -c \"setsid " + text + " & exit\"; touch ready; " + text +
                     "' & while [ ! -e ready ]; do sleep 0.02; done; kill -KILL $!");
    CHECK(gone(text));
    CHECK(left.allGo());
    // At any moment of the start.
    (void)room.shell("i=0; while [ $i -lt 40 ]; do " + prefix() + " -- " + text +
                     " & p=$!; sleep 0.00$((i % 6)); kill -KILL $p; wait $p; i=$((i+1)); done");
    CHECK(gone(text));
    CHECK(runShell(room, "true").code == 0);
    CHECK(left.allGo([&] { CHECK(runShell(room, "true").code == 0); }));
  });
}

} // namespace gos::cases
