// Processes and streams: B041 to B053 and B059 of the catalogue of honest builds; T136 to T139.

#include "tests/sandbox/each.h"
#include "tests/support/leftovers.h"

#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace gos::cases {

using tests::eventually;
using tests::Leftovers;

namespace {

/// A number of seconds that only this test sleeps, so that its processes can be told from all
/// others.
std::string unique(int which) {
  return std::to_string(1000000 + ::getpid()) + "." + std::to_string(which);
}

/// Waits for the last process with the text to be gone.
bool gone(const std::string& text) {
  return eventually([&] { return processesWith(text).empty(); });
}

} // namespace

TEST_CASE("B041 a crash is its signal, and leaves no core in the project") {
  // As much as an ordinary user is given here.
  const std::string most = "ulimit -c $(ulimit -H -c); ";
  for (As who : identities()) {
    const Room plain(who);
    const Outcome control = plain.shell(most + "sh -c 'kill -SEGV $$'");
    CHECK(control.code == 139);
    if (plain.shell("ls -A").out == "")
      skip(std::string("B041, the core, as ") + name(who),
           "a crash leaves none in its directory here either: core_pattern is " +
               plain.read("/proc/sys/kernel/core_pattern"));
  }
  each(levels(), [&](const Room& room, const std::string& level) {
    const Outcome outcome = room.shell(most + "ulimit -c; exec " + bwrPath() + " --level " + level +
                                       " -- sh -c 'ulimit -c; kill -SEGV $$'");
    CHECK(outcome.code == 139);
    CHECK_MESSAGE(outcome.out == room.shell("ulimit -H -c").out + "0\n", outcome.err);
    CHECK(room.shell("ls -A").out == "");
  });
}

TEST_CASE("B042 umask, limits, priority, directory and name are the caller's") {
  const std::string script = "umask; ulimit -s; ulimit -n; nice; pwd; echo $0";
  each(levels(), [&](const Room& room, const std::string& level) {
    CHECK(room.bwr(level, {}, {"sh", "-c", script, "name"}).out ==
          room.plain({"sh", "-c", script, "name"}).out);
    const std::string odd = "umask 027; ulimit -s 4096; exec nice -n 3 ";
    CHECK(room.shell(odd + bwrPath() + " --level " + level + " -- sh -c '" + script + "'").out ==
          room.shell(odd + "sh -c '" + script + "'").out);
  });
}

TEST_CASE("B043 scripts run as under a shell, and a missing interpreter is named") {
  each(levels(), [](const Room& room, const std::string& level) {
    room.write("plain", "echo ran $1\necho then $2\necho \"in $PWD\"\n", 0755);
    room.write("missing", "#!/no/interpreter -x\necho ran\n", 0755);
    room.write("returns", "#!/bin/sh\r\necho ran\r\n", 0755);
    Outcome outcome = room.bwr(level, {}, {"./plain", "one", "a  b"});
    CHECK(outcome.code == 0);
    CHECK(outcome.out == "ran one\nthen a b\nin " + room.project() + "\n");
    CHECK(outcome.out == room.shell("sh ./plain one 'a  b'").out);
    outcome = room.bwr(level, {}, {"./missing"});
    CHECK(outcome.code == 127);
    CHECK_MESSAGE(outcome.err.find("/no/interpreter") != std::string::npos, outcome.err);
    outcome = room.bwr(level, {}, {"./returns"});
    CHECK(outcome.code == 127);
    CHECK_MESSAGE(outcome.err.find("/bin/sh") != std::string::npos, outcome.err);
  });
}

TEST_CASE("B044 what is left in the background ends with the run") {
  each(levels(), [](const Room& room, const std::string& level) {
    const std::string text = "sleep " + unique(44);
    const Outcome outcome = room.bwrShell(level, {}, text + " & exit 3");
    CHECK(outcome.code == 3);
    CHECK(processesWith(text).empty());
  });
}

