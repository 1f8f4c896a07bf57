// Where a run meets the bounds of its host and its caller: limits, file systems without room, a
// supervisor that is killed from inside, objects that nobody reads; and what guards follow. Of the
// catalogue of honest builds B052 and B069, of the attacks T126 and T138.

#include "tests/sandbox/each.h"

#include "llvm/Support/JSON.h"

#include <csignal>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace gos::cases {
namespace {

std::string unique(int which) {
  return std::to_string(2000000 + ::getpid()) + "." + std::to_string(which);
}

llvm::json::Object objectOf(llvm::StringRef text) {
  const llvm::StringRef line = text.rtrim('\n').rsplit('\n').second;
  llvm::Expected<llvm::json::Value> value =
      llvm::json::parse(line.empty() ? text.rtrim('\n') : line);
  REQUIRE_MESSAGE(bool(value), text.str());
  REQUIRE(value->getAsObject());
  return std::move(*value->getAsObject());
}

} // namespace

TEST_CASE(
    "T138 a command that kills what supervises it leaves nothing, and its end is no refusal") {
  each(levels(), [](const Room& room, const std::string& level) {
    const std::string sleeper = "sleep " + unique(1);
    // Control: what a shell leaves behind stays.
    (void)room.shell(sleeper + " >/dev/null 2>&1 &");
    const std::vector<int> left = processesWith(sleeper);
    CHECK(left.size() == 1);
    for (const int id : left)
      ::kill(id, SIGKILL);
    for (int round = 0; round != 8; ++round) {
      const Outcome run = room.bwrShell(
          level, {}, "setsid " + sleeper + " & (" + sleeper + " &) & touch ran; kill -9 $PPID; :");
      INFO(run.err);
      CHECK(room.exists("ran"));
      // With processes of its own there the kill does nothing; elsewhere the run ends by it.
      CHECK((run.code == 137 || (run.code == 0 && level != "basic")));
      CHECK(processesWith(sleeper).empty());
      ::unlink(room.path("ran").c_str());
    }
    const Outcome object = room.bwrShell(level, {"--json"}, "kill -9 $PPID; :");
    CHECK(objectOf(object.err).get("error")->kind() == llvm::json::Value::Null);
  });
}

TEST_CASE("bad input: limits that are too low for a start are named, and nothing runs") {
  each(levels(), [](const Room& room, const std::string& level) {
    const std::string run = bwrPath() + " --level " + level + " -- touch ran";
    for (const char* limit : {"4", "10", "20", "64", "68"}) {
      CAPTURE(limit);
      const Outcome files = room.shell("ulimit -n " + std::string(limit) + "; " + run);
      CHECK(files.code == 126);
      CHECK_MESSAGE(contains(files.err, std::string("the limit of open files, ") + limit),
                    files.err);
      CHECK(contains(files.err, "try: ulimit -n"));
      CHECK(!room.exists("ran"));
    }
    for (const char* limit : {"0", "8"}) {
      const Outcome size = room.shell("ulimit -f " + std::string(limit) + "; " + run);
      CHECK(size.code == 126);
      CHECK_MESSAGE(contains(size.err, "the limit of the size of files"), size.err);
      CHECK(!room.exists("ran"));
      // Also where the message itself goes to a file.
      CHECK(room.shell("ulimit -f 0; " + run + " 2>message; exit $?").code == 126);
    }
    if (room.who() == As::User && installed("bash")) {
      // Nothing is said of the host, whose namespaces are as they were.
      const Outcome processes = room.plain({"bash", "-c", "ulimit -u 0; exec " + run});
      CHECK(processes.code == 126);
      CHECK_MESSAGE(contains(processes.err, "the limit of processes, 0, is reached"),
                    processes.err);
      CHECK(contains(processes.err, "ulimit -u"));
      CHECK(!room.exists("ran"));
    }
    CHECK(room.shell("ulimit -n 256; ulimit -f 2000; " + run).code == 0);
    CHECK(room.exists("ran"));
    ::unlink(room.path("ran").c_str());
  });
}

