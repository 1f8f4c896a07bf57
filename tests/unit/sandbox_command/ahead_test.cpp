// What a first process puts up before its plan is there changes no view: whatever it was told to
// expect, the command sees what the plan says.

#include "sandbox/command/command_policy.h"
#include "sandbox/command/runner.h"
#include "sandbox/linux/plan.h"
#include "sandbox/linux/spawn.h"
#include "tests/unit/sandbox_command/room.h"

#include <doctest/doctest.h>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <unistd.h>

extern char** environ;

namespace gos::sandbox {
namespace {

Policy policyFor(const Room& room, SandboxLevel level) {
  return baseViewPolicy(hostFacts())
      .withLevel(level)
      .withTemp(TempMode::Inherit)
      .readWrite(room.path, Origin::User)
      .withWorkingDirectory(room.path);
}

RunOptions optionsFor(const std::string& script) {
  RunOptions options;
  options.program = "/bin/sh";
  options.arguments = {"sh", "-c", script};
  for (char** entry = environ; *entry != nullptr; ++entry)
    options.environment.push_back(*entry);
  return options;
}

struct Seen {
  std::string output;
  bool stoodAhead = false;
};

/// Starts the plan with a first process that was told to expect `ahead`; `meanwhile` happens once
/// it has put all of it up.
Seen runWith(const ChildPlan& plan, const std::vector<std::string>& ahead,
             const std::function<void()>& meanwhile = {}) {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  LaunchInput input;
  input.streams[0] = ends[1]; // never read
  input.streams[1] = ends[1];
  input.streams[2] = ends[1];
  llvm::Expected<Child> child = Child::begin(beginningOf(plan), input.streams, ahead);
  REQUIRE_MESSAGE(bool(child), (child ? std::string() : llvm::toString(child.takeError())));
  if (meanwhile) {
    // It waits for the plan in a call, and for nothing else that lasts.
    const std::string call = "/proc/" + std::to_string(child->id()) + "/wchan";
    for (int again = 0; again != 20000; ++again) {
      std::string where;
      std::getline(std::ifstream(call), where);
      if (llvm::StringRef(where).contains("skb") || llvm::StringRef(where).contains("unix"))
        break;
      ::usleep(1000);
    }
    meanwhile();
  }
  llvm::Error given = child->give(plan, input);
  REQUIRE_FALSE(bool(given));
  ::close(ends[1]);
  Seen seen;
  char buffer[4096];
  for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    seen.output.append(buffer, size_t(got));
  ::close(ends[0]);
  while (true) {
    Child::Received received = child->receive(/*wait=*/true);
    if (received.gone)
      break;
    REQUIRE(received.message->kind != ControlKind::Failed);
    if (received.message->kind == ControlKind::Started)
      seen.stoodAhead = (received.message->flags & kStoodAhead) != 0;
  }
  return seen;
}

/// Every mount of the view, in the order of its path: what stands there, and how.
std::string mountsOf(const std::string& output) {
  std::vector<std::string> lines;
  llvm::SmallVector<llvm::StringRef> all;
  llvm::StringRef(output).split(all, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : all) {
    llvm::SmallVector<llvm::StringRef> words;
    line.split(words, ' ');
    if (words.size() < 6) {
      lines.push_back(line.str()); // of what was listed besides
      continue;
    }
    // Ids and minor numbers of new file systems are of the start.
    const llvm::StringRef type = line.split(" - ").second.split(' ').first;
    lines.push_back((words[4] + " " + words[3] + " " + words[5] + " " + type).str());
  }
  std::sort(lines.begin(), lines.end());
  return llvm::join(lines, "\n");
}
constexpr const char* kShow =
    "cat /proc/self/mountinfo; ls -d /* /etc/* /dev/* /opt/* 2>/dev/null; "
    "ls -ld /bin /etc/localtime | sed 's/.*->/->/'";

ChildPlan planOf(const Policy& policy, const std::string& script = kShow) {
  llvm::Expected<ChildPlan> plan = compileForHost(policy, optionsFor(script));
  REQUIRE_MESSAGE(bool(plan), (plan ? std::string() : llvm::toString(plan.takeError())));
  plan->command.program = "/bin/sh";
  return std::move(*plan);
}

} // namespace

TEST_CASE("a view is the same whatever was put up before its plan was there") {
  const Room room;
  std::filesystem::create_directories(room.path + "/inside");
  std::vector<std::string> many(200, "/usr");
  for (int index = 0; index != 200; ++index)
    many[size_t(index)] = "/usr/share/" + std::to_string(index);
  struct Row {
    const char* what;
    std::vector<std::string> ahead;
  };
  for (SandboxLevel level : {SandboxLevel::Standard, SandboxLevel::Strict}) {
    CAPTURE(spelling(level).str());
    const ChildPlan plan = planOf(policyFor(room, level));
    const std::vector<std::string> likely = aheadOf(plan);
    REQUIRE(llvm::is_contained(likely, "/usr"));
    const Seen right = runWith(plan, likely);
    CHECK(right.stoodAhead);
    const std::string wanted = mountsOf(right.output);
    CHECK(llvm::StringRef(wanted).contains("/usr"));
    CHECK(llvm::StringRef(wanted).contains("-> usr/bin") == std::filesystem::is_symlink("/bin"));
    for (const Row& row :
         {Row{"nothing", {}}, Row{"a part of it", {"/usr", "/etc/ssl", "/bin"}},
          Row{"what is not granted", {"/usr", "/home"}},
          Row{"what is granted to be written", {"/usr", room.path}},
          Row{"what lies inside such a grant", {room.path + "/inside"}},
          Row{"what lies inside what is there", {"/usr", "/usr/share"}},
          Row{"the same turned round", {"/usr/share", "/usr"}},
          Row{"what is missing", {"/no/such", "/usr/no/such"}},
          Row{"what lies behind a link", {"/bin", "/bin/sh"}},
          Row{"a directory of every view", {"/dev", "/proc", "/tmp"}}, Row{"the root", {"/"}},
          Row{"no path", {"", "usr", "/usr/../etc", "//usr"}}, Row{"more than fits", many}}) {
      CAPTURE(row.what);
      const Seen seen = runWith(plan, row.ahead);
      CHECK(mountsOf(seen.output) == wanted);
    }
  }
}

TEST_CASE("what was put up and is another object by the time of the plan is not used") {
  const Room room;
  const std::string outside = room.path + "-outside";
  std::filesystem::create_directories(outside + "/grant");
  std::ofstream(outside + "/grant/old") << "old";
  for (SandboxLevel level : {SandboxLevel::Standard, SandboxLevel::Strict}) {
    CAPTURE(spelling(level).str());
    std::filesystem::remove_all(outside + "/grant");
    std::filesystem::remove_all(outside + "/away");
    std::filesystem::create_directories(outside + "/grant");
    std::ofstream(outside + "/grant/old") << "old";
    const Policy policy = policyFor(room, level).readOnly(outside + "/grant", Origin::User);
    ChildPlan plan = planOf(policy);
    const Seen seen = runWith(plan, aheadOf(plan), [&] {
      std::filesystem::rename(outside + "/grant", outside + "/away");
      std::filesystem::create_directories(outside + "/grant");
      std::ofstream(outside + "/grant/new") << "new";
      plan = planOf(policy, "ls " + outside + "/grant");
    });
    CHECK_FALSE(seen.stoodAhead);
    CHECK(seen.output == "new\n");
  }
  std::filesystem::remove_all(outside);
}

TEST_CASE("a denial and a wider grant hold where something else was put up") {
  const Room room;
  for (SandboxLevel level : {SandboxLevel::Standard, SandboxLevel::Strict}) {
    CAPTURE(spelling(level).str());
    const std::vector<std::string> likely = aheadOf(planOf(policyFor(room, level)));
    const Seen denied = runWith(planOf(policyFor(room, level).deny("/etc/ssl", Origin::User),
                                       "ls /etc/ssl >/dev/null 2>&1 && echo seen || echo hidden"),
                                likely);
    CHECK(denied.output == "hidden\n");
    CHECK_FALSE(denied.stoodAhead);
    // Beneath what was put up: that stays, and the hole is on it.
    const Seen hole =
        runWith(planOf(policyFor(room, level).deny("/usr/share/doc", Origin::User),
                       "ls /usr/share/doc >/dev/null 2>&1 && echo seen || echo hidden"),
                likely);
    CHECK(hole.output == "hidden\n");
    CHECK(hole.stoodAhead);
  }
}

TEST_CASE("the shipped policy and one that a program writes both stand on what was put up") {
  const Room room;
  for (SandboxLevel level : {SandboxLevel::Standard, SandboxLevel::Strict}) {
    CAPTURE(spelling(level).str());
    RunOptions options = optionsFor("true");
    options.streams = RunOptions::Streams::Capture;
    llvm::Expected<Policy> shipped = commandPolicy(hostFacts(), room.path);
    REQUIRE(bool(shipped));
    llvm::Expected<RunResult> one =
        run(completeCommandPolicy(shipped->withLevel(level), hostFacts()), options);
    REQUIRE(bool(one));
    CHECK(one->stoodAhead);
    const Policy written = Policy()
                               .withLevel(level)
                               .readWrite(room.path, Origin::User)
                               .readOnly("/usr", Origin::User)
                               .withWorkingDirectory(room.path);
    llvm::Expected<RunResult> other = run(completeCommandPolicy(written, hostFacts()), options);
    REQUIRE(bool(other));
    CHECK(other->stoodAhead);
  }
}

} // namespace gos::sandbox