TEST_CASE("B045 and whatever it does to stay: sessions, ignored signals, stopped processes, "
          "hundreds that fork") {
  each(levels(), [](const Room& room, const std::string& level) {
    const std::string seconds = unique(45), text = "sleep " + seconds;
    // It ends when all of them sleep; whoever was stopped may not have come to it.
    const Outcome outcome = room.bwrShell(level, {},
                                          "setsid sh -c 'setsid " + text +
                                              " & exit' & "
                                              "(trap '' TERM HUP INT; " +
                                              text +
                                              ") & "
                                              "(" +
                                              text +
                                              " & kill -STOP $!) & "
                                              "for i in $(seq 200); do (" +
                                              text +
                                              " &) & done; "
                                              "until [ $(cat /proc/[0-9]*/cmdline 2>/dev/null | tr "
                                              "'\\0' '\\n' | grep -cxF " +
                                              seconds + ") -ge 202 ]; do sleep 0.05; done; exit 3");
    CHECK_MESSAGE(outcome.code == 3, outcome.err);
    CHECK(gone(text));
  });
}

TEST_CASE("B046 a daemon does not keep the run open") {
  each(levels(), [](const Room& room, const std::string& level) {
    const std::string text = "sleep " + unique(46);
    const Outcome outcome =
        room.bwrShell(level, {}, "(setsid " + text + " </dev/null >/dev/null 2>&1 &)");
    CHECK(outcome.code == 0);
    CHECK(gone(text));
  });
}

TEST_CASE("B047 a signal to bwr reaches the command once, and its answer is ours") {
  each(levels(), [](const Room& room, const std::string& level) {
    for (const char* signal : {"TERM", "INT", "HUP", "QUIT", "USR1", "USR2", "WINCH"}) {
      CAPTURE(signal);
      const std::string inner = "trap \"echo bye >>said\" " + std::string(signal) +
                                "; touch ready; i=0; while [ ! -s said ] && [ $i -lt 4000 ]; do "
                                "sleep 0.05; i=$((i+1)); done; sleep 0.2; exit 7";
      room.write("inner", inner);
      const Outcome outcome = room.shell(
          "rm -f ready said; env --default-signal=INT,QUIT " + bwrPath() + " --level " + level +
          " -- sh inner & p=$!; while [ ! -e ready ]; do sleep 0.02; done; kill -" + signal +
          " $p; wait $p; echo $?");
      CHECK_MESSAGE(outcome.out == "7\n", outcome.err);
      CHECK(room.read("said") == "bye\n");
    }
  });
}

TEST_CASE("B048 TERM at any moment of a start leaves no orphan") {
  const Leftovers left;
  for (As who : identities())
    for (const std::string& level : levels()) {
      CAPTURE(level);
      const Room room(who);
      const std::string text = "sleep " + unique(48);
      const Outcome outcome = room.shell(
          "i=0; while [ $i -lt 60 ]; do " + bwrPath() + " --level " + level + " -- " + text +
          " & p=$!; sleep 0.00$((i % 6)); kill -TERM $p; wait $p; i=$((i+1)); done");
      CHECK(outcome.code != 127);
      CHECK(gone(text));
    }
  CHECK(left.allGo());
}

TEST_CASE("B049 many at once, each ends") {
  for (As who : identities())
    for (const std::string& level : levels()) {
      CAPTURE(level);
      const Room room(who);
      const Outcome outcome = room.shell(
          "for j in $(seq 16); do (for i in $(seq 12); do " + bwrPath() + " --level " + level +
          " -- sh -c 'echo $0' $j.$i || echo bad; done) >out.$j & done; wait; "
          "for j in $(seq 16); do cat out.$j; done");
      // Each run says its own words, after those of the run before it.
      std::string wanted;
      for (int strand = 1; strand <= 16; ++strand)
        for (int run = 1; run <= 12; ++run)
          wanted += std::to_string(strand) + "." + std::to_string(run) + "\n";
      CHECK_MESSAGE(outcome.out == wanted, outcome.err);
    }
}

TEST_CASE("B050 no zombie is visible inside") {
  // A session of 300 processes that are left; prints how many of it are zombies when none runs any
  // more. Who takes them over is the script itself with the word `keeps`, which reaps none.
  const std::string script = R"(
import ctypes, os, subprocess, sys, time
if sys.argv[1] == 'keeps':
    assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0
made = subprocess.Popen(['sh', '-c', 'for i in $(seq 300); do (true &); done'], start_new_session=True)
assert made.wait() == 0
def states():
    found = []
    for entry in os.listdir('/proc'):
        try:
            fields = open('/proc/' + entry + '/stat').read().rpartition(')')[2].split()
        except OSError:
            continue
        if fields[3] == str(made.pid):
            found.append(fields[0])
    return found
assert any(entry == str(os.getpid()) for entry in os.listdir('/proc'))
while any(state not in 'ZX' for state in states()):
    time.sleep(0.01)
for wait in range(10000):
    left = states().count('Z')
    if left == 0 or sys.argv[1] == 'keeps':
        break
    time.sleep(0.02)
print(left)
)";
  each(levels(), [&](const Room& room, const std::string& level) {
    room.write("zombies.py", script);
    const Outcome control = room.plain({"python3", "zombies.py", "keeps"});
    CHECK_MESSAGE(control.out == "300\n", control.err);
    const Outcome outcome = room.bwr(level, {}, {"python3", "zombies.py", "leaves"});
    CHECK_MESSAGE(outcome.out == "0\n", outcome.err);
  });
}