TEST_CASE("bad input: a path in what to type next is quoted as a shell wants it") {
  each(confining(), [](const Room& room, const std::string& level) {
    const std::string bwr = bwrPath() + " --level " + level;
    if (room.who() == As::User) {
      const Outcome shut =
          room.shell("mkdir 'a b' && cd 'a b' && chmod 000 . && exec " + bwr + " -- true");
      CHECK(shut.code == 126);
      CHECK_MESSAGE(contains(shut.err, "--rw '" + room.path("a b") + "'"), shut.err);
    }
    room.makeDirectory(room.home() + "/c d");
    room.write(room.home() + "/c d/tool", "#!/bin/sh\n", 0755);
    const Outcome away = room.bwr(level, {}, {room.home() + "/c d/tool"});
    CHECK(away.code == 127);
    CHECK_MESSAGE(contains(away.err, "try: --ro '" + room.home() + "/c d'"), away.err);
    CHECK(room.bwr(level, {"--ro", room.home() + "/c d"}, {room.home() + "/c d/tool"}).code == 0);
  });
}

TEST_CASE("B069 the object goes where it can go, and waits for nobody") {
  each(levels(), [](const Room& room, const std::string& level) {
    CHECK(room.shell("mkfifo f").code == 0);
    const Outcome alone = room.bwr(level, {"--json=f"}, {"touch", "ran"});
    CHECK(!alone.timedOut);
    CHECK(alone.code == 126);
    CHECK_MESSAGE(contains(alone.err, "is a pipe that nobody reads"), alone.err);
    CHECK(!room.exists("ran"));
    // With a reader it gets all of it.
    const Outcome read = room.shell("exec 3<>f; " + bwrPath() + " --level " + level +
                                    " --json=f -- true; head -n 1 <&3");
    CHECK(objectOf(read.out).getInteger("code") == 0);
    // One that goes away ends nothing.
    const Outcome gone = room.shell("sleep 0 | " + bwrPath() + " --level " + level +
                                    " --json=/dev/null -- sh -c 'exit 7'");
    CHECK(gone.code == 7);
  });
}

TEST_CASE("B069 the object says what the run took and what was left of it") {
  each(levels(), [](const Room& room, const std::string& level) {
    const std::string sleeper = "sleep " + unique(69);
    room.write("burn.py", "import time\nwhile time.process_time() < 0.35: pass\n");
    const std::string script = "python3 burn.py && sleep 0.5 && { " + sleeper +
                               " >/dev/null 2>&1 & } && echo $TMPDIR >where && touch $TMPDIR/mine";
    const Outcome busy = room.bwrShell(level, {"--json"}, script);
    const llvm::json::Object object = objectOf(busy.err);
    CHECK(object.getInteger("code") == 0);
    CHECK(object.getNumber("cpu_seconds").value_or(0) >= 0.3);
    CHECK(object.getNumber("wall_seconds").value_or(0) >= 0.8);
    CHECK(object.getInteger("peak_bytes").value_or(0) > 1000000);
    REQUIRE(object.getObject("cleaned") != nullptr);
    CHECK(object.getObject("cleaned")->getInteger("processes") == 1);
    CHECK(object.getObject("cleaned")->getBoolean("temporary_directory") == true);
    CHECK(processesWith(sleeper).empty());
    // One that takes and leaves nothing says so: the figures are its own.
    const llvm::json::Object idle = objectOf(room.bwr(level, {"--json"}, {"true"}).err);
    CHECK(idle.getNumber("cpu_seconds").value_or(1000) <
          object.getNumber("cpu_seconds").value_or(0));
    CHECK(idle.getObject("cleaned")->getInteger("processes") == 0);
    // Five that are left are five, whatever they did to stay.
    const llvm::json::Object five =
        objectOf(room.bwrShell(level, {"--json"},
                               "for i in 1 2 3 4 5; do setsid " + sleeper +
                                   " </dev/null >/dev/null 2>&1 & done")
                     .err);
    CHECK(five.getObject("cleaned")->getInteger("processes") == 5);
  });
}

TEST_CASE("B069 a mistake is an object too, wherever --json stands") {
  const Room room(identities().back());
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--json", "--no-such", "true"},
        {"--no-such", "--json", "true"},
        {"--level", "strictt", "--json", "true"},
        {"--levl", "strict", "--json", "true"}}) {
    const Outcome run = room.bwrRaw(words);
    CHECK(run.code == 2);
    CHECK(objectOf(run.err).getInteger("code") == 2);
  }
  // Not the command's own, and no file of it is emptied.
  room.write("keep", "mine");
  const Outcome own = room.bwrRaw({"--no-such", "tool", "--json=keep"});
  CHECK(own.code == 2);
  CHECK(room.read("keep") == "mine");
  CHECK(!contains(room.bwrRaw({"--no-such", "--", "tool", "--json"}).err, "{"));
  const Outcome explained = room.bwrRaw({"--json", "--explain", "--profile", "make", "make"});
  CHECK_MESSAGE(explained.code == 0, explained.err);
  CHECK(objectOf(explained.out).getString("profile") == llvm::StringRef("make"));
  CHECK(objectOf(explained.out).getString("phase") == llvm::StringRef("build"));
  const Outcome plain = room.bwrRaw({"--json", "--explain", "true"});
  CHECK(objectOf(plain.out).get("profile")->kind() == llvm::json::Value::Null);
}

