// Hosts that lack something: a level is refused with exit code 64, the primitive and a fix; it
// never runs with less (T131, B066, B069). As root and as a user.

#include "tests/support/child_process.h"

#include <doctest/doctest.h>

#include <string>
#include <unistd.h>
#include <vector>

using gos::test::ChildRequest;
using gos::test::ChildResult;
using gos::test::runChild;

namespace {

struct Host {
  const char* name;
  // The primitive that each level lacks; null: it works.
  const char* basic;
  const char* standard;
  const char* strict;
};

const Host kHosts[] = {
    {"nothing", nullptr, nullptr, nullptr},
    {"user-namespace", nullptr, "user namespace", "user namespace"},
    {"user-namespace-limit", nullptr, "user namespace", "user namespace"},
    // `standard` does without a pid namespace.
    {"pid-namespace", nullptr, nullptr, "pid namespace"},
    {"mount-namespace", nullptr, "mount view", "mount view"},
    {"network-namespace", nullptr, "network namespace", "network namespace"},
    {"ipc-namespace", nullptr, "ipc namespace", "ipc namespace"},
    {"uts-namespace", nullptr, nullptr, "uts namespace"},
    {"cgroup-namespace", nullptr, nullptr, "cgroup namespace"},
    {"user-map", nullptr, "user namespace", "user namespace"},
    {"first-mount", nullptr, "mount view", "mount view"},
    {"new-root", nullptr, "mount view", "mount view"},
    {"move-mount", nullptr, "mount view", "mount view"},
    {"old-mounts", nullptr, "mount view", "mount view"},
    {"pivot-root", nullptr, "mount view", "mount view"},
    {"proc-mount", nullptr, nullptr, "own /proc"},
    {"loopback", nullptr, "network namespace", "network namespace"},
    {"landlock", nullptr, "Landlock", "Landlock"},
    {"landlock-at-boot", nullptr, "Landlock", "Landlock"},
    {"landlock-rule", nullptr, "Landlock", "Landlock"},
    {"seccomp", nullptr, "seccomp filter", "seccomp filter"},
    {"memfd", "memfd execution", "memfd execution", "memfd execution"},
    {"close-range", "memfd execution", "memfd execution", "memfd execution"},
    {"pidfd", "pidfd", "pidfd", "pidfd"},
    {"subreaper", "child subreaper", "child subreaper", "child subreaper"},
    {"no-new-privileges", "no_new_privs", "no_new_privs", "no_new_privs"},
};

ChildResult runOn(const char* host, bool user, const char* what) {
  ChildRequest request;
  // Nothing is remembered: neither HOME nor a cache is known.
  request.arguments = {"/usr/bin/env", "-u", "HOME", "-u", "XDG_CACHE_HOME", GOS_WITHOUT};
  if (user)
    request.arguments.push_back("--user");
  request.arguments.insert(request.arguments.end(), {host, GOS_RUN_LEVEL, what});
  request.directory = "/";
  request.limit = std::chrono::seconds(600);
  return runChild(request);
}

std::vector<bool> users() {
  return ::geteuid() == 0 ? std::vector<bool>{false, true} : std::vector<bool>{true};
}

} // namespace

TEST_CASE("T131 a level whose primitive is missing is refused with its name and a fix") {
  for (bool user : users())
    for (const Host& host : kHosts) {
      const std::pair<const char*, const char*> expected[] = {
          {"basic", host.basic}, {"standard", host.standard}, {"strict", host.strict}};
      for (auto [level, primitive] : expected) {
        const ChildResult result = runOn(host.name, user, level);
        const std::string said = std::string(host.name) + " " + level +
                                 (user ? " as a user\n" : " as root\n") + result.out + result.err;
        INFO(said);
        if (primitive == nullptr) {
          CHECK(result.exitedWith(0));
          continue;
        }
        CHECK(result.exitedWith(64));
        const std::vector<std::string> lines = gos::test::splitLines(result.out);
        REQUIRE(lines.size() >= 3);
        CHECK(lines[0] == primitive);
        CHECK(lines[1].find(std::string("level `") + level + "`") != std::string::npos);
        CHECK_FALSE(lines[2].empty());
      }
    }
}

TEST_CASE("the capability report says what is missing, and which levels are left") {
  for (bool user : users())
    for (const Host& host : kHosts) {
      const ChildResult result = runOn(host.name, user, "--capabilities");
      const std::string said =
          host.name + std::string(user ? " as a user\n" : " as root\n") + result.out + result.err;
      INFO(said);
      REQUIRE(result.exitedWith(0));
      const char* expected = host.basic      ? "\"max_level\":\"none\""
                             : host.standard ? "\"max_level\":\"basic\""
                             : host.strict   ? "\"max_level\":\"standard\""
                                             : "\"max_level\":\"strict\"";
      CHECK(result.out.find(expected) != std::string::npos);
      for (const char* primitive : {host.basic, host.standard, host.strict})
        if (primitive != nullptr)
          CHECK(result.out.find("\"blocked_by\":\"") != std::string::npos);
    }
}

TEST_CASE(
    "what a host can do is probed once for a process, however often and by whom it is asked") {
  for (bool user : users()) {
    const ChildResult result = runOn("nothing", user, "--probes");
    const std::string said = result.out + result.err;
    INFO(said);
    REQUIRE(result.exitedWith(0));
    const std::vector<std::string> lines = gos::test::splitLines(result.out);
    REQUIRE(lines.size() == 4);
    CHECK(lines[0] == "0");
    CHECK(std::stol(lines[1]) > 20); // a child each for the primitives, and those of the proofs
    CHECK(lines[2] == lines[1]);
    CHECK(std::stol(lines[3]) > std::stol(lines[2])); // the control: a child is seen
  }
}

TEST_CASE(
    "B069 the capability report tells a kernel without Landlock from one that was booted without") {
  const ChildResult absent = runOn("landlock", false, "--capabilities");
  CHECK(absent.out.find("\"landlock_abi\":0,\"landlock_error\":\"ENOSYS\"") != std::string::npos);
  const ChildResult off = runOn("landlock-at-boot", false, "--capabilities");
  CHECK(off.out.find("\"landlock_abi\":0,\"landlock_error\":\"EOPNOTSUPP\"") != std::string::npos);
  CHECK(off.out.find("lsm=landlock") != std::string::npos);
}