TEST_CASE("B051 a grandchild with the pipe cannot hold the caller") {
  each(levels(), [](const Room& room, const std::string& level) {
    const std::string text = "sleep " + unique(51);
    const Outcome outcome =
        room.shell(bwrPath() + " --level " + level + " -- sh -c '" + text + " & echo ok' | cat");
    CHECK(outcome.out == "ok\n");
    CHECK(gone(text));
    // Much on both streams, whole and in order.
    const Outcome much = room.bwrShell(
        level, {},
        "head -c 20000000 /dev/zero | tr '\\0' a; head -c 20000000 /dev/zero | tr '\\0' b >&2");
    CHECK(much.out.size() == 20000000);
    CHECK(much.err.size() == 20000000);
    CHECK(much.out.find_first_not_of('a') == std::string::npos);
    CHECK(much.err.find_first_not_of('b') == std::string::npos);
    // Every line where it belongs, though both streams are written in turn.
    const Outcome lines = room.bwr(level, {},
                                   {"python3", "-c",
                                    "import os\nfor i in range(200000):\n"
                                    "  os.write(1 + i % 2, b'%d\\n' % i)"});
    std::string even, odd;
    for (int line = 0; line != 200000; ++line)
      (line % 2 == 0 ? even : odd) += std::to_string(line) + "\n";
    CHECK(lines.code == 0);
    CHECK((lines.out == even));
    CHECK((lines.err == odd));
  });
}

TEST_CASE("B052 exit codes are the command's, and ours are told apart") {
  each(levels(), [](const Room& room, const std::string& level) {
    CHECK(room.bwrShell(level, {}, "exit 42").code == 42);
    CHECK(room.bwrShell(level, {}, "exit 200").code == 200);
    CHECK(room.bwrShell(level, {}, "kill -SEGV $$").code == 139);
    CHECK(room.bwr(level, {}, {"/no/such"}).code == 127);
    CHECK(room.bwr(level, {}, {"no-such-command"}).code == 127);
    CHECK(room.bwr(level, {}, {"/etc/passwd"}).code == 126);
    CHECK(room.bwr(level, {}, {"/etc"}).code == 126);
    CHECK(room.bwr(level, {}, {}).code == 2);
  });
}

TEST_CASE("B059 standard input in every shape") {
  each(levels(), [](const Room& room, const std::string& level) {
    How how;
    how.input = "a\nb\n";
    CHECK(room.bwr(level, {}, {"cat"}, how).out == "a\nb\n");
    How closed;
    closed.closedInput = true;
    const Outcome ended = room.bwr(level, {}, {"cat"}, closed);
    CHECK(ended.code == 0);
    CHECK(ended.out == "");
    const Outcome bytes =
        room.shell("head -c 100000000 /dev/urandom >big; md5sum <big >one; " + bwrPath() +
                   " --level " + level + " -- cat <big | md5sum >two; cmp one two; rm big");
    CHECK(bytes.code == 0);
  });
}