TEST_CASE("T124 no network at a level that has none to take away is an error") {
  const Room room(identities().back());
  for (const char* level : {"none", "basic"}) {
    const Outcome run = room.bwr(level, {"--network", "none"}, {"touch", "ran"});
    CHECK(run.code == 126);
    CHECK_MESSAGE(contains(run.err, "`--network none` can't be kept"), run.err);
    CHECK(!room.exists("ran"));
    CHECK(room.bwr(level, {}, {"true"}).code == 0);
  }
  CHECK(room.bwr("standard", {"--network", "none"}, {"true"}).code == 0);
}

TEST_CASE("B059 a command that does not wait for its input leaves it as it was") {
  if (!installed("perl"))
    return skip("B059, O_NONBLOCK", "perl is not installed");
  const std::string set =
      "perl -MFcntl -e 'fcntl(STDIN, F_SETFL, fcntl(STDIN, F_GETFL, 0) | O_NONBLOCK)'";
  const std::string show =
      "perl -MFcntl -e 'print fcntl(STDIN, F_GETFL, 0) & O_NONBLOCK ? \"set\" : \"clear\"'";
  each(levels(), [&](const Room& room, const std::string& level) {
    CHECK(room.shell("mkfifo f; exec <>f; " + set + "; " + show).out == "set"); // control
    room.write("set.sh", set + "\n");
    const Outcome run =
        room.shell("exec <>f; " + bwrPath() + " --level " + level + " -- sh set.sh; " + show);
    CHECK_MESSAGE(run.out == "clear", run.err);
  });
}

TEST_CASE("T138 what a start that was killed has left goes with the next run") {
  each(levels(), [](const Room& room, const std::string& level) {
    const std::string name = "bwr-run-" + unique(2);
    // Under its last name at once; under its first, which is there before the lock is, after a
    // minute.
    CHECK(room.shell("mkdir /var/tmp/" + name + " /var/tmp/." + name +
                     " && touch -d '5 minutes "
                     "ago' /var/tmp/." +
                     name)
              .code == 0);
    // Another run of the same user may be quicker than this one, or a test that looks at it: then
    // it goes a moment later, or with a run after this one.
    const std::string last = "/var/tmp/" + name, first = "/var/tmp/." + name;
    for (int run = 0; run == 0 || (run != 50 && (room.exists(last) || room.exists(first))); ++run)
      CHECK(room.bwr(level, {}, {"true"}).code == 0);
    CHECK(!room.exists(last));
    CHECK(!room.exists(first));
  });
}

TEST_CASE(
    "bad input: no /proc is what the capability report names, and no inodes what a run does") {
  if (::geteuid() != 0)
    return skip("no /proc and no inodes", "only root can make them");
  const Room room(As::Root);
#ifndef GOS_SANITIZED // whose run-time part itself needs /proc
  const Outcome bare = room.plain(
      {"unshare", "-m", "sh", "-c", "umount -l /proc && " + bwrPath() + " --capabilities"});
  CHECK_MESSAGE(contains(bare.out, "blocked by /proc"), bare.out);
  CHECK(contains(bare.out, "mount -t proc"));
  CHECK(!contains(bare.out, "memfd_noexec"));
#endif
  // Not beneath the temp that is covered.
  const std::string copy = "/usr/local/bin/gosbox-" + unique(3);
  std::filesystem::copy_file(bwrPath(), copy);
  for (const std::string& level : levels()) {
    const std::string run = "cd /usr; HOME=/nonexistent " + copy + " --level " + level + " -- true";
    CHECK(room.plain({"unshare", "-m", "sh", "-c", run}).code == 0);
    const Outcome full = room.plain({"unshare", "-m", "sh", "-c",
                                     "for d in /var/tmp /tmp; do mount -t tmpfs -o nr_inodes=2 x "
                                     "$d; touch $d/f; done; " +
                                         run});
    CHECK(full.code == 126);
    CHECK_MESSAGE(contains(full.err, "no inode is left"), full.err);
  }
  std::filesystem::remove(copy);
}

