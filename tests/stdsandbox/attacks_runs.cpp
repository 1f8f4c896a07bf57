// Section 13 of the threats, runs: T136 to T139, through std::sandbox.

#include "tests/stdsandbox/asking.h"

#include <doctest/doctest.h>

#include <csignal>
#include <unistd.h>

namespace gos::cases {

namespace {
Ask inheriting(const Room& room, const std::string& level, std::vector<std::string> command) {
  return {tools(room, level), std::move(command), "inherit"};
}
} // namespace

TEST_CASE("T136 a program's stream gives no right that its descriptor does not have") {
  eachGiven(levels(), [](const Room& room, const std::string& level) {
    room.makeDirectory(room.home() + "/.ssh");
    room.write(room.home() + "/.ssh/id", "k9-secret");
    // The control: a directory as a stream leads to what lies in it.
    CHECK(room.shell("cat /proc/self/fd/0/.ssh/id <" + room.home()).out == "k9-secret");
    const std::string leads = "cat /proc/self/fd/0/.ssh/id; touch ran";
    for (const Outcome& outcome : shellWith(room, {inheriting(room, level, {"sh", "-c", leads})},
                                            "exec \"$@\" <" + room.home())) {
      CHECK_MESSAGE(contains(outcome.err, "failed standard input is a directory"), outcome.err);
      CHECK(outcome.out == "");
      CHECK_FALSE(room.exists("ran"));
    }
    // A captured run has nothing of the program's streams.
    for (const Outcome& outcome : shellWith(room, {{tools(room, level), {"sh", "-c", leads}}},
                                            "exec \"$@\" <" + room.home()))
      CHECK_FALSE(contains(outcome.out + outcome.err, "k9-secret"));
    // A closed one is /dev/null, whichever it is.
    for (const Outcome& outcome : shellWith(
             room, {inheriting(room, level, {"readlink", "/proc/self/fd/0"})}, "exec \"$@\" <&-"))
      CHECK_MESSAGE(outcome.out == "/dev/null\n", outcome.err);
    for (const Outcome& outcome : shellWith(
             room,
             {inheriting(
                 room, level,
                 {"sh", "-c", "readlink /proc/self/fd/1 >link; ls /proc/self/fd | wc -l >count"})},
             "exec \"$@\" >&-")) {
      CHECK_MESSAGE(contains(outcome.err, "ended 0"), outcome.err);
      CHECK(room.read("count") == "4\n");
    }
    if (level == "basic")
      return;
    // Appending is not reading, and not truncating.
    if (!installed("python3"))
      return skip("T136 a log", "python3 is not installed");
    const std::string log = room.top() + "/log";
    How system;
    system.set["PATH"] = "/usr/local/bin:/usr/bin:/bin";
    room.write("again.py",
               "import os, sys\nprint('mine', flush=True)\nfor mode in 'r', 'w':\n  try: "
               "sys.stderr.write(open('/proc/self/fd/1', mode).read())\n"
               "  except (OSError, ValueError) as e: sys.stderr.write(type(e).__name__ + '\\n')\n");
    room.write(log, "before\n");
    CHECK(contains(room.shell("python3 again.py >>" + log).err, "before"));
    room.write(log, "before\n");
    for (const Outcome& outcome :
         shellWith(room, {inheriting(room, level, {"python3", "again.py"})}, "exec \"$@\" >>" + log,
                   system))
      CHECK_FALSE(contains(outcome.err, "before"));
    CHECK(room.read(log) == "before\nmine\nmine\n");
  });
}

TEST_CASE("T137 a program takes no code of a command for a failure, nor the other way round") {
  eachGiven(levels(), [](const Room& room, const std::string& level) {
    std::vector<Ask> asks;
    const std::vector<int> codes = {0, 1, 2, 64, 99, 101, 124, 125, 126, 127, 128, 255};
    for (int code : codes)
      asks.push_back(shellAsk(room, level, {}, "exit " + std::to_string(code)));
    for (const char* signal : {"TERM", "KILL", "SEGV", "PIPE"})
      asks.push_back(shellAsk(room, level, {}, "kill -" + std::string(signal) + " $$"));
    // Who looks for the pipe that failures travel on finds three streams and the directory itself;
    // what it writes to all numbers changes nothing.
    asks.push_back(shellAsk(room, level, {}, "ls /proc/self/fd"));
    asks.push_back(
        {tools(room, level),
         {"bash", "-c",
          "for n in $(seq 3 200); do { printf '\\001\\002\\003\\004%0100d' 0 >&$n; } 2>/dev/null; "
          "done; exit 9"}});
    const std::vector<Answer> answers = askAll(room, asks);
    for (size_t at = 0; at != codes.size(); ++at) {
      CHECK(answers[at].problem == "");
      CHECK(answers[at].code == codes[at]);
    }
    const Answer* rest = &answers[codes.size()];
    CHECK(rest[0].code == 143);
    CHECK(rest[1].code == 137);
    CHECK(rest[2].code == 139);
    CHECK(rest[3].code == 141);
    CHECK(rest[4].out == "0\n1\n2\n3\n");
    CHECK(rest[5].code == 9);
    CHECK(rest[5].problem == "");
    CHECK(room.shell("exit 64").code == 64);
    room.write("plain", "touch ran\n", 0644);
    room.write("broken", "#!/no/interpreter\ntouch ran\n", 0755);
    room.makeDirectory("directory");
    const std::vector<Answer> failures = askAll(room, {{tools(room, level), {"no-such-command"}},
                                                       {tools(room, level), {"./plain"}},
                                                       {tools(room, level), {"./broken"}},
                                                       {tools(room, level), {"./directory"}},
                                                       {tools(room, level), {""}},
                                                       {tools(room, level), {}}});
    const char* const parts[] = {"command not found", "not executable", "/no/interpreter",
                                 "is a directory",    "without a name", "without a name"};
    for (size_t at = 0; at != failures.size(); ++at)
      checkRefused(room, failures[at], parts[at]);
  });
}

TEST_CASE("T138 of a program that is killed, stopped or interrupted nothing is left") {
  eachGiven(levels(), [](const Room& room, const std::string& level) {
    const std::string text = "sleep " + uniqueSleep(138);
    const tests::Leftovers left;
    const std::vector<Ask> waiting = {
        shellAsk(room, level, {},
                 kLookedAfter + "trap '' INT TERM HUP; touch $TMPDIR/mine ready; setsid " + text +
                     " & " + text)};
    const std::string started = "rm -f ready; env --default-signal=INT,QUIT \"$@\" & p=$!; while [ "
                                "! -e ready ]; do sleep 0.01; done; ";
    // The control: without a sandbox the one in a session of its own outlives who started it.
    (void)room.shell("sh -c 'setsid " + text +
                     " & touch up; wait' >/dev/null 2>&1 & while [ ! -e up ]; do sleep 0.01; done; "
                     "kill -KILL $!");
    CHECK_FALSE(processesWith(text).empty());
    for (int process : processesWith(text))
      ::kill(process, SIGKILL);
    CHECK(gone(text));
    // While it lasts: killed; asked to end; Ctrl-C twice against a command that does not listen.
    for (const char* how : {"kill -KILL $p", "kill -TERM $p", "kill -INT $p; kill -INT $p"}) {
      const std::string means = how;
      CAPTURE(means);
      for (const Outcome& outcome :
           shellWith(room, waiting, started + how + "; wait $p; echo code $?"))
        CHECK_FALSE(contains(outcome.out, "code 0"));
      CHECK(gone(text));
    }
    if (level !=
        "basic") { // where no process table of its own ends what is left: a limit, see SECURITY.md
      // The first process of the run is killed: that is an end like any, and nothing goes on. The
      // command may be there before the first process has come to say so; then it is tried again.
      const std::string early = "killed before its command was seen to start";
      bool isTold = false;
      for (int tries = 0; tries != 50 && !isTold; ++tries) {
        isTold = true;
        for (const Outcome& outcome : shellWith(
                 room, waiting,
                 started + "kill -KILL $(cat /proc/$p/task/*/children); wait $p; echo code $?")) {
          CHECK(contains(outcome.out, "code 0"));
          const bool isEarly = contains(outcome.out, early);
          isTold = isTold && !isEarly;
          CHECK_MESSAGE((isEarly || contains(outcome.out, "137")), outcome.out << outcome.err);
        }
        CHECK(gone(text));
      }
      CHECK(isTold);
    }
    // Stopped and continued: it goes on.
    room.write("inner", "touch ready; while [ ! -e go ]; do sleep 0.01; done; echo went on");
    for (const Outcome& outcome :
         shellWith(room, {{tools(room, level), {"sh", "inner"}}},
                   "rm -f go; " + started + "kill -TSTP $p; touch go; kill -CONT $p; wait $p")) {
      const std::vector<Answer> answers = answersOf(outcome.out);
      REQUIRE(answers.size() == 1);
      CHECK(answers[0].out == "went on\n");
    }
    // At any moment of a start.
    (void)shellWith(room, {{tools(room, level), {"sleep", uniqueSleep(138)}}},
                    "i=0; while [ $i -lt 16 ]; do \"$@\" & p=$!; sleep 0.0$((i % 8)); kill -KILL "
                    "$p; wait $p; i=$((i+1)); done");
    CHECK(gone(text));
    // What was made and not yet handed over is removed by the next run.
    CHECK(ask(room, {tools(room, level), {"true"}}).code == 0);
    CHECK(left.allGo([&] { CHECK(ask(room, {tools(room, level), {"true"}}).code == 0); }));
  });
}

TEST_CASE("T139 a program's output is whole, or the error names the cap") {
  eachGiven(levels(), [](const Room& room, const std::string& level) {
    // Nothing of what was taken before the cap is an answer; the command ends.
    for (const char* flood :
         {"yes spam", "yes spam >&2", "tr '\\0' x </dev/zero", "yes a & yes b >&2"}) {
      const std::string script = flood;
      CAPTURE(script);
      checkRefused(room, ask(room, shellAsk(room, level, {"capture_limit", "300000"}, flood)),
                   "the output is larger than the limit of 300000 bytes");
    }
    const std::vector<Answer> answers = askAll(
        room, {shellAsk(room, level, {"capture_limit", "5"}, "printf 12345; printf 54321 >&2"),
               shellAsk(room, level, {"capture_limit", "5"}, "printf 123456"),
               shellAsk(room, level, {"capture_limit", "0"}, "true"),
               shellAsk(room, level, {"capture_limit", "0"}, "printf 1"),
               shellAsk(room, level, {}, "printf 'a\\377b'"),
               shellAsk(room, level, {}, "printf 'a\\377b' >&2"),
               shellAsk(room, level, {}, "(sleep 1000; echo late) & echo soon; exit 3")});
    CHECK(answers[0].out == "12345");
    CHECK(answers[0].err == "54321");
    checkRefused(room, answers[1], "larger than the limit of 5 bytes");
    CHECK(answers[2].code == 0);
    checkRefused(room, answers[3], "larger than the limit of 0 bytes");
    checkRefused(room, answers[4], "the standard output of `sh` is not UTF-8");
    checkRefused(room, answers[5], "the standard error of `sh` is not UTF-8");
    CHECK(answers[6].code == 3);
    CHECK(answers[6].out == "soon\n");
    // Inherited streams: the bytes, in their order, with a reader that takes its time; no cap.
    room.write(
        "much.sh",
        "i=0; while [ $i -lt 40 ]; do seq $((i * 10000)) $((i * 10000 + 9999)); i=$((i+1)); done");
    const std::string slow = " | (sleep 0.3; head -c 100000; sleep 0.3; cat) | md5sum";
    const std::string wanted = room.shell("sh much.sh | md5sum").out;
    for (const Outcome& outcome :
         shellWith(room, {inheriting(room, level, {"sh", "much.sh"})}, "\"$@\"" + slow)) {
      CHECK(outcome.out == wanted);
      CHECK(contains(outcome.err, "ended 0"));
    }
    // And of captured ones the same bytes.
    CHECK(room.shell("sh much.sh").out == ask(room, {tools(room, level), {"sh", "much.sh"}}).out);
  });
}

} // namespace gos::cases
