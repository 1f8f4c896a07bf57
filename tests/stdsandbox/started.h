#pragma once
// Programs that run beside the test: what they say, and how they end when they are asked to.

#include "tests/stdsandbox/support.h"
#include "tests/support/eventually.h"

#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

namespace gos::stdsandbox {

using tests::eventually;

/// A program that was started, on a terminal of its own or on pipes.
class Started {
public:
  Started(const std::string& directory, std::vector<std::string> words, bool onTerminal,
          int ignored = 0) {
    int ends[2];
    if (onTerminal) {
      reader_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
      REQUIRE(reader_ >= 0);
      REQUIRE(::grantpt(reader_) == 0);
      REQUIRE(::unlockpt(reader_) == 0);
      // Held, so that its modes can be read when nobody else has it any more.
      held_ = ::open(::ptsname(reader_), O_RDWR | O_NOCTTY | O_CLOEXEC);
      REQUIRE(held_ >= 0);
      REQUIRE(::tcgetattr(held_, &modes_) == 0);
    } else {
      REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
      reader_ = ends[0];
    }
    std::vector<char*> pointers;
    for (std::string& word : words)
      pointers.push_back(word.data());
    pointers.push_back(nullptr);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      ::setsid();
      if (onTerminal)
        ::ioctl(held_, TIOCSCTTY, 0);
      for (int stream = 0; stream != 3; ++stream)
        ::dup2(onTerminal ? held_ : stream == 0 ? ::open("/dev/null", O_RDONLY) : ends[1], stream);
      ::close_range(3, ~0u, 0);
      for (int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGTSTP, SIGCONT})
        ::signal(number, number == ignored ? SIG_IGN : SIG_DFL);
      if (::chdir(directory.c_str()) != 0)
        ::_exit(124);
      ::execvp(pointers[0], pointers.data());
      ::_exit(127);
    }
    if (!onTerminal)
      ::close(ends[1]);
  }
  ~Started() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(reader_);
    if (held_ >= 0)
      ::close(held_);
  }
  Started(const Started&) = delete;
  Started& operator=(const Started&) = delete;

  bool says(llvm::StringRef text) {
    return eventually([&] {
      drain();
      return llvm::StringRef(out_).contains(text);
    });
  }
  void type(char c) { REQUIRE(::write(reader_, &c, 1) == 1); }
  void signal(int number) { REQUIRE(::kill(pid_, number) == 0); }
  /// Does it still run, after a moment? Else `number` is the signal that ended it.
  bool runsOn(int& number) {
    drain();
    int status = 0;
    ::usleep(100000);
    if (::waitpid(pid_, &status, WNOHANG) != pid_)
      return true;
    pid_ = -1;
    drainAll();
    number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return false;
  }
  /// It is stopped, as Ctrl-Z does it.
  bool stops() {
    int status = 0;
    return eventually([&] {
      drain();
      return ::waitpid(pid_, &status, WNOHANG | WUNTRACED) == pid_ && WIFSTOPPED(status);
    });
  }
  /// The signal that ended it; 0 of an exit code, -1 if it does not end.
  int endingSignal() {
    int status = 0;
    if (!eventually([&] {
          drain();
          return ::waitpid(pid_, &status, WNOHANG) == pid_;
        }))
      return -1;
    pid_ = -1;
    drainAll();
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
  bool modesAreKept() const {
    termios now{};
    REQUIRE(::tcgetattr(held_, &now) == 0);
    return now.c_iflag == modes_.c_iflag && now.c_oflag == modes_.c_oflag &&
           now.c_cflag == modes_.c_cflag && now.c_lflag == modes_.c_lflag &&
           llvm::ArrayRef(now.c_cc) == llvm::ArrayRef(modes_.c_cc);
  }
  bool modesChanged() const { return !modesAreKept(); }
  const std::string& out() const { return out_; }

private:
  /// All that it has written: a terminal hands it over in its own time, so a word of ours goes
  /// behind it.
  void drainAll() {
    drain();
    if (held_ < 0)
      return;
    constexpr char kEnd[] = "<the end of what it wrote>";
    REQUIRE(::write(held_, kEnd, sizeof kEnd - 1) == ssize_t(sizeof kEnd - 1));
    REQUIRE(eventually([&] {
      drain();
      return llvm::StringRef(out_).ends_with(kEnd);
    }));
    out_.resize(out_.size() - (sizeof kEnd - 1));
  }
  void drain() {
    pollfd entry = {reader_, POLLIN, 0};
    char buffer[4096];
    while (::poll(&entry, 1, 0) > 0 && (entry.revents & POLLIN) != 0) {
      const ssize_t got = ::read(reader_, buffer, sizeof buffer);
      if (got <= 0)
        return;
      out_.append(buffer, size_t(got));
    }
  }

  int reader_ = -1, held_ = -1;
  pid_t pid_ = -1;
  termios modes_{};
  std::string out_;
};

/// One program, by `gos run` and built.
class BothWays {
public:
  explicit BothWays(llvm::StringRef body) {
    scene_.program(body);
    const char* other = std::getenv("GOS_PROGRAM");
    gos_ = other && *other ? other : GOS_PROGRAM;
    Launch build;
    build.directory = scene_.tree().root();
    built_ = scene_.tree().top() + "/program";
    build.arguments = {"build", "--quiet", "-o", built_, "main.gos"};
    const Outcome outcome = threats::launch(build);
    REQUIRE_MESSAGE(outcome.exitCode == 0, outcome.err);
  }
  std::vector<std::vector<std::string>> ways() const {
    return {{gos_, "run", "main.gos", "--"}, {built_}};
  }
  const std::string& directory() { return scene_.tree().root(); }
  Scene& scene() { return scene_; }

private:
  Scene scene_;
  std::string gos_, built_;
};

} // namespace gos::stdsandbox
