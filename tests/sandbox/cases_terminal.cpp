// Terminals: B054 to B058 of the catalogue of honest builds, T113, and the terminal's part of B047,
// B059 and T138. Each case is a conversation with an interactive shell on a pseudo terminal, held
// without bwr first and then with it.

#include "tests/sandbox/each.h"
#include "tests/support/eventually.h"

#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <grp.h>
#include <poll.h>
#include <sstream>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

namespace gos::cases {

using tests::eventually;

namespace {

/// A number of seconds that only this test sleeps, so that its processes can be told from all
/// others.
std::string unique(int which) {
  static int count = 0;
  return std::to_string(2000000 + ::getpid()) + "." + std::to_string(which * 1000 + ++count);
}

/// Processes with exactly this command line, its words divided by single spaces.
std::vector<int> processesThatAre(const std::string& words) {
  std::vector<int> found;
  for (int id : processesWith(words)) {
    std::ifstream file("/proc/" + std::to_string(id) + "/cmdline", std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    std::string line = text.str();
    std::replace(line.begin(), line.end(), '\0', ' ');
    if (line == words + " ")
      found.push_back(id);
  }
  return found;
}

/// The state letter of a process, and its group.
char stateOf(int process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(file, line);
  const size_t end = line.rfind(')');
  return end == std::string::npos || end + 2 >= line.size() ? '?' : line[end + 2];
}

/// A pseudo terminal with a program as the leader of its session.
class Conversation {
public:
  explicit Conversation(const Room& room,
                        const std::vector<std::string>& command = {"bash", "--norc", "--noprofile",
                                                                   "--noediting", "-i"}) {
    struct stat owner{};
    REQUIRE(::stat(room.top().c_str(), &owner) == 0);
    master_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    REQUIRE(master_ >= 0);
    ::grantpt(master_);
    ::unlockpt(master_);
    slave_ = ::ptsname(master_);
    (void)::chown(slave_.c_str(), owner.st_uid, owner.st_gid);
    std::vector<char*> words;
    for (const std::string& word : command)
      words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    resize(24, 80);
    leader_ = ::fork();
    REQUIRE(leader_ >= 0);
    if (leader_ != 0)
      return;
    ::setsid();
    const int terminal = ::open(slave_.c_str(), O_RDWR);
    ::ioctl(terminal, TIOCSCTTY, 0);
    for (int stream = 0; stream != 3; ++stream)
      ::dup2(terminal, stream);
    ::close_range(3, ~0u, 0);
    if (::geteuid() == 0 && owner.st_uid != 0 &&
        (::setgroups(0, nullptr) != 0 ||
         ::setresgid(owner.st_gid, owner.st_gid, owner.st_gid) != 0 ||
         ::setresuid(owner.st_uid, owner.st_uid, owner.st_uid) != 0))
      ::_exit(125);
    ::setenv("HOME", room.home().c_str(), 1);
    ::setenv("TERM", "dumb", 1);
    ::setenv("PS1", "> ", 1);
    ::unsetenv("TMPDIR");
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGQUIT, SIG_DFL);
    if (::chdir(room.project().c_str()) != 0)
      ::_exit(124);
    ::execvp(words[0], words.data());
    ::_exit(127);
  }
  ~Conversation() {
    hangUp();
    if (leader_ > 0) {
      ::kill(leader_, SIGKILL);
      ::waitpid(leader_, nullptr, 0);
    }
  }
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  void type(const std::string& text) {
    REQUIRE(::write(master_, text.data(), text.size()) == ssize_t(text.size()));
  }
  /// Waits for a text after the last one that was waited for. What is typed is echoed, so a command
  /// prints what it does not spell: `echo a$((1+1))`.
  void expect(const std::string& text) {
    const bool seen = eventually([&] {
      drain();
      return screen_.find(text, read_) != std::string::npos;
    });
    REQUIRE_MESSAGE(seen, "waiting for `" << text << "` on:\n" << screen_);
    read_ = screen_.find(text, read_) + text.size();
  }
  void drain() {
    pollfd entry = {master_, POLLIN, 0};
    char buffer[4096];
    while (::poll(&entry, 1, 0) > 0 && (entry.revents & POLLIN) != 0) {
      const ssize_t got = ::read(master_, buffer, sizeof buffer);
      if (got <= 0)
        return;
      screen_.append(buffer, size_t(got));
    }
  }
  void resize(unsigned short rows, unsigned short columns) {
    const winsize size = {rows, columns, 0, 0};
    ::ioctl(master_, TIOCSWINSZ, &size);
  }
  /// The foreground process group.
  int foreground() const {
    int group = -1;
    return ::ioctl(master_, TIOCGPGRP, &group) == 0 ? group : -1;
  }
  void hangUp() {
    if (master_ >= 0)
      ::close(master_);
    master_ = -1;
  }
  const std::string& slave() const { return slave_; }
  const std::string& screen() const { return screen_; }

private:
  int master_ = -1;
  std::string slave_, screen_;
  size_t read_ = 0;
  pid_t leader_ = -1;
};

/// The body runs with what stands in front of a command: nothing, then bwr at each level.
template <class Body> void eachPrefix(const std::vector<std::string>& levels, Body body) {
  for (As who : identities()) {
    std::vector<std::string> prefixes = {""};
    for (const std::string& level : levels)
      prefixes.push_back(bwrPath() + " --level " + level + " -- ");
    for (const std::string& prefix : prefixes) {
      const std::string identity = name(who);
      CAPTURE(identity);
      CAPTURE(prefix);
      const Room room(who);
      body(room, prefix);
    }
  }
}
/// Waits for a command to run and to have the terminal.
bool inForeground(Conversation& shell, const std::string& words) {
  return eventually([&] {
    shell.drain();
    const std::vector<int> found = processesThatAre(words);
    return found.size() == 1 && ::getpgid(found[0]) == shell.foreground() &&
           stateOf(found[0]) != 'T';
  });
}
bool gone(const std::string& words) {
  return eventually([&] { return processesThatAre(words).empty(); });
}
/// Waits for the one process of these words to be in a state: a signal reaches each process of a
/// group in its own time.
bool becomes(const std::string& words, char state) {
  return eventually([&] {
    const std::vector<int> found = processesThatAre(words);
    return found.size() == 1 && stateOf(found[0]) == state;
  });
}

} // namespace

TEST_CASE("B054 T113 nothing can be pushed into the terminal") {
  each(confining(), [](const Room& room, const std::string& level) {
    for (const char* act : {"tiocsti", "tiocsti-high"}) {
      CAPTURE(act);
      {
        Conversation shell(room);
        shell.type(probePath() + " " + act + "; echo done$((1+1))\n");
        shell.expect("done2");
        // Kernels from 6.2 on refuse it to all but root.
        const bool worked = shell.screen().find("ok\r\ndone2") != std::string::npos;
        if (!worked)
          skip("the control of TIOCSTI",
               std::string("this kernel refuses it to ") + name(room.who()) + " already");
        // What was pushed stands in front of what is typed.
        shell.type("echo clean$((1+1))\n");
        shell.expect(worked ? "xecho: command not found" : "clean2");
      }
      Conversation shell(room);
      shell.type(bwrPath() + " --level " + level + " --ro " + probePath() + " -- " + probePath() +
                 " " + act + "; echo done$((1+1))\n");
      shell.expect("refused EPERM");
      shell.expect("done2");
      shell.type("echo clean$((1+1))\n");
      shell.expect("clean2");
      CHECK(shell.screen().find("xecho") == std::string::npos);
    }
    // It is refused by the kernel too where the terminal is none of the console, with another word.
    CHECK(room.plain({probePath(), "tioclinux"}).out != "refused EPERM\n");
    CHECK(room.bwr(level, {"--ro", probePath()}, {probePath(), "tioclinux"}).out ==
          "refused EPERM\n");
  });
}

TEST_CASE("T113 another terminal cannot be reached") {
  each(confining(), [](const Room& room, const std::string& level) {
    Conversation other(room, {"cat"});
    const std::vector<std::string> write = {probePath(), "open-write", other.slave()};
    CHECK(room.plain(write).out == "ok\n");
    CHECK(room.bwr(level, {"--ro", probePath()}, write).out == "refused ENOENT\n");
    // Neither by the numbers of a devpts of its own, nor as a device that it makes.
    CHECK(room.bwrShell(level, {}, "ls /dev/pts").out == "ptmx\n");
    Conversation shell(room);
    shell.type(bwrPath() + " --level " + level +
               " -- sh -c 'ls /dev/pts; echo listed$((1+1)); tty | grep -c " + other.slave() +
               "'\n");
    shell.expect("ptmx\r\nlisted2\r\n0\r\n");
  });
}

TEST_CASE("T113 the name of the terminal gives no right that the stream does not have") {
  each(confining(), [](const Room& room, const std::string& level) {
    // Of a terminal that is only written, there is no name to read it by.
    Conversation shell(room);
    const std::string script =
        "sh -c 'cat <$(readlink -f /proc/self/fd/1) >/dev/null || echo unread$((1+1)); "
        "cat <&1 || echo unread$((2+2)); ls /dev/console || echo absent$((1+1))'";
    shell.type("exec 5>" + shell.slave() + "; setsid -w " + bwrPath() + " --level " + level +
               " -- " + script + " <&- >&5 2>&5; echo end$((1+1))\n");
    shell.expect("unread2");
    shell.expect("unread4");
    shell.expect("absent2");
    shell.expect("end2");
  });
}

TEST_CASE("B055 an interactive shell has job control, sizes, a terminal with a name, and an end") {
  eachPrefix(levels(), [](const Room& room, const std::string& prefix) {
    Conversation shell(room);
    shell.type("stty -a >before; echo out$((1+1))\n");
    shell.expect("out2");
    shell.type(prefix + "bash --norc --noprofile --noediting -i\n");
    shell.type("echo in$((1+1))\n");
    shell.expect("in2");
    CHECK(shell.screen().find("no job control") == std::string::npos);
    shell.type("echo at $(tty); echo opened$((1+1)) >$(tty); stty -a <$(tty) >/dev/null && echo "
               "asked$((1+1))\n");
    shell.expect("at /dev/");
    shell.expect("opened2");
    shell.expect("asked2");
    shell.type("echo direct$((1+1)) >/dev/tty\n");
    shell.expect("direct2");

    const std::string sleep = "sleep " + unique(55);
    shell.type(sleep + "\n");
    REQUIRE(inForeground(shell, sleep));
    shell.type("\x1a");
    shell.expect("Stopped");
    shell.type("bg; echo behind$((1+1))\n");
    shell.expect("behind2");
    shell.type("jobs\n");
    shell.expect("Running");
    CHECK(processesThatAre(sleep).size() == 1);
    shell.type("fg\n");
    REQUIRE(inForeground(shell, sleep));
    shell.type("\x03");
    CHECK(gone(sleep));
    shell.type("echo interrupted$((1+1)) $?\n");
    shell.expect("interrupted2 130");

    shell.resize(33, 77);
    shell.type("stty size\n");
    shell.expect("33 77");
    // And a program that waits for it is told.
    shell.type("bash -c 'trap \"stty size; exit\" WINCH; echo waits$((1+1)); while :; do sleep "
               "0.1; done'\n");
    shell.expect("waits2");
    shell.resize(44, 111);
    shell.expect("44 111");

    shell.type("\x04");
    shell.type("echo left$((1+1)) $?\n");
    shell.expect("left2 0");
    shell.type("stty -a >after; echo rows$((1+1))\n");
    shell.expect("rows2");
    const auto modes = [&](const char* file) {
      return llvm::StringRef(room.read(file)).split('\n').second.str();
    };
    CHECK(modes("before") != "");
    CHECK(modes("before") == modes("after"));
  });
}

TEST_CASE("B055 an editor of lines works as well") {
  eachPrefix(levels(), [](const Room& room, const std::string& prefix) {
    Conversation shell(room, {"bash", "--norc", "--noprofile", "-i"});
    shell.type(prefix + "bash --norc --noprofile -i\n");
    shell.type("echo in$((1+1))\n");
    shell.expect("\nin2");
    shell.type("ecXX\b\bho edited$((1+1))\n");
    shell.expect("\nedited2");
    shell.type("exit 5\n");
    shell.type("echo left$((1+1)) $?\n");
    shell.expect("\nleft2 5");
  });
}

TEST_CASE("B056 Ctrl-C ends the command and not the shell, ends a loop, and comes once") {
  eachPrefix(levels(), [](const Room& room, const std::string& prefix) {
    Conversation shell(room);
    const std::string sleep = "sleep " + unique(56);
    shell.type(prefix + sleep + "\n");
    REQUIRE(inForeground(shell, sleep));
    shell.type("\x03");
    CHECK(gone(sleep));
    shell.type("echo code$((1+1)) $?\n");
    shell.expect("code2 130");

    // A program that handles it goes on, and is not told twice.
    room.write("counts.py", "import signal, sys, time\n"
                            "seen = []\n"
                            "signal.signal(signal.SIGINT, lambda *_: seen.append(1))\n"
                            "print('waits', 1 + 1, flush=True)\n"
                            "while not seen: time.sleep(0.05)\n"
                            "end = time.monotonic() + 0.5\n"
                            "while time.monotonic() < end: time.sleep(0.05)\n"
                            "print('seen', len(seen), flush=True)\n"
                            "sys.exit(7)\n");
    shell.type(prefix + "python3 counts.py\n");
    shell.expect("waits 2");
    shell.type("\x03");
    shell.expect("seen 1\r\n");
    shell.type("echo code$((1+1)) $?\n");
    shell.expect("code2 7");

    // A loop of the shell ends with the command.
    shell.type("while :; do " + prefix + sleep + "; done\n");
    REQUIRE(inForeground(shell, sleep));
    shell.type("\x03");
    shell.type("echo ended$((1+1))\n");
    shell.expect("ended2");
    CHECK(gone(sleep));
  });
}

TEST_CASE("T138 Ctrl-C twice against a command that ignores it, Ctrl-\\ ends it, and modes are as "
          "they were") {
  eachPrefix(levels(), [](const Room& room, const std::string& prefix) {
    Conversation shell(room);
    const std::string sleep = "sleep " + unique(138);
    shell.type(prefix + "sh -c 'trap \"\" INT; exec " + sleep + "'\n");
    REQUIRE(inForeground(shell, sleep));
    shell.type("\x03");
    shell.type("\x03");
    CHECK(processesThatAre(sleep).size() == 1);
    shell.type("\x1c");
    CHECK(gone(sleep));
    shell.type("echo code$((1+1)) $?\n");
    shell.expect("code2 131");
    if (prefix.empty())
      return;
    // One that dies after it changed the terminal; a shell without an editor would not repair it.
    shell.type(prefix + "sh -c 'stty -echo; kill -KILL $$'\n");
    shell.type("stty -a; echo asked$((1+1))\n");
    shell.expect("asked2");
    CHECK_MESSAGE(shell.screen().find(" -echo ") == std::string::npos, shell.screen());
  });
}

TEST_CASE("B057 a command may read the terminal, and what is typed ahead stays") {
  eachPrefix(levels(), [](const Room& room, const std::string& prefix) {
    Conversation shell(room);
    shell.type(prefix + "sh -c 'echo asks$((1+1)); read x; echo got $x'\n");
    shell.expect("asks2");
    shell.type("hello\n");
    shell.expect("got hello");
    CHECK(shell.screen().find("Stopped") == std::string::npos);
    // Typed before the command starts: the first line is its own, the second the shell's.
    shell.type(prefix + "sh -c 'read x; echo had $x'\nfirst\necho ahead$((1+1))\n");
    shell.expect("had first");
    shell.expect("ahead2");
    shell.type(prefix + "true </dev/tty\necho kept$((1+1))\n");
    shell.expect("kept2");
    // A pipeline of two.
    shell.type(prefix + "echo left | " + prefix +
               "sh -c 'read x; read y </dev/tty; echo both $x $y'\nright\n");
    shell.expect("both left right");
  });
  if (!installed("script")) {
    skip("B057 under script", "script is not installed");
    return;
  }
  each(levels(), [](const Room& room, const std::string& level) {
    const Outcome outcome =
        room.shell("printf 'hello\\n' | script -qec '" + bwrPath() + " --level " + level +
                   " -- sh -c \"read x; echo got \\$x\"' /dev/null");
    CHECK_MESSAGE(outcome.out.find("got hello") != std::string::npos, outcome.out << outcome.err);
  });
}

TEST_CASE("B058 Ctrl-Z stops the job, fg and bg go on with it, and a reader in the background "
          "waits for its turn") {
  eachPrefix(levels(), [](const Room& room, const std::string& prefix) {
    Conversation shell(room);
    const std::string sleep = "sleep " + unique(58);
    shell.type(prefix + sleep + "\n");
    REQUIRE(inForeground(shell, sleep));
    shell.type("\x1a");
    shell.expect("Stopped");
    CHECK(becomes(sleep, 'T'));
    shell.type("fg\n");
    REQUIRE(inForeground(shell, sleep));
    shell.type("\x1a");
    shell.expect("Stopped");
    shell.type("bg; echo behind$((1+1))\n");
    shell.expect("behind2");
    CHECK(becomes(sleep, 'S'));
    shell.type("jobs\n");
    shell.expect("Running");
    shell.type("kill %1; wait; echo killed$((1+1))\n");
    shell.expect("killed2");
    CHECK(gone(sleep));

    shell.type(prefix + "sh -c 'read x; echo turn $x' &\n");
    CHECK(eventually([&] {
      shell.type("jobs\n");
      shell.drain();
      ::usleep(100000);
      return llvm::StringRef(shell.screen()).count("Stopped") >= 3;
    }));
    shell.type("fg\n");
    shell.type("mine\n");
    shell.expect("turn mine");
    // One that only writes is not held.
    shell.type(prefix + "sh -c 'echo writes$((1+1))' & wait; echo waited$((1+1))\n");
    shell.expect("writes2");
    shell.expect("waited2");
  });
}

TEST_CASE("B047 a terminal that is closed ends the whole tree") {
  eachPrefix(levels(), [](const Room& room, const std::string& prefix) {
    const std::string sleep = "sleep " + unique(47);
    {
      Conversation shell(room);
      shell.type(prefix + sleep + "\n");
      REQUIRE(inForeground(shell, sleep));
      shell.hangUp();
      CHECK(gone(sleep));
    }
    if (prefix.empty())
      return;
    // bwr is the leader of the session itself, and what it runs has gone into the background.
    std::vector<std::string> words;
    for (llvm::StringRef word : llvm::split(llvm::StringRef(prefix).rtrim(), ' '))
      words.push_back(word.str());
    words.insert(words.end(), {"sh", "-c", "setsid " + sleep + " & " + sleep});
    Conversation alone(room, words);
    REQUIRE(eventually([&] { return processesThatAre(sleep).size() == 2; }));
    alone.hangUp();
    CHECK(gone(sleep));
  });
}

} // namespace gos::cases
