// Runs without number leave nothing: sixteen at once from sixteen threads, a thousand at each level
// and, with GOS_FULL=1, ten thousand; as root and as an ordinary user. Afterwards the process has
// the descriptors, mounts, memory and children that it had, and of the runs no process, no
// directory and no namespace is left.

#include "sandbox/command/command_policy.h"
#include "sandbox/command/runner.h"
#include "tests/support/eventually.h"

#include "llvm/ADT/StringExtras.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <mutex>
#include <poll.h>
#include <set>
#include <sstream>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern char** environ;

using namespace gos;
using namespace gos::sandbox;

namespace {

constexpr int kThreads = 16;

size_t entriesOf(const char* directory) {
  size_t count = 0;
  std::error_code ignored;
  for (auto entry = std::filesystem::directory_iterator(directory, ignored);
       entry != std::filesystem::directory_iterator(); entry.increment(ignored))
    ++count;
  return count;
}
std::string textOf(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}
size_t linesOf(const char* path) {
  const std::string text = textOf(path);
  return size_t(std::count(text.begin(), text.end(), '\n'));
}
/// Resident memory in KiB.
size_t residentSize() {
  const std::string text = textOf("/proc/self/statm");
  return size_t(std::atol(text.c_str() + text.find(' '))) * size_t(::sysconf(_SC_PAGESIZE)) / 1024;
}

const char* const kNamespaces[] = {"user", "mnt", "net", "ipc", "pid", "uts", "cgroup"};

/// The names of the namespaces that some process is in, or that a descriptor of ours holds.
std::set<std::string> namespaces() {
  std::set<std::string> found;
  std::error_code ignored;
  const auto add = [&](const std::filesystem::path& link) {
    const std::string name = std::filesystem::read_symlink(link, ignored).string();
    if (!ignored)
      found.insert(name);
  };
  for (const auto& process : std::filesystem::directory_iterator("/proc", ignored))
    if (process.path().filename().string().find_first_not_of("0123456789") == std::string::npos)
      for (const char* kind : kNamespaces)
        add(process.path() / "ns" / kind);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored))
    add(entry.path());
  return found;
}
/// Of these namespaces, those that are never gone. The kernel gives a number again, so another run
/// of this host may have one for a while: it is enough that each was gone once.
std::set<std::string> stillThere(std::set<std::string> names) {
  (void)tests::eventually([&] {
    const std::set<std::string> now = namespaces();
    for (auto name = names.begin(); name != names.end();)
      name = now.count(*name) == 0 ? names.erase(name) : std::next(name);
    return names.empty();
  });
  return names;
}

/// A thread that was joined is there for a moment more.
bool threadsAre(size_t count) {
  return tests::eventually([&] { return entriesOf("/proc/self/task") == count; });
}
/// Somebody else of this host may mount something meanwhile.
bool mountsAre(size_t count) {
  return tests::eventually([&] { return linesOf("/proc/self/mountinfo") == count; });
}

class Soak {
public:
  explicit Soak(SandboxLevel level) : level_(level), facts_(hostFacts()) {
    std::string pattern = "/var/tmp/gossoak-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    top_ = std::filesystem::canonical(pattern).string();
    for (char** entry = environ; *entry != nullptr; ++entry)
      environment_.push_back(*entry);
  }
  ~Soak() {
    std::error_code ignored;
    std::filesystem::remove_all(top_, ignored);
  }
  Soak(const Soak&) = delete;
  Soak& operator=(const Soak&) = delete;

  /// Half of the runs go through `run`, half through `start` and a Run that is taken from or
  /// dropped.
  void runs(int count) {
    std::atomic<int> next = 0;
    onThreads([&](int) {
      for (int number; (number = next++) < count;)
        one(number);
    });
  }
  /// One run of each kind on each thread, all threads at once: none has its first one later.
  void runsOfEach() {
    onThreads([&](int thread) {
      for (int kind = 0; kind != 4; ++kind)
        one(kind + 4 * thread);
    });
  }
  static constexpr int kOfEach = 4 * kThreads;

  const std::vector<std::string>& problems() const { return problems_; }
  const std::set<std::string>& temporaries() const { return temporaries_; }
  /// Those that the runs were in and we are not.
  std::set<std::string> namespaces() const {
    std::set<std::string> others = namespaces_;
    std::error_code ignored;
    for (const char* kind : kNamespaces)
      others.erase(
          std::filesystem::read_symlink(std::string("/proc/self/ns/") + kind, ignored).string());
    return others;
  }
  int done() const { return done_; }

private:
  Policy policy() const {
    llvm::Expected<Policy> made = commandPolicy(facts_, top_);
    if (!made) {
      llvm::consumeError(made.takeError());
      return Policy();
    }
    return completeCommandPolicy(made->withLevel(level_), facts_)
        .withNetwork(hasFileSystemPolicy(level_) ? NetworkMode::None : NetworkMode::Open);
  }
  void problem(const std::string& text) {
    const std::lock_guard<std::mutex> lock(mutex_);
    problems_.push_back(text);
  }

  template <class Work> void onThreads(Work work) {
    std::atomic<int> waiting = kThreads;
    std::vector<std::thread> threads;
    for (int thread = 0; thread != kThreads; ++thread)
      threads.emplace_back([&, thread] {
        for (--waiting; waiting != 0;)
          std::this_thread::yield();
        work(thread);
      });
    for (std::thread& thread : threads)
      thread.join();
  }
  void one(int number) { number % 2 == 0 ? captured(number) : started(number); }

