// Devices, temp, identity, environment: B020 to B029 of the catalogue of honest builds.

#include "tests/sandbox/each.h"

#include <doctest/doctest.h>

#include <unistd.h>

namespace gos::cases {
TEST_CASE("B020 devices and the streams by name") {
  const std::string script = ": >/dev/null; head -c4 /dev/zero | wc -c; head -c4 /dev/urandom | wc "
                             "-c; echo hi >/dev/stdout; cat /dev/fd/0";
  each(levels(), [&](const Room& room, const std::string& level) {
    How how;
    how.input = "input\n";
    const Outcome plain = room.shell(script, how);
    CHECK(plain.out == "4\n4\nhi\ninput\n");
    const Outcome pipe = room.bwrShell(level, {}, script, how);
    CHECK_MESSAGE(pipe.out == plain.out, pipe.err);
    // A granted file as standard output.
    const Outcome file =
        room.shell(bwrPath() + " --level " + level +
                   " -- sh -c 'echo hi >/dev/stdout; echo e >/dev/stderr' >out 2>err");
    CHECK(file.code == 0);
    CHECK(room.read("out") == "hi\n");
    CHECK(room.read("err") == "e\n");
    // A terminal.
    How terminal;
    terminal.terminal = true;
    const Outcome shown = room.bwrShell(
        level, {}, "echo hi >/dev/stdout; echo there >/dev/tty; test -t 0 && test -t 1 && echo tty",
        terminal);
    CHECK_MESSAGE(contains(shown.out, "hi\r\nthere\r\ntty\r\n"), shown.out);
  });
  if (!installed("gcc"))
    return skip("B020, gcc", "gcc is not installed");
  each(levels(), [](const Room& room, const std::string& level) {
    How how;
    how.input = "int x;";
    const Outcome outcome = room.bwr(level, {}, {"gcc", "-fsyntax-only", "-xc", "-"}, how);
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
  });
}

TEST_CASE("B021 terminals are named, and new ones can be made") {
  each(levels(), [](const Room& room, const std::string& level) {
    if (installed("script")) {
      const Outcome outcome = room.bwr(level, {}, {"script", "-qec", "tty", "/dev/null"});
      CHECK_MESSAGE(outcome.code == 0, outcome.err);
      CHECK_MESSAGE(contains(outcome.out, "/dev/pts/"), outcome.out);
    } else {
      skip("B021, script", "script is not installed");
    }
    const Outcome python =
        room.bwr(level, {}, {"python3", "-c", "import pty,sys;sys.exit(pty.spawn(['true']))"});
    CHECK_MESSAGE(python.code == 0, python.err);
  });
}

TEST_CASE("B022 a working directory that must not be assumed is refused with the flag to give") {
  each(levels(), [](const Room& room, const std::string& level) {
    room.makeDirectory(room.home() + "/.ssh");
    How inside;
    inside.directory = room.home() + "/.ssh";
    Outcome outcome = room.bwrShell(level, {}, "touch ran", inside);
    CHECK(outcome.code == 126);
    CHECK_MESSAGE(contains(outcome.err, "--workdir"), outcome.err);
    CHECK_MESSAGE(contains(outcome.err, ".ssh"), outcome.err);
    CHECK_FALSE(room.exists(room.home() + "/.ssh/ran"));
    inside.directory = room.home();
    outcome = room.bwrShell(level, {}, "touch ran", inside);
    CHECK(outcome.code == 126);
    CHECK_FALSE(room.exists(room.home() + "/ran"));
    inside.directory = "/";
    CHECK(room.bwr(level, {}, {"true"}, inside).code == 126);
    // A directory that was removed.
    outcome = room.shell("mkdir gone && cd gone && rmdir ../gone && exec " + bwrPath() +
                         " --level " + level + " -- true");
    CHECK(outcome.code == 126);
    CHECK_MESSAGE(contains(outcome.err, "--workdir"), outcome.err);
  });
}

TEST_CASE("B023 time zone and locales are the system's") {
  each(levels(), [](const Room& room, const std::string& level) {
    const std::string script = "readlink /etc/localtime; date +%Z; locale -a | head -1";
    CHECK(room.bwrShell(level, {}, script).out == room.shell(script).out);
  });
}

TEST_CASE("B024 what lies in the temp can be executed and loaded") {
  each(levels(), [](const Room& room, const std::string& level) {
    const Outcome outcome = room.bwrShell(
        level, {},
        "cp /bin/true $TMPDIR/t && $TMPDIR/t && cp /bin/true /tmp/u$$ && /tmp/u$$ && rm /tmp/u$$");
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    const std::string load =
        "import "
        "ctypes,glob,os,shutil;l=glob.glob('/lib/*/libz.so.1')+glob.glob('/usr/lib/*/libz.so.1');"
        "t=os.environ['TMPDIR']+'/libz.so';shutil.copy(l[0],t);ctypes.CDLL(t)";
    const Outcome loaded = room.bwr(level, {}, {"python3", "-c", load});
    CHECK_MESSAGE(loaded.code == 0, loaded.err);
  });
}

TEST_CASE("B025 the temp is as large as the disk") {
  each(levels(), [](const Room& room, const std::string& level) {
    // By its blocks: how many of them are free is the affair of this host.
    const Outcome outcome = room.bwrShell(
        level, {},
        "stat -f -c '%b %S' \"$TMPDIR\" && head -c 50000000 /dev/zero | cat >\"$TMPDIR\"/big "
        "&& stat -c %s \"$TMPDIR\"/big");
    CHECK_MESSAGE(outcome.out == room.shell("stat -f -c '%b %S' /var/tmp").out + "50000000\n",
                  outcome.err);
  });
}

TEST_CASE("B026 the caller is who they were, and owns what they owned") {
  each(levels(), [](const Room& room, const std::string& level) {
    const std::string script = "id -un; id -gn; stat -c %U:%G .";
    CHECK(room.bwrShell(level, {}, script).out == room.shell(script).out);
    REQUIRE(room.shell("git init -q .").code == 0);
    const Outcome outcome = room.bwr(level, {}, {"git", "status"});
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
  });
}

TEST_CASE("B027 git works with a configuration that is not granted") {
  each(levels(), [](const Room& room, const std::string& level) {
    room.write(room.home() + "/.gitconfig", "[user]\n");
    REQUIRE(room.shell("git init -q .").code == 0);
    const Outcome outcome = room.bwr(level, {}, {"git", "status"});
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
  });
}

TEST_CASE("B028 secrets of the environment are not there, also not in /proc") {
  each(levels(), [](const Room& room, const std::string& level) {
    How how;
    how.set = {{"AWS_SECRET_ACCESS_KEY", "k9"},
               {"SSH_AUTH_SOCK", "/tmp/a"},
               {"GITHUB_TOKEN", "k9"},
               {"DBUS_SESSION_BUS_ADDRESS", "k9"}};
    const std::string script = "env; tr '\\0' '\\n' </proc/self/environ";
    CHECK(contains(room.shell(script, how).out, "AWS_SECRET_ACCESS_KEY=k9"));
    const Outcome outcome = room.bwrShell(level, {}, script, how);
    CHECK(outcome.code == 0);
    CHECK_FALSE(contains(outcome.out, "k9"));
    CHECK_FALSE(contains(outcome.out, "SSH_AUTH_SOCK"));
    CHECK(contains(outcome.out, "PATH="));
    CHECK(contains(outcome.out, "HOME=" + room.home()));
  });
}

TEST_CASE("B029 variables that load code never pass; one that is named arrives unchanged") {
  each(levels(), [](const Room& room, const std::string& level) {
    How how;
    how.set = {{"NODE_OPTIONS", "-r ./x"}, {"BASH_ENV", "./y"},      {"GIT_SSH_COMMAND", "id"},
               {"RUSTC_WRAPPER", "./z"},   {"LD_AUDIT", "/no/e.so"}, {"PYTHONSTARTUP", "./start"},
               {"ODD", "a\nb=c\xff"}};
    const Outcome outcome = room.bwr(level, {"--env", "ODD"}, {"env"}, how);
    CHECK(outcome.code == 0);
    for (const auto& [key, value] : how.set)
      if (key != "ODD")
        CHECK_MESSAGE(!contains(outcome.out, key + "="), outcome.out);
    CHECK(contains(outcome.out, "ODD=a\nb=c\xff\n"));
    for (const std::string never :
         {"LD_PRELOAD", "LD_AUDIT", "BASH_ENV", "NODE_OPTIONS", "BASH_FUNC_x%%"}) {
      CAPTURE(never);
      const Outcome refused = room.bwrShell(level, {"--env", never}, "touch ran");
      CHECK(refused.code == 126);
      CHECK(contains(refused.err, never));
      CHECK_FALSE(room.exists("ran"));
      CHECK(room.bwrShell(level, {"--setenv", never + "=x"}, "touch ran").code == 126);
    }
  });
}

} // namespace gos::cases