TEST_CASE("T136 a directory is no stream, and a closed stream is /dev/null") {
  each(levels(), [](const Room& room, const std::string& level) {
    const Outcome directory =
        room.shell(bwrPath() + " --level " + level + " -- touch ran <" + room.home());
    CHECK(directory.code == 126);
    CHECK_FALSE(room.exists("ran"));
    const Outcome closed =
        room.shell(bwrPath() + " --level " + level +
                   " -- sh -c 'readlink /proc/self/fd/0; ls -l /proc/self/fd >/dev/null' <&- ");
    CHECK(closed.out == "/dev/null\n");
    // Each of the three, in each direction, and one that is only a name.
    const std::string run = bwrPath() + " --level " + level + " -- ";
    for (const char* stream : {"0", "1", "2"}) {
      CAPTURE(std::string(stream));
      room.write("pass.py",
                 "import os, sys\nstream = int(sys.argv[1])\n"
                 "fd = os.open(sys.argv[2], getattr(os, sys.argv[3]))\n"
                 "os.dup2(fd, stream)\nos.close(fd)\nos.execv(sys.argv[4], sys.argv[4:])\n");
      const auto pass = [&](const std::string& what, const std::string& how) {
        return room.shell("exec python3 pass.py " + std::string(stream) + " " + what + " " + how +
                          " " + run + "touch ran");
      };
      CHECK(pass(room.home(), "O_RDONLY").code == 126);
      CHECK(pass("pass.py", "O_PATH").code == 126);
      CHECK(pass(room.home(), "O_PATH").code == 126);
      CHECK_FALSE(room.exists("ran"));
      // What is a stream is one.
      CHECK(pass("/dev/null", "O_RDWR").code == 0);
      CHECK(room.exists("ran"));
      ::unlink(room.path("ran").c_str());
      const Outcome shut = room.shell(run + "sh -c 'readlink /proc/self/fd/" + stream +
                                      " >named; ls /proc/self/fd >numbers' " + stream + ">&-");
      CHECK(shut.code == 0);
      if (stream != std::string("1")) // which the shell has turned to the file
        CHECK(room.read("named") == "/dev/null\n");
      CHECK(room.read("numbers") == "0\n1\n2\n3\n");
    }
    const Outcome silent = room.shell(run + "sh -c 'echo x; echo y >&2; exit 7' >&- 2>&-");
    CHECK(silent.code == 7);
    // Appending is not reading, and not truncating.
    room.write(room.top() + "/log", "before\n");
    room.write("again.py",
               "import os, sys\nprint('mine', flush=True)\nfor mode in 'r', 'w':\n  try: "
               "sys.stderr.write(open('/proc/self/fd/1', mode).read())\n"
               "  except (OSError, ValueError) as e: sys.stderr.write(type(e).__name__ + '\\n')\n");
    const Outcome before = room.shell("python3 again.py >>" + room.top() + "/log");
    CHECK(contains(before.err, "before")); // the control: a name of the log reads it
    room.write(room.top() + "/log", "before\n");
    const Outcome again = room.shell(bwrPath() + " --level " + level + " -- python3 again.py >>" +
                                     room.top() + "/log");
    if (level != "basic") {
      CHECK(room.read(room.top() + "/log") == "before\nmine\n");
      CHECK(again.err.find("before") == std::string::npos);
    }
  });
}

TEST_CASE(
    "T137 a code of the command is never taken for a failure of ours, nor the other way round") {
  each(levels(), [](const Room& room, const std::string& level) {
    for (int code : {64, 126, 127, 2}) {
      const Outcome outcome = room.bwrShell(level, {}, "exit " + std::to_string(code));
      CHECK(outcome.code == code);
      CHECK(outcome.err == "");
    }
    CHECK(room.bwrShell(level, {}, "ls /proc/self/fd").out == "0\n1\n2\n3\n");
  });
}

TEST_CASE("T138 a supervisor that is killed leaves nothing") {
  each(levels(), [](const Room& room, const std::string& level) {
    const std::string text = "sleep " + unique(138);
    const Leftovers left;
    (void)room.shell(bwrPath() + " --level " + level + " -- sh -c '" + kLookedAfter +
                     "touch ready $TMPDIR/mine; setsid " + text + " & " + text +
                     "' & while [ ! -e ready ]; do sleep 0.02; done; kill -KILL $!");
    CHECK(gone(text));
    CHECK(left.allGo());
    // At any moment of the start.
    (void)room.shell("i=0; while [ $i -lt 40 ]; do " + bwrPath() + " --level " + level + " -- " +
                     text +
                     " & p=$!; sleep 0.00$((i % 6)); kill -KILL $p; wait $p; i=$((i+1)); done");
    CHECK(gone(text));
    // A directory that was made and not yet handed over is removed by the next run, or by one after
    // it: what another test looks at just now is passed over.
    CHECK(room.bwr(level, {}, {"true"}).code == 0);
    CHECK(left.allGo([&] { CHECK(room.bwr(level, {}, {"true"}).code == 0); }));
  });
}

} // namespace gos::cases
