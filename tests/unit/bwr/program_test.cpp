// The program from outside: its exit codes, its signals, its object. Nothing waits for a time: a
// command says that it is there, and a stop is seen by waiting for it.

#include "tests/unit/sandbox/temp_tree.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <csignal>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>

namespace gos::bwr {
namespace {

/// One run of bwr in a directory of its own, with pipes for its streams.
class Started {
public:
  Started(const std::string& directory, const std::string& home, std::vector<std::string> words) {
    int out[2], err[2];
    REQUIRE(::pipe2(out, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(err, O_CLOEXEC) == 0);
    words.insert(words.begin(), GOS_BINARY_DIR "/bin/bwr");
    std::vector<char*> argv;
    for (std::string& word : words)
      argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      // A group of its own: in a group whose leader's parent is in another session (CI) the
      // terminal stop signal does nothing.
      ::setpgid(0, 0);
      const int null = ::open("/dev/null", O_RDONLY);
      ::dup2(null, 0);
      ::dup2(out[1], 1);
      ::dup2(err[1], 2);
      if (::chdir(directory.c_str()) != 0)
        ::_exit(99);
      ::setenv("HOME", home.c_str(), 1);
      ::setenv("PATH", "/usr/bin:/bin", 1);
      ::execv(argv[0], argv.data());
      ::_exit(98);
    }
    ::close(out[1]);
    ::close(err[1]);
    out_ = out[0];
    err_ = err[0];
  }
  Started(const Started&) = delete;
  ~Started() {
    ::close(out_);
    ::close(err_);
    if (!reaped_) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }

  pid_t pid() const { return pid_; }
  /// The next line of standard output.
  std::string line() const {
    std::string text;
    char c;
    while (::read(out_, &c, 1) == 1 && c != '\n')
      text += c;
    return text;
  }
  void send(int signal) const { ::kill(pid_, signal); }
  int waitChange() {
    int status = 0;
    ::waitpid(pid_, &status, WUNTRACED);
    reaped_ = !WIFSTOPPED(status);
    return status;
  }
  /// Everything it still says, then its end.
  int finish() {
    out = rest(out_);
    err = rest(err_);
    return waitChange();
  }
  std::string out, err;

private:
  static std::string rest(int fd) {
    std::string text;
    char buffer[4096];
    ssize_t got;
    while ((got = ::read(fd, buffer, sizeof buffer)) > 0)
      text.append(buffer, size_t(got));
    return text;
  }
  pid_t pid_ = -1;
  int out_ = -1, err_ = -1;
  bool reaped_ = false;
};

struct Ended {
  int code = -1; // -1: by a signal
  std::string out, err;
};

struct Place {
  test::TempTree tree;
  Place() {
    tree.directory("p");
    tree.directory("home/.ssh");
  }
  std::string directory() const { return tree.at("p"); }
  Ended run(std::vector<std::string> words, const std::string& in = "p") const {
    Started started(tree.at(in), tree.at("home"), std::move(words));
    const int status = started.finish();
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, started.out, started.err};
  }
};

/// The levels that this host gives; `none` and `basic` everywhere.
std::vector<std::string> levelsHere(const Place& place) {
  std::vector<std::string> levels = {"none", "basic"};
  for (const char* level : {"standard", "strict"}) {
    const Ended ended = place.run({"--level", level, "--", "true"});
    if (ended.code == 0) {
      levels.push_back(level);
      continue;
    }
    CHECK_MESSAGE(ended.code == 64, ended.err);
    const char* required = ::getenv("GOS_REQUIRE_SANDBOX");
    CHECK_MESSAGE((required == nullptr || *required != '1'), ended.err);
    MESSAGE("skipped: level " << level << " is not available here: " << ended.err);
  }
  return levels;
}

TEST_CASE("the exit code is the command's, or 128 and its signal (B052)") {
  Place place;
  for (const std::string& level : levelsHere(place)) {
    CAPTURE(level);
    const auto code = [&](const char* script) {
      return place.run({"--level", level, "--", "sh", "-c", script}).code;
    };
    CHECK(code("exit 0") == 0);
    CHECK(code("exit 42") == 42);
    CHECK(code("exit 64") == 64);
    CHECK(code("exit 200") == 200);
    CHECK(code("kill -SEGV $$") == 139);
    CHECK(code("kill -TERM $$") == 143);
    CHECK(code("kill -KILL $$") == 137);
    CHECK(place.run({"--level", level, "--", "/no/such"}).code == 127);
    CHECK(place.run({"--level", level, "--", "no-such-command-here"}).code == 127);
    CHECK(place.run({"--level", level, "--", "/etc/passwd"}).code == 126);
    CHECK(place.run({"--level", level, "--", "/etc"}).code == 126);
  }
}

TEST_CASE("wrong usage and a policy that cannot be kept run nothing") {
  Place place;
  for (std::vector<std::string> words : {std::vector<std::string>{"--lvl", "x"},
                                         {"--level", "Strict"},
                                         {"--network", "off"},
                                         {"--profile", "nope"},
                                         {"--level=strict", "--level=strict"}}) {
    for (const char* each : {"--", "sh", "-c", "echo ran"})
      words.push_back(each);
    const Ended ended = place.run(words);
    CHECK(ended.code == 2);
    CHECK(ended.out.empty());
    CHECK(llvm::StringRef(ended.err).starts_with("bwr: "));
    CHECK(llvm::StringRef(ended.err).contains("\ntry: "));
  }
  for (std::vector<std::string> words : {std::vector<std::string>{"--ro", "/no/such"},
                                         {"--ro", place.tree.at("home/.ssh")},
                                         {"--env", "LD_PRELOAD"},
                                         {"--level", "basic", "--deny", "x"}}) {
    for (const char* each : {"--", "sh", "-c", "echo ran"})
      words.push_back(each);
    const Ended ended = place.run(words);
    CHECK_MESSAGE(ended.code == 126, ended.err);
    CHECK(ended.out.empty());
    CHECK(llvm::StringRef(ended.err).starts_with("bwr: "));
  }
}

TEST_CASE(
    "a working directory that must not be assumed is refused at every level but none (B022)") {
  Place place;
  for (const char* level : {"basic", "standard", "strict"})
    for (const char* directory : {"home", "home/.ssh"}) {
      const Ended ended = place.run({"--level", level, "--", "sh", "-c", "echo ran"}, directory);
      CHECK(ended.code == 126);
      CHECK(ended.out.empty());
      CHECK(llvm::StringRef(ended.err).contains("--workdir"));
    }
}

TEST_CASE("the object is the last line of standard error, or alone in its file") {
  Place place;
  const Ended here =
      place.run({"--level", "basic", "--json", "--", "sh", "-c", "echo x >&2; exit 3"});
  CHECK(here.code == 3);
  const llvm::StringRef last = llvm::StringRef(here.err).rtrim().rsplit('\n').second;
  CHECK_MESSAGE(last.starts_with("{\"schema\":1,\"code\":3,\"signal\":null,"), here.err);
  const Ended there = place.run({"--level", "basic", "--json=out.json", "--", "true"});
  CHECK(there.code == 0);
  CHECK(there.err.empty());
  std::ifstream file(place.tree.at("p/out.json"));
  std::string text;
  std::getline(file, text);
  CHECK(llvm::StringRef(text).contains("\"level\":\"basic\""));
  const Ended usage = place.run({"--json", "--level", "q", "true"});
  CHECK(usage.code == 2);
  CHECK(llvm::StringRef(usage.err).contains("\"kind\":\"usage\""));
  CHECK(place.run({"--json=/no/such/file", "true"}).code == 126);
}

TEST_CASE("a signal reaches the command once, and its code is ours (B047)") {
  Place place;
  for (const std::string& level : levelsHere(place))
    for (const int number : {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH}) {
      CAPTURE(level);
      CAPTURE(number);
      // The second signal ends it, so that a first one that came twice is counted.
      const std::string script =
          "n=0; trap 'n=$((n+1)); echo caught' " + std::to_string(number) +
          "; trap 'exit $((10+n))' ALRM; echo up; while :; do sleep 1 & wait "
          "$!; done";
      const std::string ender = number == SIGTERM ? "USR2" : "TERM";
      std::string adjusted = script;
      adjusted.replace(adjusted.find("ALRM"), 4, ender);
      Started run(place.directory(), place.tree.at("home"),
                  {"--level", level, "--", "sh", "-c", adjusted});
      CHECK(run.line() == "up");
      run.send(number);
      CHECK(run.line() == "caught");
      run.send(number == SIGTERM ? SIGUSR2 : SIGTERM);
      const int status = run.finish();
      CHECK(WIFEXITED(status));
      CHECK(WEXITSTATUS(status) == 11);
      CHECK(run.out.empty());
    }
}

TEST_CASE("when the command dies of SIGINT, so does bwr (B056)") {
  Place place;
  for (const std::string& level : levelsHere(place)) {
    CAPTURE(level);
    Started run(place.directory(), place.tree.at("home"),
                {"--level", level, "--", "sh", "-c", "echo up; exec sleep 1000"});
    CHECK(run.line() == "up");
    run.send(SIGINT);
    const int status = run.finish();
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGINT);
  }
}

