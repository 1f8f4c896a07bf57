// The runner as a library: what a start that fails answers, whole captures, caps, many at once.

#include "sandbox/command/command_policy.h"
#include "sandbox/command/runner.h"
#include "tests/unit/sandbox_command/room.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

extern char** environ;

namespace gos::sandbox {
namespace {

Policy policyFor(const Room& room, SandboxLevel level) {
  return baseViewPolicy(hostFacts())
      .withLevel(level)
      .readWrite(room.path, Origin::User)
      .withWorkingDirectory(room.path);
}
RunOptions optionsFor(std::vector<std::string> command) {
  RunOptions options;
  options.program = command.front();
  options.arguments = std::move(command);
  options.streams = RunOptions::Streams::Capture;
  for (char** entry = environ; *entry != nullptr; ++entry)
    options.environment.push_back(*entry);
  return options;
}
RunProblem problemOf(llvm::Error error) {
  RunProblem problem = RunProblem::Unavailable;
  std::string text;
  llvm::handleAllErrors(
      std::move(error),
      [&](const RunError& run) {
        problem = run.problem();
        text = run.text().str();
      },
      [&](const llvm::ErrorInfoBase& other) { FAIL("not a RunError: " << other.message()); });
  CHECK_FALSE(text.empty());
  return problem;
}
constexpr SandboxLevel kLevels[] = {SandboxLevel::Basic, SandboxLevel::Standard,
                                    SandboxLevel::Strict};

} // namespace

TEST_CASE("B053 what cannot be executed is an error of the start, never a run that started") {
  const Room room;
  const std::string foreign = room.path + "/foreign";
  std::ofstream(foreign) << std::string("\x7f"
                                        "ELF\x02\x01\x01",
                                        7) +
                                std::string(64, '\0');
  ::chmod(foreign.c_str(), 0755);
  // A file that somebody writes: on kernels that refuse to execute one.
  const std::string busy = room.path + "/busy";
  std::filesystem::copy_file("/bin/true", busy);
  for (SandboxLevel level : kLevels) {
    CAPTURE(spelling(level).str());
    const Policy policy = policyFor(room, level);
    llvm::Expected<std::unique_ptr<Run>> missing = start(policy, optionsFor({"/no/such"}));
    REQUIRE_FALSE(bool(missing));
    CHECK(problemOf(missing.takeError()) == RunProblem::NotFound);
    llvm::Expected<std::unique_ptr<Run>> directory = start(policy, optionsFor({"/usr"}));
    REQUIRE_FALSE(bool(directory));
    CHECK(problemOf(directory.takeError()) == RunProblem::NotExecutable);
    llvm::Expected<RunResult> binary = run(policy, optionsFor({foreign}));
    if (binary) // the shell was given it, as a shell would do, and could not read it
      CHECK(binary->code != 0);
    else
      CHECK(problemOf(binary.takeError()) != RunProblem::Unavailable);
    const int writer = ::open(busy.c_str(), O_WRONLY | O_CLOEXEC);
    REQUIRE(writer >= 0);
    llvm::Expected<RunResult> written = run(policy, optionsFor({busy}));
    if (written)
      CHECK(written->code == 0);
    else
      CHECK(problemOf(written.takeError()) == RunProblem::NotExecutable);
    ::close(writer);
  }
}

TEST_CASE("T139 both streams are captured whole, and more than the cap is an error that names it") {
  const Room room;
  for (SandboxLevel level : kLevels) {
    CAPTURE(spelling(level).str());
    const Policy policy = policyFor(room, level);
    llvm::Expected<RunResult> whole =
        run(policy, optionsFor({"sh", "-c",
                                "head -c 30000000 /dev/zero | tr '\\0' a & head -c 30000000 "
                                "/dev/zero | tr '\\0' b >&2; wait"}));
    REQUIRE(bool(whole));
    CHECK(whole->output == std::string(30000000, 'a'));
    CHECK(whole->errorOutput == std::string(30000000, 'b'));
    // Without an end, without a newline, ignoring that its reader is gone.
    RunOptions flood =
        optionsFor({"sh", "-c", "trap '' PIPE; while :; do head -c 1000000 /dev/zero; done"});
    flood.captureLimit = 5000000;
    llvm::Expected<RunResult> capped = run(policy, flood);
    REQUIRE_FALSE(bool(capped));
    const std::string text = llvm::toString(capped.takeError());
    CHECK_MESSAGE(text.find("5000000") != std::string::npos, text);
    // Output after the main process has ended is not waited for.
    llvm::Expected<RunResult> late =
        run(policy, optionsFor({"sh", "-c", "(sleep 1000; echo late) & echo now"}));
    REQUIRE(bool(late));
    CHECK(late->output == "now\n");
    CHECK(late->killed >= 1);
  }
}

TEST_CASE("runs at once from many threads do not mix") {
  const Room room;
  for (SandboxLevel level : kLevels) {
    CAPTURE(spelling(level).str());
    const Policy policy = policyFor(room, level);
    std::vector<std::thread> threads;
    std::vector<std::string> answers(16);
    for (int at = 0; at != 16; ++at)
      threads.emplace_back([&, at] {
        llvm::Expected<RunResult> result = run(
            policy, optionsFor({"sh", "-c",
                                "echo " + std::to_string(at) + "; exit " + std::to_string(at)}));
        answers[size_t(at)] = result ? result->output + std::to_string(result->code)
                                     : llvm::toString(result.takeError());
      });
    for (std::thread& thread : threads)
      thread.join();
    for (int at = 0; at != 16; ++at)
      CHECK(answers[size_t(at)] == std::to_string(at) + "\n" + std::to_string(at));
  }
}

TEST_CASE("a run that is dropped ends, with everything it started") {
  const Room room;
  for (SandboxLevel level : kLevels) {
    CAPTURE(spelling(level).str());
    RunOptions options = optionsFor({"sh", "-c", "setsid sleep 1000 & sleep 1000"});
    options.streams = RunOptions::Streams::Inherit;
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    options.standardOutput = ends[1];
    {
      llvm::Expected<std::unique_ptr<Run>> run = start(policyFor(room, level), options);
      REQUIRE(bool(run));
    }
    ::close(ends[1]);
    // All who held the pipe are dead: it is at its end.
    char byte;
    CHECK(::read(ends[0], &byte, 1) == 0);
    ::close(ends[0]);
  }
}

TEST_CASE("a run whose first process was stopped ends, too, with everything it started") {
  const Room room;
  // Where the command may signal it; there nothing but the first process ends what is left. It is
  // stopped when it has told of the start, and waits.
  RunOptions options = optionsFor({"sh", "-c",
                                   "setsid sleep 1000 & until grep -q State:.S /proc/$PPID/status; "
                                   "do sleep 0.01; done; kill -STOP $PPID; echo; exec sleep 1000"});
  options.streams = RunOptions::Streams::Inherit;
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  options.standardOutput = ends[1];
  char byte;
  {
    llvm::Expected<std::unique_ptr<Run>> run = start(policyFor(room, SandboxLevel::Basic), options);
    REQUIRE(bool(run));
    ::close(ends[1]);
    CHECK(::read(ends[0], &byte, 1) == 1); // it is stopped now
  }
  CHECK(::read(ends[0], &byte, 1) == 0);
  ::close(ends[0]);
}

TEST_CASE("a first process that is started ahead serves its run, and no other one") {
  const Room room;
  struct Row {
    SandboxLevel ahead, level;
    NetworkMode network;
    bool otherStreams;
  };
  for (const Row& row :
       {Row{SandboxLevel::Standard, SandboxLevel::Standard, NetworkMode::None, false},
        Row{SandboxLevel::Strict, SandboxLevel::Strict, NetworkMode::None, false},
        // What it was begun for is less, more, or something else than the policy asks for.
        Row{SandboxLevel::Standard, SandboxLevel::Strict, NetworkMode::None, false},
        Row{SandboxLevel::Strict, SandboxLevel::Standard, NetworkMode::None, false},
        Row{SandboxLevel::Standard, SandboxLevel::Standard, NetworkMode::Open, false},
        Row{SandboxLevel::Strict, SandboxLevel::Basic, NetworkMode::None, false},
        Row{SandboxLevel::Strict, SandboxLevel::Strict, NetworkMode::None, true}}) {
    CAPTURE(spelling(row.ahead).str());
    CAPTURE(spelling(row.level).str());
    CAPTURE(row.otherStreams);
    // The level is proven first, or nothing is started ahead.
    REQUIRE(bool(run(policyFor(room, row.ahead), optionsFor({"true"}))));
    int ends[2], others[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(others, O_CLOEXEC) == 0);
    RunOptions options = optionsFor({"readlink", "/proc/self/ns/net"});
    options.streams = RunOptions::Streams::Inherit;
    options.standardOutput = row.otherStreams ? others[1] : ends[1];
    std::shared_ptr<FirstProcess> ahead = startAhead(row.ahead, NetworkMode::None, options);
    CHECK(ahead != nullptr);
    options.ahead = ahead;
    options.standardOutput = ends[1];
    Policy policy = policyFor(room, row.level).withNetwork(row.network);
    llvm::Expected<std::unique_ptr<Run>> started = start(policy, options);
    REQUIRE(bool(started));
    ::close(ends[1]);
    std::string text;
    char buffer[256];
    for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
      text.append(buffer, size_t(got));
    ::close(ends[0]);
    const std::string own = std::filesystem::read_symlink("/proc/self/ns/net").string() + "\n";
    const bool shares = row.network == NetworkMode::Open || row.level == SandboxLevel::Basic;
    CHECK((text == own) == shares);
    CHECK(llvm::StringRef(text).starts_with("net:["));
    // Neither the run nor what was begun for nothing holds a stream.
    ::close(others[1]);
    CHECK(::read(others[0], buffer, 1) == 0);
    ::close(others[0]);
  }
}

TEST_CASE("a first process that nobody needs ends when it is let go of") {
  const Room room;
  REQUIRE(bool(run(policyFor(room, SandboxLevel::Strict), optionsFor({"true"}))));
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  RunOptions options;
  options.standardOutput = ends[1];
  std::shared_ptr<FirstProcess> ahead =
      startAhead(SandboxLevel::Strict, NetworkMode::None, options);
  REQUIRE(ahead != nullptr);
  ahead.reset();
  ::close(ends[1]);
  char byte;
  CHECK(::read(ends[0], &byte, 1) == 0);
  ::close(ends[0]);
}

} // namespace gos::sandbox