// ---- guards that a configuration of git leads to
// ---------------------------------------------------------------------

TEST_CASE("T126 what a configuration of git leads to is guarded like its hooks") {
  each(confining(), [](const Room& room, const std::string& level) {
    const auto prepare = [&] {
      CHECK(room.shell("mkdir -p conf 'my hooks' second .git/sub .git/modules/a/b/hooks "
                       ".git/modules/a/b/modules/c .git/worktrees/w")
                .code == 0);
      room.write(".git/HEAD", "ref: refs/heads/main\n");
      room.write(".git/config", "[core] ; x\n\tbare = false\n\tHooksPath = \"my hooks\" # x\n"
                                "[include]\n\tpath = ../conf/more\n"
                                "[includeIf \"gitdir:/\"]\npath = sub\\\n/last\n");
      room.write("conf/more", "[core]\n\thooksPath = second\n[include] path = third\n");
      room.write("conf/third", "");
      room.write(".git/sub/last", "");
      room.write("my hooks/pre-commit", "#!/bin/sh\n", 0755);
      room.write("second/pre-commit", "#!/bin/sh\n", 0755);
      room.write(".git/modules/a/b/HEAD", "x");
      room.write(".git/modules/a/b/config", "");
      room.write(".git/modules/a/b/hooks/pre-commit", "");
      room.write(".git/modules/a/b/modules/c/HEAD", "x");
      room.write(".git/modules/a/b/modules/c/config", "");
      room.write(".git/worktrees/w/commondir", "../..\n");
    };
    const std::vector<std::string> guarded = {"my hooks/pre-commit",
                                              "second/pre-commit",
                                              "conf/more",
                                              "conf/third",
                                              ".git/sub/last",
                                              ".git/modules/a/b/config",
                                              ".git/modules/a/b/hooks/pre-commit",
                                              ".git/modules/a/b/modules/c/config",
                                              ".git/worktrees/w/commondir"};
    const auto script = [](const std::string& file) { return "echo planted >>'" + file + "'"; };
    prepare();
    for (const std::string& file : guarded) {
      CAPTURE(file);
      CHECK(room.shell(script(file)).code == 0);
      CHECK(contains(room.read(file), "planted"));
    }
    prepare();
    for (const std::string& file : guarded) {
      CAPTURE(file);
      CHECK(room.bwrShell(level, {}, script(file)).code != 0);
      CHECK(!contains(room.read(file), "planted"));
    }
    // Neither by moving a directory of theirs away, nor is anything else closed.
    CHECK(room.bwrShell(level, {}, "mv 'my hooks' away && mkdir 'my hooks'").code != 0);
    CHECK(room.bwrShell(level, {}, "mv .git/modules/a x").code != 0);
    CHECK(room.bwrShell(level, {}, script("conf/other") + " && " + script(".git/index")).code == 0);
  });
}

TEST_CASE("T126 a guard that is a link to nothing is told when something is made of it") {
  each(confining(), [](const Room& room, const std::string& level) {
    room.makeDirectory(".git");
    room.link("../planted", ".git/hooks");
    const Outcome run = room.bwrShell(level, {}, "mkdir planted && touch planted/pre-commit");
    CHECK(run.code == 0);
    CHECK_MESSAGE(contains(run.err, "the command made `" + room.path(".git/hooks") + "`"), run.err);
    // From then on it is one.
    CHECK(room.bwrShell(level, {}, "touch planted/post-commit").code != 0);
  });
}

TEST_CASE("T126 the user's configuration of git is guarded where a variable moves it") {
  each(confining(), [](const Room& room, const std::string& level) {
    room.write("gitconfig", "");
    How how;
    CHECK(room.bwrShell(level, {}, "echo x >>gitconfig", how).code ==
          0); // it is a file like others
    how.set["GIT_CONFIG_GLOBAL"] = room.path("gitconfig");
    CHECK(room.bwrShell(level, {}, "echo y >>gitconfig", how).code != 0);
    CHECK(room.read("gitconfig") == "x\n");
    CHECK(room.bwrShell(level, {}, "echo \"$GIT_CONFIG_GLOBAL\"", how).out !=
          room.path("gitconfig") + "\n");
  });
}

} // namespace gos::cases