  /// Output, code and an orphan that stays, of this run and of no other.
  void captured(int number) {
    RunOptions options;
    options.program = "/bin/sh";
    const std::string own = std::to_string(number);
    const bool tells = number % 10 == 0; // of its namespaces
    options.arguments = {
        "sh", "-c",
        "echo out " + own + "; echo err " + own + " >&2; touch $TMPDIR/f; (sleep 1000 &) ; " +
            (tells ? "readlink /proc/self/ns/*; " : "") + "exit " + std::to_string(number % 7)};
    options.environment = environment_;
    options.streams = RunOptions::Streams::Capture;
    llvm::Expected<RunResult> result = run(policy(), options);
    if (!result) {
      problem(llvm::toString(result.takeError()));
      return;
    }
    const std::string expected = "out " + own + "\n";
    if (tells && llvm::StringRef(result->output).starts_with(expected)) {
      std::istringstream names(result->output.substr(expected.size()));
      const std::lock_guard<std::mutex> lock(mutex_);
      for (std::string name; std::getline(names, name);)
        namespaces_.insert(name);
      result->output.resize(expected.size());
    }
    if (result->code != number % 7 || result->output != expected ||
        result->errorOutput != "err " + own + "\n" || !result->temporaryRemoved)
      problem("run " + own + ": code " + std::to_string(result->code) + ", output " +
              result->output + result->errorOutput);
    ++done_;
  }

  void started(int number) {
    RunOptions options;
    options.program = "/bin/sh";
    options.arguments = {"sh", "-c", "touch $TMPDIR/f; sleep 0.01"};
    options.environment = environment_;
    options.newSession = true;
    llvm::Expected<std::unique_ptr<Run>> run = start(policy(), options);
    if (!run) {
      problem(llvm::toString(run.takeError()));
      return;
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      temporaries_.insert((*run)->plan().temporaryDirectory);
    }
    ++done_;
    if (number % 4 == 1)
      return; // dropped while it runs
    while (true) {
      pollfd entry = {(*run)->descriptor(), POLLIN, 0};
      ::poll(&entry, 1, -1);
      llvm::Expected<Run::Event> event = (*run)->take();
      if (!event) {
        problem(llvm::toString(event.takeError()));
        return;
      }
      if (*event == Run::Event::Ended)
        break;
    }
    if ((*run)->result().code != 0)
      problem("started run " + std::to_string(number) + ": code " +
              std::to_string((*run)->result().code));
  }

  const SandboxLevel level_;
  const HostFacts facts_;
  std::string top_;
  std::vector<std::string> environment_, problems_;
  std::set<std::string> temporaries_, namespaces_;
  std::mutex mutex_;
  std::atomic<int> done_ = 0;
};

void soak(SandboxLevel level) {
  // Whatever a run lets go of becomes our child, and would be found.
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
  const char* full = std::getenv("GOS_FULL");
  const int count = full != nullptr && std::string(full) == "1" ? 10000 : 1000;
  Soak runs(level);
  const size_t threads = entriesOf("/proc/self/task");
  runs.runsOfEach(); // what is made once is made
  const size_t descriptors = entriesOf("/proc/self/fd"), mounts = linesOf("/proc/self/mountinfo");
  const size_t memory = residentSize();
  runs.runs(count);

  CHECK_MESSAGE(runs.problems().empty(), llvm::join(runs.problems(), "\n"));
  CHECK(runs.done() == count + Soak::kOfEach);
  CHECK(entriesOf("/proc/self/fd") == descriptors);
  CHECK(mountsAre(mounts));
  CHECK(threadsAre(threads));
  int status = 0;
  CHECK_MESSAGE(::waitpid(-1, &status, WNOHANG | __WALL) == -1, "a process of a run is left");
  CHECK(errno == ECHILD);
  // A run has up to seven of its own; at once there are as many as threads, with other numbers.
  const std::set<std::string> seen = runs.namespaces();
  CHECK(seen.size() >= (hasFileSystemPolicy(level) ? 4 : 0));
  const std::set<std::string> left = stillThere(seen);
  CHECK_MESSAGE(left.empty(), llvm::join(left, " "));
  CHECK(runs.temporaries().size() > size_t(count) / 4);
  for (const std::string& directory : runs.temporaries()) {
    struct stat entry{};
    CHECK_MESSAGE(::lstat(directory.c_str(), &entry) != 0, directory);
  }
#ifndef GOS_SANITIZED
  // Sixteen stacks and arenas come and go; a run that leaked a page would show as thousands.
  CHECK_MESSAGE(residentSize() < memory + 2048 + size_t(count) * 2,
                memory << " KiB before, " << residentSize() << " after");
#else
  std::cout << "SKIP soak memory: a sanitizer keeps what is freed\n";
  (void)memory;
#endif
}

} // namespace

TEST_CASE("sixteen threads run commands at `basic`, and nothing is left") {
  soak(SandboxLevel::Basic);
}
TEST_CASE("sixteen threads run commands at `standard`, and nothing is left") {
  soak(SandboxLevel::Standard);
}
TEST_CASE("sixteen threads run commands at `strict`, and nothing is left") {
  soak(SandboxLevel::Strict);
}