TEST_CASE("a command that stops is a job that stops, and it goes on (B058)") {
  Place place;
  for (const std::string& level : levelsHere(place)) {
    CAPTURE(level);
    Started run(place.directory(), place.tree.at("home"),
                {"--level", level, "--", "python3", "-c",
                 "import signal, sys, time\n"
                 "signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))\n"
                 "print('up', flush=True)\n"
                 "while True: time.sleep(60)"});
    CHECK(run.line() == "up");
    run.send(SIGTSTP);
    CHECK(WIFSTOPPED(run.waitChange()));
    run.send(SIGCONT);
    run.send(SIGTERM);
    const int status = run.finish();
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 5);
  }
}

TEST_CASE("what the caller ignores the command ignores") {
  Place place;
  struct sigaction ignore{}, before{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGHUP, &ignore, &before);
  Started run(place.directory(), place.tree.at("home"),
              {"--level", "basic", "--", "sh", "-c", "kill -HUP $$; echo alive"});
  ::sigaction(SIGHUP, &before, nullptr);
  CHECK(run.line() == "alive");
  CHECK(run.finish() == 0);
}

TEST_CASE("what is asked instead of a run answers and exits well") {
  Place place;
  CHECK(llvm::StringRef(place.run({"--version"}).out).starts_with("bwr "));
  CHECK(llvm::StringRef(place.run({"--help"}).out).contains("usage: bwr"));
  CHECK(llvm::StringRef(place.run({"--man"}).out).starts_with(".TH BWR 1"));
  CHECK(llvm::StringRef(place.run({"--list-profiles"}).out).contains("cargo "));
  CHECK(llvm::StringRef(place.run({"--show-profile", "go"}).out).contains("[phase.build]"));
  CHECK(place.run({"--show-profile", "nope"}).code == 2);
  CHECK(place.run({"--explain", "--platform", "macos", "true"}).code == 2);
  const Ended explained = place.run({"--explain", "true"});
  CHECK(llvm::StringRef(explained.out).contains("standard"));
  const Ended object = place.run({"--explain", "--json", "true"});
  CHECK(llvm::StringRef(object.out).starts_with("{\"schema\":1"));
}

TEST_CASE("closed streams are no obstacle, and a full one is told") {
  Place place;
  const std::string program = "'" GOS_BINARY_DIR "/bin/bwr'";
  const std::string in = "cd '" + place.directory() + "' && HOME='" + place.tree.at("home") + "' ";
  CHECK(std::system((in + program + " --level basic -- cat <&- >&- 2>&-").c_str()) == 0);
  const int full = std::system((in + program + " --help >/dev/full 2>/dev/null").c_str());
  CHECK(WIFEXITED(full));
  CHECK(WEXITSTATUS(full) == 1);
}

} // namespace
} // namespace gos::bwr
