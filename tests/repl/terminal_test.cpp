// At a pseudo-terminal: what is typed, edited, completed, interrupted. Nothing here waits for a
// time; it waits for text.

#include <doctest/doctest.h>

#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

// A prompt of a new line; while a line is edited it is drawn without the first of these.
constexpr const char* kPrompt = "\x1b[?2004h\r\x1b[Jgos> ";
constexpr const char* kMorePrompt = "\x1b[?2004h\r\x1b[J...> ";

class Terminal {
public:
  Terminal() {
    char name[] = "/tmp/gos-repl-terminal-XXXXXX";
    home_ = ::mkdtemp(name);
    start();
  }
  ~Terminal() { stop(); }

  void start() {
    winsize size = {};
    size.ws_row = 40;
    size.ws_col = 100;
    pid_ = ::forkpty(&master_, nullptr, nullptr, &size);
    if (pid_ == 0) {
      ::setenv("HOME", home_.c_str(), 1);
      ::setenv("TERM", "xterm", 1);
      ::setenv("NO_COLOR", "1", 1);
      ::unsetenv("XDG_STATE_HOME");
      (void)!::chdir(home_.c_str());
      ::execl(GOS_PROGRAM, GOS_PROGRAM, "repl", static_cast<char*>(nullptr));
      ::_exit(127);
    }
    REQUIRE(pid_ > 0);
    from_ = seen_.size();
    CHECK(waitFor(kPrompt));
  }
  int stop() {
    if (pid_ <= 0)
      return -1;
    ::close(master_); // hangs up
    int status = 0;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }
  /// The exit code once the program ends by itself.
  int wait() {
    waitFor(std::string(1, '\0')); // reads to the end
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    ::close(master_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  void type(const std::string& keys) {
    CHECK(::write(master_, keys.data(), keys.size()) == ssize_t(keys.size()));
  }

  /// Reads until the text has come, from where the last one ended. False at the end.
  bool waitFor(const std::string& text) {
    for (;;) {
      const size_t at = seen_.find(text, from_);
      if (at != std::string::npos) {
        from_ = at + text.size();
        return true;
      }
      char buffer[4096];
      const ssize_t got = ::read(master_, buffer, sizeof buffer);
      if (got <= 0)
        return false;
      seen_.append(buffer, size_t(got));
    }
  }
  /// Types a line and waits for what it answers.
  bool answers(const std::string& keys, const std::string& text) {
    type(keys);
    if (!waitFor(text))
      return false;
    // Keys that come before the next prompt would meet the terminal's own editing.
    return text.find(" : ") == std::string::npos || waitFor(kPrompt);
  }

  const std::string& home() const { return home_; }
  const std::string& seen() const { return seen_; }

private:
  std::string home_, seen_;
  size_t from_ = 0;
  int master_ = -1;
  pid_t pid_ = -1;
};

} // namespace

TEST_CASE("a line is typed, run, and the end of input ends the session") {
  Terminal terminal;
  CHECK(terminal.answers("6 * 7\r", "42 : i64"));
  terminal.type("\x04");
  CHECK(terminal.wait() == 0);
}

TEST_CASE("lines are edited: arrows, start and end, words, kill and yank") {
  Terminal terminal;
  // 12 -> 1+2 by going left; then a prefix at the start; then the end again.
  CHECK(terminal.answers("12\x1b[D+\x01"
                         "100+\x05+1000\r",
                         "1103 : i64"));
  // Ctrl-W takes the last word, Ctrl-U everything, Ctrl-Y gives it back.
  CHECK(terminal.answers("70 + nonsense\x17"
                         "7\r",
                         "77 : i64"));
  CHECK(terminal.answers("80 + 8\x15\x19\r", "88 : i64"));
  CHECK(terminal.answers("90 + 9 + junk\x1b"
                         "b\x0b"
                         "0\r",
                         "99 : i64"));
}

TEST_CASE("letters of several bytes and of two columns are one step each") {
  Terminal terminal;
  CHECK(terminal.answers("\"\xc3\xa4\xe6\xbc\xa2z\"\x1b[D\x1b[D\x7f\r", "\"\xc3\xa4z\" : String"));
}

TEST_CASE(
    "older lines come back, also in the next session, from a file that only its owner reads") {
  Terminal terminal;
  CHECK(terminal.answers("40 + 2\r", "42 : i64"));
  CHECK(terminal.answers("50 + 5\r", "55 : i64"));
  CHECK(terminal.answers("\x1b[A\x1b[A\r", "42 : i64"));
  CHECK(terminal.answers("\x12"
                         "50\r\r",
                         "55 : i64"));
  struct stat status = {};
  CHECK(::stat((terminal.home() + "/.local/state/gossamer/repl_history").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  terminal.stop();
  terminal.start();
  CHECK(terminal.answers("\x12"
                         "40 + \r\r",
                         "42 : i64"));
}

TEST_CASE("a history that is a link is left alone") {
  Terminal terminal;
  CHECK(terminal.answers("1 + 2\r", "3 : i64"));
  const std::string file = terminal.home() + "/.local/state/gossamer/repl_history";
  const std::string precious = terminal.home() + "/precious";
  terminal.stop();
  std::ofstream(precious) << "precious\n";
  REQUIRE(::unlink(file.c_str()) == 0);
  REQUIRE(::symlink(precious.c_str(), file.c_str()) == 0);
  terminal.start();
  CHECK(terminal.answers("3 + 4\r", "7 : i64"));
  std::ifstream in(precious);
  CHECK(std::string(std::istreambuf_iterator<char>(in), {}) == "precious\n");
}

TEST_CASE("brackets that are open get a line of their own prompt") {
  Terminal terminal;
  CHECK(terminal.answers("fn twice(n: i64) -> i64 {\r", kMorePrompt));
  CHECK(terminal.answers("n * 2 }\r", kPrompt));
  CHECK(terminal.answers("twice(21)\r", "42 : i64"));
}

TEST_CASE("pasted text is one input, and a tab in it completes nothing") {
  Terminal terminal;
  CHECK(terminal.answers("\x1b[200~let a = #[\r\n\t1,\r\n\t2]\r\na.len()\x1b[201~\r", "2 : i64"));
}

TEST_CASE("a word is completed: bindings, modules, functions of a module") {
  Terminal terminal;
  CHECK(terminal.answers("let remarkable = 5\r", kPrompt));
  CHECK(terminal.answers("remar\t * 3\r", "15 : i64"));
  CHECK(terminal.answers("use std::str\tin\t\r", kPrompt)); // strings, not strconv
  CHECK(terminal.answers("strings::to_upp\t", "strings::to_uppercase"));
  CHECK(terminal.answers("(\"a\")\r", "\"A\" : String"));
}

TEST_CASE("Ctrl-C drops a line that is typed, but not the session") {
  Terminal terminal;
  CHECK(terminal.answers("let kept = 7\r", kPrompt));
  CHECK(terminal.answers("1 + \x03", "^C"));
  CHECK(terminal.waitFor(kPrompt));
  CHECK(terminal.answers("kept + 1\r", "8 : i64"));
}

TEST_CASE(
    "a loop that calls, one that calls the library and one that recurses are all interrupted") {
#ifdef GOS_SANITIZED_THREADS
  MESSAGE("the thread sanitizer keeps signals until a program waits");
  return;
#endif
  Terminal terminal;
  CHECK(terminal.answers("fn spin(n: i64) -> i64 { if n < 0 { 0 } else { n } }\r", kPrompt));
  for (const char* line :
       {"{ println!(\"go\" + \"es\")\n let mut i = 0\n loop { i = spin(i) } }",
        "{ println!(\"go\" + \"es\")\n loop { let xs = #[3, 1, 2]\n xs.map(|x| x + 1) } }"}) {
    // As a paste, so that it is one input; what is printed differs from what is typed.
    CHECK(terminal.answers("\x1b[200~" + std::string(line) + "\x1b[201~\r", "goes"));
    CHECK(terminal.answers("\x03", "error: interrupted"));
    CHECK(terminal.waitFor(kPrompt));
  }
  CHECK(terminal.answers("spin(5)\r", "5 : i64"));
}

TEST_CASE("waiting for the time is interrupted, the line's own and that for its goroutines") {
  Terminal terminal;
  CHECK(terminal.answers("use std::time\r", kPrompt));
  terminal.type("\x1b[200~{ println!(\"go\" + \"es\")\n time::sleep(9000000) }\x1b[201~\r");
  CHECK(terminal.waitFor("goes"));
  CHECK(terminal.answers("\x03", "error: interrupted"));
  CHECK(terminal.waitFor(kPrompt));
  // As above, what is printed differs from what is typed.
  terminal.type("\x1b[200~{ spawn(|| time::sleep(9000000))\n println!(\"go\" + \"es\")\n "
                "time::sleep(9000000) }\x1b[201~\r");
  CHECK(terminal.waitFor("goes"));
  CHECK(terminal.answers("\x03", "error: interrupted"));
  CHECK(terminal.waitFor(kPrompt));
  // Its goroutine has a turn when the line itself has ended.
  terminal.type("\x1b[200~let h = spawn(|| { println!(\"go\" + \"es\")\n time::sleep(9000000) "
                "})\x1b[201~\r");
  CHECK(terminal.waitFor("goes"));
  CHECK(terminal.answers("\x03", "note: interrupted"));
  CHECK(terminal.waitFor(kPrompt));
  CHECK(terminal.answers("{ let k = h\n 5 }\r", "5 : i64"));
}

TEST_CASE(
    "a program that ends itself ends the session with its code and leaves the terminal as it was") {
  Terminal terminal;
  CHECK(terminal.answers("use std::process\r", kPrompt));
  terminal.type("process::exit(9)\r");
  CHECK(terminal.wait() == 9);
  CHECK(terminal.seen().rfind("\x1b[?2004l") > terminal.seen().rfind("\x1b[?2004h"));
}
